// SPDX-License-Identifier: Apache-2.0
// SFP's pieces one by one: the automaton of texts, the join against all products, its bounds, the
// confirmation by tiers, the planner.
#include "agg_test.h"

#include <math.h>
#include <stdbool.h>

#include "json_walk.h"
#include "rng.h"
#include "sfp.h"
#include "sfp_join.h"
#include "sfp_plan.h"
#include "sfp_text.h"
#include "sfp_tiers.h"

static void sfp_recipe(agg_recipe *recipe, unsigned length, const char *extra)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\","
             "\"mechanism\":\"sfp\","
             "\"parameters\":{\"epsilon\":4,\"epsilon_fragment\":4,\"k\":16,\"m\":16,\"k_"
             "fragment\":16,\"m_fragment\":16,"
             "\"length\":%u},\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED
             "\",\"limit\":{\"per_day\":1},"
             "\"expires\":\"2030-01-01\"%s}",
             length, extra);
    read_recipe(recipe, text);
}

// ---- texts ----

// Whether four bytes are a text with zero bytes behind it, by the UTF-8 of others.
static int is_text(const uint8_t bytes[4])
{
    size_t len = 0;
    while (len < 4 && bytes[len] != 0) len++;
    for (size_t i = len; i < 4; i++)
        if (bytes[i] != 0) return 0;
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] < 0x20 || bytes[i] == 0x7f || (bytes[i] >= 'A' && bytes[i] <= 'Z')) return 0;
        if (bytes[i] == 0xc2 && i + 1 < len && bytes[i + 1] < 0xa0) return 0; // U+0080 .. U+009F
    }
    return len > 0 && agg_utf8_is_valid((const char *)bytes, len);
}

static void texts_are_utf8_without_controls(void **state)
{
    (void)state;
    static const uint8_t edges[] = {0x00, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8f, 0x90,
                                    0x9f, 0xa0, 0xbf, 0xc0, 0xf4, 'a',  'A'};
    const size_t n = sizeof edges;
    agg_recipe recipe;
    agg_sfp_text text;
    sfp_recipe(&recipe, 4, "");
    agg_sfp_text_init(&text, &recipe.recipe);
    size_t n_texts = 0;
    for (uint32_t first = 0; first < 256; first++)
        for (size_t i = 0; i < n * n * n; i++) {
            uint8_t bytes[4] = {(uint8_t)first, edges[i % n], edges[i / n % n], edges[i / n / n]};
            uint32_t at =
                agg_sfp_text_pair(&text, AGG_SFP_NONE, (uint32_t)bytes[0] << 8 | bytes[1]);
            at = agg_sfp_text_pair(&text, at, (uint32_t)bytes[2] << 8 | bytes[3]);
            assert_int_equal(agg_sfp_text_is_whole(at), is_text(bytes));
            n_texts += agg_sfp_text_is_whole(at) != 0;
        }
    assert_true(n_texts > 1000);
    agg_recipe_release(&recipe);
}

static void upper_case_is_a_text_where_the_recipe_keeps_it(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_sfp_text text;
    sfp_recipe(&recipe, 4, ",\"text\":{\"case\":\"keep\"}");
    agg_sfp_text_init(&text, &recipe.recipe);
    assert_int_equal(agg_sfp_text_pair(&text, AGG_SFP_NONE, 'A' << 8 | 'b'), AGG_SFP_BETWEEN);
    agg_recipe_release(&recipe);
}

// ---- joining ----

typedef struct fixture {
    agg_recipe recipe;
    agg_sfp_heavy heavy;
    agg_sfp_candidates found;
} fixture;

#define LISTED 64u

static int by_hash(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[2] < y[2]) - (x[2] > y[2]);
}

// A position's list from (hash, pair, score) triples.
static void fill_position(agg_sfp_heavy *heavy, uint32_t position, uint32_t (*triples)[3],
                          uint32_t n)
{
    qsort(triples, n, sizeof *triples, by_hash);
    heavy->fragments[position] = calloc(n + 1, sizeof **heavy->fragments);
    assert_non_null(heavy->fragments[position]);
    heavy->n[position] = 1000;
    heavy->least[position] = 3;
    uint32_t at = 0;
    for (uint32_t hash = 0; hash <= AGG_SFP_HASHES; hash++) {
        while (at < n && triples[at][0] < hash) at++;
        heavy->start[position][hash] = at;
    }
    for (uint32_t i = 0; i < n; i++)
        heavy->fragments[position][i] =
            (agg_sfp_fragment){(uint16_t)triples[i][1], (float)triples[i][2]};
}

// The fragments of words, the first word's the strongest. A position in `without` lacks those of
// its word.
static void set_words(fixture *f, unsigned length, const char *const *words, uint32_t n_words,
                      int without)
{
    uint32_t triples[LISTED][3];
    sfp_recipe(&f->recipe, length, "");
    f->heavy.n_positions = length / 2;
    for (uint32_t p = 0; p < length / 2; p++) {
        uint32_t n = 0;
        for (uint32_t w = 0; w < n_words; w++) {
            uint32_t fragment = shoal_sfp_fragment(&f->recipe.recipe, (const uint8_t *)words[w],
                                                   strlen(words[w]), p);
            int is_there = (int)p == without;
            for (uint32_t i = 0; i < n; i++)
                is_there |= triples[i][0] == fragment >> 16 && triples[i][1] == (fragment & 0xffff);
            if (is_there) continue;
            triples[n][0] = fragment >> 16;
            triples[n][1] = fragment & 0xffff;
            triples[n++][2] = 60 - 2 * w - p;
        }
        fill_position(&f->heavy, p, triples, n);
    }
}

static void release(fixture *f)
{
    agg_sfp_heavy_release(&f->heavy);
    agg_sfp_candidates_release(&f->found);
    agg_recipe_release(&f->recipe);
}

static const agg_sfp_bounds ample = {1e6, 10000, 1u << 24};

static int is_found(const fixture *f, const char *word)
{
    int n = 0;
    for (size_t i = 0; i < f->found.n; i++)
        n += f->found.list[i].len == strlen(word) &&
             memcmp(f->found.list[i].bytes, word, strlen(word)) == 0;
    return n;
}

static const char *const words[] = {"the",         "a",
                                    "shoal",       "mackerel",
                                    "zebra fish",  "\xd1\x8f\xd0\xbc\xd0\xb0",
                                    "caf\xc3\xa9", "x\xf0\x9f\x90\x9f",
                                    "\xe2\x82\xac"};
#define N_WORDS ((uint32_t)(sizeof words / sizeof words[0]))

static void words_come_out_of_their_fragments(void **state)
{
    (void)state;
    fixture f = {0};
    agg_error error;
    set_words(&f, 10, words, N_WORDS, -1);
    assert_ok(agg_sfp_join(&f.found, &error, &f.recipe.recipe, &f.heavy, &ample));
    for (uint32_t w = 0; w < N_WORDS; w++) assert_int_equal(is_found(&f, words[w]), 1);
    for (size_t i = 0; i < f.found.n; i++) {
        const agg_sfp_candidate *c = &f.found.list[i];
        assert_int_equal(c->n_fragments, (c->len + 1) / 2);
        assert_true(i + 1 == f.found.n || c->n_fragments < c[1].n_fragments ||
                    c->strength >= c[1].strength);
        if (c->len == 3 && memcmp(c->bytes, "the", 3) == 0)
            assert_true(c->strength == 56); // position 4's zero bytes
    }
    release(&f);
}

static void a_missing_position_is_not_guessed(void **state)
{
    (void)state;
    const char *const one[] = {"mackerel"};
    for (int without = 0; without < 5; without++) { // the last is that of the zero bytes
        fixture f = {0};
        agg_error error;
        set_words(&f, 10, one, 1, without);
        assert_ok(agg_sfp_join(&f.found, &error, &f.recipe.recipe, &f.heavy, &ample));
        assert_int_equal(f.found.n, 0);
        release(&f);
    }
}

// Letters at both positions under every hash byte, and one list of zero bytes: what is found is
// exactly what all products give.
static void the_join_is_all_products(void **state)
{
    (void)state;
    static const uint16_t pairs[] = {0x6162, 0x6300, 0xc3a9, 0x61c3,
                                     0xa962, 0x0000, 0x4142, 0x0061};
    fixture f = {0};
    agg_error error;
    static uint32_t triples[8 * 256][3];
    sfp_recipe(&f.recipe, 4, "");
    f.heavy.n_positions = 2;
    for (uint32_t p = 0; p < 2; p++) {
        for (uint32_t i = 0; i < 8 * 256; i++) {
            triples[i][0] = i / 8;
            triples[i][1] = pairs[i % 8];
            triples[i][2] = 5;
        }
        fill_position(&f.heavy, p, triples, 8 * 256);
    }
    assert_ok(agg_sfp_join(&f.found, &error, &f.recipe.recipe, &f.heavy, &ample));
    size_t n = 0;
    for (uint32_t i = 0; i < 64; i++) {
        uint8_t bytes[4] = {(uint8_t)(pairs[i / 8] >> 8), (uint8_t)pairs[i / 8],
                            (uint8_t)(pairs[i % 8] >> 8), (uint8_t)pairs[i % 8]};
        n += is_text(bytes) != 0; // under its own hash byte, and no other
    }
    assert_int_equal(f.found.n, n);
    assert_int_equal(f.found.start[2], 3); // "ab", "c", "é" alone
    release(&f);
}

// As many fragments as a decoder keeps, all alike: every bound holds, and the cut says what was
// left out.
static void a_dense_graph_is_cut(void **state)
{
    (void)state;
    const uint32_t n = 1u << 16, letters = 26;
    const agg_sfp_bounds bounds = {1e5, 500, 1u << 22};
    fixture f = {0};
    agg_error error;
    uint32_t(*triples)[3] = calloc(n, sizeof *triples);
    assert_non_null(triples);
    sfp_recipe(&f.recipe, 32, "");
    f.heavy.n_positions = 16;
    for (uint32_t p = 0; p < 16; p++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t pair = i & 255;
            triples[i][0] = i >> 8;
            triples[i][1] = pair == 0 ? 0 : ('a' + pair % letters) << 8 | ('a' + pair / letters);
            triples[i][2] = pair == 0 ? 16 : 10 + pair % 7;
        }
        fill_position(&f.heavy, p, triples, n);
    }
    assert_ok(agg_sfp_join(&f.found, &error, &f.recipe.recipe, &f.heavy, &bounds));
    for (uint32_t c = 1; c <= 16; c++)
        assert_true(f.found.start[c + 1] - f.found.start[c] <= bounds.candidates);
    assert_true(f.found.cut[1] < 10);
    for (uint32_t c = 2; c <= 16; c++) assert_true(f.found.cut[c] > 16); // nothing of it fits
    free(triples);
    release(&f);
}

// A product that is within its bound, but whose hash is always right: candidates are cut by
// strength.
static void too_many_candidates_leave_the_weak_out(void **state)
{
    (void)state;
    const agg_sfp_bounds bounds = {1e6, 20, 1u << 24};
    static uint32_t triples[26 * 26][3];
    fixture f = {0};
    agg_error error;
    sfp_recipe(&f.recipe, 2, "");
    f.heavy.n_positions = 1;
    for (uint32_t i = 0; i < 26 * 26; i++) {
        uint8_t bytes[2] = {(uint8_t)('a' + i / 26), (uint8_t)('a' + i % 26)};
        triples[i][0] = shoal_sfp_hash(&f.recipe.recipe, bytes, 2);
        triples[i][1] = (uint32_t)bytes[0] << 8 | bytes[1];
        triples[i][2] = 4 + i;
    }
    fill_position(&f.heavy, 0, triples, 26 * 26);
    assert_ok(agg_sfp_join(&f.found, &error, &f.recipe.recipe, &f.heavy, &bounds));
    assert_in_range(f.found.n, 1, 20);
    assert_true(f.found.list[0].strength == 4 + 26 * 26 - 1); // "zz"
    assert_true(f.found.cut[1] > 600);
    release(&f);
}

// ---- tiers ----

// Of 2,000 draws of 200 candidates, half of them nothing at all: the share of false ones among the
// confirmed keeps the rate.
static void tiers_hold_their_rate(void **state)
{
    (void)state;
    const int n_draws = 2000;
    static const uint8_t seed[32] = {5};
    double scores[200], false_share = 0, false_in_nothing = 0;
    uint16_t groups[200];
    bool confirmed[200];
    shoal_rng rng;
    agg_error error;
    size_t n_right = 0;
    shoal_rng_init(&rng, seed);
    for (int draw = 0; draw < n_draws; draw++) {
        for (int nothing = 0; nothing < 2; nothing++) {
            size_t n_false = 0, n_confirmed = 0;
            for (uint16_t i = 0; i < 200; i++) {
                double normal = -6;
                for (int j = 0; j < 12; j++) normal += (double)shoal_rng_u64(&rng) * 0x1p-64;
                groups[i] = i / 40;
                scores[i] = normal + (!nothing && i < 40 && i % 4 != 0 ? 3.5 : 0);
            }
            assert_ok(agg_sfp_tiers_confirm(confirmed, &error, scores, groups, NULL, 200, 5, 0.1));
            for (uint16_t i = 0; i < 200; i++) {
                n_confirmed += confirmed[i];
                n_false += confirmed[i] && (nothing || i >= 40 || i % 4 == 0);
            }
            if (nothing) {
                false_in_nothing += n_false > 0;
            } else {
                false_share += n_confirmed > 0 ? (double)n_false / (double)n_confirmed : 0;
                n_right += n_confirmed - n_false;
            }
        }
    }
    // Standard deviations of the means: about 0.05/sqrt(2000) and sqrt(0.1 * 0.9/2000) = 0.0067;
    // four of them.
    assert_true(false_share / n_draws < 0.1 + 0.0045);
    assert_true(false_in_nothing / n_draws < 0.1 + 0.027);
    assert_true((double)n_right / n_draws > 28.5); // of 30; without groups 25
}

// Of 200 candidates 60 are known and real, 10 are new and real: what is confirmed of the new ones
// keeps the rate, and every known one is.
static void the_known_do_not_dilute_the_rate(void **state)
{
    (void)state;
    const int n_draws = 2000;
    static const uint8_t seed[32] = {6};
    double scores[200], false_share = 0;
    uint16_t groups[200] = {0};
    bool confirmed[200], known[200];
    shoal_rng rng;
    agg_error error;
    size_t n_known = 0, n_right = 0;
    shoal_rng_init(&rng, seed);
    for (int draw = 0; draw < n_draws; draw++) {
        size_t n_false = 0, n_new = 0;
        for (uint16_t i = 0; i < 200; i++) {
            double normal = -6;
            for (int j = 0; j < 12; j++) normal += (double)shoal_rng_u64(&rng) * 0x1p-64;
            known[i] = i < 60;
            scores[i] = normal + (i < 70 ? 6 : 0);
        }
        assert_ok(agg_sfp_tiers_confirm(confirmed, &error, scores, groups, known, 200, 1, 0.1));
        for (uint16_t i = 0; i < 200; i++) {
            n_known += confirmed[i] && i < 60;
            n_new += confirmed[i] && i >= 60;
            n_false += confirmed[i] && i >= 70;
        }
        false_share += n_new > 0 ? (double)n_false / (double)n_new : 0;
        n_right += n_new - n_false;
    }
    // One draw's share varies by about 0.1, the mean of them by 0.0022; judged among all 200 it is
    // 0.40.
    assert_true(false_share / n_draws < 0.1 + 0.009);
    assert_true((double)n_right / n_draws > 9.9);
    assert_true((double)n_known / n_draws > 59.9);
}

static void tiers_of_nothing_and_of_one(void **state)
{
    (void)state;
    agg_error error;
    bool confirmed[2] = {false, true};
    double scores[2] = {5, 1};
    uint16_t groups[2] = {0, 0};
    assert_ok(agg_sfp_tiers_confirm(confirmed, &error, scores, groups, NULL, 0, 0, 0.05));
    assert_ok(agg_sfp_tiers_confirm(confirmed, &error, scores, groups, NULL, 2, 1, 0.05));
    assert_int_equal(confirmed[0], 1);
    assert_int_equal(confirmed[1], 0);
}

// ---- planner ----

static void plans_add_up_and_make_recipes(void **state)
{
    (void)state;
    agg_error error;
    agg_sfp_plan plan, more;
    for (uint32_t oracle = SHOAL_ORACLE_CMS; oracle <= SHOAL_ORACLE_OLH; oracle++)
        for (uint32_t eps = 100000; eps <= 16000000; eps += 1590000)
            for (uint32_t length = 2; length <= 32; length += 10)
                for (double n = 1; n < 4e9; n *= 1000) {
                    char text[1024];
                    agg_recipe recipe;
                    assert_ok(agg_sfp_plan_run(&plan, &error, oracle, n, eps, length));
                    assert_int_equal(plan.eps_micro + plan.eps_fragment_micro, eps);
                    snprintf(text, sizeof text,
                             "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":"
                             "\"word\",\"mechanism\":"
                             "\"sfp\","
                             "\"parameters\":{\"epsilon\":%.6f,\"epsilon_fragment\":%.6f,\"k\":%u,"
                             "\"m\":%u,\"k_"
                             "fragment\":%u,"
                             "\"m_fragment\":%u,\"length\":%u,\"oracle\":\"%s\"},\"hash\":"
                             "\"poly1\",\"seed\":"
                             "\"" AGG_TEST_SEED
                             "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
                             plan.eps_micro / 1e6, plan.eps_fragment_micro / 1e6, plan.k, plan.m,
                             plan.k_fragment, plan.m_fragment, length,
                             oracle == SHOAL_ORACLE_CMS ? "cms" : "olh");
                    read_recipe(&recipe, text);
                    agg_recipe_release(&recipe);
                }
    assert_ok(agg_sfp_plan_run(&plan, &error, SHOAL_ORACLE_CMS, 1e6, 8000000, 10));
    assert_ok(agg_sfp_plan_run(&more, &error, SHOAL_ORACLE_OLH, 1e6, 8000000, 10));
    assert_in_range(plan.eps_micro, 1800000, 2100000); // apple-2017 section 6 has 2 + 6
    assert_true(more.least < 0.7 * plan.least);
    // 4 e^eps/(e^eps - 1)^2 is the optimum's variance; g is a power of two, and shared rows add up
    // to 5 %: within 5 % of its root
    double e = exp(more.eps_micro / 1e6), best = sqrt(1e6 * 4 * e) / (e - 1);
    assert_true(more.string_error > best && more.string_error < 1.05 * best);
    assert_err(agg_sfp_plan_run(&plan, &error, SHOAL_ORACLE_CMS, 1e6, 8000000, 9), SHOAL_ERR_RANGE);
    assert_err(agg_sfp_plan_run(&plan, &error, 2, 1e6, 8000000, 10), SHOAL_ERR_RANGE);
    assert_err(agg_sfp_plan_run(&plan, &error, SHOAL_ORACLE_CMS, NAN, 8000000, 10),
               SHOAL_ERR_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_utf8_without_controls),
        cmocka_unit_test(upper_case_is_a_text_where_the_recipe_keeps_it),
        cmocka_unit_test(words_come_out_of_their_fragments),
        cmocka_unit_test(a_missing_position_is_not_guessed),
        cmocka_unit_test(the_join_is_all_products),
        cmocka_unit_test(a_dense_graph_is_cut),
        cmocka_unit_test(too_many_candidates_leave_the_weak_out),
        cmocka_unit_test(tiers_hold_their_rate),
        cmocka_unit_test(the_known_do_not_dilute_the_rate),
        cmocka_unit_test(tiers_of_nothing_and_of_one),
        cmocka_unit_test(plans_add_up_and_make_recipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
