// SPDX-License-Identifier: Apache-2.0
// Measures how far a support stands out from the noise; see support_score.h.
#include "support_score.h"

#include <math.h>

// Returns: the signed root of the binomial likelihood ratio of x against the expected mean.
//   n: the number of reports; 0 < mean < n
static double signed_root(double x, double n, double mean)
{
    if (x <= 0) return -HUGE_VAL;
    double half = x * log(x / mean) + (n - x) * log((n - x) / (n - mean));
    return copysign(sqrt(2 * fmax(half, 0)), x - mean);
}

double agg_support_score(double support, double n, double mean, double spread)
{
    if (!(spread > 0)) return support > mean ? HUGE_VAL : 0;
    double normal = (support - mean) / spread;
    if (!(mean > 0 && mean < n && support <= n)) return normal;
    return fmin(normal, signed_root(support - 0.5, n, mean) * sqrt(mean * (1 - mean / n)) / spread);
}
