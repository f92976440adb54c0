// SPDX-License-Identifier: Apache-2.0
// Loads what a static report is made of. Private to the static report.
#ifndef STATIC_LOAD_H
#define STATIC_LOAD_H

#include "static_report.h"

// Adds up all accumulators of one recipe, which refuses reports that two of them count.
//   sum: to be released on OK
// Returns: as the report's `load`; SHOAL_ERR_DUPLICATE, with the accumulator's name in front.
agg_err agg_static_load_sum(agg_accumulator *sum, agg_error *error,
                            const agg_static_report *report) SHOAL_MUST_CHECK;

#endif
