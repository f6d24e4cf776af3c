/* embed.c - samples in the learned space, with their labels, block after block. */
#include <stdlib.h>

#include "cli.h"

/* Room for `more` rows after the n that are kept. */
static bool reserve(cli_embedding *e, int64_t more) {
    const size_t p = (size_t)rlar_model_outputs(e->model);
    if (e->n + more <= e->capacity)
        return true;
    const int64_t capacity = e->n + more > 2 * e->capacity ? e->n + more : 2 * e->capacity;
    double *z = realloc(e->z, (size_t)capacity * p * sizeof *z);
    if (z != NULL)
        e->z = z;
    int64_t *label = realloc(e->label, (size_t)capacity * sizeof *label);
    if (label != NULL)
        e->label = label;
    if (z == NULL || label == NULL)
        return false;
    e->capacity = capacity;
    return true;
}

int cli_embed_block(cli *c, cli_embedding *e, const rlar_data *block) {
    const int64_t rows = rlar_data_samples(block);
    if (!reserve(e, rows))
        return cli_error(c, CODE_MEMORY, "no memory for %lld embedded samples", (long long)rows);
    double *z = e->z + e->n * rlar_model_outputs(e->model);
    const int code = cli_check(c, rlar_transform(c->ctx, e->model, block, z));
    if (code != 0)
        return code;
    if (e->samples == 0)
        e->labelled = rlar_data_classes(block) > 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t label = e->labelled ? rlar_data_label(block, i) : -1;
        e->label[e->n + i] = label;
        e->unknown += e->labelled && label < 0;
    }
    e->n += rows;
    e->samples += rows;
    return 0;
}

void cli_embedding_free(cli_embedding *e) {
    free(e->z);
    free(e->label);
    *e = (cli_embedding){0};
}
