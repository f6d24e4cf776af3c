/* fuzz_labels.c - labels in a file of their own, beside a table. The first character chooses how
 * many samples the table has: as many as there are labels, one more, one less, or ten. The rest is
 * the file: lines or a NumPy vector. What is read are the labels that a plain splitter of a few
 * lines finds, in the list, in the table and in a stream of it, packed or not; another count of
 * samples is refused, and so is a missing label, unless such samples are dropped; every class is
 * the label of a sample. */
#include <math.h>

#include "arrays.h"

enum { MOST = 4096 };

/* ---- The plain splitter ---- */

/* The labels, one behind the other, each ended by a NUL byte; one that is missing is empty. */
typedef struct labels {
    char text[MOST * RLAR_NUMBER_SIZE];
    size_t size;
    int64_t count, missing;
    bool refused; /* as a whole: a blank line before a label, no UTF-8 */
    bool values;  /* numbers of an array, which have several spellings */
} labels;

static void end_label(labels *out, bool missing) {
    out->text[out->size++] = '\0';
    out->count++;
    out->missing += missing;
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* Are they characters, each in its one spelling, none of UTF-16's halves, none to control with? */
static bool is_text(const char *text, size_t size) {
    static const uint32_t least[] = {0x20, 0x80, 0x800, 0x10000};
    for (size_t i = 0; i < size;) {
        const uint8_t lead = (uint8_t)text[i++];
        const unsigned more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        uint32_t code = more == 0 ? lead : lead & (0x3fU >> more);
        for (unsigned j = 0; j < more; j++, i++) {
            if (i == size || ((uint8_t)text[i] & 0xc0) != 0x80)
                return false;
            code = code << 6 | ((uint8_t)text[i] & 0x3f);
        }
        if ((lead >= 0x80 && lead < 0xc0) || lead > 0xf7 || code < least[more] || code > 0x10ffff ||
            code == 0x7f || (code >= 0xd800 && code < 0xe000))
            return false;
    }
    return true;
}

/* What stands between blanks, and perhaps between quotes: "" is one of them there. */
static void split_line(labels *out, const char *line, size_t size, bool *blank) {
    for (; size > 0 && is_blank(*line); size--)
        line++;
    while (size > 0 && is_blank(line[size - 1]))
        size--;
    const bool quoted = size > 1 && line[0] == '"' && line[size - 1] == '"';
    const size_t last = quoted ? size - 1 : size, first = quoted ? 1 : 0;
    if (first == last) {
        *blank = true;
        return;
    }
    const bool missing = !quoted && rlar__cell_missing(line, size);
    out->refused |= *blank || !is_text(line, size);
    for (size_t i = first; i < last && !missing; i++) {
        out->text[out->size++] = line[i];
        if (quoted && line[i] == '"' && i + 1 < last && line[i + 1] == '"')
            i++;
    }
    end_label(out, missing);
}

/* Lines end with LF or CR; several CR before a LF, or at the end, end one line. */
static void split(labels *out, const char *text, size_t size) {
    bool blank = false;
    size_t start = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (size_t at = start; at < size; at++) {
        size_t end = at;
        if (text[at] != '\n' && text[at] != '\r')
            continue;
        while (end < size && text[end] == '\r')
            end++;
        if (end < size && text[end] != '\n') /* CR alone */
            end = at;
        split_line(out, text + start, at - start, &blank);
        start = end + 1;
        at = end;
    }
    if (start < size)
        split_line(out, text + start, size - start, &blank);
    out->refused |= out->count == 0;
}

/* ---- A NumPy vector ---- */

/* Numbers by the types of C; of texts there is no second reading. */
static bool array_labels(labels *out, const uint8_t *bytes, size_t size) {
    rlar_npy npy;
    const char *values = NULL;
    if (rlar__npy_open(fuzz_ctx(), "f", (const char *)bytes, size, &npy, &values) < 0 ||
        rlar__npy_is_text(&npy) || npy.d != 1)
        return false;
    for (int64_t i = 0; i < npy.n; i++) {
        const double value = value_of(&npy, values + (size_t)i * npy.item);
        /* From 2^53 on a whole number need not be a double. */
        if (fabs(value) >= 0x1p53 || out->size + RLAR_NUMBER_SIZE > sizeof out->text)
            return false;
        if (!isnan(value))
            out->size += (size_t)rlar__format_double(value, out->text + out->size);
        end_label(out, isnan(value));
    }
    return out->count > 0;
}

/* ---- The promises ---- */

/* Two texts for one class: the same, or the same number. */
static bool same_label(const char *a, const char *b) {
    char *end_a, *end_b;
    const double x = strtod(a, &end_a), y = strtod(b, &end_b);
    const bool numbers = end_a > a && end_b > b && end_a[strspn(end_a, " \t")] == '\0' && !*end_b;
    return strcmp(a, b) == 0 || (numbers && x == y);
}

static void check_list(const rlar_label_list *list, const labels *want) {
    const char *text = want->text;
    FUZZ_CHECK(list->count == want->count, "%lld labels instead of %lld", (long long)list->count,
               (long long)want->count);
    for (int64_t i = 0; i < list->count; i++, text += strlen(text) + 1) {
        FUZZ_CHECK((list->index[i] == RLAR_CLASS_MISSING) == (*text == '\0'),
                   "label %lld is '%s', and number %lld", (long long)i, text,
                   (long long)list->index[i]);
        if (*text == '\0')
            continue;
        FUZZ_CHECK(list->index[i] >= 0 && list->index[i] < list->texts.texts.count,
                   "label %lld is none of the list", (long long)i);
        const char *found = rlar__texts_at(&list->texts.texts, list->index[i]);
        FUZZ_CHECK(want->values ? same_label(text, found) : strcmp(found, text) == 0,
                   "label %lld is '%s' instead of '%s'", (long long)i, found, text);
    }
}

/* `have` against the labels from `text` on that are not missing; returns the first that it has not.
 */
static const char *check_labels(const rlar_data *have, const char *text) {
    for (int64_t i = 0; i < have->view.n; i++, text += strlen(text) + 1) {
        while (*text == '\0')
            text++;
        FUZZ_CHECK(have->label[i] >= 0 && have->label[i] < have->classes.count, "no class");
        const char *found = rlar__texts_at(&have->classes, have->label[i]);
        FUZZ_CHECK(same_label(text, found), "sample %lld is '%s' instead of '%s'", (long long)i,
                   found, text);
    }
    return text;
}

/* Classes stand in order and none is without a sample: by numbers or by bytes. */
static void check_classes(const rlar_data *data) {
    int64_t samples = 0;
    for (int64_t k = 0; k < data->classes.count; k++) {
        const char *name = rlar__texts_at(&data->classes, k);
        const char *last = k > 0 ? rlar__texts_at(&data->classes, k - 1) : "";
        FUZZ_CHECK(data->class_size[k] > 0, "the class '%s' has no sample", name);
        FUZZ_CHECK(k == 0 || strcmp(last, name) < 0 || strtod(last, NULL) < strtod(name, NULL),
                   "the class '%s' stands behind '%s'", name, last);
        samples += data->class_size[k];
    }
    FUZZ_CHECK(samples == data->view.n, "classes of %lld samples", (long long)samples);
}

typedef struct files {
    fuzz_file table, labels;
    rlar_read_options options;
} files;

/* Is every label there, or what has none to be dropped? */
static bool acceptable(const files *f, const labels *want) {
    return want->missing == 0 || f->options.missing == RLAR_MISSING_DROP;
}

/* Windows of 4 MiB, which an empty table would be read by, are too large here. */
static void check_table(const files *f, const labels *want, int64_t samples) {
    static const rlar_window_size small = {.piece = 64, .pieces = 4};
    rlar_ctx *ctx = fuzz_ctx();
    rlar_data *data = NULL;
    const rlar_status status = rlar__data_read(ctx, f->table.path, &f->options, &small, &data);
    if (status < 0)
        fuzz_check_refusal(ctx, status);
    if (want) {
        const bool right = want->count == samples && want->missing < samples && acceptable(f, want);
        FUZZ_CHECK((status >= 0) == right,
                   "%lld labels, %lld of them missing, for %lld samples: status %d, %s",
                   (long long)want->count, (long long)want->missing, (long long)samples,
                   (int)status, rlar_ctx_error(ctx));
    }
    if (data) {
        const int64_t kept = want ? samples - want->missing : data->view.n;
        FUZZ_CHECK(data->label && data->view.n == kept && kept <= samples, "%lld samples of %lld",
                   (long long)data->view.n, (long long)samples);
        check_classes(data);
        if (want)
            (void)check_labels(data, want->text);
    }
    rlar_data_free(data);
}

/* Three samples at a time, and an error at the end where the counts differ, or at a missing label.
 */
static void check_stream(const files *f, const labels *want, int64_t samples) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    const char *text = want->text;
    int64_t count = 0;
    rlar_status status = rlar_stream_open(ctx, f->table.path, &f->options, &stream);
    FUZZ_CHECK(status >= 0, "no stream: %s", rlar_ctx_error(ctx));
    while ((status = rlar_stream_next(stream, 3, &block)) >= 0 && block) {
        count += block->view.n;
        FUZZ_CHECK(count <= want->count - want->missing, "more samples than labels");
        text = check_labels(block, text);
    }
    if (status < 0)
        fuzz_check_refusal(ctx, status);
    FUZZ_CHECK((status >= 0) == (want->count == samples && acceptable(f, want)),
               "%lld labels, %lld of them missing, for %lld samples: %s", (long long)want->count,
               (long long)want->missing, (long long)samples, rlar_ctx_error(ctx));
    FUZZ_CHECK(status < 0 || count == samples - want->missing, "%lld samples", (long long)count);
    rlar_stream_free(stream);
}

static rlar_status read_list(const fuzz_file *file, rlar_label_list *list, char *text) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar__begin(ctx);
    const rlar_status status = rlar__label_list_read(ctx, file->path, list);
    text[0] = '\0';
    if (status < 0) {
        fuzz_check_refusal(ctx, status);
        FUZZ_CHECK(strncmp(rlar_ctx_error(ctx), file->path, strlen(file->path)) == 0,
                   "a refusal without the file: %s", rlar_ctx_error(ctx));
        snprintf(text, RLAR_ERROR_SIZE, "%s", rlar_ctx_error(ctx));
    }
    return status;
}

/* Packed into the same file: the same list, or the same words. */
static void check_packed(const files *f, const fuzz_bytes *b, rlar_status status, const char *text,
                         const rlar_label_list *list) {
    static uint8_t packed[2 * MOST + 64];
    char other_text[RLAR_ERROR_SIZE];
    rlar_label_list other = {0};
    fuzz_file file = f->labels;
    fuzz_file_set(&file, packed, fuzz_pack(b, packed, sizeof packed));
    const rlar_status again = read_list(&file, &other, other_text);
    FUZZ_CHECK(again == status && strcmp(text, other_text) == 0,
               "packed: status %d '%s' instead of %d '%s'", (int)again, other_text, (int)status,
               text);
    const bool same = status < 0 || (list->count == other.count &&
                                     memcmp(list->index, other.index,
                                            (size_t)list->count * sizeof *list->index) == 0 &&
                                     !texts_difference(&list->texts.texts, &other.texts.texts, ""));
    FUZZ_CHECK(same, "packed, the labels differ");
    rlar__label_list_free(&other);
}

/* `samples` rows of one number each. */
static void set_table(files *f, int64_t samples) {
    char text[2 * (MOST + 2)];
    for (int64_t i = 0; i < samples; i++)
        memcpy(text + 2 * i, i % 2 ? "1\n" : "2\n", 2);
    fuzz_file_set(&f->table, text, 2 * (size_t)samples);
}

static int64_t samples_for(unsigned choice, int64_t count) {
    return choice == 0 ? count : choice == 1 ? count + 1 : choice == 2 ? count - 1 : 10;
}

/* All of it; `known`: the labels are those of a second reading. */
static void check(files *f, const fuzz_bytes *b, unsigned choice, const labels *want, bool known) {
    char text[RLAR_ERROR_SIZE];
    rlar_label_list list = {0};
    fuzz_file_set(&f->labels, b->at, b->left);
    f->options = RLAR_INIT(rlar_read_options);
    f->options.labels_file = f->labels.path;
    f->options.format = "csv";
    f->options.header = -1;
    const rlar_status status = read_list(&f->labels, &list, text);
    FUZZ_CHECK(!known || (status < 0) == want->refused, "status %d '%s'; the plain splitter %s",
               (int)status, text, want->refused ? "refuses" : "does not");
    if (known && status >= 0)
        check_list(&list, want);
    const int64_t samples = samples_for(choice, list.count);
    if (status >= 0) {
        set_table(f, samples);
        for (unsigned drop = 0; drop < 2; drop++) {
            f->options.missing = drop ? RLAR_MISSING_DROP : RLAR_MISSING_ERROR;
            if (fuzz_turn(b, 2, drop) && fuzz_turn(b, 3, 0))
                check_table(f, known ? want : NULL, samples);
            if (fuzz_turn(b, 2, drop) && fuzz_turn(b, 3, 1) && known && samples > 0)
                check_stream(f, want, samples);
        }
    }
    if (status < 0 || fuzz_turn(b, 3, 2))
        check_packed(f, b, status, text, &list);
    rlar__label_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static files f;
    static labels want;
    fuzz_bytes b = {bytes, size};
    const unsigned choice = fuzz_choice(&b, 4);
    if (b.left > MOST || (b.left >= 2 && b.at[0] == 0x1f && b.at[1] == 0x8b))
        return 0; /* gzip within gzip is for its own target */
    const bool array = b.left >= 6 && memcmp(b.at, "\x93NUMPY", 6) == 0;
    bool known = true;
    want.size = 0;
    want.count = want.missing = 0;
    want.refused = false;
    want.values = array;
    rlar__begin(fuzz_ctx());
    if (array)
        known = array_labels(&want, b.at, b.left);
    else
        split(&want, (const char *)b.at, b.left);
    check(&f, &b, choice, &want, known);
    fuzz_check_memory(fuzz_ctx());
    return 0;
}
