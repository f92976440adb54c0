// SPDX-License-Identifier: Apache-2.0
// Makes RAPPOR records; see rappor.h, which also defines p, q, f, p* and q*.
#include "rappor.h"

#include <stdbool.h>

#include "cms.h"
#include "poly1.h"
#include "probability.h"
#include "row_record.h"
#include "wide.h"

#define MILLION 1000000u

// Returns the threshold of a probability in millionths: micro 2^64 / 10^6, rounded up if is_up is
// set and down otherwise. A probability of 1 becomes 2^64 - 1.
static uint64_t threshold_of(uint32_t micro, bool is_up)
{
    if (micro >= MILLION) return UINT64_MAX;
    uint64_t high = ((uint64_t)micro << 32) / MILLION, rest = ((uint64_t)micro << 32) % MILLION;
    uint64_t low = (rest << 32) / MILLION;
    return (high << 32 | low) + (is_up && (rest << 32) % MILLION != 0);
}

// Returns the threshold of f/2, rounded up to 32 bits: ceil(f/2 * 2^32) * 2^32. Its low 32 bits are
// zero, so steady_coins draws at most 32 words for 64 coins.
static uint64_t flip_threshold(uint32_t f_micro)
{
    return (((uint64_t)f_micro << 32) + 2 * MILLION - 1) / (2 * MILLION) << 32;
}

// Returns floor(x / 4).
static wide quarter(wide x)
{
    return (wide){.low = x.low >> 2 | x.high << 62, .high = x.high >> 2};
}

// Returns x + y mod 2^128.
static wide sum(wide x, wide y)
{
    wide z = {.high = x.high + y.high};
    z.low = wide_add(x.low, y.low, &z.high);
    return z;
}

static bool is_below(wide x, wide y)
{
    return x.high < y.high || (x.high == y.high && x.low < y.low);
}

// Returns floor(2^64 a / b) for a < b < 2^127, by long division in base 2.
static uint64_t divide(wide a, wide b)
{
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        uint64_t borrow = 0;
        a = sum(a, a);
        quotient <<= 1;
        if (is_below(a, b)) continue;
        quotient |= 1;
        a.low = wide_sub(a.low, b.low, &borrow);
        a.high -= b.high + borrow;
    }
    return quotient;
}

void shoal_rappor_effective(uint64_t *p_star, uint64_t *q_star, const shoal_part *part)
{
    uint64_t p = part->pqf_threshold[SHOAL_RAPPOR_P], q = part->pqf_threshold[SHOAL_RAPPOR_Q];
    uint64_t move = wide_mul(part->pqf_threshold[SHOAL_RAPPOR_F], q - p).high;
    *p_star = p + move;
    *q_star = q - move;
}

// Two items differ in pairs of bits, one set by each item. Returns the threshold of the single coin
// whose odds are the likelihood ratio of such a pair, q* (1 - p*) / (p* (1 - q*)). It is
//
//     T = 2^64 lie / (lie + truth),   lie = p* (1 - q*),   truth = q* (1 - p*)
//
// Both products drop their last two bits so that their sum fits in 127 bits. `lie` and T are
// rounded down and `truth` up, so the epsilon computed from T is an upper bound.
static uint64_t pair_threshold(const shoal_part *part)
{
    const wide one = {.low = 1};
    uint64_t p_star, q_star;
    shoal_rappor_effective(&p_star, &q_star, part);
    wide lie = quarter(wide_mul(p_star, 0 - q_star));
    wide truth = sum(quarter(wide_mul(q_star, 0 - p_star)), one);
    return divide(lie, sum(lie, truth));
}

// Computes hashes * ln(odds), rounded up, where the coin with this threshold has these odds. If
// `hashes` is even, it rounds 2 ln(odds) and multiplies that by hashes / 2, so that each two hashes
// share one rounding error.
static shoal_err times_hashes(uint32_t *eps_micro, uint64_t threshold, uint32_t hashes)
{
    uint32_t halves = hashes % 2 == 0 ? 2 : 1, one = 0;
    shoal_err err = shoal_threshold_epsilon(&one, threshold, halves);
    if (err == SHOAL_OK) *eps_micro = hashes / halves * one;
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return times_hashes(eps_micro, pair_threshold(part), part->hashes);
}

shoal_err shoal_rappor_unlimited(uint32_t *eps_micro, const shoal_part *part)
{
    return times_hashes(eps_micro, part->pqf_threshold[SHOAL_RAPPOR_F], 2 * part->hashes);
}

// Checks that the stated epsilon is at least the one really drawn from the thresholds. If none is
// stated, takes the drawn one.
static shoal_err prepare_epsilon(shoal_part *part)
{
    uint32_t drawn = 0;
    shoal_err err = epsilon(&drawn, part);
    if (err != SHOAL_OK || drawn > SHOAL_EPS_MICRO_MAX) return SHOAL_ERR_RANGE;
    if (part->eps_micro == 0) part->eps_micro = drawn;
    return drawn <= part->eps_micro ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static shoal_err prepare_sizes(shoal_part *part, const char **field)
{
    if (part->domain == SHOAL_DOMAIN_CLOSED) {
        part->k = part->hashes = 1;
        part->m = part->size;
    }
    *field = part->domain == SHOAL_DOMAIN_CLOSED ? "size" : "bits";
    if (part->m < 2 || part->m > SHOAL_RAPPOR_BITS_MAX) return SHOAL_ERR_RANGE;
    *field = "hashes";
    if (part->hashes < 1 || part->hashes > SHOAL_RAPPOR_HASHES_MAX) return SHOAL_ERR_RANGE;
    *field = "cohorts";
    if (part->k < 1 || part->k > SHOAL_RAPPOR_COHORTS_MAX) return SHOAL_ERR_RANGE;
    if ((uint64_t)part->k * part->m > SHOAL_SKETCH_CELLS_MAX) return SHOAL_ERR_RANGE;
    row_record_sizes(part);
    return SHOAL_OK;
}

static shoal_err prepare(shoal_part *part, const char **field)
{
    shoal_err err = prepare_sizes(part, field);
    if (err != SHOAL_OK) return err;
    *field = "q";
    if (part->pqf_micro[SHOAL_RAPPOR_P] >= part->pqf_micro[SHOAL_RAPPOR_Q]) return SHOAL_ERR_RANGE;
    if (part->pqf_micro[SHOAL_RAPPOR_Q] > MILLION) return SHOAL_ERR_RANGE;
    *field = "f";
    if (part->pqf_micro[SHOAL_RAPPOR_F] >= MILLION) return SHOAL_ERR_RANGE;
    part->pqf_threshold[SHOAL_RAPPOR_P] = threshold_of(part->pqf_micro[SHOAL_RAPPOR_P], true);
    part->pqf_threshold[SHOAL_RAPPOR_Q] = threshold_of(part->pqf_micro[SHOAL_RAPPOR_Q], false);
    part->pqf_threshold[SHOAL_RAPPOR_F] = flip_threshold(part->pqf_micro[SHOAL_RAPPOR_F]);
    part->threshold = part->pqf_threshold[SHOAL_RAPPOR_F];
    *field = part->eps_micro == 0 ? "p" : "epsilon";
    return prepare_epsilon(part);
}

// Makes the key from which permanent coins are derived. It holds every parameter of the permanent
// answer: the seed, the numbers of bits, hashes and cohorts, and the flip probability f/2. If one
// were missing, recipes that differ in it would share coins and reveal each other's noise.
//   label: names the draw, for the cohort or for the bits' coins
static shoal_permanent_key permanent_key(const shoal_part *part, const char *label)
{
    // The threshold is a multiple of 2^32, so the shift loses nothing.
    uint32_t flip = (uint32_t)(part->pqf_threshold[SHOAL_RAPPOR_F] >> 32);
    return (shoal_permanent_key){part->seed, {part->m, part->hashes, part->k, flip}, label};
}

// Scales 48 bits of a draw to [0, k). Cohorts are slightly uneven, which reveals nothing about the
// item. Exactly even cohorts would need rejection sampling, which branches on the secret.
uint32_t shoal_rappor_cohort(const shoal_part *part, const shoal_permanent *permanent)
{
    shoal_rng rng;
    shoal_permanent_key key = permanent_key(part, "rappor group");
    shoal_permanent_rng(&rng, permanent, &key, 0);
    uint32_t cohort = (uint32_t)((shoal_rng_u64(&rng) >> 16) * part->k >> 48);
    shoal_rng_wipe(&rng);
    return cohort;
}

// Draws 64 permanent coins, each 1 with probability threshold/2^64. All 64 lanes compare a random
// number with the threshold, from the highest bit down to the threshold's last 1 bit. The draws
// come from the secret, so their number may depend on the threshold only: no lane ends the loop
// early.
//   less: lanes whose number is already below the threshold
//   open: lanes whose number equals the threshold so far
static uint64_t steady_coins(shoal_rng *rng, uint64_t threshold)
{
    uint64_t less = 0, open = UINT64_MAX;
    for (; threshold != 0; threshold <<= 1) {
        uint64_t random = shoal_rng_u64(rng), bit = 0 - (threshold >> 63);
        less |= open & bit & ~random;
        open &= ~(random ^ bit);
    }
    return less;
}

// Returns all ones if x is zero, else zero, without a branch.
static inline uint64_t mask_if_zero(uint64_t x)
{
    return ((x | (0 - x)) >> 63) - 1;
}

// Writes the positions of the bits that the item sets: one in a closed list, one for each hash of a
// string. A position at or beyond m sets no bit of the record.
static void set_columns(uint64_t columns[SHOAL_RAPPOR_HASHES_MAX], const shoal_part *part,
                        uint64_t item, uint32_t cohort)
{
    shoal_poly1 row;
    columns[0] = item; // right for a closed list, where SHOAL_ITEM_NONE is beyond m
    if (part->domain == SHOAL_DOMAIN_CLOSED) return;
    for (uint32_t i = 0; i < part->hashes; i++) {
        shoal_poly1_row(&row, part->seed, shoal_rappor_row(part, cohort, i));
        columns[i] = shoal_poly1_hash(&row, shoal_poly1_point(item), part->m);
    }
}

void shoal_rappor_answer(uint8_t *record, const shoal_part *part, uint64_t item, uint32_t cohort,
                         shoal_rng *coins, shoal_rng *rng)
{
    uint64_t columns[SHOAL_RAPPOR_HASHES_MAX];
    uint32_t bytes = bits_size(part->m);
    set_columns(columns, part, item, cohort);
    store32_le(record, cohort);
    for (uint32_t start = 0; start < part->m; start += 64) {
        uint64_t p, q, word = 0;
        uint32_t left = part->m - start;
        // The 64 bits from `start` on: the item's true bits, then the permanent answer, then the
        // instantaneous one.
        for (uint32_t i = 0; i < part->hashes; i++)
            word |=
                ((uint64_t)1 << (columns[i] & 63)) & mask_if_zero((columns[i] >> 6) ^ (start >> 6));
        word ^= steady_coins(coins, part->pqf_threshold[SHOAL_RAPPOR_F]);
        shoal_rng_bernoulli_words(rng, &p, 1, part->pqf_threshold[SHOAL_RAPPOR_P]);
        shoal_rng_bernoulli_words(rng, &q, 1, part->pqf_threshold[SHOAL_RAPPOR_Q]);
        word = (p & ~word) | (q & word);
        if (left < 64) word &= ((uint64_t)1 << left) - 1;
        for (uint32_t i = start / 8; i < bytes && i < start / 8 + 8; i++, word >>= 8)
            record[4 + i] = (uint8_t)word;
    }
    wipe(columns, sizeof columns);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    shoal_rng coins;
    shoal_permanent_key key = permanent_key(part, "rappor coins");
    uint32_t cohort = part->first_row + shoal_rappor_cohort(part, permanent);
    shoal_permanent_rng(&coins, permanent, &key, item);
    shoal_rappor_answer(record, part, item, cohort, &coins, rng);
    shoal_rng_wipe(&coins);
}

const shoal_mechanism shoal_rappor_mechanism = {
    .id = shoal_rappor_id,
    .name = "rappor",
    .open = {.needs = SHOAL_TAKES_BITS | SHOAL_TAKES_HASHES | SHOAL_TAKES_COHORTS |
                      SHOAL_TAKES_PQF | SHOAL_TAKES_SEED | SHOAL_TAKES_POLY1,
             .may = SHOAL_TAKES_EPSILON},
    .closed = {.needs = SHOAL_TAKES_LIST | SHOAL_TAKES_PQF | SHOAL_TAKES_SEED,
               .may = SHOAL_TAKES_EPSILON},
    .is_permanent = true,
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(row_record_check),
    .print = row_record_print,
    .parse = SHOAL_READS(row_record_parse),
    .epsilon = epsilon,
    .unlimited = shoal_rappor_unlimited,
};
