// SPDX-License-Identifier: Apache-2.0
// Alarms of RAPPOR. A device's permanent bits may be anything, and be the same in all its reports;
// only the fresh coins are independent. So a bit is 1 with a probability between p and q. Without
// permanent noise a record has at most one permanent 1 for each hash function.
#include "alarm_tests.h"
#include "rappor.h"

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double p = (double)part->pqf_threshold[SHOAL_RAPPOR_P] * 0x1p-64,
           q = (double)part->pqf_threshold[SHOAL_RAPPOR_Q] * 0x1p-64;
    uint32_t own = part->domain == SHOAL_DOMAIN_CLOSED ? 1 : part->hashes;
    if (part->pqf_threshold[SHOAL_RAPPOR_F] != 0 || own > part->m) own = part->m;
    const agg_weight weight = {agg_cells_total(sketch), (double)n, part->m, 0, own, q, p};
    (void)error;
    if (part->domain == SHOAL_DOMAIN_CLOSED && sketch->shape.k == 1)
        agg_alarm_test_values(alarms, sketch->cells.ones, sketch->shape.m, n, p, q);
    else
        agg_alarm_test_columns(alarms, sketch, sketch->rows, p, q);
    agg_alarm_test_weight(alarms, &weight);
    return SHOAL_OK;
}

const agg_alarm_kind agg_rappor_alarms = {
    .id = shoal_rappor_id,
    .test = test,
    .why = {[AGG_ALARM_IDENTICAL] = agg_alarm_no_fingerprints,
            [AGG_ALARM_ROWS] = agg_alarm_permanent_rows,
            [AGG_ALARM_COLUMNS] = agg_alarm_is_cells,
            [AGG_ALARM_ABOVE] = agg_alarm_decoded,
            [AGG_ALARM_BELOW] = agg_alarm_decoded},
};
