/* cmd_info.c - rlar info: what is in a data file or a model file. A model is known by its content:
 * eight bytes of length, then a JSON header; or by the ending .rlar or .safetensors, so that a
 * damaged one is called a damaged model rather than strange data. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static bool ends_with(const char *text, const char *ending) {
    const size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static bool is_model(const char *path) {
    unsigned char head[9] = {0};
    struct stat about;
    uint64_t length = 0;
    const bool seen = TEMP_FAILURE_RETRY(stat(path, &about)) == 0;
    if (seen ? !S_ISREG(about.st_mode) : errno == ENOENT)
        return false;
    if (ends_with(path, ".rlar") || ends_with(path, ".safetensors"))
        return true;
    const int fd = seen ? (int)TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC)) : -1;
    const ssize_t got = fd >= 0 ? TEMP_FAILURE_RETRY(pread(fd, head, sizeof head, 0)) : 0;
    if (fd >= 0)
        close(fd);
    for (int i = 7; i >= 0; i--)
        length = length << 8 | head[i];
    return got == (ssize_t)sizeof head && head[8] == '{' && length < (uint64_t)1 << 32;
}

/* ---- models ---- */

static void model_json(cli *c, const rlar_model *model, const char *path) {
    json_t *root = json_object(), *params = json_object(), *classes = json_array();
    const char *name = NULL;
    for (int64_t i = 0; (name = rlar_model_param_name(model, i)) != NULL; i++)
        cli_json_set(params, name, cli_json_value(rlar_model_param_value(model, i)));
    for (int64_t i = 0; i < rlar_model_classes(model); i++)
        json_array_append_new(classes, cli_json_text(rlar_model_class(model, i)));
    cli_json_set(root, "kind", cli_json_text("model"));
    cli_json_set(root, "file", cli_json_text(path));
    cli_json_set(root, "method", cli_json_text(rlar_model_method(model)));
    cli_json_set(root, "params", params);
    cli_json_set(root, "scale", cli_json_text(rlar_model_scale(model)));
    cli_json_set(root, "d", json_integer(rlar_model_dims(model)));
    cli_json_set(root, "outputs", json_integer(rlar_model_outputs(model)));
    cli_json_set(root, "classes", json_integer(rlar_model_classes(model)));
    cli_json_set(root, "class_names", classes);
    cli_json_set(root, "references", json_integer(rlar_model_references(model)));
    cli_json_set(root, "feature_names", json_boolean(rlar_model_feature(model, 0) != NULL));
    cli_json_set(root, "rlar", cli_json_text(rlar_model_version(model)));
    cli_json_print(c, root);
}

static void model_text(cli *c, const rlar_model *model, const char *path) {
    const char *name = NULL;
    cli_printf(c, "model       %s (rlar %s)\n", path, rlar_model_version(model));
    cli_printf(c, "method      %s\nparameters ", rlar_model_method(model));
    for (int64_t i = 0; (name = rlar_model_param_name(model, i)) != NULL; i++)
        cli_printf(c, " %s=%s", name, rlar_model_param_value(model, i));
    cli_printf(c, "\nscaling     %s\n", rlar_model_scale(model));
    cli_printf(c, "features    %lld%s\n", (long long)rlar_model_dims(model),
               rlar_model_feature(model, 0) != NULL ? ", with names" : "");
    cli_printf(c, "outputs     %lld\n", (long long)rlar_model_outputs(model));
    cli_printf(c, "references  %lld training samples\n", (long long)rlar_model_references(model));
    cli_printf(c, "classes     %lld:", (long long)rlar_model_classes(model));
    for (int64_t i = 0; i < rlar_model_classes(model); i++)
        cli_printf(c, " %s", rlar_model_class(model, i));
    cli_printf(c, "\n");
}

/* Loading checks the whole file, so info is also the way to check a model. */
static int info_model(cli *c, const char *path) {
    rlar_model *model = NULL;
    const int code = cli_model_load(c, path, &model);
    if (code == 0 && c->args.json > 0)
        model_json(c, model, path);
    else if (code == 0)
        model_text(c, model, path);
    rlar_model_free(model);
    return code;
}

/* ---- data ---- */

typedef struct range {
    double min, max, mean;
} range;

/* Over all cells that are not missing. */
static range find_range(const rlar_data *data) {
    const int64_t n = rlar_data_samples(data), d = rlar_data_dims(data);
    double *row = cli_alloc((size_t)d * sizeof *row), sum = 0;
    range r = {INFINITY, -INFINITY, NAN};
    int64_t known = 0;
    for (int64_t i = 0; i < n; i++) {
        rlar_data_row(data, i, row);
        for (int64_t j = 0; j < d; j++) {
            if (isnan(row[j]))
                continue;
            r.min = row[j] < r.min ? row[j] : r.min;
            r.max = row[j] > r.max ? row[j] : r.max;
            sum += row[j];
            known++;
        }
    }
    r.mean = known > 0 ? sum / (double)known : NAN;
    free(row);
    return r;
}

/* classes is a count here as in the other verbs; the names have a key of their own. */
static void data_json(cli *c, const cli_data *data, range r) {
    json_t *root = json_object(), *names = json_array(), *sizes = json_array();
    const int64_t classes = rlar_data_classes(data->data);
    for (int64_t i = 0; i < classes; i++) {
        json_array_append_new(names, cli_json_text(rlar_data_class(data->data, i)));
        json_array_append_new(sizes, json_integer(rlar_data_class_size(data->data, i)));
    }
    cli_json_set(root, "kind", cli_json_text("data"));
    cli_json_set(root, "name", cli_json_text(data->name));
    cli_json_set(root, "file", cli_json_text(data->file));
    cli_json_set(root, "format", cli_json_text(data->format));
    cli_json_set(root, "n", json_integer(rlar_data_samples(data->data)));
    cli_json_set(root, "d", json_integer(rlar_data_dims(data->data)));
    cli_json_set(root, "classes", json_integer(classes));
    cli_json_set(root, "class_names", names);
    cli_json_set(root, "class_sizes", sizes);
    cli_json_set(root, "missing", json_integer(data->missing));
    cli_json_set(root, "feature_names", json_boolean(rlar_data_feature(data->data, 0) != NULL));
    cli_json_set(root, "min", cli_json_number(r.min));
    cli_json_set(root, "max", cli_json_number(r.max));
    cli_json_set(root, "mean", cli_json_number(r.mean));
    cli_json_print(c, root);
}

static void data_text(cli *c, const cli_data *data, range r) {
    const int64_t classes = rlar_data_classes(data->data);
    cli_printf(c, "data        %s (%s)\n", data->file, data->format);
    cli_printf(c, "samples     %lld\n", (long long)rlar_data_samples(data->data));
    cli_printf(c, "features    %lld%s\n", (long long)rlar_data_dims(data->data),
               rlar_data_feature(data->data, 0) != NULL ? ", with names" : "");
    cli_printf(c, "values      %.6g to %.6g, mean %.6g\n", r.min, r.max, r.mean);
    cli_printf(c, "missing     %lld%s\n", (long long)data->missing,
               data->missing > 0 ? " (fit needs --missing mean or drop)" : "");
    if (classes == 0) {
        cli_printf(c, "classes     no labels\n");
        return;
    }
    cli_printf(c, "classes     %lld\n", (long long)classes);
    cli_table table = {.columns = 3, .right = 4};
    for (int64_t i = 0; i < classes; i++)
        cli_table_add(&table, "          \t%s\t%lld", rlar_data_class(data->data, i),
                      (long long)rlar_data_class_size(data->data, i));
    cli_table_print(c, &table);
}

static int info_data(cli *c, const char *word) {
    cli_data data = {0};
    /* Looking at missing values must not stumble over them. */
    const rlar_missing missing =
        c->args.missing == RLAR_MISSING_ERROR ? RLAR_MISSING_KEEP : (rlar_missing)c->args.missing;
    const int code = cli_data_load(c, word, missing, &data);
    if (code == 0) {
        const range r = find_range(data.data);
        cli_warn_labels(c, &data);
        if (c->args.json > 0)
            data_json(c, &data, r);
        else
            data_text(c, &data, r);
    }
    cli_data_free(&data);
    return code;
}

int cli_cmd_info(cli *c) {
    const char *word = c->args.word[0];
    return c->args.format == NULL && is_model(word) ? info_model(c, word) : info_data(c, word);
}
