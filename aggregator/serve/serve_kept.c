// SPDX-License-Identifier: Apache-2.0
// Kept estimates; see serve_kept.h.
#include "serve_kept.h"

#include <stdlib.h>

#include "agg_size.h"

enum { KEPT_MAX = 8 };

// An estimate, or the error in its place, of the blocks that a question got.
typedef struct entry {
    const serve_collection *collection; // NULL: the slot is free
    serve_set *set;                     // that it belongs to; held
    const serve_dictionary *dictionary;
    agg_span span;     // of the question that it was made for
    uint64_t used;     // number of the question that used it last
    bool is_asked;     // since it was made
    unsigned closings; // of the collection, when it was made
    bool has_spread;   // as serve_estimate_make was asked for it
    serve_estimate made;
} entry;

struct serve_kept {
    agg_store *store;
    serve_sets *sets;
    serve_periods_shelf *periods;
    size_t bytes;
    entry list[KEPT_MAX];
    uint64_t questions;
};

serve_kept *serve_kept_make(agg_error *error, agg_store *store, serve_sets *sets,
                            serve_periods_shelf *periods, size_t bytes)
{
    serve_kept *kept = agg_alloc(error, 1, sizeof *kept);
    if (kept == NULL) return NULL;
    kept->store = store;
    kept->sets = sets;
    kept->periods = periods;
    kept->bytes = bytes;
    return kept;
}

static void forget(serve_kept *kept, entry *k)
{
    if (k->collection != NULL) serve_estimate_release(&k->made);
    serve_sets_release(kept->sets, k->set);
    *k = (entry){0};
}

void serve_kept_release(serve_kept *kept)
{
    if (kept == NULL) return;
    for (int i = 0; i < KEPT_MAX; i++) forget(kept, &kept->list[i]);
    free(kept);
}

void serve_kept_settle(serve_kept *kept, const serve_set *set)
{
    for (int i = 0; i < KEPT_MAX; i++)
        if (kept->list[i].set != NULL && kept->list[i].set != set) forget(kept, &kept->list[i]);
}

static bool has_blocks(const entry *k, const agg_released *released)
{
    return k->made.released.n == released->n &&
           k->made.released.first_number == released->first_number &&
           k->made.released.last_number == released->last_number;
}

// Forgets the estimates that were used least recently, until there is room for more bytes.
// Returns: the bytes of the estimates that are left, and of what there is room for.
static size_t make_room(serve_kept *kept, const entry *but, size_t more)
{
    for (;;) {
        size_t bytes = more;
        entry *oldest = NULL;
        for (int i = 0; i < KEPT_MAX; i++) {
            entry *k = &kept->list[i];
            if (k == but || k->collection == NULL) continue;
            bytes += k->made.estimate.n_dictionary * sizeof(agg_estimate_row);
            if (oldest == NULL || k->used < oldest->used) oldest = k;
        }
        if (oldest == NULL || bytes <= kept->bytes) return bytes;
        forget(kept, oldest);
    }
}

// Makes room for one more estimate of n rows, beside which pages over time stay if they fit.
static void make_room_for_rows(serve_kept *kept, const entry *but, size_t n)
{
    size_t bytes = make_room(kept, but, n * sizeof(agg_estimate_row));
    size_t left = bytes < kept->bytes ? kept->bytes - bytes : 0;
    serve_periods_shelf_shrink(kept->periods, left);
}

void serve_kept_make_room(serve_kept *kept)
{
    size_t held = serve_periods_shelf_shrink(kept->periods, kept->bytes);
    make_room(kept, NULL, held);
}

// Makes the estimate that an entry says it is of.
//   found: of looking its blocks up: SHOAL_OK, or why there are none
static void make(serve_kept *kept, entry *k, agg_err found, unsigned n_threads)
{
    k->made.error.code = found;
    if (found == SHOAL_OK)
        serve_estimate_make(&k->made, kept->store, k->collection, &k->dictionary->dictionary,
                            k->span, k->has_spread, n_threads);
}

const serve_estimate *serve_kept_answer(serve_kept *kept, const serve_job *job,
                                        const serve_collection *collection,
                                        const serve_dictionary *dictionary, unsigned n_threads)
{
    agg_released released = {0};
    agg_error error = {0};
    unsigned closings = atomic_load(&collection->live->closings);
    agg_err err =
        agg_store_find_released(kept->store, &released, &error, collection->number, job->span);
    // Only the page of one collection shows how numbers are spread.
    bool needs_spread = job->collection != NULL, is_kept = false;
    entry *slot = &kept->list[0];
    for (int i = 0; err == SHOAL_OK && !is_kept && i < KEPT_MAX; i++) {
        entry *k = &kept->list[i];
        is_kept =
            k->collection == collection && k->dictionary == dictionary &&
            (k->has_spread || !needs_spread) && has_blocks(k, &released) &&
            (k->made.error.code == SHOAL_OK || serve_estimate_status(k->made.error.code) < 500);
        if (is_kept || k->used < slot->used) slot = k;
    }
    if (!is_kept) {
        forget(kept, slot);
        make_room_for_rows(kept, slot, dictionary->dictionary.n);
        *slot = (entry){.collection = collection,
                        .set = job->set,
                        .dictionary = dictionary,
                        .span = job->span,
                        .closings = closings,
                        .has_spread = needs_spread,
                        .made = {.error = error}};
        serve_sets_hold_again(kept->sets, job->set);
        make(kept, slot, err, n_threads);
    }
    slot->is_asked = true;
    slot->used = ++kept->questions;
    return &slot->made;
}

bool serve_kept_refresh(serve_kept *kept)
{
    for (int i = 0; i < KEPT_MAX; i++) {
        entry *k = &kept->list[i];
        if (k->collection == NULL || !k->is_asked) continue;
        unsigned closings = atomic_load(&k->collection->live->closings);
        if (closings == k->closings) continue;
        agg_released released = {0};
        agg_error error = {0};
        agg_err err =
            agg_store_find_released(kept->store, &released, &error, k->collection->number, k->span);
        k->closings = closings;
        if (err != SHOAL_OK || has_blocks(k, &released)) continue; // whoever asks gets the error
        k->is_asked = false;
        serve_estimate_release(&k->made);
        k->made = (serve_estimate){.error = error};
        make(kept, k, SHOAL_OK, 1); // what nobody waits for takes no core from folds
        return true;
    }
    if (!serve_periods_shelf_refresh(kept->periods, kept->store)) return false;
    serve_kept_make_room(kept);
    return true;
}
