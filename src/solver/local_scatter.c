/* local_scatter.c - LFDA's scatters, class by class, without any n x n matrix.
 *
 * With m_i = sum_j A_ij (z_i - z_j) over the class of i, n_c its size, s_c its sum, s the sum of
 * all,
 *   S_w = sum_i z_i (m_i / n_c)^T
 *   S_b = sum_i z_i (m_i (1/n - 1/n_c) + (1 - n_c/n) z_i + (s_c - s)/n)^T
 * so both are one product of Z with an r x n matrix. The m_i are made of differences, one sample
 * per task: a row of A lives only while it is summed up. 4 r sum n_c^2 + 2 n r^2 operations. */
#include "solver/local_scatter.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum { SAMPLES_PER_TASK = 16 };

typedef struct scatter {
    const rlar_groups *groups;
    int64_t k, r;
    const double *z;
    rlar_graph graph;
    double *m;   /* r x n: the m_i */
    double *p;   /* r x n: the right factor of the product being made */
    double *sum; /* r x (c + 1): sums of the classes, then of all samples */
    rlar_partials partials;
} scatter;

static void scatter_carve(rlar_workspace *ws, scatter *s) {
    size_t column = 0;
    if (!rlar__size_mul((size_t)s->r, sizeof(double), &column))
        ws->overflow = true;
    rlar__graph_carve(ws, s->groups, s->k, &s->graph);
    s->m = rlar__carve(ws, s->groups->n, column);
    s->p = rlar__carve(ws, s->groups->n, column);
    s->sum = rlar__carve(ws, s->groups->c + 1, column);
    rlar__partials_carve(ws, s->groups->n, s->r, s->r, &s->partials);
}

/* Distance to the k-th mate; 0 without mates. */
static double scale_of(const scatter *s, int64_t i) {
    const int64_t count = rlar__graph_count(s->groups, s->k, i);
    return count > 0 ? s->graph.distance[i * s->graph.stride + count - 1] : 0.0;
}

static double affinity(const scatter *s, int64_t i, int64_t j) {
    if (s->k == 0)
        return 1.0;
    const double scale = scale_of(s, i) * scale_of(s, j);
    const double d2 = rlar__distance2(s->r, s->z + i * s->r, s->z + j * s->r);
    return scale > 0.0 ? exp(-d2 / scale) : 0.0;
}

/* m_i; the pair (i, i) adds nothing. */
static void local_difference(const scatter *s, int64_t i) {
    const int32_t c = s->groups->label[i];
    const double *zi = s->z + i * s->r;
    double *m = s->m + i * s->r;
    memset(m, 0, (size_t)s->r * sizeof *m);
    for (int64_t j = s->groups->first[c]; j < s->groups->first[c + 1]; j++) {
        const double a = j == i ? 0.0 : affinity(s, i, j);
        const double *zj = s->z + j * s->r;
        if (a == 0.0)
            continue;
        for (int64_t e = 0; e < s->r; e++)
            m[e] += a * (zi[e] - zj[e]);
    }
}

static rlar_status difference_task(void *arg, int64_t task) {
    const scatter *s = arg;
    const int64_t start = task * SAMPLES_PER_TASK;
    for (int64_t i = start; i < start + SAMPLES_PER_TASK && i < s->groups->n; i++)
        local_difference(s, i);
    return RLAR_OK;
}

static void class_sums(const scatter *s) {
    const int64_t r = s->r, c = s->groups->c;
    double *all = s->sum + c * r;
    memset(s->sum, 0, (size_t)((c + 1) * r) * sizeof *s->sum);
    for (int64_t i = 0; i < s->groups->n; i++)
        for (int64_t e = 0; e < r; e++)
            s->sum[s->groups->label[i] * r + e] += s->z[i * r + e];
    for (int64_t i = 0; i < c; i++)
        for (int64_t e = 0; e < r; e++)
            all[e] += s->sum[i * r + e];
}

static double class_size(const scatter *s, int64_t i) {
    const int32_t c = s->groups->label[i];
    return (double)(s->groups->first[c + 1] - s->groups->first[c]);
}

static rlar_status within(rlar_ctx *ctx, const scatter *s, double *sw) {
    for (int64_t i = 0; i < s->groups->n; i++)
        for (int64_t e = i * s->r; e < (i + 1) * s->r; e++)
            s->p[e] = s->m[e] / class_size(s, i);
    return rlar__gram_outer(ctx, &s->partials, s->r, s->groups->n, s->z, s->p, sw);
}

static rlar_status between(rlar_ctx *ctx, const scatter *s, double *sb) {
    const int64_t r = s->r;
    const double n = (double)s->groups->n, *all = s->sum + s->groups->c * r;
    for (int64_t i = 0; i < s->groups->n; i++) {
        const double nc = class_size(s, i), *own = s->sum + s->groups->label[i] * r;
        for (int64_t e = 0; e < r; e++)
            s->p[i * r + e] = s->m[i * r + e] * (1.0 / n - 1.0 / nc) +
                              (1.0 - nc / n) * s->z[i * r + e] + (own[e] - all[e]) / n;
    }
    return rlar__gram_outer(ctx, &s->partials, r, s->groups->n, s->z, s->p, sb);
}

rlar_status rlar__local_scatter(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t r,
                                const double *z, double *sw, double *sb) {
    scatter s = {.groups = groups, .k = k, .r = r, .z = z};
    const int64_t tasks = (groups->n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK;
    rlar_workspace ws = {0};
    scatter_carve(&ws, &s);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the local scatters"));
    scatter_carve(&ws, &s);
    rlar_status status = rlar__graph_nearest(ctx, groups, k, r, z, &s.graph);
    if (status >= 0)
        status = rlar__parallel(ctx, tasks, difference_task, &s);
    class_sums(&s);
    if (status >= 0 && sw)
        status = within(ctx, &s, sw);
    if (status >= 0)
        status = between(ctx, &s, sb);
    rlar__workspace_free(&ws);
    return status;
}

int64_t rlar__local_scatter_bytes(const rlar_groups *groups, int64_t k, int64_t r) {
    scatter s = {.groups = groups, .k = k, .r = r};
    rlar_workspace ws = {0};
    scatter_carve(&ws, &s);
    return (int64_t)ws.used;
}

double rlar__local_scatter_flops(const rlar_groups *groups, int64_t r) {
    double pairs = 0.0;
    for (int64_t i = 0; i < groups->c; i++) {
        const double count = (double)(groups->first[i + 1] - groups->first[i]);
        pairs += count * count;
    }
    return 8.0 * (double)r * pairs + 2.0 * (double)groups->n * (double)r * (double)r;
}
