/* write.h - writing data: what the formats share. */
#ifndef RLAR_WRITE_H
#define RLAR_WRITE_H

#include "data/dataset.h"
#include "data/out.h"

typedef struct rlar_writer {
    rlar_ctx *ctx;
    const rlar_data *data;
    int64_t n, d, c; /* c 0: no labels */
    double *row;     /* room for one sample */
    rlar_out out;
} rlar_writer;

/* The class name of a sample; only where c > 0. */
const char *rlar__writer_label(const rlar_writer *w, int64_t sample);
/* Whether every class name is a number, by the rule of labels.h: from 2^53 on a number is a text,
 * which a double would round. `value` (c of them) is filled; *whole: all are whole numbers;
 * *text: the first name that is none. */
bool rlar__writer_numeric(const rlar_writer *w, double *value, bool *whole, const char **text);

/* What to call the label column: class, or label where a feature is called class. */
const char *rlar__writer_label_column(const rlar_writer *w);

/* Refuse class names that would not read back as themselves where a format has no quotes. */
rlar_status rlar__writer_without_quotes(const rlar_writer *w, const char *format);

/* One per format: put everything into w->out. */
rlar_status rlar__write_csv(rlar_writer *w);
rlar_status rlar__write_tsv(rlar_writer *w);
rlar_status rlar__write_arff(rlar_writer *w);
rlar_status rlar__write_libsvm(rlar_writer *w);
rlar_status rlar__write_npy(rlar_writer *w);
rlar_status rlar__write_npz(rlar_writer *w);

#endif
