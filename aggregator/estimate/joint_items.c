// SPDX-License-Identifier: Apache-2.0
// Named categories and their columns; see joint_items.h.
#include "joint_items.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "agg_size.h"
#include "poly1.h"

// Finds the column of each item under one hash function of a row.
static void hash_items(agg_joint_items *items, uint32_t j, uint32_t h)
{
    const shoal_part *part = items->part;
    if (part->hash == SHOAL_HASH_AFFINE1) {
        shoal_affine1 row;
        shoal_affine1_row(&row, part->seed, j, part->m);
        for (uint32_t i = 0; i < items->n; i++)
            items->columns[i] = shoal_affine1_hash(&row, (uint32_t)items->items[i]);
        return;
    }
    shoal_poly1 row;
    shoal_poly1_row(&row, part->seed, j * items->hashes + h);
    for (uint32_t i = 0; i < items->n; i++)
        items->columns[i * items->hashes + h] =
            shoal_poly1_hash(&row, shoal_poly1_point(items->items[i]), part->m);
}

// Drops repeated columns: a column that two hash functions of an item share is one bit and counts
// once.
static void drop_repeats(uint32_t *columns, uint32_t n)
{
    for (uint32_t a = 1; a < n; a++)
        for (uint32_t b = 0; b < a; b++)
            if (columns[a] == columns[b]) columns[a] = AGG_JOINT_NO_COLUMN;
}

void agg_joint_items_find_row(agg_joint_items *items, uint32_t j)
{
    for (uint32_t h = 0; h < items->hashes; h++) hash_items(items, j, h);
    for (uint32_t i = 0; i < items->n; i++)
        drop_repeats(items->columns + i * items->hashes, items->hashes);
}

// Sets the columns of items of a list: the index of the entry, and the one after the last entry for
// "none of the list".
static void find_entries(agg_joint_items *items)
{
    for (uint32_t i = 0; i < items->n; i++)
        items->columns[i] =
            items->items[i] == SHOAL_ITEM_NONE ? items->part->size : (uint32_t)items->items[i];
}

static int compare_items(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static agg_err check_items(agg_error *error, const shoal_part *part,
                           const agg_joint_categories *categories)
{
    uint32_t n = categories->n_items;
    uint64_t *sorted = agg_alloc(error, n, sizeof *sorted);
    agg_err err = sorted == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK && agg_joint_categories_count(categories) == 0)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a variable has no category");
    for (uint32_t i = 0; err == SHOAL_OK && i < n; i++) {
        sorted[i] = categories->items[i];
        if (!shoal_part_has_item(part, sorted[i]))
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                           "category %u is not in the variable's list", i + 1);
        else if (part->domain == SHOAL_DOMAIN_CLOSED && sorted[i] == SHOAL_ITEM_NONE && i + 1 < n)
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                           "\"none of the list\" is not the last item");
    }
    if (err == SHOAL_OK) qsort(sorted, n, sizeof *sorted, compare_items);
    for (uint32_t i = 1; err == SHOAL_OK && i < n; i++)
        if (sorted[i] == sorted[i - 1])
            err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "a category is named twice");
    free(sorted);
    return err;
}

// Copies the items, and finds which is "none of the list" without a column.
static agg_err copy_items(agg_joint_items *items, agg_error *error,
                          const agg_joint_categories *categories)
{
    const shoal_part *part = items->part;
    bool has_none = false, is_closed = part->domain == SHOAL_DOMAIN_CLOSED;
    for (uint32_t i = 0; is_closed && i < categories->n_items; i++)
        if (categories->items[i] == SHOAL_ITEM_NONE) has_none = true;
    bool is_whole = is_closed && categories->n_items - (uint32_t)has_none == part->size;
    if (is_whole && has_none && categories->has_other)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the categories leave nothing for Other");
    items->has_other = categories->has_other && !is_whole;
    items->n = categories->n_items + (categories->has_other && is_whole ? 1 : 0);
    items->items = agg_alloc(error, items->n, sizeof *items->items);
    items->columns = agg_alloc(error, (size_t)items->n * items->hashes, sizeof *items->columns);
    if (items->items == NULL || items->columns == NULL) return AGG_ERR_MEMORY;
    items->none = items->n;
    for (uint32_t i = 0; i < items->n; i++) {
        items->items[i] = i < categories->n_items ? categories->items[i] : SHOAL_ITEM_NONE;
        if (is_closed && items->items[i] == SHOAL_ITEM_NONE && !items->marks->none_has_column)
            items->none = i;
    }
    return SHOAL_OK;
}

agg_err agg_joint_items_init(agg_joint_items *items, agg_error *error, const shoal_part *part,
                             const agg_joint_marks *marks, const agg_joint_categories *categories)
{
    bool is_list = part->domain == SHOAL_DOMAIN_CLOSED;
    memset(items, 0, sizeof *items);
    items->marks = marks;
    items->part = part;
    items->is_hashed = marks->row_shares != NULL && (!is_list || part->hash == SHOAL_HASH_AFFINE1);
    items->hashes = part->hashes > 1 ? part->hashes : 1;
    items->n_columns = items->is_hashed ? part->m : part->size + (uint32_t)marks->none_has_column;
    if (marks->place != NULL) items->n_columns = part->k * part->m;
    marks->set_coins(&items->coins, part);
    agg_err err = check_items(error, part, categories);
    if (err == SHOAL_OK) err = copy_items(items, error, categories);
    if (err == SHOAL_OK && !items->is_hashed) find_entries(items);
    return err;
}

void agg_joint_items_release(agg_joint_items *items)
{
    free(items->items);
    free(items->columns);
    memset(items, 0, sizeof *items);
}

void agg_joint_items_name_columns(bool *is_named, const agg_joint_items *items)
{
    memset(is_named, 0, items->n_columns * sizeof *is_named);
    for (uint32_t i = 0; i < items->n; i++)
        for (uint32_t h = 0; h < items->hashes && i != items->none; h++)
            if (items->columns[i * items->hashes + h] != AGG_JOINT_NO_COLUMN)
                is_named[items->columns[i * items->hashes + h]] = true;
}
