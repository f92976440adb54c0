// SPDX-License-Identifier: Apache-2.0
// Differences where the same devices report on both sides under permanent answers: the covariance
// of two counts against the enumerated law of loloha's rows and coins, and intervals of shoal
// compare where every device moved, which is the worst, and where none did.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "compare.h"
#include "domain_dictionary.h"
#include "estimator.h"
#include "loloha_law.h"

#define N 400u

typedef struct shape {
    uint32_t g, size;
} shape;

static shoal_part part_of(uint32_t g, uint32_t size, uint32_t permanent, uint32_t fresh)
{
    shoal_part part = {.mechanism = shoal_loloha_id,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .eps_micro = fresh,
                       .eps_permanent_micro = permanent,
                       .m = g,
                       .size = size,
                       .seed = {9}};
    const char *field = "";
    assert_int_equal(shoal_part_prepare(&part, &field), SHOAL_OK);
    return part;
}

// Returns: the probability that a step gives z where y is the truth.
static double step(double f, double g, uint32_t y, uint32_t z)
{
    return f / g + (y == z ? 1 - f : 0);
}

// Returns: the covariance of the supports of v in two reports of a device that held x and then y:
// the sum over rows, permanent answers of both hashes and fresh answers of both reports.
static double enumerated(const shoal_part *part, uint32_t v, uint32_t x, uint32_t y)
{
    double g = part->m, k = part->k;
    double f1 = (double)part->pqf_threshold[SHOAL_LOLOHA_PERMANENT] * 0x1p-64,
           f2 = (double)part->threshold * 0x1p-64, both = 0, of_x = 0, of_y = 0;
    for (uint32_t j = 0; j < part->k; j++) {
        uint32_t a = shoal_loloha_answer(part, j, v), b = shoal_loloha_answer(part, j, x),
                 c = shoal_loloha_answer(part, j, y);
        for (uint32_t s = 0; s < part->m; s++)
            for (uint32_t t = 0; t < part->m; t++) {
                // one table of permanent answers: equal hashes have one answer
                double chance = b == c ? (s == t ? step(f1, g, b, s) : 0)
                                       : step(f1, g, b, s) * step(f1, g, c, t);
                of_x += chance * step(f2, g, s, a) / k;
                of_y += chance * step(f2, g, t, a) / k;
                both += chance * step(f2, g, s, a) * step(f2, g, t, a) / k;
            }
    }
    return both - of_x * of_y;
}

// The stated least is the least of all values, or 0, whatever the fresh coins; and it is reached.
static void the_least_covariance_is_that_of_the_law(void **state)
{
    static const shape shapes[] = {{2, 3}, {2, 7}, {2, 15}, {4, 3}, {4, 15}, {8, 7}, {8, 9}};
    static const uint32_t permanents[] = {500000, 1500000, 2600000, 6000000};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t e = 0; e < 4; e++) {
            shoal_part part = part_of(shapes[i].g, shapes[i].size, permanents[e], 700000);
            agg_loloha_law law = agg_loloha_law_of(&part);
            double scale = 1 / ((law.truth - law.other) * (law.truth - law.other)), least = 0;
            for (uint32_t v = 0; v < part.size; v++)
                for (uint32_t x = 0; x <= part.size; x++)
                    for (uint32_t y = 0; y <= part.size; y++)
                        least = fmin(least, scale * enumerated(&part, v, x, y));
            assert_true(fabs(agg_loloha_estimator.opposed(&part) - least) < 1e-9);
        }
    // Where it begins with g = 2, as compare.h says.
    static const uint32_t sizes[] = {3, 7, 15}, begins[] = {1570000, 2520000, 3340000};
    for (size_t i = 0; i < 3; i++) {
        shoal_part below = part_of(2, sizes[i], begins[i] - 10000, 700000),
                   above = part_of(2, sizes[i], begins[i] + 10000, 700000);
        assert_true(agg_loloha_estimator.opposed(&below) == 0);
        assert_true(agg_loloha_estimator.opposed(&above) < 0);
    }
}

// ---- intervals ----

static void open_recipe(agg_recipe *recipe, const char *parameters, unsigned seed)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\",%s,"
             "\"seed\":\"%064x\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\","
             "\"cohort\":{\"minimum\":1}}",
             parameters, seed);
    read_recipe(recipe, text);
}

typedef struct figures {
    double covered, square, stated, n;
} figures;

// One pair of periods: N devices hold value 1, and then 2 if they moved. Value 0 has no device.
static void take_pair(figures *f, const agg_recipe *recipes[2], uint64_t first, bool has_moved)
{
    static uint8_t records[2][N * 64];
    static const uint8_t secrets[32] = {1, 0x77}, seeds[32] = {2, 0x77};
    agg_accumulator acc[2];
    agg_dictionary dictionary[2];
    agg_error error = {SHOAL_OK, 0, ""};
    agg_compare result;
    for (uint64_t i = 0; i < N; i++) {
        shoal_permanent permanent;
        shoal_rng rng;
        shoal_rng_init_stream(&rng, secrets, first + i);
        shoal_rng_bytes(&rng, permanent.secret, sizeof permanent.secret);
        shoal_rng_init_stream(&rng, seeds, first + i);
        for (uint64_t r = 0; r < 2; r++) {
            uint64_t item = has_moved ? 1 + r : 1;
            assert_ok(shoal_record_randomize(records[r] + i * recipes[r]->recipe->record_size,
                                             recipes[r]->recipe, &item, 1, &permanent, &rng));
        }
    }
    for (size_t r = 0; r < 2; r++) {
        assert_ok(agg_accumulator_init(&acc[r], &error, recipes[r]->recipe));
        assert_ok(agg_accumulator_add(&acc[r], &error, records[r], N, 1));
        assert_ok(agg_dictionary_of_recipe(&dictionary[r], &error, recipes[r]));
    }
    const agg_compare_side a = {recipes[0], &acc[0], &dictionary[0]},
                           b = {recipes[1], &acc[1], &dictionary[1]};
    const agg_compare_options options = {AGG_COMPARE_SHARES, 0.95, AGG_NONE, 0, 1};
    assert_ok(agg_compare_run(&result, &error, &a, &b, &options));
    for (size_t i = 0; i < result.n_rows; i++) {
        const agg_compare_row *row = &result.rows[i];
        if (row->value.bytes != dictionary[0].values[0].bytes) continue;
        f->covered += row->low <= 0 && row->high >= 0;
        f->square += row->difference * row->difference;
        f->stated += row->stderr_ * row->stderr_;
        f->n++;
    }
    agg_compare_release(&result);
    for (size_t r = 0; r < 2; r++) {
        agg_accumulator_release(&acc[r]);
        agg_dictionary_release(&dictionary[r]);
    }
}

static figures measure(const char *parameters, bool has_moved, bool has_other_seed, unsigned trials)
{
    figures f = {0};
    agg_recipe a, b;
    open_recipe(&a, parameters, 7);
    open_recipe(&b, parameters, has_other_seed ? 8 : 7);
    const agg_recipe *recipes[2] = {&a, &b};
    for (unsigned t = 0; t < trials; t++) take_pair(&f, recipes, (uint64_t)t * N, has_moved);
    agg_recipe_release(&a);
    agg_recipe_release(&b);
    return f;
}

static const char few_rows[] =
    "\"mechanism\":\"loloha\","
    "\"parameters\":{\"epsilon\":5,\"epsilon_permanent\":6,\"g\":2,\"size\":3}";
static const char more_fresh_coins[] = // without them, sums of the same devices may be the same
    "\"mechanism\":\"loloha\","
    "\"parameters\":{\"epsilon\":2,\"epsilon_permanent\":6,\"g\":2,\"size\":3}";
static const char basic[] =
    "\"mechanism\":\"rappor\",\"parameters\":{\"p\":0.3,\"q\":0.7,\"f\":0.5,\"size\":3}";

// 400 pairs: coverage of 95 % has sd 0.011, and a mean square sd 7 %; 4 of them.
static void intervals_hold_whoever_moved(void **state)
{
    const unsigned trials = 400;
    (void)state;
    figures moved = measure(few_rows, true, false, trials);
    // Without the covariance 89 % would be covered: the true variance is 1.47 times that of
    // independent answers.
    assert_true(fabs(moved.covered / moved.n - 0.95) < 4 * 0.011);
    assert_true(fabs(moved.square / moved.stated - 1) < 4 * 0.071);
    figures stayed = measure(more_fresh_coins, false, false, trials);
    assert_true(stayed.covered == stayed.n && stayed.square < 0.5 * stayed.stated);
    // Another seed has other answers, so that nothing is repeated and nothing added.
    figures apart = measure(few_rows, true, true, trials);
    assert_true(fabs(apart.square / apart.stated - 1) < 4 * 0.071);
    assert_true(apart.stated < 0.75 * moved.stated);
    // rappor has coins of its own for each value and no rows to share.
    figures basic_moved = measure(basic, true, false, trials),
            basic_stayed = measure(basic, false, false, trials);
    assert_true(fabs(basic_moved.square / basic_moved.stated - 1) < 4 * 0.071);
    // f/2 (1 - f/2) (q - p)^2 of p* (1 - p*) is shared: 0.03 of 0.24.
    assert_true(fabs(basic_stayed.square / basic_stayed.stated - 0.875) < 4 * 0.063);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_covariance_is_that_of_the_law),
        cmocka_unit_test(intervals_hold_whoever_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
