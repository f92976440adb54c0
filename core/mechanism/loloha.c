// SPDX-License-Identifier: Apache-2.0
// Makes records of longitudinal local hashing; see loloha.h.
#include "loloha.h"

#include "bytes.h"
#include "cell_record.h"
#include "mask.h"
#include "probability.h"
#include "wide.h"

// Returns: log2 of g, the bits of an answer.
static uint32_t bits_of(uint32_t g)
{
    uint32_t bits = 0;
    while (g >> (bits + 1) != 0) bits++;
    return bits;
}

uint32_t shoal_loloha_values(const shoal_part *part)
{
    uint32_t values = part->m;
    while (values <= part->size) values *= part->m;
    return values;
}

// Returns: the product in the field of g elements, for g up to 16. Its polynomial is X^bits + X + 1
// for each of these g.
static uint32_t multiply(uint32_t g, uint32_t x, uint32_t y)
{
    uint32_t product = 0;
    for (uint32_t i = bits_of(g); i-- > 0;) {
        product <<= 1;
        product ^= (0 - (product >> bits_of(g) & 1)) & (g | 3);
        product ^= (0 - (y >> i & 1)) & x;
    }
    return product & (g - 1);
}

// Returns: the parity of x, which has at most 8 bits.
static uint32_t parity(uint32_t x)
{
    x ^= x >> 4;
    x ^= x >> 2;
    return (x ^ x >> 1) & 1;
}

// The points are, for one digit, (1); for g = 2, the binary digits of 1 .. N - 1; for two digits,
// (1, j) for j < g and (0, 1).
uint32_t shoal_loloha_answer(const shoal_part *part, uint32_t j, uint32_t x)
{
    uint32_t g = part->m, low = x & (g - 1), high = x >> bits_of(g);
    if (part->k == 1) return x;
    if (g == 2) return parity((j + 1) & x);
    return mask_choose(mask_if_less(j, g), low ^ multiply(g, high, j & (g - 1)), high);
}

static shoal_permanent_key permanent_key(const shoal_part *part, const char *label)
{
    uint64_t f = part->pqf_threshold[SHOAL_LOLOHA_PERMANENT];
    return (shoal_permanent_key){
        part->seed, {part->size, part->m, (uint32_t)f, (uint32_t)(f >> 32)}, label};
}

uint32_t shoal_loloha_row(const shoal_part *part, const shoal_permanent *permanent)
{
    shoal_rng rng;
    shoal_permanent_key key = permanent_key(part, "loloha group");
    shoal_permanent_rng(&rng, permanent, &key, 0);
    uint32_t row = (uint32_t)((shoal_rng_u64(&rng) >> 16) * part->k >> 48);
    shoal_rng_wipe(&rng);
    return row;
}

uint32_t shoal_loloha_noisy(const shoal_part *part, uint64_t f, uint32_t truth, shoal_rng *rng)
{
    uint32_t is_noise = 0 - shoal_rng_bernoulli(rng, f);
    uint32_t noise = (uint32_t)shoal_rng_u64(rng) & (part->m - 1);
    return mask_choose(is_noise, noise, truth);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    shoal_rng coins;
    shoal_permanent_key key = permanent_key(part, "loloha coins");
    uint32_t j = shoal_loloha_row(part, permanent);
    uint32_t y = shoal_loloha_answer(part, j, mask_listed_or_size(part, item));
    shoal_permanent_rng(&coins, permanent, &key, y);
    y = shoal_loloha_noisy(part, part->pqf_threshold[SHOAL_LOLOHA_PERMANENT], y, &coins);
    y = shoal_loloha_noisy(part, part->threshold, y, rng);
    store32_le(record, (part->first_row + j) * part->m + y);
    shoal_rng_wipe(&coins);
    wipe(&y, sizeof y);
}

// Returns: floor(F (g - 1) / g), at most the probability of all lies together.
static uint64_t lies_of(uint64_t f, uint32_t g)
{
    return f - (f >> bits_of(g)) - ((f & (g - 1)) != 0);
}

// Writes the threshold F of a step with this epsilon.
static shoal_err threshold_of(uint64_t *f, uint32_t eps_micro, uint32_t g)
{
    uint64_t t = 0;
    shoal_err err = shoal_threshold_odds(&t, eps_micro, 1, g - 1);
    if (err != SHOAL_OK) return err;
    // F = t + ceil(t / (g - 1)) is below 2^64, since epsilon is at least 0.01 and g at most 16.
    *f = t + t / (g - 1) + (t % (g - 1) != 0);
    return SHOAL_OK;
}

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "g";
    if (part->m < 2 || part->m > SHOAL_LOLOHA_G_MAX || (part->m & (part->m - 1)) != 0)
        return SHOAL_ERR_RANGE;
    *field = "size";
    if (part->size < 2 || part->size > 255) return SHOAL_ERR_RANGE;
    part->k = (shoal_loloha_values(part) - 1) / (part->m - 1);
    if (part->k > SHOAL_LOLOHA_ROWS_MAX) return SHOAL_ERR_RANGE;
    cell_record_sizes(part);
    *field = "epsilon_permanent";
    shoal_err err = threshold_of(&part->pqf_threshold[SHOAL_LOLOHA_PERMANENT],
                                 part->eps_permanent_micro, part->m);
    if (err != SHOAL_OK) return err;
    *field = "epsilon";
    return threshold_of(&part->threshold, part->eps_micro, part->m);
}

static shoal_err epsilon_of(uint32_t *eps_micro, uint64_t f, uint32_t g)
{
    return shoal_threshold_odds_epsilon(eps_micro, lies_of(f, g), 1, g - 1);
}

// F of both steps together is 1 - (1 - F1)(1 - F2), rounded down, so that epsilon is rounded up.
static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    wide truth = wide_mul(0 - part->pqf_threshold[SHOAL_LOLOHA_PERMANENT], 0 - part->threshold);
    return epsilon_of(eps_micro, 0 - (truth.high + (truth.low != 0)), part->m);
}

shoal_err shoal_loloha_unlimited(uint32_t *eps_micro, const shoal_part *part)
{
    return epsilon_of(eps_micro, part->pqf_threshold[SHOAL_LOLOHA_PERMANENT], part->m);
}

const shoal_mechanism shoal_loloha_mechanism = {
    .id = shoal_loloha_id,
    .name = "loloha",
    .closed = {.needs = SHOAL_TAKES_EPSILON | SHOAL_TAKES_PERMANENT | SHOAL_TAKES_G |
                        SHOAL_TAKES_LIST | SHOAL_TAKES_SEED},
    .is_permanent = true,
    .prepare = prepare,
    .randomize = randomize,
    .check = SHOAL_READS(cell_record_check),
    .print = cell_record_print,
    .parse = SHOAL_READS(cell_record_parse),
    .epsilon = epsilon,
    .unlimited = shoal_loloha_unlimited,
};
