/* texture.c - a synthetic texture with the mean, contrast and spectral decay of the photograph that
 * is usually put before faces, which has no clear licence; and textures of any size made to fit. */
#include "eval/texture.h"

#include <math.h>

/* Any seed would do; this one is part of the definition of the texture. */
static const uint64_t SEED = 20200608;

enum { SIDE = RLAR_TEXTURE_SIDE, PIXELS = SIDE * SIDE, HIGHEST = SIDE / 2 - 1 };

static const double PI = 3.14159265358979323846;

/* Add the wave of u periods across and v down. Its value depends on (u j + v i) mod SIDE only, so
 * SIDE cosines are enough for all pixels. */
static void add_wave(int u, int v, double phase, double *texture) {
    const double amplitude = pow((double)(u * u + v * v), -0.6);
    double wave[SIDE];
    for (int k = 0; k < SIDE; k++)
        wave[k] = amplitude * cos(2.0 * PI * (double)k / SIDE + phase);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            texture[i * SIDE + j] += wave[(u * j + v * i + SIDE * SIDE) % SIDE];
}

/* Mean 0.506 and standard deviation 0.130, clipped to [0, 1]. */
static void set_contrast(double *texture) {
    double mean = 0.0, variance = 0.0;
    for (int i = 0; i < PIXELS; i++)
        mean += texture[i] / PIXELS;
    for (int i = 0; i < PIXELS; i++)
        variance += (texture[i] - mean) * (texture[i] - mean) / PIXELS;
    for (int i = 0; i < PIXELS; i++)
        texture[i] = fmin(fmax(0.506 + 0.130 * (texture[i] - mean) / sqrt(variance), 0.0), 1.0);
}

/* One wave of each pair (u, v), (-u, -v), which are the same, up to the highest frequency in every
 * direction. */
void rlar_texture(double texture[64 * 64]) {
    rlar_rng rng = {.state = SEED};
    for (int i = 0; i < PIXELS; i++)
        texture[i] = 0.0;
    for (int u = 0; u <= HIGHEST; u++)
        for (int v = u == 0 ? 1 : -HIGHEST; v <= HIGHEST; v++)
            if (u * u + v * v <= HIGHEST * HIGHEST)
                add_wave(u, v, 2.0 * PI * (double)(rlar__rng_next(&rng) >> 11) * 0x1p-53, texture);
    set_contrast(texture);
}

/* `from` numbers, `step` apart, as `to` means over equal shares. In units of 1/to of a number,
 * share i is [i from, (i+1) from] and number j is [j to, (j+1) to]: the overlaps are whole. */
static void resize_line(const double *line, int64_t step, int64_t from, double *out,
                        int64_t out_step, int64_t to) {
    for (int64_t i = 0; i < to; i++) {
        const int64_t start = i * from, end = start + from;
        double sum = 0.0;
        for (int64_t j = start / to; j * to < end; j++) {
            const int64_t left = j * to > start ? j * to : start;
            const int64_t right = j * to + to < end ? j * to + to : end;
            sum += (double)(right - left) / (double)from * line[j * step];
        }
        out[i * out_step] = sum;
    }
}

/* Each row first, then each column of what they became. */
rlar_status rlar__texture_resize(rlar_ctx *ctx, const double *texture, int64_t rows,
                                 int64_t columns, int64_t side, double *square) {
    double *narrow = NULL;
    RLAR_TRY(rlar__alloc(ctx, rows, (size_t)side * sizeof *narrow, "the texture", &narrow));
    for (int64_t i = 0; i < rows; i++)
        resize_line(texture + i * columns, 1, columns, narrow + i * side, 1, side);
    for (int64_t j = 0; j < side; j++)
        resize_line(narrow + j, side, rows, square + j, side, side);
    rlar__free(narrow);
    return RLAR_OK;
}
