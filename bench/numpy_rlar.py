"""Algorithm 1 of RLAR (solver=paper) as a competent researcher would write it with NumPy: the peer.

Everything is vectorised, the d x d system is solved by Cholesky, and H = D - D 1 1' D / 1'D1 is
applied by weighted centring. The graph is the paper's: S and its Laplacian L are n x n arrays, and
X L X' is formed from them as printed. `sparse=True` keeps L as a SciPy sparse matrix, which the
paper does not mention but the next researcher would find. Always the d x d form, as in the paper.

Same weights, same eps, same rule for K and for equal samples as the library; the oracle of the tests
(tests/reference/rlar_reference.py) is another program, written to be read.
Samples are the rows of X.
"""
import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.spatial.distance import cdist


def neighbours(Z, members, K):
    """The K nearest within each class: three arrays of edges (from, to, distance)."""
    rows, columns, lengths = [], [], []
    for index in members:
        count = min(K, len(index) - 1)
        if count < 1:
            continue
        distance = cdist(Z[index], Z[index])
        np.fill_diagonal(distance, np.inf)
        nearest = np.argpartition(distance, count - 1, axis=1)[:, :count]
        rows.append(np.repeat(index, count))
        columns.append(index[nearest].ravel())
        lengths.append(np.take_along_axis(distance, nearest, axis=1).ravel())
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(lengths)


def laplacian(n, edges, weight, sparse):
    rows, columns, _ = edges
    if sparse:
        S = scipy.sparse.csr_matrix((weight, (rows, columns)), shape=(n, n))
        S = (S + S.T) / 2
        return scipy.sparse.diags(np.asarray(S.sum(axis=1)).ravel()) - S
    S = np.zeros((n, n))
    S[rows, columns] = weight
    S = (S + S.T) / 2
    degree = S.sum(axis=1)
    L = np.negative(S, out=S)
    L.flat[::n + 1] += degree
    return L


def solve(X, T, Dh, Dt, L, alpha, beta):
    """(17) and (15)."""
    total = Dh.sum()
    mean, level = Dh @ X / total, Dh @ T / total
    Xc = X - mean
    M = Xc.T @ (Dh[:, None] * Xc + beta * (L @ Xc))
    M.flat[::len(M) + 1] += alpha * Dt
    factor = scipy.linalg.cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
    W = scipy.linalg.cho_solve(factor, Xc.T @ (Dh[:, None] * (T - level)), check_finite=False)
    return W, level - mean @ W


def retarget(Y, label):
    """(22) to (25), all samples at once."""
    n, c = Y.shape
    every = np.arange(n)
    own = Y[every, label]
    V = Y + 1.0 - own[:, None]
    V[every, label] = -np.inf
    falling = -np.sort(-V, axis=1)[:, :c - 1]
    before = np.cumsum(falling, axis=1)
    tight = (np.arange(1, c) * falling > before - falling).sum(axis=1)
    sums = np.where(tight > 0, before[every, np.maximum(tight, 1) - 1], 0.0)
    delta = sums / (1 + tight)
    T = Y + np.minimum(delta[:, None] - V, 0.0)
    T[every, label] = own + delta
    return T


def fit(X, labels, alpha=0.1, beta=0.1, k=0, iters=30, eps=1e-8, sparse=False):
    """W, b and the plain objective (12) at the end."""
    label = np.unique(labels, return_inverse=True)[1]
    n, d = X.shape
    sizes = np.bincount(label)
    members = [np.flatnonzero(label == i) for i in range(len(sizes))]
    K = k if k > 0 else 7 if sizes.min() > 10 else 3
    twin = np.unique(X, axis=0, return_inverse=True)[1]  # equal samples have equal numbers

    T = np.eye(len(sizes))[label]
    Dh, Dt = np.ones(n), np.ones(d)
    edges = neighbours(X, members, K)
    for _ in range(iters):
        weight = np.where(twin[edges[0]] == twin[edges[1]], 0.0, 1.0 / (K * (edges[2] + eps)))
        W, b = solve(X, T, Dh, Dt, laplacian(n, edges, weight, sparse), alpha, beta)
        Y = X @ W + b
        T = retarget(Y, label)
        edges = neighbours(Y, members, K)
        residual = np.linalg.norm(Y - T, axis=1)
        rows = np.linalg.norm(W, axis=1)
        Dh, Dt = 1.0 / (residual + eps), 1.0 / (rows + eps)
    objective = residual.sum() + alpha * rows.sum() + beta / (2 * K) * edges[2].sum()
    return W, b, float(objective)
