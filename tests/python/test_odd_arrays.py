"""Arrays that are no plain float64: the same model as their numbers give, or an error that says why not."""
import unittest

import numpy as np

import rlar
from support import WINE, TestCase, model_bytes

X, Y = WINE


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
