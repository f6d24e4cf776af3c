"""Locality sensitive discriminant analysis in plain NumPy: the oracle of method lsda.

W_w and W_b (n x n, 0/1) say which pairs of one class and of two classes are k nearest neighbours
(labels ignored in the search, either way counts); every sample has a self-loop in W_w; k = 0 is
the complete graph. With beta = alpha / (1 - alpha)

  A = Xc (beta L_b + W_w) Xc^T,   B = Xc D_w Xc^T,   A a = lambda B a on the range of Xc,

the c largest lambda, those below 1e-10 left out. Tied eigenvalues are the rule for k = 0 with
classes of one size. A tied block (within 1e-8 of the largest, or of one) that reaches beyond the
c-th column gives its directions of largest total variance (ties "variance") or none ("drop").
Columns of unit length; any other tied block stays B-orthonormal and gets one common factor, as in
lda_reference.py. For alpha = 1 beta is infinite: then A = Xc L_b Xc^T. A ridge makes
B = Xc D_w Xc^T + rho I (d x d), rho = ridge times the mean of D_w.
"""
import numpy as np

from scatter_reference import (centred, classes_of, finish, generalised, largest, nearest,
                               range_basis, laplacian, squared_distances, tied_blocks)

TIE = 1e-8
SMALLEST = 1e-10


def graphs(X, label, k):
    """W_w with self-loops, and W_b."""
    n = len(X)
    near = np.zeros((n, n), dtype=bool)
    if k == 0:
        near[:] = True
    else:
        distance = squared_distances(X)
        for j in range(n):
            near[j, nearest(distance[j], np.delete(np.arange(n), j), k)] = True
    near |= near.T
    same = label[:, None] == label[None, :]
    return (near & same | np.eye(n, dtype=bool)).astype(float), (near & ~same).astype(float)


def eigenproblem(X, labels, k, alpha, ridge=0.0):
    """V, and A, B on the range of the centred data."""
    _, label = classes_of(labels)
    W_w, W_b = graphs(X, label, k)
    V, _ = range_basis(X)
    Z = centred(X) @ V
    graph = laplacian(W_b) if alpha == 1 else alpha / (1 - alpha) * laplacian(W_b) + W_w
    A = Z.T @ graph @ Z
    D_w, Xc = W_w.sum(axis=1), centred(X)
    if ridge == 0:
        return V, A, Z.T @ np.diag(D_w) @ Z
    B = Xc.T @ np.diag(D_w) @ Xc + ridge * D_w.mean() * np.eye(X.shape[1])
    return V, A, V.T @ B @ V


def fit(X, labels, k=0, alpha=0.1, ties="drop", ridge=0.0):
    """W, b, all eigenvalues, the blocks of columns."""
    c = len(np.unique(labels))
    V, A, B = eigenproblem(X, labels, k, alpha, ridge)
    values, Q = generalised(A, B, len(A))
    keep = values >= SMALLEST
    values, Q = values[keep], Q[:, keep]
    S_t = V.T @ centred(X).T @ centred(X) @ V
    W, blocks = np.zeros((X.shape[1], 0)), []
    for start, stop in tied_blocks(values, TIE * max(values[0], 1.0)):
        if start >= c or (stop > c and ties == "drop"):
            break
        block = V @ Q[:, start:stop]
        if stop > c:
            basis = np.linalg.qr(Q[:, start:stop])[0]
            _, inside = largest(basis.T @ S_t @ basis, c - start)
            block = V @ basis @ inside
        W = np.column_stack([W, block * np.sqrt(block.shape[1] / (block ** 2).sum())])
        blocks.append((start, W.shape[1]))
    return finish(X, W, values, blocks)
