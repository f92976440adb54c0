// SPDX-License-Identifier: Apache-2.0
// Asymmetric one-hot: the whole output law by enumeration, the value outside the list included.
#include "onehot_asymmetric.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

static shoal_part make_part(uint32_t size, uint32_t eps_micro)
{
    shoal_part part = {.mechanism = shoal_onehot_asymmetric_id,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .eps_micro = eps_micro,
                       .k = 1,
                       .size = size};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

static uint32_t forced_output(const shoal_part *part, uint64_t item, uint64_t fair, uint64_t ones)
{
    uint8_t record[8];
    shoal_rng rng;
    script(&rng, 1, ~ones);
    script_word(&rng, 0, fair);
    shoal_onehot_asymmetric_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_onehot_asymmetric_mechanism.check(part, record) == SHOAL_OK);
    return record[0];
}

// Weights count twice 16^size: the fair coin is one of two, and at a listed value the other coin is
// drawn and not used.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint64_t fair = 0; fair < 2; fair++)
        for (uint64_t ones = 0; ones < (uint64_t)1 << part->m; ones++) {
            uint32_t n = count_bits(ones);
            a->weight[forced_output(part, item, fair, ones)] +=
                power(t, n) * power(16 - t, part->m - n);
        }
}

static void whole_law(uint32_t size)
{
    static law laws[9];
    for (uint64_t t = 1; t <= 8; t += 1) {
        shoal_part part = make_part(size, 4000000);
        part.threshold = t << 60;
        int is_reached = 0, is_none_reached = 0;
        for (uint64_t item = 0; item <= size; item++) {
            enumerate(&laws[item], &part, item < size ? item : SHOAL_ITEM_NONE, t);
            CHECK(law_total(&laws[item], 1u << size) == 2 * power(16, size));
        }
        for (uint32_t x = 0; x < size; x++)
            for (uint32_t y = 0; y < size; y++)
                CHECK(law_within(&laws[x], &laws[y], 1u << size, t, 1, &is_reached));
        for (uint32_t x = 0; x < size; x++) {
            CHECK(law_within(&laws[x], &laws[size], 1u << size, t, 1, &is_none_reached));
            CHECK(law_within(&laws[size], &laws[x], 1u << size, t, 1, &is_none_reached));
        }
        CHECK(is_reached);
        CHECK(t == 8 ||
              !is_none_reached); // "none of the list" costs strictly less than a listed value
    }
}

static void real_epsilon(void)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = make_part(5, eps[i]);
        uint32_t claimed = 0;
        CHECK(shoal_onehot_asymmetric_mechanism.epsilon(&claimed, &part) == SHOAL_OK &&
              claimed == eps[i]);
        double t = (double)part.threshold, odds = (18446744073709551616.0 - t) / t,
               e = exp(eps[i] / 1e6);
        CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
    }
}

// 40,000 records of entry 129 of 130 (the last of three words): frequencies of every bit, 5 sd.
static void real_draws(void)
{
    shoal_part part = make_part(130, 2000000);
    uint32_t ones[130] = {0};
    uint8_t seed[32] = {6}, record[17];
    double q = (double)part.threshold / 18446744073709551616.0, n = 40000;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < (int)n; i++) {
        shoal_onehot_asymmetric_mechanism.randomize(record, &part, 129, NULL, &rng);
        CHECK(shoal_onehot_asymmetric_mechanism.check(&part, record) == SHOAL_OK);
        for (uint32_t l = 0; l < 130; l++) ones[l] += record[l / 8] >> l % 8 & 1;
    }
    for (uint32_t l = 0; l < 130; l++) {
        double p = l == 129 ? 0.5 : q;
        CHECK(fabs(ones[l] - n * p) < 5 * sqrt(n * p * (1 - p)));
    }
}

static void ranges(void)
{
    shoal_recipe recipe;
    uint8_t record[16], before[16];
    shoal_rng rng;
    CHECK(onehot_recipe(&recipe, 4000000, 50) == SHOAL_OK && recipe.record_size == 7 &&
          recipe.text_size == 14);
    CHECK(onehot_recipe(&recipe, 4000000, 65537) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.size") == 0);
    CHECK(onehot_recipe(&recipe, 4000000, 50) == SHOAL_OK);
    script(&rng, 0, 0);
    memset(record, 0x5a, sizeof record);
    memcpy(before, record, sizeof record);
    uint64_t item = 50;
    CHECK(shoal_record_randomize(record, &recipe, &item, 1, NULL, &rng) == SHOAL_ERR_RANGE);
    CHECK(memcmp(record, before, sizeof record) == 0);
    item = 49;
    CHECK(shoal_record_randomize(record, &recipe, &item, 1, NULL, &rng) == SHOAL_OK);
    item = SHOAL_ITEM_NONE;
    CHECK(shoal_record_randomize(record, &recipe, &item, 1, NULL, &rng) == SHOAL_OK);
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
