/* test_descent.c - the parts of RLAR's descent: the search along a ray, limited-memory BFGS, and
 * the coordinates in which a round steps, primal against dual and against finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "samples.h"
#include "solver/coords.h"
#include "solver/lbfgs.h"
#include "solver/linesearch.h"
#include "solver/retarget.h"
#include "solver/targets.h"

/* ---- The search ---- */

typedef struct curve {
    double least, scale, eps;
    int trials;
} curve;

/* scale sqrt((t - least)^2 + eps^2): from round to a corner. */
static rlar_status curve_at(rlar_ctx *ctx, void *arg, double t, double *value, double *slope) {
    curve *c = arg;
    (void)ctx;
    c->trials++;
    *value = c->scale * hypot(t - c->least, c->eps);
    *slope = c->scale * (t - c->least) / hypot(t - c->least, c->eps);
    return RLAR_OK;
}

static void test_search_finds_the_least(void **unused) {
    (void)unused;
    const double least[] = {1e-3, 0.04, 0.5, 1.0, 3.0, 70.0}, eps[] = {10.0, 1.0, 0.1, 1e-4};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++) {
            curve c = {.least = least[i], .scale = 2.5, .eps = eps[k] * least[i]};
            double value0, slope0, value, slope, t;
            assert_int_equal(curve_at(NULL, &c, 0.0, &value0, &slope0), RLAR_OK);
            assert_int_equal(rlar__linesearch(NULL, curve_at, &c, value0, slope0, 0.3, &t),
                             RLAR_OK);
            assert_true(t > 0.0);
            assert_true(c.trials <= 13);
            assert_int_equal(curve_at(NULL, &c, t, &value, &slope), RLAR_OK);
            assert_true(value < value0);
            /* A corner may be met from one side only: then the value has to tell. */
            assert_true(fabs(slope) <= -0.3 * slope0 || value < 0.5 * value0);
        }
}

static void test_search_does_not_move_uphill(void **unused) {
    (void)unused;
    curve c = {.least = -1.0, .scale = 1.0, .eps = 0.5};
    double t = 5.0;
    assert_int_equal(rlar__linesearch(NULL, curve_at, &c, hypot(1.0, 0.5), -1e-9, 0.3, &t),
                     RLAR_OK);
    assert_true(t == 0.0);
}

/* ---- Limited-memory BFGS ---- */

/* Minimise x'Ax/2 - f'x, A = diag(1 .. spread), with the metric I and exact steps. */
static void test_lbfgs_on_a_quadratic(void **unused) {
    (void)unused;
    enum { SIZE = 40 };
    rlar_ctx *ctx = context(2);
    rlar_rng rng = seeded(11);
    rlar_workspace ws = {0};
    rlar_lbfgs memory;
    rlar__lbfgs_carve(&ws, SIZE, SIZE, false, &memory);
    assert_int_equal(rlar__workspace_take(ctx, &ws, "test"), RLAR_OK);
    rlar__lbfgs_carve(&ws, SIZE, SIZE, false, &memory);
    rlar__lbfgs_forget(&memory);
    double *f = random_numbers(&rng, SIZE), a[SIZE], x[SIZE] = {0}, g[SIZE], old[SIZE];
    double v[SIZE], image[SIZE];
    for (int i = 0; i < SIZE; i++) {
        a[i] = 1.0 + (double)i;
        g[i] = -f[i];
    }
    const double start = rlar__norm(SIZE, g);
    int steps = 0;
    for (; steps < 60 && rlar__norm(SIZE, g) > 1e-9 * start; steps++) {
        double slope, curvature = 0.0;
        for (int i = 0; i < SIZE; i++)
            v[i] = -g[i];
        assert_int_equal(rlar__lbfgs_to_metric(ctx, &memory, v), RLAR_OK);
        memcpy(image, v, sizeof image); /* the image of a step is the step */
        assert_int_equal(rlar__lbfgs_from_metric(ctx, &memory, v, image), RLAR_OK);
        assert_memory_equal(image, v, sizeof image);
        assert_int_equal(rlar__lbfgs_product(ctx, &memory, g, v, image, &slope), RLAR_OK);
        assert_true(slope < 0.0);
        for (int i = 0; i < SIZE; i++)
            curvature += a[i] * v[i] * v[i];
        const double t = -slope / curvature;
        memcpy(old, g, sizeof g);
        for (int i = 0; i < SIZE; i++) {
            x[i] += t * v[i];
            g[i] = a[i] * x[i] - f[i];
        }
        assert_int_equal(rlar__lbfgs_learn(ctx, &memory, t, v, image, old, g), RLAR_OK);
    }
    /* With exact steps on a quadratic it is the method of conjugate gradients: SIZE steps at most,
     * here fewer. Steepest descent would need some hundred. */
    assert_true(steps <= SIZE);
    free(f);
    rlar__workspace_free(&ws);
    rlar_ctx_free(ctx);
}

/* ---- The distance to the targets along a ray ---- */

static void test_margin_along_is_the_distance(void **unused) {
    (void)unused;
    enum { MOST = 9 };
    rlar_rng rng = seeded(12);
    for (int round = 0; round < 200; round++) {
        const int64_t c = 2 + (int64_t)rlar__rng_below(&rng, MOST - 1);
        const int64_t l = (int64_t)rlar__rng_below(&rng, (uint64_t)c);
        double *y = random_numbers(&rng, c), *v = random_numbers(&rng, c), z[MOST], t[MOST];
        double square, slope, ahead, behind, unread, moved[MOST], delta = 0.0;
        rlar__margin_along(c, y, v, 0.7, l, z, &delta, &square, &slope);
        for (double near = -3.0; near < 4.0; near += 0.5) { /* any start, the same bits */
            double other = near, same, there;
            rlar__margin_along(c, y, v, 0.7, l, z, &other, &same, &there);
            assert_true(other == delta && same == square && there == slope);
        }
        for (int64_t k = 0; k < c; k++)
            moved[k] = y[k] + 0.7 * v[k];
        rlar__retarget_row(c, moved, l, t);
        assert_true(fabs(square - rlar__distance2(c, moved, t)) <= 1e-13 * (1.0 + square));
        rlar__margin_along(c, y, v, 0.7 + 1e-6, l, z, &delta, &ahead, &unread);
        rlar__margin_along(c, y, v, 0.7 - 1e-6, l, z, &delta, &behind, &unread);
        assert_true(fabs((ahead - behind) / 4e-6 - slope) <= 1e-5 * (1.0 + fabs(slope)));
        free(y);
        free(v);
    }
}

/* ---- Coordinates ---- */

typedef struct stage {
    fixture f;
    rlar_coords coords;
    rlar_wsolver solver;
    rlar_workspace ws;
    double *x, *h, *dtil, *w, *b, *y;
} stage;

static void stage_carve(stage *s, bool dual) {
    const rlar_wproblem *p = &s->coords.problem;
    rlar__wsolve_carve(&s->ws, p->groups, p->d, p->c, dual, &s->solver);
    s->coords.solver = &s->solver;
    rlar__coords_carve(&s->ws, &s->coords);
}

/* The same samples, weights and map for both forms. P is what the rows of W call for, so that the
 * two kinds of row-sparsity have the same slope where the round begins. */
static void stage_open(stage *s, int64_t d, bool dual) {
    const int64_t sizes[] = {6, 5, 7}, c = 3;
    rlar_rng rng = seeded(13);
    *s = (stage){0};
    fixture_open(&s->f, 2, c, sizes, 3);
    const int64_t n = s->f.groups.n;
    s->x = random_numbers(&rng, d * n);
    s->h = zeros(n);
    s->dtil = zeros(d);
    s->w = random_numbers(&rng, d * c);
    s->b = random_numbers(&rng, c);
    s->y = zeros(n * c);
    for (int64_t i = 0; i < n; i++)
        s->h[i] = spread(&rng, 1.0);
    fixture_weigh(&s->f, &rng, d, s->x, 1.0);
    s->coords.eps = 0.3;
    for (int64_t r = 0; r < d; r++)
        s->dtil[r] = 1.0 / hypot(rlar__row_norm(c, s->w + r, d), s->coords.eps);
    s->coords.problem = (rlar_wproblem){.n = n,
                                        .d = d,
                                        .c = c,
                                        .x = s->x,
                                        .dhat = s->h,
                                        .dtil = s->dtil,
                                        .l = &s->f.l,
                                        .groups = &s->f.groups,
                                        .alpha = 0.2,
                                        .beta = 0.5};
    stage_carve(s, dual);
    assert_int_equal(rlar__workspace_take(s->f.ctx, &s->ws, "test"), RLAR_OK);
    stage_carve(s, dual);
    s->coords.w = s->w;
    s->coords.b = s->b;
    assert_int_equal(rlar__targets_outputs(s->f.ctx, NULL, c, n, d, s->w, s->b, s->x, s->y),
                     RLAR_OK);
    int ridged = 0;
    assert_int_equal(rlar__coords_begin(s->f.ctx, &s->coords, s->y, &ridged), RLAR_OK);
    assert_int_equal(ridged, 0);
}

static void stage_close(stage *s) {
    double *all[] = {s->x, s->h, s->dtil, s->w, s->b, s->y};
    rlar__workspace_free(&s->ws);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    fixture_close(&s->f);
}

/* f(Y) = sum of y^2/2 - 1.5 y: its pull is y - 1.5. */
static double loss(const stage *s, double *pull) {
    double sum = 0.0;
    for (int64_t i = 0; i < s->coords.problem.n * s->coords.problem.c; i++) {
        sum += s->y[i] * (0.5 * s->y[i] - 1.5);
        pull[i] = s->y[i] - 1.5;
    }
    return sum;
}

/* A step of the metric from the present gradient; v and image are the caller's to free. Returns the
 * slope along it. */
static double metric_step(stage *s, double **v, double **image) {
    rlar_coords *q = &s->coords;
    double *pull = zeros(q->problem.n * q->problem.c), *g = zeros(q->length);
    *v = zeros(q->length);
    *image = zeros(q->image_length);
    loss(s, pull);
    assert_int_equal(rlar__coords_gradient(s->f.ctx, q, pull, g), RLAR_OK);
    for (int64_t i = 0; i < q->length; i++)
        (*v)[i] = -g[i];
    assert_int_equal(rlar__coords_metric(s->f.ctx, q, *v, *image), RLAR_OK);
    const double slope = rlar__dot(q->length, g, q->dual ? *image : *v);
    free(pull);
    free(g);
    return slope;
}

static void take(stage *s, const double *v, const double *image, double t) {
    rlar_coords *q = &s->coords;
    const int64_t size = q->problem.n * q->problem.c;
    double *room = zeros(size);
    const double *out = rlar__coords_outputs(q, image, room);
    rlar__coords_aim(q, v, image);
    rlar__coords_move(q, v, t);
    for (int64_t i = 0; i < size; i++)
        s->y[i] += t * out[i];
    free(room);
}

/* The slope is that of f + R, the outputs are those of the map at the end, in both forms. */
static void check_step(int64_t d, bool dual) {
    stage s;
    stage_open(&s, d, dual);
    rlar_coords *q = &s.coords;
    const int64_t size = q->problem.n * q->problem.c;
    double *v, *image, *pull = zeros(size), *y = zeros(size);
    for (int round = 0; round < 3; round++) { /* also away from where the round began */
        const double slope = metric_step(&s, &v, &image), t = 1e-6;
        double none = 0.0, values[2];
        assert_true(slope < 0.0);
        for (int side = 0; side < 2; side++) {
            rlar__coords_aim(q, v, image);
            const double sparsity = rlar__coords_sparsity(q, side ? -t : t, &none);
            take(&s, v, image, side ? -t : t);
            values[side] = loss(&s, pull) + sparsity;
            take(&s, v, image, side ? t : -t);
        }
        assert_true(fabs((values[0] - values[1]) / (2.0 * t) - slope) <= 1e-6 * fabs(slope));
        take(&s, v, image, 0.5);
        free(v);
        free(image);
    }
    assert_int_equal(rlar__coords_end(s.f.ctx, q), RLAR_OK);
    assert_int_equal(
        rlar__targets_outputs(s.f.ctx, NULL, q->problem.c, q->problem.n, d, s.w, s.b, s.x, y),
        RLAR_OK);
    for (int64_t i = 0; i < size; i++)
        assert_true(fabs(y[i] - s.y[i]) <= 1e-11 * (1.0 + fabs(y[i])));
    free(pull);
    free(y);
    stage_close(&s);
}

static void test_steps_are_consistent(void **unused) {
    (void)unused;
    const int64_t features[] = {4, 17, 30};
    for (int i = 0; i < 3; i++) {
        check_step(features[i], false);
        check_step(features[i], true);
    }
}

/* The first step is the same step of W and b in both forms. */
static void test_primal_and_dual_agree(void **unused) {
    (void)unused;
    const int64_t features[] = {4, 18, 30};
    for (int i = 0; i < 3; i++) {
        stage both[2];
        for (int dual = 0; dual < 2; dual++) {
            double *v, *image;
            stage_open(&both[dual], features[i], dual == 1);
            metric_step(&both[dual], &v, &image);
            take(&both[dual], v, image, 1.0);
            assert_int_equal(rlar__coords_end(both[dual].f.ctx, &both[dual].coords), RLAR_OK);
            free(v);
            free(image);
        }
        for (int64_t k = 0; k < 3 * features[i]; k++)
            assert_true(fabs(both[0].w[k] - both[1].w[k]) <= 1e-10);
        for (int64_t k = 0; k < 3; k++)
            assert_true(fabs(both[0].b[k] - both[1].b[k]) <= 1e-10);
        stage_close(&both[0]);
        stage_close(&both[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_finds_the_least),
        cmocka_unit_test(test_search_does_not_move_uphill),
        cmocka_unit_test(test_lbfgs_on_a_quadratic),
        cmocka_unit_test(test_margin_along_is_the_distance),
        cmocka_unit_test(test_steps_are_consistent),
        cmocka_unit_test(test_primal_and_dual_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
