/* cmd_fit.c - rlar fit: learn a model, report, and write it.
 *
 * The trace is collected while the fit runs and written afterwards, so that an interrupted or
 * failed fit leaves no file behind. Model and trace appear together or not at all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

#define TRACE_COLUMNS "iteration,objective,smoothed,regression,sparsity,locality,seconds"

/* What is kept of the iterations: the lines of --trace, and what ranks have said. */
typedef struct trace {
    rlar_info *row;
    int64_t count, capacity;
    cli_traffic traffic;
} trace;

/* Called by the library after every iteration. */
static void on_iteration(cli *c, const rlar_info *info, void *user) {
    trace *t = user;
    cli_traffic_note(c, info, &t->traffic);
    if (c->args.verbose > 0)
        cli_note(
            c,
            "iteration %lld: objective %.10g = regression %.6g + sparsity %.6g + locality %.6g, "
            "%.2f s",
            (long long)info->iterations, info->objective, info->regression, info->sparsity,
            info->locality, info->seconds);
    if (c->args.trace == NULL)
        return;
    if (t->count == t->capacity) {
        t->capacity = t->capacity > 0 ? 2 * t->capacity : 64;
        rlar_info *grown = cli_alloc((size_t)t->capacity * sizeof *grown);
        if (t->count > 0)
            memcpy(grown, t->row, (size_t)t->count * sizeof *grown);
        free(t->row);
        t->row = grown;
    }
    t->row[t->count++] = *info;
}

/* Numbers are written so that they read back exactly; a method without an objective has nan. The
 * last column is there for solvers that have one. */
static rlar_status write_trace_rows(rlar_file *file, const trace *t) {
    const bool gradient = t->count > 0 && t->row[0].gradient == t->row[0].gradient;
    const char *header = gradient ? TRACE_COLUMNS ",gradient\n" : TRACE_COLUMNS "\n";
    rlar_status status = rlar_file_write(file, header, strlen(header));
    for (int64_t i = 0; i < t->count && status >= 0; i++) {
        const rlar_info *r = &t->row[i];
        const double value[] = {r->objective, r->smoothed, r->regression, r->sparsity,
                                r->locality,  r->seconds,  r->gradient};
        const size_t columns = sizeof value / sizeof value[0] - (gradient ? 0 : 1);
        char line[256], number[CLI_NUMBER_SIZE];
        int used = snprintf(line, sizeof line, "%lld", (long long)r->iterations);
        for (size_t j = 0; j < columns; j++)
            used += snprintf(line + used, sizeof line - (size_t)used, ",%s",
                             cli_number(value[j], number));
        line[used] = '\n';
        status = rlar_file_write(file, line, (size_t)used + 1);
    }
    return status;
}

static int make_trace(cli *c, const trace *t, rlar_file **file) {
    const int code = cli_check(c, rlar_file_create(c->ctx, c->args.trace, file));
    return code == 0 ? cli_check(c, write_trace_rows(*file, t)) : code;
}

static int make_model(cli *c, const rlar_model *model, rlar_file **file) {
    void *bytes = NULL;
    size_t size = 0;
    int code = cli_check(c, rlar_model_save_bytes(c->ctx, model, &bytes, &size));
    if (code == 0)
        code = cli_check(c, rlar_file_create(c->ctx, c->args.output, file));
    if (code == 0)
        code = cli_check(c, rlar_file_write(*file, bytes, size));
    rlar_bytes_free(c->ctx, bytes);
    return code;
}

static int commit(cli *c, rlar_file *lines, rlar_file *model) {
    if (lines != NULL && model != NULL)
        return cli_check(c, rlar_file_commit_both(lines, model));
    if (lines != NULL)
        return cli_check(c, rlar_file_commit(lines));
    return model != NULL ? cli_check(c, rlar_file_commit(model)) : 0;
}

/* Those that are asked for. */
static int write_files(cli *c, const rlar_model *model, const trace *t) {
    rlar_file *lines = NULL, *saved = NULL;
    int code = c->args.output != NULL ? make_model(c, model, &saved) : 0;
    if (code == 0 && c->args.trace != NULL)
        code = make_trace(c, t, &lines);
    if (code != 0) {
        rlar_file_abort(lines);
        rlar_file_abort(saved);
        return code;
    }
    code = commit(c, lines, saved);
    if (code == 0 && c->args.output != NULL)
        cli_note(c, "wrote %s", c->args.output);
    if (code == 0 && c->args.trace != NULL)
        cli_note(c, "wrote %s", c->args.trace);
    return code;
}

/* Share of training samples that the nearest centroid gets right. */
static int train_accuracy(cli *c, const rlar_model *model, double *out) {
    rlar_predict_options options = RLAR_INIT(rlar_predict_options);
    options.classifier = "centroid";
    return cli_check(c, rlar_training_accuracy(c->ctx, model, &options, out));
}

/* ---- reports ---- */

static const char *path_name(int dual) {
    return dual ? "dual" : "primal";
}

/* The keys that fit and its dry run share. */
static json_t *json_head(const cli_data *data, const rlar_params *params) {
    json_t *root = json_object();
    cli_json_set(root, "method", cli_json_text(rlar_params_method(params)->name));
    cli_json_set(root, "params", cli_json_params(params));
    cli_json_set(root, "n", json_integer(data->samples));
    cli_json_set(root, "d", json_integer(data->dims));
    cli_json_set(root, "classes", json_integer(data->classes));
    return root;
}

/* The keys are fixed: scripts rely on them. */
static void report_json(cli *c, const cli_data *data, const rlar_params *params,
                        const rlar_info *info, double accuracy, const rlar_forecast *forecast,
                        const cli_traffic *traffic) {
    json_t *root = json_head(data, params), *terms = json_object();
    cli_json_set(root, "iterations", json_integer(info->iterations));
    cli_json_set(root, "objective", cli_json_number(info->objective));
    cli_json_set(terms, "regression", cli_json_number(info->regression));
    cli_json_set(terms, "sparsity", cli_json_number(info->sparsity));
    cli_json_set(terms, "locality", cli_json_number(info->locality));
    cli_json_set(root, "terms", terms);
    cli_json_set(root, "converged", json_boolean(info->converged));
    if (info->gradient == info->gradient) /* only solvers that have one */
        cli_json_set(root, "gradient", cli_json_number(info->gradient));
    cli_json_set(root, "path", cli_json_text(path_name(info->dual)));
    cli_json_set(root, "seconds", cli_json_number(info->seconds));
    cli_json_set(root, "train_accuracy", cli_json_number(accuracy));
    cli_traffic_json(c, forecast, traffic, root);
    cli_json_set(root, "model", cli_json_text(c->args.output));
    cli_json_print(c, root);
}

/* The lines that the report and the dry run share. */
static void text_head(cli *c, const cli_data *data, const rlar_params *params) {
    char *line = cli_params_line(params);
    const rlar_method_def *method = rlar_params_method(params);
    cli_printf(c, "data        %s: %lld samples, %lld features, %lld classes\n", data->name,
               (long long)data->samples, (long long)data->dims, (long long)data->classes);
    cli_printf(c, "method      %s (%s)\n", method->name, method->title);
    cli_printf(c, "parameters  %s\n", *line != '\0' ? line : "none");
    cli_printf(c, "scaling     %s\n", cli_scale(c));
    free(line);
}

/* Iterations only where the method iterates, the three terms only where it has any. */
static void text_objective(cli *c, const rlar_info *info) {
    if (info->objective != info->objective)
        return;
    cli_printf(c, "objective   %.6g", info->objective);
    if (info->iterations > 1 || !info->converged)
        cli_printf(c, " after %lld iteration%s%s", (long long)info->iterations,
                   info->iterations == 1 ? "" : "s", info->converged ? ", converged" : "");
    if (info->regression != 0 || info->sparsity != 0 || info->locality != 0)
        cli_printf(c, " (regression %.4g, sparsity %.4g, locality %.4g)", info->regression,
                   info->sparsity, info->locality);
    cli_printf(c, "\n");
}

static void report_text(cli *c, const cli_data *data, const rlar_params *params,
                        const rlar_info *info, double accuracy) {
    text_head(c, data, params);
    text_objective(c, info);
    cli_printf(c, "time        %.3f s, %s solve\n", info->seconds, path_name(info->dual));
    cli_printf(c, "training    %.1f %% right by nearest centroid\n", 100 * accuracy);
    cli_printf(c, "model       %s\n",
               c->args.output != NULL ? c->args.output : "not written (use -o MODEL)");
}

/* What the fit would need, without fitting. */
static int dry_run(cli *c, const cli_data *data, const rlar_params *params,
                   const rlar_fit_options *options) {
    char buf[CLI_NUMBER_SIZE];
    rlar_forecast forecast = RLAR_INIT(rlar_forecast);
    const int code =
        cli_check(c, rlar_fit_forecast(c->ctx, data->data, params, options, &forecast));
    if (code != 0)
        return code;
    if (c->args.json > 0) {
        json_t *root = json_head(data, params);
        cli_json_set(root, "path", cli_json_text(path_name(forecast.dual)));
        cli_json_set(root, "bytes", json_integer(forecast.bytes_own));
        cli_json_set(root, "flops", cli_json_number(forecast.flops));
        cli_traffic_forecast_json(c, &forecast, root);
        cli_json_print(c, root);
        return 0;
    }
    text_head(c, data, params);
    cli_printf(c, "path        %s\n", path_name(forecast.dual));
    cli_printf(c, "memory      %s beside the data\n", cli_bytes((double)forecast.bytes_own, buf));
    cli_printf(c, "work        %.3g floating-point operations\n", forecast.flops);
    cli_traffic_forecast_text(c, &forecast);
    return 0;
}

/* ---- the verb ---- */

/* The fit's own warnings, when the log has not told them already. */
static void tell_warning(cli *c, rlar_status status, int64_t warned_before) {
    const char *text = rlar_ctx_error(c->ctx);
    if (status > 0 && c->warnings == warned_before)
        cli_warn(c, "%s", text[0] != '\0' ? text : rlar_status_text(status));
}

/* What follows from the model of all samples. Nothing is printed on standard output until the files
 * are written. */
static int finish(cli *c, const cli_data *data, const rlar_params *params, const rlar_model *model,
                  const rlar_info *info, const trace *t, const rlar_forecast *forecast) {
    double accuracy = 0;
    int code = train_accuracy(c, model, &accuracy);
    if (code == 0 && cli_interrupted())
        code = cli_error(c, CODE_INTERRUPTED, "interrupted");
    if (code == 0)
        code = write_files(c, model, t);
    if (code == 0 && c->args.checkpoint != NULL && unlink(c->args.checkpoint) != 0 &&
        errno != ENOENT) /* there is none after a short fit */
        cli_warn(c, "%s: the checkpoint is not needed any more and cannot be removed: %s",
                 c->args.checkpoint, strerror(errno));
    if (code == 0 && c->args.json > 0)
        report_json(c, data, params, info, accuracy, forecast, &t->traffic);
    else if (code == 0)
        report_text(c, data, params, info, accuracy);
    return code;
}

/* Over ranks all have the map, and rank 0 has the rest of the model. The samples end with it. */
static int fit(cli *c, cli_data *data, const rlar_params *params, const rlar_fit_options *options) {
    trace t = {0};
    rlar_model *model = NULL;
    rlar_info info = RLAR_INIT(rlar_info);
    rlar_forecast forecast = RLAR_INIT(rlar_forecast);
    const int64_t warned = c->warnings;
    int code = 0;
    if (c->team != NULL) /* beside what will be counted */
        code = cli_check(c, rlar_fit_forecast(c->ctx, data->data, params, options, &forecast));
    if (code != 0)
        return code;
    c->on_iteration = on_iteration;
    c->on_iteration_user = &t;
    c->started = cli_now();
    const rlar_status status = rlar_fit_own(c->ctx, &data->data, params, options, &model, &info);
    c->on_iteration = NULL;
    c->on_iteration_user = NULL;
    code = cli_check(c, status);
    tell_warning(c, status, warned);
    if (code == 0)
        code = cli_traffic_collect(c, &t.traffic);
    if (code == 0 && cli_rank(c) == 0)
        code = finish(c, data, params, model, &info, &t, &forecast);
    free(t.row);
    rlar_model_free(model);
    return code;
}

/* The files are made at the end; that they can be is seen before an hour of fitting. */
static int check_outputs(cli *c) {
    const char *model = c->args.output, *lines = c->args.trace, *kept = c->args.checkpoint;
    int code = cli_out_alone(c, "-o", "a model", model);
    if (code == 0)
        code = cli_out_alone(c, "--trace", "a trace", lines);
    if (code == 0)
        code = cli_out_alone(c, "--checkpoint", "a checkpoint", kept);
    if (code != 0)
        return code;
    if (model != NULL && lines != NULL && cli_same_path(model, lines))
        return cli_usage(c, "-o and --trace are the same file, %s; name two", model);
    if (kept != NULL && ((model != NULL && cli_same_path(kept, model)) ||
                         (lines != NULL && cli_same_path(kept, lines))))
        return cli_usage(c, "--checkpoint and %s are the same file; name two", kept);
    if (c->args.dry_run > 0)
        return 0;
    code = cli_out_probe(c, model);
    code = code == 0 ? cli_out_probe(c, lines) : code;
    return code == 0 ? cli_out_probe(c, kept) : code;
}

/* Who solves the systems: together, ranks have other last digits than one process. */
static int choose_solve(cli *c, rlar_solve *out) {
    *out = (rlar_solve)c->args.solve;
    if (*out == RLAR_SOLVE_DISTRIBUTED && !cli_has_ranks)
        return cli_usage(c, "--solve distributed: %s is one process; use rlar-mpi with mpirun",
                         cli_program);
    if (*out == RLAR_SOLVE_DISTRIBUTED && c->args.deterministic > 0)
        return cli_usage(c, "--solve distributed has other last digits than one process; leave "
                            "--deterministic out");
    if (c->args.deterministic > 0)
        *out = RLAR_SOLVE_REPLICATED;
    return 0;
}

int cli_cmd_fit(cli *c) {
    const char *method = c->args.method != NULL ? c->args.method : "rlar";
    rlar_params *params = NULL;
    cli_data data = {0};
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    options.scale = cli_scale(c);
    options.checkpoint = c->args.checkpoint;
    options.checkpoint_every = c->args.every;
    int code = choose_solve(c, &options.solve);
    if (code == 0)
        code = cli_params_make(c, &method, 1, &params);
    if (code == 0)
        code = cli_check(c, rlar_scale_check(c->ctx, options.scale));
    if (code == 0)
        code = check_outputs(c);
    if (code == 0)
        code = cli_check(c, rlar_ctx_join(c->ctx, c->team));
    if (code == 0)
        code = cli_parts_load(c, &data);
    if (code == 0)
        code = cli_need_labels(c, &data);
    if (code == 0)
        code = c->args.dry_run > 0 ? dry_run(c, &data, params, &options)
                                   : fit(c, &data, params, &options);
    cli_data_free(&data);
    rlar_params_free(params);
    return code;
}
