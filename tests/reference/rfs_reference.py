"""Oracle of RFS: min ||Zt W - Y||_{2,1} + gamma ||W||_{2,1}, Zt = samples with a leading one.

The literal Lagrangian form: with A = [Zt, gamma I_n] and U = [W; E], E = (Y - Zt W)/gamma, minimise
||U||_{2,1} subject to A U = Y by U = P A'(A P A')^-1 Y, P = diag(sqrt(||u_r||^2 + eps^2)), P = I at
the start. The row of W that belongs to the leading one is penalised like any other; it is b.
"""
import numpy as np

import oracle_tools as tools


def with_ones(Z):
    return np.hstack([np.ones((Z.shape[0], 1)), Z])


def rfs(Z, index, gamma, iters=30, eps=1e-8):
    return rfs_targets(Z, tools.one_hot(index), gamma, iters, eps)


def rfs_targets(Z, Y, gamma, iters=30, eps=1e-8):
    """W (d x c), b, and after each iteration the sum of P (what never rises) and the objective."""
    n, rows = Z.shape[0], Z.shape[1] + 1
    A = np.hstack(tools.long(with_ones(Z), gamma * np.eye(n)))
    P = np.ones(rows + n, dtype=tools.LONG)
    smoothed, plain = [], []
    for _ in range(iters):
        U = P[:, None] * (A.T @ tools.solve((A * P) @ A.T, Y))
        norms = tools.row_norms(U)
        P = np.sqrt(norms ** 2 + tools.LONG(eps) ** 2)
        smoothed.append(P.sum())
        plain.append(gamma * norms.sum())
    W = U[:rows].astype(float)
    return W[1:], W[0], np.array(smoothed, dtype=float), np.array(plain, dtype=float)


def gradient(Z, index, gamma, W, b, eps):
    """Zt' diag(1/rho_i) (Zt W - Y) + gamma diag(1/rho_r) W, relative to its first term's parts;
    rho_i belongs to the row of E, so that it is gamma sqrt(||E_i||^2 + eps^2)."""
    Y = tools.one_hot(index)
    Zt, V = with_ones(Z), np.vstack([b, W])
    residual = Zt @ V - Y
    rho = np.sqrt(tools.row_norms(residual) ** 2 + (gamma * eps) ** 2)
    pull = Zt.T @ (residual / rho[:, None])
    push = gamma * V / np.sqrt(tools.row_norms(V) ** 2 + eps ** 2)[:, None]
    return np.linalg.norm(pull + push) / np.linalg.norm(push)
