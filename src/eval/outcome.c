/* outcome.c - predictions reduced to their mistakes, and back to counts. */
#include "eval/outcome.h"

#include <string.h>

rlar_status rlar__outcome_set(rlar_ctx *ctx, const rlar_labels *labels, const rlar_part *part,
                              const int64_t *classes, bool keep, rlar_outcome *out) {
    int64_t wrong = 0;
    for (int64_t i = 0; i < part->n_test; i++)
        wrong += classes[i] != labels->label[part->test[i]];
    if (keep)
        RLAR_TRY(rlar__alloc(ctx, wrong, sizeof *out->wrong, "the mistakes", &out->wrong));
    out->done = true;
    out->kept = keep;
    out->n_wrong = wrong;
    out->accuracy = (double)(part->n_test - wrong) / (double)part->n_test;
    wrong = 0;
    for (int64_t i = 0; i < part->n_test && keep; i++) {
        const int64_t truth = labels->label[part->test[i]];
        if (classes[i] != truth)
            out->wrong[wrong++] =
                (rlar_mistake){.truth = (int32_t)truth, .predicted = (int32_t)classes[i]};
    }
    return RLAR_OK;
}

void rlar__outcome_counts(const rlar_labels *labels, const rlar_part *part,
                          const rlar_outcome *outcome, int64_t *counts) {
    const int64_t c = labels->c;
    for (int64_t i = 0; i < part->n_test; i++)
        counts[labels->label[part->test[i]] * (c + 1)]++;
    for (int64_t i = 0; i < outcome->n_wrong; i++) {
        const rlar_mistake *m = &outcome->wrong[i];
        counts[m->truth * (c + 1)]--;
        counts[m->truth * c + m->predicted]++;
    }
}

rlar_status rlar__outcome_carry(rlar_ctx *ctx, rlar_message *message, rlar_outcome *outcome) {
    struct head {
        rlar_key key;
        double accuracy, seconds[2];
        int64_t n_wrong, entries;
        bool done, kept, zero;
    } h = {.key = outcome->key, /* not used where it is read */
           .accuracy = outcome->accuracy,
           .seconds = {outcome->seconds[0], outcome->seconds[1]},
           .n_wrong = outcome->n_wrong,
           .entries = outcome->wrong ? outcome->n_wrong : 0,
           .done = outcome->done,
           .kept = outcome->kept,
           .zero = outcome->zero};
    RLAR_TRY(rlar__message_carry(ctx, message, &h, sizeof h));
    if (message->reading) {
        RLAR_TRY(
            rlar__alloc(ctx, h.entries, sizeof *outcome->wrong, "the mistakes", &outcome->wrong));
        outcome->key = h.key;
        outcome->accuracy = h.accuracy;
        memcpy(outcome->seconds, h.seconds, sizeof h.seconds);
        outcome->n_wrong = h.n_wrong;
        outcome->done = h.done;
        outcome->kept = h.kept;
        outcome->zero = h.zero;
    }
    RLAR_TRY(rlar__message_carry(ctx, message, outcome->wrong,
                                 (size_t)h.entries * sizeof *outcome->wrong));
    return rlar__message_carry_text(ctx, message, &outcome->failure);
}

void rlar__outcome_clear(rlar_outcome *outcome) {
    const bool wanted = outcome->wanted, due = outcome->due;
    rlar__free(outcome->failure);
    rlar__free(outcome->wrong);
    *outcome = (rlar_outcome){.wanted = wanted, .due = due};
}
