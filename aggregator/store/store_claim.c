// SPDX-License-Identifier: Apache-2.0
// Claims of closed blocks; see store_claim.h.
#include "store_claim.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "store_blocks.h"
#include "store_statements.h"

#define IDENTITY 16 // random bytes of a collection of this store

static agg_err read_identity(agg_store *store, uint8_t identity[IDENTITY], agg_error *error,
                             int64_t collection)
{
    bool is_row = false;
    pthread_mutex_lock(&store->db_mutex);
    sqlite3_stmt *find =
        agg_database_bind(&store->database, STATEMENT_RECIPE_IDENTITY, &collection, 1);
    agg_err err = agg_database_step(&store->database, &is_row, error, find, "read an identity");
    if (err == SHOAL_OK && !is_row)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "store %s: a recipe is missing",
                       store->database.folder);
    if (err == SHOAL_OK)
        err = agg_database_copy_exactly(&store->database, identity, IDENTITY, error, find, 0);
    agg_statement_end(find);
    pthread_mutex_unlock(&store->db_mutex);
    return err;
}

// Adds the ids of a block: one for each block that was merged into it.
static agg_err add_ids(agg_claims *ids, agg_error *error, const uint8_t identity[IDENTITY],
                       const agg_block *block)
{
    uint8_t bytes[IDENTITY + 8];
    size_t n = (size_t)(block->number - block->first_number) + 1;
    void *grown = ids->ids;
    agg_err err = agg_claims_check_room(error, ids->n + n);
    if (err == SHOAL_OK) err = agg_grow(&grown, &ids->cap, ids->n + n, sizeof *ids->ids, error);
    ids->ids = grown;
    memcpy(bytes, identity, IDENTITY);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        store64_le(bytes + IDENTITY, (uint64_t)block->first_number + i);
        agg_claim_of(ids->ids[ids->n++], "shoal store block", bytes, sizeof bytes);
    }
    return err;
}

agg_err agg_store_claim(agg_store *store, agg_accumulator *acc, agg_error *error,
                        int64_t collection, const agg_released *released, agg_span span)
{
    uint8_t identity[IDENTITY];
    agg_claims ids = {.n = 0}; // in any order
    agg_block *list = NULL;
    size_t n = 0;
    agg_err err = read_identity(store, identity, error, collection);
    if (err == SHOAL_OK) err = agg_store_list_blocks(store, &list, &n, error, collection);
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        // A block that closed since it was loaded has a higher number. One that retention merged
        // since may reach beyond what was loaded: its other parts are claimed too, so that no
        // overlap is missed.
        if (released->n > 0 && list[i].number >= released->first_number &&
            list[i].first_number <= released->last_number &&
            agg_span_overlaps((agg_span){list[i].first_day, list[i].last_day}, span))
            err = add_ids(&ids, error, identity, &list[i]);
    }
    if (err == SHOAL_OK)
        err = agg_accumulator_claim_all(acc, error, (const uint8_t(*)[AGG_CLAIM])ids.ids, ids.n);
    agg_claims_release(&ids);
    free(list);
    return err;
}
