"""Oracle of ALPR: regression without offset on margin targets, with an adaptive graph per class.

    min ||Z W - T||^2 + lambda1 sum_i n_i sum_{jk in class i} S_jk^2 ||z_j - z_k||^2
        + lambda2 ||W||_{2,1}

where z_j = W'x_j, rows of S sum to one within the class, and T keeps the margins of ReLSR. Samples
are rows of Z. S is an explicit n x n matrix, the Laplacian too; starts from T = one-hot, equal S
and D = I. A class of one sample has no row in S. Rows of W with ||w_r||^2 < threshold are 0 in what
is returned; the iteration does not see that.
"""
import numpy as np

import oracle_tools as tools
from rlar_reference import retarget

FLOOR = 1e-10  # of a row norm of W
TINY = 2.2e-16  # added to a squared distance


def same_class(index):
    """1 where two different samples share a class."""
    index = np.asarray(index)
    return (index[:, None] == index).astype(float) - np.eye(len(index))


def start_weights(index):
    """S_jk = 1/(n_i - 1)."""
    mates = same_class(index)
    return mates / np.maximum(mates.sum(axis=1), 1)[:, None]


def squared_distances(V):
    difference = V[:, None, :] - V[None, :, :]
    return (difference * difference).sum(axis=2)


def next_weights(squares, index):
    """Each row of S proportional to 1/(d + e) within the class."""
    closeness = same_class(index) / (squares + TINY)
    total = closeness.sum(axis=1)
    return closeness / np.where(total > 0, total, 1)[:, None]


def laplacian(S, index):
    """n_i (diag(row sums + column sums of A) - A - A'), A = S .* S, all classes in one matrix."""
    A = S * S
    sizes = np.bincount(index)[index]
    return sizes[:, None] * (np.diag(A.sum(axis=0) + A.sum(axis=1)) - A - A.T)


def row_norm(W):
    """||w_r||, below the floor its Huber version s^2/(2e) + e/2."""
    s = np.sqrt((W * W).sum(axis=1))
    return np.where(s >= FLOOR, s, s * s / (2 * FLOOR) + FLOOR / 2)


def objective(Z, W, T, S, index, lambda1, lambda2):
    """With d + e in the locality term and the floored norm: the version that never rises."""
    squares = squared_distances(Z @ W) + TINY
    sizes = np.bincount(index)[index]
    return (((Z @ W - T) ** 2).sum() + lambda1 * (sizes[:, None] * S * S * squares).sum()
            + lambda2 * row_norm(W).sum())


def alpr(Z, index, lambda1, lambda2, iters=30, threshold=0.0):
    """W (d x c), T, S and the objective after each iteration."""
    index = np.asarray(index)
    T = tools.one_hot(index)
    S, D, objectives = start_weights(index), np.ones(Z.shape[1]), []
    Zl = np.asarray(Z, dtype=tools.LONG)
    for _ in range(iters):
        L = laplacian(S.astype(tools.LONG), index)
        M = Zl.T @ Zl + lambda1 * (Zl.T @ L @ Zl) + tools.LONG(lambda2) / 2 * np.diag(D)
        W = tools.solve(M, Zl.T @ T)
        D = 1 / np.maximum(tools.row_norms(W), FLOOR)
        squares = squared_distances((Zl @ W).astype(float))
        W = W.astype(float)
        T = retarget(Z @ W, index)
        S = next_weights(squares, index)
        objectives.append(objective(Z, W, T, S, index, lambda1, lambda2))
    W = np.where((W * W).sum(axis=1, keepdims=True) < threshold, 0.0, W)
    return W, T, S, np.array(objectives)
