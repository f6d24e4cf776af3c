"""Ctrl-C, closed pipes, full disks and folders that cannot be written.

The only limits on time in these tests: an interrupted program must have ended within seconds.
"""

import io
import json
import os
import pty
import select
import signal
import subprocess
import time
import unittest

import numpy as np

import support
from support import INTERRUPTED, IO, SIGNAL_LIMIT, Case, blobs, snapshot, table_text


def without_times(answer):
    """The JSON of evaluate but for what the clock has measured."""
    for row in answer["results"]:
        del row["fit_seconds"], row["predict_seconds"]
    return answer


class Interrupt(Case):
    """SIGINT ends any verb with 130, quietly and without leavings."""

    def setUp(self):
        super().setUp()
        x, y = blobs(100, 300, 4, seed=1, spread=40)
        raw = io.BytesIO()
        np.save(raw, np.column_stack([x, y]))
        self.write("long.npy", raw.getvalue())

    def interrupted(self, process, after=1.0):
        """Send SIGINT after a while and check how the program ends."""
        self.addCleanup(self.end, process)
        time.sleep(after)
        self.assertIsNone(process.poll(), "ended before it could be interrupted")
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=SIGNAL_LIMIT)
        except subprocess.TimeoutExpired:
            self.fail(f"still running {SIGNAL_LIMIT} s after SIGINT")
        self.assertEqual(process.returncode, INTERRUPTED, err.decode())
        self.assertEqual(out, b"")
        self.assertNotIn(b"error", err.lower())
        self.assertLessEqual(err.count(b"\n"), 1, err.decode())

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and not pipe.closed:
                pipe.close()
        process.wait()

    def test_fit(self):
        self.write("m.rlar", "old model")
        before = snapshot(self.folder)
        for threads in ("1", "2"):
            process = support.start("fit", "long.npy", "-o", "m.rlar", "--iters", "100000",
                                    "-p", "solver=paper", "--trace", "t.csv", "--threads", threads, cwd=self.folder)
            self.interrupted(process)
            self.assertEqual(snapshot(self.folder), before)

    def test_evaluate_goes_on(self):
        """Killed at any moment, or interrupted, and started again: the answer of a run that nobody disturbed."""
        command = ["evaluate", "long.npy", "--methods", "rlar,lda", "--train-per-class", "20", "--trials", "3",
                   "--tune", "oracle", "--coarse", "--grid", "rlar.alpha=0.01,0.05,0.1,0.5,1",
                   "--iters", "60", "--json"]
        whole = json.loads(support.run(*command, cwd=self.folder).out)
        command += ["--resume", "fits.journal"]
        ended = 0
        for number in range(10):
            process = support.start(*command, cwd=self.folder)
            self.addCleanup(self.end, process)
            time.sleep(0.02 + 0.04 * number)
            process.send_signal(signal.SIGINT if number % 3 == 2 else signal.SIGKILL)
            process.communicate(timeout=SIGNAL_LIMIT)
            ended += process.returncode == 0
        self.assertLess(ended, 10)
        again = json.loads(support.run(*command, cwd=self.folder).out)
        self.assertEqual(without_times(again), without_times(whole))
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.startswith(".")], [])

    def test_evaluate(self):
        before = snapshot(self.folder)
        process = support.start("evaluate", "long.npy", "--methods", "rlar", "--train-per-class", "50",
                                "--trials", "100", "--tune", "oracle", "--iters", "1000", "--json",
                                cwd=self.folder)
        self.interrupted(process)
        self.assertEqual(snapshot(self.folder), before)

    def test_tune(self):
        before = snapshot(self.folder)
        process = support.start("tune", "long.npy", "--iters", "1000", "-o", "t.txt", cwd=self.folder)
        self.interrupted(process)
        self.assertEqual(snapshot(self.folder), before)

    def test_reading_from_an_open_pipe(self):
        for begin in (b"", b"1,2,3,1\n4,5,6,2\n"):
            process = support.start("fit", "-", "--format", "csv", "-o", "m.rlar", cwd=self.folder,
                                    stdin=subprocess.PIPE)
            process.stdin.write(begin)
            process.stdin.flush()
            time.sleep(0.3)
            read_end, process.stdin = process.stdin, None  # communicate() must not close it
            self.addCleanup(read_end.close)
            self.interrupted(process, after=0.5)
            self.assertFalse(self.path("m.rlar").exists())

    def test_progress_line_is_for_terminals_only(self):
        try:
            terminal, end = pty.openpty()
        except OSError as error:
            self.skipTest("no pseudo-terminal here: %s" % error)
        process = support.start("fit", "long.npy", "--iters", "1000000", "-p", "solver=paper", cwd=self.folder, stderr=end)
        self.addCleanup(self.end, process)
        self.addCleanup(os.close, terminal)
        os.close(end)
        shown = b""
        deadline = time.monotonic() + support.TIMEOUT
        while b"iteration" not in shown and time.monotonic() < deadline:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 4096)
        self.assertRegex(shown, rb"\r.*iteration \d+ of 1000000, .* left")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=SIGNAL_LIMIT), INTERRUPTED)

    def test_predicting_from_an_open_pipe(self):
        x, y = blobs(10, 6, 3, seed=0)
        self.write("t.csv", table_text(x, y))
        self.ok("fit", "t.csv", "-o", "m.rlar")
        process = support.start("predict", "m.rlar", "-", "--format", "csv", "-o", "p.txt", cwd=self.folder,
                                stdin=subprocess.PIPE)
        process.stdin.write(table_text(x, y).encode())
        process.stdin.flush()
        kept, process.stdin = process.stdin, None  # communicate() must not close it
        self.addCleanup(kept.close)
        self.interrupted(process, after=0.5)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["long.npy", "m.rlar", "t.csv"])

    def test_termination_leaves_nothing(self):
        before = snapshot(self.folder)
        process = support.start("fit", "long.npy", "-o", "m.rlar", "--iters", "100000", "-p", "solver=paper",
                                cwd=self.folder)
        self.addCleanup(self.end, process)
        time.sleep(1.0)
        process.terminate()
        process.communicate(timeout=SIGNAL_LIMIT)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(snapshot(self.folder), before)


class Pipes(Case):
    """A reader that stops early is no error; a full disk is."""

    def setUp(self):
        super().setUp()
        x, y = blobs(10, 6, 3, seed=0)
        self.write("t.csv", table_text(x, y))
        self.write("many.csv", table_text(x, y) * 2000)
        self.ok("fit", "t.csv", "-o", "m.rlar")

    def closed_early(self, *args):
        """Read one line, close the pipe, and see how the program takes it."""
        process = support.start(*args, cwd=self.folder)
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        process.stderr.close()
        code = process.wait(timeout=support.TIMEOUT)
        return code, first, err

    def test_head(self):
        for verb in ("predict", "transform"):
            code, first, err = self.closed_early(verb, "m.rlar", "many.csv")
            self.assertEqual(code, 0, err)
            self.assertTrue(first.endswith(b"\n"))
            self.assertNotRegex(err, r"(?i)error|pipe|write")

    def test_head_with_scores_and_json(self):
        for option in ("--scores", "--json"):
            code, _, err = self.closed_early("predict", "m.rlar", "many.csv", option)
            self.assertEqual(code, 0, err)
            self.assertNotRegex(err, r"(?i)error|pipe|write")

    @unittest.skipUnless(os.path.exists("/dev/full"), "this system has no /dev/full")
    def test_full_disk(self):
        runs = (["predict", "m.rlar", "t.csv"], ["transform", "m.rlar", "t.csv"], ["methods"],
                ["fit", "t.csv", "--json"], ["info", "t.csv"], ["--version"], ["rank", "m.rlar"],
                ["evaluate", "t.csv", "--methods", "rlar", "--train-per-class", "4", "--trials", "2"],
                ["tune", "t.csv", "--grid", "alpha=0.1,1", "--folds", "2"])
        for args in runs:
            with open("/dev/full", "wb") as full:
                process = support.start(*args, cwd=self.folder, stdout=full)
                err = process.stderr.read().decode()
                process.stderr.close()
                code = process.wait(timeout=support.TIMEOUT)
            self.assertEqual(code, IO, f"{args}: {err}")
            self.assertRegex(err.splitlines()[-1], r"^rlar: .*(No space|write)")

    def test_output_into_a_missing_folder(self):
        for args in (["fit", "t.csv"], ["predict", "m.rlar", "t.csv"], ["transform", "m.rlar", "t.csv"]):
            self.fails(IO, *args, "-o", "no/such/file", says=r"no/such")
        self.fails(IO, "convert", "t.csv", "no/such/file.npy", says=r"no/such")
        self.fails(IO, "fit", "t.csv", "--trace", "no/such/t.csv", says=r"no/such")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_output_into_a_read_only_folder(self):
        locked = self.path("locked")
        locked.mkdir()
        locked.chmod(0o555)
        self.addCleanup(locked.chmod, 0o755)
        self.fails(IO, "fit", "t.csv", "-o", "locked/m.rlar", says=r"locked.*[Pp]ermission")

    def test_output_into_the_kernel_s_folder(self):
        """Not even root may create a file in /proc."""
        self.fails(IO, "fit", "t.csv", "-o", "/proc/m.rlar", says=r"/proc")

    def test_input_that_is_a_closed_pipe(self):
        self.fails(support.DATA, "fit", "-", "--format", "csv", stdin=b"", says=r"stdin|standard input")


if __name__ == "__main__":
    unittest.main()
