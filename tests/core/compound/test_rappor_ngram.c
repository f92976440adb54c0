// SPDX-License-Identifier: Apache-2.0
// RAPPOR n-grams: the output law of an n-gram and the string together, and of two n-grams together,
// by enumeration; that positions tell nothing; every record against the parts made one by one from
// the same draws; padding, ranges and epsilon.
#include "rappor_ngram.h"

#include <math.h>

#include "check.h"
#include "law.h"
#include "poly1.h"
#include "rappor.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

typedef struct setting {
    uint32_t bits, hashes, cohorts, p, q, f, length, n, grams;
} setting;

static shoal_err set_all(const setting *s)
{
    const struct {
        const char *path;
        uint32_t number;
    } whole[] = {{"parameters.bits", s->bits},
                 {"parameters.hashes", s->hashes},
                 {"parameters.cohorts", s->cohorts},
                 {"parameters.length", s->length},
                 {"parameters.n", s->n},
                 {"parameters.grams", s->grams}};
    shoal_err err = set_text("hash", "poly1");
    if (err == SHOAL_OK) err = set_text("seed", TEST_SEED);
    if (err == SHOAL_OK) err = set_text("parameters.alphabet", "abc");
    for (size_t i = 0; i < sizeof whole / sizeof whole[0] && err == SHOAL_OK; i++)
        err = set_int(whole[i].path, whole[i].number);
    if (err == SHOAL_OK) err = set_micro("parameters.p", s->p);
    if (err == SHOAL_OK) err = set_micro("parameters.q", s->q);
    return err == SHOAL_OK ? set_micro("parameters.f", s->f) : err;
}

static shoal_err ngram_recipe(shoal_recipe *recipe, const setting *s)
{
    shoal_err err = start_any_recipe("rappor-ngram", "word");
    if (err == SHOAL_OK) err = set_all(s);
    return end_recipe(recipe, err);
}

static const shoal_permanent permanent = {{7, 7, 7}};

static const uint8_t *bytes_of(const char *text)
{
    return (const uint8_t *)text;
}

// ---- the law ----

// Coins of eighths: weights are whole numbers.
typedef struct eighths {
    uint64_t p, q;
} eighths;

// The two parts whose coins are forced, of the first `grams` and the string.
typedef struct pair_draws {
    uint32_t at_position; // which of the positions' draws, in order of `below`
    uint64_t p[2], q[2];
} pair_draws;

static uint64_t weight_of(uint64_t coins, uint64_t t, uint32_t m)
{
    uint32_t n = count_bits(coins);
    return power(t, n) * power(8 - t, m - n);
}

static uint32_t script_coins(shoal_rng *rng, uint32_t at, uint64_t coins)
{
    for (int i = 0; i < SHOAL_RNG_FIXED_ROUNDS; i++) script_word(rng, at++, ~coins);
    return at;
}

// Runs the randomizer with the draws of positions and of two parts forced. Returns: both parts'
// records as a number.
static uint32_t forced_output(const shoal_recipe *recipe, const char *text, const pair_draws *d)
{
    uint8_t record[32];
    shoal_rng rng;
    uint32_t at = 0, positions = shoal_ngram_positions(recipe), m = recipe->bits;
    script(&rng, 0, 0);
    // A position is chosen where its draw of below(left) is below what is still needed: one of two
    // takes one draw, two of three two.
    for (uint32_t left = positions, number = d->at_position; left > 1 && at < recipe->grams;
         left--) {
        script_word(&rng, at++, number % left);
        number /= left;
    }
    for (int i = 0; i < 2; i++) {
        at = script_coins(&rng, at, d->p[i]);
        at = script_coins(&rng, at, d->q[i]);
    }
    CHECK(at <= SCRIPT_LEN);
    CHECK(shoal_record_randomize_string(record, recipe, bytes_of(text), strlen(text), &permanent,
                                        &rng) == SHOAL_OK);
    CHECK(shoal_record_check(recipe, record) == SHOAL_OK);
    const uint8_t *second = record + recipe->parts[0].record_size;
    uint32_t rows = (uint32_t)(record[0] * recipe->parts[1].k) + second[0];
    return (rows << m | record[4]) << m | second[4];
}

static void enumerate(law *a, const shoal_recipe *recipe, const char *text, const eighths *e,
                      uint32_t n_positions)
{
    uint32_t m = recipe->bits;
    uint64_t all = (uint64_t)1 << m;
    pair_draws d;
    memset(a, 0, sizeof *a);
    for (d.at_position = 0; d.at_position < n_positions; d.at_position++)
        for (d.p[0] = 0; d.p[0] < all; d.p[0]++)
            for (d.q[0] = 0; d.q[0] < all; d.q[0]++)
                for (d.p[1] = 0; d.p[1] < all; d.p[1]++)
                    for (d.q[1] = 0; d.q[1] < all; d.q[1]++)
                        a->weight[forced_output(recipe, text, &d)] +=
                            weight_of(d.p[0], e->p, m) * weight_of(d.q[0], e->q, m) *
                            weight_of(d.p[1], e->p, m) * weight_of(d.q[1], e->q, m);
}

#define OUTPUTS ((uint32_t)LAW_OUTPUTS)

static double largest_loss(const law *laws, uint32_t n_laws)
{
    double largest = 0;
    for (uint32_t x = 0; x < n_laws; x++)
        for (uint32_t y = 0; y < n_laws; y++)
            for (uint32_t o = 0; o < OUTPUTS; o++) {
                if (laws[x].weight[o] == 0 && laws[y].weight[o] == 0) continue; // no such positions
                largest = fmax(largest, log((double)laws[x].weight[o] / (double)laws[y].weight[o]));
            }
    return largest;
}

static void set_coins(shoal_recipe *recipe, const eighths *e)
{
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        recipe->parts[i].pqf_threshold[SHOAL_RAPPOR_P] = e->p << 61;
        recipe->parts[i].pqf_threshold[SHOAL_RAPPOR_Q] = e->q << 61;
    }
}

// The laws of all strings: each sums to one, each choice of positions has the same share in all of
// them, and the largest loss is the sum of the two parts' epsilon, hashes counted: what
// shoal_recipe_epsilon says, but for its rounding up.
static void check_laws(shoal_recipe *recipe, const char *const *texts, uint32_t n, const eighths *e,
                       uint32_t n_positions)
{
    static law laws[16];
    uint32_t m = recipe->bits, claimed = 0;
    double h = recipe->hashes, loss;
    set_coins(recipe, e);
    for (uint32_t x = 0; x < n; x++) {
        enumerate(&laws[x], recipe, texts[x], e, n_positions);
        CHECK(law_total(&laws[x], OUTPUTS) == n_positions * power(8, 4 * m));
        for (uint32_t rows = 0; rows < OUTPUTS >> 2 * m; rows++) {
            uint64_t sum = 0, first = 0;
            for (uint32_t o = rows << 2 * m; o < (rows + 1) << 2 * m; o++) {
                sum += laws[x].weight[o];
                first += laws[0].weight[o];
            }
            CHECK(sum == first);
        }
    }
    loss = largest_loss(laws, n);
    double one = h * log((double)(e->q * (8 - e->p)) / (double)(e->p * (8 - e->q)));
    CHECK(fabs(loss - 2 * one) < 1e-9);
    CHECK(shoal_recipe_epsilon(&claimed, recipe) == SHOAL_OK);
    double of_two = claimed / 1e6 * 2 / recipe->n_parts;
    CHECK(of_two >= loss && of_two <= loss + 2 * h * 1e-6 + 2e-6);
}

#define N_TEXTS 9
static const char *const texts[N_TEXTS] = {"", "a", "b", "aa", "ab", "ba", "abc", "cab", "longer"};

// An n-gram and the string: the recipe of one n-gram, which no recipe may state, so that all coins
// fit a script.
static void law_with_string(void)
{
    static const eighths coins[] = {{2, 6}, {1, 3}, {4, 7}};
    static const setting s = {2, 1, 1, 250000, 750000, 0, 4, 2, 2};
    for (size_t c = 0; c < sizeof coins / sizeof coins[0]; c++) {
        shoal_recipe recipe;
        CHECK(ngram_recipe(&recipe, &s) == SHOAL_OK);
        recipe.parts[1] = recipe.parts[2];
        recipe.grams = 1;
        recipe.n_parts = 2;
        recipe.value_part = 1;
        check_laws(&recipe, texts, N_TEXTS, &coins[c], 2);
    }
}

// Two n-grams of two positions of three; the string's coins are the generator's.
static void law_of_grams(void)
{
    static const eighths coins[] = {{2, 6}, {3, 5}};
    static const setting s = {2, 1, 1, 250000, 750000, 0, 3, 1, 2};
    for (size_t c = 0; c < sizeof coins / sizeof coins[0]; c++) {
        shoal_recipe recipe;
        CHECK(ngram_recipe(&recipe, &s) == SHOAL_OK);
        check_laws(&recipe, texts, N_TEXTS, &coins[c], 6);
    }
}

// The filter of an item in a part: `hashes` bits at most.
static uint32_t filter_of(const shoal_part *part, uint64_t item)
{
    uint32_t filter = 0;
    for (uint32_t h = 0; h < part->hashes; h++) {
        shoal_poly1 row;
        shoal_poly1_row(&row, part->seed, shoal_rappor_row(part, 0, h));
        filter |= 1u << shoal_poly1_hash(&row, shoal_poly1_point(item), part->m);
    }
    return filter;
}

// The law of one of the two parts, the other's coins all on one side.
static void enumerate_one(law *a, const shoal_recipe *recipe, const char *text, const eighths *e,
                          int part)
{
    uint32_t m = recipe->bits;
    pair_draws d = {0, {0, 0}, {0, 0}};
    memset(a, 0, sizeof *a);
    for (d.p[part] = 0; d.p[part] < 1u << m; d.p[part]++)
        for (d.q[part] = 0; d.q[part] < 1u << m; d.q[part]++) {
            uint32_t output = forced_output(recipe, text, &d);
            a->weight[part == 0 ? output >> m : output & ((1u << m) - 1)] +=
                weight_of(d.p[part], e->p, m) * weight_of(d.q[part], e->q, m);
        }
}

// The bug of counting one hash: with two hashes a string can move four bits of either part. Two
// strings are found whose filters are disjoint in both parts; that parts are independent was seen
// above.
static void law_of_two_hashes(void)
{
    static const setting s = {4, 2, 1, 250000, 750000, 0, 4, 2, 2};
    static const eighths coins = {2, 6};
    static char words[2][3] = {"aa", ""};
    const char *const two[2] = {words[0], words[1]};
    uint32_t filters[2][2] = {{0}};
    shoal_recipe recipe;
    CHECK(ngram_recipe(&recipe, &s) == SHOAL_OK);
    recipe.parts[1] = recipe.parts[2];
    recipe.length = 2; // one position: nothing is drawn for it
    recipe.grams = 1;
    recipe.n_parts = 2;
    recipe.value_part = 1;
    for (int number = 0; number < 26 * 26 * 26 * 26; number++) {
        const char found[2][3] = {
            {(char)('a' + number % 26), (char)('a' + number / 26 % 26), 0},
            {(char)('a' + number / 676 % 26), (char)('a' + number / 17576), 0}};
        memcpy(words, found, sizeof words);
        for (int i = 0; i < 2; i++) {
            filters[i][0] =
                filter_of(&recipe.parts[0], shoal_ngram_item(&recipe, 0, bytes_of(words[i])));
            filters[i][1] = filter_of(&recipe.parts[1],
                                      shoal_ngram_string_item(&recipe, bytes_of(words[i]), 2));
        }
        if ((filters[0][0] ^ filters[1][0]) == 15 && (filters[0][1] ^ filters[1][1]) == 15 &&
            count_bits(filters[0][0]) == 2 && count_bits(filters[0][1]) == 2)
            break;
    }
    CHECK((filters[0][0] ^ filters[1][0]) == 15 && (filters[0][1] ^ filters[1][1]) == 15);
    static law laws[2];
    double loss = 0;
    uint32_t claimed = 0;
    set_coins(&recipe, &coins);
    for (int part = 0; part < 2; part++) {
        for (int i = 0; i < 2; i++) enumerate_one(&laws[i], &recipe, two[i], &coins, part);
        CHECK(law_total(&laws[0], OUTPUTS) == power(8, 8) &&
              law_total(&laws[1], OUTPUTS) == power(8, 8));
        loss += largest_loss(laws, 2);
    }
    CHECK(fabs(loss - 4 * log(6.0 * 6 / (2 * 2))) < 1e-9);
    CHECK(shoal_recipe_epsilon(&claimed, &recipe) == SHOAL_OK);
    CHECK(claimed / 1e6 >= loss && claimed / 1e6 <= loss + 6e-6);
}

// ---- the parts one by one ----

// What the header says, with a generator that draws the same: positions, then each part by rappor
// itself.
static void expected_record(uint8_t *record, const shoal_recipe *recipe, const char *text,
                            shoal_rng *rng)
{
    uint32_t positions = shoal_ngram_positions(recipe), needed = recipe->grams, n = recipe->n_gram;
    size_t len = strlen(text) < recipe->length ? strlen(text) : recipe->length;
    uint32_t chosen[4], have = 0;
    char padded[64] = {0};
    memcpy(padded, text, len);
    for (uint32_t i = 0; have < needed; i++)
        if (shoal_rng_below(rng, positions - i) < needed - have) chosen[have++] = i;
    for (uint32_t i = 0; i <= needed; i++) {
        int is_gram = i < needed;
        shoal_part part = recipe->parts[is_gram ? 0 : needed];
        uint8_t gram[5] = {is_gram ? (uint8_t)chosen[i] : 0};
        if (is_gram) {
            memcpy(gram + 1, padded + chosen[i] * n, n);
            part.k = recipe->cohorts;
            part.first_row = chosen[i] * recipe->cohorts;
        }
        uint64_t item = is_gram ? shoal_part_item(&part, gram, n + 1)
                                : shoal_part_item(&part, bytes_of(text), len);
        shoal_rappor_mechanism.randomize(record, &part, item, &permanent, rng);
        record += part.record_size;
    }
}

static void part_by_part(void)
{
    static const setting settings[] = {{16, 2, 3, 250000, 750000, 0, 8, 2, 2},
                                       {20, 1, 5, 390000, 610000, 450000, 7, 3, 3},
                                       {64, 3, 2, 400000, 600000, 300000, 32, 1, 4},
                                       {70, 1, 1, 250000, 750000, 500000, 16, 4, 4}};
    static const char *const words[] = {"", "a", "shoal", "\xc3\xa9t\xc3\xa9",
                                        "a string longer than thirty-two bytes is"};
    uint8_t record[128], expected[128];
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        shoal_recipe recipe;
        CHECK(ngram_recipe(&recipe, &settings[i]) == SHOAL_OK);
        CHECK(recipe.n_parts == settings[i].grams + 1 && recipe.value_part == settings[i].grams);
        CHECK(recipe.record_size == recipe.n_parts * recipe.parts[0].record_size &&
              recipe.record_size <= sizeof record);
        for (uint32_t w = 0; w < 5; w++)
            for (uint8_t s = 0; s < 100; s++) {
                uint8_t seed[32] = {s, 1};
                shoal_rng rng, same;
                shoal_rng_init(&rng, seed);
                same = rng;
                CHECK(shoal_record_randomize_string(record, &recipe, bytes_of(words[w]),
                                                    strlen(words[w]), &permanent,
                                                    &rng) == SHOAL_OK);
                expected_record(expected, &recipe, words[w], &same);
                CHECK(memcmp(record, expected, recipe.record_size) == 0);
                CHECK(memcmp(&rng, &same, sizeof rng) == 0); // and nothing else was drawn
            }
    }
}

// Sets of positions are alike and rising: 2 of 4, 30,000 records, chi-square of 5 degrees
// below 25.7 (1 in 10,000).
static void positions(void)
{
    static const setting s = {8, 1, 2, 250000, 750000, 0, 8, 2, 2};
    shoal_recipe recipe;
    uint32_t sets[16] = {0}, n_sets = 0;
    uint8_t seed[32] = {4}, record[32];
    double chi = 0;
    shoal_rng rng;
    CHECK(ngram_recipe(&recipe, &s) == SHOAL_OK && shoal_ngram_positions(&recipe) == 4);
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 30000; i++) {
        CHECK(shoal_record_randomize_string(record, &recipe, bytes_of("word"), 4, &permanent,
                                            &rng) == SHOAL_OK);
        uint32_t first = record[0] / 2, second = record[5] / 2;
        CHECK(first < second && second < 4 &&
              record[0] % 2 == record[5] % 2); // one cohort of n-grams
        sets[first * 4 + second]++;
    }
    for (int i = 0; i < 16; i++) {
        if (sets[i] == 0) continue;
        n_sets++;
        chi += (sets[i] - 5000.0) * (sets[i] - 5000.0) / 5000;
    }
    CHECK(n_sets == 6 && chi < 25.7);
}

// Beyond the end there are zero bytes; what is behind `length` shows nowhere.
static void padding(void)
{
    static const setting s = {8, 1, 2, 250000, 750000, 0, 7, 3, 2};
    shoal_recipe recipe;
    uint8_t gram[4];
    CHECK(ngram_recipe(&recipe, &s) == SHOAL_OK && shoal_ngram_positions(&recipe) == 3);
    shoal_ngram_take(gram, &recipe, bytes_of("abcdefghij"), 10, 1);
    CHECK(memcmp(gram, "def", 3) == 0);
    shoal_ngram_take(gram, &recipe, bytes_of("abcdefghij"), 10, 2);
    CHECK(memcmp(gram, "g\0\0", 3) == 0);
    shoal_ngram_take(gram, &recipe, bytes_of("abcd"), 4, 1);
    CHECK(memcmp(gram, "d\0\0", 3) == 0);
    shoal_ngram_take(gram, &recipe, bytes_of(""), 0, 0);
    CHECK(memcmp(gram, "\0\0\0", 3) == 0);
    CHECK(shoal_ngram_string_item(&recipe, bytes_of("abcdefghij"), 10) ==
          shoal_ngram_string_item(&recipe, bytes_of("abcdefg"), 7));
    CHECK(shoal_ngram_string_item(&recipe, bytes_of("abcdef"), 6) !=
          shoal_ngram_string_item(&recipe, bytes_of("abcdefg"), 7));
    // One n-gram at two positions is two items, and the string's keys are its own.
    CHECK(shoal_ngram_item(&recipe, 0, bytes_of("abc")) !=
          shoal_ngram_item(&recipe, 1, bytes_of("abc")));
    CHECK(memcmp(recipe.parts[0].seed, recipe.parts[2].seed, 32) != 0);
    CHECK(memcmp(recipe.parts[0].item_key, recipe.parts[2].item_key, 16) != 0);
    CHECK(memcmp(recipe.parts[0].seed, recipe.parts[1].seed, 32) == 0);
}

// ---- epsilon and ranges ----

// (grams + 1) hashes ln(...), as the formula has it in doubles; a stated epsilon is an upper bound
// on the sum.
static void epsilons(void)
{
    static const setting settings[] = {{128, 2, 8, 250000, 750000, 0, 20, 2, 2},
                                       {128, 2, 8, 400000, 600000, 300000, 20, 3, 4},
                                       {64, 1, 4, 300000, 900000, 500000, 9, 1, 3}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const setting *s = &settings[i];
        double p = s->p / 1e6, q = s->q / 1e6, f = s->f / 1e6;
        double p_star = p + f / 2 * (q - p), q_star = q - f / 2 * (q - p);
        double one = s->hashes * log(q_star * (1 - p_star) / (p_star * (1 - q_star)));
        shoal_recipe recipe;
        uint32_t drawn = 0;
        CHECK(ngram_recipe(&recipe, s) == SHOAL_OK);
        CHECK(fabs(recipe.cost_micro / 1e6 - (s->grams + 1) * one) <=
              1e-6 * (s->grams + 1) * s->hashes);
        CHECK(recipe.cost_micro / 1e6 >= (s->grams + 1) * one);
        CHECK(shoal_recipe_epsilon(&drawn, &recipe) == SHOAL_OK && drawn == recipe.cost_micro);
        for (int more = -1; more <= 1; more++) {
            shoal_recipe stated;
            CHECK(start_any_recipe("rappor-ngram", "word") == SHOAL_OK && set_all(s) == SHOAL_OK);
            CHECK(set_micro("parameters.epsilon", (int64_t)recipe.cost_micro + more) == SHOAL_OK);
            CHECK(finish_recipe(&stated) == (more < 0 ? SHOAL_ERR_RANGE : SHOAL_OK));
            if (more < 0) CHECK(strcmp(building.error_field, "parameters.epsilon") == 0);
        }
    }
}

static void ranges(void)
{
    static const struct {
        setting s;
        const char *field; // NULL: taken
    } table[] = {
        {{128, 2, 8, 250000, 750000, 0, 20, 2, 2}, NULL},
        {{2, 1, 1, 250000, 750000, 0, 2, 1, 2}, NULL},
        {{64, 1, 2048, 250000, 750000, 0, 32, 1, 4}, NULL},
        {{64, 1, 2049, 250000, 750000, 0, 32, 1, 4}, "parameters.cohorts"}, // times 32 positions
        {{64, 1, 8, 250000, 750000, 0, 32, 5, 2}, "parameters.n"},
        {{64, 1, 8, 250000, 750000, 0, 32, 0, 2}, "parameters.n"},
        {{64, 1, 8, 250000, 750000, 0, 32, 2, 5}, "parameters.grams"},
        {{64, 1, 8, 250000, 750000, 0, 32, 2, 1}, "parameters.grams"},
        {{64, 1, 8, 250000, 750000, 0, 4, 4, 2}, "parameters.grams"}, // one position
        {{64, 1, 8, 250000, 750000, 0, 33, 2, 2}, "parameters.length"},
        {{64, 1, 8, 250000, 750000, 0, 1, 1, 2}, "parameters.length"},
        {{64, 1, 8, 750000, 250000, 0, 8, 2, 2}, "parameters.q"},
        {{64, 2, 8, 100000, 900000, 0, 8, 2, 2}, "parameters.epsilon"}, // 26 for the three together
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        shoal_recipe recipe;
        shoal_err err = ngram_recipe(&recipe, &table[i].s);
        CHECK(err == (table[i].field == NULL ? SHOAL_OK : SHOAL_ERR_RANGE));
        if (table[i].field != NULL)
            CHECK(building.error_field != NULL &&
                  strcmp(building.error_field, table[i].field) == 0);
    }
}

int main(void)
{
    law_with_string();
    law_of_grams();
    law_of_two_hashes();
    part_by_part();
    positions();
    padding();
    epsilons();
    ranges();
    return check_summary();
}
