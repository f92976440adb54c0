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

static agg_err read_sums(agg_store *store, agg_release_sum **sums, size_t *n, agg_error *error)
{
    static const char what[] = "released sums";
    sqlite3_stmt *statement =
        agg_database_bind(&store->database, STATEMENT_RELEASED_OF_ALL, NULL, 0);
    size_t cap = 0;
    bool is_row;
    agg_err err = agg_database_step(&store->database, &is_row, error, statement, what);
    while (err == SHOAL_OK && is_row) {
        if (*n == cap) err = agg_grow((void **)sums, &cap, *n + 1, sizeof **sums, error);
        if (err != SHOAL_OK) break;
        (*sums)[(*n)++] = (agg_release_sum){.collection = sqlite3_column_int64(statement, 0),
                                            .blocks = (uint64_t)sqlite3_column_int64(statement, 1),
                                            .records = (uint64_t)sqlite3_column_int64(statement, 2),
                                            .last_day = sqlite3_column_int(statement, 3)};
        err = agg_database_step(&store->database, &is_row, error, statement, what);
    }
    agg_statement_end(statement);
    return err;
}

agg_err agg_store_release_sums(agg_store *store, agg_release_sum **sums, size_t *n,
                               agg_error *error)
{
    *sums = NULL;
    *n = 0;
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = read_sums(store, sums, n, error);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

agg_release_sum agg_release_sum_of(const agg_release_sum *sums, size_t n, int64_t collection)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sums[middle].collection < collection)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < n && sums[low].collection == collection) return sums[low];
    return (agg_release_sum){.collection = collection};
}
