// SPDX-License-Identifier: Apache-2.0
// Piecewise mean: the whole output law by enumeration, on a small grid and at the real thresholds;
// ends and middle of the range, what the edges of a draw do, real draws.
#include "piecewise.h"

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
        .mechanism = shoal_piecewise_id, .domain = SHOAL_DOMAIN_NUMBER, .eps_micro = eps_micro};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    CHECK(part.record_size == 4 && part.text_size == 3);
    CHECK(shoal_piecewise_steps(&part) == SHOAL_PIECEWISE_STEPS);
    return part;
}

// The words that the randomizer draws, in their order.
enum { COIN, DRAW, LIE, INSIDE, OUTSIDE, FLIP, N_WORDS };

static uint32_t forced_output(const shoal_part *part, uint64_t item, const uint64_t words[N_WORDS])
{
    uint8_t record[5] = {99, 99, 99, 99, 99};
    shoal_rng rng;
    script(&rng, N_WORDS, 0);
    for (uint32_t i = 0; i < N_WORDS; i++) script_word(&rng, i, words[i]);
    shoal_piecewise_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(record[4] == 99 && shoal_piecewise_mechanism.check(part, record) == SHOAL_OK);
    CHECK(rng.used == 8 * N_WORDS); // the same draws, whatever item and coins
    return load32_le(record);
}

// A grid of 4 steps, windows of 2 places, coins in quarters: every combination of coins, for
// fractions in eighths, of which each second one lies between two positions.
#define STEPS 4u
#define WIDTH 2u
#define PLACES (STEPS + WIDTH)
#define TOTAL ((uint64_t)4 * 8 * 4 * WIDTH * STEPS * 4)

static shoal_part small_part(uint64_t place, uint64_t lie, uint64_t flip)
{
    shoal_part part = make_part(4000000);
    part.k = WIDTH;
    part.m = PLACES + 2;
    part.text_size = 1;
    part.threshold = lie << 62;
    part.pqf_threshold[SHOAL_PIECEWISE_PLACE] = place << 62;
    part.pqf_threshold[SHOAL_PIECEWISE_FLIP] = flip << 62;
    return part;
}

static uint64_t item_at(uint32_t j)
{
    return j == NONE_AT ? SHOAL_ITEM_NONE : (uint64_t)j << 29;
}

static void enumerate(law *a, const shoal_part *part, uint64_t item)
{
    memset(a, 0, sizeof *a);
    for (uint64_t i = 0; i < TOTAL; i++) {
        const uint64_t words[N_WORDS] = {i % 4 << 62,     i / 4 % 8 << 61, i / 32 % 4 << 62,
                                         i / 128 % WIDTH, i / 256 % STEPS, i / 1024 % 4 << 62};
        a->weight[forced_output(part, item, words)]++;
    }
}

// What piecewise.h states, in units of 1/TOTAL.
static uint64_t stated(const shoal_part *part, uint32_t of8, uint32_t answer)
{
    uint64_t place = part->pqf_threshold[SHOAL_PIECEWISE_PLACE] >> 62, lie = part->threshold >> 62,
             flip = part->pqf_threshold[SHOAL_PIECEWISE_FLIP] >> 62, sum = 0;
    if (answer >= PLACES) {
        uint64_t one = of8 * (4 - flip) + (8 - of8) * flip;
        return (4 - place) * (answer > PLACES ? one : 32 - one) * 4 * WIDTH * STEPS;
    }
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t j = of8 / 2 + side, weight = side == of8 % 2 ? 4 : of8 % 2 == 0 ? 0 : 4;
        if (of8 % 2 == 0) weight = side == 0 ? 8 : 0;
        bool is_inside = answer >= j && answer < j + WIDTH;
        sum += weight * (is_inside ? (4 - lie) * STEPS : lie * WIDTH);
    }
    return place * sum * 4;
}

static void whole_law(void)
{
    static law laws[NONE_AT + 1];
    const uint64_t coins[][3] = {{2, 1, 1}, {3, 2, 1}, {1, 1, 2}};
    for (size_t c = 0; c < sizeof coins / sizeof coins[0]; c++) {
        shoal_part part = small_part(coins[c][0], coins[c][1], coins[c][2]);
        int is_reached = 0;
        for (uint32_t j = 0; j <= NONE_AT; j++) {
            enumerate(&laws[j], &part, item_at(j));
            CHECK(law_total(&laws[j], PLACES + 2) == TOTAL);
            for (uint32_t answer = 0; answer < PLACES + 2; answer++)
                CHECK(laws[j].weight[answer] == stated(&part, j == NONE_AT ? 4 : j, answer));
        }
        // The odds of a place, (4 - lie) G / (lie W), and of a bit, (4 - flip) / flip.
        uint64_t place[2] = {(4 - coins[c][1]) * STEPS, coins[c][1] * WIDTH};
        uint64_t bit[2] = {4 - coins[c][2], coins[c][2]};
        const uint64_t *odds = place[0] * bit[1] > bit[0] * place[1] ? place : bit;
        for (uint32_t x = 0; x <= NONE_AT; x++)
            for (uint32_t y = 0; y <= NONE_AT; y++)
                CHECK(
                    law_within_odds(&laws[x], &laws[y], PLACES + 2, odds[0], odds[1], &is_reached));
        CHECK(is_reached);
    }
}

// At the real thresholds the law has four probabilities, and what the mechanism says of itself
// follows from them.
static void real_epsilon(void)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = make_part(eps[i]);
        uint32_t claimed = 0;
        CHECK(shoal_piecewise_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed == eps[i]);
        double whole = 0x1p64, e = exp(eps[i] / 1e6), t = (double)part.threshold,
               q = (double)part.pqf_threshold[SHOAL_PIECEWISE_FLIP], w = part.k,
               g = SHOAL_PIECEWISE_STEPS, share = exp(-(eps[i] / 2e6));
        double place = (whole - t) / t * g / w, bit = (whole - q) / q;
        CHECK(place <= e * (1 + 1e-12) && place >= 0.999999 * e);
        CHECK(bit <= e * (1 + 1e-12) && bit >= 0.999999 * e);
        CHECK(w == fmax(1, floor(g * share + 0.5)));
        double places = (double)part.pqf_threshold[SHOAL_PIECEWISE_PLACE] / whole;
        CHECK(fabs(places - (1 - share)) < 0x1p-31);
    }
}

// A claim that a recipe's thresholds do not keep is seen by the claim itself.
static void claims(void)
{
    shoal_part part = make_part(2000000);
    uint32_t claimed = 0;
    part.threshold -= part.threshold / 8;
    CHECK(shoal_piecewise_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed > 2100000);
    part = make_part(2000000);
    part.pqf_threshold[SHOAL_PIECEWISE_FLIP] -= part.pqf_threshold[SHOAL_PIECEWISE_FLIP] / 8;
    CHECK(shoal_piecewise_mechanism.epsilon(&claimed, &part) == SHOAL_OK && claimed > 2100000);
}

static void edges(void)
{
    shoal_part part = make_part(4000000);
    const uint32_t w = part.k, g = SHOAL_PIECEWISE_STEPS, places = g + w;
    const uint64_t last = UINT64_MAX, truth[N_WORDS] = {0, 0, last, 0, 0, last};
    uint64_t words[N_WORDS];
    CHECK(w == 35); // 256 e^-2 = 34.6
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
    words[LIE] = part.threshold;
    CHECK(forced_output(&part, 0, words) == 0);
    words[COIN] = part.pqf_threshold[SHOAL_PIECEWISE_PLACE] - 1;
    CHECK(forced_output(&part, 0, words) == 0);
    words[COIN]++; // the first number that makes it a bit
    CHECK(forced_output(&part, 0, words) == places);
    CHECK(forced_output(&part, 1, words) == places + 1);
    CHECK(forced_output(&part, SHOAL_NUMBER_ONE, words) == places + 1);
    words[FLIP] = part.pqf_threshold[SHOAL_PIECEWISE_FLIP] - 1;
    CHECK(forced_output(&part, SHOAL_NUMBER_ONE, words) == places);
}

// 40,000 records each at a few fractions: the share of bits, of places in the window of the
// nearest position, and of ones, 5 sd.
static void real_draws(void)
{
    shoal_part part = make_part(1000000);
    const double n = 40000, g = SHOAL_PIECEWISE_STEPS, w = part.k;
    const double lie = (double)part.threshold * 0x1p-64,
                 q = (double)part.pqf_threshold[SHOAL_PIECEWISE_FLIP] * 0x1p-64,
                 is_place = (double)part.pqf_threshold[SHOAL_PIECEWISE_PLACE] * 0x1p-64;
    const uint64_t items[] = {0, (uint64_t)77 << 24, SHOAL_ITEM_NONE, SHOAL_NUMBER_ONE};
    const uint32_t positions[] = {0, 77, 128, 256};
    uint8_t seed[32] = {17}, record[4];
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        double seen[3] = {0}, u = positions[i] / g,
               stated_[3] = {1 - is_place, is_place * (1 - lie),
                             (1 - is_place) * (u * (1 - q) + (1 - u) * q)};
        for (int d = 0; d < (int)n; d++) {
            shoal_piecewise_mechanism.randomize(record, &part, items[i], NULL, &rng);
            uint32_t answer = load32_le(record);
            seen[0] += answer >= shoal_piecewise_places(&part);
            seen[1] += answer < shoal_piecewise_places(&part) && answer >= positions[i] &&
                       answer < positions[i] + w;
            seen[2] += answer == part.m - 1;
        }
        for (int k = 0; k < 3; k++)
            CHECK(fabs(seen[k] - n * stated_[k]) < 5 * sqrt(n * stated_[k] * (1 - stated_[k])));
    }
}

static void records(void)
{
    shoal_part part = make_part(4000000);
    const shoal_mechanism *m = &shoal_piecewise_mechanism;
    uint8_t record[4] = {0x24, 0x01, 0, 0}, back[4] = {9, 9, 9, 9};
    char text[3];
    size_t position = 99;
    CHECK(part.m == 293);
    m->print(text, &part, record);
    CHECK(memcmp(text, "292", 3) == 0 && m->parse(back, &part, text, &position) == SHOAL_OK);
    CHECK(memcmp(back, record, 4) == 0 && position == 3 && m->check(&part, record) == SHOAL_OK);
    CHECK(m->parse(back, &part, "293", &position) != SHOAL_OK);
    CHECK(m->parse(back, &part, "2x2", &position) != SHOAL_OK && position == 1);
    record[0]++;
    CHECK(m->check(&part, record) == SHOAL_ERR_RECORD);
}

static void recipes(void)
{
    shoal_recipe recipe;
    CHECK(start_any_recipe("piecewise", "number") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK && set_int("parameters.low", 0) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(building.error_field, "parameters.high") == 0);
    CHECK(start_any_recipe("piecewise", "item") == SHOAL_OK);
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
