// SPDX-License-Identifier: Apache-2.0
// Property: whatever bytes a host brings back as the state of a run, a recipe either is refused and
// changes nothing, or makes a record that its check takes, costs one vote and one estimate at most,
// never passes the caps, and leaves a state that opens again and refuses a replay. Input: flags (1:
// sealed when forged; 2: heavythresh; 4: an update; 8: data), index (1), data (2), then the state.
#include "checksum.h"
#include "fuzz_recipe.h"
#include "heavythresh.h"
#include "record.h"
#include "test_runs.h"
#include "thresh.h"

#define HEAD 4u
#define W 64u
#define INDICES 12u // of which the last is one after the one that collects

static const shoal_evolving_plan plans[2] = {{4000000, 20000, 1000, 10, 20000, 1, 6, 0, 0},
                                             {4000000, 20000, 100000, 10, 20000, 1, 6, W, 500000}};

static const shoal_recipe *epoch_number(uint32_t kind, uint32_t index, uint32_t is_update)
{
    static shoal_recipe made[2][INDICES + 1][2];
    shoal_recipe *r = &made[kind][index][is_update];
    if (r->n_parts == 0)
        PROPERTY(epoch_recipe(r, &plans[kind], index, is_update, NULL) == SHOAL_OK);
    return r;
}

static shoal_epoch_refusal answer(uint8_t *record, uint8_t *state, size_t len,
                                  const shoal_recipe *recipe, const uint8_t *head)
{
    static uint32_t scratch[3 * W];
    uint8_t seed[32] = {head[2], head[3]};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    const shoal_counted value = {head[2], head[3]};
    uint64_t mean =
        head[0] & 8 ? SHOAL_NUMBER_ONE / 65535 * (head[2] + 256u * head[3]) : SHOAL_ITEM_NONE;
    if (recipe->mechanism == shoal_thresh_id)
        return shoal_thresh_answer(record, state, len, recipe, mean, &rng);
    return shoal_heavythresh_answer(record, state, len, recipe, &value, head[0] & 8 ? 1 : 0,
                                    scratch, &rng);
}

// A state after the first `index` epochs, of one kind and then the other.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    uint32_t kind = (uint32_t)(index / 4 % 2), upto = (uint32_t)(index % 4);
    uint8_t record[8];
    size_t len = 0;
    if (index >= 8) return 0;
    out[0] = (uint8_t)(8 + 2 * kind + (upto > 1 ? 4 : 0));
    out[1] = (uint8_t)upto;
    out[2] = out[3] = (uint8_t)(50 * index);
    PROPERTY(shoal_run_init(out + HEAD, cap - HEAD, &len, epoch_number(kind, 1, 0)) == SHOAL_OK);
    for (uint32_t t = 1; t <= upto; t++)
        if (t != 2)
            PROPERTY(answer(record, out + HEAD, len, epoch_number(kind, t, t > 2), out) ==
                     SHOAL_EPOCH_ACCEPTED);
    return HEAD + len;
}

static void reseal(uint8_t *state, size_t len)
{
    uint64_t sum = shoal_checksum_of(state, len - 8);
    for (size_t i = 0; i < 8; i++) state[len - 8 + i] = (uint8_t)(sum >> (8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t state[2048], before[2048];
    uint8_t record[8], untouched[8];
    shoal_run_spent was, is;
    if (len < HEAD || len - HEAD > sizeof state) return 0;
    size_t n = len - HEAD;
    uint32_t index = data[1] % INDICES + 1, kind = data[0] >> 1 & 1, is_update = data[0] >> 2 & 1;
    const shoal_recipe *recipe = epoch_number(kind, index, is_update);
    memcpy(state, data + HEAD, n);
    if (data[0] & 1 && n >= 8) reseal(state, n);
    memcpy(before, state, n);
    memset(record, 9, sizeof record);
    memset(untouched, 9, sizeof untouched);
    shoal_err seen = shoal_run_spent_of(&was, state, n, recipe);
    if (answer(record, state, n, recipe, data) != SHOAL_EPOCH_ACCEPTED) {
        PROPERTY(memcmp(state, before, n) == 0 && memcmp(record, untouched, sizeof record) == 0);
        return 0;
    }
    PROPERTY(seen == SHOAL_OK && shoal_record_check(recipe, record) == SHOAL_OK &&
             record[recipe->record_size] == 9);
    PROPERTY(shoal_run_spent_of(&is, state, n, recipe) == SHOAL_OK && is.epoch == index);
    PROPERTY(is.n_votes - was.n_votes <= 1 && is.n_estimates - was.n_estimates <= is_update);
    PROPERTY(is.eps_micro <= recipe->cost_micro);
    memcpy(before, state, n);
    PROPERTY(answer(record, state, n, recipe, data) == SHOAL_EPOCH_ANSWERED &&
             memcmp(state, before, n) == 0);
    return 0;
}
