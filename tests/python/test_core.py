"""The C module refuses what does not fit, whoever calls it: nothing is read or written out of bounds."""
import unittest

import numpy as np

import rlar
from rlar import _core
from support import IRIS, TestCase

X, Y = IRIS
LABELS = np.unique(Y, return_inverse=True)[1].astype(np.int64)


def fit(**changes):
    arguments = dict(samples=X, classes=["a", "b", "c"], labels=LABELS, method="lda", params=[], scale="unit",
                     classifier="1nn", features=None, threads=1, max_memory=0, progress=None)
    return _core.fit(**{**arguments, **changes})


class Module(TestCase):
    def refused(self, call, *args, **kwargs):
        self.assertRaises((ValueError, TypeError, BufferError, OverflowError), call, *args, **kwargs)

    def test_fit(self):
        self.assertEqual(fit()[0].shape, (4, 2, 3))
        for changes in ({"samples": X[0]}, {"samples": X.astype(int)}, {"samples": X[:, ::2]}, {"samples": X[::-1]},
                        {"samples": X.astype(np.float16)}, {"samples": "text"}, {"samples": X[:0]},
                        {"labels": LABELS[:-1]}, {"labels": LABELS.astype(np.int32)}, {"labels": LABELS + 1},
                        {"labels": LABELS - 1}, {"classes": ["a", "b"]}, {"classes": [1, 2, 3]}, {"classes": None},
                        {"features": ["one"]}, {"features": 4}, {"method": "none"}, {"params": ["ridge"] * 2},
                        {"params": ["nothing", "1"]}, {"threads": -1}, {"threads": 1000}, {"max_memory": -1}):
            with self.subTest(changes=changes):
                self.refused(fit, **changes)

    def test_csr(self):
        def csr(d=4, data=(1.0, 2.0), indices=(0, 3), indptr=(0, 1, 2)):
            return d, np.array(data), np.array(indices, dtype=np.int64), np.array(indptr, dtype=np.int64)

        good = dict(labels=np.array([0, 1]), classes=["a", "b"], method="rr", scale="none")
        self.assertEqual(fit(samples=csr(), **good)[0].shape, (4, 2, 2))
        for bad in (csr(indptr=(0, 1, 3)), csr(indptr=(0, 1, 1)), csr(indptr=(0, 9, 2)), csr(indptr=(-1, 1, 2)),
                    csr(indices=(0, 4)), csr(indices=(0, -1)), csr(indices=(0,)), csr(d=0), csr(d=-3), csr(indptr=()),
                    csr()[:3], csr()[::-1]):
            with self.subTest(bad=bad):
                self.refused(fit, samples=bad, **good)

    def test_outputs(self):
        model = fit()[0]
        numbers, scores, z = np.empty(150, dtype=np.int64), np.empty((150, 3)), np.empty((150, 2))
        model.predict(X, numbers, scores, "1nn", 5, 1)
        model.transform(X, z, 1)
        frozen = z.copy()
        frozen.flags.writeable = False
        for bad in (z[:-1], z.astype(np.float32), frozen, np.empty((150, 4))[:, ::2], None):
            self.refused(model.transform, X, bad, 1)
        self.refused(model.transform, X[:, :3].copy(), z, 1)
        for bad in (numbers[:-1], numbers.astype(np.int32), z, None):
            self.refused(model.predict, X, bad, scores, "1nn", 5, 1)
        for bad in (scores[:-1], z, numbers):
            self.refused(model.predict, X, numbers, bad, "1nn", 5, 1)

    def test_models(self):
        self.refused(_core.Model)
        self.refused(_core.load_bytes, b"")
        self.refused(_core.load_bytes, "text")
        whole = fit()[0].to_bytes()
        for length in range(0, len(whole), 97):
            self.refused(_core.load_bytes, whole[:length])

    def test_version(self):
        self.assertEqual(rlar.__version__, _core.version())


if __name__ == "__main__":
    unittest.main()
