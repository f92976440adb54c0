// SPDX-License-Identifier: Apache-2.0
// Alarms of longitudinal local hashing. A device's row and its permanent answers may be anything,
// and be the same in all its reports; only the fresh coins are independent. So in any row each
// answer has a probability between F2/g and 1 - F2 + F2/g.
#include "alarm_tests.h"
#include "loloha.h"

static void support(double *low, double *high, const shoal_part *part)
{
    *low = (double)part->threshold * 0x1p-64 / part->m;
    *high = 1 - *low * (part->m - 1);
}

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double low = 0, high = 0;
    (void)error;
    (void)n;
    support(&low, &high, part);
    agg_alarm_test_columns(alarms, sketch, NULL, low, high);
    return SHOAL_OK;
}

const agg_alarm_kind agg_loloha_alarms = {
    .id = shoal_loloha_id,
    .test = test,
    .support = support,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_few_records,
            [AGG_ALARM_ROWS] = agg_alarm_permanent_rows,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark,
            [AGG_ALARM_ABOVE] = agg_alarm_needs_dictionary,
            [AGG_ALARM_BELOW] = agg_alarm_needs_dictionary},
};
