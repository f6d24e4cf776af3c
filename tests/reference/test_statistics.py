"""The statistics of a comparison against SciPy and the plain formulas: the library's calls through a
small program, and what `rlar evaluate --json` makes of them."""
import json
import subprocess
import unittest

import numpy as np

import statistics_tools as tools
from rlar_program import PROGRAM, ROOT, TIMEOUT

TOLERANCE = 1e-9


def close(ours, wanted, what):
    np.testing.assert_allclose(ours, wanted, rtol=TOLERANCE, atol=1e-300, err_msg=what)


def tables(seed, count):
    """Random tables: N x K, with and without ties, with and without a difference of the methods."""
    rng = np.random.RandomState(seed)
    for _ in range(count):
        n, k = rng.randint(2, 40), rng.randint(3, 20)
        table = rng.randn(n, k) + rng.choice([0, 0.1, 1]) * np.arange(k)
        yield np.round(table, rng.choice([0, 1, 9]))


class Library(unittest.TestCase):
    def test_wilcoxon(self):
        rng = np.random.RandomState(1)
        cases = []
        for n in list(range(2, 60)) + [100, 1000]:
            for digits in (0, 1, 9):  # many ties and zeros, some, none
                for shift in (0, 0.4, 3):
                    x = np.round(rng.randn(n) + shift, digits)
                    y = np.round(rng.randn(n), digits)
                    cases.append((x, y if np.any(x != y) else y + 1))
        # Ties but no zeros among at most 50 pairs: SciPy 1.10 rounds the sum of ranks down.
        for n in range(3, 51):
            d = rng.choice([-2, -1, 1, 2, 3], n).astype(float)
            cases += [(d, np.zeros(n)), (-d, np.zeros(n))]
        answers = tools.ask([("wilcoxon", len(x), x, y) for x, y in cases])
        for (x, y), ours in zip(cases, answers):
            close(ours, tools.wilcoxon(x, y), f"{x} {y}")

    def test_wilcoxon_of_published_data(self):
        """Darwin's plants, as SciPy's manual has them: 24 and 0.041259765625."""
        d = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
        ours, = tools.ask([("wilcoxon", 15, d, [0] * 15)])
        self.assertEqual(ours.tolist(), [24, 0.041259765625])

    def test_holm(self):
        rng = np.random.RandomState(2)
        lists = [rng.rand(m) ** rng.choice([1, 6]) for m in range(1, 60)]
        lists += [np.round(p, 1) for p in lists]
        for p, ours in zip(lists, tools.ask([("holm", len(p), p) for p in lists])):
            close(ours, tools.holm(p), f"{p}")

    def test_friedman(self):
        cases = [t for t in tables(3, 120) if np.any(t != t[:, :1])]
        answers = tools.ask([("friedman", *t.shape, t) for t in cases])
        for table, ours in zip(cases, answers):
            wanted = tools.friedman(table)
            close(ours[[0, 2]], wanted[[0, 2]], f"{table}")
            close(ours[4:], wanted[4:], f"{table}")
            # Where all agree F is infinite; a rounding of the statistic is k times one of p.
            np.testing.assert_allclose(ours[[1, 3]], wanted[[1, 3]], rtol=1e-9, atol=1e-15)

    def test_many_blocks(self):
        rng = np.random.RandomState(4)
        table = rng.rand(3000, 17) + 0.005 * np.arange(17)
        ours, = tools.ask([("friedman", *table.shape, table)])
        close(ours, tools.friedman(table), "3000 x 17")

    def test_nemenyi(self):
        for k in (2, 3, 5, 10, 17, 60):
            for n in (5, 30, 1000):
                ranks = np.linspace(1, k, 5).tolist() + [1] * (k - 5) if k > 5 else np.linspace(1, k, k)
                ours, = tools.ask([("nemenyi", n, k, ranks)])
                np.testing.assert_allclose(ours.reshape(k, k), tools.nemenyi(np.array(ranks), n),
                                           rtol=0, atol=1e-10, err_msg=f"k = {k}, n = {n}")

    def test_critical_difference(self):
        cases = [(n, k, level) for n in (5, 40) for k in (2, 3, 6, 17) for level in (0.1, 0.05, 1e-3)]
        for (n, k, level), ours in zip(cases, tools.ask([("difference", *case) for case in cases])):
            tail = tools.range_tail(ours[0] / tools.rank_unit(n, k), k)
            self.assertAlmostEqual(tail, level, delta=1e-10)

    def test_refused(self):
        requests = [("wilcoxon", 2, [1, np.nan], [0, 0]), ("friedman", 2, 1, [1, 2]),
                    ("friedman", 2, 2, [1, 2, np.inf, 3]), ("holm", 1, [1.5]),
                    ("nemenyi", 5, 2, [0, 1]), ("difference", 5, 3, 0)]
        for request, text in zip(requests, tools.ask(requests)):
            self.assertIsInstance(text, str, request)
            self.assertTrue(text.startswith("rlar_"), text)


class Evaluate(unittest.TestCase):
    """The comparison that evaluate reports, from the accuracies that it reports. These are shares of
    whole numbers: equal differences of them differ by rounding, which 12 decimals take off."""

    METHODS = ("rlar", "lda", "lfda", "mpda", "rr")

    def evaluate(self, *args):
        files = [str(ROOT / "data" / name) for name in ("wine.csv", "iris.arff", "ionosphere.arff")]
        done = subprocess.run([PROGRAM, "evaluate", *files, "--methods", ",".join(self.METHODS), "--json",
                               "--scale", "minmax", *args], capture_output=True, check=True, timeout=TIMEOUT)
        return json.loads(done.stdout)

    def check(self, comparison, table):
        """All tests of the table; returns how many pairs would have another p without rounding."""
        n, k = table.shape
        self.assertEqual((comparison["blocks"], comparison["methods"]), (n, list(self.METHODS)))
        table = np.round(table, 12)
        wanted = tools.friedman(table)
        close(list(comparison["friedman"].values()), wanted[:2], "Friedman")
        close(list(comparison["iman_davenport"].values()), wanted[2:4], "Iman and Davenport")
        close(comparison["average_rank"], wanted[4:], "ranks")
        np.testing.assert_allclose(comparison["nemenyi"]["p"], tools.nemenyi(wanted[4:], n), rtol=0, atol=1e-10)
        self.assertAlmostEqual(
            tools.range_tail(comparison["nemenyi"]["critical_difference"] / tools.rank_unit(n, k), k), 0.05,
            delta=1e-10)
        pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
        tests = [tools.wilcoxon(np.round(table[:, a] - table[:, b], 12), np.zeros(n)) for a, b in pairs]
        close([[t["statistic"], t["p"]] for t in comparison["wilcoxon"]], tests, "Wilcoxon")
        close([t["p_holm"] for t in comparison["wilcoxon"]], tools.holm([p for _, p in tests]), "Holm")
        plain = [tools.wilcoxon(table[:, a], table[:, b]) for a, b in pairs]
        return np.sum(np.abs(np.subtract(plain, tests)[:, 1]) > 1e-6)

    def test_trials(self):
        whole = self.evaluate("--train-per-class", "20")
        accuracy = np.array([r["accuracy"]["trials"] for r in whole["results"]])
        table = np.vstack([accuracy[i:i + 5].T for i in range(0, 15, 5)])
        self.assertEqual(whole["comparison"]["over"], "trials")
        self.assertGreater(self.check(whole["comparison"], table), 0, "no tie was ever hidden by rounding")

    def test_data_sets(self):
        whole = self.evaluate("--train-per-class", "5,20", "--trials", "4")
        table = np.array([r["accuracy"]["mean"] for r in whole["results"]]).reshape(6, 5)
        self.assertEqual(whole["comparison"]["over"], "data sets")
        self.check(whole["comparison"], table)


if __name__ == "__main__":
    unittest.main()
