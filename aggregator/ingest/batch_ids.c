// SPDX-License-Identifier: Apache-2.0
// A hash table with open addressing; see batch_ids.h. The hash needs no secret key: ids are random,
// and a sender who forges colliding ids slows down only its own ingest.
#include "batch_ids.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "fingerprint.h"

static size_t find(const agg_batch_ids *set, const uint8_t id[16])
{
    static const uint8_t key[16] = {0};
    size_t at = (size_t)shoal_fingerprint(key, id, 16) & (set->cap - 1);
    while (set->is_used[at] && memcmp(set->ids[at], id, 16) != 0) at = (at + 1) & (set->cap - 1);
    return at;
}

#define CAP_FIRST 64u

static agg_err enlarge(agg_batch_ids *set, agg_error *error)
{
    agg_batch_ids larger = {NULL, NULL, set->n, set->cap > 0 ? 2 * set->cap : CAP_FIRST};
    larger.ids = agg_alloc(error, larger.cap, sizeof *larger.ids);
    larger.is_used = agg_alloc(error, larger.cap, sizeof *larger.is_used);
    if (larger.ids == NULL || larger.is_used == NULL) {
        agg_batch_ids_release(&larger);
        return AGG_ERR_MEMORY;
    }
    for (size_t i = 0; i < set->cap; i++) {
        if (!set->is_used[i]) continue;
        size_t at = find(&larger, set->ids[i]);
        memcpy(larger.ids[at], set->ids[i], 16);
        larger.is_used[at] = true;
    }
    agg_batch_ids_release(set);
    *set = larger;
    return SHOAL_OK;
}

agg_err agg_batch_ids_add(agg_batch_ids *set, agg_error *error, const uint8_t id[16],
                          bool *was_there)
{
    if (2 * (set->n + 1) > set->cap) {
        agg_err err = enlarge(set, error);
        if (err != SHOAL_OK) return err;
    }
    size_t at = find(set, id);
    *was_there = set->is_used[at];
    if (*was_there) return SHOAL_OK;
    memcpy(set->ids[at], id, 16);
    set->is_used[at] = true;
    set->n++;
    return SHOAL_OK;
}

bool agg_batch_ids_have(const agg_batch_ids *set, const uint8_t id[16])
{
    return set->n > 0 && set->is_used[find(set, id)];
}

void agg_batch_ids_pack(agg_batch_ids *set)
{
    size_t n = 0;
    for (size_t i = 0; i < set->cap; i++)
        if (set->is_used[i]) memmove(set->ids[n++], set->ids[i], 16);
}

// A set is at most half full, and the old table lies beside the new one while the ids move.
uint64_t agg_batch_ids_memory(uint64_t n)
{
    uint64_t cap = CAP_FIRST;
    while (cap < 2 * n) cap *= 2;
    return (cap + cap / 2) * (sizeof(uint8_t[16]) + sizeof(bool));
}

void agg_batch_ids_release(agg_batch_ids *set)
{
    free(set->ids);
    free(set->is_used);
    memset(set, 0, sizeof *set);
}
