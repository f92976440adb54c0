// SPDX-License-Identifier: Apache-2.0
// Local hashing: the whole output law by enumeration over both hash families, "none" included, the
// real thresholds, and the draws of the real generator.
#include "olh.h"

#include <math.h>

#include "bytes.h"
#include "check.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"
#include "sketch_part.h"
#include "test_recipes.h"

#define TWO_64 18446744073709551616.0

// Everything that is drawn.
typedef struct draws {
    uint32_t j, column, other;
    int is_lie;
} draws;

// Returns: the record, all draws forced.
static uint32_t forced_output(const shoal_part *part, uint64_t item, const draws *d)
{
    uint8_t record[4];
    shoal_rng rng;
    uint32_t at = 0;
    script(&rng, 0, 0);
    if (part->k > 1) script_word(&rng, at++, d->j); // one row is drawn from nothing
    if (part->size > 0) script_word(&rng, at++, d->column);
    script_word(&rng, at++, d->is_lie ? 0 : UINT64_MAX);
    script_word(&rng, at, d->other);
    shoal_olh_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_olh_mechanism.check(part, record) == SHOAL_OK);
    return load32_le(record);
}

// Weights count 16 k g (g - 1): row, column of "none", coin, which other answer.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint32_t j = 0; j < part->k; j++)
        for (uint32_t column = 0; column < part->m; column++)
            for (uint32_t other = 0; other < part->m - 1; other++) {
                uint32_t truth = sketch_column(part, j, item, column);
                uint32_t told = forced_output(part, item, &(draws){j, column, other, 0});
                uint32_t lied = forced_output(part, item, &(draws){j, column, other, 1});
                CHECK(told == j * part->m + truth);
                CHECK(lied / part->m == j && lied != told);
                a->weight[told] += 16 - t;
                a->weight[lied] += t;
            }
}

// Every answer has exactly the weight that the header says, and so every ratio its bound.
static void whole_law(uint32_t k, uint32_t g, int is_closed)
{
    static law laws[SKETCH_ITEMS + 1];
    for (uint64_t t = 1; t <= 15 && t <= (16 - t) * (g - 1); t += 2) {
        shoal_part part = sketch_part(shoal_olh_id, k, g, 4000000, is_closed);
        uint32_t n = sketch_laws(&part);
        int is_reached = 0;
        part.threshold = t << 60;
        for (uint32_t x = 0; x < n; x++) {
            uint64_t item = sketch_item(&part, x);
            enumerate(&laws[x], &part, item, t);
            for (uint32_t cell = 0; cell < k * g; cell++) {
                uint64_t expected = cell % g == sketch_column(&part, cell / g, item, 0)
                                        ? (16 - t) * g * (g - 1)
                                        : t * g;
                CHECK(laws[x].weight[cell] ==
                      (item == SHOAL_ITEM_NONE ? 16 * (uint64_t)(g - 1) : expected));
            }
        }
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t y = 0; y < n; y++)
                CHECK(
                    law_within_odds(&laws[x], &laws[y], k * g, (16 - t) * (g - 1), t, &is_reached));
        CHECK(is_reached);
    }
}

static void real_epsilon(void)
{
    const uint32_t eps[] = {10000,   500000,  1000000,  1342455, 2000000,
                            4000000, 8000000, 12000000, 16000000};
    const uint32_t g[] = {2, 4, 64, 4096, SHOAL_OLH_G_MAX};
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++)
        for (size_t l = 0; l < sizeof g / sizeof g[0]; l++) {
            shoal_part part = sketch_part(shoal_olh_id, 2, g[l], eps[i], 0);
            uint32_t claimed = 0;
            CHECK(shoal_olh_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps[i]);
            double odds = (double)(0 - part.threshold) / ((double)part.threshold / (g[l] - 1)),
                   e = exp(eps[i] / 1e6);
            CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
        }
}

// 64,000 records of a listed value and of "none" over 2 rows of 8: each cell as often as its
// probability says, 5 sd.
static void real_draws(void)
{
    shoal_part part = sketch_part(shoal_olh_id, 2, 8, 1000000, 1);
    uint8_t seed[32] = {6}, record[4];
    double n = 64000, lie = (double)part.threshold / TWO_64;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int is_none = 0; is_none < 2; is_none++) {
        uint32_t seen[16] = {0};
        for (int i = 0; i < (int)n; i++) {
            shoal_olh_mechanism.randomize(record, &part, is_none ? SHOAL_ITEM_NONE : 7, NULL, &rng);
            if (CHECK(shoal_olh_mechanism.check(&part, record) == SHOAL_OK))
                seen[load32_le(record)]++;
        }
        for (uint32_t cell = 0; cell < 16; cell++) {
            double p = cell % 8 == sketch_column(&part, cell / 8, 7, 0) ? (1 - lie) / 2 : lie / 14;
            if (is_none) p = 1.0 / 16;
            CHECK(fabs(seen[cell] - n * p) < 5 * sqrt(n * p * (1 - p)));
        }
    }
}

static shoal_err olh_recipe(shoal_recipe *recipe, uint32_t k, uint32_t g, uint32_t size)
{
    shoal_err err = start_recipe("olh", 4000000);
    if (err == SHOAL_OK) err = set_text("hash", size > 0 ? "affine1" : "poly1");
    if (err == SHOAL_OK) err = set_text("seed", TEST_SEED);
    if (err == SHOAL_OK) err = set_int("parameters.k", k);
    if (err == SHOAL_OK) err = set_int("parameters.g", g);
    if (err == SHOAL_OK && size > 0) err = set_int("parameters.size", size);
    return end_recipe(recipe, err);
}

static void ranges(void)
{
    shoal_recipe recipe;
    uint8_t record[4];
    size_t position = 9;
    CHECK(olh_recipe(&recipe, 65536, 64, 0) == SHOAL_OK && recipe.record_size == 4 &&
          recipe.text_size == 8);
    CHECK(shoal_record_from_text(record, &recipe, "65535,63", 8, NULL) == SHOAL_OK);
    CHECK(load32_le(record) == 65536 * 64 - 1);
    CHECK(shoal_record_from_text(record, &recipe, "65536,00", 8, &position) == SHOAL_ERR_RANGE);
    CHECK(shoal_record_from_text(record, &recipe, "00000,64", 8, &position) == SHOAL_ERR_RANGE &&
          position == 6);
    CHECK(shoal_record_from_text(record, &recipe, "00000;00", 8, &position) == SHOAL_ERR_TYPE &&
          position == 5);
    store32_le(record, 65536 * 64);
    CHECK(shoal_record_check(&recipe, record) == SHOAL_ERR_RECORD);
    CHECK(olh_recipe(&recipe, 1u << 24, 16, 1u << 24) == SHOAL_OK);
    CHECK(olh_recipe(&recipe, 1u << 24, 32, 0) == SHOAL_ERR_RANGE);
    CHECK(olh_recipe(&recipe, 1u << 8, 1u << 20, 100) == SHOAL_OK);
    CHECK(olh_recipe(&recipe, 8, 24, 0) == SHOAL_ERR_RANGE &&
          strcmp(building.error_field, "parameters.g") == 0);
    CHECK(olh_recipe(&recipe, 8, 8, (1u << 24) + 1) == SHOAL_ERR_RANGE);
}

int main(void)
{
    whole_law(1, 2, 0);
    whole_law(3, 8, 0);
    whole_law(1, 4, 1);
    whole_law(3, 8, 1);
    real_epsilon();
    real_draws();
    ranges();
    return check_summary();
}
