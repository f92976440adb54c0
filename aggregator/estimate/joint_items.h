// SPDX-License-Identifier: Apache-2.0
// The named categories of a variable: their items, and the columns that each has in a row or in the
// list. Private to estimate/.
#ifndef JOINT_ITEMS_H
#define JOINT_ITEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "joint_likelihood.h"
#include "joint_marks.h"

#define AGG_JOINT_NO_COLUMN UINT32_MAX // stands for a column that the same item has twice

typedef struct agg_joint_items {
    const agg_joint_marks *marks;
    const shoal_part *part;
    agg_joint_coins coins;
    bool is_hashed;     // columns are a row's, and follow from a hash; else they are the list's
    bool has_other;     // there is a category "Other" whose law is not known
    uint32_t n;         // items
    uint32_t hashes;    // columns of an item
    uint32_t n_columns; // of a row, or of the list
    uint32_t none;      // the item "none of the list" where it has no column; else n
    uint64_t *items;
    uint32_t *columns; // n * hashes: an item's columns in the list, or in the row that was found
} agg_joint_items;

// Copies the items of the categories. Where they name the whole list, "Other" is "none of the
// list", whose law is known.
//   part: kept by reference
// Returns: SHOAL_ERR_RANGE as agg_joint_law_make says. On error *items may be released.
agg_err agg_joint_items_init(agg_joint_items *items, agg_error *error, const shoal_part *part,
                             const agg_joint_marks *marks,
                             const agg_joint_categories *categories) SHOAL_MUST_CHECK;
void agg_joint_items_release(agg_joint_items *items);

// Finds the items' columns in row j, where rows are hashed.
void agg_joint_items_find_row(agg_joint_items *items, uint32_t j);

// Writes which columns some item has.
//   is_named: n_columns
void agg_joint_items_name_columns(bool *is_named, const agg_joint_items *items);

#endif
