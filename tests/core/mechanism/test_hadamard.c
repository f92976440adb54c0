// SPDX-License-Identifier: Apache-2.0
// Hadamard response: the whole output law by enumeration, "none" included, the choice of blocks and
// the real thresholds.
#include "hadamard.h"

#include <math.h>

#include "bytes.h"
#include "closed_part.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"

// One choice of every draw.
typedef struct forced {
    uint32_t row, is_lie, other, any;
} forced;

// Returns: the record, 2 (block b + row) + sign.
static uint32_t forced_output(const shoal_part *part, uint64_t item, const forced *f)
{
    uint8_t record[4];
    shoal_rng rng;
    uint32_t at = 0;
    script(&rng, 0, 0);
    if (part->m > 1) script_word(&rng, at++, f->row);
    script_word(&rng, at++, f->is_lie ? 0 : UINT64_MAX);
    if (part->k > 1) script_word(&rng, at++, f->other);
    script_word(&rng, at++, f->any);
    shoal_hadamard_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_hadamard_mechanism.check(part, record) == SHOAL_OK);
    return load32_le(record);
}

// The Hadamard entry by its recursive definition, apple-2017 (3): H_2n = [H H; H -H].
static int hadamard(uint32_t n, uint32_t row, uint32_t column)
{
    if (n == 1) return 1;
    int sign = row >= n / 2 && column >= n / 2 ? -1 : 1;
    return sign * hadamard(n / 2, row % (n / 2), column % (n / 2));
}

// The cell of a listed value in a row, as a record.
static uint32_t true_output(const shoal_part *part, uint32_t x, uint32_t row)
{
    uint32_t block = x % part->k, column = x / part->k;
    return 2 * (block * part->m + row) + (hadamard(part->m, row, column) > 0 ? 1 : 0);
}

// Weights count b * 16 * (2 B - 1) * 2 B: every choice of every draw.
static void enumerate(law *a, const shoal_part *part, uint64_t item, uint64_t t)
{
    forced f;
    memset(a, 0, sizeof *a);
    for (f.row = 0; f.row < part->m; f.row++)
        for (f.is_lie = 0; f.is_lie < 2; f.is_lie++)
            for (f.other = 0; f.other < 2 * part->k - 1; f.other++)
                for (f.any = 0; f.any < 2 * part->k; f.any++)
                    a->weight[forced_output(part, item, &f)] += f.is_lie ? t : 16 - t;
}

static void whole_law(uint32_t size, uint32_t eps_micro, uint32_t blocks)
{
    static law laws[12];
    for (uint64_t t = 1; t <= 15; t += 2) {
        shoal_part part = closed_part(shoal_hadamard_id, size, eps_micro);
        uint32_t outputs = 2 * part.k * part.m;
        uint64_t cells = 2 * part.k, truth = (16 - t) * (cells - 1) * cells, lie = t * cells;
        int is_reached = 0, is_none_reached = 0;
        if (!CHECK(part.k == blocks && part.k * part.m >= size) || lie > truth) return;
        part.threshold = t << 60;
        for (uint32_t x = 0; x <= size; x++) {
            enumerate(&laws[x], &part, item_or_none(&part, x), t);
            CHECK(law_total(&laws[x], outputs) == part.m * 16 * (cells - 1) * cells);
            for (uint32_t o = 0; o < outputs; o++) {
                uint32_t row = o / 2 % part.m;
                uint64_t listed = x < size && o == true_output(&part, x, row) ? truth : lie;
                CHECK(laws[x].weight[o] == (x < size ? listed : 16 * (cells - 1)));
            }
        }
        for (uint32_t x = 0; x < size; x++)
            for (uint32_t y = 0; y < size; y++)
                CHECK(law_within_odds(&laws[x], &laws[y], outputs, truth, lie, &is_reached));
        for (uint32_t x = 0; x < size; x++) {
            CHECK(law_within_odds(&laws[x], &laws[size], outputs, truth, lie, &is_none_reached));
            CHECK(law_within_odds(&laws[size], &laws[x], outputs, truth, lie, &is_none_reached));
        }
        CHECK(is_reached);
        CHECK(truth == lie ||
              !is_none_reached); // "none of the list" costs strictly less than a listed value
    }
}

// No other power of two, up to what the list needs, has a smaller (e^epsilon - 1)^2/B + 4 B.
static void best_blocks(void)
{
    for (uint32_t eps = 10000; eps <= 16000000; eps += 9871)
        for (uint32_t size = 2; size <= SHOAL_HADAMARD_SIZE_MAX; size += 1 + 15 * size) {
            shoal_part part = closed_part(shoal_hadamard_id, size, eps);
            double a = exp(eps / 1e6) - 1, own = a * a / part.k + 4.0 * part.k;
            CHECK((part.k & (part.k - 1)) == 0 && (part.m & (part.m - 1)) == 0);
            CHECK(part.k * part.m >= size && (part.m == 1 || part.k * part.m < 2 * size));
            for (uint32_t blocks = 1; blocks < 2 * size; blocks *= 2)
                CHECK(own <= (a * a / blocks + 4.0 * blocks) * (1 + 1e-12));
        }
}

static void real_epsilon(void)
{
    const uint32_t sizes[] = {2, 3, 1000, SHOAL_HADAMARD_SIZE_MAX};
    for (size_t i = 0; i < N_CLOSED_EPS; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            shoal_part part = closed_part(shoal_hadamard_id, sizes[j], closed_eps[i]);
            uint32_t claimed = 0;
            CHECK(shoal_hadamard_mechanism.epsilon(&claimed, &part) == SHOAL_OK &&
                  claimed == closed_eps[i]);
            double lie = (double)part.threshold / (2 * part.k - 1),
                   truth = (double)(0 - part.threshold);
            double e = exp(closed_eps[i] / 1e6);
            CHECK(truth / lie <= e * (1 + 1e-12) && truth / lie >= 0.999999 * e);
        }
}

// 80,000 records of value 9 of 11 (4 blocks of 4) and of "none": every output as often as its
// probability says, 5 sd.
static void real_draws(void)
{
    shoal_part part = closed_part(shoal_hadamard_id, 11, 2000000);
    uint8_t seed[32] = {6}, record[4];
    double n = 80000, lie = (double)part.threshold / TWO_64;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    if (!CHECK(part.k == 4 && part.m == 4)) return;
    for (uint32_t x = 9; x <= 11; x += 2) {
        uint32_t seen[32] = {0};
        for (int i = 0; i < (int)n; i++) {
            shoal_hadamard_mechanism.randomize(record, &part, item_or_none(&part, x), NULL, &rng);
            if (CHECK(shoal_hadamard_mechanism.check(&part, record) == SHOAL_OK))
                seen[load32_le(record)]++;
        }
        for (uint32_t o = 0; o < 32; o++) {
            double cell = x == 11                                 ? 1.0 / 8
                          : o == true_output(&part, x, o / 2 % 4) ? 1 - lie
                                                                  : lie / 7,
                   p = cell / 4;
            CHECK(fabs(seen[o] - n * p) < 5 * sqrt(n * p * (1 - p)));
        }
    }
}

static void ranges(void)
{
    shoal_recipe recipe;
    uint8_t record[4];
    size_t position = 99;
    CHECK(closed_recipe(&recipe, "hadamard", 4000000, 1000) == SHOAL_OK);
    CHECK(recipe.parts[0].k == 32 && recipe.parts[0].m == 32 && recipe.record_size == 4 &&
          recipe.text_size == 6);
    CHECK(shoal_record_from_text(record, &recipe, "1023,1", 6, NULL) == SHOAL_OK &&
          load32_le(record) == 2047);
    CHECK(shoal_record_from_text(record, &recipe, "1024,1", 6, &position) == SHOAL_ERR_RANGE &&
          position == 0);
    CHECK(shoal_record_from_text(record, &recipe, "1023,2", 6, &position) == SHOAL_ERR_RANGE &&
          position == 5);
    CHECK(shoal_record_from_text(record, &recipe, "1023;1", 6, &position) == SHOAL_ERR_TYPE &&
          position == 4);
    store32_le(record, 2048);
    CHECK(shoal_record_check(&recipe, record) == SHOAL_ERR_RECORD);
    CHECK(closed_recipe(&recipe, "hadamard", 16000000, SHOAL_HADAMARD_SIZE_MAX) == SHOAL_OK);
    CHECK(closed_recipe(&recipe, "hadamard", 4000000, SHOAL_HADAMARD_SIZE_MAX + 1) ==
          SHOAL_ERR_RANGE);
    CHECK(closed_recipe(&recipe, "hadamard", 4000000, 1) == SHOAL_ERR_RANGE);
}

int main(void)
{
    whole_law(2, 1000000, 1);
    whole_law(11, 1000000, 1);
    whole_law(5, 1500000, 2);
    whole_law(11, 2000000, 4);
    whole_law(3, 4000000, 4);
    best_blocks();
    real_epsilon();
    real_draws();
    ranges();
    return check_summary();
}
