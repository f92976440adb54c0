// SPDX-License-Identifier: Apache-2.0
// The bytes of the ledger as tables of rows; ledger.h has their layout. Private to core/budget/.
//
// A book is a view of the caller's buffer. Reading works on both versions of the bytes. Who writes
// first checks that the rows to come have room, then upgrades the book to version 2, changes it,
// and seals it, so that a refusal leaves the buffer as it was.
#ifndef SHOAL_LEDGER_BOOK_H
#define SHOAL_LEDGER_BOOK_H

#include <stdbool.h>

#include "bytes.h"
#include "ledger.h"

// The tables, in the order of the bytes.
enum book_table {
    BOOK_ENTRIES = 0,
    BOOK_ACCOUNTS,
    BOOK_COSTS,
    BOOK_RESERVED,
    BOOK_CAPS,
    BOOK_TABLES
};

typedef struct book {
    uint8_t *bytes;
    uint32_t header; // bytes before the first row: 24 in version 1, else SHOAL_LEDGER_HEADER
    uint32_t n[BOOK_TABLES];
    uint32_t created, newest;
} book;

// Opens a ledger. Nothing is written to it by functions that take a const book.
// Returns: LEDGER if the bytes are damaged.
shoal_err book_open(book *b, const uint8_t *ledger, size_t len) SHOAL_MUST_CHECK;

// Returns: row i of a table; i may be the number of rows, for the place after the last.
uint8_t *book_row(const book *b, uint32_t table, uint32_t i);

// Returns: whether `more` rows of each table fit into cap bytes and into the tables' limits, once
// the book is upgraded and moved forward to the day.
bool book_has_room(const book *b, size_t cap, uint32_t day, const uint32_t more[BOOK_TABLES]);

// Makes version 2 of a book: entries of version 1 become entries and costs of their days, under
// accounts without a name. Needs the room that book_has_room checked.
void book_upgrade(book *b);

// Appends a row of zeros to a table and returns it. Needs room.
uint8_t *book_append(book *b, uint32_t table);

void book_remove(book *b, uint32_t table, uint32_t i);

// Moves the newest day forward and drops the entries, costs and reservations that are more than
// SHOAL_LEDGER_DAYS before it.
void book_forward(book *b, uint32_t day);

// Writes header and checksum. Returns: the ledger's length.
size_t book_seal(const book *b);

// Returns: the entry of an account on a day, the account, or the reservation of a member; NULL if
// there is none.
uint8_t *book_entry(const book *b, const uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t day);
uint8_t *book_account(const book *b, const uint8_t key[SHOAL_ACCOUNT_KEY]);
uint8_t *book_reserved(const book *b, const uint8_t hash[16]);

// Adds an account without a name, whose first day is `day`. Needs room.
uint8_t *book_add_account(book *b, const uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t day);

// Adds a reservation of a member, without a day. Needs room.
uint8_t *book_add_reservation(book *b, const shoal_set_member *member);

// Counts reports of a day in an account.
void book_count(uint8_t *account, uint32_t day, uint32_t count, uint64_t eps_micro);

// Adds a cost to a day. Needs room for one row of BOOK_COSTS.
void book_add_cost(book *b, uint32_t day, uint64_t eps_micro);

// Returns: the larger number, and a sum that stops at the largest number.
static inline uint32_t later_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline uint64_t sum_of(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Adds to a number of a row, stopping at the largest number.
static inline void add32(uint8_t *p, uint64_t n)
{
    uint64_t sum = sum_of(load32_le(p), n);
    store32_le(p, sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum);
}

static inline void add64(uint8_t *p, uint64_t n)
{
    store64_le(p, sum_of(load64_le(p), n));
}

// Offsets within rows.
enum {
    ENTRY_DAY = 16,
    ENTRY_COUNT = 20,
    ENTRY_EPS = 24,

    ACCOUNT_KIND = 16, // 1 byte, then the value's kind and the name's length, 1 byte each
    ACCOUNT_FIRST = 20,
    ACCOUNT_LAST = 24,
    ACCOUNT_COUNT = 28,
    ACCOUNT_EPS = 32,
    ACCOUNT_NAME = 40,

    COST_DAY = 0,
    COST_EPS = 8,

    RESERVED_KEY = 16,
    RESERVED_DAY = 32,
    RESERVED_PER_DAY = 36, // 0: charged once
    RESERVED_DEBITS = 40,  // of a run: 1 once it was debited
    RESERVED_EPS = 48,

    CAP_EPS = 0,
    CAP_DAYS = 8,
    CAP_UNTIL = 12
};

// The functions below are those of ledger_cap.c that debits need.

// Returns: whether a cap is in force on the day.
bool book_is_capped(const book *b, uint32_t day);

// Returns: whether all caps in force on the day hold with `more` added to the day's costs.
//   without: a reservation whose cost does not count, or NULL
bool book_fits(const book *b, uint32_t day, uint64_t more, const uint8_t *without);

#endif
