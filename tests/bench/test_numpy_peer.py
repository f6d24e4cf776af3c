"""The NumPy peer of the benchmark does what the oracle does: otherwise its time says nothing."""
import os
import sys
import unittest

ROOT = os.environ.get("RLAR_SOURCE_ROOT") or os.path.normpath(
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
for folder in ("bench", os.path.join("tests", "reference")):
    sys.path.insert(0, os.path.join(ROOT, folder))
sys.dont_write_bytecode = True
try:
    import numpy as np
    import numpy_rlar
    import rlar_reference
except ImportError:
    np = None


@unittest.skipIf(np is None, "NumPy and SciPy are needed (scripts/setup bench)")
class NumpyPeer(unittest.TestCase):
    def problem(self):
        rng = np.random.default_rng(3)
        label = np.repeat([1, 2, 3, 4], [9, 14, 12, 1])
        samples = rng.normal(size=(4, 7))[label - 1] + rng.normal(size=(len(label), 7))
        samples[5] = samples[2]  # equal samples of a class have no edge
        return rlar_reference.unit_length(samples), label

    def test_same_objective_and_map(self):
        samples, label = self.problem()
        expected = rlar_reference.fit(samples, label, 0.2, 0.3, k=3, iters=8)
        for sparse in (False, True):
            W, b, objective = numpy_rlar.fit(samples, label, 0.2, 0.3, k=3, iters=8, sparse=sparse)
            self.assertAlmostEqual(objective / expected["trace"][-1]["objective"], 1.0, places=8)
            np.testing.assert_allclose(W, expected["W"], atol=1e-6)
            np.testing.assert_allclose(b, expected["b"], atol=1e-6)

    def test_retargeting(self):
        rng = np.random.default_rng(4)
        Y, label = rng.normal(size=(50, 6)) * 2, rng.integers(0, 6, 50)
        Y[0] = 0.0
        Y[1, label[1]] = 10.0  # keeps its margins already
        np.testing.assert_allclose(numpy_rlar.retarget(Y, label), rlar_reference.retarget(Y, label),
                                   atol=1e-12)


if __name__ == "__main__":
    unittest.main()
