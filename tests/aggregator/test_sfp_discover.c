// SPDX-License-Identifier: Apache-2.0
// SFP from devices to words, over both oracles: what is found and how it is counted, noise, and reports that no honest device sends.
// Strings are of 4 or 6 bytes: each position is a transform of 2^24 numbers. SHOAL_LONG=1 decodes more collections of noise.
#include "agg_test.h"

#include <math.h>

#include "affine1.h"
#include "bytes.h"
#include "discover.h"
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

static void start(collection *c, const char *oracle, double epsilon, double epsilon_fragment, unsigned length,
                  uint8_t seed)
{
    char text[1024];
    agg_error error;
    int is_cms = oracle[0] == 'c';
    snprintf(text, sizeof text,
             "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":\"sfp\","
             "\"parameters\":{\"epsilon\":%g,\"epsilon_fragment\":%g,\"k\":%u,\"m\":%u,\"k_fragment\":%u,"
             "\"m_fragment\":%u,\"length\":%u,\"oracle\":\"%s\"},\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED
             "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
             epsilon, epsilon_fragment, is_cms ? 256u : 2048u, is_cms ? 256u : 16u, is_cms ? 256u : 1024u,
             is_cms ? 256u : 64u, length, oracle);
    memset(c, 0, sizeof *c);
    memset(c->seed, seed, sizeof c->seed);
    read_recipe(&c->recipe, text);
    assert_ok(agg_accumulator_init(&c->acc, &error, &c->recipe.recipe));
}

static void finish(collection *c)
{
    agg_accumulator_release(&c->acc);
    agg_recipe_release(&c->recipe);
}

static void add(collection *c, const uint8_t *record)
{
    agg_error error;
    assert_ok(shoal_record_check(&c->recipe.recipe, record));
    assert_ok(agg_accumulator_add(&c->acc, &error, record, 1, 1));
}

static void send(collection *c, const char *word, uint32_t n)
{
    uint8_t record[512];
    assert_true(c->recipe.recipe.record_size <= sizeof record);
    for (uint32_t i = 0; i < n; i++) {
        shoal_rng rng;
        shoal_rng_init_stream(&rng, c->seed, c->next++);
        assert_ok(
            shoal_record_randomize_string(record, &c->recipe.recipe, (const uint8_t *)word, strlen(word), NULL, &rng));
        add(c, record);
    }
}

static void decode_with(agg_discovery *d, const collection *c, double threshold, const agg_sfp_settings *settings,
                        unsigned n_threads)
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
    shoal_err err = settings != NULL ? agg_sfp_discover_with(d, &error, &round, settings, n_threads)
                                     : agg_sfp_discover(d, &error, &round, &options);
    if (err != SHOAL_OK) fail_msg("%s", error.text);
}

static void decode(agg_discovery *d, const collection *c, double threshold, unsigned n_threads)
{
    decode_with(d, c, threshold, NULL, n_threads);
}

static const agg_found *find(const agg_discovery *d, const char *word)
{
    for (size_t i = 0; i < d->n_rows; i++)
        if (d->rows[i].value.len == strlen(word) && memcmp(d->rows[i].value.bytes, word, strlen(word)) == 0)
            return &d->rows[i];
    return NULL;
}

// ---- fragments ----

// The support of a fragment, row by row: row j of position p hashes as row p k + j.
static uint64_t support_of(const collection *c, uint32_t position, uint32_t fragment)
{
    const shoal_part *part = &c->recipe.recipe.parts[SHOAL_SFP_FRAGMENT];
    uint64_t sum = 0;
    uint32_t k = c->recipe.recipe.k_fragment;
    for (uint32_t j = position * k; j < (position + 1) * k; j++) {
        shoal_affine1 row;
        shoal_affine1_row(&row, part->seed, j, part->m);
        sum += c->acc.parts[SHOAL_SFP_FRAGMENT].cells.ones[(size_t)j * part->m + shoal_affine1_hash(&row, fragment)];
    }
    return sum;
}

static int is_kept(const agg_sfp_heavy *heavy, uint32_t position, uint32_t fragment, float *score)
{
    for (uint32_t i = heavy->start[position][fragment >> 16]; i < heavy->start[position][(fragment >> 16) + 1]; i++)
        if (heavy->fragments[position][i].pair == (fragment & 0xffff)) {
            *score = heavy->fragments[position][i].score;
            return 1;
        }
    return 0;
}

// Scores rise with supports: of kept fragments and letters at random, those with the larger support score higher, and what
// was left out has less than all that were kept.
static void keeps_the_heavy(const char *oracle)
{
    static const uint8_t seed[32] = {3};
    collection c;
    agg_sfp_heavy heavy;
    agg_error error;
    shoal_rng rng;
    const agg_sfp_keep keep = {3.5, 0, 2000}, few = {3.5, 0, 40};
    start(&c, oracle, 4, 4, 4, 1);
    send(&c, "fish", 3000);
    send(&c, "sea", 3000);
    assert_ok(agg_sfp_heavy_find(&heavy, &error, &c.recipe.recipe, &c.acc, &keep, 1));
    assert_int_equal(heavy.n[0] + heavy.n[1], 6000);
    shoal_rng_init(&rng, seed);
    for (uint32_t p = 0; p < 2; p++) {
        uint64_t least = UINT64_MAX;
        float score = 0, weaker = 0;
        uint32_t fish = shoal_sfp_fragment(&c.recipe.recipe, (const uint8_t *)"fish", 4, p);
        uint32_t sea = shoal_sfp_fragment(&c.recipe.recipe, (const uint8_t *)"sea", 3, p);
        assert_true(is_kept(&heavy, p, fish, &score) && score > 10 && is_kept(&heavy, p, sea, &weaker) && weaker > 10);
        assert_true((score > weaker) == (support_of(&c, p, fish) > support_of(&c, p, sea)));
        for (uint32_t h = 0; h < AGG_SFP_HASHES; h++)
            for (uint32_t i = heavy.start[p][h]; i < heavy.start[p][h + 1]; i++) {
                uint64_t support = support_of(&c, p, h << 16 | heavy.fragments[p][i].pair);
                assert_true(heavy.fragments[p][i].score >= 3.4999);
                if (support < least) least = support;
            }
        for (int i = 0; i < 2000; i++) {
            uint32_t x = (uint32_t)shoal_rng_below(&rng, 256) << 16 | ('a' + (uint32_t)shoal_rng_below(&rng, 26)) << 8 |
                         ('a' + (uint32_t)shoal_rng_below(&rng, 26));
            if (!is_kept(&heavy, p, x, &score)) assert_true(support_of(&c, p, x) < least);
        }
        assert_true(heavy.left_out[p] == 0);
    }
    agg_sfp_heavy_release(&heavy);
    assert_ok(agg_sfp_heavy_find(&heavy, &error, &c.recipe.recipe, &c.acc, &few, 1));
    for (uint32_t p = 0; p < 2; p++) {
        float score;
        assert_in_range(heavy.start[p][AGG_SFP_HASHES], 2, 40);
        assert_true(heavy.left_out[p] > 0 && heavy.least[p] > 3.5);
        assert_true(is_kept(&heavy, p, shoal_sfp_fragment(&c.recipe.recipe, (const uint8_t *)"sea", 3, p), &score));
    }
    agg_sfp_heavy_release(&heavy);
    finish(&c);
}

static void heavy_fragments_of_cms(void **state)
{
    (void)state;
    keeps_the_heavy("cms");
}

static void heavy_fragments_of_olh(void **state)
{
    (void)state;
    keeps_the_heavy("olh");
}

// ---- words ----

typedef struct sent {
    const char *word;
    uint32_t n;
} sent;

static const sent crowd[] = {{"the", 4000},
                             {"a", 3000},
                             {"shoals", 3000},
                             {"\xd1\x8f\xd0\xbc\xd0\xb0", 3000},
                             {"\xf0\x9f\x90\x9f", 2500},
                             {"\xc3\xa9t\xc3\xa9", 2500},
                             {"fish", 2000},
                             {"mice", 2000}};
#define CROWD (sizeof crowd / sizeof crowd[0])

static void assert_same_rows(const agg_discovery *a, const agg_discovery *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    for (size_t i = 0; i < a->n_rows; i++) {
        assert_int_equal(agg_text_compare(a->rows[i].value, b->rows[i].value), 0);
        assert_memory_equal(&a->rows[i].count, &b->rows[i].count, sizeof a->rows[i].count);
        assert_memory_equal(&a->rows[i].score, &b->rows[i].score, sizeof a->rows[i].score);
        assert_string_equal(a->rows[i].how, b->rows[i].how);
    }
}

// 30,000 devices at 4 + 6: of six bytes a word's fragments score 2000/3 against sqrt(10,000) times 0.6 to 0.3, 10 and more. Some say what
// is no text, or nothing at all.
static void finds_words(const char *oracle)
{
    collection c;
    agg_discovery d, other;
    start(&c, oracle, 4, 6, 6, 2);
    for (size_t i = 0; i < CROWD; i++) send(&c, crowd[i].word, crowd[i].n);
    send(&c, "\xff\xfe\x41", 3000);
    send(&c, "a\x01", 3000);
    send(&c, "far too long", 1000);
    send(&c, "", 1000);
    decode(&d, &c, 0, 1);
    for (size_t i = 0; i < CROWD; i++) {
        const agg_found *row = find(&d, crowd[i].word);
        if (row == NULL) fail_msg("%s: %s is not found", oracle, crowd[i].word);
        // eight words, two oracles: 4.5 standard errors are passed once in 9,000 runs
        assert_true(fabs(row->count - crowd[i].n) < 4.5 * row->stderr_);
        assert_true(row->low < row->count && row->count < row->high && row->score > 3);
    }
    assert_in_range(d.n_rows, CROWD, CROWD + 1); // half of 5 %, of 8
    assert_int_equal(d.n_cuts, 0);
    double error = 0, fragment = oracle[0] == 'c'
                                     ? 0.24
                                     : 0.13; // of 30,000 reports, each in one of three positions; shared rows add
    assert_int_equal(sscanf(strstr(d.notes[0], "standard error "), "standard error %lf", &error), 1);
    assert_true(error > fragment * sqrt(3 * 30000.0) && error < 1.6 * fragment * sqrt(3 * 30000.0));
    assert_string_equal(strstr(find(&d, "shoals")->how, "3 fragments") != NULL ? "" : find(&d, "shoals")->how, "");
    decode(&other, &c, 0, 3);
    assert_same_rows(&d, &other);
    agg_discovery_release(&other);
    for (int of_fragments = 0; of_fragments < 2; of_fragments++) { // the threshold holds for either alone
        agg_sfp_settings settings = agg_sfp_settings_of(&c.recipe.recipe, of_fragments ? 2250 : 0);
        decode_with(&other, &c, of_fragments ? 0 : 2250, &settings, 1);
        assert_non_null(find(&other, "the"));
        assert_null(find(&other, "mice"));
        assert_true(other.n_candidates < d.n_candidates || !of_fragments);
        agg_discovery_release(&other);
    }
    agg_discovery_release(&d);
    finish(&c);
}

static void words_over_cms(void **state)
{
    (void)state;
    finds_words("cms");
}

static void words_over_olh(void **state)
{
    (void)state;
    finds_words("olh");
}

// ---- nothing ----

// Devices that say nothing, and fragments let through so loosely that there are candidates enough: a row in a collection is as likely as the stated rate, 0.05, at most. Of 6 collections, three with one would
// happen once in 450 times; of 40, seven once in 250.
static void noise_holds_no_words(void **state)
{
    (void)state;
    int is_long = getenv("SHOAL_LONG") != NULL;
    unsigned n_collections = is_long ? 40 : 6, n_with_rows = 0;
    for (uint8_t i = 0; i < n_collections; i++) {
        collection c;
        agg_discovery d;
        start(&c, i % 2 == 0 ? "cms" : "olh", 2, 4, 4, (uint8_t)(100 + i));
        send(&c, "", 4000);
        agg_sfp_settings settings = agg_sfp_settings_of(&c.recipe.recipe, 0);
        settings.keep.score = 2.5;
        decode_with(&d, &c, 0, &settings, 1);
        assert_true(d.n_candidates > 20);
        n_with_rows += d.n_rows > 0;
        agg_discovery_release(&d);
        finish(&c);
    }
    assert_true(n_with_rows <= (is_long ? 6 : 2));
}

// ---- hostile reports ----

// The record of an attacker who says what helps a word most: its column's bit alone (cms), or its answer (olh).
static void push(uint8_t *record, const collection *c, const char *word, uint32_t i)
{
    const shoal_recipe *recipe = &c->recipe.recipe;
    const shoal_part *fragment = &recipe->parts[SHOAL_SFP_FRAGMENT], *string = &recipe->parts[SHOAL_SFP_STRING];
    uint32_t position = i % shoal_sfp_positions(recipe), row = i / 7;
    uint32_t j = position * recipe->k_fragment + row % recipe->k_fragment, l = row % string->k;
    shoal_affine1 affine;
    shoal_poly1 poly;
    shoal_affine1_row(&affine, fragment->seed, j, fragment->m);
    shoal_poly1_row(&poly, string->seed, l);
    uint32_t y = shoal_affine1_hash(&affine, shoal_sfp_fragment(recipe, (const uint8_t *)word, strlen(word), position));
    uint32_t z = shoal_poly1_hash(
        &poly, shoal_poly1_point(shoal_part_item(string, (const uint8_t *)word, strlen(word))), string->m);
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
    const shoal_part *part = &c->recipe.recipe.parts[SHOAL_SFP_STRING];
    uint64_t item = shoal_part_item(part, (const uint8_t *)word, strlen(word));
    assert_ok(agg_estimator_counts(&count, &error, part, &c->acc.parts[SHOAL_SFP_STRING], c->acc.n, &item, 1, 1));
    return count.count;
}

// 1 % of 60,000 reports push one word: it comes out, and each report counts for (c + 1)/2 - 1/m, stretched by m/(m - 1), over cms and for
// (1 - 1/g)/(p - 1/g) over olh, as docs/mechanisms/sfp.md says.
static void attacker_pushes(const char *oracle)
{
    const uint32_t n_attacks = 600;
    collection c;
    agg_discovery d;
    uint8_t record[512];
    start(&c, oracle, 4, 6, 4, 4);
    send(&c, "fish", 10000);
    send(&c, "", 49400);
    const shoal_part *part = &c.recipe.recipe.parts[SHOAL_SFP_STRING];
    double before = count_of(&c, "spam"), m = part->m, e = exp(4), q = 1 / (exp(2) + 1);
    double flip = 1 / (1 - 2 * q), p = e / (e + m - 1);
    double each = oracle[0] == 'c' ? m / (m - 1) * ((flip + 1) / 2 - 1 / m) : (1 - 1 / m) / (p - 1 / m);
    for (uint32_t i = 0; i < n_attacks; i++) {
        push(record, &c, "spam", i);
        add(&c, record);
    }
    assert_true(fabs(count_of(&c, "spam") - before - each * n_attacks) < 1e-6 * n_attacks);
    decode(&d, &c, 0, 1);
    assert_non_null(find(&d, "fish"));
    assert_non_null(find(&d, "spam"));
    assert_in_range(d.n_rows, 2, 3);
    agg_discovery_release(&d);
    finish(&c);
}

static void an_attacker_is_amplified_no_further(void **state)
{
    (void)state;
    attacker_pushes("cms");
    attacker_pushes("olh");
}

static void random_records_hold_no_words(void **state)
{
    (void)state;
    static const uint8_t seed[32] = {6};
    collection c;
    agg_discovery d;
    shoal_rng rng;
    uint8_t record[512];
    start(&c, "cms", 4, 4, 4, 5);
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < 4000; i++) {
        for (uint32_t b = 0; b < c.recipe.recipe.record_size; b++) record[b] = (uint8_t)shoal_rng_below(&rng, 256);
        store32_le(record, (uint32_t)shoal_rng_below(&rng, 512));
        store32_le(record + c.recipe.recipe.parts[0].record_size, (uint32_t)shoal_rng_below(&rng, 256));
        add(&c, record);
    }
    decode(&d, &c, 0, 1);
    assert_int_equal(d.n_rows, 0);
    agg_discovery_release(&d);
    finish(&c);
}

// One record a position, 20,000 times: whole rows are full or empty, and half of everything stands out. It ends within its bounds.
static void constant_records_end_within_the_bounds(void **state)
{
    (void)state;
    static const uint8_t seed[32] = {8};
    for (int oracle = 0; oracle < 2; oracle++) {
        collection c;
        agg_discovery d;
        uint8_t record[512];
        start(&c, oracle == 0 ? "cms" : "olh", 4, 4, 4, 6);
        for (uint32_t i = 0; i < 20000; i++) {
            shoal_rng rng;
            shoal_rng_init_stream(&rng, seed, i % 2);
            assert_ok(shoal_record_randomize_string(record, &c.recipe.recipe, (const uint8_t *)"fish", 4, NULL, &rng));
            add(&c, record);
        }
        decode(&d, &c, 0, 1);
        assert_in_range(d.n_candidates, 0, 4 * 16384);
        agg_discovery_release(&d);
        finish(&c);
    }
}

static void no_reports_no_words(void **state)
{
    (void)state;
    collection c;
    agg_discovery d;
    start(&c, "cms", 4, 4, 4, 7);
    decode(&d, &c, 0, 1);
    assert_int_equal(d.n_rows, 0);
    agg_discovery_release(&d);
    finish(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heavy_fragments_of_cms),
        cmocka_unit_test(heavy_fragments_of_olh),
        cmocka_unit_test(words_over_cms),
        cmocka_unit_test(words_over_olh),
        cmocka_unit_test(noise_holds_no_words),
        cmocka_unit_test(an_attacker_is_amplified_no_further),
        cmocka_unit_test(random_records_hold_no_words),
        cmocka_unit_test(constant_records_end_within_the_bounds),
        cmocka_unit_test(no_reports_no_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
