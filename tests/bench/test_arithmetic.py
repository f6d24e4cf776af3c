"""The benchmark's own arithmetic: medians, exponents, demands, limits, validity. Measures nothing."""
import os
import sys
import unittest

ROOT = os.environ.get("RLAR_SOURCE_ROOT") or os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.dont_write_bytecode = True
import compare  # noqa: E402
import limits  # noqa: E402
import report  # noqa: E402
import stats  # noqa: E402


def pool(api, threads, architecture=""):
    return {"user_api": api, "num_threads": threads, "architecture": architecture}


class Numbers(unittest.TestCase):
    def test_median(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 3, 2]), 2.5)
        self.assertEqual(stats.median([7]), 7)
        with self.assertRaises(ValueError):
            stats.median([])

    def test_spread(self):
        self.assertAlmostEqual(stats.spread([9, 10, 12]), 0.15)
        self.assertEqual(stats.spread([5]), 0)

    def test_exponent_of_a_power(self):
        sizes = [7500, 15000, 30000, 60000]
        self.assertAlmostEqual(stats.exponent(sizes, [3e-9 * n ** 1.5 for n in sizes]), 1.5)
        self.assertAlmostEqual(stats.exponent(sizes, [2.0] * 4), 0.0)

    def test_exponent_is_the_least_squares_one(self):
        # log2: points (0, 0), (1, 1), (2, 1): slope 1/2.
        self.assertAlmostEqual(stats.exponent([1, 2, 4], [1, 2, 2]), 0.5)

    def test_exponent_needs_two_sizes(self):
        for sizes, seconds in (([8, 8], [1, 2]), ([8], [1]), ([1, 2, 3], [1, 2])):
            with self.assertRaises(ValueError):
                stats.exponent(sizes, seconds)


class Demands(unittest.TestCase):
    def test_holds(self):
        self.assertTrue(stats.holds(("at least", 4), 4.0))
        self.assertFalse(stats.holds(("at least", 4), 3.99))
        self.assertTrue(stats.holds(("at most", 1.15), 1.15))
        self.assertFalse(stats.holds(("at most", 1.15), 1.16))
        self.assertIsNone(stats.holds(None, 1.0))
        self.assertIsNone(stats.holds(("at least", 4), None))
        self.assertIsNone(stats.holds(("at least", 4), float("nan")))
        with self.assertRaises(ValueError):
            stats.holds(("about", 4), 1.0)

    def test_one_of_several_is_enough(self):
        self.assertEqual(stats.mark([False, True]), "pass")
        self.assertEqual(stats.mark([False, False]), "miss")
        self.assertEqual(stats.mark([False, None]), "miss")
        self.assertEqual(stats.mark([None]), "")

    def test_faster_and_limit_look_in_opposite_directions(self):
        quick = compare.Sample("quick", [1.0, 1.0, 9.0], [1.0, 1.0, 1.0])
        slow = compare.Sample("slow", [4.0, 3.0, 5.0], [2.0, 2.0, 2.0])
        row = compare.faster("g", "w", quick, slow, 4)
        self.assertEqual((row.measured, row.measured_cpu, row.mark), (4.0, 2.0, "pass"))
        self.assertEqual(compare.faster("g", "w", slow, quick, 4).mark, "miss")
        self.assertEqual(compare.faster("g", "w", slow, quick, 4, also=[True]).mark, "pass")
        self.assertEqual(compare.faster("g", "w", quick, slow).mark, "")
        row = compare.against_limit("g", "w", slow, quick, 1.25)
        self.assertEqual((row.measured, row.mark), (4.0, "miss"))

    def test_contestants_take_turns(self):
        order = []

        def contestant(name):
            def run():
                order.append(name)
                return {"wall": len(order), "cpu": 0.0}
            return name, run

        first, second = compare.alternate(2, [contestant("a"), contestant("b")])
        self.assertEqual("".join(order), "ababab")
        self.assertEqual((first.wall, second.wall), ([3, 5], [4, 6]))  # the first round is not kept


class Limits(unittest.TestCase):
    def test_the_quicker_call_counts(self):
        total, taken = stats.sum_of_calls([(2, ["a", "b"]), (3, ["c"])], {"a": 5.0, "b": 1.0, "c": 2.0})
        self.assertEqual((total, taken), (8.0, ["b", "c"]))

    def test_smaller_form(self):
        self.assertEqual(limits.gram(2414, 1024)[1][0], "syrk:2414x1024")
        self.assertEqual(limits.gram(400, 20000)[1][0], "syrk:20000x400")

    def test_every_method_has_terms(self):
        for method in limits.WHAT:
            for count, calls in limits.of_method(method, 300, 100, 10, 30):
                self.assertGreater(count, 0, method)
                self.assertTrue(all(":" in call for call in calls), method)


class Validity(unittest.TestCase):
    def test_equal_kernels_and_threads(self):
        self.assertEqual(stats.invalid("SkylakeX", [pool("blas", 1, "SkylakeX"), pool("openmp", 1)], 1), [])

    def test_what_makes_it_invalid(self):
        for ours, peer, threads, word in (
                ("SkylakeX", [pool("blas", 1, "Prescott")], 1, "Prescott"),
                ("SkylakeX", [pool("blas", 2, "SkylakeX")], 1, "threads"),
                ("SkylakeX", [pool("blas", 1, "SkylakeX"), pool("openmp", 2)], 1, "openmp"),
                ("SkylakeX", [pool("openmp", 1)], 1, "no BLAS"),
                ("", [pool("blas", 1, "SkylakeX")], 1, "ours"),
                ("SkylakeX", [pool("blas", 1, "SkylakeX"), pool("blas", 1, "Haswell")], 1, "Haswell")):
            reasons = " ".join(stats.invalid(ours, peer, threads))
            self.assertIn(word, reasons)

    def test_noise(self):
        self.assertEqual(stats.noise(0.1, 0.0), [])
        self.assertEqual(stats.noise(0.1, None), [])
        self.assertIn("1.00 cores", stats.noise(0.1, 1.0)[0])
        self.assertIn("3.00 before", stats.noise(3.0, None)[0])
        self.assertEqual(stats.noise(3.0, 0.0), [])  # the load of building the benchmark


class Report(unittest.TestCase):
    def rows(self):
        one = compare.Sample("rlar", [1.0], [1.0])
        other = compare.Sample("peer", [8.0], [4.0])
        return [compare.faster("g", "quick", one, other, 4),
                compare.against_limit("g", "slow", other, one, 1.0),
                compare.Comparison("growth", "small", one, point=("n at d = 784", 100)),
                compare.Comparison("growth", "large", other, point=("n at d = 784", 400))]

    def test_bars_grow_to_the_right_when_better(self):
        slow, quick = report.bars(self.rows())
        self.assertEqual(slow.split()[-2], "0.1250")  # 1 / 8
        self.assertEqual(quick.split()[-2], "2.0000")  # 8 / 4

    def test_curves_are_relative_to_the_smallest(self):
        self.assertEqual(report.curves(self.rows()), {"n at d = 784": ["1 1", "4 8"]})

    def test_summary_says_when_a_run_does_not_count(self):
        rows = self.rows()
        good = report.summary_text(rows, {}, [], [])
        self.assertIn("1 met, 1 missed", good)
        self.assertTrue(good.endswith("the run is valid"))
        self.assertTrue(report.summary_text(rows, {}, ["kernels"], []).endswith("NOT VALID"))
        self.assertIn("NOISY", report.summary_text(rows, {}, [], ["the load was 3.00"]))


if __name__ == "__main__":
    unittest.main()
