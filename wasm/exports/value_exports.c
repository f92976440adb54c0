// SPDX-License-Identifier: Apache-2.0
// Exports that a page has from the start: strings, numbers, the budget ledger, the recipe set. See
// exports.h.
#include "exports.h"
#include "ledger.h"

// Randomizes a string of an open domain.
//   text: len bytes, wiped
//   seed, permanent: see coins in exports.h; wiped
EXPORT(randomize_text)
uint32_t export_randomize_text(uint32_t record, uint32_t handle, uint32_t text, uint32_t len,
                               uint32_t seed, uint32_t permanent)
{
    const coins c = {seed, permanent};
    if (!inside(text, len) || !coins_are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = recipe_for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && shoal_recipe_value_part(r)->domain == SHOAL_DOMAIN_OPEN) {
        shoal_rng rng;
        shoal_permanent secret;
        const shoal_permanent *own = coins_start(&rng, &secret, c);
        err = len > SHOAL_VALUE_MAX
                  ? SHOAL_ERR_RANGE
                  : shoal_record_randomize_string(at(record), r, at(text), len, own, &rng);
        shoal_rng_wipe(&rng);
        wipe(&secret, sizeof secret);
    }
    wipe(at(text), len);
    coins_wipe(c);
    return err;
}

// Randomizes a number, in micro-units, of a recipe whose `value` is "number". Its item is a bucket
// or a fraction.
EXPORT(randomize_number)
uint32_t export_randomize_number(uint32_t record, uint32_t handle, int64_t micro, uint32_t seed,
                                 uint32_t permanent)
{
    const coins c = {seed, permanent};
    if (!coins_are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = recipe_for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && r->value == SHOAL_VALUE_NUMBER)
        err = randomize_item(record, r, shoal_recipe_number_item(r, micro), c);
    coins_wipe(c);
    return err;
}

// Randomizes "none", in any domain: what a window without an event reports. It costs what a value
// costs.
//   seed: 32 bytes, wiped
// Returns: ARGUMENT for a recipe with permanent coins, which has no windows.
EXPORT(randomize_none)
uint32_t export_randomize_none(uint32_t record, uint32_t handle, uint32_t seed)
{
    const coins c = {seed, 0};
    if (!coins_are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = recipe_for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r) {
        shoal_rng rng;
        shoal_rng_init(&rng, at(seed));
        err = shoal_record_randomize_none(at(record), r, &rng);
        shoal_rng_wipe(&rng);
    }
    coins_wipe(c);
    return err;
}

// ---- the budget ledger ----

EXPORT(ledger_size_max) uint32_t export_ledger_size_max(void)
{
    return SHOAL_LEDGER_SIZE_MAX;
}

// Writes an empty ledger. Returns: its length.
EXPORT(ledger_init) int32_t export_ledger_init(uint32_t ledger, uint32_t cap, uint32_t day)
{
    if (!inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t len = 0;
    shoal_err err = shoal_ledger_init(at(ledger), cap, &len, day);
    return length_or(err, len);
}

// Returns: length of the ledger after the debit of all of `reports`.
EXPORT(ledger_debit)
int32_t export_ledger_debit(uint32_t ledger, uint32_t len, uint32_t cap, uint32_t handle,
                            uint32_t day, uint32_t reports)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || len > cap || !inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_debit_reports(at(ledger), &size, cap, r, reports, day);
    return length_or(err, size);
}

EXPORT(ledger_allows)
uint32_t export_ledger_allows(uint32_t ledger, uint32_t len, uint32_t handle, uint32_t day)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(ledger, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_ledger_allows(at(ledger), len, r, day);
}

// Writes count (u32), zero (u32), epsilon in micro-units (u64), little-endian, at out.
EXPORT(ledger_spent)
uint32_t export_ledger_spent(uint32_t out, uint32_t ledger, uint32_t len, uint32_t handle,
                             uint32_t first, uint32_t last)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(out, 16) || !inside(ledger, len)) return SHOAL_ERR_ARGUMENT;
    shoal_ledger_sum sum;
    shoal_err err = shoal_ledger_spent(&sum, at(ledger), len, r, first, last);
    if (err) return err;
    store32_le(at(out), sum.count);
    store32_le(at(out) + 4, 0);
    store64_le(at(out) + 8, sum.eps_micro);
    return SHOAL_OK;
}

// ---- the recipe set of a page, one at a time ----

shoal_recipe_set page_set;

// Starts the set anew.
//   days: 0 for a set without a budget
EXPORT(set_start) uint32_t export_set_start(int64_t eps_micro, uint32_t days)
{
    shoal_set_init(&page_set);
    return days == 0 ? SHOAL_OK : shoal_set_budget(&page_set, (uint64_t)eps_micro, days);
}

EXPORT(set_add) uint32_t export_set_add(uint32_t handle)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r ? shoal_set_add_recipe(&page_set, r) : SHOAL_ERR_ARGUMENT;
}

// Writes the set's hash, 32 bytes.
EXPORT(set_hash) uint32_t export_set_hash(uint32_t out)
{
    if (!inside(out, 32)) return SHOAL_ERR_ARGUMENT;
    shoal_set_hash(at(out), &page_set);
    return SHOAL_OK;
}

// Reserves the set for a day. Returns: length of the ledger.
EXPORT(ledger_reserve)
int32_t export_ledger_reserve(uint32_t ledger, uint32_t len, uint32_t cap, uint32_t day)
{
    if (len > cap || !inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_reserve(at(ledger), &size, cap, &page_set, day);
    return length_or(err, size);
}

// Charges queries under an analysis (kind 3) or exact values (kind 4). Returns: length of the
// ledger.
EXPORT(ledger_charge)
int32_t export_ledger_charge(uint32_t ledger, uint32_t len, uint32_t cap, uint32_t kind,
                             uint32_t name, uint32_t name_len, uint32_t count, int64_t eps_micro,
                             uint32_t day)
{
    if (len > cap || !inside(ledger, cap) || !inside(name, name_len))
        return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_charge(at(ledger), &size, cap, kind, (const char *)at(name),
                                        name_len, count, (uint64_t)eps_micro, day);
    return length_or(err, size);
}

// Returns: length of the ledger after it was erased.
EXPORT(ledger_erase)
int32_t export_ledger_erase(uint32_t ledger, uint32_t len, uint32_t cap, uint32_t day)
{
    if (len > cap || !inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_erase(at(ledger), &size, cap, day);
    return length_or(err, size);
}
