/* method.h - the one interface behind which every method stands. */
#ifndef RLAR_METHOD_H
#define RLAR_METHOD_H

#include "core/core.h"
#include "dist/checkpoint.h"
#include "graph/knn.h"
#include "linalg/cost.h"
#include "solver/reduce.h"

/* The training samples as a method sees them: scaled, float64, grouped by class. */
typedef struct rlar_train {
    int64_t n, d, c;
    const double *x;           /* d x n, no gaps */
    const int32_t *label;      /* n, not decreasing */
    const int64_t *first;      /* c + 1: class i is the samples first[i] .. first[i+1]-1 */
    const rlar_blocks *blocks; /* for sums over the samples of all ranks; NULL: all are here */
    const double *weights;     /* n, or NULL */
    const void *shared;        /* what the method's prepare() made for these samples, or NULL */
    const double *start_w, *start_b;   /* d x p, p: a map to start from, or NULL */
    const rlar_checkpoint *checkpoint; /* where to go on from, and to write where it is; or NULL */
} rlar_train;

/* The linear map a method yields: z = W'x + b. Made by rlar__map_new once p is known. */
typedef struct rlar_map {
    int64_t d, p;
    double *w; /* d x p, zero at first as b is */
    double *b; /* p */
} rlar_map;

rlar_status rlar__map_new(rlar_ctx *ctx, int64_t d, int64_t p, rlar_map *out);
void rlar__map_free(rlar_map *map);

typedef struct rlar_method {
    rlar_method_def def; /* name, title, citation, the parameter table */
    bool ranks;          /* fits over several ranks: all its sums over samples add up */
    bool resumes;        /* minds train->checkpoint */
    bool systems;        /* solves d x d systems that ranks can share (rlar_system) */
    /* The most outputs p that these samples can give. */
    int64_t (*outputs)(const rlar_train *train, const rlar_params *params);
    /* Makes the map (rlar__map_new); the caller frees it, also after an error. */
    rlar_status (*fit)(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                       rlar_map *out, rlar_info *info);
    /* Bytes and flops that fit() will take. */
    rlar_status (*forecast)(rlar_ctx *ctx, const rlar_train *sizes, const rlar_params *params,
                            rlar_forecast *out);
    /* What ranks say to each other in a fit; needed where `ranks` is set. */
    void (*talk)(const rlar_train *sizes, const rlar_params *params, rlar_talk *out);
    /* Both or neither; for grids. What fits of these samples have in common, made once and handed
     * to each as train->shared, read-only, on any thread. It depends on the samples, and on
     * parameters only where fit() makes sure that it has the same. `fits` is how many will use it.
     * NULL is a legal answer, and not released. A fit has the same bits with it and without. Not
     * larger than what a fit holds. */
    rlar_status (*prepare)(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                           int64_t fits, void **shared);
    void (*release)(void *shared);
    /* The parameter along which the fits of a grid should follow each other, each starting from the
     * map before it (train->start_w); NULL, or answers NULL: none, starts are ignored. */
    const char *(*path)(const rlar_params *params);
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

/* The public calls, without the beginning of one. */
rlar_status rlar__params_copy(rlar_ctx *ctx, const rlar_params *params, rlar_params **out);
rlar_status rlar__params_set(rlar_ctx *ctx, rlar_params *params, const char *name,
                             const char *value);
/* The value of a parameter that the method's table has. */
double rlar__param(const rlar_params *params, const char *name);
int64_t rlar__param_int(const rlar_params *params, const char *name);

/* ---- What methods share (shared.c) ---- */

/* The samples as the graphs see them. */
rlar_groups rlar__train_groups(const rlar_train *train);
/* Of all ranks. */
int64_t rlar__train_samples(const rlar_train *train);
/* outputs() of the regression methods: c. */
int64_t rlar__outputs_classes(const rlar_train *train, const rlar_params *params);

/* The reduction of the samples for a fit: that of train->shared, or one of its own by `reduce`.
 * With own_z the fit may write to z. */
typedef rlar_status (*rlar_reduce_fn)(rlar_ctx *ctx, const rlar_blocks *blocks, const double *x,
                                      int64_t d, int64_t n, rlar_reduced *out);
rlar_status rlar__reduction_take(rlar_ctx *ctx, const rlar_train *train, rlar_reduce_fn reduce,
                                 bool own_z, rlar_reduced *out);
/* Legal also for one that was zeroed and never taken. */
void rlar__reduction_end(const rlar_train *train, rlar_reduced *reduced);
/* prepare() and release() of methods whose fits start with the reduction. */
rlar_status rlar__reduction_prepare(rlar_ctx *ctx, const rlar_train *train,
                                    const rlar_params *params, int64_t fits, void **shared);
/* The same where they start with rlar__span. */
rlar_status rlar__span_prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                               int64_t fits, void **shared);
/* And where they start with rlar__span_factored. */
rlar_status rlar__factored_prepare(rlar_ctx *ctx, const rlar_train *train,
                                   const rlar_params *params, int64_t fits, void **shared);
void rlar__reduction_release(void *shared);

/* For forecasts: as many samples here as make the reduction as large as it is (over ranks it has
 * matrices of d x d, however few they are), and the bytes of its partial sums, those of the class
 * means included. */
int64_t rlar__reduction_samples(const rlar_train *sizes);
double rlar__reduction_partials(const rlar_train *sizes);

/* prepare() and release() of rr and relsr: an rlar_ridge_base. */
rlar_status rlar__ridge_prepare(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                                int64_t fits, void **shared);
void rlar__ridge_release(void *shared);

/* The pieces of a fit's workspace, listed once: walked to measure, and again to carve. */
typedef void (*rlar_carve_fn)(rlar_workspace *ws, void *state);
typedef rlar_status (*rlar_run_fn)(rlar_ctx *ctx, void *state, rlar_info *info);
/* The life of a workspace: measure, take, carve, run, free. */
rlar_status rlar__run_in_workspace(rlar_ctx *ctx, rlar_carve_fn carve, rlar_run_fn run, void *state,
                                   rlar_info *info);
/* bytes of a forecast: what is measured for the workspace. */
rlar_status rlar__forecast_workspace(rlar_ctx *ctx, rlar_carve_fn carve, void *state,
                                     rlar_forecast *out);

/* RLAR_E_NUMERIC where the objective is not finite. */
rlar_status rlar__check_objective(rlar_ctx *ctx, const rlar_info *info);
/* The end of iteration t of `iters`: fills iterations, seconds and the objective (the sum of the
 * three terms), refuses what is not finite, reports. `start` is rlar__now() at the first one. */
rlar_status rlar__iteration_end(rlar_ctx *ctx, int64_t t, int64_t iters, double start,
                                rlar_info *info);
/* RLAR_W_NOT_CONVERGED, logged, when there was a tol to reach (0: none) and it was not, else
 * RLAR_OK. */
rlar_status rlar__tol_verdict(rlar_ctx *ctx, double tol, int64_t iters, const rlar_info *info);
/* RLAR_W_RIDGED, logged, when a factorisation needed extra regularisation, else RLAR_OK. `cure`
 * names the parameter to raise. */
rlar_status rlar__ridged_verdict(rlar_ctx *ctx, const rlar_info *info, const char *cure);
/* RLAR_W_NEIGHBOURS, logged, when info->clamped of the c classes have no more than info->neighbours
 * samples, else RLAR_OK. */
rlar_status rlar__clamped_verdict(rlar_ctx *ctx, int64_t c, const rlar_info *info);

#endif
