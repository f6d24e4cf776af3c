/* dataset.h - what is inside an rlar_data. */
#ifndef RLAR_DATASET_H
#define RLAR_DATASET_H

#include "core/core.h"
#include "data/labels.h"

/* Pixels of an image; 0 x 0: the samples are no images, or not known to be. */
typedef struct rlar_shape {
    int64_t height, width;
} rlar_shape;

struct rlar_data {
    rlar_view view;      /* the samples; view.x is own_x for data that were read */
    double *own_x;       /* d x n, or NULL for a borrowed view */
    int64_t room;        /* samples that own_x has room for, where these are more than n; else 0 */
    int64_t *label;      /* n classes, or what stands in place of one; NULL: no labels */
    rlar_texts classes;  /* in order */
    int64_t *class_size; /* classes.count */
    rlar_texts features; /* count 0: no names */
    int64_t first;       /* a block of a stream: number of its first sample, for messages */
    int64_t missing;     /* cells that were missing when read */
    int64_t dropped;     /* samples left out for it of a part of a file: share.c tells of them */
    rlar_shape image;    /* of a folder of images */
    char *name, *format;
    char *file; /* what messages call it: the path as it was given, or the name */
};

rlar_status rlar__data_new(rlar_ctx *ctx, const char *name, const char *format, const char *file,
                           rlar_data **out);
/* Samples of each class; those without a class count nowhere. */
rlar_status rlar__class_sizes(rlar_ctx *ctx, const int64_t *label, int64_t n, int64_t classes,
                              int64_t **out);
/* An error where these images have another shape than those before, which the first ones set: with
 * as many pixels, a feature would still be another place in them. */
rlar_status rlar__shape_agree(rlar_ctx *ctx, const char *file, rlar_shape image, rlar_shape *all);

#endif
