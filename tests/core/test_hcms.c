// SPDX-License-Identifier: Apache-2.0
// HCMS: the whole output law by enumeration, the real thresholds' ratios, and the draws of the real generator.
#include "hcms.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "poly1.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

static shoal_part make_part(uint32_t k, uint32_t m, uint32_t eps_micro)
{
    shoal_part part = {.mechanism = shoal_hcms_id, .eps_micro = eps_micro, .k = k, .m = m, .seed = {5}};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

// Row j, column l and the coin forced. Returns: the output as a number.
static uint32_t forced_output(const shoal_part *part, uint64_t item, uint32_t j, uint32_t l, int is_flipped)
{
    uint8_t record[8];
    shoal_rng rng;
    uint32_t at = part->k > 1; // one row is drawn from nothing
    script(&rng, at + 1, is_flipped ? 0 : UINT64_MAX);
    script_word(&rng, 0, j);
    script_word(&rng, at, l);
    shoal_hcms_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_hcms_mechanism.check(part, record) == SHOAL_OK);
    CHECK(record[0] == j && record[4] >> 1 == l);
    return (j * part->m + l) * 2 + (record[4] & 1);
}

// The Hadamard entry by its recursive definition, apple-2017 (3): H_2n = [H H; H -H].
static int hadamard(uint32_t n, uint32_t row, uint32_t column)
{
    if (n == 1) return 1;
    int sign = row >= n / 2 && column >= n / 2 ? -1 : 1;
    return sign * hadamard(n / 2, row % (n / 2), column % (n / 2));
}

static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint32_t j = 0; j < part->k; j++)
        for (uint32_t l = 0; l < part->m; l++) {
            shoal_poly1 row;
            shoal_poly1_row(&row, part->seed, j);
            int entry = hadamard(part->m, l, shoal_poly1_hash(&row, shoal_poly1_point(item), part->m));
            uint32_t kept = forced_output(part, item, j, l, 0);
            CHECK((kept & 1) == (entry > 0 ? 1u : 0u)); // an unflipped sign is the matrix's entry
            a->weight[kept] += 16 - t;
            a->weight[forced_output(part, item, j, l, 1)] += t;
        }
}

static void whole_law(uint32_t k, uint32_t m)
{
    static law laws[12];
    for (uint64_t t = 1; t <= 8; t += 3) {
        shoal_part part = make_part(k, m, 4000000);
        part.threshold = t << 60;
        int is_reached = 0;
        for (uint64_t item = 0; item < 12; item++) {
            enumerate(&laws[item], &part, item * 1000003, t);
            CHECK(law_total(&laws[item], 2 * k * m) == 16 * (uint64_t)k * m);
        }
        for (int x = 0; x < 12; x++)
            for (int y = 0; y < 12; y++) CHECK(law_within(&laws[x], &laws[y], 2 * k * m, t, 1, &is_reached));
        CHECK(is_reached);
    }
}

static void real_epsilon(void)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = make_part(2, 4, eps[i]);
        uint32_t claimed = 0;
        CHECK(shoal_hcms_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps[i]);
        double t = (double)part.threshold, odds = (18446744073709551616.0 - t) / t, e = exp(eps[i] / 1e6);
        CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
    }
}

// Over 64,000 records with k = 2, m = 8: each (row, column) uniform and each sign as its coin says, 5 sd.
static void real_draws(void)
{
    shoal_part part = make_part(2, 8, 1000000);
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
        shoal_poly1 row;
        shoal_poly1_row(&row, part.seed, j);
        uint32_t column = shoal_poly1_hash(&row, shoal_poly1_point(item), 8);
        for (uint32_t l = 0; l < 8; l++) {
            double total = seen[j][l][0] + seen[j][l][1], p = hadamard(8, l, column) > 0 ? 1 - q : q;
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
    CHECK(strcmp(recipe.error_field, "parameters.m") == 0);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 256, 1u << 20) == SHOAL_OK);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 257, 1u << 20) == SHOAL_ERR_RANGE);
    CHECK(sketch_recipe(&recipe, "hcms", 4000000, 0, 8) == SHOAL_ERR_RANGE);
}

int main(void)
{
    whole_law(1, 2);
    whole_law(3, 8);
    whole_law(4, 64);
    real_epsilon();
    real_draws();
    ranges();
    return check_summary();
}
