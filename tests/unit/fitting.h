/* fitting.h - what the tests of whole methods share: random labelled samples, a fit through the
 * public interface with a trace of its iterations, and plain formulas on the result. Include after
 * cmocka.h. */
#ifndef RLAR_TEST_FITTING_H
#define RLAR_TEST_FITTING_H

#include <stdio.h>
#include <string.h>

#include "rlar.h"
#include "samples.h"
#include "solver/retarget.h"

enum { TRACE = 4096 };

/* Samples grouped by class, as columns. */
typedef struct labelled {
    int64_t n, d, c;
    int64_t first[65];
    double *x;     /* d x n */
    double *label; /* n */
} labelled;

/* Clouds around random centres; sizes[c] of them. */
static inline labelled clouds(uint64_t seed, int64_t d, int64_t c, const int64_t *sizes) {
    rlar_rng rng = seeded(seed);
    labelled s = {.d = d, .c = c};
    for (int64_t k = 0; k < c; k++)
        s.first[k + 1] = s.first[k] + sizes[k];
    s.n = s.first[c];
    s.x = random_numbers(&rng, d * s.n);
    s.label = zeros(s.n);
    for (int64_t k = 0; k < c; k++) {
        double *centre = random_numbers(&rng, d);
        for (int64_t i = s.first[k]; i < s.first[k + 1]; i++) {
            s.label[i] = (double)k;
            for (int64_t r = 0; r < d; r++)
                s.x[i * d + r] += 0.3 * centre[r] + 0.5;
        }
        free(centre);
    }
    return s;
}

typedef struct regime {
    int64_t d, c;
    int64_t sizes[6];
} regime;

/* n >> d, n about d, n << d, c > d, two classes, singletons, one feature. */
static const regime regimes[] = {
    {5, 3, {30, 25, 28}}, {20, 3, {7, 6, 8}},    {70, 3, {5, 8, 6}}, {3, 6, {5, 6, 7, 5, 4, 8}},
    {8, 2, {13, 11}},     {12, 4, {9, 1, 8, 1}}, {1, 2, {11, 12}},
};
enum { REGIMES = sizeof regimes / sizeof regimes[0] };

static inline labelled regime_samples(int seed, int i) {
    return clouds((uint64_t)(seed + i), regimes[i].d, regimes[i].c, regimes[i].sizes);
}

static inline void labelled_free(labelled *s) {
    free(s->x);
    free(s->label);
}

/* The same samples with `extra` features of zeros: nothing is learned from them, but with enough of
 * them the fit takes the n x n form. */
static inline labelled padded(const labelled *s, int64_t extra) {
    labelled p = *s;
    p.d = s->d + extra;
    p.x = zeros(p.d * p.n);
    p.label = zeros(p.n);
    memcpy(p.label, s->label, (size_t)p.n * sizeof *p.label);
    for (int64_t i = 0; i < p.n; i++)
        memcpy(p.x + i * p.d, s->x + i * s->d, (size_t)s->d * sizeof *p.x);
    return p;
}

typedef struct fitted {
    rlar_ctx *ctx;
    rlar_model *model;
    rlar_info info;
    int64_t p;
    const double *w, *b; /* d x p, p */
    int64_t events;
    double smoothed[TRACE]; /* of every iteration */
} fitted;

static inline int keep_trace(void *user, const rlar_event *event) {
    fitted *f = user;
    if (event->kind == RLAR_EVENT_ITERATION && f->events < TRACE)
        f->smoothed[f->events++] = event->info->smoothed;
    return 0;
}

/* "lambda=0.1 iters=5" */
static inline void set_params(rlar_ctx *ctx, rlar_params *params, const char *text) {
    char name[32], value[32];
    while (*text) {
        const size_t length = strcspn(text, "="), rest = strcspn(text + length + 1, " ");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        snprintf(value, sizeof value, "%.*s", (int)rest, text + length + 1);
        if (rlar_params_set(ctx, params, name, value) < 0)
            fail_msg("%s", rlar_ctx_error(ctx));
        text += length + 1 + rest;
        text += *text == ' ';
    }
}

static inline rlar_status view_labelled(rlar_ctx *ctx, const labelled *s, rlar_data **data) {
    rlar_view v = RLAR_INIT(rlar_view);
    v.n = s->n;
    v.d = v.stride = s->d;
    v.x = s->x;
    const rlar_status status = rlar_data_view(ctx, &v, data);
    return status < 0 ? status : rlar_data_set_label_numbers(ctx, *data, s->label);
}

/* Unscaled. The caller ends it with fitted_free. */
static inline fitted *fit_on(int threads, const labelled *s, const char *method,
                             const char *settings) {
    fitted *f = calloc(1, sizeof *f);
    assert_non_null(f);
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    o.threads = threads;
    o.progress = keep_trace;
    o.user = f;
    assert_int_equal(rlar_ctx_new(&o, &f->ctx), RLAR_OK);
    rlar_data *data = NULL;
    rlar_params *params = NULL;
    rlar_fit_options fo = RLAR_INIT(rlar_fit_options);
    fo.scale = "none";
    f->info.size = sizeof f->info;
    assert_int_equal(view_labelled(f->ctx, s, &data), RLAR_OK);
    assert_int_equal(rlar_params_new(f->ctx, method, &params), RLAR_OK);
    assert_int_equal(rlar_params_preset(f->ctx, params, "paper"), RLAR_OK); /* the formulas' own */
    set_params(f->ctx, params, settings);
    if (rlar_fit(f->ctx, data, params, &fo, &f->model, &f->info) < 0)
        fail_msg("%s %s: %s", method, settings, rlar_ctx_error(f->ctx));
    rlar_params_free(params);
    rlar_data_free(data);
    f->p = rlar_model_outputs(f->model);
    f->w = rlar_model_map(f->model);
    f->b = rlar_model_offset(f->model);
    return f;
}

static inline fitted *fit(const labelled *s, const char *method, const char *settings) {
    return fit_on(2, s, method, settings);
}

static inline void fitted_free(fitted *f) {
    rlar_model_free(f->model);
    rlar_ctx_free(f->ctx);
    free(f);
}

/* Y (p x n) = W^T X + b. */
static inline double *outputs_of(const fitted *f, const labelled *s) {
    double *y = zeros(f->p * s->n);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t k = 0; k < f->p; k++) {
            long double sum = f->b[k];
            for (int64_t r = 0; r < s->d; r++)
                sum += (long double)f->w[k * s->d + r] * s->x[i * s->d + r];
            y[i * f->p + k] = (double)sum;
        }
    return y;
}

static inline double *one_hot(const labelled *s) {
    double *t = zeros(s->c * s->n);
    for (int64_t i = 0; i < s->n; i++)
        t[i * s->c + (int64_t)s->label[i]] = 1.0;
    return t;
}

/* The nearest targets to y that keep the margin. */
static inline double *margin_targets(const labelled *s, const double *y) {
    double *t = zeros(s->c * s->n);
    for (int64_t i = 0; i < s->n; i++)
        rlar__retarget_row(s->c, y + i * s->c, (int64_t)s->label[i], t + i * s->c);
    return t;
}

static inline double norm_of(int64_t count, const double *x) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* ||a - b|| / (1 + ||b||) */
static inline double apart(int64_t count, const double *a, const double *b) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum) / (1.0 + norm_of(count, b));
}

static inline double row_norm_of(const fitted *f, int64_t d, int64_t r) {
    double sum = 0.0;
    for (int64_t k = 0; k < f->p; k++)
        sum += f->w[k * d + r] * f->w[k * d + r];
    return sqrt(sum);
}

/* X E^T (d x p), plus `weight` times each row of W times row_weight[r] (NULL: 1): the gradient of a
 * weighted ridge problem, when E are the weighted residuals. */
static inline double *gradient_of(const fitted *f, const labelled *s, const double *e,
                                  double weight, const double *row_weight) {
    double *g = zeros(s->d * f->p);
    for (int64_t k = 0; k < f->p; k++)
        for (int64_t r = 0; r < s->d; r++) {
            long double sum =
                (long double)weight * (row_weight ? row_weight[r] : 1.0) * f->w[k * s->d + r];
            for (int64_t i = 0; i < s->n; i++)
                sum += (long double)s->x[i * s->d + r] * e[i * f->p + k];
            g[k * s->d + r] = (double)sum;
        }
    return g;
}

/* The smoothed objective of every iteration, against the one before. */
static inline void check_falls(const fitted *f, int64_t iterations) {
    assert_int_equal(f->events, iterations);
    for (int64_t t = 1; t < f->events; t++)
        if (!(f->smoothed[t] <= f->smoothed[t - 1] * (1.0 + 1e-12)))
            fail_msg("the objective rises in iteration %lld: %.17g to %.17g", (long long)t + 1,
                     f->smoothed[t - 1], f->smoothed[t]);
}

/* W of `f` on samples with zero features added is W of `g`, and zeros. */
static inline void check_padded(const fitted *f, const labelled *wide, const fitted *g,
                                const labelled *s, double tolerance, const char *what) {
    double *cut = zeros(s->d * f->p);
    for (int64_t k = 0; k < f->p; k++) {
        memcpy(cut + k * s->d, f->w + k * wide->d, (size_t)s->d * sizeof *cut);
        for (int64_t r = s->d; r < wide->d; r++)
            assert_true(f->w[k * wide->d + r] == 0.0);
    }
    const double difference = apart(s->d * f->p, cut, g->w) + apart(f->p, f->b, g->b);
    if (!(difference <= tolerance))
        fail_msg("%s: the two forms are %g apart, %g allowed", what, difference, tolerance);
    free(cut);
}

#endif
