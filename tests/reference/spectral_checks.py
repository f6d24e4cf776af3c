"""How the tests of the spectral methods compare the program with an oracle, and with itself.

The span first: the largest principal angle, at most ANGLE degrees. Then W, column by column with
its sign where the method fixes the columns; a block of columns that is defined only up to a
rotation is compared by W_b W_b^T, which no rotation changes. What double precision can give is
measured, not guessed: the oracle runs again on samples that are off by a few roundings, and the
program may be off by STRETCH times as much as that, but never by more than the HARD limits.
"""
import numpy as np

import methods_harness as harness

ANGLE = 1e-6       # degrees
COLUMNS = 1e-8     # relative difference of W
STRETCH = 100
HARD_ANGLE = 1e-2
HARD_COLUMNS = 1e-3
ROUNDINGS = 4 * np.finfo(float).eps


def degrees(A, B):
    """The largest principal angle between the spans of the columns; lengths do not matter."""
    def unit(M):
        return M / np.linalg.norm(M, axis=0)
    return float(np.degrees(harness.largest_angle(unit(A), unit(B))))


def block_error(found, wanted, blocks):
    """The largest relative difference over the blocks, signs and rotations free."""
    worst = 0.0
    for start, stop in blocks:
        F, G = found[:, start:stop], wanted[:, start:stop]
        if stop - start == 1:
            worst = max(worst, harness.relative_up_to_signs(F, G))
        else:
            worst = max(worst, harness.relative(F @ F.T, G @ G.T))
    return worst


def sensitivity(oracle, Z, labels, wanted, trials=3):
    """How far the span (degrees) and W of the oracle move with the last digits of the samples."""
    angle = columns = 0.0
    for seed in range(trials):
        noise = np.random.default_rng(seed).normal(size=Z.shape)
        other = oracle(Z * (1 + ROUNDINGS * noise), labels)
        if other["W"].shape != wanted["W"].shape:
            return np.inf, np.inf
        angle = max(angle, degrees(other["W"], wanted["W"]))
        columns = max(columns, block_error(other["W"], wanted["W"], wanted["blocks"]))
    return angle, columns


def sign_is_clear(column):
    """The largest magnitude stands out, so that rounding does not choose the sign."""
    order = np.sort(np.abs(column))[::-1]
    return len(order) == 1 or order[1] < (1 - 1e-6) * order[0]


def transformed(problem, name, X=None, labels=None):
    """The problem with other samples or labels, scaled already."""
    return harness.Problem(f"{problem.name}, {name}", problem.Z if X is None else X,
                           problem.labels if labels is None else labels, "none")


def rotation(d, seed=5):
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


class SpectralTest(harness.MethodTest):
    """A test of one method against `oracle(Z, labels, **params)`."""

    def check_offset(self, problem, found):
        """b = -W^T mean: outputs are centred."""
        mean = problem.Z.mean(axis=0)
        size = np.abs(found.W).T @ np.abs(problem.Z).max(axis=0) + 1e-300
        self.assertLess(np.abs((found.b + found.W.T @ mean) / size).max(), 1e-12, problem.name)

    def check_signs(self, problem, W):
        for column in W.T:
            if sign_is_clear(column):
                self.assertGreater(column[np.argmax(np.abs(column))], 0, problem.name)

    def qualified(self, params):
        """lda.scale=... for scale=...: the harness has a scale of its own."""
        return {f"{self.method}.{name}": value for name, value in params.items()}

    def against(self, problem, oracle, columns=True, angle_floor=ANGLE, **params):
        """Fit with program and oracle, compare; returns both."""
        def run(Z, labels):
            return oracle(Z, labels, **params)
        wanted = run(problem.Z, problem.labels)
        found = harness.fit(problem, self.method, **self.qualified(params))
        name = f"{self.method} {params}: {problem.name}"
        self.assertEqual(found.W.shape, wanted["W"].shape, name)
        angle = degrees(found.W, wanted["W"])
        off = block_error(found.W, wanted["W"], wanted["blocks"]) if columns else 0.0
        limits = angle_floor, COLUMNS
        if angle > limits[0] or off > limits[1]:
            moved = sensitivity(run, problem.Z, problem.labels, wanted)
            limits = [min(max(floor, STRETCH * own), hard) for floor, own, hard in
                      zip(limits, moved, (HARD_ANGLE, HARD_COLUMNS))]
        self.assertLessEqual(angle, limits[0], f"angle of {name}")
        self.assertLessEqual(off, limits[1], f"W of {name}")
        if columns:
            self.check_signs(problem, found.W)
        self.check_offset(problem, found)
        return found, wanted

    def same_span(self, problem, other, expected=None, limit=1e-5, **params):
        """The program on both problems; `expected(W)` is what the second fit ought to give."""
        first = harness.fit(problem, self.method, **params).W
        second = harness.fit(other, self.method, **params).W
        wanted = first if expected is None else expected(first)
        self.assertEqual(second.shape, wanted.shape, other.name)
        self.assertLess(degrees(second, wanted), limit, f"{self.method} {params}: {other.name}")

    def check_order(self, problem, **params):
        order = np.random.default_rng(3).permutation(problem.n)
        other = transformed(problem, "other order", problem.Z[order], problem.labels[order])
        self.same_span(transformed(problem, "as is"), other, **params)

    def check_shift(self, problem, **params):
        shift = np.random.default_rng(4).normal(size=problem.d)
        self.same_span(transformed(problem, "as is"),
                       transformed(problem, "moved", problem.Z + shift), **params)

    def check_size(self, problem, **params):
        self.same_span(transformed(problem, "as is"),
                       transformed(problem, "times 8.5", 8.5 * problem.Z), **params)

    def check_rotation(self, problem, **params):
        R = rotation(problem.d)
        self.same_span(transformed(problem, "as is"),
                       transformed(problem, "rotated", problem.Z @ R.T), lambda W: R @ W, **params)


def invariance_problems():
    """One problem of each regime, samples of length one."""
    return [harness.random_problem(regime, 900 + number, "unit")
            for number, regime in enumerate(harness.REGIMES)]


def balanced(seed, d=9, per_class=12, classes=4):
    """Classes of one size."""
    rng = np.random.default_rng(seed)
    X, labels = harness.rlar_problems.samples(rng, d, (per_class,) * classes)
    return harness.Problem(f"balanced, seed {seed}, d {d}", X, labels, "none")
