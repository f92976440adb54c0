// SPDX-License-Identifier: Apache-2.0
// "Other" over hashed rows: the shares of the columns among its reports, estimated row by row from
// the sketch less what the items add (joint_likelihood.h says how). Private to estimate/.
#ifndef JOINT_OTHER_ROWS_H
#define JOINT_OTHER_ROWS_H

#include <stdbool.h>

#include "joint_mixture.h"

// The law of a value that sets several bits, each with a probability of its own.
typedef struct agg_joint_bits {
    double *log_odds;    // n_columns: what a marked column adds to the log-likelihood
    double log_unmarked; // the log-likelihood of a record without a marked column
} agg_joint_bits;

typedef struct agg_joint_other_rows {
    const agg_sketch *sketch;
    double n;              // reports
    double *item_shares;   // of all reports, one an item
    double share_of_other; // what the items leave
    double noise;          // variance of a column's share among Other's, times the row's reports
    double spread;         // how much columns' shares vary beyond the noise
    double *shares;        // n_columns: among Other's reports of the row that is modelled
    bool *is_named;        // n_columns: an item has the column in that row
    agg_joint_mixture mixture; // one column a value: Other's law in that row
    agg_joint_bits bits;       // several bits a value: the same
} agg_joint_other_rows;

// Estimates what all rows have in common. On error *other may be released.
//   items: found for other rows meanwhile
//   sketch: kept by reference; `n` reports
//   item_shares: one an item, clamped to [0, 1] here; NULL: the marginal estimates
// Cost: one pass over the sketch.
agg_err agg_joint_other_rows_init(agg_joint_other_rows *other, agg_error *error,
                                  agg_joint_items *items, const agg_sketch *sketch, uint64_t n,
                                  const double *item_shares, unsigned n_threads) SHOAL_MUST_CHECK;
void agg_joint_other_rows_release(agg_joint_other_rows *other);

// Makes the law of row j.
//   items: found for that row
void agg_joint_other_rows_model(agg_joint_other_rows *other, const agg_joint_items *items,
                                uint32_t j);

// Returns: the log-likelihood of a record of the row that was modelled, up to a number that depends
// on the record alone.
double agg_joint_other_rows_log(const agg_joint_other_rows *other, const agg_joint_items *items,
                                const uint8_t *record);

#endif
