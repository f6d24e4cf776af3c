/* world.c - what the calls of calls.c need and leave. */
#include "calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <png.h>
#include <unistd.h>
#include <zlib.h>

#include "model/model_file.h"

static uint64_t mix(uint64_t check, const void *bytes, size_t size) {
    return size > 0 ? rlar__crc64(check, bytes, size) : check;
}

static uint64_t mix_text(uint64_t check, const char *text) {
    return text ? mix(check, text, strlen(text) + 1) : mix(check, "", 1);
}

/* ---- Making ---- */

static void must(const rlar_ctx *ctx, rlar_status status) {
    if (status < 0)
        fail_msg("the world cannot be made: %s", rlar_ctx_error(ctx));
}

/* Six labels as NumPy keeps them. */
static void make_vector(const temp_folder *folder, const char *name) {
    static const int64_t label[] = {1, 2, 1, 3, 2, 3};
    char bytes[128 + sizeof label];
    memset(bytes, ' ', sizeof bytes);
    memcpy(bytes, "\x93NUMPY\1\0\x76\0", 10);
    snprintf(bytes + 10, 118, "{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }");
    *strchr(bytes + 10, '\0') = ' ';
    bytes[127] = '\n';
    memcpy(bytes + 128, label, sizeof label);
    write_bytes(folder, name, bytes, sizeof bytes);
}

/* The same samples in every format that is written and read, and one with holes. */
static void make_tables(world *w) {
    static const char *const name[] = {"t.csv",  "t.tsv",    "t.svm",     "t.npy",   "t.npz",
                                       "t.arff", "t.csv.gz", "t.arff.gz", "t.svm.gz"};
    static const char holes[] = "a,b,kind\n1,,x\n3,4,y\n?,6,x\n7,8,z\n9,NA,y\n2,3,z\n";
    static const char labels[] = "x\ny\nx\nz\ny\nz\n", bare[] = "1,2\n3,4\n5,6\n7,8\n9,1\n2,3\n";
    char path[512];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++)
        must(w->ctx, rlar_data_write(w->ctx, w->data, path_in(&w->folder, name[i], path), NULL));
    write_bytes(&w->folder, "holes.csv", holes, sizeof holes - 1);
    write_bytes(&w->folder, "bare.csv", bare, sizeof bare - 1);
    write_bytes(&w->folder, "labels.txt", labels, sizeof labels - 1);
    make_vector(&w->folder, "labels.npy");
}

static void make_png(const temp_folder *folder, const char *name, int shade) {
    unsigned char pixel[6];
    char path[512];
    png_image image = {.version = PNG_IMAGE_VERSION, .width = 3, .height = 2};
    image.format = PNG_FORMAT_GRAY;
    for (int i = 0; i < 6; i++)
        pixel[i] = (unsigned char)(shade + i);
    assert_true(png_image_write_to_file(&image, path_in(folder, name, path), 0, pixel, 0, NULL));
}

static void make_images(const world *w) {
    char path[512];
    make_folder(&w->folder, "images");
    make_folder(&w->folder, "images/a");
    make_folder(&w->folder, "images/b");
    write_bytes(&w->folder, "images/a/1.pgm", "P5 3 2 255\nabcdef", 17);
    make_png(&w->folder, "images/a/2.png", 10);
    write_bytes(&w->folder, "images/b/1.pgm", "P2 3 2 255\n1 2 3 4 5 6\n", 23);
    make_png(&w->folder, "images/b/2.png", 90);
    gzFile packed = gzopen(path_in(&w->folder, "images/b/3.pgm.gz", path), "wb");
    assert_non_null(packed);
    assert_int_equal(gzwrite(packed, "P5 3 2 255\nghijkl", 17), 17);
    assert_int_equal(gzclose(packed), Z_OK);
}

static const char *const FEATURES[] = {"f1", "f2", "f3", "f4"};

/* The view is of samples that stay, so they are copied. */
static void make_holes(world *w) {
    w->holes = w->narrow;
    w->holes.x = zeros(w->narrow.d * w->narrow.n);
    memcpy(w->holes.x, w->narrow.x, (size_t)(w->narrow.d * w->narrow.n) * sizeof(double));
    for (int64_t c = 0; c < w->narrow.c; c++)
        w->holes.x[w->narrow.first[c] * w->narrow.d + c] = NAN;
    must(w->ctx, view_labelled(w->ctx, &w->holes, &w->holed));
}

static void make_data(world *w) {
    const int64_t sizes[] = {7, 6, 8};
    w->narrow = clouds(11, 4, 3, sizes);
    w->wide = clouds(12, 30, 3, sizes);
    must(w->ctx, view_labelled(w->ctx, &w->narrow, &w->data));
    must(w->ctx, rlar_data_set_features(w->ctx, w->data, FEATURES));
    must(w->ctx, rlar_data_set_name(w->ctx, w->data, "narrow"));
    must(w->ctx, view_labelled(w->ctx, &w->wide, &w->wide_data));
    must(w->ctx, view_labelled(w->ctx, &w->narrow, &w->shaded));
    make_holes(w);
}

/* Finished fits of the evaluation that call_evaluate() makes, all but the last of them. */
static void make_journal(world *w) {
    char path[512], buf[1 << 16];
    const call *c = calls();
    while (c->function && strcmp(c->variant, "journal oracle") != 0)
        c++;
    assert_non_null(c->function);
    must(w->ctx, c->run(w, c->variant));
    (void)world_forget(w);
    FILE *file = fopen(path_in(&w->folder, "out/new.journal", path), "rb");
    assert_non_null(file);
    const size_t size = fread(buf, 1, sizeof buf, file);
    fclose(file);
    assert_true(size > 400 && size < sizeof buf);
    write_bytes(&w->folder, "out/half.journal", buf, size * 2 / 3); /* and a torn end */
    assert_int_equal(unlink(path), 0);
}

/* The fit of "rlar checkpoint" before its last iteration. */
static void make_checkpoint(world *w) {
    char path[512];
    rlar_fit_options o = RLAR_INIT(rlar_fit_options);
    o.checkpoint = path_in(&w->folder, "out/half.checkpoint", path);
    o.checkpoint_every = atoll(w->iterations) - 1;
    must(w->ctx, rlar_params_set(w->ctx, w->params, "solver", "paper"));
    must(w->ctx, rlar_fit(w->ctx, w->data, w->params, &o, &w->out.model, NULL));
    (void)world_forget(w);
}

void world_open(world *w, const rlar_ctx_options *options, const char *iterations) {
    char path[512];
    if (access("/dev/shm", W_OK) == 0) /* where fsync costs nothing */
        setenv("TMPDIR", "/dev/shm", 0);
    *w = (world){.options = *options, .iterations = iterations, .folder = new_folder()};
    assert_int_equal(rlar_ctx_new(&w->options, &w->ctx), RLAR_OK);
    make_data(w);
    make_tables(w);
    make_images(w);
    make_folder(&w->folder, "out");
    must(w->ctx, rlar_params_new(w->ctx, "rlar", &w->params));
    must(w->ctx, rlar_params_set(w->ctx, w->params, "iters", iterations));
    must(w->ctx, rlar_fit(w->ctx, w->data, w->params, NULL, &w->model, NULL));
    must(w->ctx, rlar_model_save(w->ctx, w->model, path_in(&w->folder, "m.rlar", path)));
    must(w->ctx, rlar_model_save_bytes(w->ctx, w->model, &w->model_bytes, &w->model_size));
    make_journal(w);
    make_checkpoint(w);
    world_restore(w);
}

void world_close(world *w) {
    rlar_bytes_free(w->ctx, w->model_bytes);
    rlar_model_free(w->model);
    rlar_params_free(w->params);
    rlar_data_free(w->holed);
    rlar_data_free(w->shaded);
    rlar_data_free(w->wide_data);
    rlar_data_free(w->data);
    rlar_ctx_rest(w->ctx);
    assert_int_equal(rlar_ctx_memory(w->ctx), 0);
    rlar_ctx_free(w->ctx);
    remove_folder(&w->folder);
    free(w->holes.x); /* the labels are the first's */
    labelled_free(&w->narrow);
    labelled_free(&w->wide);
}

/* ---- Files ---- */

static uint64_t mix_file(uint64_t check, const char *path) {
    char buf[1 << 14];
    FILE *file = fopen(path, "rb");
    if (!file)
        return mix_text(check, "none");
    for (size_t got; (got = fread(buf, 1, sizeof buf, file)) > 0;)
        check = mix(check, buf, got);
    fclose(file);
    return check;
}

/* Only the folder that calls write into: nothing else may change, and it is small. */
static void each_file(const world *w, void (*visit)(const char *path, const char *name, void *arg),
                      void *arg) {
    char folder[512], path[1024];
    struct dirent **entry = NULL;
    const int count = scandir(path_in(&w->folder, "out", folder), &entry, NULL, alphasort);
    assert_true(count >= 2);
    for (int i = 0; i < count; i++) {
        if (strcmp(entry[i]->d_name, ".") != 0 && strcmp(entry[i]->d_name, "..") != 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
            visit(path, entry[i]->d_name, arg);
        }
        free(entry[i]);
    }
    free(entry);
}

static void mix_named(const char *path, const char *name, void *arg) {
    uint64_t *check = arg;
    *check = mix_file(mix_text(*check, name), path);
}

uint64_t world_files(const world *w) {
    uint64_t check = 0;
    each_file(w, mix_named, &check);
    return check;
}

static void sweep_temporary(const char *path, const char *name, void *arg) {
    int64_t *old = arg;
    if (strncmp(name, ".rlar-", 6) != 0)
        return;
    *old += mix_file(0, path) == mix(0, OLD_FILE, strlen(OLD_FILE));
    assert_int_equal(unlink(path), 0);
}

int64_t world_sweep(const world *w) {
    int64_t old = 0;
    each_file(w, sweep_temporary, &old);
    return old;
}

/* What work goes on from; the first time it is put aside. */
static void restore_half(const world *w, const char *name) {
    char made[64], path[512], kept[512], buf[1 << 16];
    snprintf(made, sizeof made, "out/%s", name);
    FILE *half = fopen(path_in(&w->folder, name, kept), "rb");
    if (!half) {
        assert_int_equal(rename(path_in(&w->folder, made, path), kept), 0);
        half = fopen(kept, "rb");
    }
    assert_non_null(half);
    const size_t size = fread(buf, 1, sizeof buf, half);
    fclose(half);
    write_bytes(&w->folder, made, buf, size);
}

/* Every target exists and holds something else, but the journals and checkpoints. */
void world_restore(world *w) {
    if (w->untouched != 0 && w->untouched == world_files(w))
        return;
    static const char *const old[] = {"out/t.csv",  "out/t.tsv",  "out/t.svm",    "out/t.npy",
                                      "out/t.npz",  "out/t.arff", "out/t.csv.gz", "out/t.npz.gz",
                                      "out/m.rlar", "out/file"};
    char path[512];
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        write_bytes(&w->folder, old[i], OLD_FILE, strlen(OLD_FILE));
    restore_half(w, "half.journal");
    restore_half(w, "half.checkpoint");
    (void)unlink(path_in(&w->folder, "out/new.journal", path));
    (void)unlink(path_in(&w->folder, "out/new.checkpoint", path));
    (void)unlink(path_in(&w->folder, "out/fresh", path));
    w->untouched = world_files(w);
}

/* ---- What came out ---- */

uint64_t mix_data(uint64_t check, const rlar_data *data) {
    double row[64];
    const int64_t n = rlar_data_samples(data), d = rlar_data_dims(data);
    const int64_t sizes[] = {n, d, rlar_data_classes(data), rlar_data_missing(data)};
    assert_true(d <= 64);
    check = mix(check, sizes, sizeof sizes);
    check = mix_text(mix_text(check, rlar_data_name(data)), rlar_data_format(data));
    for (int64_t i = 0; i < n; i++) {
        rlar_data_row(data, i, row);
        check = mix(check, row, (size_t)d * sizeof *row);
        check = mix_text(check, rlar_data_class(data, rlar_data_label(data, i)));
    }
    for (int64_t j = 0; j < d; j++)
        check = mix_text(check, rlar_data_feature(data, j));
    return check;
}

uint64_t mix_eval(uint64_t check, const rlar_eval *eval, int64_t classes) {
    for (int64_t i = 0; i < rlar_eval_count(eval); i++) {
        rlar_eval_result r = RLAR_INIT(rlar_eval_result);
        assert_int_equal(rlar_eval_get(eval, i, &r), RLAR_OK);
        const size_t trials = (size_t)r.trials * sizeof *r.accuracy;
        check = mix(mix(check, r.accuracy, trials), r.balanced, trials);
        check = mix(check, r.cell_accuracy, (size_t)r.cells * sizeof *r.cell_accuracy);
        check = mix(check, r.selected, (size_t)r.n_selected * sizeof *r.selected);
        check = mix(check, r.confusion, (size_t)(classes * classes) * sizeof *r.confusion);
        for (int64_t v = 0; v < r.cells * r.n_axes; v++)
            check = mix_text(check, r.cell_values[v]);
        check = mix_text(mix(check, &r.failed, sizeof r.failed), r.failure);
    }
    return check;
}

static uint64_t mix_rows(uint64_t check, const rlar_rows *rows, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        check = mix(check, rows[i].train, (size_t)rows[i].n_train * sizeof *rows[i].train);
        check = mix(check, rows[i].test, (size_t)rows[i].n_test * sizeof *rows[i].test);
    }
    return check;
}

static uint64_t mix_model(const world *w, uint64_t check, const rlar_model *model) {
    void *bytes = NULL;
    size_t size = 0;
    must(w->ctx, rlar_model_save_bytes(w->ctx, model, &bytes, &size));
    check = mix(check, bytes, size);
    rlar_bytes_free(w->ctx, bytes);
    return check;
}

static uint64_t mix_params(uint64_t check, const rlar_params *params) {
    char text[128];
    const rlar_method_def *def = rlar_params_method(params);
    check = mix_text(check, def->name);
    for (const rlar_param_def *p = def->params; p->name; p++) {
        assert_true(rlar_params_text(params, p->name, text, sizeof text) >= 0);
        check = mix_text(check, text);
    }
    return check;
}

uint64_t world_forget(world *w) {
    result *o = &w->out;
    uint64_t check = mix(o->check, o->number, (size_t)o->numbers * sizeof *o->number);
    if (o->data)
        check = mix_data(check, o->data);
    if (o->model)
        check = mix_model(w, check, o->model);
    if (o->eval)
        check = mix_eval(check, o->eval, 3);
    if (o->rows)
        check = mix_rows(check, o->rows, o->n_rows);
    if (o->params)
        check = mix_params(check, o->params);
    check = mix(check, o->bytes, o->size);
    if (o->path[0])
        check = mix_file(check, o->path);
    rlar_file_abort(o->file);
    rlar_stream_free(o->stream);
    rlar_data_free(o->data);
    rlar_model_free(o->model);
    rlar_eval_free(o->eval);
    rlar_rows_free(o->rows);
    rlar_params_free(o->params);
    rlar_bytes_free(w->ctx, o->bytes);
    rlar_bytes_free(w->ctx, o->grey);
    rlar_ctx_free(o->ctx);
    *o = (result){0};
    return check;
}

/* A bit for everything that is there. */
static unsigned returned(const result *o) {
    const void *const thing[] = {o->ctx,  o->data, o->params, o->model, o->stream,
                                 o->eval, o->rows, o->bytes,  o->grey,  o->file};
    unsigned bits = 0;
    for (unsigned i = 0; i < sizeof thing / sizeof thing[0]; i++)
        bits |= (unsigned)(thing[i] != NULL) << i;
    return bits;
}

void world_step(world *w) {
    w->out.given = returned(&w->out);
}

bool world_is_empty(const world *w) {
    return (returned(&w->out) & ~w->out.given) == 0;
}

const char *call_name(const call *c, char buf[128]) {
    snprintf(buf, 128, "%s%s%s", c->function, c->variant[0] ? " " : "", c->variant);
    return buf;
}
