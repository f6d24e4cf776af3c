/* share.c - from the samples that each rank has read to those that it should hold (ranks.h).
 *
 *   1. classes      the names of all ranks, sorted as a reader does, are numbered alike everywhere
 *   2. sizes        how many samples of each class each rank has read: in which place every sample
 *                   belongs, and so who is to hold it, follows from this table
 *   3. samples      in rounds, in each of which every rank sends to every other the same fraction
 * of what it has for it, and puts what came in its place; a part is freed when all of it has gone.
 * So a rank gets no more than it gives away, however the samples were ordered, and holds little
 * more than its share: at most a part for each rank.
 *
 * The memory of the share is taken at once, but pages that nothing was put into cost nothing.
 * Within a class the samples keep the order of the ranks and of the parts: that of the files. */
#include "data/ranks.h"
#include "data/dataset.h"
#include "data/range.h"

#include <stdio.h>
#include <string.h>

#include "dist/team.h"

/* The next sample of the parts that belongs to a rank. */
typedef struct cursor {
    int64_t part, row;
} cursor;

typedef struct sharing {
    rlar_data **part; /* taken over */
    int64_t parts;
    int64_t rounds; /* the most parts that a rank has */
    int64_t d, classes;
    int64_t *table;    /* ranks x classes: samples read */
    int64_t *whole;    /* classes + 1: where the classes begin, of all samples */
    int64_t *cut;      /* ranks + 1: where the samples of each rank begin */
    int64_t *place;    /* ranks x classes: where the next sample that comes from there belongs */
    int64_t *going;    /* ranks: samples that go there */
    int64_t *class_of; /* of the classes of all parts, the number among all */
    int64_t *first;    /* parts: the first of its classes there */
    int32_t **owner;   /* parts: the rank that is to hold each sample */
    int64_t *left;     /* parts: samples that have not gone yet */
    cursor *next;      /* ranks */
    rlar_class_index index;
    rlar_data *out;
} sharing;

/* ---- Classes ---- */

static rlar_status send_texts(rlar_ctx *ctx, const rlar_texts *texts, int to) {
    const int64_t head[2] = {texts->count, texts->used};
    RLAR_TRY(rlar__team_send(ctx, to, head, sizeof head));
    return rlar__team_send(ctx, to, texts->bytes, (size_t)texts->used);
}

/* Each text is handed to add(). */
typedef rlar_status (*add_text)(rlar_ctx *ctx, void *list, const char *text, size_t length);

static rlar_status receive_texts(rlar_ctx *ctx, int from, add_text add, void *list) {
    int64_t head[2] = {0};
    char *bytes = NULL;
    RLAR_TRY(rlar__team_receive(ctx, from, head, sizeof head));
    RLAR_TRY(rlar__alloc(ctx, head[1], 1, "names", &bytes));
    rlar_status status = rlar__team_receive(ctx, from, bytes, (size_t)head[1]);
    const char *at = bytes;
    for (int64_t i = 0; i < head[0] && status >= 0; i++) {
        const size_t length = strlen(at);
        status = add(ctx, list, at, length);
        at += length + 1;
    }
    rlar__free(bytes);
    return status;
}

static rlar_status add_class(rlar_ctx *ctx, void *list, const char *text, size_t length) {
    int64_t number;
    return rlar__intern(ctx, list, text, length, &number);
}

static rlar_status add_name(rlar_ctx *ctx, void *list, const char *text, size_t length) {
    return rlar__texts_add(ctx, list, text, length);
}

/* From one rank to all. */
static rlar_status spread_texts(rlar_ctx *ctx, int from, rlar_texts *texts) {
    const int rank = rlar__team_rank(ctx), ranks = rlar__team_ranks(ctx);
    for (int r = 0; r < ranks && rank == from; r++)
        if (r != from)
            RLAR_TRY(send_texts(ctx, texts, r));
    return rank == from ? RLAR_OK : receive_texts(ctx, from, add_name, texts);
}

/* Rank 0 collects the names and sorts them. */
static rlar_status sort_classes(rlar_ctx *ctx, rlar_intern *in, rlar_texts *names) {
    int64_t *remap = NULL;
    for (int r = 1; r < rlar__team_ranks(ctx); r++)
        RLAR_TRY(receive_texts(ctx, r, add_class, in));
    RLAR_TRY(rlar__alloc(ctx, in->texts.count, sizeof *remap, "the classes", &remap));
    const rlar_status status = rlar__classes_sort(ctx, in, names, remap);
    rlar__free(remap);
    return status;
}

static rlar_status agree_on_classes(rlar_ctx *ctx, sharing *s) {
    rlar_intern in = {0};
    rlar_status status = RLAR_OK;
    for (int64_t i = 0; i < s->parts && status >= 0; i++)
        for (int64_t k = 0; k < s->part[i]->classes.count && status >= 0; k++) {
            const char *name = rlar__texts_at(&s->part[i]->classes, k);
            status = add_class(ctx, &in, name, strlen(name));
        }
    if (status >= 0)
        status = rlar__team_rank(ctx) == 0 ? sort_classes(ctx, &in, &s->out->classes)
                                           : send_texts(ctx, &in.texts, 0);
    rlar__intern_free(&in);
    RLAR_TRY(status);
    RLAR_TRY(spread_texts(ctx, 0, &s->out->classes));
    s->classes = s->out->classes.count;
    return rlar__class_index_build(ctx, &s->out->classes, &s->index);
}

/* The numbers of the classes of the parts among those of all. */
static rlar_status number_classes(rlar_ctx *ctx, sharing *s) {
    int64_t count = 0;
    RLAR_TRY(rlar__alloc(ctx, s->parts, sizeof *s->first, "the parts", &s->first));
    for (int64_t i = 0; i < s->parts; i++) {
        s->first[i] = count;
        count += s->part[i]->classes.count;
    }
    RLAR_TRY(rlar__alloc(ctx, count, sizeof *s->class_of, "the classes", &s->class_of));
    for (int64_t i = 0; i < s->parts; i++)
        for (int64_t k = 0; k < s->part[i]->classes.count; k++) {
            const char *name = rlar__texts_at(&s->part[i]->classes, k);
            s->class_of[s->first[i] + k] = rlar__class_index_find(&s->index, name, strlen(name));
        }
    return RLAR_OK;
}

static int64_t class_at(const sharing *s, int64_t part, int64_t row) {
    return s->class_of[s->first[part] + s->part[part]->label[row]];
}

/* ---- Sizes ---- */

/* What ranks have to agree on: features, parts, whether there are names of features. Sparse files
 * tell only the largest index that they have: there the largest of all counts. */
typedef struct outline {
    int64_t d, parts, named, sparse;
    int64_t dropped; /* samples that were left out of parts of a file */
    rlar_shape image;
} outline;

static rlar_status check_parts(rlar_ctx *ctx, const sharing *s, outline *own) {
    *own = (outline){.parts = s->parts, .sparse = true};
    for (int64_t i = 0; i < s->parts; i++) {
        const rlar_data *part = s->part[i];
        own->sparse = own->sparse && strcmp(part->format, "libsvm") == 0;
        if (part->view.n > 0 && !part->label)
            return rlar__fail(
                ctx, RLAR_E_DATA,
                "%s: no labels; name the label column (--label) or give --labels FILE", part->file);
        if (i > 0 && part->view.d != own->d && !own->sparse)
            return rlar__fail(ctx, RLAR_E_DATA, "%s: %lld features where others have %lld",
                              part->file, (long long)part->view.d, (long long)own->d);
        RLAR_TRY(rlar__shape_agree(ctx, part->file, part->image, &own->image));
        own->d = part->view.d > own->d ? part->view.d : own->d;
        own->dropped += part->dropped;
        own->named = own->named || part->features.count > 0;
    }
    return RLAR_OK;
}

/* The features of all ranks, the parts that each has at most, and how many samples are left out.
 */
static rlar_status compare(rlar_ctx *ctx, sharing *s, const outline *all, int *named) {
    int first = -1;
    bool sparse = true;
    int64_t dropped = 0;
    rlar_shape image = {0};
    for (int r = 0; r < rlar__team_ranks(ctx); r++) {
        dropped += all[r].dropped;
        s->rounds = all[r].parts > s->rounds ? all[r].parts : s->rounds;
        if (all[r].parts == 0)
            continue;
        sparse = sparse && all[r].sparse;
        first = first < 0 ? r : first;
        if (all[r].d != all[first].d && !sparse)
            return rlar__fail(ctx, RLAR_E_DATA, "rank %d has read %lld features, others %lld", r,
                              (long long)all[r].d, (long long)all[first].d);
        char name[RLAR_NUMBER_SIZE];
        snprintf(name, sizeof name, "rank %d", r);
        RLAR_TRY(rlar__shape_agree(ctx, name, all[r].image, &image));
        s->d = all[r].d > s->d ? all[r].d : s->d;
        *named = *named < 0 && all[r].named ? r : *named;
    }
    if (dropped > 0 && rlar__team_rank(ctx) == 0)
        rlar__log(ctx, RLAR_OK, "%s: %lld samples have missing values and are left out",
                  s->out->file, (long long)dropped);
    return RLAR_OK;
}

/* The parts of this rank against the names that count for all: by their place, since a column that
 * stands elsewhere would be another feature in these samples. */
static rlar_status check_names(rlar_ctx *ctx, const sharing *s) {
    const rlar_texts *all = &s->out->features;
    for (int64_t i = 0; i < s->parts; i++) {
        const rlar_texts *own = &s->part[i]->features;
        for (int64_t k = 0; k < own->count && k < all->count; k++) {
            const char *name = rlar__texts_at(own, k), *there = rlar__texts_at(all, k);
            if (strcmp(name, there) != 0)
                return rlar__fail(ctx, RLAR_E_DATA,
                                  "%s: feature %lld is '%s' where it is '%s' in the first part; "
                                  "parts of one set need the same features in the same order",
                                  s->part[i]->file, (long long)k + 1, name, there);
        }
    }
    return RLAR_OK;
}

static rlar_status agree_on_features(rlar_ctx *ctx, sharing *s) {
    const int ranks = rlar__team_ranks(ctx);
    outline own, *all = NULL;
    int named = -1;
    RLAR_TRY(check_parts(ctx, s, &own));
    RLAR_TRY(rlar__alloc(ctx, ranks, sizeof *all, "the ranks", &all));
    rlar_status status = rlar__team_collect(ctx, &own, sizeof own, all);
    if (status >= 0)
        status = compare(ctx, s, all, &named);
    rlar__free(all);
    RLAR_TRY(status);
    if (named < 0)
        return RLAR_OK;
    for (int64_t i = 0; i < s->parts && named == rlar__team_rank(ctx); i++)
        if (s->part[i]->features.count > 0 && s->out->features.count == 0)
            RLAR_TRY(rlar__texts_copy(ctx, &s->part[i]->features, &s->out->features));
    RLAR_TRY(spread_texts(ctx, named, &s->out->features));
    return check_names(ctx, s);
}

static void count_parts(const sharing *s, int64_t *own) {
    for (int64_t i = 0; i < s->parts; i++)
        for (int64_t j = 0; j < s->part[i]->view.n; j++)
            own[class_at(s, i, j)]++;
}

/* Where in its class, of all ranks, what rank r has read of it begins. */
static int64_t read_before(const sharing *s, int r, int64_t k) {
    int64_t before = 0;
    for (int q = 0; q < r; q++)
        before += s->table[q * s->classes + k];
    return before;
}

/* Where on this rank the samples of class k that come from rank r begin: behind those of the
 * classes and of the ranks before. Of a class that begins on another rank what comes first goes
 * there. */
static void find_places(sharing *s, int rank, int ranks) {
    for (int r = 0; r < ranks; r++)
        for (int64_t k = 0; k < s->classes; k++) {
            const int64_t at = s->whole[k] + read_before(s, r, k) - s->cut[rank];
            s->place[r * s->classes + k] = at > 0 ? at : 0;
        }
}

/* Who is to hold the samples that were read here. next: classes, used. */
static rlar_status find_owners(rlar_ctx *ctx, sharing *s, int rank, int ranks, int64_t *next) {
    RLAR_TRY(rlar__calloc(ctx, s->parts, sizeof *s->owner, "the parts", &s->owner));
    RLAR_TRY(rlar__calloc(ctx, ranks, sizeof *s->going, "the ranks", &s->going));
    for (int64_t k = 0; k < s->classes; k++)
        next[k] = s->whole[k] + read_before(s, rank, k);
    for (int64_t i = 0; i < s->parts; i++) {
        const int64_t n = s->part[i]->view.n;
        RLAR_TRY(rlar__alloc(ctx, n, sizeof **s->owner, "who holds a sample", &s->owner[i]));
        for (int64_t j = 0; j < n; j++) {
            const int64_t at = next[class_at(s, i, j)]++;
            s->owner[i][j] = (int32_t)rlar__class_of(s->cut, ranks, at);
            s->going[s->owner[i][j]]++;
        }
    }
    return RLAR_OK;
}

static rlar_status agree_on_sizes(rlar_ctx *ctx, sharing *s) {
    const int rank = rlar__team_rank(ctx), ranks = rlar__team_ranks(ctx);
    const size_t row = (size_t)s->classes * sizeof(int64_t);
    RLAR_TRY(rlar__calloc(ctx, ranks, row, "the sizes of the classes", &s->table));
    RLAR_TRY(rlar__calloc(ctx, ranks, row, "the sizes of the classes", &s->place));
    RLAR_TRY(rlar__calloc(ctx, s->classes + 1, sizeof *s->whole, "the classes", &s->whole));
    RLAR_TRY(rlar__alloc(ctx, ranks + 1, sizeof *s->cut, "the ranks", &s->cut));
    count_parts(s, s->place); /* which is empty so far */
    RLAR_TRY(rlar__team_collect(ctx, s->place, row, s->table));
    for (int64_t k = 0; k < s->classes; k++) {
        s->whole[k + 1] = s->whole[k];
        for (int r = 0; r < ranks; r++)
            s->whole[k + 1] += s->table[r * s->classes + k];
    }
    RLAR_TRY(rlar__ranks_cut(ctx, s->classes, s->whole, ranks, s->cut));
    RLAR_TRY(find_owners(ctx, s, rank, ranks, s->place));
    find_places(s, rank, ranks);
    return RLAR_OK;
}

/* ---- Samples ---- */

/* To the next sample of the rank, from the one before it; behind the last part, if there is none.
 */
static void advance(const sharing *s, int to, cursor *at) {
    for (at->row++; at->part < s->parts; at->part++, at->row = 0) {
        const rlar_data *part = s->part[at->part];
        for (; part && at->row < part->view.n; at->row++)
            if (s->owner[at->part][at->row] == to)
                return;
    }
}

/* The next sample of the rank, widened if need be, into x; returns its class. A part of which all
 * have gone is freed, and its memory goes back to the system. */
static int64_t take(sharing *s, int to, double *x) {
    cursor *at = &s->next[to];
    rlar_data *part = s->part[at->part];
    const int64_t k = class_at(s, at->part, at->row), d = part->view.d;
    if (d > 0) /* a sparse part may have none */
        rlar_data_row(part, at->row, x);
    memset(x + d, 0, (size_t)(s->d - d) * sizeof *x);
    if (--s->left[at->part] == 0) {
        s->part[at->part] = NULL;
        rlar__free_pages(part->own_x);
        part->own_x = NULL;
        rlar_data_free(part);
    }
    advance(s, to, at);
    return k;
}

/* Where the next sample of class k from that rank belongs. */
static double *place(sharing *s, int from, int64_t k) {
    const int64_t at = s->place[from * s->classes + k]++;
    s->out->label[at] = k;
    return s->out->own_x + at * s->d;
}

/* How many samples a rank gets of the parts in one round. */
static int64_t portion(const sharing *s, int to, int64_t round) {
    const int64_t all = s->going[to];
    return rlar__range_cut(all, round + 1, s->rounds) - rlar__range_cut(all, round, s->rounds);
}

/* Some samples on their way, with their classes. */
typedef struct parcel {
    int64_t count;
    int64_t *label;
    double *x;
} parcel;

static void parcel_free(parcel *p) {
    rlar__free(p->label);
    rlar__free(p->x);
    *p = (parcel){0};
}

static rlar_status parcel_take(rlar_ctx *ctx, int64_t count, int64_t d, parcel *p) {
    RLAR_TRY(rlar__alloc(ctx, count, sizeof *p->label, "samples to send", &p->label));
    RLAR_TRY(rlar__alloc(ctx, count, (size_t)d * sizeof *p->x, "samples to send", &p->x));
    return RLAR_OK;
}

static rlar_status pack(rlar_ctx *ctx, sharing *s, int to, int64_t round, parcel *p) {
    const int64_t count = portion(s, to, round);
    RLAR_TRY(parcel_take(ctx, count, s->d, p));
    for (; p->count < count; p->count++)
        p->label[p->count] = take(s, to, p->x + p->count * s->d);
    return RLAR_OK;
}

static rlar_status send_parcel(rlar_ctx *ctx, const sharing *s, int to, const parcel *p) {
    RLAR_TRY(rlar__team_send(ctx, to, &p->count, sizeof p->count));
    RLAR_TRY(rlar__team_send(ctx, to, p->label, (size_t)p->count * sizeof *p->label));
    return rlar__team_send(ctx, to, p->x, (size_t)(p->count * s->d) * sizeof *p->x);
}

static rlar_status receive_into(rlar_ctx *ctx, sharing *s, int from, parcel *p) {
    int64_t count = 0;
    RLAR_TRY(rlar__team_receive(ctx, from, &count, sizeof count));
    RLAR_TRY(parcel_take(ctx, count, s->d, p));
    p->count = count;
    RLAR_TRY(rlar__team_receive(ctx, from, p->label, (size_t)count * sizeof *p->label));
    RLAR_TRY(rlar__team_receive(ctx, from, p->x, (size_t)(count * s->d) * sizeof *p->x));
    for (int64_t i = 0; i < count; i++)
        memcpy(place(s, from, p->label[i]), p->x + i * s->d, (size_t)s->d * sizeof *p->x);
    return RLAR_OK;
}

/* Both ways between this rank and another; the lower one speaks first. */
static rlar_status trade(rlar_ctx *ctx, sharing *s, int other, int64_t round) {
    const bool first = rlar__team_rank(ctx) < other;
    parcel out = {0}, in = {0};
    rlar_status status = pack(ctx, s, other, round, &out);
    if (status >= 0)
        status = first ? send_parcel(ctx, s, other, &out) : receive_into(ctx, s, other, &in);
    if (status >= 0)
        status = first ? receive_into(ctx, s, other, &in) : send_parcel(ctx, s, other, &out);
    parcel_free(&out);
    parcel_free(&in);
    return status;
}

/* What stays here. */
static void keep(sharing *s, int rank, int64_t round) {
    for (int64_t i = portion(s, rank, round); i > 0; i--) {
        const cursor *at = &s->next[rank];
        (void)take(s, rank, place(s, rank, class_at(s, at->part, at->row)));
    }
}

static rlar_status exchange_round(rlar_ctx *ctx, sharing *s, int64_t round) {
    const int rank = rlar__team_rank(ctx), ranks = rlar__team_ranks(ctx);
    for (int turn = 0; turn < rlar__team_turns(ranks); turn++) {
        const int other = rlar__team_opponent(rank, ranks, turn);
        if (other < ranks)
            RLAR_TRY(trade(ctx, s, other, round));
    }
    keep(s, rank, round);
    return rlar__poll(ctx);
}

static rlar_status begin_moving(rlar_ctx *ctx, sharing *s) {
    const int ranks = rlar__team_ranks(ctx);
    RLAR_TRY(rlar__alloc(ctx, s->parts, sizeof *s->left, "the parts", &s->left));
    for (int64_t i = 0; i < s->parts; i++)
        s->left[i] = s->part[i]->view.n;
    RLAR_TRY(rlar__alloc(ctx, ranks, sizeof *s->next, "the ranks", &s->next));
    for (int r = 0; r < ranks; r++) {
        s->next[r] = (cursor){.row = -1};
        advance(s, r, &s->next[r]);
    }
    return RLAR_OK;
}

static rlar_status move_samples(rlar_ctx *ctx, sharing *s) {
    const int rank = rlar__team_rank(ctx);
    rlar_data *out = s->out;
    const int64_t n = s->cut[rank + 1] - s->cut[rank];
    out->room = rlar__padded(n);
    RLAR_TRY(
        rlar__alloc(ctx, out->room, (size_t)s->d * sizeof *out->own_x, "the samples", &out->own_x));
    /* Never NULL: a rank without samples has labels, too, and knows the classes. */
    RLAR_TRY(rlar__alloc(ctx, n + 1, sizeof *out->label, "the labels", &out->label));
    RLAR_TRY(begin_moving(ctx, s));
    for (int64_t i = 0; i < s->rounds; i++)
        RLAR_TRY(exchange_round(ctx, s, i));
    for (int64_t i = 0; i < s->parts; i++) { /* those that were empty */
        rlar_data_free(s->part[i]);
        s->part[i] = NULL;
    }
    out->view.type = RLAR_F64;
    out->view.n = n;
    out->view.d = out->view.stride = s->d;
    out->view.x = out->own_x;
    return rlar__class_sizes(ctx, out->label, n, s->classes, &out->class_size);
}

static rlar_status share(rlar_ctx *ctx, sharing *s) {
    RLAR_TRY(agree_on_features(ctx, s));
    if (s->d == 0)
        return rlar__fail(ctx, RLAR_E_DATA, "no rank has read a sample with a feature");
    RLAR_TRY(agree_on_classes(ctx, s));
    RLAR_TRY(number_classes(ctx, s));
    RLAR_TRY(agree_on_sizes(ctx, s));
    return move_samples(ctx, s);
}

rlar_status rlar_data_share(rlar_ctx *ctx, rlar_data **parts, int64_t count, rlar_data **out) {
    if (!ctx || !out || (count > 0 && !parts))
        return rlar__fail(ctx, RLAR_E_ARG, "rlar_data_share: ctx, parts and out are needed");
    rlar__begin(ctx);
    if (count < 0)
        return rlar__fail(ctx, RLAR_E_ARG,
                          "rlar_data_share: count is %lld; it must not be negative",
                          (long long)count);
    sharing s = {.part = parts, .parts = count};
    const char *file = count > 0 ? parts[0]->file : "shared", *name = file;
    RLAR_TRY(rlar__data_new(ctx, count > 0 ? parts[0]->name : name, "memory", file, &s.out));
    const rlar_status status = share(ctx, &s);
    for (int64_t i = 0; i < count && s.owner; i++)
        rlar__free(s.owner[i]);
    void *const arrays[] = {s.table,    s.whole, s.cut,  s.owner, s.place,
                            s.class_of, s.first, s.left, s.next,  s.going};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        rlar__free(arrays[i]);
    rlar__class_index_free(&s.index);
    if (status < 0)
        rlar_data_free(s.out);
    else
        *out = s.out;
    return status;
}
