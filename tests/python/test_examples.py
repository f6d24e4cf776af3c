"""The examples run, and show what they say."""
import contextlib
import importlib.util
import io
import os
import re
import runpy
import sys
import unittest
from unittest import mock

import rlar
from support import ROOT, TestCase

FOLDER = ROOT / "examples" / "python"
PNG = b"\x89PNG\r\n\x1a\n"


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
class Examples(TestCase):
    def run_example(self, name, *arguments, skip=True):
        """What it prints, in a folder of its own; a test without its data is skipped."""
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        text = io.StringIO()
        try:
            with mock.patch.object(sys, "argv", [name, *arguments]), contextlib.redirect_stdout(text):
                runpy.run_path(str(FOLDER / name), run_name="__main__")
        except SystemExit as end:
            if skip and str(end).startswith("skipped:"):
                self.skipTest(str(end))
            raise
        return text.getvalue()

    def check_figure(self, name):
        image = (self.folder / name).read_bytes()
        self.assertEqual(image[:8], PNG)
        self.assertGreater(len(image), 20000)

    def test_tutorial(self):
        text = self.run_example("tutorial.py")
        self.check_figure("tutorial.png")
        self.assertIn("the same answers after loading: True", text)
        right = {name: float(value) for name, value in re.findall(r"^(.*): .*?([\d.]+)%", text, re.M)}
        self.assertGreater(right["RLAR, tuned"], 94)
        self.assertGreater(right["default"], right["the paper's algorithm"])
        self.assertEqual(rlar.load(self.folder / "digits.rlar").n_features_in_, 64)

    def test_wine(self):
        (self.folder / "figures").mkdir()
        text = self.run_example("wine.py", "figures", "--halves", "5")
        self.check_figure("figures/wine.png")
        rows = [line.split() for line in text.splitlines()[1:]]
        self.assertEqual([int(row[0]) for row in rows], list(range(1, 14)))
        self.assertEqual(rows[0][1], "color_intensity")
        accuracy = [float(row[-3]) for row in rows]
        self.assertGreater(accuracy[7], accuracy[1] + 5)
        self.assertGreater(accuracy[-1], 96)

    def test_genes(self):
        text = self.run_example("genes.py", "--repeats", "1")
        self.check_figure("genes.png")
        few = {name: int(count) for name, count in re.findall(r"^(\w+): (\d+) of 2308", text, re.M)}
        self.assertLess(few["RLAR"], 250)
        self.assertLess(few["RFS"], 300)
        self.assertGreater(few["RR"], 2000)
        accuracy = re.search(r"^RLAR +((?:[\d.]+ +)+)", text, re.M).group(1).split()
        self.assertGreater(float(accuracy[6]), 95)  # with 20 genes
        self.assertIn("picked by RLAR: 100% right", text)

    def test_faces(self):
        text = self.run_example("faces.py", "--trials", "1")
        self.check_figure("faces.png")
        rows = [re.findall(r"[\d.]+", line) for line in text.splitlines()[1:]]
        self.assertEqual([row[0] for row in rows], ["0", "5", "10", "15", "20", "25"])
        rlar_right, lda, rr = (float(rows[-1][column]) for column in (1, 3, 5))
        self.assertGreater(rlar_right, max(lda, rr))
        self.assertGreater(float(rows[0][1]), rlar_right)

    def test_without_data(self):
        with mock.patch.dict(os.environ, {"RLAR_DATA_DIR": str(self.folder)}):
            with self.assertRaisesRegex(SystemExit, "^skipped: there is no .*AR_32x32.mat; ask for"):
                self.run_example("faces.py", skip=False)
        with mock.patch.dict(sys.modules, {"ISLP": None}):
            with self.assertRaisesRegex(SystemExit, "^skipped: .*pip install --no-deps ISLP"):
                self.run_example("genes.py", skip=False)
        self.assertEqual(list(self.folder.iterdir()), [])


class Gallery(unittest.TestCase):
    def test_page_shows_every_example(self):
        page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
        for script in FOLDER.glob("*.py"):
            self.assertIn("examples/python/%s" % script.name, page)
            self.assertIn("(gallery/%s.png)" % script.stem, page)
        for figure in re.findall(r"\((gallery/.*?)\)", page):
            self.assertEqual((ROOT / "docs" / figure).read_bytes()[:8], PNG)


if __name__ == "__main__":
    unittest.main()
