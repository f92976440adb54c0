// SPDX-License-Identifier: Apache-2.0
// Tables of copies; see store_copies.h.
#include "store_copies.h"

#include <stdlib.h>

#include "agg_size.h"
#include "store.h"
#include "store_blocks.h"

agg_store_table *agg_store_table_of(agg_store *store, int64_t collection)
{
    agg_store_table *table = store->tables;
    while (table != NULL && table->collection != collection) table = table->next;
    return table;
}

void agg_store_table_spoil(agg_store_table *table)
{
    if (table == NULL) return;
    agg_copies_clear(&table->copies);
    table->is_whole = false;
}

// Adds an empty table. What is in the open block already did not pass. Call with both locks held.
static agg_err add_table(agg_store *store, agg_error *error, int64_t collection,
                         const shoal_recipe *recipe)
{
    agg_block open;
    agg_err err = agg_store_find_open(store, &open, error, collection);
    if (err != SHOAL_OK) return err;
    agg_store_table *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    err = agg_copies_init(&made->copies, error, recipe);
    if (err != SHOAL_OK) {
        free(made);
        return err;
    }
    made->collection = collection;
    made->is_whole = open.records == 0;
    made->next = store->tables;
    store->tables = made;
    return SHOAL_OK;
}

agg_err agg_store_count_copies(agg_store *store, agg_error *error, int64_t collection,
                               const shoal_recipe *recipe)
{
    agg_err err = SHOAL_OK;
    if (agg_copies_memory(recipe) == 0) return SHOAL_OK;
    pthread_mutex_lock(&store->fold_mutex);
    pthread_mutex_lock(&store->db_mutex);
    if (agg_store_table_of(store, collection) == NULL)
        err = add_table(store, error, collection, recipe);
    pthread_mutex_unlock(&store->db_mutex);
    pthread_mutex_unlock(&store->fold_mutex);
    return err;
}

agg_err agg_store_enter_copies(agg_store *store, agg_error *error, int64_t collection,
                               int64_t number, int64_t records)
{
    const agg_store_table *table = agg_store_table_of(store, collection);
    if (table == NULL) return SHOAL_OK;
    const int64_t row[] = {
        collection,     number, records, (int64_t)table->copies.n_examined, table->copies.largest,
        table->is_whole};
    return agg_database_run(&store->database, error,
                            agg_database_bind(&store->database, STATEMENT_COPIES_SET, row, 6),
                            "enter copies");
}

void agg_store_clear_copies(agg_store *store, int64_t collection)
{
    agg_store_table *table = agg_store_table_of(store, collection);
    if (table == NULL) return;
    agg_copies_clear(&table->copies);
    table->is_whole = true;
}

agg_err agg_store_merge_copies(agg_store *store, agg_error *error, int64_t collection,
                               int64_t first, int64_t last, int64_t records)
{
    agg_database *database = &store->database;
    const int64_t row[] = {collection, first, last, records};
    agg_err err = agg_database_run(database, error,
                                   agg_database_bind(database, STATEMENT_COPIES_MERGE, row, 4),
                                   "merge copies");
    if (err != SHOAL_OK) return err;
    return agg_database_run(database, error,
                            agg_database_bind(database, STATEMENT_COPIES_DELETE, row, 3),
                            "merge copies");
}

void agg_store_release_tables(agg_store *store)
{
    while (store->tables != NULL) {
        agg_store_table *table = store->tables;
        store->tables = table->next;
        agg_copies_release(&table->copies);
        free(table);
    }
}
