// SPDX-License-Identifier: Apache-2.0
// Opening the store, putting batches, and counting; see store.h. Folding is in store_fold.c, sums
// in store_sum.c.
#include "store_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compound.h"
#include "database.h"

// Known ids are a table without row numbers, so that the order of arrival is not kept; the waiting
// bytes have one only so that a fold knows exactly which it took.
static const char schema_1[] =
    "PRAGMA application_id = 1936224097;" // "shoa"
    "CREATE TABLE recipes(collection INTEGER PRIMARY KEY, recipe_hash BLOB NOT NULL UNIQUE, recipe "
    "TEXT NOT NULL);"
    "CREATE TABLE known(collection INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY(collection, "
    "id)) WITHOUT ROWID;"
    "CREATE TABLE waiting(number INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, "
    "kind INTEGER NOT NULL,"
    " start INTEGER NOT NULL, body BLOB NOT NULL);"
    "CREATE INDEX waiting_period ON waiting(collection, kind, start, number);"
    "CREATE TABLE accumulators(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER "
    "NOT NULL,"
    " generation INTEGER NOT NULL, records INTEGER NOT NULL, PRIMARY KEY(collection, kind, start)) "
    "WITHOUT ROWID;"
    "PRAGMA user_version = 1;";

// Sums of recipes of aggregation "sum", and what of them is released: `block` is the first day of
// the block, and `body` is NULL while the sum is as it was released.
static const char schema_2[] =
    "CREATE TABLE sums(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT NULL,"
    " records INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(collection, kind, start));"
    "CREATE TABLE released(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT "
    "NULL,"
    " block INTEGER NOT NULL, records INTEGER NOT NULL, body BLOB, PRIMARY KEY(collection, kind, "
    "start));"
    "PRAGMA user_version = 2;";

// What brings a store of version i to version i + 1; version 0 is an empty file.
static const char *const upgrades[AGG_STORE_VERSION] = {schema_1, schema_2};

static const char *const statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_ROLLBACK] = "ROLLBACK",
    [STATEMENT_RECIPE_FIND] = "SELECT collection FROM recipes WHERE recipe_hash = ?1",
    [STATEMENT_RECIPE_ADD] = "INSERT INTO recipes(recipe_hash, recipe) VALUES(?1, ?2)",
    [STATEMENT_KNOWN_FIND] = "SELECT 1 FROM known WHERE collection = ?1 AND id = ?2",
    [STATEMENT_KNOWN_ADD] = "INSERT INTO known(collection, id) VALUES(?1, ?2)",
    [STATEMENT_WAITING_ADD] =
        "INSERT INTO waiting(collection, kind, start, body) VALUES(?1, ?2, ?3, ?4)",
    [STATEMENT_WAITING_LAST] = "SELECT max(number) FROM waiting WHERE collection = ?1",
    [STATEMENT_WAITING_PERIOD] =
        "SELECT kind, start FROM waiting WHERE collection = ?1 AND number <= ?2 LIMIT 1",
    [STATEMENT_WAITING_NEXT] =
        "SELECT number, body FROM waiting WHERE collection = ?1 AND kind = ?2 AND start = ?3"
        " AND number > ?4 AND number <= ?5 ORDER BY number LIMIT 1",
    [STATEMENT_WAITING_DELETE] =
        "DELETE FROM waiting WHERE collection = ?1 AND kind = ?2 AND start = ?3 AND number <= ?4",
    [STATEMENT_ACCUMULATOR_FIND] =
        "SELECT generation FROM accumulators WHERE collection = ?1 AND kind = ?2 AND start = ?3",
    [STATEMENT_ACCUMULATOR_SET] =
        "INSERT OR REPLACE INTO accumulators(collection, kind, start, generation, records)"
        " VALUES(?1, ?2, ?3, ?4, ?5)",
    [STATEMENT_ACCUMULATORS] = "SELECT kind, start, generation FROM accumulators WHERE collection "
                               "= ?1 ORDER BY kind, start",
    [STATEMENT_ACCUMULATOR_ALL] = "SELECT collection, kind, start, generation FROM accumulators",
    [STATEMENT_SUM_FIND] =
        "SELECT body FROM sums WHERE collection = ?1 AND kind = ?2 AND start = ?3",
    [STATEMENT_SUM_SET] =
        "INSERT INTO sums(collection, kind, start, records, body) VALUES(?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT DO UPDATE SET records = excluded.records, body = excluded.body",
    [STATEMENT_SUMS] =
        "SELECT kind, start, s.records, ifnull(r.records, 0), ifnull(block, start) FROM sums AS s"
        " LEFT JOIN released AS r USING(collection, kind, start)"
        " WHERE collection = ?1 ORDER BY kind, start",
    [STATEMENT_RELEASED_KEEP] =
        "UPDATE released SET body = (SELECT body FROM sums AS s WHERE s.collection = ?1 AND "
        "s.kind = ?2 AND s.start = ?3)"
        " WHERE collection = ?1 AND kind = ?2 AND start = ?3 AND body IS NULL",
    [STATEMENT_RELEASE] = "INSERT OR REPLACE INTO released(collection, kind, start, block, records)"
                          " SELECT collection, kind, start, ?4, records FROM sums"
                          " WHERE collection = ?1 AND kind = ?2 AND start = ?3",
    [STATEMENT_RELEASED] =
        "SELECT kind, start, records, records, block FROM released WHERE collection = ?1"
        " ORDER BY kind, block, start",
    [STATEMENT_RELEASED_FIND] = "SELECT ifnull(r.body, s.body) FROM released AS r"
                                " JOIN sums AS s USING(collection, kind, start)"
                                " WHERE collection = ?1 AND kind = ?2 AND start = ?3",
    [STATEMENT_STAMP] =
        "SELECT (SELECT ifnull(sum(generation), 0) FROM accumulators WHERE collection = ?1)"
        " + (SELECT ifnull(sum(records), 0) FROM released WHERE collection = ?1)",
    [STATEMENT_STATISTICS_BATCHES] = "SELECT count(*) FROM known WHERE collection = ?1",
    [STATEMENT_STATISTICS_WAITING] =
        "SELECT count(*), ifnull(sum(length(body)), 0) FROM waiting WHERE collection = ?1",
    [STATEMENT_STATISTICS_FOLDED] = "SELECT ifnull(sum(records), 0), count(*) FROM (SELECT records "
                                    "FROM accumulators WHERE collection = ?1"
                                    " UNION ALL SELECT records FROM sums WHERE collection = ?1)",
    [STATEMENT_STATISTICS_RELEASED] =
        "SELECT ifnull(sum(records), 0) FROM (SELECT records FROM accumulators WHERE collection = "
        "?1"
        " UNION ALL SELECT records FROM released WHERE collection = ?1)",
};

agg_err agg_store_fail(agg_store *store, agg_error *error, const char *what)
{
    return agg_database_fail(error, store->db, store->folder, what);
}

sqlite3_stmt *agg_store_bind(agg_store *store, enum statement number, const int64_t *integers,
                             int n_integers)
{
    sqlite3_stmt *statement = store->statements[number];
    for (int i = 0; i < n_integers; i++) sqlite3_bind_int64(statement, i + 1, integers[i]);
    return statement;
}

int agg_store_step(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return rc == SQLITE_DONE;
}

static int run(agg_store *store, enum statement number)
{
    return agg_store_step(store->statements[number]);
}

static agg_err make_folders(agg_store *store, agg_error *error)
{
    agg_err err = agg_folder_make(error, store->folder);
    if (err != SHOAL_OK) return err;
    char *accumulators = agg_folder_join(error, store->folder, "accumulators");
    if (accumulators == NULL) return AGG_ERR_MEMORY;
    err = agg_folder_make(error, accumulators);
    free(accumulators);
    return err;
}

static agg_err open_database(agg_store *store, agg_error *error)
{
    agg_err err = agg_database_open(&store->db, error, store->folder, "shoal.db");
    if (err == SHOAL_OK)
        err = agg_database_upgrade(store->db, error, store->folder, upgrades, AGG_STORE_VERSION);
    return err == SHOAL_OK ? agg_database_prepare(store->statements, error, store->db,
                                                  store->folder, statement_sql, STATEMENT_COUNT)
                           : err;
}

static agg_err open_all(agg_store *store, agg_error *error)
{
    agg_err err = make_folders(store, error);
    if (err == SHOAL_OK) err = agg_folder_lock(&store->lock_fd, error, store->folder);
    if (err == SHOAL_OK) err = open_database(store, error);
    if (err == SHOAL_OK) err = agg_folder_sync(error, store->folder);
    return err == SHOAL_OK ? agg_store_sweep(store, error) : err;
}

agg_err agg_store_open(agg_store **store, agg_error *error, const char *folder)
{
    agg_store *made = calloc(1, sizeof *made);
    char *copy = strdup(folder);
    if (made == NULL || copy == NULL) {
        free(made);
        free(copy);
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    }
    made->folder = copy;
    made->lock_fd = -1;
    made->fold_bytes = AGG_STORE_FOLD_BYTES;
    pthread_mutex_init(&made->db_mutex, NULL);
    pthread_mutex_init(&made->files_mutex, NULL);
    pthread_mutex_init(&made->fold_mutex, NULL);
    pthread_mutex_init(&made->sum_mutex, NULL);
    pthread_cond_init(&made->sum_done, NULL);
    made->sum_last = &made->sum_first;
    made->has_old_sums = 1; // a crash may have left some
    agg_err err = open_all(made, error);
    if (err != SHOAL_OK) {
        agg_store_close(made);
        return err;
    }
    *store = made;
    return SHOAL_OK;
}

void agg_store_close(agg_store *store)
{
    if (store == NULL) return;
    for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->db); // checkpoints the WAL
    pthread_mutex_destroy(&store->db_mutex);
    pthread_mutex_destroy(&store->files_mutex);
    pthread_mutex_destroy(&store->fold_mutex);
    pthread_mutex_destroy(&store->sum_mutex);
    pthread_cond_destroy(&store->sum_done);
    if (store->lock_fd >= 0) close(store->lock_fd); // last: the lock covers the database's closing
    free(store->folder);
    free(store);
}

static agg_err find_recipe(agg_store *store, int64_t *collection, agg_error *error,
                           const shoal_recipe *recipe)
{
    sqlite3_stmt *find = store->statements[STATEMENT_RECIPE_FIND];
    sqlite3_bind_blob(find, 1, recipe->recipe_hash, 32, SQLITE_STATIC);
    int rc = sqlite3_step(find);
    if (rc == SQLITE_ROW) *collection = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    sqlite3_clear_bindings(find);
    if (rc == SQLITE_ROW) return SHOAL_OK;
    if (rc != SQLITE_DONE) return agg_store_fail(store, error, "find a recipe");
    sqlite3_stmt *add = store->statements[STATEMENT_RECIPE_ADD];
    sqlite3_bind_blob(add, 1, recipe->recipe_hash, 32, SQLITE_STATIC);
    sqlite3_bind_text(add, 2, recipe->recipe.bytes, recipe->recipe.len, SQLITE_STATIC);
    if (!agg_store_step(add)) return agg_store_fail(store, error, "enter a recipe");
    *collection = sqlite3_last_insert_rowid(store->db);
    return SHOAL_OK;
}

// A sum is written anew with every transaction, so it must be small.
static agg_err check_sum(agg_error *error, const shoal_recipe *recipe)
{
    uint64_t size = 0;
    if (recipe->aggregation != SHOAL_AGGREGATION_SUM) return SHOAL_OK;
    agg_err err = agg_accumulator_size_of(&size, error, recipe);
    if (err != SHOAL_OK || size <= AGG_STORE_SUM_MAX) return err;
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    if (compound != NULL && compound->keeps_records)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "recipe %.*s: %s is decoded from whole records, which aggregation \"sum\" "
                        "does not keep."
                        " Choose aggregation \"reports\"",
                        (int)recipe->key.len, recipe->key.bytes, compound->name);
    return agg_fail(
        error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
        "recipe %.*s: its sum takes %.1f MiB, and with aggregation \"sum\" it is written with "
        "every batch: at"
        " most %.0f MiB. Choose a smaller k, m or list of values, or aggregation \"reports\"",
        (int)recipe->key.len, recipe->key.bytes, (double)size / (1 << 20),
        (double)AGG_STORE_SUM_MAX / (1 << 20));
}

agg_err agg_store_collection(agg_store *store, int64_t *collection, agg_error *error,
                             const shoal_recipe *recipe)
{
    agg_err checked = check_sum(error, recipe);
    if (checked != SHOAL_OK) return checked;
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = find_recipe(store, collection, error, recipe);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

static sqlite3_stmt *bind_id(agg_store *store, enum statement number, int64_t collection,
                             const uint8_t id[16])
{
    sqlite3_stmt *statement = agg_store_bind(store, number, &collection, 1);
    sqlite3_bind_blob(statement, 2, id, 16, SQLITE_STATIC);
    return statement;
}

int agg_store_known(agg_store *store, int64_t collection, const uint8_t id[16])
{
    sqlite3_stmt *statement = bind_id(store, STATEMENT_KNOWN_FIND, collection, id);
    int rc = sqlite3_step(statement);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : -1;
}

int agg_store_know(agg_store *store, int64_t collection, const uint8_t id[16])
{
    return agg_store_step(bind_id(store, STATEMENT_KNOWN_ADD, collection, id)) ? 1 : -1;
}

// Inside a transaction. Returns: 1, or 0 with SQLite's error set.
static int put_rows(agg_store *store, agg_put *put, int64_t collection, agg_period period,
                    const uint8_t id[16], const uint8_t *bytes, size_t len)
{
    int is_known = agg_store_known(store, collection, id);
    *put = is_known == 1 ? AGG_PUT_KNOWN : AGG_PUT_STORED;
    if (is_known != 0) return is_known == 1;
    if (agg_store_know(store, collection, id) < 0) return 0;
    const int64_t integers[] = {collection, period.kind, period.start};
    sqlite3_stmt *waiting = agg_store_bind(store, STATEMENT_WAITING_ADD, integers, 3);
    sqlite3_bind_blob64(waiting, 4, bytes, len, SQLITE_STATIC);
    return agg_store_step(waiting);
}

static agg_err put_records(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                           agg_period period, const uint8_t id[16], const uint8_t *bytes,
                           size_t len)
{
    pthread_mutex_lock(&store->db_mutex);
    agg_put result = AGG_PUT_KNOWN;
    int ok = run(store, STATEMENT_BEGIN) &&
             put_rows(store, &result, collection, period, id, bytes, len) &&
             run(store, STATEMENT_COMMIT);
    agg_err err = ok ? SHOAL_OK : agg_store_fail(store, error, "keep a batch");
    if (!ok && !sqlite3_get_autocommit(store->db)) run(store, STATEMENT_ROLLBACK);
    pthread_mutex_unlock(&store->db_mutex);
    if (ok) *put = result;
    return err;
}

agg_err agg_store_put(agg_store *store, agg_put *put, agg_error *error, int64_t collection,
                      const shoal_recipe *recipe, agg_period period, const uint8_t id[16],
                      const uint8_t *bytes, size_t len)
{
    if (recipe->aggregation == SHOAL_AGGREGATION_SUM)
        return agg_store_put_sum(store, put, error, collection, recipe, period, id, bytes, len);
    return put_records(store, put, error, collection, period, id, bytes, len);
}

agg_err agg_store_stamp(agg_store *store, uint64_t *stamp, agg_error *error, int64_t collection)
{
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *statement = agg_store_bind(store, STATEMENT_STAMP, &collection, 1);
    agg_err err = SHOAL_OK;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        *stamp = (uint64_t)sqlite3_column_int64(statement, 0);
    } else {
        err = agg_store_fail(store, error, "read the stamp");
    }
    sqlite3_reset(statement);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

// Reads the first two integers of a one-row statement. Returns: 1, or 0 with SQLite's error set.
static int read_pair(agg_store *store, enum statement number, int64_t collection, uint64_t pair[2])
{
    sqlite3_stmt *statement = agg_store_bind(store, number, &collection, 1);
    int ok = sqlite3_step(statement) == SQLITE_ROW;
    for (int i = 0; ok && i < sqlite3_column_count(statement) && i < 2; i++) {
        pair[i] = (uint64_t)sqlite3_column_int64(statement, i);
    }
    sqlite3_reset(statement);
    return ok;
}

agg_err agg_store_statistics(agg_store *store, agg_store_stats *stats, agg_error *error,
                             int64_t collection)
{
    uint64_t batches[2] = {0}, waiting[2] = {0}, folded[2] = {0}, released[2] = {0};
    pthread_mutex_lock(&store->db_mutex);
    int ok = read_pair(store, STATEMENT_STATISTICS_BATCHES, collection, batches) &&
             read_pair(store, STATEMENT_STATISTICS_WAITING, collection, waiting) &&
             read_pair(store, STATEMENT_STATISTICS_FOLDED, collection, folded) &&
             read_pair(store, STATEMENT_STATISTICS_RELEASED, collection, released);
    agg_err err = ok ? SHOAL_OK : agg_store_fail(store, error, "count");
    pthread_mutex_unlock(&store->db_mutex);
    if (ok)
        *stats = (agg_store_stats){batches[0], waiting[0], waiting[1],
                                   folded[0],  folded[1],  released[0]};
    return err;
}
