// SPDX-License-Identifier: Apache-2.0
// The ledger of what is released; see store_releases.h.
#include "store_releases.h"

#include <stdlib.h>

#include "agg_size.h"
#include "store_blocks.h"

agg_err agg_store_releases(agg_store *store, agg_release_row **rows, size_t *n, agg_error *error,
                           int64_t collection)
{
    agg_block *blocks = NULL;
    *rows = NULL;
    *n = 0;
    agg_err err = agg_store_list_blocks(store, &blocks, n, error, collection);
    if (err == SHOAL_OK && *n > 0) {
        *rows = agg_alloc(error, *n, sizeof **rows);
        if (*rows == NULL) err = AGG_ERR_MEMORY;
    }
    for (size_t i = 0; err == SHOAL_OK && i < *n; i++)
        (*rows)[i] = (agg_release_row){.first_number = blocks[i].first_number,
                                       .last_number = blocks[i].number,
                                       .first_day = blocks[i].first_day,
                                       .last_day = blocks[i].last_day,
                                       .records = (uint64_t)blocks[i].records};
    free(blocks);
    return err;
}
