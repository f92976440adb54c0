// SPDX-License-Identifier: Apache-2.0
// Alarms of subset selection: a set holds its own index with probability p = 1 - T/2^64, and any
// other index with probability (d - p)/(s - 1). The other indices are drawn without replacement,
// and so are negatively associated: their number in a set of cells has, in law, tails no heavier
// than those of independent coins of probability d/(s - 1).
#include "alarm_tests.h"
#include "sum_law.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double p = agg_common_side(part);
    agg_alarm_test_values(alarms, sketch->cells.ones, sketch->shape.m, n,
                          (part->k - p) / (part->m - 1), p);
    return agg_alarm_test_together(alarms, error, sketch->cells.ones, sketch->shape.m, n, p,
                                   part->k / (part->m - 1.0));
}

static uint64_t memory(const shoal_part *part)
{
    return agg_alarm_together_memory(part->m);
}

const agg_alarm_kind agg_subset_alarms = {
    .id = shoal_subset_id,
    .test = test,
    .memory = memory,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_no_fingerprints,
            [AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_COLUMNS] = agg_alarm_many_cells,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark},
};
