// SPDX-License-Identifier: Apache-2.0
// Makes subset selection records; see subset.h.
#include "subset.h"

#include "bytes.h"
#include "field_text.h"
#include "mask.h"
#include "probability.h"

static shoal_err choose_d(uint32_t *d, uint32_t eps_micro, uint32_t s)
{
    uint32_t low = 1, high = (s + 1) / 2; // no epsilon needs more than half of the indices
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        uint64_t lie;
        shoal_err err = shoal_threshold_odds(&lie, eps_micro, middle, s - middle);
        if (err != SHOAL_OK) return err;
        if (lie <= (uint64_t)1 << 63)
            high = middle;
        else
            low = middle + 1;
    }
    *d = low;
    return SHOAL_OK;
}

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "size";
    if (part->size < 2 || part->size > SHOAL_SUBSET_SIZE_MAX) return SHOAL_ERR_RANGE;
    part->m = part->size + 1;
    *field = "epsilon";
    shoal_err err = choose_d(&part->k, part->eps_micro, part->m);
    if (err != SHOAL_OK) return err;
    *field = "size";
    if (part->k > SHOAL_SUBSET_D_MAX) return SHOAL_ERR_RANGE;
    part->record_size = 4 * part->k;
    part->text_size = part->k * (shoal_decimal_width(part->m) + 1) - 1;
    *field = "epsilon";
    return shoal_threshold_odds(&part->threshold, part->eps_micro, part->k, part->m - part->k);
}

// Returns the position of the first of `have` ascending indices that is not below `index`.
static uint32_t find(const uint8_t *set, uint32_t have, uint32_t index)
{
    uint32_t low = 0;
    while (low < have) {
        uint32_t middle = (low + have) / 2;
        if (load32_le(set + 4 * middle) < index)
            low = middle + 1;
        else
            have = middle;
    }
    return low;
}

// Writes d of the indices below n in ascending order; every set is equally likely (Floyd: Bentley
// 1987, "A sample of brilliance").
static void sample(uint8_t *set, uint32_t d, uint32_t n, shoal_rng *rng)
{
    for (uint32_t have = 0; have < d; have++) {
        uint32_t last = n - d + have; // above every index so far
        uint32_t index = (uint32_t)shoal_rng_below(rng, last + 1);
        uint32_t at = find(set, have, index);
        if (at < have && load32_le(set + 4 * at) == index) {
            index = last;
            at = have;
        }
        memmove(set + 4 * (at + 1), set + 4 * at, 4 * (have - at));
        store32_le(set + 4 * at, index);
    }
}

// Inserts the own index. On entry `set` holds d of the other indices in ascending order, numbered
// as if `own` did not exist. The function renumbers them to true indices. If the mask is_in is all
// ones, `own` replaces the position-th of them and the set stays ascending.
static void put_own(uint8_t *set, uint32_t d, uint32_t own, uint32_t position, uint32_t is_in)
{
    // `before` is the last index kept so far; `all_below` tells whether all of them are below own.
    uint32_t before = 0, all_below = UINT32_MAX;
    for (uint32_t i = 0; i < d; i++) {
        uint32_t here = load32_le(set + 4 * i);
        uint32_t next = i < position || i + 1 == d ? here : load32_le(set + 4 * (i + 1));
        here += 1 & ~mask_if_less(here, own);
        next += 1 & ~mask_if_less(next, own);
        uint32_t is_below =
            i + 1 < d ? mask_if_less(next, own) : 0; // the last place has no next index
        uint32_t merged = mask_choose(is_below, next, mask_choose(all_below, own, before));
        store32_le(set + 4 * i, mask_choose(is_in, merged, here));
        before = next;
        all_below &= is_below;
    }
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    (void)permanent;
    uint32_t own = mask_listed_or_size(part, item);
    uint32_t is_in = shoal_rng_bernoulli(rng, part->threshold) - 1;
    sample(record, part->k, part->m - 1, rng);
    put_own(record, part->k, own, (uint32_t)shoal_rng_below(rng, part->k), is_in);
    wipe(&own, sizeof own);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    uint32_t least = 0;
    for (uint32_t i = 0; i < part->k; i++) {
        uint32_t index = load32_le(record + 4 * i);
        if (index < least || index >= part->m) return SHOAL_ERR_RECORD;
        least = index + 1;
    }
    return SHOAL_OK;
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    for (uint32_t i = 0; i < part->k; i++) {
        if (i > 0) *text++ = ',';
        text = shoal_print_decimal(text, load32_le(record + 4 * i), shoal_decimal_width(part->m));
    }
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    shoal_err err = SHOAL_OK;
    for (uint32_t i = 0; i < part->k && err == SHOAL_OK; i++) {
        uint32_t index = 0;
        if (i > 0) err = shoal_parse_char(',', &at);
        if (err == SHOAL_OK)
            err = shoal_parse_decimal(&index, &at, shoal_decimal_width(part->m), part->m);
        store32_le(record + 4 * i, index);
    }
    *position = (size_t)(at - text);
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_odds_epsilon(eps_micro, part->threshold, part->k, part->m - part->k);
}

const shoal_mechanism shoal_subset_mechanism = {
    .id = shoal_subset_id,
    .name = "subset",
    .closed = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST},
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(check),
    .print = print,
    .parse = SHOAL_READS(parse),
    .epsilon = epsilon,
};
