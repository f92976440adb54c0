// SPDX-License-Identifier: Apache-2.0
// Alarms of local hashing. Rows are uniform. Given its row, a record gives any one answer with a
// probability between T/(g - 1) and 1 - T, in units of 2^64, whatever its value.
#include <stdlib.h>

#include "agg_size.h"
#include "alarm_tests.h"
#include "flip_chance.h"
#include "sum_law.h"

static void support(double *low, double *high, const shoal_part *part)
{
    *low = agg_rare_probability(part) / (part->m - 1);
    *high = agg_common_side(part);
}

static agg_err test_rows(agg_alarms *alarms, agg_error *error, const agg_sketch *sketch, uint64_t n)
{
    uint32_t k = sketch->shape.k, g = sketch->shape.m;
    uint32_t *rows = agg_alloc(error, k, sizeof *rows);
    if (rows == NULL) return AGG_ERR_MEMORY;
    for (uint64_t i = 0; i < sketch->n_cells; i++) rows[i / g] += sketch->cells.ones[i];
    agg_alarm_test_uniform(alarms, AGG_ALARM_ROWS, rows, k, n);
    free(rows);
    return SHOAL_OK;
}

static uint64_t memory(const shoal_part *part)
{
    return part->k * (uint64_t)sizeof(uint32_t); // reports of each row
}

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    double low = 0, high = 0;
    agg_extreme most = {0};
    support(&low, &high, part);
    agg_err err = test_rows(alarms, error, sketch, n);
    if (err != SHOAL_OK) return err;
    agg_alarm_test_columns(alarms, sketch, NULL, low, high);
    double p = high / sketch->shape.k;
    agg_range range = agg_range_of(sketch->cells.ones, (uint32_t)sketch->n_cells);
    agg_extreme_above(&most, &(agg_bounded){range.high, (double)n, p, 1 - p});
    agg_alarm_enter_above(alarms, AGG_ALARM_IDENTICAL, &most, (double)sketch->n_cells);
    return SHOAL_OK;
}

const agg_alarm_kind agg_olh_alarms = {
    .id = shoal_olh_id,
    .test = test,
    .memory = memory,
    .support = support,
    .why = {[AGG_ALARM_ROWS] = agg_alarm_no_rows,
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark,
            [AGG_ALARM_ABOVE] = agg_alarm_needs_dictionary,
            [AGG_ALARM_BELOW] = agg_alarm_needs_dictionary},
};
