"""rlar report: the page by its text and, in headless Chromium, by what a reader gets."""

import contextlib
import html.parser
import json
import os
import re
import shlex
import shutil
import unittest

import browser
import support
from support import DATA, FAILED, IO, MEMORY, USAGE, Case, blobs, table_text
from test_plot import HOSTILE, comparison, grid, result

X, Y = blobs(12, 6, 3, seed=0)
VOID = {"meta", "link", "br", "img", "hr"}


class Outline(html.parser.HTMLParser):
    """Tags that open and close properly; headings, tables as lists of rows, figures."""

    def __init__(self, text):
        super().__init__()
        self.open, self.headings, self.tables, self.figures, self.attributes = [], [], [], 0, []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)
        self.figures += tag == "figure"
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


class Report(Case):
    def setUp(self):
        super().setUp()
        self.write("t.csv", table_text(X, Y, names=[f"f{j}" for j in range(1, 7)]))

    def results(self, name, entries, **keys):
        return self.write(name, json.dumps({"rlar": "0.1.0", "results": entries, **keys}))

    def page(self, *files, **options):
        self.ok("report", *files, "-o", "r.html", **options)
        return self.path("r.html").read_text(encoding="utf-8")

    def many_pairs(self, methods, last=None):
        names = [f"m{i}" for i in range(methods - 1)] + [last or "last"]
        pairs = [{"a": a, "b": b, "difference": 0.01, "statistic": 1, "p": 0.5, "p_holm": 1}
                 for i, a in enumerate(names) for b in names[i + 1:]]
        return self.results("pairs.json", [result(method=m) for m in names], comparison={"wilcoxon": pairs})

    def rich(self):
        """A document with everything that a page can show."""
        entries = [result(data=d, method=m, train_per_class=u, grid=grid(alpha=[0.1, 1], beta=[1, 2]),
                          accuracy={"mean": a, "std": 0.01, "trials": [a - 0.01, a + 0.01]}, failed=0, fit_seconds=0.01,
                          params={"alpha": 0.1}, selected=[{"alpha": 0.1, "beta": 1}, {"alpha": 0.1, "beta": 1}])
                   for d in ("wine", "iris") for u in (5, 10)
                   for m, a in (("rlar", 0.90 + u / 1000), ("lda", 0.80 + u / 1000), ("rr", 0.85 + u / 1000))]
        return self.results("rich.json", entries, data=[{"name": "wine", "n": 178, "d": 13, "classes": 3, "file": "wine.csv"},
                                                        {"name": "iris", "n": 150, "d": 4, "classes": 3, "file": "iris.csv"}],
                            protocol={"trials": 2, "seed": 1, "scale": "unit", "classifier": "1nn", "tune": "cv"},
                            **comparison([1.0, 2.9, 2.1], 0.8, ["rlar", "lda", "rr"]))


class Text(Report):
    def test_tables(self):
        outline = Outline(self.page(self.rich()))
        self.assertEqual(outline.headings[0], "rlar: wine, iris")
        data, accuracy, details, ranks = outline.tables[:4]
        self.assertEqual(data[1], ["wine", "wine.csv", "178", "13", "3"])
        self.assertEqual(accuracy[0], ["data", "training", "rlar", "lda", "rr"])
        self.assertEqual(accuracy[1], ["wine", "5 per class", "90.50 ± 1.00", "80.50 ± 1.00", "85.50 ± 1.00"])
        self.assertEqual(len(accuracy), 5)
        self.assertEqual(len(details), 13)
        self.assertEqual(details[1][:4] + details[1][6:7], ["wine", "5 per class", "rlar", "90.50 ± 1.00", "10 ms"])
        self.assertEqual(ranks[1:], [["rlar", "1.00"], ["lda", "2.90"], ["rr", "2.10"]])
        text = self.page("rich.json")
        self.assertEqual(re.findall(r"<strong>([^<]*)</strong>", text), ["90.50 ± 1.00", "91.00 ± 1.00"] * 2)
        self.assertIn("alpha=0.1 beta=1 (2 of 2)", text)

    def test_many_pairs_are_folded(self):
        """All pairs of seven methods; of more those with rlar or else the first, and the others behind a line to click."""
        text = self.page(self.many_pairs(7))
        self.assertEqual(max(len(table) for table in Outline(text).tables if table[0][0] == "a"), 1 + 21)
        self.assertNotIn("<details>", text)
        for last, name in (("rlar", "rlar"), ("lda", "m0")):
            text = self.page(self.many_pairs(8, last))
            tables = [table for table in Outline(text).tables if table[0][0] == "a"]
            self.assertEqual([len(table) for table in tables], [1 + 7, 1 + 21])
            self.assertTrue(all(name in row[:2] for row in tables[0][1:]))
            self.assertFalse(any(name in row[:2] for row in tables[1][1:]))
        self.assertIn("<details>\n<summary>The other 21 pairs</summary>", text)

    def test_p_says_for_how_many_pairs(self):
        """The table of evaluate has p corrected for the pairs with the first method alone."""
        self.ok("evaluate", "t.csv", "--methods", "rlar,lda,rr", "--train-per-class", "3", "--trials", "6", "--json", "-o", "c.json")
        text = self.page("c.json")
        table = next(table for table in Outline(text).tables if table[0][0] == "a")
        self.assertEqual(table[0][3:], ["p", "p (Holm, all pairs)"])
        self.assertIn("Holm&#39;s correction for 3 pairs</p>", text)
        pairs = json.loads(self.path("c.json").read_text())["comparison"]["wilcoxon"]
        self.assertEqual([row[4] for row in table[1:]], [f"{pair['p_holm']:.3g}" for pair in pairs])
        self.assertEqual(self.page(self.many_pairs(8)).count("Holm&#39;s correction for 28 pairs</p>"), 2)
        self.assertIn("Holm&#39;s correction for 1 pair</p>", self.page(self.many_pairs(2)))

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_figures(self):
        text = self.page(self.rich())
        # ranks, a curve and a confusion matrix for each of two data sets, a heat map for each result
        self.assertEqual(Outline(text).figures, 1 + 2 + 2 + 12)
        for caption in ("Average ranks", "Accuracy by training size: wine", "Accuracy over the grid: iris, 10 per class, rr",
                        "Confusion matrix of the best method: wine, 10 per class, rlar"):
            self.assertIn(caption, text)
        self.results("order.json", [result(method=m, accuracy={"mean": a}) for m, a in (("lda", 0.8), ("rlar", 0.9), ("rr", 0.7))])
        self.assertIn("best method: wine, 5 per class, rlar", self.page("order.json"))
        self.assertNotIn("Gnuplot", text.replace("GNUPLOT", ""))
        self.assertNotIn("<?xml", text)

    def test_reproduction(self):
        """A table per place of the paper, with the paper's numbers and a mark; figures of RLAR's grids."""
        def cell(method, column, mean, variant="", grid_of=None):
            entry = {"table": "blocks" if variant else "uci", "data": "ar" if variant else "wine",
                     "train_per_class": 8, "variant": variant, "method": method, "column": column,
                     "accuracy": {"mean": mean, "std": 0.01, "trials": [mean - 0.01, mean, mean + 0.01]},
                     "paper": {"mean": 0.9, "std": None if variant else 0.02}, "within": abs(mean - 0.9) < 0.02,
                     "params": {"alpha": 0.1, "beta": 0.1}, "selected": []}
            if grid_of:
                entry["grid"] = grid_of
            return entry
        tried = {"axes": ["alpha", "beta"], "cells": [{"alpha": a, "beta": b, "accuracy": 0.5 + a / 10 + b / 20}
                                                      for a in (0.1, 1) for b in (0.1, 1)]}
        results = [cell(method, column, mean, variant, tried if column == "oracle" else None)
                   for variant in ("", "15", "20")
                   for method, mean in (("lda", 0.85), ("rlar", 0.91), ("rr", 0.99))
                   for column in ("preset", "oracle")]
        self.write("paper.json", json.dumps({"rlar": "1", "kind": "reproduce", "command": "rlar reproduce uci",
                                             "protocol": {"trials": 3}, "results": results}))
        self.ok("report", "paper.json", "-o", "paper.html")
        page = Outline(self.path("paper.html").read_text())
        tables = [table for table in page.tables if "paper" in " ".join(table[0])]
        self.assertEqual(len(tables), 3)
        self.assertEqual([row[0] for row in tables[0][1:]], ["lda", "rlar", "rr"])
        self.assertEqual(tables[0][1], ["lda", "90.00 ± 2.00", "85.00 ± 1.00 −", "85.00 ± 1.00 −"])
        self.assertEqual(tables[1][2], ["rlar", "90.00", "91.00 ± 1.00 =", "91.00 ± 1.00 ="])
        self.assertEqual(tables[2][3][2:], ["99.00 ± 1.00 +", "99.00 ± 1.00 +"])
        self.assertEqual(page.figures, 3)
        self.assertIn("rlar reproduce uci", self.path("paper.html").read_text())

    def test_data_of_one_name(self):
        """Two files of the same name are two data sets, on the page and in the figure."""
        for folder, seed in (("a", 1), ("b", 2)):
            self.write(f"{folder}/x.csv", table_text(*blobs(12, 4, 2, seed=seed, spread=60)))
        self.ok("evaluate", "a/x.csv", "b/x.csv", "--methods", "lda", "--train-per-class", "3,5", "--trials", "2", "--json",
                "-o", "same.json")
        text = self.page("same.json")
        rows = [["a/x.csv", "3 per class"], ["a/x.csv", "5 per class"], ["b/x.csv", "3 per class"], ["b/x.csv", "5 per class"]]
        self.assertEqual([row[:2] for row in Outline(text).tables[1][1:]], rows)
        if shutil.which("gnuplot"):
            for name in ("a/x.csv", "b/x.csv"):
                self.assertIn(f"<figcaption>Accuracy by training size: {name}, lda", text)

    def test_tuning(self):
        """Cross-validated, and said to be a little too high; nothing of tests, trials and sizes that tune has not."""
        whole = self.json_of("tune", "t.csv", "--folds", "3", "--trials", "2", "--grid", "alpha=0.01,0.1,1", "-p", "iters=3")
        self.write("tune.json", json.dumps(whole))
        text = self.page("tune.json")
        data, results, protocol, params = Outline(text).tables
        accuracy = whole["accuracy"]
        self.assertEqual(data[1], ["t", "t.csv", "36", "6", "3"])
        self.assertEqual(results[0], ["data", "method", "chosen cell", "accuracy", "standard error", "folds tested", "failed",
                                      "cells", "as good"])
        self.assertEqual(results[1:], [["t", "rlar", f"alpha={whole['best']['alpha']:g}",
                                        f"{100 * accuracy['mean']:.2f} ± {100 * accuracy['std']:.2f}",
                                        f"{100 * whole['standard_error']:.2f}", "6", "0", "3",
                                        str(len(whole["within_one_standard_error"]))]])
        self.assertIn("Cross-validated accuracy of the chosen cell in %, mean ± standard deviation over the folds", text)
        self.assertIn("a little too high for new samples", text)
        self.assertNotIn("Test accuracy", text)
        self.assertEqual([row[0] for row in protocol[1:3]], ["folds", "trials"])
        self.assertEqual(params[0], ["data", "method", "parameters", "simplest cell"])
        self.assertEqual(params[1][3], f"alpha={whole['simplest']['alpha']:g}")
        for odd in ({}, {"data": 3}, {"data": {}, "accuracy": {"trials": [None, 3, None]}, "best": 3, "simplest": [1],
                                      "within_one_standard_error": 3, "standard_error": "x", "protocol": {"folds": []}}):
            self.write("odd.json", json.dumps({"grid": {"axes": [], "cells": [{"accuracy": 1}]}, **odd}))
            Outline(self.page("odd.json"))

    def test_without_gnuplot(self):
        self.path("empty").mkdir()
        text = self.page(self.rich(), env={"PATH": str(self.path("empty"))})
        self.assertEqual(Outline(text).figures, 0)
        self.assertIn("There are no figures: gnuplot", text)
        self.assertIn("90.50 ± 1.00", text)

    def test_same_input_same_bytes(self):
        self.assertEqual(self.page(self.rich()), self.page("rich.json"))

    def test_several_files(self):
        self.results("a.json", [result()])
        self.results("b.json", [result(data="glass")])
        outline = Outline(self.page("a.json", "b.json"))
        self.assertEqual([h for h in outline.headings if h.endswith(".json")], ["a.json", "b.json"])
        self.assertEqual(outline.headings[0], "rlar: wine, glass")

    def test_title(self):
        self.results("a.json", [result()])
        self.assertEqual(Outline(self.page("a.json", "--title", "A <b> & 'c'")).headings[0], "A <b> & 'c'")

    def test_names_that_are_not_utf8(self):
        """The page is UTF-8, whatever stands in the command; page() reads it as such."""
        self.results("a.json", [result()])
        os.rename(self.path("a.json"), os.fsencode(self.folder) + b"/\xff\xc3(.json")
        outline = Outline(self.page(os.fsdecode(b"\xff\xc3(.json"), "--title", os.fsdecode(b"\xe2\x82<b>\xff")))
        self.assertEqual(outline.headings[:2], ["\ufffd\ufffd<b>\ufffd", "\ufffd\ufffd(.json"])

    def test_what_is_missing_is_left_out(self):
        self.results("bare.json", [{"method": "rlar"}, {"data": "x", "method": "lda", "accuracy": {"mean": None}}])
        Outline(self.page("bare.json"))
        self.write("tune.json", json.dumps({"method": "rlar", "data": "wine", "grid": grid(alpha=[1, 2], beta=[1, 2])}))
        self.assertIn("Accuracy over the grid" if shutil.which("gnuplot") else "wine", self.page("tune.json"))
        self.results("all_failed.json", [result(accuracy={"mean": None, "std": None, "trials": [None]}, failed=1,
                                                train_per_class=u) for u in (5, 10)])
        self.assertIn("failed", self.page("all_failed.json"))
        self.results("two.json", [result(), result(method="lda")],
                     comparison={"over": "trials", "blocks": 10, "methods": ["rlar", "lda"], "average_rank": [1.2, 1.8],
                                 "friedman": None, "nemenyi": None,
                                 "wilcoxon": [{"a": "rlar", "b": "lda", "difference": 0.02, "statistic": 3, "p": 0.03, "p_holm": 0.03}]})
        text = self.page("two.json")
        self.assertIn("Trials share samples", text)
        self.assertIn(["rlar", "lda", "+2.00", "0.03", "0.03"], Outline(text).tables[3] + Outline(text).tables[2])

    def test_blas_of_the_run(self):
        self.results("a.json", [result()], blas={"library": "libblas<3>.so", "config": "", "kernel": "Fast"})
        self.assertIn("with the BLAS library libblas&lt;3&gt;.so, kernel Fast.", self.page("a.json"))
        self.results("a.json", [result()], blas={"library": 3, "kernel": [1]})
        self.page("a.json")

    def test_sizes_of_one_data_set_share_samples(self):
        """Over 6 data sets and sizes, not over 6 data sets."""
        comparison = {"over": "data sets", "blocks": 6, "methods": ["rlar", "lda"], "average_rank": [1.2, 1.8]}
        self.results("a.json", [result()], comparison={**comparison, "column": "oracle"})
        self.assertIn("Over 6 data sets, column oracle.", self.page("a.json"))
        for sizes, said in (((5, 10), True), ((5,), False)):
            self.results("a.json", [result(data=d, method=m, train_per_class=u) for d in ("wine", "iris") for u in sizes
                                    for m in ("rlar", "lda")], comparison=comparison)
            text = self.page("a.json")
            self.assertEqual("Over 6 data sets and sizes. Sizes of one data set share samples" in text, said)
            self.assertEqual("Over 6 data sets." in text, not said)

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_figures_without_results(self):
        """What 'rlar reproduce matrices' and 'convergence' answer: nothing but figures."""
        eye = [[1, 0], [0, 1]]
        self.write("figures.json", json.dumps({
            "rlar": "1", "kind": "reproduce", "command": "rlar reproduce matrices convergence", "results": [],
            "matrices": {"data": "ar", "T": eye, "V": eye, "S": eye, "classes": [1, 1]},
            "convergence": [{"data": "ar", "train_per_class": 8, "objective": [3, 2, 1.5]}]}))
        self.ok("report", "figures.json", "-o", "figures.html")
        page = self.path("figures.html").read_text()
        self.assertEqual(Outline(page).figures, 2)
        self.assertIn("rlar reproduce matrices convergence", page)
        self.assertNotIn("Results</h3>", page)

    def test_oracle_is_called_an_upper_bound(self):
        self.results("a.json", [result()], protocol={"tune": "oracle"})
        self.assertIn("upper bounds", self.page("a.json"))
        self.results("a.json", [result()], protocol={"tune": "cv"})
        self.assertNotIn("upper bounds", self.page("a.json"))

    def test_hostile_names(self):
        entries = [result(data=name, method=other, classes=[name, other, "c"], params={name: other}, selected=[{name: other}],
                          grid=grid(**{name: [1, 2], "b": [1, 2]}))
                   for name, other in zip(HOSTILE, HOSTILE[1:])]
        self.results("<img src=x onerror=alert(1)>.json", entries, rlar="<script>alert(1)</script>",
                     protocol={"<b>": "</td><script>alert(1)</script>"},
                     data=[{"name": n, "file": "'; touch pwned; \"<b>"} for n in HOSTILE],
                     **comparison([float(i + 1) for i in range(10)], 2.0, HOSTILE))
        before = set(os.listdir(self.folder))
        text = self.page("<img src=x onerror=alert(1)>.json")
        self.assertEqual(text.count("<script"), 1)
        outline = Outline(text)
        self.assertNotIn("img", {tag for tag, *_ in outline.attributes})
        self.assertFalse([a for a in outline.attributes if a[1].startswith("on")])
        self.assertEqual(set(os.listdir(self.folder)) - before, {"r.html"})

    def test_nothing_is_fetched(self):
        text = self.page(self.rich())
        for _, name, value in Outline(text).attributes:
            if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
                self.assertRegex(value, r"^(#f\d+-|data:)")
        self.assertNotRegex(text, r"url\((?!#f\d+-)|@import|fetch\(|XMLHttpRequest")


class Repeat(Report):
    """The command on the page repeats the run."""

    def command(self, *args, verb="evaluate"):
        first = self.json_of(verb, "t.csv", *args)
        self.write("first.json", json.dumps(first))
        words = shlex.split(html.unescape(re.search(r"<pre><code>(.*?)</code>", self.page("first.json"), re.DOTALL).group(1)))
        self.assertEqual(words[0], "rlar")
        second = self.ok(*words[1:]).json
        self.assertEqual(support.without_seconds(second), support.without_seconds(first), words)
        return words

    def test_plain(self):
        words = self.command("--methods", "rlar,lda", "--train-per-class", "3,5", "--trials", "3", "--seed", "7")
        self.assertNotIn("-p", words)

    def test_parameters(self):
        words = self.command("--methods", "rlar,rr", "--folds", "2", "--trials", "2", "--scale", "minmax,unit", "-p",
                             "rlar.alpha=0.5", "-p", "solver=anneal", "--classifier", "knn", "--neighbors", "3")
        self.assertIn("rlar.alpha=0.5", words)
        self.assertIn("rlar.solver=anneal", words)

    def test_tuning(self):
        for tune in ("cv", "oracle"):
            self.command("--methods", "rlar,lda", "--train-fraction", "0.5", "--trials", "2", "--tune", tune, "--tune-folds", "2",
                         "--grid", "rlar.alpha=0.01,1", "--grid", "scale=none,minmax+unit", "-k", "2")

    def test_coarse(self):
        """The whole axes in the order given, of which the cells that were tried show a part, in another order."""
        self.write("t.csv", table_text(*blobs(14, 5, 3, seed=4, spread=70)))
        alpha, beta = "rlar.alpha=10,0.001,0.01,1,0.1,100", "rlar.beta=0.01,0.1,1,10,100"
        for tune in ("cv", "oracle"):
            words = self.command("--train-per-class", "5", "--trials", "2", "--tune", tune, "--coarse", "--preset", "paper",
                                 "--grid", alpha, "--grid", beta)
            self.assertLessEqual({"--coarse", alpha, beta}, set(words))
            first = json.loads(self.path("first.json").read_text())
            cells = first["results"][0]["grid"]["cells"]
            self.assertLess(len(cells), 30)
        for key in ("values", "coarse"):  # of an older version
            first["protocol"].pop(key, None)
            first["results"][0]["grid"].pop(key, None)
        self.write("first.json", json.dumps(first))
        old = re.search(r"<pre><code>(.*?)</code>", self.page("first.json"), re.DOTALL).group(1)
        self.assertNotIn("--coarse", old)
        self.assertRegex(old, r"--grid rlar\.alpha=[-e.\d,]+ --grid rlar\.beta=[-e.\d,]+ ")

    def test_tune(self):
        self.write("t.csv", table_text(*blobs(14, 5, 3, seed=4, spread=70)))
        self.command("--folds", "3", "--trials", "2", "--grid", "alpha=0.01,1", "--grid", "scale=none,minmax+unit", "--classifier",
                     "knn", "--neighbors", "3", "-p", "beta=0.2", "--seed", "5", verb="tune")
        words = self.command("--coarse", "--method", "mpda", "--grid", "gamma=1,0.01,0.1,100,10", verb="tune")
        self.assertLessEqual({"--coarse", "mpda.gamma=1,0.01,0.1,100,10"}, set(words))

    def test_odd_grids(self):
        """Whatever the file says of its axes, the page is written."""
        for values in (3, [], [3], [[]], [[{"a": 1}, None, [1]]], [[1], [2], [3]], {"alpha": [1]}):
            self.results("a.json", [result(grid={**grid(alpha=[1, 2], beta=[1, 2]), "values": values})],
                         data=[{"file": "t.csv"}], protocol={"coarse": 3})
            Outline(self.page("a.json"))

    def test_command_in_the_file(self):
        self.results("a.json", [result()], command="rlar evaluate 'my <data>.csv' --folds 3")
        self.assertIn("rlar evaluate &#39;my &lt;data&gt;.csv&#39; --folds 3", self.page("a.json"))


class Refused(Report):
    def test_wrong_commands_and_files(self):
        self.results("a.json", [result()])
        self.ok("fit", "t.csv", "-o", "m.rlar", "--json")
        self.write("fit.json", self.ok("fit", "t.csv", "--json").out)
        self.write("list.json", "[1]")
        self.results("bad.json", [result(grid=3)])
        for command, code, says in (
                ("report", USAGE, "RESULT.json"), ("report a.json", USAGE, "-o report.html"),
                ("report a.json -o a.json", USAGE, "overwritten"), ("report none.json -o r.html", IO, "none.json"),
                ("report a.json -o no/such/r.html", IO, "no/such"), ("report t.csv -o r.html", DATA, "t.csv:1:.*not JSON"),
                ("report m.rlar -o r.html", DATA, "m.rlar:1:"), ("report list.json -o r.html", DATA, "list.json.*object"),
                ("report fit.json -o r.html", DATA, 'fit.json.*"results"'),
                ("report a.json fit.json -o r.html", DATA, 'fit.json.*"results"'),
                *((("report bad.json -o r.html", DATA, 'bad.json.*"grid"'),) if shutil.which("gnuplot") else ())):
            with self.subTest(command):
                self.fails(code, *command.split(), says=says)

    def test_more_than_a_page_can_show(self):
        """Each result is compared with all others: what would take hours is refused at once."""
        self.results("a.json", [{}] * 3000)
        self.fails(DATA, "plot", "sizes", "a.json", "a.json", "-o", "r.svg", says="a.json: 6000 results; a page or figure has room for 5000: give fewer")
        self.results("a.json", [{}] * 5001)
        self.fails(DATA, "report", "a.json", "-o", "r.html", says="5001 results")
        few = {"axes": ["a"], "cells": [{"a": i, "accuracy": 0.5} for i in range(1001)]}
        many = {"axes": ["a"], "cells": [{"a": i % 2, "accuracy": 0.5} for i in range(100001)]}
        for cells, says, count in ((few, "more than 1000 values", 1001), (many, "more than 100000 cells", 100001)):
            self.results("a.json", [dict(result(), grid=cells)])
            self.fails(DATA, "plot", "ksweep", "a.json", "-o", "r.svg", says=says)
            self.shown_without(f"A grid of {count} cells is too large to be shown.")
        classes = [f"c{i}" for i in range(1001)]
        self.results("a.json", [dict(result(), classes=classes, confusion=[[int(i == j) for j in range(1001)] for i in range(1001)])])
        self.fails(DATA, "plot", "confusion", "a.json", "-o", "r.svg", says="too many classes to draw; the limit is 1000")
        self.shown_without("A confusion matrix of 1001 classes is not shown.")

    def shown_without(self, line):
        """The page is there, and tells what no figure shows."""
        page = self.page("a.json")
        if shutil.which("gnuplot"):
            self.assertIn(line, page)

    def test_memory_limit_holds_for_json(self):
        """Whatever the text grows to; that of all files together; and a file of results needs little."""
        self.results("a.json", [result()])
        self.ok("report", "a.json", "-o", "a.html", "--max-memory", "100K")
        for item in ("1", "{}", "[]", '""', '{"":1}', "[[[[[]]]]]"):
            self.write("large.json", '{"results": [' + ",".join([item] * 100000) + "]}")
            for command in ("report large.json -o r.html", "plot confusion large.json -o r.svg", "report a.json large.json -o r.html"):
                with self.subTest(item, command=command):
                    outcome = self.fails(MEMORY, *command.split(), "--max-memory", "4M",
                                         says="large.json: JSON up to its byte .*the memory limit is 4.0 MiB.*--max-memory")
                    held = int(re.search(r"byte (\d+)", outcome.err).group(1))
                    self.assertLess(held, (4 << 20) / 10)
        self.results("b.json", [result()], more=[0] * 1000)
        self.ok("report", "b.json", "-o", "b.html", "--max-memory", "100K")
        self.fails(MEMORY, "report", "b.json", "b.json", "-o", "r.html", "--max-memory", "100K", says="b.json.*the memory limit is 100.0 KiB")

    def test_memory_limit_holds_for_endless_json(self):
        pipe, end = os.pipe()
        with support.start("report", "-", "-o", "r.html", "--max-memory", "10M", cwd=self.folder, stdin=pipe) as process:
            os.close(pipe)
            with contextlib.suppress(BrokenPipeError), open(end, "wb") as stream:
                stream.write(b'{"a": [')
                while process.poll() is None:
                    stream.write(b"1," * 5000)
            self.assertIn(b"the memory limit is 10.0 MiB", process.stderr.read())
            self.assertEqual(process.wait(support.TIMEOUT), MEMORY)

    def test_gnuplot_that_fails(self):
        self.write("bin/gnuplot", "#!/bin/sh\necho 'no such thing' >&2\nexit 1\n")
        self.path("bin/gnuplot").chmod(0o755)
        self.results("a.json", [result()])
        self.fails(FAILED, "report", "a.json", "-o", "r.html", env={"PATH": str(self.path("bin"))}, says="no such thing")


@unittest.skipIf(browser.PROGRAM is None, "Chromium is not installed")
class Browser(Report):
    BOXES = """return Array.from(document.querySelectorAll('figure svg'), s => {
        const box = s.getBoundingClientRect(); return [box.width, box.height]; });"""

    SORT = """
    const wrong = [];
    let sorted = 0;
    for (const table of document.querySelectorAll('table'))
      Array.from(table.tHead.rows[0].cells).forEach((heading, column) => {
        const button = heading.querySelector('button');
        if (button.tagName !== 'BUTTON' || button.tabIndex !== 0) wrong.push('no button');
        for (const [direction, sign] of [['ascending', 1], ['descending', -1]]) {
          button.focus();
          document.activeElement.click();
          if (heading.getAttribute('aria-sort') !== direction) wrong.push('aria-sort');
          if (table.querySelectorAll('[aria-sort=none]').length !== table.tHead.rows[0].cells.length - 1) wrong.push('others');
          const cells = Array.from(table.tBodies[0].rows, row => row.cells[column]);
          const numbers = cells.filter(c => c.dataset.value).map(c => Number(c.dataset.value));
          for (let i = 1; i < numbers.length; i++)
            if (sign * (numbers[i] - numbers[i - 1]) < 0) wrong.push(table.textContent.slice(0, 40) + column);
          const texts = cells.filter(c => !('value' in c.dataset)).map(c => c.textContent);
          for (let i = 1; i < texts.length; i++)
            if (sign * texts[i - 1].localeCompare(texts[i], 'en', {numeric: true}) > 0) wrong.push(texts[i - 1] + '/' + texts[i]);
          const empty = cells.findIndex(c => c.dataset.value === '');
          if (empty >= 0 && cells.slice(empty).some(c => c.dataset.value !== '')) wrong.push('empty before full');
          sorted += 1;
        }
      });
    return [sorted, wrong];"""

    def open(self, text, probe, **options):
        page = browser.Page(text, probe, **options)
        self.assertEqual((page.seen, page.requests, page.console), ([], [], ["the probe has run"]))
        return page.found

    @unittest.skipIf(shutil.which("gnuplot") is None, "gnuplot is not installed")
    def test_figures_are_visible(self):
        boxes = self.open(self.page(self.rich()), self.BOXES)
        self.assertEqual(len(boxes), 17)
        for width, height in boxes:
            self.assertGreater(min(width, height), 150)

    def test_tables_sort_both_ways(self):
        entries = [result(method=f"m{i}", accuracy={"mean": a, "std": 0.1, "trials": [1]}) for i, a in enumerate((0.5, 0.9, None, 0.7, 0.1))]
        self.results("a.json", entries)
        count, wrong = self.open(self.page("a.json"), self.SORT)
        self.assertEqual(wrong, [])
        self.assertGreater(count, 20)

    def test_folded_pairs(self):
        """They sort as others do, and are there on paper."""
        text = self.page(self.many_pairs(9))
        self.assertEqual(self.open(text, "document.querySelector('details').open = true;" + self.SORT)[1], [])
        probe = """const folded = document.querySelector('details'), before = folded.open;
            dispatchEvent(new Event('beforeprint'));
            return [before, folded.open, folded.querySelector('table').getBoundingClientRect().height > 100]"""
        self.assertEqual(self.open(text, probe), [False, True, True])

    def test_phone(self):
        probe = """return [innerWidth, document.documentElement.scrollWidth,
            Array.from(document.querySelectorAll('.box, .card'), b => b.getBoundingClientRect().right)]"""
        for width in (320, 360):
            inner, whole, edges = self.open(self.page(self.rich()), probe, width=width)
            self.assertEqual(inner, width)
            self.assertLessEqual(whole, width)
            self.assertGreater(len(edges), 5)
            self.assertLessEqual(max(edges), width)

    def test_dark(self):
        probe = """const style = getComputedStyle(document.body), card = document.querySelector('.card');
            return [style.backgroundColor, style.color, card === null ? null : getComputedStyle(card).backgroundColor]"""
        text = self.page(self.rich())
        shade = lambda colour: sum(int(v) for v in re.findall(r"\d+", colour)[:3])
        for dark in (False, True):
            back, letters, card = self.open(text, probe, dark=dark)
            self.assertEqual(shade(back) < shade(letters), dark)
            self.assertIn(card, (None, "rgb(255, 255, 255)"))

    def test_identifiers_are_unique(self):
        probe = """const all = Array.from(document.querySelectorAll('[id]'), e => e.id);
            return [all.length, new Set(all).size]"""
        every, different = self.open(self.page(self.rich()), probe)
        self.assertEqual(every, different)

    def test_hostile_names(self):
        bad = "<img src=x onerror=alert(1)>\"'><script>alert(1)</script>"
        self.results("a.json", [result(data=bad, method=bad, classes=[bad, "b", "c"])], data=[{"name": bad, "file": bad}])
        self.assertEqual(self.open(self.page("a.json"), "return document.querySelectorAll('img').length"), 0)

    def test_the_probe_sees_what_is_wrong(self):
        page = browser.Page("<!DOCTYPE html><html><head></head><body><img src='http://127.0.0.1:9/no.png'>"
                            "<script>console.error('oh'); nothing();</script></body></html>", "return 1")
        self.assertEqual(page.found, 1)
        self.assertTrue(page.seen)
        self.assertTrue(page.requests)
        self.assertIn("oh", page.console)
        blocked = "<head><meta http-equiv='Content-Security-Policy' content=\"img-src 'none'\">"
        page = browser.Page(f"<html>{blocked}</head><body>"
                            "<img src='http://127.0.0.1:9/no.png'></body></html>", "return 1")
        self.assertTrue([line for line in page.seen if line.startswith("blocked")])


if __name__ == "__main__":
    support.main()
