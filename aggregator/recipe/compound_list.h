// SPDX-License-Identifier: Apache-2.0
// The compounds of compounds.def, one after the other, for messages and tools that go through all.
#ifndef COMPOUND_LIST_H
#define COMPOUND_LIST_H

#include <stdbool.h>

#include "compound.h"

// Returns: the index-th compound of the registry, or NULL behind the last.
const shoal_compound *agg_compound_at(uint32_t index);

// Returns: the compound whose recipes are runs over epochs.
//   has_items: the one that estimates shares of values; else the one that estimates a mean
const shoal_compound *agg_compound_of_run(bool has_items);

// Returns: whether a mechanism, by its id, is a compound whose recipes must state all these fields.
//   takes: bits of SHOAL_TAKES_*
bool agg_compound_needs(uint32_t mechanism, uint32_t takes);

#endif
