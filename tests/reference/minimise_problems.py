"""Problems for solver=minimise, and the fit of one."""
import numpy as np

import rlar_problems as problems
import rlar_program as program

SHAPES = ((4, (14, 17, 12)), (30, (6, 5, 7)), (6, (9, 9)), (40, (5, 6, 5, 4)), (3, (8, 8, 8, 8)))
CELLS = ((0.01, 0.01), (0.1, 0.1), (0.5, 0.05), (0.05, 1.0))


def small_problems():
    """Twenty: five shapes, n > d and n < d, by four cells of the grid."""
    for shape, (d, sizes) in enumerate(SHAPES):
        for cell, (alpha, beta) in enumerate(CELLS):
            rng = np.random.default_rng(100 * shape + cell)
            X, labels = problems.samples(rng, d, sizes, spread=0.7)
            X = X / np.linalg.norm(X, axis=1, keepdims=True)
            yield f"{len(labels)} x {d}, alpha {alpha}, beta {beta}", X, labels, alpha, beta


def minimise(X, labels, alpha, beta, **more):
    return program.fit(X, labels, alpha=alpha, beta=beta, solver="minimise", **more)
