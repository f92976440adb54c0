// SPDX-License-Identifier: Apache-2.0
// What a server needs of the strings that a page has: their rows, which recipes have them, and the
// memory that they take.
#ifndef STATIC_FOUND_H
#define STATIC_FOUND_H

#include "print_text.h"
#include "static_discovery.h"

// Prints all strings found, as `shoal discover` does.
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_static_found_print(FILE *out, agg_error *error, const agg_static_found *found,
                               agg_format format) SHOAL_MUST_CHECK;

// Returns: whether the recipe's mechanism finds strings, and finds them at once.
bool agg_static_found_is_told(const agg_recipe *recipe);

// Returns: the bytes that a page about the strings of such a recipe takes besides two accumulators.
//   accumulator: bytes of one
uint64_t agg_static_found_memory(const agg_recipe *recipe, uint64_t accumulator,
                                 unsigned n_threads);

#endif
