/* driver.c - the library's side of the benchmark: one process that fits, predicts, reads and
 * evaluates on command, so that neither process start nor reading is in a measurement that is not
 * about them, and so that the runner can alternate it with its peers.
 *
 *   info                                                   kernel, library, version
 *   load   name= path= [format= label= threads=]           keep data under a name
 *   drop   name=
 *   fit    data= method= threads= [scale= rows= set=a:1,b:2]   the first `rows` samples only
 *   forecast  as fit                                       bytes, without fitting
 *   save   path=                                           the model of the last fit
 *   predict   data= threads= [classifier=]                 with the model of the last fit
 *   read   path= threads= [format= label=]                 read and forget
 *   grid, cells   data= per_class= trials= values=0.1:1 threads= [set=]   driver_grid.c
 *   limit, lines                                           limits.h
 *   memory                                                 largest resident size so far
 *
 * Parameters are the paper's but for `set`. Every answer is one line of JSON; `wall` and `cpu` are
 * seconds of the call alone. */
#include "driver.h"
#include "limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Contexts, data, parameters ---- */

static int note_iteration(void *user, const rlar_event *event) {
    bench_iterations *seen = user;
    if (event->kind != RLAR_EVENT_ITERATION)
        return 0;
    seen->last = bench_now();
    if (seen->count++ == 0)
        seen->first = seen->last;
    return 0;
}

rlar_ctx *bench_context(bench_driver *d, const bench_words *words) {
    const int64_t threads = bench_number(words, "threads", 1);
    if (threads < 1 || threads > BENCH_MOST_THREADS) {
        bench_fail("threads: not a number that the driver takes");
        return NULL;
    }
    if (!d->ctx[threads]) {
        rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
        options.threads = (int)threads;
        options.progress = note_iteration;
        options.user = &d->iterations;
        if (rlar_ctx_new(&options, &d->ctx[threads]) < 0)
            bench_fail("no context");
    }
    return d->ctx[threads];
}

static bench_slot *find_slot(bench_driver *d, const char *name) {
    for (int i = 0; i < BENCH_MOST_DATA; i++)
        if (d->slot[i].data && strcmp(d->slot[i].name, name) == 0)
            return &d->slot[i];
    return NULL;
}

rlar_data *bench_data(bench_driver *d, const bench_words *words) {
    bench_slot *s = find_slot(d, bench_text(words, "data", ""));
    if (!s)
        bench_fail("data: nothing is loaded under this name");
    return s ? s->data : NULL;
}

bool bench_worked(rlar_ctx *ctx, rlar_status status) {
    if (status < 0)
        bench_fail(rlar_ctx_error(ctx));
    return status >= 0;
}

/* "a:1,b:2" set one after another. */
static rlar_status set_all(rlar_ctx *ctx, rlar_params *params, const char *list) {
    char copy[1024], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        char *colon = strchr(word, ':');
        if (colon)
            *colon = '\0';
        const rlar_status status = rlar_params_set(ctx, params, word, colon ? colon + 1 : "");
        if (status < 0)
            return status;
    }
    return RLAR_OK;
}

rlar_params *bench_params(rlar_ctx *ctx, const bench_words *words) {
    rlar_params *params = NULL;
    rlar_status status = rlar_params_new(ctx, bench_text(words, "method", "rlar"), &params);
    if (status >= 0)
        status = rlar_params_preset(ctx, params, "paper");
    if (status >= 0)
        status = set_all(ctx, params, bench_text(words, "set", ""));
    if (bench_worked(ctx, status))
        return params;
    rlar_params_free(params);
    return NULL;
}

static rlar_status read_file(rlar_ctx *ctx, const bench_words *words, rlar_data **out) {
    rlar_read_options options = RLAR_INIT(rlar_read_options);
    options.format = bench_text(words, "format", NULL);
    options.label = bench_text(words, "label", NULL);
    return rlar_data_read(ctx, bench_text(words, "path", ""), &options, out);
}

static void put_shape(const rlar_data *data) {
    bench_put_int("n", rlar_data_samples(data));
    bench_put_int("d", rlar_data_dims(data));
    bench_put_int("c", rlar_data_classes(data));
}

/* ---- Commands ---- */

static const char *library_of(rlar_ctx *ctx) {
    rlar_blas_info blas = RLAR_INIT(rlar_blas_info);
    return rlar_blas_describe(ctx, &blas) < 0 ? "" : blas.library;
}

static void do_info(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    rlar_blas_info blas = RLAR_INIT(rlar_blas_info);
    if (!ctx || !bench_worked(ctx, rlar_blas_describe(ctx, &blas)))
        return;
    bench_begin();
    bench_put_text("version", rlar_version());
    bench_put_text("library", blas.library);
    bench_put_text("config", blas.config);
    bench_put_text("kernel", blas.kernel);
    bench_put_text("wanted", blas.wanted);
    bench_put_text("chosen", blas.chosen);
    bench_end();
}

static void do_load(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    bench_slot *s = NULL;
    for (int i = 0; i < BENCH_MOST_DATA && !s; i++)
        if (!d->slot[i].data)
            s = &d->slot[i];
    if (!ctx)
        return;
    if (!s) {
        bench_fail("load: too many data sets at once");
        return;
    }
    const bench_clock start = bench_now();
    if (!bench_worked(ctx, read_file(ctx, words, &s->data)))
        return;
    snprintf(s->name, sizeof s->name, "%s", bench_text(words, "name", ""));
    bench_begin();
    bench_put_clock(bench_since(start));
    put_shape(s->data);
    bench_end();
}

static void do_drop(bench_driver *d, const bench_words *words) {
    bench_slot *s = find_slot(d, bench_text(words, "name", ""));
    if (s) {
        rlar_data_free(s->data);
        s->data = NULL;
    }
    bench_begin();
    bench_end();
}

static void do_read(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    rlar_data *data = NULL;
    if (!ctx)
        return;
    const bench_clock start = bench_now();
    if (!bench_worked(ctx, read_file(ctx, words, &data)))
        return;
    const bench_clock spent = bench_since(start);
    const int64_t n = rlar_data_samples(data), dims = rlar_data_dims(data);
    double *row = malloc((size_t)dims * sizeof *row), sum = 0.0;
    for (int64_t i = 0; row && i < n; i++) {
        rlar_data_row(data, i, row);
        for (int64_t j = 0; j < dims; j++)
            sum += row[j];
    }
    free(row);
    bench_begin();
    bench_put_clock(spent);
    put_shape(data);
    bench_put_real("sum", sum);
    bench_end();
    rlar_data_free(data);
}

/* The numbers 0, 1, .. for `rows=`; NULL: all samples. */
static int64_t *first_rows(const bench_words *words, rlar_fit_options *options) {
    const int64_t count = bench_number(words, "rows", 0);
    int64_t *rows = count > 0 ? malloc((size_t)count * sizeof *rows) : NULL;
    for (int64_t i = 0; rows && i < count; i++)
        rows[i] = i;
    options->rows = rows;
    options->n_rows = rows ? count : 0;
    return rows;
}

static void put_fit(const bench_driver *d, bench_clock spent, rlar_status status,
                    const rlar_info *info) {
    const bench_iterations *seen = &d->iterations;
    const double between = (double)(seen->count - 1); /* 0 / 0 is NaN: null */
    bench_begin();
    bench_put_clock(spent);
    bench_put_real("iteration_wall", (seen->last.wall - seen->first.wall) / between);
    bench_put_real("iteration_cpu", (seen->last.cpu - seen->first.cpu) / between);
    bench_put_int("status", status);
    bench_put_int("iterations", info->iterations);
    bench_put_real("objective", info->objective);
    bench_put_int("dual", info->dual);
    bench_end();
}

static void do_fit(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    rlar_data *data = ctx ? bench_data(d, words) : NULL;
    rlar_params *params = data ? bench_params(ctx, words) : NULL;
    if (!params)
        return;
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    rlar_info info = RLAR_INIT(rlar_info);
    options.scale = bench_text(words, "scale", "none");
    int64_t *rows = first_rows(words, &options);
    rlar_model_free(d->model);
    d->model = NULL;
    d->iterations = (bench_iterations){0};
    const bench_clock start = bench_now();
    const rlar_status status = rlar_fit(ctx, data, params, &options, &d->model, &info);
    const bench_clock spent = bench_since(start);
    if (bench_worked(ctx, status))
        put_fit(d, spent, status, &info);
    rlar_params_free(params);
    free(rows);
}

static void do_forecast(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    rlar_data *data = ctx ? bench_data(d, words) : NULL;
    rlar_params *params = data ? bench_params(ctx, words) : NULL;
    if (!params)
        return;
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    rlar_forecast forecast = RLAR_INIT(rlar_forecast);
    options.scale = bench_text(words, "scale", "none");
    int64_t *rows = first_rows(words, &options);
    if (bench_worked(ctx, rlar_fit_forecast(ctx, data, params, &options, &forecast))) {
        bench_begin();
        bench_put_int("bytes", forecast.bytes);
        bench_put_real("flops", forecast.flops);
        bench_put_int("dual", forecast.dual);
        bench_end();
    }
    rlar_params_free(params);
    free(rows);
}

static void do_save(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    if (!ctx)
        return;
    if (!d->model) {
        bench_fail("save: nothing was fitted");
        return;
    }
    if (bench_worked(ctx, rlar_model_save(ctx, d->model, bench_text(words, "path", "")))) {
        bench_begin();
        bench_end();
    }
}

static double accuracy_of(const rlar_model *model, const rlar_data *data, const int64_t *classes) {
    const int64_t n = rlar_data_samples(data);
    int64_t right = 0;
    for (int64_t i = 0; i < n; i++)
        right += strcmp(rlar_model_class(model, classes[i]),
                        rlar_data_class(data, rlar_data_label(data, i))) == 0;
    return (double)right / (double)n;
}

static void do_predict(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    rlar_data *data = ctx ? bench_data(d, words) : NULL;
    if (!data)
        return;
    rlar_predict_options options = RLAR_INIT(rlar_predict_options);
    options.classifier = bench_text(words, "classifier", "1nn");
    int64_t *classes = calloc((size_t)rlar_data_samples(data), sizeof *classes);
    if (!classes || !d->model) {
        bench_fail("predict: no memory, or nothing was fitted");
        free(classes);
        return;
    }
    const bench_clock start = bench_now();
    const rlar_status status = rlar_predict(ctx, d->model, data, &options, classes, NULL);
    const bench_clock spent = bench_since(start);
    if (bench_worked(ctx, status)) {
        bench_begin();
        bench_put_clock(spent);
        bench_put_real("accuracy", accuracy_of(d->model, data, classes));
        bench_end();
    }
    free(classes);
}

/* ---- The rest ---- */

/* VmHWM: the most that was ever resident, in bytes; 0 where the system does not tell. */
static int64_t peak_resident(void) {
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return (int64_t)kib * 1024;
}

static void do_memory(bench_driver *d, const bench_words *words) {
    (void)d;
    (void)words;
    bench_begin();
    bench_put_int("peak", peak_resident());
    bench_end();
}

static void do_limit(bench_driver *d, const bench_words *words) {
    rlar_ctx *ctx = bench_context(d, words);
    if (ctx)
        bench_limit(words, library_of(ctx));
}

static void do_lines(bench_driver *d, const bench_words *words) {
    (void)d;
    bench_lines(words);
}

typedef struct command {
    const char *verb;
    void (*run)(bench_driver *, const bench_words *);
} command;

static const command commands[] = {
    {"info", do_info},         {"load", do_load},      {"drop", do_drop},       {"fit", do_fit},
    {"forecast", do_forecast}, {"save", do_save},      {"predict", do_predict}, {"read", do_read},
    {"grid", bench_cells},     {"cells", bench_cells}, {"limit", do_limit},     {"lines", do_lines},
    {"memory", do_memory},
};

static void dispatch(bench_driver *d, const bench_words *words) {
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].verb, words->verb) == 0) {
            commands[i].run(d, words);
            return;
        }
    bench_fail("no such command");
}

static void driver_free(bench_driver *d) {
    rlar_model_free(d->model);
    for (int i = 0; i < BENCH_MOST_DATA; i++)
        rlar_data_free(d->slot[i].data);
    for (int i = 0; i <= BENCH_MOST_THREADS; i++)
        rlar_ctx_free(d->ctx[i]);
}

int main(void) {
    bench_driver d = {.model = NULL};
    bench_words words;
    while (bench_words_next(&words))
        dispatch(&d, &words);
    driver_free(&d);
    return 0;
}
