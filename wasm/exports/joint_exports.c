// SPDX-License-Identifier: Apache-2.0
// Exports for joint recipes: the item of each variable, and the record of all of them. See
// exports.h. The page's small module does not have them.
#include "exports.h"

static const shoal_recipe *joint_recipe(uint32_t handle, uint32_t variable)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r && variable < r->n_variables ? r : NULL;
}

// Writes, as little-endian u32, a variable's domain (enum shoal_domain) and the number of its
// listed values or buckets.
#define INFO_WORDS 2u
EXPORT(joint_info) uint32_t export_joint_info(uint32_t handle, uint32_t variable, uint32_t out)
{
    const shoal_recipe *r = joint_recipe(handle, variable);
    if (!r || !inside(out, INFO_WORDS * 4)) return SHOAL_ERR_ARGUMENT;
    const uint32_t words[INFO_WORDS] = {r->parts[variable].domain, r->parts[variable].size};
    put_words(out, words, INFO_WORDS);
    return SHOAL_OK;
}

// joint_index, joint_number and joint_text each write a variable's item as a little-endian u64. All
// ones stand for a variable without a value.
//   index: of a listed value; -1 is none of them
EXPORT(joint_index)
uint32_t export_joint_index(uint32_t item, uint32_t handle, uint32_t variable, int32_t index)
{
    const shoal_recipe *r = joint_recipe(handle, variable);
    if (!r || !inside(item, 8) || r->parts[variable].domain != SHOAL_DOMAIN_CLOSED)
        return SHOAL_ERR_ARGUMENT;
    // Sign extension turns -1 into SHOAL_ITEM_NONE without a branch on the item.
    store64_le(at(item), (uint64_t)(int64_t)index);
    return SHOAL_OK;
}

EXPORT(joint_number)
uint32_t export_joint_number(uint32_t item, uint32_t handle, uint32_t variable, int64_t micro)
{
    const shoal_recipe *r = joint_recipe(handle, variable);
    if (!r || !inside(item, 8) || r->variables[variable].value != SHOAL_VALUE_NUMBER)
        return SHOAL_ERR_ARGUMENT;
    store64_le(at(item), shoal_variable_number_item(r, variable, micro));
    return SHOAL_OK;
}

//   text: len bytes, wiped
EXPORT(joint_text)
uint32_t export_joint_text(uint32_t item, uint32_t handle, uint32_t variable, uint32_t text,
                           uint32_t len)
{
    if (!inside(text, len)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = joint_recipe(handle, variable);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && inside(item, 8) && r->parts[variable].domain == SHOAL_DOMAIN_OPEN) {
        err = len > SHOAL_VALUE_MAX ? SHOAL_ERR_RANGE : SHOAL_OK;
        if (!err) {
            uint64_t own = shoal_part_item(&r->parts[variable], at(text), len);
            store64_le(at(item), own);
            wipe(&own, sizeof own);
        }
    }
    wipe(at(text), len);
    return err;
}

// Randomizes an event: one item of each variable, in the recipe's order.
//   items: one little-endian u64 each, wiped
//   seed, permanent: see coins in exports.h; wiped
EXPORT(randomize_joint)
uint32_t export_randomize_joint(uint32_t record, uint32_t handle, uint32_t items, uint32_t seed,
                                uint32_t permanent)
{
    const coins c = {seed, permanent};
    uint64_t own[SHOAL_VARIABLES_MAX] = {0};
    if (!coins_are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = recipe_for_record(handle, record);
    uint32_t n = r ? r->n_variables : 0;
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (n > 0 && inside(items, 8 * n)) {
        shoal_rng rng;
        shoal_permanent secret;
        for (uint32_t i = 0; i < n; i++) own[i] = load64_le(at(items) + 8 * i);
        const shoal_permanent *mine = coins_start(&rng, &secret, c);
        err = shoal_record_randomize(at(record), r, own, n, mine, &rng);
        shoal_rng_wipe(&rng);
        wipe(&secret, sizeof secret);
        wipe(own, sizeof own);
        wipe(at(items), 8 * n);
    }
    coins_wipe(c);
    return err;
}
