// SPDX-License-Identifier: Apache-2.0
// A set of batch ids, with which a batch that comes twice is counted once.
#ifndef BATCH_IDS_H
#define BATCH_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_batch_ids {
    uint8_t (*ids)[16];
    bool *is_used;
    size_t n, cap; // cap is a power of two or 0
} agg_batch_ids;

// Adds an id. *was_there: whether the set contained it already.
agg_err agg_batch_ids_add(agg_batch_ids *set, agg_error *error, const uint8_t id[16],
                          bool *was_there) SHOAL_MUST_CHECK;

// Returns: whether the set contains an id.
bool agg_batch_ids_have(const agg_batch_ids *set, const uint8_t id[16]);

// Moves all ids to the front of set->ids, in any order. The set can only be released then.
void agg_batch_ids_pack(agg_batch_ids *set);

// Returns: the most bytes that a set of n ids takes while it grows.
uint64_t agg_batch_ids_memory(uint64_t n);

void agg_batch_ids_release(agg_batch_ids *set);

#endif
