// SPDX-License-Identifier: Apache-2.0
// The core as a WebAssembly module: the only file with exports. Depends on core/ and nothing else; imports nothing.
//
// Conventions. JavaScript owns all memory from heap_base() on, places its buffers there and grows the exported memory
// when it needs more; this module never allocates. Every pointer is checked to lie in that region, every handle to name
// a live recipe; a bad one is SHOAL_ERR_ARGUMENT, never a trap and never a read of module state.
// A function returns a shoal_err (0 is OK), or, where it says "length" or "handle", a value >= 0 or minus a shoal_err.
// Buffers that held a secret (seed, raw text, the device's own secret) are wiped here before the call returns, on every path.
// With SHOAL_WASM_DEVICE the module has only what a device needs: nothing that reads records or makes batches.
#include "batch.h"
#include "bytes.h"
#include "ledger.h"
#include "record.h"

#define EXPORT(name) __attribute__((export_name(#name)))

// Recipes live in a fixed table. A handle is generation * SLOTS + slot, so that a released handle stays dead.
#define SLOTS 16u
#define GENERATION_MAX 0x3ffffffu

enum slot_state { SLOT_FREE = 0, SLOT_BUILDING, SLOT_READY };

typedef struct slot {
    shoal_recipe recipe;
    uint32_t generation; // of the recipe that lives here, from 1
    uint32_t state;      // enum slot_state
    uint32_t signature;  // members of `signature` that were given, see signature_bit
} slot;

static slot slots[SLOTS];

extern uint8_t __heap_base; // first byte beyond data and stack; set by the linker

static int32_t failed(shoal_err err)
{
    return -(int32_t)err;
}

// Is [ptr, ptr + len) wholly in the memory that JavaScript owns?
static int inside(uint32_t ptr, uint32_t len)
{
    uint64_t end = (uint64_t)__builtin_wasm_memory_size(0) * 65536u;
    return ptr >= (uint32_t)(uintptr_t)&__heap_base && (uint64_t)ptr + len <= end;
}

static uint8_t *at(uint32_t ptr)
{
    return (uint8_t *)(uintptr_t)ptr;
}

static slot *find(uint32_t handle, uint32_t state)
{
    slot *s = &slots[handle % SLOTS];
    return s->state == state && s->generation == handle / SLOTS ? s : NULL;
}

static const shoal_recipe *ready(uint32_t handle)
{
    slot *s = find(handle, SLOT_READY);
    return s ? &s->recipe : NULL;
}

EXPORT(heap_base) uint32_t export_heap_base(void)
{
    return (uint32_t)(uintptr_t)&__heap_base;
}

// Static NUL-terminated text about an error number.
EXPORT(err_name) const char *export_err_name(uint32_t err)
{
    return shoal_err_name((shoal_err)err);
}

EXPORT(err_text) const char *export_err_text(uint32_t err)
{
    return shoal_err_text((shoal_err)err);
}

// ---- recipes ----

// Returns: the handle of a new empty recipe; SPACE when all slots are taken.
EXPORT(recipe_open) int32_t export_recipe_open(void)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        slot *s = &slots[i];
        if (s->state != SLOT_FREE) continue;
        s->generation = s->generation % GENERATION_MAX + 1;
        s->state = SLOT_BUILDING;
        s->signature = 0;
        shoal_recipe_init(&s->recipe);
        return (int32_t)(s->generation * SLOTS + i);
    }
    return failed(SHOAL_ERR_SPACE);
}

EXPORT(recipe_set_number)
uint32_t export_recipe_set_number(uint32_t handle, uint32_t path, uint32_t path_len, int64_t micro)
{
    slot *s = find(handle, SLOT_BUILDING);
    if (!s || !inside(path, path_len)) return SHOAL_ERR_ARGUMENT;
    return shoal_recipe_set_number(&s->recipe, (const char *)at(path), path_len, micro);
}

// A member of the recipe's signature. It is no field: taken off here, in no hash; JavaScript, which keeps it, verifies it.
static shoal_err take_signature(slot *s, uint32_t bit, uint32_t text, uint32_t len)
{
    uint32_t n_hex = 0;
    while (n_hex < len) {
        uint8_t c = at(text)[n_hex];
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) break;
        n_hex++;
    }
    s->signature |= bit;
    return len == 64 * bit && n_hex == len ? SHOAL_OK : SHOAL_ERR_TYPE;
}

// Which member of the signature a path names: 1 key, 2 ed25519, 0 none.
static uint32_t signature_bit(uint32_t path, uint32_t len)
{
    static const char *const names = "signature.key|signature.ed25519";
    if (len == 13) return memcmp(at(path), names, 13) == 0;
    return len == 17 && memcmp(at(path), names + 14, 17) == 0 ? 2 : 0;
}

EXPORT(recipe_set_string)
uint32_t export_recipe_set_string(uint32_t handle, uint32_t path, uint32_t path_len, uint32_t text, uint32_t len)
{
    slot *s = find(handle, SLOT_BUILDING);
    if (!s || !inside(path, path_len) || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    uint32_t bit = signature_bit(path, path_len);
    if (bit) return take_signature(s, bit, text, len);
    return shoal_recipe_set_string(&s->recipe, (const char *)at(path), path_len, (const char *)at(text), len);
}

EXPORT(recipe_add_value) uint32_t export_recipe_add_value(uint32_t handle, uint32_t text, uint32_t len)
{
    slot *s = find(handle, SLOT_BUILDING);
    if (!s || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_recipe_add_value(&s->recipe, (const char *)at(text), len);
}

EXPORT(recipe_finish) uint32_t export_recipe_finish(uint32_t handle)
{
    slot *s = find(handle, SLOT_BUILDING);
    if (!s) return SHOAL_ERR_ARGUMENT;
    if (s->signature % 3 != 0) {
        s->recipe.error_field = "signature";
        return SHOAL_ERR_MISSING_FIELD;
    }
    shoal_err err = shoal_recipe_finish(&s->recipe);
    if (!err) s->state = SLOT_READY;
    return err;
}

// What the last recipe_* error on this handle was about: static text, or 0.
EXPORT(recipe_error_field) const char *export_recipe_error_field(uint32_t handle)
{
    slot *s = find(handle, SLOT_BUILDING);
    return s ? s->recipe.error_field : NULL;
}

EXPORT(recipe_error_text) const char *export_recipe_error_text(uint32_t handle)
{
    slot *s = find(handle, SLOT_BUILDING);
    return s ? s->recipe.error_text : NULL;
}

EXPORT(recipe_release) uint32_t export_recipe_release(uint32_t handle)
{
    slot *s = &slots[handle % SLOTS];
    if (s->state == SLOT_FREE || s->generation != handle / SLOTS) return SHOAL_ERR_ARGUMENT;
    wipe(&s->recipe, sizeof s->recipe);
    s->state = SLOT_FREE;
    return SHOAL_OK;
}

// Writes the recipe's numbers as little-endian u32, in the order that core.js reads them, then its 32-byte hash.
#define INFO_WORDS 18u
EXPORT(recipe_info) uint32_t export_recipe_info(uint32_t handle, uint32_t out)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(out, INFO_WORDS * 4 + 32)) return SHOAL_ERR_ARGUMENT;
    const uint32_t words[INFO_WORDS] = {
        r->record_size,     r->text_size,       r->cost_micro,
        r->parts[0].size,   r->per_day,         r->sample_micro,
        r->delay_s,         r->fresh,           r->batch_minimum,
        r->batch_max_age_s, r->cohort_minimum,  r->expires_day,
        r->text_form,       r->text_case,       r->text_min,
        r->text_max,        r->parts[0].domain, (uint32_t)shoal_recipe_is_permanent(r),
    };
    for (uint32_t i = 0; i < INFO_WORDS; i++) store32_le(at(out) + 4 * i, words[i]);
    memcpy(at(out) + INFO_WORDS * 4, r->recipe_hash, 32);
    return SHOAL_OK;
}

// Writes the recipe's canonical bytes that are signed, at most SHOAL_CANONICAL_MAX. Returns: length.
EXPORT(recipe_canonical) int32_t export_recipe_canonical(uint32_t handle, uint32_t out)
{
    size_t len = 0;
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(out, SHOAL_CANONICAL_MAX)) return failed(SHOAL_ERR_ARGUMENT);
    shoal_err err = shoal_recipe_signed(at(out), SHOAL_CANONICAL_MAX, &len, r);
    return err ? failed(err) : (int32_t)len;
}

// ---- records ----

// Where a record's randomness lies: 32 bytes of fresh seed and, unless it is 0, 32 bytes of the device's own secret.
typedef struct coins {
    uint32_t seed, permanent;
} coins;

static int are_inside(coins c)
{
    return inside(c.seed, 32) && (c.permanent == 0 || inside(c.permanent, 32));
}

static void wipe_coins(coins c)
{
    wipe(at(c.seed), 32);
    if (c.permanent != 0) wipe(at(c.permanent), 32);
}

// A finished recipe of one part whose record fits where it shall go; else NULL.
static const shoal_recipe *for_record(uint32_t handle, uint32_t record)
{
    const shoal_recipe *r = ready(handle);
    return r && r->n_parts == 1 && inside(record, r->record_size) ? r : NULL;
}

static shoal_err randomize(uint32_t record, const shoal_recipe *r, uint64_t item, coins c)
{
    shoal_rng rng;
    shoal_permanent permanent;
    shoal_rng_init(&rng, at(c.seed));
    if (c.permanent != 0) memcpy(permanent.secret, at(c.permanent), 32);
    shoal_err err = shoal_record_randomize(at(record), r, &item, 1, c.permanent != 0 ? &permanent : NULL, &rng);
    shoal_rng_wipe(&rng);
    wipe(&permanent, sizeof permanent);
    wipe(&item, sizeof item);
    return err;
}

// Randomizes a string of an open domain.
//   text: len bytes, wiped
//   seed, permanent: see coins; wiped
EXPORT(randomize_text)
uint32_t export_randomize_text(uint32_t record, uint32_t handle, uint32_t text, uint32_t len, uint32_t seed,
                               uint32_t permanent)
{
    const coins c = {seed, permanent};
    if (!inside(text, len) || !are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && r->parts[0].domain == SHOAL_DOMAIN_OPEN) {
        err = len > SHOAL_VALUE_MAX ? SHOAL_ERR_RANGE
                                    : randomize(record, r, shoal_part_item(&r->parts[0], at(text), len), c);
    }
    wipe(at(text), len);
    wipe_coins(c);
    return err;
}

// Randomizes an index of a closed domain; -1 is "none of the listed values".
EXPORT(randomize_index)
uint32_t export_randomize_index(uint32_t record, uint32_t handle, int32_t index, uint32_t seed, uint32_t permanent)
{
    const coins c = {seed, permanent};
    if (!are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && r->parts[0].domain == SHOAL_DOMAIN_CLOSED) {
        // Sign extension makes -1 SHOAL_ITEM_NONE without a branch on the item.
        err = randomize(record, r, (uint64_t)(int64_t)index, c);
    }
    wipe_coins(c);
    return err;
}

// Randomizes a number, in micro-units, of a recipe whose `value` is "number": the bucket or the fraction that it is.
EXPORT(randomize_number)
uint32_t export_randomize_number(uint32_t record, uint32_t handle, int64_t micro, uint32_t seed, uint32_t permanent)
{
    const coins c = {seed, permanent};
    if (!are_inside(c)) return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = for_record(handle, record);
    shoal_err err = SHOAL_ERR_ARGUMENT;
    if (r && r->value == SHOAL_VALUE_NUMBER) err = randomize(record, r, shoal_recipe_number_item(r, micro), c);
    wipe_coins(c);
    return err;
}

EXPORT(record_to_text) uint32_t export_record_to_text(uint32_t text, uint32_t cap, uint32_t handle, uint32_t record)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(text, cap) || !inside(record, r->record_size)) return SHOAL_ERR_ARGUMENT;
    return shoal_record_to_text((char *)at(text), cap, r, at(record));
}

// ---- the budget ledger ----

EXPORT(ledger_size_max) uint32_t export_ledger_size_max(void)
{
    return SHOAL_LEDGER_SIZE_MAX;
}

// Returns: length of the ledger written.
EXPORT(ledger_init) int32_t export_ledger_init(uint32_t ledger, uint32_t cap, uint32_t day)
{
    if (!inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t len = 0;
    shoal_err err = shoal_ledger_init(at(ledger), cap, &len, day);
    return err ? failed(err) : (int32_t)len;
}

// Returns: length of the ledger after the debit.
EXPORT(ledger_debit)
int32_t export_ledger_debit(uint32_t ledger, uint32_t len, uint32_t cap, uint32_t handle, uint32_t day)
{
    const shoal_recipe *r = ready(handle);
    if (!r || len > cap || !inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_debit(at(ledger), &size, cap, r, day);
    return err ? failed(err) : (int32_t)size;
}

EXPORT(ledger_allows) uint32_t export_ledger_allows(uint32_t ledger, uint32_t len, uint32_t handle, uint32_t day)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(ledger, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_ledger_allows(at(ledger), len, r, day);
}

// Writes count (u32), zero (u32), epsilon in micro-units (u64), little-endian, at out.
EXPORT(ledger_spent)
uint32_t export_ledger_spent(uint32_t out, uint32_t ledger, uint32_t len, uint32_t handle, uint32_t first,
                             uint32_t last)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(out, 16) || !inside(ledger, len)) return SHOAL_ERR_ARGUMENT;
    shoal_ledger_sum sum;
    shoal_err err = shoal_ledger_spent(&sum, at(ledger), len, r, first, last);
    if (err) return err;
    store32_le(at(out), sum.count);
    store32_le(at(out) + 4, 0);
    store64_le(at(out) + 8, sum.eps_micro);
    return SHOAL_OK;
}

// ---- what an edge worker needs besides ----

#ifndef SHOAL_WASM_DEVICE
static uint32_t error_position;

// Where record_from_text stopped reading when it last failed.
EXPORT(err_position) uint32_t export_err_position(void)
{
    return error_position;
}

EXPORT(record_from_text) uint32_t export_record_from_text(uint32_t record, uint32_t handle, uint32_t text, uint32_t len)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(text, len) || !inside(record, r->record_size)) return SHOAL_ERR_ARGUMENT;
    size_t position = 0;
    shoal_err err = shoal_record_from_text(at(record), r, (const char *)at(text), len, &position);
    error_position = (uint32_t)position;
    return err;
}

EXPORT(record_check) uint32_t export_record_check(uint32_t handle, uint32_t record)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(record, r->record_size)) return SHOAL_ERR_ARGUMENT;
    return shoal_record_check(r, at(record));
}

// Returns: length of a batch of `count` records.
EXPORT(batch_size) int32_t export_batch_size(uint32_t handle, uint32_t count)
{
    const shoal_recipe *r = ready(handle);
    if (!r) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = shoal_batch_size(r, count);
    return size ? (int32_t)size : failed(SHOAL_ERR_RANGE);
}

// Seals the records that lie at bytes + SHOAL_BATCH_HEADER.
EXPORT(batch_seal)
uint32_t export_batch_seal(uint32_t bytes, uint32_t len, uint32_t handle, uint32_t count, uint32_t id)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(bytes, len) || !inside(id, 16)) return SHOAL_ERR_ARGUMENT;
    return shoal_batch_seal(at(bytes), len, r, count, at(id));
}

// Checks a batch. Returns: its number of records.
EXPORT(batch_open) int32_t export_batch_open(uint32_t bytes, uint32_t len, uint32_t handle)
{
    const shoal_recipe *r = ready(handle);
    if (!r || !inside(bytes, len)) return failed(SHOAL_ERR_ARGUMENT);
    shoal_batch batch;
    shoal_err err = shoal_batch_open(&batch, at(bytes), len, r, NULL);
    return err ? failed(err) : (int32_t)batch.count;
}
#endif
