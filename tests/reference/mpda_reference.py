"""Manifold partition discriminant analysis in plain NumPy: the oracle of method mpda.

Every class is cut into patches (mpda_partition_reference.py); patch p has a tangent basis T_p
(rows; the fewest principal directions with 95 % of its variance). W is the 0/1 graph of the k
nearest neighbours inside a class, either way counts. With z = [t; b_1; b_2; ...] and S defined by

  z^T S z = sum_ij W_ij { [t^T (x_i - x_j) - b_p(j)^T T_p(j) (x_i - x_j)]^2
                          + gamma |b_p(i) - T_p(i) T_p(j)^T b_p(j)|^2 }

the method maximises (t^T S_b t) / (z^T (S + alpha I) z), S_b of LFDA with the same k, t in the
range of the data. Here as one eigenproblem in all unknowns, z^T (S + alpha I) z = 1, nothing
eliminated: the columns of W are the first d rows of its leading eigenvectors. Those with lambda
below 1e-10 of the largest are left out.
"""
import numpy as np

import lfda_reference
from mpda_partition_reference import patches
from scatter_reference import (centred, classes_of, finish, generalised, nearest, range_basis,
                               squared_distances)

SMALLEST = 1e-10


def within_graph(X, label, k):
    n, distance = len(X), squared_distances(X)
    W = np.zeros((n, n))
    for i in range(n):
        mates = np.flatnonzero(label == label[i])
        W[i, nearest(distance[i], mates[mates != i], k)] = 1.0
    return np.maximum(W, W.T)


def all_patches(X, label, geodesic, patch):
    """Patches of all classes as lists of samples."""
    return [members[piece] for members in (np.flatnonzero(label == i) for i in np.unique(label))
            for piece in patches(X[members], geodesic, patch)]


def tangent(X, energy=0.95):
    """T_p, q_p x d: no row where the patch is a single point."""
    _, s, Vt = np.linalg.svd(centred(X), full_matrices=False)
    variance = s * s
    if not s.size or s[0] <= max(X.shape) * np.finfo(float).eps * np.abs(X).max():
        return np.zeros((0, X.shape[1]))
    share = np.cumsum(variance) / variance.sum()
    return Vt[:int(np.argmax(share >= energy)) + 1]


def assemble(X, W, gamma, tangents, patch_of):
    """S, (d + E) x (d + E), term by term of the double sum: each is |M z|^2 for a matrix M."""
    d = X.shape[1]
    start = d + np.concatenate([[0], np.cumsum([len(T) for T in tangents])])
    S = np.zeros((start[-1], start[-1]))
    place = [slice(start[p], start[p + 1]) for p in range(len(tangents))]
    for i, j in zip(*np.nonzero(W)):
        p, q = patch_of[i], patch_of[j]
        row = np.zeros(start[-1])
        row[:d] = X[i] - X[j]
        row[place[q]] = -tangents[q] @ (X[i] - X[j])
        S += W[i, j] * np.outer(row, row)
        rows = np.zeros((len(tangents[p]), start[-1]))
        rows[:, place[p]] += np.eye(len(tangents[p]))
        rows[:, place[q]] -= tangents[p] @ tangents[q].T
        S += gamma * W[i, j] * rows.T @ rows
    return S


def double_sum(X, W, gamma, tangents, patch_of, z):
    """The objective of section 1, by its definition."""
    d, b, total = X.shape[1], [], 0.0
    for T in tangents:
        b.append(z[d + sum(map(len, b)):][:len(T)])
    for i, j in zip(*np.nonzero(W)):
        p, q, dx = patch_of[i], patch_of[j], X[i] - X[j]
        total += W[i, j] * (z[:d] @ dx - b[q] @ (tangents[q] @ dx)) ** 2
        gap = b[p] - tangents[p] @ (tangents[q].T @ b[q])
        total += gamma * W[i, j] * gap @ gap
    return total


def parts(X, labels, k, gamma, patch=10, geodesic=6, energy=0.95):
    """The graph, tangents and patch of each sample, S, and S_b of LFDA."""
    _, label = classes_of(labels)
    W = within_graph(X, label, k)
    cut = all_patches(X, label, geodesic, patch)
    patch_of = np.zeros(len(X), dtype=int)
    for p, members in enumerate(cut):
        patch_of[members] = p
    tangents = [tangent(X[members], energy) for members in cut]
    S_b = lfda_reference.local_scatters(X, labels, k)[1]
    return W, tangents, patch_of, assemble(X, W, gamma, tangents, patch_of), S_b


def fit(X, labels, k=7, gamma=1.0, alpha=1e-5, patch=10, geodesic=6, energy=0.95):
    d, c = X.shape[1], len(np.unique(labels))
    _, _, _, S, S_b = parts(X, labels, k, gamma, patch, geodesic, energy)
    V, _ = range_basis(X)
    r, size = V.shape[1], len(S) - d
    inside = np.zeros((d + size, r + size))  # t in the range of the data, every b free
    inside[:d, :r], inside[d:, r:] = V, np.eye(size)
    B = np.zeros_like(S)
    B[:d, :d] = S_b
    S = inside.T @ S @ inside + alpha * np.eye(r + size)
    values, Z = generalised(inside.T @ B @ inside, S, min(c, r))
    keep = values > SMALLEST * values[0]
    # what is left of S for t when the best b is put in; t^T C t = 1
    C = S[:r, :r] - S[:r, r:] @ np.linalg.solve(S[r:, r:], S[r:, :r]) if size else S
    return finish(X, V @ Z[:r, keep], values[keep], C=V @ C @ V.T)
