/* statistics_driver.c - the tests of a comparison for test_statistics.py: one request per line on
 * standard input, numbers after a word, and one JSON array per request on standard output.
 *
 *   wilcoxon N x.. y..        [statistic, p]
 *   holm N p..                [adjusted..]
 *   friedman N K values..     [statistic, p, F, p of F, average ranks..]
 *   nemenyi N K ranks..       [p.. row by row]
 *   difference N K level      [difference]
 *
 * A refused request gives a JSON text, the message. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rlar.h"

enum { MOST = 1 << 20 };

static int64_t read_size(void) {
    int64_t size = 0;
    if (scanf("%" SCNd64, &size) != 1 || size < 0 || size > MOST)
        exit(2);
    return size;
}

static void read_numbers(int64_t count, double *out) {
    for (int64_t i = 0; i < count; i++)
        if (i >= MOST || scanf("%lf", &out[i]) != 1) /* also nan and inf */
            exit(2);
}

/* How many numbers the answer has; negative: a status. */
static int64_t answer(rlar_ctx *ctx, const char *request, double *in, double *out) {
    const int64_t n = read_size();
    if (strcmp(request, "wilcoxon") == 0) {
        read_numbers(2 * n, in);
        const rlar_status status = rlar_wilcoxon(ctx, n, in, in + n, &out[0], &out[1]);
        return status < 0 ? status : 2;
    }
    if (strcmp(request, "holm") == 0) {
        read_numbers(n, in);
        const rlar_status status = rlar_holm(ctx, n, in, out);
        return status < 0 ? status : n;
    }
    const int64_t k = read_size();
    rlar_status status = RLAR_E_ARG;
    if (strcmp(request, "friedman") == 0) {
        read_numbers(n * k, in);
        status = rlar_friedman(ctx, n, k, in, out + 4, &out[0], &out[1]);
        if (status >= 0)
            status = rlar_iman_davenport(ctx, n, k, out[0], &out[2], &out[3]);
        return status < 0 ? status : 4 + k;
    }
    if (strcmp(request, "nemenyi") == 0) {
        read_numbers(k, in);
        status = rlar_nemenyi(ctx, n, k, in, out);
        return status < 0 ? status : k * k;
    }
    read_numbers(1, in);
    status = rlar_nemenyi_difference(ctx, n, k, in[0], out);
    return status < 0 ? status : 1;
}

int main(void) {
    rlar_ctx *ctx = NULL;
    double *in = malloc(MOST * sizeof *in), *out = malloc(MOST * sizeof *out);
    if (in == NULL || out == NULL || rlar_ctx_new(NULL, &ctx) < 0)
        return 1;
    char request[16];
    while (scanf("%15s", request) == 1) {
        const int64_t count = answer(ctx, request, in, out);
        if (count < 0)
            printf("\"%s\"", rlar_ctx_error(ctx));
        for (int64_t i = 0; i < count; i++)
            printf("%s%.17g", i == 0 ? "[" : ", ", out[i]);
        puts(count > 0 ? "]" : "");
    }
    rlar_ctx_free(ctx);
    free(in);
    free(out);
    return 0;
}
