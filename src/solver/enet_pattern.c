/* enet_pattern.c - the elastic net by exchanging features between support and rest.
 *
 * With H = G + gamma I and the slopes w = g - H b, the minimiser is the b with
 *   w_j = sign(b_j) lambda/2 on its support A,   b_j = 0 and |w_j| <= lambda/2 on the rest M.
 * Given A and the signs, the point that has both equations follows from any other one, by the
 * smaller of two systems: the known changes of w on A move b by columns of H^-1, and those on M,
 * which bring b to zero there, follow from (H^-1)_MM; or the known changes of b on M move w by
 * columns of H, and those of b on A, which bring w to what it must be there, follow from H_AA.
 *
 * Features whose sign the point turns leave A, those on which it breaks the inequality join it with
 * the sign of w, and so on until nothing changes: then the point is the minimiser, and no other is.
 * It mostly takes one to three rounds from the solution of a similar problem, and ten from afar; it
 * may go in circles, so it is given up after MOST_ROUNDS. A round costs the columns that change,
 * and the factor of the system (enet_factor.c): no product with a whole matrix. */
#include "solver/enet_parts.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 25 };

/* en->full: sign(b_j) lambda/2. */
static void take_signs(rlar_enet *en, const double *b) {
    for (int64_t j = 0; j < en->d; j++)
        en->full[j] = b[j] != 0.0 && en->diag[j] > 0.0 ? copysign(en->lambda / 2.0, b[j]) : 0.0;
}

/* Is the system of the rest the smaller one? */
static bool mostly_used(const rlar_enet *en, int64_t count) {
    return en->d - count < count;
}

/* v_j <- to_j (zero for NULL) for the features `which`: the en->step, for the en->changed, that
 * they become smaller by. How many change. */
static int64_t set(rlar_enet *en, int64_t count, const int64_t *which, const double *to,
                   double *v) {
    int64_t changes = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t j = which[i];
        const double next = to ? to[j] : 0.0;
        if (v[j] == next)
            continue;
        en->changed[changes] = j;
        en->step[changes++] = v[j] - next;
        v[j] = next;
    }
    return changes;
}

/* ---- The two systems ---- */

static rlar_status by_rest(rlar_ctx *ctx, rlar_enet *en, int64_t count) {
    const int64_t d = en->d, m = d - count, *rest = en->holds;
    const int64_t changes = set(en, count, en->support, en->full, en->slopes);
    rlar__enet_add(d, changes, en->changed, en->inverse, en->step, en->point);
    if (m == 0)
        return RLAR_OK;
    RLAR_TRY(rlar__enet_hold(ctx, en, m, en->support + count, true));
    for (int64_t i = 0; i < m; i++)
        en->step[i] = en->point[rest[i]];
    RLAR_TRY(rlar__chol_solve(ctx, m, 1, en->system, en->step));
    for (int64_t i = 0; i < m; i++) {
        en->slopes[rest[i]] += en->step[i];
        en->step[i] = -en->step[i];
    }
    rlar__enet_add(d, m, rest, en->inverse, en->step, en->point);
    for (int64_t i = 0; i < m; i++)
        en->point[rest[i]] = 0.0;
    return RLAR_OK;
}

/* slopes += H_which step */
static void add_slopes(rlar_enet *en, int64_t count, const int64_t *which) {
    rlar__enet_add(en->d, count, which, en->gram, en->step, en->slopes);
    for (int64_t i = 0; i < count; i++)
        en->slopes[which[i]] += en->gamma * en->step[i];
}

static rlar_status by_support(rlar_ctx *ctx, rlar_enet *en, int64_t count) {
    const int64_t *used = en->holds;
    add_slopes(en, set(en, en->d - count, en->support + count, NULL, en->point), en->changed);
    if (count == 0)
        return RLAR_OK;
    RLAR_TRY(rlar__enet_hold(ctx, en, count, en->support, false));
    for (int64_t i = 0; i < count; i++)
        en->step[i] = en->slopes[used[i]] - en->full[used[i]];
    RLAR_TRY(rlar__chol_solve(ctx, count, 1, en->system, en->step));
    for (int64_t i = 0; i < count; i++) {
        en->point[used[i]] += en->step[i];
        en->step[i] = -en->step[i];
    }
    add_slopes(en, count, used);
    for (int64_t i = 0; i < count; i++)
        en->slopes[used[i]] = en->full[used[i]];
    return RLAR_OK;
}

/* The point for the signs en->full. */
static rlar_status visit(rlar_ctx *ctx, rlar_enet *en) {
    const int64_t count = rlar__enet_find_support(en, en->full);
    return mostly_used(en, count) ? by_rest(ctx, en, count) : by_support(ctx, en, count);
}

/* ---- Rounds ---- */

/* Which features must leave or join; how many. A breach of en->least is rounding. */
static int64_t exchange(rlar_enet *en) {
    int64_t changes = 0;
    for (int64_t j = 0; j < en->d; j++) {
        const bool used = en->full[j] != 0.0;
        const bool stays = used ? en->point[j] * en->full[j] > 0.0
                                : fabs(en->slopes[j]) <= en->lambda / 2.0 + en->least;
        if (stays || en->diag[j] == 0.0)
            continue;
        en->full[j] = used ? 0.0 : copysign(en->lambda / 2.0, en->slopes[j]);
        changes++;
    }
    return changes;
}

/* A point and its slopes for this g: those noted for the last g, of which one of both moves, the
 * one for which the system to come is small; or the solution for lambda = 0, or zero. */
static void begin(rlar_enet *en, const double *g, bool large) {
    const double *centre = en->ridge;
    if (!centre) {
        rlar__enet_symmetric(en->d, en->inverse, g, en->out);
        centre = en->out;
    }
    for (int64_t j = 0; j < en->d; j++) {
        if (!en->noted) {
            en->point[j] = large ? centre[j] : 0.0;
            en->slopes[j] = large ? 0.0 : g[j];
        } else if (large) {
            en->point[j] += centre[j] - en->centre[j];
        } else {
            en->slopes[j] += g[j] - en->last_g[j];
        }
        en->centre[j] = centre[j];
    }
    en->noted = true;
}

rlar_status rlar__enet_exchange(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b,
                                bool *found) {
    *found = false;
    if (!en->covariance || en->lambda == 0.0) { /* without a penalty signs mean nothing */
        en->noted = false;
        return RLAR_OK;
    }
    take_signs(en, b);
    begin(en, g, mostly_used(en, rlar__enet_find_support(en, en->full)));
    for (int round = 0; round < MOST_ROUNDS && !*found; round++) {
        RLAR_TRY(visit(ctx, en));
        *found = exchange(en) == 0;
        RLAR_TRY(rlar__poll(ctx));
    }
    if (*found)
        memcpy(b, en->point, (size_t)en->d * sizeof *b);
    return RLAR_OK;
}

rlar_status rlar__enet_polish(rlar_ctx *ctx, rlar_enet *en, double *b) {
    for (int64_t j = 0; j < en->d; j++)
        en->slopes[j] = en->left[j] - en->gamma * b[j];
    take_signs(en, b);
    RLAR_TRY(visit(ctx, en));
    if (exchange(en) == 0)
        memcpy(b, en->point, (size_t)en->d * sizeof *b);
    return RLAR_OK;
}

void rlar__enet_note(rlar_enet *en, const double *b) {
    if (!en->noted)
        return;
    take_signs(en, b);
    for (int64_t j = 0; j < en->d; j++) {
        en->point[j] = b[j];
        en->slopes[j] = en->full[j] != 0.0 ? en->full[j] : en->left[j];
    }
}
