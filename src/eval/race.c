/* race.c - a search that gives up cells which cannot win any more.
 *
 * The cells of a method compete on parts: with cv on the folds of a trial, with the oracle on all
 * trials. Every part adds to what a cell has lost (its failures, and 1 - accuracy where it did not
 * fail), and nothing takes from it. So a cell that has already lost more than another has in the
 * end cannot be chosen. The order:
 *
 *   pass 0      the first part, by all cells
 *   pass 1      the other parts, by the cell that leads; nothing where one has run them all
 *   pass k > 1  part k - 1, by the cells that can still win
 *
 * The choice is that of the whole search, and does not depend on threads: a pass is decided by what
 * was done before it. Cells that share their fit, because they differ in the classifier only, are
 * given up together. (Fits along a path start from those before them; leaving some out changes
 * where the others start, and with it their accuracy a little.) */
#include "eval/run.h"

#include <math.h>

/* Accuracies are shares of whole numbers, equal ones may differ by rounding; as in the choice. */
static const double SLACK = 1e-9;

typedef struct standing {
    int64_t done, failures;
    double lost;
} standing;

/* One competition. */
typedef struct contest {
    rlar_run *run;
    int64_t method;
    int64_t first, end; /* parts */
} contest;

static standing standing_of(const contest *at, int64_t cell) {
    standing s = {0};
    for (int64_t part = at->first; part < at->end; part++) {
        const rlar_outcome *out = rlar__search_outcome(at->run, at->method, part, cell);
        s.done += out->done;
        if (out->done && isnan(out->accuracy))
            s.failures++;
        else if (out->done)
            s.lost += 1.0 - out->accuracy;
    }
    return s;
}

/* Is `a` behind `b`, whatever else it does? */
static bool behind(standing a, standing b) {
    return a.failures > b.failures || (a.failures == b.failures && a.lost > b.lost + SLACK);
}

/* Of those that have run the most parts the best: who has run them all, or who leads after one. */
static void best_so_far(const contest *at, standing *best, int64_t *leader) {
    const int64_t cells = at->run->eval->method[at->method].grid.cells;
    *best = (standing){0};
    *leader = -1;
    for (int64_t i = 0; i < cells; i++) {
        const standing s = standing_of(at, i);
        if (s.done > best->done || (s.done == best->done && s.done > 0 && behind(*best, s))) {
            *best = s;
            *leader = i;
        }
    }
}

/* ---- What a pass does with the cells of a combination ---- */

/* From part `first` to the one before `end`. */
static void set_due(const contest *at, int64_t cell, int64_t first, int64_t end) {
    for (int64_t part = first; part < end; part++) {
        rlar_outcome *out = rlar__search_outcome(at->run, at->method, part, cell);
        out->due = out->wanted;
    }
}

static void give_up(const contest *at, int64_t cell) {
    for (int64_t part = at->first; part < at->end; part++) {
        rlar_outcome *out = rlar__search_outcome(at->run, at->method, part, cell);
        out->wanted = out->done;
    }
}

/* k as above; the cells have one scaling and one combination of the parameters. */
static void next_of(const contest *at, int64_t k, int64_t scale, int64_t combination, standing best,
                    int64_t leader) {
    const rlar_grid *grid = &at->run->eval->method[at->method].grid;
    const int64_t classifiers = rlar__grid_values(grid, "classifier");
    bool leads = false, hopeless = k > 1;
    for (int64_t i = 0; i < classifiers; i++) {
        const int64_t cell = rlar__grid_find(grid, scale, i, combination);
        leads = leads || cell == leader;
        hopeless = hopeless && behind(standing_of(at, cell), best);
    }
    for (int64_t i = 0; i < classifiers; i++) {
        const int64_t cell = rlar__grid_find(grid, scale, i, combination);
        if (hopeless)
            give_up(at, cell);
        else if (k == 1 && leads)
            set_due(at, cell, at->first, at->end);
        else if (k != 1)
            set_due(at, cell, at->first + (k > 0 ? k - 1 : 0), at->first + (k > 0 ? k : 1));
    }
}

static void next_in(const contest *at, int64_t k) {
    const rlar_grid *grid = &at->run->eval->method[at->method].grid;
    const int64_t scales = rlar__grid_values(grid, "scale");
    const int64_t count = rlar__search_combinations(grid);
    int64_t leader;
    standing best;
    if (k > at->end - at->first)
        return;
    best_so_far(at, &best, &leader);
    for (int64_t s = 0; s < scales; s++)
        for (int64_t i = 0; i < count; i++)
            next_of(at, k, s, i, best, leader);
}

bool rlar__race_next(rlar_run *run, int64_t k) {
    const int64_t fits = run->fit_first[run->eval->count];
    int64_t most = 0;
    for (int64_t i = 0; i < fits; i++)
        run->outcome[i].due = false;
    for (int64_t m = 0; m < run->eval->count; m++) {
        if (!run->eval->method[m].search)
            continue;
        /* With the oracle each trial is a part, with cv it is a contest. */
        for (int64_t t = 0; t < (run->inner_folds ? run->trials : 1); t++) {
            const int64_t end = run->inner_folds ? t + 1 : run->trials;
            const contest at = {run, m, run->part_first[t], run->part_first[end]};
            most = at.end - at.first > most ? at.end - at.first : most;
            next_in(&at, k);
        }
    }
    return k <= most && most > 0;
}
