// SPDX-License-Identifier: Apache-2.0
// Merging closed blocks; see store_merge.h. The sum is on the disk before one transaction puts it
// in the place of the group, and the group's files are removed last: a process that is killed
// leaves the group or the merged block.
#include "store_merge.h"

#include <stdlib.h>

#include "compound.h"
#include "recipe.h"
#include "store_copies.h"
#include "store_load.h"
#include "store_sum.h"

// The days that a block's group covers, and whether they are over.
typedef struct group {
    int32_t first, last;
} group;

static int32_t last_of_month(int32_t day)
{
    int32_t first = agg_month_of_day(day);
    return agg_month_of_day(first + 31) - 1;
}

// Returns: the group of a block that closed on a day, as of today.
static group group_of(int32_t day, const shoal_recipe *recipe, int32_t today,
                      agg_retention retention)
{
    int32_t monday = agg_period_of_day(AGG_PERIOD_WEEK, day).start;
    int64_t days = retention.days, weeks = days + 7 * (int64_t)retention.weeks;
    if (shoal_recipe_keeps_records(recipe) && today <= (int64_t)day + recipe->keep_days)
        return (group){day, day};
    if (last_of_month(day) + weeks < today)
        return (group){agg_month_of_day(day), last_of_month(day)};
    return monday + 6 + days < today ? (group){monday, monday + 6} : (group){day, day};
}

// Finds the first group of several blocks whose days are over.
//   n: 0 when there is none
static const agg_block *find_group(size_t *n, const agg_block *list, size_t n_list,
                                   const shoal_recipe *recipe, int32_t today,
                                   agg_retention retention)
{
    *n = 0;
    for (size_t first = 0, end; first < n_list; first = end) {
        group own = group_of(list[first].last_day, recipe, today, retention);
        for (end = first + 1; end < n_list; end++) {
            group next = group_of(list[end].last_day, recipe, today, retention);
            // Numbers are missing after a restore: a lost store may have given them to its blocks.
            if (list[end].first_number != list[end - 1].number + 1) break;
            if (next.first != own.first || next.last != own.last) break;
        }
        if (end - first < 2 || own.last >= today) continue;
        *n = end - first;
        return &list[first];
    }
    return NULL;
}

// Makes the row of the block that takes the place of several.
static agg_block row_of(const agg_block *list, size_t n, int64_t collection)
{
    agg_block made = list[n - 1];
    made.first_number = list[0].first_number;
    made.records = 0;
    for (size_t i = 0; i < n; i++) {
        made.records += list[i].records;
        if (list[i].arrival < made.arrival) made.arrival = list[i].arrival;
        if (list[i].first_day < made.first_day) made.first_day = list[i].first_day;
    }
    if (made.file[0] == '\0') return made;
    made.generation++;
    agg_block_name_file(&made, collection);
    return made;
}

static agg_err replace(agg_store *store, agg_error *error, int64_t collection,
                       const agg_block *list, const agg_block *made, const agg_accumulator *acc)
{
    agg_database *database = &store->database;
    const int64_t gone[] = {collection, list[0].number, made->number};
    agg_err err = agg_store_merge_copies(store, error, collection, list[0].number, made->number,
                                         made->records);
    if (err == SHOAL_OK)
        err = agg_database_run(database, error,
                               agg_database_bind(database, STATEMENT_BLOCK_DELETE, gone, 3),
                               "replace blocks");
    if (err == SHOAL_OK)
        err = made->file[0] == '\0'
                  ? agg_store_set_sum(store, error, collection, made, true, acc)
                  : agg_store_set_block(store, error, collection, made, true, NULL, 0);
    return err;
}

// Puts the merged block in the place of the others. No load reads them meanwhile.
static agg_err commit(agg_store *store, agg_error *error, int64_t collection, const agg_block *list,
                      const agg_block *made, const agg_accumulator *acc)
{
    agg_database *database = &store->database;
    pthread_mutex_lock(&store->files_mutex);
    pthread_mutex_lock(&store->db_mutex);
    agg_err err = agg_database_begin(database, error);
    if (err == SHOAL_OK)
        err = agg_database_end(database, error, replace(store, error, collection, list, made, acc),
                               "merge blocks");
    store->has_old_sums = true;
    agg_store_drop_old_sums(store);
    pthread_mutex_unlock(&store->db_mutex);
    pthread_mutex_unlock(&store->files_mutex);
    return err;
}

static agg_err merge(agg_store *store, agg_error *error, int64_t collection,
                     const shoal_recipe *recipe, const agg_block *list, size_t n)
{
    agg_block made = row_of(list, n, collection);
    agg_accumulator acc;
    agg_err err = agg_store_load_blocks(store, &acc, error, collection, recipe, list, n);
    if (err != SHOAL_OK) return err;
    if (made.file[0] != '\0') err = agg_store_file_save(store, &acc, error, made.file);
    if (err == SHOAL_OK) err = commit(store, error, collection, list, &made, &acc);
    agg_accumulator_release(&acc);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++)
        if (list[i].file[0] != '\0') agg_store_file_remove(store, list[i].file);
    return err;
}

agg_err agg_store_merge_blocks(agg_store *store, uint64_t *n_merged, agg_error *error,
                               int64_t collection, const shoal_recipe *recipe, int32_t today,
                               agg_retention retention)
{
    agg_block *list = NULL;
    size_t n_list = 0, n = 0;
    pthread_mutex_lock(&store->fold_mutex);
    agg_err err = agg_store_list_blocks(store, &list, &n_list, error, collection);
    if (err == SHOAL_OK) {
        const agg_block *due = find_group(&n, list, n_list, recipe, today, retention);
        if (n > 0) err = merge(store, error, collection, recipe, due, n);
    }
    pthread_mutex_unlock(&store->fold_mutex);
    free(list);
    *n_merged = err == SHOAL_OK ? n : 0;
    return err;
}
