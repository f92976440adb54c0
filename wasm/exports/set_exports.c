// SPDX-License-Identifier: Apache-2.0
// Exports of the ledger and the set that few pages need: policies, epochs of runs, lists, erasing.
// In the whole module only. See exports.h.
#include "exports.h"
#include "ledger.h"

EXPORT(set_add_policy) uint32_t export_set_add_policy(uint32_t handle)
{
    const shoal_policy *policy = ready_policy(handle);
    return policy ? shoal_set_add_policy(&page_set, policy) : SHOAL_ERR_ARGUMENT;
}

// Notes a further epoch of a run that was debited. Returns: length of the ledger.
EXPORT(ledger_go_on)
int32_t export_ledger_go_on(uint32_t ledger, uint32_t len, uint32_t cap, uint32_t handle,
                            uint32_t day)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || len > cap || !inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_go_on(at(ledger), &size, cap, r, day);
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

// Upgrades a ledger. Returns: its length in version 2.
EXPORT(ledger_upgrade)
int32_t export_ledger_upgrade(uint32_t ledger, uint32_t len, uint32_t cap)
{
    if (len > cap || !inside(ledger, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_err err = shoal_ledger_upgrade(at(ledger), &size, cap);
    return length_or(err, size);
}

// Writes an account: kind, kind of value, first day, last day, count, length of the name (u32
// each), epsilon in micro-units (u64), name (64 bytes). Returns: RANGE from the number of accounts
// on.
#define ACCOUNT_SIZE 96u
EXPORT(ledger_account)
uint32_t export_ledger_account(uint32_t out, uint32_t ledger, uint32_t len, uint32_t index)
{
    shoal_ledger_account a;
    if (!inside(out, ACCOUNT_SIZE) || !inside(ledger, len)) return SHOAL_ERR_ARGUMENT;
    shoal_err err = shoal_ledger_account_at(&a, at(ledger), len, index);
    if (err) return err;
    const uint32_t words[] = {a.kind, a.value, a.first, a.last, a.count, a.name_len};
    put_words(out, words, 6);
    store64_le(at(out) + 24, a.eps_micro);
    memcpy(at(out) + 32, a.name, sizeof a.name);
    return SHOAL_OK;
}

// Writes a cap in force: days, last day in force (u32 each), epsilon, what counts against it (u64
// each, micro-units). Returns: RANGE from the number of these caps on.
EXPORT(ledger_cap)
uint32_t export_ledger_cap(uint32_t out, uint32_t ledger, uint32_t len, uint32_t index,
                           uint32_t day)
{
    shoal_ledger_cap cap;
    if (!inside(out, 24) || !inside(ledger, len)) return SHOAL_ERR_ARGUMENT;
    shoal_err err = shoal_ledger_cap_at(&cap, at(ledger), len, index, day);
    if (err) return err;
    const uint32_t words[] = {cap.days, cap.until};
    put_words(out, words, 2);
    store64_le(at(out) + 8, cap.eps_micro);
    store64_le(at(out) + 16, cap.used_micro);
    return SHOAL_OK;
}
