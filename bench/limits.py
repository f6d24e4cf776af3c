"""What a fit cannot do without: for each method the BLAS and LAPACK calls of the cheapest exact
algorithm known to us, as [(how often, [call, or call])] in the words of limits.c.

A term with two calls takes the quicker: DSYRK, or DGEMMs over panels of one triangle.
n samples, d features, c classes; all for n >= d but where `small` says otherwise.
"""


def gram(n, d):
    """X X' (d x d) or, for n < d, X' X."""
    inner, side = max(n, d), min(n, d)
    return 1, ["syrk:%dx%d" % (inner, side), "panels:%dx%d" % (inner, side)]


def factor(side):
    return 1, ["potrf:%d" % side]


def solve(side, columns):
    return 1, ["solve:%dx%d" % (side, columns)]


def product(m, n, k):
    return 1, ["gemm:%dx%dx%d" % (m, n, k)]


def moments(m, n, k):
    """A B' with long rows: X T', or X A."""
    return 1, ["outer:%dx%dx%d" % (m, n, k)]


def eigen(side, count):
    return 1, ["syevr:%dx%d" % (side, count)]


def times(count, terms):
    return [(count * once, calls) for once, calls in terms]


def weighted_solve(n, d, c):
    """One iteration of the reweighted methods: Gram, factorisation, solve, the moments X T (in the
    n x n form: W = X A) and the projection W' X."""
    side = min(n, d)
    return [gram(n, d), factor(side), solve(side, c), moments(d, c, n), product(c, n, d)]


def ridge(n, d, c):
    side = min(n, d)
    return [gram(n, d), factor(side), solve(side, c), moments(d, c, n)]


def fisher(n, d, c):
    """n >= d: total scatter, its factor, d x c solves, a c x c eigenproblem. n < d: the n x n Gram
    matrix and its eigenvectors, for rank and whitening, the c x c problem, and back to features."""
    if n >= d:
        return [gram(n, d), factor(d), solve(d, c), product(c, c, d), eigen(c, c - 1)]
    return [gram(n, d), eigen(n, n), product(n, c, n), moments(d, c - 1, n)]


def generalised(n, d, c, scatters):
    """A q = lambda B q, c largest: the scatters, B's factor, both triangular solves, eigenvectors."""
    return times(scatters, [gram(n, d)]) + [factor(d), solve(d, d), eigen(d, c), solve(d, c)]


def of_method(method, n, d, c, iterations):
    """The terms for a method at its defaults, n >= d. `iterations` as the fit reported them."""
    once = [gram(n, d)]
    many = {
        "rlar": lambda: times(iterations, weighted_solve(n, d, c)),
        "alpr": lambda: times(iterations, weighted_solve(n, d, c)),
        "rfs": lambda: times(iterations, weighted_solve(n, d, c)),
        "rr": lambda: ridge(n, d, c),
        "lsr": lambda: ridge(n, d, c),
        "lda": lambda: fisher(n, d, c),
        "sulda": lambda: fisher(n, d, c),
        "mmc": lambda: once + [eigen(d, c)],
        "alde": lambda: once + [eigen(d, c)],
        # The complete graph of classes of one size: LDA's problem.
        "lsda": lambda: fisher(n, d, c),
        "lfda": lambda: generalised(n, d, c, 2),
        "mpda": lambda: generalised(n, d, c, 2),
        "nmmp": lambda: times(2, once) + times(max(iterations, 1), [eigen(d, c)]),
        "sda": lambda: once + times(c - 1, [factor(d)]),
        "l21sda": lambda: once + times(iterations, [factor(d), solve(d, c - 1)]),
        "relsr": lambda: once + [factor(d)] + times(
            iterations, [solve(d, c), moments(d, c, n), product(c, n, d)]),
        "rslda": lambda: once + times(
            iterations, [factor(d), solve(d, c)] + times(6, [product(c, n, d)])),
    }
    return many[method]()


WHAT = {
    "rlar": "iterations x (Gram, Cholesky, solve, 2 products)",
    "alpr": "iterations x (Gram, Cholesky, solve, 2 products)",
    "rfs": "iterations x (Gram, Cholesky, solve, 2 products)",
    "rr": "Gram, Cholesky, solve, product", "lsr": "Gram, Cholesky, solve, product",
    "lda": "Gram, Cholesky, solve", "sulda": "Gram, Cholesky, solve",
    "mmc": "Gram, c eigenvectors", "alde": "Gram, c eigenvectors",
    "lsda": "Gram, Cholesky, solve (classes of one size)",
    "lfda": "2 Gram, Cholesky, 2 triangular solves, c eigenvectors",
    "mpda": "2 Gram, Cholesky, 2 triangular solves, c eigenvectors",
    "nmmp": "2 Gram, iterations x c eigenvectors", "sda": "Gram, (c - 1) x Cholesky",
    "l21sda": "Gram, iterations x (Cholesky, solve)",
    "relsr": "Gram, Cholesky, iterations x (solve, 2 products)",
    "rslda": "Gram, iterations x (Cholesky, solve, 6 products)",
}
