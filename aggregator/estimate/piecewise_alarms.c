// SPDX-License-Identifier: Apache-2.0
// Alarms of piecewise means: every place and every bit has a probability between two bounds,
// whatever the number. Since both bits are bounded, so is the share of answers that are bits.
#include "alarm_tests.h"
#include "piecewise_law.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    agg_place_law law;
    (void)error;
    agg_piecewise_law_of(&law, part);
    const uint32_t *cells = sketch->cells.ones;
    double bit = 1 - law.place;
    agg_alarm_test_values(alarms, cells, law.places, n, law.place * law.outside,
                          law.place * law.inside);
    agg_alarm_test_values(alarms, cells + law.places, 2, n, bit * law.flip, bit * (1 - law.flip));
    return SHOAL_OK;
}

const agg_alarm_kind agg_piecewise_alarms = {
    .id = shoal_piecewise_id,
    .test = test,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_few_records,
            [AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_COLUMNS] = agg_alarm_is_cells,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark},
};
