"""Arrays that are no plain float64: the same model as their numbers give, or an error that says why not."""
import unittest

import numpy as np
from scipy import sparse

import rlar
from support import WINE, TestCase, model_bytes

X, Y = WINE
SPARSE = np.where(X > X.mean(axis=0), X, 0)


def fit(samples, classes):
    return rlar.RR(scale="minmax").fit(samples, classes)


def with_cell(kind, value):
    changed = X.astype(kind)
    changed[3, 4] = value
    return changed


def masked_cell():
    return np.ma.masked_array(X, mask=np.arange(X.size).reshape(X.shape) == 40)


class OddSamples(TestCase):
    def test_same_model(self):
        """Whatever holds the same numbers."""
        want = model_bytes(fit(X, Y))
        for name, same in (("object", X.astype(object)), ("long double", X.astype(np.longdouble)),
                           ("text", X.astype(str)), ("bytes", X.astype("S32")), ("tuples", tuple(map(tuple, X))),
                           ("mask without a masked cell", np.ma.masked_array(X, mask=np.zeros(X.shape, bool)))):
            with self.subTest(kind=name):
                self.assertEqual(model_bytes(fit(same, Y)), want)

    def test_rounded_model(self):
        """Numbers that become others on the way to float64 are fitted as those."""
        whole = (np.where(X > X.mean(axis=0), 2**53 + 1, 2**62 + 1) + np.arange(178)[:, None]).astype(np.int64)
        unsigned = np.uint64(2**64 - 1) - np.arange(X.size, dtype=np.uint64).reshape(X.shape) * np.uint64(2**40)
        for name, odd in (("float16", X.astype(np.float16)), ("beyond 2^53", whole), ("up to 2^64", unsigned),
                          ("bool", X > X.mean(axis=0))):
            with self.subTest(kind=name):
                self.assertEqual(model_bytes(fit(odd, Y)), model_bytes(fit(odd.astype(np.float64), Y)))

    def test_refused(self):
        self.quiet()  # NumPy's about its matrix
        fitted = fit(X, Y)
        with np.errstate(over="ignore"):
            too_large = with_cell(np.float64, 1e6).astype(np.float16)
        for name, bad, kind, text in (
                ("complex", X + 1j, ValueError, "[Cc]omplex"),
                ("None", with_cell(object, None), ValueError, "NaN in 1"),
                ("text", with_cell(object, "abc"), ValueError, "abc"),
                ("1e6 as float16", too_large, ValueError, "inf"),
                ("10^400", with_cell(object, 10**400), OverflowError, "too large"),
                ("masked", masked_cell(), ValueError, "1 masked"),
                ("matrix", np.asmatrix(X), TypeError, "matrix"),
                ("one dimension", X[:, 0], ValueError, "2D"),
                ("three dimensions", X[None], ValueError, "dim 3"),
                ("no features", X[:, :0], ValueError, "0 feature"),
                ("no samples", X[:0], ValueError, "0 sample")):
            with self.subTest(kind=name):
                self.assertRaisesRegex(kind, text, fit, bad, Y[:len(bad)])
                self.assertRaisesRegex(kind, text, fitted.predict, bad)


def of_kind(kind):
    """Blocks of SciPy's own choice would be single cells."""
    return sparse.bsr_matrix(SPARSE, blocksize=(2, 1)) if kind == "bsr" else sparse.csr_matrix(SPARSE).asformat(kind)


def damaged(kind, name, change):
    """With one of its arrays replaced by change(array)."""
    matrix = of_kind(kind)
    setattr(matrix, name, change(getattr(matrix, name)))
    return matrix


def put(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array
    return change


def shorter(array):
    return array[:-2].copy()


def longer_list(lists):
    lists[5].extend([1] * 10**6)
    return lists


class OddSparse(TestCase):
    """SciPy ends the process at some of them."""

    def setUp(self):
        super().setUp()
        self.quiet()  # SciPy finds so many diagonals inefficient

    def assert_refused(self, kind, name, change, text):
        with self.subTest(kind=kind, name=name, text=text):
            fitted = fit(X, Y)
            bad = damaged(kind, name, change)
            for use in (fitted.transform, fitted.predict, lambda X: fit(X, Y), lambda X: rlar.evaluate(X, Y, folds=3)):
                self.assertRaisesRegex(ValueError, f"^X: the arrays of the {kind} matrix do not agree: .*{text}", use, bad)

    def test_starts(self):
        for kind in ("csr", "csc", "bsr"):
            for change, text in ((put(3, 10**6), r"indptr\[3\] is 1000000, but indptr\[4\] is [0-9]+"),
                                 (put(3, 0), r"indptr\[3\] is 0"), (put(2, -5), r"indptr\[2\] is -5"),
                                 (put(0, 1), r"indptr\[0\] is 1 "), (put(-1, 10**6), "ends with 1000000"),
                                 (shorter, "indptr has [0-9]+ values"), (lambda a: np.r_[a, a[-1]], "indptr has"),
                                 (lambda a: a * 1.0, "indptr is no array"), (list, "indptr is no array")):
                self.assert_refused(kind, "indptr", change, text)

    def test_places(self):
        for kind in ("csc", "bsr"):
            for value in (10**8, -10**8):
                self.assert_refused(kind, "indices", put(2, value), f"indices has {value}, outside")
        for value in (10**8, -10**8):
            self.assert_refused("coo", "row", put(2, value), f"row has {value}, outside of 0 to 177")
        for kind, name in (("csr", "indices"), ("coo", "col"), ("coo", "row")):
            self.assert_refused(kind, name, lambda array: array * 1.0, f"{name} is no array")
        self.assertRaisesRegex(ValueError, "column 100", fit(X, Y).predict, damaged("csr", "indices", put(2, 100)))

    def test_lengths(self):
        for kind, name in (("csr", "data"), ("csr", "indices"), ("csc", "data"), ("csc", "indices"), ("bsr", "data"),
                           ("bsr", "indices"), ("coo", "row"), ("coo", "col"), ("coo", "data"), ("dia", "offsets"),
                           ("lil", "rows"), ("lil", "data")):
            self.assert_refused(kind, name, shorter, name)
        self.assert_refused("csr", "data", lambda array: array[:, None], "data is no array of 1")
        self.assert_refused("bsr", "data", lambda array: np.ones((len(array), 4, 3)), "blocks of 4 x 3")
        for name in ("rows", "data"):
            self.assert_refused("lil", name, longer_list, "sample 5 has [0-9]+ columns")
            self.assert_refused("lil", name, put(5, None), "a list for each of the 178")

    def test_same_model(self):
        """Every kind, and room behind the last entry."""
        want = model_bytes(fit(SPARSE, Y))
        for kind in ("csr", "csc", "bsr", "coo", "dia", "lil", "dok"):
            with self.subTest(kind=kind):
                self.assertEqual(model_bytes(fit(of_kind(kind), Y)), want)
        roomy = sparse.csr_matrix(SPARSE)
        roomy.data, roomy.indices = np.tile(roomy.data, 2), np.tile(roomy.indices, 2)
        self.assertEqual(model_bytes(fit(roomy, Y)), want)
        self.assertEqual(len(roomy.data), 2 * roomy.nnz, "the caller's matrix was changed")


class OddLabels(TestCase):
    def test_come_back(self):
        """Classes that differ in a last bit only, at the ends of 64 bits, and with signs."""
        for names in (np.array([2**53, 2**53 + 1, 2**62, -2**63]), np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64),
                      np.array([-5, 1000000, 7]), np.array([1e15, -1e15])):
            classes = names[np.arange(178) % len(names)]
            with self.subTest(names=names):
                fitted = fit(X, classes)
                np.testing.assert_array_equal(fitted.classes_, np.unique(names))
                np.testing.assert_array_equal(fitted.predict(X), classes)  # each is its own nearest
                self.assertEqual(fitted.predict(X).dtype, classes.dtype)

    def test_refused(self):
        for name, bad in (("fractions", Y + 0.5), ("NaN", np.where(Y == 1, np.nan, Y)), ("complex", Y * 1j),
                          ("infinite", np.where(Y == 1, np.inf, Y)), ("None", np.where(Y == 1, None, Y)),
                          ("masked", np.ma.masked_array(Y, mask=Y == 1)), ("too few", Y[:-1]),
                          ("time spans", Y.astype("m8[D]")),
                          ("two columns", np.c_[Y, Y])):
            with self.subTest(kind=name):
                self.assertRaises(ValueError, fit, X, bad)


if __name__ == "__main__":
    unittest.main()
