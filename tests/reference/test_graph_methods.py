"""LSDA, LFDA, NMMP and MPDA against their literal NumPy oracles, and their stated invariants."""
import unittest

import numpy as np

import lda_reference
import lfda_reference
import lsda_reference
import methods_harness as harness
import mpda_partition_reference
import mpda_reference
import nmmp_reference
from scatter_reference import class_scatters, graph_scatter, laplacian, range_basis
from spectral_checks import SpectralTest, balanced, degrees, invariance_problems, transformed


class Oracles(unittest.TestCase):
    """The references themselves, checked by what they do not use."""

    def test_lfda_with_all_affinities_one_is_lda(self):
        for problem in harness.problems():
            same = problem.index[:, None] == problem.index[None, :]
            Ww, Wb = lfda_reference.pair_weights(same.astype(float), problem.index)
            S_w, S_b, _ = class_scatters(problem.Z, problem.index)
            self.assertLess(harness.relative(graph_scatter(problem.Z, Ww), S_w), 1e-12)
            self.assertLess(harness.relative(graph_scatter(problem.Z, Wb), S_b), 1e-10)

    def test_lfda_class_by_class(self):
        """The sums over classes of the specification equal the pairwise definition."""
        for problem in harness.problems():
            Z, n = problem.Z - problem.Z.mean(axis=0), problem.n
            A = lfda_reference.affinity(problem.Z, problem.index, 7)
            S_w, S_b = np.zeros((problem.d,) * 2), np.zeros((problem.d,) * 2)
            for i in range(problem.c):
                mine = problem.index == i
                size, total = mine.sum(), Z[mine].sum(axis=0)
                G = Z[mine].T @ laplacian(A[np.ix_(mine, mine)]) @ Z[mine]
                S_w += G / size
                S_b += G / n + (1 - size / n) * Z[mine].T @ Z[mine] + np.outer(total, total) / n
            S_b -= S_w
            wanted = lfda_reference.local_scatters(problem.Z, problem.labels, 7)
            self.assertLess(harness.relative(S_w, wanted[0]), 1e-11, problem.name)
            self.assertLess(harness.relative(S_b, wanted[1]), 1e-11, problem.name)
            self.assertGreater(np.linalg.eigvalsh(S_w + S_b)[0], -1e-11 * np.trace(S_w + S_b))

    def test_lfda_mixture_of_neighbours(self):
        """S_w + S_b has the weights A/n inside classes, 1/n between them."""
        for problem in harness.problems():
            A = lfda_reference.affinity(problem.Z, problem.index, 7)
            same = problem.index[:, None] == problem.index[None, :]
            mixture = graph_scatter(problem.Z, np.where(same, A, 1.0) / problem.n)
            S_w, S_b = lfda_reference.local_scatters(problem.Z, problem.labels, 7)
            self.assertLess(harness.relative(S_w + S_b, mixture), 1e-12, problem.name)

    def test_nmmp_newton_equals_bisection(self):
        for problem in harness.problems():
            fitted = nmmp_reference.fit(problem.Z, problem.labels)
            V, _ = range_basis(problem.Z)
            if not np.isfinite(fitted["ratio"]) or fitted["W"].shape[1] == V.shape[1]:
                continue
            S_w, S_b = (V.T @ fitted[name] @ V for name in ("S_w", "S_b"))
            ratios = [np.trace(S_b) / np.trace(S_w)]
            for _ in range(30):
                Q = nmmp_reference.largest(S_b - ratios[-1] * S_w, fitted["W"].shape[1])[1]
                ratios.append(np.trace(Q.T @ S_b @ Q) / np.trace(Q.T @ S_w @ Q))
            self.assertTrue(np.all(np.diff(ratios) > -1e-9 * ratios[-1]), problem.name)
            self.assertLess(abs(ratios[-1] / fitted["ratio"] - 1), 1e-8, problem.name)
            self.assertLess(degrees(V @ Q, fitted["W"]), 1e-6, problem.name)

    def test_mpda_matrix_is_the_double_sum(self):
        rng = np.random.default_rng(1)
        for problem in harness.problems(1):
            W, tangents, patch_of, S, _ = mpda_reference.parts(problem.Z, problem.labels, 7, 2.0)
            for _ in range(3):
                z = rng.normal(size=len(S))
                literal = mpda_reference.double_sum(problem.Z, W, 2.0, tangents, patch_of, z)
                self.assertLess(abs(z @ S @ z / literal - 1), 1e-12, problem.name)
            d = problem.d
            plain = 2 * graph_scatter(problem.Z, W)
            self.assertLess(harness.relative(S[:d, :d], plain), 1e-12, problem.name)

    def test_mpda_patches(self):
        """Disjoint, covering, below ten samples and no single sample."""
        for problem in harness.problems():
            for i in range(problem.c):
                members = problem.Z[problem.index == i]
                cut = mpda_partition_reference.patches(members)
                self.assertEqual(sorted(sum(cut, [])), list(range(len(members))), problem.name)
                self.assertTrue(all(2 <= len(patch) < 10 for patch in cut), problem.name)

    def test_mpda_large_patches(self):
        """With other neighbours than the default a patch of `most` samples or more may stay: where
        one does, an earlier level is as flat as the last, which has none, or flatter."""
        stayed = 0
        for problem in harness.problems():
            for i in range(problem.c):
                members = problem.Z[problem.index == i]
                for k, most in ((2, 7), (2, 10), (4, 10), (6, 7), (10, 13)):
                    levels, scores = mpda_partition_reference.all_levels(members, k, most)
                    self.assertLess(max(map(len, levels[-1])), most, problem.name)
                    cut = mpda_partition_reference.patches(members, k, most)
                    if max(map(len, cut)) >= most:
                        stayed += 1
                        self.assertLessEqual(scores[levels.index(cut)], scores[-1], problem.name)
        self.assertGreater(stayed, 0)

    def test_mpda_eliminated_unknowns(self):
        """The columns of the full eigenproblem obey t^T C t = 1 and S_b t = lambda C t."""
        for problem in harness.problems(1):
            if problem.n <= problem.d:
                continue  # C is singular but for alpha: no digits left to compare
            fitted = mpda_reference.fit(problem.Z, problem.labels)
            W, C = fitted["W"], fitted["C"]
            S_b = lfda_reference.local_scatters(problem.Z, problem.labels, 7)[1]
            self.assertLess(np.abs(W.T @ C @ W - np.eye(W.shape[1])).max(), 1e-8, problem.name)
            rest = S_b @ W - C @ W * fitted["values"]
            self.assertLess(np.abs(rest).max(), 1e-7 * np.abs(S_b @ W).max(), problem.name)


class Lsda(SpectralTest):
    method = "lsda"

    def test_random_problems_iris_and_wine(self):
        for problem in harness.problems(3):
            for params in ({}, {"k": 5}, {"k": 3, "alpha": 0.5}):
                self.against(problem, lsda_reference.fit, **params)

    def test_balanced_classes(self):
        """Complete graph: many equal eigenvalues, and the rule for the last column decides."""
        for seed, d in ((1, 9), (2, 20), (3, 60)):
            for ties in ("variance", "drop"):
                W = self.against(balanced(seed, d=d), lsda_reference.fit, ties=ties)[0].W
                self.assertEqual(W.shape[1], 4 if ties == "variance" else 3)

    def test_balanced_complete_graph_spans_lda(self):
        for d in (9, 60):
            problem = balanced(4, d=d)
            W = harness.fit(problem, "lsda", k=0).W[:, :problem.c - 1]
            lda = lda_reference.fit(problem.Z, problem.labels)["W"]
            self.assertLess(degrees(W, lda), 1e-6, problem.name)

    def test_all_neighbours_are_the_complete_graph(self):
        for problem in harness.random_problems(1):
            few, many = (harness.fit(problem, "lsda", k=k).W for k in (0, problem.n - 1))
            self.assertLess(degrees(few, many), 1e-6, problem.name)

    def test_residual(self):
        for problem in harness.random_problems(2):
            W = harness.fit(problem, "lsda", k=5).W
            V, A, B = lsda_reference.eigenproblem(problem.Z, problem.labels, 5, 0.1)
            Q = V.T @ W
            values = np.diag(Q.T @ A @ Q) / np.diag(Q.T @ B @ Q)
            rest = A @ Q - B @ Q * values
            self.assertLess(np.abs(rest).max(), 1e-9 * np.linalg.norm(A, 2), problem.name)
            self.assertTrue(np.all(np.diff(values) <= 1e-9 * values[0]), problem.name)

    def test_columns_are_conjugate(self):
        """W^T X D_w X^T W is diagonal."""
        for problem in harness.random_problems(2):
            for k in (0, 5):
                W = harness.fit(problem, "lsda", k=k).W
                V, _, B = lsda_reference.eigenproblem(problem.Z, problem.labels, k, 0.1)
                product = W.T @ V @ B @ V.T @ W
                rest = product - np.diag(np.diag(product))
                self.assertLess(np.abs(rest).max(), 1e-9 * np.trace(product), problem.name)

    def test_alpha_one(self):
        """Only the graph between the classes counts."""
        for problem in harness.random_problems(1):
            self.against(problem, lsda_reference.fit, k=5, alpha=1.0)

    def test_alpha_zero(self):
        """Eigenvalues at most one: the within-graph alone."""
        for problem in harness.random_problems(1):
            fitted = self.against(problem, lsda_reference.fit, k=5, alpha=0.0)[1]
            self.assertLess(fitted["values"][0], 1 + 1e-9, problem.name)

    def test_eigenvalue_one_is_constant_on_components(self):
        """alpha = 0: lambda = 1 exactly where all samples that the within-graph connects meet in
        one point. Wide data have such features, one less than there are components."""
        ones = others = 0
        for problem in harness.random_problems(2):
            W = harness.fit(problem, "lsda", k=5, alpha=0.0, ties="variance").W
            W_w, _ = lsda_reference.graphs(problem.Z, problem.index, 5)
            reach = np.linalg.matrix_power(W_w, problem.n) > 0
            sets = np.unique(reach.argmax(axis=1), return_inverse=True)[1]
            features = (problem.Z - problem.Z.mean(axis=0)) @ W
            means = np.array([features[sets == i].mean(axis=0) for i in range(sets.max() + 1)])
            spread = np.abs(features - means[sets]).max(axis=0) / np.abs(features).max(axis=0)
            degree = W_w.sum(axis=1)
            values = (np.einsum("ik,ij,jk->k", features, W_w, features)
                      / (degree @ features ** 2))
            self.assertTrue(np.all(values <= 1 + 1e-9), problem.name)
            is_one = values > 1 - 1e-9
            self.assertTrue(np.all(spread[is_one] < 1e-6), problem.name)
            self.assertTrue(np.all(spread[~is_one] > 1e-4), problem.name)
            if problem.n - 1 <= problem.d:
                self.assertEqual(is_one.sum(), min(problem.c, sets.max()), problem.name)
            ones, others = ones + is_one.sum(), others + (~is_one).sum()
        self.assertGreater(ones, 0)
        self.assertGreater(others, 0)

    def test_invariance(self):
        for problem in invariance_problems():
            for params in ({"k": 5}, {"k": 0}):
                self.check_order(problem, **params)
                self.check_shift(problem, **params)
                self.check_size(problem, **params)
                self.check_rotation(problem, **params)


class Lfda(SpectralTest):
    method = "lfda"

    def test_random_problems_iris_and_wine(self):
        for problem in harness.problems(2) + [harness.wine("zscore")]:
            for params in ({}, {"k": 3, "rho": 0.01}, {"k": 5, "rho": 1.0}):
                self.against(problem, lfda_reference.fit, **params)

    def test_no_ridge(self):
        for problem in harness.problems(2) + [harness.wine("none")]:
            if problem.n - problem.c > problem.d:
                self.against(problem, lfda_reference.fit, rho=0.0)

    def test_metrics(self):
        for problem in harness.problems(1):
            for metric in ("plain", "orth"):
                self.against(problem, lfda_reference.fit, metric=metric)

    def test_scale_of_columns(self):
        """t^T (S_w + rho I) t = lambda = t^T S_b t / lambda."""
        for problem in harness.problems(1):
            found, wanted = self.against(problem, lfda_reference.fit)
            W, values = found.W, wanted["values"]
            within = W.T @ (wanted["S_w"] + 0.1 * np.eye(problem.d)) @ W
            scale = np.maximum(values, 0)
            self.assertLess(np.abs(within - np.diag(scale)).max(), 1e-8 * values[0], problem.name)

    def test_residual(self):
        """Without a ridge and with plain columns: T^T S_w T = I, S_b T = S_w T diag(lambda), and
        the mixture of neighbours, by its own weights, becomes diag(1 + lambda)."""
        for problem in harness.problems(2):
            if problem.n - problem.c <= 2 * problem.d:
                continue
            T = harness.fit(problem, "lfda", rho=0.0, metric="plain").W
            S_w, S_b = lfda_reference.local_scatters(problem.Z, problem.labels, 7)
            values = np.diag(T.T @ S_b @ T)
            self.assertLess(np.abs(T.T @ S_w @ T - np.eye(len(values))).max(), 1e-8, problem.name)
            rest = S_b @ T - S_w @ T * values
            self.assertLess(np.abs(rest).max(), 1e-8 * np.abs(S_b @ T).max(), problem.name)
            A = lfda_reference.affinity(problem.Z, problem.index, 7)
            same = problem.index[:, None] == problem.index[None, :]
            mixture = T.T @ graph_scatter(problem.Z, np.where(same, A, 1.0) / problem.n) @ T
            self.assertLess(np.abs(mixture - np.diag(1 + values)).max(), 1e-8 * (1 + values[0]),
                            problem.name)

    def test_many_neighbours_approach_lda(self):
        """k beyond every class: sigma is the farthest distance. Shrunk within-class distances bring
        the affinities to one and the scatters to those of LDA."""
        rng = np.random.default_rng(71)
        X, labels = harness.rlar_problems.samples(rng, 6, (20, 25, 15))
        problem = harness.Problem("far copies", X, labels, "none")
        found = harness.fit(problem, "lfda", k=1000, rho=1e-9).W[:, :2]
        wanted = lfda_reference.fit(problem.Z, labels, k=1000, rho=1e-9)
        self.assertLess(degrees(found, wanted["W"][:, :2]), 1e-6)
        # two samples and two copies of each: with sigma the distance to the other place, every
        # affinity is exp(-1) or 1, the scatters are LDA's of the copies up to one factor
        places = rng.normal(size=(6, 2, 4)) + 3 * rng.normal(size=(6, 1, 4))
        X, labels = np.repeat(places.reshape(12, 4), 3, axis=0), np.repeat(np.arange(6), 6)
        pairs = harness.Problem("pairs", X, labels, "none")
        S_w = lfda_reference.local_scatters(X, labels, 1000)[0]
        lda = class_scatters(X, labels)[0]
        self.assertLess(harness.relative(S_w, np.exp(-1) * lda), 1e-12)
        self.against(pairs, lfda_reference.fit, k=1000, rho=0.1)

    def test_singleton_class_and_copies(self):
        rng = np.random.default_rng(72)
        X, labels = harness.rlar_problems.samples(rng, 5, (14, 1, 12))
        self.against(harness.Problem("singleton", X, labels, "none"), lfda_reference.fit)
        mates = np.flatnonzero(labels == labels[0])
        X[mates[1:]] = X[mates[0]]  # a class of copies: no sigma, no affinity, no contribution
        self.against(harness.Problem("copies", X, labels, "none"), lfda_reference.fit)

    def test_invariance(self):
        for problem in invariance_problems():
            self.check_order(problem)
            self.check_shift(problem)
            self.check_rotation(problem)

    def test_size_of_the_data(self):
        """rho is absolute: it has to grow with the squares."""
        for problem in invariance_problems():
            large = transformed(problem, "times 8.5", 8.5 * problem.Z)
            first = harness.fit(problem, "lfda", rho=0.1).W
            second = harness.fit(large, "lfda", rho=0.1 * 8.5 ** 2).W
            self.assertLess(harness.relative_up_to_signs(8.5 * second, first), 1e-8, problem.name)
            same = harness.fit(large, "lfda", rho=0.1).W
            self.assertGreater(harness.relative_up_to_signs(8.5 * same, first), 1e-3, problem.name)
            if problem.n - problem.c > 2 * problem.d:
                self.check_size(problem, rho=0.0)


class Nmmp(SpectralTest):
    method = "nmmp"

    def test_random_problems_iris_and_wine(self):
        for problem in harness.problems(3):
            for params in ({}, {"k": 3}, {"k": 10}):
                self.against(problem, nmmp_reference.fit, **params)

    def test_orthonormal_and_best(self):
        rng = np.random.default_rng(2)
        for problem in harness.problems(2):
            found, wanted = self.against(problem, nmmp_reference.fit)
            W, S_w, S_b = found.W, wanted["S_w"], wanted["S_b"]
            self.assertLess(np.abs(W.T @ W - np.eye(W.shape[1])).max(), 1e-12, problem.name)
            within = np.trace(W.T @ S_w @ W)
            ratio = np.trace(W.T @ S_b @ W) / within
            self.assertLess(abs(ratio / wanted["ratio"] - 1), 1e-9, problem.name)
            lda = lda_reference.fit(problem.Z, problem.labels)["W"]
            fill = rng.normal(size=(20,) + W.shape)
            fill[0, :, :lda.shape[1]] = lda  # LDA's own directions among the competitors
            for columns in fill:
                Q = np.linalg.qr(columns)[0]
                other = np.trace(Q.T @ S_b @ Q) / np.trace(Q.T @ S_w @ Q)
                self.assertLessEqual(other, ratio * (1 + 1e-9), problem.name)

    def test_trace_rises_to_the_root(self):
        """The ratio never falls, and at the last one g(lambda) = 0."""
        for problem in harness.problems(2):
            found = harness.fit(problem, "nmmp")
            V, q = range_basis(problem.Z)[0], found.W.shape[1]
            S_w, S_b = (V.T @ S @ V for S in nmmp_reference.scatters(problem.Z, problem.labels, 0))
            ratios = found.trace["objective"]
            if q == V.shape[1] or not np.isfinite(ratios).all():
                continue  # nothing to choose, or the null-space branch
            self.assertTrue(np.all(np.diff(ratios) >= -1e-12 * ratios[-1]), problem.name)
            excess = nmmp_reference.largest(S_b - ratios[-1] * S_w, q)[0].sum()
            self.assertLess(abs(excess), 1e-10 * np.trace(S_b), problem.name)

    def test_null_space_branch(self):
        """Wide data and one neighbour: classes fall into several components of the graph, so that
        c directions hold every component together and the ratio is infinite."""
        seen = 0
        for seed in range(8):
            problem = harness.random_problem("n << d", 300 + seed, ("none", "unit")[seed % 2])
            found, wanted = self.against(problem, nmmp_reference.fit, k=1)
            if np.isfinite(wanted["ratio"]):
                continue
            seen += 1
            within = np.trace(found.W.T @ wanted["S_w"] @ found.W)
            self.assertLess(within, 1e-10 * np.linalg.norm(wanted["S_w"], 2), problem.name)
        self.assertGreaterEqual(seen, 4)

    def test_complete_graphs_are_trace_ratio_lda(self):
        for d in (9, 20):
            problem = balanced(81, d=d)
            W = harness.fit(problem, "nmmp", k=problem.n).W
            S_w, S_b, _ = class_scatters(problem.Z, problem.index)
            lda = nmmp_reference.trace_ratio(S_b, S_w, problem.c)[0]
            self.assertLess(degrees(W, lda), 1e-6, problem.name)

    def test_mutual_neighbours(self):
        """With few mutual pairs the last column may be any of several: the traces still agree."""
        for problem in harness.problems(3):
            wanted = nmmp_reference.fit(problem.Z, problem.labels, mutual="and")
            if wanted["gap"] > 1e-8:
                self.against(problem, nmmp_reference.fit, mutual="and")
                continue
            W = harness.fit(problem, "nmmp", mutual="and").W
            for S in (wanted["S_w"], wanted["S_b"]):
                off = np.trace(W.T @ S @ W) - np.trace(wanted["W"].T @ S @ wanted["W"])
                self.assertLess(abs(off), 1e-10 * np.trace(S), problem.name)

    def test_singleton_class(self):
        X, labels = harness.rlar_problems.samples(np.random.default_rng(82), 6, (12, 1, 13))
        self.against(harness.Problem("singleton", X, labels, "none"), nmmp_reference.fit)

    def test_invariance(self):
        for problem in invariance_problems():
            self.check_order(problem)
            self.check_shift(problem)
            self.check_size(problem)
            self.check_rotation(problem)


class Mpda(SpectralTest):
    method = "mpda"

    def test_random_problems_iris_and_wine(self):
        """Not raw iris: on its grid of 0.1 the last digit decides which of equal distances count,
        and a change there turns the span by several degrees."""
        more = [harness.wine("zscore"), harness.iris("zscore")]
        for problem in harness.problems(3) + more:
            if problem.scale == "none" and problem.n <= problem.d:
                continue  # alpha is meant for samples of length one: 1e8 conditions, no digits
            self.against(problem, mpda_reference.fit)

    def test_parameters(self):
        for problem in harness.random_problems(2):
            if problem.scale == "unit":
                for params in ({"k": 3}, {"gamma": 0.01}, {"gamma": 100.0, "alpha": 1e-3},
                               {"geodesic": 2, "patch": 7}, {"geodesic": 3, "patch": 5},
                               {"geodesic": 10, "patch": 6, "energy": 0.7}):
                    self.against(problem, mpda_reference.fit, **params)
        for params in ({"geodesic": 2}, {"geodesic": 2, "patch": 20}, {"geodesic": 12, "patch": 16},
                       {"energy": 0.5}):
            self.against(harness.wine(), mpda_reference.fit, **params)

    def test_scale_of_columns(self):
        for problem in harness.problems(2):
            if problem.n > problem.d:
                found, wanted = self.against(problem, mpda_reference.fit)
                product = found.W.T @ wanted["C"] @ found.W
                self.assertLess(np.abs(product - np.eye(len(product))).max(), 1e-7, problem.name)

    def test_residual(self):
        for problem in harness.problems(2):
            if problem.n > problem.d:
                W = harness.fit(problem, "mpda").W
                C = mpda_reference.fit(problem.Z, problem.labels)["C"]
                S_b = lfda_reference.local_scatters(problem.Z, problem.labels, 7)[1]
                rest = S_b @ W - C @ W * np.diag(W.T @ S_b @ W)
                self.assertLess(np.abs(rest).max(), 1e-7 * np.abs(S_b @ W).max(), problem.name)

    def test_one_patch_leaves_the_taylor_term(self):
        """In one patch per class all tangent spaces agree, whatever that is worth: no gamma."""
        moved = 0.0
        for problem in invariance_problems():
            first, second = (harness.fit(problem, "mpda", patch=1000, gamma=gamma).W
                             for gamma in (1e-3, 1e6))
            self.assertLess(harness.relative_up_to_signs(second, first), 1e-8, problem.name)
            cut = [harness.fit(problem, "mpda", patch=4, gamma=gamma).W for gamma in (1e-3, 1e6)]
            moved = max(moved, harness.relative_up_to_signs(*cut))
        self.assertGreater(moved, 1e-2, "gamma matters between patches")

    def test_size_of_the_data(self):
        """alpha and gamma are absolute: they have to grow with the squares."""
        for problem in invariance_problems():
            large = transformed(problem, "times 4", 4 * problem.Z)
            first = harness.fit(problem, "mpda", alpha=1e-3).W
            second = harness.fit(large, "mpda", alpha=16e-3, gamma=16.0).W
            self.assertLess(harness.relative_up_to_signs(4 * second, first), 1e-8, problem.name)
            same = harness.fit(large, "mpda", alpha=1e-3).W
            self.assertGreater(harness.relative_up_to_signs(4 * same, first), 1e-4, problem.name)

    def test_order_inside_a_class(self):
        """It may change the patches, and then the span; the oracle follows."""
        moved = 0.0
        for problem in invariance_problems():
            order = np.random.default_rng(3).permutation(problem.n)
            other = transformed(problem, "other order", problem.Z[order], problem.labels[order])
            W = self.against(other, mpda_reference.fit, alpha=1e-3)[0].W
            moved = max(moved, degrees(W, harness.fit(problem, "mpda", alpha=1e-3).W))
        self.assertGreater(moved, 1e-3)

    def test_classes_may_be_interleaved(self):
        """Only the order inside each class counts."""
        for problem in invariance_problems():
            order = np.argsort(problem.index, kind="stable")
            other = transformed(problem, "sorted", problem.Z[order], problem.labels[order])
            self.same_span(transformed(problem, "as is"), other)

    def test_invariance(self):
        for problem in invariance_problems():
            self.check_shift(problem)
            self.check_rotation(problem)

    def test_singleton_and_pair(self):
        X, labels = harness.rlar_problems.samples(np.random.default_rng(92), 5, (14, 1, 2, 12))
        self.against(harness.Problem("singleton", X, labels, "unit"), mpda_reference.fit)


if __name__ == "__main__":
    unittest.main()
