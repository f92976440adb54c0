// SPDX-License-Identifier: Apache-2.0
// Functions of accumulators that reading their file needs beside the public ones. Private to
// sketch/.
#ifndef ACCUMULATOR_PARTS_H
#define ACCUMULATOR_PARTS_H

#include <stdbool.h>

#include "accumulator.h"

// Makes an empty sketch of each shape. On error *acc is released.
//   acc: zeroed but for its hash, id and n
agg_err agg_accumulator_init_parts(agg_accumulator *acc, agg_error *error, const agg_shape *shapes,
                                   uint32_t n_parts) SHOAL_MUST_CHECK;

// Adds the records that are kept to the parts' sketches, each as often as its count says. The
// sketches are empty.
agg_err agg_accumulator_sum_records(agg_accumulator *acc, agg_error *error) SHOAL_MUST_CHECK;

#endif
