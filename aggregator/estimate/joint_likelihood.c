// SPDX-License-Identifier: Apache-2.0
// Likelihoods of a part's records; see joint_likelihood.h.
#include "joint_likelihood.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "joint_items.h"
#include "joint_other_list.h"
#include "joint_other_rows.h"

struct agg_joint_law {
    agg_joint_items items;
    double log_hit, log_miss, log_none; // of the coins of the same names
    bool has_row;
    uint32_t row; // with hashed rows: the row in which the items' columns were found last
    // With hashed rows: the law of the item "none of the list". Its column is uniformly random.
    agg_joint_mixture none_of_list;
    // The law of "Other", if there is that category: one for hashed rows, one for a list.
    agg_joint_other_rows other_of_rows;
    agg_joint_mixture other_of_list;
};

static agg_err make_none_of_list(agg_joint_law *law, agg_error *error)
{
    const agg_joint_items *items = &law->items;
    agg_err err = agg_joint_mixture_init(&law->none_of_list, error, items->n_columns);
    if (err != SHOAL_OK) return err;
    for (uint32_t l = 0; l < items->n_columns; l++)
        law->none_of_list.weights[l] = 1.0 / items->n_columns;
    if (items->marks->transform != NULL)
        items->marks->transform(law->none_of_list.weights, items->part);
    return SHOAL_OK;
}

static agg_err make(agg_joint_law *law, agg_error *error, const shoal_part *part,
                    const agg_sketch *sketch, uint64_t n, const agg_joint_marks *marks,
                    const agg_joint_categories *categories, unsigned n_threads)
{
    agg_joint_items *items = &law->items;
    agg_err err = agg_joint_items_init(items, error, part, marks, categories);
    if (err != SHOAL_OK) return err;
    law->log_hit = log(items->coins.hit);
    law->log_miss = log(items->coins.miss);
    law->log_none = log(items->coins.none);
    if (items->is_hashed && items->none < items->n) err = make_none_of_list(law, error);
    if (err != SHOAL_OK || !items->has_other) return err;
    if (!items->is_hashed)
        return agg_joint_other_list_make(&law->other_of_list, error, items, sketch, n, n_threads);
    return agg_joint_other_rows_init(&law->other_of_rows, error, items, sketch, n,
                                     categories->shares, n_threads);
}

agg_err agg_joint_law_make(agg_joint_law **law, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, uint64_t n,
                           const agg_joint_categories *categories, unsigned n_threads)
{
    const agg_joint_marks *marks = agg_joint_marks_of(part->mechanism);
    if (marks == NULL)
        return agg_fail(error, SHOAL_ERR_MECHANISM, AGG_EXIT_USAGE,
                        "this mechanism's answers name no category");
    agg_joint_law *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    agg_err err = make(made, error, part, sketch, n, marks, categories, n_threads);
    if (err == SHOAL_OK)
        *law = made;
    else
        agg_joint_law_free(made);
    return err;
}

void agg_joint_law_free(agg_joint_law *law)
{
    if (law == NULL) return;
    agg_joint_items_release(&law->items);
    agg_joint_mixture_release(&law->none_of_list);
    agg_joint_other_rows_release(&law->other_of_rows);
    agg_joint_mixture_release(&law->other_of_list);
    free(law);
}

uint32_t agg_joint_law_row(const agg_joint_law *law, const uint8_t *record)
{
    const agg_joint_items *items = &law->items;
    return items->marks->row != NULL ? items->marks->row(items->part, record) : 0;
}

static void prepare_row(agg_joint_law *law, uint32_t j)
{
    if (!law->items.is_hashed || (law->has_row && law->row == j)) return;
    law->has_row = true;
    law->row = j;
    agg_joint_items_find_row(&law->items, j);
    if (law->items.has_other) agg_joint_other_rows_model(&law->other_of_rows, &law->items, j);
}

static double log_of_other(const agg_joint_law *law, const uint8_t *record)
{
    return law->items.is_hashed ? agg_joint_other_rows_log(&law->other_of_rows, &law->items, record)
                                : agg_joint_mixture_log(&law->other_of_list, &law->items, record);
}

static double log_of_none(const agg_joint_law *law, const uint8_t *record)
{
    return law->items.is_hashed ? agg_joint_mixture_log(&law->none_of_list, &law->items, record)
                                : law->log_none;
}

static double log_of_item(const agg_joint_law *law, uint32_t i, const uint8_t *record)
{
    const agg_joint_items *items = &law->items;
    const uint32_t *columns = items->columns + i * items->hashes;
    int n_hits = 0, n_misses = 0;
    if (i == items->none) return log_of_none(law, record);
    for (uint32_t h = 0; h < items->hashes; h++) {
        if (columns[h] == AGG_JOINT_NO_COLUMN) continue;
        if (items->marks->is_marked(items->part, record, columns[h]))
            n_hits++;
        else
            n_misses++;
    }
    return n_hits * law->log_hit + n_misses * law->log_miss;
}

void agg_joint_law_weigh(double *likelihood, agg_joint_law *law, const uint8_t *record)
{
    uint32_t n_items = law->items.n, n = n_items + (uint32_t)law->items.has_other;
    double best = -HUGE_VAL;
    prepare_row(law, agg_joint_law_row(law, record));
    for (uint32_t i = 0; i < n_items; i++) likelihood[i] = log_of_item(law, i, record);
    if (law->items.has_other) likelihood[n - 1] = log_of_other(law, record);
    for (uint32_t i = 0; i < n; i++) best = fmax(best, likelihood[i]);
    for (uint32_t i = 0; i < n; i++) likelihood[i] = exp(likelihood[i] - best);
}
