/* margin.c - leading eigenvectors of a difference of scatters.
 *
 * Eigenvalues are taken by value, not by magnitude, and only within the range of the samples:
 * outside of it they are zero, which would beat the negative ones with features that say nothing.
 * At most c - 1 of them are positive; p = c columns as in the RLAR paper. */
#include "methods/margin.h"

#include "linalg/linalg.h"

#include <math.h>

rlar_status rlar__margin_fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                             rlar_margin_matrix matrix, rlar_map *out, rlar_info *info) {
    rlar_reduced reduced;
    double *m = NULL, *values = NULL;
    RLAR_TRY(rlar__reduction_take(ctx, train, rlar__span, true, &reduced));
    const int64_t r = reduced.r, q = rlar__min64(train->c, r);
    rlar_status status = rlar__map_new(ctx, train->d, q, out);
    if (status >= 0)
        status = rlar__alloc(ctx, r, (size_t)r * sizeof *m, "a scatter matrix", &m);
    if (status >= 0)
        status = rlar__alloc(ctx, q, sizeof *values, "the eigenvalues", &values);
    if (status >= 0)
        status = matrix(ctx, &reduced, train, rlar__param(params, "theta"), m);
    if (status >= 0)
        status = rlar__scatter_top(ctx, &reduced, m, q, values, out->w, out->b);
    if (status >= 0) {
        info->converged = 1;
        info->dual = train->d > rlar__train_samples(train);
        info->objective = rlar__sum(q, values);
    }
    rlar__free(m);
    rlar__free(values);
    rlar__reduction_end(train, &reduced);
    return status;
}

void rlar__margin_forecast(const rlar_train *sizes, double matrix_bytes, double matrix_flops,
                           rlar_forecast *out) {
    const int64_t many = rlar__reduction_samples(sizes);
    const double n = (double)many, d = (double)sizes->d, c = (double)sizes->c;
    const double r = fmin(d, n), held = (double)rlar__reduce_held(sizes->d, many, sizes->c);
    const double eigen = 8.0 * r * c + rlar__eig_bytes((int64_t)r);
    const double after = held + 8.0 * r * r + fmax(matrix_bytes, eigen);
    out->bytes = rlar__whole_bytes(fmax((double)rlar__reduce_lean_bytes(sizes->d, many), after) +
                                   rlar__reduction_partials(sizes));
    out->flops = rlar__reduce_flops(sizes->d, many) + matrix_flops + 4.0 / 3.0 * r * r * r +
                 4.0 * r * r * c + 2.0 * d * r * c;
    out->dual = sizes->d > rlar__train_samples(sizes);
}

int64_t rlar__margin_outputs(const rlar_train *train, const rlar_params *params) {
    (void)params;
    return rlar__min64(train->c, rlar__min64(train->d, rlar__train_samples(train) - 1));
}
