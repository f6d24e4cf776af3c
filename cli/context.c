/* context.c - the library's context: limits from the options, its warnings, and a line of progress.
 *
 * The line is drawn on a terminal only, ten times a second at most, and only once the work has
 * lasted half a second, so that short runs do not flicker. Whoever starts long work sets
 * c->started. The same callback tells the library to stop after Ctrl-C. */
#include <stdio.h>

#include "cli.h"

/* Before anything else is shown on the terminal, so that no text is glued to the line. */
void cli_progress_clear(cli *c) {
    if (c->line_shown)
        fputs("\r\033[K", stderr);
    c->line_shown = false;
}

/* "12 s", "8 min", "3 h" */
static void left_text(double seconds, char *buf, size_t size) {
    if (seconds < 120)
        snprintf(buf, size, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(buf, size, "%.0f min", seconds / 60);
    else
        snprintf(buf, size, "%.0f h", seconds / 3600);
}

void cli_work_total(cli *c, double work) {
    c->work_total = work;
    c->work_done = c->work_known = 0;
    c->started = cli_now();
}

/* The clock of a single evaluation starts with it, that of all has been started. */
void cli_work_begin(cli *c, double work) {
    c->work = work;
    c->known = 0;
    if (c->work_total <= 0)
        c->started = cli_now();
}

void cli_work_end(cli *c, double work) {
    c->work_done += work;
    c->work_known += c->known * work;
    c->work = 0;
}

static void draw_progress(cli *c, const rlar_event *event) {
    const double now = cli_now();
    if (event->total <= 0)
        return;
    double share = (double)event->done / (double)event->total;
    double known = c->known = (double)event->known / (double)event->total;
    if (now < c->next || now - c->started < 0.5 || event->done <= event->known)
        return;
    char left[CLI_NUMBER_SIZE];
    c->next = now + 0.1;
    if (c->work_total > 0) {
        share = (c->work_done + share * c->work) / c->work_total;
        known = (c->work_known + known * c->work) / c->work_total;
    }
    if (share <= known)
        return;
    /* The time went into what was not known before. */
    left_text((now - c->started) * (1 - share) / (share - known), left, sizeof left);
    if (event->kind == RLAR_EVENT_READ)
        fprintf(stderr, "\r\033[K%s: reading, %.0f %%, %s left", cli_program, 100 * share, left);
    else if (c->work_total > 0)
        fprintf(stderr, "\r\033[K%s: %.1f %% of all, fit %lld of %lld, %s left", cli_program,
                100 * share, (long long)event->done, (long long)event->total, left);
    else
        fprintf(stderr, "\r\033[K%s: %s %lld of %lld, %s left", cli_program,
                event->kind == RLAR_EVENT_ITERATION ? "iteration" : "fit", (long long)event->done,
                (long long)event->total, left);
    fflush(stderr);
    c->line_shown = true;
}

/* A non-zero answer makes the library stop and say RLAR_E_CANCELLED. */
static int on_progress(void *user, const rlar_event *event) {
    cli *c = user;
    if (cli_interrupted())
        return 1;
    cli_ranks_look(c);
    if (event->kind == RLAR_EVENT_ITERATION && c->on_iteration != NULL && event->info != NULL)
        c->on_iteration(c, event->info, c->on_iteration_user);
    if (c->terminal && cli_rank(c) == 0 && c->args.quiet == 0 && event->kind != RLAR_EVENT_POLL)
        draw_progress(c, event);
    return 0;
}

static void on_log(void *user, rlar_status status, const char *text) {
    cli *c = user;
    if (status > 0)
        cli_warn(c, "%s", text);
    else
        cli_note(c, "%s", text);
}

int cli_ctx_open(cli *c) {
    rlar_ctx_options options = RLAR_INIT(rlar_ctx_options);
    if (c->args.threads > RLAR_THREADS_MAX)
        return cli_usage(c, "--threads: %lld is more than %d", (long long)c->args.threads,
                         RLAR_THREADS_MAX);
    const int own = cli_ranks_threads(c);
    options.threads = c->args.threads > 0      ? (int)c->args.threads
                      : own < RLAR_THREADS_MAX ? own
                                               : RLAR_THREADS_MAX;
    options.max_memory = c->args.max_memory;
    options.progress = on_progress;
    options.log = on_log;
    options.user = c;
    const rlar_status status = rlar_ctx_new(&options, &c->ctx);
    if (status < 0)
        return cli_error(c, cli_exit_code(status), "cannot start: %s", rlar_status_text(status));
    return 0;
}
