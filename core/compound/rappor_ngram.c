// SPDX-License-Identifier: Apache-2.0
// Records of RAPPOR n-grams; see rappor_ngram.h.
#include "rappor_ngram.h"

#include "bytes.h"
#include "chacha20.h"
#include "recipe.h"

#define GRAM_MAX 4u

static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    (void)cells;
    uint32_t positions = shoal_ngram_positions(recipe), grams = recipe->grams;
    uint8_t block[64];
    *field = "grams";
    if (grams > positions) return SHOAL_ERR_RANGE;
    shoal_part part;
    shoal_recipe_fill_part(&part, recipe);
    part.mechanism = shoal_rappor_id;
    part.domain = SHOAL_DOMAIN_OPEN;
    part.hash = SHOAL_HASH_POLY1;
    part.eps_micro = 0; // derived from p, q and f
    part.k = recipe->cohorts * positions;
    recipe->parts[0] = part;
    shoal_err err = shoal_part_prepare(&recipe->parts[0], field);
    if (err != SHOAL_OK) return err;
    for (uint32_t i = 1; i < grams; i++) recipe->parts[i] = recipe->parts[0];
    shoal_chacha20_derive(block, recipe->seed, 0, "ngram string");
    memcpy(part.seed, block, sizeof part.seed);
    part.k = recipe->cohorts;
    recipe->parts[grams] = part;
    err = shoal_part_prepare(&recipe->parts[grams], field);
    if (err != SHOAL_OK) return err;
    *field = "epsilon";
    if (recipe->eps_micro != 0 && (grams + 1) * recipe->parts[grams].eps_micro > recipe->eps_micro)
        return SHOAL_ERR_RANGE;
    recipe->n_parts = grams + 1;
    recipe->value_part = grams;
    return SHOAL_OK;
}

uint64_t shoal_ngram_item(const shoal_recipe *recipe, uint32_t position, const uint8_t *gram)
{
    uint8_t bytes[1 + GRAM_MAX] = {(uint8_t)position};
    memcpy(bytes + 1, gram, recipe->n_gram);
    uint64_t item = shoal_part_item(&recipe->parts[0], bytes, 1 + recipe->n_gram);
    wipe(bytes, sizeof bytes);
    return item;
}

uint64_t shoal_ngram_string_item(const shoal_recipe *recipe, const uint8_t *bytes, size_t len)
{
    return shoal_part_item(shoal_recipe_value_part(recipe), bytes,
                           len < recipe->length ? len : recipe->length);
}

void shoal_ngram_take(uint8_t *gram, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      uint32_t position)
{
    size_t start = (size_t)position * recipe->n_gram,
           stop = len < recipe->length ? len : recipe->length;
    for (size_t i = 0; i < recipe->n_gram; i++)
        gram[i] = start + i < stop ? bytes[start + i] : SHOAL_NGRAM_PAD;
}

static void randomize(uint8_t *record, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    const shoal_mechanism *rappor = &shoal_rappor_mechanism;
    const shoal_part *string = shoal_recipe_value_part(recipe);
    uint32_t positions = shoal_ngram_positions(recipe), chosen[SHOAL_PARTS_MAX], n = 0;
    uint8_t gram[GRAM_MAX];
    for (uint32_t i = 0; n < recipe->grams; i++)
        if (shoal_rng_below(rng, positions - i) < recipe->grams - n) chosen[n++] = i;
    for (uint32_t i = 0; i < n; i++) {
        shoal_part part = recipe->parts[i]; // narrowed to one position
        part.first_row = chosen[i] * recipe->cohorts;
        part.k = recipe->cohorts;
        shoal_ngram_take(gram, recipe, bytes, len, chosen[i]);
        rappor->randomize(record, &part, shoal_ngram_item(recipe, chosen[i], gram), permanent, rng);
        record += part.record_size;
    }
    rappor->randomize(record, string, shoal_ngram_string_item(recipe, bytes, len), permanent, rng);
    wipe(gram, sizeof gram);
}

const shoal_compound shoal_rappor_ngram_compound = {
    .id = shoal_rappor_ngram_id,
    .name = "rappor-ngram",
    .domain = SHOAL_DOMAIN_OPEN,
    .takes = {SHOAL_TAKES_BITS | SHOAL_TAKES_HASHES | SHOAL_TAKES_COHORTS | SHOAL_TAKES_PQF |
                  SHOAL_TAKES_SEED | SHOAL_TAKES_POLY1 | SHOAL_TAKES_LENGTH | SHOAL_TAKES_NGRAM,
              SHOAL_TAKES_EPSILON | SHOAL_TAKES_GRAMS | SHOAL_TAKES_RECORDS},
    .keeps_records = true,
    .is_permanent = true,
    .expand = expand,
    .randomize = randomize,
};
