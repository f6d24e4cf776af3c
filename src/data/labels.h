/* labels.h - class names: interning, canonical numbers, the order of classes. */
#ifndef RLAR_LABELS_H
#define RLAR_LABELS_H

#include "core/core.h"

/* Distinct texts numbered in order of appearance, found by hashing. Zero-initialise. */
typedef struct rlar_intern {
    rlar_texts texts;
    int64_t *slot; /* open addressing: index + 1, 0 = free */
    int64_t slots;
} rlar_intern;

/* The number of the text; adds it when new. */
rlar_status rlar__intern(rlar_ctx *ctx, rlar_intern *in, const char *text, size_t length,
                         int64_t *out);
/* The number of the text, or -1. */
int64_t rlar__intern_find(const rlar_intern *in, const char *text, size_t length);
void rlar__intern_free(rlar_intern *in);

/* Canonical spelling of a label that is a number: "1.0", "01", " 1" -> "1". Returns its length in
 * buf, or -1 when the text is no number. */
int rlar__label_canonical(const char *text, size_t length, char buf[RLAR_NUMBER_SIZE]);

/* Sort the classes that `in` collected: in numeric order when all are numbers (equal numbers become
 * one class, spelled canonically), else by bytes. names gets the class names in order, remap[old] =
 * new. */
rlar_status rlar__classes_sort(rlar_ctx *ctx, const rlar_intern *in, rlar_texts *names,
                               int64_t *remap);

/* Index of a label among sorted class names, or -1. Numbers match by value when all names are
 * numbers. */
typedef struct rlar_class_index {
    rlar_intern names;
    bool numeric;
} rlar_class_index;
rlar_status rlar__class_index_build(rlar_ctx *ctx, const rlar_texts *names, rlar_class_index *out);
int64_t rlar__class_index_find(const rlar_class_index *index, const char *text, size_t length);
/* The same for the classes of data in memory, into found[own->count]. Where all of these are
 * numbers their spelling is lost, 01 has become 1: one that is not found as it stands is the only
 * name that has its value. */
rlar_status rlar__class_index_match(rlar_ctx *ctx, const rlar_class_index *index,
                                    const rlar_texts *own, int64_t *found);
void rlar__class_index_free(rlar_class_index *index);

#endif
