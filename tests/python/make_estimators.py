"""Write python/rlar/_estimators.py: a class for each method, from the parameter table of the program.

    python3 tests/python/make_estimators.py build/rlar > python/rlar/_estimators.py

Source that stands in a file, not classes made at run time: editors, help() and clone() see the
signatures. tests/python/test_generated.py compares the file with the program.
"""
import json
import subprocess
import sys
import textwrap

CLASS_NAMES = {"relsr": "ReLSR"}  # all others in capitals
PYTHON_NAMES = {"lambda": "lam"}  # reserved words; see LinearMapEstimator._names
TYPES = {"real": "float", "int": "int", "choice": "str"}

HEAD = '''\
"""One estimator for each method. Written by tests/python/make_estimators.py: change that, not this."""
from __future__ import annotations

from ._base import LinearMapEstimator
'''

# The parameters that all have: name, type, default (...: the program tells), meaning.
COMMON = [
    ("scale", "str", ..., "scaling learned in fit: \"none\", \"unit\" (each sample to length 1), \"minmax\", \"zscore\", "
     "\"rms\" (all samples by one number), or a chain of them"),
    ("classifier", "str", ..., "how predict decides: \"1nn\", \"knn\", \"centroid\", {argmax}or the first three with "
     "\"-cosine\" behind: on outputs of length 1"),
    ("n_neighbors", "int", 5, "for the classifier \"knn\""),
    ("n_jobs", "int | None", None, "threads; None: 1 unless joblib says otherwise, -1: one per processor. The results "
     "do not depend on it"),
    ("max_memory", "int | None", None, "bytes that a fit may hold beside X; None: no limit, and for sparse X the "
     "memory of the machine"),
    ("verbose", "int", 0, "1: print a line for each iteration"),
]

ATTRIBUTES = [
    ("classes_", "ndarray of shape (n_classes,)", "the classes, sorted"),
    ("components_", "ndarray of shape (n_outputs, n_features)", "the map W, for scaled samples; a copy"),
    ("intercept_", "ndarray of shape (n_outputs,)", "the offset b"),
    ("feature_scores_", "ndarray of shape (n_features,)", None),
    ("feature_importances_", "ndarray of shape (n_features,)", "the same, under the name that SelectFromModel looks for"),
    ("objective_", "float", "the objective at the end; nan where the method has none, absent after load"),
    ("n_iter_", "int", "iterations; 0: solved in closed form. Absent after load"),
    ("trace_", "structured ndarray of shape (n_iter_,)",
     "after each iteration \"objective\", \"smoothed\" (with eps in the norms), the terms \"regression\", "
     "\"sparsity\" and \"locality\", \"eps\" and the \"seconds\" so far; 0 or nan where the method has none. Absent "
     "after load"),
    ("n_features_in_", "int", "features seen in fit"),
    ("feature_names_in_", "ndarray of str", "their names, where X had names"),
]


def class_name(method):
    return CLASS_NAMES.get(method["name"], method["name"].upper())


def number(value):
    return "%.10g" % value


def allowed(param):
    if param["choices"]:
        return "{" + ", ".join('"%s"' % c for c in param["choices"]) + "}"
    return "%s in [%s, %s]" % (TYPES[param["type"]], number(param["min"]), number(param["max"]))


def default(param):
    value = param["default"]
    return {"real": float, "int": int, "choice": str}[param["type"]](value)


def literal(value):
    return '"%s"' % value if isinstance(value, str) else repr(value)


def python_name(param):
    return PYTHON_NAMES.get(param["name"], param["name"])


def wrapped(words, indent):
    return textwrap.fill(words, 110, initial_indent=indent, subsequent_indent=indent,
                         break_on_hyphens=False, break_long_words=False) + "\n"


def sentence(words):
    """With a capital, unless it starts with a value such as `paper: ...`."""
    return (words if words.split()[0].endswith(":") else words[0].upper() + words[1:]) + "."


def entry(name, kind, meaning):
    return "    %s : %s\n" % (name, kind) + wrapped(sentence(meaning), " " * 8)


def own_params(method):
    """(name, type, default, entry of the docstring)"""
    for p in method["params"]:
        kind = "%s, default=%s" % (allowed(p), literal(default(p)))
        yield python_name(p), TYPES[p["type"]], default(p), entry(python_name(p), kind, p["help"])


def common_params(method):
    argmax = '"argmax" (the largest output), ' if method["regression"] else ""
    for name, kind, value, meaning in COMMON:
        value = method[name] if value is ... else value
        shown = "%s, default=%s" % (kind.replace(" | ", " or "), literal(value))
        yield name, kind, value, entry(name, shown, meaning.format(argmax=argmax))


def heading(word):
    return "    %s\n    %s\n" % (word, "-" * len(word))


def docstring(method, params):
    about = wrapped(method["about"], "    ")
    cite = wrapped(method["citation"] + ".", "    ")
    fitted = "".join(entry(name, kind, meaning or method["scores"]) for name, kind, meaning in ATTRIBUTES)
    return ('    """%s.\n\n' % method["title"] + about + "\n" + heading("Parameters") + "".join(p[3] for p in params)
            + "\n" + heading("Attributes") + fitted + "\n" + heading("References") + cite + '    """\n')


def source(method):
    own = list(own_params(method))
    params = own + list(common_params(method))
    signature = "".join("        %s: %s = %s,\n" % (name, kind, literal(value)) for name, kind, value, _ in params)
    names = tuple(p[0] for p in own)
    body = "".join("        self.%s = %s\n" % (p[0], p[0]) for p in params)
    return ("\n\nclass %s(LinearMapEstimator):\n" % class_name(method) + docstring(method, params)
            + '\n    _method = "%s"\n    _method_params = %s\n\n' % (method["name"], str(names).replace("'", '"'))
            + "    def __init__(\n        self,\n        *,\n" + signature + "    ) -> None:\n" + body)


def table(methods):
    lines = "".join("    %s,\n" % class_name(m) for m in methods)
    return ("\n\nESTIMATORS: dict[str, type[LinearMapEstimator]] = {estimator._method: estimator for estimator in (\n"
            + lines + ")}\n")


def generated(program):
    """The whole file, for the methods of this program."""
    listed = subprocess.run([program, "methods", "--json"], check=True, capture_output=True, text=True)
    methods = json.loads(listed.stdout)["methods"]
    return HEAD + "".join(map(source, methods)) + table(methods)


if __name__ == "__main__":
    sys.stdout.write(generated(sys.argv[1]))
