// SPDX-License-Identifier: Apache-2.0
// Sums privacy losses on a grid; see privacy_loss.h.
#include "privacy_loss.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "amplification_search.h"
#include "blanket.h"
#include "variation_ratio.h"

#define KNOTS 40u   // above epsilon 0
#define FINE 16u    // points of a kind's grid from knot to knot
#define CELLS 4096u // of a window
#define ROOM (2u * CELLS + 2u)
#define SEARCH 24     // steps to where a curve ends
#define LEVELS_MAX 64 // more doublings than any number of queries needs
#define TAIL 1e-3     // share of delta that losses may have which are cut off
#define OUTSIDE 1e-4  // of what a curve's end may have: what its own windows leave out
// Relative, of each query: a mass of a kind is a difference of slopes between knots, and a sum is
// one of CELLS products.
#define ROUNDING 2e-9

// The law of the loss of `count` queries: mass[i] at (first + i) * step.
typedef struct loss_law {
    double count, step, first;
    size_t n;
    double *mass, *other; // ROOM each; `other` for the next one
    double infinite;      // probability of a loss without bound
} loss_law;

// The losses of one query: p at +at and p e^-at at -at, with the rest at 0.
typedef struct losses {
    size_t n;
    double at[KNOTS + 1], mass[KNOTS + 1], middle, infinite, spacing;
} losses;

// ---- the curve of a kind ----

// Bounds delta of one query at an epsilon.
static agg_err curve(double *delta, agg_error *error, const agg_loss_kind *kind, double epsilon,
                     double tiny)
{
    double e0 = kind->local_epsilon,
           local = epsilon < e0 ? -expm1(epsilon - e0) / (1 + exp(-e0)) : 0; // without a crowd
    *delta = NAN;
    if (local == 0) {
        *delta = 0;
        return SHOAL_OK;
    }
    if (kind->pair != NULL && kind->pair->n > 0) {
        agg_err err = agg_blanket_delta(delta, error, kind->pair, kind->n, epsilon, tiny);
        if (err != SHOAL_OK) return err;
    }
    if (isnan(*delta)) {
        const agg_three_classes stronger = agg_variation_classes(e0, 1);
        *delta = agg_three_classes_delta(&stronger, kind->n, epsilon, tiny).upper;
    }
    *delta = isnan(*delta) ? local : fmin(*delta, local);
    return SHOAL_OK;
}

// Finds an epsilon, not much above the least one, at which delta is `tail` at most.
static agg_err find_end(double *end, agg_error *error, const agg_loss_kind *kind, double tail)
{
    double high = kind->local_epsilon, low = 0, delta;
    agg_err err = SHOAL_OK;
    for (int i = 0; err == SHOAL_OK && i < SEARCH && low < 0.97 * high; i++) {
        double middle = low > 0 ? sqrt(low * high) : high / 4;
        err = curve(&delta, error, kind, middle, tail * OUTSIDE);
        *(delta <= tail ? &high : &low) = middle;
    }
    *end = high;
    return err;
}

// The losses of the pair that has the lowest convex curve under these points.
//   x: e^epsilon - 1 of each knot, from 0 on
//   y: delta there; changed
static void take_losses(losses *l, const double *x, double *y, double spacing)
{
    size_t hull[KNOTS + 1], n = 0;
    // At epsilon 0 both directions meet: the chord from a knot to its mirror image is a bound, too.
    for (size_t i = 1; i <= KNOTS; i++) y[0] = fmin(y[0], (x[i] + 2 * y[i]) / (x[i] + 2));
    for (size_t i = 0; i <= KNOTS; i++) {
        while (n >= 2 && (y[hull[n - 1]] - y[hull[n - 2]]) * (x[i] - x[hull[n - 2]]) >=
                             (y[i] - y[hull[n - 2]]) * (x[hull[n - 1]] - x[hull[n - 2]]))
            n--;
        hull[n++] = i;
    }
    *l = (losses){.spacing = spacing, .infinite = y[hull[n - 1]]};
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        double after =
            i + 1 < n ? (y[hull[i + 1]] - y[hull[i]]) / (x[hull[i + 1]] - x[hull[i]]) : 0;
        if (i == 0) {
            l->middle = fmax(0, 1 - y[0] + 2 * after);
        } else {
            l->at[l->n] = spacing * (double)hull[i];
            l->mass[l->n++] = (1 + x[hull[i]]) * fmax(0, after - before);
        }
        before = after;
    }
}

static agg_err find_losses(losses *l, agg_error *error, const agg_loss_kind *kind, double tail)
{
    double x[KNOTS + 1], y[KNOTS + 1], end;
    agg_err err = find_end(&end, error, kind, tail);
    double spacing = end / KNOTS;
    for (size_t i = 0; err == SHOAL_OK && i <= KNOTS; i++) {
        double epsilon = i == KNOTS ? end : spacing * (double)i;
        x[i] = expm1(epsilon);
        err = curve(&y[i], error, kind, epsilon, tail * OUTSIDE);
        if (i > 0 && err == SHOAL_OK) y[i] = fmin(y[i], y[i - 1]); // no curve rises
    }
    if (err == SHOAL_OK) take_losses(l, x, y, spacing);
    return err;
}

// ---- sums on a grid ----

static void swap(loss_law *s)
{
    double *mass = s->mass;
    s->mass = s->other;
    s->other = mass;
}

// Cuts off the ends. What is below goes to the lowest cell that is kept.
//   tiny: the most probability that is cut off at each end
static void cut(loss_law *s, double tiny)
{
    size_t low = 0, high = s->n;
    double below = 0, above = 0;
    while (low + 1 < high && below + s->mass[low] <= tiny) below += s->mass[low++];
    while (high > low + 1 && above + s->mass[high - 1] <= tiny) above += s->mass[--high];
    s->infinite += above;
    s->mass[low] += below;
    s->first += (double)low;
    s->n = high - low;
    memmove(s->mass, s->mass + low, s->n * sizeof *s->mass);
}

// Adds a mass at a loss to the points beside it, of which `out` begins with number `first`.
static void place(double *out, double first, double step, double loss, double mass)
{
    double cell = floor(loss / step), over = fmax(0, loss - cell * step),
           upper = fmin(1, expm1(-over) / expm1(-step));
    double *to = out + (size_t)(cell - first);
    to[0] += mass * (1 - upper);
    to[1] += mass * upper;
}

// Moves the law to a wider grid.
static void widen(loss_law *s, double step)
{
    double first = floor(s->first * s->step / step),
           last = floor((s->first + (double)(s->n - 1)) * s->step / step) + 1;
    size_t n = (size_t)(last - first) + 1;
    memset(s->other, 0, n * sizeof *s->other);
    for (size_t i = 0; i < s->n; i++)
        if (s->mass[i] > 0)
            place(s->other, first, step, (s->first + (double)i) * s->step, s->mass[i]);
    swap(s);
    s->n = n;
    s->first = first;
    s->step = step;
}

static void settle(loss_law *s, double tiny)
{
    cut(s, tiny);
    while (s->n > CELLS) widen(s, 2 * s->step);
}

// Adds an independent law on the same grid; it may be the law itself.
static void add(loss_law *s, const loss_law *more, double tiny)
{
    size_t n = s->n + more->n - 1;
    double *out = s->other;
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < s->n; i++) {
        double m = s->mass[i];
        if (m == 0) continue;
        for (size_t j = 0; j < more->n; j++) out[i + j] += m * more->mass[j];
    }
    s->infinite += more->infinite;
    s->count += more->count;
    s->first += more->first;
    s->n = n;
    swap(s);
    settle(s, tiny);
}

// Sets a law to that of one query, on its grid.
static void set_one(loss_law *s, const losses *l)
{
    s->count = 1;
    s->infinite = l->infinite;
    double reach = 0;
    for (size_t i = 0; i < l->n; i++) reach = fmax(reach, l->at[i]);
    s->first = -floor(reach / s->step) - 2;
    s->n = (size_t)(-2 * s->first) + 1;
    memset(s->mass, 0, s->n * sizeof *s->mass);
    place(s->mass, s->first, s->step, 0, l->middle);
    for (size_t i = 0; i < l->n; i++) {
        place(s->mass, s->first, s->step, l->at[i], l->mass[i]);
        place(s->mass, s->first, s->step, -l->at[i], l->mass[i] * exp(-l->at[i]));
    }
}

static agg_err start(loss_law *s, agg_error *error)
{
    *s = (loss_law){0};
    s->mass = agg_alloc(error, ROOM, sizeof *s->mass);
    s->other = s->mass != NULL ? agg_alloc(error, ROOM, sizeof *s->other) : NULL;
    return s->other != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

static void release(loss_law *s)
{
    free(s->mass);
    free(s->other);
}

// Sets *s to the law of all queries of one kind.
//   tiny: the most that may be cut off of one query
static agg_err sum_kind(loss_law *s, agg_error *error, const losses *l, double count, double tiny)
{
    loss_law one;
    agg_err err = start(&one, error);
    double bit = 1, share = tiny / LEVELS_MAX;
    s->step = l->spacing / FINE;
    while (2 * bit <= count) bit *= 2;
    if (err == SHOAL_OK) set_one(s, l);
    for (bit /= 2; err == SHOAL_OK && bit >= 1; bit /= 2) {
        add(s, s, share * 2 * s->count);
        if (fmod(floor(count / bit), 2) != 1) continue;
        one.step = s->step;
        set_one(&one, l);
        add(s, &one, share * (s->count + 1));
    }
    release(&one);
    return err;
}

// Adds the queries of one kind to those of others.
static agg_err add_kind(loss_law *all, agg_error *error, const agg_loss_kind *kind, double tail)
{
    loss_law own;
    losses l;
    agg_err err = start(&own, error);
    if (err == SHOAL_OK) err = find_losses(&l, error, kind, tail);
    if (err == SHOAL_OK) err = sum_kind(&own, error, &l, kind->count, tail);
    if (err == SHOAL_OK && all->count == 0) {
        loss_law empty = *all;
        *all = own;
        own = empty;
    } else if (err == SHOAL_OK) {
        if (own.step < all->step) widen(&own, all->step);
        if (all->step < own.step) widen(all, own.step);
        add(all, &own, tail / LEVELS_MAX);
    }
    release(&own);
    return err;
}

static double delta_of_law(const loss_law *s, double epsilon)
{
    double sum = s->infinite;
    for (size_t i = s->n; i-- > 0;) {
        double loss = (s->first + (double)i) * s->step;
        if (loss <= epsilon) break;
        sum -= s->mass[i] * expm1(epsilon - loss);
    }
    return fmin(1, sum * exp(ROUNDING * s->count));
}

// Sets *s to the law of all queries; it is released by the caller, whatever is returned.
//   tail: the most that may be added for losses that are cut off
static agg_err sum_all(loss_law *s, agg_error *error, const agg_loss_kind *kinds, size_t n,
                       double tail)
{
    double queries = 0;
    agg_err err = start(s, error);
    for (size_t i = 0; i < n; i++) queries += kinds[i].count;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        err = add_kind(s, error, &kinds[i], tail / 3 / queries);
    return err;
}

static agg_central delta_at(const void *law, double epsilon)
{
    double delta = delta_of_law(law, epsilon);
    return (agg_central){delta, delta};
}

// Finds the epsilon of a group of reports. With many of them delta grows again at a large epsilon,
// so the search goes up from the epsilon of one.
//   one: that of one report
// Returns: NAN where there is none.
static double find_group(const agg_delta_curve *curve_of_all, const agg_crowd *crowd, double one)
{
    double low = one, high = one;
    while (!agg_curve_keeps(curve_of_all, crowd, high)) {
        low = high;
        high *= 1.1;
        if (!(high < crowd->local_epsilon)) return NAN;
    }
    while (high - low > 1e-6 * high) {
        double middle = low + (high - low) / 2;
        *(agg_curve_keeps(curve_of_all, crowd, middle) ? &high : &low) = middle;
    }
    return crowd->contributions * high;
}

// Finds the epsilon of a person's contributions.
//   one: of one report, for a group; else not read
static agg_err find_epsilon(double *epsilon, agg_error *error, const agg_loss_kind *kinds,
                            size_t n_kinds, const agg_crowd *crowd, double one, double tail)
{
    loss_law s;
    agg_err err = sum_all(&s, error, kinds, n_kinds, tail);
    const agg_delta_curve curve_of_all = {delta_at, &s, 0, 0};
    if (err == SHOAL_OK)
        *epsilon = crowd->contributions > 1 ? find_group(&curve_of_all, crowd, one)
                                            : agg_curve_epsilon(&curve_of_all, crowd).upper;
    release(&s);
    return err;
}

agg_err agg_loss_epsilon(double *epsilon, agg_error *error, const agg_loss_kind *kinds,
                         size_t n_kinds, double delta, double contributions)
{
    agg_crowd crowd = {.n = 1, .delta = delta, .contributions = 1};
    double one = NAN;
    for (size_t i = 0; i < n_kinds; i++)
        crowd.local_epsilon += kinds[i].count * kinds[i].local_epsilon;
    *epsilon = NAN;
    agg_err err = find_epsilon(&one, error, kinds, n_kinds, &crowd, 0, TAIL * delta);
    if (err != SHOAL_OK || isnan(one)) return err;
    *epsilon = one;
    if (contributions <= 1) return SHOAL_OK;
    // Each report of a group has a smaller delta, which what is cut off must not fill.
    double group = exp(-agg_group_log(1.5 * one, contributions));
    crowd.contributions = contributions;
    return find_epsilon(epsilon, error, kinds, n_kinds, &crowd, one,
                        fmax(AGG_AMPLIFICATION_GROUP_MIN, TAIL * delta * group));
}

agg_err agg_loss_delta(double *delta, agg_error *error, const agg_loss_kind *kinds, size_t n_kinds,
                       double epsilon, double tail)
{
    loss_law s;
    agg_err err = sum_all(&s, error, kinds, n_kinds, tail);
    if (err == SHOAL_OK) *delta = delta_of_law(&s, epsilon);
    release(&s);
    return err;
}
