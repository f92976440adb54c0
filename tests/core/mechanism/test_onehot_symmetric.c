// SPDX-License-Identifier: Apache-2.0
// Symmetric one-hot: the whole output law by enumeration, in both privacy models, and the real
// thresholds.
#include "onehot_symmetric.h"

#include <math.h>

#include "closed_part.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"

static uint32_t forced_output(const shoal_part *part, uint64_t item, uint64_t flips)
{
    uint8_t record[8];
    shoal_rng rng;
    script(&rng, 0, ~flips); // a lane of zeros is below the threshold
    shoal_onehot_symmetric_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_onehot_symmetric_mechanism.check(part, record) == SHOAL_OK);
    return record[0];
}

// Weights count 16^size.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint64_t flips = 0; flips < (uint64_t)1 << part->m; flips++) {
        uint32_t n = count_bits(flips), output = forced_output(part, item, flips);
        CHECK(output == (flips ^ (item < part->m ? (uint64_t)1 << item : 0)));
        a->weight[output] += power(t, n) * power(16 - t, part->m - n);
    }
}

static void whole_law(uint32_t size)
{
    static law laws[9];
    for (uint64_t t = 1; t <= 8; t++) {
        shoal_part part = closed_part(shoal_onehot_symmetric_id, size, 4000000);
        int is_reached = 0, is_half_reached = 0, is_exceeded = 0;
        part.threshold = t << 60;
        for (uint32_t x = 0; x <= size; x++) {
            enumerate(&laws[x], &part, item_or_none(&part, x), t);
            CHECK(law_total(&laws[x], 1u << size) == power(16, size));
        }
        for (uint32_t x = 0; x < size; x++)
            for (uint32_t y = 0; y < size; y++) {
                CHECK(law_within(&laws[x], &laws[y], 1u << size, t, 2,
                                 &is_reached)); // replacement: two coins
                is_exceeded |= !law_within(&laws[x], &laws[y], 1u << size, t, 1, &is_half_reached);
            }
        CHECK(is_reached);
        CHECK(t == 8 || is_exceeded);
        is_half_reached = 0;
        for (uint32_t x = 0; x < size; x++) { // deletion: one coin
            CHECK(law_within(&laws[x], &laws[size], 1u << size, t, 1, &is_half_reached));
            CHECK(law_within(&laws[size], &laws[x], 1u << size, t, 1, &is_half_reached));
        }
        CHECK(is_half_reached);
    }
}

static void real_epsilon(void)
{
    for (size_t i = 0; i < N_CLOSED_EPS; i++) {
        shoal_part part = closed_part(shoal_onehot_symmetric_id, 5, closed_eps[i]);
        uint32_t claimed = 0;
        CHECK(shoal_onehot_symmetric_mechanism.epsilon(&claimed, &part) == SHOAL_OK &&
              claimed == closed_eps[i]);
        double odds = (double)(0 - part.threshold) / (double)part.threshold,
               e = exp(closed_eps[i] / 1e6);
        CHECK(odds * odds <= e * (1 + 1e-12) && odds * odds >= 0.999999 * e);
    }
}

// 40,000 records of entry 129 of 130 (the last of three words) and of "none": frequencies of every
// bit, 5 sd.
static void real_draws(void)
{
    shoal_part part = closed_part(shoal_onehot_symmetric_id, 130, 2000000);
    uint8_t seed[32] = {6}, record[17];
    double q = (double)part.threshold / TWO_64, n = 40000;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t x = 129; x <= 130; x++) {
        uint32_t ones[130] = {0};
        for (int i = 0; i < (int)n; i++) {
            shoal_onehot_symmetric_mechanism.randomize(record, &part, item_or_none(&part, x), NULL,
                                                       &rng);
            CHECK(shoal_onehot_symmetric_mechanism.check(&part, record) == SHOAL_OK);
            for (uint32_t l = 0; l < 130; l++) ones[l] += record[l / 8] >> l % 8 & 1;
        }
        for (uint32_t l = 0; l < 130; l++)
            CHECK(fabs(ones[l] - n * (l == x ? 1 - q : q)) < 5 * sqrt(n * q * (1 - q)));
    }
}

static void ranges(void)
{
    shoal_recipe recipe;
    uint8_t record[8];
    size_t position = 99;
    CHECK(closed_recipe(&recipe, "onehot-symmetric", 4000000, 50) == SHOAL_OK);
    CHECK(recipe.record_size == 7 && recipe.text_size == 14);
    CHECK(shoal_record_from_text(record, &recipe, "ffffffffffff03", 14, NULL) == SHOAL_OK &&
          record[6] == 3);
    CHECK(shoal_record_from_text(record, &recipe, "ffffffffffff04", 14, NULL) == SHOAL_ERR_RECORD);
    CHECK(shoal_record_from_text(record, &recipe, "fffffffffffg03", 14, &position) ==
              SHOAL_ERR_TYPE &&
          position == 11);
    CHECK(closed_recipe(&recipe, "onehot-symmetric", 4000000, 65536) == SHOAL_OK);
    CHECK(closed_recipe(&recipe, "onehot-symmetric", 4000000, 65537) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.size") == 0);
    CHECK(closed_recipe(&recipe, "onehot-symmetric", 4000000, 1) == SHOAL_ERR_RANGE);
}

int main(void)
{
    whole_law(2);
    whole_law(5);
    whole_law(8);
    real_epsilon();
    real_draws();
    ranges();
    return check_summary();
}
