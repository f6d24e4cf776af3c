"""How much a test takes whose minutes are SciPy's: a third of its problems, so that `make check` stays short, or all of them with
RLAR_TESTS=all (the row `minima` of `make verify`)."""
import os

ALL = os.environ.get("RLAR_TESTS") == "all"


def some(problems):
    return list(problems)[:: 1 if ALL else 3]
