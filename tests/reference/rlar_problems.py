"""Random RLAR problems with fixed seeds, in the regimes where implementations tend to differ.

Labels are whole numbers with gaps, negative ones among them, so that classes in any other than
numeric order are noticed. All data are continuous (ties have measure zero) except for exact
copies of samples.
"""
import numpy as np

GRID = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 10, 100, 1000)
SCALES = ("none", "unit", "minmax", "zscore")
EPS = (1e-8, 1e-4, 1e-2)
NEIGHBOURS = (0, 1, 2, 3, 7, 50)
# Each regime: features, class sizes.
REGIMES = {
    "tall": (5, (14, 17, 12)),
    "square": (24, (9, 8, 7)),
    "wide": (70, (7, 6, 8)),
    "many classes": (4, (5,) * 9),
    "two classes": (8, (13, 11)),
    "two classes wide": (40, (6, 9)),
    "copies": (6, (12, 12, 12)),
    "singletons": (7, (9, 1, 8, 1)),
    "small classes": (10, (2, 3, 4, 12)),
    "one feature": (1, (11, 12)),
}


def samples(rng, d, sizes, spread=1.0):
    """Class centres, noise, features of different magnitude, a few outliers; in random order."""
    names = rng.choice(np.arange(-20, 120), size=len(sizes), replace=False)
    centres = rng.normal(size=(len(sizes), d))
    X = np.vstack([centre + spread * rng.normal(size=(size, d)) for centre, size in
                   zip(centres, sizes)])
    labels = np.repeat(names, sizes)
    X[rng.random(len(labels)) < 0.05] *= 4.0
    X = X * np.exp(rng.normal(size=d) * 0.5) + rng.normal(size=d)
    order = rng.permutation(len(labels))
    return X[order], labels[order]


def copy_some(rng, X, labels):
    """Make exact copies: four samples of one class, and one sample that stands in two classes."""
    mates = np.flatnonzero(labels == labels[0])
    X[mates[1:4]] = X[mates[0]]
    other = np.flatnonzero(labels != labels[0])
    X[other[0]] = X[other[1]]
    X[other[2]] = X[mates[5]]


def problem(number):
    """Problem `number`: (name, X, labels, scale, parameters of the fit)."""
    rng = np.random.default_rng(7000 + number)
    regime = list(REGIMES)[number % len(REGIMES)]
    d, sizes = REGIMES[regime]
    X, labels = samples(rng, d, sizes, spread=float(rng.choice([0.3, 1.0])))
    if regime == "copies":
        copy_some(rng, X, labels)
    solver = ("paper", "anneal")[number // len(REGIMES) % 2]
    params = {"alpha": float(rng.choice(GRID)), "beta": float(rng.choice(GRID)),
              "k": int(rng.choice(NEIGHBOURS)), "iters": int(rng.integers(1, 9)),
              "eps": float(rng.choice(EPS)), "solver": solver}
    scale = SCALES[int(rng.integers(len(SCALES)))]
    if regime == "one feature" and scale == "unit":
        scale = "none"  # a single feature of unit length is a sign: every distance is a tie
    return f"{number} {regime} {scale} {params}", X, labels, scale, params
