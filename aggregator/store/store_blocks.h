// SPDX-License-Identifier: Apache-2.0
// Rows of the table of blocks, which is the ledger of what is released; see store.h. Only this room
// includes this header.
#ifndef STORE_BLOCKS_H
#define STORE_BLOCKS_H

#include "copies.h"
#include "store_statements.h"

#define AGG_BLOCK_FILE_SIZE 80

typedef struct agg_block {
    int64_t number, first_number;   // several where blocks were merged
    int32_t arrival;                // day of the first batch
    int32_t first_day, last_day;    // on which it closed; 0 while it is open
    int64_t records;                // that are folded
    int64_t generation;             // of the file; 0 where there is none
    char file[AGG_BLOCK_FILE_SIZE]; // name in accumulators/; "" of aggregation "sum"
    agg_copies_seen copies;         // of a closed block
} agg_block;

// Names the file of a block's generation.
void agg_block_name_file(agg_block *block, int64_t collection);

// Finds the open block, or makes one of the next number that holds nothing and is not entered yet.
// Call with db_mutex held.
agg_err agg_store_find_open(agg_store *store, agg_block *block, agg_error *error,
                            int64_t collection) SHOAL_MUST_CHECK;

// Enters a block or replaces the open one of its number. Call inside a transaction.
//   body: NULL where the block is a file
// Returns: AGG_ERR_IO for a number of a closed block.
agg_err agg_store_set_block(agg_store *store, agg_error *error, int64_t collection,
                            const agg_block *block, bool is_closed, const void *body,
                            size_t len) SHOAL_MUST_CHECK;

// Lists a collection's closed blocks by number. Takes db_mutex.
//   list: free it, also after an error
agg_err agg_store_list_blocks(agg_store *store, agg_block **list, size_t *n, agg_error *error,
                              int64_t collection) SHOAL_MUST_CHECK;

#endif
