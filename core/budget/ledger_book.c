// SPDX-License-Identifier: Apache-2.0
// The tables of the ledger's bytes; see ledger_book.h.
#include "ledger_book.h"

#include "checksum.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'l', 'e', 'd'};
#define VERSION 2u
#define HEADER_1 24u // bytes of version 1's header
#define CHECKSUM_SIZE 8u

static const struct {
    uint16_t size, most; // bytes of a row, number of rows
} tables[BOOK_TABLES] = {
    [BOOK_ENTRIES] = {SHOAL_LEDGER_ENTRY, SHOAL_LEDGER_ENTRIES_MAX},
    [BOOK_ACCOUNTS] = {SHOAL_LEDGER_ACCOUNT, SHOAL_LEDGER_ACCOUNTS_MAX},
    [BOOK_COSTS] = {SHOAL_LEDGER_COST, SHOAL_LEDGER_COSTS_MAX},
    [BOOK_RESERVED] = {SHOAL_LEDGER_RESERVED, SHOAL_LEDGER_RESERVED_MAX},
    [BOOK_CAPS] = {SHOAL_LEDGER_CAP, SHOAL_LEDGER_CAPS_MAX},
};

uint8_t *book_row(const book *b, uint32_t table, uint32_t i)
{
    size_t at = b->header;
    for (uint32_t t = 0; t < table; t++) at += (size_t)b->n[t] * tables[t].size;
    return b->bytes + at + (size_t)i * tables[table].size;
}

static size_t body_of(const book *b)
{
    return (size_t)(book_row(b, BOOK_CAPS, b->n[BOOK_CAPS]) - b->bytes);
}

shoal_err book_open(book *b, const uint8_t *ledger, size_t len)
{
    *b = (book){.bytes = (uint8_t *)ledger, .header = HEADER_1};
    if (len < HEADER_1 + CHECKSUM_SIZE || memcmp(ledger, magic, sizeof magic) != 0)
        return SHOAL_ERR_LEDGER;
    uint32_t version = load32_le(ledger + 8);
    b->n[BOOK_ENTRIES] = load32_le(ledger + 12);
    b->created = load32_le(ledger + 16);
    b->newest = load32_le(ledger + 20);
    if (version == VERSION && len >= SHOAL_LEDGER_HEADER + CHECKSUM_SIZE) {
        b->header = SHOAL_LEDGER_HEADER;
        for (uint32_t t = 1; t < BOOK_TABLES; t++) b->n[t] = load32_le(ledger + 20 + 4 * t);
    } else if (version != 1) {
        return SHOAL_ERR_LEDGER;
    }
    for (uint32_t t = 0; t < BOOK_TABLES; t++)
        if (b->n[t] > tables[t].most) return SHOAL_ERR_LEDGER;
    size_t body = len - CHECKSUM_SIZE;
    if (body_of(b) != body) return SHOAL_ERR_LEDGER;
    return load64_le(ledger + body) == shoal_checksum_of(ledger, body) ? SHOAL_OK
                                                                       : SHOAL_ERR_LEDGER;
}

size_t book_seal(const book *b)
{
    memcpy(b->bytes, magic, sizeof magic);
    store32_le(b->bytes + 8, VERSION);
    store32_le(b->bytes + 12, b->n[BOOK_ENTRIES]);
    store32_le(b->bytes + 16, b->created);
    store32_le(b->bytes + 20, b->newest);
    for (uint32_t t = 1; t < BOOK_TABLES; t++) store32_le(b->bytes + 20 + 4 * t, b->n[t]);
    size_t body = body_of(b);
    store64_le(b->bytes + body, shoal_checksum_of(b->bytes, body));
    return body + CHECKSUM_SIZE;
}

uint8_t *book_append(book *b, uint32_t table)
{
    uint8_t *row = book_row(b, table, b->n[table]), *end = b->bytes + body_of(b);
    size_t size = tables[table].size;
    memmove(row + size, row, (size_t)(end - row));
    memset(row, 0, size);
    b->n[table]++;
    return row;
}

void book_remove(book *b, uint32_t table, uint32_t i)
{
    uint8_t *row = book_row(b, table, i), *end = b->bytes + body_of(b);
    size_t size = tables[table].size;
    memmove(row, row + size, (size_t)(end - row) - size);
    b->n[table]--;
}

// Returns: the row of a table that begins with `key`, or NULL.
static uint8_t *row_of(const book *b, uint32_t table, const uint8_t key[SHOAL_ACCOUNT_KEY])
{
    uint8_t *row = book_row(b, table, 0);
    for (uint32_t i = 0; i < b->n[table]; i++, row += tables[table].size)
        if (memcmp(row, key, SHOAL_ACCOUNT_KEY) == 0) return row;
    return NULL;
}

uint8_t *book_account(const book *b, const uint8_t key[SHOAL_ACCOUNT_KEY])
{
    return row_of(b, BOOK_ACCOUNTS, key);
}

uint8_t *book_reserved(const book *b, const uint8_t hash[16])
{
    return row_of(b, BOOK_RESERVED, hash);
}

uint8_t *book_entry(const book *b, const uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t day)
{
    uint8_t *row = book_row(b, BOOK_ENTRIES, 0);
    for (uint32_t i = 0; i < b->n[BOOK_ENTRIES]; i++, row += SHOAL_LEDGER_ENTRY)
        if (load32_le(row + ENTRY_DAY) == day && memcmp(row, key, SHOAL_ACCOUNT_KEY) == 0)
            return row;
    return NULL;
}

void book_add_cost(book *b, uint32_t day, uint64_t eps_micro)
{
    uint8_t *row = book_row(b, BOOK_COSTS, 0);
    uint32_t i = 0;
    while (i < b->n[BOOK_COSTS] && load32_le(row + COST_DAY) != day) i++, row += SHOAL_LEDGER_COST;
    if (i == b->n[BOOK_COSTS]) store32_le(row = book_append(b, BOOK_COSTS), day);
    add64(row + COST_EPS, eps_micro);
}

// Returns: whether an entry before row i has the same bytes from offset `at` on.
static bool came_before(const book *b, uint32_t i, size_t at, size_t len)
{
    const uint8_t *entries = book_row(b, BOOK_ENTRIES, 0);
    const uint8_t *own = entries + (size_t)i * SHOAL_LEDGER_ENTRY + at;
    for (uint32_t j = i; j-- > 0;)
        if (memcmp(entries + (size_t)j * SHOAL_LEDGER_ENTRY + at, own, len) == 0) return true;
    return false;
}

// Returns: whether a row's day is too long before `newest` to be kept.
static bool is_old(const uint8_t *day, uint32_t newest)
{
    return (uint64_t)load32_le(day) + SHOAL_LEDGER_DAYS < newest;
}

// The tables whose rows have a day, and where.
static const struct {
    uint8_t table, day;
} dated[] = {{BOOK_ENTRIES, ENTRY_DAY}, {BOOK_COSTS, COST_DAY}, {BOOK_RESERVED, RESERVED_DAY}};
#define N_DATED (sizeof dated / sizeof dated[0])

bool book_has_room(const book *b, size_t cap, uint32_t day, const uint32_t more[BOOK_TABLES])
{
    uint32_t n[BOOK_TABLES], newest = later_of(day, b->newest);
    size_t size = SHOAL_LEDGER_HEADER + CHECKSUM_SIZE;
    memcpy(n, b->n, sizeof n);
    if (b->header == HEADER_1) {
        for (uint32_t i = 0; i < b->n[BOOK_ENTRIES]; i++) {
            n[BOOK_ACCOUNTS] += !came_before(b, i, 0, SHOAL_ACCOUNT_KEY);
            n[BOOK_COSTS] += !came_before(b, i, ENTRY_DAY, 4);
        }
    } else {
        for (uint32_t k = 0; k < N_DATED; k++)
            for (uint32_t i = 0; i < b->n[dated[k].table]; i++)
                n[dated[k].table] -= is_old(book_row(b, dated[k].table, i) + dated[k].day, newest);
    }
    for (uint32_t t = 0; t < BOOK_TABLES; t++) {
        if (n[t] + more[t] > tables[t].most) return false;
        size += (size_t)(n[t] + more[t]) * tables[t].size;
    }
    return size <= cap;
}

uint8_t *book_add_account(book *b, const uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t day)
{
    uint8_t *account = book_append(b, BOOK_ACCOUNTS);
    memcpy(account, key, SHOAL_ACCOUNT_KEY);
    account[ACCOUNT_KIND] = SHOAL_ACCOUNT_UNNAMED;
    store32_le(account + ACCOUNT_FIRST, day);
    return account;
}

uint8_t *book_add_reservation(book *b, const shoal_set_member *member)
{
    uint8_t *row = book_append(b, BOOK_RESERVED);
    memcpy(row, member->hash, 16);
    memcpy(row + RESERVED_KEY, member->key, SHOAL_ACCOUNT_KEY);
    return row;
}

void book_count(uint8_t *account, uint32_t day, uint32_t count, uint64_t eps_micro)
{
    if (day < load32_le(account + ACCOUNT_FIRST)) store32_le(account + ACCOUNT_FIRST, day);
    if (day > load32_le(account + ACCOUNT_LAST)) store32_le(account + ACCOUNT_LAST, day);
    add32(account + ACCOUNT_COUNT, count);
    add64(account + ACCOUNT_EPS, eps_micro);
}

void book_upgrade(book *b)
{
    if (b->header != HEADER_1) return;
    size_t entries = (size_t)b->n[BOOK_ENTRIES] * SHOAL_LEDGER_ENTRY;
    memmove(b->bytes + SHOAL_LEDGER_HEADER, b->bytes + HEADER_1, entries);
    b->header = SHOAL_LEDGER_HEADER;
    // Entries come before all other tables, so appending to those does not move them.
    for (uint32_t i = 0; i < b->n[BOOK_ENTRIES]; i++) {
        const uint8_t *entry = book_row(b, BOOK_ENTRIES, i);
        uint8_t *account = book_account(b, entry);
        uint32_t day = load32_le(entry + ENTRY_DAY);
        uint64_t eps_micro = load64_le(entry + ENTRY_EPS);
        if (account == NULL) account = book_add_account(b, entry, day);
        book_count(account, day, load32_le(entry + ENTRY_COUNT), eps_micro);
        book_add_cost(b, day, eps_micro);
    }
}

void book_forward(book *b, uint32_t day)
{
    b->newest = later_of(day, b->newest);
    for (uint32_t k = 0; k < N_DATED; k++)
        for (uint32_t i = b->n[dated[k].table]; i-- > 0;)
            if (is_old(book_row(b, dated[k].table, i) + dated[k].day, b->newest))
                book_remove(b, dated[k].table, i);
}
