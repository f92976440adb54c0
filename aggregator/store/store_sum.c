// SPDX-License-Identifier: Apache-2.0
// Sums of recipes of aggregation "sum": putting batches into them, releasing and loading them; see
// store.h. Nothing here writes a record or reads a clock.
//
// A thread that puts a batch sums it alone, in memory, then queues it. The first in the queue takes
// all that is there for the same sum through one transaction, and the others wait for it: a sync is
// paid once by all who came meanwhile.
#include "store_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "agg_size.h"

struct agg_sum_put {
    int64_t collection;
    const shoal_recipe *recipe;
    agg_period period;
    const uint8_t *id;
    agg_accumulator sum; // of this batch alone
    agg_put put;
    agg_err err;
    agg_error *error;
    int is_done;
    agg_sum_put *next;
};

static int is_same_sum(const agg_sum_put *a, const agg_sum_put *b)
{
    return a->collection == b->collection && a->period.kind == b->period.kind &&
           a->period.start == b->period.start;
}

// Reads an accumulator from column 0 of a statement that is at a row. Call with db_mutex held.
static agg_err read_body(agg_store *store, agg_accumulator *acc, agg_error *error,
                         const shoal_recipe *recipe, sqlite3_stmt *statement)
{
    const void *body = sqlite3_column_blob(statement, 0);
    int len = sqlite3_column_bytes(statement, 0);
    FILE *stream = body == NULL ? NULL : fmemopen((void *)(uintptr_t)body, (size_t)len, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a sum cannot be read",
                        store->folder);
    agg_err err = agg_accumulator_read(acc, error, store->folder, stream);
    fclose(stream);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_check_recipe(acc, error, recipe);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    return err;
}

// Starts the sum that exists, or an empty one.
static agg_err start_sum(agg_store *store, agg_accumulator *acc, const agg_sum_put *of)
{
    const int64_t key[] = {of->collection, of->period.kind, of->period.start};
    sqlite3_stmt *find = agg_store_bind(store, STATEMENT_SUM_FIND, key, 3);
    int rc = sqlite3_step(find);
    agg_err err = rc == SQLITE_ROW    ? read_body(store, acc, of->error, of->recipe, find)
                  : rc == SQLITE_DONE ? agg_accumulator_init(acc, of->error, of->recipe)
                                      : agg_store_fail(store, of->error, "find a sum");
    sqlite3_reset(find);
    return err;
}

static agg_err write_sum(agg_store *store, const agg_accumulator *acc, const agg_sum_put *of)
{
    const int64_t key[] = {of->collection, of->period.kind, of->period.start, (int64_t)acc->n};
    char *body = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&body, &len);
    agg_err err = stream == NULL
                      ? agg_fail(of->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory")
                      : agg_accumulator_write(stream, of->error, acc);
    if (stream != NULL && fclose(stream) != 0 && err == SHOAL_OK)
        err = agg_fail(of->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    // What was released stays as it was: the first change after a release sets it apart.
    if (err == SHOAL_OK && !agg_store_step(agg_store_bind(store, STATEMENT_RELEASED_KEEP, key, 3)))
        err = agg_store_fail(store, of->error, "keep what is released");
    if (err == SHOAL_OK) {
        sqlite3_stmt *set = agg_store_bind(store, STATEMENT_SUM_SET, key, 4);
        sqlite3_bind_blob64(set, 5, body, len, SQLITE_STATIC);
        if (!agg_store_step(set)) err = agg_store_fail(store, of->error, "keep a sum");
    }
    free(body);
    return err;
}

// Adds one batch and its id. A batch for which the sum has no room is refused alone: `p->err`.
static agg_err add_one(agg_store *store, agg_accumulator *acc, agg_sum_put *p, agg_error *error)
{
    int is_known = agg_store_known(store, p->collection, p->id);
    if (is_known < 0) return agg_store_fail(store, error, "look for a batch");
    p->put = is_known ? AGG_PUT_KNOWN : AGG_PUT_STORED;
    if (is_known) return SHOAL_OK;
    p->err = agg_accumulator_merge(acc, p->error, &p->sum);
    if (p->err != SHOAL_OK) return SHOAL_OK;
    return agg_store_know(store, p->collection, p->id) < 0
               ? agg_store_fail(store, error, "know a batch")
               : SHOAL_OK;
}

// Inside a transaction.
static agg_err add_all(agg_store *store, agg_sum_put *first)
{
    agg_accumulator acc;
    agg_err err = start_sum(store, &acc, first);
    if (err != SHOAL_OK) return err;
    uint64_t before = acc.n;
    for (agg_sum_put *p = first; err == SHOAL_OK && p != NULL; p = p->next)
        err = add_one(store, &acc, p, first->error);
    if (err == SHOAL_OK && acc.n > before) err = write_sum(store, &acc, first);
    agg_accumulator_release(&acc);
    return err;
}

// One transaction for a list of batches of the same sum: all are durable on return, or none is and
// each has the error.
static void commit_all(agg_store *store, agg_sum_put *first)
{
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = SHOAL_OK;
    if (!agg_store_step(store->statements[STATEMENT_BEGIN]))
        err = agg_store_fail(store, first->error, "begin");
    if (err == SHOAL_OK) err = add_all(store, first);
    if (err == SHOAL_OK && !agg_store_step(store->statements[STATEMENT_COMMIT]))
        err = agg_store_fail(store, first->error, "keep a batch");
    if (err != SHOAL_OK && !sqlite3_get_autocommit(store->db))
        agg_store_step(store->statements[STATEMENT_ROLLBACK]);
    store->has_old_sums = 1;
    pthread_mutex_unlock(&store->db_mutex);
    if (err == SHOAL_OK) return;
    for (agg_sum_put *p = first; p != NULL; p = p->next) {
        if (p != first) *p->error = *first->error;
        p->err = err;
    }
}

// Takes the first batch of the queue and all others of its sum off it, in order. Call with
// sum_mutex held.
static agg_sum_put *take_group(agg_store *store)
{
    agg_sum_put *group = NULL, **group_last = &group, **link = &store->sum_first;
    while (*link != NULL) {
        agg_sum_put *p = *link;
        if (group != NULL && !is_same_sum(group, p)) {
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

// Queues, and works the queue off while nobody else does, until this batch is done.
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
        store->is_summing = 1;
        agg_sum_put *group = take_group(store);
        pthread_mutex_unlock(&store->sum_mutex);
        commit_all(store, group);
        pthread_mutex_lock(&store->sum_mutex);
        store->is_summing = 0;
        for (agg_sum_put *p = group, *next; p != NULL; p = next) {
            next = p->next;
            p->is_done = 1;
        }
        pthread_cond_broadcast(&store->sum_done);
    }
    pthread_mutex_unlock(&store->sum_mutex);
}

static agg_err sum_batch(agg_sum_put *own, const uint8_t *bytes, size_t len)
{
    shoal_batch batch;
    agg_err err =
        shoal_batch_peek(&batch, bytes, len); // it was opened, and the disk did not have it since
    if (err != SHOAL_OK) return agg_fail_core(own->error, err, AGG_EXIT_IO);
    if (batch.count < own->recipe->batch_minimum) {
        return agg_fail(
            own->error, SHOAL_ERR_RANGE, AGG_EXIT_PRIVACY,
            "fewer records than batch.minimum, %u: their sum would say too much of each",
            own->recipe->batch_minimum);
    }
    err = agg_accumulator_init(&own->sum, own->error, own->recipe);
    return err == SHOAL_OK ? agg_accumulator_add(&own->sum, own->error, bytes + SHOAL_BATCH_HEADER,
                                                 batch.count, 1)
                           : err;
}

agg_err agg_store_put_sum(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, agg_period period, const uint8_t id[16],
                          const uint8_t *bytes, size_t len)
{
    agg_sum_put own = {
        .collection = collection, .recipe = recipe, .period = period, .id = id, .error = error};
    own.err = sum_batch(&own, bytes, len);
    if (own.err == SHOAL_OK) queue(store, &own);
    if (own.err == SHOAL_OK) *put = own.put;
    agg_accumulator_release(&own.sum);
    return own.err;
}

// A sum of the database, and what of it is released.
typedef struct listed {
    agg_period period;
    int64_t records, released;
    int32_t block; // where released: first day of its block
} listed;

// Lists rows of kind, start and three more integers; free(*list) always. Call with db_mutex held.
static agg_err list_rows(agg_store *store, listed **list, size_t *n, agg_error *error,
                         enum statement number, int64_t collection)
{
    size_t cap = 0;
    agg_err err = SHOAL_OK;
    sqlite3_stmt *statement = agg_store_bind(store, number, &collection, 1);
    int rc = SQLITE_ROW;
    while (err == SHOAL_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t kind = sqlite3_column_int64(statement, 0);
        if (!agg_store_is_kind(kind))
            err =
                agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: unknown period", store->folder);
        if (err == SHOAL_OK) err = agg_grow((void **)list, &cap, *n + 1, sizeof **list, error);
        if (err != SHOAL_OK) break;
        (*list)[(*n)++] =
            (listed){.period = {(agg_period_kind)kind, (int32_t)sqlite3_column_int64(statement, 1)},
                     .records = sqlite3_column_int64(statement, 2),
                     .released = sqlite3_column_int64(statement, 3),
                     .block = (int32_t)sqlite3_column_int64(statement, 4)};
    }
    if (err == SHOAL_OK && rc != SQLITE_DONE) err = agg_store_fail(store, error, "list sums");
    sqlite3_reset(statement);
    return err;
}

// Whether no batch of that day or a later one counts in the period. One that never closes is
// released as it grows.
static int is_closed(agg_period period, int32_t today)
{
    return period.kind == AGG_PERIOD_ALL || agg_period_span(period).last < today;
}

static agg_err release_one(agg_store *store, uint64_t *n_records, agg_error *error,
                           int64_t collection, const listed *one, int32_t block)
{
    const int64_t row[] = {collection, one->period.kind, one->period.start, block};
    if (!agg_store_step(agg_store_bind(store, STATEMENT_RELEASE, row, 4)))
        return agg_store_fail(store, error, "release a sum");
    *n_records += (uint64_t)(one->records - one->released);
    return SHOAL_OK;
}

// Releases the block list[first .. last], but for sums that are released or open.
static agg_err release_block(agg_store *store, uint64_t *n_records, agg_error *error,
                             int64_t collection, const listed *list, size_t first, size_t last,
                             int32_t today)
{
    agg_err err = SHOAL_OK;
    for (size_t i = first; err == SHOAL_OK && i <= last; i++) {
        if (list[i].released > 0 || !is_closed(list[i].period, today)) continue;
        err = release_one(store, n_records, error, collection, &list[i], list[first].period.start);
    }
    return err;
}

// Walks the sums in the order of time. What is new in a step is never less than the minimum: of a
// sum that is released already, or of closed neighbours that are not.
static agg_err release_due(agg_store *store, uint64_t *n_records, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, const listed *list,
                           size_t n, int32_t today)
{
    const int64_t minimum = recipe->cohort_minimum;
    int64_t gathered = 0;
    size_t first = 0;
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        const listed *one = &list[i];
        int64_t fresh = one->records - one->released;
        if (one->released > 0) {
            if (fresh >= minimum)
                err = release_one(store, n_records, error, collection, one, one->block);
            continue;
        }
        if (!is_closed(one->period, today)) continue;
        if (gathered == 0 || list[first].period.kind != one->period.kind) {
            first = i;
            gathered = 0;
        }
        gathered += fresh;
        if (gathered < minimum) continue;
        err = release_block(store, n_records, error, collection, list, first, i, today);
        gathered = 0;
    }
    return err;
}

// Sums that were replaced also lie in the write-ahead log: empties it. A reader that holds it back
// is met the next time.
static void drop_old_sums(agg_store *store)
{
    if (!store->has_old_sums) return;
    if (sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
        SQLITE_OK)
        store->has_old_sums = 0;
}

static agg_err release_locked(agg_store *store, uint64_t *n_records, agg_error *error,
                              int64_t collection, const shoal_recipe *recipe, int32_t today)
{
    listed *list = NULL;
    size_t n = 0;
    if (!agg_store_step(store->statements[STATEMENT_BEGIN]))
        return agg_store_fail(store, error, "begin");
    agg_err err = list_rows(store, &list, &n, error, STATEMENT_SUMS, collection);
    if (err == SHOAL_OK)
        err = release_due(store, n_records, error, collection, recipe, list, n, today);
    free(list);
    if (err == SHOAL_OK && !agg_store_step(store->statements[STATEMENT_COMMIT]))
        err = agg_store_fail(store, error, "release sums");
    if (err != SHOAL_OK && !sqlite3_get_autocommit(store->db))
        agg_store_step(store->statements[STATEMENT_ROLLBACK]);
    if (err == SHOAL_OK) drop_old_sums(store);
    return err;
}

agg_err agg_store_release(agg_store *store, uint64_t *n_records, agg_error *error,
                          int64_t collection, const shoal_recipe *recipe, int32_t today)
{
    uint64_t released = 0;
    agg_err err = SHOAL_OK;
    if (recipe->aggregation == SHOAL_AGGREGATION_SUM) {
        pthread_mutex_lock(&store->db_mutex);
        err = release_locked(store, &released, error, collection, recipe, today);
        pthread_mutex_unlock(&store->db_mutex);
    }
    *n_records = err == SHOAL_OK ? released : 0;
    return err;
}

// Adds a released sum as it was released.
static agg_err add_released(agg_store *store, agg_accumulator *acc, agg_error *error,
                            int64_t collection, const shoal_recipe *recipe, agg_period period)
{
    const int64_t key[] = {collection, period.kind, period.start};
    agg_accumulator next;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *find = agg_store_bind(store, STATEMENT_RELEASED_FIND, key, 3);
    agg_err err = sqlite3_step(find) == SQLITE_ROW ? read_body(store, &next, error, recipe, find)
                                                   : agg_store_fail(store, error, "read a sum");
    sqlite3_reset(find);
    pthread_mutex_unlock(&store->db_mutex);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(acc, error, &next);
    agg_accumulator_release(&next);
    return err;
}

// Finds the end of the block that begins at list[first], and the days from its first to its last.
static size_t find_block(agg_span *days, const listed *list, size_t n, size_t first)
{
    size_t end = first;
    *days = agg_period_span(list[first].period);
    for (; end < n && list[end].period.kind == list[first].period.kind &&
           list[end].block == list[first].block;
         end++) {
        agg_span own = agg_period_span(list[end].period);
        if (own.first < days->first) days->first = own.first;
        if (own.last > days->last) days->last = own.last;
    }
    return end;
}

static agg_err load_blocks(agg_store *store, agg_accumulator *acc, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, const listed *list,
                           size_t n, agg_span span)
{
    agg_err err = SHOAL_OK;
    for (size_t first = 0, end; err == SHOAL_OK && first < n; first = end) {
        agg_span days;
        end = find_block(&days, list, n, first);
        if (days.last < span.first || days.first > span.last) continue;
        if (days.first < span.first || days.last > span.last)
            err = agg_store_fail_across(error, days);
        for (size_t i = first; err == SHOAL_OK && i < end; i++)
            err = add_released(store, acc, error, collection, recipe, list[i].period);
    }
    return err;
}

agg_err agg_store_load_sum(agg_store *store, agg_accumulator *acc, agg_error *error,
                           int64_t collection, const shoal_recipe *recipe, agg_span span)
{
    listed *list = NULL;
    size_t n = 0;
    agg_err err = agg_accumulator_init(acc, error, recipe);
    if (err != SHOAL_OK) return err;
    pthread_mutex_lock(&store->db_mutex);
    err = list_rows(store, &list, &n, error, STATEMENT_RELEASED, collection);
    pthread_mutex_unlock(&store->db_mutex);
    if (err == SHOAL_OK) err = load_blocks(store, acc, error, collection, recipe, list, n, span);
    if (err != SHOAL_OK) agg_accumulator_release(acc);
    free(list);
    return err;
}
