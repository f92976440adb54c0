// SPDX-License-Identifier: Apache-2.0
// Rounds: which sequences are kept, how buckets are cut and joined, what the next recipe holds;
// from counts made by hand.
#include <math.h>

#include "agg_test.h"
#include "event.h"
#include "next_prefixes.h"
#include "next_recipe.h"
#include "recipe.h"
#include "refine.h"

#define MORE                                                                                       \
    "\"mechanism\":\"subset\",\"parameters\":{\"epsilon\":4},\"limit\":{\"per_day\":1},"           \
    "\"expires\":\"2099-01-31\""

// Buckets of "phrase": 0; behind "b": end, oov, x, y, z (1 to 5); behind "a": 6 to 10.
static const char joint[] = "{\"recipe\":\"grams-1\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":"
                            "\"fields\",\"encoding\":["
                            "{\"field\":\"age\",\"boundaries\":[30]},{\"field\":\"phrase\","
                            "\"prefixes\":[\"b\",\"a\"],\"tokens\":[\"x\",\"y\","
                            "\"z\"]}],\"cohort\":{\"minimum\":100,\"epsilon\":0.5,\"delta\":\"1e-"
                            "9\"},\"release\":{\"threshold\":50}," MORE ",\"round\":{\"index\":1}}";

static agg_count count_of(double count, double score)
{
    return (agg_count){.count = count, .stderr_ = 10, .null_error = 10, .score = score};
}

static void choose(agg_next_prefixes *next, const agg_recipe *recipe, const agg_count *counts,
                   size_t most)
{
    agg_error error;
    assert_ok(agg_next_prefixes_choose(next, &error, recipe, 1, counts, 0, 0.05, most));
}

static void assert_text(agg_text text, const char *wanted)
{
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.bytes, wanted, text.len);
}

// ---- which sequences ----

static void test_frequent_sequences_by_their_bytes(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_next_prefixes next;
    agg_count counts[11] = {{0}};
    read_recipe(&recipe, joint);
    counts[0] = count_of(900, 90); // none of the prefixes
    counts[1] = count_of(800, 80); // ends
    counts[7] = count_of(700, 70); // goes on with a token that is not listed
    counts[3] = count_of(100, 10); // b x
    counts[5] = count_of(300, 30); // b z
    counts[9] = count_of(200, 20); // a y
    counts[8] = count_of(15, 1.5); // a x: noise
    choose(&next, &recipe, counts, 100);
    assert_int_equal(next.n_asked, 6);
    assert_int_equal(next.n_frequent, 3);
    assert_int_equal(next.n, 3);
    assert_text(next.texts[0], "a y");
    assert_text(next.texts[1], "b x");
    assert_text(next.texts[2], "b z");
    assert_true(next.least == 10 && next.least_count == 100 && next.kept_count == 600);
    agg_next_prefixes_release(&next);
    agg_recipe_release(&recipe);
}

static void test_a_cap_keeps_the_strongest(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_next_prefixes next;
    agg_count counts[11] = {{0}};
    read_recipe(&recipe, joint);
    counts[3] = count_of(100, 10);
    counts[5] = count_of(300, 30);
    counts[9] = count_of(200, 20);
    choose(&next, &recipe, counts, 2);
    assert_int_equal(next.n_frequent, 3);
    assert_int_equal(next.n, 2);
    assert_text(next.texts[0], "a y");
    assert_text(next.texts[1], "b z");
    agg_next_prefixes_release(&next);
    agg_recipe_release(&recipe);
}

// A cap is no quota; and of six sequences one of score 2 has p = 0.023, above 0.05 / 6 for the
// first of six.
static void test_noise_is_not_kept(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_next_prefixes next;
    agg_count counts[11] = {{0}};
    read_recipe(&recipe, joint);
    counts[3] = count_of(60, 2);
    choose(&next, &recipe, counts, 5);
    assert_int_equal(next.n_frequent, 0);
    assert_int_equal(next.n, 0);
    assert_true(next.least == HUGE_VAL);
    agg_next_prefixes_release(&next);
    agg_recipe_release(&recipe);
}

// release.threshold is 50: what a recipe lists is shown.
static void test_the_release_threshold_holds(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_next_prefixes next;
    agg_count counts[11] = {{0}};
    read_recipe(&recipe, joint);
    counts[3] = count_of(49.9, 10);
    counts[5] = count_of(50, 10);
    choose(&next, &recipe, counts, 5);
    assert_int_equal(next.n_frequent, 2);
    assert_int_equal(next.n_withheld, 1);
    assert_int_equal(next.n, 1);
    assert_text(next.texts[0], "b z");
    agg_next_prefixes_release(&next);
    agg_recipe_release(&recipe);
}

// Bucket 0 holds random answers alone, 100 give or take 10: at most 120 of each count are random.
// With 1,100 reports it could be 100, of 11 buckets each; those of a count of 137 are a Poisson
// number, of variance 100, beside the coins' 100.
static void test_random_answers_are_nobodys(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_next_prefixes next;
    agg_error error;
    agg_count counts[11];
    read_recipe(&recipe, joint);
    for (int i = 0; i < 11; i++) counts[i] = count_of(100, 10);
    counts[3] = count_of(185, 18.5);
    counts[5] = count_of(137, 13.7);
    assert_ok(agg_next_prefixes_choose(&next, &error, &recipe, 1, counts, 1100, 0.05, 5));
    assert_true(next.random == 100);
    assert_int_equal(next.n_frequent, 2);
    assert_true(fabs(next.least - 37 / sqrt(200)) < 1e-9);
    assert_int_equal(next.n_withheld, 1); // 37 are below the release threshold
    assert_text(next.texts[0], "b x");
    assert_true(next.least_count == 85);
    agg_next_prefixes_release(&next);
    assert_ok(agg_next_prefixes_choose(&next, &error, &recipe, 1, counts, 100000, 0.05, 5));
    assert_true(next.random == 120);
    assert_int_equal(next.n_frequent, 1);
    agg_next_prefixes_release(&next);
    counts[8] = count_of(50, 5); // of six, the lowest tenth is the lowest
    assert_ok(agg_next_prefixes_choose(&next, &error, &recipe, 1, counts, 100000, 0.05, 5));
    assert_true(fabs(next.random - (50 + 10 * (1.2816 + 2 * 1.7094 / sqrt(6)))) < 1e-9);
    agg_next_prefixes_release(&next);
    for (int i = 0; i < 11; i++) counts[i] = count_of(100, 10);
    counts[0] = count_of(-50, -5);
    assert_ok(agg_next_prefixes_choose(&next, &error, &recipe, 1, counts, 100000, 0.05, 5));
    assert_true(next.random == 0);
    assert_int_equal(next.n_frequent, 6);
    agg_next_prefixes_release(&next);
    agg_recipe_release(&recipe);
}

// A list's entry has 256 bytes at most: a prefix of 250 and a token of 5 are 256 with their space,
// one of 6 is too long.
static void test_what_no_recipe_could_list_is_left_out(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_next_prefixes next;
    agg_count counts[5];
    char text[1024], prefix[251];
    memset(prefix, 'p', 250);
    prefix[250] = '\0';
    snprintf(text, sizeof text,
             "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","
             "\"encoding\":[{\"field\":"
             "\"phrase\",\"prefixes\":[\"%s\"],\"tokens\":[\"short\",\"longer\"]}]," MORE "}",
             prefix);
    read_recipe(&recipe, text);
    for (int i = 0; i < 5; i++) counts[i] = count_of(100, 10);
    agg_error error;
    assert_ok(agg_next_prefixes_choose(&next, &error, &recipe, 0, counts, 0, 0.05, 5));
    assert_int_equal(next.n_frequent, 2);
    assert_int_equal(next.n_withheld, 1);
    assert_int_equal(next.n, 1);
    assert_int_equal(next.texts[0].len, 256);
    agg_next_prefixes_release(&next);
    agg_recipe_release(&recipe);
}

// 2^24 cells, two ages: 2^23 buckets of the phrase, one of them for the rest, five for each prefix
// of three tokens.
static void test_as_many_as_fit(void **state)
{
    (void)state;
    agg_recipe recipe;
    read_recipe(&recipe, joint);
    assert_int_equal(agg_next_prefixes_fit(recipe.recipe, 1, 3), ((1u << 23) - 1) / 5);
    assert_int_equal(agg_next_prefixes_fit(recipe.recipe, 1, (1u << 23) - 3), 1);
    assert_int_equal(agg_next_prefixes_fit(recipe.recipe, 1, (1u << 23) - 2), 0);
    agg_recipe_release(&recipe);
}

// ---- boundaries ----

static const int64_t tens[] = {0, 10, 20, 30, 40};

// Counts of the four buckets between the ends; a count of 20 stands two standard errors out.
static agg_err refine(agg_refined *refined, agg_error *error, const int64_t boundaries[5],
                      const double counts[4], uint32_t target)
{
    agg_count all[6] = {count_of(5000, 500)};
    for (int i = 0; i < 4; i++) all[i + 1] = count_of(counts[i], counts[i] / 10);
    all[5] = count_of(5000, 500);
    return agg_refine(refined, error, boundaries, 5, all, 0.05, target);
}

static void assert_refined(const double counts[4], uint32_t target, double share,
                           const int64_t *wanted, uint32_t n)
{
    agg_error error;
    agg_refined refined;
    assert_ok(refine(&refined, &error, tens, counts, target));
    assert_int_equal(refined.n, n);
    assert_memory_equal(refined.boundaries, wanted, n * sizeof *wanted);
    assert_true(fabs(refined.share - share) < 1e-9 * share);
}

// 800 in 9 boundaries at most. At 8 buckets of 100 there would be 2, 1, 6 and 1 pieces, 10
// boundaries; the share grows by sixteenths until 560 makes 4. The 40 are no half share, but more
// than one with what is beside them.
static void test_pieces_in_proportion(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 5, 10, 20, 22, 25, 27, 30, 40};
    assert_refined((const double[]){200, 40, 560, 0}, 10, 100 * pow(1.0625, 4), wanted, 9);
}

// Half a share is 206: 40 and 40 are one bucket.
static void test_small_neighbours_are_joined(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 20, 25, 30, 40};
    assert_refined((const double[]){40, 40, 1000, 0}, 6, 270 * pow(1.0625, 7), wanted, 5);
}

// Half a share is 210: two times 80 are less, with a third they are not.
static void test_what_was_joined_counts(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 20, 30, 35, 40};
    assert_refined((const double[]){80, 80, 80, 1000}, 6, 310 * pow(1.0625, 5), wanted, 5);
}

// 15 are 1.5 standard errors: zero, as are its neighbours, and all three are one bucket.
static void test_what_is_not_told_from_zero_is_zero(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 10, 40};
    agg_error error;
    agg_refined refined;
    assert_refined((const double[]){200, 15, 0, -30}, 4, 100 * pow(1.0625, 5), wanted, 3);
    assert_ok(refine(&refined, &error, tens, (const double[]){200, 15, 0, -30}, 4));
    assert_int_equal(refined.n_zero, 3);
    assert_err(refine(&refined, &error, tens, (const double[]){15, 15, 0, -30}, 4),
               SHOAL_ERR_RANGE);
    assert_int_equal(error.exit_code, AGG_EXIT_RUNTIME);
}

// The 30 are little, and stay apart from the empty space behind them.
static void test_a_tail_is_not_joined_to_nothing(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 5, 10, 20, 40};
    assert_refined((const double[]){1000, 30, 0, 0}, 6, 257.5 * pow(1.0625, 8), wanted, 5);
}

// 40 and 40 are less than half a share, but one bucket is 199 times as wide as the other.
static void test_a_narrow_bucket_is_not_swallowed(void **state)
{
    (void)state;
    static const int64_t steps[] = {0, 1, 200, 210, 220}, wanted[] = {0, 1, 200, 205, 210, 220};
    agg_error error;
    agg_refined refined;
    assert_ok(refine(&refined, &error, steps, (const double[]){40, 40, 1000, 0}, 7));
    assert_int_equal(refined.n, 6);
    assert_memory_equal(refined.boundaries, wanted, sizeof wanted);
}

// Unless there would be more buckets than were asked for.
static void test_anything_is_joined_before_there_are_too_many(void **state)
{
    (void)state;
    static const int64_t wanted[] = {0, 20, 40};
    assert_refined((const double[]){200, 0, 200, 0}, 4, 200 * pow(1.0625, 12), wanted, 3);
}

static void test_sixteen_pieces_at_most_and_one_unit_at_least(void **state)
{
    (void)state;
    static const int64_t wide[] = {0, 10000, 20000, 30000, 40000};
    static const int64_t wanted[] = {0, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 40};
    const double counts[] = {0, 0, 1000, 0};
    agg_error error;
    agg_refined refined;
    assert_refined(counts, 65, 1000.0 / 63, wanted, 13);
    assert_ok(refine(&refined, &error, wide, counts, 65));
    assert_int_equal(refined.n, 19);
    assert_int_equal(refined.boundaries[2], 20625);
    assert_int_equal(refined.boundaries[16], 29375);
    assert_int_equal(refined.boundaries[17], 30000);
}

// Widths beyond 63 bits, and one boundary alone.
static void test_the_widest_bucket(void **state)
{
    (void)state;
    static const int64_t ends[] = {-9000000000000000000, 9000000000000000000};
    const agg_count counts[] = {count_of(0, 0), count_of(1000, 100), count_of(0, 0)};
    agg_error error;
    agg_refined refined;
    assert_ok(agg_refine(&refined, &error, ends, 2, counts, 0.05, 65));
    assert_int_equal(refined.n, 17);
    assert_true(refined.boundaries[1] == -7875000000000000000 && refined.boundaries[8] == 0);
    assert_true(refined.boundaries[16] == ends[1]);
    assert_err(agg_refine(&refined, &error, ends, 1, counts, 0.05, 65), SHOAL_ERR_RANGE);
}

// Of 63 buckets, two in three hold one and a half shares, 105 pieces and no neighbours to join:
// more than there is room for.
static void test_more_pieces_than_room(void **state)
{
    (void)state;
    int64_t boundaries[64];
    agg_count counts[65];
    agg_error error;
    agg_refined refined;
    for (int i = 0; i < 64; i++) boundaries[i] = 100 * i;
    for (int i = 0; i < 65; i++) counts[i] = i % 3 == 0 ? count_of(0, 0) : count_of(150, 15);
    assert_ok(agg_refine(&refined, &error, boundaries, 64, counts, 0.05, 65));
    assert_in_range(refined.n, 2, 64);
    assert_int_equal(refined.n_zero, 21);
    assert_int_equal(refined.boundaries[refined.n - 1], 6300);
}

// Whatever the counts: at most as many as asked for, rising, the ends as they were.
static void test_any_counts_any_target(void **state)
{
    (void)state;
    uint64_t coins = 7;
    for (int trial = 0; trial < 2000; trial++) {
        int64_t boundaries[64];
        agg_count counts[65];
        agg_error error;
        agg_refined refined;
        uint32_t n = 2 + (uint32_t)(trial % 63), target = 4 + (uint32_t)(trial % 62);
        for (uint32_t i = 0; i <= n; i++) {
            coins = coins * 6364136223846793005u + 1442695040888963407u;
            double count = exp2((double)(coins >> 60));
            counts[i] = count_of(count, count);
            if (i < n)
                boundaries[i] =
                    (i > 0 ? boundaries[i - 1] : -50) + 1 + (int64_t)(coins >> 40 & 255);
        }
        counts[1] = count_of(100, 10);
        assert_ok(agg_refine(&refined, &error, boundaries, n, counts, 0.05, target));
        assert_in_range(refined.n, 2, target - 1);
        assert_int_equal(refined.boundaries[0], boundaries[0]);
        assert_int_equal(refined.boundaries[refined.n - 1], boundaries[n - 1]);
        for (uint32_t i = 1; i < refined.n; i++)
            assert_true(refined.boundaries[i - 1] < refined.boundaries[i]);
    }
}

// ---- the recipe ----

static const agg_text found[] = {{"a y", 3}, {"b x", 3}};

static void write_next(agg_recipe *again, const char *text, const agg_next_recipe *next)
{
    agg_error error;
    agg_recipe recipe;
    char *out = NULL;
    read_recipe(&recipe, text);
    if (agg_next_recipe_text(&out, &error, &recipe, next) != SHOAL_OK) fail_msg("%s", error.text);
    read_recipe(again, out);
    assert_string_equal(out, again->json);
    free(out);
    agg_recipe_release(&recipe);
}

static void refuse_next(agg_err wanted, const char *text, const agg_next_recipe *next)
{
    agg_error error;
    agg_recipe recipe;
    char *out = NULL;
    read_recipe(&recipe, text);
    assert_err(agg_next_recipe_text(&out, &error, &recipe, next), wanted);
    agg_recipe_release(&recipe);
}

static void test_the_next_recipe_word_for_word(void **state)
{
    (void)state;
    agg_recipe recipe, again;
    char wanted[2048], hash[65];
    read_recipe(&recipe, joint);
    agg_hex(hash, recipe.recipe->query_hash, 32);
    snprintf(wanted, sizeof wanted,
             "{\n  \"recipe\": \"grams-2\",\n  \"analysis\": \"a\",\n  \"stream\": \"s\",\n  "
             "\"value\": \"fields\",\n"
             "  \"encoding\": [\n    {\"field\":\"age\",\"boundaries\":[30]},\n"
             "    {\"field\":\"phrase\",\"prefixes\":[\"a y\",\"b "
             "x\"],\"tokens\":[\"x\",\"y\",\"z\"]}\n  ],\n"
             "  \"cohort\": {\"minimum\":100,\"epsilon\":0.5,\"delta\":\"1e-9\"},\n  \"release\": "
             "{\"threshold\":50},\n"
             "  \"mechanism\": \"subset\",\n  \"parameters\": {\"epsilon\":4},\n  \"limit\": "
             "{\"per_day\":1},\n"
             "  \"expires\": \"2099-01-31\",\n  \"round\": {\"index\":2,\"previous\":\"%s\"}\n}\n",
             hash);
    write_next(&again, joint, &(agg_next_recipe){.field = 1, .prefixes = found, .n_prefixes = 2});
    assert_string_equal(again.json, wanted);
    agg_recipe_release(&again);
    agg_recipe_release(&recipe);
}

static void assert_id(const char *id, const char *round, const char *wanted)
{
    char text[2048];
    agg_recipe again;
    snprintf(text, sizeof text,
             "{\"recipe\":\"%s\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","
             "\"encoding\":[{\"field\":"
             "\"p\",\"prefixes\":[\"\"],\"tokens\":[\"x\",\"y\"]}],%s" MORE "}",
             id, round);
    write_next(&again, text, &(agg_next_recipe){.field = 0, .prefixes = found, .n_prefixes = 2});
    assert_string_equal(again.id, wanted);
    agg_recipe_release(&again);
}

#define PREVIOUS "\"previous\":\"" AGG_TEST_SEED "\""

static void test_ids_are_counted_up(void **state)
{
    (void)state;
    assert_id("grams-1", "\"round\":{\"index\":1},", "grams-2");
    assert_id("grams", "\"round\":{\"index\":1},", "grams-2");
    assert_id("web-7", "\"round\":{\"index\":1},", "web-7-2");
    assert_id("grams-9", "\"round\":{\"index\":9," PREVIOUS "},", "grams-10");
    assert_id("grams-19", "\"round\":{\"index\":9," PREVIOUS "},", "grams-19-10");
    assert_id("1", "\"round\":{\"index\":1},", "1-2");
    assert_id("grams", "", "grams-1"); // no round: the next is the first
}

static void test_a_first_round_states_no_previous(void **state)
{
    (void)state;
    static const char text[] =
        "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":[{"
        "\"field\":\"p\",\"prefixes\":[\"\"],\"tokens\":[\"x\",\"y\"]}]," MORE "}";
    agg_recipe again;
    write_next(&again, text, &(agg_next_recipe){.field = 0, .prefixes = found, .n_prefixes = 2});
    assert_int_equal(again.recipe->round_index, 1);
    agg_recipe_release(&again);
}

#define SPLIT                                                                                      \
    "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":[{"   \
    "\"field\":\"p\","                                                                             \
    "\"prefixes\":[\"\"],\"tokens\":[\"x\",\"y\"]}],\"mechanism\":\"cms\",\"parameters\":{"        \
    "\"epsilon\":2.5,\"k\":16,"                                                                    \
    "\"m\":64},\"hash\":\"affine1\",\"seed\":\"" AGG_TEST_SEED                                     \
    "\",\"split_by\":[{\"field\":\"locale\",\"values\":["                                          \
    "\"de\",\"en\"]}],\"part\":[\"de\"],\"limit\":{\"per_day\":1},\"expires\":\"2099-01-31\","     \
    "\"signature\":{\"key\":"                                                                      \
    "\"" AGG_TEST_SEED "\",\"ed25519\":\"" AGG_TEST_SEED AGG_TEST_SEED "\"}}"

#define PERMANENT                                                                                  \
    "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":[{"   \
    "\"field\":\"p\","                                                                             \
    "\"prefixes\":[\"\"],\"tokens\":[\"x\",\"y\"]}],\"mechanism\":\"rappor\",\"parameters\":{"     \
    "\"p\":0,\"q\":1,\"f\":0."                                                                     \
    "5},"                                                                                          \
    "\"seed\":\"" AGG_TEST_SEED "\",\"limit\":{\"per_day\":1},\"expires\":\"2099-01-31\"}"

#define NEW_SEED "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

static void test_no_part_no_signature_a_new_seed(void **state)
{
    (void)state;
    agg_recipe again;
    const agg_next_recipe next = {
        .field = 0, .prefixes = found, .n_prefixes = 2, .seed_hex = NEW_SEED};
    write_next(&again, SPLIT, &next);
    assert_false(again.has_signature);
    assert_int_equal(again.recipe->n_part, 0);
    assert_int_equal(again.recipe->n_splits, 1);
    assert_int_equal(again.recipe->k, 16);
    assert_int_equal(again.recipe->seed[0], 0xff);
    agg_recipe_release(&again);
}

static void test_another_mechanism_at_the_same_epsilon(void **state)
{
    (void)state;
    agg_recipe again;
    agg_next_recipe next = {.field = 0,
                            .prefixes = found,
                            .n_prefixes = 2,
                            .seed_hex = NEW_SEED,
                            .mechanism = "subset"};
    write_next(&again, SPLIT, &next);
    assert_int_equal(again.recipe->mechanism, shoal_subset_id);
    assert_int_equal(again.recipe->cost_micro, 2500000);
    assert_null(strstr(again.json, "\"seed\""));
    assert_null(strstr(again.json, "\"hash\""));
    agg_recipe_release(&again);
    write_next(&again, PERMANENT, &next); // states no epsilon, and has one: 2 ln(0.75/0.25)
    assert_in_range(again.recipe->cost_micro, 2197225, 2197226);
    agg_recipe_release(&again);
    next.mechanism = "olh"; // takes more than epsilon
    refuse_next(AGG_ERR_USAGE, SPLIT, &next);
    next.mechanism = "subsets";
    refuse_next(AGG_ERR_USAGE, SPLIT, &next);
}

static void test_what_is_asked_for(void **state)
{
    (void)state;
    static const agg_text tokens[] = {{"q", 1}};
    agg_recipe again;
    agg_next_recipe next = {.field = 1,
                            .prefixes = found,
                            .n_prefixes = 2,
                            .tokens = tokens,
                            .n_tokens = 1,
                            .id = "other",
                            .expires = "2100-02-01",
                            .cohort_epsilon = 0.25};
    write_next(&again, joint, &next);
    assert_string_equal(again.id, "other");
    assert_int_equal(again.recipe->cohort_eps_micro, 250000);
    assert_int_equal(again.recipe->encoding.fields[1].tokens.count, 1);
    assert_int_equal(again.recipe->encoding.fields[1].prefixes.count, 2);
    assert_int_equal(again.recipe->encoding.fields[0].boundaries[0], 30000000);
    agg_recipe_release(&again);
    next.field = 0;
    next.seed_hex = NEW_SEED;
    refuse_next(AGG_ERR_USAGE, SPLIT, &next); // makes no central claim
}

// 0.1 and its kind are read back to the millionth; near 9 * 10^12 doubles lie 2^-10 apart.
static void test_boundaries_are_exact_or_refused(void **state)
{
    (void)state;
    static const int64_t exact[] = {-1500000, 100000, 333333, 30000000, 4294967295000001},
                         not_exact[] = {0, 8999999999999000001};
    agg_recipe again;
    write_next(&again, joint,
               &(agg_next_recipe){.field = 0, .boundaries = exact, .n_boundaries = 5});
    assert_memory_equal(again.recipe->encoding.fields[0].boundaries, exact, sizeof exact);
    assert_int_equal(again.recipe->encoding.fields[1].prefixes.count, 2);
    agg_recipe_release(&again);
    refuse_next(SHOAL_ERR_RANGE, joint,
                &(agg_next_recipe){.field = 0, .boundaries = not_exact, .n_boundaries = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frequent_sequences_by_their_bytes),
        cmocka_unit_test(test_a_cap_keeps_the_strongest),
        cmocka_unit_test(test_noise_is_not_kept),
        cmocka_unit_test(test_the_release_threshold_holds),
        cmocka_unit_test(test_random_answers_are_nobodys),
        cmocka_unit_test(test_what_no_recipe_could_list_is_left_out),
        cmocka_unit_test(test_as_many_as_fit),
        cmocka_unit_test(test_pieces_in_proportion),
        cmocka_unit_test(test_small_neighbours_are_joined),
        cmocka_unit_test(test_what_was_joined_counts),
        cmocka_unit_test(test_more_pieces_than_room),
        cmocka_unit_test(test_what_is_not_told_from_zero_is_zero),
        cmocka_unit_test(test_a_tail_is_not_joined_to_nothing),
        cmocka_unit_test(test_a_narrow_bucket_is_not_swallowed),
        cmocka_unit_test(test_anything_is_joined_before_there_are_too_many),
        cmocka_unit_test(test_sixteen_pieces_at_most_and_one_unit_at_least),
        cmocka_unit_test(test_the_widest_bucket),
        cmocka_unit_test(test_any_counts_any_target),
        cmocka_unit_test(test_the_next_recipe_word_for_word),
        cmocka_unit_test(test_ids_are_counted_up),
        cmocka_unit_test(test_a_first_round_states_no_previous),
        cmocka_unit_test(test_no_part_no_signature_a_new_seed),
        cmocka_unit_test(test_another_mechanism_at_the_same_epsilon),
        cmocka_unit_test(test_what_is_asked_for),
        cmocka_unit_test(test_boundaries_are_exact_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
