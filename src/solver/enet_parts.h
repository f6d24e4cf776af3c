/* enet_parts.h - what the files of the elastic net share; for them only. */
#ifndef RLAR_ENET_PARTS_H
#define RLAR_ENET_PARTS_H

#include "solver/elastic_net.h"

/* ---- Products with one vector (enet_support.c); others are in elastic_net.h ---- */

/* out (rows) += sum_i v_i A_which[i] for `count` columns of A; which NULL: the first ones. Runs of
 * zeros in v cost nothing. */
void rlar__enet_add(int64_t rows, int64_t count, const int64_t *which, const double *a,
                    const double *v, double *out);
/* out (d) = A v for a symmetric A, of which the lower triangle is read: half the memory traffic. */
void rlar__enet_symmetric(int64_t d, const double *a, const double *v, double *out);

/* ---- Systems (enet_support.c) ---- */

/* step <- (H_AA)^-1 step for the first `count` features of en->support, the cheapest way. */
rlar_status rlar__enet_on_support(rlar_ctx *ctx, rlar_enet *en, int64_t count);
/* en->system = factor of H_AA for the features `which`. */
rlar_status rlar__enet_factor_support(rlar_ctx *ctx, rlar_enet *en, int64_t count,
                                      const int64_t *which);
/* en->system = factor of (H^-1)_MM for the m features `rest`; without covariance xs holds their
 * columns of X and of en->inverse. */
rlar_status rlar__enet_factor_rest(rlar_ctx *ctx, rlar_enet *en, int64_t m, const int64_t *rest);
/* en->system = factor of (H^-1)_MM or (else) H_AA for the features `which`, those that en->full has
 * as zero or not; en->holds becomes their order in it. Changes en->out and en->step. */
rlar_status rlar__enet_hold(rlar_ctx *ctx, rlar_enet *en, int64_t count, const int64_t *which,
                            bool rest);
/* The features in use to the front of en->support, the others behind; returns how many are in use.
 */
int64_t rlar__enet_find_support(rlar_enet *en, const double *b);

/* ---- Sign patterns (enet_pattern.c) ---- */

/* Covariance mode: b <- the minimiser, but for rounding, by exchanging features; *found: that went
 * well, else b is as it was. */
rlar_status rlar__enet_exchange(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b,
                                bool *found);
/* The same for b that is the minimiser but for rounding, of which g - G b (en->left) is known
 * afresh: with one rounding less. */
rlar_status rlar__enet_polish(rlar_ctx *ctx, rlar_enet *en, double *b);
/* Note b, a minimiser, and en->left: the next exchange begins there. */
void rlar__enet_note(rlar_enet *en, const double *b);

#endif
