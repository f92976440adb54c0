// SPDX-License-Identifier: Apache-2.0
// Sorted lists of ids; see claims.h.
#include "claims.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "field_text.h"
#include "sha256.h"

void agg_claims_release(agg_claims *claims)
{
    free(claims->ids);
    memset(claims, 0, sizeof *claims);
}

// Returns: the number of ids on the list that are smaller than this one.
static size_t place_of(const agg_claims *claims, const uint8_t id[AGG_CLAIM])
{
    size_t first = 0, end = claims->n;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (memcmp(claims->ids[middle], id, AGG_CLAIM) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

bool agg_claims_have(const agg_claims *claims, const uint8_t id[AGG_CLAIM])
{
    size_t place = place_of(claims, id);
    return place < claims->n && memcmp(claims->ids[place], id, AGG_CLAIM) == 0;
}

const uint8_t *agg_claims_shared(const agg_claims *a, const agg_claims *b)
{
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        int order = memcmp(a->ids[i], b->ids[j], AGG_CLAIM);
        if (order == 0) return a->ids[i];
        if (order < 0)
            i++;
        else
            j++;
    }
    return NULL;
}

agg_err agg_claims_check_room(agg_error *error, size_t n)
{
    if (n <= AGG_CLAIMS_MAX) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME,
                    "an accumulator lists at most %zu batches and files of reports, and these are "
                    "more: send larger batches, or keep several accumulators",
                    AGG_CLAIMS_MAX);
}

// Merges from the end, so that every id moves once, to a place that is free by then.
static void join(agg_claims *into, const agg_claims *from)
{
    size_t left = into->n, out = into->n + from->n;
    for (size_t i = from->n; i-- > 0;) {
        while (left > 0 && memcmp(into->ids[left - 1], from->ids[i], AGG_CLAIM) > 0)
            memmove(into->ids[--out], into->ids[--left], AGG_CLAIM);
        memcpy(into->ids[--out], from->ids[i], AGG_CLAIM);
    }
    into->n += from->n;
}

agg_err agg_claims_reserve(agg_claims *into, agg_error *error, const agg_claims *from)
{
    char text[AGG_CLAIM_TEXT];
    void *ids = into->ids;
    const uint8_t *shared = agg_claims_shared(into, from);
    if (shared != NULL)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "both count the batch or file of reports %s",
                        agg_claim_print(text, shared));
    agg_err err = agg_claims_check_room(error, into->n + from->n);
    if (err == SHOAL_OK && from->n > 0)
        err = agg_grow(&ids, &into->cap, into->n + from->n, sizeof *into->ids, error);
    into->ids = ids;
    return err;
}

agg_err agg_claims_unite(agg_claims *into, agg_error *error, const agg_claims *from)
{
    agg_err err = agg_claims_reserve(into, error, from);
    if (err == SHOAL_OK) join(into, from);
    return err;
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, AGG_CLAIM);
}

agg_err agg_claims_add(agg_claims *into, agg_error *error, const uint8_t (*ids)[AGG_CLAIM],
                       size_t n)
{
    char text[AGG_CLAIM_TEXT];
    agg_claims added = {.n = n};
    agg_err err = agg_claims_check_room(error, n);
    if (err != SHOAL_OK || n == 0) return err;
    added.ids = agg_alloc(error, n, sizeof *added.ids);
    if (added.ids == NULL) return AGG_ERR_MEMORY;
    memcpy(added.ids, ids, n * sizeof *added.ids);
    qsort(added.ids, n, sizeof *added.ids, compare_ids);
    for (size_t i = 1; i < n && err == SHOAL_OK; i++)
        if (memcmp(added.ids[i - 1], added.ids[i], AGG_CLAIM) == 0)
            err = agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                           "the batch or file of reports %s is claimed twice",
                           agg_claim_print(text, added.ids[i]));
    if (err == SHOAL_OK) err = agg_claims_unite(into, error, &added);
    agg_claims_release(&added);
    return err;
}

void agg_claim_of(uint8_t id[AGG_CLAIM], const char *label, const uint8_t *bytes, size_t len)
{
    uint8_t digest[32];
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, strlen(label) + 1);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
    memcpy(id, digest, AGG_CLAIM);
}

const char *agg_claim_print(char text[AGG_CLAIM_TEXT], const uint8_t id[AGG_CLAIM])
{
    *shoal_print_hex(text, id, AGG_CLAIM) = '\0';
    return text;
}
