// SPDX-License-Identifier: Apache-2.0
// Searches epsilon on a bound's curve of delta; see amplification_search.h.
#include "amplification_search.h"

#include <math.h>

#define STEPS_MAX 200 // steps of a search; every third step halves the bracket

double agg_window_start(const agg_binomial *law, double tiny)
{
    double mean = law->n * law->p, sigma = sqrt(mean * law->q);
    for (double reach = 4; reach < 60; reach += 0.5) {
        double start = floor(mean - reach * sigma);
        if (start <= 0) return 0;
        if (agg_binomial_lower(start - 1, law) <= tiny) return start;
    }
    return 0;
}

double agg_window_end(const agg_binomial *law, double tiny)
{
    double mean = law->n * law->p, sigma = sqrt(mean * law->q);
    for (double reach = 4; reach < 1000; reach += 0.5) {
        double end = ceil(mean + reach * sigma + reach);
        if (end >= law->n) return law->n;
        if (agg_binomial_upper(end + 1, law) <= tiny) return end;
    }
    return law->n;
}

double agg_window_delta(const agg_crowd *crowd)
{
    return crowd->contributions > 1 ? AGG_AMPLIFICATION_GROUP_MIN : crowd->delta;
}

double agg_group_log(double epsilon, double contributions)
{
    double all = contributions * epsilon;
    if (contributions <= 1) return 0;
    if (epsilon <= 0) return log(contributions);
    return all + log(-expm1(-all)) - epsilon - log(-expm1(-epsilon));
}

typedef struct question {
    const agg_delta_curve *curve;
    double delta, contributions;
    bool is_lower;
} question;

// Returns: a number above 0 if delta is exceeded at this epsilon of one report.
static double excess(const question *q, double epsilon)
{
    agg_central delta = q->curve->delta(q->curve->law, epsilon);
    double log_delta = log((q->is_lower ? delta.lower : delta.upper) + 1e-300);
    return log_delta + agg_group_log(epsilon, q->contributions) - log(q->delta);
}

// Narrows the bracket of low (delta exceeded) and high (delta kept). It uses false position
// (Illinois) and halves the bracket every third step. The final *high was itself evaluated, so the
// bound assumes nothing about the curve's shape.
static void search(double *low, double *high, const question *q)
{
    double at_low = excess(q, *low), at_high = log(1e-300), tight = 1e-12 * *high;
    int last = 0;
    double width = q->curve->width / 4; // of the whole bracket, which has two searched ends
    for (int i = 0; i<STEPS_MAX && * high - *low> fmax(fmin(tight, 1e-9 * *high), width * *high);
         i++) {
        double share = i % 3 == 2 ? 0.5 : fmin(fmax(at_low / (at_low - at_high), 1e-6), 1 - 1e-6);
        double middle = *low + (*high - *low) * share;
        if (middle <= *low || middle >= *high) break;
        double at = excess(q, middle);
        int side = at > 0 ? 1 : -1;
        if (side > 0) {
            *low = middle;
            at_low = at;
            if (last == side) at_high /= 2;
        } else {
            *high = middle;
            at_high = at;
            if (last == side) at_low /= 2;
        }
        last = side;
    }
}

// Narrows the bracket to a factor of 2 around the guess, from the side on which it is.
static void start_near(double *low, double *high, const question *q)
{
    for (double epsilon = q->curve->guess; epsilon < *high && *low == 0; epsilon /= 2) {
        if (excess(q, epsilon) > 0)
            *low = epsilon;
        else
            *high = epsilon;
    }
    for (double epsilon = 2 * *low; epsilon < *high; epsilon *= 2) {
        if (excess(q, epsilon) <= 0)
            *high = epsilon;
        else
            *low = epsilon;
    }
}

agg_central agg_curve_epsilon(const agg_delta_curve *curve, const agg_crowd *crowd)
{
    question q = {curve, crowd->delta, crowd->contributions, false};
    double low = 0, high = crowd->local_epsilon, least = 0, most = 0;
    agg_central nothing = {NAN, NAN};
    if (excess(&q, 0) <= 0) return (agg_central){0, 0};
    if (curve->guess > 0 && curve->guess < high) start_near(&low, &high, &q);
    search(&low, &high, &q);
    if (high >= crowd->local_epsilon * (1 - 2e-12))
        return nothing; // no improvement in the first 12 digits
    most = high;
    q.is_lower = true;
    // The lower end is usually very near to the upper one.
    double near = curve->width > 0 ? curve->width : 1e-4;
    if (excess(&q, high * (1 - near)) > 0) least = high * (1 - near);
    bool is_narrow = least > 0 && curve->width > 0;
    if (!is_narrow && (least > 0 || excess(&q, 0) > 0)) search(&least, &most, &q);
    return (agg_central){least * crowd->contributions, high * crowd->contributions};
}

bool agg_curve_keeps(const agg_delta_curve *curve, const agg_crowd *crowd, double epsilon)
{
    const question q = {curve, crowd->delta, crowd->contributions, false};
    return excess(&q, epsilon) <= 0;
}
