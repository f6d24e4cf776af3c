"""Oracle of L21SDA: optimal scoring with one L2,1 penalty over all directions.

    min ||Y Th - Zc B||^2 + lambda ||B||_{2,1}   s.t.  Th' diag(p) Th = I_q,  p'Th = 0,  q = c - 1

p holds the class frequencies, Zc the centred samples (rows). B is a reweighted ridge solve, Th a
Procrustes step; when F has lost rank (s_q < 1e-12 s_1) the scores stay as they are.

l21sda_l21_loss() has sum_i ||residual row i|| for the first term and an offset b; both norms are
replaced by sqrt(norm^2 + eps^2). As the specification says, sample i is weighted by
v_i = 1/||residual row|| of the last iterate, in the B step and in F. The B step is then a weighted
regression with offset, and lambda takes the place of lambda/2 (both norms give a factor 1/2). The
step for the scores stays exact: Th Th' = diag(1/p) - 1 1' for every feasible Th, since q = c - 1,
so that the weighted lengths of the scores are constant.
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


# ---- The L2,1 norm of the loss ------------------------------------------------------------------


def smoothed_l21(residual, B, lam, eps):
    """The sum of sqrt(norm^2 + eps^2) over the rows of the residual, and lambda times that of B."""
    return (np.sqrt((residual ** 2).sum(axis=1) + eps ** 2).sum()
            + lam * np.sqrt((B ** 2).sum(axis=1) + eps ** 2).sum())


def ridge_step_l21(Z, target, v, D, lam):
    """B and b that minimise sum_i v_i ||target_i - B'z_i - b||^2 + lambda sum_r D_r ||b_r||^2, from
    the normal equations in B and b together, in long double."""
    Zt = np.column_stack([np.ones(len(Z)), Z]).astype(tools.LONG)
    M = Zt.T @ (v[:, None] * Zt) + lam * np.diag(np.append(0, D))
    both = tools.solve(M, Zt.T @ (v[:, None] * target), 8)
    return both[1:], both[0]


def next_scores_l21(p, Y, outputs, v, scores):
    """The scores with the least sum_i v_i ||scores of i - outputs of i||^2. In coordinates of the
    complement of sqrt(p), so that p'Th = 0 however small the singular values are."""
    root = np.sqrt(p)[:, None]
    basis = root * start_scores(p)
    F = basis.T @ (Y.T @ (v[:, None] * outputs) / root)
    U, s, Vt = np.linalg.svd(F.astype(float))
    return scores if s[-1] < 1e-12 * s[0] else basis @ (U @ Vt) / root


def l21sda_l21_loss(Z, index, lam, iters=30, eps=1e-8):
    """B (d x q), b, the last scores, and the smoothed objective after every half step: two values
    for each iteration, after the B step and after that of the scores."""
    Y = tools.one_hot(index)
    p = Y.mean(axis=0)
    scores, D, v, objectives = start_scores(p), np.ones(Z.shape[1]), np.ones(len(Z)), []
    for _ in range(iters):
        B, b = ridge_step_l21(Z, Y @ scores, v, D, lam)
        outputs = np.asarray(Z, dtype=tools.LONG) @ B + b
        objectives.append(smoothed_l21(Y @ scores - outputs, B, lam, eps))
        scores = next_scores_l21(p, Y, outputs, v, scores)
        residual = Y @ scores - outputs
        objectives.append(smoothed_l21(residual, B, lam, eps))
        v = 1 / np.sqrt((residual ** 2).sum(axis=1) + tools.LONG(eps) ** 2)
        D = 1 / np.sqrt((B * B).sum(axis=1) + tools.LONG(eps) ** 2)
    return B.astype(float), b.astype(float), scores, np.array(objectives, dtype=float)
