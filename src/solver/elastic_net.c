/* elastic_net.c - coordinate descent, shortened by Newton steps on the support.
 *
 * One coordinate:  b_j <- S(l_j + G_jj b_j, lambda/2) / (G_jj + gamma),  l = g - G b, where S(z, t)
 * = sign(z) max(|z| - t, 0). A sweep costs O(d) for each feature that changes when G is at hand
 * (covariance), else O(n) for every feature; then nothing of size d x d is made.
 *
 * With correlated features and a small gamma sweeps crawl: thousands are needed. So between sweeps
 * the minimiser on the support A for the signs s of now is had exactly,
 *   b_A + (H_AA)^-1 (l_A - gamma b_A - s_A lambda/2),   H = G + gamma I
 * and the step goes there, or where it would turn signs not further than pays (see newton), so that
 * f never rises. A full sweep then lets features in again: cheap, and mostly soon over, but where
 * features are much alike it lets in again what the step has just dropped, and crawls. After
 * PATIENCE sweeps the steps are therefore repeated until one arrives: each visits a sign pattern of
 * lower f, and there are finitely many. It ends with
 *   l_j - gamma b_j = s_j lambda/2 where b_j != 0,   |l_j| <= lambda/2 elsewhere.
 *
 * All of this is for the hard cases where G is at hand: exchanging features (enet_pattern.c) mostly
 * finds the minimiser before, and it is only checked here. The
 * systems are those of enet_support.c. */
#include "solver/enet_parts.h"

#include <math.h>
#include <string.h>

enum {
    MAX_SWEEPS = 2000, /* then the result is what has been reached */
    PATIENCE = 50,     /* sweeps with one step after each; ordinary problems need less */
    LINE_HALVINGS = 50
};
static const double BREACH = 1e-12; /* of the optimality conditions, relative to max |g| */
static const double STILL = 1e-14;  /* a breach that a sweep does not mend: a hundredth of that */
static const double DUST = 1e-15;

void rlar__enet_carve(rlar_workspace *ws, rlar_enet *en) {
    const int64_t side = en->covariance ? en->d : en->n, samples = en->covariance ? 0 : en->n;
    size_t row = 0, column = 0;
    if (!rlar__size_mul((size_t)side, sizeof(double), &row) ||
        !rlar__size_mul((size_t)samples, sizeof(double), &column))
        ws->overflow = true;
    en->diag = rlar__carve(ws, en->d, sizeof(double));
    en->left = rlar__carve(ws, en->d, sizeof(double));
    en->u = rlar__carve(ws, en->n, sizeof(double));
    en->kept = rlar__carve(ws, en->d, sizeof(double));
    en->last_b = rlar__carve(ws, en->d, sizeof(double));
    en->last_g = rlar__carve(ws, en->d, sizeof(double));
    en->step = rlar__carve(ws, en->d, sizeof(double));
    en->full = rlar__carve(ws, en->d, sizeof(double));
    en->out = rlar__carve(ws, en->d, sizeof(double));
    en->support = rlar__carve(ws, en->d, sizeof(int64_t));
    const int64_t noted = en->covariance ? en->d : 0;
    en->point = rlar__carve(ws, noted, sizeof(double));
    en->slopes = rlar__carve(ws, noted, sizeof(double));
    en->centre = rlar__carve(ws, noted, sizeof(double));
    en->changed = rlar__carve(ws, noted, sizeof(int64_t));
    en->holds = rlar__carve(ws, noted, sizeof(int64_t));
    en->xs = rlar__carve(ws, en->d, column);
    en->inverse = rlar__carve(ws, en->d, row);
    en->system = rlar__carve(ws, side, row);
    en->pivots = rlar__carve(ws, side, sizeof(double));
    rlar__partials_carve(ws, en->covariance ? en->n : en->d, side, side, &en->partials);
}

/* ---- Measuring ---- */

/* left = g - G b, from u = X b without covariance; with it left is up to date at all times. */
static void measure(rlar_enet *en, const double *g) {
    if (en->covariance)
        return;
    rlar__enet_transposed(en->n, en->d, en->x, en->u, en->left);
    for (int64_t j = 0; j < en->d; j++)
        en->left[j] = g[j] - en->left[j] / (double)en->n;
}

/* The same, and u, afresh: without the rounding of many small changes. */
static void refresh(rlar_enet *en, const double *g, const double *b) {
    if (!en->covariance) {
        rlar__enet_times(en->n, en->d, en->x, b, en->u);
        measure(en, g);
        return;
    }
    rlar__enet_symmetric(en->d, en->gram, b, en->left);
    for (int64_t j = 0; j < en->d; j++)
        en->left[j] = g[j] - en->left[j];
}

/* f(b) with left up to date: b^T G b - 2 g^T b = -b^T (g + left). */
static double value_of(const rlar_enet *en, const double *g, const double *b) {
    double sum = 0.0;
    for (int64_t j = 0; j < en->d; j++)
        sum += b[j] * (en->gamma * b[j] - g[j] - en->left[j]) + en->lambda * fabs(b[j]);
    return sum;
}

/* The same for the b of the last solve, as a caller that changes g only has it: no G b. */
static void resume(rlar_enet *en, const double *g, const double *b) {
    const size_t bytes = (size_t)en->d * sizeof *b;
    if (!en->resumes || memcmp(b, en->last_b, bytes) != 0) {
        refresh(en, g, b);
        return;
    }
    measure(en, g);
    for (int64_t j = 0; j < en->d && en->covariance; j++)
        en->left[j] += g[j] - en->last_g[j];
}

double rlar__enet_value(rlar_enet *en, const double *g, const double *b) {
    en->resumes = false;
    refresh(en, g, b);
    return value_of(en, g, b);
}

/* (left - gamma b - sign lambda/2)_j: half the slope of f where b_j != 0, downhill. */
static double slope(const rlar_enet *en, const double *b, int64_t j) {
    return en->left[j] - en->gamma * b[j] - copysign(en->lambda / 2.0, b[j]);
}

/* The largest breach of the optimality conditions. */
static double breach(const rlar_enet *en, const double *b) {
    double largest = 0.0;
    for (int64_t j = 0; j < en->d; j++)
        if (en->diag[j] > 0.0)
            largest = fmax(largest, b[j] != 0.0 ? fabs(slope(en, b, j))
                                                : fabs(en->left[j]) - en->lambda / 2.0);
    return largest;
}

/* ---- Coordinate descent ---- */

/* out -= factor a */
static void subtract(int64_t n, double factor, const double *restrict a, double *restrict out) {
    for (int64_t i = 0; i < n; i++)
        out[i] -= factor * a[i];
}

static void move(rlar_enet *en, int64_t j, double change) {
    if (en->covariance)
        subtract(en->d, change, en->gram + j * en->d, en->left);
    else
        subtract(en->n, -change, en->x + j * en->n, en->u);
}

/* Minimise over b_j alone, unless it is there but for rounding. */
static void descend(rlar_enet *en, const double *g, double *b, int64_t j) {
    if (en->diag[j] == 0.0)
        return;
    const double left = en->covariance
                            ? en->left[j]
                            : g[j] - rlar__dot(en->n, en->x + j * en->n, en->u) / (double)en->n;
    const double pull = left + en->diag[j] * b[j], over = fabs(pull) - en->lambda / 2.0;
    const double next = over > 0.0 ? copysign(over, pull) / (en->diag[j] + en->gamma) : 0.0;
    const double before = b[j];
    if (fabs(next - before) * (en->diag[j] + en->gamma) <= en->least &&
        (next == 0.0) == (before == 0.0))
        return;
    b[j] = next;
    move(en, j, next - before);
}

/* ---- The Newton step ---- */

/* en->out: the share of the step at which each feature of the support would pass zero, beyond 1
 * when it does not. How many do. */
static int64_t find_crossings(rlar_enet *en, const double *b, int64_t count) {
    int64_t crossings = 0;
    for (int64_t i = 0; i < count; i++) {
        const double before = b[en->support[i]];
        en->out[i] = before * en->step[i] < 0.0 ? -before / en->step[i] : 2.0;
        crossings += en->out[i] <= 1.0;
    }
    return en->lambda > 0.0 ? crossings : 0;
}

/* f' / 2 on the way from b to b + step: -(1 - share) fall, and more by lambda |step_i| behind every
 * crossing. */
static double line_slope(const rlar_enet *en, int64_t count, double fall, double share) {
    double uphill = 0.0;
    for (int64_t i = 0; i < count; i++)
        uphill += en->out[i] <= share ? fabs(en->step[i]) : 0.0;
    return en->lambda * uphill - (1.0 - share) * fall;
}

/* The least f on that way: f' rises, so halving finds where it passes zero, often at a crossing. In
 * *gain how much f falls. */
static double line_minimum(const rlar_enet *en, int64_t count, double fall, double *gain) {
    double low = 0.0, share = 1.0, paid = 0.0;
    for (int k = 0; k < LINE_HALVINGS; k++) {
        const double middle = 0.5 * (low + share);
        if (line_slope(en, count, fall, middle) < 0.0)
            low = middle;
        else
            share = middle;
    }
    for (int64_t i = 0; i < count; i++)
        share = en->out[i] > low && en->out[i] < share ? en->out[i] : share;
    for (int64_t i = 0; i < count; i++)
        paid += en->out[i] < share ? fabs(en->step[i]) * (share - en->out[i]) : 0.0;
    *gain = fall * share * (2.0 - share) - 2.0 * en->lambda * paid;
    return share;
}

/* b <- kept + share * step on the support. What arrives at zero is zero, not a rounding of it; with
 * `stay`, what would pass it as well. */
static void take_step(const rlar_enet *en, int64_t count, double share, bool stay, double *b) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t j = en->support[i];
        const double zero = en->out[i];
        b[j] = zero == share || (stay && zero < share) ? 0.0 : en->kept[j] + share * en->step[i];
    }
}

/* The step to the minimiser on the support, if it turns no sign. Else the better of: all of it, but
 * to zero where a sign would turn (drops many features at once, but may go uphill); to the least f
 * on the way (always downhill, but may drop one feature only). *arrived: no sign stood in the way.
 */
static rlar_status newton(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b, bool *arrived) {
    double fall = 0.0, gain;
    *arrived = true;
    const int64_t count = rlar__enet_find_support(en, b);
    if (count == 0)
        return RLAR_OK;
    const double before = value_of(en, g, b);
    memcpy(en->kept, b, (size_t)en->d * sizeof *b);
    for (int64_t i = 0; i < count; i++)
        en->step[i] = slope(en, b, en->support[i]);
    RLAR_TRY(rlar__enet_on_support(ctx, en, count));
    for (int64_t i = 0; i < count; i++)
        fall += en->step[i] * slope(en, b, en->support[i]);
    const bool kinks = find_crossings(en, b, count) > 0;
    take_step(en, count, 1.0, kinks, b);
    refresh(en, g, b);
    *arrived = !kinks;
    if (!kinks)
        return RLAR_OK;
    const double share = line_minimum(en, count, fall, &gain);
    if (!(value_of(en, g, b) <= before - gain)) {
        take_step(en, count, share, false, b);
        refresh(en, g, b);
    }
    return RLAR_OK;
}

/* `most` steps, fewer when one arrives. */
static rlar_status steps(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b, int64_t most) {
    bool arrived = false;
    for (int64_t k = 0; k < most && !arrived; k++) {
        RLAR_TRY(newton(ctx, en, g, b, &arrived));
        RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* What is below the rounding of g is zero. */
static void drop_dust(const rlar_enet *en, double largest, double *b) {
    for (int64_t j = 0; j < en->d; j++)
        if (fabs(b[j]) * (en->diag[j] + en->gamma) <= DUST * largest)
            b[j] = 0.0;
}

/* By exchanging features, checked by a fresh g - G b; *solved: that was all. */
static rlar_status try_exchange(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b,
                                double largest, bool *solved) {
    bool found = false;
    *solved = false;
    RLAR_TRY(rlar__enet_exchange(ctx, en, g, b, &found));
    if (!found) {
        resume(en, g, b);
        return RLAR_OK;
    }
    refresh(en, g, b);
    if (breach(en, b) > STILL * largest) {
        RLAR_TRY(rlar__enet_polish(ctx, en, b));
        refresh(en, g, b);
    }
    *solved = breach(en, b) <= BREACH * largest;
    return RLAR_OK;
}

rlar_status rlar__enet_solve(rlar_ctx *ctx, rlar_enet *en, const double *g, double *b,
                             rlar_enet_result *result) {
    double largest = 0.0;
    *result = (rlar_enet_result){0};
    for (int64_t j = 0; j < en->d; j++)
        largest = fmax(largest, fabs(g[j]));
    en->least = STILL * largest;
    RLAR_TRY(try_exchange(ctx, en, g, b, largest, &result->solved));
    while (!result->solved) {
        RLAR_TRY(steps(ctx, en, g, b, result->sweeps < PATIENCE ? 1 : en->d));
        result->solved = breach(en, b) <= BREACH * largest;
        if (result->solved || result->sweeps >= MAX_SWEEPS)
            break;
        for (int64_t j = 0; j < en->d; j++)
            descend(en, g, b, j);
        measure(en, g);
        result->sweeps++;
    }
    result->value = value_of(en, g, b);
    drop_dust(en, largest, b);
    rlar__enet_note(en, b);
    memcpy(en->last_b, b, (size_t)en->d * sizeof *b);
    memcpy(en->last_g, g, (size_t)en->d * sizeof *g);
    en->resumes = true;
    return RLAR_OK;
}
