"""RLAR in plain NumPy: the independent oracle of the tests.

Every formula is written as the paper prints it, with explicit n x n matrices V, S, L and H and
one d x d solve per iteration. It shares nothing with the library beyond the formulas: no lists
of edges, no dual form, no iterated retargeting, no weighted centring. Slow on purpose; meant
for a few hundred samples.

The reading of the paper that it implements (equation numbers are the paper's):

  objective (12)  sum_i |e_i| + alpha sum_r |w_r| + beta/(2K) sum_jk V_jk |W'(x_j - x_k)|
  weights         om(s) = rho'(s)/s with one of the two kernels below
  S               V_jk om(G_jk) / K, and 0 where x_j and x_k are exactly equal
  K               k, or for k = 0 seven when every class has more than ten samples, else three; a
                  class of n_i samples has min(K, n_i - 1) neighbours each; the factor stays 1/(2K)
  one iteration   solve W, b (17)(15); T (22)(25); V (18) from the new G; then the weights
  reported        the objective with W, b, T, V at the end of the iteration, V after its update

Solver "paper": kernel add, eps fixed. Solver "anneal": kernel sqrt, eps falls geometrically to
max(eps, 1e-4), which it reaches in the last iteration; the rows of W use min(eps, 1e-3). What
is computed at the end of iteration t (smoothed objective and the weights of the next solve)
uses the eps of iteration t. The first solve has weights one and S from the distances of the raw
samples.

Samples are rows of X here (n x d), as NumPy users have them; formulas with X mean its
transpose.
"""
import itertools
import math

import numpy as np

# ---- Scaling -------------------------------------------------------------------------------------


def unit_length(X):
    """Each sample divided by its Euclidean length; a zero sample stays zero."""
    X = np.array(X, dtype=float)
    for i in range(X.shape[0]):
        length = math.sqrt(math.fsum(X[i] * X[i]))
        if length > 0:
            X[i] /= length
    return X


def min_max(X):
    """Each feature mapped to [0, 1]; a constant feature becomes zero."""
    low, high = X.min(axis=0), X.max(axis=0)
    spread = np.where(high > low, high - low, 1.0)
    return np.where(high > low, (X - low) / spread, 0.0)


def z_score(X):
    """Each feature to mean 0 and standard deviation 1 (population form); constant ones become 0."""
    mean, spread = X.mean(axis=0), X.std(axis=0)
    constant = X.max(axis=0) == X.min(axis=0)
    return np.where(constant, 0.0, (X - mean) / np.where(constant, 1.0, spread))


def mean_length(X):
    """All samples by one number: their mean squared length becomes 1."""
    length = np.sqrt(np.mean(np.sum(X * X, axis=1)))
    return X / length if length > 0 else X


SCALINGS = {"none": lambda X: np.array(X, dtype=float), "unit": unit_length, "minmax": min_max,
            "zscore": z_score, "rms": mean_length}


def scaled(X, chain):
    """Apply a chain such as "minmax,unit"."""
    for name in chain.split(","):
        X = SCALINGS[name](X)
    return X


# ---- Kernels: om(s) = rho'(s) / s ---------------------------------------------------------------


def om_add(s, eps):
    return 1.0 / (s + eps)


def rho_add(s, eps):
    """s - eps log(1 + s/eps), by its series where the difference would lose every digit."""
    r = s / eps
    return eps * (r * r / 2 - r * r * r / 3) if r < 1e-4 else s - eps * math.log1p(r)


def om_sqrt(s, eps):
    return 1.0 / math.sqrt(s * s + eps * eps)


def rho_sqrt(s, eps):
    return math.sqrt(s * s + eps * eps)


KERNELS = {"paper": (om_add, rho_add), "anneal": (om_sqrt, rho_sqrt)}


def schedule(solver, eps, iters):
    """(eps, eps of the rows of W) at the end of iteration 1..iters."""
    if solver == "paper":
        return [(eps, eps)] * iters
    end = max(eps, 1e-4)
    rate = end ** (1.0 / iters)
    steps = [max(rate ** t, end) for t in range(1, iters + 1)]
    return [(e, min(e, 1e-3)) for e in steps]


# ---- The graph ----------------------------------------------------------------------------------


def classes_of(labels):
    """Class names in numeric order and the index of each sample's class."""
    names, index = np.unique(np.asarray(labels), return_inverse=True)
    return names, index


def neighbour_count(k, label):
    if k > 0:
        return k
    return 7 if min(np.bincount(label)) > 10 else 3


def distances(Z, label):
    """G_jk = |z_j - z_k| inside a class, j != k; infinite elsewhere. From explicit differences."""
    n = Z.shape[0]
    G = np.full((n, n), np.inf)
    for j in range(n):
        mates = np.flatnonzero(label == label[j])
        mates = mates[mates != j]
        difference = Z[mates] - Z[j]
        G[j, mates] = np.sqrt((difference * difference).sum(axis=1))
    return G


def nearest(G, label, K):
    """V of (18): in each row ones at the min(K, n_i - 1) smallest entries; ties by lower index."""
    n = G.shape[0]
    V = np.zeros((n, n))
    for j in range(n):
        mates = np.array([k for k in range(n) if k != j and label[k] == label[j]], dtype=int)
        order = np.argsort(G[j, mates], kind="stable")
        V[j, mates[order[:K]]] = 1.0
    return V


def affinity(X, V, G, K, om, eps):
    """S = V om(G) / K; nothing between two exactly equal samples."""
    S = np.zeros_like(V)
    for j, k in np.argwhere(V == 1.0):
        if not np.array_equal(X[j], X[k]):
            S[j, k] = om(G[j, k], eps) / K
    return S


def laplacian(S):
    return np.diag((S.sum(axis=0) + S.sum(axis=1)) / 2) - (S + S.T) / 2


# ---- W and b, (17) and (15) ---------------------------------------------------------------------


def centring(Dh):
    return np.diag(Dh) - np.outer(Dh, Dh) / Dh.sum()


def system(X, Dh, Dt, L, alpha, beta):
    """X (H + beta L) X' + alpha Dt; of what precision the parts are."""
    return X.T @ (centring(Dh) + beta * L) @ X + alpha * np.diag(Dt)


def condition(M):
    """Of M scaled to a unit diagonal: what a Cholesky factorisation meets."""
    scale = 1 / np.sqrt(np.diag(M))
    return float(np.linalg.cond((scale[:, None] * M * scale).astype(float)))


def solve(X, T, Dh, Dt, L, alpha, beta):
    """W = (X (H + beta L) X' + alpha Dt)^-1 X H T,  b = (T' - W'X) Dh 1 / (1' Dh 1), and the
    condition number.

    The weights reach 1/eps, so H as printed cancels and the matrix is badly conditioned. The
    products are formed in NumPy's long double and the solution is refined in it: then a difference
    from the library is the library's error and not this file's."""
    X, T, Dh, Dt, L = (np.asarray(part, dtype=np.longdouble) for part in (X, T, Dh, Dt, L))
    M = system(X, Dh, Dt, L, alpha, beta)
    Q = X.T @ (centring(Dh) @ T)
    W = np.zeros_like(Q)
    for _ in range(4):
        W = W + np.linalg.solve(M.astype(float), (Q - M @ W).astype(float))
    b = (T - X @ W).T @ Dh / Dh.sum()
    return W.astype(float), b.astype(float), condition(M)


# ---- Retargeting, (22) to (25) ------------------------------------------------------------------


def retarget_row(y, l):
    """The literal Phi: Phi(v_j) = 1 where v_j + sum_k min(v_j - v_k, 0) > 0, i.e. (24) without its
    positive factor 1/tau, which is 0/0 when all margins hold already."""
    others = [j for j in range(len(y)) if j != l]
    v = {j: y[j] + 1.0 - y[l] for j in others}
    phi = {j: v[j] + sum(min(v[j] - v[k], 0.0) for k in others) > 0 for j in others}
    delta = sum(v[j] for j in others if phi[j]) / (1 + sum(phi.values()))
    t = np.array(y, dtype=float)
    t[l] = y[l] + delta
    for j in others:
        t[j] = y[j] + min(delta - v[j], 0.0)
    return t


def retarget_row_enumerated(y, l):
    """The same row from scratch: for every set of margins made tight, the nearest row that has them
    tight; of those that keep all the other margins too, the nearest to y. 2^(c-1) sets."""
    others = [j for j in range(len(y)) if j != l]
    best, best_distance = None, math.inf
    for size in range(len(others) + 1):
        for tight in itertools.combinations(others, size):
            t = np.array(y, dtype=float)
            t[l] = (y[l] + sum(y[j] + 1.0 for j in tight)) / (1 + size)
            for j in tight:
                t[j] = t[l] - 1.0
            distance = math.sqrt(math.fsum((t - y) ** 2))
            feasible = all(t[l] - t[j] >= 1.0 - 1e-12 for j in others)
            if feasible and distance < best_distance:
                best, best_distance = t, distance
    return best


def retarget(Y, label, row=retarget_row):
    return np.array([row(Y[i], label[i]) for i in range(len(label))])


# ---- The loop, Algorithm 1 ----------------------------------------------------------------------


def objective(E, W, V, G, alpha, beta, K, rho=lambda s, eps: s, eps=(0.0, 0.0)):
    """The three terms of (12), plain by default, with the norms smoothed by rho otherwise."""
    regression = math.fsum(rho(s, eps[0]) for s in np.sqrt((E * E).sum(axis=1)))
    sparsity = alpha * math.fsum(rho(s, eps[1]) for s in np.sqrt((W * W).sum(axis=1)))
    locality = beta / (2 * K) * math.fsum(rho(s, eps[0]) for s in G[V == 1.0])
    return regression, sparsity, locality


def fit(X, labels, alpha, beta, k=0, iters=30, eps=1e-8, solver="paper", trace=True):
    """Run Algorithm 1 on the rows of X. Returns W (d x c), b (c), T, V, S, names, K, the condition
    number of the last system and, with trace, one dict per iteration: objective, smoothed,
    regression, sparsity, locality, eps."""
    X = np.array(X, dtype=float)
    names, label = classes_of(labels)
    n, d, c = X.shape[0], X.shape[1], len(names)
    K = neighbour_count(k, label)
    om, rho = KERNELS[solver]
    steps = schedule(solver, eps, iters)

    Dh, Dt = np.ones(n), np.ones(d)
    T = np.zeros((n, c))
    T[np.arange(n), label] = 1.0
    G = distances(X, label)
    V = nearest(G, label, K)
    S = affinity(X, V, G, K, om, steps[0][0])
    rows = []
    for eps_t in steps:
        W, b, kappa = solve(X, T, Dh, Dt, laplacian(S), alpha, beta)
        Y = X @ W + b
        T = retarget(Y, label)
        E = Y - T
        G = distances(X @ W, label)
        V = nearest(G, label, K)
        Dh = np.array([om(s, eps_t[0]) for s in np.sqrt((E * E).sum(axis=1))])
        Dt = np.array([om(s, eps_t[1]) for s in np.sqrt((W * W).sum(axis=1))])
        S = affinity(X, V, G, K, om, eps_t[0])
        if trace:
            plain = objective(E, W, V, G, alpha, beta, K)
            smooth = objective(E, W, V, G, alpha, beta, K, rho, eps_t)
            rows.append({"objective": sum(plain), "smoothed": sum(smooth), "regression": plain[0],
                         "sparsity": plain[1], "locality": plain[2], "eps": eps_t[0]})
    return {"W": W, "b": b, "T": T, "V": V, "S": S, "names": names, "K": K, "condition": kappa,
            "trace": rows}
