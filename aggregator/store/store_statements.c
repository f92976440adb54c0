// SPDX-License-Identifier: Apache-2.0
// The store's schema and its statements; see store_statements.h.
#include "store_statements.h"

#define DATABASE_VERSION 2

// The table of known ids has no row numbers, so that the order of arrival is not kept. Waiting
// batches have numbers only so that a fold deletes exactly the batches that it took.
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

// Recipes of aggregation "sum" have their sums and the sums' releases here. `block` is the first
// day of a release's block. Its `body` is NULL until the sum changes after the release.
static const char schema_2[] =
    "CREATE TABLE sums(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT NULL,"
    " records INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(collection, kind, start));"
    "CREATE TABLE released(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT "
    "NULL,"
    " block INTEGER NOT NULL, records INTEGER NOT NULL, body BLOB, PRIMARY KEY(collection, kind, "
    "start));"
    "PRAGMA user_version = 2;";

static const char *const upgrades[DATABASE_VERSION] = {schema_1, schema_2};

static const char *const statement_sql[STATEMENT_COUNT] = {
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

agg_err agg_store_open_database(agg_store *store, agg_error *error, const char *folder)
{
    static const agg_database_layout layout = {.file = "shoal.db",
                                               .upgrades = upgrades,
                                               .version = DATABASE_VERSION,
                                               .statements = statement_sql,
                                               .n_statements = STATEMENT_COUNT};
    return agg_database_open(&store->database, error, folder, &layout);
}

agg_err agg_store_read_period(const agg_store *store, agg_period *period, agg_error *error,
                              sqlite3_stmt *statement, int column)
{
    int64_t kind = sqlite3_column_int64(statement, column);
    if (kind != AGG_PERIOD_ALL && kind != AGG_PERIOD_DAY && kind != AGG_PERIOD_WEEK)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO,
                        "store %s: the database names a period of an unknown kind",
                        store->database.folder);
    *period =
        (agg_period){(agg_period_kind)kind, (int32_t)sqlite3_column_int64(statement, column + 1)};
    return SHOAL_OK;
}
