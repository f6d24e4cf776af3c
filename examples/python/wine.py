"""Wine with a ranked feature list: which measurements tell three growers apart?

178 wines, 13 chemical measurements, 3 growers; the data ship with rlar. RLAR scores every measurement by
the length of its row of the map. Left: the ranked list; the whiskers have the scores on random halves of the
wines (10, 50 and 90 %), which shows how far the order can be trusted. Right: the cross-validated accuracy
with the best so many measurements, ranked within each training set.

What came out: proline is among the best three in nine of ten halves; colour intensity, first on all wines,
is anywhere from 1 to 7 there; flavanoids and alcohol follow, and magnesium hardly counts. The best two have
85.8 % right, the best four 93.4 %, eight are as good as all thirteen (98.0 and 97.5 %). On halves most
scores are lower: alpha weighs more against fewer samples. Ten seconds.

    python wine.py [FOLDER FOR THE FIGURE] [--halves 50]
"""
import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline

import rlar


def scores_of_halves(X, y, count):
    """One row for each random half of the wines."""
    halves = StratifiedShuffleSplit(n_splits=count, train_size=0.5, random_state=1)
    return np.array([rlar.RLAR().fit(X.iloc[rows], y.iloc[rows]).feature_scores_ for rows, _ in halves.split(X, y)])


def accuracies(X, y, folds):
    """(mean, standard deviation), in per cent, with the best 1, 2, ... measurements."""
    values = [cross_val_score(make_pipeline(SelectFromModel(rlar.RLAR(), max_features=count, threshold=-np.inf),
                                            rlar.RLAR()), X, y, cv=folds) for count in range(1, X.shape[1] + 1)]
    return 100 * np.mean(values, axis=1), 100 * np.std(values, axis=1, ddof=1)


def draw(model, order, halves, mean, spread):
    figure = Figure(figsize=(10, 3.9), layout="constrained")
    bars, curve = figure.subplots(1, 2, width_ratios=[1.15, 1])
    for bar in rlar.plot.feature_scores(model, ax=bars).patches:
        bar.set_color("#a9c4e0")  # light enough for the whiskers
    low, middle, high = np.percentile(halves[:, order], [10, 50, 90], axis=0)
    bars.errorbar(middle, range(len(order)), xerr=[middle - low, high - middle], fmt="|", color="black", capsize=2.5,
                  linewidth=1, label="random halves of the wines")
    bars.legend(loc="lower right", frameon=False)
    counts = np.arange(1, len(mean) + 1)
    curve.errorbar(counts, mean, spread, fmt="o-", color="black", capsize=3, markersize=5)
    curve.set(xlabel="measurements, the best first", ylabel="cross-validated accuracy (%)", xticks=counts)
    curve.grid(color="#dddddd")
    curve.spines[["top", "right"]].set_visible(False)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("."), help="for the figure")
    parser.add_argument("--halves", type=int, default=50, help="random halves of the wines")
    arguments = parser.parse_args()
    X, y = rlar.datasets.load_wine(return_X_y=True, as_frame=True)
    model = rlar.RLAR().fit(X, y)
    order = np.argsort(-model.feature_scores_)
    halves = scores_of_halves(X, y, arguments.halves)
    ranks = (-halves).argsort(axis=1).argsort(axis=1) + 1
    mean, spread = accuracies(X, y, RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=1))
    print("rank  measurement                    score  rank in halves  accuracy with these")
    for place, j in enumerate(order):
        low, high = np.percentile(ranks[:, j], [10, 90])
        print(f"{place + 1:4}  {X.columns[j]:28} {model.feature_scores_[j]:7.3f}  {low:6.0f} to {high:<5.0f}"
              f"  {mean[place]:8.1f} ± {spread[place]:.1f}")
    draw(model, order, halves, mean, spread).savefig(arguments.folder / "wine.png", dpi=110)


if __name__ == "__main__":
    main()
