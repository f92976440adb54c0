// SPDX-License-Identifier: Apache-2.0
// Square wave: the whole output law by enumeration, on a small grid and at the real thresholds;
// ends and middle of the range, what the edges of a draw do, real draws.
#include "square_wave.h"

#include <math.h>

#include "bytes.h"
#include "check.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

#define NONE_AT 9u // where the laws below keep SHOAL_ITEM_NONE

static shoal_part make_part(uint32_t eps_micro)
{
    shoal_part part = {
        .mechanism = shoal_square_wave_id, .domain = SHOAL_DOMAIN_NUMBER, .eps_micro = eps_micro};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    CHECK(part.record_size == 4 && part.text_size == 3);
    CHECK(shoal_square_wave_steps(&part) == SHOAL_PLACE_STEPS);
    return part;
}

// The words that the randomizer draws, in their order.
enum { DRAW, LIE, INSIDE, OUTSIDE, N_WORDS };

static uint32_t forced_output(const shoal_part *part, uint64_t item, const uint64_t words[N_WORDS])
{
    uint8_t record[5] = {99, 99, 99, 99, 99};
    shoal_rng rng;
    script(&rng, N_WORDS, 0);
    for (uint32_t i = 0; i < N_WORDS; i++) script_word(&rng, i, words[i]);
    shoal_square_wave_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(record[4] == 99 && shoal_square_wave_mechanism.check(part, record) == SHOAL_OK);
    CHECK(rng.used == 8 * N_WORDS); // the same draws, whatever item and coins
    return load32_le(record);
}

// A grid of 4 steps, windows of 2 or 3 places, coins in quarters: every combination of coins, for
// fractions in eighths, of which each second one lies between two positions.
#define STEPS 4u

static shoal_part small_part(uint32_t width, uint64_t lie)
{
    shoal_part part = make_part(4000000);
    part.k = width;
    part.m = STEPS + width;
    part.text_size = 1;
    part.threshold = lie << 62;
    return part;
}

static uint64_t total_of(const shoal_part *part)
{
    return (uint64_t)8 * 4 * part->k * STEPS;
}

static uint64_t item_at(uint32_t j)
{
    return j == NONE_AT ? SHOAL_ITEM_NONE : (uint64_t)j << 29;
}

static void enumerate(law *a, const shoal_part *part, uint64_t item)
{
    memset(a, 0, sizeof *a);
    for (uint64_t i = 0; i < total_of(part); i++) {
        const uint64_t words[N_WORDS] = {i % 8 << 61, i / 8 % 4 << 62, i / 32 % part->k,
                                         i / 32 / part->k};
        a->weight[forced_output(part, item, words)]++;
    }
}

// What square_wave.h states, in units of 1/total_of(part).
static uint64_t stated(const shoal_part *part, uint32_t of8, uint32_t answer)
{
    uint64_t lie = part->threshold >> 62, sum = 0;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t j = of8 / 2 + side, weight = of8 % 2 == 1 ? 4 : side == 0 ? 8 : 0;
        bool is_inside = answer >= j && answer < j + part->k;
        sum += weight * (is_inside ? (4 - lie) * STEPS : lie * part->k);
    }
    return sum;
}

static void check_law(const shoal_part *part)
{
    static law laws[NONE_AT + 1];
    uint64_t lie = part->threshold >> 62;
    int is_reached = 0;
    for (uint32_t j = 0; j <= NONE_AT; j++) {
        enumerate(&laws[j], part, item_at(j));
        CHECK(law_total(&laws[j], part->m) == total_of(part));
        for (uint32_t answer = 0; answer < part->m; answer++)
            CHECK(laws[j].weight[answer] == stated(part, j == NONE_AT ? 4 : j, answer));
    }
    for (uint32_t x = 0; x <= NONE_AT; x++)
        for (uint32_t y = 0; y <= NONE_AT; y++)
            CHECK(law_within_odds(&laws[x], &laws[y], part->m, (4 - lie) * STEPS, lie * part->k,
                                  &is_reached));
    CHECK(is_reached);
}

static void whole_law(void)
{
    for (uint32_t width = 2; width <= 3; width++)
        for (uint64_t lie = 1; lie <= 2; lie++) {
            shoal_part part = small_part(width, lie);
            check_law(&part);
        }
}

// At the real thresholds the law has two probabilities, and what the mechanism says of itself
// follows from them. The width is that of the paper's formula.
static void real_epsilon(void)
{
    for (uint32_t eps = 10000; eps <= 16000000; eps += eps < 100000 ? 1000 : 33333) {
        shoal_part part = make_part(eps);
        uint32_t claimed = 0;
        CHECK(shoal_square_wave_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps);
        double x = eps / 1e6, e = exp(x), t = (double)part.threshold, w = part.k,
               g = SHOAL_PLACE_STEPS;
        double odds = (0x1p64 - t) / t * g / w;
        CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
        double width = g * (x - 1 + 1 / e) / (expm1(x) - x);
        CHECK(fabs(w - fmax(1, width)) < 0.52); // 0.5 and what the fixed point loses
    }
    const double eps[] = {1, 2, 4, 8}, widths[] = {131, 66, 16, 1};
    for (int i = 0; i < 4; i++) CHECK(make_part((uint32_t)(eps[i] * 1e6)).k == widths[i]);
}

// A claim that a recipe's thresholds do not keep is seen by the claim itself.
static void claims(void)
{
    shoal_part part = make_part(2000000);
    uint32_t claimed = 0;
    part.threshold -= part.threshold / 8;
    CHECK(shoal_square_wave_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed > 2100000);
    const char *field = NULL;
    shoal_part refused[] = {part, part};
    refused[0].eps_micro = 9999;
    refused[1].eps_micro = 16000001;
    for (int i = 0; i < 2; i++)
        CHECK(shoal_part_prepare(&refused[i], &field) == SHOAL_ERR_RANGE &&
              strcmp(field, "epsilon") == 0);
}

static void edges(void)
{
    shoal_part part = make_part(4000000);
    const uint32_t w = part.k, g = SHOAL_PLACE_STEPS, places = g + w;
    const uint64_t last = UINT64_MAX, truth[N_WORDS] = {0, last, 0, 0};
    uint64_t words[N_WORDS];
    CHECK(forced_output(&part, 0, truth) == 0);
    CHECK(forced_output(&part, SHOAL_NUMBER_ONE, truth) == g);
    CHECK(forced_output(&part, SHOAL_ITEM_NONE, truth) == g / 2);
    CHECK(forced_output(&part, ((uint64_t)1 << 24) - 1, truth) == 0);
    CHECK(forced_output(&part, (uint64_t)1 << 24, truth) == 1);
    memcpy(words, truth, sizeof words);
    words[DRAW] = last; // rounds up whatever is not on the grid
    words[INSIDE] = w - 1;
    CHECK(forced_output(&part, 0, words) == w - 1);
    CHECK(forced_output(&part, 1, words) == w);
    CHECK(forced_output(&part, SHOAL_NUMBER_ONE, words) == places - 1);
    CHECK(forced_output(&part, SHOAL_ITEM_NONE, words) == g / 2 + w - 1);
    memcpy(words, truth, sizeof words);
    words[LIE] = part.threshold - 1;
    CHECK(forced_output(&part, 0, words) == w);
    CHECK(forced_output(&part, (uint64_t)1 << 24, words) == 0);
    words[OUTSIDE] = g - 1;
    CHECK(forced_output(&part, SHOAL_NUMBER_ONE, words) == g - 1);
    CHECK(forced_output(&part, 0, words) == places - 1);
    words[LIE] = part.threshold; // the first number that tells the truth
    CHECK(forced_output(&part, 0, words) == 0);
}

// 40,000 records each at a few fractions: the share of places in the window of the nearest
// position, 5 sd.
static void real_draws(void)
{
    shoal_part part = make_part(1000000);
    const double n = 40000, truth = 1 - (double)part.threshold * 0x1p-64;
    const uint64_t items[] = {0, (uint64_t)77 << 24, SHOAL_ITEM_NONE, SHOAL_NUMBER_ONE};
    const uint32_t positions[] = {0, 77, 128, 256};
    uint8_t seed[32] = {18}, record[4];
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        double seen = 0;
        for (int d = 0; d < (int)n; d++) {
            shoal_square_wave_mechanism.randomize(record, &part, items[i], NULL, &rng);
            seen += load32_le(record) - positions[i] < part.k; // wraps where below
        }
        CHECK(fabs(seen - n * truth) < 5 * sqrt(n * truth * (1 - truth)));
    }
}

static void records(void)
{
    shoal_part part = make_part(4000000);
    const shoal_mechanism *m = &shoal_square_wave_mechanism;
    uint8_t record[4] = {0x0f, 0x01, 0, 0}, back[4] = {9, 9, 9, 9};
    char text[3];
    size_t position = 99;
    CHECK(part.m == 272);
    m->print(text, &part, record);
    CHECK(memcmp(text, "271", 3) == 0 && m->parse(back, &part, text, &position) == SHOAL_OK);
    CHECK(memcmp(back, record, 4) == 0 && position == 3 && m->check(&part, record) == SHOAL_OK);
    CHECK(m->parse(back, &part, "272", &position) != SHOAL_OK);
    CHECK(m->parse(back, &part, "2x2", &position) != SHOAL_OK && position == 1);
    record[0]++;
    CHECK(m->check(&part, record) == SHOAL_ERR_RECORD);
}

static void recipes(void)
{
    shoal_recipe recipe;
    CHECK(start_any_recipe("square-wave", "number") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK && set_int("parameters.low", 0) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(building.error_field, "parameters.high") == 0);
    CHECK(start_any_recipe("square-wave", "item") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK && finish_recipe(&recipe) != SHOAL_OK);
}

int main(void)
{
    whole_law();
    real_epsilon();
    claims();
    edges();
    real_draws();
    records();
    recipes();
    return check_summary();
}
