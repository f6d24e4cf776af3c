/* scatters.h - scatter matrices as they are defined, for tests of the spectral methods: full d x d
 * matrices, sample by sample. Include after cmocka.h. */
#ifndef RLAR_TEST_SCATTERS_H
#define RLAR_TEST_SCATTERS_H

#include "fitting.h"
#include "linalg/linalg.h"

static inline void add_outer(int64_t d, double weight, const double *v, double *s) {
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = 0; i < d; i++)
            s[j * d + i] += weight * v[i] * v[j];
}

static inline double *mean_between(const labelled *s, int64_t from, int64_t to) {
    double *mean = zeros(s->d);
    for (int64_t i = from; i < to; i++)
        for (int64_t r = 0; r < s->d; r++)
            mean[r] += s->x[i * s->d + r] / (double)(to - from);
    return mean;
}

typedef struct scatters {
    int64_t d;
    double *b, *w, *t; /* S_b, S_w, S_t */
} scatters;

/* With `unit` the scatters of directions (ALDE), divided by n. */
static inline scatters scatters_of(const labelled *s, bool unit) {
    const int64_t d = s->d;
    scatters all = {d, zeros(d * d), zeros(d * d), zeros(d * d)};
    double *m = mean_between(s, 0, s->n), *v = zeros(d);
    for (int64_t k = 0; k < s->c; k++) {
        double *mk = mean_between(s, s->first[k], s->first[k + 1]);
        for (int64_t i = s->first[k]; i < s->first[k + 1]; i++) {
            for (int64_t r = 0; r < d; r++)
                v[r] = s->x[i * d + r] - mk[r];
            const double length = unit ? norm_of(d, v) * sqrt((double)s->n) : 1.0;
            add_outer(d, 1.0 / (length * length), v, all.w);
        }
        for (int64_t r = 0; r < d; r++)
            v[r] = mk[r] - m[r];
        const double length = unit ? norm_of(d, v) * sqrt((double)s->n) : 1.0;
        add_outer(d, (double)(s->first[k + 1] - s->first[k]) / (length * length), v, all.b);
        free(mk);
    }
    for (int64_t i = 0; i < d * d; i++)
        all.t[i] = all.b[i] + all.w[i];
    free(m);
    free(v);
    return all;
}

static inline void scatters_free(scatters *all) {
    free(all->b);
    free(all->w);
    free(all->t);
}

/* x^T S y */
static inline double form(int64_t d, const double *s, const double *x, const double *y) {
    double sum = 0.0;
    for (int64_t j = 0; j < d; j++)
        sum += y[j] * rlar__dot(d, s + j * d, x);
    return sum;
}

static inline double trace(int64_t d, const double *s) {
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++)
        sum += s[i * d + i];
    return sum;
}

#endif
