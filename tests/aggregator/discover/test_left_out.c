// SPDX-License-Identifier: Apache-2.0
// The share of a crowd that a trie's alphabet leaves out, against crowds whose share is known:
// bias, and how often intervals cover it. Devices choose their cells as real ones do.
#include "left_out.h"

#include <math.h>

#include "agg_test.h"
#include "event.h"
#include "recipe.h"
#include "trie.h"

#define RECIPE(epsilon, starts, step, more)                                                        \
    "{\"recipe\":\"w-1\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","                \
    "\"encoding\":[{\"field\":\"word\",\"starts\":[\"" starts "\"],\"characters\":\"abcdefgh\","   \
    "\"step\":" step "}],\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":" epsilon              \
    ",\"contributions\":1,\"depth\":9,\"max_prefixes\":50" more "},\"round\":{\"index\":1},"       \
    "\"limit\":{\"per_day\":1},\"expires\":\"2099-01-31\"}"

#define FOREIGN "a\xc3\xb1o" // of the second character on no word of the alphabet
static const char *const inside[] = {"abba", "cafe", "deaf", "h", "fade"};

// Adds the reports of n devices, of which the first n_out have the word that is left out.
static void fill(agg_accumulator *acc, const agg_recipe *recipe, uint64_t run, uint32_t n,
                 uint32_t n_out)
{
    const uint8_t seed[32] = {31, (uint8_t)effort_seed(1)};
    enum { MOST = 8000 };
    static uint8_t records[MOST * 64];
    const size_t size = recipe->recipe->record_size;
    agg_error error;
    assert_true(n <= MOST && size <= 64);
    for (uint32_t i = 0; i < n; i++) {
        const char *word = i < n_out ? FOREIGN : inside[i % 5];
        uint64_t item = 0, chosen = 0;
        shoal_rng rng;
        shoal_rng_init_stream(&rng, seed, run << 32 | i);
        (void)agg_recipe_word_item(&item, recipe, (agg_text){word, strlen(word)});
        uint32_t bucket = (uint32_t)item;
        assert_ok(shoal_trie_choose(&chosen, recipe->recipe, &bucket, 1, &rng));
        assert_ok(
            shoal_record_randomize(records + i * size, recipe->recipe, &chosen, 1, NULL, &rng));
    }
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    assert_ok(agg_accumulator_add(acc, &error, records, n, 1));
}

// How many of the n_asked devices that are drawn out of `all` have the word, n_out of all having
// it.
static uint32_t draw_asked(uint64_t run, uint32_t n_asked, uint32_t all, uint32_t n_out)
{
    const uint8_t seed[32] = {32, (uint8_t)effort_seed(1)};
    uint32_t drawn = 0;
    shoal_rng rng;
    shoal_rng_init_stream(&rng, seed, run);
    for (uint32_t i = 0; i < n_asked; i++) drawn += shoal_rng_below(&rng, all - i) < n_out - drawn;
    return drawn;
}

// Holds many runs against the share: the mean error may be 4 of its own standard errors, the
// intervals at 0.9 may miss 4 standard deviations more often than they claim, and those that are
// normal may not cover so much more often either.
static void hold_against(const char *text, uint32_t n, uint32_t all, double share, bool is_exact)
{
    const uint32_t n_runs = effort(1000, 300, 30), n_out = (uint32_t)lround(share * all);
    const double slack = 4 * sqrt(0.9 * 0.1 / n_runs);
    double error = 0, variance = 0, squares = 0;
    uint32_t covered = 0;
    agg_recipe recipe;
    read_recipe(&recipe, text);
    for (uint32_t run = 0; run < n_runs; run++) {
        agg_accumulator acc;
        agg_left_out found;
        fill(&acc, &recipe, (uint64_t)n_out << 16 | run, n,
             n < all ? draw_asked(run, n, all, n_out) : n_out);
        agg_left_out_estimate(&found, &recipe, &acc, all, 0.9);
        assert_int_equal(found.characters, 2);
        assert_true(found.low <= found.share && found.share <= found.high);
        const double off = found.share - (double)n_out / all;
        error += off;
        squares += off * off;
        variance += found.stderr_ * found.stderr_;
        covered += found.low <= share + 1e-12 && share - 1e-12 <= found.high;
        agg_accumulator_release(&acc);
    }
    print_message("share %.3f, %u of %u: error %+.5f, ratio of errors %.3f, covered %u of %u\n",
                  share, n, all, error / n_runs, sqrt(squares / variance), covered, n_runs);
    assert_true(fabs(error) <= 4 * sqrt(variance));
    assert_true(fabs(squares / variance - 1) < 4 * sqrt(2.0 / n_runs));
    assert_true(covered >= (0.9 - slack) * n_runs);
    assert_true(is_exact || covered <= (0.9 + slack) * n_runs);
    agg_recipe_release(&recipe);
}

static void estimates_are_unbiased_and_intervals_cover(void **state)
{
    (void)state;
    hold_against(RECIPE("2", "", "2", ""), 4000, 4000, 0.12, false);
    hold_against(RECIPE("4", "", "2", ""), 4000, 4000, 0, true);
    hold_against(RECIPE("4", "", "2", ""), 8000, 8000, 0.05, false);
    hold_against(RECIPE("4", "", "2", ""), 2000, 2000, 0.6, false);
}

// Where reports are few at a high epsilon, a normal interval would cover far too little.
static void small_crowds_have_exact_intervals(void **state)
{
    (void)state;
    hold_against(RECIPE("8", "", "2", ""), 1000, 1000, 0.002, true);
}

// A quarter of the devices is asked: which of them have the word is chance, too.
static void a_part_of_the_devices_is_a_sample(void **state)
{
    (void)state;
    hold_against(RECIPE("6", "", "2", ""), 2000, 8000, 0.3, false);
}

static void later_rounds_and_passes_say_nothing(void **state)
{
    static const char *const texts[] = {
        RECIPE("4", "ab", "2", ""),
        RECIPE("4", "", "2", ",\"passes\":2,\"pass\":2,\"known\":\"0cafe\""),
        RECIPE("4", "", "2", "")};
    (void)state;
    for (int i = 0; i < 3; i++) { // the last has no reports
        agg_recipe recipe;
        agg_accumulator acc;
        agg_left_out found;
        read_recipe(&recipe, texts[i]);
        fill(&acc, &recipe, 1, i < 2 ? 1000 : 0, 0);
        agg_left_out_estimate(&found, &recipe, &acc, 1000, 0.95);
        assert_int_equal(found.characters, 0);
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
}

static void words_say_who_is_left_out(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_left_out found;
    char text[AGG_LEFT_OUT_TEXT];
    (void)state;
    read_recipe(&recipe, RECIPE("4", "", "1", ""));
    fill(&acc, &recipe, 3, 4000, 0);
    agg_left_out_estimate(&found, &recipe, &acc, 4000, 0.95);
    found.share = -0.004; // shares in print are none below zero
    found.low = -0.01;
    found.high = 0.002;
    agg_left_out_say(text, &found);
    assert_string_equal(
        text, "0 % of the reports (0 to 0.2 %, 95 % interval) name no word: the device had none to "
              "report, or one with a character outside the alphabet among its first character");
    found.characters = 3;
    fields_of(&recipe)->contributions = 2;
    agg_left_out_say(text, &found);
    assert_non_null(strstr(text, "had too few to report"));
    assert_non_null(strstr(text, "among its first 3 characters"));
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(estimates_are_unbiased_and_intervals_cover),
                                       cmocka_unit_test(small_crowds_have_exact_intervals),
                                       cmocka_unit_test(a_part_of_the_devices_is_a_sample),
                                       cmocka_unit_test(later_rounds_and_passes_say_nothing),
                                       cmocka_unit_test(words_say_who_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
