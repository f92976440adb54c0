// SPDX-License-Identifier: Apache-2.0
// A multiset of records. An accumulator keeps one where its estimator needs to know which parts
// came together (decision 7 of docs/design.md). Each distinct record is stored once, with a count,
// in ascending order of its bytes. So equal multisets have equal bytes, however they were added and
// merged.
//
// Memory: record_size + 4 bytes a distinct record, at most AGG_RECORD_SET_BYTES, enough for 10^7
// records of 100 bytes. Adding takes 16 more bytes per added record. Must not depend on recipes or
// mechanisms.
#ifndef RECORD_SET_H
#define RECORD_SET_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

#define AGG_RECORD_SET_BYTES ((uint64_t)1 << 30)

typedef struct agg_record_set {
    uint32_t record_size; // bytes; 0 in an accumulator that keeps sums alone
    uint64_t n_distinct;
    uint8_t *records; // n_distinct * record_size bytes, ascending
    uint32_t *counts; // n_distinct, each at least 1
    size_t records_cap, counts_cap;
} agg_record_set;

// Makes an empty set, which holds no memory yet.
//   record_size: at least 1
void agg_record_set_init(agg_record_set *set, uint32_t record_size);
void agg_record_set_release(agg_record_set *set);

// Adds `count` records, once each. The caller makes sure that no count exceeds 2^32 - 1.
//   records: count * record_size bytes
// Returns: SHOAL_ERR_OVERFLOW, with nothing added, when the distinct records would not fit
// AGG_RECORD_SET_BYTES. Cost: sorting the added records, then one pass over the set.
agg_err agg_record_set_add(agg_record_set *set, agg_error *error, const uint8_t *records,
                           uint32_t count) SHOAL_MUST_CHECK;

// Adds another set of the same record size. Errors and limits: as for agg_record_set_add.
agg_err agg_record_set_merge(agg_record_set *into, agg_error *error,
                             const agg_record_set *from) SHOAL_MUST_CHECK;

// Reserves memory for `n_distinct` records, for a caller that writes them in order and then sets
// n_distinct. Returns: SHOAL_ERR_OVERFLOW as above.
agg_err agg_record_set_reserve(agg_record_set *set, agg_error *error,
                               uint64_t n_distinct) SHOAL_MUST_CHECK;

// Returns: record i.
static inline const uint8_t *agg_record_set_at(const agg_record_set *set, uint64_t i)
{
    return set->records + i * set->record_size;
}

#endif
