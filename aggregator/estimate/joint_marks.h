// SPDX-License-Identifier: Apache-2.0
// The marks of a mechanism's records, from which likelihoods follow; a member of its agg_estimator.
// Private to estimate/.
//
// A record marks some of the columns of a row, or some of the entries of a list: the bits that are
// 1, the answer, a set, or the columns whose sign is the one sent. A record's likelihood under a
// value is the product over the value's own columns of `hit` if the column is marked, and `miss` if
// not. It is relative to the likelihood under a value that has none of the columns.
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
    double hit, miss;          // likelihood factor of an own column that is marked, and not marked
    double none;               // likelihood of "none of the list" if it has no column
} agg_joint_coins;

// What the columns that no category has say about "Other".
enum agg_joint_columns {
    AGG_JOINT_APART, // nothing more than the named columns: every bit is drawn independently
    AGG_JOINT_ALIKE, // that one of them is marked; which one does not matter
    AGG_JOINT_BLOCKS // that one of a block is marked; columns within a block are independent
};

struct agg_joint_marks {
    enum agg_joint_columns columns;
    void (*set_coins)(agg_joint_coins *coins, const shoal_part *part);
    uint32_t (*row)(const shoal_part *part, const uint8_t *record); // NULL for a single row
    bool (*is_marked)(const shoal_part *part, const uint8_t *record, uint32_t column);
    // Returns: the sum of the weights of a record's marked columns, after `transform` of the
    // weights if there is one.
    double (*sum_marked)(const double *weights, const shoal_part *part, const uint8_t *record);
    void (*transform)(double *weights, const shoal_part *part);
    // Returns: the place among k * m at which an entry that no category has adds its weight, that
    // of its block. NULL if there are no blocks.
    uint32_t (*place)(const shoal_part *part, uint32_t x);
    // Computes for each column the unbiased share of a row's reports whose value has it. NULL if
    // columns are the entries of a list.
    void (*row_shares)(double *shares, const agg_joint_coins *coins, const agg_sketch *sketch,
                       uint32_t j, double reports);
    bool is_set;          // a record may mark any subset of a list
    bool none_has_column; // "none of the list" is the column behind the entries
};

// Returns: the marks of a mechanism id; NULL if its answers name no category.
static inline const agg_joint_marks *agg_joint_marks_of(uint32_t mechanism)
{
    const agg_estimator *estimator = agg_estimator_of(mechanism);
    return estimator != NULL ? estimator->marks : NULL;
}

// ---- marks that several mechanisms share ----

// Returns: the probability of the truth, 1 - threshold / 2^64, rounded once.
double agg_marks_truth(const shoal_part *part);

// Sets the coins of independent bits, which are 1 with probability q if the bit is the value's own,
// and p if not.
void agg_marks_set_bits(agg_joint_coins *coins, double p, double not_p, double q, double not_q);

// Sets the coins of bits that the rare side flips; and of one answer of m, which is the truth or,
// with equal probabilities, any other.
void agg_marks_flipped_bits(agg_joint_coins *coins, const shoal_part *part);
void agg_marks_one_answer(agg_joint_coins *coins, const shoal_part *part);

// Returns: the row, in records that begin with it.
uint32_t agg_marks_first_word(const shoal_part *part, const uint8_t *record);

// Read records of m bits, after their row or alone.
bool agg_marks_is_bit_of_row(const shoal_part *part, const uint8_t *record, uint32_t column);
double agg_marks_sum_bits_of_row(const double *weights, const shoal_part *part,
                                 const uint8_t *record);
bool agg_marks_is_bit(const shoal_part *part, const uint8_t *record, uint32_t column);
double agg_marks_sum_bits(const double *weights, const shoal_part *part, const uint8_t *record);

// Read records of one answer, row * m + answer.
bool agg_marks_is_answer(const shoal_part *part, const uint8_t *record, uint32_t column);
double agg_marks_weight_of_answer(const double *weights, const shoal_part *part,
                                  const uint8_t *record);

// Computes the shares of a row's reports from cells that count ones.
void agg_marks_shares_of_ones(double *shares, const agg_joint_coins *coins,
                              const agg_sketch *sketch, uint32_t j, double reports);

#endif
