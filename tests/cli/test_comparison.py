"""rlar evaluate with several methods: do they differ? SciPy's figures are in tests/reference/test_statistics.py."""

import re
import unittest

import numpy as np

from support import Case, blobs, table_text

METHODS = ("rlar", "lda", "rr", "lfda")
KEYS = ["over", "blocks", "methods", "average_rank", "friedman", "iman_davenport", "nemenyi", "wilcoxon"]
SETS = tuple(f"t{i}.csv" for i in range(6))


def mostly_equal():
    """Two classes of equal samples but for three of each: a trial that draws none of these fails."""
    return "".join(f"{i if i < 3 else 9},{(5 * i + 2) % 7 if i < 3 else 4},{c}\n" for c in "ab" for i in range(12))


def mean_ranks(values):
    """Ranks of a row, the largest first, ties share the mean: how many are larger, and half of the equal."""
    larger = np.sum(values[None, :] > values[:, None], axis=1)
    equal = np.sum(values[None, :] == values[:, None], axis=1)
    return larger + (equal + 1) / 2


def holm(p):
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.minimum(1, np.array(p)[order] * np.arange(len(p), 0, -1)))
    return adjusted


class Comparison(Case):
    def setUp(self):
        super().setUp()
        for i, name in enumerate(SETS):
            self.write(name, table_text(*blobs(14, 5, 3, seed=i, spread=60)))
        self.write("flat.csv", mostly_equal())
        self.write("easy.csv", table_text(*blobs(14, 5, 3, seed=0, spread=2)))  # every method is always right

    def args(self, *data, methods=METHODS, trials=6, size="4", more=()):
        return ("evaluate", *data, "--methods", ",".join(methods), "--trials", str(trials), "--train-per-class",
                size, *more)

    def whole(self, *data, **options):
        return self.json_of(*self.args(*data, **options))

    def table(self, whole, methods, means):
        """Blocks x methods of the results, by hand: means of rows without failures, or all whole trials."""
        results = whole["results"]
        blocks = []
        for start in range(0, len(results), len(methods)):
            run = [r["accuracy"] for r in results[start:start + len(methods)]]
            trials = np.array([r["trials"] for r in run], dtype=float).T
            good = ~np.isnan(trials).any(axis=1)
            blocks += ([[r["mean"] for r in run]] if good.all() else []) if means else trials[good].tolist()
        return np.round(np.array(blocks), 12)

    def check(self, whole, methods, over):
        comparison = whole["comparison"]
        self.assertEqual(list(comparison), KEYS)
        self.assertEqual(comparison["over"], over)
        self.assertEqual(comparison["methods"], list(methods))
        table = self.table(whole, methods, over == "data sets")
        self.assertEqual(comparison["blocks"], len(table))
        np.testing.assert_allclose(comparison["average_rank"],
                                   np.mean([mean_ranks(row) for row in table], axis=0), rtol=1e-14)
        pairs = [(a, b) for a in range(len(methods)) for b in range(a + 1, len(methods))]
        tests = comparison["wilcoxon"]
        self.assertEqual([(t["a"], t["b"]) for t in tests], [(methods[a], methods[b]) for a, b in pairs])
        for (a, b), test in zip(pairs, tests):
            self.assertEqual(list(test), ["a", "b", "difference", "statistic", "p", "p_holm"])
            self.assertAlmostEqual(test["difference"], np.mean(table[:, a] - table[:, b]), places=11)
            self.assertTrue(0 <= test["p"] <= test["p_holm"] <= 1)
        np.testing.assert_allclose([t["p_holm"] for t in tests], holm([t["p"] for t in tests]), rtol=1e-14)
        return comparison, table


class Json(Comparison):
    def test_trials(self):
        comparison, table = self.check(self.whole("t0.csv", "t1.csv"), METHODS, "trials")
        self.assertEqual(len(table), 12)
        self.assertGreater(len(set(comparison["average_rank"])), 1)
        for key in ("friedman", "iman_davenport"):
            self.assertEqual(list(comparison[key]), ["statistic", "p"])
        nemenyi = comparison["nemenyi"]
        self.assertEqual(list(nemenyi), ["critical_difference", "level", "p"])
        self.assertEqual(nemenyi["level"], 0.05)
        # 2.569 for four methods, as Demsar's table has it.
        self.assertAlmostEqual(nemenyi["critical_difference"], 2.569 * np.sqrt(4 * 5 / (6 * 12)), places=3)
        p = np.array(nemenyi["p"])
        np.testing.assert_array_equal(p, p.T)
        np.testing.assert_array_equal(np.diag(p), 1)
        far = np.abs(np.subtract.outer(*[np.array(comparison["average_rank"])] * 2)) \
            > nemenyi["critical_difference"]
        np.testing.assert_array_equal(p < 0.05, far)

    def test_folds_are_trials(self):
        whole = self.json_of("evaluate", "t0.csv", "--methods", "lda,rr", "--folds", "3", "--trials", "2")
        _, table = self.check(whole, ("lda", "rr"), "trials")
        self.assertEqual(len(table), 6)

    def test_four_rows_are_too_few(self):
        self.check(self.whole(*SETS[:4]), METHODS, "trials")

    def test_data_sets(self):
        _, table = self.check(self.whole(*SETS[:5]), METHODS, "data sets")
        self.assertEqual(len(table), 5)

    def test_data_sets_and_sizes(self):
        _, table = self.check(self.whole(*SETS[:3], size="3,6"), METHODS, "data sets")
        self.assertEqual(len(table), 6)

    def test_two_methods(self):
        comparison, _ = self.check(self.whole("t0.csv", methods=("lda", "rr")), ("lda", "rr"), "trials")
        self.assertEqual([comparison[key] for key in ("friedman", "iman_davenport", "nemenyi")], [None] * 3)
        self.assertAlmostEqual(sum(comparison["average_rank"]), 3, places=12)

    def test_nothing_to_compare(self):
        self.assertNotIn("comparison", self.whole("t0.csv", methods=("lda",)))
        self.assertNotIn("comparison", self.whole("t0.csv", trials=1))
        self.assertIn("comparison", self.whole("t0.csv", trials=2))

    def test_no_difference(self):
        """Methods that are right alike: every rank is shared, every p is 1."""
        methods = ("lda", "rr", "lfda")
        comparison, _ = self.check(self.whole("easy.csv", methods=methods), methods, "trials")
        self.assertEqual(comparison["average_rank"], [2, 2, 2])
        self.assertEqual(comparison["friedman"], {"statistic": 0, "p": 1})
        self.assertEqual([(t["statistic"], t["p"]) for t in comparison["wilcoxon"]], [(0, 1)] * 3)
        self.assertEqual(np.min(comparison["nemenyi"]["p"]), 1)

    def test_failed_trials_are_left_out(self):
        whole = self.whole("flat.csv", methods=("lda", "rr"), trials=12, size="2", more=("--scale", "none"))
        failed = whole["results"][0]["failed"]
        self.assertTrue(0 < failed < 11, failed)
        _, table = self.check(whole, ("lda", "rr"), "trials")
        self.assertEqual(len(table), 12 - failed)

    def test_failed_rows_are_left_out(self):
        options = {"methods": ("lda", "rr"), "trials": 12, "size": "2", "more": ("--scale", "none")}
        _, table = self.check(self.whole("flat.csv", *SETS[:5], **options), ("lda", "rr"), "data sets")
        self.assertEqual(len(table), 5)
        whole = self.whole("flat.csv", *SETS[:4], **options)
        _, table = self.check(whole, ("lda", "rr"), "trials")
        self.assertEqual(len(table), 5 * 12 - whole["results"][0]["failed"])

    def test_threads_change_no_byte(self):
        texts = set()
        for threads in ("1", "2", "4"):
            text = self.ok(*self.args("t0.csv", "t1.csv"), "--threads", threads, "--json").text
            texts.add(re.sub(r'"(\w*seconds)":\s*[-+.\deE]+', r'"\1": 0', text))
        self.assertEqual(len(texts), 1)

    def test_order_of_methods(self):
        """Another order of the methods gives the same ranks, and the same test of ranks."""
        forth = self.whole("t0.csv", "t1.csv")["comparison"]
        back = self.whole("t0.csv", "t1.csv", methods=METHODS[::-1])["comparison"]
        self.assertEqual(back["average_rank"], forth["average_rank"][::-1])
        self.assertAlmostEqual(back["friedman"]["p"], forth["friedman"]["p"], places=13)
        np.testing.assert_allclose(np.array(back["nemenyi"]["p"])[::-1, ::-1], forth["nemenyi"]["p"], rtol=1e-13)


class Printed(Comparison):
    def second_table(self, text):
        """(rows of cells, the lines below) of what stands behind the blank line."""
        first, _, second = text.partition("\n\n")
        self.assertEqual(len(re.findall(r"\n\n", text)), 1, text)
        lines = second.splitlines()
        self.assertTrue(first.startswith("data"))
        self.assertEqual(re.split(r"\s{2,}", lines[0]),
                         ["method", "average rank", "wins/ties/losses", "points", "p (Holm)"])
        count = len(METHODS)
        return [line.split() for line in lines[1:1 + count]], lines[1 + count:]

    def check_text(self, data, over, notes, **options):
        whole = self.whole(*data, **options)
        comparison, table = self.check(whole, METHODS, over)
        rows, below = self.second_table(self.ok(*self.args(*data, **options)).text)
        self.assertEqual(below, notes)
        against_first = holm([t["p"] for t in comparison["wilcoxon"][:len(METHODS) - 1]])
        for m, (name, rank, wins, points, p) in enumerate(rows):
            self.assertEqual((name, rank), (METHODS[m], f"{comparison['average_rank'][m]:.2f}"))
            if m == 0:
                self.assertEqual((wins, points, p), ("-", "-", "-"))
                continue
            off = table[:, m] - table[:, 0]
            self.assertEqual(wins, f"{np.sum(off > 0)}/{np.sum(off == 0)}/{np.sum(off < 0)}")
            self.assertAlmostEqual(float(points), 100 * off.mean(), delta=0.00501)
            self.assertEqual(p, f"{against_first[m - 1]:.3g}")

    def test_trials(self):
        self.check_text(["t0.csv"], "trials", [
            "Against rlar over 6 trials; p: Wilcoxon's signed-rank test with Holm's correction for 3 comparisons.",
            "Trials share samples, so p is optimistic."])

    def test_data_sets(self):
        self.check_text(SETS, "data sets", [
            "Against rlar over 6 data sets; p: Wilcoxon's signed-rank test with Holm's correction for 3 "
            "comparisons."])

    def test_sizes(self):
        self.check_text(SETS[:3], "data sets", [
            "Against rlar over 6 data sets and sizes; p: Wilcoxon's signed-rank test with Holm's correction "
            "for 3 comparisons.",
            "Sizes of one data set share samples, so p is optimistic."], size="3,6")

    def test_one_method_has_one_table(self):
        self.assertNotIn("\n\n", self.ok(*self.args("t0.csv", methods=("lda",))).text)

    def test_no_minus_zero(self):
        text = self.ok(*self.args("easy.csv", methods=("lda", "rr"))).text
        self.assertRegex(text, r"\nrr +1\.50 +0/6/0 +\+0\.00 +1\n")

    def test_latex(self):
        ranks = self.whole("t0.csv", "t1.csv")["comparison"]["average_rank"]
        lines = self.ok(*self.args("t0.csv", "t1.csv"), "--latex").text.splitlines()
        cells = " & ".join(f"{rank:.2f}" for rank in ranks)
        self.assertEqual(lines[-4:], [r"\midrule", rf"average rank & & {cells} \\", r"\bottomrule",
                                      r"\end{tabular}"])
        alone = self.ok(*self.args("t0.csv", methods=("lda",)), "--latex").text
        self.assertNotIn("average rank", alone)

    def test_csv_has_results_only(self):
        lines = self.ok(*self.args("t0.csv"), "--csv").lines
        self.assertEqual(len(lines), 1 + len(METHODS))


if __name__ == "__main__":
    unittest.main()
