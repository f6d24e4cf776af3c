/* csv_head.h - what the first lines of a table tell. */
#ifndef RLAR_CSV_HEAD_H
#define RLAR_CSV_HEAD_H

#include "data/reader.h"

/* Bytes of the mark of UTF-8 that a file may begin with. */
int64_t rlar__csv_mark(const char *bytes, int64_t size);
/* Has the first line with something in it begun? Neither blanks nor the mark, at byte 0 to 2, do.
 */
bool rlar__csv_is_text(char c, int64_t at);
/* Which of comma, semicolon, tab and blank separates the cells of the line? */
char rlar__csv_separator(const char *line, int64_t size);
/* Does the first row hold names? second has no cells where there is no second row. *doubt: the
 * opposite is well possible. */
bool rlar__csv_header(const rlar_read_options *options, const rlar_texts *first,
                      const rlar_texts *second, bool *doubt);

#endif
