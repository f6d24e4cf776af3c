/* columns.c - which column of a table is the label and which are the features.
 *
 * The label is, in this order: the column that the caller named or numbered; nothing, where the
 * table has exactly the expected number of features; the column named label, class, target or y, in
 * any case; the last one. A column that the model knows as a feature is never taken for the label
 * by rule.
 *
 * Features are found by name, in any order, where both the file and the model have names; further
 * columns are then ignored. Otherwise they are all columns but the label, and their number must be
 * the expected one. */
#include "data/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { LISTED = 10, LIST_SIZE = LISTED * RLAR_TOKEN_SIZE + 64 }; /* with what stands between */

void rlar__columns_free(rlar_columns *columns) {
    rlar__texts_free(&columns->names);
    rlar__texts_free(&columns->features);
    rlar__free(columns->nominal);
    rlar__free(columns->target);
    rlar__free(columns->run);
    *columns = (rlar_columns){0};
}

static bool by_name(const rlar_column_rule *rule, const rlar_columns *columns) {
    return columns->names.count > 0 && rule->model && rlar_model_feature(rule->model, 0);
}

/* A linear search: asked for at most five names per file. */
static bool model_has(const rlar_model *model, const char *name) {
    const int64_t d = rlar_model_dims(model);
    for (int64_t j = 0; j < d; j++)
        if (strcmp(rlar_model_feature(model, j), name) == 0)
            return true;
    return false;
}

/* ---- The label ---- */

/* "a, b, c, ..." for a message. */
static void list_columns(const rlar_columns *columns, char list[LIST_SIZE]) {
    size_t at = 0;
    list[0] = '\0';
    for (int64_t j = 0; j < columns->names.count && j < LISTED; j++) {
        char buf[RLAR_TOKEN_SIZE];
        const char *name = rlar__texts_at(&columns->names, j);
        const int length = snprintf(list + at, LIST_SIZE - at, "%s%s", j ? ", " : "",
                                    rlar__token(name, strlen(name), buf));
        at += (size_t)length;
    }
    if (columns->names.count > LISTED)
        snprintf(list + at, LIST_SIZE - at, ", ...");
}

static rlar_status no_such_label(rlar_ctx *ctx, const rlar_column_rule *rule,
                                 const rlar_columns *columns) {
    char list[LIST_SIZE], token[RLAR_TOKEN_SIZE];
    const char *label = rlar__token(rule->label, strlen(rule->label), token);
    if (columns->names.count == 0)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "%s: there is no column '%s' for the label; the table has no header and %lld "
            "columns: use 1 to %lld, or -1 for the last",
            rule->file, label, (long long)columns->count, (long long)columns->count);
    list_columns(columns, list);
    return rlar__fail(ctx, RLAR_E_ARG,
                      "%s: there is no column '%s' for the label; the %lld columns are %s",
                      rule->file, label, (long long)columns->count, list);
}

/* A name first, then a number: 1-based, negative from the end. */
static rlar_status label_by_option(rlar_ctx *ctx, const rlar_column_rule *rule,
                                   const rlar_columns *columns, int64_t *out) {
    for (int64_t j = 0; j < columns->names.count; j++)
        if (strcmp(rlar__texts_at(&columns->names, j), rule->label) == 0) {
            *out = j;
            return RLAR_OK;
        }
    int64_t index;
    if (!rlar__parse_int64(rule->label, strlen(rule->label), &index) || index == 0 ||
        index > columns->count || index < -columns->count)
        return no_such_label(ctx, rule, columns);
    *out = index > 0 ? index - 1 : columns->count + index;
    return RLAR_OK;
}

int64_t rlar__columns_usual(const rlar_columns *columns, const rlar_model *model) {
    static const char *const usual[] = {"label", "class", "target", "y"};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        for (int64_t j = 0; j < columns->names.count; j++) {
            const char *name = rlar__texts_at(&columns->names, j);
            if (strcasecmp(name, usual[k]) == 0 && !(model && model_has(model, name)))
                return j;
        }
    return -1;
}

static int64_t label_by_rule(const rlar_column_rule *rule, const rlar_columns *columns) {
    const bool named = by_name(rule, columns);
    if (columns->count == rule->features)
        return -1;
    const int64_t usual = rlar__columns_usual(columns, named ? rule->model : NULL);
    if (usual >= 0)
        return usual;
    const int64_t last = columns->count - 1;
    return named && model_has(rule->model, rlar__texts_at(&columns->names, last)) ? -1 : last;
}

static rlar_status find_label(rlar_ctx *ctx, const rlar_column_rule *rule, rlar_columns *columns) {
    columns->label = -1;
    if (rule->label_only) {
        columns->label = 0;
        return columns->count == 1
                   ? RLAR_OK
                   : rlar__fail(ctx, RLAR_E_DATA, "%s: %lld columns; a file of labels has one",
                                rule->file, (long long)columns->count);
    }
    if (rule->label_elsewhere || (rule->label && strcmp(rule->label, "none") == 0))
        return RLAR_OK;
    if (rule->label)
        return label_by_option(ctx, rule, columns, &columns->label);
    columns->label = label_by_rule(rule, columns);
    return RLAR_OK;
}

/* ---- The features ---- */

/* The column of the j-th feature when features stand in their order around the label. */
static int64_t nth_feature(const rlar_columns *columns, int64_t j) {
    return columns->label >= 0 && columns->label <= j ? j + 1 : j;
}

/* Both counts, and whether one column was taken for the label: that is the usual surprise. */
static rlar_status wrong_count(rlar_ctx *ctx, const rlar_column_rule *rule,
                               const rlar_columns *columns) {
    const char *label = columns->label >= 0 ? "a label and " : "";
    const int64_t found = columns->count - (columns->label >= 0);
    if (rule->model)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "%s: %lld columns (%s%lld features), but the model has %lld features; give the "
            "columns that the model was trained with",
            rule->file, (long long)columns->count, label, (long long)found,
            (long long)rule->features);
    return rlar__fail(
        ctx, RLAR_E_DATA, "%s: %lld columns (%s%lld features), but %lld features are expected",
        rule->file, (long long)columns->count, label, (long long)found, (long long)rule->features);
}

static rlar_status map_in_order(rlar_ctx *ctx, const rlar_column_rule *rule,
                                rlar_columns *columns) {
    columns->d = columns->count - (columns->label >= 0);
    if (rule->features > 0 && columns->d != rule->features)
        return wrong_count(ctx, rule, columns);
    if (columns->d == 0 && !rule->label_only)
        return rlar__fail(
            ctx, RLAR_E_DATA,
            "%s: the only column is taken for the label, so there are no features; check the "
            "separator, or use --label none",
            rule->file);
    for (int64_t j = 0; j < columns->d; j++) {
        const int64_t column = nth_feature(columns, j);
        columns->target[column] = j;
        if (columns->names.count > 0) {
            const char *name = rlar__texts_at(&columns->names, column);
            RLAR_TRY(rlar__texts_add(ctx, &columns->features, name, strlen(name)));
        }
    }
    return RLAR_OK;
}

/* Do the columns have the model's names in the model's order? Then even a name that appears twice
 * is clear. */
static bool same_order(const rlar_model *model, const rlar_columns *columns) {
    const int64_t d = rlar_model_dims(model);
    if (columns->count - (columns->label >= 0) != d)
        return false;
    for (int64_t j = 0; j < d; j++)
        if (strcmp(rlar__texts_at(&columns->names, nth_feature(columns, j)),
                   rlar_model_feature(model, j)) != 0)
            return false;
    return true;
}

/* Name the first feature that differs and what stands in its place: most often a column was renamed
 * or left out. */
static rlar_status not_found(rlar_ctx *ctx, const rlar_column_rule *rule,
                             const rlar_columns *columns, int64_t j) {
    char wanted[RLAR_TOKEN_SIZE], found[RLAR_TOKEN_SIZE];
    const char *name = rlar_model_feature(rule->model, j);
    const char *there = rlar__texts_at(&columns->names, nth_feature(columns, j));
    rlar__token(name, strlen(name), wanted);
    if (!there)
        return rlar__fail(
            ctx, RLAR_E_MODEL,
            "%s: feature %lld of the model, '%s', is missing; the file has only %lld columns",
            rule->file, (long long)j + 1, wanted, (long long)columns->count);
    return rlar__fail(
        ctx, RLAR_E_MODEL,
        "%s: feature %lld of the model, '%s', is not among the columns; '%s' stands in its "
        "place; give the columns that the model was trained with",
        rule->file, (long long)j + 1, wanted, rlar__token(there, strlen(there), found));
}

/* Look every feature of the model up among the names in `seen`; column_of: first column of each
 * name, or -2 where the name appears again. */
static rlar_status look_up(rlar_ctx *ctx, const rlar_column_rule *rule, rlar_columns *columns,
                           const rlar_intern *seen, const int64_t *column_of) {
    char token[RLAR_TOKEN_SIZE];
    for (int64_t j = 0; j < columns->d; j++) {
        const char *name = rlar_model_feature(rule->model, j);
        const int64_t id = rlar__intern_find(seen, name, strlen(name));
        if (id < 0 || column_of[id] == columns->label)
            return not_found(ctx, rule, columns, j);
        if (column_of[id] < 0 || columns->target[column_of[id]] >= 0)
            return rlar__fail(
                ctx, RLAR_E_MODEL,
                "%s: the name '%s' appears twice, and the columns are not in the order of the "
                "model; order them or rename one",
                rule->file, rlar__token(name, strlen(name), token));
        columns->target[column_of[id]] = j;
    }
    return RLAR_OK;
}

static rlar_status index_names(rlar_ctx *ctx, const rlar_columns *columns, rlar_intern *seen,
                               int64_t *column_of) {
    for (int64_t j = 0; j < columns->count; j++) {
        const char *name = rlar__texts_at(&columns->names, j);
        const int64_t before = seen->texts.count;
        int64_t id;
        RLAR_TRY(rlar__intern(ctx, seen, name, strlen(name), &id));
        column_of[id] = id == before ? j : -2;
    }
    return RLAR_OK;
}

static rlar_status map_by_name(rlar_ctx *ctx, const rlar_column_rule *rule, rlar_columns *columns) {
    rlar_intern seen = {0};
    int64_t *column_of = NULL;
    rlar_status status =
        rlar__alloc(ctx, columns->count, sizeof *column_of, "the column names", &column_of);
    columns->d = rlar_model_dims(rule->model);
    if (status >= 0)
        status = index_names(ctx, columns, &seen, column_of);
    if (status >= 0)
        status = look_up(ctx, rule, columns, &seen, column_of);
    for (int64_t j = 0; j < columns->d && status >= 0; j++) {
        const char *name = rlar_model_feature(rule->model, j);
        status = rlar__texts_add(ctx, &columns->features, name, strlen(name));
    }
    rlar__intern_free(&seen);
    rlar__free(column_of);
    return status;
}

static rlar_status find_runs(rlar_ctx *ctx, rlar_columns *columns) {
    const int64_t *target = columns->target;
    RLAR_TRY(rlar__alloc(ctx, columns->count, sizeof *columns->run, "the columns", &columns->run));
    for (int64_t j = columns->count - 1; j >= 0; j--) {
        const bool joins = j + 1 < columns->count && target[j + 1] == target[j] + 1;
        columns->run[j] = target[j] < 0 ? 0 : joins ? columns->run[j + 1] + 1 : 1;
    }
    return RLAR_OK;
}

rlar_status rlar__columns_settle(rlar_ctx *ctx, const rlar_column_rule *rule,
                                 rlar_columns *columns) {
    RLAR_TRY(find_label(ctx, rule, columns));
    RLAR_TRY(
        rlar__alloc(ctx, columns->count, sizeof *columns->target, "the columns", &columns->target));
    for (int64_t j = 0; j < columns->count; j++)
        columns->target[j] = -1;
    if (by_name(rule, columns) && !same_order(rule->model, columns))
        RLAR_TRY(map_by_name(ctx, rule, columns));
    else
        RLAR_TRY(map_in_order(ctx, rule, columns));
    RLAR_TRY(find_runs(ctx, columns));
    columns->settled = true;
    return RLAR_OK;
}
