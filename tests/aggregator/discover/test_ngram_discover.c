// SPDX-License-Identifier: Apache-2.0
// The decoder of RAPPOR n-grams: strings that nobody listed out of simulated devices, nothing out
// of noise, bounded work whatever comes, and the same rows whatever the number of threads. Fanti's
// study at its full size is tests/bench/ngram_study.mjs.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "bytes.h"
#include "discover.h"
#include "ngram_plan.h"
#include "permanent.h"

// Host names of two lengths, one with letters of two bytes.
static const char *const words[] = {"shoal.org", "kelp.net",  "br\303\274cke.de",
                                    "tern.com",  "plaice.eu", "squid.io"};
static const uint64_t percents[] = {34, 24, 18, 12, 8, 4};
#define N_WORDS 6u

static void make_recipe(agg_recipe *recipe, const char *q, unsigned n, unsigned grams)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"hosts\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"host\","
             "\"mechanism\":\"rappor-ngram\","
             "\"parameters\":{\"bits\":64,\"hashes\":2,\"cohorts\":4,\"p\":0.25,\"q\":%s,\"f\":0,"
             "\"length\":10,\"n\":%u,"
             "\"grams\":%u,\"alphabet\":\".abcdefghijklmnopqrstuvwxyz\xc3\xbc\"},\"hash\":"
             "\"poly1\",\"seed\":"
             "\"" AGG_TEST_SEED
             "\",\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
             q, n, grams);
    read_recipe(recipe, text);
}

// One device: a word drawn by the percents, or `pushed`.
static void make_report(uint8_t *record, const agg_recipe *recipe, uint8_t seed_byte,
                        uint64_t device, const char *pushed)
{
    const uint8_t seed[32] = {seed_byte};
    shoal_permanent permanent;
    shoal_rng rng;
    uint32_t word = 0;
    shoal_rng_init_stream(&rng, seed, device);
    shoal_rng_bytes(&rng, permanent.secret, sizeof permanent.secret);
    uint64_t draw = shoal_rng_below(&rng, 100);
    while (draw >= percents[word]) draw -= percents[word++];
    const char *value = pushed != NULL ? pushed : words[word];
    assert_ok(shoal_record_randomize_string(record, recipe->recipe, (const uint8_t *)value,
                                            strlen(value), &permanent, &rng));
}

static void fill(agg_accumulator *acc, const agg_recipe *recipe, uint8_t seed, uint32_t first,
                 uint32_t n, const char *pushed)
{
    agg_error error;
    size_t size = recipe->recipe->record_size;
    uint8_t *records = malloc(n * size);
    assert_non_null(records);
    for (uint32_t i = 0; i < n; i++)
        make_report(records + i * size, recipe, seed, first + i, pushed);
    assert_ok(agg_accumulator_add(acc, &error, records, n, 1));
    free(records);
}

// Records of coins alone, in the ranges of the recipe.
static void fill_with_noise(agg_accumulator *acc, const agg_recipe *recipe, uint8_t seed_byte,
                            uint32_t n)
{
    const uint8_t seed[32] = {seed_byte, 1};
    agg_error error;
    shoal_rng rng;
    size_t size = recipe->recipe->record_size;
    uint8_t *records = malloc(n * size);
    assert_non_null(records);
    shoal_rng_init(&rng, seed);
    shoal_rng_bytes(&rng, records, n * size);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *part = records + i * size;
        for (uint32_t e = 0; e < recipe->recipe->n_parts; e++) {
            store32_le(part, (uint32_t)shoal_rng_below(&rng, recipe->recipe->parts[e].k));
            part += recipe->recipe->parts[e].record_size;
        }
    }
    assert_ok(agg_accumulator_add(acc, &error, records, n, 1));
    free(records);
}

static void run(agg_discovery *found, const agg_recipe *recipe, const agg_accumulator *acc,
                unsigned n_threads)
{
    const agg_discover_options options = {.n_threads = n_threads};
    const agg_discover_round round = {recipe, acc};
    agg_error error;
    if (agg_discover_run(found, &error, &round, 1, &options) != SHOAL_OK)
        fail_msg("%s", error.text);
}

static uint32_t word_of(const agg_found *row)
{
    uint32_t i = 0;
    while (i < N_WORDS && (strlen(words[i]) != row->value.len ||
                           memcmp(words[i], row->value.bytes, row->value.len) != 0))
        i++;
    return i;
}

// 24,000 reports, q = 0.75: a string's standard error is about sqrt(p (1 - p) n / 2) / (q - p) =
// 95, so that even 4 % (960) is ten of them.
static void strings_are_found_with_their_counts(void **state)
{
    enum { N = 24000 };
    (void)state;
    // A sanitizer has trigrams alone: the tests below have bigrams.
    for (unsigned what = effort(0, 0, 1); what < effort(3, 3, 2);
         what++) { // bigrams, trigrams that do not divide the length, three bigrams a report
        agg_recipe recipe;
        agg_accumulator acc;
        agg_discovery found;
        agg_error error;
        make_recipe(&recipe, what == 2 ? "0.7" : "0.75", what == 1 ? 3 : 2,
                    what == 2 ? 3 : 2); // 16 is the most that epsilon can be
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        fill(&acc, &recipe, (uint8_t)(11 + what), 0, N, NULL);
        run(&found, &recipe, &acc, 1);
        assert_int_equal(found.n_rows, N_WORDS);
        assert_int_equal(found.n_cuts, 0);
        for (uint32_t i = 0; i < N_WORDS; i++) {
            const agg_found *row = &found.rows[i];
            double truth = (double)percents[i] / 100 * N;
            assert_int_equal(word_of(row),
                             i); // by falling count: the percents lie 4 % apart, ten errors
            assert_true(row->stderr_ > 70 && row->stderr_ < 200);
            // Drawing the words adds sqrt(n s (1 - s)), 74 at most: 4.5 of both together.
            assert_true(fabs(row->count - truth) <
                        4.5 * sqrt(row->stderr_ * row->stderr_ + 74.0 * 74.0));
            assert_true(row->low < row->count && row->count < row->high && row->score > 4);
        }
        agg_discovery_release(&found);
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
}

static void threads_do_not_change_a_byte(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_discovery one, three;
    agg_error error;
    (void)state;
    make_recipe(&recipe, "0.6", 2, 2);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    fill(&acc, &recipe, 31, 0, 20000, NULL);
    run(&one, &recipe, &acc, 1);
    run(&three, &recipe, &acc, 3);
    assert_int_equal(one.n_rows, three.n_rows);
    assert_true(one.n_rows > 1);
    for (size_t i = 0; i < one.n_rows; i++) {
        assert_int_equal(word_of(&one.rows[i]), word_of(&three.rows[i]));
        assert_memory_equal(&one.rows[i].count, &three.rows[i].count, sizeof one.rows[i].count);
        assert_memory_equal(&one.rows[i].score, &three.rows[i].score, sizeof one.rows[i].score);
    }
    assert_int_equal(one.n_notes, three.n_notes);
    for (uint32_t i = 0; i < one.n_notes; i++) assert_string_equal(one.notes[i], three.notes[i]);
    agg_discovery_release(&one);
    agg_discovery_release(&three);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// Devices whose strings are all different hold nothing to be found, and coins even less. Any row in
// a run has a chance of 0.05 by Bonferroni's rule; that 4 or more of 20 runs have one, 0.016.
static void noise_is_not_a_word(void **state)
{
    agg_recipe recipe;
    unsigned wrong = 0;
    (void)state;
    make_recipe(&recipe, "0.75", 2, 2);
    const uint32_t n_runs = effort(20, 20, 2);
    for (uint8_t number = 0; number < n_runs; number++) {
        agg_accumulator acc;
        agg_discovery found;
        agg_error error;
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        if (number % 2 == 0) fill_with_noise(&acc, &recipe, number, 4000);
        for (uint32_t i = 0; number % 2 == 1 && i < 4000; i++) {
            char word[11] = "";
            uint32_t x = i * 2654435761u + number;
            for (int c = 0; c < 10; c++, x = x * 1664525u + 1013904223u)
                word[c] = (char)('a' + (x >> 24) % 26);
            fill(&acc, &recipe, number, i, 1, word);
        }
        run(&found, &recipe, &acc, 1);
        wrong += found.n_rows > 0;
        agg_discovery_release(&found);
        agg_accumulator_release(&acc);
    }
    assert_in_range(wrong, 0, 3);
    agg_recipe_release(&recipe);
}

// One record ten thousand times over, and one attacker with a hundredth of all reports that pushes
// a word by the mechanism's own rules: the record ends quickly and the word is found as a
// hundredth.
static void hostile_reports_have_bounded_effect(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_discovery found;
    agg_error error;
    (void)state;
    make_recipe(&recipe, "0.75", 2, 2);
    size_t size = recipe.recipe->record_size;
    uint8_t *records = malloc(10000 * size);
    assert_non_null(records);
    for (int what = 0; what < 2; what++) {
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        make_report(records, &recipe, 41, 0, NULL);
        if (what == 1)
            memset(records + 4, 0xff, size - 4); // all bits, and a cohort that no device has, so:
        for (uint32_t e = 0, at = 0; what == 1 && e < 3;
             at += recipe.recipe->parts[e++].record_size)
            store32_le(records + at, 0);
        for (uint32_t i = 1; i < 10000; i++) memcpy(records + i * size, records, size);
        assert_ok(agg_accumulator_add(&acc, &error, records, 10000, 1));
        assert_int_equal(acc.set.n_distinct, 1);
        run(&found, &recipe, &acc, 1);
        assert_int_equal(found.n_rows, 0);
        agg_discovery_release(&found);
        agg_accumulator_release(&acc);
    }
    free(records);
    if (effort_is_small()) { // what follows is the law of 60,000 reports
        agg_recipe_release(&recipe);
        return;
    }
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    fill(&acc, &recipe, 43, 0, 59400, NULL);
    fill(&acc, &recipe, 43, 59400, 600, "evil.biz");
    run(&found, &recipe, &acc, 2);
    for (size_t i = 0; i < found.n_rows; i++)
        if (word_of(&found.rows[i]) ==
            N_WORDS) { // a string by itself; more than five errors of 150 above 600 it is not
            assert_int_equal(found.rows[i].value.len, 8);
            assert_memory_equal(found.rows[i].value.bytes, "evil.biz", 8);
            assert_true(found.rows[i].count < 1350);
        }
    assert_in_range(found.n_rows, N_WORDS, N_WORDS + 1);
    agg_discovery_release(&found);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// Five bigrams, each any of eight, whatever the others: all are joined to all, 32,768 cliques of
// strings that come less than once each.
static void dense_graphs_give_nothing_false(void **state)
{
    enum { N = 20000 };
    agg_recipe recipe;
    agg_accumulator acc;
    agg_discovery found;
    agg_error error;
    (void)state;
    make_recipe(&recipe, "0.75", 2, 2);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    uint32_t x = 1;
    for (uint32_t i = 0; i < N; i++) {
        char word[11] = "";
        for (int c = 0; c < 10; c += 2) {
            x = x * 1664525u + 1013904223u;
            word[c] = (char)('a' + (x >> 29));
            word[c + 1] = (char)('z' - (x >> 29));
        }
        fill(&acc, &recipe, 51, i, 1, word);
    }
    run(&found, &recipe, &acc, 2);
    assert_true(found.n_candidates > 10000);
    assert_int_equal(found.n_rows, 0);
    agg_discovery_release(&found);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// Returns: whether the string that `share` of N devices have is found. No two of the others have
// the same string. Where nothing is found, the note states the planned share in the planner's
// words.
static bool is_found(const agg_recipe *recipe, uint8_t seed, double share)
{
    enum { N = 8000 };
    agg_accumulator acc;
    agg_discovery found;
    agg_error error;
    char least[AGG_NGRAM_PLAN_TEXT];
    const uint32_t n_alike = (uint32_t)(share * N);
    bool is_there = false;
    assert_ok(agg_accumulator_init(&acc, &error, recipe->recipe));
    fill(&acc, recipe, seed, 0, n_alike, "kelp.net");
    for (uint32_t i = n_alike; i < N; i++) {
        char word[11] = "";
        uint32_t x = i * 2654435761u + seed;
        for (int c = 0; c < 10; c++, x = x * 1664525u + 1013904223u)
            word[c] = (char)('a' + (x >> 24) % 26);
        fill(&acc, recipe, seed, i, 1, word);
    }
    run(&found, recipe, &acc, 2);
    for (size_t i = 0; i < found.n_rows; i++)
        is_there = is_there || (found.rows[i].value.len == 8 &&
                                memcmp(found.rows[i].value.bytes, "kelp.net", 8) == 0);
    agg_ngram_plan_say(least, recipe->recipe, N);
    const char *last = found.n_notes > 0 ? found.notes[found.n_notes - 1] : "";
    bool says_nothing = strncmp(last, "nothing was found: with 8000 reports", 36) == 0;
    assert_int_equal(says_nothing, found.n_rows == 0);
    if (says_nothing) assert_non_null(strstr(last, least));
    agg_discovery_release(&found);
    agg_accumulator_release(&acc);
    return is_there;
}

// The planned share is a lower bound: a string at half of it is found by chance only, one at twice
// the share in most runs. Of 12 runs each.
static void planned_share_divides_found_from_not(void **state)
{
    agg_recipe recipe;
    unsigned above = 0, below = 0;
    (void)state;
    make_recipe(&recipe, "0.75", 2, 2);
    const double share = agg_ngram_plan_share(recipe.recipe, 8000);
    const uint32_t n_runs = effort(12, 12, 2);
    assert_true(share > 0.02 && share < 0.25);
    for (uint8_t i = 0; i < n_runs; i++) {
        above += is_found(&recipe, (uint8_t)(71 + i), 2 * share);
        below += is_found(&recipe, (uint8_t)(91 + i), share / 2);
    }
    print_message("share %.4f: above %u, below %u of %u\n", share, above, below, n_runs);
    if (!effort_is_small()) { // of two runs nothing is judged
        assert_true(above > n_runs / 2);
        assert_true(below <= n_runs / 6);
    }
    agg_recipe_release(&recipe);
}

// n-grams of a crowd of ten show nothing at all, whatever their share.
static void few_devices_are_told_nothing(void **state)
{
    agg_recipe recipe;
    char text[AGG_NGRAM_PLAN_TEXT];
    (void)state;
    make_recipe(&recipe, "0.6", 2, 2);
    agg_ngram_plan_say(text, recipe.recipe, 10);
    assert_string_equal(text, "nothing");
    agg_ngram_plan_say(text, recipe.recipe, 1e6);
    assert_non_null(strstr(text, "% or more send"));
    agg_recipe_release(&recipe);
}

static void what_cannot_be_decoded_is_said(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_discovery found;
    agg_error error;
    const agg_discover_options options = {.n_threads = 1};
    (void)state;
    make_recipe(&recipe, "0.75", 4, 2); // 29^4 and more n-grams
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    fill(&acc, &recipe, 61, 0, 10, NULL);
    fields_of(&recipe)->alphabet_len = SHOAL_ALPHABET_MAX; // 128^4
    const agg_discover_round round = {&recipe, &acc};
    assert_err(agg_discover_run(&found, &error, &round, 1, &options), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "Choose a smaller n"));
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// argv[1], when given, chooses tests by a pattern.
int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings_are_found_with_their_counts),
                                       cmocka_unit_test(threads_do_not_change_a_byte),
                                       cmocka_unit_test(noise_is_not_a_word),
                                       cmocka_unit_test(hostile_reports_have_bounded_effect),
                                       cmocka_unit_test(dense_graphs_give_nothing_false),
                                       cmocka_unit_test(planned_share_divides_found_from_not),
                                       cmocka_unit_test(few_devices_are_told_nothing),
                                       cmocka_unit_test(what_cannot_be_decoded_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
