// SPDX-License-Identifier: Apache-2.0
// Looks for damage in everything that a store holds.
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "log.h"
#include "pace.h"

typedef struct agg_store agg_store;

typedef struct agg_store_found {
    uint64_t n_checked; // accumulators, sums and waiting batches
    uint64_t n_damaged; // of these
    bool is_database_damaged;
    bool is_stopped; // the pace ended the check before all was looked at
} agg_store_found;

// Returns: whether any damage was found.
static inline bool agg_store_found_damage(const agg_store_found *found)
{
    return found->is_database_damaged || found->n_damaged > 0;
}

// Receives what was found, a line for each damaged thing. It names files.
typedef struct agg_store_told {
    agg_log_fn log; // NULL: nothing is told
    void *context;
} agg_store_told;

// Checks the structure of the database (agg_database_quick_check), the checksum of every
// accumulator, and that its recipe and number of records are those of its row. Sums and waiting
// batches within the database are checked alike, also those of recipes that are not served. Puts
// and folds go on meanwhile. What a fold replaces during the check is not damage.
//   pace: may be NULL
// Returns: an error only where the check itself could not be made; damage is in `found`.
// Cost: reads the whole store, in a few megabytes of memory. While sums and batches are read, the
// write-ahead log is not emptied.
agg_err agg_store_check(agg_store *store, agg_store_found *found, agg_error *error,
                        agg_store_told told, const agg_pace *pace) SHOAL_MUST_CHECK;

#endif
