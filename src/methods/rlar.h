/* rlar.h - the problem of Robust Locality-Aware Regression and the steps that its solvers share. */
#ifndef RLAR_RLAR_H
#define RLAR_RLAR_H

#include "graph/learned.h"
#include "methods/method.h"
#include "solver/held.h"
#include "solver/refine.h"
#include "solver/reweight.h"

typedef enum rlar_solver {
    RLAR_SOLVER_PAPER = 0,
    RLAR_SOLVER_ANNEAL = 1,
    RLAR_SOLVER_MINIMISE = 2
} rlar_solver;

/* One fit. T and Y are kept transposed (c x n). */
typedef struct rlar_state {
    /* The problem. */
    int64_t n, d, c;
    int64_t all; /* samples of all ranks */
    const double *x;
    rlar_groups groups;
    double alpha, beta, eps, tol;
    int64_t k, iters;
    rlar_solver solver;
    bool dual;                       /* the systems are n x n, not d x d */
    const double *start_w, *start_b; /* where minimise starts, or NULL */
    bool start_is_better;            /* than where it ended before: it stays near */
    double began;                    /* by the clock, for the seconds of the trace */
    const rlar_checkpoint *checkpoint;
    /* What is learned. */
    double *w, *b;      /* d x c, c: the caller's */
    double *t, *y;      /* c x n: targets and outputs, these also of mates on other ranks */
    uint64_t *print;    /* 2 x n, likewise: what tells unequal samples apart; or NULL */
    rlar_learned graph; /* V and G, L */
    /* Weights. */
    rlar_kernel kernel, edge_kernel, row_kernel; /* of residuals, edges, rows of W */
    double *dhat, *dtil;                         /* n, d */
    double *s;                                   /* S at the edges of V */
    rlar_wsolver wsolver;
    rlar_refiner refiner;   /* where rlar__state_refines */
    rlar_held held;         /* of Algorithm 1 */
    double *value, *smooth; /* n: terms of sums over samples */
} rlar_state;

void rlar__state_init(rlar_state *st, const rlar_train *train, const rlar_params *params);
/* All buffers of the fit, in one place: measured first, carved second. */
void rlar__state_carve(rlar_workspace *ws, rlar_state *st);
/* Is the W of (17) corrected once? Where the primal is all there is for n < d, over ranks; and
 * where that costs little: with weights of 1/eps it is worth six digits. minimise goes by gradients
 * and corrects itself. */
bool rlar__state_refines(const rlar_state *st);

/* Call for_each for every sample, on all threads. */
typedef void (*rlar_sample_fn)(rlar_state *st, int64_t j);
rlar_status rlar__each_sample(rlar_ctx *ctx, rlar_state *st, rlar_sample_fn for_each);
/* The sum of a number for each sample, over all ranks. */
rlar_status rlar__state_sum(rlar_ctx *ctx, const rlar_state *st, const double *terms, double *out);

/* Once, before anything else. */
rlar_status rlar__state_open(rlar_ctx *ctx, rlar_state *st);
/* Y = W^T X + b 1^T, also of the samples of the same classes on other ranks. */
rlar_status rlar__state_outputs(rlar_ctx *ctx, rlar_state *st);

/* ---- The steps of Algorithm 1 ---- */

/* D-hat = I, D-tilde = I, T = labels as 0/1; G and V from the samples themselves; Y = 0, as W is.
 */
rlar_status rlar__initialise(rlar_ctx *ctx, rlar_state *st);
/* S = V / G with K inside [N1], as weights of (13), and L = D - (S + S^T)/2. */
rlar_status rlar__update_s(rlar_ctx *ctx, rlar_state *st);
/* (17) and (15), and Y = W^T X + b 1^T. A step that rounding makes worse than none is cut (held.h).
 */
rlar_status rlar__update_w_b(rlar_ctx *ctx, rlar_state *st, int *ridged);
/* (22) with (25), from Y. */
rlar_status rlar__update_t(rlar_ctx *ctx, rlar_state *st);
/* G = ||W^T (x_j - x_m)|| and, from it, V by (18), (19). Y differs from W^T X by a shift only. The
 * local search takes no neighbour that is farther, so the objective falls as well [N19]. */
rlar_status rlar__update_g_v(rlar_ctx *ctx, rlar_state *st);
/* D-hat after T: the other order is not monotone [N6]. The regression term of (12) comes from the
 * same norms, plain and (anew) smoothed. */
rlar_status rlar__update_dhat(rlar_ctx *ctx, rlar_state *st, rlar_info *info);
/* D-tilde, and with it the sparsity term. */
void rlar__update_dtil(rlar_state *st, rlar_info *info);
/* The locality term of (12), which completes the objective, plain and smoothed. */
rlar_status rlar__measure_locality(rlar_ctx *ctx, rlar_state *st, rlar_info *info);
bool rlar__all_zero(int64_t count, const double *x);
/* The best b where W = 0; t and y are used. */
void rlar__zero_offset(rlar_state *st);
/* The weighted problem of (13) at the present weights. */
rlar_wproblem rlar__weighted_problem(const rlar_state *st);

/* ---- Checkpoints ---- */

/* What both kinds of solver go on from, and room for more: W, b, V with its distances. The outputs,
 * T and the weights follow from these. */
enum { RLAR_STATE_KEPT = 9, RLAR_MOST_KEPT = 16 };
int rlar__state_kept(rlar_state *st, rlar_info *info, rlar_kept kept[RLAR_MOST_KEPT]);
/* After iteration t, and at the beginning: the iteration to go on after, 0: there is none. What no
 * fit can have left is refused; `info` has what was read into it. */
rlar_status rlar__state_save(rlar_ctx *ctx, rlar_state *st, int64_t t, const rlar_kept *kept,
                             int count);
rlar_status rlar__state_load(rlar_ctx *ctx, rlar_state *st, const rlar_info *info, rlar_kept *kept,
                             int count, int64_t *t);
/* Of arrays that were read: are the numbers finite, the flags 0 or 1? */
bool rlar__kept_numbers(int64_t count, const double *x);
bool rlar__kept_flags(int64_t count, const bool *flag);

/* ---- The solvers ---- */

/* Algorithm 1, paper and anneal, is in rlar.c. minimise is in rlar_minimise.c; it sets st->tol to
 * what it worked with. */
rlar_status rlar__minimise(rlar_ctx *ctx, rlar_state *st, rlar_info *info);
/* The samples hold so few numbers that time does not matter, and the plain objective is wanted. */
bool rlar__minimise_at_leisure(const rlar_state *st);
/* Whatever n is: the rows of W move with the steps there, which ends nearer the minimum. */
bool rlar__minimise_in_primal(const rlar_state *st);
rlar_status rlar__minimise_forecast(rlar_ctx *ctx, rlar_state *st, rlar_forecast *out);
/* How many rounds and steps it takes: they depend on the samples, so these are what the paper's
 * data needed (docs/results), for an estimate of the work. */
void rlar__minimise_typical(bool dual, double *rounds, double *steps);

#endif
