// SPDX-License-Identifier: Apache-2.0
// Exports of the ledger and the set that few pages need: policies and epochs of runs. In the whole
// module only. See exports.h.
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
