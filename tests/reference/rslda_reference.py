"""Oracle of RSLDA: ADMM with growing penalty for

    min tr(Q'(Sw - kappa Sb) Q) + lambda1 ||Q||_{2,1} + lambda2 ||E||_1
    s.t. X = P Q'X + E, P'P = I

X is d x n here (samples in columns, as in the specification), not centred. The d x d form of the
Q-step. r = min(c, d) directions.
"""
import numpy as np

import oracle_tools as tools

KAPPA, BETA, RHO, BETA_MAX, TINY = 1e-5, 0.1, 1.01, 1e5, 2.2e-16


def scatters(X, index):
    """Sw = sum of the class covariances, Sb = sum of n_k (m_k - m)(m_k - m)'."""
    m = X.mean(axis=1, keepdims=True)
    d = X.shape[0]
    Sw, Sb = np.zeros((d, d), dtype=X.dtype), np.zeros((d, d), dtype=X.dtype)
    for k in range(np.max(index) + 1):
        part = X[:, np.asarray(index) == k]
        mk = part.mean(axis=1, keepdims=True)
        Sw += (part - mk) @ (part - mk).T / part.shape[1]
        Sb += part.shape[1] * (mk - m) @ (mk - m).T
    return Sw, Sb


def principal_directions(X, r):
    Xc = X - X.mean(axis=1, keepdims=True)
    return np.linalg.svd(Xc, full_matrices=False)[0][:, :r]


class State:
    """All variables of the iteration, for the tests of its invariants."""


def rslda(Z, index, lambda1, lambda2, iters=30, r=None):
    """The final State; W is its Q (d x r)."""
    X = np.asarray(Z, dtype=tools.LONG).T
    d, n = X.shape
    r = min(d, np.max(index) + 1) if r is None else r
    Sw, Sb = scatters(X, index)
    A = Sw - KAPPA * Sb
    s = State()
    s.P = principal_directions(np.asarray(Z, dtype=float).T, r)
    s.Q = np.ones((d, r), dtype=tools.LONG)
    s.E, s.Y = np.zeros((d, n)), np.zeros((d, n))
    D, beta, s.objectives, s.residuals = np.full(d, 0.5 / np.sqrt(r)), BETA, [], []
    for t in range(1, iters + 1):
        s.M = X - s.E + s.Y / beta
        if t > 1:
            s.F = (s.M @ (X.T @ s.Q)).astype(float)
            U, _, Vt = np.linalg.svd(s.F, full_matrices=False)
            s.P = U @ Vt
        system = 2 * A + lambda1 * np.diag(D) + beta * X @ X.T
        s.Q = tools.solve(system, beta * X @ (s.M.T @ s.P))
        s.D = D
        D = 1 / np.sqrt((s.Q * s.Q).sum(axis=1) + TINY)
        R = X - s.P @ (s.Q.T @ X)
        T = R + s.Y / beta
        s.E = np.sign(T) * np.maximum(np.abs(T) - lambda2 / beta, 0)
        s.Y = s.Y + beta * (R - s.E)
        beta = min(RHO * beta, BETA_MAX)
        s.residuals.append(float(np.abs(R - s.E).sum(axis=1).max()))
        s.objectives.append(float(np.trace(s.Q.T @ A @ s.Q) + lambda1 * tools.row_norms(s.Q).sum()
                                  + lambda2 * np.abs(s.E).sum()))
        if t > 2 and s.residuals[-1] < 1e-7 and abs(s.objectives[-1] - s.objectives[-2]) < 1e-5:
            break
    s.W, s.iterations = s.Q.astype(float), t
    return s
