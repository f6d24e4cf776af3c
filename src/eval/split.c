/* split.c - repeated splits into training and test parts.
 *
 * A generator is seeded from (seed, data id, rule, trial), so any trial can be made again alone and
 * every method sees the same ones. Class by class in label order the samples are shuffled
 * (Fisher-Yates, unbiased); then
 *
 *   per class   the first u train, the rest test
 *   fraction    the first floor(fraction * size), at least 1 and at most size - 1, train
 *   folds       samples are dealt to the folds in turn, going on where the class before stopped, so
 * that the folds differ by at most one sample in all and in each class
 *
 * A class that is too small is an error, never a silent truncation. */
#include "eval/split.h"

#include "data/dataset.h"

#include <string.h>

/* Separates the generator of the inner folds from that of the outer splits. */
static const uint64_t INNER = 0x696e6e6572u;

/* ---- What is split ---- */

rlar_status rlar__labels_of(rlar_ctx *ctx, const rlar_data *data, rlar_labels *out) {
    if (data->label == NULL || data->classes.count < 1)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "the samples have no labels, which an evaluation needs; name the label "
                          "column (--label)");
    for (int64_t i = 0; i < data->view.n; i++)
        if (data->label[i] < 0 || data->label[i] >= data->classes.count)
            return rlar__fail(ctx, RLAR_E_DATA,
                              "sample %lld has no known class; read the data without a model",
                              (long long)i + 1);
    *out = (rlar_labels){.n = data->view.n,
                         .d = data->view.d,
                         .c = data->classes.count,
                         .label = data->label,
                         .class_size = data->class_size,
                         .classes = &data->classes};
    return RLAR_OK;
}

/* FNV-1a over the eight bytes of a word, lowest first. */
static uint64_t hash_word(uint64_t hash, uint64_t word) {
    for (int i = 0; i < 8; i++, word >>= 8)
        hash = (hash ^ (word & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

/* The labels and sizes, not the values: the splits of a data set do not change when it is read from
 * another file, scaled, or converted. */
uint64_t rlar__data_id(const rlar_labels *labels) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = hash_word(hash, (uint64_t)labels->n);
    hash = hash_word(hash, (uint64_t)labels->d);
    hash = hash_word(hash, (uint64_t)labels->c);
    for (int64_t i = 0; i < labels->n; i++)
        hash = hash_word(hash, (uint64_t)labels->label[i]);
    return hash;
}

/* ---- Can it be split? ---- */

static rlar_status too_small(rlar_ctx *ctx, const rlar_labels *labels, int64_t class,
                             int64_t train) {
    return rlar__fail(
        ctx, RLAR_E_DATA,
        "class \"%.60s\" has %lld samples, but %lld for training and at least one for "
        "the test are wanted; use fewer training samples or leave the class out",
        rlar__texts_at(labels->classes, class), (long long)labels->class_size[class],
        (long long)train);
}

/* Written as a subtraction, because train + 1 may not fit. */
static rlar_status check_classes(rlar_ctx *ctx, const rlar_labels *labels, int64_t train) {
    for (int64_t i = 0; i < labels->c; i++)
        if (labels->class_size[i] - 1 < train)
            return too_small(ctx, labels, i, train);
    return RLAR_OK;
}

/* Small classes are legal here: leave-one-out is n folds. */
static rlar_status check_folds(rlar_ctx *ctx, const rlar_labels *labels, int64_t folds) {
    if (folds > labels->n)
        return rlar__fail(ctx, RLAR_E_ARG, "folds is %lld; choose 2 to %lld, the number of samples",
                          (long long)folds, (long long)labels->n);
    int64_t small = 0, smallest = 0;
    for (int64_t i = 0; i < labels->c; i++) {
        small += labels->class_size[i] < folds;
        smallest = labels->class_size[i] < labels->class_size[smallest] ? i : smallest;
    }
    if (small > 0)
        rlar__log(ctx, RLAR_OK,
                  "%lld of %lld classes have fewer samples than the %lld folds (\"%.60s\": %lld); "
                  "some folds do not test them",
                  (long long)small, (long long)labels->c, (long long)folds,
                  rlar__texts_at(labels->classes, smallest),
                  (long long)labels->class_size[smallest]);
    return RLAR_OK;
}

/* A share of less than one sample is rounded up to one, which may surprise. */
static void note_small_share(rlar_ctx *ctx, const rlar_labels *labels, double fraction) {
    int64_t small = 0;
    for (int64_t i = 0; i < labels->c; i++)
        small += fraction * (double)labels->class_size[i] < 1;
    if (small > 0)
        rlar__log(
            ctx, RLAR_OK,
            "in %lld of %lld classes a training share of %g is less than one sample; one is taken",
            (long long)small, (long long)labels->c, fraction);
}

/* Mark the rows of one side of a given split; each may be marked once. */
static rlar_status mark_rows(rlar_ctx *ctx, const rlar_labels *labels, int64_t trial,
                             const int64_t *rows, int64_t count, bool *seen) {
    if (count < 1 || !rows)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "the split given for trial %lld has no samples to train on or to test",
                          (long long)trial + 1);
    for (int64_t i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= labels->n)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "the split given for trial %lld has sample %lld; there are 0 to %lld",
                              (long long)trial + 1, (long long)rows[i], (long long)labels->n - 1);
        if (seen[rows[i]])
            return rlar__fail(ctx, RLAR_E_ARG,
                              "the split given for trial %lld has sample %lld twice; each may be "
                              "in one part only",
                              (long long)trial + 1, (long long)rows[i]);
        seen[rows[i]] = true;
    }
    return RLAR_OK;
}

static rlar_status check_given(rlar_ctx *ctx, const rlar_labels *labels,
                               const rlar_split_rule *rule) {
    bool *seen = NULL;
    RLAR_TRY(rlar__alloc(ctx, labels->n, sizeof *seen, "the marks", &seen));
    rlar_status status = RLAR_OK;
    for (int64_t t = 0; t < rule->trials && status >= 0; t++) {
        const rlar_rows *rows = &rule->given[t];
        memset(seen, 0, (size_t)labels->n * sizeof *seen);
        status = mark_rows(ctx, labels, t, rows->train, rows->n_train, seen);
        if (status >= 0)
            status = mark_rows(ctx, labels, t, rows->test, rows->n_test, seen);
    }
    rlar__free(seen);
    return status;
}

rlar_status rlar__split_rule_check(rlar_ctx *ctx, const rlar_split_rule *rule) {
    switch (rule->kind) {
    case RLAR_SPLIT_PER_CLASS:
        return rule->per_class >= 1
                   ? RLAR_OK
                   : rlar__fail(ctx, RLAR_E_ARG, "per_class is %lld; choose at least 1",
                                (long long)rule->per_class);
    case RLAR_SPLIT_FRACTION:
        return rule->fraction > 0 && rule->fraction < 1
                   ? RLAR_OK
                   : rlar__fail(ctx, RLAR_E_ARG,
                                "fraction is %g; choose more than 0 and less than 1",
                                rule->fraction);
    case RLAR_SPLIT_FOLDS:
        return rule->folds >= 2 ? RLAR_OK
                                : rlar__fail(ctx, RLAR_E_ARG, "folds is %lld; choose at least 2",
                                             (long long)rule->folds);
    case RLAR_SPLIT_GIVEN:
        return rule->given
                   ? RLAR_OK
                   : rlar__fail(ctx, RLAR_E_ARG, "given splits are promised, none is there");
    }
    return rlar__fail(ctx, RLAR_E_ARG,
                      "split %d is unknown; choose per class, fraction, folds or given",
                      (int)rule->kind);
}

rlar_status rlar__split_check(rlar_ctx *ctx, const rlar_labels *labels,
                              const rlar_split_rule *rule) {
    RLAR_TRY(rlar__split_rule_check(ctx, rule));
    if (rule->kind == RLAR_SPLIT_FOLDS)
        return check_folds(ctx, labels, rule->folds);
    if (rule->kind == RLAR_SPLIT_GIVEN)
        return check_given(ctx, labels, rule);
    const bool share = rule->kind == RLAR_SPLIT_FRACTION;
    RLAR_TRY(check_classes(ctx, labels, share ? 1 : rule->per_class));
    if (share)
        note_small_share(ctx, labels, rule->fraction);
    return RLAR_OK;
}

/* ---- Splitting ---- */

void rlar__part_free(rlar_part *part) {
    rlar__free(part->train);
    rlar__free(part->test);
    *part = (rlar_part){0};
}

/* Each part may be nearly all samples. */
static rlar_status part_alloc(rlar_ctx *ctx, int64_t n, rlar_part *out) {
    *out = (rlar_part){0};
    rlar_status status = rlar__alloc(ctx, n, sizeof *out->train, "the training part", &out->train);
    if (status >= 0)
        status = rlar__alloc(ctx, n, sizeof *out->test, "the test part", &out->test);
    if (status < 0)
        rlar__part_free(out);
    return status;
}

void rlar__group_by_class(const rlar_labels *labels, const int64_t *rows, int64_t n,
                          int64_t *grouped, int64_t *first) {
    memset(first, 0, (size_t)(labels->c + 2) * sizeof *first);
    for (int64_t i = 0; i < n; i++)
        first[labels->label[rows ? rows[i] : i] + 2]++;
    for (int64_t i = 2; i <= labels->c + 1; i++)
        first[i] += first[i - 1];
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = rows ? rows[i] : i;
        grouped[first[labels->label[row] + 1]++] = row;
    }
}

static void put_train(rlar_part *part, int64_t row) {
    part->train[part->n_train++] = row;
}

static void put_test(rlar_part *part, int64_t row) {
    part->test[part->n_test++] = row;
}

/* How one class of `size` samples is shared out when the rule is not folds. */
static int64_t train_count(const rlar_split_rule *rule, int64_t size) {
    if (rule->kind == RLAR_SPLIT_PER_CLASS)
        return rule->per_class < size ? rule->per_class : size;
    /* 0.29 * 100 is a little below 29 in binary; what was meant is the decimal fraction. */
    const int64_t share = (int64_t)(rule->fraction * (double)size + 1e-9);
    return share < 1 ? 1 : share > size - 1 ? size - 1 : share;
}

/* Shuffle every class and deal it out. `dealt` counts samples over all classes. */
static void deal(const rlar_labels *labels, const rlar_split_rule *rule, int64_t fold,
                 rlar_rng *rng, int64_t *grouped, const int64_t *first, rlar_part *out) {
    int64_t dealt = 0;
    for (int64_t i = 0; i < labels->c; i++) {
        int64_t *items = grouped + first[i];
        const int64_t size = first[i + 1] - first[i];
        rlar__rng_shuffle(rng, items, size);
        for (int64_t j = 0; j < size; j++, dealt++) {
            const bool train = rule->kind == RLAR_SPLIT_FOLDS ? dealt % rule->folds != fold
                                                              : j < train_count(rule, size);
            (train ? put_train : put_test)(out, items[j]);
        }
    }
}

/* The common part of outer and inner splits. */
static rlar_status split_rows(rlar_ctx *ctx, const rlar_labels *labels, const int64_t *rows,
                              int64_t n, const rlar_split_rule *rule, int64_t fold, rlar_rng rng,
                              rlar_part *out) {
    int64_t *grouped = NULL, *first = NULL;
    rlar_part part = {0};
    rlar_status status = rlar__alloc(ctx, n, sizeof *grouped, "the samples by class", &grouped);
    if (status >= 0)
        status =
            rlar__alloc(ctx, labels->c + 2, sizeof *first, "the starts of the classes", &first);
    if (status >= 0)
        status = part_alloc(ctx, n, &part);
    if (status >= 0) {
        rlar__group_by_class(labels, rows, n, grouped, first);
        deal(labels, rule, fold, &rng, grouped, first, &part);
        *out = part;
    }
    rlar__free(grouped);
    rlar__free(first);
    return status;
}

/* The word that stands for the rule in the seed: u, the number of folds, the bits of the fraction;
 * 0 for given splits, where only the folds inside are drawn. */
static uint64_t rule_word(const rlar_split_rule *rule) {
    uint64_t word = 0;
    if (rule->kind == RLAR_SPLIT_FRACTION)
        memcpy(&word, &rule->fraction, sizeof word);
    else if (rule->kind != RLAR_SPLIT_GIVEN)
        word = (uint64_t)(rule->kind == RLAR_SPLIT_FOLDS ? rule->folds : rule->per_class);
    return word;
}

static rlar_status group_into(rlar_ctx *ctx, const rlar_labels *labels, const int64_t *rows,
                              int64_t n, int64_t **out) {
    int64_t *first = NULL;
    RLAR_TRY(rlar__alloc(ctx, labels->c + 2, sizeof *first, "the starts of the classes", &first));
    const rlar_status status = rlar__alloc(ctx, n, sizeof **out, "the samples by class", out);
    if (status >= 0)
        rlar__group_by_class(labels, rows, n, *out, first);
    rlar__free(first);
    return status;
}

static rlar_status copy_given(rlar_ctx *ctx, const rlar_labels *labels, const rlar_rows *rows,
                              rlar_part *out) {
    rlar_part part = {.n_train = rows->n_train, .n_test = rows->n_test};
    rlar_status status = group_into(ctx, labels, rows->train, rows->n_train, &part.train);
    if (status >= 0)
        status = group_into(ctx, labels, rows->test, rows->n_test, &part.test);
    if (status < 0)
        rlar__part_free(&part);
    *out = part;
    return status;
}

rlar_status rlar__split_make(rlar_ctx *ctx, const rlar_labels *labels, uint64_t data_id,
                             const rlar_split_rule *rule, int64_t trial, rlar_part *out) {
    const bool folds = rule->kind == RLAR_SPLIT_FOLDS;
    if (rule->kind == RLAR_SPLIT_GIVEN)
        return copy_given(ctx, labels, &rule->given[trial], out);
    const int64_t repetition = folds ? trial / rule->folds : trial;
    const uint64_t words[] = {rule->seed, data_id, rule_word(rule), (uint64_t)repetition};
    return split_rows(ctx, labels, NULL, labels->n, rule, folds ? trial % rule->folds : 0,
                      rlar__rng_seed(words, 4), out);
}

/* The rows stand behind the splits. */
rlar_status rlar__splits_new(rlar_ctx *ctx, const rlar_labels *labels, const rlar_split_rule *rule,
                             int64_t trials, rlar_rows **out) {
    const int64_t n = labels->n;
    const uint64_t data_id = rlar__data_id(labels);
    rlar_rows *splits = NULL;
    RLAR_TRY(rlar__alloc(ctx, trials, sizeof *splits + (size_t)n * sizeof(int64_t), "the splits",
                         &splits));
    rlar_status status = RLAR_OK;
    for (int64_t t = 0; t < trials && status >= 0; t++) {
        rlar_part part = {0};
        int64_t *rows = (int64_t *)(splits + trials) + t * n;
        status = rlar__split_make(ctx, labels, data_id, rule, t, &part);
        if (status >= 0) {
            memcpy(rows, part.train, (size_t)part.n_train * sizeof *rows);
            memcpy(rows + part.n_train, part.test, (size_t)part.n_test * sizeof *rows);
            splits[t] = (rlar_rows){.train = rows,
                                    .test = rows + part.n_train,
                                    .n_train = part.n_train,
                                    .n_test = part.n_test};
            status = rlar__poll(ctx);
        }
        rlar__part_free(&part);
    }
    if (status < 0)
        rlar_rows_free(splits);
    else
        *out = splits;
    return status;
}

void rlar_rows_free(rlar_rows *splits) {
    rlar__free(splits);
}

/* ---- Folds inside a training part ---- */

rlar_status rlar__inner_folds(rlar_ctx *ctx, const rlar_labels *labels, const rlar_part *outer,
                              int64_t wanted, int64_t *folds) {
    int64_t *size;
    int64_t smallest = -1;
    RLAR_TRY(rlar__calloc(ctx, labels->c, sizeof *size, "the class sizes", &size));
    for (int64_t i = 0; i < outer->n_train; i++)
        size[labels->label[outer->train[i]]]++;
    for (int64_t i = 0; i < labels->c; i++)
        if (size[i] > 0 && (smallest < 0 || size[i] < size[smallest]))
            smallest = i;
    const int64_t least = smallest < 0 ? 0 : size[smallest];
    rlar__free(size);
    if (least < 2)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "tuning by cross-validation needs 2 training samples per class, class "
                          "\"%.60s\" has %lld; train on more samples or do not tune",
                          smallest < 0 ? "" : rlar__texts_at(labels->classes, smallest),
                          (long long)least);
    *folds = wanted < least ? wanted : least;
    return RLAR_OK;
}

rlar_status rlar__inner_make(rlar_ctx *ctx, const rlar_labels *labels, uint64_t data_id,
                             const rlar_split_rule *rule, int64_t trial, const rlar_part *outer,
                             int64_t folds, int64_t fold, rlar_part *out) {
    const uint64_t words[] = {rule->seed, data_id, rule_word(rule), (uint64_t)trial, INNER};
    const rlar_split_rule inner = {.kind = RLAR_SPLIT_FOLDS, .folds = folds, .seed = rule->seed};
    return split_rows(ctx, labels, outer->train, outer->n_train, &inner, fold,
                      rlar__rng_seed(words, 5), out);
}
