// SPDX-License-Identifier: Apache-2.0
// Debits and charges of the budget ledger; see ledger.h. ledger_cap.c reserves, ledger_book.c holds
// the bytes.
#include "ledger.h"

#include "ledger_book.h"
#include "recipe.h"

shoal_err shoal_ledger_init(uint8_t *ledger, size_t cap, size_t *len, uint32_t day)
{
    book b = {.bytes = ledger, .header = SHOAL_LEDGER_HEADER, .created = day, .newest = day};
    if (cap < SHOAL_LEDGER_HEADER + 8) return SHOAL_ERR_SPACE;
    *len = book_seal(&b);
    return SHOAL_OK;
}

// ---- what may be spent ----

// One spending: who pays on which day.
typedef struct spending {
    book b;
    uint32_t day;            // of the entry: the host's, or the newest while a cap is in force
    const uint8_t *reserved; // the member's reservation, of any day; may be NULL
    bool is_covered;         // is the cost in the costs already?
    bool is_capped;
} spending;

// Opens the ledger for the member `hash` of a set.
static shoal_err start(spending *s, const uint8_t *ledger, size_t len, const uint8_t hash[16],
                       uint32_t day)
{
    book *b = &s->b;
    shoal_err err = book_open(b, ledger, len);
    if (err != SHOAL_OK) return err;
    if ((uint64_t)day + SHOAL_LEDGER_DAYS < b->newest) return SHOAL_ERR_LEDGER;
    uint32_t now = later_of(day, b->newest);
    s->is_capped = book_is_capped(b, now);
    s->day = s->is_capped ? now : day;
    s->reserved = book_reserved(b, hash);
    s->is_covered = s->reserved != NULL && load32_le(s->reserved + RESERVED_DAY) == s->day;
    static const uint8_t erased[SHOAL_ACCOUNT_KEY] = {0};
    const uint8_t *account = book_account(b, erased);
    return account != NULL && s->day <= load32_le(account + ACCOUNT_LAST) ? SHOAL_ERR_BUDGET
                                                                          : SHOAL_OK;
}

// Returns: CAP if a cap is in force and leaves nothing for the member.
static shoal_err within_caps(const spending *s)
{
    if (!s->is_capped || (s->is_covered && book_fits(&s->b, s->day, 0, NULL))) return SHOAL_OK;
    return SHOAL_ERR_CAP;
}

// A run's reservation covers its one debit, on whichever day that comes.
static shoal_err cover_run(spending *s)
{
    bool is_paid = s->reserved != NULL && load32_le(s->reserved + RESERVED_DEBITS) > 0;
    shoal_err err = within_caps(s);
    if (err == SHOAL_OK && s->is_capped && is_paid) return SHOAL_ERR_CAP;
    s->is_covered = s->reserved != NULL && !is_paid;
    return err;
}

// Decides a debit.
//   who: written
static shoal_err may_debit(spending *s, shoal_set_member *who, const uint8_t *ledger, size_t len,
                           const shoal_recipe *recipe, uint32_t reports, uint32_t day)
{
    shoal_set_member_of(who, recipe);
    shoal_err err = start(s, ledger, len, who->hash, day);
    if (err == SHOAL_ERR_LEDGER) return err;
    shoal_err late = shoal_recipe_check_day(recipe, day);
    if (late != SHOAL_OK) return late;
    if (who->waits && day <= s->b.created) return SHOAL_ERR_FRESH;
    if (err != SHOAL_OK) return err;
    // What a cap refuses is told first, because it does not depend on what was spent.
    err = who->kind == SHOAL_ACCOUNT_RUN ? cover_run(s) : within_caps(s);
    if (err != SHOAL_OK) return err;
    const uint8_t *entry = book_entry(&s->b, who->key, s->day);
    uint64_t count = (uint64_t)reports + (entry != NULL ? load32_le(entry + ENTRY_COUNT) : 0);
    return reports == 0 || count > recipe->per_day ? SHOAL_ERR_BUDGET : SHOAL_OK;
}

shoal_err shoal_ledger_allows(const uint8_t *ledger, size_t len, const shoal_recipe *recipe,
                              uint32_t day)
{
    spending s;
    shoal_set_member who;
    return may_debit(&s, &who, ledger, len, recipe, 1, day);
}

// ---- spending ----

// Counts reports in an account, which gets the name and the kind if it has none.
static void count_in_account(book *b, const shoal_set_member *who, uint32_t day, uint32_t count)
{
    uint8_t *account = book_account(b, who->key);
    if (account == NULL) account = book_add_account(b, who->key, day);
    if (account[ACCOUNT_KIND] == SHOAL_ACCOUNT_UNNAMED) {
        account[ACCOUNT_KIND] = (uint8_t)who->kind;
        account[ACCOUNT_KIND + 1] = (uint8_t)who->value;
        account[ACCOUNT_KIND + 2] = who->analysis.len;
        memcpy(account + ACCOUNT_NAME, who->analysis.bytes, sizeof who->analysis.bytes);
    }
    book_count(account, day, count, who->eps_micro);
}

static void count_in_entry(book *b, const shoal_set_member *who, uint32_t day, uint32_t count)
{
    uint8_t *entry = book_entry(b, who->key, day);
    if (entry == NULL) {
        entry = book_append(b, BOOK_ENTRIES);
        memcpy(entry, who->key, SHOAL_ACCOUNT_KEY);
        store32_le(entry + ENTRY_DAY, day);
    }
    add32(entry + ENTRY_COUNT, count);
    add64(entry + ENTRY_EPS, who->eps_micro);
}

// Marks a run or an analysis as debited, and counts its cost on the newest day. A run that nothing
// reserved gets a reservation, so that a cap that comes later moves the one cost forward instead of
// adding another.
static void debit_whole(book *b, const shoal_set_member *who, uint64_t eps_micro)
{
    uint8_t *row = book_reserved(b, who->hash);
    if (row == NULL) row = book_add_reservation(b, who);
    store32_le(row + RESERVED_DAY, b->newest);
    store32_le(row + RESERVED_DEBITS, 1);
    add64(row + RESERVED_EPS, eps_micro);
}

// Returns: by how much an analysis's charges pass what was reserved for it. The accountant bounds
// each policy's reports, but a later policy may name other fields, which have reports of their own.
static uint64_t beyond_reserved(const spending *s, const shoal_set_member *analysis)
{
    const uint8_t *account = book_account(&s->b, analysis->key);
    uint64_t reserved = load64_le(s->reserved + RESERVED_EPS),
             all = sum_of(account != NULL ? load64_le(account + ACCOUNT_EPS) : 0,
                          analysis->eps_micro);
    return all > reserved ? all - reserved : 0;
}

// Writes a payment that was allowed.
//   count: reports; 0 for a further epoch of a run
//   uncovered: epsilon that no reservation covers; of an analysis that is reserved, its reservation
//     grows by it
static shoal_err pay(spending *s, size_t *len, size_t cap, const shoal_set_member *who,
                     uint32_t count, uint64_t uncovered, uint32_t day)
{
    book *b = &s->b;
    bool is_run = who->kind == SHOAL_ACCOUNT_RUN,
         is_whole = is_run || (who->kind == SHOAL_ACCOUNT_ANALYSIS && s->is_covered),
         is_cost = !is_whole && uncovered > 0,
         has_entry = who->kind <= SHOAL_ACCOUNT_RUN && count > 0;
    const uint32_t more[BOOK_TABLES] = {
        [BOOK_ENTRIES] = has_entry && book_entry(b, who->key, s->day) == NULL,
        [BOOK_ACCOUNTS] = count > 0 && book_account(b, who->key) == NULL,
        [BOOK_COSTS] = is_cost,
        [BOOK_RESERVED] = is_run && s->reserved == NULL,
    };
    if (!book_has_room(b, cap, day, more)) return SHOAL_ERR_SPACE;
    book_upgrade(b);
    book_forward(b, day);
    if (count > 0) count_in_account(b, who, s->day, count);
    if (has_entry) count_in_entry(b, who, s->day, count);
    if (is_whole) debit_whole(b, who, uncovered);
    if (is_cost) book_add_cost(b, b->newest, uncovered);
    *len = book_seal(b);
    return SHOAL_OK;
}

shoal_err shoal_ledger_debit_reports(uint8_t *ledger, size_t *len, size_t cap,
                                     const shoal_recipe *recipe, uint32_t reports, uint32_t day)
{
    spending s;
    shoal_set_member who;
    uint32_t each = 0;
    shoal_err err = may_debit(&s, &who, ledger, *len, recipe, reports, day);
    if (err == SHOAL_OK) err = shoal_recipe_charge(&each, recipe);
    if (err != SHOAL_OK) return err;
    who.eps_micro = (uint64_t)reports * each;
    return pay(&s, len, cap, &who, reports, s.is_covered ? 0 : who.eps_micro, day);
}

shoal_err shoal_ledger_debit(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day)
{
    return shoal_ledger_debit_reports(ledger, len, cap, recipe, 1, day);
}

shoal_err shoal_ledger_go_on(uint8_t *ledger, size_t *len, size_t cap, const shoal_recipe *recipe,
                             uint32_t day)
{
    spending s;
    shoal_set_member who;
    uint32_t whole = 0;
    shoal_set_member_of(&who, recipe);
    shoal_err err = start(&s, ledger, *len, who.hash, day);
    if (err == SHOAL_OK) err = within_caps(&s);
    if (err == SHOAL_OK) err = shoal_recipe_charge(&whole, recipe);
    // Version 1 debited runs without a reservation.
    return err == SHOAL_OK ? pay(&s, len, cap, &who, 0, s.reserved == NULL ? whole : 0, day) : err;
}

shoal_err shoal_ledger_charge(uint8_t *ledger, size_t *len, size_t cap, uint32_t kind,
                              const char *name, size_t name_len, uint32_t count, uint64_t eps_micro,
                              uint32_t day)
{
    spending s;
    bool is_exact = kind == SHOAL_ACCOUNT_EXACT;
    shoal_set_member who = {.kind = kind, .eps_micro = is_exact ? 0 : eps_micro};
    if ((!is_exact && kind != SHOAL_ACCOUNT_ANALYSIS) || name_len < 1 || name_len > SHOAL_NAME_MAX)
        return SHOAL_ERR_ARGUMENT;
    who.analysis.len = (uint8_t)name_len;
    memcpy(who.analysis.bytes, name, name_len);
    shoal_account_key(who.key, kind, name, name_len);
    shoal_err err = start(&s, ledger, *len, who.key, day);
    if (err == SHOAL_OK && !is_exact) err = within_caps(&s);
    if (err != SHOAL_OK) return err;
    memcpy(who.hash, who.key, sizeof who.key);
    uint64_t uncovered = s.is_covered && !is_exact ? beyond_reserved(&s, &who) : who.eps_micro;
    if (s.is_capped && !book_fits(&s.b, s.day, uncovered, NULL) && !is_exact) return SHOAL_ERR_CAP;
    return pay(&s, len, cap, &who, count, uncovered, day);
}

// ---- what was spent ----

shoal_err shoal_ledger_spent(shoal_ledger_sum *sum, const uint8_t *ledger, size_t len,
                             const shoal_recipe *recipe, uint32_t first, uint32_t last)
{
    book b;
    uint8_t key[SHOAL_ACCOUNT_KEY];
    shoal_ledger_sum total = {0, 0};
    shoal_err err = book_open(&b, ledger, len);
    if (err != SHOAL_OK) return err;
    shoal_account_key_of(key, recipe);
    const uint8_t *entry = book_row(&b, BOOK_ENTRIES, 0);
    for (uint32_t i = 0; i < b.n[BOOK_ENTRIES]; i++, entry += SHOAL_LEDGER_ENTRY) {
        uint32_t day = load32_le(entry + ENTRY_DAY);
        if (day < first || day > last || memcmp(entry, key, SHOAL_ACCOUNT_KEY) != 0) continue;
        total.count += load32_le(entry + ENTRY_COUNT);
        total.eps_micro += load64_le(entry + ENTRY_EPS);
    }
    *sum = total;
    return SHOAL_OK;
}

shoal_err shoal_ledger_upgrade(uint8_t *ledger, size_t *len, size_t cap)
{
    book b;
    static const uint32_t none[BOOK_TABLES] = {0};
    shoal_err err = book_open(&b, ledger, *len);
    if (err != SHOAL_OK) return err;
    if (!book_has_room(&b, cap, 0, none)) return SHOAL_ERR_SPACE;
    book_upgrade(&b);
    *len = book_seal(&b);
    return SHOAL_OK;
}

shoal_err shoal_ledger_account_at(shoal_ledger_account *account, const uint8_t *ledger, size_t len,
                                  uint32_t index)
{
    book b;
    shoal_err err = book_open(&b, ledger, len);
    if (err != SHOAL_OK) return err;
    if (index >= b.n[BOOK_ACCOUNTS]) return SHOAL_ERR_RANGE;
    const uint8_t *row = book_row(&b, BOOK_ACCOUNTS, index);
    uint8_t name_len = row[ACCOUNT_KIND + 2];
    *account = (shoal_ledger_account){
        .kind = row[ACCOUNT_KIND],
        .value = row[ACCOUNT_KIND + 1],
        .first = load32_le(row + ACCOUNT_FIRST),
        .last = load32_le(row + ACCOUNT_LAST),
        .count = load32_le(row + ACCOUNT_COUNT),
        .eps_micro = load64_le(row + ACCOUNT_EPS),
        .name_len = name_len > SHOAL_NAME_MAX ? SHOAL_NAME_MAX : name_len,
    };
    memcpy(account->name, row + ACCOUNT_NAME, SHOAL_NAME_MAX);
    return SHOAL_OK;
}
