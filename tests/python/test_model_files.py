"""Python, the command line and C: the same fit gives the same bytes, and each reads the others' files."""
import os
import pickle
import shutil
import subprocess
import unittest

import numpy as np
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

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

    def load_with(self, names, **parameters):
        """(fitted, loaded) of the same model, with these classes."""
        fitted = rlar.LDA(**parameters).fit(IRIS[0], np.array(names)[np.arange(150) // 50])
        path = self.folder / "model.rlar"
        fitted.save(path)
        return fitted, rlar.load(path).set_params(**parameters)

    def test_classes_that_the_library_orders_as_texts(self):
        """Numbers from 2^53 on are texts to it, and 10 comes before 5; scores are by the sorted classes."""
        X, y = IRIS[0], np.arange(150) // 50
        for names in ([5, 10**18 + 1, 2 * 10**18], [-5, -10**18, 7], np.array([5, 2**63, 2**63 + 1], dtype=np.uint64)):
            for classifier in ("1nn", "centroid"):
                with self.subTest(names=names, classifier=classifier):
                    fitted, loaded = self.load_with(names, classifier=classifier)
                    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
                        np.testing.assert_array_equal(one.classes_, fitted.classes_)
                        self.assertEqual(one.classes_.dtype, fitted.classes_.dtype)
                        np.testing.assert_array_equal(one.predict(X), fitted.predict(X))
                        np.testing.assert_array_equal(one.decision_function(X), fitted.decision_function(X))
                        self.assertGreater(one.score(X, np.array(names)[y]), 0.8)
        fitted, loaded = self.load_with([5, 10**18 + 1, 2 * 10**18], classifier="centroid")
        self.assertGreater(roc_auc_score(y, softmax(loaded.decision_function(X), axis=1), multi_class="ovr"), 0.9)

    def test_classes_stay_apart(self):
        """As texts where the numbers of NumPy would merge them; a file of the command has the same."""
        X = IRIS[0]
        longs = ["1" * 5000, "2" * 5000, "3"]  # int() takes no more than 4300 digits
        for names in (["-1", "9223372036854775808", "9223372036854775809"], ["0.5", "9007199254740992", "9007199254740993"],
                      ["007", "07", "1e400"], ["1", "01", str(2**70)], longs):
            with self.subTest(names=[name[:20] for name in names]):
                fitted, loaded = self.load_with(names)
                self.assertEqual(list(loaded.classes_), sorted(names))
                np.testing.assert_array_equal(loaded.predict(X), fitted.predict(X))
                rows = [",".join(map(str, [*x, names[i // 50]])) for i, x in enumerate(X)]
                table, path = self.folder / "table.csv", self.folder / "program.rlar"
                table.write_text("\n".join(["a,b,c,d,class", *rows]) + "\n")
                program("fit", table, "--method", "lda", "-q", "-o", path)
                self.assertEqual(list(rlar.load(path).classes_), sorted(names))
                target = rlar.datasets.read(table).target
                np.testing.assert_array_equal(target, np.repeat(names, 50))

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
