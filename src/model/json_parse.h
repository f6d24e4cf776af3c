/* json_parse.h - JSON of a model file, looked over before it is parsed. */
#ifndef RLAR_JSON_PARSE_H
#define RLAR_JSON_PARSE_H

#include "core/core.h"

#include <jansson.h>

/* What a text holds, counted without parsing it: at least as much as the parser makes of it. */
typedef struct rlar_json_count {
    size_t containers; /* objects and lists */
    size_t values;     /* these, texts, numbers and the like */
} rlar_json_count;

rlar_json_count rlar__json_count(const char *text, size_t size);

/* Parse the text, of which `count` was counted; `what` is for messages. What the tree may take is
 * held against the context's limit and added to *reserved: to be given back when it is freed. */
rlar_status rlar__json_parse(rlar_ctx *ctx, const char *what, const char *text, size_t size,
                             rlar_json_count count, size_t *reserved, json_t **out);

#endif
