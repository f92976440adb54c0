// SPDX-License-Identifier: Apache-2.0
// Properties of the reader of recipe sets: bytes are refused with a sentence that begins with their
// name, or make a set in canonical order whose hash the core computes again, whose members reserve
// in a fresh ledger, and which costs in a window at least what it costs on a day.
#include <string.h>

#include "fuzz_aggregator.h"
#include "ledger.h"
#include "set_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static agg_set set;
    static uint8_t ledger[SHOAL_LEDGER_SIZE_MAX];
    agg_error error = {SHOAL_OK, 0, ""};
    uint8_t hash[32];
    char hex[65];
    shoal_set_cost cost;
    size_t n = 0;
    agg_err err = agg_set_from_bytes(&set, &error, "set", (const char *)data, len);
    if (err != SHOAL_OK) {
        PROPERTY(strncmp(error.text, "set", 3) == 0 && error.exit_code != 0);
        return 0;
    }
    shoal_set_hash(hash, &set.set);
    agg_hex(hex, hash, sizeof hash);
    PROPERTY(strcmp(hex, set.hash_hex) == 0);
    for (uint32_t i = 1; i < set.set.n_members; i++) {
        const shoal_set_member *a = &set.set.members[i - 1], *b = &set.set.members[i];
        PROPERTY(a->kind < b->kind || (a->kind == b->kind && memcmp(a->hash, b->hash, 32) < 0));
    }
    shoal_set_cost_of(&cost, &set.set, 20000);
    PROPERTY(cost.window_micro >= cost.daily_micro + cost.whole_micro);
    PROPERTY(shoal_ledger_init(ledger, sizeof ledger, &n, 20000) == SHOAL_OK);
    PROPERTY(shoal_ledger_reserve(ledger, &n, sizeof ledger, &set.set, 20000) == SHOAL_OK);
    return 0;
}
