/* record.h - answers of the library as bytes, one after another, so that those of several runs or
 * threads can be compared bit for bit. */
#ifndef RLAR_VERIFY_RECORD_H
#define RLAR_VERIFY_RECORD_H

#include <stdbool.h>

#include "assertions.h"

#include "rlar.h"

/* All that was answered, one after another. */
typedef struct record {
    char *bytes;
    size_t size, room;
} record;

static inline void keep(record *r, const void *bytes, size_t size) {
    if (r->size + size > r->room) {
        r->room = 2 * (r->size + size);
        r->bytes = realloc(r->bytes, r->room);
        assert_non_null(r->bytes);
    }
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
}

static inline void keep_numbers(record *r, const double *x, int64_t count) {
    keep(r, x, (size_t)count * sizeof *x);
}

static inline bool same_record(const record *a, const record *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* Of the first method; of three classes. */
static inline void keep_result(const rlar_eval *eval, record *r) {
    rlar_eval_result e = RLAR_INIT(rlar_eval_result);
    assert_int_equal(rlar_eval_get(eval, 0, &e), RLAR_OK);
    const double *const per_trial[] = {e.accuracy, e.balanced, e.macro_f1};
    const double means[] = {e.accuracy_mean, e.accuracy_std,  e.balanced_mean,
                            e.balanced_std,  e.macro_f1_mean, e.macro_f1_std};
    const int64_t counts[] = {e.trials, e.failed, e.cells, e.n_selected};
    for (int i = 0; i < 3; i++)
        keep_numbers(r, per_trial[i], e.trials);
    keep_numbers(r, means, 6);
    keep(r, counts, sizeof counts);
    keep(r, e.confusion, 9 * sizeof *e.confusion);
    if (e.cell_accuracy)
        keep_numbers(r, e.cell_accuracy, e.cells);
    if (e.n_selected > 0)
        keep(r, e.selected, (size_t)e.n_selected * sizeof *e.selected);
}

#endif
