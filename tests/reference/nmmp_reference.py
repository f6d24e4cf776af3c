"""Neighbourhood min-max projections in plain NumPy: the oracle of method nmmp.

A_w joins each sample with its k nearest of the same class, A_b with its k nearest of the other
classes (either way counts; mutual "and": both ways must). S_w, S_b: the scatters of these graphs.

  maximise tr(W^T S_b W) / tr(W^T S_w W),  W^T W = I, W with c columns in the range of the data

Null-space branch: where S_w has at least as many eigenvalues up to 1e-10 of the largest as columns
are wanted, the ratio is infinite and W takes the leading eigenvectors of S_b inside that space.
Otherwise the best ratio is the root of g(lambda) = sum of the q largest eigenvalues of S_b -
lambda S_w, found here by bisection, the solver of 2007, down to neighbouring floating-point
numbers; W holds the eigenvectors at the root.
"""
import numpy as np

from scatter_reference import (classes_of, finish, graph_scatter, largest, nearest, neighbour_rule,
                               range_basis, squared_distances)

NULL = 1e-10


def graphs(X, label, k, mutual="or"):
    """A_w and A_b, n x n."""
    n, distance = len(X), squared_distances(X)
    within, between = np.zeros((n, n), dtype=bool), np.zeros((n, n), dtype=bool)
    for i in range(n):
        mates = np.flatnonzero(label == label[i])
        within[i, nearest(distance[i], mates[mates != i], k)] = True
        between[i, nearest(distance[i], np.flatnonzero(label != label[i]), k)] = True
    join = np.logical_and if mutual == "and" else np.logical_or
    return join(within, within.T).astype(float), join(between, between.T).astype(float)


def bisection(S_b, S_w, q):
    """The largest lambda with g(lambda) >= 0."""
    def g(ratio):
        return largest(S_b - ratio * S_w, q)[0].sum()
    low = np.trace(S_b) / np.trace(S_w)
    smallest = np.linalg.eigvalsh(S_w)[:q].sum()
    high = largest(S_b, q)[0].sum() / max(smallest, 1e-300)
    while True:
        middle = (low + high) / 2 if high < 4 * low else np.sqrt(low) * np.sqrt(high)
        if not low < middle < high:
            return low
        if g(middle) >= 0:
            low = middle
        else:
            high = middle


def trace_ratio(S_b, S_w, q):
    """(W, eigenvalues, lambda, gap): lambda is infinite in the null-space branch; gap is how far
    the eigenvalues beside the cut are apart, relative to the largest. No gap, no unique span."""
    values, vectors = np.linalg.eigh((S_w + S_w.T) / 2)
    N = vectors[:, values <= NULL * max(values[-1], 0.0)]
    if q <= N.shape[1]:
        values, Q = largest(N.T @ S_b @ N, N.shape[1])
        W, ratio = N @ Q, np.inf
    else:
        ratio = bisection(S_b, S_w, q)
        values, W = largest(S_b - ratio * S_w, len(S_b))
    cut = values[q - 1] - values[q] if q < len(values) else values[0]
    return W[:, :q], values[:q], ratio, cut / values[0]


def scatters(X, labels, k, mutual="or"):
    _, label = classes_of(labels)
    A_w, A_b = graphs(X, label, neighbour_rule(k, label), mutual)
    if not A_b.any():
        A_b = graphs(X, label, neighbour_rule(k, label))[1]
    return graph_scatter(X, A_w), graph_scatter(X, A_b)


def fit(X, labels, k=0, mutual="or"):
    S_w, S_b = scatters(X, labels, k, mutual)
    V, _ = range_basis(X)
    q = min(len(np.unique(labels)), V.shape[1])
    Q, values, ratio, gap = trace_ratio(V.T @ S_b @ V, V.T @ S_w @ V, q)
    return finish(X, V @ Q, values, ratio=ratio, gap=gap, S_w=S_w, S_b=S_b)
