// SPDX-License-Identifier: Apache-2.0
// Rows of blocks; see store_blocks.h.
#include "store_blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agg_size.h"

void agg_block_name_file(agg_block *block, int64_t collection)
{
    snprintf(block->file, sizeof block->file, "c%" PRId64 "-b%" PRId64 "-g%" PRId64 ".acc",
             collection, block->number, block->generation);
}

// Reads the current row: the columns of BLOCK_COLUMNS.
static agg_err read_block(const agg_store *store, agg_block *block, agg_error *error,
                          sqlite3_stmt *row)
{
    const char *file = (const char *)sqlite3_column_text(row, 7);
    *block = (agg_block){.number = sqlite3_column_int64(row, 0),
                         .first_number = sqlite3_column_int64(row, 1),
                         .arrival = (int32_t)sqlite3_column_int64(row, 2),
                         .first_day = (int32_t)sqlite3_column_int64(row, 3),
                         .last_day = (int32_t)sqlite3_column_int64(row, 4),
                         .records = sqlite3_column_int64(row, 5),
                         .generation = sqlite3_column_int64(row, 6),
                         .copies = {.n_examined = (uint64_t)sqlite3_column_int64(row, 8),
                                    .largest = (uint32_t)sqlite3_column_int64(row, 9),
                                    .is_whole = sqlite3_column_int64(row, 10) != 0}};
    if (file == NULL) return SHOAL_OK;
    size_t len = strlen(file);
    if (len >= sizeof block->file || strchr(file, '/') != NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a block's file has a wrong name",
                        store->database.folder);
    memcpy(block->file, file, len + 1);
    return SHOAL_OK;
}

agg_err agg_store_find_open(agg_store *store, agg_block *block, agg_error *error,
                            int64_t collection)
{
    bool is_row = false;
    int64_t last = 0;
    agg_database *database = &store->database;
    sqlite3_stmt *find = agg_database_bind(database, STATEMENT_BLOCK_OPEN, &collection, 1);
    agg_err err = agg_database_step(database, &is_row, error, find, "find the open block");
    if (err == SHOAL_OK && is_row) err = read_block(store, block, error, find);
    agg_statement_end(find);
    if (err != SHOAL_OK || is_row) return err;
    err = agg_database_read_integer(
        database, &last, error, agg_database_bind(database, STATEMENT_BLOCK_LAST, &collection, 1),
        "find the last block");
    *block = (agg_block){.number = last + 1, .first_number = last + 1, .arrival = INT32_MAX};
    return err;
}

agg_err agg_store_set_block(agg_store *store, agg_error *error, int64_t collection,
                            const agg_block *block, bool is_closed, const void *body, size_t len)
{
    const int64_t row[] = {collection,          is_closed,      block->number,
                           block->first_number, block->arrival, block->first_day,
                           block->last_day,     block->records, block->generation};
    sqlite3_stmt *set = agg_database_bind(&store->database, STATEMENT_BLOCK_SET, row, 9);
    if (block->file[0] != '\0') sqlite3_bind_text(set, 10, block->file, -1, SQLITE_STATIC);
    if (body != NULL) agg_statement_bind_bytes(set, 11, body, len);
    return agg_database_run(&store->database, error, set, "enter a block");
}

static agg_err read_rows(agg_store *store, agg_block **list, size_t *n, agg_error *error,
                         sqlite3_stmt *rows)
{
    size_t cap = 0;
    for (;;) {
        bool is_row = false;
        agg_err err = agg_database_step(&store->database, &is_row, error, rows, "list blocks");
        if (err != SHOAL_OK || !is_row) return err;
        err = agg_grow((void **)list, &cap, *n + 1, sizeof **list, error);
        if (err == SHOAL_OK) err = read_block(store, &(*list)[*n], error, rows);
        if (err != SHOAL_OK) return err;
        ++*n;
    }
}

agg_err agg_store_list_blocks(agg_store *store, agg_block **list, size_t *n, agg_error *error,
                              int64_t collection)
{
    *list = NULL;
    *n = 0;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *rows = agg_database_bind(&store->database, STATEMENT_BLOCKS, &collection, 1);
    agg_err err = read_rows(store, list, n, error, rows);
    agg_statement_end(rows);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}
