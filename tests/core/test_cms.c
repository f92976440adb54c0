// SPDX-License-Identifier: Apache-2.0
// CMS: the whole output law by enumeration, the real thresholds' ratios, and the draws of the real generator.
#include "cms.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "poly1.h"
#include "probability.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

static shoal_part make_part(uint32_t k, uint32_t m, uint32_t eps_micro)
{
    shoal_part part = {.mechanism = shoal_cms_id, .eps_micro = eps_micro, .k = k, .m = m, .seed = {5}};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

// Runs the randomizer with row j and the coins `flips` forced. Returns: the output as a number, row * 2^m + bits.
static uint32_t forced_output(const shoal_part *part, uint64_t item, uint32_t j, uint64_t flips)
{
    uint8_t record[64];
    shoal_rng rng;
    script(&rng, 0, ~flips);                  // a lane of zeros is below the threshold, a lane of ones is not
    if (part->k > 1) script_word(&rng, 0, j); // one row is drawn from nothing
    shoal_cms_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_cms_mechanism.check(part, record) == SHOAL_OK);
    CHECK(record[0] == j);
    return (j << part->m) + record[4];
}

static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint32_t j = 0; j < part->k; j++)
        for (uint64_t flips = 0; flips < (uint64_t)1 << part->m; flips++) {
            uint32_t n = count_bits(flips);
            a->weight[forced_output(part, item, j, flips)] += power(t, n) * power(16 - t, part->m - n);
        }
}

// Every pair of 12 items, with collisions and without: the ratio is at most the square of the odds, and reaches it.
static void whole_law(uint32_t k, uint32_t m)
{
    static law laws[12];
    for (uint64_t t = 1; t <= 8; t += 3) {
        shoal_part part = make_part(k, m, 4000000);
        part.threshold = t << 60;
        int is_reached = 0;
        for (uint64_t item = 0; item < 12; item++) {
            enumerate(&laws[item], &part, item * 1000003, t);
            CHECK(law_total(&laws[item], k << m) == k * power(16, m));
        }
        for (int x = 0; x < 12; x++)
            for (int y = 0; y < 12; y++) CHECK(law_within(&laws[x], &laws[y], k << m, t, 2, &is_reached));
        CHECK(is_reached);
    }
}

// With the real thresholds: the largest ratio is (odds)^2, at most e^eps and at least 0.999999 e^eps.
static void real_epsilon(void)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = make_part(2, 3, eps[i]);
        uint32_t claimed = 0;
        CHECK(shoal_cms_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps[i]);
        double t = (double)part.threshold, odds = (18446744073709551616.0 - t) / t, e = exp(eps[i] / 1e6);
        CHECK(odds * odds <= e * (1 + 1e-13));
        CHECK(odds * odds >= 0.999999 * e);
    }
}

// The real generator: over 40,000 records of one item, each of m = 70 bits (two words, the second cut) is 1 as often as
// its coin says, 5 sd two-sided; rows are uniform.
static void real_draws(void)
{
    shoal_part part = make_part(5, 70, 3000000);
    uint64_t item = shoal_part_item(&part, (const uint8_t *)"hello", 5);
    uint32_t ones[5][70] = {{0}}, rows[5] = {0};
    uint8_t seed[32] = {6}, record[64];
    double q = (double)part.threshold / 18446744073709551616.0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 40000; i++) {
        shoal_cms_mechanism.randomize(record, &part, item, NULL, &rng);
        CHECK(shoal_cms_mechanism.check(&part, record) == SHOAL_OK);
        rows[record[0]]++;
        for (uint32_t l = 0; l < 70; l++) ones[record[0]][l] += record[4 + l / 8] >> l % 8 & 1;
    }
    for (uint32_t j = 0; j < 5; j++) {
        shoal_poly1 row;
        shoal_poly1_row(&row, part.seed, j);
        uint32_t column = shoal_poly1_hash(&row, shoal_poly1_point(item), 70);
        CHECK(fabs(rows[j] - 8000.0) < 5 * sqrt(40000 * 0.16));
        for (uint32_t l = 0; l < 70; l++) {
            double p = l == column ? 1 - q : q;
            CHECK(fabs(ones[j][l] - rows[j] * p) < 5 * sqrt(rows[j] * q * (1 - q)));
        }
    }
}

static void ranges(void)
{
    shoal_recipe recipe;
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 65536, 1024) == SHOAL_OK);
    CHECK(recipe.record_size == 132 && recipe.text_size == 5 + 1 + 256);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 1, 2) == SHOAL_OK && recipe.text_size == 4);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 4096, 65536) == SHOAL_OK);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 4097, 65536) == SHOAL_ERR_RANGE);
    CHECK(strcmp(recipe.error_field, "parameters.m") == 0);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 2, 65537) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 2, 1) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 0, 1024) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, (1u << 20) + 1, 2) == SHOAL_ERR_RANGE);
    CHECK(strcmp(recipe.error_field, "parameters.k") == 0);
}

int main(void)
{
    whole_law(1, 2);
    whole_law(2, 3);
    whole_law(3, 6);
    real_epsilon();
    real_draws();
    ranges();
    return check_summary();
}
