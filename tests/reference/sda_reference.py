"""Oracle of SDA: optimal scoring with an elastic net, one direction after the other.

    min (1/n) ||Y th - Zc b||^2 + gamma ||b||^2 + lambda ||b||_1
    s.t. th'D th = 1, th'D th_l = 0 for earlier l, th'D 1 = 0,   D = diag(class frequencies)

Samples are rows, Zc centred. lambda = tau lambda_max. The elastic net is plain coordinate descent
over all coordinates, one at a time, until nothing moves, then the exact solve on the support; the
start of the scores is the leading eigenvector that the specification prescribes.
"""
import numpy as np

import oracle_tools as tools


def soft(z, t):
    return np.sign(z) * max(abs(z) - t, 0.0)


def settle(G, g, gamma, lam, b):
    """The exact solution with the support and the signs of b, if they are the right ones."""
    A = np.flatnonzero(b)
    exact = np.zeros_like(b)
    exact[A] = np.linalg.solve(G[np.ix_(A, A)] + gamma * np.eye(len(A)),
                               g[A] - lam / 2 * np.sign(b[A]))
    right = np.array_equal(np.sign(exact), np.sign(b)) and kkt(G, g, gamma, lam, exact) < 1e-9
    return exact if right else None


def elastic_net(G, g, gamma, lam, b, sweeps=20000):
    """argmin b'G b - 2 g'b + gamma b'b + lam ||b||_1 by coordinate descent from b."""
    if lam == 0:
        return np.linalg.solve(G + gamma * np.eye(len(G)), g)
    b = b.copy()
    for sweep in range(sweeps):
        moved = 0.0
        for j in range(len(b)):
            if G[j, j] <= 0:
                continue
            r = g[j] - G[j] @ b
            new = soft(r + G[j, j] * b[j], lam / 2) / (G[j, j] + gamma)
            moved, b[j] = max(moved, abs(new - b[j]) * np.sqrt(G[j, j] + gamma)), new
        if moved <= 1e-14 * np.sqrt(np.abs(g).max()):
            return b
        if sweep % 20 == 19:
            exact = settle(G, g, gamma, lam, b)
            if exact is not None:
                return exact
    raise ArithmeticError("coordinate descent did not settle")


def kkt(G, g, gamma, lam, b):
    """The largest breach of the optimality conditions, in units of lambda."""
    h = 2 * (g - G @ b) - 2 * gamma * b
    breach = np.where(b != 0, np.abs(h - lam * np.sign(b)), np.maximum(np.abs(h) - lam, 0))
    return breach.max() / lam


def start(C, D, Q):
    """D^-1/2 v, v the leading eigenvector of Pi M'M Pi with M = C D^-1/2."""
    root = np.sqrt(D)
    basis = root[:, None] * Q
    Pi = np.eye(len(D)) - basis @ basis.T
    M = C / root
    v = np.linalg.eigh(Pi @ M.T @ M @ Pi)[1][:, -1]
    theta = v / root
    theta = theta / np.sqrt(theta @ (D * theta))
    return theta * np.sign(theta[np.abs(theta).argmax()])


def moments(Z, index):
    """G = Zc'Zc/n, C = Zc'Y/n, D."""
    Y = tools.one_hot(index)
    Zc = Z - Z.mean(axis=0)
    return Zc.T @ Zc / len(Z), Zc.T @ Y / len(Z), Y.mean(axis=0)


def lambda_max(C, D):
    return max(2 * np.sqrt((C[j] ** 2 / D).sum()) for j in range(C.shape[0]))


def objective(G, C, D, gamma, lam, theta, b):
    """(1/n) ||Y theta - Zc b||^2 is theta'D theta - 2 theta'C'b + b'G b."""
    return (theta @ (D * theta) - 2 * theta @ (C.T @ b) + b @ G @ b + gamma * b @ b
            + lam * np.abs(b).sum())


def next_scores(C, D, Q, b):
    """The best scores for fixed b, or None where b leaves none."""
    t = (C.T @ b) / D
    for _ in range(2):
        t = t - Q @ (Q.T @ (D * t))
    length = np.sqrt(t @ (D * t))
    return t / length if length >= 1e-12 else None


class Direction:
    """b, its scores, the scores that the last elastic net was solved for (the optimality conditions
    hold for those), and the objective after each step."""


def direction(G, C, D, gamma, lam, Q, iters, tol):
    """One direction, D-orthogonal to the scores in Q."""
    s = Direction()
    s.scores, s.b, s.objectives = start(C, D, Q), np.zeros(len(G)), []
    for _ in range(iters):
        old, s.used = s.b, s.scores
        s.b = elastic_net(G, C @ s.scores, gamma, lam, s.b)
        scores = next_scores(C, D, Q, s.b) if s.b.any() else None
        if scores is None:
            break
        s.scores = scores
        s.objectives.append(objective(G, C, D, gamma, lam, scores, s.b))
        if ((s.b - old) ** 2).sum() < tol * (s.b ** 2).sum():
            break
    return s


def sda(Z, index, gamma, tau, iters=30, tol=1e-6, count=None):
    """The directions, at most min(c - 1, d) or `count`, up to the first that vanishes or has no
    scores of its own left."""
    G, C, D = moments(Z, index)
    lam = tau * lambda_max(C, D)
    Q, found = np.ones((len(D), 1)), []
    for _ in range(min(len(D) - 1, len(G)) if count is None else count):
        s = direction(G, C, D, gamma, lam, Q, iters, tol)
        if not s.objectives:
            break
        found.append(s)
        Q = np.column_stack([Q, s.scores])
    return found


def projection(Z, index, *settings, **more):
    """W (d x q) of sda()."""
    columns = [s.b for s in sda(Z, index, *settings, **more)]
    return np.column_stack(columns) if columns else np.zeros((Z.shape[1], 0))


def ridge_only(Z, index, gamma):
    """The closed form for lambda = 0: all directions from one c x c eigenproblem."""
    G, C, D = moments(Z, index)
    B = np.linalg.solve(G + gamma * np.eye(len(G)), C)
    values, V = np.linalg.eigh((C.T @ B) / np.sqrt(np.outer(D, D)))
    order = np.argsort(values)[::-1][:len(D) - 1]
    return B @ (V[:, order] / np.sqrt(D)[:, None])
