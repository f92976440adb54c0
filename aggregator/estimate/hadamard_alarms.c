// SPDX-License-Identifier: Apache-2.0
// Alarms of Hadamard response. A record is a cell of 2 B, its own with probability p = 1 - T/2^64
// and any other with t = (T/2^64)/(2 B - 1), and a row of b, drawn uniformly.
//
// A block therefore has between 2 t and p + t of the records. Given its block, a record is in one
// row with one sign with probability p/((p + t) b) at most. It speaks for an item (its block, with
// the item's sign) with a probability between t and p.
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "alarm_tests.h"
#include "flip_chance.h"
#include "sum_law.h"
#include "wht.h"

typedef struct coins {
    double p, t;
} coins;

static void test_blocks(agg_alarms *alarms, const agg_sketch *sketch, uint64_t n, const coins *c)
{
    uint32_t k = sketch->shape.k, m = sketch->shape.m;
    double high = c->p + c->t, low = 2 * c->t, cell = c->p / (c->p + c->t) / m;
    agg_extreme above = {0}, below = {0}, equal = {0};
    for (uint32_t block = 0; block < k; block++) {
        double reports = sketch->rows[block],
               largest = agg_largest_sum(sketch->cells.sums + (size_t)block * m, m);
        agg_extreme_above(&above, &(agg_bounded){reports, (double)n, high, 1 - high});
        agg_extreme_below(&below, &(agg_bounded){reports, (double)n, low, 1 - low});
        agg_extreme_above(&equal, &(agg_bounded){largest, reports, cell, 1 - cell});
    }
    agg_alarm_enter_above(alarms, AGG_ALARM_COLUMNS, &above, k);
    agg_alarm_enter_below(alarms, AGG_ALARM_COLUMNS, &below, k);
    agg_alarm_enter_above(alarms, AGG_ALARM_IDENTICAL, &equal, 2 * (double)sketch->n_cells);
}

static agg_err test_values(agg_alarms *alarms, agg_error *error, const agg_sketch *sketch,
                           uint64_t n, const coins *c)
{
    uint32_t m = sketch->shape.m;
    agg_extreme above = {0}, below = {0};
    int32_t *sums = agg_alloc(error, m, sizeof *sums);
    if (sums == NULL) return AGG_ERR_MEMORY;
    for (uint32_t block = 0; block < sketch->shape.k; block++) {
        int32_t low = INT32_MAX, high = INT32_MIN;
        double reports = sketch->rows[block];
        memcpy(sums, sketch->cells.sums + (size_t)block * m, m * sizeof *sums);
        agg_wht(sums, m);
        for (uint32_t i = 0; i < m; i++) {
            low = sums[i] < low ? sums[i] : low;
            high = sums[i] > high ? sums[i] : high;
        }
        agg_extreme_above(&above, &(agg_bounded){(reports + high) / 2, (double)n, c->p, 1 - c->p});
        agg_extreme_below(&below, &(agg_bounded){(reports + low) / 2, (double)n, c->t, 1 - c->t});
    }
    agg_alarm_enter_above(alarms, AGG_ALARM_ABOVE, &above, (double)sketch->n_cells);
    agg_alarm_enter_below(alarms, AGG_ALARM_BELOW, &below, (double)sketch->n_cells);
    free(sums);
    return SHOAL_OK;
}

static uint64_t memory(const shoal_part *part)
{
    return part->m * (uint64_t)sizeof(int32_t); // one block, transformed
}

static agg_err test(agg_alarms *alarms, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n)
{
    const coins c = {agg_common_side(part), agg_rare_probability(part) / (2.0 * part->k - 1)};
    test_blocks(alarms, sketch, n, &c);
    return test_values(alarms, error, sketch, n, &c);
}

const agg_alarm_kind agg_hadamard_alarms = {
    .id = shoal_hadamard_id,
    .test = test,
    .memory = memory,
    .why = {[AGG_ALARM_ROWS] = "its sums of signs do not say how many reports a row has",
            [AGG_ALARM_WEIGHT] = agg_alarm_one_mark},
};
