"""The library's side of the benchmark answers what it is asked, also when the question is wrong."""
import os
import sys
import unittest

ROOT = os.environ.get("RLAR_SOURCE_ROOT") or os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.dont_write_bytecode = True
from partners import BenchError, Driver  # noqa: E402

PROGRAM = os.environ.get("RLAR_BENCH_DRIVER", "")
WINE = os.path.join(ROOT, "data", "wine.csv")


@unittest.skipUnless(os.path.exists(PROGRAM), "RLAR_BENCH_DRIVER does not name the driver")
class DriverTest(unittest.TestCase):
    def setUp(self):
        self.driver = Driver(PROGRAM)
        self.addCleanup(self.driver.close)

    def load(self):
        return self.driver("load", name="wine", path=WINE)

    def test_fit_and_predict(self):
        shape = self.load()
        self.assertEqual((shape["n"], shape["d"], shape["c"]), (178, 13, 3))
        fit = self.driver("fit", data="wine", scale="unit", set="alpha:0.1,beta:0.1,k:7,iters:10")
        self.assertAlmostEqual(fit["objective"], 98.2796165, places=6)
        self.assertEqual(fit["iterations"], 10)
        self.assertGreater(fit["wall"], 9 * fit["iteration_wall"])
        self.assertGreater(self.driver("predict", data="wine")["accuracy"], 0.9)
        fewer = self.driver("fit", data="wine", scale="unit", set="iters:10", rows=100)
        self.assertLess(fewer["objective"], fit["objective"])
        self.assertGreater(self.driver("forecast", data="wine")["bytes"], 178 * 13 * 8)

    def test_grid_and_cells_do_the_same(self):
        self.load()
        words = {"data": "wine", "per_class": 10, "trials": 2, "values": "0.1:1", "set": "iters:5"}
        together = self.driver("grid", threads=2, **words)["accuracy"]
        self.assertEqual(len(together), 4)
        self.assertEqual(together, self.driver("cells", threads=1, **words)["accuracy"])

    def test_limits(self):
        self.driver("info")
        calls = ["syrk:60x40", "panels:60x40", "gemm:5x6x7", "outer:5x6x7", "potrf:40", "solve:40x3",
                 "syevr:40x3"]
        answer = self.driver("limit", calls=",".join(calls))
        for call in calls:
            self.assertGreater(answer[call]["wall"], 0, call)
        with open(WINE, "rb") as file:
            self.assertEqual(self.driver("lines", path=WINE)["lines"], file.read().count(b"\n"))
        self.assertGreater(self.driver("memory")["peak"], 1e6)

    def test_wrong_questions_are_answered(self):
        for verb, words in (("dance", {}), ("fit", {"data": "nothing"}), ("limit", {"calls": "syrk:3"}),
                            ("limit", {"calls": "dance:3"}), ("load", {"name": "x", "path": "nowhere"}),
                            ("predict", {"data": "x"}), ("info", {"threads": 0})):
            with self.assertRaises(BenchError):
                self.driver(verb, **words)
        self.assertTrue(self.driver("info")["version"])


if __name__ == "__main__":
    unittest.main()
