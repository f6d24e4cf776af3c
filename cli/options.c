/* options.c - the two tables: verbs, and the options of all verbs.
 *
 * An option that means something else to another verb has a row per meaning, with disjoint verbs.
 * Rows without help are aliases. */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "cli.h"

const cli_verb cli_verbs[] = {
    {"fit", "DATA...", "learn a model from labelled samples",
     "Learns the linear map of a method from the labelled samples in DATA and, with -o, writes "
     "the\n"
     "model. Without -o it trains and reports only. `rlar methods` lists the methods, `rlar "
     "methods\n"
     "NAME` the parameters of one. Several DATA are parts of one set. `mpirun -n P rlar-mpi fit "
     "...`\n"
     "fits over P processes (`make mpi` builds it): the same options, the same model.",
     "rlar fit wine.csv -o wine.rlar --alpha 0.01 -k 5", 1, 1 << 20, cli_cmd_fit},
    {"predict", "MODEL DATA", "the class of every sample",
     "Writes one class name per line, in the order of DATA, which is read block by block and may "
     "be\n"
     "larger than memory. With --scores it writes CSV: the column `prediction`, then one column "
     "of\n"
     "scores per class (the larger, the more likely). Where DATA has labels, the accuracy goes to\n"
     "standard error.",
     "rlar predict wine.rlar new.csv -o classes.txt", 2, 2, cli_cmd_predict},
    {"transform", "MODEL DATA", "the samples in the learned space",
     "Writes z = W'x + b of every sample: CSV with the columns z1, z2, ... and, where DATA has\n"
     "labels, a last column `class`. With -o the ending chooses the format (.csv .tsv .svm .npy\n"
     ".npz .arff, each also .gz).",
     "rlar transform wine.rlar wine.csv -o z.npy", 2, 2, cli_cmd_transform},
    {"rank", "MODEL", "the features, best first",
     "Lists the features by their score in the model, best first; equal scores by lower index.",
     "rlar rank wine.rlar --top 5", 1, 1, cli_cmd_rank},
    {"evaluate", "DATA...", "compare methods over repeated splits",
     "Splits each DATA at random into training and test samples, fits every method on the same\n"
     "splits and reports the mean and the standard deviation of the test accuracy. One of\n"
     "--train-per-class, --train-fraction and --folds says how to split. Two or more methods are\n"
     "compared: average ranks, and each against the first by Wilcoxon's test with Holm's\n"
     "correction, over the data sets and sizes from five on, else over the trials. --json has all\n"
     "pairs, and the tests of Friedman and Nemenyi.",
     "rlar evaluate wine.csv --methods rlar,lda,rr --train-per-class 5,11 --trials 10 --tune cv", 1,
     1 << 20, cli_cmd_evaluate},
    {"tune", "DATA", "cross-validate a grid of parameters",
     "Cross-validates every cell of a grid on DATA and shows the best, how flat the top is, the\n"
     "whole grid, and the command that fits the best cell. The accuracy of the best of many cells\n"
     "is a little too high for new samples: `rlar evaluate --tune cv` measures that honestly.",
     "rlar tune wine.csv --scale minmax --grid alpha=0.01,0.1,1,10 --grid beta=0.01,0.1,1", 1, 1,
     cli_cmd_tune},
    {"reproduce", "[TABLE]...", "the paper's tables, measured again",
     "Evaluates the paper's methods on the paper's data, sizes and splits, and prints each result\n"
     "beside the paper's number. The tables are uci, binalpha, yaleb, ar, coil20, caltech101, "
     "blocks\n"
     "and occlusion; without a name all but caltech101, which takes many hours. sensitivity, "
     "ksweep,\n"
     "convergence and matrices are the numbers of its figures, with --json. Data are looked for "
     "in\n"
     "--data-dir; what is missing is named, with where it comes from, and skipped. Finished fits "
     "are\n"
     "kept in a journal: after an interruption the same command goes on.",
     "rlar reproduce uci --data-dir data --json -o uci.json", 0, 1 << 20, cli_cmd_reproduce},
    {"plot", "FIGURE INPUT...", "draw a figure with gnuplot",
     "Writes one figure as SVG, PDF or PNG, by the ending of -o. The figures and their INPUT:\n"
     "  convergence  TRACE.csv...   the objective over iterations or seconds, of `fit --trace`\n"
     "  heatmap      RESULT.json... accuracy over the two parameters that a grid varies\n"
     "  ksweep       RESULT.json... accuracy over the one parameter that a grid varies\n"
     "  sizes        RESULT.json... accuracy over the training size\n"
     "  confusion    RESULT.json... which classes are taken for which\n"
     "  ranks        RESULT.json    average ranks of three or more methods, critical difference\n"
     "  matrices     RESULT.json    the matrices T, V and S of a fit, from its key \"matrices\"\n"
     "  embedding    MODEL DATA     the samples along the first two principal directions\n"
     "  features     MODEL          the best 30 features, or all of them as an image\n"
     "RESULT.json is what `evaluate --json` writes, with --tune for heatmap and ksweep.",
     "rlar plot embedding wine.rlar wine.csv -o wine.svg", 2, 1 << 20, cli_cmd_plot},
    {"report", "RESULT.json...", "results as one page of HTML",
     "Writes one page that needs nothing beside it: what was run, tables that can be sorted, the\n"
     "statistics of the comparison, figures (drawn by gnuplot, where it is installed), settings, "
     "and\n"
     "the command that repeats the run. RESULT.json is what `evaluate --json` writes; each file\n"
     "becomes a part of the page.",
     "rlar report compared.json -o report.html", 1, 1 << 20, cli_cmd_report},
    {"info", "DATA|MODEL", "what is in a file",
     "Describes a data file (sizes, classes, missing values, ranges) or a model file (method,\n"
     "parameters, classes). Which of the two it is, is seen from the content.",
     "rlar info wine.csv", 1, 1, cli_cmd_info},
    {"convert", "IN OUT", "write data in another format",
     "Reads IN in any format and writes OUT in the format of its ending: .csv .tsv .svm .libsvm\n"
     ".npy .npz .arff, each also .gz.",
     "rlar convert COIL20.mat coil20.csv.gz", 2, 2, cli_cmd_convert},
    {"methods", "[NAME]", "the methods; one method's parameters",
     "Lists the methods or, with NAME, describes one: what it does, citation, what a source "
     "confirms\n"
     "and what is reconstructed, parameters, defaults, limits, grid.",
     "rlar methods lda", 0, 1, cli_cmd_methods},
    {"doctor", "", "is the machine set up well?",
     "Shows the BLAS library and its kernel, threads, speed and what is installed, and says what "
     "to\n"
     "do where something is amiss. Takes about half a second.",
     "rlar doctor", 0, 0, cli_cmd_doctor},
    {NULL, NULL, NULL, NULL, NULL, 0, 0, NULL}};

#define FIELD(name) offsetof(cli_args, name)

enum {
    V_SEARCH = V_EVALUATE | V_TUNE,
    V_EVALUATIONS = V_SEARCH | V_REPRODUCE,
    V_DATA = V_FIT | V_PREDICT | V_TRANSFORM | V_SEARCH | V_PLOT | V_INFO | V_CONVERT,
    V_JSON = V_FIT | V_PREDICT | V_RANK | V_SEARCH | V_INFO | V_METHODS | V_DOCTOR | V_REPRODUCE,
    V_TRAIN = V_FIT | V_SEARCH,
    V_CLASSIFY = V_PREDICT | V_SEARCH
};

const cli_option cli_options[] = {
    {"output", 'o', OPT_TEXT, GROUP_VERB, V_FIT, FIELD(output), 0, "MODEL", "write the model here"},
    {"output", 'o', OPT_TEXT, GROUP_VERB, V_PREDICT | V_TRANSFORM | V_RANK | V_EVALUATIONS,
     FIELD(output), 0, "FILE", "write the result here instead of to standard output"},
    {"output", 'o', OPT_TEXT, GROUP_VERB, V_PLOT, FIELD(output), 0, "FIG.svg|pdf|png",
     "write the figure here"},
    {"output", 'o', OPT_TEXT, GROUP_VERB, V_REPORT, FIELD(output), 0, "FILE.html",
     "write the page here; - is standard output"},
    {"method", 0, OPT_TEXT, GROUP_VERB, V_PLOT, FIELD(method), 0, "NAME",
     "heatmap, ksweep, sizes, confusion: only results of this method"},
    {"data", 0, OPT_TEXT, GROUP_VERB, V_PLOT, FIELD(data), 0, "NAME",
     "likewise: only results on this data set, named as in the file"},
    {"title", 0, OPT_TEXT, GROUP_VERB, V_REPORT, FIELD(title), 0, "TEXT",
     "the heading (default: the data sets)"},
    {"against", 0, OPT_CHOICE, GROUP_VERB, V_PLOT, FIELD(against), 0, "iteration|seconds",
     "convergence: what the horizontal axis shows (default iteration)"},
    {"image", 0, OPT_TEXT, GROUP_VERB, V_PLOT, FIELD(image), 0, "HxW",
     "features: all scores as an image of H x W pixels"},
    {"order", 0, OPT_CHOICE, GROUP_VERB, V_PLOT, FIELD(order), 0, "rows|columns",
     "with --image: pixels are stored row by row (default) or, as in MATLAB's files, column by "
     "column"},
    {"method", 0, OPT_TEXT, GROUP_VERB, V_FIT | V_TUNE, FIELD(method), 0, "NAME",
     "the method (default rlar); see `rlar methods`"},
    {"methods", 0, OPT_TEXT, GROUP_VERB, V_EVALUATE, FIELD(methods), 0, "NAME,...",
     "the methods to compare (default rlar); see `rlar methods`"},
    {"methods", 0, OPT_TEXT, GROUP_VERB, V_REPRODUCE, FIELD(methods), 0, "NAME,...",
     "these methods only (default the paper's fifteen)"},
    {"columns", 0, OPT_TEXT, GROUP_VERB, V_REPRODUCE, FIELD(columns), 0, "NAME,...",
     "what to measure: preset (the paper's parameters and scaling), default (ours), oracle (the "
     "best cell by "
     "the "
     "test samples, an upper bound), cv (chosen inside each training set; the most work); default "
     "preset,default,oracle"},
    {"list", 0, OPT_FLAG, GROUP_VERB, V_REPRODUCE, FIELD(list), 0, NULL,
     "the tables and which data are there; nothing is measured"},
    {"quick", 0, OPT_FLAG, GROUP_VERB, V_REPRODUCE, FIELD(quick), 0, NULL,
     "a look in minutes: two splits, and of each data set of a table the first size only"},
    {"full-grid", 0, OPT_FLAG, GROUP_VERB, V_REPRODUCE, FIELD(full_grid), 0, NULL,
     "every cell of every grid (default: from coarse to fine, giving up cells that cannot win)"},
    {"occluder", 0, OPT_TEXT, GROUP_VERB, V_REPRODUCE, FIELD(occluder), 0, "FILE.pgm",
     "the picture that covers squares of the images (default a synthetic texture)"},
    {"train-per-class", 0, OPT_TEXT, GROUP_VERB, V_EVALUATE, FIELD(train_per_class), 0, "U[,U...]",
     "train on U samples of each class; several sizes give several results"},
    {"train-fraction", 0, OPT_SHARE, GROUP_VERB, V_EVALUATE, FIELD(train_fraction), 0, "F",
     "train on this share of each class"},
    {"folds", 0, OPT_INT, GROUP_VERB, V_EVALUATE, FIELD(folds), 2, "N",
     "cross-validate with N folds"},
    {"folds", 0, OPT_INT, GROUP_VERB, V_TUNE, FIELD(folds), 2, "N", "folds (default 5)"},
    {"trials", 0, OPT_INT, GROUP_VERB, V_EVALUATE | V_REPRODUCE, FIELD(trials), 1, "N",
     "random splits (default 10)"},
    {"trials", 0, OPT_INT, GROUP_VERB, V_TUNE, FIELD(trials), 1, "N",
     "cross-validate N times, with other folds each time (default 1)"},
    {"tune", 0, OPT_CHOICE, GROUP_VERB, V_EVALUATE, FIELD(tune), 0, "none|cv|oracle",
     "choose parameters inside each training set (cv, honest) or by test accuracy (oracle, an "
     "upper "
     "bound); default none"},
    {"grid", 0, OPT_LIST, GROUP_VERB, V_EVALUATE, FIELD(grid), 0, "[METHOD.]NAME=V,V,...",
     "values to try when tuning: a parameter, scale (chains joined by +) or classifier; "
     "repeatable; "
     "default the method's own grid"},
    {"grid", 0, OPT_LIST, GROUP_VERB, V_TUNE, FIELD(grid), 0, "NAME=V,V,...",
     "values to try: a parameter, scale (chains joined by +) or classifier; repeatable; default "
     "the method's own grid"},
    {"coarse", 0, OPT_FLAG, GROUP_VERB, V_EVALUATE, FIELD(coarse), 0, NULL,
     "from coarse to fine: every second number of an axis first, then the neighbours of the best "
     "cell; cells that cannot be chosen any more are given up"},
    {"coarse", 0, OPT_FLAG, GROUP_VERB, V_TUNE, FIELD(coarse), 0, NULL,
     "from coarse to fine: every second number of an axis first, then the neighbours of the best "
     "cell"},
    {"resume", 0, OPT_TEXT, GROUP_VERB, V_SEARCH, FIELD(resume), 0, "FILE",
     "keep every finished fit in FILE and take from it what is there: after an interruption, the "
     "same command goes on where it was"},
    {"resume", 0, OPT_TEXT, GROUP_VERB, V_REPRODUCE, FIELD(resume), 0, "FILE",
     "the journal of finished fits (default rlar-reproduce.journal)"},
    {"tune-folds", 0, OPT_INT, GROUP_VERB, V_EVALUATE, FIELD(tune_folds), 2, "N",
     "folds of --tune cv (default 5)"},
    {"param", 'p', OPT_LIST, GROUP_VERB, V_FIT | V_TUNE, FIELD(params), 0, "NAME=VALUE",
     "set a parameter; repeatable"},
    {"param", 'p', OPT_LIST, GROUP_VERB, V_EVALUATE, FIELD(params), 0, "[METHOD.]NAME=VALUE",
     "set a parameter, of one method or of all that have it; repeatable"},
    {"preset", 0, OPT_TEXT, GROUP_VERB, V_TRAIN, FIELD(preset), 0, "NAME",
     "start from a set of parameters: `paper` is what the paper's tables used, with --scale unit"},
    {"alpha", 0, OPT_PARAM, GROUP_VERB, V_TRAIN, FIELD(params), 0, "X", "short for -p alpha=X"},
    {"beta", 0, OPT_PARAM, GROUP_VERB, V_TRAIN, FIELD(params), 0, "X", "short for -p beta=X"},
    {"k", 'k', OPT_PARAM, GROUP_VERB, V_TRAIN, FIELD(params), 0, "N", "short for -p k=N"},
    {"iters", 0, OPT_PARAM, GROUP_VERB, V_TRAIN, FIELD(params), 0, "N", "short for -p iters=N"},
    {"seed", 0, OPT_INT, GROUP_VERB, V_FIT, FIELD(seed), 0, "N",
     "seed of the methods that draw random numbers; the others ignore it"},
    {"seed", 0, OPT_INT, GROUP_VERB, V_EVALUATIONS, FIELD(seed), 0, "N",
     "seed of the splits (default 1)"},
    {"scale", 0, OPT_TEXT, GROUP_VERB, V_TRAIN, FIELD(scale), 0, "CHAIN",
     "none, unit, minmax, zscore, rms, or a chain such as minmax,unit (default zscore,rms)"},
    {"trace", 0, OPT_TEXT, GROUP_VERB, V_FIT, FIELD(trace), 0, "FILE.csv",
     "write the objective and its terms after every iteration"},
    {"checkpoint", 0, OPT_TEXT, GROUP_VERB, V_FIT, FIELD(checkpoint), 0, "FILE",
     "keep where the fit is in this file after every few iterations: the same command goes on from "
     "there after an interruption (rlar only); it goes when the fit is done"},
    {"every", 0, OPT_INT, GROUP_VERB, V_FIT, FIELD(every), 1, "N",
     "iterations from one checkpoint to the next (default 5)"},
    {"solve", 0, OPT_CHOICE, GROUP_VERB, V_FIT, FIELD(solve), 0, "auto|replicated|distributed",
     "rlar-mpi: systems are solved by every rank alike, or by all together with ScaLAPACK, whose "
     "last digits differ (default auto: together where that is faster)"},
    {"dry-run", 0, OPT_FLAG, GROUP_VERB, V_FIT, FIELD(dry_run), 0, NULL,
     "do not fit: tell sizes, path, memory and work, over ranks also what they say to each other"},
    {"dry-run", 0, OPT_FLAG, GROUP_VERB, V_REPRODUCE, FIELD(dry_run), 0, NULL,
     "measure nothing: tell how many fits there are and about how long they take here"},
    {"classifier", 0, OPT_TEXT, GROUP_VERB, V_CLASSIFY, FIELD(classifier), 0, "NAME",
     "1nn, knn, centroid or, for regression methods, argmax; -cosine after the first three: "
     "on outputs scaled to length 1 (default 1nn)"},
    {"neighbors", 0, OPT_INT, GROUP_VERB, V_CLASSIFY, FIELD(neighbours), 1, "N",
     "neighbours of knn (default 5)"},
    {"neighbours", 0, OPT_INT, GROUP_VERB, V_CLASSIFY, FIELD(neighbours), 1, "N", NULL},
    {"scores", 0, OPT_FLAG, GROUP_VERB, V_PREDICT, FIELD(scores), 0, NULL,
     "CSV with a score for every class"},
    {"top", 0, OPT_INT, GROUP_VERB, V_RANK, FIELD(top), 1, "N", "only the N best"},
    {"csv", 0, OPT_FLAG, GROUP_VERB, V_EVALUATE, FIELD(csv), 0, NULL, "the results as CSV"},
    {"latex", 0, OPT_FLAG, GROUP_VERB, V_EVALUATE, FIELD(latex), 0, NULL,
     "the results as a LaTeX table (booktabs), the best in bold"},
    {"json", 0, OPT_FLAG, GROUP_VERB, V_JSON, FIELD(json), 0, NULL, "the result as JSON"},

    {"format", 0, OPT_WORD, GROUP_DATA, V_DATA, FIELD(format), 0,
     "csv|tsv|libsvm|npy|npz|arff|mat|images", "format of DATA (default: by content and ending)"},
    {"label", 0, OPT_TEXT, GROUP_DATA, V_DATA, FIELD(label), 0, "NAME|INDEX",
     "label column: name, 1-based index (negative from the end) or none; default: the column named "
     "label, class, target or y, else the last"},
    {"labels", 0, OPT_TEXT, GROUP_DATA, V_DATA, FIELD(labels), 0, "FILE",
     "labels in a file of their own, one per sample"},
    {"header", 0, OPT_CHOICE, GROUP_DATA, V_DATA, FIELD(header), 0, "auto|yes|no",
     "does the table start with column names?"},
    {"missing", 0, OPT_CHOICE, GROUP_DATA, V_FIT, FIELD(missing), 0, "error|mean|drop",
     "missing values: refuse, fill with the column's mean, or drop the sample (default error)"},
    {"missing", 0, OPT_CHOICE, GROUP_DATA, V_SEARCH, FIELD(missing), 0, "error|mean|drop",
     "missing values: refuse, fill with the means of each training part, or drop the sample "
     "(default error)"},
    {"missing", 0, OPT_CHOICE, GROUP_DATA, V_PREDICT | V_TRANSFORM | V_PLOT, FIELD(missing), 0,
     "error|mean|drop",
     "missing values: refuse, fill with the mean of training, or drop the sample (default error)"},
    {"missing", 0, OPT_CHOICE, GROUP_DATA, V_INFO | V_CONVERT, FIELD(missing), 0,
     "error|mean|drop|keep",
     "missing values: refuse, fill with the column's mean, drop the sample or keep them"},
    {"mat-vars", 0, OPT_TEXT, GROUP_DATA, V_DATA, FIELD(mat_vars), 0, "X,y",
     "variables of a .mat file (default fea,gnd or X,Y or X,y)"},
    {"data-dir", 0, OPT_TEXT, GROUP_DATA, V_DATA | V_REPRODUCE, FIELD(data_dir), 0, "DIR",
     "where to look for DATA that is not found as given, also with the known endings added "
     "(default: "
     "the environment variable RLAR_DATA_DIR)"},

    {"threads", 0, OPT_INT, GROUP_COMMON, V_ALL, FIELD(threads), 0, "N",
     "threads, at most 256 (default: one per processor); the results do not depend on it"},
    {"max-memory", 0, OPT_SIZE, GROUP_COMMON, V_ALL, FIELD(max_memory), 0, "SIZE",
     "give up rather than hold more memory, e.g. 2G"},
    {"deterministic", 0, OPT_FLAG, GROUP_COMMON, V_ALL, FIELD(deterministic), 0, NULL,
     "results are always deterministic; rlar-mpi: those of one process to the last digit, with "
     "--solve replicated"},
    {"quiet", 'q', OPT_FLAG, GROUP_COMMON, V_ALL, FIELD(quiet), 0, NULL,
     "only errors on standard error"},
    {"verbose", 'v', OPT_FLAG, GROUP_COMMON, V_ALL, FIELD(verbose), 0, NULL,
     "more on standard error"},
    {"help", 'h', OPT_FLAG, GROUP_COMMON, V_ALL, FIELD(help), 0, NULL, "this text"},
    {NULL, 0, OPT_FLAG, GROUP_VERB, 0, 0, 0, NULL, NULL}};

const cli_verb *cli_verb_find(const char *name) {
    for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

unsigned cli_verb_bit(const cli_verb *verb) {
    return 1U << (unsigned)(verb - cli_verbs);
}

static bool nearer(const char *typed, const char *name, int *best) {
    const int edits = rlar_name_distance(typed, name);
    if (edits < 0 || edits >= *best)
        return false;
    *best = edits;
    return true;
}

const char *cli_verb_near(const char *name) {
    const char *near = NULL;
    int best = INT_MAX;
    for (const cli_verb *verb = cli_verbs; verb->name != NULL; verb++)
        if (nearer(name, verb->name, &best))
            near = verb->name;
    return near;
}

const char *cli_option_near(const char *name, unsigned verbs) {
    const char *near = NULL;
    int best = INT_MAX;
    for (const cli_option *o = cli_options; o->name != NULL; o++)
        if ((o->verbs & verbs) != 0 && nearer(name, o->name, &best))
            near = o->name;
    return near;
}
