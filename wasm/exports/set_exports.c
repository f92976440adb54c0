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
