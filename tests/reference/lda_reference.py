"""Fisher's linear discriminant analysis in plain NumPy: the oracle of method lda.

S_b w = mu S_t w on the range of S_t, columns in the order of falling mu, those with sqrt(mu) up
to 1e-3 left out, at most c - 1. Scaling "unit": every column of length one; columns whose mu
agree to 1e-8 form a block that stays S_t-orthonormal and gets one common factor, such that the
squares in a block of b columns sum to b. Other scalings: "st" leaves W^T S_t W = I, "sw" makes
W^T S_w W = I, "orth" orthonormalises the columns in their order.
"""
import numpy as np

from scatter_reference import (between_factor, classes_of, finish, largest, range_basis,
                               tied_blocks)

TIE = 1e-8
SMALLEST_ROOT = 1e-3


def scaled_columns(W, mu, blocks, length):
    """Step 6: the length of the columns, which the nearest-neighbour metric depends on."""
    if length == "st":
        return W
    if length == "sw":
        return W / np.sqrt(1 - mu)
    if length == "orth":
        return np.linalg.qr(W)[0]
    W = W.copy()
    for start, stop in blocks:
        W[:, start:stop] *= np.sqrt((stop - start) / (W[:, start:stop] ** 2).sum())
    return W


def fit(X, labels, length="unit", fisherface=0, ridge=0.0):
    """W (d x q), b and the mu."""
    names, label = classes_of(labels)
    V, s = range_basis(X)
    if fisherface:
        keep = min(len(s), len(X) - len(names))
        V, s = V[:, :keep], s[:keep]
    whiten = V / np.sqrt(s * s + ridge)  # whiten^T S_t whiten = I without ridge
    H = whiten.T @ between_factor(X, label)
    mu, Q = largest(H @ H.T, min(len(names) - 1, len(s)))
    keep = np.sqrt(np.maximum(mu, 0)) > SMALLEST_ROOT
    mu, Q = mu[keep], Q[:, keep]
    blocks = tied_blocks(mu, TIE)
    W = scaled_columns(whiten @ Q, mu, blocks, length)
    return finish(X, W, mu, blocks)
