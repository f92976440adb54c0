// SPDX-License-Identifier: Apache-2.0
// Periods of version 2 become blocks; see store_migrate.h.
//
// A plan lists the periods by the day on which they ended, and gives each the number of its block:
// closed ones count from 1, 0 is the open block. Files are merged first, then one transaction
// enters the blocks and deletes the periods.
#include "store_migrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "recipe.h"
#include "store_files.h"
#include "store_sum.h"

// One period of version 2.
typedef struct old_period {
    agg_period period;
    agg_span days;      // of the period; one that never closes ends today
    int64_t records;    // in its accumulator or sum
    int64_t released;   // of a sum: records of its release, 0 before
    int64_t generation; // of the accumulator's file
    int32_t group;      // of a sum: first day of the release's group
    int64_t block;      // planned
} old_period;

typedef struct migration {
    agg_store *store;
    const shoal_recipe *recipe;
    int64_t collection;
    int32_t today;
    bool is_sum;
    old_period *list;
    size_t n;
    int64_t n_closed;  // blocks 1 .. n_closed
    agg_block *blocks; // n_closed + 1; [0] is the open one, which gets the last number
} migration;

// ---- reading ----

static agg_span days_of(agg_period period, int32_t today)
{
    agg_span span = agg_period_span(period);
    return period.kind == AGG_PERIOD_ALL ? (agg_span){0, today} : span;
}

static agg_err read_old(const migration *m, old_period *one, agg_error *error, sqlite3_stmt *row)
{
    int64_t kind = sqlite3_column_int64(row, 0);
    if (kind != AGG_PERIOD_ALL && kind != AGG_PERIOD_DAY && kind != AGG_PERIOD_WEEK)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                        "store %s: the database names a period of an unknown kind",
                        m->store->database.folder);
    *one = (old_period){.period = {(agg_period_kind)kind, (int32_t)sqlite3_column_int64(row, 1)},
                        .records = sqlite3_column_int64(row, 2)};
    one->days = days_of(one->period, m->today);
    if (!m->is_sum) {
        one->generation = sqlite3_column_int64(row, 3);
        return SHOAL_OK;
    }
    one->released = sqlite3_column_int64(row, 3);
    one->group = (int32_t)sqlite3_column_int64(row, 4);
    return SHOAL_OK;
}

static agg_err read_rows(migration *m, agg_error *error, sqlite3_stmt *rows)
{
    size_t cap = 0;
    for (;;) {
        bool is_row = false;
        agg_err err = agg_database_step(&m->store->database, &is_row, error, rows, "list periods");
        if (err != SHOAL_OK || !is_row) return err;
        err = agg_grow((void **)&m->list, &cap, m->n + 1, sizeof *m->list, error);
        if (err == SHOAL_OK) err = read_old(m, &m->list[m->n], error, rows);
        if (err != SHOAL_OK) return err;
        m->n++;
    }
}

// Orders periods by their last day. Released sums of one group stay together: they are neighbours
// of one kind, and what lies between them was released later, or not at all.
static int by_end(const void *a, const void *b)
{
    const old_period *x = a, *y = b;
    if (x->days.last != y->days.last) return x->days.last < y->days.last ? -1 : 1;
    return x->days.first < y->days.first ? -1 : x->days.first > y->days.first;
}

static agg_err read_periods(migration *m, agg_error *error)
{
    pthread_mutex_lock(&m->store->db_mutex);
    sqlite3_stmt *rows = agg_database_bind(
        &m->store->database, m->is_sum ? STATEMENT_OLD_SUMS : STATEMENT_OLD_ACCUMULATORS,
        &m->collection, 1);
    agg_err err = read_rows(m, error, rows);
    agg_statement_end(rows);
    pthread_mutex_unlock(&m->store->db_mutex);
    if (err == SHOAL_OK && m->n > 1) qsort(m->list, m->n, sizeof *m->list, by_end);
    return err;
}

// ---- planning ----

// Groups closed periods of accumulators with their neighbours, until they hold the minimum.
static void plan_accumulators(migration *m)
{
    int64_t gathered = 0;
    size_t first = 0;
    for (size_t i = 0; i < m->n; i++) {
        const old_period *one = &m->list[i];
        if (one->period.kind != AGG_PERIOD_ALL && one->days.last >= m->today) continue;
        gathered += one->records;
        if (gathered < m->recipe->block_minimum) continue;
        m->n_closed++;
        for (; first <= i; first++) m->list[first].block = m->n_closed;
        gathered = 0;
    }
}

// Numbers the groups of released sums by the day on which their last period ended.
static void plan_sums(migration *m)
{
    for (size_t i = m->n; i-- > 0;) {
        old_period *one = &m->list[i];
        if (one->released == 0 || one->block != 0) continue;
        m->n_closed++;
        for (size_t j = 0; j <= i; j++) {
            old_period *other = &m->list[j];
            if (other->released > 0 && other->period.kind == one->period.kind &&
                other->group == one->group)
                other->block = m->n_closed;
        }
    }
    for (size_t i = 0; i < m->n; i++) // they were numbered from the last one on
        if (m->list[i].block > 0) m->list[i].block = m->n_closed + 1 - m->list[i].block;
}

static void add_period(agg_block *block, const old_period *one, int64_t records)
{
    if (block->records == 0 || one->days.first < block->first_day)
        block->first_day = one->days.first;
    if (block->records == 0 || one->days.last > block->last_day) block->last_day = one->days.last;
    block->records += records;
    block->arrival = block->first_day;
}

// Fills the rows of the blocks.
static agg_err plan(migration *m, agg_error *error)
{
    if (m->is_sum)
        plan_sums(m);
    else
        plan_accumulators(m);
    m->blocks = agg_alloc(error, (size_t)m->n_closed + 1, sizeof *m->blocks);
    if (m->blocks == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < m->n; i++) {
        const old_period *one = &m->list[i];
        int64_t closed = !m->is_sum ? one->records : one->released;
        add_period(&m->blocks[one->block], one, one->block == 0 ? one->records : closed);
        if (one->block > 0 && one->records > closed)
            add_period(&m->blocks[0], one, one->records - closed);
    }
    for (int64_t i = 0; i <= m->n_closed; i++)
        m->blocks[i].number = m->blocks[i].first_number = i > 0 ? i : m->n_closed + 1;
    m->blocks[0].first_day = m->blocks[0].last_day = 0; // it is open
    return SHOAL_OK;
}

// ---- accumulators ----

static void name_old(char name[AGG_BLOCK_FILE_SIZE], const migration *m, const old_period *one)
{
    static const char letters[] = {'a', 'd', 'w'};
    snprintf(name, AGG_BLOCK_FILE_SIZE, "c%" PRId64 "-%c%" PRId32 "-g%" PRId64 ".acc",
             m->collection, letters[one->period.kind], one->period.start, one->generation);
}

// Adds the files of a block's periods and saves them as one.
static agg_err merge_files(migration *m, agg_error *error, int64_t number)
{
    char name[AGG_BLOCK_FILE_SIZE];
    agg_accumulator sum, next;
    agg_err err = agg_accumulator_init(&sum, error, m->recipe);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; err == SHOAL_OK && i < m->n; i++) {
        if (m->list[i].block != number) continue;
        name_old(name, m, &m->list[i]);
        err = agg_store_file_load(m->store, &next, error, m->recipe, name);
        if (err != SHOAL_OK) break;
        err = agg_accumulator_merge(&sum, error, &next);
        agg_accumulator_release(&next);
    }
    if (err == SHOAL_OK) err = agg_store_file_save(m->store, &sum, error, m->blocks[number].file);
    agg_accumulator_release(&sum);
    return err;
}

// Finds the files of the blocks: a period that is a block of its own keeps its file.
static agg_err settle_files(migration *m, agg_error *error)
{
    agg_err err = SHOAL_OK;
    for (int64_t number = 0; err == SHOAL_OK && number <= m->n_closed; number++) {
        agg_block *block = &m->blocks[number];
        size_t n = 0;
        block->generation = 1;
        for (size_t i = 0; i < m->n; i++) {
            if (m->list[i].block != number) continue;
            if (n++ == 0) name_old(block->file, m, &m->list[i]);
        }
        if (n < 2) continue;
        agg_block_name_file(block, m->collection);
        err = merge_files(m, error, number);
    }
    return err;
}

// Removes the files that were merged into others.
static void remove_merged(migration *m)
{
    for (size_t i = 0; i < m->n; i++) {
        char name[AGG_BLOCK_FILE_SIZE];
        name_old(name, m, &m->list[i]);
        if (strcmp(name, m->blocks[m->list[i].block].file) != 0)
            agg_store_file_remove(m->store, name);
    }
}

// ---- sums ----

// Takes away what was released: cells are integers, so the rest is exactly the records that came
// later.
static void subtract(agg_accumulator *from, const agg_accumulator *released)
{
    for (uint32_t i = 0; i < from->n_parts; i++) {
        const agg_sketch *less = &released->parts[i];
        agg_sketch *part = &from->parts[i];
        for (uint64_t j = 0; j < part->n_cells; j++) part->cells.ones[j] -= less->cells.ones[j];
        for (uint64_t j = 0; j < part->n_rows; j++) part->rows[j] -= less->rows[j];
    }
    from->n -= released->n;
}

// Reads what a period adds to its block, or, where `is_rest`, what it adds to the open one.
static agg_err read_part(migration *m, agg_accumulator *acc, agg_error *error, sqlite3_stmt *row,
                         bool is_released, bool is_rest)
{
    bool is_apart = sqlite3_column_type(row, 1) != SQLITE_NULL;
    agg_accumulator less;
    agg_err err = agg_store_read_sum(m->store, acc, error, m->recipe, row,
                                     is_apart && is_released && !is_rest ? 1 : 0);
    if (err != SHOAL_OK || !is_rest || !is_released) return err;
    err = agg_store_read_sum(m->store, &less, error, m->recipe, row, is_apart ? 1 : 0);
    if (err != SHOAL_OK) {
        agg_accumulator_release(acc);
        return err;
    }
    subtract(acc, &less);
    agg_accumulator_release(&less);
    return SHOAL_OK;
}

static agg_err add_part(migration *m, agg_accumulator *sum, agg_error *error, const old_period *one,
                        bool is_rest)
{
    const int64_t key[] = {m->collection, one->period.kind, one->period.start};
    bool is_row = false;
    agg_accumulator part;
    sqlite3_stmt *find = agg_database_bind(&m->store->database, STATEMENT_OLD_SUM, key, 3);
    agg_err err = agg_database_step(&m->store->database, &is_row, error, find, "read a sum");
    if (err == SHOAL_OK && !is_row)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a sum is missing",
                       m->store->database.folder);
    if (err == SHOAL_OK) err = read_part(m, &part, error, find, one->released > 0, is_rest);
    agg_statement_end(find);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_merge(sum, error, &part);
    agg_accumulator_release(&part);
    return err;
}

// Enters one block of sums. Call inside the transaction.
static agg_err enter_sum(migration *m, agg_error *error, int64_t number)
{
    agg_accumulator sum;
    agg_err err = agg_accumulator_init(&sum, error, m->recipe);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; err == SHOAL_OK && i < m->n; i++) {
        const old_period *one = &m->list[i];
        bool is_rest = number == 0 && one->records > one->released;
        if (is_rest || (number > 0 && one->block == number))
            err = add_part(m, &sum, error, one, number == 0);
    }
    if (err == SHOAL_OK && (int64_t)sum.n != m->blocks[number].records)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a sum has a wrong count",
                       m->store->database.folder);
    if (err == SHOAL_OK)
        err =
            agg_store_set_sum(m->store, error, m->collection, &m->blocks[number], number > 0, &sum);
    agg_accumulator_release(&sum);
    return err;
}

// ---- the transaction ----

static agg_err enter(migration *m, agg_error *error)
{
    static const enum statement deletes[] = {STATEMENT_OLD_ACCUMULATORS_DELETE,
                                             STATEMENT_OLD_SUMS_DELETE,
                                             STATEMENT_OLD_RELEASED_DELETE};
    agg_database *database = &m->store->database;
    const int64_t row[] = {m->collection, m->today};
    agg_err err = SHOAL_OK;
    for (int64_t number = m->n > 0 ? 0 : 1; err == SHOAL_OK && number <= m->n_closed; number++) {
        const agg_block *block = &m->blocks[number];
        if (block->records == 0) continue;
        err = m->is_sum
                  ? enter_sum(m, error, number)
                  : agg_store_set_block(m->store, error, m->collection, block, number > 0, NULL, 0);
    }
    for (size_t i = 0; err == SHOAL_OK && i < sizeof deletes / sizeof *deletes; i++)
        err = agg_database_run(database, error, agg_database_bind(database, deletes[i], row, 1),
                               "delete periods");
    if (err == SHOAL_OK)
        err = agg_database_run(database, error,
                               agg_database_bind(database, STATEMENT_OLD_WAITING, row, 2),
                               "give batches their day");
    return err;
}

static agg_err commit(migration *m, agg_error *error)
{
    agg_database *database = &m->store->database;
    pthread_mutex_lock(&m->store->db_mutex);
    agg_err err = agg_database_begin(database, error);
    if (err == SHOAL_OK)
        err = agg_database_end(database, error, enter(m, error), "make blocks of periods");
    if (err == SHOAL_OK) (void)agg_database_checkpoint(database);
    pthread_mutex_unlock(&m->store->db_mutex);
    return err;
}

static agg_err migrate(migration *m, agg_error *error)
{
    agg_err err = read_periods(m, error);
    if (err == SHOAL_OK) err = plan(m, error);
    if (err == SHOAL_OK && !m->is_sum) err = settle_files(m, error);
    if (err == SHOAL_OK) err = commit(m, error);
    if (err == SHOAL_OK && !m->is_sum) remove_merged(m);
    return err;
}

agg_err agg_store_migrate(agg_store *store, agg_error *error, int64_t collection,
                          const shoal_recipe *recipe, int32_t today)
{
    migration m = {.store = store,
                   .recipe = recipe,
                   .collection = collection,
                   .today = today,
                   .is_sum = recipe->aggregation == SHOAL_AGGREGATION_SUM};
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = migrate(&m, error);
    pthread_mutex_unlock(&store->fold_mutex);
    free(m.list);
    free(m.blocks);
    return err;
}
