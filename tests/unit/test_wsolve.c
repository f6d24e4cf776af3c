/* test_wsolve.c - the W, b step: against equation (17) as printed (explicit H and L, elimination in
 * long double), by its gradient (16), and primal against dual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "samples.h"
#include "solver/held.h"
#include "solver/refine.h"
#include "solver/targets.h"

enum { MOST_CLASSES = 220 };

typedef struct shape {
    int64_t d, c;
    int64_t sizes[MOST_CLASSES];
    int64_t k;
    double alpha, beta;
    double decades; /* weights run over 10^-decades .. 10^decades */
} shape;

/* n >> d, n about d, n << d, c > d, two classes, singletons, classes of at most k, one feature. */
static const shape shapes[] = {
    {5, 3, {30, 25, 28}, 7, 0.1, 0.1, 1.0},
    {20, 3, {7, 6, 8}, 3, 0.01, 10.0, 1.0},
    {90, 3, {5, 8, 6}, 3, 0.1, 1.0, 1.0},
    {4, 6, {5, 5, 5, 5, 5, 5}, 3, 1.0, 0.5, 1.0},
    {8, 2, {13, 11}, 7, 0.001, 0.001, 1.0},
    {30, 4, {9, 1, 8, 1}, 3, 10.0, 100.0, 1.0},
    {12, 4, {2, 3, 4, 12}, 50, 0.5, 1000.0, 0.5},
    {1, 2, {11, 12}, 3, 0.1, 0.1, 1.0},
    {1, 2, {1, 1}, 1, 0.1, 0.1, 1.0},
    {40, 2, {1, 1}, 1, 0.1, 0.1, 1.0},
    {150, 3, {60, 50, 70}, 7, 0.1, 0.1, 1.0}, /* more than one tile of 128 in both forms */
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

typedef struct problem {
    fixture f;
    rlar_wproblem p;
    double *x, *t, *dhat, *dtil;
} problem;

static void problem_open(problem *q, const shape *s, int threads, uint64_t seed) {
    rlar_rng rng = seeded(seed);
    fixture_open(&q->f, threads, s->c, s->sizes, s->k);
    const int64_t n = q->f.groups.n;
    q->x = random_numbers(&rng, s->d * n);
    q->t = random_numbers(&rng, s->c * n);
    q->dhat = zeros(n);
    q->dtil = zeros(s->d);
    for (int64_t i = 0; i < n; i++)
        q->dhat[i] = spread(&rng, s->decades);
    for (int64_t r = 0; r < s->d; r++)
        q->dtil[r] = spread(&rng, s->decades);
    fixture_weigh(&q->f, &rng, s->d, q->x, s->decades);
    q->p = (rlar_wproblem){.n = n,
                           .d = s->d,
                           .c = s->c,
                           .x = q->x,
                           .t = q->t,
                           .dhat = q->dhat,
                           .dtil = q->dtil,
                           .l = &q->f.l,
                           .groups = &q->f.groups,
                           .alpha = s->alpha,
                           .beta = s->beta};
    assert_int_equal(rlar__blas_open(q->f.ctx, 0), RLAR_OK);
}

static void problem_close(problem *q) {
    free(q->x);
    free(q->t);
    free(q->dhat);
    free(q->dtil);
    fixture_close(&q->f);
}

typedef struct room {
    rlar_wsolver solver;
    rlar_refiner refiner;
} room;

static void carve(rlar_workspace *ws, const rlar_wproblem *p, bool dual, room *out) {
    rlar__wsolve_carve(ws, p->groups, p->d, p->c, dual, &out->solver);
    rlar__refine_carve(ws, p->n, p->d, p->c, !p->no_offset, &out->refiner);
}

/* W (d x c) followed by b (c), corrected so many times; the caller frees it. */
static double *solve_refined(const problem *q, bool dual, int refinements, int *ridged) {
    const rlar_wproblem *p = &q->p;
    rlar_workspace ws = {0};
    room r;
    double change, *y = zeros(p->n * p->c);
    carve(&ws, p, dual, &r);
    assert_int_equal(rlar__workspace_take(q->f.ctx, &ws, "test"), RLAR_OK);
    carve(&ws, p, dual, &r);
    double *w = zeros((p->d + 1) * p->c), *b = w + p->d * p->c;
    *ridged = 0;
    assert_int_equal(rlar__wsolve(q->f.ctx, p, &r.solver, w, b, ridged), RLAR_OK);
    for (int i = 0; i < refinements; i++)
        assert_int_equal(rlar__refine(q->f.ctx, p, &r.solver, &r.refiner, y, w, b, &change),
                         RLAR_OK);
    rlar__workspace_free(&ws);
    free(y);
    return w;
}

static double *solve(const problem *q, bool dual, int *ridged) {
    return solve_refined(q, dual, 0, ridged);
}

static double norm(int64_t count, const double *x) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* ||a - b|| / ||b|| */
static double difference(int64_t count, const double *a, const double *b) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum) / norm(count, b);
}

/* ---- The oracle: (17) as printed ---- */

/* N = H + beta L with H = D - D 1 1^T D / (1^T D 1); n x n. With beta < 0: H alone. */
static long double *middle(const problem *q, double beta) {
    const int64_t n = q->p.n;
    long double *m = calloc((size_t)(n * n), sizeof *m), total = 0.0L;
    assert_non_null(m);
    double *s = fixture_dense_s(&q->f);
    for (int64_t i = 0; i < n; i++)
        total += q->dhat[i];
    for (int64_t i = 0; i < n; i++) {
        m[i * n + i] += q->dhat[i];
        for (int64_t j = 0; j < n; j++) {
            m[i * n + j] -= (long double)q->dhat[i] * q->dhat[j] / total;
            if (beta > 0.0 && q->p.l) {
                const long double half = 0.5L * beta * ((long double)s[i * n + j] + s[j * n + i]);
                m[i * n + i] += half;
                m[i * n + j] -= half;
            }
        }
    }
    free(s);
    return m;
}

/* out (d x columns) = X M R, where R is n x columns given by rows of `right` (columns x n). */
static void sandwich(const problem *q, const long double *m, int64_t columns, const double *right,
                     long double *out) {
    const int64_t n = q->p.n, d = q->p.d;
    for (int64_t col = 0; col < columns; col++)
        for (int64_t i = 0; i < n; i++) {
            long double mr = 0.0L;
            for (int64_t j = 0; j < n; j++)
                mr += m[i * n + j] * right[j * columns + col];
            for (int64_t r = 0; r < d; r++)
                out[col * d + r] += q->x[i * d + r] * mr;
        }
}

/* Gaussian elimination with row pivoting; a is d x d and b is d x c, column by column. */
static void eliminate(int64_t d, int64_t c, long double *a, long double *b) {
    for (int64_t k = 0; k < d; k++) {
        int64_t pivot = k;
        for (int64_t r = k + 1; r < d; r++)
            if (fabsl(a[k * d + r]) > fabsl(a[k * d + pivot]))
                pivot = r;
        for (int64_t col = 0; col < d + c; col++) {
            long double *v = col < d ? a + col * d : b + (col - d) * d;
            const long double swap = v[k];
            v[k] = v[pivot];
            v[pivot] = swap;
        }
        for (int64_t r = 0; r < d; r++) {
            const long double factor = r == k ? 0.0L : a[k * d + r] / a[k * d + k];
            for (int64_t col = k; factor != 0.0L && col < d + c; col++) {
                long double *v = col < d ? a + col * d : b + (col - d) * d;
                v[r] -= factor * v[k];
            }
        }
    }
    for (int64_t i = 0; i < d * c; i++)
        b[i] /= a[(i % d) * d + i % d];
}

/* W and b as solve() returns them. */
static double *printed_formula(const problem *q) {
    const int64_t n = q->p.n, d = q->p.d, c = q->p.c;
    long double *h = middle(q, -1.0), *full = middle(q, q->p.beta), total = 0.0L;
    long double *a = calloc((size_t)(d * d), sizeof *a),
                *rhs = calloc((size_t)(d * c), sizeof *rhs);
    assert_true(a && rhs);
    sandwich(q, full, d, q->x, a);
    for (int64_t r = 0; r < d; r++)
        a[r * d + r] += q->p.alpha * (long double)q->dtil[r];
    sandwich(q, h, c, q->t, rhs);
    eliminate(d, c, a, rhs);
    double *w = zeros((d + 1) * c);
    for (int64_t i = 0; i < d * c; i++)
        w[i] = (double)rhs[i];
    for (int64_t i = 0; i < n; i++)
        total += q->dhat[i];
    for (int64_t col = 0; col < c; col++) {
        long double sum = 0.0L; /* (15) */
        for (int64_t i = 0; i < n; i++) {
            long double y = 0.0L;
            for (int64_t r = 0; r < d; r++)
                y += rhs[col * d + r] * q->x[i * d + r];
            sum += q->dhat[i] * (q->t[i * c + col] - y);
        }
        w[d * c + col] = (double)(sum / total);
    }
    free(h);
    free(full);
    free(a);
    free(rhs);
    return w;
}

/* ---- Tests ---- */

/* The form that the library would choose is held to `tight`, the other, worse conditioned, to
 * `loose`. */
static void check_both(const problem *q, double tight, double loose, const char *what, int which) {
    double *want = printed_formula(q);
    for (int dual = 0; dual <= 1; dual++) {
        int ridged = 0;
        double *got = solve(q, dual == 1, &ridged);
        const int64_t at = q->p.d * q->p.c;
        const double off = difference(at, got, want);
        const double off_b = difference(q->p.c, got + at, want + at);
        const bool chosen = rlar__wsolve_prefers_dual(q->p.groups, q->p.d) == (dual == 1);
        assert_int_equal(ridged, 0);
        if (!(fmax(off, off_b) <= oracle_slack() * (chosen ? tight : loose)))
            fail_msg("%s %d, %s: W off by %g, b by %g", what, which, dual ? "dual" : "primal", off,
                     off_b);
        free(got);
    }
    free(want);
}

static void test_printed_formula(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (uint64_t seed = 0; seed < 3 && (i < SHAPES - 1 || seed < 1); seed++) {
            problem q;
            problem_open(&q, &shapes[i], 2, 100 * (uint64_t)i + seed);
            check_both(&q, 1e-11, 1e-9, "shape", i);
            problem_close(&q);
        }
}

static void test_without_graph(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES - 1; i++) {
        problem q;
        problem_open(&q, &shapes[i], 1, 50 + (uint64_t)i);
        q.p.l = NULL;
        check_both(&q, 1e-11, 1e-9, "no graph", i);
        q.p.l = &q.f.l;
        q.p.beta = 0.0;
        check_both(&q, 1e-11, 1e-9, "beta 0", i);
        problem_close(&q);
    }
}

/* Weights as the loop makes them at small eps: residuals of zero (1/eps) beside ordinary ones, rows
 * of W that are switched off. */
static void test_extreme_weights(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES - 1; i++) {
        problem q;
        problem_open(&q, &shapes[i], 2, 700 + (uint64_t)i);
        for (int64_t j = 0; j < q.p.n; j += 3)
            q.dhat[j] = 1e6;
        for (int64_t r = 1; r < q.p.d; r += 2)
            q.dtil[r] = 1e8;
        check_both(&q, 1e-9, 1e-5, "extreme weights", i);
        problem_close(&q);
    }
}

/* Neighbours that were pulled together: edges of weight up to 1/eps beside ordinary residuals. The
 * system then has a condition of 1e10 and more, so no solver can do much better than 1e-7. */
static void test_strong_edges(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES - 1; i++) {
        problem q;
        problem_open(&q, &shapes[i], 2, 800 + (uint64_t)i);
        for (int64_t e = 0; e < q.f.graph.stride * q.p.n; e += 2)
            q.f.s[e] = 1e7;
        rlar__laplacian_build(&q.f.groups, q.f.k, &q.f.graph, q.f.s, &q.f.l);
        check_both(&q, 1e-6, 1e-3, "strong edges", i);
        problem_close(&q);
    }
}

/* How far the primal, corrected so many times, is from `want`. */
static double primal_off(const problem *q, int refinements, const double *want) {
    int ridged;
    double *got = solve_refined(q, false, refinements, &ridged);
    const double off = difference((q->p.d + 1) * q->p.c, got, want);
    assert_int_equal(ridged, 0);
    free(got);
    return off;
}

enum { REFINEMENTS = 2 };

/* All samples met: weights of 1/eps. With n < d the dual is exact there and the primal is not, but
 * for its corrections: each is about the square of the one before. */
static void check_refined(const shape *s, uint64_t seed, double worst[REFINEMENTS + 1]) {
    problem q;
    int ridged;
    problem_open(&q, s, 2, seed);
    for (int64_t j = 0; j < q.p.n; j++)
        q.dhat[j] *= 1e8;
    double *want = solve(&q, true, &ridged);
    for (int k = 0; k <= REFINEMENTS; k++)
        worst[k] = fmax(worst[k], primal_off(&q, k, want));
    free(want);
    problem_close(&q);
}

static void test_refined(void **unused) {
    (void)unused;
    double worst[REFINEMENTS + 1] = {0};
    for (int i = 0; i < SHAPES; i++) {
        int64_t n = 0;
        for (int64_t k = 0; k < shapes[i].c; k++)
            n += shapes[i].sizes[k];
        if (n < shapes[i].d)
            check_refined(&shapes[i], 900 + (uint64_t)i, worst);
    }
    if (!(worst[0] > 1e-7 && worst[1] < 1e-7 && worst[2] < 1e-11))
        fail_msg("W off by %g, corrected once %g, twice %g", worst[0], worst[1], worst[2]);
}

/* (16): X D E + alpha Dt W + beta X L X^T W = 0 and D E = 0 summed over samples, for solve()'s own
 * path. */
static void check_gradient(const problem *q, const double *w, double tolerance) {
    const rlar_wproblem *p = &q->p;
    const double *b = w + p->d * p->c;
    for (int64_t col = 0; col < p->c; col++) {
        double *y = zeros(p->n), *g = zeros(p->d), *size = zeros(p->d), bias = 0.0, bias_size = 0.0;
        for (int64_t i = 0; i < p->n; i++)
            for (int64_t r = 0; r < p->d; r++)
                y[i] += w[col * p->d + r] * p->x[i * p->d + r];
        for (int64_t i = 0; i < p->n; i++) {
            const double de = p->dhat[i] * (y[i] + b[col] - p->t[i * p->c + col]);
            const double most =
                p->dhat[i] * (fabs(y[i]) + fabs(b[col]) + fabs(p->t[i * p->c + col]));
            double ly = 0.0;
            rlar__laplacian_row(p->l, i, p->beta, 1, y, &ly);
            bias += de;
            bias_size += most;
            for (int64_t r = 0; r < p->d; r++) {
                g[r] += p->x[i * p->d + r] * (de + ly);
                size[r] += fabs(p->x[i * p->d + r]) * (most + fabs(ly));
            }
        }
        for (int64_t r = 0; r < p->d; r++) {
            const double pull = p->alpha * p->dtil[r] * w[col * p->d + r];
            assert_true(fabs(g[r] + pull) <= tolerance * (size[r] + fabs(pull)));
        }
        assert_true(fabs(bias) <= 1e-12 * bias_size);
        free(y);
        free(g);
        free(size);
    }
}

static void test_gradient(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        for (int dual = 0; dual <= 1; dual++) {
            problem q;
            int ridged = 0;
            problem_open(&q, &shapes[i], 2, 300 + (uint64_t)i);
            double *w = solve(&q, dual == 1, &ridged);
            check_gradient(
                &q, w, rlar__wsolve_prefers_dual(q.p.groups, q.p.d) == (dual == 1) ? 1e-12 : 1e-9);
            free(w);
            problem_close(&q);
        }
}

/* Targets whose rows sum to one give W 1 = 0 and 1'b = 1. */
static void test_row_sums(void **unused) {
    (void)unused;
    for (int dual = 0; dual <= 1; dual++) {
        problem q;
        int ridged = 0;
        problem_open(&q, &shapes[1], 1, 41);
        for (int64_t i = 0; i < q.p.n; i++)
            q.t[i * 3 + 2] = 1.0 - q.t[i * 3] - q.t[i * 3 + 1];
        double *w = solve(&q, dual == 1, &ridged);
        for (int64_t r = 0; r < q.p.d; r++)
            assert_true(fabs(w[r] + w[q.p.d + r] + w[2 * q.p.d + r]) <= 1e-11);
        const double *b = w + q.p.d * 3;
        assert_true(fabs(b[0] + b[1] + b[2] - 1.0) <= 1e-11);
        free(w);
        problem_close(&q);
    }
}

/* More samples than a portion and than a block of the sum, in classes that both cut across. */
static shape many_classes(void) {
    shape s = {.d = 60, .c = MOST_CLASSES, .k = 3, .alpha = 0.1, .beta = 0.1, .decades = 1.0};
    for (int64_t i = 0; i < s.c; i++)
        s.sizes[i] = i % 5 == 3 ? 8 : i % 5 == 0 ? 9 : 10; /* at most d/6: the form by roots */
    return s;
}

static void test_portions_and_blocks(void **unused) {
    (void)unused;
    const shape s = many_classes();
    for (int graph = 0; graph <= 1; graph++) {
        problem q;
        int ridged = 0;
        problem_open(&q, &s, 2, 11);
        assert_true(q.p.n > RLAR_SUM_BLOCK);
        q.p.beta = graph ? q.p.beta : 0.0;
        double *w = solve(&q, false, &ridged);
        check_gradient(&q, w, 1e-12);
        free(w);
        problem_close(&q);
    }
}

/* Every feature twice and hardly any alpha: pivots fail, the system is built again with a ridge,
 * and the two halves of W add up to the solution with every feature once. By roots (d = 80) the
 * right-hand side is changed on the way and has to be made again as well. */
static void test_built_again(void **unused) {
    (void)unused;
    for (int64_t d = 30; d <= 80; d += 50) {
        const shape s = {d, 4, {50, 12, 11, 47}, 5, 1e-30, 0.1, 0.5};
        const shape small = {d, 10, {13, 12, 11, 13, 12, 13, 11, 12, 13, 12}, 5, 1e-30, 0.1, 0.5};
        problem q;
        int ridged = 0;
        problem_open(&q, d == 80 ? &small : &s, 2, 77);
        const int64_t h = d / 2, c = q.p.c;
        double *half = zeros(h * q.p.n);
        for (int64_t i = 0; i < q.p.n; i++) {
            memcpy(q.x + i * d + h, q.x + i * d, (size_t)h * sizeof *half);
            memcpy(half + i * h, q.x + i * d, (size_t)h * sizeof *half);
        }
        double *w = solve(&q, false, &ridged);
        assert_true(ridged > 0);
        q.p.d = h;
        q.p.x = half;
        double *expected = solve(&q, false, &ridged);
        assert_int_equal(ridged, 0);
        for (int64_t k = 0; k < c; k++)
            for (int64_t r = 0; r < h; r++)
                expected[k * h + r] -= w[k * d + r] + w[k * d + h + r];
        assert_true(norm(h * c, expected) <= 1e-6 * norm(d * c, w));
        free(half);
        free(w);
        free(expected);
        problem_close(&q);
    }
}

static void check_same_bits(const shape *s, bool dual) {
    double *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        problem q;
        int ridged = 0;
        problem_open(&q, s, threads, 9);
        double *w = solve(&q, dual, &ridged);
        if (first)
            assert_memory_equal(w, first, (size_t)((s->d + 1) * s->c) * sizeof *w);
        free(first);
        first = w;
        problem_close(&q);
    }
    free(first);
}

static void test_same_bits_on_any_threads(void **unused) {
    (void)unused;
    static const shape large = {140, 4, {70, 40, 90, 60}, 7, 0.1, 0.1, 2.0};
    const shape many = many_classes();
    check_same_bits(&large, false);
    check_same_bits(&large, true);
    check_same_bits(&many, false);
}

/* ---- Steps that are cut ---- */

/* tr(E D E^T) + alpha tr(W^T P^-1 W) + beta tr(Y L Y^T), edge by edge; wb is W and b. */
static double objective(const problem *q, const double *wb) {
    const int64_t n = q->p.n, d = q->p.d, c = q->p.c;
    double *s = fixture_dense_s(&q->f), sum = 0.0;
    double *y = zeros(n * c);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < c; k++) {
            y[i * c + k] = wb[d * c + k];
            for (int64_t r = 0; r < d; r++)
                y[i * c + k] += wb[k * d + r] * q->x[i * d + r];
            const double miss = y[i * c + k] - q->t[i * c + k];
            sum += q->dhat[i] * miss * miss;
        }
    for (int64_t k = 0; k < d * c; k++)
        sum += q->p.alpha * q->dtil[k % d] * wb[k] * wb[k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < c; k++)
                sum += 0.5 * q->p.beta * s[i * n + j] * pow(y[i * c + k] - y[j * c + k], 2);
    free(s);
    free(y);
    return sum;
}

static void make_outputs(const problem *q, const double *wb, double *y) {
    assert_int_equal(rlar__targets_outputs(q->f.ctx, NULL, q->p.c, q->p.n, q->p.d, wb,
                                           wb + q->p.d * q->p.c, q->x, y),
                     RLAR_OK);
}

/* From `start`, `length` times the way to the minimum `best`; the step that is left in `got`. */
static bool take_step(const problem *q, const double *start, const double *best, double length,
                      double *got) {
    const int64_t n = q->p.n, d = q->p.d, c = q->p.c;
    rlar_workspace ws = {0};
    rlar_held held;
    bool cut;
    double *y = zeros(n * c), *space = zeros(n * c), *old = y;
    rlar__held_carve(&ws, NULL, n, d, c, &held);
    assert_int_equal(rlar__workspace_take(q->f.ctx, &ws, "test"), RLAR_OK);
    rlar__held_carve(&ws, NULL, n, d, c, &held);
    make_outputs(q, start, y);
    rlar__held_keep(&held, d, c, start, start + d * c, &y);
    for (int64_t k = 0; k < (d + 1) * c; k++)
        got[k] = start[k] + length * (best[k] - start[k]);
    make_outputs(q, got, y);
    assert_int_equal(rlar__held_back(q->f.ctx, &q->p, &held, y, space, got, got + d * c, &cut),
                     RLAR_OK);
    rlar__workspace_free(&ws);
    free(old);
    free(space);
    return cut;
}

/* Twice the way to the minimum is as high as the start. */
static void check_steps(const problem *q) {
    const int64_t size = (q->p.d + 1) * q->p.c;
    int ridged;
    double *best = solve(q, false, &ridged), *start = zeros(size), *got = zeros(size);
    for (int64_t k = 0; k < size; k++)
        start[k] = best[k] + 0.3 * sin((double)k);
    const double before = objective(q, start), least = objective(q, best);
    static const double taken[] = {1e-3, 1.0, 1.99}, too_long[] = {2.01, 3.0, 1e4};
    for (int i = 0; i < 3; i++) {
        assert_false(take_step(q, start, best, taken[i], got));
        for (int64_t k = 0; k < size; k++) /* whole, to the last bit */
            assert_true(got[k] == start[k] + taken[i] * (best[k] - start[k]));
        assert_true(objective(q, got) < before);
        assert_true(take_step(q, start, best, too_long[i], got));
        assert_true(objective(q, got) <= least + 1e-9 * (before - least));
        assert_true(take_step(q, start, best, -too_long[i], got));
        assert_memory_equal(got, start, (size_t)size * sizeof *got);
    }
    free(best);
    free(start);
    free(got);
}

static void test_held_back(void **unused) {
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        problem q;
        problem_open(&q, &shapes[i], 2, 1300 + (uint64_t)i);
        check_steps(&q);
        q.p.l = NULL;
        q.p.beta = 0.0;
        check_steps(&q);
        problem_close(&q);
    }
}

static void test_choice_of_form(void **unused) {
    (void)unused;
    const rlar_groups few = {.n = 10}, many = {.n = 1000};
    assert_true(rlar__wsolve_prefers_dual(&few, 1000));
    assert_false(rlar__wsolve_prefers_dual(&many, 10));
    assert_true(rlar__wsolve_flops(10, 1000, 3, true) < rlar__wsolve_flops(10, 1000, 3, false));
    assert_true(rlar__wsolve_flops(1000, 10, 3, false) < rlar__wsolve_flops(1000, 10, 3, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed_formula), cmocka_unit_test(test_without_graph),
        cmocka_unit_test(test_extreme_weights), cmocka_unit_test(test_strong_edges),
        cmocka_unit_test(test_refined),         cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_row_sums),        cmocka_unit_test(test_portions_and_blocks),
        cmocka_unit_test(test_built_again),     cmocka_unit_test(test_same_bits_on_any_threads),
        cmocka_unit_test(test_choice_of_form),  cmocka_unit_test(test_held_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
