// SPDX-License-Identifier: Apache-2.0
// A device's choice for one round of a trie: its whole law by enumeration of every draw, for both
// samplers; what one word of it costs, and all of them, by the law of all records together; an
// order that tells something, refused by the same law; gamma; hostile buckets; draws that do not
// grow with the number of cells.
#include "trie.h"

#include "bytes.h"
#include "check.h"
#include "field_lines.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"

static const char trie_lines[] =
    "recipe=t\nanalysis=a\nstream=s\nvalue=fields\nencoding.0.field=word\n"
    "encoding.0.starts+a\nencoding.0.characters+b\nencoding.0.characters+c\n"
    "encoding.0.characters+d\nencoding.0.characters+e\nmechanism=trie\n"
    "parameters.epsilon:1000000\nparameters.contributions:2000000\n"
    "parameters.sampler=random\nparameters.depth:9000000\nparameters.max_prefixes:9000000\n"
    "limit.per_day:1000000\nexpires=2030-01-01\n";

#define GAMMA 7u    // in place of SHOAL_ITEM_NONE, in outcomes
#define FIRST 3u    // the cell of "ab": 0 is below no start, 1 the end, 2 not listed
#define CELLS 4u    // ab, ac, ad, ae
#define OUTCOMES 8u // of one contribution: 0 .. 6 and gamma

static const shoal_recipe *trie(const char *changes)
{
    static shoal_recipe recipe;
    if (!CHECK(recipe_of(&recipe, trie_lines, changes, NULL) == SHOAL_OK))
        printf("  %s: %s\n", changes, building.error_field ? building.error_field : "-");
    return &recipe;
}

// Words, as many of each cell.
typedef struct words {
    uint32_t count[CELLS];
} words;

static uint32_t spread(uint32_t *buckets, const words *w)
{
    uint32_t n = 0;
    for (uint32_t c = CELLS; c-- > 0;) // not in order
        for (uint32_t i = 0; i < w->count[c]; i++) buckets[n++] = FIRST + c;
    return n;
}

// An outcome: contributions as digits, the first the most significant.
static uint32_t outcome_of(const uint64_t *items, uint32_t n)
{
    uint32_t outcome = 0;
    for (uint32_t i = 0; i < n; i++)
        outcome = outcome * OUTCOMES + (items[i] == SHOAL_ITEM_NONE ? GAMMA : (uint32_t)items[i]);
    return outcome;
}

#define DRAW                                                                                       \
    12u // every number up to 4 divides it, so that below() of small words has no law of its own

// Forces every combination of the draws, 2 contributions - 1 at most. Returns: their number.
static uint64_t enumerate(law *a, const shoal_recipe *recipe, const words *w)
{
    uint64_t items[SHOAL_TRIE_CONTRIBUTIONS_MAX] = {0}, n_draws = 2 * recipe->contributions - 1;
    uint64_t total = power(DRAW, (uint32_t)n_draws);
    memset(a, 0, sizeof *a);
    for (uint64_t combination = 0; combination < total; combination++) {
        uint32_t buckets[16];
        uint64_t left = combination;
        shoal_rng rng;
        script(&rng, (uint32_t)n_draws, 0);
        for (uint32_t i = 0; i < n_draws; i++, left /= DRAW) script_word(&rng, i, left % DRAW);
        CHECK(shoal_trie_choose(items, recipe, buckets, spread(buckets, w), &rng) == SHOAL_OK);
        a->weight[outcome_of(items, recipe->contributions)]++;
    }
    return total;
}

static uint64_t weight_of(const law *a, uint64_t x, uint64_t y, uint64_t z, uint32_t n)
{
    const uint64_t items[] = {x, y, z};
    return a->weight[outcome_of(items, n)];
}

#define B (FIRST)
#define C (FIRST + 1)
#define D (FIRST + 2)
#define E (FIRST + 3)
#define NONE SHOAL_ITEM_NONE

// Every set of so many distinct cells alike, in every order alike, whatever the words' numbers.
static void random_law(void)
{
    static const words alike[] = {{{1, 1, 1, 1}}, {{5, 1, 1, 1}}, {{1, 2, 3, 4}}};
    static law a;
    for (uint32_t n = 1; n <= 3; n++) {
        char change[64];
        snprintf(change, sizeof change, "parameters.contributions:%u000000", (unsigned)n);
        const shoal_recipe *recipe = trie(change);
        for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++) {
            uint64_t total = enumerate(&a, recipe, &alike[i]), ordered = n == 1   ? 4
                                                                         : n == 2 ? 12
                                                                                  : 24;
            uint32_t seen = 0;
            for (uint32_t o = 0; o < LAW_OUTPUTS; o++) {
                CHECK(a.weight[o] == 0 || a.weight[o] * ordered == total);
                seen += a.weight[o] != 0;
            }
            CHECK(seen == ordered && law_total(&a, LAW_OUTPUTS) == total);
            CHECK(n != 3 || weight_of(&a, E, B, D, 3) * 24 == total);
            CHECK(n != 2 || (weight_of(&a, E, E, 0, 2) == 0 && weight_of(&a, E, NONE, 0, 2) == 0));
        }
    }
}

// The most frequent; of those that tie, any alike.
static void greedy_law(void)
{
    static law a;
    const shoal_recipe *recipe = trie("parameters.sampler=greedy");
    uint64_t total = enumerate(&a, recipe, &(words){{3, 2, 2, 1}});
    CHECK(weight_of(&a, B, C, 0, 2) * 4 == total && weight_of(&a, C, B, 0, 2) * 4 == total);
    CHECK(weight_of(&a, B, D, 0, 2) * 4 == total && weight_of(&a, D, B, 0, 2) * 4 == total);
    total = enumerate(&a, recipe, &(words){{1, 1, 2, 4}});
    CHECK(weight_of(&a, E, D, 0, 2) * 2 == total && weight_of(&a, D, E, 0, 2) * 2 == total);
    total = enumerate(&a, recipe, &(words){{2, 2, 2, 1}}); // three tie for two places
    CHECK(weight_of(&a, B, C, 0, 2) * 6 == total && weight_of(&a, D, C, 0, 2) * 6 == total);
    CHECK(weight_of(&a, E, C, 0, 2) == 0);
    recipe = trie("parameters.sampler=greedy\nparameters.contributions:3000000");
    total = enumerate(&a, recipe, &(words){{3, 2, 2, 1}});
    CHECK(weight_of(&a, D, B, C, 3) * 6 == total && weight_of(&a, B, C, D, 3) * 6 == total);
}

// Fewer cells than contributions: gamma fills up, in any place alike.
static void gamma_fills(void)
{
    static const char *const samplers[] = {"random", "greedy"};
    static law a;
    for (int i = 0; i < 2; i++) {
        char change[128];
        snprintf(change, sizeof change, "parameters.sampler=%s\nparameters.contributions:3000000",
                 samplers[i]);
        const shoal_recipe *recipe = trie(change);
        uint64_t total = enumerate(&a, recipe, &(words){{0, 4, 0, 1}});
        CHECK(weight_of(&a, C, E, NONE, 3) * 6 == total &&
              weight_of(&a, C, NONE, E, 3) * 6 == total);
        CHECK(weight_of(&a, NONE, C, E, 3) * 6 == total &&
              weight_of(&a, NONE, E, C, 3) * 6 == total);
        total = enumerate(&a, recipe, &(words){{0, 0, 9, 0}});
        CHECK(weight_of(&a, D, NONE, NONE, 3) * 3 == total &&
              weight_of(&a, NONE, NONE, D, 3) * 3 == total);
        total = enumerate(&a, recipe, &(words){{0, 0, 0, 0}});
        CHECK(weight_of(&a, NONE, NONE, NONE, 3) == total);
    }
}

// ---- what a word costs ----

// A record of subset selection names D_SET of the OUTCOMES indices, and is RATIO times as likely
// with the own one among them: two laws that differ in nothing but that ratio. All records of a
// device then are as likely as the sum over its choices of RATIO^hits.
#define D_SET 2u
#define SETS 28u // of 2 of 8
#define RATIO 3u

static const uint32_t *sets(void)
{
    static uint32_t all[SETS];
    uint32_t n = 0;
    for (uint32_t set = 0; set < 1u << OUTCOMES; set++)
        if (count_bits(set) == D_SET) all[n++] = set;
    CHECK(n == SETS);
    return all;
}

// The law of both records, from that of both contributions.
static void records_of(law *out, const law *choice)
{
    const uint32_t *set = sets();
    memset(out, 0, sizeof *out);
    for (uint32_t x = 0; x < SETS; x++)
        for (uint32_t y = 0; y < SETS; y++)
            for (uint32_t o = 0; o < OUTCOMES * OUTCOMES; o++) {
                uint32_t hits = (set[x] >> (o / OUTCOMES) & 1) + (set[y] >> (o % OUTCOMES) & 1);
                out->weight[x * SETS + y] += choice->weight[o] * power(RATIO, hits);
            }
}

// The same choice with gamma last, as it comes before it is shuffled.
static void put_gamma_last(law *out, const law *choice)
{
    memset(out, 0, sizeof *out);
    for (uint32_t o = 0; o < OUTCOMES * OUTCOMES; o++)
        out->weight[o / OUTCOMES == GAMMA ? o % OUTCOMES * OUTCOMES + GAMMA : o] +=
            choice->weight[o];
}

// Is one list the other with one cell's words fewer, or none, and one cell's words more?
static int is_one_word(const words *x, const words *y)
{
    uint32_t fewer = 0, more = 0;
    for (uint32_t c = 0; c < CELLS; c++) {
        fewer += y->count[c] < x->count[c];
        more += y->count[c] > x->count[c];
    }
    return fewer <= 1 && more <= 1;
}

#define LISTS 70u // of up to 4 words, in 4 cells

static uint32_t all_lists(words lists[LISTS])
{
    uint32_t n = 0;
    for (uint32_t code = 0; code < 625; code++) {
        words w = {{code % 5, code / 5 % 5, code / 25 % 5, code / 125}};
        if (w.count[0] + w.count[1] + w.count[2] + w.count[3] <= 4) lists[n++] = w;
    }
    return n;
}

// Of every list and every change of one word of it (all its occurrences, to any number of another):
// epsilon. Of any change: twice that. Both are reached. Where gamma comes last the first is untrue.
static void item_level(void)
{
    static words lists[LISTS];
    static law choices[LISTS], records[LISTS], last[LISTS], ordered;
    const char *const samplers[] = {"parameters.sampler=random", "parameters.sampler=greedy"};
    CHECK(all_lists(lists) == LISTS);
    for (int s = 0; s < 2; s++) {
        const shoal_recipe *recipe = trie(samplers[s]);
        int reached = 0, all_reached = 0, broken = 0, unused = 0;
        for (uint32_t i = 0; i < LISTS; i++) {
            CHECK(enumerate(&choices[i], recipe, &lists[i]) == power(DRAW, 3));
            records_of(&records[i], &choices[i]);
            put_gamma_last(&ordered, &choices[i]);
            records_of(&last[i], &ordered);
            CHECK(law_total(&records[i], SETS * SETS) == law_total(&records[0], SETS * SETS));
        }
        for (uint32_t i = 0; i < LISTS; i++)
            for (uint32_t j = 0; j < LISTS; j++) {
                int is_one = is_one_word(&lists[i], &lists[j]);
                CHECK(law_within_odds(&records[i], &records[j], SETS * SETS, RATIO * RATIO, 1,
                                      &all_reached));
                if (!is_one) continue;
                CHECK(law_within_odds(&records[i], &records[j], SETS * SETS, RATIO, 1, &reached));
                broken += !law_within_odds(&last[i], &last[j], SETS * SETS, RATIO, 1, &unused);
            }
        CHECK(reached && all_reached && broken > 0);
    }
}

// ---- bounds ----

static void hostile(void)
{
    static uint32_t many[SHOAL_TRIE_WORDS_MAX + 1];
    uint64_t items[3] = {7, 7, 7};
    const uint8_t seed[32] = {1};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    const shoal_recipe *recipe = trie("parameters.contributions:3000000");
    const shoal_encoded *field = &recipe->encoding.fields[0];
    CHECK(field->size == 7 && !shoal_trie_is_answer(field, 0) &&
          shoal_trie_is_answer(field, 1)); // the end
    CHECK(!shoal_trie_is_answer(field, 2) && shoal_trie_is_answer(field, 3) &&
          shoal_trie_is_answer(field, 6));
    uint32_t bad[] = {0, 2, 7, 8, 1000000, UINT32_MAX, 6, 0x80000006};
    CHECK(shoal_trie_choose(items, recipe, bad, 8, &rng) == SHOAL_OK);
    CHECK((items[0] == 6) + (items[1] == 6) + (items[2] == 6) == 1);
    CHECK((items[0] == NONE) + (items[1] == NONE) + (items[2] == NONE) == 2);
    for (uint32_t i = 0; i <= SHOAL_TRIE_WORDS_MAX; i++) many[i] = 6 - i % 4;
    items[0] = 99;
    CHECK(shoal_trie_choose(items, recipe, many, SHOAL_TRIE_WORDS_MAX + 1, &rng) ==
              SHOAL_ERR_RANGE &&
          items[0] == 99);
    CHECK(shoal_trie_choose(items, recipe, many, SHOAL_TRIE_WORDS_MAX, &rng) == SHOAL_OK);
    for (int i = 0; i < 3; i++)
        CHECK(items[i] >= 3 && items[i] <= 6 && items[i] != items[(i + 1) % 3]);
    CHECK(shoal_trie_choose(items, recipe, many, 0, &rng) == SHOAL_OK && items[0] == NONE &&
          items[2] == NONE);
    static shoal_recipe other;
    CHECK(recipe_of(&other, trie_lines,
                    "mechanism=subset\nparameters.contributions-\nparameters.sampler-\n"
                    "parameters.depth-\nparameters.max_prefixes-",
                    NULL) == SHOAL_OK);
    CHECK(shoal_trie_choose(items, &other, many, 1, &rng) == SHOAL_ERR_ARGUMENT);
}

// A recipe of so many starts of eight characters and n listed ones.
static const shoal_recipe *large(uint32_t n_starts, uint32_t n_characters, uint32_t eps_micro)
{
    static shoal_recipe recipe;
    size_t left = strlen(trie_lines);
    const char *lines = trie_lines;
    field_line l;
    char text[16];
    shoal_builder_init(&building);
    while (next_line(&l, &lines, &left)) {
        if (memcmp(l.path, "encoding.0.", 11) == 0 && l.path[11] != 'f') continue;
        if (l.path_len == 18 && memcmp(l.path, "parameters.epsilon", 18) == 0) continue;
        CHECK(recipe_line(&l) == SHOAL_OK);
    }
    for (uint32_t i = 0; i < n_starts; i++) {
        snprintf(text, sizeof text, "%08u", (unsigned)i);
        CHECK(shoal_builder_add_text(&building, "encoding.0.starts", 17, text, 8) == SHOAL_OK);
    }
    for (uint32_t i = 0; i < n_characters; i++) {
        text[0] = (char)(i < 64 ? 0xc3 : 0xc4);
        text[1] = (char)(0x80 + i % 64);
        CHECK(shoal_builder_add_text(&building, "encoding.0.characters", 21, text, 2) == SHOAL_OK);
    }
    CHECK(shoal_builder_set_number(&building, "parameters.epsilon", 18, eps_micro) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_OK);
    return &recipe;
}

// Draws of 8 bytes that a device's whole answer takes.
static uint64_t count_draws(const shoal_recipe *recipe)
{
    static uint8_t record[1024];
    const uint8_t seed[32] = {2};
    uint32_t buckets[] = {5, 6, 7, 7};
    uint64_t items[2];
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    CHECK(recipe->record_size <= sizeof record && recipe->contributions == 2);
    CHECK(shoal_trie_choose(items, recipe, buckets, 4, &rng) == SHOAL_OK);
    for (int i = 0; i < 2; i++)
        CHECK(shoal_record_randomize(record, recipe, &items[i], 1, NULL, &rng) == SHOAL_OK);
    return rng.block * 8 - (sizeof rng.buffer - rng.used) / 8;
}

// Ten thousand starts, a million cells, epsilon 10: 46 indices and 184 bytes a record. With as many
// indices the draws are as many, whatever the number of cells (that any is drawn again has a chance
// of 2^-36).
static void nothing_grows(void)
{
    const shoal_recipe *recipe = large(10000, 98, 10000000);
    CHECK(recipe->parts[0].size == 1000001 && recipe->parts[0].k == 46);
    CHECK(recipe->record_size == 184 && recipe->record_size < 200);
    uint8_t canonical[SHOAL_CANONICAL_MAX];
    size_t len = 0;
    CHECK(whole_bytes(canonical, sizeof canonical, &len, recipe) == SHOAL_OK && len < 512);
    uint64_t draws = count_draws(recipe);
    CHECK(draws ==
          3 + 2 * (1 + 46 + 1)); // two choices, one shuffle; coin, indices and place of each record
    recipe = large(100, 98, 5380000);
    CHECK(recipe->parts[0].size == 10001 && recipe->parts[0].k == 46);
    CHECK(count_draws(recipe) == draws);
}

int main(void)
{
    random_law();
    greedy_law();
    gamma_fills();
    item_level();
    hostile();
    nothing_grows();
    return check_summary();
}
