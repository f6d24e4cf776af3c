"""rlar plot: every figure in every format, what it shows, and inputs that cannot be drawn.

What a figure shows is read from its SVG: texts, and the positions and colours of what is drawn.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

import numpy as np

import support
from support import DATA, FAILED, INTERRUPTED, IO, MODEL, OK, USAGE, Case, blobs, table_text

MAGIC = {"svg": b"<?xml", "pdf": b"%PDF-", "png": b"\x89PNG\r\n\x1a\n"}
HOSTILE = ["a_b^{c}", "@x &amp; <script>alert(1)</script>", "q'uo\"te \\", "`touch pwned`", "line\nbreak\ttab",
           "Ünï ☃ 100% %g %", "$(touch pwned)", "y" * 100, "\u0001\u007f\uffffend", "back\\"]
ODD = ["'", "''", "'''", "'a", "a'", "hu''e", "'s-Graven", "'1", "''07", '"', '""', '"7', "\\", "\\\\", "\\n", "\\1",
       "`", "``1", "`x`", "$(x)", "$abc", "@abc", "{", "{}", "{a}9", "^_~", "%g", "#1", "&#39;", "☃'7"]
X, Y = blobs(10, 6, 3, seed=0)
NAMES = [f"f{j}" for j in range(1, 7)]


def result(data="wine", method="rlar", **keys):
    base = {"data": data, "method": method, "train_per_class": 5,
            "accuracy": {"mean": 0.9, "std": 0.02, "trials": [0.88, 0.92]},
            "classes": ["a", "b", "c"], "confusion": [[8, 2, 0], [1, 9, 0], [0, 0, 0]]}
    return {**base, **keys}


def grid(**axes):
    """A full grid whose accuracies are 0.50, 0.51, ... in the order of its cells."""
    cells = [{}]
    for name, values in axes.items():
        cells = [{**cell, name: value} for cell in cells for value in values]
    for i, cell in enumerate(cells):
        cell["accuracy"] = 0.5 + 0.01 * i
    return {"axes": list(axes), "cells": cells}


def comparison(ranks, difference, names=None):
    names = names or [f"m{i}" for i in range(len(ranks))]
    return {"comparison": {"over": "data sets", "blocks": 8, "methods": names, "average_rank": ranks,
                           "nemenyi": {"critical_difference": difference, "level": 0.05, "p": []}}}


def texts(path):
    """All texts of an SVG file, which must be well-formed."""
    root = ElementTree.parse(path).getroot()
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


@unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
class Plot(Case):
    def setUp(self):
        super().setUp()
        self.write("t.csv", table_text(X, Y, names=NAMES))
        self.ok("fit", "t.csv", "-o", "m.rlar", "--trace", "trace.csv")
        self.results("heat.json", [result(grid=grid(alpha=[0.1, 0.01, 1], beta=[2, 1]))])
        self.results("sweep.json", [result(grid=grid(k=[1, 2, 3], alpha=[0.1]))])
        self.results("sizes.json", [result(train_per_class=u) for u in (5, 10)])
        self.write("ranks.json", json.dumps(comparison([1.5, 2.0, 2.5], 1.2)))
        self.write("matrices.json", json.dumps({"matrices": {
            "T": np.eye(2)[[0, 0, 1]].tolist(), "V": np.eye(3).tolist(), "S": np.eye(3).tolist(), "classes": [2, 1]}}))

    def results(self, name, entries, **keys):
        return self.write(name, json.dumps({"rlar": "0", "results": entries, **keys}))

    def figure(self, *args):
        """The texts of a figure."""
        self.ok("plot", *args, "-o", "figure.svg")
        return texts(self.path("figure.svg"))

    def svg(self):
        return self.path("figure.svg").read_text()


class Formats(Plot):
    EVERY = ("convergence trace.csv", "convergence trace.csv --against seconds", "heatmap heat.json",
             "ksweep sweep.json", "sizes sizes.json", "confusion heat.json", "ranks ranks.json",
             "matrices matrices.json", "embedding m.rlar t.csv", "features m.rlar", "features m.rlar --image 2x3")

    def test_every_figure_in_every_format(self):
        for command in self.EVERY:
            for ending, magic in MAGIC.items():
                with self.subTest(command, ending=ending):
                    outcome = self.ok("plot", *command.split(), "-o", f"figure.{ending}")
                    self.assertEqual(outcome.out, b"")
                    self.assertEqual(outcome.err, f"rlar: wrote figure.{ending}\n")
                    self.assertEqual(self.path(f"figure.{ending}").read_bytes()[:len(magic)], magic)

    def test_same_input_same_bytes(self):
        for ending in MAGIC:
            self.ok("plot", "heatmap", "heat.json", "-o", f"a.{ending}")
            time.sleep(1.1)  # a time stamp in seconds would differ
            self.ok("plot", "heatmap", "heat.json", "-o", f"b.{ending}", env={"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"})
            self.assertEqual(self.path(f"a.{ending}").read_bytes(), self.path(f"b.{ending}").read_bytes(), ending)

    def test_nothing_else_is_left(self):
        before = set(os.listdir(self.folder))
        self.figure("embedding", "m.rlar", "t.csv")
        self.assertEqual(set(os.listdir(self.folder)) - before, {"figure.svg"})

    def test_start_files_of_the_user_are_not_read(self):
        plain = self.figure("features", "m.rlar")
        self.write(".gnuplot", "set title 'mine'\nset terminal dumb\n")
        self.ok("plot", "features", "m.rlar", "-o", "figure.svg", env={"HOME": str(self.folder)})
        self.assertEqual(texts(self.path("figure.svg")), plain)

    def test_variables_of_the_user_change_nothing(self):
        for ending in MAGIC:
            self.ok("plot", "heatmap", "heat.json", "-o", f"plain.{ending}")
            plain = self.path(f"plain.{ending}").read_bytes()
            for env in ({"GNUTERM": ""}, {"GNUTERM": "dumb"}, {"GNUTERM": "qt"}, {"GNUTERM": "x11"}, {"GNUTERM": "none such"},
                        {"GNUPLOT_DEFAULT_GDFONT": "none", "GNUPLOT_LIB": str(self.folder), "GNUPLOT_PS_DIR": "none"}):
                with self.subTest(ending, env=env):
                    self.ok("plot", "heatmap", "heat.json", "-o", f"f.{ending}", env=env)
                    self.assertEqual(self.path(f"f.{ending}").read_bytes(), plain)

    def test_capitals_in_the_ending(self):
        self.ok("plot", "features", "m.rlar", "-o", "FIGURE.PNG")
        self.assertTrue(self.path("FIGURE.PNG").read_bytes().startswith(MAGIC["png"]))

    def test_standard_input(self):
        text = self.path("heat.json").read_bytes()
        self.ok("plot", "heatmap", "-", "-o", "figure.svg", stdin=text)


class Shown(Plot):
    """The figures show what is in their input."""

    def test_convergence(self):
        self.ok("fit", "t.csv", "-p", "solver=anneal", "--trace", "my_run.csv")
        shown = self.figure("convergence", "trace.csv", "my_run.csv")
        for text in ("trace", "my_run", "iteration", "objective (12)"):
            self.assertIn(text, shown)
        self.assertIn("time (s)", self.figure("convergence", "trace.csv", "--against", "seconds"))

    def test_heat_map(self):
        shown = self.figure("heatmap", "heat.json")
        for text in ("wine, 5 per class, rlar", "alpha", "beta", "best", "validation accuracy (%)",
                     "50.0", "51.0", "52.0", "53.0", "54.0", "55.0"):
            self.assertIn(text, shown)
        self.assertNotIn("no result", shown)
        self.assertLess(shown.index("0.01"), shown.index("0.1"))  # in order, not as in the file

    def test_heat_map_of_an_oracle_is_of_test_accuracy(self):
        self.results("oracle.json", [result(grid=grid(alpha=[1, 2], beta=[1, 2]))], protocol={"tune": "oracle"})
        self.assertIn("test accuracy (%)", self.figure("heatmap", "oracle.json"))

    def test_cells_without_a_result(self):
        holes = grid(alpha=[1, 2], beta=[1, 2])
        holes["cells"][3]["accuracy"] = None
        self.results("holes.json", [result(grid=holes)])
        shown = self.figure("heatmap", "holes.json")
        self.assertIn("no result", shown)
        self.assertEqual(sorted(t for t in shown if t in ("50.0", "51.0", "52.0", "53.0")), ["50.0", "51.0", "52.0"])
        self.assertNotIn("nan", " ".join(shown))

    def test_cells_that_were_given_up_have_no_number(self):
        given_up = grid(alpha=[1, 2], beta=[1, 2])
        given_up["cells"][3]["trials"] = 1
        self.results("part.json", [result(grid=given_up)])
        shown = self.figure("heatmap", "part.json")
        self.assertIn("no number: not all trials", shown)
        self.assertEqual(sorted(t for t in shown if t in ("50.0", "51.0", "52.0", "53.0")), ["50.0", "51.0", "52.0"])

    def frame(self, name, table, **keys):
        """Where the best cell is marked: the second path in its colour, after that of the key."""
        self.results(name, [result(grid=table, **keys)])
        self.figure("heatmap", name)
        return re.findall(r"stroke='[^']*213, *94, *0[^']*'[^>]*d='([^']*)'", self.svg())[1]

    def test_the_best_cell_is_the_chosen_one(self):
        table = grid(alpha=[1, 2], beta=[1, 2])
        first, last = {"alpha": 1, "beta": 1}, {"alpha": 2, "beta": 2}
        best = self.frame("best.json", table)
        self.assertNotEqual(self.frame("first.json", table, selected=[first]), best)
        self.assertEqual(self.frame("last.json", table, selected=[last]), best)
        self.assertEqual(self.frame("each.json", table, selected=[first, first]), best)  # cv: the best mean
        for cell in table["cells"]:
            cell["accuracy"] = 0.5
        self.assertEqual(self.frame("tie.json", table), best)  # to the larger values

    def test_large_grids_have_no_numbers(self):
        values = list(range(13))
        self.results("large.json", [result(grid=grid(alpha=values, beta=[1, 2]))])
        self.assertNotIn("51.0", self.figure("heatmap", "large.json"))

    def test_document_of_tune(self):
        self.write("tune.json", json.dumps({"method": "rlar", "data": [{"name": "wine"}], "grid": grid(alpha=[1, 2], beta=[1, 2])}))
        self.assertIn("wine, rlar", self.figure("heatmap", "tune.json"))

    def test_sweep(self):
        self.results("two.json", [result(data=d, grid=grid(k=[1, 2, 3])) for d in ("wine", "iris")])
        shown = self.figure("ksweep", "two.json")
        for text in ("k", "wine", "iris", "5 per class, rlar"):
            self.assertIn(text, shown)
        self.results("words.json", [result(grid=grid(scale=["unit", "minmax"]))])
        self.assertIn("minmax", self.figure("ksweep", "words.json"))

    def test_choice_of_results(self):
        entries = [result(data=d, method=m, grid=grid(alpha=[1, 2], beta=[1, 2]))
                   for d in ("wine", "iris", "glass", "yeast") for m in ("rlar", "lda")]
        self.results("many.json", entries)
        self.assertEqual(sum("per class" in t for t in self.figure("heatmap", "many.json")), 8)
        self.results("too-many.json", entries + entries[:5])
        self.fails(USAGE, "plot", "heatmap", "too-many.json", "-o", "f.svg",
                   says=("13 results", "12 panels", "wine, 5 per class, rlar", "yeast, 5 per class, lda", "--method"))
        shown = self.figure("heatmap", "many.json", "--method", "lda")
        self.assertEqual(sum(t.endswith("lda") for t in shown), 4)
        self.assertEqual(sum(t.endswith("rlar") for t in shown), 0)
        shown = self.figure("heatmap", "many.json", "--method", "lda", "--data", "iris")
        self.assertEqual([t for t in shown if "per class" in t], ["iris, 5 per class, lda"])
        self.fails(USAGE, "plot", "heatmap", "many.json", "--data", "none", "-o", "f.svg", says=("none", "wine"))
        self.results("more.json", 2 * entries)
        self.fails(USAGE, "plot", "heatmap", "more.json", "-o", "f.svg", says=("16 results", "; and 4 more"))

    def test_confusion(self):
        shown = self.figure("confusion", "heat.json")
        for text in ("true class", "predicted class", "share of the true class (%)", "8", "9"):
            self.assertIn(text, shown)
        self.assertNotIn("nan", " ".join(shown))  # a class without samples
        classes = [f"class {i}" for i in range(16)]
        matrix = (100 * np.eye(16) + 7).astype(int).tolist()
        self.results("wide.json", [result(classes=classes, confusion=matrix)])
        self.assertNotIn("107", self.figure("confusion", "wide.json"))

    def test_sizes(self):
        shown = self.figure("sizes", "sizes.json")
        for text in ("wine", "rlar", "training samples per class"):
            self.assertIn(text, shown)
        self.results("one.json", [result()])
        self.fails(DATA, "plot", "sizes", "one.json", "-o", "f.svg", says="no two training sizes")

    def points(self, legend):
        """Where the samples are drawn, class by class; the marks of the legend stand right of all."""
        drawn = np.array(re.findall(r"<use xlink:href='#gpPt\d+' transform='translate\(([\d.]+),([\d.]+)\)", self.svg()), float)
        return np.delete(drawn, np.argsort(drawn[:, 0])[-legend:], axis=0)

    def test_embedding_shows_the_principal_directions(self):
        x, y = blobs(12, 8, 6, seed=2, spread=30)
        self.write("six.csv", table_text(x, y))
        self.ok("fit", "six.csv", "-o", "six.rlar")
        self.ok("transform", "six.rlar", "six.csv", "-o", "z.npy")
        z = np.load(self.path("z.npy"))[:, :6]
        z = z - z.mean(axis=0)
        _, s, vt = np.linalg.svd(z, full_matrices=False)
        share = 100 * s ** 2 / np.sum(s ** 2)
        shown = self.figure("embedding", "six.rlar", "six.csv")
        self.assertIn(f"first direction ({share[0]:.1f} % of the variance)", shown)
        self.assertIn(f"second direction ({share[1]:.1f} %)", shown)
        drawn = self.points(legend=6)
        self.assertEqual(len(drawn), len(y))
        for axis in (0, 1):
            self.assertGreater(abs(np.corrcoef(drawn[:, axis], z @ vt[axis])[0, 1]), 0.9999)

    def test_embedding_of_other_data(self):
        self.write("plain.csv", table_text(X, None, names=NAMES))
        self.assertIn("samples", self.figure("embedding", "m.rlar", "plain.csv", "--label", "none"))
        self.write("other.csv", table_text(X, ["new"] * 5 + list(Y[5:]), names=NAMES))
        self.assertIn("not in the model", self.figure("embedding", "m.rlar", "other.csv"))

    def test_embedding_in_one_dimension(self):
        self.write("two.csv", table_text(X[:20], Y[:20], names=NAMES))
        self.ok("fit", "two.csv", "--method", "lda", "-o", "two.rlar")
        self.assertIn("the only output", self.figure("embedding", "two.rlar", "two.csv"))

    def test_embedding_of_many_classes(self):
        x, y = blobs(4, 6, 25, seed=1)
        self.write("many.csv", table_text(x, [f"n{c}" for c in y]))
        self.ok("fit", "many.csv", "--method", "rr", "-o", "many.rlar")
        shown = self.figure("embedding", "many.rlar", "many.csv")
        self.assertEqual({t for t in shown if t.startswith("n")}, {f"n{c}" for c in range(1, 26)})

    def test_features(self):
        ranked = [f["feature"] for f in self.json_of("rank", "m.rlar")["features"]]
        self.assertEqual([t for t in self.figure("features", "m.rlar") if t in ranked], ranked)

    def pixels(self):
        """Lightness of the cells of an image, by their places from top left, row by row."""
        found = {}
        for fill, corners in re.findall(r"<polygon fill = 'rgb\(([^)]*)\)' points = '([^']*)'", self.svg()):
            xy = np.array([[float(v) for v in pair.split(",")] for pair in corners.split()])
            if len(xy) == 4 and np.ptp(xy[:, 0]) > 50 and np.ptp(xy[:, 1]) > 50:
                found[tuple(np.round(xy.mean(axis=0)[::-1]))] = sum(int(v) for v in fill.split(","))
        return [found[place] for place in sorted(found)]

    def test_image_of_features(self):
        scores = np.zeros(6)
        for f in self.json_of("rank", "m.rlar")["features"]:
            scores[f["index"] - 1] = f["score"]
        for order, seen in (("rows", scores), ("columns", scores.reshape(3, 2).T.ravel())):
            self.figure("features", "m.rlar", "--image", "2x3", "--order", order)
            shades = self.pixels()
            self.assertEqual(len(shades), 6)
            self.assertEqual(list(np.argsort(shades)), list(np.argsort(-seen)), order)  # dark is large

    def test_ranks(self):
        for ranks, difference, bars in (([1, 2, 3, 4], 1.5, 3), ([1, 2, 3, 4], 0.5, 0), ([1, 2, 3, 4], 9, 1),
                                        ([1.2, 1.4, 3.9, 3.5], 1, 2), ([2, 2, 2], 1, 1)):
            self.write("r.json", json.dumps(comparison(ranks, difference)))
            shown = self.figure("ranks", "r.json")
            for i, rank in enumerate(ranks):
                self.assertIn(f"m{i}", shown)
                self.assertIn(f"{rank:.2f}", shown)
            self.assertIn(f"critical difference {difference:.3g} (level 0.05)", shown)
            thick = re.findall(r"""<g [^>]*stroke-width="6\.00"[^>]*>(.*?)</g>""", self.svg(), re.DOTALL)
            self.assertEqual("".join(thick).count("M"), bars, (ranks, difference))

    def test_matrices(self):
        shown = self.figure("matrices", "matrices.json")
        for text in ("T, targets", "V, graph", "S, weights (to 99th percentile)", "sample", "class"):
            self.assertIn(text, shown)

    def test_real_results(self):
        self.ok("evaluate", "t.csv", "--methods", "rlar,lda", "--train-per-class", "3,5", "--trials", "2", "--tune", "cv",
                "--tune-folds", "2", "--grid", "rlar.alpha=0.1,1", "--grid", "rlar.beta=0.1,1", "--json", "-o", "r.json")
        self.figure("heatmap", "r.json", "--method", "rlar")
        self.figure("confusion", "r.json")
        self.figure("sizes", "r.json")


class Names(Plot):
    """Names from files are shown as they are and command nothing."""

    def shown_as(self, name):
        clean = re.sub("[\x00-\x1f\x7f\uffff]", " ", name)
        return {clean, clean[:23] + "…", clean[:39] + "…"}

    def test_hostile_names(self):
        entries = []
        for i in range(5):
            entries.append(result(data=HOSTILE[i], method=HOSTILE[-1 - i], classes=[HOSTILE[i], HOSTILE[i + 1], HOSTILE[i + 5]],
                                  grid=grid(**{HOSTILE[3]: HOSTILE})))
        self.results("hostile.json", entries)
        self.write("ranks.json", json.dumps(comparison([float(i + 1) for i in range(10)], 2.0, HOSTILE)))
        before = set(os.listdir(self.folder))
        for command in ("confusion hostile.json", "ksweep hostile.json", "ranks ranks.json"):
            shown = set(self.figure(*command.split()))
            for name in HOSTILE[:6] if command.startswith("confusion") else HOSTILE if "ranks" in command else ():
                self.assertTrue(shown & self.shown_as(name), (command, name))
            for ending in ("pdf", "png"):
                self.ok("plot", *command.split(), "-o", f"figure.{ending}")
        self.assertEqual(set(os.listdir(self.folder)) - before, {"figure.svg", "figure.pdf", "figure.png"})

    def test_names_of_models_and_files(self):
        names = [f'"{n}"' for n in ("a_b", "`touch pwned`", "c'", "{^}", "\\\\", "é%")]
        self.write("it's `touch pwned`.csv", table_text(X, ["é'%s`touch pwned`" % c for c in Y], names=names))
        before = set(os.listdir(self.folder))
        self.ok("fit", "it's `touch pwned`.csv", "-o", "m'`x`.rlar", "--trace", "t'`touch pwned`.csv")
        self.figure("features", "m'`x`.rlar")
        self.figure("embedding", "m'`x`.rlar", "it's `touch pwned`.csv")
        self.assertIn("t'`touch pwned`", self.figure("convergence", "t'`touch pwned`.csv"))
        self.assertEqual(set(os.listdir(self.folder)) - before, {"m'`x`.rlar", "t'`touch pwned`.csv", "figure.svg"})

    def test_odd_names_are_shown(self):
        """In every place that has a name: gnuplot has rules of its own for quotes, backslashes and digits behind them."""
        for part in (ODD[:10], ODD[10:20], ODD[20:]):
            n = len(part)
            self.results("odd.json", [result(data=name, method="m", classes=part, confusion=np.eye(n, dtype=int).tolist(),
                                             grid=grid(**{name: part})) for name in part])
            self.write("odd-ranks.json", json.dumps(comparison([float(i + 1) for i in range(n)], 2.0, part)))
            self.assertLessEqual(set(part), set(self.figure("ranks", "odd-ranks.json")))
            for name in part:
                shown = self.figure("confusion", "odd.json", "--data", name)
                self.assertLessEqual({f"{name}, 5 per class, m", *part}, set(shown))
                self.assertLessEqual({name, *part}, set(self.figure("ksweep", "odd.json", "--data", name)))
                os.rename(self.path("trace.csv"), self.path(f"{name}.csv"))
                self.assertIn(name, self.figure("convergence", f"./{name}.csv"))
                os.rename(self.path(f"{name}.csv"), self.path("trace.csv"))

    def test_odd_names_of_features_and_classes(self):
        quoted = ['"' + name.replace('"', '""') + '"' for name in ODD]
        x, y = blobs(2, len(ODD), len(ODD), seed=0)
        self.write("odd.csv", table_text(x, [quoted[int(c) - 1] for c in y], names=quoted))
        self.ok("fit", "odd.csv", "--method", "rr", "-o", "odd.rlar", "--header", "yes")
        self.assertLessEqual(set(ODD), set(self.figure("features", "odd.rlar")))
        self.assertLessEqual(set(ODD), set(self.figure("embedding", "odd.rlar", "odd.csv", "--header", "yes")))
        self.write("few.csv", table_text(X, [quoted[(0, 9, 14)[int(c) - 1]] for c in Y], names=NAMES))
        self.ok("fit", "few.csv", "-o", "few.rlar")  # its classes are in a legend, not at their means
        self.assertLessEqual({"'", '"', "\\n"}, set(self.figure("embedding", "few.rlar", "few.csv")))

    def test_names_that_are_not_utf8(self):
        os.rename(self.path("trace.csv"), os.fsencode(self.folder) + b"/tr\xff.csv")
        self.assertIn("tr\ufffd", self.figure("convergence", os.fsdecode(b"tr\xff.csv")))


class Refused(Plot):
    WRONG = {
        "plot heatmap heat.json": (USAGE, "-o FIG"),
        "plot heatmap heat.json -o figure.jpg": (USAGE, r"figure\.jpg.*\.svg, \.pdf or \.png"),
        "plot heatmap heat.json -o .svg": (USAGE, "ending"),
        "plot pie heat.json -o f.svg": (USAGE, "pie.*convergence, heatmap"),
        "plot heatmap": (USAGE, "FIGURE INPUT"),
        "plot embedding m.rlar -o f.svg": (USAGE, "MODEL DATA; 1 input was"),
        "plot features m.rlar t.csv -o f.svg": (USAGE, "2 inputs were"),
        "plot heatmap heat.json -o heat.json.svg --image 2x3": (USAGE, "--image.*features"),
        "plot heatmap heat.json -o f.svg --against seconds": (USAGE, "--against.*convergence"),
        "plot features m.rlar -o f.svg --method rlar": (USAGE, "--method"),
        "plot features m.rlar -o f.svg --order columns": (USAGE, "--order needs --image"),
        "plot features m.rlar -o f.svg --image 2by3": (USAGE, "2by3.*32x32"),
        "plot features m.rlar -o f.svg --image 0x6": (USAGE, "0x6"),
        "plot features m.rlar -o f.svg --image 2x2": (USAGE, "2x2.*6 features"),
        "plot features m.rlar -o f.svg --image 4611686018427387904x4": (USAGE, "6 features"),
        "plot heatmap none.json -o f.svg": (IO, r"none\.json.*No such file"),
        "plot heatmap . -o f.svg": (IO, "directory"),
        "plot heatmap heat.json -o no/such/f.svg": (IO, "no/such"),
        "plot heatmap t.csv -o f.svg": (DATA, r"t\.csv:1:.*not JSON"),
        "plot heatmap m.rlar -o f.svg": (DATA, r"m\.rlar:1:.*not JSON"),
        "plot heatmap ranks.json -o f.svg": (DATA, r'ranks\.json.*"results"'),
        "plot heatmap sizes.json -o f.svg": (DATA, '"grid".*--tune'),
        "plot heatmap sweep.json -o f.svg": (DATA, "1 axis.*: k; .*ksweep"),
        "plot ksweep heat.json -o f.svg": (DATA, "2 axes.*: alpha, beta; .*heatmap"),
        "plot ranks heat.json -o f.svg": (DATA, '"comparison".*three methods'),
        "plot matrices heat.json -o f.svg": (DATA, '"matrices"'),
        "plot convergence t.csv -o f.svg": (DATA, "iteration.*--trace"),
        "plot convergence none.csv -o f.svg": (IO, r"none\.csv"),
        "plot features t.csv -o f.svg": (MODEL, r"t\.csv"),
        "plot embedding m.rlar none.csv -o f.svg": (IO, r"none\.csv"),
        "plot embedding t.csv m.rlar -o f.svg": (MODEL, r"t\.csv"),
    }

    def test_wrong_commands_and_files(self):
        for command, (code, says) in self.WRONG.items():
            with self.subTest(command):
                self.fails(code, *command.split(), says=says)

    def test_input_is_not_overwritten(self):
        self.write("in.svg", self.path("heat.json").read_bytes())
        self.fails(USAGE, "plot", "heatmap", "in.svg", "-o", "in.svg", says="would be overwritten")

    DOCUMENTS = ("[]", "{}", "null", "3", '{"results": 3}', '{"results": []}', '{"results": [3]}', '{"results": [{}]}',
                 '{"results": [{"grid": 3}]}', '{"results": [{"grid": {"axes": [], "cells": []}}]}',
                 '{"results": [{"grid": {"axes": [3], "cells": [3]}}]}',
                 '{"results": [{"grid": {"axes": ["a"], "cells": [{"a": null}]}}]}',
                 '{"results": [{"grid": {"axes": ["a"], "cells": [{"a": 1, "accuracy": 1}, {"a": "w", "accuracy": 1}]}}]}',
                 '{"results": [{"grid": {"axes": ["a", "b"], "cells": [{"a": 1, "b": 2}, {"a": 2, "b": 1}]}}]}',
                 '{"results": [{"confusion": [[1, 2], [3]], "classes": ["a", "b"]}]}',
                 '{"results": [{"confusion": [[1, -2], [3, 4]], "classes": ["a", "b"]}]}',
                 '{"results": [{"confusion": [[1, 2], [3, 4]], "classes": [1, 2]}]}',
                 '{"results": [{"accuracy": 3}]}', '{"comparison": 3}', '{"comparison": {"methods": ["a"], "average_rank": []}}',
                 '{"comparison": {"methods": ["a", "b"], "average_rank": [1, 2], "nemenyi": null}}',
                 '{"comparison": {"methods": ["a", "b", "c"], "average_rank": [1, 2, 4]}}',
                 '{"matrices": {"T": [[1]], "V": [[1, 2], [3]], "S": []}}', "{" * 5000, "[" * 5000, '{"results": [')

    def test_documents_of_other_forms(self):
        for text in self.DOCUMENTS:
            self.write("odd.json", text)
            for kind in ("heatmap", "ksweep", "sizes", "confusion", "ranks", "matrices"):
                with self.subTest(text[:80], kind=kind):
                    self.fails(DATA, "plot", kind, "odd.json", "-o", "f.svg", says=r"odd\.json")

    def test_a_device_that_never_ends(self):
        self.fails(DATA, "plot", "heatmap", "/dev/zero", "-o", "f.svg", says="/dev/zero", timeout=20)

    def test_an_old_figure_survives(self):
        self.write("f.svg", "old")
        self.fails(DATA, "plot", "heatmap", "sweep.json", "-o", "f.svg")


class Gnuplot(Plot):
    """The program that draws: missing, failing, slow."""

    def fake(self, script):
        self.write("bin/gnuplot", "#!/bin/sh\n" + script)
        self.path("bin/gnuplot").chmod(0o755)
        return {"PATH": str(self.path("bin"))}

    def test_missing(self):
        self.path("empty").mkdir()
        self.fails(FAILED, "plot", "heatmap", "heat.json", "-o", "f.svg", env={"PATH": str(self.path("empty"))},
                   says="gnuplot.*not installed.*gnuplot-nox")

    def test_failing(self):
        env = self.fake("echo; echo 'plot x'; echo '     ^' >&2; echo 'line 3: no such thing' >&2; exit 2")
        self.fails(FAILED, "plot", "heatmap", "heat.json", "-o", "f.svg", env=env, says="gnuplot failed: line 3: no such thing")
        self.fails(FAILED, "plot", "heatmap", "heat.json", "-o", "f.svg", env=self.fake("exit 0"), says="made no figure")
        self.fails(FAILED, "plot", "heatmap", "heat.json", "-o", "f.svg", env=self.fake("kill -9 $$"), says="signal 9")

    def test_a_part_of_a_figure_is_none(self):
        """gnuplot ends with 0 also where its writes fail."""
        real, head = shutil.which("gnuplot"), shutil.which("head")
        for ending, magic in MAGIC.items():
            self.ok("plot", "heatmap", "heat.json", "-o", f"f.{ending}")
            old = self.path(f"f.{ending}").read_bytes()
            self.assertTrue(old.startswith(magic))
            for kept in (1000, -4, -10):
                with self.subTest(ending, kept=kept):
                    env = self.fake(f"{real} -d | {head} -c {kept}")
                    self.fails(IO, "plot", "heatmap", "heat.json", "-o", f"f.{ending}", env=env,
                               says="gnuplot wrote the first .* bytes of the figure and not its end")
                    self.assertEqual(self.path(f"f.{ending}").read_bytes(), old)
        self.fails(IO, "report", "heat.json", "-o", "r.html", env=self.fake(f"{real} -d | {head} -c 1000"), says="not its end")

    def test_no_folder_for_temporary_files_is_needed(self):
        real, readlink = shutil.which("gnuplot"), shutil.which("readlink")
        env = self.fake(f"for i in 0 1 2; do name=$({readlink} /proc/$$/fd/$i); echo $name >>files; done; exec {real} -d")
        self.ok("plot", "heatmap", "heat.json", "-o", "f.svg", env=env)
        files = self.path("files").read_text().splitlines()
        self.assertEqual([name.split(":")[0] for name in files], 3 * ["/memfd"])

    def test_under_a_parent_that_ignores_the_end_of_children(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for command in ("plot heatmap heat.json -o f.svg", "report heat.json -o r.html"):
            outcome = subprocess.run([support.PROGRAM, *command.split(), "-q"], cwd=self.folder, env=support.clean_environment(),
                                     capture_output=True, preexec_fn=ignore, timeout=support.TIMEOUT, check=False)
            self.assertEqual((outcome.returncode, outcome.stderr), (OK, b""), command)

    def test_limit_on_the_size_of_files(self):
        """It holds for files in memory: for the script, for the figure, then for the file of -o."""
        self.write("f.svg", "old")
        self.write("r.html", "old")
        for limit, command, says in ((200, "plot heatmap heat.json -o f.svg", "script of gnuplot: File too large"),
                                     (4096, "plot heatmap heat.json -o f.svg", r"limit of 4\.0 KiB on the size of files.*ulimit -f"),
                                     (4096, "report heat.json -o r.html", r"limit of 4\.0 KiB on the size of files.*ulimit -f"),
                                     (30000, "report heat.json heat.json heat.json -o r.html", "r.html: .*File too large")):
            with self.subTest(command, limit=limit):
                before = support.snapshot(self.folder)
                outcome = subprocess.run([support.PROGRAM, *command.split()], cwd=self.folder, env=support.clean_environment(),
                                         capture_output=True, timeout=support.TIMEOUT, check=False,
                                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
                self.assertEqual((outcome.returncode, outcome.stdout), (IO, b""), outcome.stderr)
                self.assertRegex(outcome.stderr.decode(), says)
                self.assertEqual(support.snapshot(self.folder), before)

    def test_interrupted(self):
        env = self.fake("echo $$ >started; exec /bin/sleep 60")
        process = support.start("plot", "heatmap", "heat.json", "-o", "f.svg", cwd=self.folder, env=env)
        until = time.monotonic() + support.TIMEOUT
        while not (self.path("started").exists() and self.path("started").read_text().endswith("\n")):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=support.SIGNAL_LIMIT)
        self.assertEqual((process.returncode, err), (INTERRUPTED, b"rlar: interrupted\n"))
        self.assertFalse(self.path("f.svg").exists())
        child = int(self.path("started").read_text())
        self.assertNotEqual(subprocess.run(["kill", "-0", str(child)], stderr=subprocess.DEVNULL, check=False).returncode, 0)


if __name__ == "__main__":
    support.main()
