"""The Python in README.md and docs/python.md runs, and the page names every estimator."""
import contextlib
import importlib.util
import io
import json
import os
import re
import unittest
import warnings

import rlar
from support import ROOT, TestCase, program


def blocks(page):
    return re.findall(r"```python\n(.*?)```", page, re.S)


class Documents(TestCase):
    def read(self, name):
        return (ROOT / name).read_text(encoding="utf-8")

    def run_blocks(self, name):
        """One after the other, in one namespace and a folder of their own; what they print."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        text, names = io.StringIO(), {}
        with contextlib.redirect_stdout(text), warnings.catch_warnings():
            warnings.simplefilter("error")
            for block in blocks(self.read(name)):
                if "rlar.plot" in block and not importlib.util.find_spec("matplotlib"):
                    continue
                exec(compile(block, name, "exec"), names)
        return text.getvalue()

    def test_readme(self):
        printed = self.run_blocks("README.md")
        self.assertGreater(float(printed.split()[0]), 0.9)
        self.assertTrue((self.folder / "wine.rlar").exists())
        command = re.search(r'venv/bin/python -c "(.*)"', self.read("README.md")).group(1)
        with contextlib.redirect_stdout(io.StringIO()) as text:
            exec(compile(command, "README.md", "exec"), {})
        self.assertEqual(text.getvalue(), "[1]\n")

    def test_page(self):
        printed = self.run_blocks("docs/python.md")
        self.assertIn("accuracy_mean", printed)
        self.assertIn("Index([", printed)

    def test_every_estimator_is_on_the_page(self):
        page = self.read("docs/python.md")
        for method in json.loads(program("methods", "--json"))["methods"]:
            name = rlar.ESTIMATORS[method["name"]].__name__
            self.assertIn("| `%s` | %s |" % (name, method["title"]), page)
        for name in rlar.RLAR().get_params():
            if name not in rlar.RLAR._method_params:
                self.assertIn("| `%s` |" % name, page)


if __name__ == "__main__":
    unittest.main()
