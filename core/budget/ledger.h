// SPDX-License-Identifier: Apache-2.0
// The device's budget ledger holds what was paid for reports, and what was reserved for them, as
// bytes that the host persists.
//
// The host loads the bytes, reserves or debits, stores them durably, and only then randomizes.
// Nothing is ever taken back.
//
// Accounts. Reports are paid from the account of the recipe's (analysis, field). Each account has a
// name and the count and epsilon of its whole life, which are kept for ever. An account's reports
// of a day are in its entries, which are kept SHOAL_LEDGER_DAYS days; a day older than that is
// refused.
//
// Caps. A site's budget bounds the epsilon of everything in any `days` consecutive UTC days, by
// basic composition. What could cost epsilon is therefore reserved, for all members of the site's
// recipe set at once, when the first page of a day opens under consent (shoal_ledger_reserve):
// - a recipe costs per_day reports on that day, whether they are made or not;
// - a run or an analysis costs its whole epsilon once. It counts from its first reservation, and
//   its day moves forward with every later one, so that it counts in every window of days in which
//   it may answer.
// Recipes that share an account cost what they can really spend together (shoal_rates_cost). While
// a cap is in force, only what was reserved on the day may be debited. So a refusal depends on the
// days on which pages opened and on their sets, and never on events.
//
// A cap is in force from the day on which it is first seen until `days` days after the day on which
// it was last seen. All caps in force hold together. A page without a budget does not lift them. A
// cap counts the days before it was seen at what was reserved then; reports that were not covered
// by a reservation count as they were made.
//
// Time only goes forward: while a cap is in force, the day that counts is the later of the host's
// day and the newest day of the ledger. Without a cap, a clock set back pays from the entries of
// the day that it shows, and the cost still counts on the newest day.
//
// Layout, little-endian:
// - header: magic "shoalled" (8), version 2 (4), entries (4), created day (4), newest day (4),
//   accounts (4), costs (4), reservations (4), caps (4)
// - 32 bytes per entry: account's key (16), day (4), count (4), epsilon in micro-units (8)
// - 104 bytes per account: key (16, the start of SHA-256 over length-prefixed analysis and field),
//   kind (1, enum shoal_account_kind), kind of value (1), length of the name (1), zero (1), first
//   day (4), last day (4), count (4), epsilon (8), name (64). Count and epsilon stop at their
//   largest number
// - 16 bytes per cost: day (4), zero (4), epsilon (8) that counts on that day: reservations of
//   recipes, and reports that no reservation covers
// - 56 bytes per reservation: hash (16, its start) of the recipe, run or analysis, account's key
//   (16), day (4), reports a day (4, 0 if charged once), debits (4, of a run), zero (4), epsilon
//   (8, of one report, or the whole cost, which counts on the reservation's day)
// - 16 bytes per cap: epsilon (8), days (4), last day in force (4)
// - checksum (8)
// Version 1 had a header of 24 bytes, up to the newest day, and entries only. It is read, and the
// first change upgrades it: each key becomes an account without a name, each entry also a cost.
#ifndef SHOAL_LEDGER_H
#define SHOAL_LEDGER_H

#include "recipe_ref.h"
#include "recipe_set.h"

#define SHOAL_LEDGER_DAYS 400u
#define SHOAL_LEDGER_HEADER 40u
#define SHOAL_LEDGER_ENTRY 32u
#define SHOAL_LEDGER_ACCOUNT 104u
#define SHOAL_LEDGER_COST 16u
#define SHOAL_LEDGER_RESERVED 56u
#define SHOAL_LEDGER_CAP 16u
#define SHOAL_LEDGER_ENTRIES_MAX 8192u
#define SHOAL_LEDGER_ACCOUNTS_MAX 512u
#define SHOAL_LEDGER_COSTS_MAX 512u
#define SHOAL_LEDGER_RESERVED_MAX 256u
#define SHOAL_LEDGER_CAPS_MAX 16u
#define SHOAL_LEDGER_SIZE_MAX                                                                      \
    (SHOAL_LEDGER_HEADER + SHOAL_LEDGER_ENTRY * SHOAL_LEDGER_ENTRIES_MAX +                         \
     SHOAL_LEDGER_ACCOUNT * SHOAL_LEDGER_ACCOUNTS_MAX +                                            \
     SHOAL_LEDGER_COST * SHOAL_LEDGER_COSTS_MAX +                                                  \
     SHOAL_LEDGER_RESERVED * SHOAL_LEDGER_RESERVED_MAX +                                           \
     SHOAL_LEDGER_CAP * SHOAL_LEDGER_CAPS_MAX + 8u)

typedef struct shoal_ledger_sum {
    uint32_t count;     // reports paid for
    uint64_t eps_micro; // local epsilon of the reports, basic composition
} shoal_ledger_sum;

// What an account has spent in its whole life.
typedef struct shoal_ledger_account {
    uint32_t kind;             // enum shoal_account_kind
    uint32_t value;            // enum shoal_value_kind of recipes and runs, else 0
    uint32_t first, last;      // days of the first and the last report
    uint32_t count;            // stops at UINT32_MAX
    uint64_t eps_micro;        // stops at UINT64_MAX; 0 of exact values, which no epsilon bounds
    uint8_t name_len;          // 0 for accounts without a name
    char name[SHOAL_NAME_MAX]; // of the analysis, or of the exact task
} shoal_ledger_account;

// A cap in force.
typedef struct shoal_ledger_cap {
    uint64_t eps_micro,
        used_micro;       // the cap, and what counts against it in the days that end today
    uint32_t days, until; // the last day in force, if it is not seen again
} shoal_ledger_cap;

// Writes an empty ledger created on `day`.
shoal_err shoal_ledger_init(uint8_t *ledger, size_t cap, size_t *len,
                            uint32_t day) SHOAL_MUST_CHECK;

// Reserves the members of a set for a day, in canonical order, and notes the set's budget. A member
// that a cap in force leaves no room for is left out, and so is one that may not answer on the day.
// What is reserved for the day already costs nothing more. Without a cap in force every member is
// reserved, so that a cap that comes later can count the day.
//   ledger: *len bytes in, *len bytes out, space for cap (SHOAL_LEDGER_SIZE_MAX is always enough);
//     unchanged unless OK
//   set: the recipes of the page; of a site with a budget, everything that it may ask
//   day: days since 1970-01-01 UTC
// Returns: LEDGER as for a debit; SPACE.
// Privacy: what a refusal tells depends on days, openings and sets, not on what was debited.
shoal_err shoal_ledger_reserve(uint8_t *ledger, size_t *len, size_t cap,
                               const shoal_recipe_set *set, uint32_t day) SHOAL_MUST_CHECK;

// Pays for one report of the recipe on `day`. A run is debited once.
//   ledger: as for shoal_ledger_reserve
// Returns: BUDGET if the account's reports of the day would pass limit.per_day, or if the books
// were erased on that day or later; CAP if a cap is in force and the recipe is not reserved for the
// day; FRESH if the ledger is of this day and the recipe waits; EXPIRED; LEDGER if the bytes are
// damaged or the day is more than SHOAL_LEDGER_DAYS before the newest; SPACE.
// Privacy: costs the recipe's epsilon.
shoal_err shoal_ledger_debit(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day) SHOAL_MUST_CHECK;

// Pays for all of `reports` reports at once, or for none.
//   reports: at least 1
shoal_err shoal_ledger_debit_reports(uint8_t *ledger, size_t *len, size_t cap,
                                     const shoal_recipe *recipe, uint32_t reports,
                                     uint32_t day) SHOAL_MUST_CHECK;

// Returns: the answer that shoal_ledger_debit would give, but for SPACE. Nothing is written.
shoal_err shoal_ledger_allows(const uint8_t *ledger, size_t len, const shoal_recipe *recipe,
                              uint32_t day) SHOAL_MUST_CHECK;

// Notes that a run that was debited answers a further epoch on the day, so that its cost counts in
// the windows of that day too.
//   ledger: as for shoal_ledger_reserve
// Returns: CAP if a cap is in force and the run is not reserved for the day; BUDGET, LEDGER and
// SPACE as for a debit.
shoal_err shoal_ledger_go_on(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day) SHOAL_MUST_CHECK;

// Charges queries under an analysis (SHOAL_ACCOUNT_ANALYSIS), whose allowance the accountant
// bounds, or exact values (SHOAL_ACCOUNT_EXACT), which are counted and have no epsilon.
//   ledger: as for shoal_ledger_reserve
//   name: 1 .. SHOAL_NAME_MAX bytes
//   count, eps_micro: the reports and the epsilon of all of them together
// Returns: CAP if a cap is in force, and the analysis is not reserved for the day or would pass its
// reservation by more than the cap has room for; BUDGET, LEDGER and SPACE as for a debit; ARGUMENT
// for another kind or a bad name.
shoal_err shoal_ledger_charge(uint8_t *ledger, size_t *len, size_t cap, uint32_t kind,
                              const char *name, size_t name_len, uint32_t count, uint64_t eps_micro,
                              uint32_t day) SHOAL_MUST_CHECK;

// Adds up what the recipe's (analysis, field) has spent on the days first .. last.
shoal_err shoal_ledger_spent(shoal_ledger_sum *sum, const uint8_t *ledger, size_t len,
                             const shoal_recipe *recipe, uint32_t first,
                             uint32_t last) SHOAL_MUST_CHECK;

// Upgrades the bytes to version 2; nothing else changes.
//   ledger: as for shoal_ledger_reserve
shoal_err shoal_ledger_upgrade(uint8_t *ledger, size_t *len, size_t cap) SHOAL_MUST_CHECK;

// Reads account `index` of a ledger of version 2. Returns: RANGE from the number of accounts on.
shoal_err shoal_ledger_account_at(shoal_ledger_account *account, const uint8_t *ledger, size_t len,
                                  uint32_t index) SHOAL_MUST_CHECK;

// Reads cap `index` of those in force on the day. Returns: RANGE from their number on.
shoal_err shoal_ledger_cap_at(shoal_ledger_cap *state, const uint8_t *ledger, size_t len,
                              uint32_t index, uint32_t day) SHOAL_MUST_CHECK;

// Folds all accounts into one without a name, and all costs into one on the day of erasure, which
// is the only day that remains. Nothing is refilled: caps stay, and until the next day nothing may
// be spent.
//   ledger: as for shoal_ledger_reserve
// Privacy: the bytes tell how much was ever spent, and no longer for what or when.
shoal_err shoal_ledger_erase(uint8_t *ledger, size_t *len, size_t cap,
                             uint32_t day) SHOAL_MUST_CHECK;

#endif
