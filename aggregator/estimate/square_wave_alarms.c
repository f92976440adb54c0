// SPDX-License-Identifier: Apache-2.0
// Alarms of square waves: every place has a probability between two bounds, whatever the number.
#include "alarm_tests.h"
#include "place_law.h"
#include "square_wave.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    agg_place_law law;
    (void)error;
    agg_place_law_of(&law, part, shoal_square_wave_steps(part));
    agg_alarm_test_values(alarms, sketch->cells.ones, law.places, n, law.outside, law.inside);
    return SHOAL_OK;
}

const agg_alarm_kind agg_square_wave_alarms = {
    .id = shoal_square_wave_id,
    .test = test,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_few_records,
            [AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_COLUMNS] = agg_alarm_is_cells,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark},
};
