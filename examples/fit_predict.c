/* fit_predict.c - learn a model from a labelled file, save it, load it again, predict.
 *
 *     fit_predict DATA MODEL
 *
 * How to compile it: see README.md in this folder. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rlar.h>

/* Fit on the data and write the model file. */
static rlar_status train(rlar_ctx *ctx, const rlar_data *data, const char *path) {
    rlar_model *model = NULL;
    rlar_status status = rlar_fit(ctx, data, NULL, NULL, &model, NULL);
    if (status >= 0)
        status = rlar_model_save(ctx, model, path);
    rlar_model_free(model);
    return status;
}

/* Read the model file, predict the same samples, and count the right answers. */
static rlar_status apply(rlar_ctx *ctx, const rlar_data *data, const char *path) {
    const int64_t n = rlar_data_samples(data);
    int64_t right = 0, *classes = calloc((size_t)n, sizeof *classes);
    rlar_model *model = NULL;
    rlar_status status = classes ? rlar_model_load(ctx, path, &model) : RLAR_E_NOMEM;
    if (status >= 0)
        status = rlar_predict(ctx, model, data, NULL, classes, NULL);
    if (status >= 0) {
        for (int64_t i = 0; i < n; i++)
            right += classes[i] == rlar_data_label(data, i);
        printf("first sample: %s\n", rlar_model_class(model, classes[0]));
        printf("right: %" PRId64 " of %" PRId64 "\n", right, n);
    }
    rlar_model_free(model);
    free(classes);
    return status;
}

int main(int argc, char **argv) {
    rlar_ctx *ctx = NULL;
    rlar_data *data = NULL;
    if (argc != 3)
        return fprintf(stderr, "usage: fit_predict DATA MODEL\n"), EXIT_FAILURE;
    rlar_status status = rlar_ctx_new(NULL, &ctx);
    if (status >= 0)
        status = rlar_data_read(ctx, argv[1], NULL, &data);
    if (status >= 0)
        status = train(ctx, data, argv[2]);
    if (status >= 0)
        status = apply(ctx, data, argv[2]);
    if (status < 0)
        fprintf(stderr, "fit_predict: %s: %s\n", rlar_status_text(status), rlar_ctx_error(ctx));
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
