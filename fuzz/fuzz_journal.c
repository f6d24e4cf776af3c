/* fuzz_journal.c - the journal of finished fits. The first character 1 asks for right checksums of
 * the records, 0 takes the bytes as they are; the rest is the file. What opens ends with a
 * whole record, opens again as it is, answers for each of its keys, and takes a further record. No
 * whole record is cut off: damaged bytes before one stay where they are. */
#include "eval/journal.h"
#include "fuzz.h"
#include "model/model_file.h"

enum { HEAD = 24, RECORD = 64, CLASSES = 3 };

/* The parts of a record that this target looks at: see journal.c. */
typedef struct record {
    uint64_t check;
    rlar_key key;
    double numbers[3];
    int64_t failed, entries;
} record;

/* The length of the record at bytes[0..left), 0 if there is none. */
static size_t record_at(const uint8_t *bytes, size_t left, record *out) {
    if (left < RECORD)
        return 0;
    memcpy(out, bytes, sizeof *out);
    const size_t entry = out->failed == 1 ? 1 : sizeof(rlar_mistake);
    if ((out->failed != 0 && out->failed != 1) || out->entries < 0 ||
        (uint64_t)out->entries > (left - RECORD) / entry)
        return 0;
    return RECORD + (size_t)out->entries * entry;
}

static void fix_checksums(uint8_t *bytes, size_t size) {
    record r;
    size_t length;
    for (size_t at = HEAD; at < size; at += length) {
        length = record_at(bytes + at, size - at, &r);
        if (length == 0)
            return;
        const uint64_t check = rlar__crc64(0, bytes + at + 8, length - 8);
        memcpy(bytes + at, &check, sizeof check);
    }
}

static int64_t size_of(const fuzz_file *file) {
    return (int64_t)lseek(file->fd, 0, SEEK_END);
}

static rlar_journal *open_journal(const fuzz_file *file) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_journal *journal = NULL;
    const rlar_status status = rlar__journal_open(ctx, file->path, &journal);
    if (status < 0)
        fuzz_check_refusal(ctx, status);
    return journal;
}

/* The answer for one key: the outcome, none, or damage that is named. */
static void check_key(rlar_journal *journal, rlar_key key) {
    rlar_ctx *ctx = fuzz_ctx();
    rlar_outcome found = {0};
    const rlar_status status = rlar__journal_find(ctx, journal, key, CLASSES, &found);
    if (status < 0)
        fuzz_check_refusal(ctx, status);
    FUZZ_CHECK(status < 0 || found.done, "a record that is there is not found");
    for (int64_t i = 0; i < found.n_wrong; i++)
        FUZZ_CHECK(found.wrong[i].truth >= 0 && found.wrong[i].truth < CLASSES &&
                       found.wrong[i].predicted >= 0 && found.wrong[i].predicted < CLASSES,
                   "a mistake between classes that are none");
    FUZZ_CHECK(!found.failure || found.n_wrong == 0, "a failure with mistakes");
    rlar__outcome_clear(&found);
}

/* The length of the whole record at bytes[0..left), 0 if there is none. */
static size_t whole_at(const uint8_t *bytes, size_t left, record *out) {
    const size_t length = record_at(bytes, left, out);
    return length > 0 && rlar__crc64(0, bytes + 8, length - 8) == out->check ? length : 0;
}

/* Every whole record of the input is there and answered for, whatever lies before it; the file, cut
 * to `end`, ends with the last. */
static void check_keys(rlar_journal *journal, const uint8_t *bytes, size_t size, int64_t end) {
    record r;
    size_t last = HEAD;
    for (size_t at = HEAD; at < size;) {
        const size_t length = whole_at(bytes + at, size - at, &r);
        if (length > 0)
            check_key(journal, r.key);
        at += length > 0 ? length : 1;
        last = length > 0 ? at : last;
    }
    FUZZ_CHECK((int64_t)last == end, "the file ends at %lld, its last whole record at %zu",
               (long long)end, last);
}

static void check_outcome(rlar_journal *journal, rlar_key key, const rlar_outcome *want) {
    rlar_outcome found = {0};
    FUZZ_CHECK(rlar__journal_find(fuzz_ctx(), journal, key, CLASSES, &found) >= 0 && found.done &&
                   found.accuracy == want->accuracy && found.n_wrong == want->n_wrong &&
                   memcmp(found.wrong, want->wrong, (size_t)want->n_wrong * sizeof *want->wrong) ==
                       0,
               "a record that was added comes back as another");
    rlar__outcome_clear(&found);
}

/* A record more, found at once and after opening anew. */
static void check_added(rlar_journal *journal, const fuzz_file *file) {
    rlar_mistake wrong[] = {{0, 1}, {2, 0}};
    const rlar_outcome outcome = {
        .done = true, .kept = true, .accuracy = 0.5, .wrong = wrong, .n_wrong = 2};
    const rlar_key key = rlar__key_add_text((rlar_key){{1, 2}}, "a key that no input has");
    const int64_t before = size_of(file);
    FUZZ_CHECK(rlar__journal_add(fuzz_ctx(), journal, key, &outcome) >= 0, "cannot add: %s",
               rlar_ctx_error(fuzz_ctx()));
    check_outcome(journal, key, &outcome);
    rlar__journal_close(journal);
    const int64_t after = size_of(file);
    FUZZ_CHECK(after > before, "the file did not grow");
    journal = open_journal(file);
    FUZZ_CHECK(journal && size_of(file) == after, "a journal of whole records is cut");
    check_outcome(journal, key, &outcome);
    rlar__journal_close(journal);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static fuzz_file file;
    fuzz_bytes b = {bytes, size};
    const bool fix = fuzz_choice(&b, 2) == 1;
    uint8_t *copy = fuzz_alloc(b.left);
    memcpy(copy, b.at, b.left);
    if (fix)
        fix_checksums(copy, b.left);
    fuzz_file_set(&file, copy, b.left);
    rlar__begin(fuzz_ctx());
    rlar_journal *journal = open_journal(&file);
    if (!journal)
        FUZZ_CHECK(size_of(&file) == (int64_t)b.left, "a file that is refused is changed");
    if (journal && b.left > 0) {
        /* A head that was cut off is written anew. */
        const int64_t most = b.left < HEAD ? HEAD : (int64_t)b.left;
        FUZZ_CHECK(size_of(&file) <= most, "opening makes the file longer");
        check_keys(journal, copy, b.left, size_of(&file));
    }
    if (journal)
        check_added(journal, &file);
    free(copy);
    fuzz_check_memory(fuzz_ctx());
    return 0;
}
