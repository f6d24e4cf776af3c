/* partition.c - hierarchical divisive clustering of each class into patches.
 *
 * After R. Wang and X. Chen, Manifold Discriminant Analysis, CVPR 2009, as MPDA uses it. A split
 * starts from the two samples of the patch that are farthest apart along the graph and grows both
 * sides by nearest neighbours; a sample that both sides reach goes to the flatter one, the one
 * whose mean ratio R = geodesic / straight is smaller. Every list of patches on the way is a level;
 * the level whose patches are flattest is used, in practice the last.
 *
 * Where the sources stop with an error (a side that stays a single sample while one is left, seeds
 * that coincide because all samples are equal) the samples are dealt out, so that no side of a
 * split has fewer than 2. Comparisons allow for rounding (CLOSE): equal means stay ties after a
 * rotation. */
#include "graph/partition.h"

#include <math.h>
#include <string.h>

#include "graph/geodesic.h"

static const double CLOSE = 1e-12;

enum { LEFT = 0, RIGHT = 1, OPEN = 2, OUTSIDE = 3 };

/* One patch of the current level: members of work.member. */
typedef struct piece {
    int64_t start, count;
    double score; /* mean of R over all pairs of members, the sample itself included */
} piece;

typedef struct side {
    int32_t *member; /* in order of joining */
    int64_t count;
    int64_t seen; /* members whose neighbours have been marked */
    double sum;   /* of R over all pairs */
} side;

/* The partition of one class; samples are counted from its first one. */
typedef struct work {
    int64_t n;
    rlar_geodesic geodesic;
    rlar_workspace ws;
    int32_t *member; /* n, piece by piece */
    piece *pieces;   /* the current level */
    int64_t n_pieces;
    int32_t *patch_of; /* n: the best level so far */
    int64_t best_pieces;
    double best;
    /* One split. */
    side sides[2];
    int32_t *open; /* not assigned yet, ascending */
    int64_t n_open;
    unsigned char *owner; /* n: LEFT, RIGHT, OPEN or OUTSIDE the patch */
    unsigned char *reach; /* n: bit s is set for a candidate of side s */
} work;

static void work_carve(work *w) {
    w->member = rlar__carve(&w->ws, w->n, sizeof *w->member);
    w->pieces = rlar__carve(&w->ws, w->n, sizeof *w->pieces);
    w->patch_of = rlar__carve(&w->ws, w->n, sizeof *w->patch_of);
    w->sides[LEFT].member = rlar__carve(&w->ws, w->n, sizeof *w->open);
    w->sides[RIGHT].member = rlar__carve(&w->ws, w->n, sizeof *w->open);
    w->open = rlar__carve(&w->ws, w->n, sizeof *w->open);
    w->owner = rlar__carve(&w->ws, w->n, sizeof *w->owner);
    w->reach = rlar__carve(&w->ws, w->n, sizeof *w->reach);
}

/* ---- One split ---- */

static void join(work *w, int which, int32_t m) {
    side *s = &w->sides[which];
    const double *ratio = w->geodesic.ratio + m * w->n;
    double sum = 0.0;
    for (int64_t e = 0; e < s->count; e++)
        sum += ratio[s->member[e]];
    s->sum += 1.0 + 2.0 * sum;
    s->member[s->count++] = m;
    w->owner[m] = (unsigned char)which;
}

static double score(const side *s) {
    return s->sum / ((double)s->count * (double)s->count);
}

/* The pair with the largest distance, the first in column-major order: the left seed is its row. */
static void seed(work *w, const piece *p) {
    const int32_t *member = w->member + p->start;
    int64_t row = 1, column = 0;
    double farthest = -1.0;
    for (int64_t j = 0; j < p->count; j++)
        for (int64_t i = j + 1; i < p->count; i++) {
            const double distance = w->geodesic.distance[member[j] * w->n + member[i]];
            if (distance > farthest * (1.0 + CLOSE)) {
                farthest = distance;
                row = i;
                column = j;
            }
        }
    memset(w->owner, OUTSIDE, (size_t)w->n);
    memset(w->reach, 0, (size_t)w->n);
    for (int64_t i = 0; i < p->count; i++)
        w->owner[member[i]] = OPEN;
    for (int which = LEFT; which <= RIGHT; which++)
        w->sides[which] = (side){.member = w->sides[which].member};
    join(w, LEFT, member[row]);
    join(w, RIGHT, member[column]);
    w->n_open = p->count;
    memcpy(w->open, member, (size_t)p->count * sizeof *member);
}

/* Forget the assigned ones. */
static void refresh_open(work *w) {
    int64_t left = 0;
    for (int64_t e = 0; e < w->n_open; e++)
        if (w->owner[w->open[e]] == OPEN)
            w->open[left++] = w->open[e];
    w->n_open = left;
}

/* Mark the open neighbours of a side; are there any? All that an earlier round had marked have been
 * assigned in it, so the members that joined since then are enough. */
static bool mark_candidates(work *w, int which) {
    side *s = &w->sides[which];
    bool any = false;
    for (; s->seen < s->count; s->seen++) {
        const int32_t *neighbour = w->geodesic.neighbour + s->member[s->seen] * w->geodesic.k;
        for (int64_t e = 0; e < w->geodesic.k; e++)
            if (w->owner[neighbour[e]] == OPEN) {
                w->reach[neighbour[e]] |= (unsigned char)(1 << which);
                any = true;
            }
    }
    return any;
}

/* A seed without candidates takes the open sample that is nearest along the graph. */
static void take_nearest(work *w, int which) {
    const double *distance = w->geodesic.distance + w->sides[which].member[0] * w->n;
    int32_t nearest = w->open[0];
    for (int64_t e = 1; e < w->n_open; e++)
        if (distance[w->open[e]] < distance[nearest] * (1.0 - CLOSE))
            nearest = w->open[e];
    join(w, which, nearest);
    refresh_open(w);
}

/* What nobody reaches, in index order to the smaller side. */
static void deal(work *w) {
    for (int64_t e = 0; e < w->n_open; e++)
        join(w, w->sides[LEFT].count < w->sides[RIGHT].count ? LEFT : RIGHT, w->open[e]);
    w->n_open = 0;
}

static int choose(const work *w) {
    if (w->sides[LEFT].count == 1)
        return LEFT;
    if (w->sides[RIGHT].count == 1)
        return RIGHT;
    const double left = score(&w->sides[LEFT]), right = score(&w->sides[RIGHT]);
    return left < right * (1.0 - CLOSE) ? LEFT : RIGHT;
}

/* Candidates of one side join it, those of both are then decided in index order. */
static void assign_candidates(work *w) {
    for (int64_t e = 0; e < w->n_open; e++) {
        const int32_t m = w->open[e];
        if (w->reach[m] == 1 << LEFT || w->reach[m] == 1 << RIGHT)
            join(w, w->reach[m] == 1 << LEFT ? LEFT : RIGHT, m);
    }
    for (int64_t e = 0; e < w->n_open; e++)
        if (w->owner[w->open[e]] == OPEN && w->reach[w->open[e]] != 0)
            join(w, choose(w), w->open[e]);
    refresh_open(w);
}

static void grow(work *w) {
    refresh_open(w);
    while (w->n_open > 0) {
        const bool left = mark_candidates(w, LEFT), right = mark_candidates(w, RIGHT);
        /* The last open sample is left to the other seed, if that is still alone. */
        if (!left && w->sides[LEFT].count == 1 && (w->n_open > 1 || w->sides[RIGHT].count > 1))
            take_nearest(w, LEFT);
        if (!right && w->sides[RIGHT].count == 1 && w->n_open > 0)
            take_nearest(w, RIGHT);
        if (!left && !right)
            deal(w);
        else
            assign_candidates(w);
    }
}

/* Split the piece in place: left members, then right ones, both ascending; the two new pieces go to
 * the head of the list. */
static void split(work *w, int64_t index) {
    const piece parent = w->pieces[index];
    seed(w, &parent);
    grow(w);
    int32_t *member = w->member + parent.start;
    int64_t left = 0, right = 0;
    for (int64_t i = 0; i < parent.count; i++) {
        if (w->owner[member[i]] == LEFT)
            member[left++] = member[i];
        else
            w->open[right++] = member[i];
    }
    memcpy(member + left, w->open, (size_t)right * sizeof *member);
    memmove(w->pieces + index + 2, w->pieces + index + 1,
            (size_t)(w->n_pieces - index - 1) * sizeof *w->pieces);
    memmove(w->pieces + 2, w->pieces, (size_t)index * sizeof *w->pieces);
    w->n_pieces++;
    w->pieces[0] = (piece){parent.start, left, score(&w->sides[LEFT])};
    w->pieces[1] = (piece){parent.start + left, right, score(&w->sides[RIGHT])};
}

/* ---- The levels of one class ---- */

static int64_t largest(const work *w) {
    int64_t index = 0;
    for (int64_t i = 1; i < w->n_pieces; i++)
        if (w->pieces[i].count >= w->pieces[index].count)
            index = i;
    return index;
}

/* Keep this level when its patches are flatter, on average, than those of all before. */
static void judge_level(work *w) {
    double sum = 0.0;
    for (int64_t i = 0; i < w->n_pieces; i++)
        sum += w->pieces[i].score;
    const double deviation = fabs(sum / (double)w->n_pieces - 1.0);
    if (!(deviation < w->best - CLOSE))
        return;
    w->best = deviation;
    w->best_pieces = w->n_pieces;
    for (int64_t i = 0; i < w->n_pieces; i++)
        for (int64_t e = 0; e < w->pieces[i].count; e++)
            w->patch_of[w->member[w->pieces[i].start + e]] = (int32_t)i;
}

static void first_level(work *w) {
    double sum = 0.0;
    for (int64_t e = 0; e < w->n * w->n; e++)
        sum += w->geodesic.ratio[e];
    for (int64_t i = 0; i < w->n; i++)
        w->member[i] = (int32_t)i;
    w->pieces[0] = (piece){0, w->n, sum / ((double)w->n * (double)w->n)};
    w->n_pieces = 1;
    w->best = INFINITY;
    judge_level(w);
}

typedef struct job {
    const rlar_groups *groups;
    int64_t d, k, limit;
    const double *x;
    rlar_patches *out;
} job;

static rlar_status divide(rlar_ctx *ctx, const job *j, int64_t first, work *w) {
    RLAR_TRY(rlar__geodesic(ctx, w->n, j->d, j->x + first * j->d, j->k, &w->geodesic));
    work_carve(w);
    RLAR_TRY(rlar__workspace_take(ctx, &w->ws, "the patches of a class"));
    work_carve(w);
    first_level(w);
    for (int64_t index = 0; w->pieces[index].count >= j->limit; index = largest(w)) {
        RLAR_TRY(rlar__poll(ctx));
        split(w, index);
        judge_level(w);
    }
    return RLAR_OK;
}

/* One class: the patches of its samples, counted from 0, and their number. */
static rlar_status class_task(rlar_ctx *ctx, void *arg, int64_t index) {
    const job *j = arg;
    const int64_t first = j->groups->first[index];
    work w = {.n = j->groups->first[index + 1] - first};
    if (w.n < j->limit) { /* stays whole: no distances are needed */
        memset(j->out->patch_of + first, 0, (size_t)w.n * sizeof *j->out->patch_of);
        j->out->class_first[index + 1] = w.n > 0;
        return RLAR_OK;
    }
    const rlar_status status = divide(ctx, j, first, &w);
    if (status >= 0) {
        memcpy(j->out->patch_of + first, w.patch_of, (size_t)w.n * sizeof *w.patch_of);
        j->out->class_first[index + 1] = w.best_pieces;
    }
    rlar__geodesic_free(&w.geodesic);
    rlar__workspace_free(&w.ws);
    return status;
}

/* ---- All classes ---- */

void rlar__patches_free(rlar_patches *patches) {
    rlar__free(patches->class_first);
    rlar__free(patches->start);
    rlar__free(patches->member);
    rlar__free(patches->patch_of);
    *patches = (rlar_patches){0};
}

int64_t rlar__partition_bytes(const rlar_ctx *ctx, const rlar_groups *groups, int64_t k) {
    int64_t most = 0;
    for (int64_t i = 0; i < groups->c; i++) {
        const int64_t count = groups->first[i + 1] - groups->first[i];
        most = count > most ? count : most;
    }
    const double threads = (double)rlar__min64(ctx->threads, groups->c);
    /* A class that does not hang together gets more neighbours, two at a time: mostly few. */
    return 16 * groups->n + 8 * groups->c +
           rlar__whole_bytes(threads * (double)(rlar__geodesic_bytes(most, k + 8) + 42 * most));
}

/* Number the patches through all classes and list their members. */
static void number_patches(const rlar_groups *groups, rlar_patches *out) {
    for (int64_t i = 0; i < groups->c; i++) {
        out->class_first[i + 1] += out->class_first[i];
        for (int64_t j = groups->first[i]; j < groups->first[i + 1]; j++)
            out->patch_of[j] += (int32_t)out->class_first[i];
    }
    out->count = out->class_first[groups->c];
    /* start[p + 1] runs ahead as the write position of patch p. */
    memset(out->start, 0, (size_t)(groups->n + 2) * sizeof *out->start);
    for (int64_t j = 0; j < groups->n; j++)
        out->start[out->patch_of[j] + 2]++;
    for (int64_t p = 2; p < groups->n + 2; p++)
        out->start[p] += out->start[p - 1];
    for (int64_t j = 0; j < groups->n; j++)
        out->member[out->start[out->patch_of[j] + 1]++] = (int32_t)j;
}

rlar_status rlar__partition(rlar_ctx *ctx, const rlar_groups *groups, int64_t d, const double *x,
                            int64_t k, int64_t limit, rlar_patches *out) {
    const char *what = "the patches";
    job j = {.groups = groups, .d = d, .k = k, .limit = limit < 4 ? 4 : limit, .x = x, .out = out};
    *out = (rlar_patches){.n = groups->n, .c = groups->c};
    rlar_status status =
        rlar__calloc(ctx, groups->c + 1, sizeof *out->class_first, what, &out->class_first);
    if (status >= 0)
        status = rlar__alloc(ctx, groups->n + 2, sizeof *out->start, what, &out->start);
    if (status >= 0)
        status = rlar__alloc(ctx, groups->n, sizeof *out->member, what, &out->member);
    if (status >= 0)
        status = rlar__alloc(ctx, groups->n, sizeof *out->patch_of, what, &out->patch_of);
    if (status >= 0)
        status = rlar__parallel_ctx(ctx, groups->c, class_task, &j);
    if (status >= 0)
        number_patches(groups, out);
    else
        rlar__patches_free(out);
    return status;
}
