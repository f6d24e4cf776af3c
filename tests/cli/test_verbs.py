"""Every verb once: help with an example, JSON keys, -o, -q, -v, standard input, the data folder."""

import csv
import io
import json
import os
import re
import subprocess
import unittest

import numpy as np

import support
from support import IO, USAGE, Case, blobs, gz, table_text, without_seconds

VERBS = ("fit", "predict", "transform", "rank", "evaluate", "tune", "reproduce", "plot", "report", "convert", "info",
         "methods", "doctor")

X, Y = blobs(10, 6, 3, seed=0)
NAMES = [f"f{j}" for j in range(1, 7)]


class Verbs(Case):
    def setUp(self):
        super().setUp()
        self.write("t.csv", table_text(X, Y, names=NAMES))
        self.ok("fit", "t.csv", "-o", "m.rlar")

    def accuracy(self, lines):
        return np.mean([a == str(b) for a, b in zip(lines, Y)])


class Help(Case):
    def test_program(self):
        for args in (["--help"], ["-h"], ["help"]):
            text = self.ok(*args).text
            for verb in VERBS:
                self.assertRegex(text, rf"\b{verb}\b")

    def test_every_verb_has_help_with_an_example(self):
        for verb in VERBS:
            result = self.ok(verb, "--help")
            self.assertEqual(result.err, "", verb)
            self.assertRegex(result.text, rf"(?m)^\s*\$? ?rlar {verb}\b", verb)
            self.assertRegex(result.text, r"(?i)example", verb)
            for option in ("--help", "-q", "-v"):
                self.assertIn(option, result.text, verb)
            self.assertEqual(self.ok("help", verb).text, result.text)

    def test_help_names_the_options_of_the_contract(self):
        options = {"fit": ("-o", "--method", "-p", "--scale", "--trace", "--dry-run", "--alpha", "--beta",
                           "-k", "--iters", "--preset", "--label", "--missing", "--header", "--json"),
                   "predict": ("-o", "--classifier", "--scores", "--neighbors"),
                   "transform": ("-o",), "rank": ("--top", "--json"),
                   "evaluate": ("--methods", "--train-per-class", "--train-fraction", "--folds", "--trials",
                                "--seed", "--tune", "--grid", "--classifier", "--csv", "--latex"),
                   "tune": ("--method", "--grid", "--folds", "--trials", "--coarse", "--resume", "-p", "--scale",
                            "--classifier", "--seed", "--json", "-o"),
                   "info": ("--json",)}
        for verb, names in options.items():
            text = self.ok(verb, "--help").text
            for name in names:
                self.assertRegex(text, rf"(?<![\w-]){name}(?![\w-])", verb)
            for name in ("--threads", "--max-memory", "--data-dir", "--deterministic"):
                self.assertIn(name, text, verb) if verb in ("fit", "evaluate", "tune") else None

    def test_help_fits_the_screen(self):
        for verb in VERBS:
            for line in self.ok(verb, "--help").lines:
                self.assertLessEqual(len(line), 100, f"{verb}: {line}")

    def test_version(self):
        result = self.ok("--version")
        self.assertRegex(result.text, r"^rlar \d+\.\d+\.\d+")
        self.assertEqual(result.err, "")

    def test_examples_in_help_use_options_that_exist(self):
        for verb in VERBS:
            text = self.ok(verb, "--help").text
            for line in re.findall(rf"(?m)^\s*\$? ?(rlar {verb}\b.*)$", text):
                for option in re.findall(r"(?<!\S)(--[a-z][a-z-]+)", line.split("|")[0]):
                    self.assertGreater(text.count(option), 0, line)


class Fit(Verbs):
    def test_json(self):
        report = self.json_of("fit", "t.csv", "-o", "new.rlar")
        self.assertLessEqual({"method", "params", "n", "d", "classes", "iterations", "objective", "terms",
                              "converged", "path", "seconds", "train_accuracy", "model"}, set(report))
        self.assertEqual((report["method"], report["n"], report["d"], report["classes"]),
                         ("rlar", 30, 6, 3))
        self.assertEqual(set(report["terms"]), {"regression", "sparsity", "locality"})
        self.assertAlmostEqual(report["objective"], sum(report["terms"].values()), places=9)
        self.assertIn(report["path"], ("primal", "dual"))
        self.assertIsInstance(report["converged"], bool)
        self.assertLessEqual(report["iterations"], 30)
        self.assertEqual(report["model"], "new.rlar")
        for name, value in {"alpha": 0.1, "beta": 0.1, "iters": 30, "eps": 0, "tol": 0}.items():
            self.assertEqual(float(report["params"][name]), value, name)
        self.assertEqual(report["params"]["solver"], "minimise")

    def test_preset(self):
        """The paper's: Algorithm 1, 30 iterations, samples of length 1, unless told otherwise."""
        report = self.json_of("fit", "t.csv", "-o", "new.rlar", "--preset", "paper")
        self.assertEqual(report["iterations"], 30)
        for name, value in {"alpha": 0.1, "beta": 0.1, "iters": 30, "eps": 1e-8, "tol": 0}.items():
            self.assertEqual(float(report["params"][name]), value, name)
        self.assertEqual(report["params"]["solver"], "paper")
        self.assertEqual(self.json_of("info", "new.rlar")["scale"], "unit")
        for options, scale in (((), "zscore,rms"), (("--preset", "default"), "zscore,rms"),
                               (("--preset", "paper", "--scale", "minmax"), "minmax")):
            self.ok("fit", "t.csv", "-o", "new.rlar", *options)
            self.assertEqual(self.json_of("info", "new.rlar")["scale"], scale, options)

    def test_without_output_nothing_is_written(self):
        before = support.snapshot(self.folder)
        self.assertIsNone(self.json_of("fit", "t.csv")["model"])
        self.assertEqual(support.snapshot(self.folder), before)

    def test_report(self):
        result = self.ok("fit", "t.csv", "-o", "new.rlar")
        for word in ("rlar", "30", "alpha", "objective", "new.rlar"):
            self.assertIn(word, result.text)
        self.assertRegex(result.err, r"^rlar: .*new\.rlar")

    def test_quiet_and_verbose(self):
        self.assertEqual(self.ok("fit", "t.csv", "-o", "new.rlar", "-q").err, "")
        normal = self.ok("fit", "t.csv", "-o", "new.rlar").err
        verbose = self.ok("fit", "t.csv", "-o", "new.rlar", "-v").err
        self.assertGreater(len(verbose), len(normal))
        self.assertNotIn("\r", verbose, "a progress line in a pipe")

    def test_trace(self):
        report = self.json_of("fit", "t.csv", "--trace", "trace.csv", "--iters", "12", "-p", "solver=paper")
        rows = list(csv.DictReader(io.StringIO(self.path("trace.csv").read_text())))
        self.assertEqual(list(rows[0]), ["iteration", "objective", "smoothed", "regression", "sparsity",
                                         "locality", "seconds"])
        self.assertEqual([int(r["iteration"]) for r in rows], list(range(1, 13)))
        self.assertEqual(float(rows[-1]["objective"]), report["objective"])
        smoothed = [float(r["smoothed"]) for r in rows][1:]
        for before, after in zip(smoothed, smoothed[1:]):
            self.assertLessEqual(after, before * (1 + 1e-8))

    def test_dry_run_writes_nothing_and_tells_the_memory(self):
        result = self.ok("fit", "t.csv", "-o", "new.rlar", "--dry-run")
        self.assertFalse(self.path("new.rlar").exists())
        self.assertRegex(result.text + result.err, r"(?i)\d.*\b(bytes|[KMG]i?B)\b")

    def test_short_forms(self):
        short = self.json_of("fit", "t.csv", "--alpha", "0.5", "--beta", "0.25", "-k", "2", "--iters", "7")
        long = self.json_of("fit", "t.csv", "-p", "alpha=0.5", "-p", "beta=0.25", "-p", "k=2",
                            "-p", "iters=7")
        self.assertEqual(support.without_seconds(short), support.without_seconds(long))
        self.assertEqual(float(short["params"]["alpha"]), 0.5)

    def test_options_may_stand_anywhere_and_use_equals(self):
        first = self.json_of("fit", "--alpha=0.5", "t.csv")
        last = self.json_of("fit", "t.csv", "--alpha", "0.5")
        self.assertEqual(support.without_seconds(first), support.without_seconds(last))

    def test_two_dashes_end_the_options(self):
        self.write("-odd.csv", table_text(X, Y))
        self.assertEqual(self.ok("fit", "--json", "--", "-odd.csv").json["n"], 30)

    def test_several_files_are_parts_of_one_set(self):
        """In any formats, for any method; a class may be in one of them only."""
        x, y = blobs(20, 6, 3, seed=4)
        self.write("all.csv", table_text(x, y))
        self.write("a.csv", table_text(x[:25], y[:25]))
        self.write("b.tsv", table_text(x[25:], y[25:], separator="\t"))
        for method in ("rlar", "lfda"):
            one = self.json_of("fit", "all.csv", "-o", "m.rlar", "--method", method)
            whole = self.path("m.rlar").read_bytes()
            two = self.json_of("fit", "a.csv", "b.tsv", "-o", "m.rlar", "--method", method)
            self.assertEqual(self.path("m.rlar").read_bytes(), whole)
            self.assertEqual(without_seconds(two), without_seconds(one))
        self.assertIn("a and 1 more: 60 samples", self.ok("fit", "a.csv", "b.tsv").text)
        self.write("narrow.csv", table_text(x[:, :4], y))
        self.fails(support.DATA, "fit", "a.csv", "narrow.csv", says=r"narrow\.csv: 4 features where others have 6")
        self.fails(USAGE, "fit", "a.csv", "b.tsv", "-o", "b.tsv", says=r"b\.tsv is read")
        for name, header in (("order.csv", "b,a"), ("other.csv", "a,c")):
            self.write("named.csv", "a,b,class\n" + "1,2,x\n3,4,y\n" * 4)
            self.write(name, header + ",class\n" + "1,2,x\n3,4,y\n" * 4)
            self.fails(support.DATA, "fit", "named.csv", name, says=name + r": feature \d is '[bc]' where it is '[ab]' in the first part")

    def test_several_files_have_the_classes_of_one(self):
        self.write("m1.csv", "a,b,class\n" + "1,2,1.0\n3,5,2.0\n2,2,1.0\n4,5,2.0\n")
        self.write("m2.csv", "a,b,class\n" + "1,3,1.0\n9,8,x\n8,9,x\n")
        self.assertEqual(self.json_of("fit", "m1.csv", "m2.csv")["classes"], 3)

    def test_method_by_name(self):
        self.assertEqual(self.json_of("fit", "t.csv", "--method", "rlar")["method"], "rlar")


class Predict(Verbs):
    def test_one_class_per_line(self):
        result = self.ok("predict", "m.rlar", "t.csv")
        self.assertEqual(len(result.lines), 30)
        self.assertLessEqual(set(result.lines), {"1", "2", "3"})
        self.assertGreater(self.accuracy(result.lines), 0.9)
        self.assertRegex(result.err, r"(?i)accuracy")

    def test_model_from_a_pipe(self):
        printed = self.ok("predict", "m.rlar", "t.csv").out
        self.assertEqual(self.ok("predict", "-", "t.csv", stdin=self.path("m.rlar").read_bytes()).out, printed)

    def test_output_file(self):
        printed = self.ok("predict", "m.rlar", "t.csv").out
        result = self.ok("predict", "m.rlar", "t.csv", "-o", "p.txt")
        self.assertEqual(result.out, b"")
        self.assertEqual(self.path("p.txt").read_bytes(), printed)

    def test_scores(self):
        for classifier in ("1nn", "knn", "centroid", "argmax", "1nn-cosine", "knn-cosine",
                           "centroid-cosine"):
            labels = self.ok("predict", "m.rlar", "t.csv", "--classifier", classifier).lines
            rows = list(csv.reader(self.ok("predict", "m.rlar", "t.csv", "--scores",
                                           "--classifier", classifier).lines))
            self.assertEqual(rows[0], ["prediction", "1", "2", "3"])
            self.assertEqual([row[0] for row in rows[1:]], labels, classifier)
            scores = np.array([row[1:] for row in rows[1:]], dtype=float)
            self.assertEqual(scores.shape, (30, 3))
            best = [rows[0][1 + j] for j in scores.argmax(axis=1)]
            self.assertEqual(best, labels, classifier)

    def test_neighbours(self):
        one = self.ok("predict", "m.rlar", "t.csv", "--classifier", "knn", "--neighbors", "1").out
        self.assertEqual(one, self.ok("predict", "m.rlar", "t.csv").out)
        self.ok("predict", "m.rlar", "t.csv", "--classifier", "knn", "--neighbors", "5")
        self.fails(USAGE, "predict", "m.rlar", "t.csv", "--classifier", "knn", "--neighbors", "0")
        one = self.ok("predict", "m.rlar", "t.csv", "--classifier", "knn-cosine", "--neighbors", "1").out
        self.assertEqual(one, self.ok("predict", "m.rlar", "t.csv", "--classifier", "1nn-cosine").out)

    def test_classifiers_in_help_and_manual(self):
        help_text = self.ok("predict", "--help").text
        manual = (support.ROOT / "docs" / "rlar.1").read_text()
        for name in ("1nn", "knn", "centroid"):
            self.assertRegex(help_text, rf"\b{name}\b")
            self.assertIn(f".Cm {name}-cosine", manual)
        self.assertIn("-cosine", help_text)

    def test_json(self):
        report = self.json_of("predict", "m.rlar", "t.csv")
        self.assertEqual(report["predictions"], self.ok("predict", "m.rlar", "t.csv").lines)
        self.assertAlmostEqual(report["accuracy"], self.accuracy(report["predictions"]), places=12)

    def test_quiet(self):
        self.assertEqual(self.ok("predict", "m.rlar", "t.csv", "-q").err, "")

    def test_samples_without_a_label_do_not_count(self):
        rows = table_text(X, Y, names=NAMES).splitlines()
        predicted = self.ok("predict", "m.rlar", "t.csv").lines
        right = sum(a == str(b) for a, b in zip(predicted[2:], Y[2:]))
        cut = [row.rsplit(",", 1)[0] for row in rows]
        self.write("some.csv", "\n".join([rows[0], cut[1] + ",", cut[2] + ",?"] + rows[3:]) + "\n")
        result = self.ok("predict", "m.rlar", "some.csv")
        self.assertIn(f"({right} of 28)", result.err)
        self.assertNotIn("does not know", result.err)
        self.assertAlmostEqual(self.json_of("predict", "m.rlar", "some.csv")["accuracy"], right / 28, places=12)
        self.write("other.csv", "\n".join([rows[0], cut[1] + ",", cut[2] + ",new"] + rows[3:]) + "\n")
        result = self.ok("predict", "m.rlar", "other.csv")
        self.assertIn(f"({right} of 29)", result.err)
        self.assertIn("1 samples have a class that the model does not know; they count as wrong", result.err)
        self.write("none.csv", "\n".join([rows[0]] + [row + ",?" for row in cut[1:]]) + "\n")
        result = self.ok("predict", "m.rlar", "none.csv")
        self.assertNotIn("accuracy", result.err)
        self.assertIsNone(self.json_of("predict", "m.rlar", "none.csv")["accuracy"])

    def test_samples_left_out_are_told(self):
        rows = table_text(X, Y, names=NAMES).splitlines()
        rows[3] = "?," + rows[3].split(",", 1)[1]
        self.write("gap.csv", "\n".join(rows) + "\n")
        for command in (("fit", "gap.csv"), ("predict", "m.rlar", "gap.csv"), ("transform", "m.rlar", "gap.csv")):
            self.assertIn("gap.csv: 1 of 30 samples have missing values and are left out",
                          self.ok(*command, "--missing", "drop").err, command)

    def test_one_sample(self):
        self.write("one.csv", table_text(X[:1], Y[:1], names=NAMES))
        self.assertEqual(self.ok("predict", "m.rlar", "one.csv").lines,
                         self.ok("predict", "m.rlar", "t.csv").lines[:1])


class Transform(Verbs):
    def test_table(self):
        result = self.ok("transform", "m.rlar", "t.csv")
        self.ok("transform", "m.rlar", "t.csv", "-o", "z.csv")
        self.assertEqual(self.path("z.csv").read_bytes(), result.out)

    def test_numpy_output(self):
        self.ok("transform", "m.rlar", "t.csv", "-o", "z.npy")
        z = np.load(self.path("z.npy"))
        self.assertEqual(z.shape[0], 30)
        self.assertTrue(np.isfinite(z).all())

    def test_no_samples(self):
        """A head alone is a table of CSV; no other format has one without rows."""
        head = self.path("t.csv").read_text().splitlines()[0]
        self.write("none.csv", head + "\n")
        self.assertEqual(self.ok("transform", "m.rlar", "none.csv").lines, ["z1,z2,z3"])
        self.fails(support.DATA, "transform", "m.rlar", "none.csv", "-o", "z0.npy", says="no samples, so there is nothing to write")
        self.assertFalse(self.path("z0.npy").exists())

    def test_classes_that_the_model_does_not_know(self):
        lines = self.path("t.csv").read_text().splitlines()
        self.write("odd.csv", "\n".join([*lines[:-1], lines[-1].rpartition(",")[0] + ",other", ""]))
        result = self.ok("transform", "m.rlar", "odd.csv")
        self.assertTrue(result.lines[-1].endswith(",?"))
        self.assertIn("1 samples have no class that the model knows; their class is written as ?", result.err)


class Rank(Verbs):
    def test_best_first(self):
        ranked = self.json_of("rank", "m.rlar")["features"]
        scores = [f["score"] for f in ranked]
        self.assertEqual(scores, sorted(scores, reverse=True))
        self.assertEqual({f["feature"] for f in ranked}, set(NAMES))
        text = self.ok("rank", "m.rlar").text
        self.assertLess(text.index(ranked[0]["feature"]), text.index(ranked[-1]["feature"]))

    def test_top(self):
        whole = self.json_of("rank", "m.rlar")["features"]
        self.assertEqual(self.json_of("rank", "m.rlar", "--top", "2")["features"], whole[:2])
        self.assertEqual(len(self.json_of("rank", "m.rlar", "--top", "100")["features"]), 6)
        self.fails(USAGE, "rank", "m.rlar", "--top", "0")

    def test_scores_are_row_norms(self):
        tensors, _ = support.read_safetensors(self.path("m.rlar"))
        w = tensors["W"]
        norms = np.sqrt((w * w).sum(axis=0 if w.shape[1] == 6 else 1))
        for feature in self.json_of("rank", "m.rlar")["features"]:
            self.assertAlmostEqual(feature["score"], norms[NAMES.index(feature["feature"])], places=12)

    def test_features_without_names_are_numbered_from_one(self):
        self.write("plain.csv", table_text(X, Y))
        self.ok("fit", "plain.csv", "-o", "plain.rlar")
        ranked = self.json_of("rank", "plain.rlar")["features"]
        self.assertEqual({f["index"] for f in ranked}, set(range(1, 7)))


class Info(Verbs):
    def test_data(self):
        report = self.json_of("info", "t.csv")
        self.assertEqual((report["n"], report["d"]), (30, 6))
        text = self.ok("info", "t.csv").text
        for word in ("30", "6", "3"):
            self.assertRegex(text, rf"\b{word}\b")

    def test_model(self):
        report = self.json_of("info", "m.rlar")
        self.assertEqual((report["method"], report["d"]), ("rlar", 6))
        self.assertIn("rlar", self.ok("info", "m.rlar").text)


class Methods(Case):
    def test_list(self):
        report = self.json_of("methods")
        names = [m["name"] for m in report["methods"]]
        self.assertIn("rlar", names)
        text = self.ok("methods").text
        for name in names:
            self.assertIn(name, text)

    def test_one(self):
        report = self.json_of("methods", "rlar")
        names = [p["name"] for p in report["params"]]
        for name in ("alpha", "beta", "k", "iters", "eps", "solver", "tol"):
            self.assertIn(name, names)
        text = self.ok("methods", "rlar").text
        for word in ("alpha", "0.1", "paper", "anneal"):
            self.assertIn(word, text)


class Doctor(Case):
    def test_report(self):
        text = self.ok("doctor").text
        self.assertRegex(text, r"(?i)blas")
        self.assertRegex(text, r"GF(lop)?/s|GFLOP")
        self.assertIsInstance(self.json_of("doctor"), dict)


class Start(Verbs):
    """What is loaded before a verb runs costs every call; glibc tells what it loads."""

    def loaded(self, *args):
        text = self.ok(*args, env={"LD_DEBUG": "files"}).err
        if "libc.so" not in text:
            self.skipTest("the loader does not tell")
        return text

    def test_no_library_that_is_not_needed(self):
        self.write("one.csv", table_text(X[:1], Y[:1], names=NAMES))
        for args in (("--version",), ("--help",), ("methods",), ("info", "m.rlar"), ("rank", "m.rlar"),
                     ("info", "t.csv"), ("predict", "m.rlar", "one.csv"), ("transform", "m.rlar", "t.csv")):
            text = self.loaded(*args)
            linked = re.search(r"libmatio.*needed by \S*rlar", text) is not None  # by a rare build
            for library in ("libopenblas", "liblapack", "libmkl") + (() if linked else ("libmatio", "libhdf5")):
                self.assertFalse(library in text, f"{library} is loaded by rlar {' '.join(args)}")
        self.assertRegex(self.loaded("fit", "t.csv"), r"libopenblas|libblas|libmkl|liblapack")


class Streams(Verbs):
    def test_standard_input(self):
        text = table_text(X, Y, names=NAMES).encode()
        self.ok("fit", "-", "--format", "csv", "-o", "piped.rlar", stdin=text)
        self.assertEqual(self.path("piped.rlar").read_bytes(), self.path("m.rlar").read_bytes())
        printed = self.ok("predict", "m.rlar", "t.csv").out
        self.assertEqual(self.ok("predict", "m.rlar", "-", "--format", "csv", stdin=text).out, printed)
        self.assertEqual(self.ok("predict", "m.rlar", "-", "--format", "csv", stdin=gz(text)).out, printed)

    def test_pipes_between_verbs(self):
        command = (f"'{support.PROGRAM}' transform m.rlar t.csv | tail -n +2 | wc -l; cat t.csv | "
                   f"'{support.PROGRAM}' predict m.rlar - --format csv | sort | uniq -c")
        done = subprocess.run(command, shell=True, cwd=self.folder, capture_output=True, check=False)
        counts = [int(line.split()[0]) for line in done.stdout.splitlines()]
        self.assertEqual((done.returncode, counts[0], sum(counts[1:])), (0, 30, 30), done.stderr.decode())

    def test_json_is_one_document_on_standard_output(self):
        for args in (["fit", "t.csv"], ["predict", "m.rlar", "t.csv"], ["rank", "m.rlar"],
                     ["info", "t.csv"], ["info", "m.rlar"], ["methods"], ["methods", "rlar"],
                     ["evaluate", "t.csv", "--methods", "rlar", "--folds", "2", "--trials", "1"]):
            text = self.ok(*args, "--json").text
            self.assertTrue(text.endswith("}\n"), args)
            json.loads(text, parse_constant=lambda name: self.fail(f"{name} in JSON of {args}"))

    def test_results_do_not_depend_on_the_locale(self):
        plain = self.ok("transform", "m.rlar", "t.csv").out
        for locale in ("de_DE.UTF-8", "C.UTF-8"):
            self.assertEqual(self.ok("transform", "m.rlar", "t.csv", env={"LC_ALL": locale}).out, plain)


class Outputs(Verbs):
    """Files that -o writes behave as files written by a shell would."""

    def test_nothing_else_is_left(self):
        before = set(os.listdir(self.folder))
        self.ok("predict", "m.rlar", "t.csv", "-o", "p.txt")
        self.assertEqual(set(os.listdir(self.folder)) - before, {"p.txt"})

    def test_mode(self):
        self.write("made.txt", "")
        self.ok("predict", "m.rlar", "t.csv", "-o", "p.txt")
        self.assertEqual(self.path("p.txt").stat().st_mode, self.path("made.txt").stat().st_mode)
        self.path("p.txt").chmod(0o640)
        self.ok("predict", "m.rlar", "t.csv", "-o", "p.txt")
        self.assertEqual(self.path("p.txt").stat().st_mode & 0o777, 0o640)

    def test_link_stays_a_link(self):
        self.write("store/p.txt", "old")
        self.path("p.txt").symlink_to("store/p.txt")
        self.ok("predict", "m.rlar", "t.csv", "-o", "p.txt")
        self.assertTrue(self.path("p.txt").is_symlink())
        self.assertEqual(len(self.path("store/p.txt").read_text().splitlines()), 30)

    def test_device(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        reader = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
        self.ok("predict", "m.rlar", "t.csv", "-o", "pipe")
        self.assertEqual(reader.communicate(timeout=support.TIMEOUT)[0],
                         self.ok("predict", "m.rlar", "t.csv").out)
        self.assertTrue(pipe.is_fifo())

    def test_output_over_the_input(self):
        before = self.json_of("info", "t.csv")
        self.ok("convert", "t.csv", "t.csv")
        self.assertEqual(self.json_of("info", "t.csv"), before)


class DataFolder(Verbs):
    def setUp(self):
        super().setUp()
        self.write("store/kept.csv.gz", gz(table_text(X, Y)))
        self.write("store/named.csv", table_text(X, Y))

    def test_option_and_environment(self):
        self.assertEqual(self.json_of("fit", "named.csv", "--data-dir", "store")["n"], 30)
        self.assertEqual(self.json_of("fit", "named.csv", env={"RLAR_DATA_DIR": "store"})["n"], 30)

    def test_a_file_that_is_here_comes_first(self):
        self.write("named.csv", table_text(X[:20], Y[:20]))
        self.assertEqual(self.json_of("fit", "named.csv", "--data-dir", "store")["n"], 20)

    def test_name_without_ending(self):
        self.assertEqual(self.json_of("fit", "kept", "--data-dir", "store")["n"], 30)

    def test_not_there_either(self):
        self.fails(IO, "fit", "nowhere.csv", "--data-dir", "store", says=(r"nowhere\.csv",))

    def test_option_beats_the_environment(self):
        self.write("other/named.csv", table_text(X[:20], Y[:20]))
        report = self.json_of("fit", "named.csv", "--data-dir", "other", env={"RLAR_DATA_DIR": "store"})
        self.assertEqual(report["n"], 20)

    @unittest.skipUnless(support.DATA_DIR, "RLAR_DATA_DIR is not set: no larger data")
    def test_the_paper_s_data(self):
        for name, n, d, c in (("iris.csv.gz", 150, 4, 3), ("wine.csv.gz", 178, 13, 3),
                              ("binalpha.mat", 1404, 320, 36), ("COIL20.mat", 1440, 1024, 20)):
            if not os.path.exists(os.path.join(support.DATA_DIR, name)):
                continue
            report = self.json_of("info", name, "--data-dir", support.DATA_DIR)
            self.assertEqual((report["n"], report["d"]), (n, d), name)


if __name__ == "__main__":
    unittest.main()
