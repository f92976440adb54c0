// SPDX-License-Identifier: Apache-2.0
// The exports of every module: recipes, and the records of an item's index. See exports.h.
#include "exports.h"

#ifndef SHOAL_WASM_RECIPES
#define SHOAL_WASM_RECIPES 16u // recipes open at a time
#endif

static shoal_recipe_builder builders[SHOAL_WASM_RECIPES]; // a finished recipe stays in its builder
static lease leases[SHOAL_WASM_RECIPES];
static uint8_t signatures[SHOAL_WASM_RECIPES]; // bits of the members of `signature` given

int32_t lease_take(lease *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        lease *l = &all[i];
        if (l->state != LEASE_FREE) continue;
        l->generation = l->generation % (INT32_MAX / n - 1) + 1;
        l->state = LEASE_BUILDING;
        return (int32_t)(l->generation * n + i);
    }
    return failed(SHOAL_ERR_SPACE);
}

uint32_t lease_find(const lease *all, uint32_t n, uint32_t handle, uint32_t state)
{
    uint32_t i = handle % n;
    return all[i].state == state && all[i].generation == handle / n ? i : n;
}

uint32_t lease_end(lease *all, uint32_t n, uint32_t handle)
{
    uint32_t i = handle % n;
    if (all[i].state == LEASE_FREE || all[i].generation != handle / n) return n;
    all[i].state = LEASE_FREE;
    return i;
}

static shoal_recipe_builder *builder_in(uint32_t handle, uint32_t state)
{
    uint32_t i = lease_find(leases, SHOAL_WASM_RECIPES, handle, state);
    return i < SHOAL_WASM_RECIPES ? &builders[i] : NULL;
}

shoal_recipe_builder *building_recipe(uint32_t handle)
{
    return builder_in(handle, LEASE_BUILDING);
}

const shoal_recipe *ready_recipe(uint32_t handle)
{
    const shoal_recipe_builder *b = builder_in(handle, LEASE_READY);
    return b ? &b->recipe : NULL;
}

// ---- recipes ----

// Returns: the handle of a new empty recipe; SPACE if all slots are taken.
EXPORT(recipe_open) int32_t export_recipe_open(void)
{
    int32_t handle = lease_take(leases, SHOAL_WASM_RECIPES);
    if (handle < 0) return handle;
    signatures[(uint32_t)handle % SHOAL_WASM_RECIPES] = 0;
    shoal_builder_init(&builders[(uint32_t)handle % SHOAL_WASM_RECIPES]);
    return handle;
}

EXPORT(recipe_set_number)
uint32_t export_recipe_set_number(uint32_t handle, uint32_t path, uint32_t path_len, int64_t micro)
{
    shoal_recipe_builder *b = building_recipe(handle);
    if (!b || !inside(path, path_len)) return SHOAL_ERR_ARGUMENT;
    return shoal_builder_set_number(b, (const char *)at(path), path_len, micro);
}

// Takes a member of the recipe's signature. The signature is not a field and enters no hash.
// JavaScript keeps and verifies it.
static shoal_err take_signature(uint32_t handle, uint32_t bit, uint32_t text, uint32_t len)
{
    uint32_t n_hex = 0;
    while (n_hex < len) {
        uint8_t c = at(text)[n_hex];
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) break;
        n_hex++;
    }
    signatures[handle % SHOAL_WASM_RECIPES] |= (uint8_t)bit;
    return len == 64 * bit && n_hex == len ? SHOAL_OK : SHOAL_ERR_TYPE;
}

// Returns: the bit of the member of the signature that a path names: 1 key, 2 ed25519, 0 none.
static uint32_t signature_bit(uint32_t path, uint32_t len)
{
    static const char *const names = "signature.key|signature.ed25519";
    if (len == 13) return memcmp(at(path), names, 13) == 0;
    return len == 17 && memcmp(at(path), names + 14, 17) == 0 ? 2 : 0;
}

EXPORT(recipe_set_string)
uint32_t export_recipe_set_string(uint32_t handle, uint32_t path, uint32_t path_len, uint32_t text,
                                  uint32_t len)
{
    shoal_recipe_builder *b = building_recipe(handle);
    if (!b || !inside(path, path_len) || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    uint32_t bit = signature_bit(path, path_len);
    if (bit) return take_signature(handle, bit, text, len);
    return shoal_builder_set_string(b, (const char *)at(path), path_len, (const char *)at(text),
                                    len);
}

EXPORT(recipe_add_value)
uint32_t export_recipe_add_value(uint32_t handle, uint32_t text, uint32_t len)
{
    shoal_recipe_builder *b = building_recipe(handle);
    if (!b || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_builder_add_value(b, (const char *)at(text), len);
}

EXPORT(recipe_finish) uint32_t export_recipe_finish(uint32_t handle)
{
    shoal_recipe_builder *b = building_recipe(handle);
    if (!b) return SHOAL_ERR_ARGUMENT;
    if (signatures[handle % SHOAL_WASM_RECIPES] % 3 != 0) {
        b->error_field = "signature";
        return SHOAL_ERR_MISSING_FIELD;
    }
    shoal_err err = shoal_builder_finish(&b->recipe, b);
    if (!err) leases[handle % SHOAL_WASM_RECIPES].state = LEASE_READY;
    return err;
}

// Returns: the path of a variable's field, as the recipe spells it.
static const char *error_path(const shoal_recipe_builder *b)
{
    static char path[80] = "variables.N.";
    const size_t head = sizeof "variables.N." - 1;
    size_t len = 0;
    if (b->error_variable == 0 || b->error_field == NULL) return b->error_field;
    while (b->error_field[len] != '\0' && head + len + 1 < sizeof path) len++;
    path[head - 2] = (char)('0' + b->error_variable - 1);
    memcpy(path + head, b->error_field, len);
    path[head + len] = '\0';
    return path;
}

// Returns: the field of the last recipe_* error on this handle, as text that is valid until the
// next call, or 0.
EXPORT(recipe_error_field) const char *export_recipe_error_field(uint32_t handle)
{
    const shoal_recipe_builder *b = building_recipe(handle);
    return b ? error_path(b) : NULL;
}

EXPORT(recipe_error_text) const char *export_recipe_error_text(uint32_t handle)
{
    const shoal_recipe_builder *b = building_recipe(handle);
    return b ? b->error_text : NULL;
}

EXPORT(recipe_release) uint32_t export_recipe_release(uint32_t handle)
{
    uint32_t i = lease_end(leases, SHOAL_WASM_RECIPES, handle);
    if (i == SHOAL_WASM_RECIPES) return SHOAL_ERR_ARGUMENT;
    wipe(&builders[i], sizeof builders[i]);
    return SHOAL_OK;
}

// Writes the recipe's numbers as little-endian u32, in the order in which core.js reads them, then
// its 32-byte hash.
#define INFO_WORDS 20u
EXPORT(recipe_info) uint32_t export_recipe_info(uint32_t handle, uint32_t out)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(out, INFO_WORDS * 4 + 32)) return SHOAL_ERR_ARGUMENT;
    const shoal_part *whole = shoal_recipe_value_part(r); // devices report values of this part
    const uint32_t words[INFO_WORDS] = {
        r->record_size,    r->text_size,
        r->cost_micro,     whole->size,
        r->per_day,        r->sample_micro,
        r->delay_s,        r->fresh,
        r->batch_minimum,  r->batch_max_age_s,
        r->cohort_minimum, r->expires_day,
        r->text_form,      r->text_case,
        r->text_min,       r->text_max,
        whole->domain,     (uint32_t)shoal_recipe_is_permanent(r),
        r->pick,           r->window,
    };
    put_words(out, words, INFO_WORDS);
    memcpy(at(out) + INFO_WORDS * 4, r->recipe_hash, 32);
    return SHOAL_OK;
}

// Returns: the address of a finished recipe, or 0 if there is none. A module of the same build
// copies recipe_size() bytes from it (dap_exports.c).
EXPORT(recipe_at) const shoal_recipe *export_recipe_at(uint32_t handle)
{
    return ready_recipe(handle);
}

EXPORT(recipe_size) uint32_t export_recipe_size(void)
{
    return sizeof(shoal_recipe);
}

// Writes the recipe's signed bytes, at most SHOAL_CANONICAL_MAX. Returns: length.
EXPORT(recipe_canonical) int32_t export_recipe_canonical(uint32_t handle, uint32_t out)
{
    size_t len = 0;
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(out, SHOAL_CANONICAL_MAX)) return failed(SHOAL_ERR_ARGUMENT);
    shoal_err err = shoal_recipe_signed(at(out), SHOAL_CANONICAL_MAX, &len, r);
    return length_or(err, len);
}

// ---- records ----

bool coins_are_inside(coins c)
{
    return inside(c.seed, 32) && (c.permanent == 0 || inside(c.permanent, 32));
}

void coins_wipe(coins c)
{
    wipe(at(c.seed), 32);
    if (c.permanent != 0) wipe(at(c.permanent), 32);
}

const shoal_recipe *recipe_for_record(uint32_t handle, uint32_t record)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r && inside(record, r->record_size) ? r : NULL;
}

const shoal_permanent *coins_start(shoal_rng *rng, shoal_permanent *permanent, coins c)
{
    shoal_rng_init(rng, at(c.seed));
    if (c.permanent == 0) return NULL;
    memcpy(permanent->secret, at(c.permanent), 32);
    return permanent;
}

shoal_err randomize_item(uint32_t record, const shoal_recipe *r, uint64_t item, coins c)
{
    shoal_rng rng;
    shoal_permanent permanent;
    const shoal_permanent *own = coins_start(&rng, &permanent, c);
    shoal_err err = shoal_record_randomize(at(record), r, &item, 1, own, &rng);
    shoal_rng_wipe(&rng);
    wipe(&permanent, sizeof permanent);
    wipe(&item, sizeof item);
    return err;
}

// Randomizes an index of a closed domain; -1 is "none of the listed values".
EXPORT(randomize_index)
uint32_t export_randomize_index(uint32_t record, uint32_t handle, int32_t index, uint32_t seed,
                                uint32_t permanent)
{
    const coins c = {seed, permanent};
    if (!coins_are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = recipe_for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && shoal_recipe_value_part(r)->domain == SHOAL_DOMAIN_CLOSED) {
        // Sign extension turns -1 into SHOAL_ITEM_NONE without a branch on the item.
        err = randomize_item(record, r, (uint64_t)(int64_t)index, c);
    }
    coins_wipe(c);
    return err;
}

EXPORT(record_to_text)
uint32_t export_record_to_text(uint32_t text, uint32_t cap, uint32_t handle, uint32_t record)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(text, cap) || !inside(record, r->record_size)) return SHOAL_ERR_ARGUMENT;
    return shoal_record_to_text((char *)at(text), cap, r, at(record));
}
