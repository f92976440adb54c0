// SPDX-License-Identifier: Apache-2.0
// Exports for recipes that are epochs of a run (thresh, heavythresh): the run's state on this
// device, and the report of an epoch. See exports.h. The page's small module does not have them.
// Refusals are the numbers of core/compound/epoch.h.
#include "exports.h"
#include "heavythresh.h"
#include "thresh.h"

// A histogram's entry as JavaScript writes it: item u64, count u32, four bytes of padding,
// little-endian like all of this memory.
_Static_assert(sizeof(shoal_counted) == 16 && offsetof(shoal_counted, count) == 8,
               "16 bytes an entry");

// Returns: a finished recipe of a run, or NULL.
static const shoal_recipe *run_recipe(uint32_t handle)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r && shoal_run_size(r) > 0 ? r : NULL;
}

static const shoal_recipe *heavy_recipe(uint32_t handle)
{
    const shoal_recipe *r = run_recipe(handle);
    return r && r->mechanism == shoal_heavythresh_id ? r : NULL;
}

// Returns: bytes of the state of the recipe's run, or 0 if the recipe belongs to no run.
EXPORT(track_state_size) uint32_t export_track_state_size(uint32_t handle)
{
    const shoal_recipe *r = run_recipe(handle);
    return r ? (uint32_t)shoal_run_size(r) : 0;
}

// Writes the state of a new run. Call it only right after the ledger was debited for the run;
// otherwise a run whose state was lost would begin anew. Returns: length.
EXPORT(track_state_init)
int32_t export_track_state_init(uint32_t state, uint32_t cap, uint32_t handle)
{
    const shoal_recipe *r = run_recipe(handle);
    size_t len = 0;
    if (!r || !inside(state, cap)) return failed(SHOAL_ERR_ARGUMENT);
    shoal_err err = shoal_run_init(at(state), cap, &len, r);
    return length_or(err, len);
}

// Writes the 32 bytes that all recipes of a run share.
EXPORT(track_run_hash) uint32_t export_track_run_hash(uint32_t out, uint32_t handle)
{
    const shoal_recipe *r = run_recipe(handle);
    if (!r || !inside(out, 32)) return SHOAL_ERR_ARGUMENT;
    memcpy(at(out), r->run_hash, 32);
    return SHOAL_OK;
}

// Answers an epoch with the mean of its numbers, in micro-units. The state is changed in place and
// must be stored before the record leaves.
//   has_data: 0 if the epoch has no numbers
//   seed: 32 bytes, wiped
// Returns: a refusal; record and state are then unchanged.
EXPORT(track_answer_number)
uint32_t export_track_answer_number(uint32_t record, uint32_t state, uint32_t len, uint32_t handle,
                                    int64_t micro, uint32_t has_data, uint32_t seed)
{
    const coins c = {seed, 0};
    if (!coins_are_inside(c)) return SHOAL_EPOCH_NOT_TRACKED;
    const shoal_recipe *r = run_recipe(handle);
    shoal_epoch_refusal refusal = SHOAL_EPOCH_NOT_TRACKED;
    if (r && inside(record, r->record_size) && inside(state, len)) {
        shoal_rng rng;
        shoal_permanent none;
        coins_start(&rng, &none, c);
        uint64_t mean = shoal_recipe_number_item(r, micro) |
                        (0 - (uint64_t)(has_data == 0)); // SHOAL_ITEM_NONE without a branch
        refusal = shoal_thresh_answer(at(record), at(state), len, r, mean, &rng);
        shoal_rng_wipe(&rng);
        wipe(&mean, sizeof mean);
    }
    coins_wipe(c);
    return refusal;
}

// Returns: bytes of scratch that track_answer_counts needs.
EXPORT(track_scratch_size) uint32_t export_track_scratch_size(uint32_t handle)
{
    const shoal_recipe *r = heavy_recipe(handle);
    return r ? 12 * r->projection : 0;
}

// Answers an epoch like track_answer_number, but with the histogram of its values.
//   values: n entries of 16 bytes, each item once, at a multiple of 8; wiped; n = 0 without data
//   scratch: track_scratch_size bytes, at a multiple of 4; wiped
EXPORT(track_answer_counts)
uint32_t export_track_answer_counts(uint32_t record, uint32_t state, uint32_t len, uint32_t handle,
                                    uint32_t values, uint32_t n, uint32_t scratch, uint32_t seed)
{
    const coins c = {seed, 0};
    if (n > UINT32_MAX / 16 || !inside(values, 16 * n) || values % 8 != 0 || !coins_are_inside(c))
        return SHOAL_EPOCH_NOT_TRACKED;
    const shoal_recipe *r = heavy_recipe(handle);
    shoal_epoch_refusal refusal = SHOAL_EPOCH_NOT_TRACKED;
    if (r && inside(record, r->record_size) && inside(state, len) &&
        inside(scratch, 12 * r->projection) && scratch % 4 == 0) {
        shoal_rng rng;
        shoal_permanent none;
        coins_start(&rng, &none, c);
        refusal = shoal_heavythresh_answer(at(record), at(state), len, r,
                                           (const shoal_counted *)(uintptr_t)values, n,
                                           (uint32_t *)(uintptr_t)scratch, &rng);
        shoal_rng_wipe(&rng);
    }
    wipe(at(values), 16 * n);
    coins_wipe(c);
    return refusal;
}

// Writes the 8-byte item of a value of heavythresh.
//   text: len bytes, after the recipe's text rule; wiped
EXPORT(track_item)
uint32_t export_track_item(uint32_t out, uint32_t handle, uint32_t text, uint32_t len)
{
    if (!inside(text, len)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = heavy_recipe(handle);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && inside(out, 8)) {
        err = len > SHOAL_VALUE_MAX ? SHOAL_ERR_RANGE : SHOAL_OK;
        if (!err) store64_le(at(out), shoal_part_item(shoal_recipe_value_part(r), at(text), len));
    }
    wipe(at(text), len);
    return err;
}

// Writes the run's spending on this device, as little-endian u32: the last epoch answered and the
// number of epochs; votes sent and their limit; estimates sent and their limit; epsilon of a vote,
// of an estimate, and spent in all (2 c_V + c_E), in micro-units.
#define SPENT_WORDS 9u
EXPORT(track_spent)
uint32_t export_track_spent(uint32_t out, uint32_t state, uint32_t len, uint32_t handle)
{
    const shoal_recipe *r = run_recipe(handle);
    shoal_run_spent spent;
    if (!r || !inside(out, SPENT_WORDS * 4) || !inside(state, len)) return SHOAL_ERR_ARGUMENT;
    shoal_err err = shoal_run_spent_of(&spent, at(state), len, r);
    if (err) return err;
    uint32_t vote = r->parts[SHOAL_EVOLVING_VOTE].eps_micro,
             estimate = r->parts[SHOAL_EVOLVING_ESTIMATE].eps_micro;
    const uint32_t words[SPENT_WORDS] = {spent.epoch,
                                         r->epochs,
                                         spent.n_votes,
                                         r->eps_micro / (4 * vote),
                                         spent.n_estimates,
                                         r->eps_micro / (2 * estimate),
                                         vote,
                                         estimate,
                                         spent.eps_micro};
    put_words(out, words, SPENT_WORDS);
    return SHOAL_OK;
}

// Returns: static NUL-terminated text about a refusal.
EXPORT(track_refusal_name) const char *export_track_refusal_name(uint32_t refusal)
{
    return shoal_epoch_refusal_name((shoal_epoch_refusal)refusal);
}

EXPORT(track_refusal_text) const char *export_track_refusal_text(uint32_t refusal)
{
    return shoal_epoch_refusal_text((shoal_epoch_refusal)refusal);
}
