/* traffic.c - what the ranks of a fit say to each other: forecast, and counted while it runs. */
#include <math.h>
#include <stdio.h>

#include "cli.h"

/* ---- Counted ---- */

void cli_traffic_note(cli *c, const rlar_info *info, cli_traffic *t) {
    cli_traffic_at now = {.iterations = info->iterations, .steps = info->steps};
    rlar_ctx_traffic(c->ctx, &now.sent, &now.received);
    if (t->last.iterations == 0)
        t->first = now;
    t->last = now;
}

/* Of this rank, from the first iteration to the last: what the first began with is not its own. */
static cli_traffic_at between(const cli_traffic *t) {
    return (cli_traffic_at){.iterations = t->last.iterations - t->first.iterations,
                            .steps = t->last.steps - t->first.steps,
                            .sent = t->last.sent - t->first.sent,
                            .received = t->last.received - t->first.received};
}

static void add(cli_traffic *t, const cli_traffic_at *one) {
    const double bytes = (double)one->sent + (double)one->received;
    t->received += (double)one->received;
    t->busiest = bytes > t->busiest ? bytes : t->busiest;
}

int cli_traffic_collect(cli *c, cli_traffic *t) {
    const rlar_team *team = c->team;
    cli_traffic_at here = between(t), other;
    int lost = 0;
    if (team == NULL)
        return 0;
    if (team->rank > 0)
        lost = team->send(team->user, 0, &here, sizeof here);
    add(t, &here);
    for (int r = 1; team->rank == 0 && r < team->ranks && lost == 0; r++) {
        lost = team->receive(team->user, r, &other, sizeof other);
        if (lost == 0)
            add(t, &other);
    }
    if (lost == 0)
        return 0;
    return cli_interrupted() ? cli_error(c, CODE_INTERRUPTED, "interrupted")
                             : cli_error(c, CODE_IO, "counting the traffic: a rank has ended");
}

/* ---- Reports ---- */

static const char *solve_name(const rlar_forecast *f) {
    return f->distributed ? "distributed" : "replicated";
}

static json_t *whole(double bytes) {
    if (!isfinite(bytes))
        return json_null();
    return fabs(bytes) < 9e18 ? json_integer((json_int_t)rint(bytes)) : json_real(bytes);
}

static json_t *pair(double all, double busiest) {
    json_t *root = json_object();
    cli_json_set(root, "all", whole(all));
    cli_json_set(root, "busiest", whole(busiest));
    return root;
}

static json_t *iteration_pair(const rlar_forecast *f, double steps) {
    return pair(f->iteration + steps * f->step, f->iteration_busiest + steps * f->step_busiest);
}

/* In an iteration with so many steps: what depends on who is whose neighbour. */
static rlar_fetched fetched_in(const rlar_forecast *f, double steps) {
    return (rlar_fetched){.about = f->fetched.about + steps * f->fetched_step.about,
                          .most = f->fetched.most + steps * f->fetched_step.most};
}

static json_t *fetched_pair(const rlar_forecast *f, double steps) {
    const rlar_fetched fetched = fetched_in(f, steps);
    json_t *root = json_object();
    cli_json_set(root, "about", whole(fetched.about));
    cli_json_set(root, "most", whole(fetched.most));
    return root;
}

static void set_head(const cli *c, const rlar_forecast *f, json_t *root) {
    cli_json_set(root, "ranks", json_integer(c->team->ranks));
    cli_json_set(root, "solve", cli_json_text(solve_name(f)));
}

void cli_traffic_forecast_json(const cli *c, const rlar_forecast *f, json_t *root) {
    if (c->team == NULL)
        return;
    json_t *traffic = json_object();
    set_head(c, f, root);
    cli_json_set(traffic, "samples", pair(f->moved, f->moved_busiest));
    cli_json_set(traffic, "once", pair(f->once, f->once_busiest));
    cli_json_set(traffic, "bytes_per_iteration", iteration_pair(f, f->steps));
    cli_json_set(traffic, "fetched_per_iteration", fetched_pair(f, f->steps));
    cli_json_set(traffic, "inside_solve", whole(f->inside));
    cli_json_set(root, "traffic", traffic);
}

void cli_traffic_json(const cli *c, const rlar_forecast *f, const cli_traffic *t, json_t *root) {
    const cli_traffic_at here = between(t);
    const double count = (double)here.iterations; /* 0: nothing to divide by, null */
    const double steps = count > 0.0 ? (double)here.steps / count : f->steps;
    if (c->team == NULL)
        return;
    json_t *traffic = json_object();
    set_head(c, f, root);
    cli_json_set(traffic, "bytes_per_iteration", pair(t->received / count, t->busiest / count));
    cli_json_set(traffic, "forecast", iteration_pair(f, steps));
    cli_json_set(traffic, "forecast_fetched", fetched_pair(f, steps));
    cli_json_set(traffic, "forecast_once", pair(f->once, f->once_busiest));
    cli_json_set(root, "traffic", traffic);
}

/* "12 MiB in all, 7 MiB to and from the busiest rank" */
static void line(cli *c, const char *name, const char *what, double all, double busiest) {
    char one[CLI_NUMBER_SIZE], two[CLI_NUMBER_SIZE];
    cli_printf(c, "%-12s%s: %s in all, %s to and from the busiest rank\n", name, what,
               cli_bytes(all, one), cli_bytes(busiest, two));
}

/* Classes that lie on several ranks. */
static void fetched_line(cli *c, const rlar_forecast *f) {
    char one[CLI_NUMBER_SIZE], two[CLI_NUMBER_SIZE];
    const rlar_fetched fetched = fetched_in(f, f->steps);
    if (fetched.most > 0.0)
        cli_printf(c, "            and about %s, at most %s, for neighbours on other ranks\n",
                   cli_bytes(fetched.about, one), cli_bytes(fetched.most, two));
}

void cli_traffic_forecast_text(cli *c, const rlar_forecast *f) {
    char inside[CLI_NUMBER_SIZE];
    if (c->team == NULL)
        return;
    cli_printf(c, "ranks       %d; memory and work are those of the rank that has the most\n",
               c->team->ranks);
    cli_printf(c, "solve       %s\n", solve_name(f));
    line(c, "traffic", "samples", f->moved, f->moved_busiest);
    if (f->once > 0.0)
        line(c, "", "once", f->once, f->once_busiest);
    if (f->iteration > 0.0)
        line(c, "", "each iteration", f->iteration + f->steps * f->step,
             f->iteration_busiest + f->steps * f->step_busiest);
    fetched_line(c, f);
    if (f->distributed)
        cli_printf(c, "            and about %s from each rank inside the solves\n",
                   cli_bytes(f->inside, inside));
}
