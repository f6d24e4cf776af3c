/* registry.c - the list of methods. A new one is a file in this folder and a line here. */
#include "methods/method.h"

#include <string.h>

rlar_status rlar__map_new(rlar_ctx *ctx, int64_t d, int64_t p, rlar_map *out) {
    *out = (rlar_map){.d = d, .p = p};
    RLAR_TRY(rlar__calloc(ctx, p, (size_t)d * sizeof *out->w, "the linear map", &out->w));
    return rlar__calloc(ctx, p, sizeof *out->b, "the linear map", &out->b);
}

void rlar__map_free(rlar_map *map) {
    rlar__free(map->w);
    rlar__free(map->b);
    *map = (rlar_map){0};
}

static const rlar_method *const methods[] = {
    &rlar__method_rlar,  &rlar__method_rr,     &rlar__method_lda,  &rlar__method_mmc,
    &rlar__method_lsda,  &rlar__method_lfda,   &rlar__method_nmmp, &rlar__method_sda,
    &rlar__method_sulda, &rlar__method_l21sda, &rlar__method_alde, &rlar__method_relsr,
    &rlar__method_mpda,  &rlar__method_rslda,  &rlar__method_alpr, &rlar__method_rfs,
    &rlar__method_lsr,
};

enum { METHODS = sizeof methods / sizeof *methods };

int64_t rlar_method_count(void) {
    return METHODS;
}

const rlar_method_def *rlar_method_at(int64_t index) {
    return index < 0 || index >= METHODS ? NULL : &methods[index]->def;
}

const rlar_method *rlar__method_find(const char *name) {
    for (int i = 0; i < METHODS; i++)
        if (strcmp(methods[i]->def.name, name) == 0)
            return methods[i];
    return NULL;
}

const rlar_method_def *rlar_method_find(const char *name) {
    const rlar_method *method = name ? rlar__method_find(name) : NULL;
    return method ? &method->def : NULL;
}
