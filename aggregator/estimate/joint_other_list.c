// SPDX-License-Identifier: Apache-2.0
// "Other" over a list; see joint_other_list.h.
#include "joint_other_list.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agg_size.h"
#include "estimator.h"

// Adds the estimated share of each entry that no item names to its block. If the shares of all
// blocks are zero or below, these entries count as equally frequent.
//   is_named: one an entry, and one for "none of the list"
static void fill_blocks(agg_joint_mixture *mixture, const agg_count *counts, const bool *is_named,
                        const agg_joint_items *items, double n)
{
    double all = 0, sum = 0, *weights = mixture->weights;
    const shoal_part *part = items->part;
    uint32_t size = part->size;
    for (uint32_t x = 0; x < size && n > 0; x++) {
        all += counts[x].count / n;
        if (!is_named[x]) weights[items->marks->place(part, x)] += counts[x].count / n;
    }
    mixture->none = n > 0 && !is_named[size] ? fmax(0, 1 - all) : 0;
    for (uint32_t l = 0; l < items->n_columns; l++) sum += weights[l] = fmax(0, weights[l]);
    for (uint32_t x = 0; x < size && !(sum + mixture->none > 0); x++)
        if (!is_named[x]) weights[items->marks->place(part, x)]++;
}

static agg_err count_entries(agg_count *counts, agg_error *error, const shoal_part *part,
                             const agg_sketch *sketch, uint64_t n, unsigned n_threads)
{
    uint64_t *items = agg_alloc(error, part->size, sizeof *items);
    if (items == NULL) return AGG_ERR_MEMORY;
    for (uint32_t x = 0; x < part->size; x++) items[x] = x;
    agg_err err =
        n > 0 ? agg_estimator_counts(counts, error, part, sketch, n, items, part->size, n_threads)
              : SHOAL_OK;
    free(items);
    return err;
}

static agg_err model_blocks(agg_joint_mixture *mixture, agg_error *error, const bool *is_named,
                            const agg_joint_items *items, const agg_sketch *sketch, uint64_t n,
                            unsigned n_threads)
{
    agg_count *counts = agg_alloc(error, items->part->size, sizeof *counts);
    agg_err err = counts == NULL ? AGG_ERR_MEMORY
                                 : count_entries(counts, error, items->part, sketch, n, n_threads);
    if (err == SHOAL_OK) {
        fill_blocks(mixture, counts, is_named, items, (double)n);
        agg_joint_mixture_scale(mixture, items->n_columns);
    }
    free(counts);
    return err;
}

agg_err agg_joint_other_list_make(agg_joint_mixture *mixture, agg_error *error,
                                  const agg_joint_items *items, const agg_sketch *sketch,
                                  uint64_t n, unsigned n_threads)
{
    uint32_t size = items->part->size;
    agg_err err = agg_joint_mixture_init(mixture, error, items->n_columns);
    if (err != SHOAL_OK) return err;
    bool *is_named = agg_alloc(error, (size_t)items->n_columns + 1, sizeof *is_named);
    if (is_named == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < items->n; i++)
        is_named[items->items[i] < size ? items->items[i] : size] = true;
    if (items->marks->columns == AGG_JOINT_BLOCKS)
        err = model_blocks(mixture, error, is_named, items, sketch, n, n_threads);
    else
        mixture->none = agg_joint_leave_unnamed(mixture->weights, is_named, items);
    free(is_named);
    return err;
}
