"""Exit codes and error texts: every odd input of odd_inputs.py, and what a failure leaves behind.

A failure is one line on standard error that begins with "rlar: ", nothing on standard output and
no file created or changed. docs/errors.md shows the same table with the texts of the real program.
"""

import os
import shlex
import subprocess
import unittest

import make_errors_doc
import odd_inputs
import support
from support import DATA, IO, MEMORY, MODEL, NUMERIC, OK, USAGE, Case


class OddInputs(Case):
    """One test per odd input, made below from the table."""

    def check(self, odd):
        odd_inputs.lay_down(odd, self.folder)
        args = shlex.split(odd.argv)
        if odd.code != OK:
            self.fails(odd.code, *args, says=odd.says, stdin=odd.stdin)
            return
        result = self.ok(*args, stdin=odd.stdin)
        for pattern in odd.says:
            self.assertRegex(result.err, pattern)
        if not odd.says:
            self.assertNotIn("warning", result.err)


def add_tests():
    for index, odd in enumerate(odd_inputs.EVERY):
        slug = "".join(c if c.isalnum() else "_" for c in odd.name.lower())
        test = lambda self, odd=odd: self.check(odd)
        test.__doc__ = odd.name
        setattr(OddInputs, f"test_{index:02d}_{slug}", test)


add_tests()


class Leavings(Case):
    """What a failed run leaves: nothing new, and an existing output as it was."""

    def setUp(self):
        super().setUp()
        self.write("good.csv", odd_inputs.GOOD)
        self.write("bad.csv", odd_inputs.edited(20, 1, "abc"))

    def test_existing_model_survives_bad_data(self):
        self.write("m.rlar", "precious")
        self.fails(DATA, "fit", "bad.csv", "-o", "m.rlar")

    def test_existing_model_survives_bad_parameters(self):
        self.write("m.rlar", "precious")
        self.fails(USAGE, "fit", "good.csv", "-o", "m.rlar", "--alpha", "-1")

    def test_existing_model_survives_small_memory(self):
        self.write("m.rlar", "precious")
        self.fails(MEMORY, "fit", "good.csv", "-o", "m.rlar", "--max-memory", "1K")

    def test_prediction_that_fails_halfway_writes_nothing(self):
        self.ok("fit", "good.csv", "-o", "m.rlar")
        self.fails(DATA, "predict", "m.rlar", "bad.csv", "-o", "p.txt")
        self.write("p.txt", "old")
        self.fails(DATA, "predict", "m.rlar", "bad.csv", "-o", "p.txt")
        self.fails(DATA, "transform", "m.rlar", "bad.csv", "-o", "p.csv")

    def test_failure_prints_nothing(self):
        self.ok("fit", "good.csv", "-o", "m.rlar")
        for args in (["predict", "m.rlar"], ["predict", "m.rlar", "--scores"], ["transform", "m.rlar"]):
            self.fails(DATA, *args, "bad.csv", says=r"bad\.csv:21:2")

    def test_sample_is_counted_from_the_start_of_the_file(self):
        self.ok("fit", "good.csv", "--scale", "none", "-o", "m.rlar")
        rows = odd_inputs.GOOD.splitlines()
        self.write("far.csv", "\n".join([rows[0], *[rows[1]] * 2999, "1e300,1,1,1,1"]) + "\n")
        self.fails(NUMERIC, "predict", "m.rlar", "far.csv", says=r"sample 3000\b|far\.csv:3001\b")

    def test_trace_is_not_left_by_a_failed_fit(self):
        self.fails(DATA, "fit", "bad.csv", "--trace", "t.csv", "-o", "m.rlar")

    def test_long_paths_leave_the_cause(self):
        """A path as long as the system takes it: its beginning, its end, the cause and the advice are there."""
        for length in (950, 1010, 1030, 2040, 4000):
            path = "/no" + "/".ljust(200, "p") * (length // 200) + "/end.csv"
            for args in (("fit", path), ("info", path), ("predict", path, "good.csv"), ("fit", "good.csv", "-o", path),
                         ("fit", "good.csv", "--labels", path), ("evaluate", "good.csv", "--methods", "rr", "--resume", path,
                                                                 "--train-per-class", "4")):
                self.fails(IO, *args, says=r"/no/p+/.*/end\.csv: .*[Nn]o such file")
            self.fails(USAGE, "fit", "good.csv", "-o", path, "--trace", path, says=r"/end\.csv; name two .*--help")

    def test_model_and_trace_appear_together(self):
        """A trace that cannot be written, a model that cannot: the other is not there, or as it was."""
        self.fails(IO, "fit", "good.csv", "--trace", "/dev/full", "-o", "m.rlar", says="/dev/full")
        self.fails(IO, "fit", "good.csv", "--trace", "t.csv", "-o", "/dev/full", says="/dev/full")
        self.write("m.rlar", "the old model")
        self.fails(IO, "fit", "good.csv", "--trace", "/dev/full", "-o", "m.rlar", says="/dev/full")
        self.ok("fit", "good.csv", "--trace", "t.csv", "-o", "m.rlar")
        self.ok("predict", "m.rlar", "good.csv")

    def test_convert_that_fails_writes_nothing(self):
        self.fails(DATA, "convert", "bad.csv", "out.npy")
        self.fails(USAGE, "convert", "good.csv", "out.xyz", says=r"xyz")

    def test_evaluation_that_fails_writes_nothing(self):
        self.fails(DATA, "evaluate", "good.csv", "bad.csv", "--methods", "rlar",
                   "--train-per-class", "3", "--trials", "1")

    def test_failure_with_json_is_the_same_line(self):
        plain = self.fails(DATA, "fit", "bad.csv")
        self.assertEqual(self.fails(DATA, "fit", "bad.csv", "--json").err, plain.err)
        self.assertEqual(self.fails(DATA, "fit", "bad.csv", "-q").err, plain.err)


class Program(Case):
    def test_no_verb_shows_the_verbs(self):
        result = self.run_rlar()
        self.assertEqual((result.code, result.out), (USAGE, b""))
        self.assertRegex(result.err, r"(?s)fit.*predict.*--help")


class Models(Case):
    """Damaged models; test_model.py tries many more places."""

    def test_truncated_model(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "-o", "m.rlar")
        whole = self.path("m.rlar").read_bytes()
        self.write("m.rlar", whole[:-1])
        self.fails(MODEL, "predict", "m.rlar", "good.csv", says=(r"m\.rlar",))
        self.write("m.rlar", whole + b"x")
        self.fails(MODEL, "predict", "m.rlar", "good.csv", says=(r"m\.rlar",))

    def test_data_given_as_model_says_so(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "-o", "m.rlar")
        self.fails(MODEL, "predict", "good.csv", "m.rlar", says=r"model")


class Resources(Case):
    """Files that promise more than they hold must not be believed."""

    def peak_kilobytes(self, *args):
        process = support.start(*args, cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss

    def test_huge_promises_take_no_memory(self):
        self.write("good.csv", odd_inputs.GOOD)
        base_code, base = self.peak_kilobytes("info", "good.csv")
        self.assertEqual(base_code, OK)
        self.write("npy.npy", odd_inputs.npy_header((1000000000000, 1000)))
        self.write("rows.npy", odd_inputs.npy_header((1000000, 1000)))
        self.write("far.svm", "1 1:1\n2 1000000000000:4\n")
        self.write("image/x/1.pgm", b"P5\n1000000 1000000\n255\n1234")
        for name in ("npy.npy", "rows.npy", "far.svm", "image"):
            code, peak = self.peak_kilobytes("info", name)
            self.assertEqual(code, DATA, name)
            self.assertLess(peak, base + 200_000, name)

    @unittest.skipIf(os.geteuid() == 0, "root may read and write everything")
    def test_files_without_permission(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.path("good.csv").chmod(0)
        self.fails(IO, "fit", "good.csv", says=r"good\.csv.*[Pp]ermission")


class OptionsBeforeFiles(Case):
    """A wrong option is told before any file is opened: here there is none to open."""

    WRONG = {
        "fit x.csv --scale foo": "foo.*minmax",
        "fit x.csv --preset foo": "foo.*paper",
        "fit x.csv --method foo": "foo.*rlar",
        "fit x.csv -p alhpa=1": "alhpa.*alpha",
        "fit x.csv --alpha no": "alpha",
        "fit x.csv --mat-vars a,b,c": "a,b,c",
        "predict m.rlar x.csv --classifier foo": "foo.*centroid",
        "predict m.rlar x.csv --mat-vars ,b": "mat-vars",
        "convert x.csv out.xyz": r"out\.xyz.*csv",
        "convert x.csv -": "standard output",
        "evaluate x.csv --folds 3 --scale foo": "foo.*minmax",
        "evaluate x.csv --folds 3 --classifier foo": "foo.*centroid",
        "evaluate x.csv --folds 3 --methods rr,lda --classifier argmax": "argmax.*lda",
        "evaluate x.csv --folds 3 --trials 99999999": "trials",
        "evaluate x.csv --folds 999 --trials 9999": "trials times folds",
        "evaluate x.csv --folds 3 --tune cv --grid scale=none,foo": "foo.*minmax",
        "evaluate x.csv --folds 3 --tune cv --grid classifier=foo": "foo.*centroid",
        "evaluate x.csv --folds 3 --tune cv --grid alpha=1,no": "no",
        "evaluate x.csv --folds 3 --tune cv --grid alpha=1 --grid alpha=2": "twice",
        "evaluate x.csv --folds 3 --tune cv --grid alpha=1,2,1": "1 is given twice",
        "evaluate x.csv --folds 3 --methods rr,lda --tune cv --grid classifier=1nn,argmax": "argmax.*lda",
        "tune x.csv --scale foo": "foo.*minmax",
        "tune x.csv --grid scale=none,foo": "foo.*minmax",
        "tune x.csv --grid classifier=foo": "foo.*centroid",
        "tune x.csv --method lda --grid classifier=1nn,argmax": "argmax.*lda",
        "tune x.csv --method lda --classifier argmax": "argmax.*lda",
        "tune x.csv --method rr,lda": "rr,lda.*one method",
        "tune x.csv --grid lda.alpha=1": "lda",
        "tune x.csv --grid alpha=1,no": "no",
        "tune x.csv --grid alpha=": "NAME=VALUE",
        "tune x.csv --grid alpha=1,,2": "empty value",
        "tune x.csv --grid scale=unit,minmax+unit,minmax+unit": r"minmax\+unit is given twice",
        "tune x.csv --folds 1": "folds.*at least 2",
        "tune x.csv --train-per-class 3": "--train-per-class.*evaluate",
        "tune x.csv --trials 99999999": "trials",
    }

    def test_told_at_once(self):
        for command, says in self.WRONG.items():
            with self.subTest(command):
                self.fails(USAGE, *command.split(), says=says)

    def test_a_classifier_that_the_model_cannot_use(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "--method", "lda", "-o", "lda.rlar")
        self.fails(USAGE, "predict", "lda.rlar", "x.csv", "--classifier", "argmax", says="argmax")

    def test_an_output_that_cannot_be_made(self):
        for option in ("-o", "--trace"):
            self.fails(IO, "fit", "x.csv", option, "no/such/file", says="no/such/file")


class Outputs(Case):
    """No run overwrites what it reads, and where a file cannot be made it is told at once."""

    def setUp(self):
        super().setUp()
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "-o", "m.rlar")
        self.path("link.csv").symlink_to("good.csv")

    def test_inputs_are_not_overwritten(self):
        for command in ("fit good.csv -o good.csv", "fit good.csv -o link.csv",
                        "fit good.csv --trace good.csv", "predict m.rlar good.csv -o m.rlar",
                        "predict m.rlar good.csv -o good.csv", "rank m.rlar -o m.rlar",
                        "transform m.rlar link.csv -o good.csv",
                        "evaluate good.csv --folds 2 -o good.csv",
                        "tune good.csv --folds 2 -o good.csv"):
            with self.subTest(command):
                self.fails(USAGE, *command.split(), says="is read and would be overwritten")

    def test_inputs_found_in_the_data_folder(self):
        """Not as they were typed, but as they were found."""
        for name in ("zine.csv", "iris.csv"):
            self.write(f"dd/{name}", odd_inputs.GOOD)
        for command in ("fit zine -o dd/zine.csv", "fit zine --trace dd/zine.csv", "fit zine --checkpoint dd/zine.csv",
                        "predict m.rlar zine -o dd/zine.csv", "tune zine --folds 2 -o dd/../dd/zine.csv",
                        "reproduce uci --dry-run --methods lda -o dd/iris.csv"):
            with self.subTest(command):
                self.fails(USAGE, *command.split(), "--data-dir", "dd", says="is read and would be overwritten")

    def test_inputs_of_options(self):
        self.write("labels.csv", "a\nb\n" * 12)
        self.write("occluder.pgm", odd_inputs.pgm(4, 3))
        self.write("dd/iris.csv", odd_inputs.GOOD)
        table = "reproduce uci --data-dir dd --dry-run --methods lda"
        for command in ("convert good.csv labels.csv --labels labels.csv",
                        f"{table} --occluder occluder.pgm -o occluder.pgm", f"{table} -o ./rlar-reproduce.journal"):
            with self.subTest(command):
                self.fails(USAGE, *command.split(), says="is read and would be overwritten")
        self.ok("convert", "good.csv", "./good.csv")  # in place: the same data

    def test_standard_input_is_not_overwritten(self):
        with open(self.path("good.csv"), "rb") as stdin:
            process = support.start("fit", "-", "--format", "csv", "-o", "good.csv", cwd=self.folder, stdin=stdin)
            self.assertIn(b"is read and would be overwritten", process.communicate(timeout=support.TIMEOUT)[1])
        self.assertEqual((process.returncode, self.path("good.csv").read_text()), (USAGE, odd_inputs.GOOD))

    def test_images_are_not_overwritten(self):
        for name in ("x/1", "x/2", "y/1", "y/2"):
            self.write(f"faces/{name}.pgm", odd_inputs.pgm(4, 3, 9 * len(name) + ord(name[-1])))
        self.path("faces/z").symlink_to("y")
        self.ok("fit", "faces", "-o", "faces.rlar")
        for output in ("faces/x/1.pgm", "faces/y/new.pgm", "faces/z/1.pgm"):
            self.fails(USAGE, "predict", "faces.rlar", "faces", "-o", output, says="is among the images of faces")
        self.ok("predict", "faces.rlar", "faces", "-o", "faces/beside.txt")  # which no reader looks at

    def test_journals_are_not_overwritten(self):
        """Hours of finished fits may be in there, also where -o is spelled otherwise, or the journal is yet to be made."""
        for verb in ("evaluate good.csv --folds 2 --trials 1", "tune good.csv --folds 2"):
            for resume, output in (("j", "j"), ("j", "./j"), ("kept/../new", "new")):
                self.path("kept").mkdir(exist_ok=True)
                self.fails(USAGE, *verb.split(), "--resume", resume, "-o", output, says="is read and would be overwritten")
                self.assertFalse(self.path(output).exists())

    def test_outputs_are_told_apart_by_place(self):
        """The checkpoint is removed after the fit: under another spelling it was the model."""
        for one, other in (("-o", "--checkpoint"), ("-o", "--trace"), ("--trace", "--checkpoint")):
            self.fails(USAGE, "fit", "good.csv", one, "./same", other, "same", says="same file")
        self.path("there").write_bytes(b"")
        self.path("link").symlink_to("there")
        self.fails(USAGE, "fit", "good.csv", "-o", "link", "--checkpoint", "there", says="same file")
        self.ok("fit", "good.csv", "-o", "/dev/null", "--trace", "/dev/null")

    def test_fit_writes_two_files(self):
        self.fails(USAGE, "fit", "good.csv", "-o", "a", "--trace", "a", says="same file")
        self.fails(USAGE, "fit", "good.csv", "--trace", "-", says="standard output")

    def test_told_before_the_data_are_read(self):
        self.fails(IO, "convert", "x.csv", "no/such/file.csv", says="no/such/file")

    def test_a_pipe_is_opened_once(self):
        for command in ("convert good.csv pipe.csv", "predict m.rlar good.csv -o pipe.csv",
                        "transform m.rlar good.csv -o pipe.csv"):
            with self.subTest(command):
                os.mkfifo(self.path("pipe.csv"))
                reader = subprocess.Popen(["cat", "pipe.csv"], cwd=self.folder,
                                          stdout=subprocess.PIPE)
                self.ok(*command.split())
                self.assertGreater(len(reader.communicate(timeout=20)[0]), 10)
                self.path("pipe.csv").unlink()


class StandardInput(Case):
    """It comes once."""

    def test_named_twice(self):
        for command in ("predict - -", "transform - -", "plot embedding - - -o e.svg", "report - - -o r.html",
                        "info - --labels -", "fit - --labels -", "evaluate x.csv - --folds 2 --labels -"):
            with self.subTest(command):
                self.fails(USAGE, *command.split(), says="standard input can be read once only")

    def test_named_once(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "--labels", "-", stdin=b"a\nb\n" * 12)
        self.ok("convert", "-", "out.csv", "--format", "csv", stdin=odd_inputs.GOOD.encode())


class Messages(Case):
    """What is said is what was met."""

    def test_a_link_to_itself_among_images(self):
        self.write("faces/x/1.pgm", odd_inputs.pgm(4, 3))
        self.path("faces/x/loop.pgm").symlink_to("loop.pgm")
        self.fails(IO, "info", "faces", says=r"faces/x/loop\.pgm: .*symbolic links")

    def test_a_model_from_a_pipe_is_no_data(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "-o", "m.rlar")
        self.fails(support.DATA, "info", "-", stdin=self.path("m.rlar").read_bytes(), says="from a file, not from a pipe")

    def test_a_reader_that_left_by_any_name(self):
        """The end of a pipe is no failure, whether standard output is named or not."""
        self.write("good.csv", odd_inputs.GOOD)
        self.ok("fit", "good.csv", "-o", "m.rlar")
        for output in ((), ("-o", "-"), ("-o", "/dev/stdout")):
            read, write = os.pipe()
            os.close(read)
            process = support.start("transform", "m.rlar", "good.csv", "-q", *output, cwd=self.folder, stdout=write)
            os.close(write)
            self.assertEqual((process.communicate(timeout=support.TIMEOUT)[1], process.returncode), (b"", 0))

    def test_a_journal_among_results_or_messages(self):
        self.write("good.csv", odd_inputs.GOOD)
        for command in ("evaluate good.csv --methods lda --folds 2", "tune good.csv --method rr --folds 2",
                        "reproduce uci --data-dir . --methods lda"):
            for name, stream in (("-", "output"), ("/dev/stdout", "output"), ("/dev/stderr", "error")):
                self.fails(USAGE, *command.split(), "--resume", name,
                           says=f"--resume: a journal cannot go to standard {stream}, name a file")

    def test_a_model_among_its_report(self):
        """However standard output is called, fit reports there; /dev/null mixes nothing."""
        self.write("good.csv", odd_inputs.GOOD)
        for option in ("-o", "--trace", "--checkpoint"):
            for name in ("-", "/dev/stdout", "/dev/fd/1"):
                self.fails(USAGE, "fit", "good.csv", option, name, says=r"cannot go to standard output, name a file")
            with open(self.path("mixed"), "wb") as out:
                process = support.start("fit", "good.csv", option, "mixed", cwd=self.folder, stdout=out)
                self.assertIn(b"cannot go to standard output", process.communicate(timeout=support.TIMEOUT)[1])
                self.assertEqual(process.returncode, USAGE)
        with open("/dev/null", "wb") as out:
            process = support.start("fit", "good.csv", "-o", "/dev/null", "-q", cwd=self.folder, stdout=out)
            self.assertEqual((process.communicate(timeout=support.TIMEOUT)[1], process.returncode), (b"", 0))

    def test_a_training_size_that_is_no_double(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.fails(support.DATA, "evaluate", "good.csv", "--train-per-class", "9223372036854775807",
                   says=r"\b9223372036854775807 for training")


class Hints(Case):
    """What was meant."""

    def test_hints(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.write("packed.csv.gz", "")
        for command, code, says in (
                ("fit good", IO, "did you mean good.csv"),
                ("fit packed.csv", IO, "did you mean packed.csv.gz"),
                ("help fitt", USAGE, "did you mean 'fit'"),
                ("predict m.rlar x.csv --alpha 1", USAGE, "--alpha.*belongs to fit, evaluate"),
                ("fit x.csv --aplha 1", USAGE, "did you mean --alpha")):
            with self.subTest(command):
                self.fails(code, *command.split(), says=says)

    def test_other_ways_to_ask(self):
        self.assertEqual(self.ok("version").out, self.ok("--version").out)
        self.assertEqual(self.ok("help", "help").out, self.ok("--help").out)

    def test_nothing_to_predict(self):
        self.write("good.csv", odd_inputs.GOOD)
        self.write("none.csv", "")
        self.ok("fit", "good.csv", "-o", "m.rlar")
        for verb in ("predict", "transform"):
            self.assertIn("warning: none.csv: no samples", self.ok(verb, "m.rlar", "none.csv").err)

    def test_two_classes_are_not_continuous(self):
        self.write("tiny.csv", "1,2,a\n2,3,b\n4,4,b\n")
        self.assertNotIn("continuous", self.ok("fit", "tiny.csv").err)


class Document(Case):
    """docs/errors.md is what the program says today."""

    def test_document_is_current(self):
        text = (support.ROOT / "docs" / "errors.md").read_text()
        for odd in odd_inputs.EVERY:
            self.assertIn(f"| {odd.name} |", text)
        make_errors_doc.main(self.path("errors.md"))
        self.assertEqual(self.path("errors.md").read_text(), text,
                         "run tests/cli/make_errors_doc.py docs/errors.md")


if __name__ == "__main__":
    support.main()
