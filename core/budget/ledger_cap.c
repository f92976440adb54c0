// SPDX-License-Identifier: Apache-2.0
// Caps and reservations of the budget ledger; see ledger.h.
#include "ledger_book.h"

// ---- caps ----

// Returns: whether a day lies in the window of `days` days that ends on `now`. A day after `now`
// does, since a clock may have been set back.
static bool is_in_window(uint32_t day, uint32_t days, uint32_t now)
{
    return (uint64_t)day + days > now;
}

// Adds up what counts in the window of `days` days that ends on `now`.
static uint64_t used(const book *b, uint32_t days, uint32_t now, const uint8_t *without)
{
    uint64_t sum = 0;
    const uint8_t *row = book_row(b, BOOK_COSTS, 0);
    for (uint32_t i = 0; i < b->n[BOOK_COSTS]; i++, row += SHOAL_LEDGER_COST)
        if (is_in_window(load32_le(row + COST_DAY), days, now))
            sum = sum_of(sum, load64_le(row + COST_EPS));
    row = book_row(b, BOOK_RESERVED, 0);
    for (uint32_t i = 0; i < b->n[BOOK_RESERVED]; i++, row += SHOAL_LEDGER_RESERVED)
        if (row != without && load32_le(row + RESERVED_PER_DAY) == 0 &&
            is_in_window(load32_le(row + RESERVED_DAY), days, now))
            sum = sum_of(sum, load64_le(row + RESERVED_EPS));
    return sum;
}

static bool is_in_force(const uint8_t *cap, uint32_t day)
{
    return load32_le(cap + CAP_UNTIL) >= day;
}

bool book_is_capped(const book *b, uint32_t day)
{
    for (uint32_t i = 0; i < b->n[BOOK_CAPS]; i++)
        if (is_in_force(book_row(b, BOOK_CAPS, i), day)) return true;
    return false;
}

bool book_fits(const book *b, uint32_t day, uint64_t more, const uint8_t *without)
{
    for (uint32_t i = 0; i < b->n[BOOK_CAPS]; i++) {
        const uint8_t *cap = book_row(b, BOOK_CAPS, i);
        if (is_in_force(cap, day) && sum_of(used(b, load32_le(cap + CAP_DAYS), day, without),
                                            more) > load64_le(cap + CAP_EPS))
            return false;
    }
    return true;
}

// Notes that a cap was seen. Where the table is full, the new cap and the last one become one that
// is at least as strict as both, so that no cap is forgotten.
static void note_cap(book *b, const shoal_recipe_set *set, uint32_t day)
{
    uint64_t eps = set->eps_micro;
    uint32_t days = set->days, until = day > UINT32_MAX - days ? UINT32_MAX : day + days - 1;
    uint8_t *cap = book_row(b, BOOK_CAPS, 0);
    uint32_t i = 0;
    while (i < b->n[BOOK_CAPS] &&
           (load64_le(cap + CAP_EPS) != eps || load32_le(cap + CAP_DAYS) != days))
        i++, cap += SHOAL_LEDGER_CAP;
    if (i == SHOAL_LEDGER_CAPS_MAX) {
        cap -= SHOAL_LEDGER_CAP;
        if (load64_le(cap + CAP_EPS) < eps) eps = load64_le(cap + CAP_EPS);
        days = later_of(days, load32_le(cap + CAP_DAYS));
        until = later_of(until, load32_le(cap + CAP_UNTIL));
    } else if (i == b->n[BOOK_CAPS]) {
        cap = book_append(b, BOOK_CAPS);
    }
    store64_le(cap + CAP_EPS, eps);
    store32_le(cap + CAP_DAYS, days);
    store32_le(cap + CAP_UNTIL, later_of(until, load32_le(cap + CAP_UNTIL)));
}

shoal_err shoal_ledger_cap_at(shoal_ledger_cap *state, const uint8_t *ledger, size_t len,
                              uint32_t index, uint32_t day)
{
    book b;
    shoal_err err = book_open(&b, ledger, len);
    if (err != SHOAL_OK) return err;
    uint32_t now = later_of(day, b.newest);
    for (uint32_t i = 0; i < b.n[BOOK_CAPS]; i++) {
        const uint8_t *cap = book_row(&b, BOOK_CAPS, i);
        if (!is_in_force(cap, now) || index-- > 0) continue;
        uint32_t days = load32_le(cap + CAP_DAYS);
        *state = (shoal_ledger_cap){.eps_micro = load64_le(cap + CAP_EPS),
                                    .used_micro = used(&b, days, now, NULL),
                                    .days = days,
                                    .until = load32_le(cap + CAP_UNTIL)};
        return SHOAL_OK;
    }
    return SHOAL_ERR_RANGE;
}

// ---- reservations ----

// Returns: what the recipes of an account that are reserved for the day cost together.
//   one_more: another recipe of that account, or NULL
static uint64_t reserved_cost(const book *b, const uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t day,
                              const shoal_set_member *one_more)
{
    shoal_rate rates[SHOAL_LEDGER_RESERVED_MAX + 1];
    uint32_t n = 0;
    const uint8_t *row = book_row(b, BOOK_RESERVED, 0);
    for (uint32_t i = 0; i < b->n[BOOK_RESERVED]; i++, row += SHOAL_LEDGER_RESERVED)
        if (load32_le(row + RESERVED_PER_DAY) > 0 && load32_le(row + RESERVED_DAY) == day &&
            memcmp(row + RESERVED_KEY, key, SHOAL_ACCOUNT_KEY) == 0)
            rates[n++] =
                (shoal_rate){load32_le(row + RESERVED_PER_DAY), load64_le(row + RESERVED_EPS)};
    if (one_more != NULL) rates[n++] = (shoal_rate){one_more->per_day, one_more->eps_micro};
    return shoal_rates_cost(rates, n);
}

// Makes, or takes again, the reservation of a member.
static void write_reservation(book *b, const shoal_set_member *member, uint64_t eps_micro,
                              uint32_t day)
{
    uint8_t *row = book_reserved(b, member->hash);
    if (row == NULL) row = book_add_reservation(b, member);
    store32_le(row + RESERVED_DAY, day);
    store32_le(row + RESERVED_PER_DAY, member->per_day);
    store64_le(row + RESERVED_EPS, eps_micro);
}

// Reserves one member if the caps in force leave room for it.
//   day: the day that the reservation is for; the costs count on the newest day
static void reserve_member(book *b, const shoal_set_member *member, uint32_t day)
{
    const uint8_t *row = book_reserved(b, member->hash);
    if (member->per_day > 0) {
        if (row != NULL && load32_le(row + RESERVED_DAY) == day) return;
        uint64_t cost =
            reserved_cost(b, member->key, day, member) - reserved_cost(b, member->key, day, NULL);
        if (!book_fits(b, b->newest, cost, NULL)) return;
        write_reservation(b, member, member->eps_micro, day);
        book_add_cost(b, b->newest, cost);
        return;
    }
    uint64_t whole = member->eps_micro;
    if (row != NULL && load64_le(row + RESERVED_EPS) > whole) whole = load64_le(row + RESERVED_EPS);
    if (book_fits(b, b->newest, whole, row)) write_reservation(b, member, whole, b->newest);
}

static void drop_ended_caps(book *b)
{
    for (uint32_t i = b->n[BOOK_CAPS]; i-- > 0;)
        if (!is_in_force(book_row(b, BOOK_CAPS, i), b->newest)) book_remove(b, BOOK_CAPS, i);
}

// Drops the recipes' reservations of other days. Their costs are kept.
static void drop_other_days(book *b, uint32_t day)
{
    for (uint32_t i = b->n[BOOK_RESERVED]; i-- > 0;) {
        const uint8_t *row = book_row(b, BOOK_RESERVED, i);
        if (load32_le(row + RESERVED_PER_DAY) > 0 && load32_le(row + RESERVED_DAY) != day)
            book_remove(b, BOOK_RESERVED, i);
    }
}

shoal_err shoal_ledger_reserve(uint8_t *ledger, size_t *len, size_t cap,
                               const shoal_recipe_set *set, uint32_t day)
{
    book b;
    shoal_err err = book_open(&b, ledger, *len);
    if (err != SHOAL_OK) return err;
    if ((uint64_t)day + SHOAL_LEDGER_DAYS < b.newest) return SHOAL_ERR_LEDGER;
    uint32_t more[BOOK_TABLES] = {[BOOK_COSTS] = 1};
    for (uint32_t i = 0; i < set->n_members; i++)
        more[BOOK_RESERVED] += book_reserved(&b, set->members[i].hash) == NULL;
    more[BOOK_CAPS] = set->days > 0 && b.n[BOOK_CAPS] < SHOAL_LEDGER_CAPS_MAX;
    if (!book_has_room(&b, cap, day, more)) return SHOAL_ERR_SPACE;
    book_upgrade(&b);
    book_forward(&b, day);
    drop_ended_caps(&b);
    if (set->days > 0) note_cap(&b, set, b.newest);
    if (b.n[BOOK_CAPS] > 0) day = b.newest;
    drop_other_days(&b, day);
    for (uint32_t i = 0; i < set->n_members; i++) {
        const shoal_set_member *member = &set->members[i];
        if (member->last_day >= day && !(member->waits && day <= b.created))
            reserve_member(&b, member, day);
    }
    *len = book_seal(&b);
    return SHOAL_OK;
}

// ---- erasing ----

shoal_err shoal_ledger_erase(uint8_t *ledger, size_t *len, size_t cap, uint32_t day)
{
    book b;
    uint64_t count = 0, eps = 0, cost = 0;
    shoal_err err = book_open(&b, ledger, *len);
    if (err != SHOAL_OK) return err;
    // The one account and the one cost take the place of others.
    const uint32_t rows[BOOK_TABLES] = {
        [BOOK_ACCOUNTS] = b.n[BOOK_ACCOUNTS] == 0 && b.n[BOOK_ENTRIES] == 0,
        [BOOK_COSTS] = b.n[BOOK_COSTS] == 0 && b.n[BOOK_ENTRIES] == 0,
    };
    if (!book_has_room(&b, cap, day, rows)) return SHOAL_ERR_SPACE;
    book_upgrade(&b);
    book_forward(&b, day);
    for (uint32_t i = 0; i < b.n[BOOK_ACCOUNTS]; i++) {
        const uint8_t *account = book_row(&b, BOOK_ACCOUNTS, i);
        count = sum_of(count, load32_le(account + ACCOUNT_COUNT));
        eps = sum_of(eps, load64_le(account + ACCOUNT_EPS));
    }
    cost = used(&b, SHOAL_LEDGER_DAYS + 1, b.newest, NULL);
    drop_ended_caps(&b);
    for (uint32_t t = 0; t < BOOK_CAPS; t++)
        while (b.n[t] > 0) book_remove(&b, t, b.n[t] - 1);
    uint8_t *account = book_append(&b, BOOK_ACCOUNTS); // its key is zeros
    account[ACCOUNT_KIND] = SHOAL_ACCOUNT_ERASED;
    store32_le(account + ACCOUNT_FIRST, b.newest);
    store32_le(account + ACCOUNT_LAST, b.newest);
    add32(account + ACCOUNT_COUNT, count);
    add64(account + ACCOUNT_EPS, eps);
    book_add_cost(&b, b.newest, cost);
    for (uint32_t i = 0; i < b.n[BOOK_CAPS]; i++) { // no day but that of erasure stays
        uint8_t *each = book_row(&b, BOOK_CAPS, i);
        uint32_t last = load32_le(each + CAP_DAYS) - 1;
        store32_le(each + CAP_UNTIL, b.newest > UINT32_MAX - last ? UINT32_MAX : b.newest + last);
    }
    b.created = b.newest;
    *len = book_seal(&b);
    return SHOAL_OK;
}
