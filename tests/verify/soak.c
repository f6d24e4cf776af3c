/* soak.c - fit, save, load and predict, over and over, each method in turn: neither the context nor
 * the process grows.
 *
 *   soak [--count N]       from the root of the checkout, or with RLAR_SOURCE_ROOT
 *
 * N cycles (default 2000, at least 400), the first tenth of them, 200 at the least, to warm up. */
#include <unistd.h>

#include "trial.h"

#include "../unit/reading.h"

enum {
    ALLOWED = 64 << 10, /* bytes: a few pages may come and go with the heap */
    WARM = 200,
    LEAST = 2 * WARM /* cycles: as many must be left to grow in */
};

/* AddressSanitizer keeps what was freed for a while. */
#ifdef __SANITIZE_ADDRESS__
static const bool counts_pages = false;
#else
static const bool counts_pages = true;
#endif

/* Pages of the process that are in memory, as bytes. */
static int64_t resident(void) {
    long long pages = 0, all = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lld %lld", &all, &pages), 2);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void cycle(rlar_ctx *ctx, const rlar_data *data, const char *method, const char *path) {
    int64_t found[150], right = 0;
    rlar_params *params = NULL;
    rlar_model *model = NULL, *loaded = NULL;
    assert_int_equal(rlar_params_new(ctx, method, &params), RLAR_OK);
    if (rlar_fit(ctx, data, params, NULL, &model, NULL) < 0 ||
        rlar_model_save(ctx, model, path) < 0 || rlar_model_load(ctx, path, &loaded) < 0 ||
        rlar_predict(ctx, loaded, data, NULL, found, NULL) < 0)
        fail_msg("%s: %s", method, rlar_ctx_error(ctx));
    for (int64_t i = 0; i < 150; i++)
        right += found[i] == rlar_data_label(data, i);
    assert_true(right > 140);
    rlar_model_free(loaded);
    rlar_model_free(model);
    rlar_params_free(params);
}

int main(int argc, char **argv) {
    const int64_t count = count_option(argc, argv, 2000);
    if (count < LEAST)
        fail_msg("--count %lld: must be at least %d, of which %d warm up", (long long)count, LEAST,
                 WARM);
    const char *root = getenv("RLAR_SOURCE_ROOT");
    char iris[512], path[512];
    temp_folder folder = new_folder();
    rlar_ctx *ctx = context(2);
    rlar_data *data = NULL;
    snprintf(iris, sizeof iris, "%s/data/iris.arff", root ? root : ".");
    if (rlar_data_read(ctx, iris, NULL, &data) < 0)
        fail_msg("%s", rlar_ctx_error(ctx));
    path_in(&folder, "soak.rlar", path);
    cycle(ctx, data, "rlar", path); /* the context makes its threads */
    const int64_t held = rlar_ctx_memory(ctx);
    int64_t warm = 0, most = 0, left = 0, peak = 0;
    for (int64_t i = 0; i < count; i++) {
        cycle(ctx, data, rlar_method_at(i % rlar_method_count())->name, path);
        const int64_t now = resident();
        if (i <= count / 10 || i <= WARM) {
            warm = now > warm ? now : warm;
            peak = rlar_ctx_memory_peak(ctx);
        }
        most = now > most ? now : most;
        left = rlar_ctx_memory(ctx) - held > left ? rlar_ctx_memory(ctx) - held : left;
    }
    peak = rlar_ctx_memory_peak(ctx) - peak;
    printf("%lld cycles of fit, save, load and predict, %lld methods in turn: the process grew by "
           "%lld KiB once warm (%lld KiB in all), the context by %lld bytes, its peak by "
           "%lld\n",
           (long long)count, (long long)rlar_method_count(), (long long)(most - warm) / 1024,
           (long long)most / 1024, (long long)left, (long long)peak);
    rlar_data_free(data);
    rlar_ctx_free(ctx);
    remove_folder(&folder);
    return (counts_pages && most - warm > ALLOWED) || left != 0 || peak != 0;
}
