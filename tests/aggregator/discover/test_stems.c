// SPDX-License-Identifier: Apache-2.0
// A stem, the beginning of longer words, is no word: none of the mechanisms shows one that nobody
// has, and one that some people have is shown with their number alone. N-grams cut what is too
// long, and say so.
#include <math.h>

#include "agg_test.h"
#include "discover.h"
#include "event.h"
#include "permanent.h"
#include "recipe.h"
#include "trie.h"

#define END "\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2099-01-31\"}"
#define TRIE(id, starts, step, round)                                                              \
    "{\"recipe\":\"" id "\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","             \
    "\"encoding\":[{\"field\":\"w\",\"starts\":" starts ",\"characters\":\"einorst\","             \
    "\"step\":" step "}],\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":4,"                    \
    "\"contributions\":1,\"depth\":9,\"max_prefixes\":50},\"round\":{\"index\":" round "}," END
#define OPEN(mechanism, parameters)                                                                \
    "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"      \
    "\"" mechanism "\",\"parameters\":{" parameters                                                \
    "},\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED "\"," END

#define PREVIOUS ",\"previous\":\"" AGG_TEST_SEED "\""
static const char *const trie_rounds[] = {
    TRIE("r1", "[\"\"]", "4", "1"), TRIE("r2", "[\"inte\"]", "4", "2" PREVIOUS),
    TRIE("r3", "[\"interest\",\"internet\"]", "1", "3" PREVIOUS)};
#define N_ROUNDS 3u
#define N 4000u // devices of a round

static const char *const stems[] = {"i",      "in",     "int",     "inte",   "inter",
                                    "intern", "intere", "interes", "interne"};

// Device i's word: internet, interest, or of one in `some` "inter" (0: of none).
static const char *word_of(uint32_t i, uint32_t some)
{
    if (some > 0 && i % some == 0) return "inter";
    return i % 3 == 0 ? "interest" : "internet";
}

static void report(uint8_t *record, const agg_recipe *recipe, const char *word, shoal_rng *rng)
{
    const agg_text text = {word, strlen(word)};
    if (recipe->recipe->contributions > 0) {
        uint64_t item = 0, chosen = 0;
        (void)agg_recipe_word_item(&item, recipe, text);
        uint32_t bucket = (uint32_t)item;
        assert_ok(shoal_trie_choose(&chosen, recipe->recipe, &bucket, 1, rng));
        assert_ok(shoal_record_randomize(record, recipe->recipe, &chosen, 1, NULL, rng));
    } else {
        shoal_permanent permanent;
        shoal_rng_bytes(rng, permanent.secret, sizeof permanent.secret);
        assert_ok(shoal_record_randomize_string(record, recipe->recipe, (const uint8_t *)text.bytes,
                                                text.len, &permanent, rng));
    }
}

static void collect(agg_accumulator *acc, const agg_recipe *recipe, uint64_t run, uint32_t n,
                    uint32_t some)
{
    const uint8_t seed[32] = {51, (uint8_t)effort_seed(1)};
    const size_t size = recipe->recipe->record_size;
    agg_error error;
    uint8_t *records = malloc(n * size);
    assert_non_null(records);
    for (uint32_t i = 0; i < n; i++) {
        shoal_rng rng;
        shoal_rng_init_stream(&rng, seed, run << 32 | i);
        report(records + i * size, recipe, word_of(i, some), &rng);
    }
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    assert_ok(agg_accumulator_add(acc, &error, records, n, 1));
    free(records);
}

static const agg_found *find(const agg_discovery *d, const char *word)
{
    for (size_t i = 0; i < d->n_rows; i++)
        if (d->rows[i].value.len == strlen(word) &&
            memcmp(d->rows[i].value.bytes, word, strlen(word)) == 0)
            return &d->rows[i];
    return NULL;
}

static uint32_t count_stems(const agg_discovery *d)
{
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof stems / sizeof stems[0]; i++) n += find(d, stems[i]) != NULL;
    return n;
}

static void discover(agg_discovery *d, const agg_recipe *recipes, const agg_accumulator *accs,
                     uint32_t n_rounds)
{
    const agg_discover_options options = {.n_threads = 1};
    agg_discover_round rounds[N_ROUNDS];
    agg_error error;
    for (uint32_t i = 0; i < n_rounds; i++) rounds[i] = (agg_discover_round){&recipes[i], &accs[i]};
    if (agg_discover_run(d, &error, rounds, n_rounds, &options) != SHOAL_OK)
        fail_msg("%s", error.text);
}

// All three rounds of one analysis.
static void run_trie(agg_discovery *d, uint64_t run, uint32_t some)
{
    static agg_recipe recipes[N_ROUNDS];
    agg_accumulator accs[N_ROUNDS];
    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        read_recipe(&recipes[i], trie_rounds[i]);
        if (i > 0)
            memcpy(fields_of(&recipes[i])->round_previous, recipes[i - 1].recipe->query_hash, 32);
        collect(&accs[i], &recipes[i], run * N_ROUNDS + i, N, some);
    }
    discover(d, recipes, accs, N_ROUNDS);
    for (uint32_t i = 0; i < N_ROUNDS; i++) {
        agg_accumulator_release(&accs[i]);
        agg_recipe_release(&recipes[i]);
    }
}

// Everybody's word begins with five of the stems. The rate of false words is 0.025 for each of
// three rounds: more than 12 of 60 runs have one of any kind with a chance below 0.001.
static void a_trie_shows_no_stem_that_nobody_has(void **state)
{
    const uint32_t n_runs = effort(300, 60, 4);
    uint32_t n_stems = 0;
    (void)state;
    for (uint32_t run = 0; run < n_runs; run++) {
        agg_discovery d;
        run_trie(&d, run, 0);
        assert_non_null(find(&d, "internet"));
        assert_non_null(find(&d, "interest"));
        n_stems += count_stems(&d) > 0;
        agg_discovery_release(&d);
    }
    print_message("%u of %u results hold a stem\n", n_stems, n_runs);
    assert_true(n_stems <= 2 + n_runs / 6);
}

// One of ten has "inter" itself: that is its count, where seven of ten have longer words.
static void a_stem_that_people_have_counts_them_alone(void **state)
{
    (void)state;
    for (uint32_t run = 0; run < effort(50, 10, 2); run++) {
        agg_discovery d;
        run_trie(&d, 1000 + run, 10);
        const agg_found *row = find(&d, "inter");
        assert_non_null(row);
        assert_true(fabs(row->count - N_ROUNDS * N / 10.0) < 4.5 * row->stderr_);
        assert_true(row->stderr_ < N_ROUNDS * N / 50.0);
        agg_discovery_release(&d);
    }
}

// sfp joins "in" and "te" for "inte" as for the words themselves, and the whole strings refute it.
static void sfp_confirms_words_and_no_stem(void **state)
{
    enum { MANY = 20000 };
    (void)state;
    for (uint32_t run = 0; run < effort(6, 2, 1); run++) {
        agg_recipe recipe;
        agg_accumulator acc;
        agg_discovery d;
        read_recipe(&recipe, OPEN("sfp", "\"epsilon\":3,\"epsilon_fragment\":5,\"k\":2048,\"m\":16,"
                                         "\"k_fragment\":1024,\"m_fragment\":128,\"length\":8,"
                                         "\"oracle\":\"olh\""));
        collect(&acc, &recipe, 2000 + run, MANY, run % 2 == 0 ? 0 : 10);
        discover(&d, &recipe, &acc, 1);
        assert_non_null(find(&d, "internet"));
        assert_non_null(find(&d, "interest"));
        assert_int_equal(count_stems(&d), run % 2);
        const agg_found *row = find(&d, "inter");
        if (row != NULL) assert_true(fabs(row->count - MANY / 10.0) < 4.5 * row->stderr_);
        agg_discovery_release(&d);
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
    }
}

// Of six bytes both words are cut to stems, which are found as words
// (docs/mechanisms/rappor-ngram.md); a start of five bytes is a word of its own.
static void ngrams_find_cut_words(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_discovery d;
    (void)state;
    read_recipe(&recipe, OPEN("rappor-ngram", "\"bits\":64,\"hashes\":1,\"cohorts\":4,\"p\":0.1,"
                                              "\"q\":0.9,\"f\":0,\"length\":6,\"n\":2,\"grams\":2,"
                                              "\"alphabet\":\"einorst\""));
    collect(&acc, &recipe, 3000, 8000, 4);
    discover(&d, &recipe, &acc, 1);
    const agg_found *cut[] = {find(&d, "intern"), find(&d, "intere")}, *whole = find(&d, "inter");
    for (int i = 0; i < 2; i++) {
        assert_non_null(cut[i]);
        assert_string_equal(cut[i]->how, "3 n-grams");
    }
    assert_non_null(whole);
    assert_string_equal(whole->how, "3 n-grams");
    agg_discovery_release(&d);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_trie_shows_no_stem_that_nobody_has),
                                       cmocka_unit_test(a_stem_that_people_have_counts_them_alone),
                                       cmocka_unit_test(sfp_confirms_words_and_no_stem),
                                       cmocka_unit_test(ngrams_find_cut_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
