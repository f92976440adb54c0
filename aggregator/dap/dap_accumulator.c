// SPDX-License-Identifier: Apache-2.0
// Sums into sketches; see dap_accumulator.h. This file knows no mechanism: the sketch's kind gives
// its form, and the split gives the meaning of the sums.
#include "dap_accumulator.h"

#include <string.h>

#include "bytes.h"
#include "claims.h"
#include "recipe.h"

// Returns: the product, or UINT64_MAX when it is larger.
static uint64_t times(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

bool agg_dap_are_sums_of(const shoal_prio3_parameters *vdaf, const uint64_t *sums, size_t n_sums,
                         uint64_t n)
{
    const bool is_number =
        vdaf->circuit == SHOAL_CIRCUIT_SUM || vdaf->circuit == SHOAL_CIRCUIT_SUM_VEC;
    const uint64_t most = is_number ? times(n, vdaf->max) : n;
    uint64_t total = 0;
    for (size_t i = 0; i < n_sums; i++) {
        if (sums[i] > most) return false;
        total = sums[i] > UINT64_MAX - total ? UINT64_MAX : total + sums[i];
    }
    if (vdaf->circuit == SHOAL_CIRCUIT_HISTOGRAM) return total == n; // each report raises one entry
    if (vdaf->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC) return total <= times(n, vdaf->max);
    return true;
}

// Finds the records of each row, for a sketch that counts them.
static void set_rows(agg_sketch *sketch, const shoal_split *split, const uint64_t *sums, uint64_t n)
{
    const uint32_t entries = (split->cells << split->is_signed) / split->k; // entries of a row
    for (uint32_t row = 0; row < sketch->n_rows; row++) {
        uint64_t records = 0;
        if (split->rows > 0)
            records = sums[split->idle + (split->cells << split->is_signed) + row];
        else if (split->prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM)
            for (uint32_t i = 0; i < entries; i++) records += sums[split->idle + row * entries + i];
        else
            records = n; // the sketch has one row
        sketch->rows[row] = (uint32_t)records;
    }
}

static void set_cells(agg_sketch *sketch, const shoal_split *split, const uint64_t *sums)
{
    const uint64_t *entry = sums + split->idle;
    for (uint32_t cell = 0; cell < split->cells; cell++) {
        if (split->is_signed)
            sketch->cells.sums[cell] =
                (int32_t)((int64_t)entry[2 * cell] - (int64_t)entry[2 * cell + 1]);
        else
            sketch->cells.ones[cell] = (uint32_t)entry[cell];
    }
}

agg_err agg_accumulator_of_sums(agg_accumulator *acc, agg_error *error, const shoal_recipe *recipe,
                                const shoal_split *split, const uint64_t *sums, uint64_t n)
{
    agg_err err = agg_accumulator_init(acc, error, recipe);
    if (err != SHOAL_OK) return err;
    agg_sketch *sketch = &acc->parts[0];
    const agg_sketch_kind *kind = agg_sketch_kind_of(sketch->shape.mechanism);
    if (acc->n_parts != 1 || sketch->n_cells != split->cells || kind->is_signed != split->is_signed)
        err = agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                       "recipe %s is not split like that", acc->recipe_id);
    else if (n > kind->n_max)
        err = agg_fail(
            error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME,
            "recipe %s: an accumulator counts at most %llu records, and the batch has %llu",
            acc->recipe_id, (unsigned long long)kind->n_max, (unsigned long long)n);
    else if (!agg_dap_are_sums_of(&split->prio3, sums, split->prio3.length, n))
        err = agg_fail(error, SHOAL_ERR_RECORD, AGG_EXIT_RUNTIME,
                       "the two shares do not add up to counts of %llu reports: they are not of "
                       "the same batch",
                       (unsigned long long)n);
    if (err != SHOAL_OK) {
        agg_accumulator_release(acc);
        return err;
    }
    set_rows(sketch, split, sums, n);
    set_cells(sketch, split, sums);
    acc->n = n;
    return SHOAL_OK;
}

// Claims a batch by its task and the interval that was asked for. The leader gives a report to one
// interval only, so two accumulators share reports only if they are of one interval.
static agg_err claim_batch(agg_accumulator *acc, agg_error *error, const shoal_dap_task *task,
                           const shoal_dap_interval *query)
{
    uint8_t id[1][AGG_CLAIM], bytes[SHOAL_DAP_TASK_ID + 16];
    memcpy(bytes, task->id, SHOAL_DAP_TASK_ID);
    store64_le(bytes + SHOAL_DAP_TASK_ID, query->start);
    store64_le(bytes + SHOAL_DAP_TASK_ID + 8, query->duration);
    agg_claim_of(id[0], "shoal dap batch", bytes, sizeof bytes);
    return agg_accumulator_claim_all(acc, error, (const uint8_t(*)[AGG_CLAIM])id, 1);
}

agg_err agg_dap_accumulator_of(agg_accumulator *acc, agg_error *error, const agg_dap_task *task,
                               const agg_dap_collected *collected, const shoal_dap_interval *query)
{
    const shoal_recipe *recipe = task->recipe.recipe;
    shoal_split split;
    const char *why = "";
    agg_err err = shoal_split_init(&split, &recipe->parts[0], &why);
    if (err != SHOAL_OK) return agg_fail(error, err, AGG_EXIT_USAGE, "%s", why);
    err =
        agg_accumulator_of_sums(acc, error, recipe, &split, collected->sums, collected->n_reports);
    if (err != SHOAL_OK) return err;
    err = claim_batch(acc, error, &task->task, query);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    return err;
}
