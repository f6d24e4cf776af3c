"""What the oracles of the spectral methods share: plain scatters, graphs, eigenvectors.

Samples are rows of X here (n x d); formulas with X mean its transpose. Every scatter is an
explicit d x d matrix, every graph an explicit n x n matrix. The only reduction is the one that
the definitions need: directions in which no sample varies are left out by an orthonormal basis of
the range of the centred data. Slow on purpose; meant for a few hundred samples and features.
"""
import numpy as np


def classes_of(labels):
    """Class names in order and the index of each sample's class."""
    return np.unique(np.asarray(labels), return_inverse=True)


def centred(X):
    return X - X.mean(axis=0)


def class_scatters(X, label):
    """S_w, S_b, S_t as sums of outer products over samples and classes (d x d each)."""
    d, mean = X.shape[1], X.mean(axis=0)
    S_w, S_b, S_t = (np.zeros((d, d)) for _ in range(3))
    for i in np.unique(label):
        members = X[label == i]
        class_mean = members.mean(axis=0)
        S_w += (members - class_mean).T @ (members - class_mean)
        S_b += len(members) * np.outer(class_mean - mean, class_mean - mean)
    S_t += (X - mean).T @ (X - mean)
    return S_w, S_b, S_t


def between_factor(X, label):
    """H_b (d x c): column i is sqrt(n_i) (m_i - m), so S_b = H_b H_b^T."""
    mean = X.mean(axis=0)
    return np.array([np.sqrt((label == i).sum()) * (X[label == i].mean(axis=0) - mean)
                     for i in np.unique(label)]).T


def range_basis(X):
    """V (d x r) and s: the thin SVD of the centred data without its numerical null space."""
    V, s, _ = np.linalg.svd(centred(X).T, full_matrices=False)
    keep = s > max(X.shape) * np.finfo(float).eps * s[0]
    return V[:, keep], s[keep]


def squared_distances(X):
    """|x_i - x_j|^2 from explicit differences: never negative, exactly zero for copies."""
    return np.array([((X - x) ** 2).sum(axis=1) for x in X])


def laplacian(A):
    return np.diag(A.sum(axis=1)) - A


def graph_scatter(X, A):
    """1/2 sum_ij A_ij (x_i - x_j)(x_i - x_j)^T for a symmetric A, by its Laplacian."""
    return centred(X).T @ laplacian(A) @ centred(X)


def nearest(distance, candidates, k):
    """The k candidates of smallest distance, ties to the lower index."""
    candidates = np.sort(np.asarray(candidates, dtype=int))
    return candidates[np.argsort(distance[candidates], kind="stable")[:max(k, 0)]]


def neighbour_rule(k, label):
    """k, or for k = 0 seven when every class has more than ten samples, else three."""
    if k > 0:
        return k
    return 7 if np.bincount(label).min() > 10 else 3


def largest(M, q):
    """The q algebraically largest eigenvalues of a symmetric matrix, descending, and vectors."""
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    order = np.argsort(values)[::-1][:q]
    return values[order], vectors[:, order]


def generalised(A, B, q):
    """A x = lambda B x, B positive definite: the q largest lambda and x with x^T B x = 1."""
    inverse = np.linalg.inv(np.linalg.cholesky((B + B.T) / 2))
    values, vectors = largest(inverse @ A @ inverse.T, q)
    return values, inverse.T @ vectors


def fix_signs(W):
    """The entry of largest magnitude of every column is positive (the first one on ties)."""
    W = np.array(W, dtype=float)
    for column in W.T:
        if column[np.argmax(np.abs(column))] < 0:
            column *= -1
    return W


def tied_blocks(values, tolerance):
    """Ranges (start, stop) of neighbouring values that differ by less than the tolerance."""
    starts = [0] + [k for k in range(1, len(values))
                    if abs(values[k - 1] - values[k]) >= tolerance]
    return list(zip(starts, starts[1:] + [len(values)]))


def finish(X, W, values, blocks=None, **more):
    """The answer of every oracle: W with signs fixed, b = -W^T m, eigenvalues, blocks of columns
    that are defined only up to a rotation (by default none)."""
    W = fix_signs(W)
    if blocks is None:
        blocks = [(k, k + 1) for k in range(W.shape[1])]
    return {"W": W, "b": -W.T @ X.mean(axis=0), "values": np.asarray(values), "blocks": blocks,
            **more}
