// SPDX-License-Identifier: Apache-2.0
// One device's run of THRESH; see thresh.h.
#include "thresh.h"

#include "bytes.h"
#include "recipe.h"
#include "record.h"

void shoal_thresh_start(shoal_thresh *state)
{
    *state = (shoal_thresh){{0, 0, 0}, SHOAL_NUMBER_ONE / 2, SHOAL_NUMBER_ONE / 2};
}

// Returns: |a - b| of two fractions.
static uint64_t distance_of(uint64_t a, uint64_t b)
{
    uint64_t is_less = 0 - ((a - b) >> 63);
    return ((a - b) ^ is_less) - is_less;
}

shoal_epoch_refusal shoal_thresh_step(uint64_t items[2], shoal_thresh *state,
                                      const shoal_evolving *run, uint32_t index, uint32_t is_update,
                                      uint64_t mean)
{
    uint64_t is_none = 0 - (mean >> 63);
    shoal_epoch_refusal refusal = shoal_epoch_check(&state->ledger, run, index, is_update);
    if (refusal != SHOAL_EPOCH_ACCEPTED) return refusal;
    if (is_update) state->reference = state->previous;
    uint64_t now = (mean & ~is_none) | (state->previous & is_none);
    uint64_t distance = distance_of(now, state->reference) & ~is_none;
    items[SHOAL_EVOLVING_VOTE] = shoal_epoch_vote(&state->ledger, run, index, distance);
    items[SHOAL_EVOLVING_ESTIMATE] =
        state->previous & shoal_epoch_estimate(&state->ledger, run, is_update);
    state->previous = now;
    state->ledger.epoch = index;
    return SHOAL_EPOCH_ACCEPTED;
}

shoal_epoch_refusal shoal_thresh_answer(uint8_t *record, uint8_t *state, size_t len,
                                        const shoal_recipe *recipe, uint64_t mean, shoal_rng *rng)
{
    uint8_t *means = state + SHOAL_RUN_HEADER;
    shoal_thresh own;
    shoal_evolving run;
    uint64_t items[2];
    if (recipe->mechanism != shoal_thresh_id || recipe->n_parts != 2 ||
        !shoal_part_has_item(&recipe->parts[1], mean))
        return SHOAL_EPOCH_NOT_TRACKED;
    shoal_epoch_refusal refusal = shoal_run_open(&own.ledger, &run, state, len, recipe);
    if (refusal != SHOAL_EPOCH_ACCEPTED) return refusal;
    own.reference = load64_le(means);
    own.previous = load64_le(means + 8);
    refusal = shoal_thresh_step(items, &own, &run, recipe->round_index, recipe->round_update, mean);
    if (refusal == SHOAL_EPOCH_ACCEPTED &&
        shoal_record_randomize(record, recipe, items, 2, NULL, rng) != SHOAL_OK)
        refusal = SHOAL_EPOCH_STATE;
    if (refusal == SHOAL_EPOCH_ACCEPTED) {
        store64_le(means, own.reference);
        store64_le(means + 8, own.previous);
        shoal_run_close(state, len, &own.ledger, recipe);
    }
    wipe(&own, sizeof own);
    wipe(items, sizeof items);
    return refusal;
}

static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    (void)cells;
    return shoal_evolving_expand(recipe, 1, field);
}

const shoal_compound shoal_thresh_compound = {
    .id = shoal_thresh_id,
    .name = "thresh",
    .domain = SHOAL_DOMAIN_NUMBER,
    .takes = {SHOAL_TAKES_EPSILON | SHOAL_TAKES_THRESH | SHOAL_TAKES_RANGE, SHOAL_TAKES_UPDATE},
    .expand = expand,
};
