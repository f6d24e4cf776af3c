/* test_occlude.c - corrupted training samples: the texture, the squares that are covered, the
 * samples that are replaced, and that all else stays as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "close.h"
#include "eval/split.h"
#include "eval/texture.h"
#include "reading.h"

enum { H = 7, WIDE = 5, D = H * WIDE, C = 3, N = 36, U = 6, TRIALS = 4 };
enum { EXTRA = 4, OCCLUDED = 20 }; /* classes and samples of the occluded data */

typedef struct world {
    rlar_ctx *ctx;
    double x[N * D], y[OCCLUDED * D];
    rlar_data *data, *occluded;
    rlar_labels labels;
    rlar_occlusion spec;
    rlar_data *out;
    rlar_rows *splits;
} world;

static rlar_data *view_of(rlar_ctx *ctx, const double *x, int64_t n, const char *const *labels) {
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    v.n = n;
    v.d = v.stride = D;
    v.x = x;
    assert_int_equal(rlar_data_view(ctx, &v, &data), RLAR_OK);
    assert_int_equal(rlar_data_set_labels(ctx, data, labels), RLAR_OK);
    return data;
}

/* Byte images, no two pixels equal and none in the range of the texture; classes of 12, mixed. The
 * occluded samples have a class more, and so other class numbers. */
static void world_open_on(world *w, rlar_ctx *ctx) {
    static const char *const names[C] = {"dora", "ben", "carl"};
    static const char *const others[EXTRA] = {"carl", "ann", "dora", "ben"};
    const char *label[N], *other[OCCLUDED];
    *w = (world){.ctx = ctx, .spec = RLAR_INIT(rlar_occlusion)};
    for (int i = 0; i < N * D; i++)
        w->x[i] = 1000.0 + i;
    for (int i = 0; i < OCCLUDED * D; i++)
        w->y[i] = -1000.0 - i;
    for (int i = 0; i < N; i++)
        label[i] = names[i % C];
    for (int i = 0; i < OCCLUDED; i++)
        other[i] = others[i % EXTRA];
    w->data = view_of(w->ctx, w->x, N, label);
    w->occluded = view_of(w->ctx, w->y, OCCLUDED, other);
    assert_int_equal(rlar_data_set_name(w->ctx, w->data, "faces"), RLAR_OK);
    assert_int_equal(rlar_data_set_name(w->ctx, w->occluded, "scarves"), RLAR_OK);
    assert_int_equal(rlar__labels_of(w->ctx, w->data, &w->labels), RLAR_OK);
    w->spec.per_class = U;
    w->spec.trials = TRIALS;
    w->spec.seed = 3;
    w->spec.corrupted = 2;
    w->spec.block = 3;
    w->spec.height = H;
    w->spec.width = WIDE;
}

static void world_open(world *w) {
    world_open_on(w, new_ctx());
}

static void forget(world *w) {
    rlar_data_free(w->out);
    rlar_rows_free(w->splits);
    w->out = NULL;
    w->splits = NULL;
}

static void world_close(world *w) {
    forget(w);
    rlar_data_free(w->data);
    rlar_data_free(w->occluded);
    end_ctx(w->ctx);
}

static void occlude(world *w) {
    forget(w);
    if (rlar_occlude(w->ctx, w->data, &w->spec, &w->out, &w->splits) < 0)
        fail_msg("%s", rlar_ctx_error(w->ctx));
}

static void replace_by_occluded(world *w) {
    w->spec.block = 0;
    w->spec.occluded = w->occluded;
}

static rlar_part split_of(world *w, int64_t trial) {
    const rlar_split_rule rule = {
        .kind = RLAR_SPLIT_PER_CLASS, .per_class = w->spec.per_class, .seed = w->spec.seed};
    rlar_part part = {0};
    assert_int_equal(
        rlar__split_make(w->ctx, &w->labels, rlar__data_id(&w->labels), &rule, trial, &part),
        RLAR_OK);
    return part;
}

static const double *sample(const world *w, int64_t i) {
    assert_true(i >= 0 && i < rlar_data_samples(w->out));
    return w->out->own_x + i * D;
}

/* ---- The texture ---- */

static void test_texture(void **state) {
    (void)state;
    double t[64 * 64], sum = 0.0, least = 2.0, most = -1.0, square = 0.0;
    rlar_texture(t);
    for (int i = 0; i < 64 * 64; i++) {
        sum += t[i];
        square += (t[i] - 0.506) * (t[i] - 0.506);
        least = fmin(least, t[i]);
        most = fmax(most, t[i]);
    }
    assert_close(t[0], 0.369686, 5e-7);
    assert_close(t[1], 0.352372, 5e-7);
    assert_close(t[2], 0.412396, 5e-7);
    assert_close(t[3], 0.481105, 5e-7);
    assert_close(t[64 * 64 - 1], 0.383654, 5e-7);
    assert_close(sum, 2072.576, 5e-4);
    assert_close(sqrt(square / (64 * 64)), 0.130, 1e-12);
    assert_close(least, 0.090836, 5e-7);
    assert_close(most, 0.934647, 5e-7);
}

static void check_resized(rlar_ctx *ctx, const double *texture, int64_t rows, int64_t columns,
                          int64_t side, const double *want) {
    double *got = calloc((size_t)(side * side), sizeof *got);
    assert_non_null(got);
    assert_int_equal(rlar__texture_resize(ctx, texture, rows, columns, side, got), RLAR_OK);
    for (int64_t i = 0; i < side * side; i++)
        assert_close(got[i], want[i], 1e-14);
    free(got);
}

static void test_resize(void **state) {
    (void)state;
    rlar_ctx *ctx = new_ctx();
    double t[64 * 64], same[64 * 64], b[15 * 15], mean = 0.0;
    rlar_texture(t);
    assert_int_equal(rlar__texture_resize(ctx, t, 64, 64, 15, b), RLAR_OK);
    assert_close(b[0], 0.390785, 5e-7);
    assert_close(b[7 * 15 + 7], 0.624105, 5e-7);
    for (int i = 0; i < 15 * 15; i++)
        mean += b[i] / (15 * 15);
    assert_close(mean, 0.506, 1e-12); /* equal shares keep the mean */
    assert_int_equal(rlar__texture_resize(ctx, t, 64, 64, 64, same), RLAR_OK);
    assert_memory_equal(t, same, sizeof t);
    const double two_by_three[] = {1, 2, 6, 3, 4, 8};
    const double one[] = {4};
    const double two[] = {4.0 / 3, 14.0 / 3, 10.0 / 3, 20.0 / 3};
    const double three[] = {1, 2, 6, 2, 3, 7, 3, 4, 8};
    const double four[] = {1, 5.0 / 3,  10.0 / 3, 6, 1, 5.0 / 3,  10.0 / 3, 6,
                           3, 11.0 / 3, 16.0 / 3, 8, 3, 11.0 / 3, 16.0 / 3, 8};
    check_resized(ctx, two_by_three, 2, 3, 1, one);
    check_resized(ctx, two_by_three, 2, 3, 2, two);
    check_resized(ctx, two_by_three, 2, 3, 3, three);
    check_resized(ctx, two_by_three, 2, 3, 4, four); /* larger in both directions */
    end_ctx(ctx);
}

/* ---- What every experiment keeps ---- */

/* The data come first, unchanged, with their names; then so many of each class. */
static void check_samples(const world *w) {
    const int64_t m = w->spec.corrupted;
    assert_int_equal(rlar_data_samples(w->out), N + w->spec.trials * C * m);
    assert_int_equal(rlar_data_dims(w->out), D);
    assert_int_equal(rlar_data_classes(w->out), C);
    assert_string_equal(rlar_data_name(w->out), "faces");
    assert_memory_equal(w->out->own_x, w->x, sizeof w->x);
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(rlar_data_label(w->out, i), rlar_data_label(w->data, i));
    for (int64_t k = 0; k < C; k++) {
        assert_string_equal(rlar_data_class(w->out, k), rlar_data_class(w->data, k));
        assert_int_equal(rlar_data_class_size(w->out, k), N / C + w->spec.trials * m);
    }
}

/* The parts are those of the split, but that `corrupted` samples of each class are replaced by
 * others of the class which no part of any trial has had before. */
static void check_splits(world *w) {
    bool *used = calloc((size_t)rlar_data_samples(w->out), sizeof *used);
    assert_non_null(used);
    for (int64_t t = 0; t < w->spec.trials; t++) {
        const rlar_rows *rows = &w->splits[t];
        rlar_part part = split_of(w, t);
        int64_t replaced[C] = {0};
        assert_int_equal(rows->n_train, part.n_train);
        assert_int_equal(rows->n_test, part.n_test);
        assert_memory_equal(rows->test, part.test, (size_t)part.n_test * sizeof(int64_t));
        for (int64_t i = 0; i < rows->n_train; i++) {
            const int64_t row = rows->train[i];
            if (row == part.train[i])
                continue;
            assert_true(row >= N && row < rlar_data_samples(w->out) && !used[row]);
            used[row] = true;
            assert_int_equal(rlar_data_label(w->out, row), rlar_data_label(w->data, part.train[i]));
            replaced[rlar_data_label(w->out, row)]++;
        }
        for (int64_t k = 0; k < C; k++)
            assert_int_equal(replaced[k], w->spec.corrupted);
        rlar__part_free(&part);
    }
    free(used);
}

/* ---- Blocks ---- */

/* Where the copy differs from its original; it must be one square that shows the block. */
static void find_square(const world *w, const double *original, const double *copy,
                        const double *block, int64_t *top, int64_t *left) {
    const int64_t b = w->spec.block;
    int64_t count = 0;
    *top = *left = -1;
    for (int64_t r = 0; r < H; r++)
        for (int64_t c = 0; c < WIDE; c++) {
            const int64_t pixel = w->spec.by_columns ? c * H + r : r * WIDE + c;
            if (copy[pixel] == original[pixel])
                continue;
            *top = count == 0 ? r : *top;
            *left = count == 0 ? c : *left;
            count++;
            assert_in_range(r - *top, 0, b - 1);
            assert_in_range(c - *left, 0, b - 1);
            assert_true(copy[pixel] == block[(r - *top) * b + c - *left]);
        }
    assert_int_equal(count, b * b);
}

/* Counts the corners: places[top * WIDE + left]. */
static void check_squares(world *w, const double *texture, int64_t side, double white,
                          int64_t *places) {
    double scaled[64 * 64], block[H * H];
    for (int64_t i = 0; i < side * side; i++)
        scaled[i] = white * texture[i];
    assert_int_equal(rlar__texture_resize(w->ctx, scaled, side, side, w->spec.block, block),
                     RLAR_OK);
    for (int64_t t = 0; t < w->spec.trials; t++) {
        rlar_part part = split_of(w, t);
        for (int64_t i = 0; i < part.n_train; i++) {
            int64_t top, left;
            if (w->splits[t].train[i] == part.train[i])
                continue;
            find_square(w, sample(w, part.train[i]), sample(w, w->splits[t].train[i]), block, &top,
                        &left);
            places[top * WIDE + left]++;
        }
        rlar__part_free(&part);
    }
}

static void test_blocks(void **state) {
    (void)state;
    world w;
    double texture[64 * 64];
    const int64_t sides[] = {1, 2, 3, WIDE};
    rlar_texture(texture);
    world_open(&w);
    for (int columns = 0; columns < 2; columns++)
        for (int i = 0; i < 4; i++) {
            int64_t places[D] = {0};
            w.spec.by_columns = columns;
            w.spec.block = sides[i];
            occlude(&w);
            check_samples(&w);
            check_splits(&w);
            check_squares(&w, texture, 64, 255.0, places);
        }
    world_close(&w);
}

/* The texture is that of the pixels' units, or the caller's as it is. */
static void test_units(void **state) {
    (void)state;
    world w;
    double texture[64 * 64];
    const double own[] = {1, 2, 3, 4};
    int64_t places[D] = {0};
    rlar_texture(texture);
    world_open(&w);
    for (int i = 0; i < N * D; i++)
        w.x[i] = -(double)i / D;
    w.x[5] = 1.5; /* still a fraction */
    occlude(&w);
    check_squares(&w, texture, 64, 1.0, places);
    w.x[5] = 1.6;
    occlude(&w);
    check_squares(&w, texture, 64, 255.0, places);
    w.spec.texture = own;
    w.spec.texture_rows = w.spec.texture_columns = 2;
    occlude(&w);
    check_squares(&w, own, 2, 1.0, places);
    world_close(&w);
}

/* ---- What is drawn ---- */

/* The sum of (seen - expected)^2 / expected over the cells with a place in the list. */
static double chi_square(const int64_t *seen, int64_t cells) {
    double sum = 0.0, mean = 0.0;
    for (int64_t i = 0; i < cells; i++)
        mean += (double)seen[i] / (double)cells;
    for (int64_t i = 0; i < cells; i++)
        sum += ((double)seen[i] - mean) * ((double)seen[i] - mean) / mean;
    return sum;
}

/* 15 corners, drawn 7200 times, and 15 pairs of 6 training places, drawn 3600 times: 14 degrees of
 * freedom, with which 45 is exceeded once in 20000 times. */
static void test_uniform(void **state) {
    (void)state;
    world w;
    double texture[64 * 64];
    int64_t places[D] = {0}, corners[15], pairs[U * U] = {0}, pair_cells[15], cell = 0;
    rlar_texture(texture);
    world_open(&w);
    w.spec.trials = 1200;
    occlude(&w);
    check_squares(&w, texture, 64, 255.0, places);
    for (int64_t i = 0; i < 15; i++) {
        corners[i] = places[i / 3 * WIDE + i % 3];
        assert_true(corners[i] > 0);
    }
    assert_true(chi_square(corners, 15) < 45);
    for (int64_t t = 0; t < w.spec.trials; t++)
        for (int64_t k = 0; k < C; k++) {
            int64_t place[2] = {0}, found = 0;
            for (int64_t i = 0; i < U; i++)
                if (w.splits[t].train[k * U + i] >= N)
                    place[found++] = i;
            assert_int_equal(found, 2);
            pairs[place[0] * U + place[1]]++;
        }
    for (int64_t i = 0; i < U; i++)
        for (int64_t j = i + 1; j < U; j++)
            pair_cells[cell++] = pairs[i * U + j];
    assert_true(chi_square(pair_cells, 15) < 45);
    world_close(&w);
}

/* The first pixel that is covered tells the corners apart. */
static int64_t corner_pixel(const double *copy) {
    for (int64_t i = 0; i < D; i++)
        if (copy[i] < 1000.0)
            return i;
    fail_msg("nothing is covered");
    return -1;
}

/* Those of two images of a class agree once in 15 times. */
static void test_independent_corners(void **state) {
    (void)state;
    world w;
    int64_t equal = 0;
    world_open(&w);
    w.spec.trials = 1200;
    occlude(&w);
    for (int64_t i = 0; i < w.spec.trials * C; i++)
        equal += corner_pixel(sample(&w, N + 2 * i)) == corner_pixel(sample(&w, N + 2 * i + 1));
    const double mean = 3600.0 / 15, variance = mean * 14 / 15;
    assert_true(((double)equal - mean) * ((double)equal - mean) < 16 * variance);
    world_close(&w);
}

/* Which training places are replaced in a trial, as bits. */
static uint32_t replaced(const rlar_rows *rows) {
    uint32_t bits = 0;
    for (int64_t i = 0; i < rows->n_train; i++)
        bits |= rows->train[i] >= N ? 1u << i : 0;
    return bits;
}

/* Those for m are among those for m + 1, as the samples that they were, by blocks and by occluded
 * samples; for all sizes of the block they are the same. */
static void check_nested(world *w) {
    uint32_t before[TRIALS] = {0};
    for (int64_t m = 0; m <= 5; m++) {
        rlar_data *fewer = w->out;
        rlar_rows *old = w->splits;
        w->out = NULL;
        w->splits = NULL;
        w->spec.corrupted = m;
        occlude(w);
        check_splits(w);
        for (int64_t t = 0; t < TRIALS; t++) {
            const uint32_t now = replaced(&w->splits[t]);
            assert_int_equal(now & before[t], before[t]);
            for (int64_t i = 0; m > 0 && i < w->splits[t].n_train; i++)
                if (before[t] & 1u << i)
                    assert_memory_equal(fewer->own_x + old[t].train[i] * D,
                                        sample(w, w->splits[t].train[i]), D * sizeof(double));
            before[t] = now;
        }
        rlar_data_free(fewer);
        rlar_rows_free(old);
    }
}

static void test_nested(void **state) {
    (void)state;
    world w;
    uint32_t first[TRIALS] = {0};
    world_open(&w);
    check_nested(&w);
    w.spec.corrupted = 3;
    for (int64_t b = 1; b <= WIDE; b++) {
        w.spec.block = b;
        occlude(&w);
        for (int64_t t = 0; t < TRIALS; t++) {
            first[t] = b == 1 ? replaced(&w.splits[t]) : first[t];
            assert_int_equal(replaced(&w.splits[t]), first[t]);
        }
    }
    replace_by_occluded(&w);
    occlude(&w);
    for (int64_t t = 0; t < TRIALS; t++)
        assert_int_equal(replaced(&w.splits[t]), first[t]);
    check_nested(&w);
    world_close(&w);
}

/* Again: the same bytes. Another seed: other places. */
static void test_repeats(void **state) {
    (void)state;
    world w, v;
    world_open(&w);
    world_open(&v);
    for (int i = 0; i < 2; i++) {
        occlude(&w);
        occlude(&v);
        const size_t bytes = (size_t)rlar_data_samples(w.out) * D * sizeof(double);
        assert_memory_equal(w.out->own_x, v.out->own_x, bytes);
        for (int64_t t = 0; t < TRIALS; t++)
            assert_memory_equal(w.splits[t].train, v.splits[t].train, C * U * sizeof(int64_t));
        v.spec.seed++;
        occlude(&v);
        assert_memory_not_equal(w.out->own_x + N * D, v.out->own_x + N * D, bytes - sizeof w.x);
        v.spec.seed--;
        replace_by_occluded(&w);
        replace_by_occluded(&v);
    }
    world_close(&w);
    world_close(&v);
}

/* ---- Occluded samples ---- */

/* The number of the occluded sample that this is. */
static int64_t occluded_number(const world *w, const double *copy) {
    const int64_t i = (int64_t)(-1000.0 - copy[0]) / D;
    assert_in_range(i, 0, OCCLUDED - 1);
    assert_memory_equal(copy, w->y + i * D, D * sizeof(double));
    return i;
}

/* Of the same class by name, none twice in a trial, all of them in the end. */
static void test_occluded(void **state) {
    (void)state;
    world w;
    world_open(&w);
    replace_by_occluded(&w);
    w.spec.height = w.spec.width = -7; /* not looked at */
    int64_t drawn[OCCLUDED] = {0};
    w.spec.trials = 200;
    w.spec.corrupted = 4;
    occlude(&w);
    check_samples(&w);
    check_splits(&w);
    for (int64_t t = 0; t < w.spec.trials; t++) {
        bool seen[OCCLUDED] = {false};
        for (int64_t i = 0; i < C * U; i++) {
            const int64_t row = w.splits[t].train[i];
            if (row < N)
                continue;
            const int64_t number = occluded_number(&w, sample(&w, row));
            assert_string_equal(rlar_data_class(w.out, rlar_data_label(w.out, row)),
                                rlar_data_class(w.occluded, rlar_data_label(w.occluded, number)));
            assert_false(seen[number]);
            seen[number] = true;
            drawn[number]++;
        }
    }
    for (int64_t i = 0; i < OCCLUDED; i++) /* four of five, 200 times; "ann" is not in the data */
        assert_true(i % EXTRA == 1 ? drawn[i] == 0 : drawn[i] > 135 && drawn[i] < 185);
    world_close(&w);
}

/* ---- Data of every kind ---- */

static rlar_data *as_floats(world *w, float *values) {
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    const int64_t stride = D + 2;
    for (int64_t i = 0; i < N * D; i++)
        values[i / D * stride + i % D] = (float)w->x[i];
    v.type = RLAR_F32;
    v.n = N;
    v.d = D;
    v.stride = stride;
    v.x = values;
    assert_int_equal(rlar_data_view(w->ctx, &v, &data), RLAR_OK);
    return data;
}

static rlar_data *as_sparse(world *w, int64_t *starts, int64_t *columns) {
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *data = NULL;
    for (int64_t i = 0; i <= N; i++)
        starts[i] = i * D;
    for (int64_t i = 0; i < N * D; i++)
        columns[i] = i % D;
    v.type = RLAR_CSR;
    v.n = N;
    v.d = D;
    v.x = w->x;
    v.indptr = starts;
    v.indices = columns;
    assert_int_equal(rlar_data_view(w->ctx, &v, &data), RLAR_OK);
    return data;
}

static void test_types(void **state) {
    (void)state;
    world w;
    float values[N * (D + 2)] = {0};
    int64_t starts[N + 1], columns[N * D];
    const char *label[N], *feature[D];
    char names[D][16];
    world_open(&w);
    occlude(&w);
    for (int i = 0; i < N; i++)
        label[i] = rlar_data_class(w.data, rlar_data_label(w.data, i));
    for (int j = 0; j < D; j++) {
        snprintf(names[j], sizeof names[j], "p%d", j);
        feature[j] = names[j];
    }
    rlar_data *const kinds[] = {as_floats(&w, values), as_sparse(&w, starts, columns)};
    for (int i = 0; i < 2; i++) {
        rlar_data *out = NULL;
        rlar_rows *splits = NULL;
        assert_int_equal(rlar_data_set_labels(w.ctx, kinds[i], label), RLAR_OK);
        assert_int_equal(rlar_data_set_features(w.ctx, kinds[i], feature), RLAR_OK);
        assert_int_equal(rlar_occlude(w.ctx, kinds[i], &w.spec, &out, &splits), RLAR_OK);
        assert_memory_equal(out->own_x, w.out->own_x,
                            (size_t)rlar_data_samples(w.out) * D * sizeof(double));
        assert_string_equal(rlar_data_feature(out, D - 1), "p34");
        rlar_rows_free(splits);
        rlar_data_free(out);
        rlar_data_free(kinds[i]);
    }
    world_close(&w);
}

/* ---- A whole evaluation ---- */

static void test_evaluate(void **state) {
    (void)state;
    world w;
    rlar_params *params = NULL;
    rlar_eval *eval = NULL;
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    rlar_eval_result clean = RLAR_INIT(rlar_eval_result), covered = RLAR_INIT(rlar_eval_result);
    rlar_rng rng = {.state = 4};
    world_open(&w);
    for (int i = 0; i < N * D; i++) /* classes that are told apart by some pixels */
        w.x[i] = 50.0 + (double)(rlar__rng_next(&rng) >> 58) + (i % D % C == i / D % C ? 30 : 0);
    assert_int_equal(rlar_params_new(w.ctx, "rr", &params), RLAR_OK);
    spec.methods = (const rlar_params *const *)&params;
    spec.n_methods = 1;
    spec.per_class = U;
    spec.trials = TRIALS;
    spec.seed = w.spec.seed;
    rlar_eval *plain = NULL;
    assert_int_equal(rlar_evaluate(w.ctx, w.data, &spec, &plain), RLAR_OK);
    assert_int_equal(rlar_eval_get(plain, 0, &clean), RLAR_OK);
    spec.split = RLAR_SPLIT_GIVEN;
    for (int64_t m = 0; m <= U; m += U) { /* none: the same results; all: others */
        w.spec.corrupted = m;
        w.spec.block = WIDE;
        occlude(&w);
        spec.given = w.splits;
        assert_int_equal(rlar_evaluate(w.ctx, w.out, &spec, &eval), RLAR_OK);
        assert_int_equal(rlar_eval_get(eval, 0, &covered), RLAR_OK);
        assert_int_equal(covered.failed, 0);
        assert_int_equal(covered.train_max, C * U);
        assert_int_equal(covered.test_min, N - C * U);
        if (m == 0)
            assert_memory_equal(clean.accuracy, covered.accuracy, TRIALS * sizeof(double));
        else
            assert_true(covered.accuracy_mean < clean.accuracy_mean);
        rlar_eval_free(eval);
    }
    rlar_eval_free(plain);
    rlar_params_free(params);
    world_close(&w);
}

/* ---- Refusals ---- */

static void refuse(world *w, rlar_status code, const char *text) {
    rlar_data *out = NULL;
    rlar_rows *splits = NULL;
    const rlar_status status = rlar_occlude(w->ctx, w->data, &w->spec, &out, &splits);
    if (status != code || strcmp(rlar_ctx_error(w->ctx), text) != 0)
        fail_msg("status %d, text\n  %s\ninstead of\n  %s", (int)status, rlar_ctx_error(w->ctx),
                 text);
    assert_null(out);
    assert_null(splits);
}

static void test_bad_counts(void **state) {
    (void)state;
    world w;
    world_open(&w);
    const rlar_occlusion good = w.spec;
    w.spec.per_class = 0;
    refuse(&w, RLAR_E_ARG, "per_class is 0; choose at least 1");
    w.spec.per_class = 12;
    refuse(&w, RLAR_E_DATA,
           "faces: class \"ben\" has 12 samples, but 12 for training and at least one for the test "
           "are wanted; use fewer training samples or leave the class out");
    w.spec = good;
    w.spec.trials = 0;
    refuse(&w, RLAR_E_ARG, "occlude: trials is 0; choose 1 to 1000000");
    w.spec.trials = 1000001;
    refuse(&w, RLAR_E_ARG, "occlude: trials is 1000001; choose 1 to 1000000");
    w.spec = good;
    w.spec.corrupted = 7;
    refuse(&w, RLAR_E_ARG,
           "occlude: corrupted is 7; choose 0 to 6, the training samples of a class");
    w.spec.corrupted = -1;
    refuse(&w, RLAR_E_ARG,
           "occlude: corrupted is -1; choose 0 to 6, the training samples of a class");
    w.spec = good;
    w.spec.block = 0;
    refuse(&w, RLAR_E_ARG,
           "occlude: block is 0 and occluded samples are not given; give one of the two");
    w.spec.block = 3;
    w.spec.occluded = w.occluded;
    refuse(&w, RLAR_E_ARG,
           "occlude: block is 3 and occluded samples are given; give one of the two");
    w.spec.block = -2;
    refuse(&w, RLAR_E_ARG, "occlude: block is -2; choose at least 1, or 0 with occluded samples");
    world_close(&w);
}

static void test_bad_images(void **state) {
    (void)state;
    world w;
    world_open(&w);
    const rlar_occlusion good = w.spec;
    w.spec.height = 0;
    refuse(&w, RLAR_E_ARG, "occlude: images of 0 x 5 pixels; height and width are at least 1");
    w.spec.height = 8;
    refuse(&w, RLAR_E_ARG,
           "occlude: images of 8 x 5 pixels, but samples of 35 features; set height and width so "
           "that their product is that");
    w.spec.height = w.spec.width = INT64_C(1) << 32;
    refuse(&w, RLAR_E_ARG,
           "occlude: images of 4294967296 x 4294967296 pixels, but samples of 35 features; set "
           "height and width so that their product is that");
    w.spec = good;
    w.spec.block = 6;
    refuse(&w, RLAR_E_ARG,
           "occlude: block is 6, an image has 7 x 5 pixels; choose at most the smaller side");
    w.spec = good;
    const double texture[] = {1, 2, 3, 4, NAN, 6};
    w.spec.texture = texture;
    refuse(&w, RLAR_E_ARG, "occlude: a texture of 0 x 0; its sides are 1 to 2147483647");
    w.spec.texture_rows = 2;
    w.spec.texture_columns = INT64_C(1) << 31;
    refuse(&w, RLAR_E_ARG, "occlude: a texture of 2 x 2147483648; its sides are 1 to 2147483647");
    w.spec.texture_columns = 3;
    refuse(&w, RLAR_E_ARG,
           "occlude: row 2, column 2 of the texture is nan; its values must be finite");
    world_close(&w);
}

static void swap_occluded(world *w, rlar_data *other) {
    rlar_data_free(w->occluded);
    w->occluded = other;
    w->spec.occluded = other;
    assert_int_equal(rlar_data_set_name(w->ctx, other, "scarves"), RLAR_OK);
}

static void test_bad_occluded(void **state) {
    (void)state;
    world w;
    static const char *const few[] = {"ben", "carl", "dora", "dora", "ben"};
    static const char *const two[] = {"ben", "dora", "dora", "ben"};
    world_open(&w);
    replace_by_occluded(&w);
    w.spec.corrupted = 6;
    refuse(&w, RLAR_E_DATA,
           "scarves: class \"ben\" has 5 occluded samples, but 6 are wanted; corrupt fewer or "
           "leave the class out");
    w.spec.corrupted = 2;
    w.y[(OCCLUDED - 1) * D + 1] = NAN; /* whether it is drawn or not */
    refuse(&w, RLAR_E_DATA,
           "scarves: sample 20, feature 2 is missing (nan); fill it in or drop the sample "
           "(--missing mean|drop)");
    swap_occluded(&w, view_of(w.ctx, w.y, 5, few));
    refuse(&w, RLAR_E_DATA,
           "scarves: class \"carl\" has 1 occluded samples, but 2 are wanted; corrupt fewer or "
           "leave the class out");
    swap_occluded(&w, view_of(w.ctx, w.y, 4, two));
    refuse(&w, RLAR_E_DATA,
           "scarves: class \"carl\" has 0 occluded samples, but 2 are wanted; corrupt fewer or "
           "leave the class out");
    rlar_view v = RLAR_INIT(rlar_view);
    rlar_data *other = NULL;
    v.n = 4;
    v.d = v.stride = D;
    v.x = w.y;
    assert_int_equal(rlar_data_view(w.ctx, &v, &other), RLAR_OK);
    swap_occluded(&w, other);
    refuse(&w, RLAR_E_DATA,
           "scarves: the samples have no labels, which an evaluation needs; name the label column "
           "(--label)");
    v.d = D - 1;
    assert_int_equal(rlar_data_view(w.ctx, &v, &other), RLAR_OK);
    swap_occluded(&w, other);
    refuse(&w, RLAR_E_DATA,
           "scarves: the occluded samples have 34 features, those of faces have 35; bring the "
           "images to one size");
    world_close(&w);
}

static void test_bad_data(void **state) {
    (void)state;
    world w;
    const double weights[N] = {0};
    world_open(&w);
    w.x[7 * D + 3] = NAN;
    refuse(&w, RLAR_E_DATA,
           "faces: sample 8, feature 4 is missing (nan); fill it in or drop the sample "
           "(--missing mean|drop)");
    w.data->view.weights = weights;
    refuse(&w, RLAR_E_UNSUPPORTED,
           "faces: corrupted samples cannot have sample weights; leave them out");
    w.spec.size = 0;
    refuse(&w, RLAR_E_ARG, "rlar_occlude: every argument is needed, and the size of the spec");
    assert_int_equal(rlar_occlude(w.ctx, NULL, &w.spec, &w.out, &w.splits), RLAR_E_ARG);
    assert_int_equal(rlar_occlude(w.ctx, w.data, NULL, &w.out, &w.splits), RLAR_E_ARG);
    assert_int_equal(rlar_occlude(w.ctx, w.data, &w.spec, NULL, &w.splits), RLAR_E_ARG);
    assert_int_equal(rlar_occlude(w.ctx, w.data, &w.spec, &w.out, NULL), RLAR_E_ARG);
    assert_int_equal(rlar_occlude(NULL, w.data, &w.spec, &w.out, &w.splits), RLAR_E_ARG);
    rlar_rows_free(NULL);
    world_close(&w);
}

/* A sparse sample may have more features than a dense one has room for. */
static void test_too_large(void **state) {
    (void)state;
    world w;
    rlar_view v = RLAR_INIT(rlar_view);
    static const int64_t starts[N + 1] = {0};
    const char *label[N];
    world_open(&w);
    for (int i = 0; i < N; i++)
        label[i] = i % 2 ? "a" : "b";
    v.type = RLAR_CSR;
    v.n = N;
    v.indptr = starts;
    for (int i = 0; i < 2; i++) {
        rlar_data_free(w.data);
        v.d = w.spec.height = i == 0 ? INT64_C(1) << 60 : INT64_C(1) << 62;
        w.spec.width = w.spec.block = 1;
        assert_int_equal(rlar_data_view(w.ctx, &v, &w.data), RLAR_OK);
        assert_int_equal(rlar_data_set_labels(w.ctx, w.data, label), RLAR_OK);
        assert_int_equal(rlar_occlude(w.ctx, w.data, &w.spec, &w.out, &w.splits), RLAR_E_TOO_LARGE);
        assert_non_null(strstr(rlar_ctx_error(w.ctx), "do not fit"));
    }
    world_close(&w);
}

/* A shorter struct, of before there were occluded samples: what it lacks is not looked at. */
static void test_older_spec(void **state) {
    (void)state;
    world w;
    world_open(&w);
    w.spec.occluded = w.occluded;
    w.spec.size = offsetof(rlar_occlusion, occluded);
    occlude(&w);
    check_splits(&w);
    world_close(&w);
}

/* ---- No more wish ---- */

static int always(void *user, const rlar_event *event) {
    (void)event;
    ++*(int *)user;
    return 1;
}

static void test_cancel(void **state) {
    (void)state;
    world w;
    int asked = 0;
    world_open(&w);
    w.ctx->progress = always;
    w.ctx->user = &asked;
    w.ctx->next_poll = 0.0;
    assert_int_equal(rlar_occlude(w.ctx, w.data, &w.spec, &w.out, &w.splits), RLAR_E_CANCELLED);
    assert_int_equal(asked, 1);
    assert_null(w.out);
    w.ctx->progress = NULL;
    world_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texture),    cmocka_unit_test(test_resize),
        cmocka_unit_test(test_blocks),     cmocka_unit_test(test_units),
        cmocka_unit_test(test_uniform),    cmocka_unit_test(test_independent_corners),
        cmocka_unit_test(test_nested),     cmocka_unit_test(test_repeats),
        cmocka_unit_test(test_occluded),   cmocka_unit_test(test_types),
        cmocka_unit_test(test_evaluate),   cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_bad_images), cmocka_unit_test(test_bad_occluded),
        cmocka_unit_test(test_bad_data),   cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_older_spec), cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
