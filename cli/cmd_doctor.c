/* cmd_doctor.c - rlar doctor: is the machine set up well for it, and what to do if not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct findings {
    rlar_blas_info blas;
    double gflops;
    long processors;
    double memory, available; /* bytes */
    char *gnuplot;            /* path, or NULL */
    const char *advice[8];
    int n_advice;
} findings;

static void advise(findings *f, const char *text) {
    if (f->n_advice < (int)(sizeof f->advice / sizeof f->advice[0]))
        f->advice[f->n_advice++] = text;
}

/* What a user can do something about; silence means that all is well. */
static void find_advice(cli *c, findings *f) {
    if (f->blas.generic)
        advise(f, "the BLAS library uses a generic kernel on a processor that has better: set the "
                  "environment variable OPENBLAS_CORETYPE to the wanted kernel, or install a newer "
                  "OpenBLAS");
    if (strcmp(f->blas.chosen, "OPENBLAS_CORETYPE") == 0 && f->blas.wanted[0] != '\0' &&
        strcasecmp(f->blas.kernel, f->blas.wanted) != 0)
        advise(f, "the environment variable OPENBLAS_CORETYPE asks for another kernel than the "
                  "processor deserves: unset it");
    if (rlar_ctx_threads(c->ctx) > f->processors)
        advise(f, "there are more threads than processors: lower --threads");
    if (f->gnuplot == NULL)
        advise(f, "gnuplot is not installed, so `rlar plot` cannot draw: install it (Debian: "
                  "gnuplot-nox)");
    if (!cli_matio_present())
        advise(f, "the library matio cannot be opened, so .mat files cannot be read: install it");
    if ((rlar_capabilities() & RLAR_CAN_PNG) == 0)
        advise(f, "this build reads no PNG images: build it with libpng");
    if ((rlar_capabilities() & RLAR_CAN_GZIP) == 0)
        advise(f, "this build reads no gzipped files: build it with zlib");
}

/* The speed comes from 0.3 s of matrix products: enough to tell a good kernel from a generic one.
 */
static int examine(cli *c, findings *f) {
    const double page = (double)sysconf(_SC_PAGESIZE);
    f->blas.size = sizeof f->blas;
    int code = cli_check(c, rlar_blas_describe(c->ctx, &f->blas));
    if (code == 0)
        code = cli_check(c, rlar_blas_speed(c->ctx, 0.3, &f->gflops));
    if (code != 0)
        return code;
    f->processors = sysconf(_SC_NPROCESSORS_ONLN);
    f->memory = page * (double)sysconf(_SC_PHYS_PAGES);
    f->available = page * (double)sysconf(_SC_AVPHYS_PAGES);
    f->gnuplot = cli_find_program("gnuplot");
    find_advice(c, f);
    return 0;
}

static void print_json(cli *c, const findings *f) {
    const unsigned can = rlar_capabilities();
    json_t *root = json_object(), *blas = json_object(), *abilities = json_object(),
           *advice = json_array();
    cli_json_set(blas, "library", cli_json_text(f->blas.library));
    cli_json_set(blas, "config", cli_json_text(f->blas.config));
    cli_json_set(blas, "kernel", cli_json_text(f->blas.kernel));
    cli_json_set(blas, "wanted", cli_json_text(f->blas.wanted));
    cli_json_set(blas, "chosen", cli_json_text(f->blas.chosen));
    cli_json_set(blas, "generic", json_boolean(f->blas.generic));
    cli_json_set(abilities, "gzip", json_boolean(can & RLAR_CAN_GZIP));
    cli_json_set(abilities, "png", json_boolean(can & RLAR_CAN_PNG));
    cli_json_set(abilities, "mat", json_boolean(cli_matio_present()));
    for (int i = 0; i < f->n_advice; i++)
        json_array_append_new(advice, cli_json_text(f->advice[i]));
    cli_json_set(root, "rlar", cli_json_text(rlar_version()));
    cli_json_set(root, "blas", blas);
    cli_json_set(root, "threads", json_integer(rlar_ctx_threads(c->ctx)));
    cli_json_set(root, "processors", json_integer(f->processors));
    cli_json_set(root, "gflops", cli_json_number(f->gflops));
    cli_json_set(root, "memory_bytes", json_integer((json_int_t)f->memory));
    cli_json_set(root, "free_bytes", json_integer((json_int_t)f->available));
    cli_json_set(root, "capabilities", abilities);
    cli_json_set(root, "gnuplot", cli_json_text(f->gnuplot));
    cli_json_set(root, "advice", advice);
    cli_json_print(c, root);
}

/* Libraries other than OpenBLAS do not tell their kernel. */
static const char *or_unknown(const char *text) {
    return text[0] != '\0' ? text : "not told";
}

static void print_text(cli *c, const findings *f) {
    char total[CLI_NUMBER_SIZE], available[CLI_NUMBER_SIZE];
    const unsigned can = rlar_capabilities();
    cli_printf(c, "rlar        %s\n", rlar_version());
    cli_printf(c, "BLAS        %s\n", f->blas.library);
    if (f->blas.config[0] != '\0')
        cli_printf(c, "            %s\n", f->blas.config);
    cli_printf(c, "kernel      %s (wanted: %s; chosen by %s)\n", or_unknown(f->blas.kernel),
               or_unknown(f->blas.wanted), f->blas.chosen);
    cli_printf(c, "threads     %d on %ld processors\n", rlar_ctx_threads(c->ctx), f->processors);
    cli_printf(c, "speed       %.1f GF/s\n", f->gflops);
    cli_printf(c, "memory      %s, %s free\n", cli_bytes(f->memory, total),
               cli_bytes(f->available, available));
    cli_printf(c, "formats     csv tsv libsvm npy npz arff%s images%s%s\n",
               cli_matio_present() ? " mat" : "", can & RLAR_CAN_PNG ? " png" : "",
               can & RLAR_CAN_GZIP ? " gzip" : "");
    cli_printf(c, "gnuplot     %s\n", f->gnuplot != NULL ? f->gnuplot : "not found");
    for (int i = 0; i < f->n_advice; i++)
        cli_printf(c, "to do       %s\n", f->advice[i]);
    if (f->n_advice == 0)
        cli_printf(c, "to do       nothing, all is well\n");
}

int cli_cmd_doctor(cli *c) {
    findings f = {0};
    const int code = examine(c, &f);
    if (code == 0 && c->args.json > 0)
        print_json(c, &f);
    else if (code == 0)
        print_text(c, &f);
    free(f.gnuplot);
    return code;
}
