/* registry.c - the list of methods. A new one is a file in this folder and a line here. */
#include "methods/method.h"

#include <string.h>

static const rlar_method *const methods[] = {
    &rlar__method_rlar,
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
