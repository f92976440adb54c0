// SPDX-License-Identifier: Apache-2.0
// CMS: the whole output law by enumeration over both hash families, "none" included, the real
// thresholds' ratios, and the draws of the real generator.
#include "cms.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "probability.h"
#include "record.h"
#include "scripted_rng.h"
#include "sketch_part.h"
#include "test_recipes.h"

// Everything that is drawn.
typedef struct draws {
    uint32_t j, column;
    uint64_t flips;
} draws;

// Runs the randomizer with all draws forced. Returns: the output as a number, row * 2^m + bits.
static uint32_t forced_output(const shoal_part *part, uint64_t item, const draws *d)
{
    uint8_t record[64];
    shoal_rng rng;
    uint32_t at = 0;
    script(&rng, 0, ~d->flips); // a lane of zeros is below the threshold, a lane of ones is not
    if (part->k > 1) script_word(&rng, at++, d->j); // one row is drawn from nothing
    if (part->size > 0) script_word(&rng, at, d->column);
    shoal_cms_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_cms_mechanism.check(part, record) == SHOAL_OK);
    CHECK(record[0] == d->j);
    return (d->j << part->m) + record[4];
}

// Of the coins that flip the bits set in `flips`, of m.
static uint64_t coins_weight(uint64_t flips, uint32_t m, uint64_t t)
{
    uint32_t n = count_bits(flips);
    return power(t, n) * power(16 - t, m - n);
}

// Weights count m: column of "none", which is drawn whatever the item.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint32_t j = 0; j < part->k; j++)
        for (uint32_t column = 0; column < part->m; column++)
            for (uint64_t flips = 0; flips < (uint64_t)1 << part->m; flips++)
                a->weight[forced_output(part, item, &(draws){j, column, flips})] +=
                    coins_weight(flips, part->m, t);
}

// The weight of an output by the header: the coins that make it of the item's column, or of every
// column for "none".
static uint64_t expected_weight(const shoal_part *part, uint64_t item, uint32_t output, uint64_t t)
{
    uint64_t sum = 0, bits = output & (((uint64_t)1 << part->m) - 1);
    for (uint32_t drawn = 0; drawn < part->m; drawn++) {
        uint32_t column = sketch_column(part, output >> part->m, item, drawn);
        sum += coins_weight(bits ^ (uint64_t)1 << column, part->m, t);
    }
    return sum;
}

// Every output has exactly its weight. Every pair of items, with collisions and without, "none"
// included: the ratio is at most the square of the odds, and reaches it.
static void whole_law(uint32_t k, uint32_t m, int is_closed)
{
    static law laws[SKETCH_ITEMS + 1];
    for (uint64_t t = 1; t <= 8; t += 3) {
        shoal_part part = sketch_part(shoal_cms_id, k, m, 4000000, is_closed);
        uint32_t n = sketch_laws(&part);
        int is_reached = 0;
        part.threshold = t << 60;
        for (uint32_t x = 0; x < n; x++) {
            uint64_t item = sketch_item(&part, x);
            enumerate(&laws[x], &part, item, t);
            CHECK(law_total(&laws[x], k << m) == k * m * power(16, m));
            for (uint32_t o = 0; o < k << m; o++)
                CHECK(laws[x].weight[o] == expected_weight(&part, item, o, t));
        }
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = 0; y < n; y++)
                CHECK(law_within(&laws[x], &laws[y], k << m, t, 2, &is_reached));
        CHECK(is_reached);
    }
}

// With the real thresholds: the largest ratio is (odds)^2, at most e^eps and at least 0.999999
// e^eps.
static void real_epsilon(int is_closed)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = sketch_part(shoal_cms_id, 2, 4, eps[i], is_closed);
        uint32_t claimed = 0;
        CHECK(shoal_cms_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps[i]);
        double t = (double)part.threshold, odds = (18446744073709551616.0 - t) / t,
               e = exp(eps[i] / 1e6);
        CHECK(odds * odds <= e * (1 + 1e-13));
        CHECK(odds * odds >= 0.999999 * e);
    }
}

// The real generator: over 40,000 records of one item, each of m = 70 bits (two words, the second
// cut) is 1 as often as its coin says, 5 sd two-sided; rows are uniform.
static void real_draws(void)
{
    shoal_part part = sketch_part(shoal_cms_id, 5, 70, 3000000, 0);
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
        uint32_t column = sketch_column(&part, j, item, 0);
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
    CHECK(strcmp(building.error_field, "parameters.m") == 0);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 2, 65537) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 2, 1) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, 0, 1024) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "cms", 4000000, (1u << 20) + 1, 2) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.k") == 0);
}

int main(void)
{
    whole_law(1, 2, 0);
    whole_law(2, 3, 0);
    whole_law(3, 6, 0);
    whole_law(1, 2, 1);
    whole_law(3, 4, 1);
    whole_law(2, 8, 1);
    real_epsilon(0);
    real_epsilon(1);
    real_draws();
    ranges();
    return check_summary();
}
