/* journal.h - finished fits in a file, so that an evaluation that was stopped goes on where it was.
 *
 * A fit is found by what it was made of: the samples, the rows of its training and test part, the
 * method and every setting. So one file serves any number of evaluations, in any order. */
#ifndef RLAR_JOURNAL_H
#define RLAR_JOURNAL_H

#include "eval/outcome.h"

typedef struct rlar_journal rlar_journal;

rlar_key rlar__key_add(rlar_key key, const void *bytes, size_t size);
rlar_key rlar__key_add_text(rlar_key key, const char *text);
/* The version of the library, the samples and their labels: where every key begins. */
rlar_status rlar__key_of_data(rlar_ctx *ctx, const rlar_data *data, const rlar_labels *labels,
                              rlar_key *out);
rlar_key rlar__key_add_part(rlar_key key, const rlar_part *part);
/* The method and all its parameters. */
rlar_status rlar__key_add_params(rlar_ctx *ctx, const rlar_params *params, rlar_key *key);

/* Open or make the file. What a broken end has left half written is cut off; damage before whole
 * records is passed over. Refused: another file, a file that another process has open as a journal,
 * one so damaged that whole records cannot be found in it. */
rlar_status rlar__journal_open(rlar_ctx *ctx, const char *path, rlar_journal **out);
void rlar__journal_close(rlar_journal *journal); /* NULL is legal */
/* From any thread. The outcome of the fit, kept; out->done stays false where there is none. */
rlar_status rlar__journal_find(rlar_ctx *ctx, rlar_journal *journal, rlar_key key, int64_t classes,
                               rlar_outcome *out);
/* From any thread. Added once; the outcome was kept or has failed. */
rlar_status rlar__journal_add(rlar_ctx *ctx, rlar_journal *journal, rlar_key key,
                              const rlar_outcome *outcome);

#endif
