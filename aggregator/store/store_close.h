// SPDX-License-Identifier: Apache-2.0
// Closing blocks at ticks, and loading closed blocks; see store.h, which includes this header.
#ifndef STORE_CLOSE_H
#define STORE_CLOSE_H

#include "accumulator.h"
#include "copies.h"
#include "period.h"

typedef struct agg_store agg_store;

// Closes the open block if a tick has passed since the last call and the block holds at least
// recipe->block_minimum records. Several ticks that were missed close one block. The first call for
// a collection, and a call after the clock was set back, only note the tick.
//   n_records: of the block that was closed; 0 when none was
//   now_s: seconds since 1970-01-01 00:00 UTC, read before the collection's last agg_store_fold, so
//   that everything that was put before the tick is in the block
//   tick_s: seconds between ticks (period.h)
// Cost: one transaction at a tick; nothing is written between ticks.
agg_err agg_store_close_block(agg_store *store, uint64_t *n_records, agg_error *error,
                              int64_t collection, const shoal_recipe *recipe, int64_t now_s,
                              uint32_t tick_s) SHOAL_MUST_CHECK;

// The blocks that an answer is made of.
typedef struct agg_released {
    uint64_t n;                        // blocks; merged ones count as one
    int64_t first_number, last_number; // in the ledger; the span between them may have others
    int32_t first_day, last_day;       // from the first arrival to the last closing
    agg_copies_seen copies;            // among their records
} agg_released;

// Finds the closed blocks that agg_store_load sums for a span, without reading them. They are the
// same blocks where this is the same, since closed blocks never change: an estimate that was made
// of them stands.
//   released: zeros when no block belongs to the span
agg_err agg_store_find_released(agg_store *store, agg_released *released, agg_error *error,
                                int64_t collection, agg_span span) SHOAL_MUST_CHECK;

// Sums the closed blocks that belong to a span: a block belongs to the day in which it closed, and
// a block that was merged to every day from its first closing to its last, so that a span that cuts
// it gets all of it. Release `acc` on OK.
//   acc: empty (n = 0) when no block belongs to the span
//   released: zeros then; may be NULL
// Privacy: the answer is a union of whole closed blocks. Each holds block_minimum records at least
// and never changes, so the reports behind any two answers differ by none or by the minimum.
agg_err agg_store_load(agg_store *store, agg_accumulator *acc, agg_released *released,
                       agg_error *error, int64_t collection, const shoal_recipe *recipe,
                       agg_span span) SHOAL_MUST_CHECK;

#endif
