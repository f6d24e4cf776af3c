/* matrices.c - what RLAR has learned beside the map: T, V and S of its training samples.
 *
 * The model keeps the outputs of the training samples, grouped by class, and T, V and S at the end
 * of Algorithm 1 follow from these: (22) with (25), (18) with (19), and S = V / G with K inside
 * [N1]. Nothing more is stored. */
#include "core/core.h"
#include "graph/knn.h"
#include "model/model.h"
#include "solver/retarget.h"

#include <string.h>

/* The parameter k of the model; 0, and what cannot be read, is the paper's rule. */
static int64_t neighbours_of(const rlar_model *m, const rlar_groups *groups) {
    int64_t k = 0;
    for (int64_t i = 0; i < m->param_names.count; i++) {
        const char *value = rlar__texts_at(&m->param_values, i);
        if (strcmp(rlar__texts_at(&m->param_names, i), "k") == 0 && value)
            (void)rlar__parse_int64(value, strlen(value), &k);
    }
    return k > 0 ? k : rlar__graph_rule(groups);
}

static void targets(const rlar_model *m, int64_t first, int64_t count, double *t) {
    for (int64_t i = 0; i < count; i++)
        rlar__retarget_row(m->c, m->z + (first + i) * m->p, m->z_class[first + i], t + i * m->c);
}

/* V and S of the samples asked for, from the lists of all. Neighbours have no distance 0 in S:
 * 0/0 is 0 there. */
static void edges(const rlar_groups *groups, int64_t k, const rlar_graph *graph, int64_t first,
                  int64_t count, double *v, double *s) {
    memset(v, 0, (size_t)(count * count) * sizeof *v);
    memset(s, 0, (size_t)(count * count) * sizeof *s);
    for (int64_t i = 0; i < count; i++) {
        const int64_t many = rlar__graph_count(groups, k, first + i);
        const int64_t start = (first + i) * graph->stride;
        for (int64_t e = start; e < start + many; e++) {
            const int64_t j = graph->neighbour[e] - first;
            if (j < 0 || j >= count)
                continue;
            v[i * count + j] = 1.0;
            if (graph->distance[e] > 0.0)
                s[i * count + j] = 1.0 / ((double)k * graph->distance[e]);
        }
    }
}

static rlar_status learn_edges(rlar_ctx *ctx, const rlar_model *m, const rlar_groups *groups,
                               int64_t first, int64_t count, double *v, double *s) {
    const int64_t k = neighbours_of(m, groups);
    rlar_workspace ws = {0};
    rlar_graph graph;
    rlar__graph_carve(&ws, groups, k, &graph);
    RLAR_TRY(rlar__workspace_take(ctx, &ws, "the neighbours"));
    rlar__graph_carve(&ws, groups, k, &graph);
    const rlar_status status = rlar__graph_nearest(ctx, groups, k, m->p, m->z, &graph);
    if (status >= 0)
        edges(groups, k, &graph, first, count, v, s);
    rlar__workspace_free(&ws);
    return status;
}

static rlar_status check(rlar_ctx *ctx, const rlar_model *m, int64_t first, int64_t count) {
    if (!m->method || strcmp(m->method, "rlar") != 0 || m->p != m->c)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "a model of %s has no matrices T, V and S; fit one of rlar",
                          m->method ? m->method : "no method");
    if (first < 0 || count < 1 || first > m->n || count > m->n - first)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_model_matrices: %lld samples from number %lld on; the model was "
                          "trained on %lld",
                          (long long)count, (long long)first, (long long)m->n);
    for (int64_t i = 1; i < m->n; i++)
        if (m->z_class[i] < m->z_class[i - 1])
            return rlar__fail(ctx, RLAR_E_MODEL,
                              "the training samples of the model are not grouped by class (number "
                              "%lld); it was not made by rlar",
                              (long long)i + 1);
    return RLAR_OK;
}

rlar_status rlar_model_matrices(rlar_ctx *ctx, const rlar_model *model, int64_t first,
                                int64_t count, double *t, double *v, double *s) {
    int64_t *start = NULL;
    if (!ctx || !model || !t || !v || !s)
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_model_matrices: every argument is needed");
    rlar__begin(ctx);
    RLAR_TRY(check(ctx, model, first, count));
    RLAR_TRY(rlar__calloc(ctx, model->c + 1, sizeof *start, "the classes", &start));
    for (int64_t i = 0; i < model->n; i++)
        start[model->z_class[i] + 1]++;
    for (int64_t i = 0; i < model->c; i++)
        start[i + 1] += start[i];
    const rlar_groups groups = {
        .n = model->n, .c = model->c, .first = start, .label = model->z_class};
    const rlar_status status = learn_edges(ctx, model, &groups, first, count, v, s);
    if (status >= 0)
        targets(model, first, count, t);
    rlar__free(start);
    return status;
}
