// SPDX-License-Identifier: Apache-2.0
// What writing and reading the file of an accumulator need beside the public functions. Private to
// sketch/.
#ifndef ACCUMULATOR_PARTS_H
#define ACCUMULATOR_PARTS_H

#include <stdbool.h>

#include "accumulator.h"

#define AGG_ACCUMULATOR_MAGIC "shoalacc"
#define AGG_ACCUMULATOR_MAGIC_LEN 8u
#define AGG_ACCUMULATOR_HEADER 124u
#define AGG_ACCUMULATOR_SHAPE 12u
#define AGG_ACCUMULATOR_CLAIMS_HEAD 8u  // flags and number of ids, of version 3
#define AGG_ACCUMULATOR_SHARDS_HEAD 20u // flags, numbers of ids and manifests, rows, of version 4

// Flags of versions 3 and 4.
#define AGG_ACCUMULATOR_HAS_RECORDS 1u
#define AGG_ACCUMULATOR_IS_INCOMPLETE 2u

// Returns: whether a list of so many ids can be that of n records: not too long, and no id without
// a record; a complete one has an id if there are records; an incomplete one leaves a record to
// none of its ids, and has an id, since otherwise the file is of an older version.
bool agg_accumulator_claims_fit(const agg_claims *claims, uint64_t n);

// Finds which rows of a part an accumulator holds.
agg_part_rows agg_accumulator_part_rows(const agg_accumulator *acc, const agg_shape *shapes,
                                        uint32_t part);

// Makes an empty sketch of each shape. On error *acc is released.
//   acc: zeroed but for its hash, id, n, claims and rows
agg_err agg_accumulator_init_parts(agg_accumulator *acc, agg_error *error, const agg_shape *shapes,
                                   uint32_t n_parts) SHOAL_MUST_CHECK;

// Adds the records that are kept to the parts' sketches, each as often as its count says. The
// sketches are empty.
agg_err agg_accumulator_sum_records(agg_accumulator *acc, agg_error *error) SHOAL_MUST_CHECK;

#endif
