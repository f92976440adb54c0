// SPDX-License-Identifier: Apache-2.0
// What the records of each mechanism mark, for likelihoods: one row of a table a mechanism. Private
// to estimate/.
//
// Every mechanism here sends, of the columns of a row or the entries of a list, some that are
// marked: bits that are 1, the answer, a set, the columns whose sign is the one sent. A record's
// likelihood under a value is that of the value's own columns: `hit` for each that is marked and
// `miss` for each that is not, over the likelihood of a value that had none of them.
#ifndef JOINT_MARKS_H
#define JOINT_MARKS_H

#include <stdint.h>

#include "mechanism.h"
#include "sketch.h"

typedef struct agg_joint_coins {
    double own, other;         // P(a column is marked | it is the value's), P(... | it is not)
    double not_own, not_other; // their complements, rounded once
    double hit, miss;          // of an own column that is marked, that is not
    double none;               // of "none of the list" where it has no column
} agg_joint_coins;

// What columns that no category has say of "Other" beyond the named ones.
enum agg_joint_columns {
    AGG_JOINT_APART, // nothing: bits are thrown each for itself
    AGG_JOINT_ALIKE, // that one of them came, not which: they share what is left alike
    AGG_JOINT_BLOCKS // that one of its block came; within the block they are apart
};

typedef struct agg_joint_marks {
    uint32_t id;
    enum agg_joint_columns columns;
    void (*set_coins)(agg_joint_coins *coins, const shoal_part *part);
    uint32_t (*row)(const shoal_part *part, const uint8_t *record); // NULL: there is one only
    int (*is_marked)(const shoal_part *part, const uint8_t *record, uint32_t column);
    // Returns: the sum of the weights of a record's marked columns. Weights were transformed
    // before, where there is a transform.
    double (*sum_marked)(const double *weights, const shoal_part *part, const uint8_t *record);
    void (*transform)(double *weights, const shoal_part *part);
    // Returns: where an entry that no category has adds its weight among k * m: its block's. NULL
    // where there are no blocks.
    uint32_t (*place)(const shoal_part *part, uint32_t x);
    // Writes the share of a row's reports whose value has each column, unbiased. NULL where columns
    // are the list's entries.
    void (*row_shares)(double *shares, const agg_joint_coins *coins, const agg_sketch *sketch,
                       uint32_t j, double reports);
    int none_has_column; // "none of the list" is the column behind the entries
} agg_joint_marks;

// Returns: the row of a mechanism id, or NULL for one whose answers name no category.
const agg_joint_marks *agg_joint_marks_of(uint32_t mechanism);

#endif
