// SPDX-License-Identifier: Apache-2.0
// Alarms of a Hadamard Count Mean Sketch. A record is one cell of k m, drawn uniformly, and a sign,
// each sign with probability 1 - q at most. In the first column every Hadamard entry is 1, so its
// signs are 1 with probability 1 - q whatever the value.
#include "alarm_tests.h"
#include "flip_chance.h"
#include "sum_law.h"

static void test_first_column(agg_alarms *alarms, const agg_sketch *sketch, uint64_t n, double own,
                              double q)
{
    double m = sketch->shape.m, sum = 0, reports = (double)n;
    const agg_draws draws[2] = {{reports, own / m, q / m}, {0, 0, 0}};
    for (uint32_t j = 0; j < sketch->shape.k; j++)
        sum += sketch->cells.sums[(size_t)j * sketch->shape.m];
    const agg_bounded seen = {sum, reports, (own - q) / m, 0};
    agg_alarm_enter(alarms, AGG_ALARM_COLUMNS, agg_draws_tail(draws, sum, true), &seen);
    agg_alarm_enter(alarms, AGG_ALARM_COLUMNS, agg_draws_tail(draws, sum, false), &seen);
}

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double own = agg_common_side(part), p = own / (double)sketch->n_cells;
    agg_extreme most = {0};
    (void)error;
    agg_extreme_above(&most, &(agg_bounded){agg_largest_sum(sketch->cells.sums, sketch->n_cells),
                                            (double)n, p, 1 - p});
    agg_alarm_enter_above(alarms, AGG_ALARM_IDENTICAL, &most, 2 * (double)sketch->n_cells);
    test_first_column(alarms, sketch, n, own, agg_rare_probability(part));
    return SHOAL_OK;
}

// The share of signs that speak for an item. A value in another column speaks for it half of the
// time.
static void support(double *low, double *high, const shoal_part *part)
{
    *low = 0.5;
    *high = agg_common_side(part);
}

const agg_alarm_kind agg_hcms_alarms = {
    .id = shoal_hcms_id,
    .test = test,
    .support = support,
    .is_signed = true,
    .why = {[AGG_ALARM_ROWS] = "its sums of signs do not say how many reports a row has",
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark,
            [AGG_ALARM_ABOVE] = agg_alarm_needs_dictionary,
            [AGG_ALARM_BELOW] = agg_alarm_needs_dictionary},
};
