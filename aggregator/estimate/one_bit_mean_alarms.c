// SPDX-License-Identifier: Apache-2.0
// Alarms of one-bit means: a bit is 1 with a probability between q and 1 - q, whatever the number.
#include "alarm_tests.h"
#include "flip_chance.h"
#include "sum_law.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double q = agg_rare_probability(part);
    (void)error;
    if (sketch->shape.k == 1)
        agg_alarm_test_values(alarms, sketch->cells.ones, 1, n, q, agg_common_side(part));
    else
        agg_alarm_test_columns(alarms, sketch, NULL, q, agg_common_side(part));
    return SHOAL_OK;
}

const agg_alarm_kind agg_one_bit_mean_alarms = {
    .id = shoal_one_bit_mean_id,
    .test = test,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_few_records,
            [AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_COLUMNS] = agg_alarm_is_cells,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark},
};
