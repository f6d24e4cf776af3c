"""Faces with occlusion: how much do covered training images cost?

Of eight training images of each of 100 people, three are covered by a square with a pattern, at a random
place; the other six images, which nothing covers, are recognised. In RLAR's loss a bad image counts by its
distance, in that of ridge regression (RR) by the square of it. The figure shows the accuracy over the size
of the square, mean and standard deviation over the splits, and which pixels RLAR looks at.

What came out, five splits: RLAR is ahead at every size, by 0.4 to 1.3 points. Squares of 25 pixels, which
hide 61 % of an image, cost RLAR 2.5 points (98.9 to 96.5 %), LDA 3.1 (98.4 to 95.3 %) and RR 2.8 (98.1 to
95.2 %). RLAR looks at the eyes and at the outline; with squares, which lie in the middle more often than at
the rim, less at the middle. About half a minute.

    RLAR_DATA_DIR=folder python faces.py [FOLDER FOR THE FIGURE] [--trials 5]

The AR faces (AR_32x32.mat: fea, 1400 x 1024, and gnd) are given out on request, for research, and may not
be passed on: no photograph is shown or stored here. Their pixels are stored column by column.
"""
import argparse
import os
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.io import loadmat

import rlar

SIDE = 32
SIZES = (0, 5, 10, 15, 20, 25)
TRAINING, COVERED = 8, 3  # images of a person
METHODS = {"RLAR": rlar.RLAR, "LDA": rlar.LDA, "RR": rlar.RR}
STYLES = {"RLAR": ("o-", "#000000"), "LDA": ("s--", "#0072b2"), "RR": ("^:", "#d55e00")}


def load():
    path = Path(os.environ.get("RLAR_DATA_DIR", ".")) / "AR_32x32.mat"
    if not path.exists():
        sys.exit(f"skipped: there is no {path}; ask for the AR face database, scale its 1400 images without glasses or "
                 "scarf to 32 x 32, and name their folder in RLAR_DATA_DIR")
    data = loadmat(path)
    return data["fea"].astype(float), data["gnd"].ravel()


def pattern():
    """Waves of many directions, as bright and dark as pixels are."""
    rng = np.random.default_rng(1)
    at = np.arange(SIDE) / SIDE
    waves = sum(np.cos(2 * np.pi * (u * at[:, None] + v * at + rng.random())) for u in range(5) for v in range(-4, 5))
    return np.clip(127.5 * (1 + (waves - waves.mean()) / (2 * waves.std())), 0, 255)


def cover(images, size, rng):
    """A square of each image shows the pattern, reduced to its size."""
    images = images.copy()
    pixels = np.arange(size) * SIDE // max(size, 1)
    square = pattern()[np.ix_(pixels, pixels)]
    for image in images.reshape(-1, SIDE, SIDE):
        top, left = rng.integers(0, SIDE - size + 1, 2)
        image[top:top + size, left:left + size] = square
    return images


def split(y, rng):
    """(covered, other training, test) rows, the same numbers of each class."""
    rows = np.array([rng.permutation(np.flatnonzero(y == person)) for person in np.unique(y)])
    return rows[:, :COVERED].ravel(), rows[:, COVERED:TRAINING].ravel(), rows[:, TRAINING:].ravel()


def measure(X, y, trials):
    """(accuracy of each method, size and trial; RLAR without and with the largest squares)"""
    accuracy = {name: np.empty((len(SIZES), trials)) for name in METHODS}
    models = {}
    for trial in range(trials):
        covered, clean, test = split(y, np.random.default_rng(trial))
        for i, size in enumerate(SIZES):
            images = np.vstack([cover(X[covered], size, np.random.default_rng([trial, size])), X[clean]])
            people = np.concatenate([y[covered], y[clean]])
            for name, method in METHODS.items():
                models[name, size] = method().fit(images, people)
                accuracy[name][i, trial] = 100 * models[name, size].score(X[test], y[test])
    return accuracy, models["RLAR", SIZES[0]], models["RLAR", SIZES[-1]]


def spread(values):
    """(means, standard deviations) over the trials; a single trial deviates from nothing."""
    return values.mean(axis=1), values.std(axis=1, ddof=min(1, values.shape[1] - 1))


def draw(accuracy, clean, covered):
    figure = Figure(figsize=(11, 3.5), layout="constrained")
    curves, left, right = figure.subplots(1, 3, width_ratios=[1.2, 1, 1])
    for shift, (name, values) in zip((0, -0.35, 0.35), accuracy.items()):  # whiskers side by side
        style, colour = STYLES[name]
        curves.errorbar(np.add(SIZES, shift), *spread(values), fmt=style, color=colour, capsize=3, markersize=5, label=name)
    curves.set(xlabel="side of the square (pixels)", ylabel="accuracy (%)", xticks=SIZES,
               title="three of eight training images covered")
    curves.grid(color="#dddddd")
    curves.spines[["top", "right"]].set_visible(False)
    curves.legend(frameon=False)
    for ax, model, title in ((left, clean, "nothing covered"), (right, covered, f"squares of {SIZES[-1]} pixels")):
        rlar.plot.feature_scores(model, image=(SIDE, SIDE), order="F", ax=ax).set_title(f"RLAR, {title}")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("."), help="for the figure")
    parser.add_argument("--trials", type=int, default=5, help="random splits")
    arguments = parser.parse_args()
    accuracy, clean, covered = measure(*load(), arguments.trials)
    print("square " + " ".join(f"{name:>12}" for name in accuracy))
    for size, *pairs in zip(SIZES, *(zip(*spread(values)) for values in accuracy.values())):
        print(f"{size:6} " + " ".join(f"{mean:5.2f} ± {deviation:.2f}" for mean, deviation in pairs))
    draw(accuracy, clean, covered).savefig(arguments.folder / "faces.png", dpi=110)


if __name__ == "__main__":
    main()
