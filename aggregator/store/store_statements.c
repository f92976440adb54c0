// SPDX-License-Identifier: Apache-2.0
// The store's schema and its statements; see store_statements.h.
#include "store_statements.h"

#define DATABASE_VERSION 4

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

// Recipes of aggregation "sum" had their sums and the sums' releases here. `block` is the first
// day of a release's block. Its `body` is NULL until the sum changes after the release.
static const char schema_2[] =
    "CREATE TABLE sums(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT NULL,"
    " records INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(collection, kind, start));"
    "CREATE TABLE released(collection INTEGER NOT NULL, kind INTEGER NOT NULL, start INTEGER NOT "
    "NULL,"
    " block INTEGER NOT NULL, records INTEGER NOT NULL, body BLOB, PRIMARY KEY(collection, kind, "
    "start));"
    "PRAGMA user_version = 2;";

// Blocks, the ledger of what is released. Number 1 closed first. `arrival` is the day on which the
// block's first batch came; `first_day` to `last_day` are the days on which it closed, several only
// where blocks were merged, and `first_number` is then the number of the first one of them. A block
// of aggregation "reports" is a file, a block of "sum" a body. The open block has days of 0.
//
// `accumulators`, `sums` and `released` keep what version 2 wrote until its recipe is served again:
// store_migrate.c makes blocks of them then. A waiting batch has its day of arrival in `start`.
static const char schema_3[] =
    "CREATE TABLE blocks(collection INTEGER NOT NULL, number INTEGER NOT NULL,"
    " first_number INTEGER NOT NULL, is_closed INTEGER NOT NULL, arrival INTEGER NOT NULL,"
    " first_day INTEGER NOT NULL, last_day INTEGER NOT NULL, records INTEGER NOT NULL,"
    " generation INTEGER NOT NULL, file TEXT, body BLOB, PRIMARY KEY(collection, number));"
    "CREATE UNIQUE INDEX one_open_block ON blocks(collection) WHERE is_closed = 0;"
    "CREATE TRIGGER closed_blocks_stay BEFORE UPDATE OF collection, number, first_number,"
    " is_closed, arrival, first_day, last_day, records, body ON blocks WHEN OLD.is_closed"
    " BEGIN SELECT RAISE(ABORT, 'a closed block never changes'); END;"
    "CREATE TABLE ticks(collection INTEGER PRIMARY KEY, tick INTEGER NOT NULL);"
    "DROP INDEX waiting_period;"
    "CREATE INDEX waiting_collection ON waiting(collection, number);"
    "ALTER TABLE recipes ADD COLUMN identity BLOB;" // random, for claims of what leaves the store
    "UPDATE recipes SET identity = randomblob(16);"
    "PRAGMA user_version = 3;";

// Collections that an operator removed: how many ids and blocks they had then. Their rows of
// `recipes` and `known` stay, so that no batch counts twice and no number of a block comes twice.
static const char schema_4[] = "CREATE TABLE forgotten(collection INTEGER PRIMARY KEY, batches "
                               "INTEGER NOT NULL, last_number INTEGER NOT NULL);"
                               "PRAGMA user_version = 4;";

// What tables of copies saw of closed blocks (store_copies.h), and the manifests that were imported
// (store_import.h), each with the names of those that it excludes. Older releases do without.
static const char extras[] =
    "CREATE TABLE IF NOT EXISTS copies(collection INTEGER NOT NULL, number INTEGER NOT NULL,"
    " records INTEGER NOT NULL, examined INTEGER NOT NULL, largest INTEGER NOT NULL,"
    " is_whole INTEGER NOT NULL, PRIMARY KEY(collection, number)) WITHOUT ROWID;" AGG_STORE_IMPORTS;

static const char *const upgrades[DATABASE_VERSION] = {schema_1, schema_2, schema_3, schema_4};

#define BLOCK_COLUMNS                                                                              \
    "number, first_number, arrival, first_day, last_day, records, generation, file"
// A number of a block's row of copies, if it still fits the block.
#define COPIES_OF(column)                                                                          \
    ", ifnull((SELECT " column " FROM copies AS c WHERE c.collection = blocks.collection"          \
    " AND c.number = blocks.number AND c.records = blocks.records), 0)"
// The names of all files of accumulators, those of version 2 among them.
#define ALL_FILES                                                                                  \
    "SELECT file FROM blocks WHERE file IS NOT NULL"                                               \
    " UNION ALL SELECT printf('c%d-%s%d-g%d.acc', collection, substr('adw', kind + 1, 1), start,"  \
    " generation) FROM accumulators"

static const char *const statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_RECIPE_FIND] = "SELECT collection FROM recipes WHERE recipe_hash = ?1",
    [STATEMENT_RECIPE_ADD] =
        "INSERT INTO recipes(recipe_hash, recipe, identity) VALUES(?1, ?2, randomblob(16))",
    [STATEMENT_RECIPE_IDENTITY] = "SELECT identity FROM recipes WHERE collection = ?1",
    [STATEMENT_KNOWN_FIND] = "SELECT 1 FROM known WHERE collection = ?1 AND id = ?2",
    [STATEMENT_KNOWN_ADD] = "INSERT INTO known(collection, id) VALUES(?1, ?2)",
    [STATEMENT_WAITING_ADD] =
        "INSERT INTO waiting(collection, kind, start, body) VALUES(?1, 1, ?2, ?3)",
    [STATEMENT_WAITING_LAST] = "SELECT max(number) FROM waiting WHERE collection = ?1",
    [STATEMENT_WAITING_NEXT] = "SELECT number, body, start FROM waiting WHERE collection = ?1"
                               " AND number > ?2 AND number <= ?3 ORDER BY number LIMIT 1",
    [STATEMENT_WAITING_DELETE] = "DELETE FROM waiting WHERE collection = ?1 AND number <= ?2",
    [STATEMENT_BLOCK_OPEN] =
        "SELECT " BLOCK_COLUMNS ", 0, 0, 0 FROM blocks WHERE collection = ?1 AND is_closed = 0",
    [STATEMENT_BLOCK_LAST] =
        "SELECT max(number) FROM (SELECT number FROM blocks WHERE collection = ?1"
        " UNION ALL SELECT last_number FROM forgotten WHERE collection = ?1)",
    [STATEMENT_BLOCK_LAST_DAY] =
        "SELECT max(last_day) FROM blocks WHERE collection = ?1 AND is_closed",
    [STATEMENT_BLOCK_SET] =
        "INSERT INTO blocks(collection, is_closed, " BLOCK_COLUMNS ", body)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
        " ON CONFLICT(collection, number) DO UPDATE SET arrival = excluded.arrival,"
        " records = excluded.records, generation = excluded.generation, file = excluded.file,"
        " body = excluded.body",
    [STATEMENT_BLOCK_CLOSE] = "UPDATE blocks SET is_closed = 1, arrival = min(arrival, ?2),"
                              " first_day = ?2, last_day = ?2 WHERE collection = ?1 AND"
                              " is_closed = 0",
    [STATEMENT_BLOCK_FILE] =
        "UPDATE blocks SET generation = ?3, file = ?4 WHERE collection = ?1 AND number = ?2",
    [STATEMENT_BLOCK_BODY] = "SELECT body FROM blocks WHERE collection = ?1 AND number = ?2",
    [STATEMENT_BLOCK_DELETE] =
        "DELETE FROM blocks WHERE collection = ?1 AND number BETWEEN ?2 AND ?3",
    [STATEMENT_BLOCKS] = "SELECT " BLOCK_COLUMNS COPIES_OF("examined") COPIES_OF("largest")
        COPIES_OF("is_whole") " FROM blocks WHERE collection = ?1 AND is_closed"
                              " ORDER BY number",
    [STATEMENT_FILES] = ALL_FILES,
    [STATEMENT_FILE_FIND] = "SELECT 1 FROM (" ALL_FILES ") WHERE file = ?1",
    [STATEMENT_TICK] = "SELECT tick FROM ticks WHERE collection = ?1",
    [STATEMENT_TICK_SET] = "INSERT INTO ticks(collection, tick) VALUES(?1, ?2)"
                           " ON CONFLICT DO UPDATE SET tick = excluded.tick",
    [STATEMENT_STATISTICS_BATCHES] = "SELECT count(*) FROM known WHERE collection = ?1",
    [STATEMENT_STATISTICS_WAITING] =
        "SELECT count(*), ifnull(sum(length(body)), 0) FROM waiting WHERE collection = ?1",
    [STATEMENT_STATISTICS_NUMBERS] = "SELECT number FROM waiting WHERE collection = ?1",
    [STATEMENT_STATISTICS_FOLDED] =
        "SELECT ifnull(sum(records), 0) FROM blocks WHERE collection = ?1",
    [STATEMENT_STATISTICS_RELEASED] =
        "SELECT ifnull(sum(records), 0), count(*) FROM blocks WHERE collection = ?1 AND is_closed",
    [STATEMENT_STATISTICS_BATCHES_OF_ALL] =
        "SELECT collection, count(*) FROM known GROUP BY collection ORDER BY collection",
    [STATEMENT_STATISTICS_WAITING_OF_ALL] =
        "SELECT collection, count(*), sum(length(body)) FROM waiting GROUP BY collection"
        " ORDER BY collection",
    [STATEMENT_STATISTICS_BLOCKS_OF_ALL] =
        "SELECT collection, sum(records), sum(is_closed), sum(iif(is_closed, records, 0))"
        " FROM blocks GROUP BY collection ORDER BY collection",
    [STATEMENT_RELEASED_OF_ALL] = "SELECT collection, count(*), sum(records), max(last_day)"
                                  " FROM blocks WHERE is_closed GROUP BY collection"
                                  " ORDER BY collection",
    [STATEMENT_REMOVE_FIND] =
        "SELECT collection FROM recipes AS r WHERE (recipe = ?1 OR lower(hex(recipe_hash)) = ?1)"
        " AND (SELECT count(*) FROM known AS k WHERE k.collection = r.collection)"
        " IS NOT (SELECT batches FROM forgotten AS f WHERE f.collection = r.collection) LIMIT 1",
    [STATEMENT_REMOVE_COUNT] =
        "SELECT count(*) - ifnull((SELECT batches FROM forgotten WHERE collection = ?1), 0)"
        " FROM known WHERE collection = ?1",
    [STATEMENT_REMOVE_NOTE] =
        "INSERT OR REPLACE INTO forgotten(collection, batches, last_number) VALUES(?1,"
        " (SELECT count(*) FROM known WHERE collection = ?1), ?2)",
    [STATEMENT_REMOVE_WAITING] = "DELETE FROM waiting WHERE collection = ?1",
    [STATEMENT_REMOVE_BLOCKS] = "DELETE FROM blocks WHERE collection = ?1",
    [STATEMENT_REMOVE_TICK] = "DELETE FROM ticks WHERE collection = ?1",
    [STATEMENT_REMOVE_COPIES] = "DELETE FROM copies WHERE collection = ?1",
    [STATEMENT_COPIES_SET] =
        "INSERT OR REPLACE INTO copies(collection, number, records, examined, largest, is_whole)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    // A block without a row that fits makes the merged one incomplete.
    [STATEMENT_COPIES_MERGE] =
        "INSERT OR REPLACE INTO copies(collection, number, records, examined, largest, is_whole)"
        " SELECT ?1, ?3, ?4, ifnull(sum(c.examined), 0), ifnull(max(c.largest), 0),"
        " count(c.number) = count(*) AND min(c.is_whole) FROM blocks AS b LEFT JOIN copies AS c"
        " ON c.collection = b.collection AND c.number = b.number AND c.records = b.records"
        " WHERE b.collection = ?1 AND b.number BETWEEN ?2 AND ?3",
    [STATEMENT_COPIES_DELETE] =
        "DELETE FROM copies WHERE collection = ?1 AND number >= ?2 AND number < ?3",
    [STATEMENT_IMPORTS] = "SELECT manifest, earlier FROM imports WHERE collection = ?1",
    [STATEMENT_IMPORTS_COUNT] = "SELECT count(*) FROM imports WHERE collection = ?1",
    [STATEMENT_IMPORTS_ADD] =
        "INSERT INTO imports(collection, number, manifest, earlier) VALUES(?1, ?2, ?3, ?4)",
    [STATEMENT_OLD_WAITING] =
        "UPDATE waiting SET kind = 1, start = CASE kind WHEN 0 THEN ?2 ELSE start END"
        " WHERE collection = ?1 AND kind <> 1",
    [STATEMENT_OLD_ACCUMULATORS] =
        "SELECT kind, start, records, generation FROM accumulators WHERE collection = ?1",
    [STATEMENT_OLD_SUMS] = "SELECT kind, start, s.records, ifnull(r.records, 0), ifnull(block, 0)"
                           " FROM sums AS s LEFT JOIN released AS r USING(collection, kind, start)"
                           " WHERE collection = ?1",
    [STATEMENT_OLD_SUM] = "SELECT s.body, r.body FROM sums AS s"
                          " LEFT JOIN released AS r USING(collection, kind, start)"
                          " WHERE collection = ?1 AND kind = ?2 AND start = ?3",
    [STATEMENT_OLD_ACCUMULATORS_DELETE] = "DELETE FROM accumulators WHERE collection = ?1",
    [STATEMENT_OLD_SUMS_DELETE] = "DELETE FROM sums WHERE collection = ?1",
    [STATEMENT_OLD_RELEASED_DELETE] = "DELETE FROM released WHERE collection = ?1",
};

const agg_database_layout *agg_store_layout(void)
{
    static const agg_database_layout layout = {.file = "shoal.db",
                                               .upgrades = upgrades,
                                               .version = DATABASE_VERSION,
                                               .extras = extras,
                                               .statements = statement_sql,
                                               .n_statements = STATEMENT_COUNT};
    return &layout;
}

agg_err agg_store_open_database(agg_store *store, agg_error *error, const char *folder)
{
    return agg_database_open(&store->database, error, folder, agg_store_layout());
}
