// SPDX-License-Identifier: Apache-2.0
// The ledger of what is released, for books that people read.
#ifndef STORE_RELEASES_H
#define STORE_RELEASES_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_store agg_store;

// One closed block.
typedef struct agg_release_row {
    int64_t first_number, last_number; // the same number unless retention merged blocks
    int32_t first_day, last_day;       // on which they closed; days since 1970-01-01 UTC
    uint64_t records;
} agg_release_row;

// Lists a collection's closed blocks by number.
//   rows: free it, also after an error
// Privacy: sizes of closed blocks, each at least the recipe's block minimum. Nothing that waits,
// and nothing of the open block.
agg_err agg_store_releases(agg_store *store, agg_release_row **rows, size_t *n, agg_error *error,
                           int64_t collection) SHOAL_MUST_CHECK;

#endif
