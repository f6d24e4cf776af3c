"""rlar-mpi fit: the model and the report of the plain program, on any number of ranks; one message
and the documented exit code when a rank fails; nothing is left of a job whose rank was killed."""

import io
import os
import re
import signal
import time
import unittest

import numpy as np

import ranks
from ranks import support
from support import DATA, FAILED, INTERRUPTED, IO, MEMORY, ROOT, USAGE, without_seconds

SHIPPED = ("iris.arff", "diabetes.arff", "wine.csv")


def samples(n=5000, d=61, classes=7, seed=3):
    """Classes of uneven sizes, in no order: more samples than one block of the sums holds."""
    rng = np.random.RandomState(seed)
    y = np.minimum(rng.randint(0, classes + 2, n), classes - 1)
    x = rng.randn(classes, d)[y] * 1.2 + rng.randn(n, d) * 2
    return np.column_stack([x, y])


def npy(table):
    raw = io.BytesIO()
    np.save(raw, table)
    return raw.getvalue()


class SameAsPlain(ranks.Case):
    """The bytes of the model, the JSON but for seconds, the lines of the report."""

    def compare(self, data, counts, *options):
        plain = self.json_of("fit", *data, "-o", "m.rlar", *options)
        model = self.path("m.rlar").read_bytes()
        for count in counts:
            self.path("m.rlar").unlink()
            result = self.on_ranks(count, "fit", *data, "-o", "m.rlar", "--json", *options)
            where = f"{count} ranks, {data}, {options}"
            self.assertEqual(self.path("m.rlar").read_bytes(), model, where)
            self.assertEqual(self.without_ranks(result.json, count), without_seconds(plain), where)
            self.assertEqual(ranks.own_lines(result.err), ["rlar-mpi: wrote m.rlar"], where)

    def without_ranks(self, found, count):
        """What several ranks say beside the report of one process (test_solve.py)."""
        if count > 1:
            self.assertEqual((found.pop("ranks"), found.pop("solve")), (count, "replicated"))
            found.pop("traffic")
        return without_seconds(found)

    def test_shipped_data(self):
        for name in SHIPPED:
            self.compare([ROOT / "data" / name], (1, 2, 3, 4))

    def test_solvers_and_scalings(self):
        self.write("t.npy", npy(samples()))
        for options in (["-p", "solver=paper", "--iters", "5"],
                        ["-p", "solver=anneal", "--iters", "5", "--scale", "minmax,unit"],
                        ["-p", "solver=minimise", "--scale", "none", "--alpha", "0.5"]):
            self.compare(["t.npy"], (2, 3, 4), *options)
        self.compare(["t.npy"], (1,), "-p", "solver=paper", "--iters", "5", "--preset", "paper")

    def test_methods_and_formats(self):
        """Each rank reads its range of the file."""
        table = samples(n=4500)
        self.write("t.csv", "\n".join(",".join("%.6g" % v for v in row) for row in table))
        self.write("t.svm", "\n".join("%d " % row[-1] + " ".join("%d:%.6g" % (j + 1, v) for j, v in enumerate(row[:-1]))
                                      for row in table))
        self.compare(["t.svm"], (3,), "--iters", "3")
        for method in ("rlar", "lda", "alpr"):
            self.compare(["t.csv"], (4,), "--method", method)

    def test_large_classes(self):
        """Two classes on up to five ranks, on most of which there is a part of one only."""
        self.write("t.npy", npy(samples(n=11000, d=13, classes=2)))
        self.compare(["t.npy"], (3, 5), "-p", "solver=paper", "--iters", "4", "-p", "search=exact")
        fit = ("fit", "t.npy", "-p", "search=local", "-o")  # which is told
        self.ok(*fit, "one.rlar")
        self.on_ranks(4, *fit, "four.rlar")
        self.assertEqual(self.path("four.rlar").read_bytes(), self.path("one.rlar").read_bytes())

    def test_several_files(self):
        """Parts of one set, read by different ranks: the model of the one file."""
        table = samples()
        self.write("t.npy", npy(table))
        parts = [self.write(f"part{i}.npy", npy(table[i * 1000:(i + 1) * 1000])) for i in range(5)]
        self.ok("fit", "t.npy", "-o", "one.rlar", "--iters", "5")
        for count in (2, 4):
            self.compare(parts, (count,), "--iters", "5")
            self.assertEqual(self.path("m.rlar").read_bytes(), self.path("one.rlar").read_bytes())

    def test_trace_and_report(self):
        def numbers(text):
            return [line.rsplit(",", 2)[0] for line in text.splitlines()]

        wine = ROOT / "data" / "wine.csv"
        options = ["fit", wine, "-p", "solver=paper", "--iters", "4", "--trace", "t.csv", "-o", "m.rlar"]
        plain = self.ok(*options)
        trace = self.path("t.csv").read_text()
        result = self.on_ranks(3, *options)
        self.assertEqual(numbers(self.path("t.csv").read_text()), numbers(trace))
        self.assertEqual(re.sub(r"time .*", "", result.text), re.sub(r"time .*", "", plain.text))

    def test_dry_run_writes_nothing(self):
        result = self.on_ranks(2, "fit", ROOT / "data" / "wine.csv", "--dry-run", "-o", "m.rlar")
        self.assertRegex(result.text, r"178 samples, 13 features, 3 classes")
        self.assertEqual(list(self.folder.iterdir()), [])


class OtherVerbs(ranks.Case):
    """They are rank 0's."""

    def test_version_and_help(self):
        self.assertRegex(self.on_ranks(3, "--version").text, r"\Arlar-mpi \d+\.\d+\.\d+\n\Z")
        for args in (["--help"], ["fit", "--help"], ["help", "fit"]):
            self.assertEqual(self.on_ranks(2, *args).text.count("Usage:"), 1)

    def test_predict(self):
        wine = ROOT / "data" / "wine.csv"
        self.ok("fit", wine, "-o", "m.rlar")
        self.assertEqual(self.on_ranks(3, "predict", "m.rlar", wine).out,
                         self.ok("predict", "m.rlar", wine).out)


class Errors(ranks.Case):
    def setUp(self):
        super().setUp()
        table = samples(600)
        for i in range(3):
            self.write(f"part{i}.npy", npy(table[i * 200:(i + 1) * 200]))

    def test_bad_file_on_one_rank(self):
        self.write("bad.csv", "1,2,a\nx,3,b\n")
        self.fails_on(3, DATA, "fit", "part0.npy", "part1.npy", "bad.csv", "-o", "m.rlar",
                      says=r"^rlar-mpi: rank 2: bad\.csv:2:1: ")

    def test_missing_file(self):
        self.fails_on(2, IO, "fit", "no.csv", says=r"^rlar-mpi: rank 0: no\.csv: no such file")
        self.fails_on(3, IO, "fit", "part0.npy", "no.csv", "part2.npy",
                      says=r"^rlar-mpi: rank 1: no\.csv: no such file")

    def test_method_that_is_not_distributed(self):
        self.fails_on(3, FAILED, "fit", "part0.npy", "--method", "lfda",
                      says=r"method lfda is not distributed")

    def test_output_that_cannot_be_written(self):
        self.fails_on(3, IO, "fit", "part0.npy", "-o", "no/such/m.rlar", says=r"rank 0: .*no/such")

    def test_parts_that_do_not_match(self):
        self.fails_on(2, DATA, "fit", "part0.npy", ROOT / "data" / "wine.csv", says=r"features")

    def test_out_of_memory(self):
        self.fails_on(3, MEMORY, "fit", "part0.npy", "part1.npy", "part2.npy", "--max-memory", "20k",
                      says=r"^rlar-mpi: rank \d: .*memory limit")

    def test_usage(self):
        self.fails_on(3, USAGE, "fit", "part0.npy", "--bogus", says=r"^rlar-mpi: fit: unknown option")
        self.fails_on(3, USAGE, "fit", says=r"DATA")
        self.fails_on(3, USAGE, "fot", says=r"did you mean 'fit'")
        self.fails_on(2, USAGE, "fit", "part0.npy", "part1.npy", "--missing", "mean", says=r"--missing mean")
        self.fails_on(2, USAGE, "fit", "part0.npy", "-", says=r"standard input")


class Ends(ranks.Case):
    """A job that loses a rank, or is interrupted, is gone soon, and the old model is still there."""

    def setUp(self):
        super().setUp()
        self.write("t.npy", npy(samples()))
        self.write("m.rlar", "old model")
        self.before = support.snapshot(self.folder)

    def start(self, count, *args):
        process = ranks.start(count, *args, cwd=self.folder)
        self.addCleanup(self.end, process)
        return process

    def begin(self, count=4, data="t.npy", *options):
        process = self.start(count, "fit", data, "-o", "m.rlar", "-p", "solver=paper", "--iters", "1000000", "-v",
                             *options)
        first = process.stderr.readline()
        while first and b"iteration 2" not in first:  # all have read, and fit
            first = process.stderr.readline()
        pids = ranks.rank_processes(process.pid)
        self.assertEqual(sorted(pids), list(range(count)))
        return process, pids

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.terminate()
        process.communicate()

    def ended(self, process, pids, limit):
        started = time.monotonic()
        result = ranks.finish(process, timeout=limit)
        self.assertNotEqual(result.code, 0, result.err)
        self.assertTrue(ranks.wait_for(lambda: not any(map(ranks.is_running, pids.values())),
                                       limit - (time.monotonic() - started)), "a rank goes on")
        self.assertEqual(result.out, b"")
        self.assertEqual(support.snapshot(self.folder), self.before)
        return result

    def test_killed_rank(self):
        for victim in (2, 0):
            process, pids = self.begin()
            os.kill(pids[victim], signal.SIGKILL)
            result = self.ended(process, pids, 30)
            self.assertRegex(result.err, rf"rank {victim}\b")

    def test_killed_and_resumed(self):
        """From the checkpoint, on fewer ranks: the model of a fit that was never stopped."""
        self.path("m.rlar").unlink()
        fit = ("fit", "t.npy", "-o", "m.rlar", "-p", "solver=paper", "--iters", "300")
        self.ok(*fit)
        whole = self.path("m.rlar").read_bytes()
        self.path("m.rlar").unlink()
        process = self.start(4, *fit, "--checkpoint", "cp", "--every", "2")
        self.assertTrue(ranks.wait_for(self.path("cp").exists))
        os.kill(ranks.rank_processes(process.pid)[1], signal.SIGKILL)
        self.assertNotEqual(ranks.finish(process, timeout=30).code, 0)
        self.assertFalse(self.path("m.rlar").exists())
        self.assertTrue(self.path("cp").exists())
        result = self.on_ranks(3, *fit, "--checkpoint", "cp", "--every", "2", "-v")
        self.assertNotIn("iteration 1 ", result.err)
        self.assertEqual(self.path("m.rlar").read_bytes(), whole)
        self.assertFalse(self.path("cp").exists())

    def test_terminated_rank(self):
        """It can still say so itself."""
        process, pids = self.begin()
        os.kill(pids[3], signal.SIGTERM)
        result = self.ended(process, pids, 30)
        self.assertRegex(result.err, r"rlar-mpi: rank 3: interrupted")

    def test_stopped_rank_0(self):
        """Where rank 0 does not answer, the rank that fails ends all."""
        process, pids = self.begin()
        os.kill(pids[0], signal.SIGSTOP)
        os.kill(pids[1], signal.SIGTERM)
        result = self.ended(process, pids, 30)
        self.assertRegex(result.err, r"rlar-mpi: rank 1: interrupted")

    def test_interrupted_rank_0(self):
        """Its signals come from the launcher, as a rule."""
        process, pids = self.begin()
        os.kill(pids[0], signal.SIGINT)
        result = self.ended(process, pids, 30)
        self.assertEqual(result.code, INTERRUPTED)
        self.assertRegex(result.err, r"rlar-mpi: interrupted; a launcher ends all ranks")

    def test_memory_ends(self):
        """Where nothing can be unwound: the rows of the trace, which grows until there is no more room."""
        for count, victim, who in ((2, 1, "rank 1: "), (2, 0, "rank 0: "), (1, 0, "")):
            process, pids = self.begin(count, ROOT / "data" / "iris.arff", "--trace", "trace.csv")
            ranks.end_memory(pids[victim])
            result = self.ended(process, pids, 60)
            said = [line for line in ranks.own_lines(result.err) if "iteration" not in line]
            self.assertEqual(said, [f"rlar-mpi: {who}out of memory"], result.err)
            self.assertEqual(result.code, MEMORY, result.err)

    def test_descriptors_end(self):
        """While rank 0 reads; the next file that it needs is its BLAS."""
        os.mkfifo(self.path("pipe.csv"))
        self.before = support.snapshot(self.folder)
        process = self.start(2, "fit", "pipe.csv", ROOT / "data" / "wine.csv", "-o", "m.rlar")
        with ranks.open_pipe(self.path("pipe.csv")) as pipe:
            pids = ranks.rank_processes(process.pid)
            ranks.end_descriptors(pids[0], self.path("pipe.csv"))
            pipe.write((ROOT / "data" / "wine.csv").read_bytes())
        result = self.ended(process, pids, 60)
        self.assertEqual(result.code, IO, result.err)
        self.assertRegex(result.err, r"(?m)^rlar-mpi: rank 0: cannot open a BLAS library: Too many open files")

    def test_terminated_after_its_work(self):
        """While it waits for the last word of rank 0, which predicts alone and hears of it."""
        wine = ROOT / "data" / "wine.csv"
        self.ok("fit", wine, "-o", "wine.rlar")
        os.mkfifo(self.path("pipe.csv"))
        process = self.start(2, "predict", "wine.rlar", "pipe.csv")
        with ranks.open_pipe(self.path("pipe.csv")) as pipe:
            pids = ranks.rank_processes(process.pid)
            self.assertTrue(ranks.wait_for(lambda: ranks.catches(pids[1], signal.SIGTERM)))
            os.kill(pids[1], signal.SIGTERM)
            time.sleep(0.5)
            pipe.write(wine.read_bytes())
        result = ranks.finish(process, timeout=60)
        self.assertEqual(result.code, INTERRUPTED, result.err)
        self.assertEqual(ranks.own_lines(result.err), ["rlar-mpi: rank 1: interrupted"])

    def test_interrupt(self):
        process, pids = self.begin()
        process.send_signal(signal.SIGINT)
        result = self.ended(process, pids, 30)
        said = [line for line in ranks.own_lines(result.err) if "iteration" not in line]
        self.assertLessEqual(len(said), 1, result.err)


if __name__ == "__main__":
    unittest.main()
