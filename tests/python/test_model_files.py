"""Python, the command line and C: the same fit gives the same bytes, and each reads the others' files."""
import os
import pickle
import shutil
import subprocess
import unittest

import numpy as np

import rlar
from support import DATA, IRIS, PROGRAM, ROOT, TestCase, model_bytes, program

LIBRARY = os.path.join(os.path.dirname(PROGRAM), "src", "librlar.so")


class SameBits(TestCase):
    def fit_by_program(self, data, *options):
        path = self.folder / "program.rlar"
        program("fit", DATA / data, "-q", "-o", path, *options)
        return path

    def test_every_method(self):
        self.quiet()
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        for method, estimator in rlar.ESTIMATORS.items():
            for scale in ("unit", "zscore,rms"):
                with self.subTest(method=method, scale=scale):
                    path = self.fit_by_program("wine.csv", "--method", method, "--scale", scale)
                    fitted = estimator(scale=scale).fit(X, y)
                    self.assertEqual(model_bytes(fitted), path.read_bytes())

    def test_parameters_and_threads(self):
        X, y = rlar.datasets.load_ionosphere(return_X_y=True, as_frame=True)
        path = self.fit_by_program("ionosphere.arff", "--alpha", "0.03", "-k", "4", "-p", "solver=anneal")
        for n_jobs in (1, 2, 3):
            fitted = rlar.RLAR(alpha=0.03, k=4, solver="anneal", n_jobs=n_jobs).fit(X, y)
            self.assertEqual(model_bytes(fitted), path.read_bytes())

    @unittest.skipUnless(shutil.which("cc") and os.path.exists(LIBRARY), "a compiler and build/src are needed")
    def test_c_program(self):
        example, path = self.folder / "fit_predict", self.folder / "c.rlar"
        folder = os.path.dirname(LIBRARY)
        subprocess.run(["cc", ROOT / "examples" / "fit_predict.c", "-I", ROOT / "include", LIBRARY,
                        "-Wl,-rpath," + folder, "-o", example], check=True)
        subprocess.run([example, DATA / "wine.csv", path], check=True, capture_output=True)
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        self.assertEqual(model_bytes(rlar.RLAR().fit(X, y)), path.read_bytes())


class Files(TestCase):
    def test_python_to_program(self):
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        fitted = rlar.LFDA(scale="minmax").fit(X[::2], y[::2])
        path = self.folder / "model.rlar"
        fitted.save(path)
        self.assertEqual(path.read_bytes(), model_bytes(fitted))
        lines = program("predict", path, DATA / "wine.csv").split()
        self.assertEqual(lines, [str(c) for c in fitted.predict(X)])

    def test_program_to_python(self):
        path = self.folder / "model.rlar"
        program("fit", DATA / "wine.csv", "--method", "rr", "-p", "lambda=0.5", "--scale", "zscore", "-q", "-o", path)
        X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        loaded = rlar.load(str(path))
        self.assertIsInstance(loaded, rlar.RR)
        self.assertEqual((loaded.lam, loaded.scale), (0.5, "zscore"))
        self.assertEqual(loaded.classes_.dtype.kind, "i")
        self.assertEqual(list(loaded.feature_names_in_), list(X.columns))
        again = rlar.RR(lam=0.5, scale="zscore").fit(X, y)
        self.assertEqual(loaded.get_params(), again.get_params())
        np.testing.assert_array_equal(loaded.predict(X), again.predict(X))
        np.testing.assert_array_equal(loaded.transform(X), again.transform(X))
        self.assertEqual(model_bytes(pickle.loads(pickle.dumps(loaded))), path.read_bytes())

    def test_class_values(self):
        X = IRIS[0]
        for names, kind in ((["a", "b"], "U"), ([1, 10], "i"), (["0.5", "2"], "f"), (["1_0", "2"], "U"), (["1e3", "x"], "U")):
            y = np.array(names)[np.arange(150) % 2]
            path = self.folder / "model.rlar"
            rlar.RR().fit(X, y).save(path)
            loaded = rlar.load(path)
            self.assertEqual(loaded.classes_.dtype.kind, kind)
            self.assertEqual([str(c).removesuffix(".0") for c in loaded.classes_], [str(n) for n in names])

    def test_wrong_files(self):
        path = self.folder / "model.rlar"
        self.assertRaises(FileNotFoundError, rlar.load, path)
        path.write_bytes(b"not a model")
        self.assertRaisesRegex(ValueError, "not an rlar model", rlar.load, path)
        fitted = rlar.LDA().fit(*IRIS)
        self.assertRaises(OSError, fitted.save, self.folder / "nowhere" / "model.rlar")
        whole = model_bytes(fitted)
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        self.assertRaisesRegex(ValueError, "checksum", rlar.load, path)
        fitted.save(path)
        self.assertRaisesRegex(ValueError, "a model of lda, not of rlar", rlar.RLAR.load, path)
        self.assertEqual(model_bytes(rlar.LDA.load(path)), whole)


if __name__ == "__main__":
    unittest.main()
