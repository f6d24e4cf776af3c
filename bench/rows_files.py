"""Readers against their peers and against the bare reading of the file."""
import os

import numpy as np

import samples
from compare import against_limit, alternate, faster
from stats import relative_difference


def compare_reader(bench, group, what, path, peer, required, note, **options):
    """One and two threads of ours against the peer, which has one only."""
    def ours(threads):
        return lambda: bench.driver("read", path=path, threads=threads, **options)

    one, two, theirs, lines = alternate(bench.repeats(5), [
        ("rlar, 1 thread", ours(1)), ("rlar, 2 threads", ours(2)),
        (peer[0], lambda: bench.peers(peer[1], path=path)),
        ("lines", lambda: bench.driver("lines", path=path)),
    ])
    size = os.path.getsize(path)
    os.unlink(path)
    difference = max(relative_difference(s.last["sum"], theirs.last["sum"]) for s in (one, two))
    same = difference < 1e-9 and one.last["n"] == theirs.last["n"]
    notes = "; ".join(filter(None, ["same sum" if same else "sums DIFFER by %.1e" % difference, note]))
    what = "%s, %.0f MB" % (what, size / 1e6)
    rows = [faster(group, "%s, %s" % (what, sample.label), sample, theirs, required, notes)
            for sample in (one, two)]
    for row in rows:
        row.mark = row.mark if same else "miss"
    return rows + [against_limit(group, what + ", " + one.label, one, lines,
                                 note="limit: map the file and count its lines")]


def csv(bench):
    """Decimal text, eight digits, against pandas."""
    n, d = (4000, 128) if bench.quick else (40000, 256)
    x, y = samples.synthetic(n, d, 10)
    path = bench.store.csv("table", x, y)
    return compare_reader(bench, "csv", "CSV, %d x %d" % (n, d), path,
                          ("pandas.read_csv, C engine", "csv"), 3,
                          "pandas rounds to nearly, ours to exactly the nearest double",
                          format="csv", label="-1")


def libsvm(bench):
    """index:value text against scikit-learn's loader."""
    n, d = (4000, 256) if bench.quick else (30000, 784)
    x, y = samples.synthetic(n, d, 10)
    keep = np.random.default_rng(2).random(x.shape) < 0.2  # about the share of ink in digits
    path = bench.store.libsvm("sparse", np.where(keep, x, 0.0), y)
    return compare_reader(bench, "libsvm", "LIBSVM, %d x %d, 20 %% filled" % (n, d), path,
                          ("load_svmlight_file", "libsvm"), 5, "", format="libsvm")
