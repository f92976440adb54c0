// SPDX-License-Identifier: Apache-2.0
// Computes approximate k-anonymity; see k_anonymity.h.
#include "k_anonymity.h"

#include <math.h>

#include "binomial.h"

#define REACH                                                                                      \
    12.0 // standard deviations of the own votes that are summed over; less than 1e-30 lies beyond

void agg_anonymity_of(agg_anonymity *out, double n, double s, double epsilon)
{
    double odds = exp(epsilon), d = fmax(1, ceil(s / (odds + 1)));
    double p = d * odds / (d * odds + s - d);
    *out = (agg_anonymity){n, s, d, p, (d - p) / (s - 1)};
}

double agg_anonymity_tau(const agg_anonymity *a, double max_prefixes, double less)
{
    double chance = (a->d - less) / (a->s - 1), share = fmin(1, max_prefixes / (a->s - 1));
    agg_binomial law = {a->n, chance, 1 - chance};
    if (!(chance > 0)) return 0;
    double low = 0, high = a->n + 1; // P(X >= low) >= share > P(X >= high)
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (agg_binomial_upper(middle, &law) >= share)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double agg_anonymity_chance(const agg_anonymity *a, double k, double tau)
{
    agg_binomial own = {k, a->p, 1 - a->p}, other = {a->n - k, a->q, 1 - a->q};
    double mean = k * a->p, reach = REACH * sqrt(k * a->p * (1 - a->p)) + REACH;
    double first = floor(fmax(0, mean - reach)), last = ceil(fmin(k, mean + reach)), sum = 0;
    double tail = agg_binomial_upper(tau - first,
                                     &other); // P(X >= tau - i): grows with i by the law at tau - i
    for (double i = first; i <= last; i++) {
        if (i > first) tail += exp(agg_binomial_log(tau - i, &other));
        sum += exp(agg_binomial_log(i, &own)) * fmin(tail, 1);
    }
    return fmin(sum, 1);
}

double agg_anonymity_k(const agg_anonymity *a, double tau, double alpha)
{
    double low = 0, high = a->n + 1, step = 1;
    if (agg_anonymity_chance(a, 0, tau) > 1 - alpha) return AGG_ANONYMITY_NONE;
    for (; low + step <= a->n; step *= 2) { // it grows with k
        if (agg_anonymity_chance(a, low + step, tau) > 1 - alpha) {
            high = low + step;
            break;
        }
        low += step;
    }
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (agg_anonymity_chance(a, middle, tau) > 1 - alpha)
            high = middle;
        else
            low = middle;
    }
    return low;
}
