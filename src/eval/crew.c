/* crew.c - what the ranks of an evaluation tell each other. See crew.h for the order of it. */
#include "eval/crew.h"

#include <string.h>

/* A rank that has nothing to say says so after as many seconds. */
static const double SILENCE = 0.5;

/* Room that is taken at once: the text of an error must go when memory is gone. */
enum { FIRST_BYTES = 4096, AHEAD = 2 };

/* An item that another rank was given. */
typedef struct ticket {
    bool busy;
    bool fresh; /* goes with the order that is being written */
    int64_t unit, item;
} ticket;

/* Another rank, as rank 0 sees it. */
typedef struct mate {
    bool waiting; /* it has reported and has no order yet */
    int64_t threads, busy;
    ticket *ticket; /* AHEAD for each thread; those of thread i are i, i + threads, ... */
    int64_t *unit;  /* of which each thread has had items last */
} mate;

/* What each rank says at first. */
typedef struct greeting {
    int64_t status, threads;
    rlar_key key;
} greeting;

struct rlar_crew {
    rlar_ctx wire; /* the only context that has the team: fits do without */
    rlar_message in, out;
    greeting *greeting; /* of each rank */
    int64_t threads;    /* of all ranks */
    bool met;           /* all ranks can begin */
    mate *mate;         /* rank 0: one for each rank */
    bool ordered;       /* another rank: it has an order, so that it may report */
    double reported;    /* when it has */
    bool over;          /* and this was the end: */
    rlar_status end;
};

typedef struct report {
    int64_t status;  /* of this rank; an error: its text follows */
    int64_t answers; /* that follow: the ticket, and the outcome */
} report;

/* What an order begins with; it is heard whatever becomes of the rest. */
typedef struct order {
    int64_t end;    /* 1: nothing follows but the text of an error, or the results */
    int64_t status; /* at the end */
    int64_t tasks;  /* that follow: a head, and what the schedule tells */
} order;

typedef struct task_head {
    int64_t stage, ticket, unit, item;
} task_head;

/* ---- The beginning ---- */

int64_t rlar__crew_threads(const rlar_crew *crew) {
    return crew->threads;
}

int64_t rlar__crew_ahead(int64_t threads) {
    return AHEAD * threads;
}

/* All ranks hear the text of rank `from`. */
static rlar_status fail_with(rlar_ctx *ctx, rlar_crew *crew, int from, rlar_status status) {
    char text[RLAR_ERROR_SIZE];
    memcpy(text, ctx->error, sizeof text);
    if (rlar__team_broadcast(&crew->wire, from, text, sizeof text) < 0)
        return rlar__fail(ctx, RLAR_E_IO, "%s", crew->wire.error);
    return from == 0 ? rlar__fail(ctx, status, "%s", text)
                     : rlar__fail(ctx, status, "rank %d: %s", from, text);
}

static rlar_status check_greetings(rlar_ctx *ctx, rlar_crew *crew) {
    const greeting *all = crew->greeting;
    const int ranks = crew->wire.team->ranks;
    for (int r = 0; r < ranks; r++) {
        if (all[r].status < 0)
            return fail_with(ctx, crew, r, (rlar_status)all[r].status);
        crew->threads += all[r].threads;
    }
    for (int r = 1; r < ranks; r++)
        if (memcmp(&all[r].key, &all[0].key, sizeof all[r].key) != 0)
            return rlar__fail(ctx, RLAR_E_ARG,
                              "rank %d has other samples, another specification or another version "
                              "than rank 0; to evaluate, give all ranks the same",
                              r);
    return RLAR_OK;
}

static rlar_status mates_new(rlar_ctx *ctx, rlar_crew *crew) {
    const int ranks = crew->wire.team->ranks;
    RLAR_TRY(rlar__calloc(ctx, ranks, sizeof *crew->mate, "the ranks", &crew->mate));
    for (int r = 1; r < ranks; r++) {
        mate *m = &crew->mate[r];
        m->threads = crew->greeting[r].threads;
        RLAR_TRY(rlar__calloc(ctx, rlar__crew_ahead(m->threads), sizeof *m->ticket, "the ranks",
                              &m->ticket));
        RLAR_TRY(rlar__calloc(ctx, m->threads, sizeof *m->unit, "the ranks", &m->unit));
    }
    return RLAR_OK;
}

/* An order has room for any error, and so has a report. */
static rlar_status messages_new(rlar_ctx *ctx, rlar_crew *crew) {
    RLAR_TRY(rlar__grow(ctx, &crew->in.bytes, &crew->in.capacity, FIRST_BYTES, 1, "the messages"));
    return rlar__grow(ctx, &crew->out.bytes, &crew->out.capacity, FIRST_BYTES, 1, "the messages");
}

rlar_status rlar__crew_new(rlar_ctx *ctx, const rlar_team *team, rlar_crew **out) {
    rlar_crew *crew = NULL;
    RLAR_TRY(rlar__calloc(ctx, 1, sizeof *crew, "the ranks", &crew));
    rlar__ctx_child(ctx, true, &crew->wire);
    crew->wire.team = team;
    rlar_status status =
        rlar__calloc(ctx, team->ranks, sizeof *crew->greeting, "the ranks", &crew->greeting);
    if (status >= 0)
        status = messages_new(ctx, crew);
    if (status < 0)
        rlar__crew_free(crew);
    else
        *out = crew;
    return status;
}

/* Rank 0 makes its notes on the others at last: should it lack the memory, rlar__crew_dismiss tells
 * them. */
rlar_status rlar__crew_meet(rlar_ctx *ctx, rlar_crew *crew, rlar_status status, rlar_key key) {
    const greeting mine = {.status = status, .threads = rlar_ctx_threads(ctx), .key = key};
    if (rlar__team_collect(&crew->wire, &mine, sizeof mine, crew->greeting) < 0)
        return rlar__fail(ctx, RLAR_E_IO, "%s", crew->wire.error);
    RLAR_TRY(check_greetings(ctx, crew));
    crew->met = crew->ordered = true;
    return crew->wire.team->rank == 0 ? mates_new(ctx, crew) : RLAR_OK;
}

void rlar__crew_free(rlar_crew *crew) {
    if (!crew)
        return;
    for (int r = 1; crew->mate && r < crew->wire.team->ranks; r++) {
        rlar__free(crew->mate[r].ticket);
        rlar__free(crew->mate[r].unit);
    }
    rlar__free(crew->mate);
    rlar__free(crew->greeting);
    rlar__message_free(&crew->in);
    rlar__message_free(&crew->out);
    rlar__ctx_child_end(&crew->wire);
    rlar__free(crew);
}

/* ---- Rank 0 ---- */

void rlar__crew_begin(rlar_crew *crew) {
    for (int r = 1; r < crew->wire.team->ranks; r++)
        for (int64_t i = 0; i < crew->mate[r].threads; i++)
            crew->mate[r].unit[i] = -1;
}

bool rlar__crew_is_busy(const rlar_crew *crew) {
    for (int r = 1; r < crew->wire.team->ranks; r++)
        if (crew->mate[r].busy > 0)
            return true;
    return false;
}

static rlar_status take_answer(rlar_crew *crew, rlar_board *b, mate *m) {
    const rlar_schedule *s = b->schedule;
    int64_t number = -1;
    RLAR_TRY(rlar__message_carry(&crew->wire, &crew->in, &number, sizeof number));
    if (number < 0 || number >= rlar__crew_ahead(m->threads) || !m->ticket[number].busy)
        return rlar__fail(&crew->wire, RLAR_E_INTERNAL, "an answer that nobody has asked for");
    ticket *t = &m->ticket[number];
    t->busy = false;
    m->busy--;
    return s->outcome(&crew->wire, s->arg, t->unit, t->item, &crew->in);
}

static rlar_status read_report(rlar_crew *crew, rlar_board *b, int rank) {
    report r = {0};
    char *text = NULL;
    RLAR_TRY(rlar__message_carry(&crew->wire, &crew->in, &r, sizeof r));
    for (int64_t i = 0; i < r.answers; i++)
        RLAR_TRY(take_answer(crew, b, &crew->mate[rank]));
    if (r.status >= 0)
        return RLAR_OK;
    RLAR_TRY(rlar__message_carry_text(&crew->wire, &crew->in, &text));
    rlar__fail(&crew->wire, (rlar_status)r.status, "rank %d: %s", rank, text ? text : "");
    rlar__free(text);
    return (rlar_status)r.status;
}

/* An item for each thread, and one ahead as long as there are more than threads that want them. */
static int64_t fill_tickets(const rlar_crew *crew, rlar_board *b, mate *m) {
    int64_t fresh = 0;
    pthread_mutex_lock(&b->lock);
    for (int64_t i = 0; i < rlar__crew_ahead(m->threads); i++) {
        ticket *t = &m->ticket[i];
        int64_t *unit = &m->unit[i % m->threads];
        t->fresh = !t->busy && (m->busy < m->threads || b->left > crew->threads) &&
                   rlar__board_take(b, unit, &t->item);
        if (!t->fresh)
            continue;
        t->unit = *unit;
        t->busy = true;
        m->busy++;
        fresh++;
    }
    pthread_mutex_unlock(&b->lock);
    return fresh;
}

static rlar_status send_order(rlar_crew *crew, int rank, const order *o) {
    RLAR_TRY(rlar__team_send(&crew->wire, rank, o, sizeof *o));
    return rlar__message_send(&crew->wire, rank, &crew->out);
}

static rlar_status write_task(rlar_crew *crew, const rlar_schedule *s, const mate *m,
                              int64_t number) {
    const ticket *t = &m->ticket[number];
    task_head head = {s->stage, number, t->unit, t->item};
    RLAR_TRY(rlar__message_carry(&crew->wire, &crew->out, &head, sizeof head));
    return s->task(&crew->wire, s->arg, t->unit, t->item, &crew->out);
}

/* Who has something to do hears at once that it may report again; who has not waits for more. */
static rlar_status give_order(rlar_crew *crew, rlar_board *b, int rank) {
    mate *m = &crew->mate[rank];
    order o = {.tasks = fill_tickets(crew, b, m)};
    if (m->busy == 0)
        return RLAR_OK;
    rlar__message_begin(&crew->out);
    for (int64_t i = 0; i < rlar__crew_ahead(m->threads); i++)
        if (m->ticket[i].fresh)
            RLAR_TRY(write_task(crew, b->schedule, m, i));
    m->waiting = false;
    return send_order(crew, rank, &o);
}

static rlar_status serve_rank(rlar_crew *crew, rlar_board *b, int rank) {
    mate *m = &crew->mate[rank];
    bool ready = false;
    if (!m->waiting) {
        RLAR_TRY(rlar__team_ready(&crew->wire, rank, &ready));
        if (!ready)
            return RLAR_OK;
        m->waiting = true;
        RLAR_TRY(rlar__message_receive(&crew->wire, rank, &crew->in));
        RLAR_TRY(read_report(crew, b, rank));
    }
    return atomic_load(&b->stop) ? RLAR_OK : give_order(crew, b, rank);
}

/* The last report of everybody, unless it was heard. */
static rlar_status hear_all(rlar_crew *crew) {
    for (int r = 1; r < crew->wire.team->ranks; r++) {
        const bool heard = crew->mate && crew->mate[r].waiting;
        if (!heard && rlar__message_receive(&crew->wire, r, &crew->in) == RLAR_E_IO)
            return RLAR_E_IO;
    }
    return RLAR_OK;
}

/* The text of the error, or the results. */
static rlar_status write_end(rlar_crew *crew, rlar_status status, char *text,
                             const rlar_message *results) {
    rlar__message_begin(&crew->out);
    return status < 0 ? rlar__message_carry_text(&crew->wire, &crew->out, &text)
                      : rlar__message_carry(&crew->wire, &crew->out, results->bytes,
                                            (size_t)results->used);
}

rlar_status rlar__crew_dismiss(rlar_ctx *ctx, rlar_crew *crew, rlar_status status,
                               const rlar_message *results) {
    if (!crew->met)
        return status;
    rlar_status sent = hear_all(crew);
    if (write_end(crew, status, ctx->error, results) < 0) {
        status = rlar__fail(ctx, RLAR_E_NOMEM, "%s", crew->wire.error);
        write_end(crew, status, ctx->error, results); /* there is room for it */
    }
    const order o = {.end = 1, .status = status};
    for (int r = 1; r < crew->wire.team->ranks && sent >= 0; r++)
        sent = send_order(crew, r, &o);
    return status >= 0 && sent < 0 ? rlar__fail(ctx, sent, "%s", crew->wire.error) : status;
}

/* ---- Another rank ---- */

/* The answers that are there, or -1: it has nothing to do, and no answers. */
static int64_t count_answers(rlar_board *b) {
    int64_t done = 0, other = 0;
    pthread_mutex_lock(&b->lock);
    for (int64_t i = 0; i < b->n_sent; i++) {
        done += b->sent[i].state == SENT_DONE;
        other += b->sent[i].state == SENT_WAITING || b->sent[i].state == SENT_RUNNING;
    }
    pthread_mutex_unlock(&b->lock);
    return done + other > 0 ? done : -1;
}

static bool take_done(rlar_board *b, int64_t number, rlar_sent *out) {
    pthread_mutex_lock(&b->lock);
    *out = b->sent[number];
    if (out->state == SENT_DONE)
        b->sent[number].state = SENT_NONE;
    pthread_mutex_unlock(&b->lock);
    return out->state == SENT_DONE;
}

/* What is done by now: at least as much as was counted, of which the rest waits. */
static rlar_status write_answers(rlar_crew *crew, rlar_board *b, int64_t answers) {
    for (int64_t i = 0; i < b->n_sent && answers > 0; i++) {
        rlar_sent s;
        if (!take_done(b, i, &s))
            continue;
        RLAR_TRY(rlar__message_carry(&crew->wire, &crew->out, &i, sizeof i));
        RLAR_TRY(s.schedule->outcome(&crew->wire, s.schedule->arg, s.unit, s.item, &crew->out));
        answers--;
    }
    return RLAR_OK;
}

static rlar_status send_report(rlar_crew *crew, rlar_board *b) {
    const int64_t answers = count_answers(b);
    const double now = rlar__now();
    if (answers == 0 && now < crew->reported + SILENCE)
        return RLAR_OK;
    report r = {.answers = answers > 0 ? answers : 0};
    rlar__message_begin(&crew->out);
    RLAR_TRY(rlar__message_carry(&crew->wire, &crew->out, &r, sizeof r));
    RLAR_TRY(write_answers(crew, b, r.answers));
    crew->reported = now;
    crew->ordered = false;
    return rlar__message_send(&crew->wire, 0, &crew->out);
}

static rlar_status read_task(rlar_crew *crew, rlar_board *b) {
    task_head head = {0};
    RLAR_TRY(rlar__message_carry(&crew->wire, &crew->in, &head, sizeof head));
    if (head.stage < 0 || head.stage >= b->n_stages || head.ticket < 0 ||
        head.ticket >= b->n_sent || b->sent[head.ticket].state != SENT_NONE)
        return rlar__fail(&crew->wire, RLAR_E_INTERNAL, "a task that cannot be");
    const rlar_schedule *s = &b->stages[head.stage];
    RLAR_TRY(s->task(&crew->wire, s->arg, head.unit, head.item, &crew->in));
    pthread_mutex_lock(&b->lock);
    b->sent[head.ticket] = (rlar_sent){.state = SENT_WAITING,
                                       .schedule = s,
                                       .unit = head.unit,
                                       .item = head.item,
                                       .order = b->arrived++};
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return RLAR_OK;
}

static rlar_status receive_order(rlar_crew *crew, rlar_board *b) {
    order o = {0};
    RLAR_TRY(rlar__team_receive(&crew->wire, 0, &o, sizeof o));
    const rlar_status heard = rlar__message_receive(&crew->wire, 0, &crew->in);
    crew->ordered = true;
    crew->over = o.end;
    crew->end = heard < 0 ? heard : (rlar_status)o.status;
    RLAR_TRY(heard);
    for (int64_t i = 0; i < o.tasks && b; i++)
        RLAR_TRY(read_task(crew, b));
    return RLAR_OK;
}

static rlar_status serve_rank_0(rlar_crew *crew, rlar_board *b) {
    bool ready = false;
    if (crew->over || atomic_load(&b->stop))
        return RLAR_OK;
    if (crew->ordered)
        RLAR_TRY(send_report(crew, b));
    if (!crew->ordered)
        RLAR_TRY(rlar__team_ready(&crew->wire, 0, &ready));
    if (ready)
        RLAR_TRY(receive_order(crew, b));
    if (crew->over)
        atomic_store(&b->stop, true);
    return RLAR_OK;
}

/* A report of the failure, when it is this rank's turn. */
static rlar_status send_failure(rlar_ctx *ctx, rlar_crew *crew, rlar_status status) {
    report r = {.status = status};
    char *text = ctx->error;
    rlar__message_begin(&crew->out);
    RLAR_TRY(rlar__message_carry(&crew->wire, &crew->out, &r, sizeof r));
    RLAR_TRY(rlar__message_carry_text(&crew->wire, &crew->out, &text));
    crew->ordered = false;
    return rlar__message_send(&crew->wire, 0, &crew->out);
}

/* Orders other than the end have come too late. */
static rlar_status hear_the_end(rlar_ctx *ctx, rlar_crew *crew, rlar_status status) {
    rlar_status heard = RLAR_OK;
    while (!crew->over && heard != RLAR_E_IO) {
        if (crew->ordered)
            RLAR_TRY(send_failure(ctx, crew, status));
        heard = receive_order(crew, NULL);
    }
    return heard;
}

rlar_status rlar__crew_leave(rlar_ctx *ctx, rlar_crew *crew, rlar_status status) {
    char *text = NULL;
    if (status == RLAR_E_IO && !crew->over) /* rank 0 cannot be reached */
        return status;
    const rlar_status heard = hear_the_end(ctx, crew, status);
    if (heard < 0)
        return rlar__fail(ctx, heard, "%s", crew->wire.error);
    if (crew->end >= 0)
        return rlar__forgive(ctx); /* the end has stopped the threads */
    if (rlar__message_carry_text(&crew->wire, &crew->in, &text) >= 0 && text)
        rlar__fail(ctx, crew->end, "%s", text);
    rlar__free(text);
    return crew->end;
}

rlar_message *rlar__crew_results(rlar_crew *crew) {
    return &crew->in;
}

/* ---- Both ---- */

void rlar__crew_serve(rlar_crew *crew, rlar_board *board) {
    rlar_status status = RLAR_OK;
    if (board->sent)
        status = serve_rank_0(crew, board);
    for (int r = 1; !board->sent && r < crew->wire.team->ranks && status >= 0; r++)
        status = serve_rank(crew, board, r);
    if (status < 0)
        rlar__board_fail(board, &crew->wire, status, -1, -1);
}
