// SPDX-License-Identifier: Apache-2.0
// RAPPOR: the whole output law over permanent and instantaneous coins, for one report and for any
// number; the epsilon that is claimed against what the laws show; what is permanent and what is
// fresh.
#include "rappor.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "poly1.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

static shoal_part bloom_part(uint32_t bits, uint32_t hashes, uint32_t cohorts, uint32_t p,
                             uint32_t q, uint32_t f)
{
    shoal_part part = {.mechanism = shoal_rappor_id,
                       .domain = SHOAL_DOMAIN_OPEN,
                       .hash = SHOAL_HASH_POLY1,
                       .k = cohorts,
                       .m = bits,
                       .hashes = hashes,
                       .pqf_micro = {p, q, f},
                       .seed = {3}};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

static shoal_part list_part(uint32_t size, uint32_t p, uint32_t q, uint32_t f)
{
    shoal_part part = {.mechanism = shoal_rappor_id,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .k = 1,
                       .size = size,
                       .pqf_micro = {p, q, f},
                       .seed = {3}};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    CHECK(part.m == size && part.k == 1 && part.hashes == 1);
    return part;
}

// The record that comes out when the coins of each bit fall as said: a lane whose draws are all
// zeros is below any threshold but 0, one whose draws are all ones below none.
static uint32_t forced_output(const shoal_part *part, uint64_t item, uint32_t cohort,
                              uint64_t flips, uint64_t p, uint64_t q)
{
    uint8_t record[8] = {0};
    shoal_rng coins, rng;
    script(&coins, 0, ~flips);
    script(&rng, 0, ~q);
    for (uint32_t i = 0; i < SHOAL_RNG_FIXED_ROUNDS; i++)
        script_word(&rng, i, ~p); // p's coin draws first
    shoal_rappor_answer(record, part, item, cohort, &coins, &rng);
    CHECK(shoal_rappor_mechanism.check(part, record) == SHOAL_OK && record[0] == cohort);
    return record[4];
}

// Coins of eighths: weights are whole numbers, out of 8 to the power of three times the bits.
typedef struct eighths {
    uint64_t p, q, f; // f: of the flip, f/2
} eighths;

static void set_eighths(shoal_part *part, const eighths *e)
{
    part->pqf_threshold[SHOAL_RAPPOR_P] = e->p << 61;
    part->pqf_threshold[SHOAL_RAPPOR_Q] = e->q << 61;
    part->pqf_threshold[SHOAL_RAPPOR_F] = e->f << 61;
}

static uint64_t weight_of(uint64_t coins, uint64_t t, uint32_t m)
{
    uint32_t n = count_bits(coins);
    return power(t, n) * power(8 - t, m - n);
}

static void enumerate(law *a, const shoal_part *part, const eighths *e, uint64_t item,
                      uint32_t cohort)
{
    uint64_t all = (uint64_t)1 << part->m;
    memset(a, 0, sizeof *a);
    for (uint64_t flips = 0; flips < all; flips++)
        for (uint64_t p = 0; p < all; p++)
            for (uint64_t q = 0; q < all; q++)
                a->weight[forced_output(part, item, cohort, flips, p, q)] +=
                    weight_of(flips, e->f, part->m) * weight_of(p, e->p, part->m) *
                    weight_of(q, e->q, part->m);
}

// The permanent answer alone: instantaneous coins that show it as it is.
static void enumerate_permanent(law *a, const shoal_part *part, const eighths *e, uint64_t item,
                                uint32_t cohort)
{
    shoal_part shown = *part;
    shown.pqf_threshold[SHOAL_RAPPOR_P] = 0;
    shown.pqf_threshold[SHOAL_RAPPOR_Q] = UINT64_MAX;
    memset(a, 0, sizeof *a);
    for (uint64_t flips = 0; flips < (uint64_t)1 << part->m; flips++)
        a->weight[forced_output(&shown, item, cohort, flips, 0, UINT64_MAX)] +=
            weight_of(flips, e->f, part->m);
}

// The largest ln of a ratio between two laws.
static double largest_loss(const law *laws, uint32_t n_laws, uint32_t outputs)
{
    double largest = 0;
    for (uint32_t x = 0; x < n_laws; x++)
        for (uint32_t y = 0; y < n_laws; y++)
            for (uint32_t o = 0; o < outputs; o++)
                largest = fmax(largest, log((double)laws[x].weight[o] / (double)laws[y].weight[o]));
    return largest;
}

// q* (1 - p*) / (p* (1 - q*)) in 64ths, to the power of `hashes`, bounds every ratio and is
// reached.
static void check_one_report(const law *laws, uint32_t n_laws, const shoal_part *part,
                             const eighths *e)
{
    uint64_t p = (8 - e->f) * e->p + e->f * e->q, q = (8 - e->f) * e->q + e->f * e->p;
    uint64_t high = power(q * (64 - p), part->hashes), low = power(p * (64 - q), part->hashes);
    int is_within = 1, is_reached = 0;
    for (uint32_t x = 0; x < n_laws; x++)
        for (uint32_t y = 0; y < n_laws; y++)
            for (uint32_t o = 0; o < 1u << part->m; o++) {
                is_within &= laws[x].weight[o] * low <= laws[y].weight[o] * high;
                is_reached |= laws[x].weight[o] * low == laws[y].weight[o] * high;
            }
    CHECK(is_within && is_reached);
}

// Items are found so that the laws below hold every filter of `hashes` bits in the cohort, two
// disjoint ones among them.
static uint32_t find_items(uint64_t *items, const shoal_part *part, uint32_t cohort)
{
    uint32_t n = 0, seen[16] = {0};
    for (uint64_t item = 1; item < 2000; item++) {
        uint32_t filter = 0;
        for (uint32_t h = 0; h < part->hashes; h++) {
            shoal_poly1 row;
            shoal_poly1_row(&row, part->seed, shoal_rappor_row(part, cohort, h));
            filter |= 1u << shoal_poly1_hash(&row, shoal_poly1_point(item), part->m);
        }
        if (count_bits(filter) != part->hashes || seen[filter]++ > 0) continue;
        items[n++] = item;
    }
    return n;
}

// The claim of what is drawn is the loss of the enumerated law: not below it (the bug of forgetting
// the hashes would halve it), and above it by rounding only.
static void check_claim(double loss, const shoal_part *part, int is_unlimited)
{
    uint32_t claimed = 0;
    shoal_err err = is_unlimited ? shoal_rappor_unlimited(&claimed, part)
                                 : shoal_rappor_mechanism.epsilon(&claimed, part);
    CHECK(err == SHOAL_OK);
    CHECK(claimed / 1e6 >= loss && claimed / 1e6 <= loss + 3e-6);
}

static void whole_law(uint32_t bits, uint32_t hashes, uint32_t n_filters)
{
    static law laws[16];
    static const eighths coins[] = {{2, 6, 2}, {0, 7, 1}, {1, 2, 3}, {4, 7, 2}, {3, 5, 3}};
    for (uint32_t i = 0; i < sizeof coins / sizeof coins[0]; i++) {
        shoal_part part = bloom_part(bits, hashes, 3, 250000, 750000, 500000);
        uint64_t items[16];
        uint32_t cohort = i % 3, n = find_items(items, &part, cohort);
        CHECK(n == n_filters);
        set_eighths(&part, &coins[i]);
        for (uint32_t x = 0; x < n; x++) {
            enumerate(&laws[x], &part, &coins[i], items[x], cohort);
            CHECK(law_total(&laws[x], 1u << bits) == power(8, 3 * bits));
        }
        check_one_report(laws, n, &part, &coins[i]);
        check_claim(largest_loss(laws, n, 1u << bits), &part, 0);
        for (uint32_t x = 0; x < n; x++)
            enumerate_permanent(&laws[x], &part, &coins[i], items[x], cohort);
        check_claim(largest_loss(laws, n, 1u << bits), &part, 1);
    }
}

// A list's entries, and what is not on it: that costs less than an entry does.
static void law_of_a_list(void)
{
    static law laws[5];
    static const eighths coins[] = {{2, 6, 2}, {1, 5, 3}, {0, 6, 1}};
    for (uint32_t i = 0; i < sizeof coins / sizeof coins[0]; i++) {
        shoal_part part = list_part(4, 250000, 750000, 500000);
        set_eighths(&part, &coins[i]);
        for (uint32_t x = 0; x < 5; x++)
            enumerate(&laws[x], &part, &coins[i], x < 4 ? x : SHOAL_ITEM_NONE, 0);
        check_one_report(laws, 4, &part, &coins[i]);
        check_claim(largest_loss(laws, 4, 16), &part, 0);
        double with_none = fmax(largest_loss(laws + 3, 2, 16), 0),
               claimed = largest_loss(laws, 4, 16);
        CHECK(with_none < claimed - 1e-3);
        CHECK(fabs(largest_loss(laws, 5, 16) - claimed) < 1e-12);
    }
}

#define LIST 4u
#define RECORDS (1u << LIST)

// The law of two reports of one device, of one item or of two: the items' permanent answers are
// independent, and both reports of one item start from the same one.
static void law_of_two(double *law_, const shoal_part *part, const eighths *e, uint64_t first,
                       uint64_t second)
{
    static double reports[2][RECORDS][RECORDS]; // of a permanent answer's flips
    double all = (double)power(8, LIST);
    const uint64_t items[2] = {first, second};
    memset(reports, 0, sizeof reports);
    memset(law_, 0, sizeof(double) * RECORDS * RECORDS);
    for (uint32_t i = 0; i < 2; i++)
        for (uint64_t flips = 0; flips < RECORDS; flips++)
            for (uint64_t p = 0; p < RECORDS; p++)
                for (uint64_t q = 0; q < RECORDS; q++)
                    reports[i][flips][forced_output(part, items[i], 0, flips, p, q)] +=
                        (double)(weight_of(p, e->p, LIST) * weight_of(q, e->q, LIST)) / all / all;
    for (uint64_t f = 0; f < RECORDS; f++)
        for (uint64_t g = 0; g < RECORDS; g++) {
            if (first == second && f != g) continue;
            double w = (double)weight_of(f, e->f, LIST) / all;
            if (first != second) w *= (double)weight_of(g, e->f, LIST) / all;
            for (uint32_t y = 0; y < RECORDS; y++)
                for (uint32_t z = 0; z < RECORDS; z++)
                    law_[y * RECORDS + z] += w * reports[0][f][y] * reports[1][g][z];
        }
}

static double loss_between(const double *a, const double *b)
{
    double largest = 0;
    for (uint32_t o = 0; o < RECORDS * RECORDS; o++)
        largest = fmax(largest, fabs(log(a[o] / b[o])));
    return largest;
}

// Costs add up between two histories whose values change at the same reports. They do not where one
// stays and the other changes: then every bit says whether two reports share a permanent answer.
static void values_that_change(void)
{
    static double stays[RECORDS * RECORDS], stays_too[RECORDS * RECORDS],
        changes[RECORDS * RECORDS], changes_too[RECORDS * RECORDS];
    static const eighths coins[] = {{2, 6, 2}, {1, 5, 3}, {1, 7, 2}};
    for (uint32_t i = 0; i < sizeof coins / sizeof coins[0]; i++) {
        static law laws[LIST];
        const eighths *e = &coins[i];
        shoal_part part = list_part(LIST, 250000, 750000, 500000);
        set_eighths(&part, e);
        for (uint32_t x = 0; x < LIST; x++) enumerate(&laws[x], &part, e, x, 0);
        double one = largest_loss(laws, LIST, RECORDS),
               any = 2 * log((double)(8 - e->f) / (double)e->f),
               fresh = LIST * fmax(log((double)e->q / (double)e->p),
                                   log((double)(8 - e->p) / (double)(8 - e->q)));
        law_of_two(stays, &part, e, 0, 0);
        law_of_two(stays_too, &part, e, 1, 1);
        law_of_two(changes, &part, e, 0, 1);
        law_of_two(changes_too, &part, e, 2, 3);
        CHECK(loss_between(stays, stays_too) <= fmin(2 * one, any) + 1e-12);
        CHECK(fabs(loss_between(changes, changes_too) - 2 * one) < 1e-12);
        double apart = loss_between(stays, changes_too);
        CHECK(apart > 2 * one + 0.1);
        CHECK(apart <= 2 * fresh);
    }
}

// What recipes state: epsilon as the formula has it in doubles, for the published parameters.
static void published_epsilons(void)
{
    static const struct {
        uint32_t bits, hashes, p, q, f;
    } table[] = {{32, 1, 250000, 750000, 500000},  {128, 2, 500000, 750000, 500000},
                 {8, 2, 390000, 610000, 450000},   {8, 2, 225000, 775000, 0},
                 {64, 3, 0, 1000000, 200000},      {16, 5, 499999, 500001, 999998},
                 {65536, 16, 400000, 600000, 1000}};
    for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double p = table[i].p / 1e6, q = table[i].q / 1e6, f = table[i].f / 1e6,
               h = table[i].hashes;
        shoal_part part =
            bloom_part(table[i].bits, table[i].hashes, 8, table[i].p, table[i].q, table[i].f);
        double p_star = p + f / 2 * (q - p), q_star = q - f / 2 * (q - p);
        double one = h * log(q_star * (1 - p_star) / (p_star * (1 - q_star))),
               any = 2 * h * log((1 - f / 2) / (f / 2));
        uint32_t unlimited = 0;
        double least =
            0.01 *
            (table[i].hashes % 2 == 0 ? h / 2 : h); // the smallest epsilon that a coin is given
        CHECK(fabs(part.eps_micro / 1e6 - fmax(one, least)) <= 1e-6 * h);
        shoal_err err = shoal_rappor_unlimited(&unlimited, &part);
        CHECK((err == SHOAL_OK) == (f > 0.0006));
        if (err == SHOAL_OK)
            CHECK(fabs(unlimited / 1e6 - fmax(any, 0.01 * h)) <= 1e-6 * h + 1e-8 * any / f);
    }
}

static void ranges(void)
{
    const char *field = "";
    shoal_part good = bloom_part(32, 1, 64, 250000, 750000, 500000),
               part = good; // epsilon 1.021652
    CHECK(good.eps_micro == 1021652 && good.record_size == 8 && good.text_size == 11);
    part.eps_micro = 1021651;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "epsilon") == 0);
    part.eps_micro = 1500000; // a claim that is kept with room
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK && part.eps_micro == 1500000);
    part = good, part.pqf_micro[0] = 750000;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "q") == 0);
    part = good, part.pqf_micro[2] = 1000000;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "f") == 0);
    part = good, part.eps_micro = 0, part.pqf_micro[0] = 0, part.pqf_micro[1] = 1000000,
    part.pqf_micro[2] = 0;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE &&
          strcmp(field, "p") == 0); // no noise at all
    part = good, part.hashes = 17;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "hashes") == 0);
    part = good, part.k = 65536, part.m = 8192;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "cohorts") == 0);
    part = good, part.m = 1;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "bits") == 0);
}

static shoal_permanent device(uint32_t number)
{
    shoal_permanent permanent = {
        {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), 77}};
    return permanent;
}

static uint32_t n_different(const uint8_t *a, const uint8_t *b)
{
    uint32_t n = 0;
    for (uint32_t i = 4; i < 36; i++) n += count_bits((uint64_t)(a[i] ^ b[i]));
    return n;
}

// With coins that show the permanent answer: always the same for a device and an item, its cohort
// the same whatever the item. Other items, devices and collections flip other bits: of 256, a
// quarter each time, 96 differ with sd 7.7; the same flips with other filters would leave 4.
static void what_is_permanent(void)
{
    shoal_part part = bloom_part(256, 2, 1000, 0, 1000000, 500000);
    uint8_t first[36], again[36], seed[32] = {9};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 20; i++) {
        shoal_permanent own = device(i), other = device(i + 1000);
        shoal_rappor_mechanism.randomize(first, &part, 5, &own, &rng);
        shoal_rappor_mechanism.randomize(again, &part, 5, &own, &rng);
        CHECK(memcmp(first, again, sizeof first) == 0);
        shoal_rappor_mechanism.randomize(again, &part, 6, &own, &rng);
        CHECK(memcmp(first, again, 4) == 0 && n_different(first, again) > 57);
        shoal_rappor_mechanism.randomize(again, &part, 5, &other, &rng);
        CHECK(memcmp(first, again, 4) != 0 && n_different(first, again) > 57);
        shoal_part renewed = part;
        renewed.seed[1] ^= 1;
        shoal_rappor_mechanism.randomize(again, &renewed, 5, &own, &rng);
        CHECK(n_different(first, again) > 57);
    }
}

// Bits, of the first 192, in which the permanent answers of 20 devices about one item differ.
static uint32_t n_apart(const shoal_part *a, const shoal_part *b)
{
    uint8_t first[36], second[36], seed[32] = {9};
    uint32_t n = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 20; i++) {
        shoal_permanent own = device(i);
        shoal_rappor_mechanism.randomize(first, a, 5, &own, &rng);
        shoal_rappor_mechanism.randomize(second, b, 5, &own, &rng);
        for (uint32_t l = 4; l < 28; l++) n += count_bits((uint64_t)(first[l] ^ second[l]));
    }
    return n;
}

// Recipes of one seed give one permanent answer, or unrelated ones. Flips that are common to
// answers which differ otherwise would cancel: A xor B is then the filters without noise, and a bit
// flipped in the less noisy one alone gives it away. Of 3,840 bits 1,440 (sd 30) differ, 1,200
// where f is a half; with common flips 100 at most, and 480.
static void answers_of_one_seed(void)
{
    shoal_part part = bloom_part(256, 2, 1000, 0, 1000000, 500000);
    shoal_part half = bloom_part(256, 2, 1000, 0, 1000000, 250000),
               shorter = bloom_part(192, 2, 1000, 0, 1000000, 500000);
    shoal_part single = bloom_part(256, 1, 1000, 0, 1000000, 500000),
               fewer = bloom_part(256, 2, 500, 0, 1000000, 500000);
    CHECK(n_apart(&part, &part) == 0);
    CHECK(n_apart(&part, &half) > 900);
    CHECK(n_apart(&part, &shorter) > 1200 && n_apart(&part, &single) > 1200 &&
          n_apart(&part, &fewer) > 1200);
}

// 40,000 devices, one report each, of 130 bits and two hashes: the share of ones in every bit of
// every cohort is q* where the item has the bit and p* elsewhere, 5 sd; and cohorts are even.
static void real_draws(void)
{
    shoal_part part = bloom_part(130, 2, 4, 250000, 700000, 400000);
    uint32_t ones[4][130] = {{0}}, reports[4] = {0};
    uint8_t seed[32] = {6}, record[21];
    double p = 0.25 + 0.2 * 0.45, q = 0.7 - 0.2 * 0.45;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 40000; i++) {
        shoal_permanent permanent = device(i);
        shoal_rappor_mechanism.randomize(record, &part, 42, &permanent, &rng);
        CHECK(shoal_rappor_mechanism.check(&part, record) == SHOAL_OK);
        reports[record[0]]++;
        for (uint32_t l = 0; l < 130; l++) ones[record[0]][l] += record[4 + l / 8] >> l % 8 & 1;
    }
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t bits[2];
        for (uint32_t h = 0; h < 2; h++) {
            shoal_poly1 row;
            shoal_poly1_row(&row, part.seed, 2 * c + h);
            bits[h] = shoal_poly1_hash(&row, shoal_poly1_point(42), 130);
        }
        CHECK(fabs(reports[c] - 10000.0) < 5 * sqrt(40000 * 0.25 * 0.75));
        for (uint32_t l = 0; l < 130; l++) {
            double r = l == bits[0] || l == bits[1] ? q : p;
            CHECK(fabs(ones[c][l] - reports[c] * r) < 5 * sqrt(reports[c] * r * (1 - r)));
        }
    }
}

// 20,000 reports of one device: each bit is 1 with probability q or p exactly, as its permanent bit
// is, and both kinds exist.
static void fresh_draws(void)
{
    shoal_part part = bloom_part(64, 1, 1, 250000, 750000, 500000);
    uint32_t ones[64] = {0}, n_high = 0;
    uint8_t seed[32] = {8}, record[12];
    double sd = sqrt(20000 * 0.25 * 0.75);
    shoal_permanent permanent = device(1);
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 20000; i++) {
        shoal_rappor_mechanism.randomize(record, &part, 42, &permanent, &rng);
        for (uint32_t l = 0; l < 64; l++) ones[l] += record[4 + l / 8] >> l % 8 & 1;
    }
    for (uint32_t l = 0; l < 64; l++) {
        int is_high = ones[l] > 10000;
        CHECK(fabs(ones[l] - (is_high ? 15000.0 : 5000.0)) < 5 * sd);
        n_high += (uint32_t)is_high;
    }
    CHECK(n_high > 0 && n_high < 40); // a quarter of 63 flipped up, sd 3.4
}

int main(void)
{
    whole_law(4, 1, 4);
    whole_law(4, 2, 6);
    law_of_a_list();
    values_that_change();
    published_epsilons();
    ranges();
    what_is_permanent();
    answers_of_one_seed();
    real_draws();
    fresh_draws();
    return check_summary();
}
