/* locale_change.c - the host sets a locale whose numbers have a comma: data, parameters, models and
 * tables are read and written as before, bit for bit.
 *
 *   locale_change LOCALE      made by comma_locale.py, which runs it */
#include <locale.h>

#include "trial.h"

#include "../unit/reading.h"

typedef struct written {
    char text[64]; /* of a parameter */
    double value;  /* of a cell that was read */
    char error[RLAR_ERROR_SIZE];
    void *model;
    size_t model_size;
    char table[1 << 16];
    size_t table_size;
} written;

static written write_all(const char *root, const temp_folder *folder) {
    written w = {0};
    char path[512];
    rlar_ctx *ctx = context(1);
    rlar_data *data = NULL;
    rlar_model *model = NULL;
    snprintf(path, sizeof path, "%s/data/wine.csv", root);
    assert_int_equal(rlar_data_read(ctx, path, NULL, &data), RLAR_OK);
    w.value = value_at(data, 1, 2);
    rlar_params *params = trial_params(ctx, &(trial){.method = "rr", .settings = "lambda=0.125"});
    assert_true(rlar_params_text(params, "lambda", w.text, sizeof w.text) > 0);
    assert_int_equal(rlar_params_set(ctx, params, "lambda", "0,5"), RLAR_E_ARG);
    snprintf(w.error, sizeof w.error, "%s", rlar_ctx_error(ctx));
    assert_int_equal(rlar_fit(ctx, data, params, NULL, &model, NULL), RLAR_OK);
    assert_int_equal(rlar_model_save_bytes(ctx, model, &w.model, &w.model_size), RLAR_OK);
    assert_int_equal(rlar_data_write(ctx, data, path_in(folder, "out.csv", path), NULL), RLAR_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    w.table_size = fread(w.table, 1, sizeof w.table, file);
    fclose(file);
    void *copy = malloc(w.model_size);
    assert_non_null(copy);
    memcpy(copy, w.model, w.model_size);
    rlar_bytes_free(ctx, w.model);
    w.model = copy;
    rlar_model_free(model);
    rlar_params_free(params);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return w;
}

int main(int argc, char **argv) {
    const char *root = getenv("RLAR_SOURCE_ROOT");
    temp_folder folder = new_folder();
    const written before = write_all(root ? root : ".", &folder);
    if (argc != 2 || !setlocale(LC_ALL, argv[1]) || *localeconv()->decimal_point != ',')
        fail_msg("there is no locale %s with a decimal comma",
                 argc == 2 ? argv[1] : "(none given)");
    const written after = write_all(root ? root : ".", &folder);
    const bool same = strcmp(before.text, after.text) == 0 && before.value == after.value &&
                      before.table_size == after.table_size &&
                      memcmp(before.table, after.table, after.table_size) == 0 &&
                      before.model_size == after.model_size &&
                      memcmp(before.model, after.model, after.model_size) == 0;
    printf("%s: a parameter, %zu bytes of a table and %zu of a model are %s; \"%s\"\n", argv[1],
           after.table_size, after.model_size, same ? "the same" : "DIFFERENT", after.error);
    free(before.model);
    free(after.model);
    remove_folder(&folder);
    return !same;
}
