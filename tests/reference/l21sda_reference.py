"""Oracle of L21SDA: optimal scoring with one L2,1 penalty over all directions.

    min ||Y Th - Zc B||^2 + lambda ||B||_{2,1}   s.t.  Th' diag(p) Th = I_q,  p'Th = 0,  q = c - 1

p holds the class frequencies, Zc the centred samples (rows). B is a reweighted ridge solve, Th a
Procrustes step; when F has lost rank (s_q < 1e-12 s_1) the scores stay as they are.
"""
import numpy as np

import oracle_tools as tools


def start_scores(p):
    """QR of [sqrt(p), e_1 .. e_{c-1}], columns 2 to c, row k divided by sqrt(p_k)."""
    c = len(p)
    Q, _ = np.linalg.qr(np.column_stack([np.sqrt(p), np.eye(c)[:, :c - 1]]))
    return Q[:, 1:] / np.sqrt(p)[:, None]


def next_scores(p, Y, Zc, B, scores):
    """The best scores for fixed B."""
    root = np.sqrt(p)
    F = (Y.T @ (Zc @ B)) / root[:, None]
    F = F - np.outer(root, root @ F)
    U, s, Vt = np.linalg.svd(F, full_matrices=False)
    return scores if s[-1] < 1e-12 * s[0] else (U @ Vt) / root[:, None]


def smoothed(Y, Zc, B, scores, lam, eps):
    return ((Y @ scores - Zc @ B) ** 2).sum() + lam * np.sqrt((B ** 2).sum(axis=1) + eps ** 2).sum()


def l21sda(Z, index, lam, iters=30, eps=1e-8):
    """B (d x q), the last scores, and the smoothed objective after each iteration."""
    Y = tools.one_hot(index)
    p = Y.mean(axis=0)
    Zl = np.asarray(Z, dtype=tools.LONG)
    Zl = Zl - Zl.mean(axis=0)
    Zc = Zl.astype(float)
    scores, D, objectives = start_scores(p), np.ones(Z.shape[1]), []
    for _ in range(iters):
        B = tools.solve(Zl.T @ Zl + tools.LONG(lam) / 2 * np.diag(D), Zl.T @ (Y @ scores))
        D = 1 / np.sqrt((B * B).sum(axis=1) + tools.LONG(eps) ** 2)
        B = B.astype(float)
        scores = next_scores(p, Y, Zc, B, scores)
        objectives.append(smoothed(Y, Zc, B, scores, lam, eps))
    return B, scores, np.array(objectives)
