/* classify.c - nearest neighbours, class means and largest output on embedded samples.
 *
 * Distances are first estimated as ||a||^2 - 2 a'b + ||b||^2 by one matrix product per block of
 * queries and chunk of references. The estimate only rules references out: whatever comes within
 * the rounding error of the best so far is measured again as a sum of squared differences, and only
 * such distances are compared or reported. So the answer is a function of the two samples alone,
 * whatever the threads, the blocks or the BLAS. References are met in the order of their index and
 * replace the best only when strictly nearer, which gives ties to the lower index. The cosine kinds
 * are the same classifiers on copies that were scaled to length 1.
 *
 * Memory: a tile of estimates and k distances per query for each block in flight. */
#include "eval/classify.h"

#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    QUERIES = 256,    /* per block, as in the protocol */
    REFERENCES = 256, /* per chunk: with the queries a tile of 512 KiB, which stays in the cache */
    BLOCKS_PER_THREAD = 4,
    DEFAULT_NEIGHBOURS = 5
};

/* Largest squared length that leaves room for the sums of a distance. */
static const double LARGEST_SQUARE = DBL_MAX / 8;

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

/* ---- One classification ---- */

/* A reference that is among the nearest. */
typedef struct near_one {
    double distance; /* squared */
    int64_t index;
} near_one;

/* What one block in flight needs. */
typedef struct scratch {
    double *tile;      /* REFERENCES x QUERIES */
    near_one *nearest; /* k x QUERIES, nearest first */
    int64_t *votes;    /* c, all zero between uses */
} scratch;

typedef struct classify_job {
    const rlar_references *refs;
    const double *ref_least; /* n squared lengths, times 1 - guard */
    const double *q;
    const double *q_square; /* m squared lengths */
    int64_t m, k;
    double guard;  /* relative rounding error that an estimate may have */
    bool by_class; /* scores are the nearest of each class */
    bool vote;     /* scores are shares of votes */
    int64_t first_block;
    scratch *slot; /* one per block in flight */
    int64_t *classes;
    double *scores; /* c x m or NULL */
} classify_job;

/* Put a reference into the sorted list of k if it is strictly nearer than the last. */
static void insert(near_one *list, int64_t k, double distance, int64_t index) {
    int64_t i = k - 1;
    if (list[i].index >= 0 && !(distance < list[i].distance))
        return;
    for (; i > 0 && (list[i - 1].index < 0 || distance < list[i - 1].distance); i--)
        list[i] = list[i - 1];
    list[i] = (near_one){distance, index};
}

/* Measure one reference and keep it if it belongs to the k nearest. */
static double measure(const classify_job *job, int64_t index, const double *q, near_one *list) {
    const rlar_references *r = job->refs;
    const double distance = rlar__distance2(r->p, r->z + index * r->p, q);
    insert(list, job->k, distance, index);
    return distance;
}

/* Go through one chunk for one query; `product` holds a'b. A reference is passed over when even the
 * least distance it may have, (1 - guard)(||a||^2 + ||b||^2) - 2 a'b, is beyond the k-th nearest so
 * far. */
static void scan_chunk(const classify_job *job, int64_t first, int64_t count, int64_t query,
                       const double *product, near_one *list) {
    const double *q = job->q + query * job->refs->p;
    const double *least = job->ref_least + first;
    const double own = job->q_square[query] * (1 - job->guard);
    double limit = list[job->k - 1].distance - own;
    for (int64_t i = 0; i < count; i++) {
        if (least[i] - 2 * product[i] > limit)
            continue;
        measure(job, first + i, q, list);
        limit = list[job->k - 1].distance - own;
    }
}

/* The same where the nearest of every class is wanted: each class has its own limit. The nearest of
 * all is the nearest of its class, so the list misses nothing. */
static void scan_classes(const classify_job *job, int64_t first, int64_t count, int64_t query,
                         const double *product, near_one *list) {
    const rlar_references *r = job->refs;
    const double *q = job->q + query * r->p;
    const double own = job->q_square[query] * (1 - job->guard);
    double *nearest = job->scores + query * r->c;
    for (int64_t i = 0; i < count; i++) {
        double *best = &nearest[r->z_class[first + i]];
        if (job->ref_least[first + i] + own - 2 * product[i] > *best)
            continue;
        const double distance = measure(job, first + i, q, list);
        *best = distance < *best ? distance : *best;
    }
}

/* Majority of the k nearest. The list is sorted, so the first of two equal counts is the class
 * whose nearest member is nearer; at equal distances the lower class wins. */
static int64_t majority(const classify_job *job, const near_one *list, int64_t *votes,
                        double *shares) {
    const int32_t *z_class = job->refs->z_class;
    int64_t winner = z_class[list[0].index];
    double winner_distance = list[0].distance;
    for (int64_t i = 0; i < job->k; i++)
        votes[z_class[list[i].index]]++;
    for (int64_t i = 1; i < job->k; i++) {
        const int64_t class = z_class[list[i].index];
        const bool nearer = list[i].distance == winner_distance && class < winner;
        if (votes[class] > votes[winner] || (votes[class] == votes[winner] && nearer)) {
            winner = class;
            winner_distance = list[i].distance;
        }
    }
    for (int64_t i = 0; i < job->k; i++) {
        const int64_t class = z_class[list[i].index];
        if (shares)
            shares[class] = (double)votes[class] / (double)job->k;
    }
    for (int64_t i = 0; i < job->k; i++)
        votes[z_class[list[i].index]] = 0;
    return winner;
}

/* From the nearest to a class and its scores. */
static void decide(const classify_job *job, int64_t query, const near_one *list, int64_t *votes) {
    const int64_t c = job->refs->c;
    double *scores = job->scores ? job->scores + query * c : NULL;
    if (job->vote) {
        job->classes[query] = majority(job, list, votes, scores);
        return;
    }
    job->classes[query] = job->refs->z_class[list[0].index];
    for (int64_t i = 0; job->by_class && i < c; i++)
        scores[i] = 0 - scores[i]; /* subtracted, so that a distance of 0 does not become -0 */
}

/* Infinitely far, so that the first references are always measured. A class that has none keeps its
 * score of minus infinity. */
static void start_query(const classify_job *job, int64_t query, near_one *list) {
    const int64_t c = job->refs->c;
    for (int64_t i = 0; i < job->k; i++)
        list[i] = (near_one){INFINITY, -1};
    for (int64_t i = 0; job->scores && i < c; i++)
        job->scores[query * c + i] = job->by_class ? INFINITY : 0;
}

/* One block of queries against all references. */
static rlar_status classify_block(void *arg, int64_t index) {
    const classify_job *job = arg;
    const rlar_references *r = job->refs;
    const scratch *s = &job->slot[index];
    const int64_t from = (job->first_block + index) * QUERIES;
    const int64_t count = job->m - from < QUERIES ? job->m - from : QUERIES;
    for (int64_t i = 0; i < count; i++)
        start_query(job, from + i, s->nearest + i * job->k);
    for (int64_t first = 0; first < r->n; first += REFERENCES) {
        const int64_t chunk = r->n - first < REFERENCES ? r->n - first : REFERENCES;
        rlar__tile_inner(chunk, count, r->p, r->z + first * r->p, r->p, job->q + from * r->p, r->p,
                         s->tile, REFERENCES);
        for (int64_t i = 0; i < count; i++)
            (job->by_class ? scan_classes : scan_chunk)(
                job, first, chunk, from + i, s->tile + i * REFERENCES, s->nearest + i * job->k);
    }
    for (int64_t i = 0; i < count; i++)
        decide(job, from + i, s->nearest + i * job->k, s->votes);
    return RLAR_OK;
}

/* ---- Preparation ---- */

/* Squared lengths of the columns; those whose distances could overflow, or are no numbers, are
 * refused here so that the comparisons above need not think of them. */
static rlar_status squares(rlar_ctx *ctx, const char *what, int64_t p, int64_t n, const double *z,
                           double *out) {
    for (int64_t i = 0; i < n; i++) {
        out[i] = rlar__dot(p, z + i * p, z + i * p);
        if (!(out[i] <= LARGEST_SQUARE))
            return rlar__fail(
                ctx, RLAR_E_NUMERIC,
                "%s %lld: its outputs are not finite or too large (squared length %g); "
                "check the data and the scaling",
                what, (long long)i + 1, out[i]);
        if (i % 4096 == 0)
            RLAR_TRY(rlar__poll(ctx));
    }
    return RLAR_OK;
}

/* Scratch for `slots` blocks in flight, in one piece each. */
static rlar_status take_scratch(rlar_ctx *ctx, rlar_workspace *ws, const classify_job *job,
                                scratch *slot, int64_t slots) {
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t i = 0; i < slots; i++) {
            slot[i].tile = rlar__carve(ws, REFERENCES * QUERIES, sizeof(double));
            slot[i].nearest = rlar__carve(ws, job->k, QUERIES * sizeof(near_one));
            slot[i].votes = rlar__carve(ws, job->vote ? job->refs->c : 0, sizeof(int64_t));
        }
        if (pass == 0)
            RLAR_TRY(rlar__workspace_take(ctx, ws, "the distances to the references"));
    }
    for (int64_t i = 0; job->vote && i < slots; i++)
        memset(slot[i].votes, 0, (size_t)job->refs->c * sizeof(int64_t));
    return RLAR_OK;
}

/* Blocks in waves as large as the scratch; the wave does not enter the result. */
static rlar_status run_blocks(rlar_ctx *ctx, classify_job *job) {
    const int64_t blocks = (job->m + QUERIES - 1) / QUERIES;
    const int64_t most = (int64_t)rlar_ctx_threads(ctx) * BLOCKS_PER_THREAD;
    const int64_t slots = blocks < most ? blocks : most;
    rlar_workspace ws = {0};
    RLAR_TRY(rlar__alloc(ctx, slots, sizeof *job->slot, "the classifier", &job->slot));
    rlar_status status = take_scratch(ctx, &ws, job, job->slot, slots);
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
    const rlar_references *r = job->refs;
    double *ref_least = NULL, *q_square = NULL;
    if (r->n < 1)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "the model keeps no references, which this classifier needs; use argmax");
    /* 1e-12 as in the protocol; a sum of p products may be off by p roundings. */
    job->guard = 1e-12 + 2 * DBL_EPSILON * (double)r->p;
    rlar_status status =
        rlar__alloc(ctx, r->n, sizeof(double), "the lengths of the references", &ref_least);
    if (status >= 0)
        status = rlar__alloc(ctx, job->m, sizeof(double), "the lengths of the samples", &q_square);
    if (status >= 0)
        status = squares(ctx, "reference", r->p, r->n, r->z, ref_least);
    if (status >= 0)
        status = squares(ctx, "sample", r->p, job->m, job->q, q_square);
    for (int64_t i = 0; status >= 0 && i < r->n; i++)
        ref_least[i] *= 1 - job->guard;
    job->ref_least = ref_least;
    job->q_square = q_square;
    if (status >= 0)
        status = run_blocks(ctx, job);
    rlar__free(ref_least);
    rlar__free(q_square);
    return status;
}

/* ---- The classifiers ---- */

/* The means of the classes that have references, in class order; the means are the references. */
static void class_means(const rlar_references *refs, double *z, int64_t *size, int32_t *z_class,
                        int64_t *present) {
    const int64_t p = refs->p;
    memset(z, 0, (size_t)(p * refs->c) * sizeof *z);
    memset(size, 0, (size_t)refs->c * sizeof *size);
    for (int64_t i = 0; i < refs->n; i++) {
        double *sum = z + refs->z_class[i] * p;
        for (int64_t j = 0; j < p; j++)
            sum[j] += refs->z[i * p + j];
        size[refs->z_class[i]]++;
    }
    *present = 0;
    for (int64_t i = 0; i < refs->c; i++) {
        if (size[i] == 0)
            continue;
        for (int64_t j = 0; j < p; j++)
            z[*present * p + j] = z[i * p + j] / (double)size[i];
        z_class[(*present)++] = (int32_t)i;
    }
}

/* The nearest class mean is the nearest reference when the means are the references. */
static rlar_status by_centroid(rlar_ctx *ctx, classify_job *job) {
    const rlar_references *refs = job->refs;
    rlar_references means = *refs;
    double *z = NULL;
    int64_t *size = NULL;
    int32_t *z_class = NULL;
    rlar_status status =
        rlar__alloc(ctx, refs->c, (size_t)refs->p * sizeof *z, "the class means", &z);
    if (status >= 0)
        status = rlar__alloc(ctx, refs->c, sizeof *size, "the class sizes", &size);
    if (status >= 0)
        status = rlar__alloc(ctx, refs->c, sizeof *z_class, "the classes of the means", &z_class);
    if (status >= 0) {
        class_means(refs, z, size, z_class, &means.n);
        means.z = z;
        means.z_class = z_class;
        job->refs = &means;
        status = by_distance(ctx, job);
    }
    rlar__free(z);
    rlar__free(size);
    rlar__free(z_class);
    return status;
}

/* Asking for more neighbours than there are references is a mistake worth telling. */
static rlar_status by_neighbours(rlar_ctx *ctx, classify_job *job, int64_t neighbours) {
    const int64_t k = neighbours == 0 ? DEFAULT_NEIGHBOURS : neighbours;
    if (k < 1 || k > job->refs->n)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "neighbours is %lld, the model has %lld references; choose 1 to %lld",
                          (long long)k, (long long)job->refs->n, (long long)job->refs->n);
    job->k = k;
    job->vote = true;
    job->by_class = false;
    return by_distance(ctx, job);
}

/* The largest output; the outputs are the scores. */
static rlar_status by_output(rlar_ctx *ctx, const classify_job *job) {
    const int64_t c = job->refs->c, p = job->refs->p;
    if (p != c)
        return rlar__fail(
            ctx, RLAR_E_ARG,
            "argmax needs one output per class: the model has %lld outputs and %lld "
            "classes, its method is not a regression method; use 1nn, knn or centroid",
            (long long)p, (long long)c);
    for (int64_t i = 0; i < job->m; i++) {
        const double *q = job->q + i * p;
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

/* A copy whose columns have length 1, a zero column excepted. What is not finite stays so, and is
 * refused with the lengths. */
static rlar_status unit_copy(rlar_ctx *ctx, int64_t p, int64_t n, const double *z, double **out) {
    RLAR_TRY(rlar__alloc(ctx, n, (size_t)p * sizeof **out, "the scaled samples", out));
    if (n > 0)
        memcpy(*out, z, (size_t)(n * p) * sizeof **out);
    rlar__unit_columns(p, n, *out);
    return RLAR_OK;
}

/* The classifiers that are left when all lengths are 1. */
static rlar_status by_kind(rlar_ctx *ctx, rlar_classifier kind, int64_t neighbours,
                           classify_job *job) {
    switch (kind) {
    case RLAR_CLASSIFY_1NN:
    case RLAR_CLASSIFY_1NN_COSINE:
        return by_distance(ctx, job);
    case RLAR_CLASSIFY_KNN:
    case RLAR_CLASSIFY_KNN_COSINE:
        return by_neighbours(ctx, job, neighbours);
    case RLAR_CLASSIFY_CENTROID:
    case RLAR_CLASSIFY_CENTROID_COSINE:
        return by_centroid(ctx, job);
    case RLAR_CLASSIFY_ARGMAX:
        return by_output(ctx, job);
    }
    return rlar__fail(ctx, RLAR_E_INTERNAL, "classifier %d is unknown; report this", (int)kind);
}

/* Scale both sides first. A centroid is therefore the mean of unit vectors: samples count by their
 * direction alone, and the mean itself, shorter the more they spread, is not scaled again. */
static rlar_status by_angle(rlar_ctx *ctx, rlar_classifier kind, int64_t neighbours,
                            classify_job *job) {
    rlar_references refs = *job->refs;
    double *z = NULL, *q = NULL;
    rlar_status status = unit_copy(ctx, refs.p, refs.n, refs.z, &z);
    if (status >= 0)
        status = unit_copy(ctx, refs.p, job->m, job->q, &q);
    refs.z = z;
    job->refs = &refs;
    job->q = q;
    if (status >= 0)
        status = by_kind(ctx, kind, neighbours, job);
    rlar__free(z);
    rlar__free(q);
    return status;
}

rlar_status rlar__classify(rlar_ctx *ctx, rlar_classifier kind, int64_t neighbours,
                           const rlar_references *refs, const double *q, int64_t m,
                           int64_t *classes, double *scores) {
    classify_job job = {.refs = refs,
                        .q = q,
                        .m = m,
                        .k = 1,
                        .by_class = scores != NULL,
                        .classes = classes,
                        .scores = scores};
    return (kind >= RLAR_CLASSIFY_1NN_COSINE ? by_angle : by_kind)(ctx, kind, neighbours, &job);
}
