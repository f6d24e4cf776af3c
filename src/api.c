/* api.c - what is asked of the library as a whole. The entry points of each part stand in its own
 * folder; the path from data to model is fit.c, that to predictions predict.c. */
#include "core/core.h"
#include "linalg/linalg.h"

const char *rlar_version(void) {
    return RLAR_VERSION;
}

unsigned rlar_capabilities(void) {
    return RLAR_CAN_GZIP | RLAR_CAN_PNG;
}

enum { PROBE = 512 }; /* side of the matrices: large enough to run at full speed, 2 MB each */

typedef struct probe {
    const double *a;
    double *c;
} probe;

static rlar_status probe_task(void *arg, int64_t index) {
    const probe *p = arg;
    rlar__tile_inner(PROBE, PROBE, PROBE, p->a, PROBE, p->a, PROBE, p->c + index * PROBE * PROBE,
                     PROBE);
    return RLAR_OK;
}

static rlar_status measure_speed(rlar_ctx *ctx, probe *p, double seconds, double *gflops) {
    double elapsed, products = 0.0;
    RLAR_TRY(
        rlar__parallel(ctx, ctx->threads, probe_task, p)); /* wake the threads, warm the caches */
    const double start = rlar__now();
    do {
        RLAR_TRY(rlar__parallel(ctx, ctx->threads, probe_task, p));
        products += ctx->threads;
        elapsed = rlar__now() - start;
    } while (elapsed < seconds);
    *gflops = products * 2e-9 * PROBE * PROBE * PROBE / elapsed;
    return RLAR_OK;
}

rlar_status rlar_blas_speed(rlar_ctx *ctx, double seconds, double *gflops) {
    if (!ctx || !gflops || !(seconds >= 0.0 && seconds <= 3600.0))
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_blas_speed: seconds must be 0 to 3600");
    rlar__begin(ctx);
    RLAR_TRY(rlar__blas_open(ctx, 0));
    double *a = NULL, *c = NULL;
    rlar_status status = rlar__calloc(ctx, PROBE * PROBE, sizeof *a, "the speed probe", &a);
    if (status >= 0)
        status = rlar__calloc(ctx, (int64_t)ctx->threads * PROBE * PROBE, sizeof *c,
                              "the speed probe", &c);
    for (int64_t i = 0; status >= 0 && i < PROBE * PROBE; i++)
        a[i] = (double)(i % 7) - 3.0;
    if (status >= 0)
        status = measure_speed(ctx, &(probe){.a = a, .c = c}, seconds, gflops);
    rlar__free(a);
    rlar__free(c);
    return status;
}
