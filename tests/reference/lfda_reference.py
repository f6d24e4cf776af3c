"""Local Fisher discriminant analysis in plain NumPy: the oracle of method lfda.

Affinity A_ij = exp(-|x_i - x_j|^2 / (sigma_i sigma_j)) inside a class, sigma_i the distance from
x_i to its k-th nearest neighbour in its class (the farthest one in a class of at most k samples);
A_ii = 1, and 0 where sigma_i sigma_j = 0. Pair weights (n x n):

  one class of n_c samples   Ww = A / n_c    Wb = A (1/n - 1/n_c)
  two classes                Ww = 0          Wb = 1/n

S_w and S_b are half the weighted sums of (x_i - x_j)(x_i - x_j)^T. S_b t = lambda (S_w + rho I) t
on the range of the data, the c largest lambda; columns scaled to t^T (S_w + rho I) t = 1 and, with
metric "weighted", times sqrt(max(lambda, 0)).
"""
import numpy as np

from scatter_reference import (classes_of, finish, generalised, graph_scatter, range_basis,
                               squared_distances)


def affinity(X, label, k):
    """A, n x n, zero between classes."""
    n = len(X)
    distance = squared_distances(X)
    sigma, A = np.zeros(n), np.zeros((n, n))
    for i in range(n):
        mates = np.flatnonzero(label == label[i])
        ordered = np.sort(distance[i, mates])  # position 0 is the sample itself
        sigma[i] = np.sqrt(ordered[min(k, len(mates) - 1)])
    for i in range(n):
        for j in np.flatnonzero(label == label[i]):
            if i == j:
                A[i, j] = 1.0
            elif sigma[i] * sigma[j] > 0:
                A[i, j] = np.exp(-distance[i, j] / (sigma[i] * sigma[j]))
    return A


def pair_weights(A, label):
    """Ww and Wb."""
    n, size = len(label), np.bincount(label)[label]
    same = label[:, None] == label[None, :]
    Ww = np.where(same, A / size[:, None], 0.0)
    return Ww, np.where(same, A * (1 / n - 1 / size[:, None]), 1 / n)


def local_scatters(X, labels, k):
    """S_w and S_b, d x d."""
    _, label = classes_of(labels)
    Ww, Wb = pair_weights(affinity(X, label, k), label)
    return graph_scatter(X, Ww), graph_scatter(X, Wb)


def fit(X, labels, k=7, rho=0.1, metric="weighted"):
    """rho < 0 stands for the relative ridge 1e-8 tr(S_w) / r."""
    S_w, S_b = local_scatters(X, labels, k)
    V, _ = range_basis(X)
    within, between = V.T @ S_w @ V, V.T @ S_b @ V
    if rho < 0:
        rho = 1e-8 * np.trace(within) / len(within)
    within = within + rho * np.eye(len(within))
    values, Q = generalised(between, within, min(len(np.unique(labels)), len(within)))
    if metric == "weighted":
        Q = Q * np.sqrt(np.maximum(values, 0))
    W = V @ Q
    if metric == "orth":
        W = np.linalg.qr(W)[0]
    return finish(X, W, values, S_w=S_w, S_b=S_b, rho=rho)
