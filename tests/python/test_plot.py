"""rlar.plot draws the data that it is given, into the axes that it is given."""
import importlib.util
import subprocess
import sys
import unittest
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import rlar
from rlar import plot
from support import IRIS, WINE, TestCase

HAVE_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
if HAVE_MATPLOTLIB:
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.use("Agg")

GRID = {"alpha": [1, 0.01, 0.1], "beta": [0.1, 1]}


class Missing(unittest.TestCase):
    def test_without_matplotlib(self):
        model = rlar.RLAR().fit(*IRIS)
        with mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.figure": None}):
            for draw in (plot.convergence, plot.feature_scores, lambda m: plot.embedding(m, *IRIS)):
                self.assertRaisesRegex(ImportError, "rlar.plot needs matplotlib.*python3-matplotlib", draw, model)

    def test_import_leaves_matplotlib_alone(self):
        code = "import sys, rlar; rlar.plot; sys.exit('matplotlib' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)


@unittest.skipUnless(HAVE_MATPLOTLIB, "matplotlib is not installed")
class PlotCase(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = rlar.RLAR(solver="paper").fit(*WINE)

    def texts(self, ax):
        return [text.get_text() for text in ax.get_legend().get_texts()]

    def draw(self, ax):
        """As it would be written; matplotlib finds out about many mistakes only then."""
        ax.figure.savefig(self.folder / "figure.png")
        self.assertGreater((self.folder / "figure.png").stat().st_size, 1000)
        self.assertTrue(ax.get_xlabel() and ax.get_ylabel())


class Shared(PlotCase):
    def calls(self):
        search = GridSearchCV(rlar.RLAR(), GRID, cv=2).fit(*IRIS)
        yield lambda **options: plot.convergence(self.model, **options)
        yield lambda **options: plot.embedding(self.model, *WINE, **options)
        yield lambda **options: plot.heatmap(search, **options)
        yield lambda **options: plot.feature_scores(self.model, **options)
        yield lambda **options: plot.feature_scores(self.model, image=(1, 13), **options)

    def test_the_given_axes_are_used(self):
        for call in self.calls():
            left, right = Figure().subplots(1, 2)
            self.assertIs(call(ax=right), right)
            self.assertTrue(right.has_data())
            self.assertFalse(left.has_data())
            self.draw(right)

    def test_pyplot_is_as_before(self):
        from matplotlib import pyplot

        mine = pyplot.figure()
        self.addCleanup(pyplot.close, mine)
        settings = dict(matplotlib.rcParams)
        for call in self.calls():
            first, second = call(), call()
            self.assertIsNot(first.figure, second.figure)
            self.draw(first)
        self.assertEqual(pyplot.get_fignums(), [mine.number])
        self.assertIs(pyplot.gcf(), mine)
        self.assertEqual(mine.axes, [])
        self.assertEqual(dict(matplotlib.rcParams), settings)

    def test_colours_run_evenly_from_light_to_dark(self):
        lightness = self.lightness(plot._colour_map()(np.linspace(0, 1, 65))[:, :3])
        steps = -np.diff(lightness)
        self.assertGreater(lightness[0] - lightness[-1], 70)
        self.assertGreater(steps.min(), 0.75 * steps.mean())
        self.assertLess(steps.max(), 1.35 * steps.mean())

    @staticmethod
    def lightness(rgb):
        """L* of CIELAB."""
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        luminance = linear @ [0.2126, 0.7152, 0.0722]
        return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)

    def test_classes_differ_in_grey(self):
        """Neighbours in the list never share both shape and filling, and forty are all different."""
        styles = [plot._style(i) for i in range(40)]
        self.assertEqual(len(set(styles)), 40)
        for one, next_one in zip(styles, styles[1:]):
            self.assertNotEqual(one[1:], next_one[1:])


class Convergence(PlotCase):
    def test_values(self):
        ax = plot.convergence(self.model)
        (line,) = ax.lines
        np.testing.assert_array_equal(line.get_ydata(), self.model.trace_["objective"])
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, self.model.n_iter_ + 1))
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("iteration", "objective"))
        self.assertIsNone(ax.get_legend())
        self.draw(ax)

    def test_several(self):
        other = rlar.RFS().fit(*WINE)
        ax = plot.convergence(self.model, other, against="seconds")
        self.assertEqual(self.texts(ax), ["RLAR", "RFS"])
        self.assertEqual(ax.get_xlabel(), "time (s)")
        np.testing.assert_array_equal(ax.lines[1].get_xdata(), other.trace_["seconds"])
        self.assertNotEqual(*(line.get_linestyle() for line in ax.lines))
        self.assertEqual(self.texts(plot.convergence(self.model, labels=["Algorithm 1"])), ["Algorithm 1"])

    def test_wide_ranges_are_logarithmic(self):
        model = rlar.RLAR().fit(*WINE)
        model.trace_ = np.zeros(100, model.trace_.dtype)
        model.trace_["objective"] = np.geomspace(1000, 10, 100)
        ax = plot.convergence(model)
        self.assertEqual((ax.get_xscale(), ax.get_yscale()), ("log", "log"))
        self.draw(ax)
        self.assertIn("100", [text.get_text() for text in ax.get_yticklabels()])
        ax = plot.convergence(self.model)
        self.assertEqual((ax.get_xscale(), ax.get_yscale()), ("linear", "linear"))

    def test_refused(self):
        self.model.save(self.folder / "model.rlar")
        self.assertRaisesRegex(ValueError, "closed form", plot.convergence, rlar.LDA().fit(*WINE))
        self.assertRaisesRegex(ValueError, "trace_", plot.convergence, rlar.load(self.folder / "model.rlar"))
        self.assertRaisesRegex(ValueError, "no estimator", plot.convergence)
        self.assertRaisesRegex(ValueError, "2 labels for 1", plot.convergence, self.model, labels=["a", "b"])
        self.assertRaisesRegex(ValueError, "against", plot.convergence, self.model, against="hours")


class Embedding(PlotCase):
    def test_values(self):
        X, y = WINE
        ax = plot.embedding(self.model, X, y)
        self.assertEqual(self.texts(ax), ["1", "2", "3"])
        self.assertEqual([len(c.get_offsets()) for c in ax.collections], [59, 71, 48])
        points = np.empty((len(y), 2))
        for k, cloud in zip((1, 2, 3), ax.collections):
            points[y == k] = cloud.get_offsets()
        outputs = self.model.transform(X)
        want = np.linalg.eigvalsh(np.cov(outputs.T))[::-1]
        np.testing.assert_allclose(np.cov(points.T), np.diag(want[:2]), atol=1e-9 * want[0])
        self.assertIn("(%.1f %% of the variance)" % (100 * want[0] / want.sum()), ax.get_xlabel())
        self.assertIn("(%.1f %%)" % (100 * want[1] / want.sum()), ax.get_ylabel())
        self.draw(ax)

    def test_one_output(self):
        y = (WINE[1] == 2).astype(int)
        ax = plot.embedding(rlar.LDA().fit(WINE[0], y), WINE[0], y)
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("the only output", "class"))
        self.assertEqual([set(c.get_offsets()[:, 1]) for c in ax.collections], [{0.0}, {1.0}])
        self.draw(ax)

    def test_many_classes(self):
        X, y = make_classification(300, 30, n_informative=20, n_classes=25, n_clusters_per_class=1, random_state=1)
        ax = plot.embedding(rlar.RR().fit(X, y), X, y)
        self.assertIsNone(ax.get_legend())
        self.assertEqual([text.get_text() for text in ax.texts], [str(k) for k in range(25)])
        np.testing.assert_allclose(ax.texts[3].get_position(), ax.collections[3].get_offsets().mean(axis=0))
        self.draw(ax)

    def test_other_classes_and_none(self):
        names = np.repeat(["$a_$", "b" * 40, "c"], 50)  # a formula, a long one, and one to leave out
        model = rlar.RLAR().fit(IRIS[0][:100], names[:100])
        ax = plot.embedding(model, IRIS[0], names)
        self.assertEqual([len(c.get_offsets()) for c in ax.collections], [50, 50, 50])
        self.assertEqual(self.texts(ax)[2], "not in the model")
        self.assertEqual(len(self.texts(ax)[1]), 28)
        self.draw(ax)
        self.assertEqual(self.texts(plot.embedding(model, IRIS[0])), ["samples"])
        self.assertRaisesRegex(ValueError, "150 samples", plot.embedding, model, IRIS[0], names[:9])

    def test_frames(self):
        model = rlar.LDA().set_output(transform="pandas").fit(*WINE)
        want = plot.embedding(rlar.LDA().fit(*WINE), *WINE)
        have = plot.embedding(model, *WINE)
        np.testing.assert_array_equal(have.collections[0].get_offsets(), want.collections[0].get_offsets())


class Heatmap(PlotCase):
    def check(self, ax, table, measure):
        """table: rows are beta, columns alpha, both in order."""
        np.testing.assert_allclose(np.ma.filled(ax.images[0].get_array(), np.nan), table)
        self.draw(ax)
        self.assertEqual((ax.get_xlabel(), ax.get_ylabel()), ("alpha", "beta"))
        self.assertLess(*ax.get_ylim())  # beta grows upwards
        self.assertEqual([text.get_text() for text in ax.get_xticklabels()], ["0.01", "0.1", "1"])
        self.assertEqual([text.get_text() for text in ax.get_yticklabels()], ["0.1", "1"])
        self.assertEqual(ax.images[0].colorbar.ax.get_ylabel(), measure)
        self.assertEqual([text.get_text() for text in ax.texts],
                         ["%.1f" % value for value in np.ravel(table) if not np.isnan(value)])

    def best(self, ax):
        (patch,) = [patch for patch in ax.patches if patch.get_label() == "best"]
        return tuple(np.round(patch.get_xy()[::-1]).astype(int))

    def test_evaluate(self):
        for tune, measure in (("cv", "validation accuracy (%)"), ("oracle", "test accuracy (%)")):
            results = rlar.evaluate(*WINE, train_per_class=6, trials=2, tune=tune, grid={**GRID, "k": [3]})
            cells = {(c["beta"], c["alpha"]): 100 * c["accuracy"] for c in results.attrs["grids"][0]["cells"]}
            table = [[cells[beta, alpha] for alpha in (0.01, 0.1, 1)] for beta in (0.1, 1)]
            ax = plot.heatmap(results)
            self.check(ax, table, measure)
            self.assertEqual(self.best(ax), np.unravel_index(np.argmax(table), (2, 3)))
            self.assertEqual(ax.get_title(loc="left"), "rlar, train per class 6")

    def test_best_of_those_tried_most(self):
        """A cell that had one easy trial does not beat those that had them all."""
        results = rlar.evaluate(*WINE, train_per_class=6, trials=2, tune="oracle", grid=GRID)
        cells = results.attrs["grids"][0]["cells"]
        want = max(cells, key=lambda cell: cell["accuracy"])
        easy = next(cell for cell in cells if cell is not want)
        easy.update(accuracy=1.0, trials=1)
        place = [0.1, 1].index(want["beta"]), [0.01, 0.1, 1].index(want["alpha"])
        ax = plot.heatmap(results)
        self.assertEqual(self.best(ax), place)
        self.assertEqual([text.get_text() for text in ax.texts if "(" in text.get_text()], ["(100.0)"])
        self.assertIn("( ): of fewer trials", ax.images[0].colorbar.ax.get_ylabel())

    def test_choice_among_grids(self):
        results = rlar.evaluate(*WINE, ["rlar", "rslda"], train_per_class=[5, 9], trials=1, tune="oracle",
                                grid={"rlar.alpha": [0.1, 1], "rlar.beta": [0.1, 1]})
        self.assertRaisesRegex(ValueError, "4 grids fit.*method='rlar' size=5", plot.heatmap, results)
        self.assertRaisesRegex(ValueError, "2 grids fit", plot.heatmap, results, method="rlar")
        self.assertEqual(plot.heatmap(results, method="rlar", size=9).get_title(loc="left"), "rlar, train per class 9")

    def test_grid_search(self):
        search = GridSearchCV(rlar.RLAR(), GRID, cv=3).fit(*WINE)
        scores = search.cv_results_["mean_test_score"]
        scores[0] = np.nan  # alpha 1, beta 0.1: a fit that failed
        table = 100 * scores.reshape(3, 2)[[1, 2, 0]].T
        ax = plot.heatmap(search)
        self.check(ax, table, "validation accuracy (%)")
        self.assertEqual(self.best(ax), np.unravel_index(np.nanargmax(table), (2, 3)))
        self.assertEqual(self.texts(ax), ["no result", "best"])
        hatched = [patch.get_xy() for patch in ax.patches if patch.get_hatch()]
        self.assertEqual(hatched, [(1.5, -0.5)])

    def test_scores_words_and_pipelines(self):
        pipeline = Pipeline([("map", rlar.RLAR())])
        grid = {"map__scale": ["zscore,rms", "unit"], "map__alpha": [0.1, 1]}
        search = GridSearchCV(pipeline, grid, cv=2, scoring="f1_macro").fit(*WINE)
        ax = plot.heatmap(search)
        np.testing.assert_allclose(ax.images[0].get_array(), search.cv_results_["mean_test_score"].reshape(2, 2).T)
        self.assertEqual(ax.images[0].colorbar.ax.get_ylabel(), "validation f1_macro")
        self.draw(ax)
        self.assertEqual([text.get_text() for text in ax.get_yticklabels()], ["zscore,rms", "unit"])
        self.assertEqual(ax.get_xlabel(), "map__alpha")
        search = GridSearchCV(pipeline, grid, cv=2, scoring=["f1_macro", "accuracy"], refit="accuracy").fit(*WINE)
        self.assertEqual(plot.heatmap(search).images[0].colorbar.ax.get_ylabel(), "validation accuracy (%)")

    def test_refused(self):
        for results, why in ((GridSearchCV(rlar.RLAR(), {"alpha": [0.1, 1]}, cv=2).fit(*WINE), "1 parameters.*alpha"),
                             (GridSearchCV(rlar.RLAR(), {**GRID, "k": [1, 3]}, cv=2).fit(*IRIS), "3 parameters"),
                             (GridSearchCV(rlar.RLAR(), GRID), "fitted GridSearchCV"),
                             (GridSearchCV(rlar.RLAR(), GRID, cv=2, scoring=["accuracy"], refit=False).fit(*IRIS), "refit"),
                             (rlar.evaluate(*WINE, "rr", folds=3, trials=1), "there is no grid")):
            with self.subTest(why=why):
                self.assertRaisesRegex(ValueError, why, plot.heatmap, results)


class FeatureScores(PlotCase):
    def test_bars(self):
        frame, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
        model = rlar.RLAR().fit(frame, y)
        ax = plot.feature_scores(model, top=4)
        order = np.argsort(-model.feature_scores_)[:4]
        self.assertEqual([bar.get_width() for bar in ax.patches], list(model.feature_scores_[order]))
        self.assertEqual([text.get_text() for text in ax.get_yticklabels()], list(frame.columns[order]))
        self.assertGreater(*ax.get_ylim())  # the best on top
        self.assertEqual(len(plot.feature_scores(model).patches), 13)
        self.draw(ax)
        ax = plot.feature_scores(self.model, top=2)
        self.assertEqual([text.get_text() for text in ax.get_yticklabels()],
                         list(map(str, np.argsort(-self.model.feature_scores_)[:2])))

    def test_image(self):
        X, y = WINE
        model = rlar.RR().fit(X[:, :12], y)
        for order in "CF":
            ax = plot.feature_scores(model, image=(3, 4), order=order)
            np.testing.assert_array_equal(ax.images[0].get_array(), model.feature_scores_.reshape(3, 4, order=order))
            self.assertEqual(ax.images[0].get_clim(), (0, model.feature_scores_.max()))
        self.assertEqual(ax.images[0].colorbar.ax.get_ylabel(), "score")
        self.draw(ax)

    def test_refused(self):
        self.assertRaisesRegex(ValueError, "12 pixels for 13", plot.feature_scores, self.model, image=(3, 4))
        self.assertRaisesRegex(ValueError, "order", plot.feature_scores, self.model, image=(1, 13), order="rows")
        self.assertRaisesRegex(ValueError, "top=0", plot.feature_scores, self.model, top=0)


if __name__ == "__main__":
    unittest.main()
