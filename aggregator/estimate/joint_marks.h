// SPDX-License-Identifier: Apache-2.0
// What the records of a mechanism mark, for likelihoods: a member of its agg_estimator. Private to
// estimate/.
//
// Every mechanism here sends, of the columns of a row or the entries of a list, some that are
// marked: bits that are 1, the answer, a set, the columns whose sign is the one sent. A record's
// likelihood under a value is that of the value's own columns: `hit` for each that is marked and
// `miss` for each that is not, over the likelihood of a value that had none of them.
#ifndef JOINT_MARKS_H
#define JOINT_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "estimator.h"
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

struct agg_joint_marks {
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
    bool is_set;          // a record marks any subset of a list
    bool none_has_column; // "none of the list" is the column behind the entries
};

// Returns: the marks of a mechanism id, or NULL for one whose answers name no category.
static inline const agg_joint_marks *agg_joint_marks_of(uint32_t mechanism)
{
    const agg_estimator *estimator = agg_estimator_of(mechanism);
    return estimator != NULL ? estimator->marks : NULL;
}

// ---- marks that several mechanisms share ----

// Returns: the probability of the truth, 1 - threshold / 2^64, rounded once.
double agg_marks_truth(const shoal_part *part);

// Sets the coins of bits that are thrown each for itself: 1 with p where the bit is not the
// value's own, with q where it is.
void agg_marks_set_bits(agg_joint_coins *coins, double p, double not_p, double q, double not_q);

// Coins of bits that the rare side flips, and of one answer of m: the truth, or each other alike.
void agg_marks_flipped_bits(agg_joint_coins *coins, const shoal_part *part);
void agg_marks_one_answer(agg_joint_coins *coins, const shoal_part *part);

// Records that begin with their row.
uint32_t agg_marks_first_word(const shoal_part *part, const uint8_t *record);

// Records of m bits, behind their row or alone.
int agg_marks_is_bit_of_row(const shoal_part *part, const uint8_t *record, uint32_t column);
double agg_marks_sum_bits_of_row(const double *weights, const shoal_part *part,
                                 const uint8_t *record);
int agg_marks_is_bit(const shoal_part *part, const uint8_t *record, uint32_t column);
double agg_marks_sum_bits(const double *weights, const shoal_part *part, const uint8_t *record);

// Records of one answer, row m + answer.
int agg_marks_is_answer(const shoal_part *part, const uint8_t *record, uint32_t column);
double agg_marks_weight_of_answer(const double *weights, const shoal_part *part,
                                  const uint8_t *record);

// Shares of a row's reports from cells that count ones.
void agg_marks_shares_of_ones(double *shares, const agg_joint_coins *coins,
                              const agg_sketch *sketch, uint32_t j, double reports);

#endif
