"""scikit-learn's own checks, for every estimator and for other classifiers and scalings of one."""
import unittest
import warnings

import sklearn
from sklearn.utils.estimator_checks import check_estimator

import rlar
from support import ESTIMATORS

# name of a check: why it cannot hold. docs/python.md has the same list: there is none.
EXPECTED_FAILURES = {}

VARIANTS = [
    rlar.RLAR(solver="paper"),
    rlar.RLAR(classifier="centroid"),
    rlar.RLAR(classifier="argmax", n_jobs=2),
    rlar.LDA(classifier="knn"),
    rlar.RR(scale="minmax,unit", classifier="1nn-cosine"),
    rlar.RFS(scale="zscore"),
    rlar.LFDA(scale="none", max_memory=1 << 30),
]


def run_new(estimator):
    """(name, passed or skipped, exception) of every check, since scikit-learn 1.6."""
    for result in check_estimator(estimator, on_fail=None, on_skip=None):
        yield result["check_name"], result["status"] != "failed", result["exception"]


def run_old(estimator):
    for instance, check in check_estimator(estimator, generate_only=True):
        name = check.func.__name__
        try:
            check(instance)
            yield name, True, None
        except unittest.SkipTest:
            yield name, True, None
        except Exception as error:
            yield name, False, error


RUN = run_old if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6) else run_new


class Checks(unittest.TestCase):
    def run_checks(self, estimators):
        for estimator in estimators:
            count = 0
            with self.subTest(estimator=estimator), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name, passed, error in RUN(estimator):
                    count += 1
                    if passed == (name in EXPECTED_FAILURES):
                        self.fail("%s: %s" % (name, error or "passes, but is listed as a failure"))
                self.assertGreater(count, 40)

    def test_every_estimator(self):
        self.run_checks(estimator() for estimator in ESTIMATORS)

    def test_variants(self):
        self.run_checks(VARIANTS)


if __name__ == "__main__":
    unittest.main()
