// SPDX-License-Identifier: Apache-2.0
// What the ingestion server takes of memory, found from its configuration before it listens:
// whatever is sent to it then, as fast as it may be, it takes no more. Where --memory is less than
// it would take, it holds less at once.
//
// One thing grows with the store: collections that keep distinct records (record_set.h). There is
// room for as many again as there are; a fold that finds more says so anew, or leaves the batches
// waiting where --memory has no room.
#ifndef SERVE_MEMORY_H
#define SERVE_MEMORY_H

#include <stdbool.h>

#include "collection.h"
#include "http_listener.h"
#include "serve_config.h"
#include "store.h"

typedef struct serve_plan {
    agg_http_room room; // of the listener
    size_t fold_bytes;  // of records that a fold groups at once
    size_t kept_bytes;  // of estimates that are kept
    uint64_t bytes;     // that all takes at its peak, without the program
    uint64_t limit;     // of --memory; 0: none
} serve_plan;

// Plans what is held at once: as much as is usual, or as fits the limit; the least where nothing
// does.
//   limit: bytes, without the program; 0: none
// Sets records_room of the collections that keep records.
agg_err serve_memory_plan(serve_plan *plan, agg_error *error, const serve_config *config,
                          const serve_collections *collections, agg_store *store,
                          uint64_t limit) SHOAL_MUST_CHECK;

// Sees to it that what is kept of a collection's records, and what waits, has room. Grows the plan,
// or refuses where there is a limit. Returns: AGG_ERR_MEMORY where it does not fit
agg_err serve_memory_check(serve_plan *plan, agg_error *error, serve_collection *collection,
                           agg_store *store, bool *has_grown) SHOAL_MUST_CHECK;

// Makes the C library give large blocks back to the system as soon as they are free, instead of
// keeping them for the next. At the start.
void serve_memory_settle(void);

#endif
