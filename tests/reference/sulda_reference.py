"""Sparse uncorrelated LDA in plain NumPy: the oracle of method sulda.

H_t = U1 diag(s) V1^T (reduced SVD), A = diag(1/s) U1^T H_b = P1 diag(sb) Q1^T with q = rank of
H_b, C = diag(1/s) P1. Every G with U1^T G = C is uncorrelated LDA; G0 = U1 C is the one of
smallest Frobenius norm, the method takes the one of smallest l1 norm. Where all sb are equal
(spread below 1e-6) P1 is defined only up to a rotation; then P1 comes from Gram-Schmidt on the
first q independent columns of A, so that each R_kk > 0.

The l1 problem is solved by Douglas-Rachford splitting with shrinkage mean |G0|: the feasible
iterate is returned. `bound` gives a lower bound of the optimum from the dual, so that a result
can be judged without trusting any solver: for every L with |U1 L| <= 1, tr(L^T C) <= |G|_1.
"""
import numpy as np

from scatter_reference import between_factor, centred, classes_of, finish

RANK_T = 1e-10
RANK_B = 1e-8
DEGENERATE = 1e-6


def gram_schmidt(A, q):
    """Orthonormal columns from the first q independent ones of A, each along its residual."""
    basis = np.zeros((A.shape[0], 0))
    for column in A.T:
        residual = column - basis @ (basis.T @ column)
        residual -= basis @ (basis.T @ residual)
        length = np.linalg.norm(residual)
        if length > RANK_B * np.linalg.norm(A) and basis.shape[1] < q:
            basis = np.column_stack([basis, residual / length])
    return basis


def factors(X, labels):
    """U1 (d x gamma), C (gamma x q), sb (q)."""
    _, label = classes_of(labels)
    U, s, _ = np.linalg.svd(centred(X).T, full_matrices=False)
    keep = s > RANK_T * s[0]
    U1, s = U[:, keep], s[keep]
    A = (U1 / s).T @ between_factor(X, label)
    P, sb, _ = np.linalg.svd(A, full_matrices=False)
    q = int((sb > RANK_B * sb[0]).sum())
    sb, P = sb[:q], P[:, :q]
    if q > 1 and sb[0] - sb[-1] < DEGENERATE:
        P = gram_schmidt(A, q)
    return U1, P / s[:, None], sb


def shrink(Z, t):
    return np.sign(Z) * np.maximum(np.abs(Z) - t, 0)


def sparse(U1, C, iters, eps):
    """The feasible iterate Gf, the sparse one Zs, the dual M/t, and the iterations used."""
    G0 = U1 @ C
    t = np.abs(G0).mean()
    Zs, M = G0, np.zeros_like(G0)
    for used in range(1, iters + 1):
        V, old = Zs - M, Zs
        Gf = V - U1 @ (U1.T @ V) + G0
        Zs = shrink(Gf + M, t)
        M = M + Gf - Zs
        if (np.linalg.norm(Gf - Zs) <= eps * np.linalg.norm(Gf)
                and np.linalg.norm(Zs - old) <= eps * np.linalg.norm(M)):
            break
    return Gf, Zs, M / t, used


def bound(U1, C, dual):
    """A lower bound of the smallest l1 norm: the dual brought to |U1 L| <= 1, column by column."""
    L = U1.T @ dual
    L = L / np.maximum(np.abs(U1 @ L).max(axis=0), 1.0)
    return float((L * C).sum())


def fit(X, labels, iters=500, tol=1e-5):
    U1, C, sb = factors(X, labels)
    G0 = U1 @ C
    answer = {"U1": U1, "C": C, "G0": G0}
    if U1.shape[1] == X.shape[1]:
        return finish(X, G0, sb, bound=np.abs(G0).sum(), used=0, **answer)
    Gf, Zs, dual, used = sparse(U1, C, iters, tol)
    return finish(X, Gf, sb, bound=bound(U1, C, dual), used=used, Zs=Zs, **answer)
