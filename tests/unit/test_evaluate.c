/* test_evaluate.c - evaluation against the same steps done by hand through the public calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/grid.h"
#include "eval/metrics.h"
#include "eval/split.h"

enum { N = 60, D = 4, C = 3 };

typedef struct world {
    rlar_ctx *ctx;
    double x[N * D], y[N];
    rlar_data *data;
    rlar_params *params;
    int events;
    int64_t done, total;
    int cancel_at; /* event at which the callback asks to stop; 0: never */
} world;

static int on_progress(void *user, const rlar_event *event) {
    world *w = user;
    if (event->kind != RLAR_EVENT_FIT)
        return 0;
    assert_true(event->done >= w->done && event->done <= event->total);
    w->done = event->done;
    w->total = event->total;
    return ++w->events == w->cancel_at;
}

static void open_data(world *w) {
    rlar_view view = RLAR_INIT(rlar_view);
    view.n = N;
    view.d = view.stride = D;
    view.x = w->x;
    assert_int_equal(rlar_data_view(w->ctx, &view, &w->data), RLAR_OK);
    assert_int_equal(rlar_data_set_label_numbers(w->ctx, w->data, w->y), RLAR_OK);
}

/* Three overlapping clouds. */
static void world_open(world *w, int threads) {
    const uint64_t seed = 42;
    rlar_rng rng = rlar__rng_seed(&seed, 1);
    rlar_ctx_options o = RLAR_INIT(rlar_ctx_options);
    memset(w, 0, sizeof *w);
    o.threads = threads;
    o.progress = on_progress;
    o.user = w;
    assert_int_equal(rlar_ctx_new(&o, &w->ctx), RLAR_OK);
    for (int i = 0; i < N; i++) {
        w->y[i] = i % C;
        for (int j = 0; j < D; j++)
            w->x[i * D + j] = (double)(rlar__rng_next(&rng) >> 11) / 9007199254740992.0 +
                              (i % C == j ? 0.45 : 0.0) + 0.3;
    }
    open_data(w);
    assert_int_equal(rlar_params_new(w->ctx, "rlar", &w->params), RLAR_OK);
    assert_int_equal(rlar_params_set(w->ctx, w->params, "iters", "5"), RLAR_OK);
}

static void world_close(world *w) {
    rlar_params_free(w->params);
    rlar_data_free(w->data);
    rlar_ctx_free(w->ctx);
}

static rlar_eval_spec spec_of(world *w, rlar_tune tune) {
    rlar_eval_spec s = RLAR_INIT(rlar_eval_spec);
    s.methods = (const rlar_params *const *)&w->params;
    s.n_methods = 1;
    s.split = RLAR_SPLIT_PER_CLASS;
    s.per_class = 6;
    s.trials = 4;
    s.seed = 7;
    s.tune = tune;
    return s;
}

static rlar_eval *evaluate(world *w, const rlar_eval_spec *spec, rlar_eval_result *r) {
    rlar_eval *eval = NULL;
    const rlar_status status = rlar_evaluate(w->ctx, w->data, spec, &eval);
    if (status < 0)
        fail_msg("%s", rlar_ctx_error(w->ctx));
    *r = RLAR_INIT(rlar_eval_result);
    assert_int_equal(rlar_eval_get(eval, 0, r), RLAR_OK);
    return eval;
}

/* ---- By hand ---- */

static rlar_split_rule rule_of(const rlar_eval_spec *s) {
    return (rlar_split_rule){.kind = s->split,
                             .per_class = s->per_class,
                             .fraction = s->fraction,
                             .folds = s->folds,
                             .seed = s->seed};
}

static rlar_part hand_split(world *w, const rlar_eval_spec *s, int64_t trial, rlar_labels *labels) {
    const rlar_split_rule rule = rule_of(s);
    rlar_part part = {0};
    assert_int_equal(rlar__labels_of(w->ctx, w->data, labels), RLAR_OK);
    assert_int_equal(rlar__split_make(w->ctx, labels, rlar__data_id(labels), &rule, trial, &part),
                     RLAR_OK);
    return part;
}

/* The answers of one fit, numbered by the model; alpha NULL: as in the world's parameters. */
static void hand_answers(world *w, const rlar_part *part, const char *alpha, const char *scale,
                         const char *classifier, int64_t *classes) {
    rlar_fit_options fit = RLAR_INIT(rlar_fit_options);
    rlar_predict_options predict = RLAR_INIT(rlar_predict_options);
    rlar_params *params = NULL;
    rlar_model *model = NULL;
    fit.scale = scale;
    fit.rows = part->train;
    fit.n_rows = part->n_train;
    predict.classifier = classifier;
    predict.rows = part->test;
    predict.n_rows = part->n_test;
    assert_int_equal(rlar_params_copy(w->ctx, w->params, &params), RLAR_OK);
    if (alpha)
        assert_int_equal(rlar_params_set(w->ctx, params, "alpha", alpha), RLAR_OK);
    assert_true(rlar_fit(w->ctx, w->data, params, &fit, &model, NULL) >= 0);
    assert_true(rlar_predict(w->ctx, model, w->data, &predict, classes, NULL) >= 0);
    rlar_model_free(model);
    rlar_params_free(params);
}

/* Its accuracy. */
static double hand_fit(world *w, const rlar_part *part, const char *alpha, const char *scale,
                       const char *classifier, int64_t *counts) {
    int64_t classes[N], right = 0;
    hand_answers(w, part, alpha, scale, classifier, classes);
    for (int64_t i = 0; i < part->n_test; i++) {
        const int64_t truth = rlar_data_label(w->data, part->test[i]);
        right += classes[i] == truth;
        if (counts)
            counts[truth * C + classes[i]]++;
    }
    return (double)right / (double)part->n_test;
}

/* ---- Tests ---- */

static void test_no_tuning(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    const rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_NONE);
    rlar_eval_result r;
    rlar_eval *eval = evaluate(&w, &spec, &r);
    int64_t all[C * C] = {0};
    double sum = 0;
    assert_int_equal(rlar_eval_count(eval), 1);
    assert_string_equal(r.method, "rlar");
    assert_int_equal(r.trials, 4);
    for (int64_t t = 0; t < 4; t++) {
        rlar_labels labels;
        rlar_part part = hand_split(&w, &spec, t, &labels);
        int64_t counts[C * C] = {0};
        assert_true(r.accuracy[t] == hand_fit(&w, &part, NULL, NULL, NULL, counts));
        const rlar_metrics m = rlar__metrics(C, counts);
        assert_true(r.balanced[t] == m.balanced && r.macro_f1[t] == m.macro_f1);
        for (int i = 0; i < C * C; i++)
            all[i] += counts[i];
        sum += r.accuracy[t];
        rlar__part_free(&part);
    }
    assert_memory_equal(all, r.confusion, sizeof all);
    assert_true(fabs(r.accuracy_mean - sum / 4) < 1e-15);
    assert_true(r.accuracy_mean > 0.4 && r.accuracy_mean < 1);
    assert_true(r.accuracy_std > 0 && r.fit_seconds > 0 && r.predict_seconds > 0);
    assert_int_equal(r.failed, 0);
    assert_null(r.failure);
    assert_int_equal(r.cells, 1);
    assert_int_equal(r.n_axes, 0);
    assert_int_equal(r.n_selected, 0);
    assert_true(r.cell_accuracy[0] == r.accuracy_mean);
    assert_true(r.train_min == 18 && r.train_max == 18 && r.test_min == 42 && r.test_max == 42);
    assert_true(w.done == 4 && w.total == 4);
    rlar_eval_free(eval);
    rlar_eval_free(NULL);
    world_close(&w);
}

static const char *const alphas[] = {"0.001", "0.1", "10"};

static void test_oracle(void **state) {
    (void)state;
    world w;
    world_open(&w, 2);
    const rlar_axis axis = {.name = "alpha", .values = alphas, .n_values = 3};
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_ORACLE);
    spec.axes = &axis;
    spec.n_axes = 1;
    rlar_eval_result r;
    rlar_eval *eval = evaluate(&w, &spec, &r);
    assert_int_equal(r.cells, 3);
    assert_string_equal(r.axis_names[0], "alpha");
    double best = 0;
    for (int cell = 0; cell < 3; cell++) {
        double sum = 0;
        for (int64_t t = 0; t < 4; t++) {
            rlar_labels labels;
            rlar_part part = hand_split(&w, &spec, t, &labels);
            sum += hand_fit(&w, &part, alphas[cell], NULL, NULL, NULL);
            rlar__part_free(&part);
        }
        assert_string_equal(r.cell_values[cell], alphas[cell]);
        assert_true(r.cell_accuracy[cell] == sum / 4);
        best = fmax(best, sum / 4);
    }
    assert_int_equal(r.n_selected, 1);
    assert_true(fabs(r.cell_accuracy[r.selected[0]] - best) <= 1e-12);
    assert_true(fabs(r.accuracy_mean - best) <= 1e-12);
    assert_true(w.done == 16 && w.total == 16);
    rlar_eval_free(eval);
    world_close(&w);
}

static void test_cv(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    const rlar_axis axis = {.method = "rlar", .name = "alpha", .values = alphas, .n_values = 3};
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_CV);
    spec.axes = &axis;
    spec.n_axes = 1;
    spec.trials = 2;
    spec.tune_folds = 3;
    spec.scale = "minmax";
    rlar_eval_result r;
    rlar_eval *eval = evaluate(&w, &spec, &r);
    const rlar_split_rule rule = rule_of(&spec);
    double mean[3] = {0};
    assert_int_equal(r.n_selected, 2);
    for (int64_t t = 0; t < 2; t++) {
        rlar_labels labels;
        rlar_part outer = hand_split(&w, &spec, t, &labels);
        double valid[3] = {0};
        for (int cell = 0; cell < 3; cell++) {
            for (int64_t f = 0; f < 3; f++) {
                rlar_part inner = {0};
                assert_int_equal(rlar__inner_make(w.ctx, &labels, rlar__data_id(&labels), &rule, t,
                                                  &outer, 3, f, &inner),
                                 RLAR_OK);
                valid[cell] += hand_fit(&w, &inner, alphas[cell], "minmax", NULL, NULL) / 3;
                rlar__part_free(&inner);
            }
            mean[cell] += valid[cell] / 2;
        }
        /* Equal means go to the larger alpha, which stands later in this list. */
        int best = 0;
        for (int cell = 1; cell < 3; cell++)
            best = valid[cell] >= valid[best] - 1e-12 ? cell : best;
        assert_int_equal(r.selected[t], best);
        assert_true(r.accuracy[t] == hand_fit(&w, &outer, alphas[best], "minmax", NULL, NULL));
        rlar__part_free(&outer);
    }
    for (int cell = 0; cell < 3; cell++)
        assert_true(fabs(r.cell_accuracy[cell] - mean[cell]) < 1e-12);
    assert_int_equal(w.total, 2 * 3 * 3 + 2);
    assert_int_equal(w.done, w.total);
    rlar_eval_free(eval);
    world_close(&w);
}

static void test_choices_are_axes(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    static const char *const scales[] = {"unit", "minmax,unit"}, *const kinds[] = {"argmax", "1nn"};
    const rlar_axis axes[] = {{.name = "scale", .values = scales, .n_values = 2},
                              {.name = "classifier", .values = kinds, .n_values = 2}};
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_ORACLE);
    spec.axes = axes;
    spec.n_axes = 2;
    rlar_eval_result r;
    rlar_eval *eval = evaluate(&w, &spec, &r);
    assert_int_equal(r.cells, 4);
    for (int cell = 0; cell < 4; cell++) {
        double sum = 0;
        assert_string_equal(r.cell_values[2 * cell], scales[cell / 2]);
        assert_string_equal(r.cell_values[2 * cell + 1], kinds[cell % 2]);
        for (int64_t t = 0; t < 4; t++) {
            rlar_labels labels;
            rlar_part part = hand_split(&w, &spec, t, &labels);
            sum += hand_fit(&w, &part, NULL, scales[cell / 2], kinds[cell % 2], NULL);
            rlar__part_free(&part);
        }
        assert_true(r.cell_accuracy[cell] == sum / 4);
    }
    rlar_eval_free(eval);
    world_close(&w);
}

/* Own grid of the method, folds, two methods: the same bits for 1, 2 and 3 threads. */
static void test_threads(void **state) {
    (void)state;
    double accuracy[2][6], cells[100];
    int64_t selected[6], confusion[C * C];
    for (int threads = 1; threads <= 3; threads++) {
        world w;
        world_open(&w, threads);
        rlar_params *other = NULL;
        assert_int_equal(rlar_params_copy(w.ctx, w.params, &other), RLAR_OK);
        assert_int_equal(rlar_params_set(w.ctx, other, "iters", "2"), RLAR_OK);
        assert_int_equal(rlar_params_set(w.ctx, w.params, "iters", "1"), RLAR_OK);
        const rlar_params *const methods[] = {w.params, other};
        rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_CV);
        spec.methods = methods;
        spec.n_methods = 2;
        spec.split = RLAR_SPLIT_FOLDS;
        spec.folds = 3;
        spec.trials = 2;
        spec.tune_folds = 2;
        rlar_eval_result r[2];
        rlar_eval *eval = evaluate(&w, &spec, &r[0]);
        r[1] = RLAR_INIT(rlar_eval_result);
        assert_int_equal(rlar_eval_get(eval, 1, &r[1]), RLAR_OK);
        assert_int_equal(r[0].trials, 6);
        assert_int_equal(r[0].cells, 100);
        assert_int_equal(r[0].n_axes, 2);
        assert_string_equal(r[0].cell_values[2 * 10], "0.005"); /* the first axis varies slowest */
        assert_string_equal(r[0].cell_values[2 * 10 + 1], "0.001");
        if (threads == 1) {
            memcpy(accuracy[0], r[0].accuracy, sizeof accuracy[0]);
            memcpy(accuracy[1], r[1].accuracy, sizeof accuracy[1]);
            memcpy(cells, r[0].cell_accuracy, sizeof cells);
            memcpy(selected, r[1].selected, sizeof selected);
            memcpy(confusion, r[0].confusion, sizeof confusion);
        }
        assert_memory_equal(accuracy[0], r[0].accuracy, sizeof accuracy[0]);
        assert_memory_equal(accuracy[1], r[1].accuracy, sizeof accuracy[1]);
        assert_memory_equal(cells, r[0].cell_accuracy, sizeof cells);
        assert_memory_equal(selected, r[1].selected, sizeof selected);
        assert_memory_equal(confusion, r[0].confusion, sizeof confusion);
        rlar_eval_free(eval);
        rlar_params_free(other);
        world_close(&w);
    }
}

/* Fill every part with the means of what its training samples have. */
static void hand_fill(world *w, const double *holed, const rlar_part *part) {
    memcpy(w->x, holed, sizeof w->x);
    for (int j = 0; j < D; j++) {
        double sum = 0, known = 0;
        for (int64_t i = 0; i < part->n_train; i++) {
            const double value = holed[part->train[i] * D + j];
            sum += isnan(value) ? 0 : value;
            known += !isnan(value);
        }
        for (int i = 0; i < N; i++)
            if (isnan(w->x[i * D + j]))
                w->x[i * D + j] = sum / known;
    }
}

/* Missing values become the means of each training part, not of all samples. */
static void test_fill(void **state) {
    (void)state;
    world w;
    rlar_eval_result r;
    double holed[N * D];
    world_open(&w, 2);
    for (int i = 0; i < N * D; i += 5)
        w.x[i] = NAN;
    memcpy(holed, w.x, sizeof holed);
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_NONE);
    spec.trials = 8;
    spec.fill = 1;
    rlar_eval *eval = evaluate(&w, &spec, &r);
    assert_int_equal(r.failed, 0);
    for (int64_t t = 0; t < r.trials; t++) {
        rlar_labels labels;
        rlar_part part = hand_split(&w, &spec, t, &labels);
        hand_fill(&w, holed, &part);
        assert_true(r.accuracy[t] == hand_fit(&w, &part, NULL, NULL, NULL, NULL));
        rlar__part_free(&part);
    }
    rlar_eval_free(eval);
    w.done = 0;
    memcpy(w.x, holed, sizeof holed);
    w.x[1] = INFINITY; /* beside a missing value */
    spec.fill = 0;
    eval = evaluate(&w, &spec, &r);
    assert_int_equal(r.failed, 8);
    assert_non_null(strstr(r.failure, "is missing (nan)"));
    rlar_eval_free(eval);
    w.done = 0;
    spec.fill = 1;
    eval = evaluate(&w, &spec, &r);
    assert_true(r.failed > 0);
    assert_non_null(strstr(r.failure, "sample 1, feature 2 is infinite"));
    rlar_eval_free(eval);
    w.done = 0;
    for (int i = 0; i < N; i++)
        w.x[i * D + 2] = NAN;
    eval = evaluate(&w, &spec, &r);
    assert_int_equal(r.failed, 8);
    assert_non_null(strstr(r.failure, "feature 3 is missing in all 18 training samples; leave it"));
    rlar_eval_free(eval);
    w.done = 0;
    world_close(&w);
}

/* A sample with a missing value spoils exactly the trials that train on it. */
static void test_failed_trials(void **state) {
    (void)state;
    const rlar_tune tunes[] = {RLAR_TUNE_NONE, RLAR_TUNE_ORACLE, RLAR_TUNE_CV};
    for (int i = 0; i < 3; i++) {
        world w;
        world_open(&w, 2);
        w.x[0] = NAN;
        const rlar_axis axis = {.name = "alpha", .values = alphas, .n_values = 2};
        rlar_eval_spec spec = spec_of(&w, tunes[i]);
        spec.axes = &axis;
        spec.n_axes = 1;
        spec.trials = 8;
        spec.per_class = 10;
        rlar_eval_result r;
        rlar_eval *eval = evaluate(&w, &spec, &r);
        int64_t failed = 0;
        for (int64_t t = 0; t < 8; t++) {
            rlar_labels labels;
            rlar_part part = hand_split(&w, &spec, t, &labels);
            bool trained = false;
            for (int64_t j = 0; j < part.n_train; j++)
                trained = trained || part.train[j] == 0;
            assert_true(isnan(r.accuracy[t]) == trained);
            failed += trained;
            rlar__part_free(&part);
        }
        assert_true(failed > 0 && failed < 8);
        assert_int_equal(r.failed, failed);
        assert_int_equal(r.cell_failures[0], failed);
        assert_non_null(strstr(r.failure, "sample 1"));
        assert_true(r.accuracy_mean > 0);
        assert_int_equal(w.done, w.total);
        rlar_eval_free(eval);
        world_close(&w);
    }
}

/* A class of one sample: in the fold that tests it the model knows two classes, numbered otherwise.
 */
static void test_lost_class(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    for (int i = 0; i < N; i++)
        w.y[i] = i == 0 ? 0 : 1 + i % 2;
    assert_int_equal(rlar_data_set_label_numbers(w.ctx, w.data, w.y), RLAR_OK);
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_NONE);
    spec.split = RLAR_SPLIT_FOLDS;
    spec.folds = 3;
    spec.trials = 1;
    rlar_eval_result r;
    rlar_eval *eval = evaluate(&w, &spec, &r);
    int64_t all = 0;
    for (int i = 0; i < C * C; i++)
        all += r.confusion[i];
    assert_int_equal(all, N);
    assert_int_equal(r.confusion[0], 0); /* never trained on when tested */
    assert_int_equal(r.confusion[0] + r.confusion[1] + r.confusion[2], 1);
    assert_int_equal(r.confusion[3] + r.confusion[4] + r.confusion[5], 29);
    rlar_eval_free(eval);
    world_close(&w);
}

/* ---- A class that only the test part has ---- */

enum { LOST_TRIALS = C + 1, TESTED = 30 };

typedef struct lost {
    rlar_rows given[LOST_TRIALS];
    int64_t train[LOST_TRIALS][N], test[LOST_TRIALS][N];
} lost;

/* The first half of the samples without a class trains, the other half is the test. In the last
 * trial it is the first class again, and nothing else is tested. */
static void lose_classes(lost *l) {
    memset(l, 0, sizeof *l);
    for (int t = 0; t < LOST_TRIALS; t++) {
        rlar_rows *rows = &l->given[t];
        for (int64_t i = 0; i < N; i++)
            if (i < N - TESTED && i % C != t % C)
                l->train[t][rows->n_train++] = i;
            else if (i >= N - TESTED && (t < C || i % C == 0))
                l->test[t][rows->n_test++] = i;
        rows->train = l->train[t];
        rows->test = l->test[t];
    }
}

static rlar_eval_spec spec_of_lost(world *w, const lost *l, rlar_tune tune) {
    rlar_eval_spec s = spec_of(w, tune);
    s.split = RLAR_SPLIT_GIVEN;
    s.given = l->given;
    s.trials = LOST_TRIALS;
    return s;
}

/* The model numbers the classes that it knows: those behind the lost one have moved up. */
static void count_lost(world *w, lost *l, int t, int64_t *counts) {
    const rlar_rows *rows = &l->given[t];
    rlar_part part = {.train = l->train[t], .test = l->test[t]};
    int64_t classes[N];
    part.n_train = rows->n_train;
    part.n_test = rows->n_test;
    hand_answers(w, &part, NULL, NULL, NULL, classes);
    for (int64_t i = 0; i < rows->n_test; i++) {
        assert_in_range(classes[i], 0, C - 2);
        counts[rows->test[i] % C * C + classes[i] + (classes[i] >= t % C)]++;
    }
}

/* From the definitions; a class that occurs neither in the truth nor in the answers has no F1. */
static void assert_metrics(const int64_t *counts, double accuracy, double balanced, double f1) {
    double right = 0, all = 0, recalls = 0, tested = 0, scores = 0, occur = 0;
    for (int i = 0; i < C; i++) {
        const double hits = (double)counts[i * C + i];
        double truth = 0, answers = 0;
        for (int j = 0; j < C; j++) {
            truth += (double)counts[i * C + j];
            answers += (double)counts[j * C + i];
        }
        right += hits;
        all += truth;
        recalls += truth > 0 ? hits / truth : 0;
        tested += truth > 0;
        scores += truth + answers > 0 ? 2 * hits / (truth + answers) : 0;
        occur += truth + answers > 0;
    }
    assert_true(fabs(accuracy - right / all) < 1e-15);
    assert_true(fabs(balanced - recalls / tested) < 1e-15);
    assert_true(fabs(f1 - scores / occur) < 1e-15);
}

/* Each of its samples is wrong, its recall and F1 are 0, and the other classes keep their own
 * numbers in the confusion. */
static void test_only_in_the_test(void **state) {
    (void)state;
    static const char *const methods[] = {"rlar", "rr", "lda"};
    for (int m = 0; m < 3; m++) {
        world w;
        lost l;
        world_open(&w, 2);
        rlar_params_free(w.params);
        assert_int_equal(rlar_params_new(w.ctx, methods[m], &w.params), RLAR_OK);
        lose_classes(&l);
        const rlar_eval_spec spec = spec_of_lost(&w, &l, RLAR_TUNE_NONE);
        rlar_eval_result r;
        rlar_eval *eval = evaluate(&w, &spec, &r);
        int64_t all[C * C] = {0};
        assert_int_equal(r.failed, 0);
        assert_null(r.failure);
        for (int t = 0; t < LOST_TRIALS; t++) {
            int64_t counts[C * C] = {0};
            count_lost(&w, &l, t, counts);
            assert_int_equal(counts[t % C * (C + 1)], 0);
            assert_metrics(counts, r.accuracy[t], r.balanced[t], r.macro_f1[t]);
            assert_true(r.accuracy[t] <= 2.0 / 3 && r.balanced[t] <= 2.0 / 3);
            assert_true(t == C || r.accuracy[t] > 1.0 / 3);
            for (int i = 0; i < C * C; i++)
                all[i] += counts[i];
        }
        assert_memory_equal(all, r.confusion, sizeof all);
        assert_true(r.accuracy[C] == 0 && r.balanced[C] == 0 && r.macro_f1[C] == 0);
        assert_true(r.train_min == 20 && r.train_max == 20 && r.test_min == 10 && r.test_max == 30);
        rlar_eval_free(eval);
        world_close(&w);
    }
}

/* The choice by cross-validation is made among the classes of the training part, that by test
 * accuracy with those of the test part; both go on where all answers are wrong. */
static void test_only_in_the_test_tuned(void **state) {
    (void)state;
    const rlar_tune tunes[] = {RLAR_TUNE_ORACLE, RLAR_TUNE_CV};
    const rlar_axis axis = {.name = "alpha", .values = alphas, .n_values = 3};
    for (int i = 0; i < 2; i++) {
        world w;
        lost l;
        world_open(&w, 2);
        lose_classes(&l);
        rlar_eval_spec spec = spec_of_lost(&w, &l, tunes[i]);
        spec.axes = &axis;
        spec.n_axes = 1;
        rlar_eval_result r;
        rlar_eval *eval = evaluate(&w, &spec, &r);
        assert_int_equal(r.failed, 0);
        for (int t = 0; t < LOST_TRIALS; t++)
            assert_true(r.accuracy[t] <= 2.0 / 3 && (t == C) == (r.accuracy[t] == 0));
        if (tunes[i] == RLAR_TUNE_CV)
            assert_true(r.cell_accuracy[1] > 2.0 / 3);
        rlar_eval_free(eval);
        world_close(&w);
    }
}

/* ---- The grid alone ---- */

static void test_ties(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    static const char *const numbers[] = {"10", "0.5", "1e2"}, *const texts[] = {"paper", "anneal"};
    const rlar_axis axes[] = {{.name = "solver", .values = texts, .n_values = 2},
                              {.name = "alpha", .values = numbers, .n_values = 3}};
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_ORACLE);
    spec.axes = axes;
    spec.n_axes = 2;
    rlar_grid grid;
    assert_int_equal(rlar__grid_build(w.ctx, &spec, 0, &grid), RLAR_OK);
    assert_int_equal(grid.cells, 6);
    int64_t none[6] = {0}, some[6] = {0, 0, 1, 0, 0, 0};
    const double equal[6] = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9};
    /* The earlier text, then the larger number (100, the third). */
    assert_int_equal(rlar__grid_best(&grid, equal, none), 2);
    assert_int_equal(rlar__grid_best(&grid, equal, some), 0);
    const double later[6] = {0.1, 0.1, 0.1, 0.2, 0.2 + 1e-14, 0.2};
    assert_int_equal(rlar__grid_best(&grid, later, none), 5);
    const double holes[6] = {NAN, 0.3, NAN, NAN, 0.4, NAN};
    assert_int_equal(rlar__grid_best(&grid, holes, none), 4);
    const double nothing[6] = {NAN, NAN, NAN, NAN, NAN, NAN};
    assert_int_equal(rlar__grid_best(&grid, nothing, none), -1);
    rlar__grid_free(&grid);
    world_close(&w);
}

/* ---- Refusals ---- */

static void expect(world *w, const rlar_eval_spec *spec, rlar_status status, const char *text) {
    rlar_eval *eval = NULL;
    const int64_t held = rlar_ctx_memory(w->ctx);
    w->events = 0;
    assert_int_equal(rlar_evaluate(w->ctx, w->data, spec, &eval), status);
    assert_null(eval);
    assert_int_equal(w->events, 0); /* before any fit starts */
    if (strstr(rlar_ctx_error(w->ctx), text) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", rlar_ctx_error(w->ctx), text);
    assert_int_equal(rlar_ctx_memory(w->ctx), held);
}

static void expect_axis(world *w, rlar_axis axis, const char *text) {
    rlar_eval_spec spec = spec_of(w, RLAR_TUNE_CV);
    spec.axes = &axis;
    spec.n_axes = 1;
    expect(w, &spec, RLAR_E_ARG, text);
}

static void test_bad_axes(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    static const char *const bad[] = {"0.1", "-1"}, *const words[] = {"nonsense"};
    expect_axis(&w, (rlar_axis){.name = "gamma", .values = alphas, .n_values = 3}, "gamma");
    expect_axis(&w, (rlar_axis){.method = "rlar", .name = "gamma", .values = alphas, .n_values = 3},
                "gamma");
    expect_axis(&w, (rlar_axis){.method = "lda", .name = "alpha", .values = alphas, .n_values = 3},
                "which is not evaluated");
    expect_axis(&w, (rlar_axis){.name = "alpha", .values = bad, .n_values = 2}, "alpha");
    expect_axis(&w, (rlar_axis){.name = "alpha", .values = bad, .n_values = 0}, "has no values");
    expect_axis(&w, (rlar_axis){.name = "scale", .values = words, .n_values = 1}, "nonsense");
    expect_axis(&w, (rlar_axis){.name = "classifier", .values = words, .n_values = 1}, "nonsense");
    const rlar_axis twice[] = {
        {.name = "alpha", .values = alphas, .n_values = 3},
        {.method = "rlar", .name = "alpha", .values = alphas, .n_values = 3}};
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_CV);
    spec.axes = twice;
    spec.n_axes = 2;
    expect(&w, &spec, RLAR_E_ARG, "given twice");
    world_close(&w);
}

/* Before there are data, and before anything else is done with them. */
static void refuse_check(world *w, const rlar_eval_spec *spec, const char *text) {
    assert_int_equal(rlar_eval_check(w->ctx, spec), RLAR_E_ARG);
    if (!strstr(rlar_ctx_error(w->ctx), text))
        fail_msg("\"%s\" lacks \"%s\"", rlar_ctx_error(w->ctx), text);
    expect(w, spec, RLAR_E_ARG, text);
}

static void test_check_splits(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_NONE);
    assert_int_equal(rlar_eval_check(w.ctx, &spec), RLAR_OK);
    spec.per_class = 0;
    refuse_check(&w, &spec, "per_class is 0; choose at least 1");
    spec.split = (rlar_split)99;
    refuse_check(&w, &spec, "split 99 is unknown");
    spec.split = RLAR_SPLIT_FRACTION;
    spec.fraction = 2;
    refuse_check(&w, &spec, "fraction is 2; choose more than 0 and less than 1");
    spec.fraction = NAN;
    refuse_check(&w, &spec, "fraction is nan");
    spec.fraction = 0.5;
    assert_int_equal(rlar_eval_check(w.ctx, &spec), RLAR_OK);
    spec.split = RLAR_SPLIT_FOLDS;
    spec.folds = 1;
    refuse_check(&w, &spec, "folds is 1; choose at least 2");
    spec.folds = INT64_MAX;
    assert_int_equal(rlar_eval_check(w.ctx, &spec), RLAR_OK);
    expect(&w, &spec, RLAR_E_ARG, "the number of samples");
    spec.folds = 2;
    assert_int_equal(rlar_eval_check(w.ctx, &spec), RLAR_OK);
    spec.split = RLAR_SPLIT_GIVEN;
    refuse_check(&w, &spec, "given splits are promised, none is there");
    const rlar_rows none[4] = {{0}};
    spec.given = none;
    assert_int_equal(rlar_eval_check(w.ctx, &spec), RLAR_OK);
    expect(&w, &spec, RLAR_E_ARG, "has no samples");
    world_close(&w);
}

static void test_bad_specs(void **state) {
    (void)state;
    world w;
    world_open(&w, 1);
    rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_CV);
    spec.per_class = 1;
    expect(&w, &spec, RLAR_E_DATA, "tuning by cross-validation needs 2 training samples per class");
    spec.per_class = 20;
    expect(&w, &spec, RLAR_E_DATA, "has 20 samples");
    spec.per_class = 6;
    spec.tune_folds = 1;
    expect(&w, &spec, RLAR_E_ARG, "tune_folds is 1");
    spec.tune_folds = 0;
    spec.trials = -1;
    expect(&w, &spec, RLAR_E_ARG, "trials is -1");
    spec.trials = 1;
    spec.scale = "nonsense";
    expect(&w, &spec, RLAR_E_ARG, "nonsense");
    spec.scale = NULL;
    spec.classifier = "svm";
    expect(&w, &spec, RLAR_E_ARG, "svm");
    spec.classifier = NULL;
    spec.neighbours = -1;
    expect(&w, &spec, RLAR_E_ARG, "neighbours is -1");
    spec.neighbours = 0;
    spec.n_methods = 0;
    expect(&w, &spec, RLAR_E_ARG, "no method");
    spec.n_methods = 1;
    spec.size = 0;
    expect(&w, &spec, RLAR_E_ARG, "size of the spec");
    /* More neighbours than references is known only when fitting: it ends the evaluation. */
    spec = spec_of(&w, RLAR_TUNE_NONE);
    spec.classifier = "knn";
    spec.neighbours = 19;
    rlar_eval *eval = NULL;
    assert_int_equal(rlar_evaluate(w.ctx, w.data, &spec, &eval), RLAR_E_ARG);
    assert_non_null(strstr(rlar_ctx_error(w.ctx), "neighbours is 19, the model has 18 references"));
    assert_non_null(strstr(rlar_ctx_error(w.ctx), "rlar, trial "));
    world_close(&w);
}

static void test_cancel(void **state) {
    (void)state;
    for (int at = 1; at <= 4; at++) {
        world w;
        world_open(&w, 2);
        const rlar_eval_spec spec = spec_of(&w, RLAR_TUNE_NONE);
        rlar_eval *eval = NULL;
        w.cancel_at = at;
        const rlar_status status = rlar_evaluate(w.ctx, w.data, &spec, &eval);
        /* The caller's thread may not get to do `at` fits of its own. */
        assert_true(status == RLAR_E_CANCELLED || (status == RLAR_OK && w.events < at));
        assert_true((eval == NULL) == (status < 0));
        rlar_eval_free(eval);
        world_close(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_tuning),
        cmocka_unit_test(test_oracle),
        cmocka_unit_test(test_cv),
        cmocka_unit_test(test_choices_are_axes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_failed_trials),
        cmocka_unit_test(test_lost_class),
        cmocka_unit_test(test_only_in_the_test),
        cmocka_unit_test(test_only_in_the_test_tuned),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_bad_axes),
        cmocka_unit_test(test_check_splits),
        cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
