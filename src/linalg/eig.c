/* eig.c - symmetric eigenproblems, the thin SVD and QR, by LAPACK on one thread.
 *
 * Eigenvectors are fixed up to sign by a rule (rlar__fix_signs); where eigenvalues tie, only the
 * span of the tied block is defined, and methods say what they do about it. */
#include "linalg/blas.h"

#include <math.h>
#include <string.h>

enum { STRIP = 32 }; /* columns of a transpose that share cache lines */

static rlar_status lapack_failed(rlar_ctx *ctx, const char *what, int64_t m, int64_t n) {
    return rlar__fail(
        ctx, RLAR_E_NUMERIC,
        "the %s of a %lld x %lld matrix did not converge; scale the data or raise the "
        "regularisation",
        what, (long long)m, (long long)n);
}

/* LAPACK hands the eigenvalues out ascending; turn values and columns round. */
static void descending(int64_t n, int64_t q, double *values, double *vectors) {
    for (int64_t i = 0, j = q - 1; i < j; i++, j--) {
        const double kept = values[i];
        values[i] = values[j];
        values[j] = kept;
        for (int64_t r = 0; r < n; r++) {
            const double entry = vectors[i * n + r];
            vectors[i * n + r] = vectors[j * n + r];
            vectors[j * n + r] = entry;
        }
    }
}

/* NaN or infinity would send LAPACK into an endless loop. */
static bool lower_finite(int64_t n, const double *a) {
    for (int64_t j = 0; j < n; j++)
        if (!rlar__finite(n - j, a + j * n + j))
            return false;
    return true;
}

/* The numbers that LAPACK works in, for each row of the matrix: its block of 32 wants 33 of them,
 * and it can do with 26. Then its integers. */
enum { EIG_WORK = 33, EIG_IWORK = 10, EIG_SUPPORT = 2 };

void rlar__eig_carve(rlar_workspace *ws, int64_t n, rlar_eig_room *room) {
    *room = (rlar_eig_room){.n = n};
    room->found = rlar__carve(ws, n, sizeof *room->found);
    room->diag = rlar__carve(ws, n, sizeof *room->diag);
    room->work = rlar__carve(ws, n, EIG_WORK * sizeof *room->work);
    room->iwork = rlar__carve(ws, n, EIG_IWORK * sizeof *room->iwork);
    room->isuppz = rlar__carve(ws, n, EIG_SUPPORT * sizeof *room->isuppz);
}

/* No more than LAPACK asks for, or its blocks would be others, and with them the last digits. */
static int within(int wanted, int64_t room) {
    return (int)rlar__min64(wanted, room);
}

/* One run of LAPACK: e->values (n, ascending from number `first`) and e->vectors. False: it gave
 * up, or found another number of eigenvalues than it was asked for. */
static bool decompose(rlar_syevr *e, const rlar_eig_room *room) {
    rlar__syevr(e);
    e->lwork = within(e->lwork, EIG_WORK * room->n);
    e->liwork = within(e->liwork, EIG_IWORK * room->n);
    e->work = room->work;
    e->iwork = room->iwork;
    e->isuppz = room->isuppz;
    return rlar__syevr(e) == 0;
}

/* All eigenvectors, of which the last q are wanted; all (n x n) is room for them. */
static rlar_status decompose_all(rlar_ctx *ctx, const rlar_eig_room *room, int64_t n, double *a,
                                 int64_t q, double *all, double *vectors) {
    double *values = room->found;
    rlar_syevr e = {.n = n, .first = 1, .a = a, .values = values, .vectors = all};
    if (!decompose(&e, room))
        return lapack_failed(ctx, "eigenvalue decomposition", n, n);
    memmove(values, values + (n - q), (size_t)q * sizeof *values);
    memcpy(vectors, all + (n - q) * n, (size_t)(q * n) * sizeof *vectors);
    return RLAR_OK;
}

/* The same in the caller's room, or in memory that is taken. */
static rlar_status second_try(rlar_ctx *ctx, const rlar_eig_room *room, int64_t n, double *a,
                              int64_t q, double *vectors) {
    double *own = NULL;
    if (!room->all)
        RLAR_TRY(rlar__alloc(ctx, n, (size_t)n * sizeof *own, "the eigenvectors", &own));
    const rlar_status status =
        decompose_all(ctx, room, n, a, q, room->all ? room->all : own, vectors);
    rlar__free(own);
    return status;
}

/* A few of many eigenvectors are found by another way inside LAPACK, which can fail where the range
 * cuts through a block of equal eigenvalues; all of them are found always. */
static rlar_status decompose_some(rlar_ctx *ctx, const rlar_eig_room *room, int64_t n, double *a,
                                  int64_t q, double *vectors) {
    rlar_syevr e = {.n = n, .first = n - q + 1, .a = a, .values = room->found, .vectors = vectors};
    RLAR_TRY(rlar__lower_keep(ctx, n, a, room->diag)); /* LAPACK leaves that triangle alone */
    if (decompose(&e, room))
        return RLAR_OK;
    rlar__lower_restore(n, a, room->diag, 0.0);
    return second_try(ctx, room, n, a, q, vectors);
}

rlar_status rlar__eig_top_in(rlar_ctx *ctx, const rlar_eig_room *room, int64_t n, double *a,
                             int64_t q, double *values, double *vectors) {
    if (!lower_finite(n, a))
        return rlar__fail(ctx, RLAR_E_NUMERIC, "a scatter matrix is not finite; scale the data");
    RLAR_TRY(decompose_some(ctx, room, n, a, q, vectors));
    descending(n, q, room->found, vectors);
    rlar__fix_signs(n, q, vectors);
    for (int64_t i = 0; values && i < q; i++)
        values[i] = room->found[i];
    return RLAR_OK;
}

rlar_status rlar__eig_top(rlar_ctx *ctx, int64_t n, double *a, int64_t q, double *values,
                          double *vectors) {
    rlar_eig_room room;
    rlar_workspace ws = {0};
    rlar__eig_carve(&ws, n, &room);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the eigenvalues"));
    rlar__eig_carve(&ws, n, &room);
    const rlar_status status = rlar__eig_top_in(ctx, &room, n, a, q, values, vectors);
    rlar__workspace_free(&ws);
    return status;
}

/* The entries (i, j) and (j, i) of a (n x n) become their mean, or change places. In strips, so
 * that both sides stay in the cache. */
static void transpose(int64_t n, double *a, bool mean) {
    for (int64_t j0 = 0; j0 < n; j0 += STRIP)
        for (int64_t i = j0; i < n; i++)
            for (int64_t j = j0; j < j0 + STRIP && j < i; j++) {
                const double lower = a[j * n + i], upper = a[i * n + j];
                a[j * n + i] = mean ? 0.5 * (lower + upper) : upper;
                a[i * n + j] = mean ? 0.5 * (lower + upper) : lower;
            }
}

/* a <- L^-1 A L^-T, both triangles: two triangular solves, with the transpose between them. diag: n
 * numbers of scratch. */
static rlar_status whiten(rlar_ctx *ctx, int64_t n, const double *l, double *diag, double *a) {
    RLAR_TRY(rlar__lower_keep(ctx, n, a, diag)); /* fill the upper triangle from the lower */
    RLAR_TRY(rlar__chol_forward(ctx, n, n, l, a));
    transpose(n, a, false);
    RLAR_TRY(rlar__chol_forward(ctx, n, n, l, a));
    transpose(n, a, true); /* equal up to rounding: make it exact */
    return RLAR_OK;
}

/* As the next; b has been factored. */
static rlar_status eig_factored(rlar_ctx *ctx, int64_t n, double *a, const double *l, int64_t q,
                                double *diag, double *values, double *vectors) {
    RLAR_TRY(whiten(ctx, n, l, diag, a));
    RLAR_TRY(rlar__eig_top(ctx, n, a, q, values, vectors));
    RLAR_TRY(rlar__chol_backward(ctx, n, q, l, vectors));
    rlar__fix_signs(n, q, vectors);
    return RLAR_OK;
}

rlar_status rlar__eig_general(rlar_ctx *ctx, int64_t n, double *a, double *b, int64_t q,
                              double *values, double *vectors, int *ridged) {
    double *diag = NULL;
    RLAR_TRY(rlar__alloc(ctx, n, sizeof *diag, "the eigenvalues", &diag));
    rlar_status status = rlar__chol_factor(ctx, n, b, diag, ridged);
    if (status >= 0)
        status = eig_factored(ctx, n, a, b, q, diag, values, vectors);
    rlar__free(diag);
    return status;
}

enum { SVD_IWORK = 8 }; /* integers of LAPACK for each singular value */

/* The numbers that LAPACK works in. A matrix with one side above 11/6 of the other is made square
 * first, which takes another square; then either the block of 32 or the squares of the divide and
 * conquer decide. */
static double svd_work(int64_t m, int64_t n) {
    const double k = (double)(m < n ? m : n), large = (double)(m < n ? n : m);
    const bool long_sided = large >= floor(k * 11.0 / 6.0);
    const double block = 32.0 * (long_sided ? 2.0 * k : k + large), squares = 3.0 * k * k + 4.0 * k;
    return (long_sided ? k * k : 0.0) + 4.0 * k + fmax(block, squares);
}

void rlar__svd_carve(rlar_workspace *ws, int64_t m, int64_t n, rlar_svd_room *room) {
    const double work = svd_work(m, n);
    *room = (rlar_svd_room){0};
    if (!(work < 0x1p60)) {
        ws->overflow = true;
        return;
    }
    room->lwork = (int64_t)work;
    room->work = rlar__carve(ws, room->lwork, sizeof *room->work);
    room->iwork = rlar__carve(ws, m < n ? m : n, SVD_IWORK * sizeof *room->iwork);
}

rlar_status rlar__svd_thin_in(rlar_ctx *ctx, const rlar_svd_room *room, int64_t m, int64_t n,
                              double *a, double *u, double *s, double *vt) {
    rlar_gesdd g = {.m = m, .n = n, .a = a, .u = u, .s = s, .vt = vt, .iwork = room->iwork};
    if (!rlar__finite(m * n, a))
        return rlar__fail(ctx, RLAR_E_NUMERIC, "a matrix is not finite; scale the data");
    rlar__gesdd(&g);
    g.lwork = within(g.lwork, room->lwork);
    g.work = room->work;
    return rlar__gesdd(&g) == 0 ? RLAR_OK
                                : lapack_failed(ctx, "singular value decomposition", m, n);
}

rlar_status rlar__svd_thin(rlar_ctx *ctx, int64_t m, int64_t n, double *a, double *u, double *s,
                           double *vt) {
    rlar_svd_room room;
    rlar_workspace ws = {0};
    rlar__svd_carve(&ws, m, n, &room);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the singular values"));
    rlar__svd_carve(&ws, m, n, &room);
    const rlar_status status = rlar__svd_thin_in(ctx, &room, m, n, a, u, s, vt);
    rlar__workspace_free(&ws);
    return status;
}

enum { QR_BLOCK = 32 }; /* columns that LAPACK takes at once */

rlar_status rlar__complement(rlar_ctx *ctx, int64_t d, int64_t r, const double *u, double *q) {
    double *room = NULL;
    RLAR_TRY(rlar__alloc(ctx, d, (1 + QR_BLOCK) * sizeof *room, "the complement", &room));
    memcpy(q, u, (size_t)(d * r) * sizeof *q);
    rlar__orthogonal_factor(d, r, q, room, room + d, QR_BLOCK * d);
    rlar__free(room);
    return RLAR_OK;
}

double rlar__complement_bytes(int64_t d) {
    return 8.0 * (1.0 + QR_BLOCK) * (double)d;
}

double rlar__eig_bytes(int64_t n) {
    rlar_eig_room room;
    rlar_workspace ws = {0};
    rlar__eig_carve(&ws, n, &room);
    return (double)ws.used + 8.0 * (double)n * (double)(n + 1); /* a diagonal, and all vectors */
}

double rlar__svd_bytes(int64_t m, int64_t n) {
    rlar_svd_room room;
    rlar_workspace ws = {0};
    rlar__svd_carve(&ws, m, n, &room);
    return ws.overflow ? 0x1p62 : (double)ws.used;
}

void rlar__fix_signs(int64_t d, int64_t p, double *w) {
    for (int64_t j = 0; j < p; j++) {
        double *column = w + j * d;
        int64_t largest = 0;
        for (int64_t r = 1; r < d; r++)
            if (fabs(column[r]) > fabs(column[largest]))
                largest = r;
        for (int64_t r = 0; r < d && column[largest] < 0.0; r++)
            if (r != largest)
                column[r] = -column[r];
        column[largest] = fabs(column[largest]);
    }
}

void rlar__unit_columns(int64_t d, int64_t p, double *w) {
    for (int64_t j = 0; j < p; j++) {
        const double norm = rlar__norm(d, w + j * d);
        for (int64_t r = 0; r < d && norm > 0.0; r++)
            w[j * d + r] /= norm;
    }
}

int64_t rlar__tied_end(int64_t p, const double *values, double tied, int64_t start) {
    int64_t end = start + 1;
    while (end < p && values[end - 1] - values[end] < tied)
        end++;
    return end;
}

void rlar__unit_blocks(int64_t d, int64_t p, const double *values, double tied, double *w) {
    for (int64_t j = 0, end; j < p; j = end) {
        end = rlar__tied_end(p, values, tied, j);
        const int64_t count = (end - j) * d;
        const double norm = rlar__norm(count, w + j * d);
        for (int64_t e = 0; e < count && norm > 0.0; e++)
            w[j * d + e] *= sqrt((double)(end - j)) / norm;
    }
}

int64_t rlar__orthonormalise(int64_t d, int64_t p, double least, double *w) {
    int64_t count = 0;
    for (int64_t j = 0; j < p; j++) {
        double *column = w + count * d;
        memmove(column, w + j * d, (size_t)d * sizeof *w);
        for (int64_t k = 0; k < 2 * count; k++) { /* the second round removes what rounding left */
            const double *other = w + k % count * d;
            const double along = rlar__dot(d, other, column);
            for (int64_t r = 0; r < d; r++)
                column[r] -= along * other[r];
        }
        if (rlar__norm(d, column) > least) {
            rlar__unit_columns(d, 1, column);
            count++;
        }
    }
    return count;
}
