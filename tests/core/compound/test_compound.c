// SPDX-License-Identifier: Apache-2.0
// Recipes of compounds: what each needs, may have and refuses; which field a refusal names; what
// the hash covers and leaves alone; where a part's rows begin.
#include "compound.h"

#include "bytes.h"
#include "check.h"
#include "field_lines.h"
#include "record.h"

#define SEED KEY_A
#define HEAD "recipe=r\nanalysis=a\nstream=s\nlimit.per_day:1000000\nexpires=2030-01-01\n"

static const char sfp_lines[] =
    HEAD "value=word\nmechanism=sfp\nhash=poly1\nseed=" SEED "\n"
         "parameters.epsilon:6000000\nparameters.epsilon_fragment:2000000\n"
         "parameters.k:64000000\nparameters.m:32000000\n"
         "parameters.k_fragment:16000000\nparameters.m_fragment:64000000\n"
         "parameters.length:10000000\n";
static const char ngram_lines[] =
    HEAD "value=word\nmechanism=rappor-ngram\nhash=poly1\nseed=" SEED "\n"
         "parameters.bits:32000000\nparameters.hashes:1000000\n"
         "parameters.cohorts:4000000\nparameters.p:250000\nparameters.q:750000\n"
         "parameters.f:0\nparameters.length:12000000\nparameters.n:2000000\n"
         "parameters.alphabet=abc\n";
static const char trie_lines[] =
    HEAD "value=fields\nencoding.0.field=word\nencoding.0.starts+ab\nencoding.0.starts+cd\n"
         "encoding.0.characters+a\nencoding.0.characters+b\nmechanism=trie\n"
         "parameters.epsilon:4000000\nparameters.contributions:3000000\n"
         "parameters.depth:15000000\nparameters.max_prefixes:300000000\n";

typedef struct text_case {
    const char *lines, *changes;
    shoal_err err;
    const char *field; // of the refusal
} text_case;

static void run(const text_case *c)
{
    shoal_recipe recipe;
    shoal_err err = recipe_of(&recipe, c->lines, c->changes, NULL);
    if (!CHECK(err == c->err))
        fprintf(stderr, "%s: %d %s\n", c->changes, (int)err, shoal_err_name(err));
    if (err == SHOAL_OK) return;
    CHECK(building.error_text != NULL);
    if (c->field == NULL) return;
    if (!CHECK(building.error_field != NULL && strcmp(building.error_field, c->field) == 0))
        fprintf(stderr, "%s: %s\n", c->changes,
                building.error_field != NULL ? building.error_field : "(none)");
}

// Every line left out, one at a time, that the mechanism needs.
static void needed(const char *lines, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char change[64];
        snprintf(change, sizeof change, "%s-\n", paths[i]);
        run(&(text_case){lines, change, SHOAL_ERR_MISSING_FIELD, paths[i]});
    }
}

static void missing(void)
{
    static const char *const sfp[] = {
        "parameters.epsilon",    "parameters.epsilon_fragment", "parameters.k",      "parameters.m",
        "parameters.k_fragment", "parameters.m_fragment",       "parameters.length", "seed"};
    static const char *const ngram[] = {"parameters.bits",     "parameters.hashes",
                                        "parameters.cohorts",  "parameters.p",
                                        "parameters.q",        "parameters.f",
                                        "parameters.length",   "parameters.n",
                                        "parameters.alphabet", "seed"};
    static const char *const trie[] = {"parameters.epsilon", "parameters.contributions",
                                       "parameters.depth", "parameters.max_prefixes"};
    run(&(text_case){sfp_lines, "", SHOAL_OK, NULL});
    run(&(text_case){ngram_lines, "", SHOAL_OK, NULL});
    run(&(text_case){trie_lines, "", SHOAL_OK, NULL});
    needed(sfp_lines, sfp, sizeof sfp / sizeof sfp[0]);
    needed(ngram_lines, ngram, sizeof ngram / sizeof ngram[0]);
    needed(trie_lines, trie, sizeof trie / sizeof trie[0]);
}

static void refused(void)
{
    static const char cms[] =
        HEAD "value=word\nmechanism=cms\nhash=poly1\nseed=" SEED "\nparameters.epsilon:4000000\n"
             "parameters.k:8000000\nparameters.m:8000000\n";
    static const text_case cases[] = {
        // of another mechanism
        {sfp_lines, "parameters.g:4000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.g"},
        {sfp_lines, "parameters.grams:2000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.grams"},
        {sfp_lines, "parameters.alphabet=abc\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.alphabet"},
        {sfp_lines, "parameters.known+the\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.known"},
        {sfp_lines, "parameters.size:4000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.size"},
        {sfp_lines, "parameters.sampler=greedy\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.sampler"},
        {ngram_lines, "parameters.k:8000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.k"},
        {ngram_lines, "parameters.oracle=olh\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.oracle"},
        {ngram_lines, "parameters.known+the\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.known"},
        {trie_lines, "parameters.length:10000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.length"},
        {trie_lines, "parameters.alphabet=abc\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.alphabet"},
        {trie_lines, "parameters.oracle=cms\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.oracle"},
        {trie_lines, "hash=poly1\n", SHOAL_ERR_UNKNOWN_FIELD, "hash"},
        {trie_lines, "seed=" SEED "\n", SHOAL_ERR_UNKNOWN_FIELD, "seed"},
        {cms, "parameters.epsilon_fragment:1000000\n", SHOAL_ERR_UNKNOWN_FIELD,
         "parameters.epsilon_fragment"},
        {cms, "parameters.oracle=cms\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.oracle"},
        {cms, "parameters.length:10000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.length"},
        {cms, "parameters.alphabet=abc\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.alphabet"},
        {cms, "parameters.known+the\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.known"},
        {cms, "parameters.grams:2000000\n", SHOAL_ERR_UNKNOWN_FIELD, "parameters.grams"},
        {cms, "parameters.contributions:1000000\n", SHOAL_ERR_UNKNOWN_FIELD,
         "parameters.contributions"},
        {cms, "parameters.words:1000000\n", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        // names that are none
        {sfp_lines, "parameters.oracle=hcms\n", SHOAL_ERR_TYPE, "parameters.oracle"},
        {trie_lines, "parameters.sampler=first\n", SHOAL_ERR_TYPE, "parameters.sampler"},
        {trie_lines, "mechanism=tries\n", SHOAL_ERR_MECHANISM, "mechanism"},
        {sfp_lines, "hash=affine1\n", SHOAL_ERR_RANGE, "hash"},
        // alphabets
        {ngram_lines, "parameters.alphabet=\n", SHOAL_ERR_RANGE, "parameters.alphabet"},
        {ngram_lines, "parameters.alphabet=aab\n", SHOAL_ERR_TYPE, "parameters.alphabet"},
        {ngram_lines, "parameters.alphabet=ba\n", SHOAL_ERR_TYPE, "parameters.alphabet"},
        {ngram_lines, "parameters.alphabet=\tab\n", SHOAL_ERR_TYPE, "parameters.alphabet"},
        {ngram_lines, "parameters.alphabet=ab\x7f\n", SHOAL_ERR_TYPE, "parameters.alphabet"},
        {ngram_lines, "parameters.alphabet= !az\n", SHOAL_OK, NULL},
        {ngram_lines, "parameters.alphabet=az\xc3\xa9\xc3\xa8\n", SHOAL_OK,
         NULL}, // characters of several bytes, in any order
        {ngram_lines, "parameters.alphabet=\xc3\xa9z\n", SHOAL_ERR_TYPE, "parameters.alphabet"},
        {ngram_lines, "parameters.alphabet:1000000\n", SHOAL_ERR_TYPE,
         "parameters.alphabet"}, // it is a string
        // known words
        {trie_lines, "parameters.known+the\nparameters.known+of\n", SHOAL_OK, NULL},
        {trie_lines, "parameters.known+\n", SHOAL_ERR_RANGE, "parameters.known"},
        {trie_lines, "parameters.known+two words\n", SHOAL_ERR_TYPE, "parameters.known"},
        {trie_lines, "parameters.known+tab\there\n", SHOAL_ERR_TYPE, "parameters.known"},
        // ranges
        {trie_lines, "parameters.contributions:0\n", SHOAL_ERR_RANGE, "parameters.contributions"},
        {trie_lines, "parameters.contributions:65000000\n", SHOAL_ERR_RANGE,
         "parameters.contributions"},
        {trie_lines, "parameters.contributions:64000000\n", SHOAL_OK, NULL},
        {trie_lines, "parameters.depth:2000000\n", SHOAL_ERR_RANGE,
         "parameters.depth"}, // the starts' own
        {trie_lines, "parameters.depth:3000000\n", SHOAL_OK, NULL},
        {trie_lines, "parameters.depth:3000000\nencoding.0.step:2000000\n", SHOAL_ERR_RANGE,
         "parameters.depth"},
        {trie_lines, "parameters.depth:65000000\n", SHOAL_ERR_RANGE, "parameters.depth"},
        {trie_lines, "parameters.max_prefixes:65537000000\n", SHOAL_ERR_RANGE,
         "parameters.max_prefixes"},
        {trie_lines, "parameters.passes:2000000\nparameters.pass:2000000\n", SHOAL_OK, NULL},
        {trie_lines, "parameters.passes:2000000\nparameters.pass:3000000\n", SHOAL_ERR_RANGE,
         "parameters.pass"},
        {trie_lines, "parameters.pass:2000000\n", SHOAL_ERR_RANGE, "parameters.pass"},
        {trie_lines, "parameters.passes:11000000\n", SHOAL_ERR_RANGE, "parameters.passes"},
        // kinds of value
        {sfp_lines, "value=site\n", SHOAL_OK, NULL},
        {sfp_lines, "value=number\nparameters.low:0\nparameters.high:1000000\n", SHOAL_ERR_RANGE,
         "value"},
        {sfp_lines, "value=fields\nencoding.0.field=f\nencoding.0.values+a\n", SHOAL_ERR_RANGE,
         "value"},
        {ngram_lines, "value=fields\nencoding.0.field=f\nencoding.0.values+a\n", SHOAL_ERR_RANGE,
         "value"},
        {trie_lines, "value=word\n", SHOAL_ERR_RANGE, "value"},
        // encodings of a trie: one field, of characters
        {trie_lines, "encoding.1.field=f\nencoding.1.values+a\n", SHOAL_ERR_RANGE, "mechanism"},
        {trie_lines,
         "encoding.0.starts-\nencoding.0.characters-\nencoding.0.values+a\nencoding.0.values+b\n",
         SHOAL_ERR_RANGE, "mechanism"},
        {trie_lines, "encoding.0.starts-\n", SHOAL_ERR_MISSING_FIELD, "encoding"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run(&cases[i]);
}

// Every scalar given twice.
static void doubled(const char *lines)
{
    size_t left = strlen(lines);
    const char *at = lines;
    field_line line;
    while (next_line(&line, &at, &left)) {
        shoal_recipe recipe;
        size_t all = strlen(lines);
        const char *from = lines;
        field_line each;
        shoal_err err = SHOAL_OK;
        if (line.kind == '+') continue;
        shoal_builder_init(&building);
        while (err == SHOAL_OK && next_line(&each, &from, &all)) err = recipe_line(&each);
        CHECK(err == SHOAL_OK && recipe_line(&line) == SHOAL_ERR_DUPLICATE);
        CHECK(finish_recipe(&recipe) != SHOAL_OK); // and the recipe is of no use any more
    }
}

static void hash_of(uint8_t hash[32], const char *lines, const char *changes)
{
    shoal_recipe recipe;
    if (!CHECK(recipe_of(&recipe, lines, changes, NULL) == SHOAL_OK))
        fprintf(stderr, "%s\n", changes);
    memcpy(hash, recipe.recipe_hash, 32);
}

// What is stated at its default is the same recipe; whatever differs is another.
static void hashes(void)
{
    static const struct {
        const char *lines, *changes;
        int is_same;
    } cases[] = {
        {sfp_lines, "parameters.oracle=cms\n", 1},
        {sfp_lines, "parameters.oracle=olh\n", 0},
        {sfp_lines, "parameters.epsilon_fragment:2000001\n", 0},
        {sfp_lines, "parameters.k_fragment:17000000\n", 0},
        {sfp_lines, "parameters.m_fragment:32000000\n", 0},
        {sfp_lines, "parameters.length:12000000\n", 0},
        {ngram_lines, "parameters.grams:2000000\n", 1},
        {ngram_lines, "parameters.grams:3000000\n", 0},
        {ngram_lines, "parameters.n:3000000\n", 0},
        {ngram_lines, "parameters.length:13000000\n", 0},
        {ngram_lines, "parameters.alphabet=abcd\n", 0},
        {ngram_lines, "parameters.alphabet=abd\n", 0},
        {trie_lines,
         "parameters.sampler=random\nparameters.passes:1000000\nparameters.pass:1000000\n", 1},
        {trie_lines, "encoding.0.step:1000000\n", 1},
        {trie_lines, "encoding.0.step:2000000\n", 0},
        {trie_lines, "parameters.sampler=greedy\n", 0},
        {trie_lines, "parameters.passes:2000000\n", 0},
        {trie_lines, "parameters.passes:2000000\nparameters.pass:2000000\n", 0},
        {trie_lines, "parameters.contributions:4000000\n", 0},
        {trie_lines, "parameters.depth:16000000\n", 0},
        {trie_lines, "parameters.max_prefixes:301000000\n", 0},
        {trie_lines, "parameters.known+the\n", 0},
        {trie_lines, "parameters.known+of\n", 0},
        {trie_lines, "parameters.known+the\nparameters.known+of\n", 0},
        {trie_lines, "parameters.known+of\nparameters.known+the\n", 0},
        {trie_lines, "encoding.0.starts+ef\n", 0}, // in the place of the two
        {trie_lines, "encoding.0.characters+c\n", 0},
    };
    uint8_t seen[sizeof cases / sizeof cases[0]][32], plain[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hash_of(plain, cases[i].lines, "");
        hash_of(seen[i], cases[i].lines, cases[i].changes);
        CHECK((memcmp(seen[i], plain, 32) == 0) == cases[i].is_same);
        for (size_t j = 0; j < i; j++)
            if (!cases[i].is_same && !cases[j].is_same) CHECK(memcmp(seen[i], seen[j], 32) != 0);
    }
}

// Tags 58 and 59 as formats.md has them, at the end of the canonical bytes.
static void canonical_tail(void)
{
    uint8_t bytes[SHOAL_CANONICAL_MAX];
    static const uint8_t alphabet[] = {0, 58, 0, 0, 0, 3, 'a', 'b', 'c'};
    static const uint8_t known[] = {0, 59, 0, 0, 0, 36, 0, 0, 0, 2};
    shoal_recipe recipe;
    shoal_list list = {0};
    size_t len = 0;
    CHECK(recipe_of(&recipe, ngram_lines, "", NULL) == SHOAL_OK);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK);
    CHECK(memcmp(bytes + len - sizeof alphabet, alphabet, sizeof alphabet) == 0);
    CHECK(recipe_of(&recipe, trie_lines, "parameters.known+the\nparameters.known+of\n", NULL) ==
          SHOAL_OK);
    CHECK(whole_bytes(bytes, sizeof bytes, &len, &recipe) == SHOAL_OK);
    shoal_list_add(&list, "the", 3);
    shoal_list_add(&list, "of", 2);
    CHECK(memcmp(bytes + len - 32, list.digest, 32) == 0);
    CHECK(memcmp(bytes + len - 32 - sizeof known, known, sizeof known) == 0);
}

// What recipes of all three say of themselves.
static void finished(void)
{
    shoal_recipe recipe;
    const char *name = NULL;
    int64_t micro = 0;
    uint32_t n = 0;
    CHECK(recipe_of(&recipe, sfp_lines, "", NULL) == SHOAL_OK);
    CHECK(strcmp(shoal_recipe_mechanism_name(&recipe), "sfp") == 0 && recipe.n_parts == 2);
    CHECK(recipe.parts[0].domain == SHOAL_DOMAIN_CLOSED &&
          recipe.parts[0].hash == SHOAL_HASH_AFFINE1);
    CHECK(recipe.parts[0].size == 1u << 24 && recipe.parts[0].k == 5 * 16);
    CHECK(shoal_recipe_value_part(&recipe)->domain == SHOAL_DOMAIN_OPEN && recipe.value_part == 1);
    CHECK(recipe.record_size == 4 + 8 + 4 + 4 &&
          recipe.text_size == (2 + 1 + 16) + 1 + (2 + 1 + 8));
    while (shoal_recipe_parameter(&name, &micro, &recipe, n)) n++;
    CHECK(n == 7 && strcmp(name, "length") == 0 && micro == 10000000); // numbers only: no oracle
    CHECK(!shoal_recipe_is_permanent(&recipe));
    CHECK(recipe_of(&recipe, ngram_lines, "", NULL) == SHOAL_OK &&
          shoal_recipe_is_permanent(&recipe));
    CHECK(strcmp(shoal_recipe_mechanism_name(&recipe), "rappor-ngram") == 0 && recipe.n_parts == 3);
    CHECK(recipe.parts[0].k == 6 * 4 && recipe.parts[2].k == 4 && recipe.value_part == 2);
    CHECK(recipe_of(&recipe, trie_lines, "", NULL) == SHOAL_OK);
    CHECK(strcmp(shoal_recipe_mechanism_name(&recipe), "trie") == 0 && recipe.n_parts == 1);
    CHECK(recipe.parts[0].size == 1 + 2 * (2 + 2) && recipe.parts[0].mechanism == shoal_subset_id);
    CHECK(recipe.cost_micro == 4000000); // of one contribution
    CHECK(shoal_compound_by_id(shoal_cms_id) == NULL && shoal_compound_by_name("cms", 3) == NULL);
    CHECK(shoal_mechanism_by_id(shoal_sfp_id) == NULL &&
          shoal_mechanism_by_name("trie", 4) == NULL);
    shoal_builder_init(&building);
    CHECK(shoal_recipe_mechanism_name(&building.recipe) == NULL);
}

// A record of a string needs a string, one of an item an item.
static void kinds_of_record(void)
{
    const shoal_permanent permanent = {{2}};
    uint8_t seed[32] = {1}, record[256];
    uint64_t items[3] = {1, 1, 1};
    shoal_recipe recipe;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    const uint8_t *text = (const uint8_t *)"word";
    CHECK(recipe_of(&recipe, sfp_lines, "", NULL) == SHOAL_OK);
    CHECK(shoal_record_randomize(record, &recipe, items, 2, NULL, &rng) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_randomize_string(record, &recipe, text, 4, NULL, &rng) == SHOAL_OK);
    CHECK(recipe_of(&recipe, ngram_lines, "", NULL) == SHOAL_OK);
    CHECK(shoal_record_randomize(record, &recipe, items, 3, &permanent, &rng) ==
          SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_randomize_string(record, &recipe, text, 4, NULL, &rng) ==
          SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_randomize_string(record, &recipe, text, 4, &permanent, &rng) == SHOAL_OK);
    CHECK(recipe_of(&recipe, trie_lines, "", NULL) == SHOAL_OK);
    CHECK(shoal_record_randomize_string(record, &recipe, text, 4, NULL, &rng) ==
          SHOAL_ERR_ARGUMENT);
    CHECK(shoal_record_randomize(record, &recipe, items, 1, NULL, &rng) == SHOAL_OK);
    items[0] = recipe.parts[0].size;
    CHECK(shoal_record_randomize(record, &recipe, items, 1, NULL, &rng) == SHOAL_ERR_RANGE);
    items[0] = SHOAL_ITEM_NONE;
    CHECK(shoal_record_randomize(record, &recipe, items, 1, NULL, &rng) == SHOAL_OK);
}

// "None" is what a compound of strings makes of the empty string, and a list of an item that is not
// listed.
static void records_of_none(void)
{
    uint8_t seed[32] = {1}, record[256], same[256];
    uint64_t items[1] = {SHOAL_ITEM_NONE};
    shoal_recipe recipe;
    shoal_rng rng, again;
    CHECK(recipe_of(&recipe, sfp_lines, "", NULL) == SHOAL_OK);
    shoal_rng_init(&rng, seed);
    shoal_rng_init(&again, seed);
    CHECK(shoal_record_randomize_none(record, &recipe, &rng) == SHOAL_OK);
    CHECK(shoal_record_randomize_string(same, &recipe, record, 0, NULL, &again) == SHOAL_OK);
    CHECK(memcmp(record, same, shoal_record_size(&recipe)) == 0);
    CHECK(recipe_of(&recipe, trie_lines, "", NULL) == SHOAL_OK);
    shoal_rng_init(&again, seed);
    shoal_rng_init(&rng, seed);
    CHECK(shoal_record_randomize_none(record, &recipe, &rng) == SHOAL_OK);
    CHECK(shoal_record_randomize(same, &recipe, items, 1, NULL, &again) == SHOAL_OK);
    CHECK(memcmp(record, same, shoal_record_size(&recipe)) == 0);
    CHECK(recipe_of(&recipe, ngram_lines, "", NULL) == SHOAL_OK); // permanent coins
    CHECK(shoal_record_randomize_none(record, &recipe, &rng) == SHOAL_ERR_ARGUMENT);
}

// Rows of a part that begins elsewhere: from first_row on, k of them, all alike; of a part that
// begins at 0 the draws are what they were.
static void first_row(uint32_t mechanism, uint32_t m)
{
    shoal_part part = {.mechanism = mechanism,
                       .domain = SHOAL_DOMAIN_OPEN,
                       .hash = SHOAL_HASH_POLY1,
                       .eps_micro = 2000000,
                       .k = 12,
                       .m = m,
                       .hashes = 1,
                       .seed = {5}};
    uint32_t rows[12] = {0};
    uint8_t seed[32] = {9}, record[64];
    const char *field;
    shoal_rng rng;
    if (mechanism == shoal_rappor_id) {
        part.eps_micro = 0;
        part.pqf_micro[0] = 250000;
        part.pqf_micro[1] = 750000;
    }
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK && part.first_row == 0);
    shoal_rng_init(&rng, seed);
    part.k = 4;
    part.first_row = 8;
    for (uint32_t i = 0; i < 4000; i++) {
        const shoal_permanent permanent = {{(uint8_t)i, (uint8_t)(i >> 8), 3}};
        shoal_mechanism_by_id(mechanism)->randomize(record, &part, 77, &permanent, &rng);
        uint32_t row = mechanism == shoal_olh_id ? load32_le(record) / m : load32_le(record);
        if (CHECK(row < 12)) rows[row]++;
    }
    // 1,000 each, sd 27: five of them
    for (uint32_t j = 0; j < 12; j++) CHECK(j < 8 ? rows[j] == 0 : rows[j] > 863 && rows[j] < 1137);
}

int main(void)
{
    missing();
    refused();
    doubled(sfp_lines);
    doubled(ngram_lines);
    doubled(trie_lines);
    hashes();
    canonical_tail();
    finished();
    kinds_of_record();
    records_of_none();
    first_row(shoal_cms_id, 8);
    first_row(shoal_olh_id, 8);
    first_row(shoal_rappor_id, 8);
    return check_summary();
}
