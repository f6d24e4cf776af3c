"""RLAR: against NumPy, against its limit, on two threads, over a grid, and its growth."""
from compare import Comparison, Sample, against_limit, alternate, faster, limit_contestant
from limits import weighted_solve
from partners import Driver
from stats import exponent, holds, mark, median, relative_difference

SAME_OBJECTIVE = 1e-6  # relative
PAPER = "alpha:0.1,beta:0.1,search:auto"
GRID = "0.001:0.005:0.01:0.05:0.1:0.5:1:10:100:1000"
NAMES = {"binalpha": "Binalpha", "coil20": "COIL20", "yaleb": "YaleB", "ar": "AR, 8 per class"}


def shape_text(n, d, c):
    return "%d x %d, %d classes" % (n, d, c)


def equal_objective(ours, other, again):
    """Whether both have the same objective, and a sentence about it. Where samples are equally far
    away (binary images), rounding decides between neighbours and with them the last digits of the
    objective: then `again`, which solves the peer's problem with its features in other orders, says
    how far the peer is from itself, and no more is asked of us."""
    difference = relative_difference(ours, other)
    text = "objectives %.8g and %.8g" % (ours, other)
    if difference <= SAME_OBJECTIVE:
        return True, text + " (equal to %.0e)" % difference
    others = [other] + again()
    own = relative_difference(max(others), min(others))
    same = difference <= own
    return same, text + " (%s by %.1e; NumPy differs from itself by %.1e when features are " \
        "reordered, ties among neighbours)" % ("differ" if same else "DIFFER", difference, own)


def against_numpy(bench):
    """30 iterations, one thread, at equal objective."""
    rows = []
    iters = 3 if bench.quick else 30
    for name in ("binalpha", "coil20", "yaleb", "ar"):
        note = bench.load_real(name)
        n, d, c = bench.shape[name]
        settings = PAPER + ",iters:%d" % iters
        ours, dense, sparse, limit = alternate(bench.repeats(3), [
            ("rlar", lambda: bench.driver("fit", data=name, set=settings, threads=bench.threads)),
            ("NumPy", lambda: bench.peers("rlar", name=name, iters=iters)),
            ("NumPy, sparse L", lambda: bench.peers("rlar", name=name, iters=iters, sparse=True)),
            limit_contestant(bench.driver, [(iters * count, calls) for count, calls
                                            in weighted_solve(n, d, c)]),
        ], warm=False)
        what = "%s, %s, %d iterations" % (NAMES[name], shape_text(n, d, c), iters)
        same, text = equal_objective(
            ours.last["objective"], dense.last["objective"],
            lambda: [bench.peers("rlar", name=name, iters=iters, sparse=True, shuffle=seed)
                     ["objective"] for seed in range(5)])
        form = "n x n form" if ours.last["dual"] else "d x d form"
        row = faster("rlar", what, ours, dense, 4, note="; ".join(filter(None, [
            text, "ours in the %s, NumPy in the d x d form" % form, note])))
        row.mark = row.mark if same else "miss"
        rows += [row, faster("rlar", what, ours, sparse, note="for orientation: L as a SciPy sparse "
                             "matrix; objective %.8g" % sparse.last["objective"]),
                 against_limit("rlar", what, ours, limit)]
        bench.drop(name)
    return rows


def rate(bench):
    """A contestant, a DGEMM large enough to show what the core can do, and its 1e9 operations."""
    side = 1024
    call = "gemm:%dx%dx%d" % (side, side, side)
    return "DGEMM %d" % side, lambda: bench.driver("limit", calls=call)[call], 2e-9 * side ** 3


def call_medians(limit):
    """The bare calls of a limit, each with its median."""
    calls = [call for call in limit.last["calls"] if ":" in call]
    return ", ".join("%s %.1f ms" % (call, 1e3 * median(
        [answer["calls"][call]["wall"] for answer in limit.answers])) for call in calls)


def iteration(bench):
    """One iteration against its BLAS calls, and two threads against one."""
    name = "yaleb"
    note = bench.load_real(name)
    n, d, c = bench.shape[name]
    settings = PAPER + ",iters:%d" % (5 if bench.quick else 16)
    label, multiply, operations = rate(bench)
    one, two, limit, product = alternate(bench.repeats(7), [
        ("1 thread", lambda: bench.driver("fit", data=name, set=settings, threads=1)),
        ("2 threads", lambda: bench.driver("fit", data=name, set=settings, threads=2)),
        limit_contestant(bench.driver, weighted_solve(n, d, c)), (label, multiply),
    ])
    bench.drop(name)
    keys = ("iteration_wall", "iteration_cpu")
    one, two = one.scaled("rlar, 1 thread", keys), two.scaled("rlar, 2 threads", keys)
    what = "one iteration, %s" % shape_text(n, d, c)
    parts = [call_medians(limit), "taken: " + limit.last["taken"][0], note]
    return [against_limit("iteration", what, one, limit, 1.25, "; ".join(filter(None, parts))),
            faster("iteration", what, two, one, 1.7, "two threads against one"),
            Comparison("iteration", "the core: " + label, product, unit="GF/s",
                       measured=operations / median(product.wall),
                       measured_cpu=operations / median(product.cpu))]


def grid(bench):
    """A grid with shared work on two threads against the same fits one after another on one."""
    name = "coil20"
    note = bench.load_real(name)
    values = "0.01:0.1:1" if bench.quick else GRID
    side, trials = len(values.split(":")), 2 if bench.quick else 10
    words = {"data": name, "per_class": 15, "trials": trials, "values": values,
             "set": "iters:30"}
    together, single = alternate(1, [
        ("grid, 2 threads", lambda: bench.driver("grid", threads=2, **words)),
        ("one by one, 1 thread", lambda: bench.driver("cells", threads=1, **words)),
    ], warm=False)
    worst = max(abs(a - b) for a, b in zip(together.last["accuracy"], single.last["accuracy"]))
    what = "grid %d x %d, %d trials, COIL20, 15 per class, 30 iterations" % (side, side, trials)
    row = faster("grid", what, together, single, 1.9, "; ".join(filter(None, [
        "equal accuracy in all %d cells" % side ** 2 if worst < 1e-12
        else "accuracies DIFFER by up to %.2e" % worst, note])))
    row.mark = row.mark if worst < 1e-12 else "miss"
    bench.drop(name)
    return [row]


def growth(bench):
    """One fit at d = 784 as n grows, and the memory of the largest."""
    most, d, c = (15000, 196, 10) if bench.quick else (60000, 784, 10)
    sizes = [most // 8, most // 4, most // 2, most]
    settings = PAPER + ",iters:%d" % (5 if bench.quick else 30)
    path = bench.load_synthetic("growth", most, d, c, peers=False)

    def one(n):
        return lambda: bench.driver("fit", data="growth", rows=n, set=settings, threads=2)

    found = alternate(bench.repeats(2), [("n = %d" % n, one(n)) for n in sizes], warm=False)
    forecast = bench.driver("forecast", data="growth", set=settings, threads=2)["bytes"]
    peak = memory(bench, path, most, d, settings.replace("iters:30", "iters:3"), forecast)
    bench.drop("growth")
    rows = [Comparison("growth", "one fit, d = %d, n = %d, 2 threads" % (d, n), sample,
                       point=("n at d = %d" % d, n)) for n, sample in zip(sizes, found)]
    required = ("at most", 1.15)
    power = exponent(sizes, [median(sample.wall) for sample in found])
    by_cpu = exponent(sizes, [median(sample.cpu) for sample in found])
    rows.append(Comparison("growth", "exponent of n from %d to %d, d = %d" % (sizes[0], most, d),
                           unit="exponent", measured=power, required=required,
                           measured_cpu=by_cpu, mark=mark([holds(required, max(power, by_cpu))]),
                           note="the larger of wall and CPU counts: a load that ends during the run "
                           "flatters the wall's"))
    return rows + [peak]


def memory(bench, path, n, d, settings, forecast):
    """In a process of its own: what it needs at its worst against what was promised."""
    child = Driver(bench.program)
    try:
        child("load", name="x", path=path, threads=2)
        answer = child("fit", data="x", set=settings, threads=2)
        peak = child("memory")["peak"]
    finally:
        child.close()
    data, required = 8 * n * d, ("at most", 1.3)
    sample = Sample("rlar, one fit")
    sample.add(answer)
    ratio = peak / (data + forecast)
    return Comparison(
        "growth", "peak memory, %d x %d, 2 threads" % (n, d), sample, unit="x forecast",
        measured=ratio, required=required, mark=mark([holds(required, ratio)]),
        note="peak %.0f MB; data %.0f MB + forecast %.0f MB" % (
            peak / 1e6, data / 1e6, forecast / 1e6))


def shapes(bench):
    """Growth with n, d, c and K, one at a time, around a small problem: for the figure."""
    base = {"n": 2000, "d": 200, "c": 10, "k": 7}
    ranges = {"n": (1000, 2000, 4000, 8000), "d": (100, 200, 400, 800), "c": (5, 10, 20, 40),
              "k": (3, 7, 15, 30)}
    rows = []
    for axis, values in ranges.items():
        values = values[:3] if bench.quick else values
        found = []
        for value in values:
            at = {**base, axis: value}
            bench.load_synthetic("shape", at["n"], at["d"], at["c"], peers=False)
            settings = PAPER + ",iters:10,k:%d" % at["k"]
            sample, = alternate(bench.repeats(3), [("rlar", lambda: bench.driver(
                "fit", data="shape", set=settings, threads=1))])
            bench.drop("shape")
            found.append(sample)
            rows.append(Comparison("shapes", "%s = %d (n %d, d %d, c %d, K %d)" % (
                axis, value, at["n"], at["d"], at["c"], at["k"]), sample,
                point=("%s from %d" % (axis, values[0]), value)))
        rows.append(Comparison("shapes", "exponent of %s from %d to %d" % (
            axis, values[0], values[-1]), unit="exponent",
            measured=exponent(values, [median(s.wall) for s in found]),
            measured_cpu=exponent(values, [median(s.cpu) for s in found])))
    return rows
