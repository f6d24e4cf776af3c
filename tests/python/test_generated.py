"""The estimators are those of the program: classes, parameters, defaults, texts."""
import inspect
import json
import unittest

import make_estimators
import rlar
from support import IRIS, PROGRAM, ROOT, program


class Generated(unittest.TestCase):
    def test_file_is_up_to_date(self):
        there = (ROOT / "python" / "rlar" / "_estimators.py").read_text(encoding="utf-8")
        self.assertEqual(there, make_estimators.generated(PROGRAM),
                         "run: python3 tests/python/make_estimators.py build/rlar > python/rlar/_estimators.py")

    def test_signatures(self):
        methods = json.loads(program("methods", "--json"))["methods"]
        self.assertEqual([m["name"] for m in methods], list(rlar.ESTIMATORS))
        for method in methods:
            estimator = rlar.ESTIMATORS[method["name"]]
            params = inspect.signature(estimator).parameters
            for param in method["params"]:
                name = {"lambda": "lam"}.get(param["name"], param["name"])
                self.assertEqual(params[name].default, param["default"])
                self.assertIn("%s : " % name, estimator.__doc__)
            self.assertIn(method["title"], estimator.__doc__)
            self.assertIn(estimator.__name__, rlar.__all__)

    def test_defaults_are_those_of_the_library(self):
        """What an estimator sends is what a fit without parameters would use: the model says so."""
        for method, estimator in rlar.ESTIMATORS.items():
            fitted = estimator().fit(*IRIS)
            for name, value in fitted._model.params.items():
                default = getattr(fitted, {"lambda": "lam"}.get(name, name))
                self.assertEqual(type(default)(value), default, (method, name))


if __name__ == "__main__":
    unittest.main()
