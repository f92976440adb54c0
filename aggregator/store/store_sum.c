// SPDX-License-Identifier: Apache-2.0
// Putting batches into sums; see store_sum.h. Nothing here writes a record or reads a clock.
//
// A thread that puts a batch sums it in memory first, then queues the sum. One thread at a time
// works the queue off: it takes all entries of one collection through one transaction while the
// other threads wait. So threads that put at the same time share one sync.
#include "store_sum.h"

#include <stdio.h>
#include <stdlib.h>

#include "batch.h"
#include "recipe.h"
#include "store_batch.h"
#include "store_copies.h"

// One batch in the queue.
typedef struct agg_sum_put {
    int64_t collection;
    const shoal_recipe *recipe;
    int32_t today;
    const uint8_t *id;
    agg_accumulator sum; // of this batch alone
    const uint8_t *records;
    uint32_t n_records;
    bool is_known;
    agg_err err;
    agg_error *error;
    bool is_done;
    struct agg_sum_put *next;
} agg_sum_put;

// ---- one sum ----

agg_err agg_store_read_sum(const agg_store *store, agg_accumulator *acc, agg_error *error,
                           const shoal_recipe *recipe, sqlite3_stmt *row, int column)
{
    const char *folder = store->database.folder;
    const void *body = sqlite3_column_blob(row, column);
    int len = sqlite3_column_bytes(row, column);
    FILE *stream = body == NULL ? NULL : fmemopen((void *)(uintptr_t)body, (size_t)len, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a sum cannot be read", folder);
    agg_err err = agg_accumulator_read(acc, error, folder, stream);
    fclose(stream);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_check_recipe(acc, error, recipe);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    return err;
}

agg_err agg_store_block_sum(agg_store *store, agg_accumulator *acc, agg_error *error,
                            int64_t collection, const shoal_recipe *recipe, int64_t number)
{
    const int64_t key[] = {collection, number};
    bool is_row = false;
    sqlite3_stmt *find = agg_database_bind(&store->database, STATEMENT_BLOCK_BODY, key, 2);
    agg_err err = agg_database_step(&store->database, &is_row, error, find, "read a sum");
    if (err == SHOAL_OK && !is_row)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a block is missing",
                       store->database.folder);
    if (err == SHOAL_OK) err = agg_store_read_sum(store, acc, error, recipe, find, 0);
    agg_statement_end(find);
    return err;
}

// Reads the open block's sum, or starts an empty one.
static agg_err start_sum(agg_store *store, agg_accumulator *acc, const agg_block *open,
                         const agg_sum_put *of)
{
    if (open->records == 0) return agg_accumulator_init(acc, of->error, of->recipe);
    return agg_store_block_sum(store, acc, of->error, of->collection, of->recipe, open->number);
}

// Writes an accumulator into memory.
//   body: free it, also after an error
static agg_err encode_sum(char **body, size_t *len, agg_error *error, const agg_accumulator *acc)
{
    FILE *stream = open_memstream(body, len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = agg_accumulator_write(stream, error, acc);
    if (fclose(stream) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    return err;
}

agg_err agg_store_set_sum(agg_store *store, agg_error *error, int64_t collection,
                          const agg_block *block, bool is_closed, const agg_accumulator *acc)
{
    char *body = NULL;
    size_t len = 0;
    agg_err err = encode_sum(&body, &len, error, acc);
    if (err == SHOAL_OK)
        err = agg_store_set_block(store, error, collection, block, is_closed, body, len);
    free(body);
    return err;
}

void agg_store_drop_old_sums(agg_store *store)
{
    if (store->has_old_sums && agg_database_checkpoint(&store->database))
        store->has_old_sums = false;
}

// ---- one transaction ----

// Adds one batch and its id. When the sum has no room for a batch, only that batch is refused, by
// p->err.
static agg_err add_one(agg_store *store, agg_accumulator *acc, agg_sum_put *p, agg_error *error)
{
    agg_err err = agg_store_find_id(store, &p->is_known, error, p->collection, p->id);
    if (err != SHOAL_OK || p->is_known) return err;
    p->err = agg_accumulator_merge(acc, p->error, &p->sum);
    return p->err == SHOAL_OK ? agg_store_add_id(store, error, p->collection, p->id) : SHOAL_OK;
}

// Call inside a transaction.
static agg_err add_all(agg_store *store, agg_sum_put *first)
{
    agg_accumulator acc;
    agg_block open;
    agg_err err = agg_store_find_open(store, &open, first->error, first->collection);
    if (err == SHOAL_OK) err = start_sum(store, &acc, &open, first);
    if (err != SHOAL_OK) return err;
    uint64_t before = acc.n;
    for (agg_sum_put *p = first; err == SHOAL_OK && p != NULL; p = p->next) {
        err = add_one(store, &acc, p, first->error);
        if (!p->is_known && p->err == SHOAL_OK && p->today < open.arrival) open.arrival = p->today;
    }
    open.records = (int64_t)acc.n;
    if (err == SHOAL_OK && acc.n > before)
        err = agg_store_set_sum(store, first->error, first->collection, &open, false, &acc);
    agg_accumulator_release(&acc);
    return err;
}

// Counts copies among the records that are in the sum now.
//   table: may be NULL
static void count_copies(agg_store_table *table, const agg_sum_put *first)
{
    for (const agg_sum_put *p = first; table != NULL && p != NULL; p = p->next)
        if (!p->is_known && p->err == SHOAL_OK)
            agg_copies_add(&table->copies, p->records, p->n_records);
}

// Puts a list of batches of one collection in one transaction: all are durable on return, or none
// is and each has the error.
static void commit_all(agg_store *store, agg_sum_put *first)
{
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = agg_database_begin(&store->database, first->error);
    if (err == SHOAL_OK) {
        err = add_all(store, first);
        err = agg_database_end(&store->database, first->error, err, "keep a batch");
    }
    store->has_old_sums = true;
    agg_store_table *table = agg_store_table_of(store, first->collection);
    if (err == SHOAL_OK)
        count_copies(table, first);
    else if (table != NULL)
        table->is_whole = false; // they may be in the sum all the same
    pthread_mutex_unlock(&store->db_mutex);
    if (err == SHOAL_OK) return;
    for (agg_sum_put *p = first; p != NULL; p = p->next) {
        if (p != first) *p->error = *first->error;
        p->err = err;
    }
}

// ---- the queue ----

// Takes the queue's first batch and all others of its collection off the queue, in their order.
// Call with sum_mutex held.
static agg_sum_put *take_group(agg_store *store)
{
    agg_sum_put *group = NULL, **group_last = &group, **link = &store->sum_first;
    while (*link != NULL) {
        agg_sum_put *p = *link;
        if (group != NULL && group->collection != p->collection) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        p->next = NULL;
        *group_last = p;
        group_last = &p->next;
    }
    store->sum_last = link;
    return group;
}

// Queues a batch and returns when it is done. Works the queue off while no other thread does.
static void queue(agg_store *store, agg_sum_put *own)
{
    pthread_mutex_lock(&store->sum_mutex);
    *store->sum_last = own;
    store->sum_last = &own->next;
    while (!own->is_done) {
        if (store->is_summing) {
            pthread_cond_wait(&store->sum_done, &store->sum_mutex);
            continue;
        }
        store->is_summing = true;
        agg_sum_put *group = take_group(store);
        pthread_mutex_unlock(&store->sum_mutex);
        commit_all(store, group);
        pthread_mutex_lock(&store->sum_mutex);
        store->is_summing = false;
        for (agg_sum_put *p = group, *next; p != NULL; p = next) {
            next = p->next;
            p->is_done = true;
        }
        pthread_cond_broadcast(&store->sum_done);
    }
    pthread_mutex_unlock(&store->sum_mutex);
}

static agg_err sum_batch(agg_sum_put *own, const uint8_t *bytes, size_t len)
{
    shoal_batch batch;
    agg_err err = shoal_batch_peek(&batch, bytes, len); // the caller has opened it
    if (err != SHOAL_OK) return agg_fail_core(own->error, err, AGG_EXIT_IO);
    own->records = bytes + batch.header;
    own->n_records = batch.count;
    err = agg_accumulator_init(&own->sum, own->error, own->recipe);
    return err == SHOAL_OK
               ? agg_accumulator_add(&own->sum, own->error, bytes + batch.header, batch.count, 1)
               : err;
}

agg_err agg_store_put_sum(agg_store *store, bool *is_known, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, int32_t today, const uint8_t id[16],
                          const uint8_t *bytes, size_t len)
{
    agg_sum_put own = {
        .collection = collection, .recipe = recipe, .today = today, .id = id, .error = error};
    own.err = sum_batch(&own, bytes, len);
    if (own.err == SHOAL_OK) queue(store, &own);
    if (own.err == SHOAL_OK) *is_known = own.is_known;
    agg_accumulator_release(&own.sum);
    return own.err;
}
