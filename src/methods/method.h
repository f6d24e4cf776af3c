/* method.h - the one interface behind which every method stands. */
#ifndef RLAR_METHOD_H
#define RLAR_METHOD_H

#include "core/core.h"

/* The training samples as a method sees them: scaled, float64, grouped by class. */
typedef struct rlar_train {
    int64_t n, d, c;
    const double *x;       /* d x n, no gaps */
    const int32_t *label;  /* n, not decreasing */
    const int64_t *first;  /* c + 1: class i is the samples first[i] .. first[i+1]-1 */
    const double *weights; /* n, or NULL */
} rlar_train;

/* The linear map a method yields: z = W'x + b. Made by rlar__map_new once p is known. */
typedef struct rlar_map {
    int64_t d, p;
    double *w; /* d x p */
    double *b; /* p, zero at first */
} rlar_map;

rlar_status rlar__map_new(rlar_ctx *ctx, int64_t d, int64_t p, rlar_map *out);
void rlar__map_free(rlar_map *map);

typedef struct rlar_method {
    rlar_method_def def; /* name, title, citation, the parameter table */
    /* The most outputs p that these samples can give. */
    int64_t (*outputs)(const rlar_train *train, const rlar_params *params);
    /* Makes the map (rlar__map_new); the caller frees it, also after an error. */
    rlar_status (*fit)(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info);
    /* Bytes and flops that fit() will take. */
    rlar_status (*forecast)(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out);
} rlar_method;

enum { RLAR_MAX_PARAMS = 16 };

struct rlar_params {
    const rlar_method *method;
    double value[RLAR_MAX_PARAMS]; /* in the order of the table */
};

/* One per file; registry.c lists those that exist. */
extern const rlar_method rlar__method_rlar, rlar__method_rr, rlar__method_lsr, rlar__method_lda,
    rlar__method_mmc, rlar__method_lsda, rlar__method_lfda, rlar__method_nmmp, rlar__method_sda,
    rlar__method_sulda, rlar__method_l21sda, rlar__method_alde, rlar__method_relsr,
    rlar__method_mpda, rlar__method_rslda, rlar__method_alpr, rlar__method_rfs;
const rlar_method *rlar__method_find(const char *name);

/* The value of a parameter that the method's table has. */
double rlar__param(const rlar_params *params, const char *name);
int64_t rlar__param_int(const rlar_params *params, const char *name);

#endif
