// SPDX-License-Identifier: Apache-2.0
// The account of longitudinal local hashing; its variance is that of estimate/loloha_estimate.c.
#include "account.h"
#include "bytes.h"
#include "index_law.h"
#include "loloha_law.h"
#include "probability.h"

// Sets the permanent answer's epsilon so that any number of reports of one value cost twice what
// one report may.
static void set_permanent(shoal_part *part)
{
    uint32_t twice = 2 * part->eps_micro;
    part->eps_permanent_micro = twice < SHOAL_EPS_MICRO_MAX ? twice : SHOAL_EPS_MICRO_MAX;
}

// Proposes every g; the caller drops one whose rows do not hold the list.
static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    uint32_t g = 2u << index;
    if (wish->is_number || wish->size == 0 || wish->size > 255 || g > SHOAL_LOLOHA_G_MAX)
        return false;
    *part = (shoal_part){.mechanism = shoal_loloha_id,
                         .domain = SHOAL_DOMAIN_CLOSED,
                         .eps_micro = wish->eps_micro,
                         .m = g,
                         .size = wish->size};
    set_permanent(part);
    return true;
}

// The variance of one report a device.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    agg_loloha_law law = agg_loloha_law_of(part);
    (void)squares;
    return index_variance(n, f, law.truth, law.other);
}

// Returns: the hashed answer of an item in the record's row.
static uint32_t hash_of(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    return shoal_loloha_answer(part, load32_le(record) / part->m,
                               item < part->size ? (uint32_t)item : part->size);
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    uint32_t y = load32_le(record) % part->m;
    return y == hash_of(part, record, a) && y != hash_of(part, record, b);
}

static uint64_t n_outputs(const shoal_part *part)
{
    return part->k * part->m;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    (void)part;
    store32_le(record, (uint32_t)index);
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    agg_loloha_law law = agg_loloha_law_of(part);
    bool is_truth = load32_le(record) % part->m == hash_of(part, record, item);
    return (is_truth ? law.truth : law.lie) / part->k;
}

// The least g whose rows hold the list: a table of g answers costs g epsilon_permanent.
static void draft(shoal_part *part, double epsilon, double n)
{
    const char *field = NULL;
    shoal_part own = *part;
    (void)epsilon;
    (void)n;
    part->k = 1;
    if (part->m != 0) return;
    own.eps_micro = own.eps_permanent_micro = SHOAL_EPS_MICRO_MAX;
    for (own.m = 2; own.m < SHOAL_LOLOHA_G_MAX; own.m *= 2)
        if (own.size > 0 && shoal_part_prepare(&own, &field) == SHOAL_OK) break;
    part->m = own.m;
}

// Fresh coins that never fall show the permanent answer.
static shoal_err reveal(shoal_part *part)
{
    part->threshold = 0;
    return SHOAL_OK;
}

// The table has g permanent answers, and each is about one hashed answer.
static shoal_err changing(uint64_t *eps_micro, const shoal_part *part)
{
    uint32_t one = 0;
    shoal_err err = shoal_loloha_unlimited(&one, part);
    if (err == SHOAL_OK) *eps_micro = (uint64_t)one * part->m;
    return err;
}

const agg_account agg_loloha_account = {
    .id = shoal_loloha_id,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    // No pair law: reports of a device share permanent answers, so that no crowd amplifies them.
    .columns = "answers",
    .draft = draft,
    .reveal = reveal,
    .changing = changing,
};
