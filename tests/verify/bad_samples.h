/* bad_samples.h - samples that a fit may not like: kinds of badness, each put on samples of every
 * shape. Include after trial.h. */
#ifndef RLAR_VERIFY_BAD_SAMPLES_H
#define RLAR_VERIFY_BAD_SAMPLES_H

#include <float.h>

#include "trial.h"

typedef struct kind {
    const char *name;
    void (*make)(labelled *s);
    /* MUST_FIT: nothing about them is a reason to refuse, with any scaling or (SCALED) with those
     * that are learned from each feature. MUST_REFUSE: nothing can be learned. */
    enum { MAY_REFUSE, MUST_FIT, MUST_FIT_SCALED, MUST_REFUSE } must;
} kind;

static inline double *cell(labelled *s, int64_t i, int64_t r) {
    return s->x + i * s->d + r;
}

static inline void multiply(labelled *s, double factor) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] *= factor;
}

static inline void set_all(labelled *s, double value) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] = value;
}

static inline void plain(labelled *s) {
    (void)s;
}

static inline void one_nan(labelled *s) {
    *cell(s, s->n / 2, s->d - 1) = NAN;
}

static inline void one_infinity(labelled *s) {
    *cell(s, s->n - 1, 0) = INFINITY;
}

static inline void minus_infinity(labelled *s) {
    *cell(s, 0, s->d / 2) = -INFINITY;
}

static inline void all_nan(labelled *s) {
    set_all(s, NAN);
}

/* Every second zero of a feature has a sign. */
static inline void minus_zeros(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        *cell(s, i, s->d - 1) = i % 2 ? -0.0 : 0.0;
}

static inline void only_zeros_of_both_signs(labelled *s) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] = i % 3 ? 0.0 : -0.0;
}

static inline void all_minus_zero(labelled *s) {
    set_all(s, -0.0);
}

static inline void subnormal(labelled *s) {
    multiply(s, 0x1p-1060);
}

static inline void subnormal_feature(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        *cell(s, i, 0) *= 0x1p-1060;
}

static inline void tiny(labelled *s) {
    multiply(s, 1e-308);
}

static inline void squares_vanish(labelled *s) {
    multiply(s, 1e-200);
}

static inline void near_the_largest(labelled *s) {
    multiply(s, 1e308 / 2);
}

/* Ranges, sums and squares overflow. */
static inline void largest(labelled *s) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] = s->x[i] < 0.5 ? -DBL_MAX : DBL_MAX;
}

static inline void squares_overflow(labelled *s) {
    multiply(s, 1e160);
}

static inline void one_huge(labelled *s) {
    *cell(s, s->n / 2, 0) = 1e308;
}

static inline void one_far(labelled *s) {
    for (int64_t r = 0; r < s->d; r++)
        *cell(s, 0, r) *= 1e9;
}

static inline double mixed(int64_t at, int64_t count) {
    return pow(10.0, count < 2 ? 150.0 : -150.0 + 300.0 * (double)at / (double)(count - 1));
}

static inline void mixed_features(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t r = 0; r < s->d; r++)
            *cell(s, i, r) *= mixed(r, s->d);
}

static inline void mixed_samples(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t r = 0; r < s->d; r++)
            *cell(s, i, r) *= mixed(i, s->n);
}

static inline void constant_features(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t r = 1; r < s->d; r += 2)
            *cell(s, i, r) = 7.5;
}

static inline void all_constant(labelled *s) {
    set_all(s, 1.0);
}

static inline void all_zero(labelled *s) {
    set_all(s, 0.0);
}

/* One number differs from all others. */
static inline void nearly_constant(labelled *s) {
    set_all(s, 1.0);
    *cell(s, 0, 0) = 1.0 + DBL_EPSILON;
}

static inline void copy_sample(labelled *s, int64_t from, int64_t to) {
    memcpy(cell(s, to, 0), cell(s, from, 0), (size_t)s->d * sizeof *s->x);
}

static inline void duplicates(labelled *s) {
    for (int64_t k = 0; k < s->c; k++)
        for (int64_t i = s->first[k] + 1; i < s->first[k + 1]; i += 2)
            copy_sample(s, i - 1, i);
}

static inline void duplicates_of_other_classes(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        s->label[i] = (double)(i / 2 % s->c);
    for (int64_t i = 2; i + 1 < s->n; i += 4) {
        copy_sample(s, i - 2, i);
        copy_sample(s, i - 1, i + 1);
    }
}

/* The same samples in every class. */
static inline void equal_classes(labelled *s) {
    for (int64_t k = 1; k < s->c; k++)
        for (int64_t i = s->first[k]; i < s->first[k + 1]; i++)
            copy_sample(s, (i - s->first[k]) % s->first[1], i);
}

static inline void equal_within_classes(labelled *s) {
    for (int64_t k = 0; k < s->c; k++)
        for (int64_t i = s->first[k] + 1; i < s->first[k + 1]; i++)
            copy_sample(s, s->first[k], i);
}

static inline void zero_class(labelled *s) {
    for (int64_t i = 0; i < s->first[1]; i++)
        memset(cell(s, i, 0), 0, (size_t)s->d * sizeof *s->x);
}

static inline void zero_sample(labelled *s) {
    memset(cell(s, s->n / 3, 0), 0, (size_t)s->d * sizeof *s->x);
}

/* The later half of the features are sums of the first. */
static inline void collinear(labelled *s) {
    const int64_t half = (s->d + 1) / 2;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t r = half; r < s->d; r++)
            *cell(s, i, r) = 2.0 * *cell(s, i, r - half) - *cell(s, i, 0);
}

static inline void nearly_collinear(labelled *s) {
    const int64_t half = (s->d + 1) / 2;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t r = half; r < s->d; r++)
            *cell(s, i, r) = *cell(s, i, r - half) + 1e-9 * *cell(s, i, r);
}

static inline void rank_one(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t r = 1; r < s->d; r++)
            *cell(s, i, r) = *cell(s, i, 0) * (double)(r + 1);
}

static inline void far_from_the_origin(labelled *s) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] += 1e7;
}

/* Only the last bits differ. */
static inline void far_away(labelled *s) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] += 1e15;
}

static inline void zeros_and_ones(labelled *s) {
    for (int64_t i = 0; i < s->n * s->d; i++)
        s->x[i] = s->x[i] > 0.5;
}

/* No mean is anything but 0. */
static inline void equal_class_means(labelled *s) {
    for (int64_t k = 0; k < s->c; k++)
        for (int64_t i = s->first[k]; i < s->first[k + 1]; i++)
            for (int64_t r = 0; r < s->d; r++)
                if (i == s->first[k + 1] - 1 && (i - s->first[k]) % 2 == 0)
                    *cell(s, i, r) = 0.0;
                else if ((i - s->first[k]) % 2)
                    *cell(s, i, r) = -*cell(s, i - 1, r);
}

static inline void one_class(labelled *s) {
    memset(s->label, 0, (size_t)s->n * sizeof *s->label);
}

static inline void two_samples(labelled *s) {
    s->n = 2;
    s->label[1] = 1.0;
}

static inline void one_sample(labelled *s) {
    s->n = 1;
}

static inline void all_singletons(labelled *s) {
    for (int64_t i = 0; i < s->n; i++)
        s->label[i] = (double)i;
}

static const kind kinds[] = {
    {"plain", plain, MUST_FIT},
    {"one NaN", one_nan, MUST_REFUSE},
    {"one Inf", one_infinity, MUST_REFUSE},
    {"one -Inf", minus_infinity, MUST_REFUSE},
    {"all NaN", all_nan, MUST_REFUSE},
    {"zeros and minus zeros in a feature", minus_zeros, MAY_REFUSE},
    {"zeros and minus zeros everywhere", only_zeros_of_both_signs, MUST_REFUSE},
    {"minus zero everywhere", all_minus_zero, MUST_REFUSE},
    {"subnormal", subnormal, MAY_REFUSE},
    {"a subnormal feature", subnormal_feature, MAY_REFUSE},
    {"about 1e-308", tiny, MAY_REFUSE},
    {"about 1e-200, so squares are 0", squares_vanish, MAY_REFUSE},
    {"about 1e308", near_the_largest, MUST_FIT_SCALED},
    {"plus and minus the largest double", largest, MAY_REFUSE},
    {"about 1e160, so squares overflow", squares_overflow, MUST_FIT_SCALED},
    {"one value of 1e308", one_huge, MAY_REFUSE},
    {"one sample 1e9 times the others", one_far, MAY_REFUSE},
    {"features from 1e-150 to 1e150", mixed_features, MUST_FIT_SCALED},
    {"samples from 1e-150 to 1e150", mixed_samples, MAY_REFUSE},
    {"constant features", constant_features, MUST_FIT},
    {"all 1", all_constant, MUST_REFUSE},
    {"all 0", all_zero, MUST_REFUSE},
    {"all 1 but one last bit", nearly_constant, MAY_REFUSE},
    {"duplicates", duplicates, MUST_FIT},
    {"duplicates with other labels", duplicates_of_other_classes, MAY_REFUSE},
    {"the same samples in every class", equal_classes, MAY_REFUSE},
    {"equal within classes", equal_within_classes, MAY_REFUSE},
    {"a class of zeros", zero_class, MAY_REFUSE},
    {"a sample of zeros", zero_sample, MUST_FIT},
    {"collinear", collinear, MUST_FIT},
    {"collinear but for 1e-9", nearly_collinear, MUST_FIT},
    {"rank one", rank_one, MAY_REFUSE},
    {"1e7 from the origin", far_from_the_origin, MAY_REFUSE},
    {"1e15 from the origin", far_away, MAY_REFUSE},
    {"zeros and ones", zeros_and_ones, MAY_REFUSE},
    {"all class means 0", equal_class_means, MAY_REFUSE},
    {"one class", one_class, MUST_REFUSE},
    {"two samples", two_samples, MAY_REFUSE},
    {"one sample", one_sample, MUST_REFUSE},
    {"every sample a class", all_singletons, MAY_REFUSE},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#endif
