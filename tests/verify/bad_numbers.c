/* bad_numbers.c - every kind of bad samples, in every shape, with every scaling, by every method
 * and each of its choices: a finite result or a named error, in good time.
 *
 *   bad_numbers [--count N] [--messages]
 *
 * N of the cells, spread evenly (default: all). --messages lists each distinct error text once. */
#include <unistd.h>

#include "bad_samples.h"

enum {
    MAX_VARIANTS = 128,
    MAX_MESSAGES = 4096,
    SHOWN_FAULTS = 20,
    HANG = 600 /* seconds after which a trial that cannot even be cancelled ends the program */
};
static const double LIMIT = 10.0; /* seconds for a trial; they take about a millisecond */

typedef struct tally {
    int64_t done, fitted, refused, wrong;
    double slowest; /* seconds */
    int64_t n_messages;
    char *message[MAX_MESSAGES]; /* distinct but for digits */
    int64_t cell[KINDS][64][3];  /* by kind, method and verdict */
} tally;

static int make_variants(variant list[MAX_VARIANTS]) {
    int count = 0;
    for (int64_t m = 0; m < rlar_method_count(); m++) {
        const rlar_method_def *def = rlar_method_at(m);
        list[count++] = (variant){.method = m};
        list[count++] = (variant){.method = m, .preset = true};
        if (strcmp(def->name, "rlar") == 0) /* the objective of the paper, minimised */
            list[count++] = (variant){.method = m, .settings = "solver=minimise eps=1e-8"};
        add_choices(list, &count, m);
        assert_true(count + 16 < MAX_VARIANTS);
    }
    return count;
}

/* ---- Distinct messages ---- */

/* Equal but for digits and what stands in quotes. */
static bool same_message(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, "-+.0123456789e");
        b += strspn(b, "-+.0123456789e");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

static void keep_message(tally *t, const char *text) {
    for (int64_t i = 0; i < t->n_messages; i++)
        if (same_message(t->message[i], text))
            return;
    if (t->n_messages < MAX_MESSAGES)
        t->message[t->n_messages++] = strdup(text);
}

/* ---- Cells ---- */

/* What should have been the other way round, or NULL. */
static const char *unexpected(const kind *k, const char *scale, verdict found) {
    const bool by_feature = strncmp(scale, "minmax", 6) == 0 || strncmp(scale, "zscore", 6) == 0;
    if (found == FITTED && k->must == MUST_REFUSE)
        return "fitted, though there is nothing to learn from";
    if (found == REFUSED && (k->must == MUST_FIT || (k->must == MUST_FIT_SCALED && by_feature)))
        return "refused without need";
    return NULL;
}

static void run_cell(tally *t, const kind *k, int shape, const char *scale, const variant *v) {
    char text[RLAR_ERROR_SIZE];
    labelled s = regime_samples(300, shape);
    k->make(&s);
    const double start = rlar__now();
    double deadline = start + LIMIT;
    rlar_ctx *ctx = timed_context(&deadline);
    const trial what = {.method = rlar_method_at(v->method)->name,
                        .settings = v->settings,
                        .preset = v->preset,
                        .scale = scale,
                        .s = &s};
    alarm(HANG);
    verdict found = run_trial(ctx, &what, text);
    const double seconds = rlar__now() - start;
    const char *fault = unexpected(k, scale, found);
    if (fault) {
        found = WRONG;
        snprintf(text, sizeof text, "%s; %.900s", fault, rlar_ctx_error(ctx));
    }
    if (found != WRONG && (seconds > LIMIT || rlar_ctx_memory(ctx) != 0)) {
        found = WRONG;
        snprintf(text, sizeof text, "%.1f s, %lld bytes left", seconds,
                 (long long)rlar_ctx_memory(ctx));
    }
    if (found == WRONG && t->wrong < SHOWN_FAULTS)
        fprintf(stderr, "%s, %lld x %lld, %s, %s%s %s: %s\n", k->name, (long long)s.n,
                (long long)s.d, scale, what.method, v->preset ? " (preset)" : "", v->settings,
                text);
    if (found == REFUSED)
        keep_message(t, text);
    t->done++;
    t->fitted += found == FITTED;
    t->refused += found == REFUSED;
    t->wrong += found == WRONG;
    t->slowest = fmax(t->slowest, seconds);
    t->cell[k - kinds][v->method][found]++;
    rlar_ctx_free(ctx);
    labelled_free(&s);
}

static void run_cells(tally *t, const variant *list, int variants, int64_t count) {
    const int64_t cells = (int64_t)KINDS * REGIMES * SCALINGS * variants, step = step_for(cells);
    const int64_t todo = count > 0 && count < cells ? count : cells;
    for (int64_t i = 0, at = 0; i < todo; i++, at = (at + step) % cells) {
        int64_t rest = at;
        const variant *v = &list[rest % variants];
        rest /= variants;
        const char *scale = scalings[rest % SCALINGS];
        rest /= SCALINGS;
        run_cell(t, &kinds[rest / REGIMES], (int)(rest % REGIMES), scale, v);
        if (i % 10000 == 9999)
            fprintf(stderr, "%lld of %lld\n", (long long)i + 1, (long long)todo);
    }
}

/* ---- The matrix ---- */

static char sign(const int64_t count[3]) {
    return count[WRONG]                      ? '!'
           : count[FITTED] && count[REFUSED] ? 'o'
           : count[FITTED]                   ? '+'
           : count[REFUSED]                  ? '-'
                                             : ' ';
}

static void print_matrix(const tally *t) {
    printf("+ fitted, - named error, o depends on shape, scaling or choice, ! wrong\n\n%36s", "");
    for (int64_t m = 0; m < rlar_method_count(); m++)
        printf(" %.6s%*s", rlar_method_at(m)->name, (int)(6 - strlen(rlar_method_at(m)->name)), "");
    printf("\n");
    for (int k = 0; k < KINDS; k++) {
        printf("%-36s", kinds[k].name);
        for (int64_t m = 0; m < rlar_method_count(); m++)
            printf("   %c   ", sign(t->cell[k][m]));
        printf("\n");
    }
    printf("\n");
}

int main(int argc, char **argv) {
    variant list[MAX_VARIANTS];
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    run_cells(t, list, make_variants(list), option_value(argc, argv, "--count", 0));
    print_matrix(t);
    for (int64_t i = 0; i < t->n_messages; i++) {
        if (option_given(argc, argv, "--messages"))
            printf("%s\n", t->message[i]);
        free(t->message[i]);
    }
    printf(
        "%lld fits of bad samples (%d kinds, %d shapes, %d scalings, %lld methods with all their "
        "choices): %lld finite, %lld named errors, %lld wrong; the longest took %.2f s\n",
        (long long)t->done, KINDS, REGIMES, SCALINGS, (long long)rlar_method_count(),
        (long long)t->fitted, (long long)t->refused, (long long)t->wrong, t->slowest);
    const int wrong = t->wrong > 0;
    free(t);
    return wrong;
}
