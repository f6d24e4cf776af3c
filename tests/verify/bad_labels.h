/* bad_labels.h - labels that are odd numbers, and labels that a model has never seen, with every
 * method. */
#ifndef RLAR_VERIFY_BAD_LABELS_H
#define RLAR_VERIFY_BAD_LABELS_H

#include "bad_sizes.h"

enum { LABELS = 4 };

/* Names of the classes of samples, some of them the same number, and as they come back. */
typedef struct odd_names {
    const char *text[LABELS], *sorted[LABELS];
    int classes;
} odd_names;

static const odd_names odd_classes[] = {
    {{"10", "2", "2.0", "10"}, {"2", "10"}, 2},
    {{"-5", "1000000", "-5", "7"}, {"-5", "7", "1000000"}, 3},
    {{"0.5", "-0.25", "1e-300", "0.5"}, {"-0.25", "1e-300", "0.5"}, 3},
    {{"0", "-0", "1", "+1"}, {"0", "1"}, 2},
    {{"9223372036854775807", "9223372036854775806", "-9223372036854775808", "0"},
     {"-9223372036854775808", "0", "9223372036854775806", "9223372036854775807"},
     4},
    {{"9007199254740992", "9007199254740993", "1", "1"},
     {"1", "9007199254740992", "9007199254740993"},
     3},
    {{"1e308", "1e999", "-1e308", "1e308"}, {"-1e308", "1e308", "1e999"}, 3},
    {{"inf", "-inf", "1", "1"}, {"-inf", "1", "inf"}, 3},
};

static inline rlar_data *named_data(bench *b, const labelled *s, const char *const text[LABELS]) {
    const char *label[64];
    rlar_data *data = NULL;
    assert_true(s->n <= 64);
    for (int64_t i = 0; i < s->n; i++)
        label[i] = text[(int)s->label[i]];
    assert_int_equal(view_labelled(b->ctx, s, &data), RLAR_OK);
    assert_int_equal(rlar_data_set_labels(b->ctx, data, label), RLAR_OK);
    return data;
}

static inline bool names_kept(const rlar_data *data, const odd_names *names) {
    bool good = rlar_data_classes(data) == names->classes;
    for (int k = 0; good && k < names->classes; k++)
        good = strcmp(rlar_data_class(data, k), names->sorted[k]) == 0;
    return good;
}

/* Every sample is its own nearest, so its class comes back by its name. */
static inline bool known_again(bench *b, const rlar_model *model, const rlar_data *data,
                               const odd_names *names) {
    int64_t found[64];
    bool good = rlar_predict(b->ctx, model, data, NULL, found, NULL) >= 0;
    for (int64_t i = 0; good && i < rlar_data_samples(data); i++)
        good = found[i] == rlar_data_label(data, i) &&
               strcmp(rlar_model_class(model, found[i]), names->sorted[found[i]]) == 0;
    return good;
}

/* The same samples, half of them with labels that the model has never seen: these are unknown, and
 * equal to no prediction, the others are what they were. */
static inline bool unseen_unknown(bench *b, const rlar_model *model, const labelled *s,
                                  const odd_names *names) {
    const int last = names->classes - 1;
    const char *const text[LABELS] = {names->sorted[0], "never seen", names->sorted[last], "nor"};
    const int64_t expected[LABELS] = {0, RLAR_CLASS_UNKNOWN, last, RLAR_CLASS_UNKNOWN};
    rlar_data *data = named_data(b, s, text);
    rlar_stream *stream = NULL;
    const rlar_data *block = NULL;
    int64_t found[64];
    bool good = rlar_stream_data(b->ctx, data, model, &stream) == RLAR_OK &&
                rlar_stream_next(stream, s->n, &block) == RLAR_OK &&
                rlar_predict(b->ctx, model, block, NULL, found, NULL) >= 0;
    for (int64_t i = 0; good && i < s->n; i++)
        good = rlar_data_label(block, i) == expected[(int)s->label[i]] && found[i] >= 0 &&
               found[i] < names->classes;
    rlar_stream_free(stream);
    rlar_data_free(data);
    return good;
}

/* Numbers with gaps, negative, with fractions and at the limits come back as they were. */
static inline void odd_labels(bench *b) {
    const int64_t sizes[LABELS] = {6, 7, 5, 6};
    labelled s = clouds(3, 5, LABELS, sizes);
    for (size_t i = 0; i < sizeof odd_classes / sizeof *odd_classes; i++) {
        rlar_data *data = named_data(b, &s, odd_classes[i].text);
        right(b, names_kept(data, &odd_classes[i]), "names of classes, case", (int64_t)i);
        for (int64_t m = 0; m < rlar_method_count(); m++) {
            const char *method = rlar_method_at(m)->name;
            rlar_model *model = NULL;
            rlar_params *params = trial_params(b->ctx, &(trial){.method = method, .settings = ""});
            const bool good = rlar_fit(b->ctx, data, params, NULL, &model, NULL) >= 0;
            right(b, good && known_again(b, model, data, &odd_classes[i]), method, (int64_t)i);
            right(b, good && unseen_unknown(b, model, &s, &odd_classes[i]), method, (int64_t)i);
            rlar_params_free(params);
            rlar_model_free(model);
        }
        rlar_data_free(data);
    }
    labelled_free(&s);
}

static inline void labels_of_no_number(bench *b) {
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        const double kept = b->s.label[1];
        b->s.label[1] = bad[i];
        refused(b, rlar_data_set_label_numbers(b->ctx, b->data, b->s.label), "label, case", i);
        b->s.label[1] = kept;
    }
}

#endif
