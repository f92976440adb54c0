// SPDX-License-Identifier: Apache-2.0
// Alarms of asymmetric one-hot sums, whose own bit is 1 with probability 1/2.
#include "alarm_tests.h"
#include "flip_chance.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    return agg_alarm_test_onehot(alarms, error, sketch, n, 0.5, agg_rare_probability(part));
}

static uint64_t memory(const shoal_part *part)
{
    return agg_alarm_together_memory(part->m);
}

const agg_alarm_kind agg_onehot_asymmetric_alarms = {
    .id = shoal_onehot_asymmetric_id,
    .test = test,
    .memory = memory,
    .why =
        {[AGG_ALARM_IDENTICAL] = agg_alarm_no_fingerprints, [AGG_ALARM_ROWS] = agg_alarm_no_rows},
};
