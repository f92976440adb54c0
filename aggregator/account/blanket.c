// SPDX-License-Identifier: Apache-2.0
// Sums the blanket's bound on a grid; see blanket.h.
#include "blanket.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "amplification_search.h"
#include "variation_ratio.h"

#define CELLS 1536 // of a window
#define STEPS 1024 // of the grid from the least value of one report to the largest
// Relative, of each report: a mass is a sum of CELLS products at most, and its error doubles with
// every doubling, so that of n reports is below 2 (CELLS + 4) 2^-53 n.
#define ROUNDING 4e-13
#define PLACING 1e-6    // relative: more than the roundings of all values do
#define WIDTH 2e-4      // relative width of the bracket of epsilon
#define NEAR 2e-3       // how near the variation-ratio figure is to the bound, where it is
#define OUTSIDE 1e-6    // share of delta that may be lost above windows
#define LEVELS_MAX 64.0 // more doublings than any number of reports needs
#define ATOMS_MAX (AGG_PAIR_CLASSES_MAX + 1)

// One report: values less `drift`, which is that of the most probable class.
typedef struct atoms {
    size_t n;
    double value[ATOMS_MAX], mass[ATOMS_MAX];
    double drift, largest; // `largest`: the largest value, above 0
} atoms;

// The law of a sum of `count` reports: mass[i] at count * drift + (first + i) * step.
typedef struct sum_law {
    double count, step, first;
    size_t n;
    double *mass;  // [2 * CELLS]
    double *other; // as many, for the next one
    double lost;   // at least the probability of all that was cut off above
} sum_law;

static bool make_atoms(atoms *a, const agg_pair_law *law, double epsilon)
{
    double total = 0, most = 0, e = exp(epsilon);
    *a = (atoms){0};
    for (size_t i = 0; i < law->n; i++) {
        const agg_pair_class *c = &law->classes[i];
        if (c->own == 0 && c->other == 0) continue;
        if (!(c->least > 0)) return false;
        a->value[a->n] = (c->own - e * c->other) / c->least;
        a->mass[a->n++] = c->least;
        total += c->least;
    }
    a->value[a->n] = 0; // not of the blanket
    a->mass[a->n++] = fmax(0, 1 - total);
    for (size_t i = 0; i < a->n; i++) {
        a->largest = fmax(a->largest, a->value[i]);
        if (a->mass[i] > most) {
            most = a->mass[i];
            a->drift = a->value[i];
        }
    }
    for (size_t i = 0; i < a->n; i++) a->value[i] -= a->drift;
    return law->n > 0;
}

// Cuts off the ends. What is below goes to the lowest cell that is kept.
//   tiny: the most probability that is cut off at each end
static void cut(sum_law *s, double tiny)
{
    size_t low = 0, high = s->n;
    double below = 0, above = 0;
    while (low + 1 < high && below + s->mass[low] <= tiny) below += s->mass[low++];
    while (high > low + 1 && above + s->mass[high - 1] <= tiny) above += s->mass[--high];
    s->lost += above;
    s->mass[low] += below;
    s->first += (double)low;
    s->n = high - low;
    memmove(s->mass, s->mass + low, s->n * sizeof *s->mass);
}

// Doubles the grid's step: the mass between two points of the new grid goes to both by halves.
static void coarsen(sum_law *s)
{
    size_t odd = (size_t)fabs(fmod(s->first, 2)), n = 0;
    double before = 0; // half of the mass between the last point and this one
    s->first = floor(s->first / 2);
    for (size_t i = 0; i < s->n || before > 0; n++) {
        double own = 0, after = 0;
        if (n == 0 && odd == 1)
            own = 0; // the grid starts below the first mass
        else if (i < s->n)
            own = s->mass[i++];
        if (i < s->n) after = s->mass[i++];
        s->other[n] = own + before + after / 2;
        before = after / 2;
    }
    double *mass = s->mass;
    s->mass = s->other;
    s->other = mass;
    s->n = n;
    s->step *= 2;
}

static void settle(sum_law *s, double tiny)
{
    cut(s, tiny);
    while (s->n > CELLS) coarsen(s);
}

// Adds an independent copy of the sum to itself.
static void double_up(sum_law *s, double tiny)
{
    size_t n = 2 * s->n - 1;
    double *out = s->other, *in = s->mass;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < s->n; i++) {
        double m = in[i], *to = out + i;
        if (m == 0) continue;
        to[i] += m * m;
        for (size_t j = i + 1; j < s->n; j++) to[j] += 2 * m * in[j];
    }
    s->mass = out;
    s->other = in;
    s->n = n;
    s->count *= 2;
    s->first *= 2;
    s->lost *= 2;
    settle(s, tiny);
}

// Adds one report. Its values are split among the grid's points.
static void add_one(sum_law *s, const atoms *a, double tiny)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < a->n; i++) {
        low = fmin(low, floor(a->value[i] / s->step));
        high = fmax(high, floor(a->value[i] / s->step) + 1);
    }
    size_t n = s->n + (size_t)(high - low);
    memset(s->other, 0, n * sizeof *s->other);
    for (size_t i = 0; i < a->n; i++) {
        double at = a->value[i] / s->step, cell = floor(at), upper = a->mass[i] * (at - cell),
               lower = a->mass[i] - upper, *to = s->other + (size_t)(cell - low);
        for (size_t j = 0; j < s->n; j++) {
            to[j] += lower * s->mass[j];
            to[j + 1] += upper * s->mass[j];
        }
    }
    double *mass = s->mass;
    s->mass = s->other;
    s->other = mass;
    s->n = n;
    s->count++;
    s->first += low;
    settle(s, tiny);
}

// Returns: the bound on delta once the law is that of all reports.
static double bound_of(const sum_law *s, const atoms *a)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->mass[i] * fmax(0, s->count * a->drift + (s->first + (double)i) * s->step);
    return sum / s->count * (1 + PLACING) * exp(ROUNDING * s->count) + s->lost * a->largest;
}

static double sum_up(sum_law *s, const atoms *a, double n, double tiny)
{
    double low = 0, high = 0, bit = 1, share = tiny / a->largest / LEVELS_MAX / n;
    for (size_t i = 0; i < a->n; i++) {
        low = fmin(low, a->value[i]);
        high = fmax(high, a->value[i]);
    }
    // The sum of no report, on a grid that one report fits well.
    *s = (sum_law){.step = (high - low) / STEPS, .n = 1, .mass = s->mass, .other = s->other};
    s->mass[0] = 1;
    while (2 * bit <= n) bit *= 2;
    for (; bit >= 1; bit /= 2) {
        if (s->count > 0) double_up(s, share * 2 * s->count);
        if (fmod(floor(n / bit), 2) == 1) add_one(s, a, share * (s->count + 1));
    }
    return bound_of(s, a);
}

static agg_err start(sum_law *s, agg_error *error)
{
    *s = (sum_law){0};
    s->mass = agg_alloc(error, 4 * CELLS, sizeof *s->mass);
    s->other = s->mass != NULL ? agg_alloc(error, 4 * CELLS, sizeof *s->other) : NULL;
    if (s->other != NULL) return SHOAL_OK;
    free(s->mass);
    return AGG_ERR_MEMORY;
}

static void release(sum_law *s)
{
    free(s->mass);
    free(s->other);
}

agg_err agg_blanket_delta(double *delta, agg_error *error, const agg_pair_law *law, double n,
                          double epsilon, double tiny)
{
    sum_law s;
    atoms a;
    agg_err err = start(&s, error);
    if (err != SHOAL_OK) return err;
    *delta = make_atoms(&a, law, epsilon) ? 1 : NAN;
    if (*delta == 1 && !(a.largest > 0)) *delta = 0;
    if (*delta == 1) *delta = fmin(1, sum_up(&s, &a, n, tiny));
    release(&s);
    return SHOAL_OK;
}

typedef struct blanket {
    const agg_pair_law *law;
    agg_error *error;
    double n, tiny;
} blanket;

// Failing for want of memory promises nothing.
static agg_central delta_of(const void *law, double epsilon)
{
    const blanket *b = law;
    double delta = 1;
    if (agg_blanket_delta(&delta, b->error, b->law, b->n, epsilon, b->tiny) != SHOAL_OK) delta = 1;
    return (agg_central){delta, delta};
}

// Finds epsilon where it is just above the guess, or else anywhere.
static agg_central epsilon_near(const agg_delta_curve *curve, const agg_crowd *crowd, double guess)
{
    double one = guess / crowd->contributions, high = one * (1 + NEAR);
    agg_delta_curve near = *curve;
    bool is_kept = high < crowd->local_epsilon && agg_curve_keeps(curve, crowd, high);
    if (is_kept && !agg_curve_keeps(curve, crowd, one * (1 - NEAR / 8))) {
        double low = one * (1 - NEAR / 8);
        while (high - low > WIDTH * high) {
            double middle = low + (high - low) / 2;
            *(agg_curve_keeps(curve, crowd, middle) ? &high : &low) = middle;
        }
        return (agg_central){guess, high * crowd->contributions};
    }
    near.guess = is_kept ? one / 2 : one * 2;
    return agg_curve_epsilon(&near, crowd);
}

agg_err agg_blanket_epsilon(agg_central *central, agg_error *error, const agg_crowd *crowd)
{
    const agg_central nothing = {NAN, NAN};
    double probe = 0;
    *central = nothing;
    if (crowd->pair == NULL || crowd->pair->n == 0) return SHOAL_OK;
    const blanket b = {crowd->pair, error, crowd->n, OUTSIDE * agg_window_delta(crowd)};
    const agg_delta_curve curve = {delta_of, &b, 0, WIDTH};
    agg_err err = agg_blanket_delta(&probe, error, crowd->pair, 1, crowd->local_epsilon, b.tiny);
    if (err != SHOAL_OK || isnan(probe)) return err;
    const agg_three_classes ratio = agg_variation_classes(crowd->local_epsilon,
                                                          agg_pair_variation(crowd->pair)),
                            test = agg_test_classes(crowd->pair);
    agg_central figure = agg_three_classes_epsilon(&ratio, crowd);
    *central = isnan(figure.upper) ? agg_curve_epsilon(&curve, crowd)
                                   : epsilon_near(&curve, crowd, figure.upper);
    if (isnan(central->upper)) return SHOAL_OK;
    central->lower = fmin(central->upper, agg_three_classes_epsilon(&test, crowd).lower);
    return SHOAL_OK;
}

agg_err agg_blanket_keeps(bool *kept, agg_error *error, const agg_crowd *crowd, double epsilon)
{
    double delta = 1;
    *kept = false;
    if (crowd->pair == NULL || crowd->pair->n == 0) return SHOAL_OK;
    double tiny = OUTSIDE * agg_window_delta(crowd);
    agg_err err = agg_blanket_delta(&delta, error, crowd->pair, crowd->n, epsilon, tiny);
    if (err != SHOAL_OK || isnan(delta)) return err;
    *kept = log(delta + 1e-300) + agg_group_log(epsilon, crowd->contributions) <= log(crowd->delta);
    return SHOAL_OK;
}
