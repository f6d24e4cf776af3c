/* arrays.h - what NPY and NPZ share: every value is what its bytes are to the compiler, and stands
 * where the order of the array puts it. */
#ifndef RLAR_FUZZ_ARRAYS_H
#define RLAR_FUZZ_ARRAYS_H

#include "data/npy.h"
#include "readers.h"

/* By the types of C, not by shifts as the reader does; on a machine with the low byte first. */
static inline double value_of(const rlar_npy *npy, const char *bytes) {
    union {
        unsigned char byte[8];
        double f8;
        float f4;
        int64_t i8;
        int32_t i4;
        int16_t i2;
        int8_t i1;
    } v = {{0}};
    for (size_t i = 0; i < npy->item; i++)
        v.byte[npy->big ? npy->item - 1 - i : i] = (unsigned char)bytes[i];
    if (npy->kind == 'f')
        return npy->item == 8 ? v.f8 : (double)v.f4;
    if (npy->kind == 'b')
        return v.i1 != 0;
    if (npy->kind == 'u')
        return (double)(uint64_t)v.i8; /* the bytes above are 0 */
    return npy->item == 8   ? (double)v.i8
           : npy->item == 4 ? (double)v.i4
           : npy->item == 2 ? (double)v.i2
                            : (double)v.i1;
}

/* The column of the label, by the options of readers.h. */
static inline int64_t label_column(const reader_choices *c, int64_t d) {
    const char *label = c->options.label;
    return label && label[0] != '-' ? label[0] - '1' : d - 1;
}

static inline bool same_value(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

/* Where samples were left out or filled in, there is nothing to compare. */
static inline void array_check(const reader_choices *c, const rlar_npy *npy, const char *values,
                               const rlar_data *data) {
    const bool kept = data->missing == 0 || c->options.missing == RLAR_MISSING_KEEP;
    if (rlar__npy_is_text(npy) || !kept || data->view.n != npy->n)
        return;
    const int64_t label = data->view.d < npy->d ? label_column(c, npy->d) : npy->d;
    for (int64_t i = 0; i < npy->n; i++)
        for (int64_t j = 0; j < npy->d; j++) {
            const int64_t at = npy->fortran ? j * npy->n + i : i * npy->d + j;
            const double want = value_of(npy, values + (size_t)at * npy->item);
            const double *row = (const double *)data->view.x + i * data->view.d;
            if (j == label)
                FUZZ_CHECK(strtod(rlar__texts_at(&data->classes, data->label[i]), NULL) == want,
                           "label %lld differs", (long long)i);
            else
                FUZZ_CHECK(same_value(row[j - (j > label)], want),
                           "value %lld of sample %lld differs", (long long)j, (long long)i);
        }
}

#endif
