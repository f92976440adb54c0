// SPDX-License-Identifier: Apache-2.0
// Generalized randomized response: the whole output law by enumeration, "none" included, and the
// real thresholds.
#include "grr.h"

#include <math.h>

#include "bytes.h"
#include "closed_part.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"

// The coin and the choice among the others forced. Returns: the answer.
static uint32_t forced_output(const shoal_part *part, uint64_t item, int is_lie, uint32_t other)
{
    uint8_t record[4];
    shoal_rng rng;
    script(&rng, 2, 0);
    script_word(&rng, 0, is_lie ? 0 : UINT64_MAX);
    script_word(&rng, 1, other);
    shoal_grr_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_grr_mechanism.check(part, record) == SHOAL_OK);
    return load32_le(record);
}

// Weights count 16 (s - 1): the coin, then which of the others.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    memset(a, 0, sizeof *a);
    for (uint32_t other = 0; other < part->m - 1; other++) {
        a->weight[forced_output(part, item, 0, other)] += 16 - t;
        a->weight[forced_output(part, item, 1, other)] += t;
    }
}

static void whole_law(uint32_t size)
{
    static law laws[12];
    uint32_t s = size + 1;
    for (uint64_t t = 1; t <= 15 && t <= (16 - t) * (s - 1); t += 2) {
        shoal_part part = closed_part(shoal_grr_id, size, 4000000);
        int is_reached = 0;
        part.threshold = t << 60;
        for (uint32_t x = 0; x < s; x++) {
            enumerate(&laws[x], &part, item_or_none(&part, x), t);
            CHECK(law_total(&laws[x], s) == 16 * (uint64_t)(s - 1));
            for (uint32_t v = 0; v < s; v++)
                CHECK(laws[x].weight[v] == (v == x ? (16 - t) * (s - 1) : t));
        }
        for (uint32_t x = 0; x < s; x++)
            for (uint32_t y = 0; y < s; y++)
                CHECK(law_within_odds(&laws[x], &laws[y], s, (16 - t) * (s - 1), t, &is_reached));
        CHECK(is_reached);
    }
}

static void real_epsilon(void)
{
    const uint32_t sizes[] = {2, 3, 100, 65536, SHOAL_GRR_SIZE_MAX};
    for (size_t i = 0; i < N_CLOSED_EPS; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            shoal_part part = closed_part(shoal_grr_id, sizes[j], closed_eps[i]);
            uint32_t claimed = 0;
            CHECK(shoal_grr_mechanism.epsilon(&claimed, &part) == SHOAL_OK &&
                  claimed == closed_eps[i]);
            double lie = (double)part.threshold / sizes[j], truth = (double)(0 - part.threshold);
            double e = exp(closed_eps[i] / 1e6);
            CHECK(truth / lie <= e * (1 + 1e-12) && truth / lie >= 0.999999 * e);
        }
}

// 60,000 answers of a listed value and of "none", over 6 answers: each as often as its probability
// says, 5 sd.
static void real_draws(void)
{
    shoal_part part = closed_part(shoal_grr_id, 5, 1000000);
    uint8_t seed[32] = {6}, record[4];
    double n = 60000, lie = (double)part.threshold / TWO_64;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (uint32_t x = 3; x <= 5; x += 2) {
        uint32_t seen[6] = {0};
        for (int i = 0; i < (int)n; i++) {
            shoal_grr_mechanism.randomize(record, &part, item_or_none(&part, x), NULL, &rng);
            if (CHECK(shoal_grr_mechanism.check(&part, record) == SHOAL_OK))
                seen[load32_le(record)]++;
        }
        for (uint32_t v = 0; v < 6; v++) {
            double p = v == x ? 1 - lie : lie / 5;
            CHECK(fabs(seen[v] - n * p) < 5 * sqrt(n * p * (1 - p)));
        }
    }
}

static void ranges(void)
{
    shoal_recipe recipe;
    uint8_t record[4];
    size_t position = 9;
    CHECK(closed_recipe(&recipe, "grr", 4000000, 9) == SHOAL_OK && recipe.record_size == 4 &&
          recipe.text_size == 1);
    CHECK(shoal_record_from_text(record, &recipe, "9", 1, NULL) == SHOAL_OK &&
          record[0] == 9); // "none"
    CHECK(closed_recipe(&recipe, "grr", 4000000, 11) == SHOAL_OK && recipe.text_size == 2);
    CHECK(shoal_record_from_text(record, &recipe, "11", 2, NULL) == SHOAL_OK && record[0] == 11);
    CHECK(shoal_record_from_text(record, &recipe, "12", 2, &position) == SHOAL_ERR_RANGE &&
          position == 0);
    CHECK(shoal_record_from_text(record, &recipe, "1x", 2, &position) == SHOAL_ERR_TYPE &&
          position == 1);
    store32_le(record, 12);
    CHECK(shoal_record_check(&recipe, record) == SHOAL_ERR_RECORD);
    CHECK(closed_recipe(&recipe, "grr", 4000000, SHOAL_GRR_SIZE_MAX) == SHOAL_OK);
    CHECK(closed_recipe(&recipe, "grr", 4000000, 1) == SHOAL_ERR_RANGE);
    CHECK(closed_recipe(&recipe, "grr", 4000000, SHOAL_GRR_SIZE_MAX + 1) == SHOAL_ERR_RANGE);
}

int main(void)
{
    whole_law(2);
    whole_law(5);
    whole_law(11);
    real_epsilon();
    real_draws();
    ranges();
    return check_summary();
}
