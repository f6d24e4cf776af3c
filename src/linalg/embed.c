/* embed.c - the outputs of a linear map, with the same bits for a sample alone and in company.
 *
 * A BLAS sums in an order that depends on the number of columns of a product, so every product has
 * the same number of columns, and whoever has fewer samples pads with zeros. That number is chosen
 * by the size of the map alone. It is a compromise: a single sample pays for all columns, many
 * samples run faster in wider products. Small maps need no BLAS at all: plain loops are as fast,
 * and opening the library would take longer than the rest of a short prediction. */
#include "linalg/linalg.h"

enum {
    LOOPS_UP_TO = 1024,     /* coefficients of a map that is applied by plain loops */
    NARROW_UP_TO = 1 << 16, /* and of one that is applied to NARROW samples at a time */
    NARROW = 16
};

int64_t rlar__embed_width(int64_t p, int64_t d) {
    if (d <= LOOPS_UP_TO / p)
        return 1;
    return d <= NARROW_UP_TO / p ? NARROW : RLAR_COLUMNS;
}

typedef struct embedding {
    int64_t p, n, d, width;
    const double *w, *x;
    double *z;
} embedding;

static void by_loops(const embedding *e, int64_t i) {
    for (int64_t r = 0; r < e->p; r++)
        e->z[i * e->p + r] = rlar__dot(e->d, e->w + r * e->d, e->x + i * e->d);
}

/* RLAR_COLUMNS samples, or what is left: a multiple of the width. */
static rlar_status embed_task(void *arg, int64_t index) {
    const embedding *e = arg;
    const int64_t from = index * RLAR_COLUMNS;
    const int64_t to = from + RLAR_COLUMNS < e->n ? from + RLAR_COLUMNS : e->n;
    for (int64_t i = from; i < to; i += e->width) {
        if (e->width == 1)
            by_loops(e, i);
        else
            rlar__tile_inner(e->p, e->width, e->d, e->w, e->d, e->x + i * e->d, e->d,
                             e->z + i * e->p, e->p);
    }
    return RLAR_OK;
}

rlar_status rlar__embed(rlar_ctx *ctx, int64_t p, int64_t n, int64_t d, const double *w,
                        const double *x, double *z) {
    embedding e = {
        .p = p, .n = n, .d = d, .width = rlar__embed_width(p, d), .w = w, .x = x, .z = z};
    if (e.width > 1)
        RLAR_TRY(rlar__blas_open(ctx, 0));
    return rlar__parallel(ctx, (n + RLAR_COLUMNS - 1) / RLAR_COLUMNS, embed_task, &e);
}
