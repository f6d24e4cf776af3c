/* kept_gram.c - see kept_gram.h. Only the diagonal of the system changes from one solve to the
 * next: its triangle is copied, which costs d^2/2 where making it again would cost n d^2. */
#include "solver/kept_gram.h"

#include <string.h>

#include "solver/centre.h"

void rlar__kept_gram_carve(rlar_workspace *ws, rlar_kept_gram *kept) {
    const int64_t d = kept->n > 0 ? kept->d : 0;
    size_t column = 0;
    if (!rlar__size_mul((size_t)d, sizeof(double), &column))
        ws->overflow = true;
    kept->mean = rlar__carve(ws, d, sizeof(double));
    kept->xc = rlar__carve(ws, kept->n, column);
    kept->gram = rlar__carve(ws, d, column);
    kept->m = rlar__carve(ws, d, column);
    kept->diag = rlar__carve(ws, d, sizeof(double));
    rlar__partials_carve(ws, kept->n, d, d, &kept->partials);
}

rlar_status rlar__kept_gram_start(rlar_ctx *ctx, rlar_kept_gram *kept, const double *x) {
    const int64_t n = kept->n, d = kept->d;
    rlar__centre(x, d, n, kept->mean, kept->xc);
    return rlar__gram_outer(ctx, &kept->partials, d, n, kept->xc, kept->xc, kept->gram);
}

rlar_status rlar__kept_gram_solve(rlar_ctx *ctx, const rlar_kept_gram *kept, double alpha,
                                  const double *weight, int64_t p, double *w, int *ridged) {
    const int64_t d = kept->d;
    for (int64_t j = 0; j < d; j++) {
        memcpy(kept->m + j * d + j, kept->gram + j * d + j, (size_t)(d - j) * sizeof(double));
        kept->m[j * d + j] += alpha * weight[j];
    }
    RLAR_TRY(rlar__chol_factor(ctx, d, kept->m, kept->diag, ridged));
    return rlar__chol_solve(ctx, d, p, kept->m, w);
}
