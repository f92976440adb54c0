// SPDX-License-Identifier: Apache-2.0
// The budget ledger; see ledger.h.
#include "ledger.h"

#include <stdbool.h>

#include "bytes.h"
#include "checksum.h"
#include "recipe.h"
#include "sha256.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'l', 'e', 'd'};
#define VERSION 1u
#define CHECKSUM_SIZE 8u
#define KEY_SIZE 16u

typedef struct head {
    uint32_t entries, created, newest;
} head;

static size_t size_of(uint32_t entries)
{
    return SHOAL_LEDGER_HEADER + (size_t)entries * SHOAL_LEDGER_ENTRY + CHECKSUM_SIZE;
}

// Writes header and checksum around the entries already in place. Returns: the ledger's length.
static size_t seal(uint8_t *ledger, const head *h)
{
    memcpy(ledger, magic, sizeof magic);
    store32_le(ledger + 8, VERSION);
    store32_le(ledger + 12, h->entries);
    store32_le(ledger + 16, h->created);
    store32_le(ledger + 20, h->newest);
    size_t len = size_of(h->entries), body = len - CHECKSUM_SIZE;
    store64_le(ledger + body, shoal_checksum_of(ledger, body));
    return len;
}

static shoal_err open_ledger(head *h, const uint8_t *ledger, size_t len)
{
    if (len < size_of(0) || memcmp(ledger, magic, sizeof magic) != 0) return SHOAL_ERR_LEDGER;
    if (load32_le(ledger + 8) != VERSION) return SHOAL_ERR_LEDGER;
    h->entries = load32_le(ledger + 12);
    h->created = load32_le(ledger + 16);
    h->newest = load32_le(ledger + 20);
    if (h->entries > SHOAL_LEDGER_ENTRIES_MAX || len != size_of(h->entries))
        return SHOAL_ERR_LEDGER;
    size_t body = len - CHECKSUM_SIZE;
    return load64_le(ledger + body) == shoal_checksum_of(ledger, body) ? SHOAL_OK
                                                                       : SHOAL_ERR_LEDGER;
}

static const char *field_name(uint32_t value)
{
    static const char *const names[] = {"", "word", "host", "site", "item", "number"};
    return value < sizeof names / sizeof names[0] ? names[value] : "";
}

static void make_key(uint8_t key[KEY_SIZE], const shoal_recipe *recipe)
{
    shoal_sha256 sha;
    uint8_t digest[32], analysis_len = recipe->analysis.len;
    const char *field = field_name(recipe->value);
    uint8_t field_len = (uint8_t)text_len(field);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, &analysis_len, 1);
    shoal_sha256_update(&sha, (const uint8_t *)recipe->analysis.bytes, analysis_len);
    shoal_sha256_update(&sha, &field_len, 1);
    shoal_sha256_update(&sha, (const uint8_t *)field, field_len);
    shoal_sha256_final(digest, &sha);
    memcpy(key, digest, KEY_SIZE);
}

// Returns: the entry of (key, day), or NULL.
static const uint8_t *find(const uint8_t *ledger, const head *h, const uint8_t key[KEY_SIZE],
                           uint32_t day)
{
    const uint8_t *entry = ledger + SHOAL_LEDGER_HEADER;
    for (uint32_t i = 0; i < h->entries; i++, entry += SHOAL_LEDGER_ENTRY)
        if (load32_le(entry + KEY_SIZE) == day && memcmp(entry, key, KEY_SIZE) == 0) return entry;
    return NULL;
}

static shoal_err may_debit(head *h, const uint8_t *ledger, size_t len, const shoal_recipe *recipe,
                           uint32_t day, const uint8_t key[KEY_SIZE])
{
    shoal_err err = open_ledger(h, ledger, len);
    if (err == SHOAL_OK) err = shoal_recipe_check_day(recipe, day);
    if (err != SHOAL_OK) return err;
    if ((uint64_t)day + SHOAL_LEDGER_DAYS < h->newest) return SHOAL_ERR_LEDGER;
    if (recipe->fresh == SHOAL_FRESH_WAIT && day <= h->created) return SHOAL_ERR_FRESH;
    const uint8_t *entry = find(ledger, h, key, day);
    return entry != NULL && load32_le(entry + 20) >= recipe->per_day ? SHOAL_ERR_BUDGET : SHOAL_OK;
}

// Counts the entries to be dropped because their day is too long before `newest`.
static uint32_t count_old(const uint8_t *ledger, const head *h, uint32_t newest)
{
    uint32_t old = 0;
    for (uint32_t i = 0; i < h->entries; i++)
        old +=
            (uint64_t)load32_le(ledger + SHOAL_LEDGER_HEADER + i * SHOAL_LEDGER_ENTRY + KEY_SIZE) +
                SHOAL_LEDGER_DAYS <
            newest;
    return old;
}

static void drop_old(uint8_t *ledger, head *h)
{
    uint8_t *to = ledger + SHOAL_LEDGER_HEADER, *from = to;
    for (uint32_t i = 0; i < h->entries; i++, from += SHOAL_LEDGER_ENTRY) {
        if ((uint64_t)load32_le(from + KEY_SIZE) + SHOAL_LEDGER_DAYS < h->newest) continue;
        memmove(to, from, SHOAL_LEDGER_ENTRY);
        to += SHOAL_LEDGER_ENTRY;
    }
    h->entries = (uint32_t)(((size_t)(to - ledger) - SHOAL_LEDGER_HEADER) / SHOAL_LEDGER_ENTRY);
}

shoal_err shoal_ledger_init(uint8_t *ledger, size_t cap, size_t *len, uint32_t day)
{
    head h = {0, day, day};
    if (cap < size_of(0)) return SHOAL_ERR_SPACE;
    *len = seal(ledger, &h);
    return SHOAL_OK;
}

shoal_err shoal_ledger_allows(const uint8_t *ledger, size_t len, const shoal_recipe *recipe,
                              uint32_t day)
{
    head h;
    uint8_t key[KEY_SIZE];
    make_key(key, recipe);
    return may_debit(&h, ledger, len, recipe, day, key);
}

shoal_err shoal_ledger_debit(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day)
{
    head h;
    uint8_t key[KEY_SIZE];
    uint32_t eps_micro = 0;
    make_key(key, recipe);
    shoal_err err = may_debit(&h, ledger, *len, recipe, day, key);
    if (err == SHOAL_OK) err = shoal_recipe_epsilon(&eps_micro, recipe);
    if (err != SHOAL_OK) return err;
    uint32_t newest = day > h.newest ? day : h.newest;
    bool is_new = find(ledger, &h, key, day) == NULL;
    uint32_t entries = h.entries - count_old(ledger, &h, newest) + (uint32_t)is_new;
    if (entries > SHOAL_LEDGER_ENTRIES_MAX || size_of(entries) > cap) return SHOAL_ERR_SPACE;

    h.newest = newest;
    drop_old(ledger, &h);
    uint8_t *entry = ledger + SHOAL_LEDGER_HEADER;
    if (is_new) {
        entry += (size_t)h.entries++ * SHOAL_LEDGER_ENTRY;
        memset(entry, 0, SHOAL_LEDGER_ENTRY);
        memcpy(entry, key, KEY_SIZE);
        store32_le(entry + KEY_SIZE, day);
    } else {
        entry += find(ledger, &h, key, day) - entry;
    }
    store32_le(entry + 20, load32_le(entry + 20) + 1);
    store64_le(entry + 24, load64_le(entry + 24) + eps_micro);
    *len = seal(ledger, &h);
    return SHOAL_OK;
}

shoal_err shoal_ledger_spent(shoal_ledger_sum *sum, const uint8_t *ledger, size_t len,
                             const shoal_recipe *recipe, uint32_t first, uint32_t last)
{
    head h;
    uint8_t key[KEY_SIZE];
    shoal_ledger_sum total = {0, 0};
    shoal_err err = open_ledger(&h, ledger, len);
    if (err != SHOAL_OK) return err;
    make_key(key, recipe);
    const uint8_t *entry = ledger + SHOAL_LEDGER_HEADER;
    for (uint32_t i = 0; i < h.entries; i++, entry += SHOAL_LEDGER_ENTRY) {
        uint32_t day = load32_le(entry + KEY_SIZE);
        if (day < first || day > last || memcmp(entry, key, KEY_SIZE) != 0) continue;
        total.count += load32_le(entry + 20);
        total.eps_micro += load64_le(entry + 24);
    }
    *sum = total;
    return SHOAL_OK;
}
