// SPDX-License-Identifier: Apache-2.0
// Alarms of a Count Mean Sketch. Rows are uniform. Given its row, a record has one own bit, which
// is 1 with probability 1 - q, and every other bit is 1 with probability q, whatever its value.
#include "alarm_tests.h"
#include "flip_chance.h"
#include "sum_law.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double q = agg_rare_probability(part), own = agg_common_side(part);
    agg_weight weight = {0, (double)n, part->m, 1, 1, own, q};
    (void)error;
    agg_alarm_test_uniform(alarms, AGG_ALARM_ROWS, sketch->rows, sketch->shape.k, n);
    agg_alarm_test_columns(alarms, sketch, sketch->rows, q, own);
    weight.ones = agg_cells_total(sketch);
    agg_alarm_test_weight(alarms, &weight);
    return SHOAL_OK;
}

// A value that shares no cell with the item supports it with probability q.
static void support(double *low, double *high, const shoal_part *part)
{
    *low = agg_rare_probability(part);
    *high = agg_common_side(part);
}

const agg_alarm_kind agg_cms_alarms = {
    .id = shoal_cms_id,
    .test = test,
    .support = support,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_no_fingerprints,
            [AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_ABOVE] = agg_alarm_needs_dictionary,
            [AGG_ALARM_BELOW] = agg_alarm_needs_dictionary},
};
