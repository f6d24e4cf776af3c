"""What the oracles share: one-hot targets, and linear systems solved as well as they are known.

Iteratively reweighted methods put weights of up to 1/eps into their matrices. Products formed in
NumPy's long double and a solution refined in it leave no rounding of the oracle's own worth
speaking of; a difference from the program is then the program's.
"""
import numpy as np

LONG = np.longdouble


def one_hot(index):
    """n x c, a single one in each row."""
    return (np.asarray(index)[:, None] == np.arange(np.max(index) + 1)).astype(float)


def long(*arrays):
    """The arrays in long double."""
    return tuple(np.asarray(array, dtype=LONG) for array in arrays)


def solve(M, B, steps=4):
    """The X with M X = B, for a symmetric positive definite M in long double. M is scaled to a unit
    diagonal first, so that weights of very different size do no harm."""
    M, B = long(M, B)
    scale = 1 / np.sqrt(np.diag(M))
    N, C = scale[:, None] * M * scale, scale[:, None] * B
    X = np.zeros_like(C)
    for _ in range(steps):
        X = X + np.linalg.solve(N.astype(float), (C - N @ X).astype(float))
    return scale[:, None] * X


def row_norms(A):
    return np.sqrt((A * A).sum(axis=1))
