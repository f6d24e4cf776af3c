"""Every method that the program lists, through the command line: its table, ordinary data, some odd data,
the ends of a parameter, and few samples with very many features.

Whatever the samples are, a fit ends in one of two ways within a time limit: a model with finite numbers
that predicts, or one line of error with exit code 3 (data) or 5 (numbers) and no model.
"""
import math
import os
import sys
import unittest
from pathlib import Path

import numpy as np

import make_methods_doc
import support
from support import DATA, NUMERIC, OK, ROOT, USAGE, Case, one_line_error, table_text

sys.path.insert(0, os.path.join(ROOT, "tests", "reference"))
from read_model import read_model  # noqa: E402  (needs the path above)

EXPECTED = ("alde alpr l21sda lda lfda lsda lsr mmc mpda nmmp relsr rfs rlar rr rslda sda sulda").split()
REGRESSIONS = {"rlar", "rr", "lsr", "relsr", "rfs", "alpr"}
NOTHING_TO_TUNE = {"lsr", "sulda"}
# Those that must never hold a matrix of d x d when d > n.
WIDE = ("lda mmc lsda lfda nmmp mpda sulda rslda alpr rfs l21sda relsr rr sda").split()

# Solved in closed form, whatever the samples.
CLOSED = "rr lsr lda mmc alde lsda lfda mpda".split()

# Seconds for one fit; ordinary ones take milliseconds, and five times as long under a sanitizer.
LIMIT = 300 if b"__asan_init" in Path(support.PROGRAM).read_bytes() else 60

IRIS, WINE = ROOT / "data" / "iris.arff", ROOT / "data" / "wine.csv"
METHODS = {m["name"]: m for m in support.run("methods", "--json").json["methods"]}


def normal(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def classes(n_per_class, d, c, seed=0):
    """Gaussian classes two standard deviations apart: samples and labels 1..c."""
    y = np.repeat(np.arange(c), n_per_class)
    return 2 * normal((c, d), seed + 100)[y] + normal((len(y), d), seed), y + 1


# ---- Odd samples through files; tests/verify/bad_numbers.c has all kinds of them. Each gives (samples,
# labels, options). ----


def all_constant():
    return np.ones((12, 4)), np.repeat([1, 2, 3], 4), []


def duplicated_with_other_labels():
    x, y = classes(8, 5, 3)
    return np.vstack([x, x]), np.hstack([y, y % 3 + 1]), []


def tiny_and_huge_features():
    x, y = classes(10, 4, 3)
    return x * [1e-300, 1, 1e150, 1e-150], y, ["--scale", "minmax"]


def huge_samples():
    x, y = classes(10, 4, 3)
    return x * 1e150, y, ["--scale", "none"]


ODD = [all_constant, duplicated_with_other_labels, tiny_and_huge_features, huge_samples]

# Nothing about these is a reason to refuse.
MUST_FIT = {"duplicated_with_other_labels", "tiny_and_huge_features"}


class Each(Case):
    """Runs over the methods: `for name, trial in self.each(): with trial:`. One that fails does not
    hide the others."""

    def each(self, names=None):
        return [(name, self.subTest(method=name)) for name in names or METHODS if name in METHODS]

    def finite_model(self, d):
        """The model just written: finite W (p x d) and b."""
        model = read_model(self.path("m.rlar"))
        self.assertTrue(np.isfinite(model["W"]).all() and np.isfinite(model["b"]).all(), "not finite")
        self.assertEqual(model["W"].shape[1], d)
        self.assertGreaterEqual(model["W"].shape[0], 1)
        return model

    def result_or_named_error(self, d, *fit, must=False):
        """The two ways in which a fit may end; says whether there is a model."""
        self.path("m.rlar").unlink(missing_ok=True)
        done = self.run_rlar("fit", *fit, "-o", "m.rlar", timeout=LIMIT)
        shown = "rlar fit %s\nexit %d: %s" % (" ".join(map(str, fit)), done.code, done.err)
        if done.code == OK:
            self.assertNotIn("Sanitizer", done.err, shown)
            self.finite_model(d)
            return True
        self.assertIn(done.code, (DATA, NUMERIC), shown)
        self.assertIsNone(one_line_error(done.err), shown)
        self.assertFalse(self.path("m.rlar").exists(), shown)
        self.assertFalse(must, shown)
        return False


class Table(Each):
    def test_all_are_there(self):
        self.assertEqual(sorted(METHODS), EXPECTED)

    def test_texts(self):
        for name, trial in self.each():
            with trial:
                method = METHODS[name]
                for key in ("title", "citation", "about", "scores", "source"):
                    self.assertGreater(len(method[key] or ""), 10, f"{name}: {key}")
                self.assertRegex(method["citation"], r"\b(19|20)\d\d\b")
                self.assertEqual(method["regression"], name in REGRESSIONS)

    def test_parameters(self):
        for name, trial in self.each():
            with trial:
                for param in METHODS[name]["params"]:
                    self.assertGreater(len(param["help"] or ""), 5, f"{name}: {param['name']}")
                    legal = param["choices"]
                    for value in [param["default"], param["preset"]] + (param["grid"] or []):
                        if value is None:
                            continue
                        if legal is None:
                            self.assertTrue(param["min"] <= value <= param["max"], f"{param['name']}={value}")
                        else:
                            self.assertIn(value, legal)

    def test_grids(self):
        for name, trial in self.each(set(EXPECTED) - NOTHING_TO_TUNE):
            with trial:
                self.assertTrue(any(p["grid"] for p in METHODS[name]["params"]), f"{name} has no grid")

    def test_description(self):
        """For people: the source and every parameter are in the text too."""
        for name, trial in self.each():
            with trial:
                text = self.ok("methods", name).text
                for word in [p["name"] for p in METHODS[name]["params"]] + ["Source:", "Citation:"]:
                    self.assertIn(word, text)
                self.assertEqual("argmax" in text, METHODS[name]["regression"])


class Page(unittest.TestCase):
    def setUp(self):
        self.page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")

    def test_parameter_tables(self):
        self.assertEqual(make_methods_doc.filled(self.page), self.page,
                         "run tests/cli/make_methods_doc.py docs/methods.md")

    def test_section_for_each(self):
        for name in METHODS:
            with self.subTest(method=name):
                self.assertRegex(self.page, r"(?m)^### .*`%s`" % name)
                self.assertIn("<!-- parameters %s -->" % name, self.page)


class Ordinary(Each):
    def test_fit_and_use(self):
        for name, trial in self.each():
            with trial:
                for data, n, d in ((IRIS, 150, 4), (WINE, 178, 13)):
                    self.ok("fit", data, "--method", name, "--scale", "minmax", "-o", "m.rlar")
                    model = self.finite_model(d)
                    self.assertEqual(model["method"], name)
                    truth = self.predicts(data, n)
                    self.assertGreater(truth, 0.85, f"{name} on {data.name}")
                    self.ranks(model)
                    self.transforms(data, model, n)

    def predicts(self, data, n):
        """The share of the training samples that nearest centroid has right."""
        done = self.ok("predict", "m.rlar", data, "--classifier", "centroid", "--json").json
        self.assertEqual(len(done["predictions"]), n)
        return done["accuracy"]

    def ranks(self, model):
        """Every feature once, best first, scored by the length of its column of the tensor W."""
        ranked = self.json_of("rank", "m.rlar")["features"]
        scores = [row["score"] for row in ranked]
        norms = np.sort(np.linalg.norm(model["W"], axis=0))[::-1]
        self.assertEqual(scores, sorted(scores, reverse=True))
        np.testing.assert_allclose(scores, norms, rtol=1e-9, atol=1e-300)

    def transforms(self, data, model, n):
        """Both files are sorted by class, so the embedded samples are the model's references."""
        self.ok("transform", "m.rlar", data, "-o", "z.csv")
        z = np.loadtxt(self.path("z.csv"), delimiter=",", skiprows=1, usecols=range(len(model["W"])), ndmin=2)
        self.assertEqual(len(z), n)
        np.testing.assert_allclose(z, model["references"], rtol=1e-9, atol=1e-9 * np.abs(z).max())

    def test_preset(self):
        for name, trial in self.each():
            with trial:
                self.ok("fit", IRIS, "--method", name, "--preset", "paper", "-o", "m.rlar")
                self.finite_model(4)

    def test_iterations(self):
        """As many as the trace has rows, and none where the method does not iterate."""
        x, y = classes(6, 300, 5)
        np.save(self.path("wide.npy"), np.column_stack([x, y]))
        for name, trial in self.each():
            with trial:
                for data in (IRIS, WINE, "wide.npy"):
                    fitted = self.json_of("fit", data, "--method", name, "--trace", "t.csv")
                    rows = self.path("t.csv").read_text().splitlines()[1:]
                    self.assertEqual([int(row.split(",")[0]) for row in rows],
                                     list(range(1, fitted["iterations"] + 1)), str(data))
                    if name in CLOSED:
                        self.assertEqual((fitted["iterations"], fitted["converged"]), (0, True))

    def test_same_bytes_for_any_threads(self):
        x, y = classes(6, 300, 5)
        np.save(self.path("wide.npy"), np.column_stack([x, y]))
        for name, trial in self.each():
            with trial:
                for data in (IRIS, WINE, "wide.npy"):
                    for threads in ("1", "2"):
                        self.ok("fit", data, "--method", name, "--threads", threads, "-o", threads + ".rlar")
                    one, two = (self.path(threads + ".rlar").read_bytes() for threads in "12")
                    self.assertEqual(one, two, str(data))

    def test_forecast_is_enough(self):
        """What --dry-run says is enough, beside the samples as read (into memory that grows by doubling)
        and the 0.6 MB of the training accuracy."""
        for n_per_class, d in ((100, 400), (8, 8000)):
            x, y = classes(n_per_class, d, 4)
            np.save(self.path("t.npy"), np.column_stack([x, y]))
            for name, trial in self.each():
                with trial:
                    forecast = self.json_of("fit", "t.npy", "--method", name, "--dry-run")["bytes"]
                    limit = forecast + 2 * x.nbytes + 600_000
                    self.ok("fit", "t.npy", "--method", name, "--max-memory", str(limit))

    def test_compared(self):
        """All of them on the same splits, in one run."""
        names = list(METHODS)
        report = self.json_of("evaluate", IRIS, "--methods", ",".join(names), "--folds", "2", "--trials", "1",
                              "--scale", "minmax")
        self.assertEqual([r["method"] for r in report["results"]], names)
        for result in report["results"]:
            with self.subTest(method=result["method"]):
                self.assertEqual(result["failed"], 0)
                self.assertGreater(result["accuracy"]["mean"], 0.8)


class Argmax(Each):
    def test_only_for_regressions(self):
        for name, trial in self.each():
            with trial:
                self.ok("fit", IRIS, "--method", name, "-o", "m.rlar")
                if METHODS[name]["regression"]:
                    done = self.ok("predict", "m.rlar", IRIS, "--classifier", "argmax")
                    self.assertEqual(len(done.lines), 150)
                else:
                    self.fails(USAGE, "predict", "m.rlar", IRIS, "--classifier", "argmax",
                               says=("argmax", r"\b%s\b" % name, "1nn"))

    def test_evaluate(self):
        for name, trial in self.each():
            with trial:
                if not METHODS[name]["regression"]:
                    done = self.run_rlar("evaluate", IRIS, "--methods", name, "--folds", "2", "--trials", "1",
                                         "--classifier", "argmax")
                    self.assertNotEqual(done.code, OK, done.text)
                    self.assertIsNone(one_line_error(done.err), done.err)


class OddSamples(Each):
    def test_result_or_named_error(self):
        for make in ODD:
            x, y, options = make()
            self.write("odd.csv", table_text(x, y, names=["f%d" % j for j in range(x.shape[1])]))
            for name, trial in self.each():
                with trial:
                    with self.subTest(samples=make.__name__):
                        fitted = self.result_or_named_error(x.shape[1], "odd.csv", "--method", name, *options,
                                                            must=make.__name__ in MUST_FIT)
                        if fitted:
                            self.usable(len(y), {str(label) for label in y})

    def usable(self, n, labels):
        lines = self.ok("predict", "m.rlar", "odd.csv").lines
        self.assertEqual(len(lines), n)
        self.assertLessEqual(set(lines), labels)


def beyond(param):
    """The nearest values that it may not have."""
    if param["choices"] is not None:
        return ["nonsense"]
    least, most = param["min"], param["max"]
    if param["type"] == "int":
        return [written(param, least - 1), written(param, most + 1)]
    return [repr(math.nextafter(least, -math.inf)), repr(math.nextafter(most, math.inf)), "nan"]


def written(param, value):
    return repr(int(value)) if param["type"] == "int" else repr(float(value))


class EndsOfParameters(Each):
    """All of them are tried in tests/verify/bad_parameters.c; here, that the program tells them."""

    def test_beyond(self):
        """One step outside is a usage error that names the parameter."""
        for name, trial in self.each(set(EXPECTED) - {"lsr"}):
            with trial:
                param = METHODS[name]["params"][0]
                for value in beyond(param):
                    setting = "%s=%s" % (param["name"], value)
                    with self.subTest(setting=setting):
                        self.fails(USAGE, "fit", IRIS, "--method", name, "-p", setting, says=param["name"])


class Wide(Each):
    """100 samples with 20,000 features; the samples alone are 16 MB."""

    def test_within_200_megabytes(self):
        x, y = classes(10, 20000, 10)
        np.save(self.path("wide.npy"), np.column_stack([x, y]))
        for name, trial in self.each(WIDE):
            with trial:
                self.result_or_named_error(20000, "wide.npy", "--method", name, "--max-memory", "200M",
                                           must=True)


if __name__ == "__main__":
    unittest.main()
