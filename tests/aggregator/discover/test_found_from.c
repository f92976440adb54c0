// SPDX-License-Identifier: Apache-2.0
// The share from which a string is found as often as not, which empty results of sfp and of a trie
// state: a string at twice the share is found in most runs, one at half of it by chance only.
#include <math.h>

#include "agg_test.h"
#include "discover.h"
#include "event.h"
#include "ngram_plan.h"
#include "recipe.h"
#include "sfp_plan.h"
#include "trie.h"
#include "trie_layer.h"

#define MOST 10000u

static const char sfp_text[] =
    "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"
    "\"sfp\","
    "\"parameters\":{\"epsilon\":1.5,\"epsilon_fragment\":3.5,\"k\":4096,\"m\":4,"
    "\"k_fragment\":2048,\"m_fragment\":32,\"length\":4,\"oracle\":\"olh\"},\"hash\":\"poly1\","
    "\"seed\":\"" AGG_TEST_SEED "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}";
static const char trie_text[] =
    "{\"recipe\":\"t\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":[{"
    "\"field\":\"word\",\"starts\":[\"\"],\"characters\":\"abcdefghijkl\",\"step\":3}],"
    "\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":4,\"contributions\":1,\"depth\":9,"
    "\"max_prefixes\":50},\"round\":{\"index\":1},\"limit\":{\"per_day\":1},"
    "\"expires\":\"2099-01-31\"}";

// Writes the report of a device with the word, or with one that no other device has.
static void report(uint8_t *record, const agg_recipe *recipe, const char *word, shoal_rng *rng)
{
    char own[4] = "";
    if (word == NULL)
        for (int i = 0; i < 3; i++) own[i] = (char)('a' + shoal_rng_below(rng, 12));
    const agg_text text = {word != NULL ? word : own, word != NULL ? strlen(word) : 3};
    if (recipe->recipe->contributions > 0) {
        uint64_t item = 0, chosen = 0;
        (void)agg_recipe_word_item(&item, recipe, text);
        uint32_t bucket = (uint32_t)item;
        assert_ok(shoal_trie_choose(&chosen, recipe->recipe, &bucket, 1, rng));
        assert_ok(shoal_record_randomize(record, recipe->recipe, &chosen, 1, NULL, rng));
    } else {
        assert_ok(shoal_record_randomize_string(record, recipe->recipe, (const uint8_t *)text.bytes,
                                                text.len, NULL, rng));
    }
}

// Returns: whether "ab" is found that `share` of n devices have. Where nothing is found, the last
// note states `from`.
static bool is_found(const agg_recipe *recipe, uint64_t run, uint32_t n, double share, double from)
{
    static uint8_t records[MOST * 160];
    const uint8_t seed[32] = {41, (uint8_t)effort_seed(1)};
    const size_t size = recipe->recipe->record_size;
    const uint32_t n_alike = (uint32_t)lround(share * n);
    agg_accumulator acc;
    agg_discovery found;
    agg_error error;
    bool is_there = false;
    assert_true(n <= MOST && size <= 160);
    for (uint32_t i = 0; i < n; i++) {
        shoal_rng rng;
        shoal_rng_init_stream(&rng, seed, run << 32 | i);
        report(records + i * size, recipe, i < n_alike ? "ab" : NULL, &rng);
    }
    assert_ok(agg_accumulator_init(&acc, &error, recipe->recipe));
    assert_ok(agg_accumulator_add(&acc, &error, records, n, 1));
    const agg_discover_round round = {recipe, &acc};
    const agg_discover_options options = {.n_threads = 1};
    assert_ok(agg_discover_run(&found, &error, &round, 1, &options));
    for (size_t i = 0; i < found.n_rows; i++)
        is_there = is_there || (found.rows[i].value.len == 2 &&
                                memcmp(found.rows[i].value.bytes, "ab", 2) == 0);
    if (found.n_rows == 0) {
        char stated[64];
        snprintf(stated, sizeof stated, "finds what %.2g %% or more send", 100 * from);
        assert_non_null(strstr(found.notes[found.n_notes - 1], "nothing was found: with "));
        assert_non_null(strstr(found.notes[found.n_notes - 1], stated));
    }
    agg_discovery_release(&found);
    agg_accumulator_release(&acc);
    return is_there;
}

static void divides(const agg_recipe *recipe, uint32_t n, double from, uint32_t n_runs)
{
    uint32_t above = 0, below = 0, at = 0;
    assert_true(from > 0.002 && from < 0.3);
    for (uint32_t run = 0; run < n_runs; run++) {
        above += is_found(recipe, 3 * run, n, 2 * from, from);
        below += is_found(recipe, 3 * run + 1, n, from / 2, from);
        at += is_found(recipe, 3 * run + 2, n, from, from);
    }
    print_message("from %.4f: at it %u, above %u, below %u of %u\n", from, at, above, below,
                  n_runs);
    assert_true(above >= n_runs - n_runs / 6);
    assert_true(below <= n_runs / 6);
}

static void sfp_finds_from_the_share_that_it_states(void **state)
{
    agg_recipe recipe;
    (void)state;
    read_recipe(&recipe, sfp_text);
    divides(&recipe, 10000, agg_sfp_found_from(recipe.recipe, 10000, AGG_SFP_SAME_WORD),
            effort(24, 6, 2));
    agg_recipe_release(&recipe);
}

// "ab" ends within the step of the first round. A round's bar is that of its first finding, as
// nothing else is there.
static void a_trie_finds_from_the_share_that_it_states(void **state)
{
    agg_recipe recipe;
    agg_trie_layer layer = {.n = 4000, .n_asked = {1728, 156}, .least = {HUGE_VAL, HUGE_VAL}};
    const agg_trie_options options = {.fdr = 0.05};
    (void)state;
    read_recipe(&recipe, trie_text);
    const double from = agg_trie_layer_found_from(&layer, recipe.recipe, &options, true);
    divides(&recipe, 4000, from, effort(200, 60, 6));
    // The start of a longer word is one of more cells, and its bar is the higher one.
    assert_true(agg_trie_layer_found_from(&layer, recipe.recipe, &options, false) > 1.05 * from);
    layer.least[1] = 2; // of a round that found others, whose bar is lower
    assert_true(agg_trie_layer_found_from(&layer, recipe.recipe, &options, true) < 0.8 * from);
    layer.n = 0;
    assert_true(agg_trie_layer_found_from(&layer, recipe.recipe, &options, true) >= 1);
    agg_recipe_release(&recipe);
}

// The plan's figure for n-grams is that of the recipe that has the planned probabilities.
static void the_plan_of_ngrams_is_that_of_their_recipe(void **state)
{
    agg_recipe recipe;
    char text[640];
    (void)state;
    for (double epsilon = 1; epsilon <= 9; epsilon += 4) {
        const uint32_t q = agg_ngram_plan_q(epsilon, 2, 1);
        snprintf(text, sizeof text,
                 "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\","
                 "\"mechanism\":\"rappor-ngram\",\"parameters\":{\"epsilon\":%g,\"bits\":128,"
                 "\"hashes\":1,\"cohorts\":8,\"p\":0.%06u,\"q\":0.%06u,\"f\":0,\"length\":12,"
                 "\"n\":2,\"grams\":2,\"alphabet\":\"abcdefghij\"},\"hash\":\"poly1\","
                 "\"seed\":\"" AGG_TEST_SEED "\",\"limit\":{\"per_day\":1},"
                 "\"expires\":\"2030-01-01\"}",
                 epsilon, 1000000 - q, q);
        read_recipe(&recipe, text);
        const double share = agg_ngram_plan_share_for(epsilon, 12, 10, 1e6);
        assert_true(share > 0 && share < 1);
        assert_true(share == agg_ngram_plan_share(recipe.recipe, 1e6));
        agg_recipe_release(&recipe);
    }
    assert_true(agg_ngram_plan_share_for(0.1, 10, 26, 1000) >= 1);
}

int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sfp_finds_from_the_share_that_it_states),
        cmocka_unit_test(a_trie_finds_from_the_share_that_it_states),
        cmocka_unit_test(the_plan_of_ngrams_is_that_of_their_recipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
