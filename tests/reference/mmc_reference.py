"""The maximum margin criterion and its angle variant in plain NumPy: oracles of mmc and alde.

MMC   maximise tr(W^T (S_b - theta S_w) W), W^T W = I, with the scatters of LDA
ALDE  the same with scatters of unit vectors: u_j along x_j minus its class mean, v_i along class
      mean minus mean; Sw_a is the mean of u u^T, Sb_a the mean of v v^T weighted by class size.
      Differences without a direction (at most 1e-12 of the largest) are left out of both the sum
      and the count.

The c algebraically largest eigenvalues, negative or not, with eigenvectors inside the range of
the centred data: outside it every direction has eigenvalue zero and shows nothing.
"""
import numpy as np

from scatter_reference import class_scatters, classes_of, finish, largest, range_basis

NO_DIRECTION = 1e-12


def in_range(X, M, q):
    """Leading eigenvectors of V^T M V, taken back by V."""
    V, _ = range_basis(X)
    values, Q = largest(V.T @ M @ V, q)
    return finish(X, V @ Q, values, M=M)


def mmc(X, labels, theta=1.0):
    names, label = classes_of(labels)
    S_w, S_b, _ = class_scatters(X, label)
    return in_range(X, S_b - theta * S_w, len(names))


def unit_scatter(vectors, weights, longest):
    """The weighted mean of the outer products of unit vectors; no direction, no vote."""
    total, S = 0.0, np.zeros((vectors.shape[1],) * 2)
    for vector, weight in zip(vectors, weights):
        length = np.linalg.norm(vector)
        if length > NO_DIRECTION * longest:
            S += weight * np.outer(vector, vector) / length ** 2
            total += weight
    return S / total if total > 0 else S


def alde_scatters(X, labels):
    """Sw_a and Sb_a."""
    names, label = classes_of(labels)
    means = np.array([X[label == i].mean(axis=0) for i in range(len(names))])
    deviations = X - X.mean(axis=0)
    longest = np.sqrt((deviations ** 2).sum(axis=1)).max()
    within = unit_scatter(X - means[label], np.ones(len(X)), longest)
    between = unit_scatter(means - X.mean(axis=0), np.bincount(label), longest)
    return within, between


def alde(X, labels, theta=1.0):
    within, between = alde_scatters(X, labels)
    return in_range(X, between - theta * within, len(np.unique(labels)))
