/* guess.h - which format a file has, and how its data set is called. */
#ifndef RLAR_GUESS_H
#define RLAR_GUESS_H

#include "data/reader.h"

/* The format that the caller named (the error lists all), else by the ending of the path, else by
 * the first bytes. */
rlar_status rlar__format_choose(rlar_ctx *ctx, const char *path, const char *named,
                                rlar_source *source, const rlar_format **out);
/* Is it the name of a format, "images" included? */
bool rlar__format_known(const char *name);
/* "wine" for "data/wine.csv.gz", "stdin" for "-". */
rlar_status rlar__base_name(rlar_ctx *ctx, const char *path, char **out);

/* The options of a caller, who may know fewer of them or more, checked; whole: not a stream. */
rlar_status rlar__read_options(rlar_ctx *ctx, const rlar_read_options *given, bool whole,
                               rlar_read_options *out);

#endif
