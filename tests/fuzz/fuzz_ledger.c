// SPDX-License-Identifier: Apache-2.0
// Property: whatever bytes a host brings back, a debit either is refused and changes nothing, or
// counts exactly one more and never passes the limit.
#include "checksum.h"
#include "fuzz_recipe.h"
#include "ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t ledger[4096], before[4096];
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
    shoal_err seen = shoal_ledger_spent(&was, ledger, n, &recipe, day, day);
    shoal_err allowed = shoal_ledger_allows(ledger, n, &recipe, day);
    shoal_err err = shoal_ledger_debit(ledger, &after, sizeof ledger, &recipe, day);
    if (err != SHOAL_OK) {
        PROPERTY(after == n && memcmp(ledger, before, n) == 0);
        return 0;
    }
    PROPERTY(seen == SHOAL_OK && allowed == SHOAL_OK);
    PROPERTY(shoal_ledger_spent(&is, ledger, after, &recipe, day, day) == SHOAL_OK);
    PROPERTY(is.count == was.count + 1);
    return 0;
}
