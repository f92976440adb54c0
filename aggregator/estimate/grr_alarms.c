// SPDX-License-Identifier: Apache-2.0
// Alarms of generalized randomized response: any one answer of s has a probability between T/(s -
// 1) and 1 - T, in units of 2^64, whatever the value.
#include "alarm_tests.h"
#include "flip_chance.h"
#include "sum_law.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    (void)error;
    agg_alarm_test_values(alarms, sketch->cells.ones, sketch->shape.m, n,
                          agg_rare_probability(part) / (part->m - 1), agg_common_side(part));
    return SHOAL_OK;
}

const agg_alarm_kind agg_grr_alarms = {
    .id = shoal_grr_id,
    .test = test,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_few_records,
            [AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_COLUMNS] = agg_alarm_is_cells,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark},
};
