// SPDX-License-Identifier: Apache-2.0
// One device's run of HEAVYTHRESH; see heavythresh.h.
#include "heavythresh.h"

#include "bytes.h"
#include "chacha20.h"
#include "one_bit_mean.h"
#include "recipe.h"
#include "record.h"

#define BLOCK_BYTES 64u
#define PIECE_BYTES (4 * BLOCK_BYTES)

// ---- projection ----

void shoal_heavythresh_key(uint32_t key[8], const uint8_t seed[32])
{
    uint8_t block[BLOCK_BYTES];
    shoal_chacha20_derive(block, seed, 0, "projection  ");
    for (int i = 0; i < 8; i++) key[i] = load32_le(block + 4 * i);
}

// Writes the signs of coordinates [8 at, 8 at + 8 PIECE_BYTES), or of as many as w has. Returns:
// the number of bytes written.
static uint32_t some_signs(uint8_t bits[PIECE_BYTES], uint32_t w, const uint32_t key[8],
                           uint64_t item, uint32_t at)
{
    const uint32_t nonce[2] = {(uint32_t)item, (uint32_t)(item >> 32)};
    uint32_t left = w / 8 - at, len = left < PIECE_BYTES ? left : PIECE_BYTES;
    shoal_chacha20_blocks(bits, left > BLOCK_BYTES ? PIECE_BYTES / BLOCK_BYTES : 1, key,
                          at / BLOCK_BYTES, nonce);
    return len;
}

void shoal_heavythresh_signs(uint8_t *bits, uint32_t w, const uint32_t key[8], uint64_t item)
{
    uint8_t some[PIECE_BYTES];
    for (uint32_t at = 0, len; at < w / 8; at += len) {
        len = some_signs(some, w, key, item, at);
        memcpy(bits + at, some, len);
    }
    wipe(some, sizeof some);
}

// Adds count to positive[0 .. w) in each coordinate where the item's sign is +.
static void add_item(uint32_t *positive, uint32_t w, const uint32_t key[8],
                     const shoal_counted *value)
{
    uint8_t some[PIECE_BYTES];
    for (uint32_t at = 0, len; at < w / 8; at += len) {
        len = some_signs(some, w, key, value->item, at);
        for (uint32_t i = 0; i < 8 * len; i++) {
            uint32_t sign = some[i / 8] >> (i % 8) & 1;
            positive[8 * at + i] += value->count & (0 - sign);
        }
    }
    wipe(some, sizeof some);
}

// Returns: ceil(2^62/divisor), 1 <= divisor < 2^31. It divides bit by bit, because a divide
// instruction may take longer for some numbers.
static uint64_t reciprocal(uint32_t divisor)
{
    uint64_t quotient = 0, rest = 0; // quotient and rest of 2^62 - 1
    for (int i = 0; i < 62; i++) {
        rest = rest << 1 | 1;
        uint64_t fits = ((rest - divisor) >> 63) - 1;
        rest -= divisor & fits;
        quotient = quotient << 1 | (fits & 1);
    }
    return quotient + 1;
}

// The product is x (2^62/total + r) with 0 <= r < 1 and x <= total. It exceeds x 2^62/total by less
// than 2^31, one unit of the result, and at x = total it is at least 2^62.
void shoal_heavythresh_fractions(uint32_t *fractions, const uint32_t *positive, uint32_t w,
                                 uint32_t total)
{
    uint64_t factor = reciprocal(total);
    for (uint32_t j = 0; j < w; j++) fractions[j] = (uint32_t)(positive[j] * factor >> 31);
}

shoal_err shoal_heavythresh_project(uint32_t *fractions, uint32_t w, const uint32_t key[8],
                                    const shoal_counted *values, uint32_t n)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) total += values[i].count;
    if (total < 1 || total > SHOAL_HEAVYTHRESH_SAMPLES_MAX) return SHOAL_ERR_RANGE;
    memset(fractions, 0, w * sizeof *fractions);
    for (uint32_t i = 0; i < n; i++) add_item(fractions, w, key, &values[i]);
    shoal_heavythresh_fractions(fractions, fractions, w, (uint32_t)total);
    return SHOAL_OK;
}

// ---- one epoch ----

// Returns: the largest |a[j] - b[j]|, in units of 2^-32.
static uint64_t distance_of(const uint32_t *a, const uint32_t *b, uint32_t w)
{
    uint64_t largest = 0;
    for (uint32_t j = 0; j < w; j++) {
        uint64_t difference = (uint64_t)a[j] - b[j], is_less = 0 - (difference >> 63);
        difference = (difference ^ is_less) - is_less;
        uint64_t is_larger = 0 - ((largest - difference) >> 63);
        largest = (difference & is_larger) | (largest & ~is_larger);
    }
    return 2 * largest;
}

shoal_epoch_refusal shoal_heavythresh_step(uint64_t *vote, uint64_t *sends,
                                           shoal_epoch_ledger *ledger, uint32_t *reference,
                                           uint32_t *previous, const shoal_evolving *run,
                                           uint32_t w, uint32_t index, uint32_t is_update,
                                           const uint32_t *now)
{
    shoal_epoch_refusal refusal = shoal_epoch_check(ledger, run, index, is_update);
    if (refusal != SHOAL_EPOCH_ACCEPTED) return refusal;
    if (is_update) memcpy(reference, previous, w * sizeof *reference);
    *vote = shoal_epoch_vote(ledger, run, index, now != NULL ? distance_of(now, reference, w) : 0);
    *sends = shoal_epoch_estimate(ledger, run, is_update);
    if (now != NULL) memcpy(previous, now, w * sizeof *previous);
    ledger->epoch = index;
    return SHOAL_EPOCH_ACCEPTED;
}

void shoal_heavythresh_record(uint8_t *record, const shoal_recipe *recipe, uint64_t vote,
                              uint64_t sends, const uint32_t *reference, shoal_rng *rng)
{
    const shoal_part *estimate = &recipe->parts[SHOAL_EVOLVING_ESTIMATE];
    shoal_one_bit_mean_draw(record, &recipe->parts[SHOAL_EVOLVING_VOTE], vote, rng);
    record += recipe->parts[SHOAL_EVOLVING_VOTE].record_size;
    uint32_t row = (uint32_t)shoal_rng_below(rng, estimate->k);
    uint64_t item = 2 * (uint64_t)reference[row] & sends;
    store32_le(record, row);
    shoal_one_bit_mean_draw(record + shoal_one_bit_mean_bit(estimate), estimate, item, rng);
    wipe(&item, sizeof item);
}

// ---- a recipe ----

static void load_words(uint32_t *words, const uint8_t *bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) words[i] = load32_le(bytes + 4 * (size_t)i);
}

static void store_words(uint8_t *bytes, const uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) store32_le(bytes + 4 * (size_t)i, words[i]);
}

shoal_epoch_refusal shoal_heavythresh_answer(uint8_t *record, uint8_t *state, size_t len,
                                             const shoal_recipe *recipe,
                                             const shoal_counted *values, uint32_t n,
                                             uint32_t *scratch, shoal_rng *rng)
{
    shoal_epoch_ledger ledger;
    shoal_evolving run;
    uint64_t vote, sends;
    uint32_t key[8];
    if (recipe->mechanism != shoal_heavythresh_id) return SHOAL_EPOCH_NOT_TRACKED;
    shoal_epoch_refusal refusal = shoal_run_open(&ledger, &run, state, len, recipe);
    if (refusal != SHOAL_EPOCH_ACCEPTED) return refusal;
    uint32_t w = recipe->parts[SHOAL_EVOLVING_ESTIMATE].k;
    uint32_t *reference = scratch, *previous = scratch + w, *now = scratch + 2 * (size_t)w;
    shoal_heavythresh_key(key, recipe->seed);
    if (n > 0 && shoal_heavythresh_project(now, w, key, values, n) != SHOAL_OK)
        return SHOAL_EPOCH_NOT_TRACKED;
    load_words(scratch, state + SHOAL_RUN_HEADER, 2 * w);
    refusal = shoal_heavythresh_step(&vote, &sends, &ledger, reference, previous, &run, w,
                                     recipe->round_index, recipe->round_update, n > 0 ? now : NULL);
    if (refusal == SHOAL_EPOCH_ACCEPTED) {
        shoal_heavythresh_record(record, recipe, vote, sends, reference, rng);
        store_words(state + SHOAL_RUN_HEADER, scratch, 2 * w);
        shoal_run_close(state, len, &ledger, recipe);
    }
    wipe(scratch, 3 * (size_t)w * sizeof *scratch);
    wipe(&ledger, sizeof ledger);
    wipe(&vote, sizeof vote);
    return refusal;
}

static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    (void)cells;
    return shoal_evolving_expand(recipe, recipe->projection, field);
}

const shoal_compound shoal_heavythresh_compound = {
    .id = shoal_heavythresh_id,
    .name = "heavythresh",
    .domain = SHOAL_DOMAIN_OPEN,
    .takes = {SHOAL_TAKES_EPSILON | SHOAL_TAKES_THRESH | SHOAL_TAKES_ESTIMATE | SHOAL_TAKES_SEED,
              SHOAL_TAKES_PROJECTION | SHOAL_TAKES_UPDATE},
    .expand = expand,
};
