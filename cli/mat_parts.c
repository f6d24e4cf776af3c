/* mat_parts.c - the parts of one variable of a MATLAB level-5 file, as its bytes come along.
 *
 * A matrix is a list of parts: flags with its class, its sizes, its name, then its numbers, or
 * matrices again (cells, fields). matio believes each part: it takes memory for the bytes that one
 * promises, and leaves numbers unset of which there are fewer than the sizes ask for. So a variable
 * must be a matrix, every part must lie within its matrix, and the numbers must be as many as the
 * sizes say.
 *
 * A variable that is or holds a struct, a function handle or an object is not read by anyone, and
 * matio does not get it (mat_copy.c): it is known by its name, and the rest of it does not matter.
 */
#include <string.h>

#include "mat.h"

enum { TAG = 8, TEXT = 1, SIZES = 5, FLAGS = 6, MATRIX = 14 };
enum { ROWS = 3, STARTS = 4, VALUES = 5 }; /* parts of a sparse matrix */
enum { FIRST_CELL = 3 };                   /* part of a cell: from here on matrices */
/* Classes of matrices. 2, 3 and 16 are structs, objects and function handles; an opaque one is an
 * object of a newer kind: tables, texts in double quotes, categories. */
enum { CELL = 1, CHARACTERS = 4, SPARSE = 5, LAST_NUMERIC = 15, OPAQUE = 17 };

uint32_t cli_mat_word(const unsigned char *at, bool big) {
    return big ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]
               : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

/* Bytes of a stored number by its type, 0 for what holds none. Text, from 16 on, is no number:
 * matio would leave it unread. */
static int64_t stored_size(uint32_t type, int kind) {
    static const int size[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8, 0, 0, 1, 2, 4};
    const uint32_t types = kind == CHARACTERS ? sizeof size / sizeof *size : 16;
    return type < types ? size[type] : 0;
}

/* Of a sparse matrix the rows and the starts of the columns are in words of four bytes: matio would
 * read others up to another place than their end, and what lies there as the next part. */
static bool sparse_part_is_bad(const cli_mat_parts *p, int part) {
    if (part == ROWS || part == STARTS)
        return (p->type != SIZES && p->type != SIZES + 1) || p->size % 4 != 0;
    return part >= VALUES && stored_size(p->type, SPARSE) == 0;
}

static bool is_read(int kind) {
    return kind == CELL || (kind >= CHARACTERS && kind <= LAST_NUMERIC);
}

/* Class and name decide whether the variable is left out. MATLAB keeps data of its objects in a
 * variable without a name, which nobody can ask for. */
static void choose(cli_mat_parts *p, const cli_mat_frame *m, int part) {
    const bool name = p->depth == 1 && part == (m->kind == OPAQUE ? 1 : 2);
    if (name) {
        const size_t length = p->kept < CLI_MAT_NAME ? p->kept : CLI_MAT_NAME - 1;
        memcpy(p->name, p->bytes, length);
        p->named = true;
    }
    p->left_out = p->left_out || !is_read(m->kind) || (name && p->name[0] == '\0');
    p->done = p->left_out && p->named && !p->bad;
}

/* The last part of the innermost matrix is complete; what was kept of it tells class and sizes. */
static void end_part(cli_mat_parts *p) {
    if (p->depth == 0) {
        p->done = true;
        return;
    }
    cli_mat_frame *m = &p->frame[p->depth - 1];
    const int part = m->part++;
    if (part == 0 && p->kept >= 4)
        m->kind = (int)(cli_mat_word(p->bytes, p->big) & 0xff);
    const bool opaque = m->kind == OPAQUE; /* it has a name where others have their sizes */
    /* matio takes flags of eight bytes and sizes of four for granted. */
    p->bad = p->bad || (part == 0 && (p->type != FLAGS || p->size != 8)) ||
             (part == 1 && (opaque ? p->type != TEXT : p->type != SIZES || p->size % 4 != 0));
    choose(p, m, part);
    for (size_t i = 0; part == 1 && !opaque && i + 4 <= p->kept; i += 4)
        m->count *= cli_mat_word(p->bytes + i, p->big);
    const bool numbers = m->kind == CHARACTERS || (m->kind > SPARSE && m->kind <= LAST_NUMERIC);
    if (part == 3 && numbers) {
        const int64_t stored = stored_size(p->type, m->kind);
        const int64_t held = stored > 0 ? p->size / stored : 0;
        p->bad = p->bad || m->count > (double)held;
    }
    p->bad = p->bad || (m->kind == SPARSE && sparse_part_is_bad(p, part)) ||
             (m->kind == CELL && part >= FIRST_CELL && p->type != MATRIX);
}

/* Matrices that are complete; one without numbers or cells that its sizes ask for is not: matio
 * takes memory for as many cells as the sizes say. Within another one a matrix may have no parts at
 * all; by itself matio takes what comes behind it for its parts. */
static void end_matrices(cli_mat_parts *p) {
    while (!p->done && p->depth > 0 && p->skip == 0 && p->frame[p->depth - 1].left == 0) {
        const cli_mat_frame *m = &p->frame[p->depth - 1];
        const bool any = m->part > 0 || p->depth == 1;
        p->bad = p->bad || (any && m->part <= 3 && m->count > 0) ||
                 (m->kind == SPARSE && m->part <= VALUES) ||
                 (m->kind == CELL && m->count > m->part - FIRST_CELL);
        p->depth--;
        p->type = MATRIX; /* not what its own last part was */
        p->kept = 0;
        end_part(p);
    }
}

/* A tag is there: the bytes behind it, or a matrix of its own. */
static void begin_part(cli_mat_parts *p) {
    int64_t *left = p->depth > 0 ? &p->frame[p->depth - 1].left : NULL;
    const uint32_t first = cli_mat_word(p->tag, p->big);
    const bool small = first >> 16 != 0; /* up to four bytes within the tag itself */
    p->kept = 0;
    p->type = small ? first & 0xffff : first;
    p->size = small ? (int64_t)(first >> 16) : (int64_t)cli_mat_word(p->tag + 4, p->big);
    if (left)
        *left -= TAG;
    const bool variable = p->depth > 0 || (p->type == MATRIX && !small);
    if (!variable || (small && p->size > 4) || (left && !small && p->size > *left)) {
        p->bad = true;
    } else if (small) {
        memcpy(p->bytes, p->tag + 4, 4);
        p->kept = (size_t)p->size;
        end_part(p);
    } else {
        int64_t padded = (p->size + 7) / 8 * 8;
        padded = left && padded > *left ? *left : padded;
        if (left)
            *left -= padded;
        p->bad = p->type == MATRIX && p->depth == CLI_MAT_DEPTH;
        if (p->type == MATRIX && !p->bad)
            p->frame[p->depth++] = (cli_mat_frame){.left = p->size, .count = 1};
        else if (padded == 0)
            end_part(p);
        else
            p->skip = padded;
    }
}

/* Bytes of a part: the first ones are kept. */
static size_t pass_over(cli_mat_parts *p, const unsigned char *bytes, size_t size) {
    const size_t count = (int64_t)size < p->skip ? size : (size_t)p->skip;
    for (size_t i = 0; i < count && p->kept < sizeof p->bytes && (int64_t)p->kept < p->size; i++)
        p->bytes[p->kept++] = bytes[i];
    p->skip -= (int64_t)count;
    if (p->skip == 0)
        end_part(p);
    return count;
}

void cli_mat_parts_feed(cli_mat_parts *p, const unsigned char *bytes, size_t size) {
    p->total += (int64_t)size;
    while (size > 0 && !p->bad && !p->done) {
        size_t used = 1;
        if (p->skip > 0) {
            used = pass_over(p, bytes, size);
        } else {
            p->tag[p->tag_bytes++] = *bytes;
            if (p->depth > 0 && p->tag_bytes == p->frame[p->depth - 1].left && p->tag_bytes < TAG) {
                p->frame[p->depth - 1].left = 0; /* padding, too short for a tag */
                p->tag_bytes = 0;
            }
        }
        if (p->tag_bytes == TAG) {
            p->tag_bytes = 0;
            begin_part(p);
        }
        end_matrices(p);
        bytes += used;
        size -= used;
    }
}

/* The padding at the very end may be missing. */
bool cli_mat_parts_whole(const cli_mat_parts *p) {
    return !p->bad && (p->done || (p->depth == 0 && p->skip > 0 && p->skip < TAG));
}
