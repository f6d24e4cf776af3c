/* classify.c - nearest neighbours, class means and largest output on embedded samples.
 *
 * The nearest class mean is the nearest reference when the means are the references, so all kinds
 * but argmax end in the search of nearest.c. The cosine kinds are the same after samples and
 * references were scaled to length 1. A centroid is then the mean of unit vectors: samples count by
 * their direction alone, and the mean itself, shorter the more they spread, is not scaled again.
 *
 * Parallel over blocks of samples. */
#include "eval/classify.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { BLOCKS_PER_THREAD = 4, DEFAULT_NEIGHBOURS = 5 };

static const char *const classifier_name[] = {
    "1nn", "knn", "centroid", "argmax", "1nn-cosine", "knn-cosine", "centroid-cosine"};
enum { CLASSIFIERS = sizeof classifier_name / sizeof classifier_name[0] };

/* The names are in the order of the enum; no text at all means the first. */
rlar_status rlar__classifier_parse(rlar_ctx *ctx, const char *text, rlar_classifier *out) {
    for (int i = 0; i < CLASSIFIERS; i++)
        if (text == NULL || strcmp(text, classifier_name[i]) == 0) {
            *out = (rlar_classifier)i;
            return RLAR_OK;
        }
    return rlar__fail(ctx, RLAR_E_ARG,
                      "classifier \"%.60s\" is unknown; choose 1nn, knn, centroid, argmax, "
                      "1nn-cosine, knn-cosine or centroid-cosine",
                      text);
}

static bool is_cosine(rlar_classifier kind) {
    return kind >= RLAR_CLASSIFY_1NN_COSINE;
}

static bool is_vote(rlar_classifier kind) {
    return kind == RLAR_CLASSIFY_KNN || kind == RLAR_CLASSIFY_KNN_COSINE;
}

static bool is_centroid(rlar_classifier kind) {
    return kind == RLAR_CLASSIFY_CENTROID || kind == RLAR_CLASSIFY_CENTROID_COSINE;
}

/* ---- The plan ---- */

/* A copy whose columns have length 1, a zero column excepted. What is not finite stays so, and is
 * refused with the lengths. */
static rlar_status unit_copy(rlar_ctx *ctx, int64_t p, int64_t n, const double *z, double **out) {
    RLAR_TRY(rlar__alloc(ctx, n, (size_t)p * sizeof **out, "the scaled samples", out));
    if (n > 0)
        memcpy(*out, z, (size_t)(n * p) * sizeof **out);
    rlar__unit_columns(p, n, *out);
    return RLAR_OK;
}

/* Sums and sizes of the classes. scratch: p numbers for a scaled reference, or NULL. */
static void class_sums(const rlar_references *refs, double *scratch, double *sum, int64_t *size) {
    const int64_t p = refs->p;
    for (int64_t i = 0; i < refs->n; i++) {
        const double *z = refs->z + i * p;
        double *to = sum + refs->z_class[i] * p;
        if (scratch) {
            memcpy(scratch, z, (size_t)p * sizeof *z);
            rlar__unit_columns(p, 1, scratch);
            z = scratch;
        }
        for (int64_t j = 0; j < p; j++)
            to[j] += z[j];
        size[refs->z_class[i]]++;
    }
}

/* The means of the classes that have references, in class order, become the references. */
static rlar_status use_means(rlar_ctx *ctx, rlar_classify_plan *plan) {
    const int64_t p = plan->refs.p, c = plan->refs.c;
    double *scratch = NULL;
    int64_t *size = NULL, present = 0;
    rlar_status status =
        rlar__calloc(ctx, c, (size_t)p * sizeof *plan->z, "the class means", &plan->z);
    if (status >= 0)
        status =
            rlar__alloc(ctx, c, sizeof *plan->z_class, "the classes of the means", &plan->z_class);
    if (status >= 0)
        status = rlar__calloc(ctx, c, sizeof *size, "the class sizes", &size);
    if (status >= 0 && is_cosine(plan->kind))
        status = rlar__alloc(ctx, p, sizeof *scratch, "a scaled reference", &scratch);
    if (status >= 0)
        class_sums(&plan->refs, scratch, plan->z, size);
    for (int64_t i = 0; status >= 0 && i < c; i++) {
        if (size[i] == 0)
            continue;
        for (int64_t j = 0; j < p; j++)
            plan->z[present * p + j] = plan->z[i * p + j] / (double)size[i];
        plan->z_class[present++] = (int32_t)i;
    }
    plan->refs.n = present;
    plan->refs.z = plan->z;
    plan->refs.z_class = plan->z_class;
    rlar__free(scratch);
    rlar__free(size);
    return status;
}

/* Asking for more neighbours than there are references is a mistake worth telling. */
static rlar_status count_neighbours(rlar_ctx *ctx, const rlar_classify_plan *plan,
                                    int64_t neighbours, int64_t *k) {
    const int64_t n = plan->refs.n;
    *k = !is_vote(plan->kind) ? 1 : neighbours == 0 ? DEFAULT_NEIGHBOURS : neighbours;
    if (*k < 1 || *k > n)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "neighbours is %lld, the model has %lld references; choose 1 to %lld",
                          (long long)*k, (long long)n, (long long)n);
    return RLAR_OK;
}

/* Everything that compares distances. */
static rlar_status plan_distances(rlar_ctx *ctx, int64_t neighbours, int64_t m,
                                  rlar_classify_plan *plan) {
    bool unit = is_cosine(plan->kind) && !is_centroid(plan->kind);
    int64_t k = 1;
    if (plan->refs.n < 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "the model keeps no references, which this classifier needs; use argmax");
    RLAR_TRY(count_neighbours(ctx, plan, neighbours, &k));
    if (is_centroid(plan->kind))
        RLAR_TRY(use_means(ctx, plan));
    if (unit && !rlar__nearest_few(m)) {
        RLAR_TRY(unit_copy(ctx, plan->refs.p, plan->refs.n, plan->refs.z, &plan->z));
        plan->refs.z = plan->z;
        unit = false;
    }
    return rlar__nearest_open(ctx, &plan->refs, k, unit, m, &plan->nearest);
}

static rlar_status plan_outputs(rlar_ctx *ctx, const rlar_references *refs) {
    if (refs->p != refs->c)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "argmax needs one output per class: the model has %lld outputs and %lld "
            "classes, its method is not a regression method; use 1nn, knn or centroid",
            (long long)refs->p, (long long)refs->c);
    return RLAR_OK;
}

rlar_status rlar__classify_open(rlar_ctx *ctx, rlar_classifier kind, int64_t neighbours,
                                const rlar_references *refs, int64_t m, rlar_classify_plan *out) {
    rlar_classify_plan plan = {.kind = kind, .refs = *refs};
    const rlar_status status = kind == RLAR_CLASSIFY_ARGMAX
                                   ? plan_outputs(ctx, refs)
                                   : plan_distances(ctx, neighbours, m, &plan);
    if (status < 0) {
        rlar__classify_close(&plan);
        return status;
    }
    *out = plan;
    return RLAR_OK;
}

void rlar__classify_close(rlar_classify_plan *plan) {
    rlar__nearest_close(&plan->nearest);
    rlar__free(plan->z);
    rlar__free(plan->z_class);
    *plan = (rlar_classify_plan){0};
}

/* ---- Blocks of samples ---- */

/* What one block in flight needs. */
typedef struct scratch {
    rlar_nearest_scratch nearest;
    int64_t *votes; /* c, all zero between uses */
} scratch;

typedef struct classify_job {
    const rlar_classify_plan *plan;
    const double *q;
    int64_t m;
    int64_t first_block;
    scratch *slot; /* one per block in flight */
    int64_t *classes;
    double *scores; /* c x m or NULL */
} classify_job;

/* Majority of the k nearest. The list is sorted, so the first of two equal counts is the class
 * whose nearest member is nearer; at equal distances the lower class wins. */
static int64_t majority(const classify_job *job, const rlar_near *list, int64_t *votes,
                        double *shares) {
    const int32_t *z_class = job->plan->refs.z_class;
    const int64_t k = job->plan->nearest.k;
    int64_t winner = z_class[list[0].index];
    double winner_distance = list[0].distance;
    for (int64_t i = 0; i < k; i++)
        votes[z_class[list[i].index]]++;
    for (int64_t i = 1; i < k; i++) {
        const int64_t class = z_class[list[i].index];
        const bool nearer = list[i].distance == winner_distance && class < winner;
        if (votes[class] > votes[winner] || (votes[class] == votes[winner] && nearer)) {
            winner = class;
            winner_distance = list[i].distance;
        }
    }
    for (int64_t i = 0; i < k; i++) {
        const int64_t class = z_class[list[i].index];
        if (shares)
            shares[class] = (double)votes[class] / (double)k;
    }
    for (int64_t i = 0; i < k; i++)
        votes[z_class[list[i].index]] = 0;
    return winner;
}

/* From the nearest to a class and its scores: the shares of the votes, or minus the distances of
 * the classes that the search has left there. -1: no reference is near enough to be measured. */
static void decide(const classify_job *job, int64_t sample, const rlar_near *list, int64_t *votes) {
    const rlar_classify_plan *plan = job->plan;
    const int64_t c = plan->refs.c;
    double *scores = job->scores ? job->scores + sample * c : NULL;
    job->classes[sample] = -1;
    if (list[plan->nearest.k - 1].index < 0)
        return;
    if (is_vote(plan->kind)) {
        if (scores)
            memset(scores, 0, (size_t)c * sizeof *scores);
        job->classes[sample] = majority(job, list, votes, scores);
        return;
    }
    job->classes[sample] = plan->refs.z_class[list[0].index];
    for (int64_t i = 0; scores && i < c; i++)
        scores[i] = 0 - scores[i]; /* subtracted, so that a distance of 0 does not become -0 */
}

/* One block of samples against all references. */
static rlar_status classify_block(void *arg, int64_t index) {
    const classify_job *job = arg;
    const rlar_classify_plan *plan = job->plan;
    const scratch *s = &job->slot[index];
    const int64_t from = (job->first_block + index) * RLAR_NEAREST_BLOCK;
    const int64_t left = job->m - from;
    const int64_t count = left < RLAR_NEAREST_BLOCK ? left : RLAR_NEAREST_BLOCK;
    const bool by_class = job->scores && !is_vote(plan->kind);
    rlar__nearest_find(&plan->nearest, job->q + from * plan->refs.p, count, &s->nearest,
                       by_class ? job->scores + from * plan->refs.c : NULL);
    for (int64_t i = 0; i < count; i++)
        decide(job, from + i, s->nearest.list + i * plan->nearest.k, s->votes);
    return RLAR_OK;
}

/* Scratch for `slots` blocks in flight, in one piece each. */
static rlar_status take_scratch(rlar_ctx *ctx, rlar_workspace *ws, const classify_job *job,
                                int64_t slots) {
    const int64_t queries = job->m < RLAR_NEAREST_BLOCK ? job->m : RLAR_NEAREST_BLOCK;
    const int64_t voters = is_vote(job->plan->kind) ? job->plan->refs.c : 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < slots; i++) {
            rlar__nearest_carve(ws, &job->plan->nearest, queries, &job->slot[i].nearest);
            job->slot[i].votes = rlar__carve(ws, voters, sizeof(int64_t));
        }
        if (pass == 0)
            RLAR_TRY(rlar__workspace_take(ctx, ws, "the distances to the references"));
    }
    for (int64_t i = 0; i < slots; i++)
        if (voters > 0)
            memset(job->slot[i].votes, 0, (size_t)voters * sizeof(int64_t));
    return RLAR_OK;
}

/* Blocks in waves as large as the scratch; the wave does not enter the result. */
static rlar_status run_blocks(rlar_ctx *ctx, classify_job *job) {
    const int64_t blocks = (job->m + RLAR_NEAREST_BLOCK - 1) / RLAR_NEAREST_BLOCK;
    const int64_t most = (int64_t)rlar_ctx_threads(ctx) * BLOCKS_PER_THREAD;
    const int64_t slots = blocks < most ? blocks : most;
    rlar_workspace ws = {0};
    RLAR_TRY(rlar__alloc(ctx, slots, sizeof *job->slot, "the classifier", &job->slot));
    rlar_status status = take_scratch(ctx, &ws, job, slots);
    for (int64_t b = 0; status >= 0 && b < blocks; b += slots) {
        job->first_block = b;
        status = rlar__parallel(ctx, blocks - b < slots ? blocks - b : slots, classify_block, job);
    }
    rlar__workspace_free(&ws);
    rlar__free(job->slot);
    return status;
}

/* Everything that compares distances ends here. */
static rlar_status by_distance(rlar_ctx *ctx, classify_job *job) {
    RLAR_TRY(rlar__nearest_check(ctx, job->plan->refs.p, job->m, job->q));
    RLAR_TRY(run_blocks(ctx, job));
    for (int64_t i = 0; i < job->m; i++)
        if (job->classes[i] < 0)
            return rlar__fail(ctx, RLAR_E_NUMERIC,
                              "sample %lld: its distances to the references are too large for a "
                              "number; check the model and the scaling",
                              (long long)i + 1);
    return RLAR_OK;
}

/* Scale the samples; the plan has seen to the references. */
static rlar_status by_angle(rlar_ctx *ctx, classify_job *job) {
    double *q = NULL;
    RLAR_TRY(unit_copy(ctx, job->plan->refs.p, job->m, job->q, &q));
    job->q = q;
    const rlar_status status = by_distance(ctx, job);
    rlar__free(q);
    return status;
}

/* The largest output; the outputs are the scores. */
static rlar_status by_output(rlar_ctx *ctx, const classify_job *job) {
    const int64_t c = job->plan->refs.c;
    for (int64_t i = 0; i < job->m; i++) {
        const double *q = job->q + i * c;
        int64_t best = 0;
        for (int64_t j = 0; j < c; j++) {
            if (!isfinite(q[j]))
                return rlar__fail(ctx, RLAR_E_NUMERIC,
                                  "sample %lld: output %lld is not finite; check the data and the "
                                  "scaling",
                                  (long long)i + 1, (long long)j + 1);
            best = q[j] > q[best] ? j : best;
        }
        job->classes[i] = best;
    }
    if (job->scores && job->m > 0)
        memcpy(job->scores, job->q, (size_t)(c * job->m) * sizeof(double));
    return RLAR_OK;
}

rlar_status rlar__classify(rlar_ctx *ctx, const rlar_classify_plan *plan, const double *q,
                           int64_t m, int64_t *classes, double *scores) {
    classify_job job = {.plan = plan, .q = q, .m = m, .classes = classes, .scores = scores};
    if (plan->kind == RLAR_CLASSIFY_ARGMAX)
        return by_output(ctx, &job);
    return is_cosine(plan->kind) ? by_angle(ctx, &job) : by_distance(ctx, &job);
}
