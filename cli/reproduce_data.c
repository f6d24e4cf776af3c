/* reproduce_data.c - the samples of the paper's tables: where they are, how to get them, and the
 * training images that are occluded on purpose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce.h"

typedef struct source {
    const char *data, *title, *file, *how;
    const char *scale; /* NULL: unit, the paper's */
} source;

#define UCI                                                                                        \
    "from the UCI Machine Learning Repository (https://archive.ics.uci.edu), one sample per "      \
    "line, "                                                                                       \
    "the class last"
#define SHIPS "; it ships with rlar, in its folder data"
#define AR_HOME "on request for research (http://www2.ece.ohio-state.edu/~aleix/ARdatabase.html)"
#define FACES "as a MATLAB file with fea (a 32 x 32 image per row, column by column) and gnd"

/* One column of Dermatology, the age, is far larger than the others and would be nearly all of a
 * sample of length 1: its columns come to [0, 1] first. So 14 of the paper's 15 numbers are within
 * the noise, without it 8. */
static const source sources[] = {
    {"dermatology", "Dermatology", "dermatology", UCI, "minmax,unit"},
    {"diabetes", "Diabetes", "diabetes", UCI " (Pima Indians diabetes)" SHIPS, NULL},
    {"ionosphere", "Ionosphere", "ionosphere", UCI SHIPS, NULL},
    {"iris", "Iris", "iris", UCI SHIPS, NULL},
    {"wine", "Wine", "wine", UCI SHIPS, NULL},
    {"binalpha", "Binalpha", "binalpha",
     "the Binary Alphadigits, 36 classes x 39 images of 20 x 16, as a MATLAB file with fea and "
     "gnd (binaryalphadigs.mat of https://github.com/ma-xu/L21FS)",
     NULL},
    {"yaleb", "YaleB", "YaleB_32x32",
     "the Extended Yale B faces, cropped, " FACES " (https://github.com/coekgit/WGE_LRP)", NULL},
    {"ar", "AR", "AR_32x32",
     "the AR faces, " AR_HOME ": 100 people x 14 images without occlusion, " FACES, NULL},
    {"coil20", "COIL20", "COIL20",
     "the objects of COIL-20, 1440 images, " FACES " (https://github.com/coekgit/WGE_LRP)", NULL},
    {"caltech101", "Caltech101", "Caltech101_spm3000",
     "spatial-pyramid features of Caltech 101, 9144 x 3000, as a MATLAB file with fea and gnd",
     NULL},
    {"glasses", "AR with glasses", "AR_glasses_32x32",
     "the AR faces with sunglasses, " AR_HOME ": 100 people x 6 images, " FACES, NULL},
    {"scarf", "AR with scarves", "AR_scarf_32x32",
     "the AR faces with scarves, " AR_HOME ": 100 people x 6 images, " FACES, NULL},
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

/* Corrupted training images of a class in the table of blocks; pixels of a side. */
enum { CORRUPTED = 3, SIDE = 32 };

static const source *source_of(const char *data) {
    for (int i = 0; i < SOURCES; i++)
        if (strcmp(sources[i].data, data) == 0)
            return &sources[i];
    return NULL;
}

/* "glasses 2" -> the source of the occluding images; NULL for another table. */
static const source *occluding_source(const paper_entry *place) {
    char kind[16] = "";
    if (strcmp(place->table, "occlusion") != 0)
        return NULL;
    sscanf(place->variant, "%15s", kind);
    return source_of(kind);
}

static int64_t variant_number(const paper_entry *place) {
    const char *digits = strpbrk(place->variant, "0123456789");
    return digits != NULL ? strtoll(digits, NULL, 10) : 0;
}

const char *source_file(int number) {
    return number < SOURCES ? sources[number].file : NULL;
}

int sources_find(cli *c, char ***out) {
    int code = 0;
    *out = cli_alloc(SOURCES * sizeof **out);
    for (int i = 0; i < SOURCES; i++)
        (*out)[i] = NULL;
    for (int i = 0; i < SOURCES && code == 0; i++)
        code = cli_data_find(c, sources[i].file, &(*out)[i]);
    return code;
}

void sources_free(char **found) {
    for (int i = 0; i < SOURCES && found != NULL; i++)
        free(found[i]);
    free(found);
}

const char *place_missing(char *const *found, const paper_entry *place, const char **how) {
    const source *needed[] = {source_of(place->data), occluding_source(place)};
    for (int i = 0; i < 2; i++)
        if (needed[i] != NULL && found[needed[i] - sources] == NULL) {
            *how = needed[i]->how;
            return needed[i]->file;
        }
    return NULL;
}

/* From the data folder: a folder of the same name beside us is another thing. */
static int load(cli *c, char *const *found, const source *from, cli_data *out) {
    return cli_data_load(c, found[from - sources], RLAR_MISSING_MEAN, out);
}

static int occlude(cli *c, char *const *found, const paper_entry *place, int64_t trials,
                   uint64_t seed, place_data *out) {
    rlar_occlusion spec = RLAR_INIT(rlar_occlusion);
    const source *other = occluding_source(place);
    int code = 0;
    spec.per_class = place->per_class;
    spec.trials = trials;
    spec.seed = seed;
    spec.height = spec.width = SIDE;
    spec.by_columns = 1;
    spec.corrupted = other != NULL ? variant_number(place) : CORRUPTED;
    spec.block = other != NULL ? 0 : variant_number(place);
    double *texture = NULL;
    if (other != NULL)
        code = load(c, found, other, &out->occluding);
    else if (c->args.occluder != NULL)
        code = cli_check(c, rlar_image_read(c->ctx, c->args.occluder, &texture, &spec.texture_rows,
                                            &spec.texture_columns));
    spec.occluded = out->occluding.data;
    spec.texture = texture;
    if (code == 0)
        code = cli_check(c, rlar_occlude(c->ctx, out->held.data, &spec, &out->made, &out->splits));
    rlar_bytes_free(c->ctx, texture);
    out->data = out->made;
    return code;
}

int place_load(cli *c, char *const *found, const paper_entry *place, int64_t trials, uint64_t seed,
               place_data *out) {
    *out = (place_data){0};
    int code = load(c, found, source_of(place->data), &out->held);
    out->data = out->held.data;
    if (code == 0)
        code = cli_need_labels(c, &out->held);
    if (code == 0 && place->variant[0] != '\0')
        code = occlude(c, found, place, trials, seed, out);
    if (code != 0)
        place_free(out);
    return code;
}

void place_free(place_data *data) {
    rlar_data_free(data->made);
    rlar_rows_free(data->splits);
    cli_data_free(&data->held);
    cli_data_free(&data->occluding);
    *data = (place_data){0};
}

const char *place_scale(const paper_entry *place, column which) {
    const char *scale = source_of(place->data)->scale;
    if (which == COLUMN_DEFAULT)
        return RLAR_SCALE_DEFAULT;
    return scale != NULL ? scale : RLAR_SCALE_PAPER;
}

const char *file_title(const char *file) {
    for (int i = 0; i < SOURCES; i++)
        if (strcmp(sources[i].file, file) == 0)
            return sources[i].title;
    return file;
}

const char *place_file(const paper_entry *place) {
    return source_of(place->data)->file;
}

void place_title(const paper_entry *place, char *buf, size_t size) {
    const source *other = occluding_source(place);
    const int length = snprintf(buf, size, "%s, %lld per class", source_of(place->data)->title,
                                (long long)place->per_class);
    const long long number = (long long)variant_number(place);
    if (other != NULL)
        snprintf(buf + length, size - (size_t)length, ", %lld of them with %s", number,
                 strcmp(other->data, "scarf") == 0 ? "scarf" : "glasses");
    else if (place->variant[0] != '\0')
        snprintf(buf + length, size - (size_t)length, ", %d of them under %lld x %lld", CORRUPTED,
                 number, number);
}
