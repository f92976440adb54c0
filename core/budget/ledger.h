// SPDX-License-Identifier: Apache-2.0
// The device's budget ledger: how many reports were paid for, keyed (analysis, field, day), as
// bytes that the host persists.
//
// The host loads the bytes, debits, stores them durably, and only then randomizes. A debit is never
// taken back. Layout, little-endian: magic "shoalled" (8), version 1 (4), entries (4), created day
// (4), newest day (4); then entries of 32 bytes: key (16, the start of SHA-256 over length-prefixed
// analysis and field), day (4), count (4), epsilon in micro-units (8); then the checksum (8).
// Entries are kept SHOAL_LEDGER_DAYS days; a day older than that is refused.
#ifndef SHOAL_LEDGER_H
#define SHOAL_LEDGER_H

#include "recipe.h"

#define SHOAL_LEDGER_DAYS 400u
#define SHOAL_LEDGER_ENTRIES_MAX 8192u
#define SHOAL_LEDGER_HEADER 24u
#define SHOAL_LEDGER_ENTRY 32u
#define SHOAL_LEDGER_SIZE_MAX                                                                      \
    (SHOAL_LEDGER_HEADER + SHOAL_LEDGER_ENTRY * SHOAL_LEDGER_ENTRIES_MAX + 8u)

typedef struct shoal_ledger_sum {
    uint32_t count;     // reports paid for
    uint64_t eps_micro; // their local epsilon, basic composition
} shoal_ledger_sum;

// Writes an empty ledger made on `day`.
shoal_err shoal_ledger_init(uint8_t *ledger, size_t cap, size_t *len,
                            uint32_t day) SHOAL_MUST_CHECK;

// Pays for one report of the recipe on `day`.
//   ledger: *len bytes in, *len bytes out, room for cap; unchanged unless OK
// Returns: BUDGET when limit.per_day is reached, FRESH when the ledger is of this day and the
// recipe waits, EXPIRED, LEDGER when the bytes are damaged or the day is more than
// SHOAL_LEDGER_DAYS before the newest, SPACE.
shoal_err shoal_ledger_debit(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day) SHOAL_MUST_CHECK;

// Would shoal_ledger_debit succeed? Same answers, nothing written.
shoal_err shoal_ledger_allows(const uint8_t *ledger, size_t len, const shoal_recipe *recipe,
                              uint32_t day) SHOAL_MUST_CHECK;

// What the recipe's (analysis, field) has spent on the days first .. last.
shoal_err shoal_ledger_spent(shoal_ledger_sum *sum, const uint8_t *ledger, size_t len,
                             const shoal_recipe *recipe, uint32_t first,
                             uint32_t last) SHOAL_MUST_CHECK;

#endif
