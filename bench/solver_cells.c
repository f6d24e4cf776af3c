/* solver_cells.c - RLAR's solvers on every cell of the paper's grid, on the first split of a data
 * set.
 *
 *     solver_cells DATA PER_CLASS [--path | --cell ALPHA BETA] SOLVER[,NAME=VALUE...]...
 *
 * One line of JSON per cell and solver: objective, seconds of the fit (wall and CPU time of the
 * process), accuracy of 1-NN on the rest. The solvers take turns cell by cell, on one thread. The
 * splits are those of `rlar evaluate` (seed 1, trial 0). With --cell that one cell only, and a line
 * for every iteration before it. With --path each fit starts from the one before it along beta. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eval/split.h"
#include "rlar.h"

static const char *const GRID[] = {"0.001", "0.005", "0.01", "0.05", "0.1",
                                   "0.5",   "1",     "10",   "100",  "1000"};
enum { VALUES = sizeof GRID / sizeof GRID[0] };

typedef struct bench {
    rlar_ctx *ctx;
    rlar_data *data;
    rlar_labels labels;
    rlar_part part;
    int64_t *found; /* classes of the test part */
    bool trace;
} bench;

/* One line per iteration. */
static int on_event(void *user, const rlar_event *event) {
    const bench *b = user;
    if (b->trace && event->kind == RLAR_EVENT_ITERATION)
        printf("{\"iteration\": %lld, \"objective\": %.12g, \"seconds\": %.6f}\n",
               (long long)event->done, event->info->objective, event->info->seconds);
    return 0;
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double wall_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* "minimise,tol=1e-5": the solver, then other parameters. */
static rlar_status set_solver(rlar_ctx *ctx, rlar_params *params, const char *text) {
    char list[256], *rest = NULL;
    snprintf(list, sizeof list, "%s", text);
    char *word = strtok_r(list, ",", &rest);
    rlar_status status = rlar_params_set(ctx, params, "solver", word ? word : "");
    while (status >= 0 && (word = strtok_r(NULL, ",", &rest)) != NULL) {
        char *value = strchr(word, '=');
        if (!value)
            return RLAR_E_ARG;
        *value = '\0';
        status = rlar_params_set(ctx, params, word, value + 1);
    }
    return status;
}

static double accuracy_of(const bench *b, const rlar_model *model) {
    rlar_predict_options options = RLAR_INIT(rlar_predict_options);
    options.rows = b->part.test;
    options.n_rows = b->part.n_test;
    if (rlar_predict(b->ctx, model, b->data, &options, b->found, NULL) < 0)
        return -1.0;
    int64_t right = 0;
    for (int64_t i = 0; i < b->part.n_test; i++)
        right += b->found[i] == b->labels.label[b->part.test[i]];
    return (double)right / (double)b->part.n_test;
}

/* *from: the model to start from, or NULL; then the model, if from is not NULL. */
static rlar_status run_cell(const bench *b, const char *alpha, const char *beta, const char *solver,
                            rlar_model **from) {
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    rlar_info info = RLAR_INIT(rlar_info);
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    options.rows = b->part.train;
    options.n_rows = b->part.n_train;
    options.scale = RLAR_SCALE_PAPER;
    options.start = from ? *from : NULL;
    rlar_status status = rlar_params_new(b->ctx, "rlar", &params);
    if (status >= 0)
        status = rlar_params_preset(b->ctx, params, "paper");
    if (status >= 0)
        status = rlar_params_set(b->ctx, params, "alpha", alpha);
    if (status >= 0)
        status = rlar_params_set(b->ctx, params, "beta", beta);
    if (status >= 0)
        status = set_solver(b->ctx, params, solver);
    const double wall = wall_seconds(), cpu = cpu_seconds();
    if (status >= 0)
        status = rlar_fit(b->ctx, b->data, params, &options, &model, &info);
    const double wall_used = wall_seconds() - wall, cpu_used = cpu_seconds() - cpu;
    if (status >= 0) {
        printf("{\"alpha\": %s, \"beta\": %s, \"solver\": \"%s\", \"objective\": %.12g, "
               "\"wall\": %.6f, \"cpu\": %.6f, \"iterations\": %lld, \"steps\": %lld, "
               "\"converged\": %s, \"accuracy\": %.6f}\n",
               alpha, beta, solver, info.objective, wall_used, cpu_used, (long long)info.iterations,
               (long long)info.steps, info.converged ? "true" : "false", accuracy_of(b, model));
        fflush(stdout);
    }
    rlar_model_free(from ? *from : model);
    if (from)
        *from = model;
    rlar_params_free(params);
    return status;
}

static rlar_status run_path(const bench *b, const char *solver) {
    rlar_status status = RLAR_OK;
    for (int i = 0; i < VALUES && status >= 0; i++) {
        rlar_model *model = NULL;
        for (int j = 0; j < VALUES && status >= 0; j++)
            status = run_cell(b, GRID[i], GRID[j], solver, &model);
        rlar_model_free(model);
    }
    return status;
}

static rlar_status run_one(const bench *b, const char *alpha, const char *beta, int solvers,
                           char **solver) {
    rlar_status status = RLAR_OK;
    for (int k = 0; k < solvers && status >= 0; k++)
        status = run_cell(b, alpha, beta, solver[k], NULL);
    return status;
}

static rlar_status run_all(const bench *b, int solvers, char **solver) {
    for (int i = 0; i < VALUES; i++)
        for (int j = 0; j < VALUES; j++) {
            const rlar_status status = run_one(b, GRID[i], GRID[j], solvers, solver);
            if (status < 0)
                return status;
        }
    return RLAR_OK;
}

static rlar_status open_bench(bench *b, const char *path, const char *per_class) {
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 1;
    options.progress = on_event;
    options.user = b;
    rlar_status status = rlar_ctx_new(&options, &b->ctx);
    if (status >= 0)
        status = rlar_data_read(b->ctx, path, NULL, &b->data);
    if (status >= 0)
        status = rlar__labels_of(b->ctx, b->data, &b->labels);
    if (status < 0)
        return status;
    const rlar_split_rule rule = {
        .kind = RLAR_SPLIT_PER_CLASS, .per_class = atoll(per_class), .seed = 1};
    b->found = calloc((size_t)b->labels.n, sizeof *b->found);
    if (!b->found)
        return RLAR_E_NOMEM;
    status = rlar__split_check(b->ctx, &b->labels, &rule);
    return status < 0 ? status
                      : rlar__split_make(b->ctx, &b->labels, rlar__data_id(&b->labels), &rule, 0,
                                         &b->part);
}

int main(int argc, char **argv) {
    bench b = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: solver_cells DATA PER_CLASS [--path | --cell ALPHA BETA] "
                        "SOLVER[,NAME=VALUE...]...\n");
        return 2;
    }
    b.trace = argc > 6 && strcmp(argv[3], "--cell") == 0;
    rlar_status status = open_bench(&b, argv[1], argv[2]);
    const bool path = strcmp(argv[3], "--path") == 0;
    for (int k = 4; path && k < argc && status >= 0; k++)
        status = run_path(&b, argv[k]);
    if (!path && status >= 0)
        status = b.trace ? run_one(&b, argv[4], argv[5], argc - 6, argv + 6)
                         : run_all(&b, argc - 3, argv + 3);
    if (status < 0)
        fprintf(stderr, "solver_cells: %s\n", b.ctx ? rlar_ctx_error(b.ctx) : "no context");
    rlar__part_free(&b.part);
    rlar_data_free(b.data);
    rlar_ctx_free(b.ctx);
    free(b.found);
    return status < 0;
}
