// SPDX-License-Identifier: Apache-2.0
// Functions and conventions that the files with exports share. The header is private to wasm/ and
// depends only on core/.
//
// - exports.c: recipes, and records of an item's index; in every module
// - verdict_exports.c: what the reports of permanent coins cost; in the module that has them
// - value_exports.c: strings, numbers, the budget ledger, the recipe set; for a page and the edge
// - set_exports.c: the rest of the ledger and the set: policies, epochs of runs; in the whole
// module
//   only
// - query_exports.c: queries with their encoding, the policy, the accountant; for a page that
//   answers queries
// - edge_exports.c: reading records, making batches; for the edge
//
// Conventions. JavaScript owns all memory from heap_base() on, places its buffers there and grows
// the exported memory when it needs more. A module never allocates. Every pointer is checked to lie
// in that region, and every handle to name a live recipe or policy. A bad one is
// SHOAL_ERR_ARGUMENT, never a trap and never a read of module state. A function returns a shoal_err
// (0 is OK), or, where its comment says "length" or "handle", a value >= 0 or minus a shoal_err. A
// module wipes buffers that held a secret (seed, raw text, the device's own secret) before the call
// returns, on every path.
#ifndef SHOAL_WASM_EXPORTS_H
#define SHOAL_WASM_EXPORTS_H

#include <stdbool.h>

#include "builder.h"
#include "bytes.h"
#include "recipe_set.h"
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

// Returns: whether [ptr, ptr + len) lies wholly in the memory that JavaScript owns.
bool inside(uint32_t ptr, uint32_t len);

// Writes little-endian words at out.
void put_words(uint32_t out, const uint32_t *words, uint32_t n);

// A slot's lease. Recipes and policies live in fixed tables. A handle is generation * n + slot, so
// that a released handle stays invalid.
enum lease_state { LEASE_FREE = 0, LEASE_BUILDING, LEASE_READY };

typedef struct lease {
    uint32_t generation; // generation of the slot's content, from 1
    uint32_t state;      // enum lease_state
} lease;

// Leases a free slot of n. Returns: its handle; SPACE if all are taken.
int32_t lease_take(lease *leases, uint32_t n);

// Returns: the slot of a handle in the given state, or n if there is none.
uint32_t lease_find(const lease *leases, uint32_t n, uint32_t handle, uint32_t state);

// Frees the slot of a handle that is being built or ready. Returns: the slot, or n if there is
// none.
uint32_t lease_end(lease *leases, uint32_t n, uint32_t handle);

// Returns: the builder of a handle whose recipe is not finished, or the finished recipe of a
// handle; NULL if there is none.
shoal_recipe_builder *building_recipe(uint32_t handle);
const shoal_recipe *ready_recipe(uint32_t handle);

// Returns: the finished policy of a handle, or NULL.
const shoal_policy *ready_policy(uint32_t handle);

extern shoal_recipe_set page_set; // the set that set_start began

// The addresses of a record's randomness: 32 bytes of fresh seed and, unless it is 0, 32 bytes of
// the device's own secret.
typedef struct coins {
    uint32_t seed, permanent;
} coins;

bool coins_are_inside(coins c);
void coins_wipe(coins c);

// Starts the generator from the seed and copies the device's own secret. The caller wipes both.
// Returns: `permanent`, or NULL without a secret.
const shoal_permanent *coins_start(shoal_rng *rng, shoal_permanent *permanent, coins c);

// Returns: a finished recipe whose record fits at that address, else NULL.
const shoal_recipe *recipe_for_record(uint32_t handle, uint32_t record);

shoal_err randomize_item(uint32_t record, const shoal_recipe *r, uint64_t item, coins c);

#endif
