/* local_scatter.c - LFDA's scatters, class by class, without any n x n matrix.
 *
 * With m_i = sum_j A_ij (z_i - z_j) over the class of i, n_c its size, s_c its sum, s the sum of
 * all,
 *   S_w = sum_i z_i (m_i / n_c)^T
 *   S_b = sum_i z_i (m_i (1/n - 1/n_c) + (1 - n_c/n) z_i + (s_c - s)/n)^T
 * so both are one product of Z with an r x n matrix. The m_i are made of differences. A of a class
 * with n_c <= r fits into the room of that matrix and is made once for both ends of a pair; of a
 * larger one an entry lives only while it is used. 4 r sum n_c^2 + 2 n r^2 operations. */
#include "solver/local_scatter.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

enum { SAMPLES_PER_TASK = 16 };

typedef struct scatter {
    const rlar_groups *groups;
    int64_t k, r;
    const double *z;
    rlar_graph made;         /* where none was given */
    const rlar_graph *graph; /* whose distances are the scales */
    double *m;               /* r x n: the m_i */
    double *p;   /* r x n: first A_ij, then the right factor of the product being made */
    double *sum; /* r x (c + 1): sums of the classes, then of all samples */
    rlar_partials partials;
} scatter;

static void scatter_carve(rlar_workspace *ws, scatter *s) {
    size_t column = 0;
    if (!rlar__size_mul((size_t)s->r, sizeof(double), &column))
        ws->overflow = true;
    if (!s->graph || s->graph == &s->made) {
        rlar__graph_carve(ws, s->groups, s->k, &s->made);
        s->graph = &s->made;
    }
    s->m = rlar__carve(ws, s->groups->n, column);
    s->p = rlar__carve(ws, s->groups->n, column);
    s->sum = rlar__carve(ws, s->groups->c + 1, column);
    rlar__partials_carve(ws, s->groups->n, s->r, s->r, &s->partials);
}

/* Distance to the k-th mate; 0 without mates. */
static double scale_of(const scatter *s, int64_t i) {
    const int64_t count = rlar__graph_count(s->groups, s->k, i);
    return count > 0 ? s->graph->distance[i * s->graph->stride + count - 1] : 0.0;
}

static double affinity(const scatter *s, int64_t i, int64_t j) {
    if (s->k == 0)
        return 1.0;
    const double scale = scale_of(s, i) * scale_of(s, j);
    const double d2 = rlar__distance2(s->r, s->z + i * s->r, s->z + j * s->r);
    return scale > 0.0 ? exp(-d2 / scale) : 0.0;
}

/* The entry of p that holds A_ij, i < j, or NULL where the class has no room in it. */
static double *entry(const scatter *s, int64_t i, int64_t j) {
    const int64_t *first = s->groups->first + s->groups->label[i];
    return first[1] - first[0] <= s->r ? s->p + i * s->r + (j - first[0]) : NULL;
}

/* A_ij for all j > i of the class. */
static void note_affinities(const scatter *s, int64_t i) {
    const int64_t end = s->groups->first[s->groups->label[i] + 1];
    for (int64_t j = i + 1; j < end && entry(s, i, j); j++)
        *entry(s, i, j) = affinity(s, i, j);
}

static double noted_affinity(const scatter *s, int64_t i, int64_t j) {
    const double *noted = i < j ? entry(s, i, j) : entry(s, j, i);
    return noted ? *noted : affinity(s, i, j);
}

/* m += sum a_k (z - z_k) over four mates, in their order: m is read and written once for all. */
RLAR_SIMD
static void add_differences(int64_t r, const double *restrict z, const double *const mate[4],
                            const double a[4], double *restrict m) {
    const double *restrict z0 = mate[0], *restrict z1 = mate[1], *restrict z2 = mate[2],
                           *restrict z3 = mate[3];
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    for (int64_t e = 0; e < r; e++)
        m[e] = (((m[e] + a0 * (z[e] - z0[e])) + a1 * (z[e] - z1[e])) + a2 * (z[e] - z2[e])) +
               a3 * (z[e] - z3[e]);
}

/* m_i; the pair (i, i) adds nothing. */
static void local_difference(const scatter *s, int64_t i) {
    const int64_t r = s->r, end = s->groups->first[s->groups->label[i] + 1];
    const double *z = s->z + i * r;
    double *m = s->m + i * r;
    memset(m, 0, (size_t)r * sizeof *m);
    for (int64_t j = s->groups->first[s->groups->label[i]]; j < end;) {
        const double *mate[4] = {z, z, z, z};
        double a[4] = {0};
        for (int have = 0; have < 4 && j < end; j++) {
            const double part = j == i ? 0.0 : noted_affinity(s, i, j);
            if (part == 0.0)
                continue;
            mate[have] = s->z + j * r;
            a[have++] = part;
        }
        add_differences(r, z, mate, a, m);
    }
}

typedef void (*per_sample)(const scatter *s, int64_t i);

typedef struct job {
    const scatter *s;
    per_sample step;
} job;

static rlar_status samples_task(void *arg, int64_t start, int64_t end) {
    const job *b = arg;
    for (int64_t i = start; i < end; i++)
        b->step(b->s, i);
    return RLAR_OK;
}

static rlar_status for_samples(rlar_ctx *ctx, const scatter *s, per_sample step) {
    job b = {.s = s, .step = step};
    return rlar__parallel_ranges(ctx, s->groups->n, SAMPLES_PER_TASK, samples_task, &b);
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

rlar_status rlar__local_scatter_by(rlar_ctx *ctx, const rlar_groups *groups, int64_t k,
                                   const rlar_graph *graph, int64_t r, const double *z, double *sw,
                                   double *sb) {
    scatter s = {.groups = groups, .k = k, .graph = graph, .r = r, .z = z};
    rlar_workspace ws = {0};
    scatter_carve(&ws, &s);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the local scatters"));
    scatter_carve(&ws, &s);
    rlar_status status = graph ? RLAR_OK : rlar__graph_nearest(ctx, groups, k, r, z, &s.made);
    if (status >= 0)
        status = for_samples(ctx, &s, note_affinities);
    if (status >= 0)
        status = for_samples(ctx, &s, local_difference);
    class_sums(&s);
    if (status >= 0 && sw)
        status = within(ctx, &s, sw);
    if (status >= 0)
        status = between(ctx, &s, sb);
    rlar__workspace_free(&ws);
    return status;
}

rlar_status rlar__local_scatter(rlar_ctx *ctx, const rlar_groups *groups, int64_t k, int64_t r,
                                const double *z, double *sw, double *sb) {
    return rlar__local_scatter_by(ctx, groups, k, NULL, r, z, sw, sb);
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
