// SPDX-License-Identifier: Apache-2.0
// What the files with exports share; private to wasm/. Depends on core/ and nothing else.
//
//     exports.c         recipes, and records of an item's index: every module
//     value_exports.c   strings, numbers, the budget ledger: a page, the edge
//     query_exports.c   queries: their encoding, the policy, the accountant: a page that answers
//     queries edge_exports.c    reading records, making batches: the edge
//
// Conventions. JavaScript owns all memory from heap_base() on, places its buffers there and grows
// the exported memory when it needs more; a module never allocates. Every pointer is checked to lie
// in that region, every handle to name a live recipe or policy; a bad one is SHOAL_ERR_ARGUMENT,
// never a trap and never a read of module state. A function returns a shoal_err (0 is OK), or,
// where it says "length" or "handle", a value >= 0 or minus a shoal_err. Buffers that held a secret
// (seed, raw text, the device's own secret) are wiped here before the call returns, on every path.
#ifndef SHOAL_WASM_EXPORTS_H
#define SHOAL_WASM_EXPORTS_H

#include "builder.h"
#include "bytes.h"
#include "record.h"

#define EXPORT(name) __attribute__((export_name(#name)))

extern uint8_t __heap_base; // first byte beyond data and stack; set by the linker

static inline int32_t failed(shoal_err err)
{
    return -(int32_t)err;
}

static inline int32_t length_or(shoal_err err, size_t len)
{
    return err ? failed(err) : (int32_t)len;
}

static inline uint8_t *at(uint32_t ptr)
{
    return (uint8_t *)(uintptr_t)ptr;
}

// Is [ptr, ptr + len) wholly in the memory that JavaScript owns?
int inside(uint32_t ptr, uint32_t len);

// Writes little-endian words at out.
void put_words(uint32_t out, const uint32_t *words, uint32_t n);

// Recipes and policies live in fixed tables. A handle is generation * n + slot, so that a released
// handle stays dead.
enum lease_state { LEASE_FREE = 0, LEASE_BUILDING, LEASE_READY };

typedef struct lease {
    uint32_t generation; // of what lives there, from 1
    uint32_t state;      // enum lease_state
} lease;

// Leases a free slot of n. Returns: its handle; SPACE when all are taken.
int32_t lease_take(lease *leases, uint32_t n);

// Returns: the slot of a handle that is in that state, or n where none is.
uint32_t lease_find(const lease *leases, uint32_t n, uint32_t handle, uint32_t state);

// Returns: the slot of a handle that is being built or ready, which is free from now on; n where
// none is.
uint32_t lease_end(lease *leases, uint32_t n, uint32_t handle);

// Returns: the builder of a handle whose recipe is not finished, or the recipe of one that is; NULL
// where there is none.
shoal_recipe_builder *building_recipe(uint32_t handle);
const shoal_recipe *ready_recipe(uint32_t handle);

// Where a record's randomness lies: 32 bytes of fresh seed and, unless it is 0, 32 bytes of the
// device's own secret.
typedef struct coins {
    uint32_t seed, permanent;
} coins;

int coins_are_inside(coins c);
void coins_wipe(coins c);

// Starts the generator of the seed and copies the device's own secret, both for the caller to wipe.
// Returns: `permanent`, or NULL without one.
const shoal_permanent *coins_start(shoal_rng *rng, shoal_permanent *permanent, coins c);

// Returns: a finished recipe whose record fits where it shall go; else NULL.
const shoal_recipe *recipe_for_record(uint32_t handle, uint32_t record);

shoal_err randomize_item(uint32_t record, const shoal_recipe *r, uint64_t item, coins c);

#endif
