/* occlude.c - training samples of which some are corrupted, tested on clean ones.
 *
 * The splits are those of an evaluation with so many training samples per class. In every trial and
 * class some of these are then replaced by corrupted ones, which are samples of their own behind
 * those of the data: only training parts name them, and no part names their originals.
 *
 *   block      the image with a square covered by a texture, at a place that is drawn
 *   occluded   another sample of the class, drawn from data where all are occluded
 *
 * What is drawn for a class of a trial (which, where, by what) comes from three generators, each
 * seeded from (seed, data id, per_class, trial, purpose, class). The first four words are those of
 * the split's generator, which has no more. So the same samples are corrupted whatever the size of
 * the block is; and as the draws are used in their order, corrupting one more sample per class
 * leaves those that were corrupted as they are. */
#include "data/dataset.h"
#include "eval/split.h"
#include "eval/texture.h"
#include "pipeline.h"

#include <math.h>
#include <string.h>

/* The purposes, which keep the three generators apart. */
static const uint64_t WHICH = 0x7768696368u, WHERE = 0x7768657265u, BY_WHAT = 0x627977686174u;

/* Samples whose largest value is above this have pixels of 0 to 255, others of 0 to 1. */
static const double LARGEST_FRACTION = 1.5;

/* Samples between two questions whether to go on. */
enum { POLL_ROWS = 1024 };

/* The occluded samples by class. */
typedef struct substitutes {
    int64_t *class_of; /* c: the class of the occluded samples that is called like this one */
    int64_t *row;      /* their numbers, class by class */
    int64_t *first;    /* where each class starts there */
    int64_t most;      /* in the largest class */
} substitutes;

/* An experiment under way. */
typedef struct experiment {
    rlar_occlusion spec;
    const rlar_data *data;
    rlar_labels labels;
    uint64_t data_id;
    rlar_split_rule rule;
    substitutes substitutes;
    double *block;    /* what covers: block x block pixels, row by row */
    int64_t *shuffle; /* room for the numbers of a class */
    rlar_data *out;
    rlar_rows *splits;
} experiment;

/* ---- Can it be done? ---- */

static rlar_status check_counts(rlar_ctx *ctx, const rlar_occlusion *spec) {
    if (spec->trials < 1 || spec->trials > RLAR_MOST_TRIALS)
        return rlar__fail(ctx, RLAR_E_ARG, "occlude: trials is %lld; choose 1 to %d",
                          (long long)spec->trials, RLAR_MOST_TRIALS);
    if (spec->corrupted < 0 || spec->corrupted > spec->per_class)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: corrupted is %lld; choose 0 to %lld, the training samples of a "
                          "class",
                          (long long)spec->corrupted, (long long)spec->per_class);
    if (spec->block < 0)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: block is %lld; choose at least 1, or 0 with occluded samples",
                          (long long)spec->block);
    if ((spec->block > 0) == (spec->occluded != NULL))
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: block is %lld and occluded samples are %s; give one of the two",
                          (long long)spec->block, spec->occluded ? "given" : "not given");
    return RLAR_OK;
}

static rlar_status check_image(rlar_ctx *ctx, const rlar_occlusion *spec, int64_t d) {
    if (spec->height < 1 || spec->width < 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: images of %lld x %lld pixels; height and width are at least 1",
                          (long long)spec->height, (long long)spec->width);
    if (spec->height > d / spec->width || spec->height * spec->width != d)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: images of %lld x %lld pixels, but samples of %lld features; "
                          "set height and width so that their product is that",
                          (long long)spec->height, (long long)spec->width, (long long)d);
    if (spec->block > spec->height || spec->block > spec->width)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: block is %lld, an image has %lld x %lld pixels; choose at most "
                          "the smaller side",
                          (long long)spec->block, (long long)spec->height, (long long)spec->width);
    return RLAR_OK;
}

static rlar_status check_texture(rlar_ctx *ctx, const rlar_occlusion *spec) {
    const int64_t rows = spec->texture_rows, columns = spec->texture_columns;
    if (rows < 1 || columns < 1 || rows > RLAR_TEXTURE_MOST || columns > RLAR_TEXTURE_MOST)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "occlude: a texture of %lld x %lld; its sides are 1 to %d",
                          (long long)rows, (long long)columns, RLAR_TEXTURE_MOST);
    for (int64_t i = 0; i < rows * columns; i++)
        if (!isfinite(spec->texture[i]))
            return rlar__fail(ctx, RLAR_E_ARG,
                              "occlude: row %lld, column %lld of the texture is %g; its values "
                              "must be finite",
                              (long long)(i / columns) + 1, (long long)(i % columns) + 1,
                              spec->texture[i]);
    return RLAR_OK;
}

/* An error about the samples says which. */
static rlar_status said_of(rlar_ctx *ctx, const rlar_data *data, rlar_status status) {
    return status == RLAR_E_DATA ? rlar__fail_in(ctx, status, data->file) : status;
}

static rlar_status check(rlar_ctx *ctx, experiment *e) {
    const rlar_occlusion *spec = &e->spec;
    RLAR_TRY(said_of(ctx, e->data, rlar__labels_of(ctx, e->data, &e->labels)));
    RLAR_TRY(said_of(ctx, e->data, rlar__split_check(ctx, &e->labels, &e->rule)));
    RLAR_TRY(check_counts(ctx, spec));
    if (e->data->view.weights)
        return rlar__fail(ctx, RLAR_E_UNSUPPORTED,
                          "%s: corrupted samples cannot have sample weights; leave them out",
                          e->data->file);
    if (spec->block > 0)
        RLAR_TRY(check_image(ctx, spec, e->labels.d));
    return spec->block > 0 && spec->texture ? check_texture(ctx, spec) : RLAR_OK;
}

/* ---- Occluded samples ---- */

static rlar_status match_classes(rlar_ctx *ctx, const experiment *e, const rlar_labels *occluded,
                                 const rlar_class_index *index) {
    for (int64_t i = 0; i < e->labels.c; i++) {
        const char *name = rlar__texts_at(e->labels.classes, i);
        const int64_t class = rlar__class_index_find(index, name, strlen(name));
        const int64_t size = class < 0 ? 0 : occluded->class_size[class];
        if (class < 0 || size < e->spec.corrupted)
            return rlar__fail(ctx, RLAR_E_DATA,
                              "class \"%.60s\" has %lld occluded samples, but %lld are wanted; "
                              "corrupt fewer or leave the class out",
                              name, (long long)size, (long long)e->spec.corrupted);
        e->substitutes.class_of[i] = class;
    }
    return RLAR_OK;
}

/* All of them, not only those that are drawn: what is an error does not depend on the seed. */
static rlar_status check_values(rlar_ctx *ctx, const rlar_data *data) {
    double *row = NULL;
    rlar_status status = rlar__alloc(ctx, data->view.d, sizeof *row, "a sample", &row);
    for (int64_t i = 0; i < data->view.n && status >= 0; i++) {
        rlar_data_row(data, i, row);
        status = rlar__check_row(ctx, data, i, row);
        if (status >= 0 && i % POLL_ROWS == 0)
            status = rlar__poll(ctx);
    }
    rlar__free(row);
    return status;
}

static rlar_status find_substitutes(rlar_ctx *ctx, experiment *e) {
    const rlar_data *occluded = e->spec.occluded;
    substitutes *s = &e->substitutes;
    rlar_labels labels;
    rlar_class_index index = {0};
    if (occluded->view.d != e->labels.d)
        return rlar__fail(ctx, RLAR_E_DATA,
                          "%s: the occluded samples have %lld features, those of %s have %lld; "
                          "bring the images to one size",
                          occluded->file, (long long)occluded->view.d, e->data->file,
                          (long long)e->labels.d);
    RLAR_TRY(said_of(ctx, occluded, rlar__labels_of(ctx, occluded, &labels)));
    RLAR_TRY(
        rlar__alloc(ctx, e->labels.c, sizeof *s->class_of, "the occluded classes", &s->class_of));
    RLAR_TRY(rlar__alloc(ctx, labels.n, sizeof *s->row, "the occluded samples by class", &s->row));
    RLAR_TRY(rlar__alloc(ctx, labels.c + 2, sizeof *s->first, "the starts of the occluded classes",
                         &s->first));
    RLAR_TRY(rlar__class_index_build(ctx, labels.classes, &index));
    const rlar_status status = match_classes(ctx, e, &labels, &index);
    rlar__class_index_free(&index);
    RLAR_TRY(said_of(ctx, occluded, status));
    RLAR_TRY(check_values(ctx, occluded));
    rlar__group_by_class(&labels, NULL, labels.n, s->row, s->first);
    for (int64_t i = 0; i < labels.c; i++)
        s->most = labels.class_size[i] > s->most ? labels.class_size[i] : s->most;
    return RLAR_OK;
}

/* ---- The samples ---- */

/* The corrupted ones follow each other by trial, class, and the order in which they were drawn. */
static int64_t corrupted_number(const experiment *e, int64_t trial, int64_t class, int64_t i) {
    return e->labels.n + (trial * e->labels.c + class) * e->spec.corrupted + i;
}

/* How many there are in all, and the bytes of one. */
static rlar_status count_samples(rlar_ctx *ctx, const experiment *e, int64_t *count,
                                 size_t *bytes) {
    size_t corrupted, all;
    if (!rlar__size_mul((size_t)e->labels.c, (size_t)e->spec.corrupted, &corrupted) ||
        !rlar__size_mul(corrupted, (size_t)e->spec.trials, &corrupted) ||
        !rlar__size_add(corrupted, (size_t)e->labels.n, &all) ||
        !rlar__size_mul((size_t)e->labels.d, sizeof(double), bytes) || all > INT64_MAX)
        return rlar__fail(
            ctx, RLAR_E_TOO_LARGE,
            "occlude: %lld trials with %lld corrupted samples in each of %lld classes "
            "do not fit 64 bits; use fewer",
            (long long)e->spec.trials, (long long)e->spec.corrupted, (long long)e->labels.c);
    *count = (int64_t)all;
    return RLAR_OK;
}

static rlar_status label_samples(rlar_ctx *ctx, const experiment *e, int64_t count) {
    const int64_t n = e->labels.n, c = e->labels.c;
    rlar_data *out = e->out;
    RLAR_TRY(rlar__alloc(ctx, count, sizeof *out->label, "the labels", &out->label));
    memcpy(out->label, e->labels.label, (size_t)n * sizeof *out->label);
    for (int64_t i = n; i < count; i++)
        out->label[i] = (i - n) / e->spec.corrupted % c;
    RLAR_TRY(rlar__texts_copy(ctx, &e->data->classes, &out->classes));
    RLAR_TRY(rlar__texts_copy(ctx, &e->data->features, &out->features));
    return rlar__class_sizes(ctx, out->label, count, c, &out->class_size);
}

/* Those of the data in their places, and room for the corrupted ones. */
static rlar_status copy_samples(rlar_ctx *ctx, experiment *e) {
    const rlar_data *data = e->data;
    const int64_t d = e->labels.d;
    int64_t count = 0;
    size_t bytes = 0;
    RLAR_TRY(count_samples(ctx, e, &count, &bytes));
    RLAR_TRY(rlar__data_new(ctx, data->name, data->format, data->file, &e->out));
    RLAR_TRY(rlar__alloc(ctx, count, bytes, "the samples", &e->out->own_x));
    e->out->view = (rlar_view){.size = sizeof e->out->view,
                               .type = RLAR_F64,
                               .n = count,
                               .d = d,
                               .x = e->out->own_x,
                               .stride = d};
    RLAR_TRY(label_samples(ctx, e, count));
    for (int64_t i = 0; i < e->labels.n; i++) {
        rlar_data_row(data, i, e->out->own_x + i * d);
        RLAR_TRY(rlar__check_row(ctx, data, i, e->out->own_x + i * d));
        if (i % POLL_ROWS == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* ---- The block ---- */

static bool bytes_as_pixels(const experiment *e) {
    for (int64_t i = 0; i < e->labels.n * e->labels.d; i++)
        if (e->out->own_x[i] > LARGEST_FRACTION)
            return true;
    return false;
}

static rlar_status make_block(rlar_ctx *ctx, experiment *e) {
    const rlar_occlusion *spec = &e->spec;
    double *own = NULL;
    RLAR_TRY(rlar__alloc(ctx, spec->block, (size_t)spec->block * sizeof *e->block, "the block",
                         &e->block));
    if (spec->texture)
        return rlar__texture_resize(ctx, spec->texture, spec->texture_rows, spec->texture_columns,
                                    spec->block, e->block);
    const int64_t pixels = RLAR_TEXTURE_SIDE * RLAR_TEXTURE_SIDE;
    RLAR_TRY(rlar__alloc(ctx, pixels, sizeof *own, "the texture", &own));
    rlar_texture(own);
    const double white = bytes_as_pixels(e) ? 255.0 : 1.0;
    for (int64_t i = 0; i < pixels; i++)
        own[i] *= white;
    const rlar_status status =
        rlar__texture_resize(ctx, own, RLAR_TEXTURE_SIDE, RLAR_TEXTURE_SIDE, spec->block, e->block);
    rlar__free(own);
    return status;
}

/* Cover a square of the image; every place where it fits is as likely as any other. */
static void cover(const experiment *e, rlar_rng *rng, double *image) {
    const rlar_occlusion *spec = &e->spec;
    const int64_t top = (int64_t)rlar__rng_below(rng, (uint64_t)(spec->height - spec->block + 1));
    const int64_t left = (int64_t)rlar__rng_below(rng, (uint64_t)(spec->width - spec->block + 1));
    for (int64_t i = 0; i < spec->block; i++)
        for (int64_t j = 0; j < spec->block; j++)
            image[spec->by_columns ? (left + j) * spec->height + top + i
                                   : (top + i) * spec->width + left + j] =
                e->block[i * spec->block + j];
}

/* ---- The trials ---- */

static rlar_rng generator(const experiment *e, int64_t trial, uint64_t purpose, int64_t class) {
    const uint64_t words[] = {e->spec.seed,    e->data_id, (uint64_t)e->spec.per_class,
                              (uint64_t)trial, purpose,    (uint64_t) class};
    return rlar__rng_seed(words, 6);
}

/* In the training samples of the class, put copies in the place of those that are corrupted. */
static void take_copies(const experiment *e, int64_t trial, int64_t class, int64_t *train) {
    const int64_t d = e->labels.d;
    rlar_rng rng = generator(e, trial, WHICH, class);
    for (int64_t i = 0; i < e->spec.per_class; i++)
        e->shuffle[i] = i;
    rlar__rng_shuffle(&rng, e->shuffle, e->spec.per_class);
    for (int64_t i = 0; i < e->spec.corrupted; i++) {
        int64_t *place = &train[e->shuffle[i]];
        const int64_t copy = corrupted_number(e, trial, class, i);
        memcpy(e->out->own_x + copy * d, e->out->own_x + *place * d,
               (size_t)d * sizeof *e->out->own_x);
        *place = copy;
    }
}

static void cover_copies(const experiment *e, int64_t trial, int64_t class) {
    rlar_rng rng = generator(e, trial, WHERE, class);
    for (int64_t i = 0; i < e->spec.corrupted; i++)
        cover(e, &rng, e->out->own_x + corrupted_number(e, trial, class, i) * e->labels.d);
}

/* Drawn without replacement. */
static void substitute_copies(const experiment *e, int64_t trial, int64_t class) {
    const substitutes *s = &e->substitutes;
    const int64_t *first = s->first + s->class_of[class], count = first[1] - first[0];
    rlar_rng rng = generator(e, trial, BY_WHAT, class);
    memcpy(e->shuffle, s->row + first[0], (size_t)count * sizeof *e->shuffle);
    rlar__rng_shuffle(&rng, e->shuffle, count);
    for (int64_t i = 0; i < e->spec.corrupted; i++)
        rlar_data_row(e->spec.occluded, e->shuffle[i],
                      e->out->own_x + corrupted_number(e, trial, class, i) * e->labels.d);
}

/* The training part has per_class samples of each class, class by class. */
static rlar_status make_trial(rlar_ctx *ctx, const experiment *e, int64_t trial) {
    int64_t *train = (int64_t *)e->splits[trial].train; /* ours until we give them away */
    for (int64_t i = 0; i < e->labels.c; i++) {
        take_copies(e, trial, i, train + i * e->spec.per_class);
        (e->spec.occluded ? substitute_copies : cover_copies)(e, trial, i);
    }
    return rlar__poll(ctx);
}

static rlar_status make_trials(rlar_ctx *ctx, experiment *e) {
    const int64_t most = e->substitutes.most;
    const int64_t room = most > e->spec.per_class ? most : e->spec.per_class;
    RLAR_TRY(rlar__alloc(ctx, room, sizeof *e->shuffle, "the samples of a class", &e->shuffle));
    RLAR_TRY(rlar__splits_new(ctx, &e->labels, &e->rule, e->spec.trials, &e->splits));
    for (int64_t t = 0; t < e->spec.trials; t++)
        RLAR_TRY(make_trial(ctx, e, t));
    return RLAR_OK;
}

/* ---- The public calls ---- */

static rlar_status run(rlar_ctx *ctx, experiment *e) {
    RLAR_TRY(check(ctx, e));
    if (e->spec.occluded)
        RLAR_TRY(find_substitutes(ctx, e));
    RLAR_TRY(copy_samples(ctx, e));
    if (e->spec.block > 0)
        RLAR_TRY(make_block(ctx, e));
    e->data_id = rlar__data_id(&e->labels);
    return make_trials(ctx, e);
}

rlar_status rlar_occlude(rlar_ctx *ctx, const rlar_data *data, const rlar_occlusion *spec,
                         rlar_data **out, rlar_rows **splits) {
    if (!ctx || !data || !spec || !out || !splits || spec->size < sizeof spec->size)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_occlude: every argument is needed, and the size of the spec");
    rlar__begin(ctx);
    experiment e = {.data = data};
    /* The caller's struct may be older (shorter) than ours: what it lacks is 0. */
    memcpy(&e.spec, spec, spec->size < sizeof e.spec ? spec->size : sizeof e.spec);
    e.rule = (rlar_split_rule){
        .kind = RLAR_SPLIT_PER_CLASS, .per_class = e.spec.per_class, .seed = e.spec.seed};
    const rlar_status status = run(ctx, &e);
    rlar__free(e.substitutes.class_of);
    rlar__free(e.substitutes.row);
    rlar__free(e.substitutes.first);
    rlar__free(e.block);
    rlar__free(e.shuffle);
    if (status < 0) {
        rlar_data_free(e.out);
        rlar_rows_free(e.splits);
        return status;
    }
    *out = e.out;
    *splits = e.splits;
    return RLAR_OK;
}
