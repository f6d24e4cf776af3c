"""rlar-mpi evaluate, tune, reproduce: the JSON of the plain program, with the fits shared among ranks."""

import os
import signal
import unittest

import ranks
from ranks import support
from support import ROOT, without_seconds

WINE = ROOT / "data" / "wine.csv"


class SameAsPlain(ranks.Case):
    def compare(self, counts, *args):
        plain = self.json_of(*args)
        for count in counts:
            result = self.on_ranks(count, *args, "--json")
            self.assertEqual(without_seconds(result.json), without_seconds(plain), f"{count} ranks, {args}")

    def test_evaluate(self):
        self.compare((1, 2, 4), "evaluate", WINE, "--methods", "rlar,lda,sulda", "--train-per-class", "5,11", "--trials", "3",
                     "--tune=cv", "--coarse", "--seed", "2")

    def test_tune(self):
        self.compare((3,), "tune", WINE, "--method", "alpr", "--folds", "3")

    def test_reproduce(self):
        self.compare((3,), "reproduce", "uci", "--data-dir", ROOT / "data", "--methods", "rr,lfda", "--quick")

    def test_output_and_table(self):
        """Rank 0 alone writes."""
        self.ok("evaluate", WINE, "--methods", "lda,rr", "--train-per-class", "11", "--json", "-o", "plain.json")
        self.on_ranks(3, "evaluate", WINE, "--methods", "lda,rr", "--train-per-class", "11", "--json", "-o", "ranks.json")
        self.assertEqual(sorted(os.listdir(self.folder)), ["plain.json", "ranks.json"])


class Faults(ranks.Case):
    def test_bad_data_is_told_once(self):
        self.write("bad.csv", "1,2,a\n3,x,b\n")
        self.fails_on(3, support.DATA, "evaluate", "bad.csv", "--methods", "lda", "--train-per-class", "1", says="bad.csv:2:")

    def test_killed_and_resumed(self):
        """What was in the journal is not fitted again, by another number of ranks."""
        args = ("reproduce", "uci", "--data-dir", ROOT / "data", "--methods", "rlar,alpr", "--columns", "oracle", "--full-grid",
                "--trials", "4", "--resume", "j", "--json")
        plain = self.json_of(*args[:-3])
        self.path("rlar-reproduce.journal").unlink()
        process = ranks.start(3, *args, cwd=self.folder)
        self.assertTrue(ranks.wait_for(lambda: self.path("j").exists() and self.path("j").stat().st_size > 20000))
        os.kill(ranks.rank_processes(process.pid)[2], signal.SIGKILL)
        self.assertNotEqual(ranks.finish(process, timeout=30).code, 0)
        self.assertGreater(self.path("j").stat().st_size, 20000)
        result = self.on_ranks(2, *args)
        self.assertEqual(without_seconds(result.json), without_seconds(plain))


if __name__ == "__main__":
    unittest.main()
