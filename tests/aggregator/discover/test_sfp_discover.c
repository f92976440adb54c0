// SPDX-License-Identifier: Apache-2.0
// SFP from devices to words, over both oracles: what is found and how it is counted, noise, and
// reports that no honest device sends. Strings are of 2, 4 or 6 bytes: each position is a transform
// of 2^24 numbers, which with sanitizers takes a third of a second, so that what one decoding shows
// is not shown by a second. SHOAL_LONG=1 decodes more collections of noise.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "affine1.h"
#include "bytes.h"
#include "discoverer.h"
#include "estimator.h"
#include "poly1.h"
#include "rng.h"
#include "sfp.h"
#include "sfp_decoder.h"
#include "sfp_fragments.h"

typedef struct collection {
    agg_recipe recipe;
    agg_accumulator acc;
    uint64_t next; // stream of the next device
    uint8_t seed[32];
} collection;

static void start(collection *c, const char *oracle, double epsilon, double epsilon_fragment,
                  unsigned length, uint8_t seed)
{
    char text[1024];
    agg_error error;
    int is_cms = oracle[0] == 'c';
    snprintf(text, sizeof text,
             "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\","
             "\"mechanism\":\"sfp\","
             "\"parameters\":{\"epsilon\":%g,\"epsilon_fragment\":%g,\"k\":%u,\"m\":%u,\"k_"
             "fragment\":%u,"
             "\"m_fragment\":%u,\"length\":%u,\"oracle\":\"%s\"},\"hash\":\"poly1\",\"seed\":"
             "\"" AGG_TEST_SEED "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
             epsilon, epsilon_fragment, is_cms ? 256u : 2048u, is_cms ? 256u : 16u,
             is_cms ? 256u : 1024u, is_cms ? 256u : 64u, length, oracle);
    memset(c, 0, sizeof *c);
    memset(c->seed, seed, sizeof c->seed);
    read_recipe(&c->recipe, text);
    assert_ok(agg_accumulator_init(&c->acc, &error, c->recipe.recipe));
}

static void finish(collection *c)
{
    agg_accumulator_release(&c->acc);
    agg_recipe_release(&c->recipe);
}

static void add(collection *c, const uint8_t *record)
{
    agg_error error;
    assert_ok(shoal_record_check(c->recipe.recipe, record));
    assert_ok(agg_accumulator_add(&c->acc, &error, record, 1, 1));
}

static void send(collection *c, const char *word, uint32_t n)
{
    uint8_t record[512];
    assert_true(c->recipe.recipe->record_size <= sizeof record);
    for (uint32_t i = 0; i < n; i++) {
        shoal_rng rng;
        shoal_rng_init_stream(&rng, c->seed, c->next++);
        assert_ok(shoal_record_randomize_string(record, c->recipe.recipe, (const uint8_t *)word,
                                                strlen(word), NULL, &rng));
        add(c, record);
    }
}

static void decode_with(agg_discovery *d, const collection *c, double threshold,
                        const agg_sfp_settings *settings, unsigned n_threads)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_discover_round round = {&c->recipe, &c->acc};
    agg_discover_options options = {.n_threads = n_threads};
    memset(d, 0, sizeof *d);
    d->recipe = &c->recipe;
    d->n = c->acc.n;
    d->fdr = 0.05;
    d->confidence = 0.95;
    d->threshold = threshold;
    agg_err err = settings != NULL ? agg_sfp_discover_with(d, &error, &round, settings, n_threads)
                                   : agg_sfp_discoverer.run(d, &error, &round, 1, &options);
    if (err != SHOAL_OK) fail_msg("%s", error.text);
}

static void decode(agg_discovery *d, const collection *c, double threshold, unsigned n_threads)
{
    decode_with(d, c, threshold, NULL, n_threads);
}

static const agg_found *find(const agg_discovery *d, const char *word)
{
    for (size_t i = 0; i < d->n_rows; i++)
        if (d->rows[i].value.len == strlen(word) &&
            memcmp(d->rows[i].value.bytes, word, strlen(word)) == 0)
            return &d->rows[i];
    return NULL;
}

// ---- fragments ----

#define ROWS_MAX 1024u

// The rows of a position as devices hash them: row j of position p hashes as row p k + j.
static void prepare_rows(shoal_affine1 rows[ROWS_MAX], const collection *c, uint32_t position)
{
    const shoal_part *part = &c->recipe.recipe->parts[SHOAL_SFP_FRAGMENT];
    uint32_t k = c->recipe.recipe->k_fragment;
    assert_true(k <= ROWS_MAX);
    for (uint32_t j = 0; j < k; j++)
        shoal_affine1_row(&rows[j], part->seed, position * k + j, part->m);
}

// The support of a fragment, row by row.
static uint64_t support_of(const collection *c, const shoal_affine1 rows[ROWS_MAX],
                           uint32_t position, uint32_t fragment)
{
    const shoal_part *part = &c->recipe.recipe->parts[SHOAL_SFP_FRAGMENT];
    uint32_t k = c->recipe.recipe->k_fragment;
    const uint32_t *ones =
        c->acc.parts[SHOAL_SFP_FRAGMENT].cells.ones + (size_t)position * k * part->m;
    uint64_t sum = 0;
    for (uint32_t j = 0; j < k; j++)
        sum += ones[(size_t)j * part->m + shoal_affine1_hash(&rows[j], fragment)];
    return sum;
}

static int is_kept(const agg_sfp_heavy *heavy, uint32_t position, uint32_t fragment, float *score)
{
    for (uint32_t i = heavy->start[position][fragment >> 16];
         i < heavy->start[position][(fragment >> 16) + 1]; i++)
        if (heavy->fragments[position][i].pair == (fragment & 0xffff)) {
            *score = heavy->fragments[position][i].score;
            return 1;
        }
    return 0;
}

// Scores rise with supports: of two words' fragments, the one with the larger support scores
// higher, and of letters at random what was left out has less than all that were kept.
static void check_heavy(const collection *c, const agg_sfp_heavy *heavy, const char *word,
                        const char *other)
{
    static const uint8_t seed[32] = {3};
    static shoal_affine1 rows[ROWS_MAX];
    const shoal_recipe *recipe = c->recipe.recipe;
    shoal_rng rng;
    uint64_t n = 0;
    shoal_rng_init(&rng, seed);
    for (uint32_t p = 0; p < heavy->n_positions; n += heavy->n[p++]) {
        uint64_t least = UINT64_MAX;
        float score = 0, own = 0;
        uint32_t x = shoal_sfp_fragment(recipe, (const uint8_t *)word, strlen(word), p);
        uint32_t y = shoal_sfp_fragment(recipe, (const uint8_t *)other, strlen(other), p);
        prepare_rows(rows, c, p);
        assert_true(is_kept(heavy, p, x, &own) && own > 10 && is_kept(heavy, p, y, &score) &&
                    score > 10);
        assert_true((own > score) == (support_of(c, rows, p, x) > support_of(c, rows, p, y)));
        for (uint32_t h = 0; h < AGG_SFP_HASHES; h++)
            for (uint32_t i = heavy->start[p][h]; i < heavy->start[p][h + 1]; i++) {
                uint64_t support = support_of(c, rows, p, h << 16 | heavy->fragments[p][i].pair);
                assert_true((double)heavy->fragments[p][i].score >= 3.4999);
                if (support < least) least = support;
            }
        for (int i = 0; i < 2000; i++) {
            uint32_t z = (uint32_t)shoal_rng_below(&rng, 256) << 16 |
                         ('a' + (uint32_t)shoal_rng_below(&rng, 26)) << 8 |
                         ('a' + (uint32_t)shoal_rng_below(&rng, 26));
            if (!is_kept(heavy, p, z, &score)) assert_true(support_of(c, rows, p, z) < least);
        }
    }
    assert_int_equal(n, c->acc.n);
}

static void a_cap_keeps_the_strongest(void **state)
{
    (void)state;
    collection c;
    agg_sfp_heavy heavy;
    agg_error error;
    const agg_sfp_keep keep = {3.5, 0, 40};
    start(&c, "olh", 4, 4, 2, 1);
    send(&c, "ox", 2000);
    send(&c, "a", 1500);
    assert_ok(agg_sfp_heavy_find(&heavy, &error, c.recipe.recipe, &c.acc, &keep, 1));
    check_heavy(&c, &heavy, "ox", "a");
    assert_in_range(heavy.start[0][AGG_SFP_HASHES], 2, 40);
    assert_true(heavy.left_out[0] > 0 && heavy.least[0] > 3.5);
    agg_sfp_heavy_release(&heavy);
    finish(&c);
}

// ---- words ----

typedef struct sent {
    const char *word;
    uint32_t n;
} sent;

static const sent crowd[] = {{"the", 2000},
                             {"a", 1500},
                             {"ox", 1000},
                             {"shoals", 1500},
                             {"\xd1\x8f\xd0\xbc\xd0\xb0", 1500},
                             {"\xf0\x9f\x90\x9f", 1250},
                             {"\xc3\xa9t\xc3\xa9", 1250},
                             {"fish", 1000},
                             {"mice", 1000}};
#define CROWD (sizeof crowd / sizeof crowd[0])
#define SENT 18000u

// What a threshold leaves of the rows.
static void assert_rows_from(const agg_discovery *few, const agg_discovery *all, double threshold)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n_rows; i++) {
        if (all->rows[i].count < threshold) continue;
        const agg_found *row = &few->rows[n++];
        assert_true(n <= few->n_rows);
        assert_int_equal(agg_text_compare(row->value, all->rows[i].value), 0);
        assert_memory_equal(&row->count, &all->rows[i].count, sizeof row->count);
        assert_memory_equal(&row->score, &all->rows[i].score, sizeof row->score);
        assert_string_equal(row->how, all->rows[i].how);
    }
    assert_int_equal(n, few->n_rows);
}

// Decodes what was found already.
static void decode_heavy(agg_discovery *d, const collection *c, const agg_sfp_heavy *heavy,
                         double threshold, unsigned n_threads)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_discover_round round = {&c->recipe, &c->acc};
    agg_sfp_settings settings = agg_sfp_settings_of(c->recipe.recipe, 0);
    *d = (agg_discovery){.recipe = &c->recipe,
                         .n = c->acc.n,
                         .fdr = 0.05,
                         .confidence = 0.95,
                         .threshold = threshold};
    if (agg_sfp_discover_heavy(d, &error, &round, heavy, &settings, n_threads) != SHOAL_OK)
        fail_msg("%s", error.text);
}

// 18,000 devices at 4 + 6: of six bytes a word's fragments score 1000 against sqrt(3 * 18,000)
// times 0.13 to 0.39, 11 and more. Some say what is no text, or nothing at all; those whose word is
// too long say nothing.
static void send_crowd(collection *c, const char *oracle, unsigned length)
{
    start(c, oracle, 4, 6, length, 2);
    for (size_t i = 0; i < CROWD; i++) send(c, crowd[i].word, crowd[i].n);
    send(c, "\xff\xfe\x41", 2500);
    send(c, "a\x01", 2500);
    send(c, "far too long", 500);
    send(c, "", 500);
    assert_int_equal(c->acc.n, SENT);
}

static void check_words(const agg_discovery *d, const char *oracle, unsigned length)
{
    size_t n_words = 0;
    for (size_t i = 0; i < CROWD; i++) {
        const agg_found *row = find(d, crowd[i].word);
        if (strlen(crowd[i].word) > length) continue;
        n_words++;
        if (row == NULL) fail_msg("%s: %s is not found", oracle, crowd[i].word);
        // 15 words in two collections: 4.5 standard errors are passed once in 9,000 runs
        assert_true(fabs(row->count - crowd[i].n) < 4.5 * row->stderr_);
        assert_true(row->low < row->count && row->count < row->high && row->score > 3);
    }
    assert_in_range(d->n_rows, n_words, n_words + 1); // half of 5 %, of 9
    assert_int_equal(d->n_cuts, 0);
    // of all reports, each in one of the positions; shared rows add
    double error = 0, least = (oracle[0] == 'c' ? 0.24 : 0.13) * sqrt(length / 2.0 * SENT);
    assert_int_equal(sscanf(strstr(d->notes[0], "standard error "), "standard error %lf", &error),
                     1);
    assert_true(error > least && error < 1.6 * least);
    const char *how = find(d, length == 6 ? "shoals" : "fish")->how;
    assert_string_equal(strstr(how, length == 6 ? "3 fragments" : "2 fragments") != NULL ? "" : how,
                        "");
}

// Fragments, then words; a threshold that holds for strings alone; no row depends on threads.
static void finds_words(const char *oracle, unsigned length)
{
    collection c;
    agg_discovery d, few;
    agg_sfp_heavy heavy;
    agg_error error;
    send_crowd(&c, oracle, length);
    agg_sfp_settings settings = agg_sfp_settings_of(c.recipe.recipe, 0);
    assert_ok(agg_sfp_heavy_find(&heavy, &error, c.recipe.recipe, &c.acc, &settings.keep, 1));
    check_heavy(&c, &heavy, "the", "mice");
    for (uint32_t p = 0; p < heavy.n_positions; p++) assert_int_equal(heavy.left_out[p], 0);
    decode_heavy(&d, &c, &heavy, 0, 1);
    check_words(&d, oracle, length);
    decode_heavy(&few, &c, &heavy, 1125, 3);
    assert_non_null(find(&few, "the"));
    assert_null(find(&few, "mice"));
    assert_rows_from(&few, &d, 1125);
    agg_discovery_release(&few);
    agg_discovery_release(&d);
    agg_sfp_heavy_release(&heavy);
    finish(&c);
}

static void words_over_cms(void **state)
{
    (void)state;
    finds_words("cms", 4);
}

static void words_over_olh(void **state)
{
    (void)state;
    if (effort_is_small()) skip(); // the attacker below also goes over olh
    finds_words("olh", 6);
}

// Without one for strings: what is too weak never gets to the oracle of strings. The whole decoder,
// on three threads.
static void a_threshold_holds_for_fragments(void **state)
{
    (void)state;
    collection c;
    agg_discovery d;
    send_crowd(&c, "cms", 2);
    agg_sfp_settings settings = agg_sfp_settings_of(c.recipe.recipe, 1250);
    decode_with(&d, &c, 0, &settings, 3);
    assert_non_null(find(&d, "a"));
    assert_null(find(&d, "ox"));
    assert_int_equal(d.n_candidates, 1);
    assert_int_equal(d.n_cuts, 0); // what is left out was not wanted
    agg_discovery_release(&d);
    finish(&c);
}

// ---- nothing ----

// Devices that say nothing, and fragments let through so loosely that there are candidates enough,
// of one fragment and of two: a row in a collection is as likely as the stated rate, 0.05, at most.
// Of 4 collections, two with one would happen once in 71 times; of 40, seven once in 250.
static void noise_holds_no_words(void **state)
{
    (void)state;
    int is_long = getenv("SHOAL_LONG") != NULL;
    unsigned n_collections = effort(40, 4, 2), n_with_rows = 0;
    for (uint8_t i = 0; i < n_collections; i++) {
        collection c;
        agg_discovery d;
        start(&c, i % 2 == 0 ? "cms" : "olh", 2, 4, i < 2 || is_long ? 4 : 2, (uint8_t)(100 + i));
        send(&c, "", 3000);
        agg_sfp_settings settings = agg_sfp_settings_of(c.recipe.recipe, 0);
        settings.keep.score = 2.5;
        decode_with(&d, &c, 0, &settings, 1);
        assert_true(d.n_candidates > 20);
        n_with_rows += d.n_rows > 0;
        agg_discovery_release(&d);
        finish(&c);
    }
    assert_true(n_with_rows <= (is_long ? 6 : 1));
}

// ---- hostile reports ----

// The record of an attacker who says what helps a word most: its column's bit alone (cms), or its
// answer (olh).
static void push(uint8_t *record, const collection *c, const char *word, uint32_t i)
{
    const shoal_recipe *recipe = c->recipe.recipe;
    const shoal_part *fragment = &recipe->parts[SHOAL_SFP_FRAGMENT],
                     *string = &recipe->parts[SHOAL_SFP_STRING];
    uint32_t position = i % shoal_sfp_positions(recipe), row = i / 7;
    uint32_t j = position * recipe->k_fragment + row % recipe->k_fragment, l = row % string->k;
    shoal_affine1 affine;
    shoal_poly1 poly;
    shoal_affine1_row(&affine, fragment->seed, j, fragment->m);
    shoal_poly1_row(&poly, string->seed, l);
    uint32_t y = shoal_affine1_hash(
        &affine, shoal_sfp_fragment(recipe, (const uint8_t *)word, strlen(word), position));
    uint32_t z = shoal_poly1_hash(
        &poly, shoal_poly1_point(shoal_part_item(string, (const uint8_t *)word, strlen(word))),
        string->m);
    uint8_t *second = record + fragment->record_size;
    memset(record, 0, recipe->record_size);
    if (recipe->oracle == SHOAL_ORACLE_OLH) {
        store32_le(record, j * fragment->m + y);
        store32_le(second, l * string->m + z);
        return;
    }
    store32_le(record, j);
    store32_le(second, l);
    record[4 + y / 8] = (uint8_t)(1 << y % 8);
    second[4 + z / 8] = (uint8_t)(1 << z % 8);
}

static double count_of(const collection *c, const char *word)
{
    agg_error error;
    agg_count count;
    const shoal_part *part = &c->recipe.recipe->parts[SHOAL_SFP_STRING];
    uint64_t item = shoal_part_item(part, (const uint8_t *)word, strlen(word));
    assert_ok(agg_estimator_counts(&count, &error, part, &c->acc.parts[SHOAL_SFP_STRING], c->acc.n,
                                   &item, 1, 1));
    return count.count;
}

// 1 % of 20,000 reports push one word: it comes out, and each report counts for (c + 1)/2 - 1/m,
// stretched by m/(m - 1), over cms and for (1 - 1/g)/(p - 1/g) over olh, as docs/mechanisms/sfp.md
// says. The word's fragments score 300 against sqrt(positions 20,000) times 0.24 at most, 6 and
// more.
static void attacker_pushes(const char *oracle, const char *word)
{
    const uint32_t n_attacks = 200;
    collection c;
    agg_discovery d;
    uint8_t record[512];
    start(&c, oracle, 4, 6, (unsigned)strlen(word), 4);
    send(&c, "he", 4000);
    send(&c, "", 15800);
    const shoal_part *part = &c.recipe.recipe->parts[SHOAL_SFP_STRING];
    double before = count_of(&c, word), m = part->m, e = exp(4), q = 1 / (exp(2) + 1);
    double flip = 1 / (1 - 2 * q), p = e / (e + m - 1);
    double each =
        oracle[0] == 'c' ? m / (m - 1) * ((flip + 1) / 2 - 1 / m) : (1 - 1 / m) / (p - 1 / m);
    for (uint32_t i = 0; i < n_attacks; i++) {
        push(record, &c, word, i);
        add(&c, record);
    }
    assert_true(fabs(count_of(&c, word) - before - each * n_attacks) < 1e-6 * n_attacks);
    decode(&d, &c, 0, 1);
    assert_non_null(find(&d, "he"));
    assert_non_null(find(&d, word));
    assert_in_range(d.n_rows, 2, 3);
    agg_discovery_release(&d);
    finish(&c);
}

static void an_attacker_is_amplified_no_further(void **state)
{
    (void)state;
    attacker_pushes("cms", "ad");
    attacker_pushes("olh", "spam");
}

static void random_records_hold_no_words(void **state)
{
    (void)state;
    static const uint8_t seed[32] = {6};
    collection c;
    agg_discovery d;
    shoal_rng rng;
    uint8_t record[512];
    start(&c, "cms", 4, 4, 2, 5);
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 4000; i++) {
        for (uint32_t b = 0; b < c.recipe.recipe->record_size; b++)
            record[b] = (uint8_t)shoal_rng_below(&rng, 256);
        store32_le(record, (uint32_t)shoal_rng_below(&rng, 256));
        store32_le(record + c.recipe.recipe->parts[0].record_size,
                   (uint32_t)shoal_rng_below(&rng, 256));
        add(&c, record);
    }
    decode(&d, &c, 0, 1);
    assert_int_equal(d.n_rows, 0);
    agg_discovery_release(&d);
    finish(&c);
}

// One record a position, 5,000 times: whole rows are full or empty, and half of everything stands
// out. It ends within its bounds.
static void constant_records_end_within_the_bounds(void **state)
{
    (void)state;
    static const uint8_t seed[32] = {8};
    for (int oracle = 0; oracle < 2; oracle++) {
        collection c;
        agg_discovery d;
        uint8_t record[512];
        start(&c, oracle == 0 ? "cms" : "olh", 4, 4, oracle == 0 ? 4 : 2, 6);
        for (uint32_t i = 0; i < 5000; i++) {
            shoal_rng rng;
            shoal_rng_init_stream(&rng, seed, i % 2);
            assert_ok(shoal_record_randomize_string(record, c.recipe.recipe,
                                                    (const uint8_t *)"fish", 4, NULL, &rng));
            add(&c, record);
        }
        decode(&d, &c, 0, 1);
        assert_in_range(d.n_candidates, 0, 4 * 16384);
        agg_discovery_release(&d);
        finish(&c);
    }
}

static void no_words_of_no_reports_or_one(void **state)
{
    (void)state;
    collection c;
    agg_discovery d;
    start(&c, "olh", 4, 4, 2, 7);
    for (int n = 0; n < 2; n++) {
        decode(&d, &c, 0, 1);
        assert_int_equal(d.n_rows, 0);
        assert_int_equal(d.n_cuts, 0);
        agg_discovery_release(&d);
        send(&c, "ox", 1);
    }
    finish(&c);
}

// argv[1], when given, chooses tests by a pattern.
int main(int argc, char *argv[])
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_keeps_the_strongest),
        cmocka_unit_test(words_over_cms),
        cmocka_unit_test(words_over_olh),
        cmocka_unit_test(a_threshold_holds_for_fragments),
        cmocka_unit_test(noise_holds_no_words),
        cmocka_unit_test(an_attacker_is_amplified_no_further),
        cmocka_unit_test(random_records_hold_no_words),
        cmocka_unit_test(constant_records_end_within_the_bounds),
        cmocka_unit_test(no_words_of_no_reports_or_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
