// SPDX-License-Identifier: Apache-2.0
// Exact binomial bounds by bisection on the incomplete beta function; see clopper_pearson.h.
#include "clopper_pearson.h"

#include <float.h>
#include <math.h>

#define TERMS_MAX 1000000 // convergence takes a few times sqrt(max(a, b)) terms

static double away_from_zero(double x)
{
    return fabs(x) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : x;
}

// Returns: the fraction 1/(1 + d1/(1 + d2/(1 + ...))) of DLMF 8.17.22. It converges fast for x < (a
// + 1)/(a + b + 2).
static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), product = d;
    for (int i = 1; i < TERMS_MAX; i++) {
        double m = i, even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        product *= c * d;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        product *= c * d;
        if (fabs(c * d - 1) < 4 * DBL_EPSILON) break;
    }
    return product;
}

// Writes I_x(a, b) and 1 - I_x(a, b); the smaller one keeps its relative precision.
static void both_tails(double *lower, double *upper, double a, double b, double x)
{
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) {
        *lower = front * fraction(a, b, x) / a;
        *upper = 1 - *lower;
    } else {
        *upper = front * fraction(b, a, 1 - x) / b;
        *lower = 1 - *upper;
    }
}

double agg_incomplete_beta(double a, double b, double x)
{
    double lower = 0, upper = 0;
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    both_tails(&lower, &upper, a, b, x);
    return lower;
}

// P(X >= hits) = I_p(hits, n - hits + 1) grows with p from 0; hits >= 1.
double agg_clopper_pearson_lower(uint64_t hits, uint64_t n, double alpha)
{
    double a = (double)hits, b = (double)(n - hits) + 1, low = 0, high = a / (double)n;
    if (hits == 0) return 0;
    for (;;) {
        double middle = low + (high - low) / 2, tail = 0, other = 0;
        if (middle <= low || middle >= high) return low;
        both_tails(&tail, &other, a, b, middle);
        if (tail <= alpha)
            low = middle;
        else
            high = middle;
    }
}

// P(X <= hits) = 1 - I_p(hits + 1, n - hits) falls with p to 0; hits < n.
double agg_clopper_pearson_upper(uint64_t hits, uint64_t n, double alpha)
{
    double a = (double)hits + 1, b = (double)(n - hits), low = (double)hits / (double)n, high = 1;
    if (hits == n) return 1;
    for (;;) {
        double middle = low + (high - low) / 2, tail = 0, other = 0;
        if (middle <= low || middle >= high) return high;
        both_tails(&other, &tail, a, b, middle);
        if (tail <= alpha)
            high = middle;
        else
            low = middle;
    }
}
