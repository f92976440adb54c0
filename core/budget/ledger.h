// SPDX-License-Identifier: Apache-2.0
// The device's budget ledger holds the number and cost of the reports paid for, keyed (analysis,
// field, day), as bytes that the host persists.
//
// The host loads the bytes, debits, stores them durably, and only then randomizes. A debit is never
// taken back. Entries are kept SHOAL_LEDGER_DAYS days; a day older than that is refused.
//
// Layout, little-endian:
// - header: magic "shoalled" (8), version 1 (4), entries (4), created day (4), newest day (4)
// - 32 bytes per entry: key (16, the start of SHA-256 over length-prefixed analysis and field), day
//   (4), count (4), epsilon in micro-units (8)
// - checksum (8)
#ifndef SHOAL_LEDGER_H
#define SHOAL_LEDGER_H

#include "recipe_ref.h"

#define SHOAL_LEDGER_DAYS 400u
#define SHOAL_LEDGER_ENTRIES_MAX 8192u
#define SHOAL_LEDGER_HEADER 24u
#define SHOAL_LEDGER_ENTRY 32u
#define SHOAL_LEDGER_SIZE_MAX                                                                      \
    (SHOAL_LEDGER_HEADER + SHOAL_LEDGER_ENTRY * SHOAL_LEDGER_ENTRIES_MAX + 8u)

typedef struct shoal_ledger_sum {
    uint32_t count;     // reports paid for
    uint64_t eps_micro; // local epsilon of the reports, basic composition
} shoal_ledger_sum;

// Writes an empty ledger created on `day`.
shoal_err shoal_ledger_init(uint8_t *ledger, size_t cap, size_t *len,
                            uint32_t day) SHOAL_MUST_CHECK;

// Pays for one report of the recipe on `day`.
//   ledger: *len bytes in, *len bytes out, space for cap; unchanged unless OK
// Returns: BUDGET if limit.per_day is reached, FRESH if the ledger is of this day and the recipe
// waits, EXPIRED, LEDGER if the bytes are damaged or the day is more than SHOAL_LEDGER_DAYS before
// the newest, SPACE.
shoal_err shoal_ledger_debit(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day) SHOAL_MUST_CHECK;

// Returns: the answer that shoal_ledger_debit would give. Nothing is written.
shoal_err shoal_ledger_allows(const uint8_t *ledger, size_t len, const shoal_recipe *recipe,
                              uint32_t day) SHOAL_MUST_CHECK;

// Adds up what the recipe's (analysis, field) has spent on the days first .. last.
shoal_err shoal_ledger_spent(shoal_ledger_sum *sum, const uint8_t *ledger, size_t len,
                             const shoal_recipe *recipe, uint32_t first,
                             uint32_t last) SHOAL_MUST_CHECK;

#endif
