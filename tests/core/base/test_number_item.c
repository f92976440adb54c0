// SPDX-License-Identifier: Apache-2.0
// A number's place in a range: exact at edges and extremes, against the definition q width <= (x -
// low) count < (q + 1) width.
#include "number_item.h"

#include "check.h"
#include "rng.h"
#include "test_recipes.h"

typedef struct wide {
    uint64_t high, low;
} wide;

static wide product(uint64_t x, uint64_t y)
{
    uint64_t x0 = (uint32_t)x, x1 = x >> 32, y0 = (uint32_t)y, y1 = y >> 32;
    uint64_t low = x0 * y0, middle = x1 * y0 + (low >> 32), other = x0 * y1 + (uint32_t)middle;
    return (wide){x1 * y1 + (middle >> 32) + (other >> 32), other << 32 | (uint32_t)low};
}

static int not_above(wide a, wide b)
{
    return a.high < b.high || (a.high == b.high && a.low <= b.low);
}

static void check_inside(int64_t x, int64_t low, int64_t high, uint64_t count)
{
    uint64_t width = (uint64_t)high - (uint64_t)low, above = (uint64_t)x - (uint64_t)low;
    uint64_t q = shoal_number_scale(x, low, high, count);
    CHECK(q <= count);
    CHECK(not_above(product(q, width), product(above, count)));
    CHECK(!not_above(product(q + 1, width), product(above, count)));
}

static void definition(void)
{
    uint8_t seed[32] = {9};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    const uint64_t counts[] = {1, 2, 3, 10, 1000003, (uint64_t)1 << 24, (uint64_t)1 << 32};
    for (int i = 0; i < 3000; i++) {
        int64_t low = (int64_t)(shoal_rng_u64(&rng) >> (i % 60)) * (i % 2 ? 1 : -1);
        uint64_t room = (uint64_t)INT64_MAX - (uint64_t)low;
        uint64_t width = 1 + shoal_rng_below(&rng, room) % (((uint64_t)1 << (1 + i % 62)) - 0);
        if (width > room) width = room;
        int64_t high = (int64_t)((uint64_t)low + width);
        int64_t x = (int64_t)((uint64_t)low + shoal_rng_below(&rng, width));
        for (int c = 0; c < 7; c++) {
            check_inside(x, low, high, counts[c]);
            check_inside(low, low, high, counts[c]);
            check_inside(high, low, high, counts[c]);
            CHECK(shoal_number_scale(high, low, high, counts[c]) == counts[c]);
            if (low > INT64_MIN) CHECK(shoal_number_scale(low - 1, low, high, counts[c]) == 0);
            if (high < INT64_MAX)
                CHECK(shoal_number_scale(high + 1, low, high, counts[c]) == counts[c]);
        }
    }
    check_inside(-1, INT64_MIN, INT64_MAX, (uint64_t)1 << 32);
    CHECK(shoal_number_scale(INT64_MAX, INT64_MIN, INT64_MAX, 7) == 7);
}

// -10 .. 10 in 20 buckets: an edge belongs to the bucket above it, the upper end and all beyond to
// the last.
static void buckets(void)
{
    shoal_recipe recipe;
    CHECK(start_any_recipe("onehot-asymmetric", "number") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK);
    CHECK(set_int("parameters.size", 20) == SHOAL_OK);
    CHECK(set_int("parameters.low", -10) == SHOAL_OK && set_int("parameters.high", 10) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_OK);
    const struct {
        int64_t micro;
        uint64_t item;
    } cases[] = {{-10000000, 0},  {-9000001, 0},  {-9000000, 1},  {0, 10},
                 {999999, 10},    {9999999, 19},  {10000000, 19}, {10000001, 19},
                 {INT64_MAX, 19}, {-10000001, 0}, {INT64_MIN, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(shoal_recipe_number_item(&recipe, cases[i].micro) == cases[i].item);
}

// What a recipe about numbers may not say.
static void refusals(void)
{
    shoal_recipe recipe;
    CHECK(start_any_recipe("onehot-asymmetric", "number") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK);
    CHECK(set_int("parameters.size", 20) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_MISSING_FIELD &&
          strcmp(building.error_field, "parameters.low") == 0);
    CHECK(start_any_recipe("onehot-asymmetric", "number") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK &&
          set_int("parameters.size", 20) == SHOAL_OK);
    CHECK(set_int("parameters.low", 3) == SHOAL_OK && set_int("parameters.high", 3) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_RANGE &&
          strcmp(building.error_field, "parameters.low") == 0);
    CHECK(start_any_recipe("onehot-asymmetric", "word") == SHOAL_OK);
    CHECK(set_int("parameters.epsilon", 2) == SHOAL_OK &&
          set_int("parameters.size", 20) == SHOAL_OK);
    CHECK(set_int("parameters.low", 3) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_UNKNOWN_FIELD &&
          strcmp(building.error_field, "parameters.low") == 0);
}

int main(void)
{
    definition();
    buckets();
    refusals();
    return check_summary();
}
