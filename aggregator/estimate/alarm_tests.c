// SPDX-License-Identifier: Apache-2.0
// p-values that hold for any values; see alarm_tests.h.
#include "alarm_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "binomial.h"

const char agg_alarm_no_rows[] = "its records have no row",
           agg_alarm_one_mark[] = "every record marks the same number of cells",
           agg_alarm_few_records[] =
               "it has so few possible records that copies cannot be told from a crowd",
           agg_alarm_no_fingerprints[] = "the sums do not say which records were equal",
           agg_alarm_needs_dictionary[] = "no list of values was counted",
           agg_alarm_decoded[] = "its values are estimated together, not each from its own sum",
           agg_alarm_permanent_rows[] =
               "a device keeps its cohort, so its reports do not draw it anew",
           agg_alarm_is_cells[] = "its cells are its counts",
           agg_alarm_many_cells[] = "it has more cells than are sorted for this test";

// Returns: n KL(count/n, p), the exponent of Chernoff's bound on either tail of Bin(n, p).
static double exponent_of(const agg_bounded *b)
{
    double hits = b->count, misses = b->n - b->count, sum = 0;
    if (hits > 0) sum += hits * log(hits / (b->n * b->p));
    if (misses > 0) sum += misses * log(misses / (b->n * b->q));
    return sum;
}

static void keep_larger(agg_extreme *extreme, const agg_bounded *bounded)
{
    double exponent = exponent_of(bounded);
    if (exponent <= extreme->exponent) return;
    *extreme = (agg_extreme){exponent, *bounded};
}

void agg_extreme_above(agg_extreme *extreme, const agg_bounded *bounded)
{
    if (bounded->count > bounded->n * bounded->p) keep_larger(extreme, bounded);
}

void agg_extreme_below(agg_extreme *extreme, const agg_bounded *bounded)
{
    if (bounded->count < bounded->n * bounded->p) keep_larger(extreme, bounded);
}

void agg_alarm_enter(agg_alarms *alarms, agg_alarm_code code, double p, const agg_bounded *seen)
{
    agg_alarm *alarm = &alarms->list[code];
    alarms->n_tests++;
    if (alarm->outcome != AGG_ALARM_NOT_MEASURED && alarm->p <= p) return;
    *alarm = (agg_alarm){.outcome = AGG_ALARM_PASSED,
                         .p = p,
                         .observed = seen->count,
                         .expected = seen->n * seen->p,
                         .n = seen->n};
}

void agg_alarm_enter_above(agg_alarms *alarms, agg_alarm_code code, const agg_extreme *extreme,
                           double cells)
{
    const agg_bounded *b = &extreme->worst;
    const agg_binomial law = {b->n, b->p, b->q};
    double p = extreme->exponent > 0 ? cells * agg_binomial_upper(b->count, &law) : 1;
    agg_alarm_enter(alarms, code, fmin(p, 1), b);
}

void agg_alarm_enter_below(agg_alarms *alarms, agg_alarm_code code, const agg_extreme *extreme,
                           double cells)
{
    const agg_bounded *b = &extreme->worst;
    const agg_binomial law = {b->n, b->p, b->q};
    double p = extreme->exponent > 0 ? cells * agg_binomial_lower(b->count, &law) : 1;
    agg_alarm_enter(alarms, code, fmin(p, 1), b);
}

agg_range agg_range_of(const uint32_t *cells, uint32_t m)
{
    agg_range range = {UINT32_MAX, 0};
    for (uint32_t i = 0; i < m; i++) {
        range.low = cells[i] < range.low ? cells[i] : range.low;
        range.high = cells[i] > range.high ? cells[i] : range.high;
    }
    return range;
}

double agg_cells_total(const agg_sketch *sketch)
{
    uint64_t total = 0;
    for (uint64_t i = 0; i < sketch->n_cells; i++) total += sketch->cells.ones[i];
    return (double)total;
}

double agg_largest_sum(const int32_t *sums, uint64_t n)
{
    int32_t low = 0, high = 0;
    for (uint64_t i = 0; i < n; i++) {
        low = sums[i] < low ? sums[i] : low;
        high = sums[i] > high ? sums[i] : high;
    }
    return fmax((double)high, -(double)low);
}

// Let I be the indicators of the N = n(n-1)/2 pairs and p = 1/k. Any two of them are independent.
// The mean of a product of centred indicators is zero unless every pair of it lies on a cycle of
// the graph that the pairs make. Four factors leave one pair four times, two pairs twice each, a
// triangle with a pair taken twice, and a cycle of four:
//
//     N p(1-p)(1 - 3p(1-p)) + 3 N(N-1) p^2(1-p)^2 + 36 C(n,3) (1-2p) p^2 (1-p)
//         + 72 C(n,4) (k-1)/k^4
double agg_pairs_fourth_moment(double n, double k)
{
    double p = 1 / k, q = 1 - p, all = n * (n - 1) / 2;
    double triples = all * (n - 2) / 3, fours = triples * (n - 3) / 4;
    return all * p * q * (1 - 3 * p * q) + 3 * all * (all - 1) * p * p * q * q +
           36 * triples * (1 - 2 * p) * p * p * q + 72 * fours * (k - 1) / (k * k * k * k);
}

// Returns: a bound on the probability that n uniform draws of k cells have so many pairs in one
// cell: the fourth central moment over the fourth power of the distance (Markov).
static double pairs_tail(double pairs, double n, double k)
{
    double above = pairs - n * (n - 1) / 2 / k, square = above * above;
    if (above <= 0) return 1;
    return fmin(agg_pairs_fourth_moment(n, k) / (square * square), 1);
}

void agg_alarm_test_uniform(agg_alarms *alarms, agg_alarm_code code, const uint32_t *counts,
                            uint32_t k, uint64_t n)
{
    if (k < 2) return;
    double pairs = 0, reports = (double)n, p = 1.0 / k, q = 1 - p;
    agg_range range = agg_range_of(counts, k);
    agg_extreme most = {0}, least = {0};
    for (uint32_t j = 0; j < k; j++) pairs += counts[j] * (counts[j] - 1.0) / 2;
    agg_extreme_above(&most, &(agg_bounded){range.high, reports, p, q});
    agg_extreme_below(&least, &(agg_bounded){range.low, reports, p, q});
    agg_alarm_enter_above(alarms, code, &most, k);
    agg_alarm_enter_below(alarms, code, &least, k);
    // What people read is the fullest row, also where only the pairs show that something is wrong.
    agg_alarm_enter(alarms, code, pairs_tail(pairs, reports, k),
                    &(agg_bounded){range.high, reports, p, q});
}

void agg_alarm_test_values(agg_alarms *alarms, const uint32_t *cells, uint32_t m, uint64_t n,
                           double low, double high)
{
    agg_extreme above = {0}, below = {0};
    agg_range range = agg_range_of(cells, m);
    agg_extreme_above(&above, &(agg_bounded){range.high, (double)n, high, 1 - high});
    agg_extreme_below(&below, &(agg_bounded){range.low, (double)n, low, 1 - low});
    agg_alarm_enter_above(alarms, AGG_ALARM_ABOVE, &above, m);
    agg_alarm_enter_below(alarms, AGG_ALARM_BELOW, &below, m);
}

void agg_alarm_test_columns(agg_alarms *alarms, const agg_sketch *sketch, const uint32_t *rows,
                            double low, double high)
{
    agg_extreme above = {0}, below = {0};
    uint32_t m = sketch->shape.m;
    for (uint32_t j = 0; j < sketch->shape.k; j++) {
        const uint32_t *cells = sketch->cells.ones + (size_t)j * m;
        double n = 0;
        for (uint32_t l = 0; l < m && rows == NULL; l++) n += cells[l];
        if (rows != NULL) n = rows[j];
        if (n <= 0) continue;
        agg_range range = agg_range_of(cells, m);
        agg_extreme_above(&above, &(agg_bounded){range.high, n, high, 1 - high});
        agg_extreme_below(&below, &(agg_bounded){range.low, n, low, 1 - low});
    }
    agg_alarm_enter_above(alarms, AGG_ALARM_COLUMNS, &above, (double)sketch->n_cells);
    agg_alarm_enter_below(alarms, AGG_ALARM_COLUMNS, &below, (double)sketch->n_cells);
}

// ---- sums of draws ----

static double log_moment(const agg_draws *d, double t)
{
    return d->n > 0 ? d->n * log1p(d->plus * expm1(t) + d->minus * expm1(-t)) : 0;
}

// Returns: the derivative of log_moment by t.
static double tilted_mean(const agg_draws *d, double t)
{
    if (!(d->n > 0)) return 0;
    double up = d->plus * exp(t), down = d->minus * exp(-t);
    return d->n * (up - down) / (1 + d->plus * expm1(t) + d->minus * expm1(-t));
}

double agg_draws_tail(const agg_draws groups[2], double x, bool is_upper)
{
    return exp(agg_draws_log_tail(groups, x, is_upper));
}

double agg_draws_log_tail(const agg_draws groups[2], double x, bool is_upper)
{
    double low = is_upper ? 0 : -60, high = is_upper ? 60 : 0;
    double mean = tilted_mean(&groups[0], 0) + tilted_mean(&groups[1], 0);
    if (is_upper ? x <= mean : x >= mean) return 0;
    // The bound holds for every t, so the bisection's precision decides nothing but its tightness.
    for (int i = 0; i < 100; i++) {
        double t = 0.5 * (low + high);
        if (tilted_mean(&groups[0], t) + tilted_mean(&groups[1], t) < x)
            low = t;
        else
            high = t;
    }
    double t = 0.5 * (low + high);
    double exponent = log_moment(&groups[0], t) + log_moment(&groups[1], t) - t * x;
    return fmin(exponent, 0);
}

// ---- several cells ----

static int compare_falling(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

// Enters the best of several sizes s of a set. The fullest s cells are one of C(m, s) sets, so
// Bonferroni's rule over all sets and sizes makes a p-value of the bound for one of them.
static void enter_sets(agg_alarms *alarms, const uint32_t *falling, uint32_t m, double n,
                       double own, double other)
{
    double sum = 0, log_sets = 0, best = 0, sizes = 0;
    agg_bounded seen = {0, n, 0, 0};
    for (uint32_t s = 1, next = 2; s < m; s++) {
        sum += falling[s - 1];
        log_sets += log((double)(m - s + 1) / s); // ln C(m, s)
        if (s < next) continue;
        next = s + (s + 3) / 4; // about four sizes for each power of two
        const agg_draws draws[2] = {{n, own, 0}, {n * (s - 1), other, 0}};
        double log_p = agg_draws_log_tail(draws, sum, true) + log_sets;
        sizes++;
        if (log_p >= best) continue;
        best = log_p;
        seen = (agg_bounded){sum, n * s, (own + (s - 1) * other) / s, 0};
    }
    agg_alarm_enter(alarms, AGG_ALARM_COLUMNS, fmin(sizes * exp(best), 1), &seen);
}

uint64_t agg_alarm_together_memory(uint32_t m)
{
    return m > AGG_TOGETHER_MAX ? 0 : 2 * m * (uint64_t)sizeof(uint32_t);
}

agg_err agg_alarm_test_together(agg_alarms *alarms, agg_error *error, const uint32_t *cells,
                                uint32_t m, uint64_t n, double own, double other)
{
    if (m > AGG_TOGETHER_MAX) return SHOAL_OK;
    uint32_t *falling = agg_alloc(error, m, sizeof *falling);
    if (falling == NULL) return AGG_ERR_MEMORY;
    memcpy(falling, cells, m * sizeof *falling);
    qsort(falling, m, sizeof *falling, compare_falling);
    enter_sets(alarms, falling, m, (double)n, own, other);
    free(falling);
    return SHOAL_OK;
}

void agg_alarm_test_weight(agg_alarms *alarms, const agg_weight *w)
{
    const agg_draws most[2] = {{w->n * w->own_high, w->own, 0},
                               {w->n * (w->m - w->own_high), w->other, 0}};
    const agg_draws least[2] = {{w->n * w->own_low, w->own, 0},
                                {w->n * (w->m - w->own_low), w->other, 0}};
    double bits = w->n * w->m;
    double high = w->n * (w->own_high * w->own + (w->m - w->own_high) * w->other),
           low = w->n * (w->own_low * w->own + (w->m - w->own_low) * w->other);
    agg_alarm_enter(alarms, AGG_ALARM_WEIGHT, agg_draws_tail(most, w->ones, true),
                    &(agg_bounded){w->ones, bits, high / bits, 0});
    agg_alarm_enter(alarms, AGG_ALARM_WEIGHT, agg_draws_tail(least, w->ones, false),
                    &(agg_bounded){w->ones, bits, low / bits, 0});
}

agg_err agg_alarm_test_onehot(agg_alarms *alarms, agg_error *error, const agg_sketch *sketch,
                              uint64_t n, double own, double q)
{
    uint32_t m = sketch->shape.m;
    const agg_weight weight = {agg_cells_total(sketch), (double)n, m, 0, 1, own, q};
    agg_alarm_test_values(alarms, sketch->cells.ones, m, n, q, own);
    agg_alarm_test_weight(alarms, &weight);
    return agg_alarm_test_together(alarms, error, sketch->cells.ones, m, n, own, q);
}
