// SPDX-License-Identifier: Apache-2.0
// HCMS: the whole output law by enumeration over both hash families, "none" included, the real
// thresholds' ratios, and the draws of the real generator.
#include "hcms.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"
#include "sketch_part.h"
#include "test_recipes.h"

// Everything that is drawn.
typedef struct draws {
    uint32_t j, l, column;
    int is_flipped;
} draws;

// Runs the randomizer with all draws forced. Returns: the output as a number.
static uint32_t forced_output(const shoal_part *part, uint64_t item, const draws *d)
{
    uint8_t record[8];
    shoal_rng rng;
    uint32_t at = 0;
    script(&rng, 0, d->is_flipped ? 0 : UINT64_MAX);
    if (part->k > 1) script_word(&rng, at++, d->j); // one row is drawn from nothing
    script_word(&rng, at++, d->l);
    if (part->size > 0) script_word(&rng, at, d->column);
    shoal_hcms_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_hcms_mechanism.check(part, record) == SHOAL_OK);
    CHECK(record[0] == d->j && record[4] >> 1 == d->l);
    return (d->j * part->m + d->l) * 2 + (record[4] & 1);
}

// The Hadamard entry by its recursive definition, apple-2017 (3): H_2n = [H H; H -H].
static int hadamard(uint32_t n, uint32_t row, uint32_t column)
{
    if (n == 1) return 1;
    int sign = row >= n / 2 && column >= n / 2 ? -1 : 1;
    return sign * hadamard(n / 2, row % (n / 2), column % (n / 2));
}

// Weights count m: column of "none", which is drawn whatever the item.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint32_t j = 0; j < part->k; j++)
        for (uint32_t l = 0; l < part->m; l++)
            for (uint32_t column = 0; column < part->m; column++) {
                a->weight[forced_output(part, item, &(draws){j, l, column, 0})] += 16 - t;
                a->weight[forced_output(part, item, &(draws){j, l, column, 1})] += t;
            }
}

// The weight of an output by the header: its sign is the matrix's entry in the item's column, or in
// every column for "none", and is flipped by the coin.
static uint64_t expected_weight(const shoal_part *part, uint64_t item, uint32_t output, uint64_t t)
{
    uint64_t sum = 0;
    uint32_t j = output / 2 / part->m, l = output / 2 % part->m;
    for (uint32_t drawn = 0; drawn < part->m; drawn++) {
        int entry = hadamard(part->m, l, sketch_column(part, j, item, drawn));
        sum += (output & 1) == (entry > 0 ? 1u : 0u) ? 16 - t : t;
    }
    return sum;
}

// Every output has exactly its weight, and every ratio of two items, "none" included, its bound.
static void whole_law(uint32_t k, uint32_t m, int is_closed)
{
    static law laws[SKETCH_ITEMS + 1];
    for (uint64_t t = 1; t <= 8; t += 3) {
        shoal_part part = sketch_part(shoal_hcms_id, k, m, 4000000, is_closed);
        uint32_t n = sketch_laws(&part);
        int is_reached = 0;
        part.threshold = t << 60;
        for (uint32_t x = 0; x < n; x++) {
            uint64_t item = sketch_item(&part, x);
            enumerate(&laws[x], &part, item, t);
            CHECK(law_total(&laws[x], 2 * k * m) == 16 * (uint64_t)k * m * m);
            for (uint32_t o = 0; o < 2 * k * m; o++)
                CHECK(laws[x].weight[o] == expected_weight(&part, item, o, t));
        }
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = 0; y < n; y++)
                CHECK(law_within(&laws[x], &laws[y], 2 * k * m, t, 1, &is_reached));
        CHECK(is_reached);
    }
}

static void real_epsilon(int is_closed)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = sketch_part(shoal_hcms_id, 2, 4, eps[i], is_closed);
        uint32_t claimed = 0;
        CHECK(shoal_hcms_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps[i]);
        double t = (double)part.threshold, odds = (18446744073709551616.0 - t) / t,
               e = exp(eps[i] / 1e6);
        CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
    }
}

// Over 64,000 records with k = 2, m = 8: each (row, column) uniform and each sign as its coin says,
// 5 sd.
static void real_draws(void)
{
    shoal_part part = sketch_part(shoal_hcms_id, 2, 8, 1000000, 0);
    uint64_t item = shoal_part_item(&part, (const uint8_t *)"hello", 5);
    uint32_t seen[2][8][2] = {{{0}}};
    uint8_t seed[32] = {6}, record[8];
    double q = (double)part.threshold / 18446744073709551616.0, n = 64000;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < (int)n; i++) {
        shoal_hcms_mechanism.randomize(record, &part, item, NULL, &rng);
        seen[record[0]][record[4] >> 1][record[4] & 1]++;
    }
    for (uint32_t j = 0; j < 2; j++) {
        uint32_t column = sketch_column(&part, j, item, 0);
        for (uint32_t l = 0; l < 8; l++) {
            double total = seen[j][l][0] + seen[j][l][1],
                   p = hadamard(8, l, column) > 0 ? 1 - q : q;
            CHECK(fabs(total - n / 16) < 5 * sqrt(n / 16));
            CHECK(fabs(seen[j][l][1] - total * p) < 5 * sqrt(total * q * (1 - q)));
        }
    }
}

static void ranges(void)
{
    shoal_recipe recipe;
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 1024, 32768) == SHOAL_OK);
    CHECK(recipe.record_size == 8 && recipe.text_size == 4 + 1 + 5 + 2);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 1024, 1000) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.m") == 0);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 256, 1u << 20) == SHOAL_OK);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 257, 1u << 20) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 0, 8) == SHOAL_ERR_RANGE);
}

int main(void)
{
    whole_law(1, 2, 0);
    whole_law(3, 8, 0);
    whole_law(4, 64, 0);
    whole_law(1, 2, 1);
    whole_law(3, 8, 1);
    whole_law(2, 32, 1);
    real_epsilon(0);
    real_epsilon(1);
    real_draws();
    ranges();
    return check_summary();
}
