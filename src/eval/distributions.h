/* distributions.h - the probabilities that the tests of a comparison ask for. */
#ifndef RLAR_DISTRIBUTIONS_H
#define RLAR_DISTRIBUTIONS_H

#include "core/core.h"

/* Pairs up to which rlar__signed_rank_tail counts. */
enum { RLAR_MOST_EXACT_PAIRS = 50 };

/* The probability that the ranks of the positive of n differences, all signs equally likely, add up
 * to at most `sum`; n at most RLAR_MOST_EXACT_PAIRS, sum from 0 to half of n (n + 1) / 2. */
double rlar__signed_rank_tail(int64_t n, int64_t sum);
/* The probabilities of more than x >= 0: chi-square, and F with these degrees of freedom. */
double rlar__chi_square_tail(double x, int64_t freedom);
double rlar__f_tail(double x, int64_t freedom1, int64_t freedom2);
/* The probability that the range of k >= 2 standard normal numbers is more than x >= 0, and the x
 * of a probability between 0 and 1. */
double rlar__range_tail(double x, int64_t k);
double rlar__range_quantile(double tail, int64_t k);

#endif
