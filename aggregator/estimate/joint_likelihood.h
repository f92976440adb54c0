// SPDX-License-Identifier: Apache-2.0
// How likely a record is under each category of a variable, up to a factor of the record alone: all
// that an estimate of a joint distribution needs of a mechanism (fanti-2016 sections 3.1 and 3.2,
// appendix D). For every mechanism of mechanisms.def but one-bit-mean, from the thresholds that
// coins are really drawn with.
//
// A category is an item, "none of the list" (SHOAL_ITEM_NONE, in a closed domain), or, as the last
// one, "Other": every value that no category before it names. What "Other" sends is not known; it
// is estimated from the sums over all records, less what the named categories add to them:
//
//     a value sets one column of a row (or is an entry of the list)     P(record | Other) = sum
//     over columns c of v_c P(record | c) a value sets several bits (RAPPOR with hashes > 1;
//     section 3.2)    P(record | Other) = product over bits of v_c P(bit | set) + (1 - v_c) P(bit |
//     not)
//
// v_c is the share of Other's devices whose value has column c, of each cohort or row for itself:
// (t_c - sum of the named categories' shares that have c) / (1 - sum of all their shares), t_c the
// share among all reports, unbiased. It is clamped to [0, 1], so that what comes of it stays
// between what the mechanism sends for a value with that column and without.
//
// Only columns that some named category has are estimated so. The others tell no two named
// categories apart, and estimating their shares of the same reports costs more than they say: with
// all 100 bits of the paper's Tables 1 and 2 the share of (Other, Other) came out 0.25 % of the
// reports too large, half a standard error; without, the standard errors grow by 1 to 4 % and
// nothing is off (docs/joint-study.md). Bits that are thrown each for itself are left out of the
// record, and of answers and sets it counts that such a column came, not which; so Other's law over
// a list is known and not estimated. The signs of HCMS's columns are those of one transform: there
// what is left is shared alike by such columns, of which few named ones can span all. Of a Hadamard
// response the signs of such columns are left out, since they agree with a named one's in every
// other row of the transform. (With three named columns in one block, not in every pattern of rows;
// that is left as it is.) There remains which block a record came from; the blocks' shares are
// estimated.
//
// Of hashed rows v is b + l (v - b), b what a random value would have (1/m of a row of m columns),
// l = max(0, 1 - 1000 S/T), S the variance of that row's v and T the variance of v over all rows
// beyond S, both estimated. So v is believed only where reports are so many that it is as good as
// known, and rows count as those of a random value otherwise, which is right on average over rows.
// With v as it is (the paper's estimate), or with l = T/(T + S), each report finds itself in v, v
// is cut at 0, and a small Other came out too large: with 5 % of 100,000 reports about one more
// string, by 1 to 7 % of all reports over cms of 16 columns in 64 rows or of 64 in one, where now
// it is right to 0.3 %.
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
    uint32_t part;         // of the record, 0 ..
    uint32_t n_items;      // 0 only where there is `has_other`
    const uint64_t *items; // all different; SHOAL_ITEM_NONE of a list only as the last
    const double *
        shares; // of all reports, one an item, clamped to [0, 1] here; NULL: the marginal estimates
    bool has_other; // one category more, the last
} agg_joint_categories;

// Returns: how many categories there are, "Other" counted.
static inline uint32_t agg_joint_categories_count(const agg_joint_categories *categories)
{
    return categories->n_items + (categories->has_other ? 1 : 0);
}

typedef struct agg_joint_law agg_joint_law;

// Makes the law of one part's records.
//   part, sketch, categories: kept by reference; `sketch` holds the sums of all n records
// Returns: SHOAL_ERR_MECHANISM for one without a likelihood; SHOAL_ERR_RANGE for an item that the
// part does not take or that comes twice, no category, or "Other" where the items leave nothing
// over. Cost: with "Other", of hashed rows, one pass over the sketch (hcms: one transform). Memory:
// 8 bytes a column or value.
agg_err agg_joint_law_make(agg_joint_law **law, agg_error *error, const shoal_part *part,
                           const agg_sketch *sketch, uint64_t n,
                           const agg_joint_categories *categories,
                           unsigned n_threads) SHOAL_MUST_CHECK;
void agg_joint_law_free(agg_joint_law *law);

// Returns: the row (cohort) that a record states; 0 where there is one only.
uint32_t agg_joint_law_row(const agg_joint_law *law, const uint8_t *record);

// Writes the likelihood of a checked record under each category over that of the likeliest: the
// largest is 1.
//   likelihood: agg_joint_categories_count numbers
//   record: the part's record_size bytes
// Cost: of the first record of another row than the last call's m + categories * hashes; so call
// row by row.
void agg_joint_law_weigh(double *likelihood, agg_joint_law *law, const uint8_t *record);

#endif
