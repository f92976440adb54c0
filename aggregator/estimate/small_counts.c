// SPDX-License-Identifier: Apache-2.0
// Sums of two binomial numbers, and their intervals; see small_counts.h.
#include "small_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "binomial.h"
#include "normal_law.h"

#define SPAN 4096    // values of one binomial number that are added up
#define KNOWN 4096.0 // supports below it are kept once computed
#define TINY 1e-20   // probabilities below it are left out

// The probabilities of a binomial number where they are not tiny.
typedef struct window {
    double first; // of the values
    int n;
    double p[SPAN];
} window;

// Fills the values from the mode up and down by the ratio of neighbours.
static void fill_window(window *w, const agg_binomial *law)
{
    double mode = fmin(floor((law->n + 1) * law->p), law->n);
    double reach = 12 * sqrt(law->n * law->p * law->q) + 60;
    double first = fmax(0, mode - fmin(reach, SPAN / 2 - 1.0)),
           last = fmin(law->n, mode + fmin(reach, SPAN / 2 - 1.0));
    int middle = (int)(mode - first), n = (int)(last - first) + 1, low = middle, high = middle;
    double *p = w->p, odds = law->p / law->q;
    p[middle] = exp(agg_binomial_log(mode, law));
    for (; low > 0 && p[low] > TINY; low--)
        p[low - 1] = p[low] * (first + low) / ((law->n - (first + low) + 1) * odds);
    for (; high + 1 < n && p[high] > TINY; high++)
        p[high + 1] = p[high] * (law->n - (first + high)) * odds / (first + high + 1);
    w->first = first + low;
    w->n = high - low + 1;
    memmove(p, p + low, (size_t)w->n * sizeof *p);
}

static void set_point(window *w, double value)
{
    w->first = value;
    w->n = 1;
    w->p[0] = 1;
}

static void set_window(window *w, double n, double p)
{
    const agg_binomial law = {n, p, 1 - p};
    if (n <= 0 || p <= 0)
        set_point(w, 0);
    else if (p >= 1)
        set_point(w, n);
    else
        fill_window(w, &law);
}

// Replaces the probabilities by those of all values from each one on, or up to each one.
static void accumulate(window *w, bool is_upper)
{
    if (is_upper)
        for (int i = w->n - 2; i >= 0; i--) w->p[i] += w->p[i + 1];
    else
        for (int i = 1; i < w->n; i++) w->p[i] += w->p[i - 1];
}

// Returns: the chance of at least x, or of at most x, from accumulated probabilities.
static double accumulated(const window *w, double x, bool is_upper)
{
    double at = x - w->first;
    if (is_upper) return at >= w->n ? 0 : w->p[at < 0 ? 0 : (int)at];
    return at < 0 ? 0 : w->p[at >= w->n ? w->n - 1 : (int)at];
}

double agg_support_tail(const agg_support_law *law, double f, double c, bool is_upper)
{
    if (f <= 0 || f >= law->n) {
        double theta = fmin(fmax(law->q + (law->p - law->q) * (f / law->n), 0), 1);
        const agg_binomial all = {law->n, theta, 1 - theta};
        return is_upper ? agg_binomial_upper(c, &all) : agg_binomial_lower(c, &all);
    }
    window own, other;
    double sum = 0;
    set_window(&own, f, law->p);
    set_window(&other, law->n - f, law->q);
    accumulate(&other, is_upper);
    for (int i = 0; i < own.n; i++)
        sum += own.p[i] * accumulated(&other, c - (own.first + i), is_upper);
    return fmin(sum, 1);
}

double agg_support_variance(const agg_support_law *law, double f)
{
    double inside = fmin(fmax(f, 0), law->n);
    return inside * law->p * (1 - law->p) + (law->n - inside) * law->q * (1 - law->q);
}

static double count_of(const agg_support_law *law, double c)
{
    return (c - law->n * law->q) / (law->p - law->q);
}

// A tail as a function of f that falls from the count outwards: P(C >= c) below it, P(C <= c)
// above.
typedef struct side {
    const agg_support_law *law;
    double c, level;
    bool is_upper;
} side;

static bool holds(const side *s, double f)
{
    return agg_support_tail(s->law, f, s->c, s->is_upper) > s->level;
}

// Returns: the last whole f from `from` on, towards `end`, that holds. `from` holds.
static double last_that_holds(const side *s, double from, double end, double step)
{
    double sign = end < from ? -1 : 1, left = fabs(end - from);
    double inside = 0, outside = left + 1;
    for (step = fmax(floor(step), 1); step < outside; step *= 2) {
        if (!holds(s, from + sign * step)) {
            outside = step;
            break;
        }
        inside = step;
    }
    while (outside - inside > 1) {
        double middle = floor((inside + outside) / 2);
        if (holds(s, from + sign * middle))
            inside = middle;
        else
            outside = middle;
    }
    return from + sign * inside;
}

void agg_exact_interval(double *low, double *high, const agg_support_law *law, double c,
                        double level)
{
    double gap = law->p - law->q, count = count_of(law, c);
    double least = floor(count_of(law, 0)), most = ceil(count_of(law, law->n));
    double step = 2 * sqrt(agg_support_variance(law, count)) / gap;
    const side below = {law, c, level / 2, true}, above = {law, c, level / 2, false};
    // C is at least c with a chance of about one half where c is its mean, and surely at `most`.
    double start = holds(&below, fmin(ceil(count), most)) ? fmin(ceil(count), most) : most;
    *low = fmin(last_that_holds(&below, start, least, step), count);
    start = holds(&above, fmax(floor(count), least)) ? fmax(floor(count), least) : least;
    *high = fmax(last_that_holds(&above, start, most, step), count);
    if (law->stretch <= 1) return; // whole ends stay whole
    *low = count - law->stretch * (count - *low);
    *high = count + law->stretch * (*high - count);
}

agg_err agg_intervals_init(agg_intervals *intervals, agg_error *error, const agg_support_law *law,
                           double level)
{
    *intervals =
        (agg_intervals){.law = law, .level = level, .quantile = -agg_normal_quantile(level / 2)};
    if (law == NULL) return SHOAL_OK;
    intervals->n_known = (size_t)fmin(law->n + 1, KNOWN);
    intervals->known = agg_alloc(error, intervals->n_known, sizeof *intervals->known);
    if (intervals->known == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < intervals->n_known; i++)
        intervals->known[i] = (struct agg_interval_ends){1, 0};
    return SHOAL_OK;
}

static struct agg_interval_ends exact_ends(const agg_intervals *intervals, double c)
{
    struct agg_interval_ends own,
        *ends = c < (double)intervals->n_known ? &intervals->known[(size_t)c] : NULL;
    if (ends != NULL && ends->low <= ends->high) return *ends;
    agg_exact_interval(&own.low, &own.high, intervals->law, c, intervals->level);
    if (ends != NULL) *ends = own;
    return own;
}

void agg_intervals_of(double *low, double *high, const agg_intervals *intervals, double count,
                      double added, double stderr_)
{
    const agg_support_law *law = intervals->law;
    double more = intervals->quantile * intervals->quantile * added;
    if (law == NULL || agg_support_variance(law, count) > AGG_SMALL_VARIANCE) {
        double half = intervals->quantile * stderr_;
        *low = count - half;
        *high = count + half;
        return;
    }
    double c = fmin(fmax(round(law->n * law->q + (law->p - law->q) * count), 0), law->n);
    struct agg_interval_ends ends = exact_ends(intervals, c);
    *low = more > 0 ? count - sqrt((count - ends.low) * (count - ends.low) + more) : ends.low;
    *high = more > 0 ? count + sqrt((ends.high - count) * (ends.high - count) + more) : ends.high;
}

double agg_intervals_highest(const agg_intervals *intervals, double count, double added,
                             double most)
{
    const agg_support_law *law = intervals->law;
    double low = 0, high = 0, normal = count + intervals->quantile * most;
    if (law == NULL) return normal;
    // The exact upper end rises with the count, up to the count where intervals become normal.
    double empty = agg_support_variance(law, 0), slope = agg_support_variance(law, 1) - empty;
    double last = slope > 0 ? fmin(count, (AGG_SMALL_VARIANCE - empty) / slope) : count;
    agg_intervals_of(&low, &high, intervals, last, added, most);
    return fmax(normal, high);
}

void agg_intervals_release(agg_intervals *intervals)
{
    free(intervals->known);
    memset(intervals, 0, sizeof *intervals);
}
