// SPDX-License-Identifier: Apache-2.0
// Records of the Sequence Fragment Puzzle; see sfp.h.
#include "sfp.h"

#include <stdbool.h>

#include "bytes.h"
#include "chacha20.h"
#include "column.h"
#include "fingerprint.h"

#define FRAGMENTS (1u << 24)

static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    (void)cells;
    shoal_part *fragment = &recipe->parts[SHOAL_SFP_FRAGMENT],
               *string = &recipe->parts[SHOAL_SFP_STRING];
    uint32_t mechanism =
        recipe->oracle == SHOAL_ORACLE_OLH ? (uint32_t)shoal_olh_id : (uint32_t)shoal_cms_id;
    uint8_t block[64];
    *field = "length";
    if (recipe->length % 2 != 0) return SHOAL_ERR_RANGE;
    shoal_recipe_fill_part(string, recipe);
    string->mechanism = mechanism;
    string->domain = SHOAL_DOMAIN_OPEN;
    string->hash = SHOAL_HASH_POLY1;
    *fragment = *string;
    fragment->domain = SHOAL_DOMAIN_CLOSED;
    fragment->hash = SHOAL_HASH_AFFINE1;
    fragment->size = FRAGMENTS;
    fragment->eps_micro = recipe->eps_fragment_micro;
    fragment->k = recipe->k_fragment * shoal_sfp_positions(recipe); // at most 2^28
    fragment->m = recipe->m_fragment;
    shoal_err err = shoal_part_prepare(string, field);
    if (err != SHOAL_OK) {
        if (**field == 'g') *field = "m"; // this recipe calls g "m"
        return err;
    }
    err = shoal_part_prepare(fragment, field);
    if (err != SHOAL_OK) {
        *field = **field == 'k' ? "k_fragment" : **field == 'e' ? "epsilon_fragment" : "m_fragment";
        return err;
    }
    // Indices need no fingerprint, so this key is free for the byte that fragments share.
    shoal_chacha20_derive(block, recipe->seed, 0, "sfp hash    ");
    memcpy(fragment->item_key, block, sizeof fragment->item_key);
    recipe->n_parts = 2;
    recipe->value_part = SHOAL_SFP_STRING;
    return SHOAL_OK;
}

uint32_t shoal_sfp_hash(const shoal_recipe *recipe, const uint8_t *bytes, size_t len)
{
    return (uint32_t)(shoal_fingerprint(recipe->parts[SHOAL_SFP_FRAGMENT].item_key, bytes, len) >>
                      56);
}

uint32_t shoal_sfp_fragment(const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                            uint32_t position)
{
    size_t at = 2 * (size_t)position;
    uint32_t first = at < len ? bytes[at] : SHOAL_SFP_PAD,
             second = at + 1 < len ? bytes[at + 1] : SHOAL_SFP_PAD;
    return shoal_sfp_hash(recipe, bytes, len) << 16 | first << 8 | second;
}

static void randomize(uint8_t *record, const shoal_recipe *recipe, const uint8_t *bytes, size_t len,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    shoal_part fragment = recipe->parts[SHOAL_SFP_FRAGMENT]; // narrowed to one position
    const shoal_part *string = &recipe->parts[SHOAL_SFP_STRING];
    bool is_none = len < 1 || len > recipe->length;
    uint32_t position = (uint32_t)shoal_rng_below(rng, shoal_sfp_positions(recipe));
    uint64_t whole = shoal_rng_u64(rng);
    uint64_t item = is_none ? SHOAL_ITEM_NONE : shoal_sfp_fragment(recipe, bytes, len, position);
    if (!is_none) whole = shoal_part_item(string, bytes, len);
    fragment.k = recipe->k_fragment;
    fragment.first_row = position * recipe->k_fragment;
    shoal_mechanism_by_id(fragment.mechanism)->randomize(record, &fragment, item, permanent, rng);
    record += fragment.record_size;
    shoal_mechanism_by_id(string->mechanism)->randomize(record, string, whole, permanent, rng);
    wipe(&whole, sizeof whole);
    wipe(&item, sizeof item);
}

const shoal_compound shoal_sfp_compound = {
    shoal_sfp_id,
    "sfp",
    SHOAL_DOMAIN_OPEN,
    {SHOAL_TAKES_SKETCH | SHOAL_TAKES_POLY1 | SHOAL_TAKES_FRAGMENTS | SHOAL_TAKES_LENGTH,
     SHOAL_TAKES_ORACLE},
    0,
    0,
    expand,
    randomize,
};
