/* margin.h - what MMC and ALDE share: maximise tr(W^T M W) subject to W^T W = I for a symmetric
 * matrix M made of scatters, within the range of the samples. */
#ifndef RLAR_MARGIN_H
#define RLAR_MARGIN_H

#include "methods/method.h"
#include "solver/scatter.h"

/* Fill the lower triangle of M (r x r) in the reduced space; z may be overwritten. */
typedef rlar_status (*rlar_margin_matrix)(rlar_ctx *ctx, rlar_reduced *reduced,
                                          const rlar_train *train, double theta, double *m);

/* W = V Q for the leading min(c, r) eigenvectors Q of M; the objective is the sum of the
 * eigenvalues. Reads the parameter theta. */
rlar_status rlar__margin_fit(rlar_ctx *ctx, const rlar_train *train, const rlar_params *params,
                             rlar_margin_matrix matrix, rlar_map *out, rlar_info *info);
/* Bytes and flops, when making M holds `matrix_bytes` beside M and takes `matrix_flops`. */
void rlar__margin_forecast(const rlar_train *sizes, double matrix_bytes, double matrix_flops,
                           rlar_forecast *out);
int64_t rlar__margin_outputs(const rlar_train *train, const rlar_params *params);

#endif
