/* labels.c - class names: interning, canonical numbers, the order of classes.
 *
 * Classes are kept as text. When all of them are numbers they are ordered by value (2 before 10)
 * and equal numbers ("1", "1.0", " 01") are one class, spelled in the shortest way, whole ones
 * without an exponent; otherwise they are ordered by bytes. A number from 2^53 on counts as text
 * here: there, different whole numbers read as the same double, and two classes must never melt
 * into one. */
#include "data/labels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Interning ---- */

/* FNV-1a, finished with a multiplication so that the low bits, which choose the slot, depend on all
 * others. */
static uint64_t hash_text(const char *text, size_t length) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* The slot that holds the text, or the free one where it belongs. slots is a power of two, never
 * full. */
static int64_t find_slot(const rlar_intern *in, const char *text, size_t length) {
    const int64_t mask = in->slots - 1;
    int64_t s = (int64_t)(hash_text(text, length) & (uint64_t)mask);
    while (in->slot[s] != 0) {
        const char *held = rlar__texts_at(&in->texts, in->slot[s] - 1);
        if (strlen(held) == length && memcmp(held, text, length) == 0)
            break;
        s = (s + 1) & mask;
    }
    return s;
}

/* At most half full, so that chains stay short. */
static rlar_status make_room(rlar_ctx *ctx, rlar_intern *in) {
    if (in->slots > 2 * in->texts.count)
        return RLAR_OK;
    rlar_intern larger = *in;
    larger.slots = in->slots == 0 ? 16 : 2 * in->slots;
    RLAR_TRY(
        rlar__calloc(ctx, larger.slots, sizeof *larger.slot, "the index of names", &larger.slot));
    for (int64_t i = 0; i < in->texts.count; i++) {
        const char *text = rlar__texts_at(&in->texts, i);
        larger.slot[find_slot(&larger, text, strlen(text))] = i + 1;
    }
    rlar__free(in->slot);
    *in = larger;
    return RLAR_OK;
}

rlar_status rlar__intern(rlar_ctx *ctx, rlar_intern *in, const char *text, size_t length,
                         int64_t *out) {
    RLAR_TRY(make_room(ctx, in));
    const int64_t s = find_slot(in, text, length);
    if (in->slot[s] == 0) {
        RLAR_TRY(rlar__texts_add(ctx, &in->texts, text, length));
        in->slot[s] = in->texts.count;
    }
    *out = in->slot[s] - 1;
    return RLAR_OK;
}

int64_t rlar__intern_find(const rlar_intern *in, const char *text, size_t length) {
    return in->slots == 0 ? -1 : in->slot[find_slot(in, text, length)] - 1;
}

void rlar__intern_free(rlar_intern *in) {
    rlar__texts_free(&in->texts);
    rlar__free(in->slot);
    *in = (rlar_intern){0};
}

/* ---- Numbers as labels ---- */

static bool label_number(const char *text, size_t length, double *out) {
    return rlar__parse_double(text, length, out) && fabs(*out) < 9007199254740992.0;
}

int rlar__label_canonical(const char *text, size_t length, char buf[RLAR_NUMBER_SIZE]) {
    double value;
    if (!label_number(text, length, &value))
        return -1;
    const int64_t whole = (int64_t)value; /* -0 is 0, and 1e15 the identifier 1000000000000000 */
    return (double)whole == value ? snprintf(buf, RLAR_NUMBER_SIZE, "%" PRId64, whole)
                                  : rlar__format_double(value, buf);
}

static bool all_numbers(const rlar_texts *texts) {
    double value;
    for (int64_t i = 0; i < texts->count; i++) {
        const char *text = rlar__texts_at(texts, i);
        if (!label_number(text, strlen(text), &value))
            return false;
    }
    return texts->count > 0;
}

/* ---- The order of classes ---- */

typedef struct sort_item {
    const char *text;
    double value; /* 0 for all when sorting by bytes */
    int64_t old;
} sort_item;

static int by_value(const void *a, const void *b) {
    const sort_item *p = a, *q = b;
    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    return (p->old > q->old) - (p->old < q->old);
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(((const sort_item *)a)->text, ((const sort_item *)b)->text);
}

static void fill_items(const rlar_texts *texts, bool numeric, sort_item *item) {
    for (int64_t i = 0; i < texts->count; i++) {
        item[i] = (sort_item){.text = rlar__texts_at(texts, i), .old = i};
        if (numeric)
            label_number(item[i].text, strlen(item[i].text), &item[i].value);
    }
}

static rlar_status add_name(rlar_ctx *ctx, rlar_texts *names, const char *text, bool numeric) {
    char buf[RLAR_NUMBER_SIZE];
    if (!numeric)
        return rlar__texts_add(ctx, names, text, strlen(text));
    const int length = rlar__label_canonical(text, strlen(text), buf);
    return rlar__texts_add(ctx, names, buf, (size_t)length);
}

rlar_status rlar__classes_sort(rlar_ctx *ctx, const rlar_intern *in, rlar_texts *names,
                               int64_t *remap) {
    const int64_t count = in->texts.count;
    const bool numeric = all_numbers(&in->texts);
    rlar_texts sorted = {0};
    sort_item *item = NULL;
    rlar_status status = rlar__alloc(ctx, count, sizeof *item, "the order of the classes", &item);
    if (status < 0 || count == 0)
        goto done;
    fill_items(&in->texts, numeric, item);
    qsort(item, (size_t)count, sizeof *item, numeric ? by_value : by_bytes);
    for (int64_t i = 0; i < count && status >= 0; i++) {
        if (i == 0 || !numeric || item[i].value != item[i - 1].value)
            status = add_name(ctx, &sorted, item[i].text, numeric);
        remap[item[i].old] = sorted.count - 1;
    }
done:
    rlar__free(item);
    if (status < 0)
        rlar__texts_free(&sorted);
    else
        *names = sorted;
    return status;
}

/* ---- Labels of new data among known classes ---- */

rlar_status rlar__class_index_build(rlar_ctx *ctx, const rlar_texts *names, rlar_class_index *out) {
    rlar_class_index index = {.numeric = all_numbers(names)};
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < names->count && status >= 0; i++) {
        char buf[RLAR_NUMBER_SIZE];
        const char *text = rlar__texts_at(names, i);
        int64_t at = i;
        if (index.numeric) {
            const int length = rlar__label_canonical(text, strlen(text), buf);
            status = rlar__intern(ctx, &index.names, buf, (size_t)length, &at);
        } else {
            status = rlar__intern(ctx, &index.names, text, strlen(text), &at);
        }
        if (status >= 0 && at != i)
            status =
                rlar__fail(ctx, RLAR_E_MODEL,
                           "classes %lld and %lld are both named '%s'; class names must differ",
                           (long long)at + 1, (long long)i + 1, text);
    }
    if (status < 0)
        rlar__class_index_free(&index);
    else
        *out = index;
    return status;
}

int64_t rlar__class_index_find(const rlar_class_index *index, const char *text, size_t length) {
    char buf[RLAR_NUMBER_SIZE];
    if (!index->numeric)
        return rlar__intern_find(&index->names, text, length);
    const int canonical = rlar__label_canonical(text, length, buf);
    return canonical < 0 ? -1 : rlar__intern_find(&index->names, buf, (size_t)canonical);
}

/* Are all of them numbers as rlar__classes_sort spells them? Those of a part of a file stand as
 * they were. */
static bool all_canonical(const rlar_texts *texts) {
    for (int64_t i = 0; i < texts->count; i++) {
        char buf[RLAR_NUMBER_SIZE];
        const char *text = rlar__texts_at(texts, i);
        const int length = rlar__label_canonical(text, strlen(text), buf);
        if (length < 0 || (size_t)length != strlen(text) || memcmp(text, buf, (size_t)length) != 0)
            return false;
    }
    return true;
}

/* The number of each name among the canonical ones of `own`: found[that] becomes the name's, where
 * there is none so far; SEVERAL where two names have the value. */
static rlar_status match_values(rlar_ctx *ctx, const rlar_class_index *index, const rlar_texts *own,
                                int64_t *found) {
    enum { NONE = -1, SEVERAL = -2, BY_VALUE = -3 }; /* BY_VALUE - name */
    rlar_class_index values = {0};
    RLAR_TRY(rlar__class_index_build(ctx, own, &values));
    for (int64_t i = 0; i < index->names.texts.count; i++) {
        const char *name = rlar__texts_at(&index->names.texts, i);
        const int64_t at = rlar__class_index_find(&values, name, strlen(name));
        if (at >= 0 && found[at] < 0)
            found[at] = found[at] == NONE ? BY_VALUE - i : SEVERAL;
    }
    for (int64_t r = 0; r < own->count; r++)
        if (found[r] < NONE)
            found[r] = found[r] == SEVERAL ? NONE : BY_VALUE - found[r];
    rlar__class_index_free(&values);
    return RLAR_OK;
}

rlar_status rlar__class_index_match(rlar_ctx *ctx, const rlar_class_index *index,
                                    const rlar_texts *own, int64_t *found) {
    for (int64_t r = 0; r < own->count; r++) {
        const char *name = rlar__texts_at(own, r);
        found[r] = rlar__class_index_find(index, name, strlen(name));
    }
    return index->numeric || !all_canonical(own) ? RLAR_OK : match_values(ctx, index, own, found);
}

void rlar__class_index_free(rlar_class_index *index) {
    rlar__intern_free(&index->names);
    *index = (rlar_class_index){0};
}
