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

// What is released of one collection.
typedef struct agg_release_sum {
    int64_t collection;
    uint64_t blocks; // closed; merged ones count as one
    uint64_t records;
    int32_t last_day; // on which one closed
} agg_release_sum;

// Sums up the closed blocks of all collections in one question to the database, because a thousand
// questions take as long as a page may take.
//   sums: by the collection's number, without those that have no closed block; free it, also after
//   an error
// Privacy: as agg_store_releases.
agg_err agg_store_release_sums(agg_store *store, agg_release_sum **sums, size_t *n,
                               agg_error *error) SHOAL_MUST_CHECK;

// Returns: the sum of a collection; zeros where it has none.
agg_release_sum agg_release_sum_of(const agg_release_sum *sums, size_t n, int64_t collection);

#endif
