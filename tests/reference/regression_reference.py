"""Oracles of RR, LSR and ReLSR: regression on one-hot targets with a free, unpenalised offset b.

    LSR     min ||Z W + 1 b' - Y||^2                      the W of least norm, from the SVD of Zc
    RR      min ||Z W + 1 b' - Y||^2 + lambda ||W||^2     W = (Zc'Zc + lambda I)^-1 Zc'Yc
    ReLSR   the same over W, b and targets T whose own class leads by a margin of 1:
            RR for fixed T and the projection of each row of Z W + 1 b' in turn, from T = Y

Samples are rows of Z. Always the d x d form; ZC = centred Z. `retarget` is that of RLAR's oracle,
which is checked there against enumeration.
"""
import numpy as np

import oracle_tools as tools
from rlar_reference import retarget


def offset(Z, T, W):
    """b = tm - W'xm."""
    return T.mean(axis=0) - W.T @ Z.mean(axis=0)


def ridge(Z, T, lam):
    """W and b of ridge regression on the targets T."""
    Z, T = tools.long(Z, T)
    Zc, Tc = Z - Z.mean(axis=0), T - T.mean(axis=0)
    W = tools.solve(Zc.T @ Zc + lam * np.eye(Z.shape[1]), Zc.T @ Tc)
    return W.astype(float), offset(Z, T, W).astype(float)


def rr(Z, index, lam):
    return ridge(Z, tools.one_hot(index), lam)


def lsr(Z, index):
    """W and b by the thin SVD of the centred samples, small singular values left out."""
    Y = tools.one_hot(index)
    Zc, Yc = Z - Z.mean(axis=0), Y - Y.mean(axis=0)
    Q, s, Ut = np.linalg.svd(Zc, full_matrices=False)
    keep = s > max(Z.shape) * 2.2e-16 * s[0]
    W = Ut[keep].T @ np.diag(1 / s[keep]) @ Q[:, keep].T @ Yc
    return W, offset(Z, Y, W)


def relsr(Z, index, lam, iters=30):
    """W, b, T and the objective after each iteration."""
    T = tools.one_hot(index)
    objectives = []
    for _ in range(iters):
        W, b = ridge(Z, T, lam)
        fitted = Z @ W + b
        T = retarget(fitted, index)
        objectives.append(((fitted - T) ** 2).sum() + lam * (W ** 2).sum())
    return W, b, T, np.array(objectives)
