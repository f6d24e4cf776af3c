"""The objective that solver=minimise minimises, in plain NumPy, and SciPy's L-BFGS on it: the oracle.

T and V are eliminated: the nearest targets that keep the margin (rlar_reference.retarget) and the K
nearest neighbours within the class. The three norms are smoothed by rho(s) = sqrt(s^2 + eps^2). No
metric, no dual form, no rounds: SciPy minimises over all of W and b at once, for a sequence of eps.
For fixed V the problem is convex, so that there is one minimum to agree on; over all V there may be
many.
Samples are rows of X.
"""
import numpy as np
import scipy.optimize

import rlar_reference as reference


class Objective:
    def __init__(self, X, labels, alpha, beta, k):
        self.X, self.alpha, self.beta = X, alpha, beta
        self.names, self.label = reference.classes_of(labels)
        self.K = reference.neighbour_count(k, self.label)
        self.n, self.d, self.c = X.shape[0], X.shape[1], len(self.names)

    def neighbours(self, W, b):
        Y = self.X @ W + b
        return reference.nearest(reference.distances(Y, self.label), self.label, self.K)

    def value(self, W, b, eps=0.0, row_eps=0.0, V=None):
        """The objective (12), smoothed by eps; V None: the nearest neighbours."""
        Y = self.X @ W + b
        E = Y - reference.retarget(Y, self.label)
        if V is None:
            V = self.neighbours(W, b)
        total = np.sqrt((E * E).sum(axis=1) + eps * eps).sum()
        total += self.alpha * np.sqrt((W * W).sum(axis=1) + row_eps * row_eps).sum()
        for j, m in zip(*np.nonzero(V)):
            total += self.beta / (2 * self.K) * np.sqrt(((Y[j] - Y[m]) ** 2).sum() + eps * eps)
        return total

    def gradient(self, W, b, eps, row_eps, V=None):
        Y = self.X @ W + b
        E = Y - reference.retarget(Y, self.label)
        if V is None:
            V = self.neighbours(W, b)
        pull = E / np.sqrt((E * E).sum(axis=1) + eps * eps)[:, None]
        for j, m in zip(*np.nonzero(V)):
            difference = Y[j] - Y[m]
            edge = self.beta / (2 * self.K) * difference / np.sqrt(difference @ difference + eps * eps)
            pull[j] += edge
            pull[m] -= edge
        rows = np.sqrt((W * W).sum(axis=1) + row_eps * row_eps)
        return self.X.T @ pull + self.alpha * W / rows[:, None], pull.sum(axis=0)

    def minimum(self, W, b, V):
        """The plain objective at its minimum for fixed V, where it is convex and has one: L-BFGS of
        SciPy from W, b for eps = 1 .. 1e-6, the lowest value that was met."""
        best = self.value(W, b, V=V)
        for eps in (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6):
            W, b = self.descend(W, b, eps, eps, V)
            best = min(best, self.value(W, b, V=V))
        return best

    def descend(self, W, b, eps, row_eps, V):
        """SciPy's L-BFGS at one smoothing."""

        def both(theta):
            W, b = self.split(theta)
            gW, gb = self.gradient(W, b, eps, row_eps, V)
            return self.value(W, b, eps, row_eps, V), np.concatenate([gW.ravel(), gb])

        found = scipy.optimize.minimize(both, np.concatenate([W.ravel(), b]), jac=True, method="L-BFGS-B",
                                        options={"maxiter": 300})
        return self.split(found.x)

    def split(self, theta):
        size = self.d * self.c
        return theta[:size].reshape(self.d, self.c), theta[size:]
