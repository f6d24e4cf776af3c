/* team_faults.c - one rank of several fails, at every allocation and at every message of it.
 *
 *     team_faults [--every N]     every N-th allocation and message only (default 1)
 *
 * Ranks are threads (tests/unit/team.h). Memory fails on one of them, once or from then on, or its
 * host cannot reach another: it answers RLAR_E_NOMEM or RLAR_E_IO with a text that says so. When a
 * rank has failed its host ends the others, and these hear it: nobody waits for ever, nobody
 * returns half a result. A rank that has ended well before has the bits of an undisturbed run; so
 * has everybody, when the memory could be done without. Nothing is lost, and the next try, from
 * what the failed one has left in a journal or a checkpoint, has the same bits. */
#include "calls.h"

#include <unistd.h>

#include "../unit/team.h"
#include "linalg/linalg.h"

enum { RANKS = 3 };

typedef enum kind { MEMORY, MESSAGE } kind;

/* One rank, and what befalls it. */
typedef struct one {
    struct play *play;
    int rank;
    int64_t live; /* blocks */
    int64_t seen[2], strike_at[2];
    bool for_ever;  /* memory, from then on */
    rlar_team team; /* of the host, which may fail */
    const rlar_team *real;
    rlar_status status;
    char error[RLAR_ERROR_SIZE];
    uint64_t check; /* of the result */
} one;

/* What all ranks do together. */
typedef struct play {
    const char *name;  /* "share", "fit METHOD SETTINGS", "forecast" or "evaluate" */
    const char *keeps; /* the file of the checkpoint or the journal, or NULL */
    const labelled *s;
    int64_t every; /* of its points, or 0: all; a local search draws hundreds of samples alike */
    char path[512];
    ranks_world *ranks;
    int struck; /* the rank that fails */
    one rank[RANKS];
} play;

static bool strikes(one *o, kind what) {
    const int64_t number = ++o->seen[what], at = o->strike_at[what];
    return number == at || (what == MEMORY && o->for_ever && at > 0 && number > at);
}

/* ---- The host ---- */

static void *take(void *user, size_t bytes) {
    one *o = user;
    void *memory = strikes(o, MEMORY) ? NULL : malloc(bytes);
    o->live += memory != NULL;
    return memory;
}

static void give(void *user, void *memory) {
    one *o = user;
    o->live -= memory != NULL;
    free(memory);
}

/* The rank is gone, for everybody. */
static void end_all(ranks_world *w) {
    pthread_mutex_lock(&w->lock);
    w->broken = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static bool loses(one *o) {
    const bool lost = strikes(o, MESSAGE);
    if (lost)
        end_all(o->play->ranks);
    return lost;
}

static int host_send(void *user, int to, const void *bytes, size_t count) {
    one *o = user;
    return loses(o) ? 1 : o->real->send(o->real->user, to, bytes, count);
}

static int host_receive(void *user, int from, void *bytes, size_t count) {
    one *o = user;
    return loses(o) ? 1 : o->real->receive(o->real->user, from, bytes, count);
}

static int host_broadcast(void *user, int from, void *bytes, size_t count) {
    one *o = user;
    return loses(o) ? 1 : o->real->broadcast(o->real->user, from, bytes, count);
}

/* Asked again and again, so that only an answer is counted. */
static int host_ready(void *user, int from) {
    one *o = user;
    const int answer = o->real->ready(o->real->user, from);
    return answer > 0 && loses(o) ? -1 : answer;
}

/* ---- What a rank does ---- */

static rlar_status named_part(rlar_ctx *ctx, const labelled *s, int64_t from, int64_t to,
                              rlar_data **out) {
    static const char *const names[] = {"f1", "f2", "f3", "f4"};
    rlar_view view = RLAR_INIT(rlar_view);
    view.n = to - from;
    view.d = view.stride = s->d;
    view.x = s->x + from * s->d;
    RLAR_TRY(rlar_data_view(ctx, &view, out));
    RLAR_TRY(rlar_data_set_label_numbers(ctx, *out, s->label + from));
    return from == 0 ? RLAR_OK : rlar_data_set_features(ctx, *out, names);
}

/* Two parts each; the names of the features come from rank 1. */
static rlar_status share_parts(rlar_ctx *ctx, const one *o, rlar_data **out) {
    const labelled *s = o->play->s;
    rlar_data *part[2] = {NULL, NULL};
    rlar_status status = RLAR_OK;
    for (int i = 0; i < 2 && status >= 0; i++)
        status = named_part(ctx, s, s->n * (2 * o->rank + i) / (2 * RANKS),
                            s->n * (2 * o->rank + i + 1) / (2 * RANKS), &part[i]);
    if (status >= 0)
        status = rlar_data_share(ctx, part, 2, out);
    rlar_data_free(part[0]);
    rlar_data_free(part[1]);
    return status;
}

static uint64_t model_check(const rlar_model *m) {
    const size_t p = (size_t)rlar_model_outputs(m);
    const uint64_t map =
        rlar__crc64(0, rlar_model_map(m), (size_t)rlar_model_dims(m) * p * sizeof(double));
    return rlar__crc64(map, rlar_model_offset(m), p * sizeof(double));
}

/* "METHOD SETTINGS". They are made while nothing fails: memory_faults.c has them. */
static rlar_params *params_of(rlar_ctx *ctx, one *o, const char *text) {
    rlar_params *params = NULL;
    char method[32];
    const size_t length = strcspn(text, " ");
    const int64_t at = o->strike_at[MEMORY];
    snprintf(method, sizeof method, "%.*s", (int)length, text);
    o->strike_at[MEMORY] = 0;
    assert_int_equal(rlar_params_new(ctx, method, &params), RLAR_OK);
    set_params(ctx, params, text + length + (text[length] == ' '));
    o->strike_at[MEMORY] = at;
    return params;
}

static rlar_status fit_together(rlar_ctx *ctx, one *o, rlar_data **data, const char *text) {
    rlar_params *params = params_of(ctx, o, text);
    rlar_model *model = NULL;
    rlar_fit_options options = RLAR_INIT(rlar_fit_options);
    options.checkpoint = o->play->keeps ? o->play->path : NULL;
    options.checkpoint_every = 1;
    const rlar_status status = rlar_fit_own(ctx, data, params, &options, &model, NULL);
    assert_true((status >= 0) == (model != NULL) && !*data);
    if (model)
        o->check = model_check(model);
    rlar_model_free(model);
    rlar_params_free(params);
    return status;
}

static rlar_status forecast_together(rlar_ctx *ctx, one *o, const rlar_data *data) {
    rlar_params *params = params_of(ctx, o, "rlar");
    rlar_forecast f = RLAR_INIT(rlar_forecast);
    const rlar_status status = rlar_fit_forecast(ctx, data, params, NULL, &f);
    o->check = (uint64_t)f.bytes;
    rlar_params_free(params);
    return status;
}

static rlar_status evaluate_together(rlar_ctx *ctx, one *o, const rlar_data *data) {
    static const char *const lambdas[] = {"0.01", "1"};
    const rlar_axis axis = {"rr", "lambda", lambdas, 2};
    rlar_params *params = params_of(ctx, o, "rr");
    rlar_eval *eval = NULL;
    rlar_eval_spec spec = RLAR_INIT(rlar_eval_spec);
    spec.methods = (const rlar_params *const *)&params;
    spec.n_methods = 1;
    spec.axes = &axis;
    spec.n_axes = 1;
    spec.tune = RLAR_TUNE_CV;
    spec.tune_folds = 2;
    spec.per_class = 4;
    spec.trials = 2;
    spec.seed = 7;
    spec.journal = o->play->path;
    const rlar_status status = rlar_evaluate(ctx, data, &spec, &eval);
    assert_true((status >= 0) == (eval != NULL));
    if (eval)
        o->check = mix_eval(0, eval, o->play->s->c);
    rlar_eval_free(eval);
    rlar_params_free(params);
    return status;
}

/* The samples of an evaluation are those of all, on every rank, and made while nothing fails. */
static rlar_status evaluate_all(rlar_ctx *ctx, one *o) {
    rlar_data *data = NULL;
    const int64_t at = o->strike_at[MEMORY];
    o->strike_at[MEMORY] = 0;
    assert_int_equal(view_labelled(ctx, o->play->s, &data), RLAR_OK);
    o->strike_at[MEMORY] = at;
    const rlar_status status = evaluate_together(ctx, o, data);
    rlar_data_free(data);
    return status;
}

static rlar_status run(rlar_ctx *ctx, one *o) {
    rlar_data *data = NULL;
    if (strcmp(o->play->name, "evaluate") == 0)
        return evaluate_all(ctx, o);
    RLAR_TRY(share_parts(ctx, o, &data));
    assert_true(rlar_data_samples(data) <= RLAR_SUM_BLOCK); /* so a larger class is cut */
    if (strncmp(o->play->name, "fit ", 4) == 0)
        return fit_together(ctx, o, &data, o->play->name + 4);
    rlar_status status = RLAR_OK;
    if (strcmp(o->play->name, "forecast") == 0)
        status = forecast_together(ctx, o, data);
    else
        o->check = mix_data(0, data);
    rlar_data_free(data);
    return status;
}

static void run_rank(rlar_ctx *given, int rank, void *arg) {
    play *p = arg;
    one *o = &p->rank[rank];
    rlar_ctx *ctx = NULL;
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    options.threads = 1;
    options.alloc = take;
    options.release = give;
    options.alloc_user = o;
    o->real = given->team;
    o->team = (rlar_team){.size = sizeof o->team,
                          .rank = rank,
                          .ranks = RANKS,
                          .user = o,
                          .send = host_send,
                          .receive = host_receive,
                          .broadcast = host_broadcast,
                          .ready = host_ready};
    const int64_t at = o->strike_at[MEMORY];
    o->strike_at[MEMORY] = 0;
    assert_int_equal(rlar_ctx_new(&options, &ctx), RLAR_OK);
    assert_int_equal(rlar_ctx_join(ctx, &o->team), RLAR_OK);
    o->seen[MEMORY] = 0;
    o->strike_at[MEMORY] = at;
    o->status = run(ctx, o);
    if (o->status < 0 && rank == p->struck) /* the others end by what they hear of it */
        end_all(p->ranks);
    snprintf(o->error, sizeof o->error, "%s", rlar_ctx_error(ctx));
    rlar_ctx_free(ctx);
}

/* ---- What must come of it ---- */

typedef struct tally {
    int64_t points[2], without, again;
} tally;

/* `struck` is hit at number `at`, or from then on. */
static void perform(play *p, int struck, kind what, int64_t at, bool for_ever) {
    ranks_world ranks;
    for (int r = 0; r < RANKS; r++)
        p->rank[r] = (one){.play = p, .rank = r, .for_ever = for_ever && r == struck};
    p->rank[struck].strike_at[what] = at;
    p->struck = struck;
    p->ranks = &ranks;
    on_ranks(RANKS, run_rank, p, &ranks);
}

static void complain(const play *p, const char *what, int rank, int struck, kind of, int64_t at) {
    fail_msg("%s: rank %d: %s when %s %lld of rank %d fails (%d: %s)", p->name, rank, what,
             of == MEMORY ? "allocation" : "message", (long long)at, struck, p->rank[rank].status,
             p->rank[rank].error);
}

/* Why this is not the end that a failing rank should have, or NULL. */
static const char *struck_fault(const one *o, kind what) {
    if (o->status != (what == MEMORY ? RLAR_E_NOMEM : RLAR_E_IO))
        return "another error";
    if (what == MEMORY && !strstr(o->error, "no memory for ") &&
        !strstr(o->error, " needed, the system has no more"))
        return "a wrong text";
    return what == MESSAGE && !strstr(o->error, " failed; it has ended, or the network has")
               ? "a wrong text"
               : NULL;
}

/* The others hear of it from the rank itself, or that it cannot be reached. */
static const char *other_fault(const one *o, const one *struck) {
    if (o->status != RLAR_E_IO && o->status != struck->status)
        return "another error";
    return o->error[0] == '\0' || strchr(o->error, '\n') ? "a wrong text" : NULL;
}

static void check(const play *p, const uint64_t expected[RANKS], int struck, kind what,
                  int64_t at) {
    for (int r = 0; r < RANKS; r++) {
        const one *o = &p->rank[r];
        const char *fault = NULL;
        if (o->status >= 0)
            fault = o->check != expected[r] ? "other bits" : NULL;
        else
            fault = r == struck ? struck_fault(o, what) : other_fault(o, &p->rank[struck]);
        if (o->live != 0)
            fault = "memory is lost";
        if (fault)
            complain(p, fault, r, struck, what, at);
    }
}

static void again(play *p, const uint64_t expected[RANKS], int struck, kind what, int64_t at) {
    perform(p, 0, MEMORY, 0, false);
    for (int r = 0; r < RANKS; r++)
        if (p->rank[r].status < 0 || p->rank[r].check != expected[r])
            complain(p, "the next try is not right", r, struck, what, at);
}

/* At every point of one rank; the next try takes as long as the failure, so some have none. */
static void fail_rank(play *p, const uint64_t expected[RANKS], int struck, kind what, bool for_ever,
                      int64_t every, tally *t) {
    for (int64_t at = 1;; at += every) {
        perform(p, struck, what, at, for_ever);
        if (p->rank[struck].seen[what] < at)
            break;
        check(p, expected, struck, what, at);
        t->points[what]++;
        t->without += p->rank[struck].status >= 0;
        if (t->points[what] % 16 == 0) {
            again(p, expected, struck, what, at);
            t->again++;
        }
        (void)unlink(p->path);
    }
}

static void fail_everywhere(play *p, int64_t every, tally *t) {
    uint64_t expected[RANKS];
    every *= p->every > 0 ? p->every : 1;
    perform(p, 0, MEMORY, 0, false);
    for (int r = 0; r < RANKS; r++) {
        if (p->rank[r].status < 0)
            complain(p, "an error", r, 0, MEMORY, 0);
        expected[r] = p->rank[r].check;
    }
    (void)unlink(p->path);
    for (int struck = 0; struck < RANKS; struck++) {
        fail_rank(p, expected, struck, MEMORY, false, every, t);
        fail_rank(p, expected, struck, MEMORY, true, every, t);
        fail_rank(p, expected, struck, MESSAGE, false, every, t);
    }
}

int main(int argc, char **argv) {
    const int64_t every = argc == 3 && strcmp(argv[1], "--every") == 0 ? atoll(argv[2]) : 1;
    const int64_t small[] = {9, 7, 8, 10}, large[] = {700, 800, 900, 600};
    const int64_t cut[] = {4160, 40}; /* the first class lies on all ranks */
    labelled few = clouds(21, 4, 4, small), many = clouds(22, 4, 4, large);
    labelled shared = clouds(23, 4, 2, cut);
    play plays[] = {
        {.name = "share", .s = &many},
        {.name = "forecast", .s = &many},
        {.name = "fit lda", .s = &many},
        {.name = "fit rr", .s = &many},
        {.name = "fit lsr", .s = &many},
        {.name = "fit mmc", .s = &many},
        {.name = "fit relsr iters=2", .s = &shared},
        {.name = "fit rfs iters=2", .s = &shared},
        {.name = "fit alpr iters=2", .s = &few}, /* its graph has every pair of a class */
        {.name = "fit rlar solver=paper iters=2 k=2", .s = &many, .keeps = "checkpoint"},
        {.name = "fit rlar solver=paper iters=1 k=2", .s = &shared, .keeps = "another"},
        {.name = "fit rlar iters=1 k=2 search=local", .s = &shared, .every = 97},
        {.name = "evaluate", .s = &few, .keeps = "journal"},
    };
    tally t = {0};
    if (access("/dev/shm", W_OK) == 0) /* where fsync costs nothing */
        setenv("TMPDIR", "/dev/shm", 0);
    temp_folder folder = new_folder();
    for (size_t i = 0; i < sizeof plays / sizeof plays[0]; i++) {
        (void)path_in(&folder, plays[i].keeps ? plays[i].keeps : "none", plays[i].path);
        fail_everywhere(&plays[i], every, &t);
    }
    remove_folder(&folder);
    labelled_free(&few);
    labelled_free(&many);
    labelled_free(&shared);
    assert_true(t.points[MEMORY] > 0 && t.points[MESSAGE] > 0 && t.again > 0);
    printf("%lld failed allocations and %lld messages that failed on one of %d ranks: an error "
           "there, or the same bits without the memory (%lld); the others end, too; nothing lost; "
           "%lld of them tried again: right\n",
           (long long)t.points[MEMORY], (long long)t.points[MESSAGE], RANKS, (long long)t.without,
           (long long)t.again);
    return 0;
}
