"""rlar tune: the cells are those of evaluate, and what is said of the best one follows from them."""

import re
import shlex
import unittest

import numpy as np

from support import DATA, USAGE, Case, read_safetensors, run, table_text, without_seconds
from test_evaluate import hard_data

ALPHAS, BETAS = ("0.001", "0.1", "10"), ("0.01", "1")
GRID = ("--grid", "alpha=" + ",".join(ALPHAS), "--grid", "beta=" + ",".join(BETAS))
BASE = ("--folds", "4", "--seed", "7", "-p", "iters=5")


def axes_of(cell):
    return {name: value for name, value in cell.items() if name != "accuracy"}


def heat_map(text):
    """{(row, column): shown} of the blocks of a heat map."""
    found, columns = {}, None
    for line in text.splitlines():
        words = line.split()
        if len(words) > 3 and words[1] == "\\":
            columns = words[3:]
        elif columns and len(words) == len(columns) + 1:
            found.update({(words[0], column): word for column, word in zip(columns, words[1:])})
        else:
            columns = None
    return found


class Tuned(Case):
    def setUp(self):
        super().setUp()
        self.write("t.csv", table_text(*hard_data()))

    def tune(self, *args):
        return self.json_of("tune", "t.csv", *BASE, *args)

    def text(self, *args):
        return self.ok("tune", "t.csv", *BASE, *args)

    def evaluated(self, *args, trials="1"):
        whole = self.json_of("evaluate", "t.csv", *BASE, "--trials", trials, *args)
        self.assertEqual(len(whole["results"]), 1)
        return whole, whole["results"][0]


class Values(Tuned):
    def test_keys(self):
        whole = self.tune(*GRID)
        self.assertEqual(set(whole), {"rlar", "data", "method", "protocol", "best", "accuracy", "standard_error",
                                      "within_one_standard_error", "simplest", "params", "grid", "fits",
                                      "seconds"})
        self.assertEqual(whole["protocol"], {"folds": 4, "trials": 1, "seed": 7, "scale": "zscore,rms",
                                             "classifier": "1nn", "coarse": False})
        self.assertEqual(whole["method"], "rlar")
        self.assertEqual(whole["grid"]["axes"], ["alpha", "beta"])
        self.assertEqual(whole["fits"], 4 * 6)

    def test_defaults(self):
        protocol = self.json_of("tune", "t.csv", "--grid", "alpha=0.1,1", "-p", "iters=2")["protocol"]
        self.assertEqual(protocol, {"folds": 5, "trials": 1, "seed": 1, "scale": "zscore,rms",
                                    "classifier": "1nn", "coarse": False})

    def test_as_evaluate(self):
        """The same folds, cells and choice as evaluate's oracle over folds."""
        for extra in (GRID, ("--scale", "minmax", "--grid", "k=2,5", "--grid", "classifier=1nn,centroid"),
                      ("--grid", "scale=none,minmax+unit,zscore", "--grid", "alpha=0.01,1,100")):
            for trials in ("1", "3"):
                with self.subTest(extra, trials=trials):
                    tuned = self.tune(*extra, "--trials", trials)
                    whole, result = self.evaluated("--tune", "oracle", *extra, trials=trials)
                    self.assertEqual(tuned["data"], whole["data"][0])
                    self.assertEqual(tuned["grid"], result["grid"])
                    self.assertEqual(tuned["accuracy"], result["accuracy"])
                    self.assertEqual(tuned["params"], result["params"])
                    self.assertEqual([tuned["best"]], result["selected"])

    def test_a_cell_is_what_evaluate_gives_for_it(self):
        cells = {(c["alpha"], c["beta"]): c["accuracy"] for c in self.tune(*GRID)["grid"]["cells"]}
        self.assertEqual(len(cells), 6)
        self.assertGreater(len(set(cells.values())), 2, "the data do not tell the cells apart")
        for alpha in ALPHAS:
            _, result = self.evaluated("-p", f"alpha={alpha}", "-p", "beta=1")
            self.assertAlmostEqual(cells[float(alpha), 1], result["accuracy"]["mean"], places=12)

    def test_best_is_the_best(self):
        whole = self.tune(*GRID)
        best = max(c["accuracy"] for c in whole["grid"]["cells"])
        self.assertAlmostEqual(whole["accuracy"]["mean"], best, places=12)
        self.assertIn({**whole["best"], "accuracy": best}, whole["grid"]["cells"])
        self.assertLessEqual(whole["best"].items(), whole["params"].items())
        self.assertEqual(whole["params"]["iters"], 5)

    def test_threads_change_nothing(self):
        self.assertEqual(*(without_seconds(self.tune(*GRID, "--threads", t)) for t in ("1", "2")))

    def test_seed_decides(self):
        self.assertNotEqual(self.tune(*GRID)["accuracy"], self.tune(*GRID, "--seed", "8")["accuracy"])

    def test_own_grid_of_a_method(self):
        whole = self.json_of("tune", "t.csv", "--method", "rr", "--folds", "3")
        self.assertEqual(whole["method"], "rr")
        self.assertGreater(len(whole["grid"]["cells"]), 2)


class Flatness(Tuned):
    def check(self, whole, folds):
        trials = np.array(whole["accuracy"]["trials"])
        error = trials.std(ddof=1) / np.sqrt(folds)
        self.assertAlmostEqual(whole["standard_error"], error, places=12)
        cells = whole["grid"]["cells"]
        least = max(c["accuracy"] for c in cells) - error
        near = [c for c in cells if c["accuracy"] >= least - 1e-12]
        self.assertEqual(whole["within_one_standard_error"], near)
        self.assertIn(whole["best"], [axes_of(c) for c in near])
        return near

    def test_numbers(self):
        sizes = set()
        for seed in range(6):
            whole = self.tune(*GRID, "--seed", str(seed))
            near = self.check(whole, 4)
            self.assertEqual(whole["simplest"], max((axes_of(c) for c in near),
                                                    key=lambda c: (c["alpha"], c["beta"])))
            sizes.add((len(near), whole["simplest"] == whole["best"]))
        self.assertGreater(len(sizes), 2, "six seeds that all look alike show little")

    def test_repeats_are_no_further_evidence(self):
        """Repeating the folds tests the same samples again: the error is that of one partition."""
        whole = self.tune(*GRID, "--trials", "5")
        self.assertEqual(len(whole["accuracy"]["trials"]), 20)
        self.check(whole, 4)

    def test_texts_by_their_order(self):
        whole = self.tune("--grid", "classifier=centroid,1nn", "--grid", "alpha=0.01,0.02,0.03")
        near = self.check(whole, 4)
        first = [axes_of(c) for c in near if c["classifier"] == "centroid"] or [axes_of(c) for c in near]
        self.assertEqual(whole["simplest"], max(first, key=lambda c: c["alpha"]))

    def test_text_tells_the_same(self):
        for seed in ("1", "2", "3"):
            whole, text = self.tune(*GRID, "--seed", seed), self.text(*GRID, "--seed", seed).text
            near = whole["within_one_standard_error"]
            best, simplest = whole["best"], whole["simplest"]
            self.assertRegex(text, rf"(?m)^best +alpha {best['alpha']}  beta {best['beta']}$")
            self.assertRegex(text, rf"(?m)^simplest +alpha {simplest['alpha']}  beta {simplest['beta']} ")
            self.assertIn(f"{100 * whole['accuracy']['mean']:.2f} \u00b1 {100 * whole['standard_error']:.2f} %", text)
            self.assertRegex(text, rf"(?m)^flat top +{len(near)} of 6 cells")
            for name in ("alpha", "beta"):
                values = sorted({c[name] for c in near})
                shown = f"{values[0]} to {values[-1]}" if len(values) > 1 else f"{values[0]}"
                self.assertRegex(text, rf"(?m)^ +{name} {shown}$")


class Printed(Tuned):
    def test_heat_map(self):
        whole, text = self.tune(*GRID), self.text(*GRID).text
        shown = heat_map(text)
        self.assertEqual(len(shown), 6)
        for cell in whole["grid"]["cells"]:
            mark = "*" if axes_of(cell) == whole["best"] else ""
            self.assertEqual(shown[f"{cell['alpha']:g}", f"{cell['beta']:g}"],
                             f"{mark}{100 * cell['accuracy']:.1f}")

    def test_cells_that_were_not_tried(self):
        grid = ("--grid", "alpha=0.001,0.01,0.1,1,10,100,1000", "--grid", "beta=0.01,0.1,1,10,100", "--coarse")
        whole, result = self.tune(*grid), self.text(*grid)
        shown = heat_map(result.text)
        tried = {(f"{c['alpha']:g}", f"{c['beta']:g}") for c in whole["grid"]["cells"]}
        self.assertEqual(len(shown), 35)
        self.assertEqual({cell for cell, word in shown.items() if word != "."}, tried)
        self.assertLess(len(tried), 35)
        self.assertTrue(whole["protocol"]["coarse"])
        self.assertEqual(whole["fits"], 4 * len(tried))
        self.assertIn(". not tried", result.text)

    def test_width(self):
        tens = ",".join(f"{10.0 ** -i:.5g}" for i in range(10))
        text = self.text("--grid", f"alpha={tens}", "--grid", f"beta={tens}", "-p", "iters=1", "--folds", "2").text
        self.assertLess(max(map(len, text.splitlines())), 100)
        self.assertEqual(len(heat_map(text)), 100)

    def test_many_columns_come_in_blocks(self):
        many = ",".join(str(i) for i in range(1, 41))
        text = self.text("--grid", "alpha=0.1,1", "--grid", f"k={many}", "--folds", "2").text
        self.assertLess(max(map(len, text.splitlines())), 100)
        self.assertEqual(len(heat_map(text)), 80)

    def test_one_axis(self):
        whole = self.tune("--grid", "alpha=0.001,0.1,10", "--grid", "k=3")
        text = self.text("--grid", "alpha=0.001,0.1,10", "--grid", "k=3").text
        for cell in whole["grid"]["cells"]:
            mark = r"\*" if axes_of(cell) == whole["best"] else ""
            self.assertRegex(text, rf"(?m)^ *{cell['alpha']} +{mark}{100 * cell['accuracy']:.1f}$")

    def test_three_axes(self):
        grid = (*GRID, "--grid", "k=2,3,5")
        whole, text = self.tune(*grid), self.text(*grid).text
        block = text[text.index("the best 10 of 18 cells"):].splitlines()
        self.assertEqual(block[1].split(), ["alpha", "beta", "k", "accuracy"])
        rows = [line.split() for line in block[2:12]]
        order = sorted(whole["grid"]["cells"], key=lambda c: (-round(c["accuracy"], 9), -c["alpha"], -c["beta"], -c["k"]))
        for number, (row, cell) in enumerate(zip(rows, order)):
            self.assertEqual([float(v) for v in row[:3]], [cell["alpha"], cell["beta"], cell["k"]])
            self.assertEqual(row[3], f"{'' if number else '*'}{100 * cell['accuracy']:.1f}")

    def test_failed_cells(self):
        """A cell that fails in some folds is no candidate, however good the others are."""
        x, y = hard_data()
        lines = table_text(x, y).splitlines()
        lines[0] = ",".join(["2e100"] * x.shape[1] + ["1"])  # beyond what can be fitted, not what can be predicted
        self.write("far.csv", "\n".join(lines) + "\n")
        grid = ("--grid", "scale=none,unit", "--grid", "alpha=0.1,1")
        result = self.ok("tune", "far.csv", *BASE, *grid)
        shown = heat_map(result.text)
        self.assertEqual([shown["none", alpha] for alpha in ("0.1", "1")], ["x", "x"])
        self.assertIn("x failed", result.text)
        self.assertIn("2 of 4 cells failed", result.err)
        whole = self.json_of("tune", "far.csv", *BASE, *grid)
        self.assertTrue(all(c["scale"] == "unit" for c in whole["within_one_standard_error"]))
        self.assertTrue(any(c["scale"] == "none" and c["accuracy"] is not None for c in whole["grid"]["cells"]),
                        "no cell failed in part")

    def test_nothing_to_tune(self):
        result = self.ok("tune", "t.csv", "--method", "lsr", "--folds", "3")
        self.assertRegex(result.err, r"lsr has no grid.*--grid")
        self.assertEqual(result.text.splitlines()[-1], "rlar fit t.csv --method lsr -o model.rlar")
        self.assertEqual(self.json_of("tune", "t.csv", "--method", "lsr", "--folds", "3")["best"], {})

    def test_into_a_file(self):
        expected = self.text(*GRID).out
        self.assertEqual(self.text(*GRID, "-o", "out.txt").out, b"")
        self.assertEqual(self.path("out.txt").read_bytes(), expected)

    def test_quiet(self):
        result = self.text(*GRID, "-q")
        self.assertEqual(result.err, "")
        self.assertEqual(result.out, self.text(*GRID).out)
        self.assertRegex(self.text(*GRID).err, r"(?m)^rlar: 24 fits in ")


class Edges(Tuned):
    def warned(self, *args):
        return re.findall(r"warning: the best (\w+), (\S+), is the (\w+) tried: extend the grid",
                          self.text(*args).err)

    def test_edges(self):
        for seed in ("1", "2", "3", "4"):
            args = (*GRID, "--seed", seed)
            best = self.tune(*args)["best"]
            expected = []
            for name, values in (("alpha", ALPHAS), ("beta", BETAS)):
                numbers = [float(v) for v in values]
                if best[name] in (min(numbers), max(numbers)):
                    expected.append((name, f"{best[name]:g}", "largest" if best[name] == max(numbers) else "smallest"))
            self.assertEqual(self.warned(*args), expected)

    def test_not_where_there_is_no_beyond(self):
        self.assertEqual(self.warned("--grid", "k=0"), [])
        self.assertEqual(self.warned("--grid", "classifier=1nn,centroid"), [])
        alpha = next(p for p in self.json_of("methods", "rlar")["params"] if p["name"] == "alpha")
        self.assertEqual(self.warned("--grid", f"alpha={alpha['min']},{alpha['max']}", "--scale", "none"), [])


class Command(Tuned):
    """The last line is a command of the shell that fits the best cell."""

    def fitted(self, *args):
        line = self.ok("tune", *args).text.splitlines()[-1]
        words = shlex.split(line)
        self.assertEqual(words[:2], ["rlar", "fit"])
        self.assertEqual(words[-2:], ["-o", "model.rlar"])
        self.ok(*words[1:])
        _, metadata = read_safetensors(self.path("model.rlar"))
        return line, metadata

    def test_example(self):
        line, _ = self.fitted("t.csv", "--grid", "alpha=0.1", "--grid", "beta=1", "--folds", "3")
        self.assertEqual(line, "rlar fit t.csv -p alpha=0.1 -p beta=1 -o model.rlar")

    def test_everything_that_matters_is_in_it(self):
        x, y = hard_data()
        self.write("odd it's.txt", table_text(x, y, separator=",", names=[f"f {i}" for i in range(4)] + ["kind"],
                                              label="other").replace(",1\n", ",one\n", 1))
        args = ("odd it's.txt", "--format", "csv", "--label", "other", "--header", "yes", "--method", "relsr",
                "--grid", "scale=minmax+unit", "--preset", "paper", "--folds", "2")
        line, _ = self.fitted(*args)
        self.assertIn(r"'odd it'\''s.txt'", line)
        for part in ("--format csv", "--label other", "--header yes", "--method relsr", "--scale minmax,unit"):
            self.assertIn(part, line)
        model = self.path("model.rlar").read_bytes()
        best = self.json_of("tune", *args)["params"]
        given = [word for name, value in best.items() if name != "scale" for word in ("-p", f"{name}={value}")]
        self.ok("fit", *args[:7], "--method", "relsr", "--scale", "minmax,unit", *given, "-o", "by_hand.rlar")
        self.assertEqual(model, self.path("by_hand.rlar").read_bytes())

    def test_name_like_an_option(self):
        self.write("-t.csv", table_text(*hard_data()))
        line = self.ok("tune", *BASE, "--grid", "alpha=0.1,1", "--", "-t.csv").text.splitlines()[-1]
        self.ok(*shlex.split(line)[1:])
        self.assertTrue(self.path("model.rlar").exists())

    def test_parameters_that_were_set(self):
        line, _ = self.fitted("t.csv", "--folds", "2", "--grid", "beta=0.5", "--iters", "7", "-p", "alpha=2")
        self.assertEqual(line, "rlar fit t.csv -p alpha=2 -p beta=0.5 -p iters=7 -o model.rlar")

    def test_classifier_is_for_predict(self):
        lines = self.text("--grid", "classifier=knn,argmax", "--neighbors", "3").text.splitlines()
        best = self.tune("--grid", "classifier=knn,argmax", "--neighbors", "3")["best"]["classifier"]
        self.assertIn(f"--classifier {best}" + (" --neighbors 3" if best == "knn" else ""), lines[-2])
        self.assertNotIn("classifier", self.text(*GRID).text)


class Resumed(Tuned):
    def test_journal(self):
        whole = without_seconds(self.tune(*GRID))
        self.assertEqual(without_seconds(self.tune(*GRID, "--resume", "j")), whole)
        size = self.path("j").stat().st_size
        self.assertEqual(without_seconds(self.tune(*GRID, "--resume", "j")), whole)
        self.assertEqual(self.path("j").stat().st_size, size, "something was fitted again")
        self.evaluated("--tune", "oracle", *GRID, "--resume", "j")
        self.assertEqual(self.path("j").stat().st_size, size, "evaluate knows the fits of tune")


class Refused(Tuned):
    def test_bad_inputs(self):
        self.write("bare.csv", "1,2\n3,4\n")
        for code, args, says in (
                (USAGE, ("t.csv", "uneven.csv"), "unexpected argument"),
                (USAGE, (), "DATA"),
                (USAGE, ("t.csv", "--folds", "61"), r"61.*60"),
                (USAGE, ("t.csv", "--tune", "cv"), "--tune.*evaluate"),
                (USAGE, ("t.csv", "--csv"), "--csv"),
                (USAGE, ("t.csv", "--grid", "gamma=1"), "gamma.*alpha"),
                (DATA, ("t.csv", "--label", "none"), "labels"),
                (DATA, ("t.csv", "--resume", "t.csv"), "not a journal")):
            with self.subTest(args):
                self.fails(code, "tune", *args, says=says)

    def test_many_values(self):
        """As many values as a command may hold are no reason to wait."""
        many = ",".join(str(i) for i in range(1, 20000))
        result = run("tune", "t.csv", "--grid", f"k={many}", "--grid", f"alpha={many}", cwd=self.folder, timeout=20)
        self.assertEqual(result.code, USAGE)
        self.assertIn("cells", result.err)


if __name__ == "__main__":
    unittest.main()
