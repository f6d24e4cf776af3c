"""What the estimators do with data, labels and parameters, and their place in scikit-learn."""
import contextlib
import copy
import io
import pickle
import re
import unittest
import warnings

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rlar
from support import ESTIMATORS, IRIS, WINE, TestCase, model_bytes

try:
    import polars
except ImportError:  # not in Debian 12
    polars = None


class Attributes(TestCase):
    def test_shapes(self):
        X, y = WINE
        for estimator in ESTIMATORS:
            with self.subTest(estimator.__name__):
                fitted = estimator(scale="minmax").fit(X, y)
                p = fitted.transform(X).shape[1]
                self.assertEqual(fitted.components_.shape, (p, 13))
                self.assertEqual(fitted.intercept_.shape, (p,))
                self.assertEqual(fitted.feature_scores_.shape, (13,))
                self.assertEqual(fitted.decision_function(X).shape, (178, 3))
                self.assertEqual(list(fitted.classes_), [1, 2, 3])
                self.assertEqual(fitted.n_features_in_, 13)
                self.assertEqual(len(fitted.get_feature_names_out()), p)
                self.assertEqual(len(fitted.trace_), fitted.n_iter_)
                self.assertIsInstance(fitted.objective_, float)
                self.assertGreater(fitted.score(X, y), 0.9)

    def test_the_map_is_what_transform_uses(self):
        X, y = WINE
        fitted = rlar.RLAR(scale="none").fit(X, y)
        Z = X @ fitted.components_.T + fitted.intercept_
        np.testing.assert_allclose(fitted.transform(X), Z, rtol=1e-9, atol=1e-9)
        lengths = np.linalg.norm(fitted.components_, axis=0)
        np.testing.assert_allclose(fitted.feature_scores_, lengths, rtol=1e-12)

    def test_trace_ends_at_the_objective(self):
        fitted = rlar.RLAR(solver="anneal").fit(*WINE)
        self.assertEqual(fitted.trace_["objective"][-1], fitted.objective_)
        self.assertEqual(len(fitted.trace_), 30)
        terms = sum(fitted.trace_[name] for name in ("regression", "sparsity", "locality"))
        np.testing.assert_allclose(terms, fitted.trace_["objective"], rtol=1e-12)

    def test_not_fitted(self):
        for use in (lambda e: e.components_, lambda e: e.feature_scores_, lambda e: e.get_support(),
                    lambda e: e.predict(IRIS[0]), lambda e: e.save("model"), lambda e: e.transform(IRIS[0])):
            self.assertRaises(NotFittedError, use, rlar.RLAR())
        self.assertFalse(hasattr(rlar.RLAR(), "components_"))

    def test_verbose_prints_each_iteration(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            rlar.RFS(iters=3, verbose=1).fit(*IRIS)
        self.assertEqual(len(text.getvalue().splitlines()), 3)
        self.assertIn("[RFS] iteration 3 of 3", text.getvalue())

    def test_decision_agrees_with_predict(self):
        X, y = WINE
        for classifier in ("1nn", "knn", "centroid", "argmax", "1nn-cosine", "knn-cosine", "centroid-cosine"):
            fitted = rlar.RR(classifier=classifier, n_neighbors=7).fit(X[::2], y[::2])
            best = fitted.classes_[np.argmax(fitted.decision_function(X), axis=1)]
            np.testing.assert_array_equal(best, fitted.predict(X), classifier)

    def test_neighbours_matter(self):
        X, y = WINE
        one = rlar.LDA(classifier="knn", n_neighbors=1).fit(X[::2], y[::2])
        many = rlar.LDA(classifier="knn", n_neighbors=25).fit(X[::2], y[::2])
        self.assertTrue((one.predict(X) != many.predict(X)).any())


class Labels(TestCase):
    def test_strings_in_numeric_order_for_the_library(self):
        """The library has 2 before 10, scikit-learn wants "10" before "2"."""
        X, y = IRIS
        names = np.array(["2", "10", "9"])[np.unique(y, return_inverse=True)[1]]
        fitted = rlar.LDA().fit(X, names)
        self.assertEqual(list(fitted.classes_), ["10", "2", "9"])
        self.assertEqual(fitted._model.classes, ["2", "9", "10"])
        self.assertGreater(fitted.score(X, names), 0.9)
        best = fitted.classes_[np.argmax(fitted.decision_function(X), axis=1)]
        np.testing.assert_array_equal(best, fitted.predict(X))

    def test_kinds(self):
        X, _ = IRIS
        index = np.repeat([0, 1], 75)
        for names in (["no", "yes"], [False, True], [-1, 1], [2.0, 3.0],
                      np.array(["a", "b"], dtype=object), ["ä", "ö"], ["1.0", "2.0"]):
            y = np.array(names)[index]
            fitted = rlar.RR().fit(X, y)
            self.assertEqual(fitted.classes_.dtype, y.dtype)
            self.assertEqual(fitted.predict(X).dtype, y.dtype)
            self.assertEqual(fitted.decision_function(X).shape, (150,))
            positive = fitted.decision_function(X) > 0
            np.testing.assert_array_equal(fitted.classes_[positive.astype(int)], fitted.predict(X))
            self.assertGreater(fitted.score(X, y), 0.6)

    def test_refused(self):
        X, y = IRIS
        for labels in (["1", "01"] * 75, ["a", ""] * 75, ["a", "nan"] * 75, [1] * 150, np.linspace(0, 1, 150),
                       ["a", "b\0c"] * 75):
            with self.subTest(labels=labels[:2]):
                self.assertRaises(ValueError, rlar.LDA().fit, X, labels)
        self.assertRaisesRegex(ValueError, "same number", rlar.LDA().fit, X, ["1", "01", "2"] * 50)


class Samples(TestCase):
    def test_float32_stays(self):
        X, y = WINE
        X32 = X.astype(np.float32)
        fitted = rlar.RLAR(scale="minmax").fit(X32, y)
        self.assertEqual(fitted.transform(X32).dtype, np.float32)
        self.assertEqual(fitted.transform(X).dtype, np.float64)
        same = rlar.RLAR(scale="minmax").fit(X32.astype(np.float64), y)
        self.assertEqual(model_bytes(fitted), model_bytes(same))

    def test_layouts_give_the_same_bits(self):
        X, y = WINE
        want = model_bytes(rlar.RLAR(scale="minmax").fit(X, y))
        wide = np.empty((356, 20))
        wide[::2, 3:16] = X
        one = wide[::2, 3:16]
        odd = np.frombuffer(b"x" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape)
        readonly = X.copy()
        readonly.flags.writeable = False
        for other in (one, np.asfortranarray(X), X[::-1][::-1], odd, readonly, X.tolist(), X.astype(">f8"),
                      X[:, ::-1].copy()[:, ::-1]):
            self.assertEqual(model_bytes(rlar.RLAR(scale="minmax").fit(other, y)), want)

    def test_one_sample(self):
        X, y = WINE
        fitted = rlar.LFDA(scale="minmax").fit(X, y)
        all_of_them = fitted.transform(X)
        for i in (0, 77, 177):
            np.testing.assert_array_equal(fitted.transform(X[i:i + 1])[0], all_of_them[i])
            np.testing.assert_array_equal(fitted.transform(X.T[:, i:i + 1].T)[0], all_of_them[i])

    def test_sparse(self):
        X, y = WINE
        X = np.where(X > X.mean(axis=0), X, 0)
        want = rlar.RFS().fit(X, y)
        for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            given = kind(X)
            fitted = rlar.RFS().fit(given, y)
            self.assertEqual(model_bytes(fitted), model_bytes(want))
            np.testing.assert_array_equal(fitted.transform(given), want.transform(X))
            np.testing.assert_array_equal(fitted.predict(given), want.predict(X))
        twice = sparse.csr_matrix((np.ones(6), [2, 0, 0, 1, 1, 2], [0, 3, 4, 6]), shape=(3, 3))
        self.assertFalse(twice.has_canonical_format)
        dense = twice.toarray()
        fitted = rlar.RR(scale="none").fit(twice, [0, 1, 0])
        self.assertEqual(model_bytes(fitted), model_bytes(rlar.RR(scale="none").fit(dense, [0, 1, 0])))
        self.assertFalse(twice.has_canonical_format, "the caller's matrix was changed")

    def test_sparse_too_large_is_refused_with_the_number(self):
        n, d = 2000, 1 << 30  # 16 TiB if it were dense
        X = sparse.csr_matrix((np.ones(n), np.arange(n), np.arange(n + 1)), shape=(n, d))
        self.assertRaisesRegex(MemoryError, r"needs [0-9.]+ MiB", rlar.RR().fit, X, [0, 1] * (n // 2))
        small = sparse.random(50, 1000, 0.1, format="csr", random_state=0)
        self.assertRaisesRegex(MemoryError, "limit", rlar.RR(max_memory=10000).fit, small, [0, 1] * 25)

    def test_frames(self):
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        fitted = rlar.RLAR().fit(X, y)
        self.assertEqual(list(fitted.feature_names_in_), list(X.columns))
        self.assertEqual(fitted._model.features, list(X.columns))
        with self.assertRaisesRegex(ValueError, "[Ff]eature names"):
            fitted.predict(X.rename(columns={"ash": "cinders"}))
        out = fitted.set_output(transform="pandas").transform(X)
        self.assertEqual(list(out.columns), ["rlar0", "rlar1", "rlar2"])
        self.assertTrue((out.index == X.index).all())

    @unittest.skipIf(polars is None, "polars is not installed")
    def test_polars(self):
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        frame = polars.DataFrame({name: X[name].to_numpy() for name in X.columns})
        fitted = rlar.RLAR().fit(frame, polars.Series(y.to_numpy()))
        self.assertEqual(list(fitted.feature_names_in_), list(X.columns))
        self.assertEqual(model_bytes(fitted), model_bytes(rlar.RLAR().fit(X, y)))
        out = fitted.set_output(transform="polars").transform(frame)
        self.assertEqual(out.columns, ["rlar0", "rlar1", "rlar2"])
        narrow = fitted.transform(frame.cast(polars.Float32))
        self.assertEqual(set(narrow.dtypes), {polars.Float32})
        mixed = frame.cast({"ash": polars.Float32})
        self.assertEqual(set(fitted.transform(mixed).dtypes), {polars.Float64})

    def test_bad_values(self):
        X, y = WINE
        fitted = rlar.RLAR().fit(X, y)
        for bad, word in ((np.nan, "NaN"), (np.inf, "inf")):
            broken = X.copy()
            broken[3, 5] = bad
            for use in (lambda: rlar.RLAR().fit(broken, y), lambda: fitted.predict(broken),
                        lambda: fitted.transform(sparse.csr_matrix(broken)),
                        lambda: fitted.decision_function(broken.astype(np.float32))):
                self.assertRaisesRegex(ValueError, "^X.*" + word, use)
        self.assertRaisesRegex(ValueError, "X has 5 features", fitted.predict, X[:, :5])


class Errors(TestCase):
    def test_parameters(self):
        for params, text in (({"alpha": -1}, "alpha=-1: out of range"), ({"alpha": "x"}, "not a number"),
                             ({"alpha": None}, "not a number"), ({"k": 2.5}, "not a whole number"),
                             ({"solver": "best"}, "paper|anneal|minimise"), ({"scale": "log"}, "scaling"),
                             ({"scale": None}, "scaling"), ({"classifier": "svm"}, "centroid")):
            with self.subTest(params=params):
                self.assertRaisesRegex(ValueError, text, rlar.RLAR(**params).fit, *IRIS)
        self.assertRaisesRegex(ValueError, "argmax", rlar.LDA(classifier="argmax").fit, *IRIS)
        self.assertRaises(TypeError, rlar.RLAR, nonsense=1)

    def test_parameters_of_all(self):
        """Those that Python itself looks at: the text names the parameter, the value and what is needed."""
        for name, values, text in (("n_neighbors", (0, -1, 2.5, "a", None, True), "whole number of 1 or more"),
                                   ("n_jobs", (0, 1.5, "a"), "number of threads"),
                                   ("max_memory", (0, -1, 0.5, "1G"), "whole number of 1 or more"),
                                   ("scale", (None, ["minmax", "unit"], 1), "a scaling such as"),
                                   ("classifier", (None, ["1nn"], 1), "a name such as '1nn'")):
            for value in values:
                with self.subTest(name=name, value=value):
                    wanted = re.escape(f"{name}={value!r}: ") + ".*" + text
                    self.assertRaisesRegex(ValueError, wanted, rlar.RLAR(**{name: value}).fit, *IRIS)
        for value in (10**20, 10**400, 2.0**63, np.float64(2**63)):
            self.assertRaisesRegex(ValueError, re.escape(f"n_neighbors={value!r}: ") + f".* at most {2**63 - 1} ",
                                   rlar.RLAR(n_neighbors=value).fit, *IRIS)
        for value in (np.inf, np.nan, np.timedelta64(3, "D")):
            self.assertRaisesRegex(ValueError, "n_neighbors=.*of 1 or more", rlar.RLAR(n_neighbors=value).fit, *IRIS)
        for n_neighbors in (3.0, np.int64(3)):
            rlar.RLAR(n_neighbors=n_neighbors, classifier="knn", max_memory=1e30).fit(*IRIS).predict(IRIS[0])
        fitted = rlar.RLAR().fit(*IRIS)
        for count in (-1, 0.5, "3"):
            self.assertRaisesRegex(ValueError, "n_features=", fitted.get_support, n_features=count)
        self.assertEqual(fitted.get_support(n_features=99).sum(), 4)
        self.assertRaisesRegex(ValueError, "threshold='mean'", fitted.get_support, threshold="mean")
        rlar.RLAR(max_memory=10**400).fit(*IRIS)
        self.assertRaises(TypeError, rlar.load, 0)  # not standard input

    def test_labels(self):
        X = IRIS[0]
        self.assertRaisesRegex(ValueError, "types int, str; make all", rlar.LDA().fit, X, np.array([1, "a"] * 75, object))
        self.assertRaisesRegex(ValueError, "one class only, 'a'", rlar.LDA().fit, X, ["a"] * 150)
        self.assertRaisesRegex(ValueError, "one class only, '1'", rlar.LDA().fit, X, np.ones(150))

    def test_memory(self):
        self.assertRaisesRegex(MemoryError, r"limit is .*raise it \(max_memory\)", rlar.RLAR(max_memory=1000).fit, *IRIS)

    def test_numbers(self):
        X, y = WINE
        fitted = rlar.RR(scale="none").fit(X, y)
        self.assertRaisesRegex(ArithmeticError, "too large", fitted.transform, X * 1e300)

    def test_a_failed_fit_leaves_the_old_one(self):
        X, y = IRIS
        fitted = rlar.RLAR().fit(X, y)
        before = model_bytes(fitted)
        self.assertRaises(ValueError, fitted.set_params(alpha=-1).fit, X, y)
        self.assertEqual(model_bytes(fitted), before)

    def test_a_failed_fit_on_other_features_leaves_the_old_one(self):
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        for bad in (X.iloc[:, :5], X.to_numpy()[:, :5]):
            fitted = rlar.RLAR().fit(X, y)
            want = fitted.predict(X)
            self.assertRaises(ValueError, fitted.set_params(alpha=-1).fit, bad, y)
            self.assertEqual(fitted.n_features_in_, 13)
            self.assertEqual(list(fitted.feature_names_in_), list(X.columns))
            self.assertEqual(fitted.components_.shape, (3, 13))
            np.testing.assert_array_equal(fitted.predict(X), want)
        new = rlar.RLAR(alpha=-1)
        self.assertRaises(ValueError, new.fit, X, y)
        self.assertFalse(hasattr(new, "n_features_in_"))

    def test_a_warning_that_is_an_error_keeps_the_new_one(self):
        estimator = rlar.RLAR(solver="minimise", iters=1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertRaises(ConvergenceWarning, estimator.fit, *WINE)
        self.assertGreater(estimator.score(*WINE), 0.9)

    def test_warnings(self):
        with self.assertWarnsRegex(ConvergenceWarning, "raise iters") as caught:
            rlar.RLAR(solver="minimise", iters=1).fit(*WINE)
        self.assertEqual(caught.filename, __file__)
        X, y = IRIS
        with self.assertWarnsRegex(UserWarning, "neighbours"):
            rlar.RLAR(k=5).fit(X[::12], y[::12])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rlar.RLAR().fit(*WINE)


class InScikitLearn(TestCase):
    def test_pipeline_and_search(self):
        X, y = WINE
        pipe = make_pipeline(StandardScaler(), rlar.RLAR(scale="none"), KNeighborsClassifier())
        self.assertGreater(cross_val_score(pipe, X, y).mean(), 0.9)
        search = GridSearchCV(rlar.RLAR(scale="minmax"), {"alpha": [0.01, 1], "scale": ["unit", "minmax"]}, n_jobs=2)
        search.fit(X, y)
        self.assertEqual(search.best_params_["scale"], "minmax")
        self.assertGreater(search.score(X, y), 0.9)

    def test_clone_and_repr(self):
        estimator = rlar.RSLDA(lambda1=0.5, n_jobs=2)
        other = clone(estimator)
        self.assertEqual(other.get_params(), estimator.get_params())
        self.assertEqual(repr(other), "RSLDA(lambda1=0.5, n_jobs=2)")

    def test_selection(self):
        X, y = WINE
        noise = np.random.default_rng(0).normal(size=(178, 20)) * 0.01
        wide = np.hstack([X, noise])
        chosen = SelectFromModel(rlar.RFS(scale="none", gamma=10)).fit(wide, y)
        self.assertEqual(chosen.get_support()[:13].sum(), chosen.get_support().sum())
        fitted = rlar.RFS(scale="minmax", gamma=1).fit(X, y)
        best = fitted.get_support(indices=True, n_features=3)
        self.assertEqual(sorted(np.argsort(-fitted.feature_scores_)[:3]), list(best))
        above = fitted.get_support(threshold=float(np.median(fitted.feature_scores_)))
        self.assertEqual(above.sum(), 6)
        self.assertRaises(ValueError, fitted.get_support, n_features=1, threshold=1)
        constant = np.hstack([X, np.ones((178, 1))])
        self.assertFalse(rlar.RFS(scale="minmax").fit(constant, y).get_support()[13])

    def test_pickle(self):
        X, y = IRIS
        for estimator in ESTIMATORS:
            fitted = estimator().fit(X, y)
            again = pickle.loads(pickle.dumps(fitted))
            self.assertEqual(model_bytes(again), model_bytes(fitted))
            self.assertEqual(again.get_params(), fitted.get_params())
            np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
            self.assertEqual((again.n_iter_, again.objective_), (fitted.n_iter_, fitted.objective_))
        self.assertIn(model_bytes(fitted), pickle.dumps(fitted))

    def test_copies(self):
        X, y = WINE
        fitted = rlar.RLAR().fit(X, y)
        file = io.BytesIO()
        joblib.dump(fitted, file)
        file.seek(0)
        for again in (copy.copy(fitted), copy.deepcopy(fitted), joblib.load(file)):
            self.assertEqual(model_bytes(again), model_bytes(fitted))
            np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


if __name__ == "__main__":
    unittest.main()
