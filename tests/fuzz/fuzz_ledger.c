// SPDX-License-Identifier: Apache-2.0
// Properties: whatever bytes a host brings back, a debit either is refused and changes nothing, or
// counts exactly one more and never passes the limit. A reservation and an erasure are refused and
// change nothing, or leave bytes that can be read. While a cap is in force, no reservation raises
// what counts above it.
#include "bytes.h"
#include "checksum.h"
#include "fuzz_recipe.h"
#include "ledger.h"

static uint8_t ledger[8192], before[8192];

// Returns: what counts against the first cap in force, or 0.
static uint64_t used_of(size_t len, uint32_t day, uint64_t *cap)
{
    shoal_ledger_cap state = {0};
    shoal_err err = shoal_ledger_cap_at(&state, ledger, len, 0, day);
    *cap = err == SHOAL_OK ? state.eps_micro : UINT64_MAX;
    return state.used_micro;
}

static void reserves(size_t n, const shoal_recipe *recipe, uint8_t kind, uint32_t day)
{
    shoal_recipe_set set;
    size_t after = n;
    uint64_t cap = 0, was = used_of(n, day, &cap);
    shoal_set_init(&set);
    if (kind & 4) PROPERTY(shoal_set_budget(&set, 1 + kind * 100000u, 1 + kind % 40) == SHOAL_OK);
    PROPERTY(shoal_set_add_recipe(&set, recipe) == SHOAL_OK);
    shoal_err err = shoal_ledger_reserve(ledger, &after, sizeof ledger, &set, day);
    if (err != SHOAL_OK) {
        PROPERTY(after == n && memcmp(ledger, before, n) == 0);
        return;
    }
    uint64_t is = used_of(after, day, &cap);
    PROPERTY(is <= cap || is <= was || (kind & 4));
    n = after;
    PROPERTY(shoal_ledger_reserve(ledger, &after, sizeof ledger, &set, day) == SHOAL_OK);
    PROPERTY(after == n); // reserved already
    err = shoal_ledger_erase(ledger, &after, sizeof ledger, day);
    PROPERTY(err == SHOAL_OK || err == SHOAL_ERR_SPACE);
    PROPERTY(shoal_ledger_upgrade(ledger, &after, sizeof ledger) == SHOAL_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    shoal_recipe recipe;
    shoal_ledger_sum was = {0, 0}, is = {0, 0};
    if (len < 6 || len - 6 > 2048) return 0;
    fuzz_recipe(&recipe, data[0]);
    uint32_t day = (uint32_t)data[1] | (uint32_t)data[2] << 8;
    size_t n = len - 6, after = n;
    memcpy(ledger, data + 6, n);
    if (data[3] & 1 && n >= 8) {
        uint64_t sum = shoal_checksum_of(ledger, n - 8);
        for (size_t i = 0; i < 8; i++) ledger[n - 8 + i] = (uint8_t)(sum >> (8 * i));
    }
    memcpy(before, ledger, n);
    if (data[3] & 2) {
        reserves(n, &recipe, data[3], day);
        return 0;
    }
    // While a cap is in force, the newest day pays.
    uint64_t cap = UINT64_MAX;
    used_of(n, day, &cap);
    uint32_t newest = n < 24 ? 0 : load32_le(ledger + 20), paid = day;
    if (cap != UINT64_MAX && newest > day) paid = newest;
    shoal_err seen = shoal_ledger_spent(&was, ledger, n, &recipe, paid, paid);
    shoal_err allowed = shoal_ledger_allows(ledger, n, &recipe, day);
    shoal_err err = shoal_ledger_debit(ledger, &after, sizeof ledger, &recipe, day);
    if (err != SHOAL_OK) {
        PROPERTY(after == n && memcmp(ledger, before, n) == 0);
        return 0;
    }
    PROPERTY(seen == SHOAL_OK && allowed == SHOAL_OK);
    PROPERTY(shoal_ledger_spent(&is, ledger, after, &recipe, paid, paid) == SHOAL_OK);
    PROPERTY(is.count == was.count + 1);
    return 0;
}
