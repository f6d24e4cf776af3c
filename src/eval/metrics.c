/* metrics.c - accuracy, balanced accuracy, macro F1, and their mean over trials.
 *
 *   recall_i = n_ii / row_i      F1_i = 2 n_ii / (row_i + column_i)
 *
 * Classes that occur nowhere are left out of the means, as scikit-learn does. */
#include "eval/metrics.h"

#include <math.h>

rlar_metrics rlar__metrics(int64_t c, const int64_t *counts) {
    int64_t all = 0, right = 0, in_truth = 0, anywhere = 0;
    double recall = 0, f1 = 0;
    for (int64_t i = 0; i < c; i++) {
        int64_t row = 0, column = 0;
        for (int64_t j = 0; j < c; j++) {
            row += counts[i * c + j];
            column += counts[j * c + i];
        }
        const int64_t hits = counts[i * c + i];
        all += row;
        right += hits;
        if (row > 0) {
            recall += (double)hits / (double)row;
            in_truth++;
        }
        if (row + column > 0) {
            f1 += 2 * (double)hits / (double)(row + column);
            anywhere++;
        }
    }
    if (all == 0)
        return (rlar_metrics){NAN, NAN, NAN};
    return (rlar_metrics){(double)right / (double)all, recall / (double)in_truth,
                          f1 / (double)anywhere};
}

void rlar__mean_std(int64_t n, const double *values, double *mean, double *std) {
    int64_t count = 0;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(values[i])) {
            sum += values[i];
            count++;
        }
    *mean = count > 0 ? sum / (double)count : NAN;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            squares += (values[i] - *mean) * (values[i] - *mean);
    *std = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
}
