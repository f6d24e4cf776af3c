"""The arithmetic of the benchmark: medians, ratios, exponents, and the decisions that follow.

Nothing here measures or prints, so tests/bench can check it.
"""
import math

BUSY_CORES = 0.25  # cores that others used on average, above which a run is called noisy
HIGH_LOAD = 0.5  # load average before the start, likewise


def median(values):
    ordered = sorted(values)
    if not ordered:
        raise ValueError("the median of nothing")
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def spread(values):
    """Half the distance of the smallest and the largest, as a share of the median."""
    return (max(values) - min(values)) / (2 * median(values)) if median(values) > 0 else 0.0


def exponent(sizes, seconds):
    """p of the least squares fit  log seconds = p log size + constant."""
    if len(sizes) != len(seconds) or len(set(sizes)) < 2:
        raise ValueError("an exponent needs two different sizes, and a time for each")
    x, y = [math.log(s) for s in sizes], [math.log(t) for t in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return (sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
            / sum((a - mean_x) ** 2 for a in x))


def relative_difference(a, b):
    return abs(a - b) / max(abs(a), abs(b), 1e-300)


def holds(required, measured):
    """Whether one demand, ("at least" | "at most", number), is met; None where nothing is demanded
    or nothing was measured."""
    if required is None or measured is None or not math.isfinite(measured):
        return None
    kind, value = required
    if kind not in ("at least", "at most"):
        raise ValueError("no such demand: %s" % kind)
    return measured >= value if kind == "at least" else measured <= value


def mark(outcomes):
    """pass, miss or "" from the outcomes of alternative demands: one that holds is enough."""
    known = [outcome for outcome in outcomes if outcome is not None]
    return "" if not known else "pass" if any(known) else "miss"


def sum_of_calls(terms, seconds):
    """Seconds of a limit. terms: [(count, [call, ..])], of the calls the quickest counts; seconds:
    by call. Returns the sum and the calls that were taken."""
    taken = [min(calls, key=lambda call: seconds[call]) for _, calls in terms]
    return sum(count * seconds[call] for (count, _), call in zip(terms, taken)), taken


def invalid(ours, peer, threads):
    """Why figures of `ours` and `peer` must not be compared: a list of sentences, empty when they
    may. ours: kernel; peer: the thread pools of the Python process, as threadpoolctl names them."""
    reasons = []
    blas = [pool for pool in peer if pool["user_api"] == "blas"]
    if not ours:
        reasons.append("our BLAS does not tell its kernel")
    if not blas:
        reasons.append("the peers have no BLAS that tells its kernel")
    for pool in blas:
        if pool.get("architecture", "").lower() != ours.lower():
            reasons.append("the peers' BLAS runs the kernel %s, ours %s"
                           % (pool.get("architecture", "(unknown)"), ours))
    for pool in peer:
        if pool["num_threads"] != threads:
            reasons.append("the peers' %s pool has %d threads, the run is one of %d"
                           % (pool["user_api"], pool["num_threads"], threads))
    return reasons


def noise(load_before, busy_cores):
    """Sentences about what else ran on the machine; empty when it was quiet.

    What others used is counted by the kernel. Only where it does not tell does the load before the
    start decide, which remembers the building of the benchmark itself.
    """
    if busy_cores is None:
        high = load_before > HIGH_LOAD
        return ["the load was %.2f before the start" % load_before] if high else []
    busy = busy_cores > BUSY_CORES
    return ["others used %.2f cores on average during the run" % busy_cores] if busy else []
