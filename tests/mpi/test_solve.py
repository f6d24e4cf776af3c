"""rlar-mpi fit --solve: systems that all ranks solve together have the map of those that every rank
solves alike; the forecast of --dry-run, and the traffic that was forecast beside what was counted."""

import json
import re
import struct
import unittest

import numpy as np

import ranks
from support import FAILED, ROOT, USAGE
from test_fit import npy, samples

PAPER = ["-p", "solver=paper", "-p", "eps=1e-3", "--iters", "3"]


class Case(ranks.Case):
    def setUp(self):
        super().setUp()
        self.write("t.npy", npy(samples(n=3000, d=300)))

    def map_of(self, name):
        """W of a model file."""
        raw = self.path(name).read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        begin, end = json.loads(raw[8:8 + size])["W"]["data_offsets"]
        return np.frombuffer(raw[8 + size + begin:8 + size + end], dtype="<f8")


class Together(Case):
    def compare(self, *options):
        """The map to 1e-8 of its largest entry, on 1 to 4 ranks; fewer than 4 make no square."""
        self.ok("fit", "t.npy", "-o", "one.rlar", *options)
        one = self.map_of("one.rlar")
        for count in (1, 2, 3, 4):
            result = self.on_ranks(count, "fit", "t.npy", "-o", "m.rlar", "--solve", "distributed", "--json",
                                   *options).json
            if count > 1:
                self.assertEqual((result["ranks"], result["solve"]), (count, "distributed"))
            gap = np.abs(self.map_of("m.rlar") - one).max() / np.abs(one).max()
            self.assertLess(gap, 1e-8, f"{count} ranks, {options}")

    def test_rlar(self):
        self.compare(*PAPER)

    def test_rlar_minimise(self):
        self.compare("--iters", "3")

    def test_rr(self):
        self.compare("--method", "rr")

    def test_same_bits_again(self):
        """On the same number of ranks; and ranks that are left over (5 make a grid of 2 x 2)."""
        models = []
        for _ in range(2):
            self.on_ranks(5, "fit", "t.npy", "-o", "m.rlar", "--solve", "distributed", *PAPER)
            models.append(self.path("m.rlar").read_bytes())
        self.assertEqual(models[0], models[1])

    def test_deterministic(self):
        """The bytes of one process, however the program would have chosen."""
        self.ok("fit", "t.npy", "-o", "one.rlar", *PAPER)
        for option in ("--deterministic", "--solve=replicated"):
            self.on_ranks(3, "fit", "t.npy", "-o", "m.rlar", option, *PAPER)
            self.assertEqual(self.path("m.rlar").read_bytes(), self.path("one.rlar").read_bytes())

    def test_refused(self):
        self.fails_on(2, USAGE, "fit", "t.npy", "--solve", "distributed", "--deterministic",
                      says=r"--solve distributed has other last digits")
        self.fails_on(2, USAGE, "fit", "t.npy", "--solve", "some", says=r"--solve")
        self.fails_on(2, FAILED, "fit", "t.npy", "--solve", "distributed", "--method", "lda",
                      says=r"method lda solves no system that ranks could share")
        self.fails(USAGE, "fit", "t.npy", "--solve", "distributed", says=r"rlar is one process; use rlar-mpi")


class Traffic(Case):
    """Counted within 10 % of the forecast."""

    def check(self, count, *options):
        traffic = self.on_ranks(count, "fit", "t.npy", "--json", *options).json["traffic"]
        for key in ("all", "busiest"):
            counted, forecast = traffic["bytes_per_iteration"][key], traffic["forecast"][key]
            self.assertGreater(counted, 0)
            self.assertLess(abs(counted - forecast), 0.1 * counted, f"{key}, {count} ranks, {options}")
        return traffic["forecast"]

    def test_counted(self):
        for count in (2, 4):
            for solve in ("replicated", "distributed"):
                self.check(count, *PAPER, "--solve", solve)
                self.check(count, "--iters", "4", "--solve", solve)

    def test_dry_run(self):
        """The same figures before the fit, and memory that the fit does not exceed."""
        for solve in ("replicated", "distributed"):
            forecast = self.check(3, *PAPER, "--solve", solve)
            dry = self.on_ranks(3, "fit", "t.npy", "--dry-run", "--json", *PAPER, "--solve", solve).json
            self.assertEqual((dry["ranks"], dry["solve"]), (3, solve))
            self.assertEqual(dry["traffic"]["bytes_per_iteration"], forecast)
            self.assertGreater(dry["traffic"]["samples"]["all"], 0)
            self.assertEqual(dry["traffic"]["inside_solve"] > 0, solve == "distributed")

    def test_large_class(self):
        """Of a class that lies on several ranks what is fetched is told apart: about, and at most."""
        rows = samples(n=6000, d=20)
        rows[:, -1] = np.arange(6000) < 300
        self.write("large.npy", npy(rows))
        dry = self.on_ranks(3, "fit", "large.npy", "--dry-run", "--json", *PAPER).json["traffic"]
        traffic = self.on_ranks(3, "fit", "large.npy", "--json", *PAPER).json["traffic"]
        known, fetched = traffic["forecast"]["all"], traffic["forecast_fetched"]
        self.assertEqual(dry["bytes_per_iteration"]["all"], known)
        self.assertEqual(dry["fetched_per_iteration"], fetched)
        self.assertLess(0, fetched["about"])
        self.assertLess(fetched["about"], fetched["most"])
        self.assertLess(known, traffic["bytes_per_iteration"]["all"])
        self.assertLess(traffic["bytes_per_iteration"]["all"], known + fetched["most"])
        text = self.on_ranks(3, "fit", "large.npy", "--dry-run", *PAPER).text
        self.assertRegex(text, r"(?m)^ {12}and about .*, at most .*, for neighbours on other ranks$")

    def test_dry_run_text(self):
        wine = ROOT / "data" / "wine.csv"
        text = self.on_ranks(3, "fit", wine, "--dry-run").text
        for line in (r"ranks       3; memory and work are those of the rank that has the most",
                     r"solve       replicated", r"traffic     samples: .* in all, .* to and from the busiest rank",
                     r" {12}each iteration: .* in all"):
            self.assertTrue(re.search("^" + line, text, re.M), f"{line}\n{text}")
        for method in ("lda", "mmc", "lsr", "rr"):  # nothing is iterated
            text = self.on_ranks(2, "fit", wine, "--dry-run", "--method", method).text
            self.assertRegex(text, r"(?m)^ {12}once: .* in all, .* to and from the busiest rank$")
            self.assertNotIn("each iteration", text)
        self.assertIn("inside the solves",
                      self.on_ranks(2, "fit", wine, "--dry-run", "--solve", "distributed").text)


if __name__ == "__main__":
    unittest.main()
