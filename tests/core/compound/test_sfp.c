// SPDX-License-Identifier: Apache-2.0
// SFP: the whole output law of both parts together by enumeration, over both oracles, "none"
// included; that the position tells nothing; the fragments of a string; the draws of the real
// generator.
#include "sfp.h"

#include <math.h>

#include "affine1.h"
#include "check.h"
#include "law.h"
#include "poly1.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

typedef struct setting {
    const char *oracle;
    uint32_t k_fragment, m_fragment, k, m, length;
} setting;

static shoal_err sfp_recipe(shoal_recipe *recipe, const setting *s, int64_t eps_fragment,
                            int64_t eps)
{
    shoal_err err = start_recipe("sfp", eps);
    if (err == SHOAL_OK) err = set_text("hash", "poly1");
    if (err == SHOAL_OK) err = set_text("seed", TEST_SEED);
    if (err == SHOAL_OK) err = set_micro("parameters.epsilon_fragment", eps_fragment);
    if (err == SHOAL_OK) err = set_int("parameters.k", s->k);
    if (err == SHOAL_OK) err = set_int("parameters.m", s->m);
    if (err == SHOAL_OK) err = set_int("parameters.k_fragment", s->k_fragment);
    if (err == SHOAL_OK) err = set_int("parameters.m_fragment", s->m_fragment);
    if (err == SHOAL_OK) err = set_int("parameters.length", s->length);
    if (err == SHOAL_OK) err = set_text("parameters.oracle", s->oracle);
    return end_recipe(recipe, err);
}

static int is_olh(const shoal_recipe *recipe)
{
    return recipe->oracle == SHOAL_ORACLE_OLH;
}

// Everything that is drawn for one part: its row; of the fragment the column of "none"; the coins
// that flip (cms), or whether it lies and which other answer it gives (olh).
typedef struct part_draws {
    uint32_t row, column;
    uint64_t coins; // cms: a bit a column; olh: bit 0 the lie, the rest the other answer
} part_draws;

typedef struct draws {
    uint32_t position;
    uint64_t none; // the fingerprint that stands for "none"
    part_draws parts[2];
} draws;

static uint32_t n_coins(const shoal_recipe *recipe, uint32_t m)
{
    return is_olh(recipe) ? 2 * (m - 1) : 1u << m;
}

// Out of 16^m (cms) or 16 (olh), t of 16 for a flip or a lie; the other answers of olh are alike.
static uint64_t coins_weight(const shoal_recipe *recipe, uint64_t coins, uint32_t m, uint64_t t)
{
    if (is_olh(recipe)) return coins & 1 ? t : 16 - t;
    uint32_t n = count_bits(coins);
    return power(t, n) * power(16 - t, m - n);
}

static uint32_t put(shoal_rng *rng, uint32_t at, uint64_t word)
{
    script_word(rng, at, word);
    return at + 1;
}

// Returns: where the next part's draws begin.
static uint32_t script_part(shoal_rng *rng, uint32_t at, const shoal_recipe *recipe, uint32_t rows,
                            uint32_t m, const part_draws *d, int is_fragment)
{
    if (rows > 1) at = put(rng, at, d->row);
    if (is_fragment) at = put(rng, at, d->column);
    if (is_olh(recipe)) {
        at = put(rng, at, d->coins & 1 ? 0 : UINT64_MAX);
        return m > 2 ? put(rng, at, d->coins >> 1) : at;
    }
    for (int i = 0; i < SHOAL_RNG_FIXED_ROUNDS; i++) at = put(rng, at, ~d->coins);
    return at;
}

static uint32_t outputs_of(const shoal_recipe *recipe, uint32_t rows, uint32_t m)
{
    return is_olh(recipe) ? rows * m : rows << m;
}

// A part's record as a number: row * 2^m + bits (cms), row * m + answer (olh).
static uint32_t number_of(const shoal_recipe *recipe, const uint8_t *record, uint32_t m)
{
    return is_olh(recipe) ? record[0] : (uint32_t)(record[0] << m) + record[4];
}

// Runs the randomizer with all draws forced. Returns: the output as a number.
static uint32_t forced_output(const shoal_recipe *recipe, const char *text, size_t len,
                              const draws *d)
{
    uint8_t record[64];
    shoal_rng rng;
    uint32_t at = 0;
    script(&rng, 0, 0);
    if (shoal_sfp_positions(recipe) > 1) at = put(&rng, at, d->position);
    at = put(&rng, at, d->none);
    at = script_part(&rng, at, recipe, recipe->k_fragment, recipe->m_fragment, &d->parts[0], 1);
    at = script_part(&rng, at, recipe, recipe->k, recipe->m, &d->parts[1], 0);
    CHECK(at <= SCRIPT_LEN);
    CHECK(shoal_record_randomize_string(record, recipe, (const uint8_t *)text, len, NULL, &rng) ==
          SHOAL_OK);
    CHECK(shoal_record_check(recipe, record) == SHOAL_OK &&
          rng.used == 8 * at); // nothing else was drawn
    uint32_t fragment = number_of(recipe, record, recipe->m_fragment);
    uint32_t whole = number_of(recipe, record + recipe->parts[0].record_size, recipe->m);
    return fragment * outputs_of(recipe, recipe->k, recipe->m) + whole;
}

// ---- the law ----

#define NONES_MAX 64

// Of fingerprints one for each row of columns that the string's oracle can have: a uniform one
// stands for each alike.
static uint32_t find_nones(uint64_t *nones, const shoal_recipe *recipe)
{
    uint32_t n = 0, combinations = 1, seen[NONES_MAX] = {0};
    for (uint32_t j = 0; j < recipe->k; j++) combinations *= recipe->m;
    for (uint64_t item = 1; n < combinations && item < 100000; item++) {
        uint32_t combination = 0;
        for (uint32_t j = 0; j < recipe->k; j++) {
            shoal_poly1 row;
            shoal_poly1_row(&row, recipe->parts[1].seed, j);
            combination = combination * recipe->m +
                          shoal_poly1_hash(&row, shoal_poly1_point(item), recipe->m);
        }
        if (seen[combination]++ == 0) nones[n++] = item;
    }
    CHECK(n == combinations && n <= NONES_MAX);
    return n;
}

typedef struct tallies {
    const uint64_t *nones;
    uint32_t n_nones;
    uint64_t t[2]; // of 16: fragment, string
} tallies;

static void add_coins(law *a, const shoal_recipe *recipe, const char *text, size_t len,
                      const tallies *by, draws *d, uint64_t times)
{
    for (uint32_t f = 0; f < n_coins(recipe, recipe->m_fragment); f++)
        for (uint32_t s = 0; s < n_coins(recipe, recipe->m); s++) {
            d->parts[0].coins = f;
            d->parts[1].coins = s;
            a->weight[forced_output(recipe, text, len, d)] +=
                times * coins_weight(recipe, f, recipe->m_fragment, by->t[0]) *
                coins_weight(recipe, s, recipe->m, by->t[1]);
        }
}

static void enumerate(law *a, const shoal_recipe *recipe, const char *text, const tallies *by)
{
    draws d;
    // The fingerprint of "none" is drawn in any case. Where many stand for it, a string that is one
    // is made with the first alone.
    int is_one = by->n_nones > 4 && strlen(text) > 0 && strlen(text) <= recipe->length;
    uint32_t n_nones = is_one ? 1 : by->n_nones;
    memset(a, 0, sizeof *a);
    for (d.position = 0; d.position < shoal_sfp_positions(recipe); d.position++)
        for (d.parts[0].row = 0; d.parts[0].row < recipe->k_fragment; d.parts[0].row++)
            for (d.parts[1].row = 0; d.parts[1].row < recipe->k; d.parts[1].row++)
                for (d.parts[0].column = 0; d.parts[0].column < recipe->m_fragment;
                     d.parts[0].column++)
                    for (uint32_t i = 0; i < n_nones; i++) {
                        d.none = by->nones[i];
                        add_coins(a, recipe, text, strlen(text), by, &d, by->n_nones / n_nones);
                    }
}

static uint64_t total_weight(const shoal_recipe *recipe, const tallies *by)
{
    uint64_t total = shoal_sfp_positions(recipe) * recipe->k_fragment * recipe->k *
                     recipe->m_fragment * by->n_nones;
    if (is_olh(recipe)) return total * 16 * (recipe->m_fragment - 1) * 16 * (recipe->m - 1);
    return total * power(16, recipe->m_fragment + recipe->m);
}

// Of one part's record given the item's column; the other answers of olh share the lie, the truth
// has it for each of them.
static uint64_t part_weight(const shoal_recipe *recipe, uint32_t output, uint32_t column,
                            uint32_t m, uint64_t t)
{
    if (is_olh(recipe)) return output % m == column ? (16 - t) * (m - 1) : t;
    return coins_weight(recipe, (output & ((1u << m) - 1)) ^ 1u << column, m, t);
}

// The weight of an output by the header, for a string that is one.
static uint64_t expected_weight(const shoal_recipe *recipe, const char *text, uint32_t output,
                                const tallies *by)
{
    const shoal_part *whole = &recipe->parts[SHOAL_SFP_STRING];
    uint32_t n = outputs_of(recipe, recipe->k, recipe->m), m_fragment = recipe->m_fragment;
    uint32_t row = is_olh(recipe) ? output / n / m_fragment : output / n >> m_fragment;
    uint32_t row_whole = is_olh(recipe) ? output % n / recipe->m : output % n >> recipe->m;
    size_t len = strlen(text);
    shoal_affine1 affine;
    shoal_poly1 poly;
    shoal_affine1_row(&affine, recipe->seed, row, m_fragment);
    shoal_poly1_row(&poly, recipe->seed, row_whole);
    uint32_t fragment =
        shoal_sfp_fragment(recipe, (const uint8_t *)text, len, row / recipe->k_fragment);
    uint64_t point = shoal_poly1_point(shoal_part_item(whole, (const uint8_t *)text, len));
    return m_fragment * by->n_nones *
           part_weight(recipe, output / n, shoal_affine1_hash(&affine, fragment), m_fragment,
                       by->t[0]) *
           part_weight(recipe, output % n, shoal_poly1_hash(&poly, point, recipe->m), recipe->m,
                       by->t[1]);
}

static void check_positions(const law *a, const shoal_recipe *recipe, uint64_t total)
{
    uint32_t positions = shoal_sfp_positions(recipe),
             each = outputs_of(recipe, recipe->k_fragment, recipe->m_fragment) *
                    outputs_of(recipe, recipe->k, recipe->m);
    for (uint32_t p = 0; p < positions; p++) {
        uint64_t sum = 0;
        for (uint32_t o = 0; o < each; o++) sum += a->weight[p * each + o];
        CHECK(sum * positions == total);
    }
}

#define STRINGS 16
static const char *const strings[STRINGS] = {
    "a",  "b",    "ab",   "ba",   "aa",       "bb",       "abc", "acb",
    "cc", "abcd", "abdc", "cdab", "\xc3\xa9", "\xff\x01", "",    "too long"};
#define N_REAL 14 // the last two are "none"

// Is every ratio at most the odds of both parts, multiplied?
static void check_ratios(const law *laws, const shoal_recipe *recipe, uint32_t outputs,
                         const uint64_t t[2])
{
    uint64_t num = 1, den = 1, m[2] = {recipe->m_fragment, recipe->m};
    int is_reached = 0;
    double loss = 0;
    uint32_t claimed = 0;
    for (int i = 0; i < 2; i++) {
        num *= is_olh(recipe) ? (16 - t[i]) * (m[i] - 1) : power(16 - t[i], 2);
        den *= is_olh(recipe) ? t[i] : power(t[i], 2);
    }
    for (uint32_t x = 0; x < STRINGS; x++)
        for (uint32_t y = 0; y < STRINGS; y++) {
            CHECK(law_within_odds(&laws[x], &laws[y], outputs, num, den, &is_reached));
            for (uint32_t o = 0; o < outputs; o++)
                loss = fmax(loss, log((double)laws[x].weight[o] / (double)laws[y].weight[o]));
        }
    CHECK(is_reached);
    // The claim of what is drawn is the loss of the enumerated law, and not one part's alone.
    if (is_olh(recipe) && (16 - t[0]) * (m[0] - 1) <= t[0]) return;
    CHECK(shoal_recipe_epsilon(&claimed, recipe) == SHOAL_OK);
    CHECK(claimed / 1e6 >= loss && claimed / 1e6 <= loss + 4e-6);
}

static void whole_law(const setting *s)
{
    static law laws[STRINGS];
    static const uint64_t coins[][2] = {{1, 5}, {4, 4}, {7, 2}};
    uint64_t nones[NONES_MAX];
    for (size_t c = 0; c < sizeof coins / sizeof coins[0]; c++) {
        shoal_recipe recipe;
        CHECK(sfp_recipe(&recipe, s, 1000000, 4000000) == SHOAL_OK);
        tallies by = {nones, find_nones(nones, &recipe), {coins[c][0], coins[c][1]}};
        recipe.parts[0].threshold = coins[c][0] << 60;
        recipe.parts[1].threshold = coins[c][1] << 60;
        uint32_t outputs = outputs_of(&recipe, recipe.parts[0].k, recipe.m_fragment) *
                           outputs_of(&recipe, recipe.k, recipe.m);
        CHECK(outputs <= LAW_OUTPUTS);
        for (uint32_t x = 0; x < STRINGS; x++) {
            enumerate(&laws[x], &recipe, strings[x], &by);
            CHECK(law_total(&laws[x], outputs) == total_weight(&recipe, &by));
            check_positions(&laws[x], &recipe, total_weight(&recipe, &by));
            for (uint32_t o = 0; x < N_REAL && o < outputs; o++)
                CHECK(laws[x].weight[o] == expected_weight(&recipe, strings[x], o, &by));
        }
        CHECK(memcmp(&laws[N_REAL], &laws[N_REAL + 1], sizeof laws[0]) ==
              0); // empty and too long alike
        check_ratios(laws, &recipe, outputs, coins[c]);
    }
}

// ---- fragments ----

// Bytes at even offsets with the one behind, zero bytes where the string has ended, and a byte of
// the whole string.
static void fragments(void)
{
    static const setting s = {"cms", 4, 4, 4, 4, 6};
    shoal_recipe recipe, other;
    const uint8_t *text = (const uint8_t *)"h\xc3\xa9y";
    CHECK(sfp_recipe(&recipe, &s, 1000000, 1000000) == SHOAL_OK &&
          shoal_sfp_positions(&recipe) == 3);
    uint32_t hash = shoal_sfp_hash(&recipe, text, 4);
    CHECK(hash < 256);
    CHECK(shoal_sfp_fragment(&recipe, text, 4, 0) == (hash << 16 | 'h' << 8 | 0xc3));
    CHECK(shoal_sfp_fragment(&recipe, text, 4, 1) == (hash << 16 | 0xa9 << 8 | 'y'));
    CHECK(shoal_sfp_fragment(&recipe, text, 4, 2) == hash << 16);
    CHECK(shoal_sfp_fragment(&recipe, text, 3, 1) ==
          (shoal_sfp_hash(&recipe, text, 3) << 16 | 0xa9 << 8));
    // The byte is of the whole string and of the seed: of 500 strings nearly all differ from the
    // one before, and each value is taken by 0 to 12 of them (Poisson of mean 2).
    uint32_t seen[256] = {0}, same = 0, before = 256;
    for (uint32_t i = 0; i < 500; i++) {
        uint8_t word[4] = {'x', 'y', (uint8_t)(i >> 4), (uint8_t)i};
        uint32_t h = shoal_sfp_hash(&recipe, word, 4);
        same += h == before;
        seen[before = h]++;
    }
    CHECK(same < 12);
    for (uint32_t h = 0; h < 256; h++) CHECK(seen[h] < 13);
    CHECK(start_recipe("sfp", 1000000) == SHOAL_OK && set_text("hash", "poly1") == SHOAL_OK);
    CHECK(set_text("seed", "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff") ==
          SHOAL_OK);
    CHECK(set_micro("parameters.epsilon_fragment", 1000000) == SHOAL_OK);
    CHECK(set_int("parameters.k", 4) == SHOAL_OK && set_int("parameters.m", 4) == SHOAL_OK);
    CHECK(set_int("parameters.k_fragment", 4) == SHOAL_OK);
    CHECK(set_int("parameters.m_fragment", 4) == SHOAL_OK);
    CHECK(set_int("parameters.length", 6) == SHOAL_OK && finish_recipe(&other) == SHOAL_OK);
    same = 0;
    for (uint32_t i = 0; i < 500; i++) {
        uint8_t word[2] = {(uint8_t)(i >> 8), (uint8_t)i};
        same += shoal_sfp_hash(&recipe, word, 2) == shoal_sfp_hash(&other, word, 2);
    }
    CHECK(same < 12);
    // The byte and the string's own hashes must have keys of their own.
    CHECK(memcmp(recipe.parts[0].item_key, recipe.parts[1].item_key, 16) != 0);
}

// ---- real thresholds and draws ----

static void real_epsilon(const char *oracle)
{
    static const int64_t eps[][2] = {{10000, 10000},
                                     {500000, 3500000},
                                     {2000000, 6000000},
                                     {2500000, 5500000},
                                     {8000000, 8000000}};
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++) {
        const setting s = {oracle, 16, 4, 8, 8, 10};
        shoal_recipe recipe;
        uint32_t drawn = 0;
        CHECK(sfp_recipe(&recipe, &s, eps[i][0], eps[i][1]) == SHOAL_OK);
        CHECK(recipe.cost_micro == eps[i][0] + eps[i][1]);
        CHECK(recipe.parts[0].eps_micro == eps[i][0] && recipe.parts[1].eps_micro == eps[i][1]);
        CHECK(shoal_recipe_epsilon(&drawn, &recipe) == SHOAL_OK);
        CHECK(drawn <= recipe.cost_micro && drawn + 2 >= recipe.cost_micro);
    }
}

// 40,000 records of the real generator: positions are even, rows lie in their position's range, and
// both parts' bits are 1 as often as their coins say; 5 sd, two-sided.
static void real_draws(void)
{
    static const setting s = {"cms", 3, 8, 2, 5, 10};
    shoal_recipe recipe;
    uint32_t rows[15] = {0}, whole_rows[2] = {0}, ones[15][8] = {{0}}, whole_ones[2][5] = {{0}};
    uint8_t seed[32] = {3}, record[16];
    const uint8_t *text = (const uint8_t *)"shoals";
    shoal_rng rng;
    CHECK(sfp_recipe(&recipe, &s, 2000000, 3000000) == SHOAL_OK && recipe.record_size == 10);
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 40000; i++) {
        CHECK(shoal_record_randomize_string(record, &recipe, text, 6, NULL, &rng) == SHOAL_OK);
        CHECK(shoal_record_check(&recipe, record) == SHOAL_OK && record[0] < 15 && record[5] < 2);
        rows[record[0]]++;
        whole_rows[record[5]]++;
        for (uint32_t l = 0; l < 8; l++) ones[record[0]][l] += record[4] >> l & 1;
        for (uint32_t l = 0; l < 5; l++) whole_ones[record[5]][l] += record[9] >> l & 1;
    }
    double q = (double)recipe.parts[0].threshold / 18446744073709551616.0;
    double q_whole = (double)recipe.parts[1].threshold / 18446744073709551616.0;
    for (uint32_t j = 0; j < 15; j++) {
        shoal_affine1 affine;
        shoal_affine1_row(&affine, recipe.seed, j, 8);
        uint32_t column = shoal_affine1_hash(&affine, shoal_sfp_fragment(&recipe, text, 6, j / 3));
        CHECK(fabs(rows[j] - 40000.0 / 15) < 5 * sqrt(40000.0 * 14 / 225));
        for (uint32_t l = 0; l < 8; l++)
            CHECK(fabs(ones[j][l] - rows[j] * (l == column ? 1 - q : q)) <
                  5 * sqrt(rows[j] * q * (1 - q)));
    }
    for (uint32_t j = 0; j < 2; j++) {
        shoal_poly1 poly;
        shoal_poly1_row(&poly, recipe.seed, j);
        uint32_t column = shoal_poly1_hash(
            &poly, shoal_poly1_point(shoal_part_item(&recipe.parts[1], text, 6)), 5);
        CHECK(fabs(whole_rows[j] - 20000.0) < 5 * sqrt(10000.0));
        for (uint32_t l = 0; l < 5; l++)
            CHECK(fabs(whole_ones[j][l] - whole_rows[j] * (l == column ? 1 - q_whole : q_whole)) <
                  5 * sqrt(whole_rows[j] * q_whole * (1 - q_whole)));
    }
}

// "None" favours no column of the string's oracle: 20,000 records of an over-long string,
// chi-square of 15 degrees below 44.3 (1 in 10,000).
static void none_is_even(void)
{
    static const setting s = {"olh", 4, 4, 1, 16, 4};
    shoal_recipe recipe;
    uint32_t answers[16] = {0};
    uint8_t seed[32] = {5}, record[8];
    double chi = 0;
    shoal_rng rng;
    CHECK(sfp_recipe(&recipe, &s, 2000000, 8000000) == SHOAL_OK);
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 20000; i++) {
        CHECK(shoal_record_randomize_string(record, &recipe, (const uint8_t *)"abcde", 5, NULL,
                                            &rng) == SHOAL_OK);
        answers[record[4]]++;
    }
    for (int y = 0; y < 16; y++) chi += (answers[y] - 1250.0) * (answers[y] - 1250.0) / 1250;
    CHECK(chi < 44.3);
}

static void ranges(void)
{
    shoal_recipe recipe;
    static const struct {
        setting s;
        const char *field; // NULL: taken
    } table[] = {
        {{"cms", 2048, 1024, 2048, 1024, 10}, NULL},
        {{"olh", 65536, 16, 65536, 256, 32}, NULL},
        {{"cms", 1, 2, 1, 2, 2}, NULL},
        {{"cms", 4, 4, 4, 4, 5}, "parameters.length"},
        {{"cms", 4, 4, 4, 4, 0}, "parameters.length"},
        {{"cms", 4, 4, 4, 4, 34}, "parameters.length"},
        {{"cms", 4, 6, 4, 4, 4}, "parameters.m_fragment"},
        {{"olh", 4, 4, 4, 6, 4}, "parameters.m"},
        {{"cms", 4, 131072, 4, 4, 4}, "parameters.m_fragment"},
        {{"cms", 4, 4, 4, 131072, 4}, "parameters.m"},
        {{"cms", 4, 4, 1u << 21, 2, 4}, "parameters.k"},
        {{"cms", (1u << 20) / 16 + 1, 2, 4, 2, 32}, "parameters.k_fragment"}, // times the positions
        {{"cms", (1u << 20) / 16, 2, 4, 2, 32}, NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        shoal_err err = sfp_recipe(&recipe, &table[i].s, 1000000, 4000000);
        CHECK(err == (table[i].field == NULL ? SHOAL_OK : SHOAL_ERR_RANGE));
        if (table[i].field == NULL) continue;
        if (!CHECK(building.error_field != NULL &&
                   strcmp(building.error_field, table[i].field) == 0))
            fprintf(stderr, "%s is refused, not %s\n", building.error_field, table[i].field);
    }
    static const setting s = {"cms", 4, 4, 4, 4, 4};
    CHECK(sfp_recipe(&recipe, &s, 8000000, 8000000) == SHOAL_OK);
    CHECK(sfp_recipe(&recipe, &s, 8000000, 8000001) == SHOAL_ERR_RANGE); // 16 for both together
    CHECK(strcmp(building.error_field, "parameters.epsilon") == 0);
    CHECK(sfp_recipe(&recipe, &s, 9999, 4000000) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.epsilon_fragment") == 0);
}

int main(void)
{
    static const setting laws[] = {{"cms", 1, 2, 1, 2, 4},
                                   {"cms", 2, 4, 2, 3, 4},
                                   {"olh", 1, 2, 1, 2, 4},
                                   {"olh", 2, 4, 2, 4, 4},
                                   {"olh", 3, 8, 1, 4, 6}};
    for (size_t i = 0; i < sizeof laws / sizeof laws[0]; i++) whole_law(&laws[i]);
    fragments();
    real_epsilon("cms");
    real_epsilon("olh");
    real_draws();
    none_is_even();
    ranges();
    return check_summary();
}
