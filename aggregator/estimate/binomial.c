// SPDX-License-Identifier: Apache-2.0
// Loader's binomial probabilities, and tails as an integral; see binomial.h.
#include "binomial.h"

#include <math.h>

#define LN_2_PI 1.8378770664093454836
#define DEPTH 40.0 // an integrand below e^-40 of its greatest value is left out

// ln n! - ((n + 1/2) ln n - n + ln(2 pi)/2) for n = 1 .. 15.
static const double stirling_small[] = {
    0,
    0.08106146679532725822,
    0.041340695955409294094,
    0.027677925684998339149,
    0.020790672103765093112,
    0.016644691189821192163,
    0.013876128823070747999,
    0.011896709945891770095,
    0.010411265261972096497,
    0.0092554621827127329177,
    0.0083305634333628712565,
    0.007573675487951840795,
    0.0069428401072095298657,
    0.0064089941880042070684,
    0.0059513701127588477356,
    0.005554733551962801371,
};

// The positive nodes of the 32-point rule on [-1, 1], and their weights.
static const double gauss[][2] = {
    {0.99726386184948156354, 0.0070186100094700966004},
    {0.9856115115452683354, 0.016274394730905670605},
    {0.96476225558750643077, 0.025392065309262059456},
    {0.93490607593773968917, 0.034273862913021433103},
    {0.89632115576605212397, 0.042835898022226680657},
    {0.84936761373256997013, 0.050998059262376176196},
    {0.79448379596794240696, 0.058684093478535547145},
    {0.73218211874028968039, 0.065822222776361846838},
    {0.66304426693021520098, 0.072345794108848506225},
    {0.58771575724076232904, 0.078193895787070306472},
    {0.50689990893222939002, 0.083311924226946755222},
    {0.42135127613063534536, 0.087652093004403811143},
    {0.33186860228212764978, 0.091173878695763884713},
    {0.23928736225213707454, 0.093844399080804565639},
    {0.14447196158279649349, 0.095638720079274859419},
    {0.048307665687738316235, 0.096540088514727800567},
};
#define HALF_NODES (sizeof gauss / sizeof gauss[0])

static double stirling(double n)
{
    double s = n * n;
    if (n < 16) return stirling_small[(int)n];
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - 1.0 / 1188 / s) / s) / s) / s) / n;
}

// Returns: the deviance x ln(x / mean) + mean - x, by its series where the terms cancel.
static double deviance(double x, double mean)
{
    double gap = x - mean, v = gap / (x + mean), power = 2 * x * v, sum = gap * v;
    if (fabs(gap) >= 0.1 * (x + mean)) return x * log(x / mean) - gap;
    for (int j = 1; j < 1000; j++) {
        power *= v * v;
        double next = sum + power / (2 * j + 1);
        if (next == sum) break;
        sum = next;
    }
    return sum;
}

double agg_binomial_log(double x, const agg_binomial *law)
{
    double n = law->n, p = law->p, q = law->q, rest = n - x;
    if (x < 0 || x > n) return -INFINITY;
    if (p == 0 || q == 0) return (p == 0 ? x == 0 : rest == 0) ? 0 : -INFINITY;
    if (x == 0) return n * (p < 0.5 ? log1p(-p) : log(q));
    if (rest == 0) return n * (q < 0.5 ? log1p(-q) : log(p));
    return stirling(n) - stirling(x) - stirling(rest) - deviance(x, n * p) - deviance(rest, n * q) -
           0.5 * (LN_2_PI + log(x) + log1p(-x / n));
}

// The exponent of the tail's integral. The tail is k P(X = k) times the integral over (0, 1) of
// exp(h), with h(s) = (k - 1) ln(1 - s) + (n - k) ln(1 + s p/q): put u = p (1 - s) in the beta
// integral. h falls from 0 and is concave for k above the mean.
typedef struct exponent {
    double falling, rising, odds; // k - 1, n - k, p/q
} exponent;

static double exponent_at(const exponent *e, double s)
{
    return e->falling * log1p(-s) + e->rising * log1p(s * e->odds);
}

// Returns: the s at which h falls to -DEPTH, at most 1. h is concave, so halving finds s from
// above.
static double reach_of(const exponent *e)
{
    double low = 0, high = 1;
    if (!(e->falling > 0)) return 1;
    for (int i = 0; i < 60; i++) {
        double middle = low > 0 ? sqrt(low * high) : high / 16;
        if (exponent_at(e, middle) > -DEPTH)
            low = middle;
        else
            high = middle;
        if (low > 0 && high < 1.02 * low) break;
    }
    return high > 0.98 ? 1 : high;
}

static double tail_above_mean(double k, const agg_binomial *law)
{
    const exponent e = {k - 1, law->n - k, law->p / law->q};
    double reach = reach_of(&e), sum = 0;
    for (unsigned i = 0; i < HALF_NODES; i++)
        sum += gauss[i][1] * (exp(exponent_at(&e, reach / 2 * (1 - gauss[i][0]))) +
                              exp(exponent_at(&e, reach / 2 * (1 + gauss[i][0]))));
    return exp(log(k) + agg_binomial_log(k, law) + log(reach / 2 * sum));
}

double agg_binomial_upper(double k, const agg_binomial *law)
{
    const agg_binomial mirror = {law->n, law->q, law->p};
    if (k <= 0) return 1;
    if (k > law->n) return 0;
    if (law->p == 0 || law->q == 0) return law->p == 0 ? 0 : 1;
    // k is not above the mean: the other tail is at most about one half, so nothing cancels.
    if (k < law->n * law->p + 1) {
        double other = law->n - k + 1; // P(X <= k - 1) = P(n - X >= n - k + 1)
        if (other >= law->n * law->q + 1) return 1 - tail_above_mean(other, &mirror);
        return agg_binomial_upper(k + 1, law) + exp(agg_binomial_log(k, law));
    }
    return tail_above_mean(k, law);
}

double agg_binomial_lower(double k, const agg_binomial *law)
{
    const agg_binomial mirror = {law->n, law->q, law->p};
    return agg_binomial_upper(law->n - k, &mirror);
}

// With p = 1/2 the exponent is (n - k) ln(1 - s^2) + (2k - 1 - n) ln(1 - s), whose terms have the
// same sign. It lies below -(n - k) s^2 - (2k - 1 - n) s, which gives the reach.
double agg_binomial_fair_ratio(double k, double n)
{
    double even = n - k, odd = 2 * k - 1 - n, sum = 0;
    double reach = even + odd > DEPTH ? 2 * DEPTH / (odd + sqrt(odd * odd + 4 * DEPTH * even)) : 1;
    for (unsigned i = 0; i < HALF_NODES; i++) {
        double near = reach / 2 * (1 - gauss[i][0]), far = reach / 2 * (1 + gauss[i][0]);
        sum += gauss[i][1] * (exp(even * log1p(-near * near) + odd * log1p(-near)) +
                              exp(even * log1p(-far * far) + odd * log1p(-far)));
    }
    return reach / 2 * sum;
}
