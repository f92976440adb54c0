// SPDX-License-Identifier: Apache-2.0
// Imported blocks; see store_import.h. The file is on the disk before one transaction names it.
#include "store_import.h"

#include <string.h>

#include "recipe.h"
#include "store_batch.h"
#include "store_files.h"

// The id that stands for a manifest among the ids of batches that the store knows.
static void known_id(uint8_t id[AGG_CLAIM], const uint8_t manifest[32])
{
    agg_claim_of(id, "shoal manifest import", manifest, 32);
}

static agg_err count(agg_store *store, int64_t *n, agg_error *error, enum statement number,
                     int64_t collection)
{
    return agg_database_read_integer(&store->database, n, error,
                                     agg_database_bind(&store->database, number, &collection, 1),
                                     "count imports");
}

// Refuses an accumulator that the store must not take, before it reads the database.
static agg_err check_accumulator(agg_error *error, const shoal_recipe *recipe,
                                 const agg_accumulator *acc)
{
    agg_err err = agg_accumulator_check_recipe(acc, error, recipe);
    if (err != SHOAL_OK) return err;
    if (recipe->aggregation != SHOAL_AGGREGATION_REPORTS)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_PRIVACY,
                        "recipe %s: only recipes of aggregation \"reports\" are imported",
                        acc->recipe_id);
    if (acc->shards.n == 0)
        return agg_fail(error, SHOAL_ERR_ARGUMENT, AGG_EXIT_RUNTIME,
                        "it does not count by manifests: only the result of shoal ingest "
                        "--manifest can be imported once");
    err = agg_accumulator_check_whole(acc, error);
    if (err != SHOAL_OK || acc->n >= recipe->block_minimum) return err;
    return agg_fail(error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
                    "it has %llu reports, and a block has %u at least: merge it with the next "
                    "generation, and import both together",
                    (unsigned long long)acc->n, recipe->block_minimum);
}

static bool names(const uint8_t *list, size_t n, const uint8_t name[32])
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(list + 32 * i, name, 32) == 0) return true;
    return false;
}

// Checks a claim against one manifest that was imported.
//   earlier: n_earlier names, those that the imported one excludes
static agg_err check_two(agg_error *error, const agg_shard_claim *claim, const uint8_t *imported,
                         const uint8_t *earlier, size_t n_earlier)
{
    char text[AGG_MANIFEST_TEXT], other[AGG_MANIFEST_TEXT];
    agg_manifest_print(text, claim->manifest);
    if (memcmp(claim->manifest, imported, 32) == 0)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "manifest %s was imported before", text);
    if (names(earlier, n_earlier, claim->manifest) ||
        (claim->n_earlier > 0 && names(claim->earlier[0], claim->n_earlier, imported)))
        return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                    "manifest %s may list batches of manifest %s, which was imported: it was not "
                    "made --after it",
                    text, agg_manifest_print(other, imported));
}

static agg_err check_row(const agg_store *store, agg_error *error, sqlite3_stmt *row,
                         const agg_accumulator *acc)
{
    agg_err err = SHOAL_OK;
    const uint8_t *imported = sqlite3_column_blob(row, 0), *earlier = sqlite3_column_blob(row, 1);
    int len = sqlite3_column_bytes(row, 1);
    if (imported == NULL || sqlite3_column_bytes(row, 0) != 32 || len % 32 != 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: an import cannot be read",
                        store->database.folder);
    for (size_t i = 0; err == SHOAL_OK && i < acc->shards.n; i++)
        err = check_two(error, &acc->shards.list[i], imported, earlier, (size_t)len / 32);
    return err;
}

// Checks the manifests against all that were imported.
static agg_err check_imports(agg_store *store, agg_error *error, int64_t collection,
                             const agg_accumulator *acc)
{
    sqlite3_stmt *rows = agg_database_bind(&store->database, STATEMENT_IMPORTS, &collection, 1);
    agg_err err = SHOAL_OK;
    for (bool is_row = true; err == SHOAL_OK && is_row;) {
        err = agg_database_step(&store->database, &is_row, error, rows, "list imports");
        if (err == SHOAL_OK && is_row) err = check_row(store, error, rows, acc);
    }
    agg_statement_end(rows);
    return err;
}

// Refuses a collection that batches were put into. Every import is one of its known ids too.
static agg_err check_batches(agg_store *store, agg_error *error, int64_t collection,
                             const agg_block *open)
{
    int64_t n_known = 0, n_imports = 0;
    agg_err err = count(store, &n_known, error, STATEMENT_STATISTICS_BATCHES, collection);
    if (err == SHOAL_OK) err = count(store, &n_imports, error, STATEMENT_IMPORTS_COUNT, collection);
    if (err != SHOAL_OK || (n_known == n_imports && open->arrival == INT32_MAX)) return err;
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                    "the server took batches of this recipe itself, and what both count could not "
                    "be found: use another recipe for imports");
}

static agg_err check_day(agg_store *store, agg_error *error, int64_t collection, int32_t day,
                         int32_t today)
{
    int64_t last = 0;
    char text[11];
    agg_err err = count(store, &last, error, STATEMENT_BLOCK_LAST_DAY, collection);
    if (err != SHOAL_OK) return err;
    if (day < 1 || day > today)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "--period: the day has not come");
    if (day > last) return SHOAL_OK;
    agg_day_print(text, (int32_t)last);
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_PRIVACY,
                    "%s is released, and no released day changes: give a later day, or merge a "
                    "late generation with the next one",
                    text);
}

static agg_err enter_manifests(agg_store *store, agg_error *error, int64_t collection,
                               const agg_shard_claims *shards, int64_t number)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < shards->n; i++) {
        uint8_t id[AGG_CLAIM];
        const agg_shard_claim *claim = &shards->list[i];
        const int64_t row[] = {collection, number};
        sqlite3_stmt *add = agg_database_bind(&store->database, STATEMENT_IMPORTS_ADD, row, 2);
        agg_statement_bind_bytes(add, 3, claim->manifest, 32);
        agg_statement_bind_bytes(add, 4, claim->earlier, 32 * (size_t)claim->n_earlier);
        err = agg_database_run(&store->database, error, add, "enter an import");
        known_id(id, claim->manifest);
        if (err == SHOAL_OK) err = agg_store_add_id(store, error, collection, id);
    }
    return err;
}

// Makes the block's row, after every check. Call with db_mutex held.
static agg_err prepare(agg_store *store, agg_block *block, agg_error *error, int64_t collection,
                       const agg_accumulator *acc, int32_t day, int32_t today)
{
    agg_err err = agg_store_find_open(store, block, error, collection);
    if (err == SHOAL_OK) err = check_imports(store, error, collection, acc);
    if (err == SHOAL_OK) err = check_batches(store, error, collection, block);
    if (err == SHOAL_OK) err = check_day(store, error, collection, day, today);
    if (err != SHOAL_OK) return err;
    block->arrival = block->first_day = block->last_day = day;
    block->records = (int64_t)acc->n;
    block->generation = 1;
    agg_block_name_file(block, collection);
    return SHOAL_OK;
}

static agg_err enter(agg_store *store, agg_error *error, int64_t collection, const agg_block *block,
                     const agg_shard_claims *shards)
{
    agg_err err = agg_store_set_block(store, error, collection, block, true, NULL, 0);
    return err == SHOAL_OK ? enter_manifests(store, error, collection, shards, block->number) : err;
}

agg_err agg_store_import(agg_store *store, int64_t *number, agg_error *error, int64_t collection,
                         const shoal_recipe *recipe, agg_accumulator *acc, int32_t day,
                         int32_t today)
{
    agg_block block;
    agg_err err = check_accumulator(error, recipe, acc);
    if (err != SHOAL_OK) return err;
    // Files of blocks have no claims: the database has them.
    agg_shard_claims shards = acc->shards;
    pthread_mutex_lock(&store->fold_mutex);
    pthread_mutex_lock(&store->db_mutex);
    err = prepare(store, &block, error, collection, acc, day, today);
    memset(&acc->shards, 0, sizeof acc->shards);
    if (err == SHOAL_OK) err = agg_store_file_save(store, acc, error, block.file);
    if (err == SHOAL_OK) err = agg_database_begin(&store->database, error);
    if (err == SHOAL_OK)
        err = agg_database_end(&store->database, error,
                               enter(store, error, collection, &block, &shards), "import a block");
    pthread_mutex_unlock(&store->db_mutex);
    pthread_mutex_unlock(&store->fold_mutex);
    acc->shards = shards;
    if (err == SHOAL_OK) *number = block.number;
    return err;
}
