"""rlar evaluate: splits, tuning, statistics, and three ways to print one result."""

import csv
import io
import re
import unittest

import numpy as np

from support import DATA, USAGE, Case, blobs, table_text, without_seconds

BASE = ("--methods", "rlar", "--trials", "4", "--seed", "7", "-p", "iters=5")


def hard_data(sizes=(20, 20, 20), d=5, seed=4):
    """Classes that overlap, so that accuracies differ from split to split."""
    x, y = blobs(max(sizes), d, len(sizes), seed=seed, spread=70)
    keep = np.concatenate([np.flatnonzero(y == c + 1)[:size] for c, size in enumerate(sizes)])
    return x[keep], y[keep]


class Evaluate(Case):
    def setUp(self):
        super().setUp()
        self.write("t.csv", table_text(*hard_data()))
        self.write("uneven.csv", table_text(*hard_data((9, 20, 14), seed=5)))

    def evaluate(self, *args, base=BASE, data=("t.csv",)):
        return self.json_of("evaluate", *data, *base, *args)

    def only(self, *args, **options):
        results = self.evaluate(*args, **options)["results"]
        self.assertEqual(len(results), 1)
        return results[0]

    def mean(self, *args, **options):
        return self.only(*args, **options)["accuracy"]["mean"]


class Missing(Evaluate):
    def test_means_are_those_of_the_training_part(self):
        """A column that one sample has: only training parts with that sample know a mean."""
        x, y = hard_data()
        x[1:, 2] = np.nan
        self.write("holed.csv", table_text(x, y).replace("nan", ""))
        for verb in (("evaluate", "--train-per-class", "5"), ("tune", "--grid", "alpha=0.1")):
            run = self.run_rlar(verb[0], "holed.csv", "--missing", "mean", "--trials", "4", *verb[1:])
            self.assertRegex(run.err, r"is missing in all \d+ training samples")


class Sizes(Evaluate):
    def test_more_than_any_class_has(self):
        """Also 2^63 - 1, which as a double is no int64 any more."""
        for size in ("21", str(2**63 - 1)):
            self.fails(DATA, "evaluate", "t.csv", *BASE, "--train-per-class", size, says=(r"20",))


class Keys(Evaluate):
    def test_contract(self):
        whole = self.evaluate("--train-per-class", "5")
        self.assertLessEqual({"rlar", "blas", "data", "protocol", "results"}, set(whole))
        blas = self.json_of("doctor")["blas"]
        self.assertEqual(whole["blas"]["kernel"], blas["kernel"])
        self.assertNotIn("/", whole["blas"]["library"])
        self.assertRegex(whole["rlar"], r"^\d+\.\d+\.\d+")
        self.assertLessEqual({"name", "file", "n", "d", "classes"}, set(whole["data"][0]))
        entry = whole["data"][0]
        self.assertEqual((entry["name"], entry["file"]), ("t", "t.csv"))
        self.assertEqual((entry["n"], entry["d"], entry["classes"]), (60, 5, 3))
        protocol = whole["protocol"]
        for key, value in {"trials": 4, "seed": 7, "scale": "zscore,rms", "classifier": "1nn",
                           "tune": "none"}.items():
            self.assertEqual(protocol[key], value)
        result = whole["results"][0]
        self.assertLessEqual({"data", "method", "train_per_class", "params", "accuracy", "fit_seconds",
                              "predict_seconds", "balanced_accuracy", "macro_f1", "confusion"}, set(result))
        self.assertEqual((result["data"], result["method"], result["train_per_class"]), ("t", "rlar", 5))
        self.assertLessEqual({"alpha", "beta", "k"}, set(result["params"]))
        for key in ("accuracy", "balanced_accuracy", "macro_f1"):
            self.assertEqual(set(result[key]), {"mean", "std", "trials"})

    def test_key_of_the_split(self):
        self.assertEqual(self.only("--train-fraction", "0.25")["train_fraction"], 0.25)
        self.assertEqual(self.only("--folds", "4")["folds"], 4)
        self.assertNotIn("train_per_class", self.only("--folds", "4"))


class Splits(Evaluate):
    def test_per_class_sizes(self):
        for name, n in (("t.csv", 60), ("uneven.csv", 43)):
            for u in (3, 8):
                result = self.only("--train-per-class", str(u), data=(name,))
                self.assertEqual(np.sum(result["confusion"]), 4 * (n - 3 * u))
                correct = np.array(result["accuracy"]["trials"]) * (n - 3 * u)
                np.testing.assert_allclose(correct, np.rint(correct), atol=1e-9)

    def test_fraction_is_a_share_of_each_class(self):
        result = self.only("--train-fraction", "0.25")
        np.testing.assert_array_equal(np.sum(result["confusion"], axis=1), [4 * 15] * 3)

    def test_folds_test_every_sample_once(self):
        for name, sizes in (("t.csv", [20, 20, 20]), ("uneven.csv", [9, 20, 14])):
            result = self.only("--folds", "4", data=(name,))
            np.testing.assert_array_equal(np.sum(result["confusion"], axis=1), 4 * np.array(sizes))

    def test_several_sizes(self):
        results = self.evaluate("--train-per-class", "3,5")["results"]
        self.assertEqual([r["train_per_class"] for r in results], [3, 5])
        self.assertEqual(without_seconds(results[1]), without_seconds(self.only("--train-per-class", "5")))

    def test_seed_decides(self):
        first = self.evaluate("--train-per-class", "5")
        again = self.evaluate("--train-per-class", "5")
        self.assertEqual(without_seconds(first), without_seconds(again))
        other = self.evaluate("--train-per-class", "5", "--seed", "8")
        self.assertNotEqual(first["results"][0]["accuracy"], other["results"][0]["accuracy"])

    def test_fewer_trials_are_the_first_trials(self):
        many = self.only("--train-per-class", "5", "--trials", "6")["accuracy"]["trials"]
        few = self.only("--train-per-class", "5", "--trials", "3")["accuracy"]["trials"]
        self.assertEqual(many[:3], few)

    def test_splits_do_not_depend_on_the_path(self):
        self.write("other/name.csv", table_text(*hard_data()))
        here = self.only("--train-per-class", "5")
        there = self.only("--train-per-class", "5", data=("other/name.csv",))
        self.assertEqual(here["accuracy"], there["accuracy"])

    def test_threads_change_nothing(self):
        for tuning in ([], ["--tune", "cv", "--grid", "alpha=0.01,1"]):
            texts = set()
            for threads in ("1", "2", "1"):
                text = self.ok("evaluate", "t.csv", "uneven.csv", *BASE, "--train-per-class", "5",
                               *tuning, "--threads", threads, "--json").text
                texts.add(re.sub(r'"(\w*seconds)":\s*[-+.\deE]+', r'"\1": 0', text))
            self.assertEqual(len(texts), 1, tuning)


class Statistics(Evaluate):
    def test_mean_and_sample_deviation(self):
        result = self.only("--train-per-class", "4", "--trials", "5")
        for key in ("accuracy", "balanced_accuracy", "macro_f1"):
            trials = np.array(result[key]["trials"])
            self.assertEqual(len(trials), 5)
            self.assertAlmostEqual(result[key]["mean"], trials.mean(), places=12)
            self.assertAlmostEqual(result[key]["std"], trials.std(ddof=1), places=12)
        self.assertGreater(result["accuracy"]["std"], 0)

    def test_confusion_gives_the_measures(self):
        result = self.only("--train-per-class", "5", "--trials", "1", data=("uneven.csv",))
        counts = np.array(result["confusion"], dtype=float)
        hits = np.diag(counts)
        recall, predicted = hits / counts.sum(axis=1), counts.sum(axis=0)
        f1 = 2 * hits / (counts.sum(axis=1) + predicted)
        self.assertAlmostEqual(result["accuracy"]["mean"], hits.sum() / counts.sum(), places=12)
        self.assertAlmostEqual(result["balanced_accuracy"]["mean"], recall.mean(), places=12)
        self.assertAlmostEqual(result["macro_f1"]["mean"], f1.mean(), places=12)

    def test_confusion_of_known_answers(self):
        """Samples of a class are all equal, so what is answered does not depend on the split: class c has
        the samples of class a, which comes first and wins the tie. All measures literally, sample by sample."""
        place, sizes = {"a": (1, 5), "b": (8, 2), "c": (1, 5), "d": (4, 9)}, {"a": 6, "b": 9, "c": 5, "d": 12}
        self.write("twins.csv", "".join(f"{place[c][0]},{place[c][1]},{c}\n" * n for c, n in sizes.items()))
        result = self.only("--train-per-class", "3", data=("twins.csv",))
        names = result["classes"]
        self.assertEqual(names, list("abcd"))
        truth = np.array([c for c, n in sizes.items() for _ in range(n - 3)])
        answer = np.array([{"c": "a"}.get(c, c) for c in truth])
        counts = [[np.sum((truth == a) & (answer == b)) for b in names] for a in names]
        np.testing.assert_array_equal(result["confusion"], 4 * np.array(counts))
        recall = [np.mean(answer[truth == a] == a) for a in names]
        precision = [np.mean(truth[answer == a] == a) if np.any(answer == a) else 0 for a in names]
        f1 = [2 * p * r / (p + r) if p + r > 0 else 0 for p, r in zip(precision, recall)]
        for key, value in (("accuracy", np.mean(answer == truth)), ("balanced_accuracy", np.mean(recall)),
                           ("macro_f1", np.mean(f1))):
            np.testing.assert_allclose(result[key]["trials"], [value] * 4, rtol=1e-14, err_msg=key)

    def test_confusion_over_trials_sums_to_the_accuracy(self):
        result = self.only("--train-per-class", "5")
        counts = np.array(result["confusion"])
        self.assertAlmostEqual(np.trace(counts) / counts.sum(), result["accuracy"]["mean"], places=12)

    def test_one_trial_has_no_deviation(self):
        self.assertIn(self.only("--train-per-class", "5", "--trials", "1")["accuracy"]["std"], (0, None))


class Tuning(Evaluate):
    CELLS = [(alpha, beta) for alpha in ("0.001", "0.1", "10") for beta in ("0.01", "1")]
    GRID = ("--grid", "alpha=0.001,0.1,10", "--grid", "beta=0.01,1")

    def test_oracle_is_the_best_cell(self):
        result = self.only("--train-per-class", "5", "--tune", "oracle", *self.GRID)
        means = {}
        for alpha, beta in self.CELLS:
            means[alpha, beta] = self.mean("--train-per-class", "5", "--alpha", alpha, "--beta", beta)
        self.assertAlmostEqual(result["accuracy"]["mean"], max(means.values()), places=12)
        self.assertEqual(len(result["selected"]), 1)
        chosen = result["selected"][0]
        best = next(v for (a, b), v in means.items()
                    if float(a) == float(chosen["alpha"]) and float(b) == float(chosen["beta"]))
        self.assertAlmostEqual(best, max(means.values()), places=12)

    def test_cv_selects_once_per_trial_within_the_grid(self):
        result = self.only("--train-per-class", "6", "--tune", "cv", *self.GRID)
        self.assertEqual(len(result["selected"]), 4)
        for chosen in result["selected"]:
            self.assertIn(float(chosen["alpha"]), (0.001, 0.1, 10))
            self.assertIn(float(chosen["beta"]), (0.01, 1))

    def test_cv_accuracy_is_that_of_the_selected_cells(self):
        result = self.only("--train-per-class", "6", "--tune", "cv", *self.GRID)
        for trial, chosen in enumerate(result["selected"]):
            fixed = self.only("--train-per-class", "6", "--alpha", str(chosen["alpha"]),
                              "--beta", str(chosen["beta"]))
            self.assertAlmostEqual(result["accuracy"]["trials"][trial],
                                   fixed["accuracy"]["trials"][trial], places=12)

    def test_cv_does_not_look_at_the_test_set(self):
        cv = self.mean("--train-per-class", "6", "--tune", "cv", *self.GRID)
        oracle_trials = [self.only("--train-per-class", "6", "--alpha", a, "--beta", b)["accuracy"]["trials"]
                         for a, b in self.CELLS]
        self.assertLessEqual(cv, np.max(oracle_trials, axis=0).mean() + 1e-12)

    def test_grid_over_scale_and_classifier(self):
        result = self.only("--train-per-class", "5", "--tune", "oracle", "--grid",
                           "scale=unit,zscore,minmax", "--grid", "classifier=1nn,centroid")
        means = [self.mean("--train-per-class", "5", "--scale", scale, "--classifier", classifier)
                 for scale in ("unit", "zscore", "minmax") for classifier in ("1nn", "centroid")]
        self.assertAlmostEqual(result["accuracy"]["mean"], max(means), places=12)
        self.assertEqual(set(result["selected"][0]), {"scale", "classifier"})

    def test_cv_over_scale_and_classifier(self):
        """A chain is one value; the chosen ones are used in the trial that chose them."""
        result = self.only("--train-per-class", "6", "--tune", "cv", "--grid", "scale=none,minmax+unit,zscore",
                           "--grid", "classifier=1nn,centroid", "--grid", "alpha=0.01,1")
        self.assertEqual(len(result["grid"]["cells"]), 12)
        self.assertEqual({cell["scale"] for cell in result["grid"]["cells"]}, {"none", "minmax,unit", "zscore"})
        for trial, chosen in enumerate(result["selected"]):
            fixed = self.only("--train-per-class", "6", "--alpha", str(chosen["alpha"]),
                              "--scale", chosen["scale"], "--classifier", chosen["classifier"])
            self.assertAlmostEqual(result["accuracy"]["trials"][trial],
                                   fixed["accuracy"]["trials"][trial], places=12)

    def test_coarse_tells_which_cells_it_gave_up(self):
        """"trials" where a cell was not tried to the end in all of them, and never at the chosen one."""
        args = ("--train-per-class", "5", "--tune", "oracle", "--preset", "paper", "--grid",
                "alpha=0.001,0.01,0.1,1,10,100", "--grid", "beta=0.01,0.1,1,10,100")
        whole, coarse = self.only(*args), self.only(*args, "--coarse")
        for cell in whole["grid"]["cells"]:
            self.assertNotIn("trials", cell)
        given_up = [cell for cell in coarse["grid"]["cells"] if "trials" in cell]
        self.assertGreater(len(given_up), 0)
        for cell in given_up:
            self.assertLess(cell["trials"], len(coarse["accuracy"]["trials"]))
            self.assertNotEqual({name: cell[name] for name in ("alpha", "beta")}, coarse["selected"][0])

    def test_cosine_classifiers(self):
        names = ("1nn", "1nn-cosine", "knn-cosine", "centroid-cosine")
        whole = self.evaluate("--train-per-class", "5", "--classifier", "1nn-cosine")
        self.assertEqual(whole["protocol"]["classifier"], "1nn-cosine")
        means = [self.mean("--train-per-class", "5", "--classifier", name) for name in names]
        self.assertGreater(len(set(means)), 1, "scaling never changed an answer")
        result = self.only("--train-per-class", "5", "--tune", "oracle", "--grid",
                           "classifier=" + ",".join(names))
        self.assertAlmostEqual(result["accuracy"]["mean"], max(means), places=12)
        self.assertIn(result["selected"][0]["classifier"], names)
        self.fails(USAGE, "evaluate", "t.csv", *BASE, "--train-per-class", "5", "--tune", "oracle", "--grid",
                   "classifier=1nn,cosine", says=("cosine", "1nn-cosine"))

    def test_grid_over_chains_of_scalings_of_one_method(self):
        result = self.only("--train-per-class", "5", "--tune", "oracle", "--grid", "rlar.alpha=0.1,1")
        self.assertIn(float(result["selected"][0]["alpha"]), (0.1, 1))

    def test_tuning_is_named_in_the_protocol(self):
        for tune in ("none", "cv", "oracle"):
            grid = [] if tune == "none" else ["--grid", "alpha=0.1,1"]
            whole = self.evaluate("--train-per-class", "5", "--tune", tune, *grid)
            self.assertEqual(whole["protocol"]["tune"], tune)

    def test_grid_without_tuning_is_a_usage_error(self):
        self.fails(USAGE, "evaluate", "t.csv", *BASE, "--train-per-class", "5", "--grid", "alpha=1,2",
                   says=r"--tune")


class SeveralAtOnce(Evaluate):
    def test_several_data(self):
        whole = self.evaluate("--train-per-class", "4", data=("t.csv", "uneven.csv"))
        self.assertEqual([d["name"] for d in whole["data"]], ["t", "uneven"])
        self.assertEqual([r["data"] for r in whole["results"]], ["t", "uneven"])
        alone = self.only("--train-per-class", "4", data=("uneven.csv",))
        self.assertEqual(without_seconds(whole["results"][1]), without_seconds(alone))

    def test_several_methods(self):
        names = [m["name"] for m in self.json_of("methods")["methods"]]
        if len(names) < 2:
            self.skipTest("this version has one method")
        two = names[:2]
        whole = self.json_of("evaluate", "t.csv", "--methods", ",".join(two), "--train-per-class", "5",
                             "--trials", "3")
        self.assertEqual([r["method"] for r in whole["results"]], two)
        alone = self.json_of("evaluate", "t.csv", "--methods", two[1], "--train-per-class", "5",
                             "--trials", "3")
        self.assertEqual(without_seconds(whole["results"][1]), without_seconds(alone["results"][0]))

    def test_data_of_one_name(self):
        """Each gets as much of its path as tells it from the others; who has a name of its own keeps it."""
        for files, names in ((("a/x.csv", "b/x.csv", "t.csv"), ["a/x.csv", "b/x.csv", "t"]),
                             (("a/x.csv", "a/x.tsv"), ["x.csv", "x.tsv"]),
                             (("x.csv", "a/x.csv", "b/x.csv.csv"), ["x.csv", "a/x.csv", "b/x.csv.csv"]),
                             (("x", "a/x", "b/c/x", "b/x"), ["x", "a/x", "c/x", "b/x"]),
                             (("a/c/x", "b/c/x"), ["a/c/x", "b/c/x"])):
            for i, file in enumerate(files):
                self.write(file, table_text(*hard_data(seed=i), separator="\t" if file.endswith("tsv") else ","))
            whole = self.evaluate("--train-per-class", "4,6", *(("--format", "csv") if files[0][-1] == "x" else ()),
                                  data=files)
            self.assertEqual([d["name"] for d in whole["data"]], names)
            self.assertEqual([r["data"] for r in whole["results"]], [n for n in names for _ in range(2)])
            for file in files:
                self.path(file).unlink()

    def test_nothing_counts_twice(self):
        """Data, sizes or methods given again would be taken for further evidence."""
        self.write("d/u.csv", table_text(*hard_data(seed=1)))
        self.path("link.csv").symlink_to("t.csv")
        for data, args, says in (
                (["t.csv", "uneven.csv", "t.csv"], ["--folds", "2"], r"t\.csv is given twice"),
                (["t.csv", "./t.csv"], ["--folds", "2"], r"t\.csv and \./t\.csv are the same file"),
                (["t.csv", "link.csv"], ["--folds", "2"], r"t\.csv and link\.csv are the same file"),
                (["u", "d/u.csv"], ["--folds", "2", "--data-dir", "d"], r"u and d/u\.csv are the same file"),
                (["-", "-"], ["--folds", "2"], r"- is given twice"),
                (["t.csv"], ["--train-per-class", "5,4,5"], r"--train-per-class '5,4,5': 5 is given twice"),
                (["t.csv"], ["--train-per-class", "05,5"], r"--train-per-class '05,5': .*the same number"),
                (["t.csv"], ["--folds", "2", "--methods", "lda,rr,lda"], r"--methods 'lda,rr,lda': lda is given twice"),
                (["t.csv"], ["--folds", "2", "--tune", "cv", "--grid", "alpha=0.1,1e-1"], r"the same number")):
            with self.subTest(data=data, args=args):
                self.fails(USAGE, "evaluate", *data, *args, says=says)

    def test_parameter_of_one_method(self):
        plain = self.only("--train-per-class", "5", "-p", "alpha=3")
        named = self.only("--train-per-class", "5", "-p", "rlar.alpha=3")
        self.assertEqual(without_seconds(plain), without_seconds(named))
        self.assertEqual(float(plain["params"]["alpha"]), 3)

    def test_unknown_method_in_a_list(self):
        self.fails(USAGE, "evaluate", "t.csv", "--methods", "rlar,ldaa", "--train-per-class", "5",
                   says=(r"ldaa", r"\brlar\b"))


class Printed(Evaluate):
    """The table, CSV, LaTeX and JSON tell the same numbers."""

    ARGS = ("--train-per-class", "4,6")

    def test_csv(self):
        results = self.evaluate(*self.ARGS)["results"]
        text = self.ok("evaluate", "t.csv", *BASE, *self.ARGS, "--csv").text
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(len(rows), 2)
        for row, result in zip(rows, results):
            self.assertEqual(row["data"], "t")
            self.assertEqual(row["method"], "rlar")
            self.assertEqual(int(row["train_per_class"]), result["train_per_class"])
            self.assertAlmostEqual(float(row["accuracy_mean"]), result["accuracy"]["mean"], places=12)
            self.assertAlmostEqual(float(row["accuracy_std"]), result["accuracy"]["std"], places=12)

    def test_latex_and_table_show_percent(self):
        results = self.evaluate(*self.ARGS)["results"]
        latex = self.ok("evaluate", "t.csv", *BASE, *self.ARGS, "--latex").text
        table = self.ok("evaluate", "t.csv", *BASE, *self.ARGS).text
        self.assertIn(r"\begin{tabular}", latex)
        self.assertIn(r"\end{tabular}", latex)
        for result in results:
            shown = f"{100 * result['accuracy']['mean']:.2f}"
            self.assertIn(shown, latex)
            self.assertIn(shown, table)
            self.assertIn(f"{100 * result['accuracy']['std']:.2f}", table)

    def test_one_form_at_a_time(self):
        self.fails(USAGE, "evaluate", "t.csv", *BASE, *self.ARGS, "--csv", "--latex",
                   says=(r"--csv", r"--latex"))


if __name__ == "__main__":
    unittest.main()
