"""rlar.evaluate gives the numbers of the command, rlar.datasets the data of the files."""
import csv
import io
import json
import re
import sys
import unittest
from unittest import mock

import numpy as np
import pandas as pd

import rlar
from support import DATA, WINE, TestCase, program

TIMES = ["fit_seconds", "predict_seconds"]


def exact(row):
    """The numbers of a line to the last digit."""
    return {name: text if name in ("data", "method") else json.loads(text) for name, text in row.items()}


class Evaluate(TestCase):
    def compare(self, options, **arguments):
        text = program("evaluate", DATA / "wine.csv", "--csv", "-q", *options)
        want = pd.DataFrame(map(exact, csv.DictReader(io.StringIO(text)))).drop(columns=["data", *TIMES])
        have = rlar.evaluate(*WINE, **arguments).drop(columns=TIMES)
        pd.testing.assert_frame_equal(have, want, check_exact=True)

    def test_sizes(self):
        self.compare(["--methods", "rlar,lda", "--train-per-class", "5,11", "--scale", "minmax", "--trials", "3"],
                     methods=["rlar", "lda"], train_per_class=[5, 11], scale="minmax", trials=3)

    def test_fraction_and_parameters(self):
        self.compare(["--methods", "rr", "--train-fraction", "0.3", "-p", "lambda=2", "--classifier", "knn", "--neighbors",
                      "3", "--seed", "7"],
                     methods={"rr": {"lam": 2}}, train_fraction=0.3, classifier="knn", n_neighbors=3, seed=7)

    def test_tuned(self):
        arguments = dict(methods=["rlar", "rfs"], folds=3, trials=1, tune="cv", tune_folds=3, n_jobs=2,
                         grid={"alpha": [0.1, 1], "rfs.gamma": [1, 10], "scale": ["unit", "minmax"]})
        options = ["--methods", "rlar,rfs", "--folds", "3", "--trials", "1", "--tune", "cv", "--tune-folds", "3", "--grid",
                   "alpha=0.1,1", "--grid", "rfs.gamma=1,10", "--grid", "scale=unit,minmax"]
        self.compare(options, **arguments)
        rows = rlar.evaluate(*WINE, per_trial=True, **arguments)
        want = json.loads(program("evaluate", DATA / "wine.csv", "--json", "-q", *options))["results"]
        self.assertEqual(list(rows.accuracy), want[0]["accuracy"]["trials"] + want[1]["accuracy"]["trials"])
        self.assertEqual([c["scale"] for c in rows.chosen], [c["scale"] for r in want for c in r["selected"]])

    def test_cells_of_the_grid(self):
        options = ["--methods", "rlar,rr", "--train-per-class", "5,11", "--trials", "2", "--tune", "cv", "--tune-folds", "3",
                   "--grid", "rlar.alpha=0.1,1", "--grid", "rlar.solver=paper,minimise", "--grid", "rr.lambda=0.5,2"]
        results = rlar.evaluate(*WINE, ["rlar", "rr"], train_per_class=[5, 11], trials=2, tune="cv", tune_folds=3, grid={
            "rlar.alpha": [0.1, 1], "rlar.solver": ["paper", "minimise"], "rr.lam": [0.5, 2]})
        want = json.loads(program("evaluate", DATA / "wine.csv", "--json", "-q", *options))["results"]
        have = results.attrs["grids"]
        self.assertEqual([(g["method"], g["train_per_class"]) for g in have],
                         [(r["method"], r["train_per_class"]) for r in want])
        self.assertEqual([g["tune"] for g in have], ["cv"] * 4)
        self.assertEqual([g["axes"] for g in have], [["alpha", "solver"], ["lam"]] * 2)
        for grid, result in zip(have, want):
            cells = [{**{{"lambda": "lam"}.get(k, k): v for k, v in c.items()}, "trials": 2}
                     for c in result["grid"]["cells"]]
            self.assertEqual(grid["cells"], cells)
        json.dumps(results.attrs)
        self.assertEqual(rlar.evaluate(*WINE, "rr", folds=3, trials=1).attrs, {})

    def test_cells_that_were_not_tried(self):
        grid = {"alpha": [0.01, 0.1, 1, 10, 100], "beta": [0.01, 0.1, 1, 10, 100]}
        results = rlar.evaluate(*WINE, train_per_class=5, trials=1, tune="oracle", grid=grid, coarse=True)
        cells = results.attrs["grids"][0]["cells"]
        self.assertLess(len(cells), 25)
        self.assertTrue(all(0 <= cell["accuracy"] <= 1 for cell in cells))

    def test_cells_that_were_given_up(self):
        """Their accuracies are those of fewer trials, and never above that of the cell that was chosen."""
        grid = {"alpha": [0.001, 0.01, 0.1, 1, 10, 100], "beta": [0.001, 0.01, 0.1, 1, 10, 100]}
        rows = rlar.evaluate(*WINE, {"rlar": {"solver": "paper", "iters": 5}}, train_per_class=3, trials=6, seed=3,
                             tune="oracle", grid=grid, coarse=True, per_trial=True)
        cells = rows.attrs["grids"][0]["cells"]
        self.assertEqual({cell["trials"] == 6 for cell in cells}, {True, False})
        best = max(cells, key=lambda cell: cell["accuracy"])
        self.assertEqual(best["trials"], 6)
        self.assertAlmostEqual(best["accuracy"], rows.accuracy.mean(), 12)
        self.assertEqual({name: best[name] for name in grid}, rows.chosen[0])

    def test_chosen_has_the_names_of_parameters(self):
        rows = rlar.evaluate(*WINE, "rr", folds=3, trials=1, tune="cv", grid={"lam": [0.5, 2]}, per_trial=True)
        self.assertEqual({tuple(c) for c in rows.chosen}, {("lam",)})
        rlar.RR(**rows.chosen[0])

    def test_journal(self):
        journal = self.folder / "fits.journal"
        first = rlar.evaluate(*WINE, train_per_class=5, trials=2, journal=journal)
        self.assertGreater(journal.stat().st_size, 0)
        again = rlar.evaluate(*WINE, train_per_class=5, trials=2, journal=journal)
        pd.testing.assert_frame_equal(first.drop(columns=TIMES), again.drop(columns=TIMES))

    def test_refused(self):
        for arguments in ({}, {"train_per_class": 5, "folds": 3}, {"folds": 3, "tune": "best"},
                          {"folds": 3, "grid": {"alpha": [1]}}, {"folds": 3, "methods": ["svm"]},
                          {"folds": 3, "tune": "cv", "grid": {"nothing": [1]}},
                          {"folds": 3, "tune": "cv", "grid": {"alpha": [1, 1]}}, {"train_per_class": 1000},
                          {"folds": 3, "coarse": True}):
            with self.subTest(arguments=arguments):
                self.assertRaises(ValueError, rlar.evaluate, *WINE, **arguments)

    def test_wrong_values_are_named(self):
        for arguments in ({"train_per_class": 5.7}, {"train_per_class": "5"}, {"folds": 2.5}, {"train_fraction": 2},
                          {"folds": 3, "seed": -1}, {"folds": 3, "seed": 2**64}, {"folds": 3, "seed": 1.5},
                          {"folds": 3, "trials": 0}, {"folds": 3, "tune_folds": 1}, {"folds": 3, "n_neighbors": 0},
                          {"folds": 3, "scale": ["unit"]}, {"folds": 3, "classifier": 5},
                          {"folds": 3, "trials": 10**30}, {"folds": 3, "tune_folds": 2**70}, {"folds": 3, "n_neighbors": 10**20},
                          {"train_per_class": 2**70}, {"train_per_class": 2**53 + 1}, {"folds": 2**70}, {"folds": []},
                          {"folds": 3, "tune": ["cv"]}, {"folds": 3, "grid": {5: [1]}}, {"folds": 3, "grid": 1},
                          {"folds": 3, "grid": [("alpha", [1])]}, {"folds": 3, "grid": np.eye(2)}):
            name, value = list(arguments.items())[-1]
            with self.subTest(arguments=arguments):
                self.assertRaisesRegex(ValueError, re.escape(f"{name}={value!r}: "), rlar.evaluate, *WINE, **arguments)
        for arguments in ({"train_per_class": [5, 7, 5]}, {"train_fraction": [0.5, 0.5]}, {"folds": [3, 3]}):
            with self.subTest(arguments=arguments):
                self.assertRaisesRegex(ValueError, "is given twice", rlar.evaluate, *WINE, **arguments)
        for methods in (rlar.RR, rlar.RR(lam=2), [rlar.RR], np.array("rr")):
            self.assertRaisesRegex(ValueError, "methods: names such as 'rlar'", rlar.evaluate, *WINE, methods, folds=3)
        for values in (None, 1, [("lam", 2)], {5: 1}):
            self.assertRaisesRegex(ValueError, re.escape(f"methods: rr={values!r}: {{parameter: value}}"), rlar.evaluate,
                                   *WINE, {"rr": values}, folds=3)
        for values in (1, "unit", np.array(1)):
            self.assertRaisesRegex(ValueError, "a list of values", rlar.evaluate, *WINE, folds=3, tune="cv",
                                   grid={"alpha": values})

    def test_nothing_is_dropped(self):
        """What stands twice, and what can be read once only."""
        for arguments, text in (({"methods": ["lda", "rr", "lda"]}, "methods: 'lda'"),
                                ({"methods": {"rr": {"lam": 1, "lambda": 2}}}, "methods: rr: 'lambda'"),
                                ({"tune": "cv", "grid": {"lam": ["0.1", "0.10"]}}, "grid: lam: 0.1"),
                                ({"tune": "cv", "grid": {"lam": [1], "rr.lambda": [2]}}, "grid axis \"lambda\"")):
            with self.subTest(arguments=arguments):
                self.assertRaisesRegex(ValueError, text + " is given twice", rlar.evaluate, *WINE,
                                       **{"methods": "rr", "folds": 3, **arguments})
        results = rlar.evaluate(*WINE, (name for name in ["rr", "lda"]), folds=3, trials=1)
        self.assertEqual(list(results.method), ["rr", "lda"])

    def test_classes(self):
        """As in fit: two or more, and no two that are one number to the library."""
        X, y = WINE
        self.assertRaisesRegex(ValueError, "one class only", rlar.evaluate, X, y * 0, folds=3)
        for same in (["1", "01", "2"], ["1", " 1", "2"]):
            self.assertRaisesRegex(ValueError, "same number", rlar.evaluate, X, np.array(same)[y - 1], folds=3)
        self.assertEqual(len(rlar.evaluate(X, np.array(["1", "01", "1e400"])[y - 1], "rr", folds=3, trials=1)), 1)

    def test_pandas_is_missed_before_the_work(self):
        with mock.patch.dict(sys.modules, {"pandas": None}), mock.patch("rlar._core.evaluate") as work:
            self.assertRaises(ImportError, rlar.evaluate, *WINE, folds=3)
        work.assert_not_called()


class Datasets(TestCase):
    def test_shipped(self):
        for load, shape, classes in ((rlar.datasets.load_iris, (150, 4), 3), (rlar.datasets.load_wine, (178, 13), 3),
                                     (rlar.datasets.load_ionosphere, (351, 34), 2),
                                     (rlar.datasets.load_diabetes, (768, 8), 2)):
            data = load()
            self.assertEqual(data.data.shape, shape)
            self.assertEqual(len(set(data.target)), classes)
            self.assertEqual(len(data.feature_names), shape[1])
            self.assertTrue(data.data.flags.writeable)

    def test_read(self):
        path = self.folder / "table.csv"
        path.write_text("a,b,kind\n1,2,x\n3,,y\n5,6,x\n")
        data = rlar.datasets.read(path, label="kind", missing="mean")
        np.testing.assert_array_equal(data.data, [[1, 2], [3, 4], [5, 6]])
        self.assertEqual((list(data.target), data.feature_names), (["x", "y", "x"], ["a", "b"]))
        frame, target = rlar.datasets.read(path, label=-1, missing="drop", return_X_y=True, as_frame=True)
        self.assertEqual((frame.shape, list(frame.columns), list(target)), ((2, 2), ["a", "b"], ["x", "x"]))
        self.assertTrue(np.isnan(rlar.datasets.read(path, missing="keep").data[1, 1]))
        self.assertRaisesRegex(ValueError, "missing", rlar.datasets.read, path)
        self.assertRaises(ValueError, rlar.datasets.read, path, missing="guess")
        self.assertRaisesRegex(ValueError, "header=", rlar.datasets.read, path, header="yes")
        self.assertRaisesRegex(ValueError, "missing=\\['mean'\\]: one of", rlar.datasets.read, path, missing=["mean"])
        self.assertRaisesRegex(ValueError, "header=\\[True\\]: True", rlar.datasets.read, path, header=[True])
        self.assertRaises(FileNotFoundError, rlar.datasets.read, self.folder / "none.csv")

    def test_labels_in_a_file(self):
        np.save(self.folder / "x.npy", np.eye(3))
        (self.folder / "y.txt").write_text("2\n1\n2\n")
        X, y = rlar.datasets.read(self.folder / "x.npy", labels_file=self.folder / "y.txt", return_X_y=True)
        np.testing.assert_array_equal(X, np.eye(3))
        self.assertEqual(list(y), [2, 1, 2])


if __name__ == "__main__":
    unittest.main()
