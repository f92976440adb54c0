// SPDX-License-Identifier: Apache-2.0
// The likelihood of a record under each category of a variable, up to a factor that depends on the
// record alone. An estimate of a joint distribution needs nothing else of a mechanism (fanti-2016
// sections 3.1 and 3.2, appendix D). Every mechanism of mechanisms.def except one-bit-mean has such
// likelihoods. They are computed from the thresholds with which coins are really drawn.
//
// A category is an item, "none of the list" (SHOAL_ITEM_NONE, in a closed domain), or, as the last
// one, "Other": every value that no other category names. The law of Other's records is not known.
// It is estimated from the sums over all records, less what the named categories add to them:
//
//     a value has one column of a row, or is an entry of the list:
//         P(record | Other) = sum over columns c of v_c P(record | c)
//     a value sets several bits (RAPPOR with hashes > 1; section 3.2):
//         P(record | Other) = product over bits of v_c P(bit | set) + (1 - v_c) P(bit | not set)
//
// v_c is the share of Other's devices whose value has column c, estimated for each cohort or row by
// itself: (t_c - sum of the named categories' shares that have c) / (1 - sum of all their shares),
// where t_c is the unbiased share among all reports. v_c is clamped to [0, 1], so that the result
// lies between the laws of values with that column and without.
//
// Unnamed columns. Only the shares of columns that some named category has are estimated. The other
// columns do not tell named categories apart, and estimating their shares from the same reports
// costs more than they tell. With all 100 bits of the paper's Tables 1 and 2 the share of (Other,
// Other) came out 0.25 % of the reports too large, half a standard error. Without them standard
// errors grow by 1 to 4 % and nothing is biased (docs/joint-study.md). So:
//
//   - Bits with a coin each: unnamed bits are left out of the record.
//   - Answers and sets: a record tells that an unnamed column came, not which one. So the law
//     of Other over a list is known and is not estimated.
//   - HCMS: the signs of all columns are those of one transform, and a few named columns can
//     span all. Unnamed columns share equally what the named ones leave.
//   - Hadamard response: the signs of unnamed columns are left out, since they agree with those
//     of a named column in every other row of the transform. (With three named columns in one block
//     this does not hold for every pattern of rows; the error is accepted.) The block of a record
//     remains, and the blocks' shares are estimated.
//
// Hashed rows. v is b + l (v - b). Here b is the share of a random value (1/m in a row of m
// columns) and l = max(0, 1 - 1000 S/T). S is the variance of that row's v, and T the variance of v
// over all rows beyond S; both are estimated. So v is used only in rows with so many reports that
// it is nearly exact. All other rows get the law of a random value, which is right on average over
// rows. With v as it is (the paper's estimate), or with l = T/(T + S), each report contributes to
// the v that judges it, and v is clamped at 0. A small Other then came out too large: with 5 % of
// 100,000 reports about one more string, by 1 to 7 % of all reports, for cms with 16 columns in 64
// rows or with 64 columns in one row. With the rule above it is right to 0.3 %.
#ifndef JOINT_LIKELIHOOD_H
#define JOINT_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "mechanism.h"
#include "sketch.h"

// The categories of one variable.
typedef struct agg_joint_categories {
    uint32_t part;         // of the record, from 0
    uint32_t n_items;      // 0 only if has_other
    const uint64_t *items; // all different; SHOAL_ITEM_NONE of a list only as the last
    const double *shares;  // of all reports, one an item; clamped to [0, 1]. NULL: estimated
    bool has_other;        // "Other" is one category more, the last
} agg_joint_categories;

// Returns: the number of categories, "Other" included.
static inline uint32_t agg_joint_categories_count(const agg_joint_categories *categories)
{
    return categories->n_items + (categories->has_other ? 1 : 0);
}

typedef struct agg_joint_law agg_joint_law;

// Makes the law of one part's records.
//   part, sketch: kept by reference; `sketch` holds the sums of all n records
//   categories: read during the call
// Returns: SHOAL_ERR_MECHANISM for a mechanism without a likelihood; SHOAL_ERR_RANGE for an item
// that the part does not take or that comes twice, for no category, or for "Other" where the items
// leave nothing for it. Cost: with "Other" and hashed rows one pass over the sketch (hcms: one
// transform). Memory: at most 25 bytes a column or value.
agg_err agg_joint_law_make(agg_joint_law **law, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, uint64_t n,
                           const agg_joint_categories *categories,
                           unsigned n_threads) SHOAL_MUST_CHECK;
void agg_joint_law_free(agg_joint_law *law);

// Returns: the row (cohort) that a record states; 0 where there is only one.
uint32_t agg_joint_law_row(const agg_joint_law *law, const uint8_t *record);

// Writes the likelihood of a checked record under each category, divided by the largest of them.
//   likelihood: agg_joint_categories_count numbers
//   record: the part's record_size bytes
// Cost: the first record of a row takes m + categories * hashes steps, so call row by row.
void agg_joint_law_weigh(double *likelihood, agg_joint_law *law, const uint8_t *record);

#endif
