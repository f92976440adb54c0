// SPDX-License-Identifier: Apache-2.0
// One-bit mean: the whole output law by enumeration, ends and middle of the range, what the edges
// of a draw do; one of k means.
#include "one_bit_mean.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

#define NONE_AT 17u // where the laws below keep SHOAL_ITEM_NONE

static shoal_part make_part(uint32_t eps_micro)
{
    shoal_part part = {.mechanism = shoal_one_bit_mean_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = eps_micro,
                       .k = 1};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    CHECK(part.record_size == 1 && part.text_size == 1 && part.m == 1);
    return part;
}

static uint32_t forced_output(const shoal_part *part, uint64_t item, uint64_t draw, uint64_t coin)
{
    uint8_t record[1] = {99};
    shoal_rng rng;
    script(&rng, 2, 0);
    script_word(&rng, 0, draw);
    script_word(&rng, 1, coin);
    shoal_one_bit_mean_mechanism.randomize(record, part, item, NULL, &rng);
    CHECK(shoal_one_bit_mean_mechanism.check(part, record) == SHOAL_OK);
    CHECK(rng.used == 16); // two draws, whatever the item
    return record[0];
}

static uint64_t item_at(uint32_t j)
{
    return j == NONE_AT ? SHOAL_ITEM_NONE : (uint64_t)j << 28;
}

// Fractions of 16ths and a coin of t/16: each of 16 draws and 16 coins stands for the 2^60 that
// share its top digit, so that the weights of 256 are the law.
static void enumerate(law *a, const shoal_part *part, uint64_t item)
{
    memset(a, 0, sizeof *a);
    for (uint64_t draw = 0; draw < 16; draw++)
        for (uint64_t coin = 0; coin < 16; coin++)
            a->weight[forced_output(part, item, draw << 60, coin << 60)]++;
}

static void whole_law(void)
{
    static law laws[NONE_AT + 1];
    for (uint64_t t = 1; t <= 8; t++) {
        shoal_part part = make_part(4000000);
        part.threshold = t << 60;
        int is_reached = 0, is_none_reached = 0;
        for (uint32_t j = 0; j <= NONE_AT; j++) {
            uint64_t of16 = j == NONE_AT ? 8 : j;
            enumerate(&laws[j], &part, item_at(j));
            CHECK(laws[j].weight[1] == of16 * (16 - t) + (16 - of16) * t);
            CHECK(law_total(&laws[j], 2) == 256);
        }
        for (uint32_t x = 0; x <= 16; x++)
            for (uint32_t y = 0; y <= 16; y++)
                CHECK(law_within(&laws[x], &laws[y], 2, t, 1, &is_reached));
        for (uint32_t x = 0; x <= 16; x++) {
            CHECK(law_within(&laws[x], &laws[NONE_AT], 2, t, 1, &is_none_reached));
            CHECK(law_within(&laws[NONE_AT], &laws[x], 2, t, 1, &is_none_reached));
        }
        CHECK(is_reached);
        CHECK(t == 8 ||
              !is_none_reached); // "no number" costs strictly less than the ends of the range
    }
}

// The draws just below and at the fraction, and the ends of the range, which leave the draw no say.
// The coin never flips here.
static void edges(void)
{
    shoal_part part = make_part(4000000);
    const uint64_t fractions[] = {1, 2, 1000003, ((uint64_t)1 << 31) - 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
        CHECK(forced_output(&part, fractions[i], (fractions[i] - 1) << 32 | UINT32_MAX,
                            UINT64_MAX) == 1);
        CHECK(forced_output(&part, fractions[i], fractions[i] << 32, UINT64_MAX) == 0);
    }
    CHECK(forced_output(&part, 0, 0, UINT64_MAX) == 0);
    CHECK(forced_output(&part, SHOAL_NUMBER_ONE, UINT64_MAX, UINT64_MAX) == 1);
    CHECK(forced_output(&part, SHOAL_ITEM_NONE, (uint64_t)UINT32_MAX << 31, UINT64_MAX) == 1);
    CHECK(forced_output(&part, SHOAL_ITEM_NONE, (uint64_t)1 << 63, UINT64_MAX) == 0);
    CHECK(forced_output(&part, 0, 0, part.threshold - 1) == 1 &&
          forced_output(&part, 0, 0, part.threshold) == 0);
}

static void real_epsilon(void)
{
    const uint32_t eps[] = {10000, 500000, 1000000, 2000000, 4000000, 8000000, 12000000, 16000000};
    for (uint32_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        shoal_part part = make_part(eps[i]);
        uint32_t claimed = 0;
        CHECK(shoal_one_bit_mean_mechanism.epsilon(&claimed, &part) == SHOAL_OK &&
              claimed == eps[i]);
        double t = (double)part.threshold, odds = (18446744073709551616.0 - t) / t,
               e = exp(eps[i] / 1e6);
        CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
    }
}

// 40,000 records each at a few fractions: the share of ones, 5 sd.
static void real_draws(void)
{
    shoal_part part = make_part(1000000);
    double q = (double)part.threshold / 18446744073709551616.0, n = 40000;
    const uint64_t items[] = {0, 123456789, SHOAL_ITEM_NONE, 4000000000u, SHOAL_NUMBER_ONE};
    uint8_t seed[32] = {6}, record[1];
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        double u = items[i] == SHOAL_ITEM_NONE ? 0.5 : (double)items[i] / 4294967296.0,
               p = u * (1 - q) + (1 - u) * q;
        uint32_t ones = 0;
        for (int d = 0; d < (int)n; d++) {
            shoal_one_bit_mean_mechanism.randomize(record, &part, items[i], NULL, &rng);
            ones += record[0];
        }
        CHECK(fabs(ones - n * p) < 5 * sqrt(n * p * (1 - p)));
    }
}

#define ROWS 3u

// With rows: each alike, whatever the number, and of each the law of one mean.
static void law_of_rows(void)
{
    shoal_part part = {.mechanism = shoal_one_bit_mean_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = 4000000,
                       .k = ROWS};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK && part.k == ROWS && part.m == 2);
    CHECK(part.record_size == 5 && part.text_size == 3);
    part.threshold = (uint64_t)3 << 60;
    for (uint32_t j = 0; j <= NONE_AT; j++) {
        uint64_t of16 = j == NONE_AT ? 8 : j, weight[ROWS][2] = {{0}};
        for (uint64_t row = 0; row < 2 * ROWS; row++)
            for (uint64_t draw = 0; draw < 16; draw++)
                for (uint64_t coin = 0; coin < 16; coin++) {
                    uint8_t record[6] = {99, 99, 99, 99, 99, 99};
                    shoal_rng rng;
                    script(&rng, 3, 0);
                    script_word(&rng, 0, row);
                    script_word(&rng, 1, draw << 60);
                    script_word(&rng, 2, coin << 60);
                    shoal_one_bit_mean_mechanism.randomize(record, &part, item_at(j), NULL, &rng);
                    CHECK(rng.used == 24 && record[0] < ROWS && record[4] < 2 && record[5] == 99);
                    CHECK(shoal_one_bit_mean_mechanism.check(&part, record) == SHOAL_OK);
                    weight[record[0]][record[4]]++;
                }
        for (uint32_t row = 0; row < ROWS; row++) {
            CHECK(weight[row][1] == 2 * (of16 * (16 - 3) + (16 - of16) * 3));
            CHECK(weight[row][0] + weight[row][1] == 512);
        }
    }
}

static void records_of_rows(void)
{
    const char *field;
    shoal_part part = {.mechanism = shoal_one_bit_mean_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = 4000000,
                       .k = 2048};
    const shoal_mechanism *m = &shoal_one_bit_mean_mechanism;
    uint8_t record[5] = {0xff, 0x07, 0, 0, 1}, back[5] = {9, 9, 9, 9, 9};
    char text[6];
    size_t position = 99;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK && part.text_size == 6);
    m->print(text, &part, record);
    CHECK(memcmp(text, "2047,1", 6) == 0 && m->parse(back, &part, text, &position) == SHOAL_OK);
    CHECK(memcmp(back, record, 5) == 0 && m->check(&part, record) == SHOAL_OK);
    CHECK(m->parse(back, &part, "2048,1", &position) != SHOAL_OK && position < 4);
    CHECK(m->parse(back, &part, "2047;1", &position) != SHOAL_OK && position == 4);
    CHECK(m->parse(back, &part, "2047,2", &position) != SHOAL_OK && position == 5);
    CHECK(memcmp(back, record, 5) == 0);
    record[4] = 2;
    CHECK(m->check(&part, record) == SHOAL_ERR_RECORD);
    record[4] = 0;
    record[1] = 8;
    CHECK(m->check(&part, record) == SHOAL_ERR_RECORD);
    part.k = SHOAL_ONE_BIT_MEAN_K_MAX;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    part.k++;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_ERR_RANGE && strcmp(field, "k") == 0);
}

static shoal_err mean_recipe(shoal_recipe *recipe, const char *value, int64_t low, int64_t high)
{
    CHECK(start_any_recipe("one-bit-mean", value) == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK);
    CHECK(set_int("parameters.low", low) == SHOAL_OK &&
          set_int("parameters.high", high) == SHOAL_OK);
    return finish_recipe(recipe);
}

static void recipes(void)
{
    shoal_recipe recipe;
    uint8_t record[2] = {7, 7};
    uint64_t item = SHOAL_NUMBER_ONE + 1;
    shoal_rng rng;
    script(&rng, 0, 0);
    CHECK(mean_recipe(&recipe, "number", -10, 30) == SHOAL_OK && recipe.record_size == 1 &&
          recipe.text_size == 1);
    CHECK(shoal_recipe_number_item(&recipe, -10000001) == 0 &&
          shoal_recipe_number_item(&recipe, -10000000) == 0);
    CHECK(shoal_recipe_number_item(&recipe, 0) == (uint64_t)1 << 30);
    CHECK(shoal_recipe_number_item(&recipe, 30000000) == SHOAL_NUMBER_ONE);
    CHECK(shoal_record_randomize(record, &recipe, &item, 1, NULL, &rng) == SHOAL_ERR_RANGE &&
          record[0] == 7);
    item = SHOAL_ITEM_NONE;
    CHECK(shoal_record_randomize(record, &recipe, &item, 1, NULL, &rng) == SHOAL_OK &&
          record[1] == 7);
    record[0] = 2;
    CHECK(shoal_record_check(&recipe, record) == SHOAL_ERR_RECORD);
    CHECK(mean_recipe(&recipe, "item", -10, 30) == SHOAL_ERR_RANGE &&
          strcmp(building.error_field, "value") == 0);
    CHECK(recipe.n_parts == 0);
    CHECK(mean_recipe(&recipe, "number", 30, 30) == SHOAL_ERR_RANGE);
    CHECK(start_any_recipe("one-bit-mean", "number") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK && set_int("parameters.low", 0) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(building.error_field, "parameters.high") == 0);
}

int main(void)
{
    whole_law();
    edges();
    real_epsilon();
    real_draws();
    law_of_rows();
    records_of_rows();
    recipes();
    return check_summary();
}
