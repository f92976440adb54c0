// SPDX-License-Identifier: Apache-2.0
// The memory of `shoal serve`, planned from its configuration before it listens. It takes no more
// than planned, whatever clients send and however fast. With a small --memory it holds less at
// once.
//
// Only the distinct records of collections that keep them (record_set.h) grow with the store. The
// plan has room for twice the records that there are. A fold that finds more enlarges the plan and
// says so; when --memory has no room for it, the batches wait.
#ifndef SERVE_MEMORY_H
#define SERVE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>

#include "collection.h"
#include "http_listener.h"
#include "serve_config.h"
#include "store.h"

typedef struct serve_plan {
    agg_http_room room;    // the listener's
    size_t fold_bytes;     // bytes of records that a fold groups at once
    size_t kept_bytes;     // bytes of estimates and pages over time that are kept
    uint64_t views_bytes;  // bytes that making a view takes (serve_views.h)
    atomic_ullong bytes;   // peak of everything together, without the program
    uint64_t limit;        // --memory; 0: no limit
    size_t largest_answer; // bytes of the longest answer to a question
    uint64_t held;         // bytes of dictionaries and recipes
} serve_plan;

// Plans how much is held at once: the usual amount, or as much as fits the limit, or the least
// amount when even that does not fit. Sets records_room of the collections that keep records.
//   limit: bytes, without the program; 0: no limit
agg_err serve_memory_plan(serve_plan *plan, agg_error *error, const serve_config *config,
                          const serve_collections *collections, agg_store *store,
                          uint64_t limit) SHOAL_MUST_CHECK;

// Checks that a collection's kept records and its waiting batches have room, and enlarges the plan
// when they have not.
//   has_grown: whether the plan was enlarged
// Returns: AGG_ERR_MEMORY when the enlarged plan would exceed the limit.
agg_err serve_memory_check(serve_plan *plan, agg_error *error, serve_collection *collection,
                           agg_store *store, bool *has_grown) SHOAL_MUST_CHECK;

// Makes the C library return large blocks to the system as soon as they are free. Call it at the
// start.
void serve_memory_settle(void);

#endif
