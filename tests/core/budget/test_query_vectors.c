// SPDX-License-Identifier: Apache-2.0
// Queries, policies and the accountant give the same bytes and decisions on every build:
// query_vectors.json, which WebAssembly's JavaScript replays too
// (wasm/test/bindings/query_core.test.mjs). Every refusal is among its steps. Rounds of a trie,
// which only shoal-all.wasm carries, have lists and steps of their own
// (wasm/test/bindings/trie_vectors.test.mjs).
//
//     test_query_vectors FILE       checks the file
//     test_query_vectors --write    prints it anew (when a format changes on purpose)
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "accountant.h"
#include "json_feed.h"
#include "policy_canonical.h"
#include "record.h"
#include "trie.h"

static const char *file_name; // NULL: write
static FILE *file;

// A line of the file: printed, or compared with the file's next.
static void put_line(const char *line)
{
    static char read[16384];
    if (file_name == NULL) {
        puts(line);
        return;
    }
    if (!CHECK(fgets(read, sizeof read, file) != NULL)) return;
    read[strcspn(read, "\n")] = '\0';
    if (!CHECK(strcmp(read, line) == 0)) printf("expected %.300s\nread     %.300s\n", line, read);
}

static const char *hex_of(const uint8_t *bytes, size_t len)
{
    static char text[4][8200];
    static unsigned next;
    char *out = text[next++ % 4];
    CHECK(2 * len < sizeof text[0]);
    for (size_t i = 0; i < len; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return out;
}

static const char *digest_of(const uint8_t *bytes, size_t len)
{
    uint8_t digest[32];
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
    return hex_of(digest, sizeof digest);
}

// ---- policies ----

#define KEY "\"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a\""
#define STREAMS                                                                                    \
    "\"streams\": [{\"stream\": \"typed\", \"retention_days\": 14, \"fields\": [{\"field\": "      \
    "\"phrase\", \"type\": "                                                                       \
    "\"tokens\"}, {\"field\": \"age\", \"type\": \"number\"}, {\"field\": \"locale\", \"type\": "  \
    "\"text\"}, "                                                                                  \
    "{\"field\": \"device\", \"type\": \"text\"}]}, {\"stream\": \"clicks\", \"retention_days\": " \
    "30, \"fields\": "                                                                             \
    "[{\"field\": \"page\", \"type\": \"text\"}, {\"field\": \"dwell\", \"type\": \"number\"}]}]"

static const char *const policy_texts[] = {
    // every composition, every kind of member
    "{\"policy\": \"site-2026\", \"keys\": [" KEY "], \"fresh_days\": 2, " STREAMS
    ", \"analyses\": ["
    "{\"analysis\": \"keyboard\", \"stream\": \"typed\", \"version\": 2, \"mechanisms\": "
    "[\"onehot-symmetric\", "
    "\"subset\", "
    "\"grr\"], \"query\": {\"fields\": 2, \"size\": 100}, \"budget\": {\"epsilon\": 1.2, "
    "\"delta\": \"1e-8\", "
    "\"reports\": 5}, "
    "\"cohort\": {\"minimum\": 5000, \"honest\": 0.9}, \"split_by\": [\"locale\"], \"fields\": "
    "[{\"field\": "
    "\"phrase\", "
    "\"local_epsilon\": 3, \"epsilon\": 1, \"reports\": 4}, {\"field\": \"age\", "
    "\"local_epsilon\": 2.5, \"epsilon\": "
    "0.5, "
    "\"reports\": 2}]}, "
    "{\"analysis\": \"pages\", \"stream\": \"clicks\", \"mechanisms\": [\"onehot-asymmetric\", "
    "\"hadamard\"], "
    "\"budget\": "
    "{\"epsilon\": 1, \"delta\": \"1e-7\", \"reports\": 100, \"composition\": \"advanced\", "
    "\"slack\": \"1e-9\"}, "
    "\"cohort\": {\"minimum\": 1000}, \"fields\": [{\"field\": \"page\", \"local_epsilon\": 8, "
    "\"epsilon\": 1, "
    "\"reports\": 100}]}, "
    "{\"analysis\": \"dwelling\", \"stream\": \"clicks\", \"mechanisms\": [\"grr\"], \"budget\": "
    "{\"epsilon\": 1.5, "
    "\"delta\": "
    "\"1e-9\", \"reports\": 100, \"composition\": \"renyi\", \"slack\": \"1e-10\"}, \"fields\": "
    "[{\"field\": "
    "\"dwell\", "
    "\"local_epsilon\": 1, \"epsilon\": 1, \"reports\": 100}, {\"field\": \"page\", "
    "\"local_epsilon\": 1, \"epsilon\": "
    "0.1, "
    "\"reports\": 3}]}]}",
    // a later one, more generous and with another composition: what was charged stays charged
    "{\"policy\": \"site-2027\", \"keys\": [" KEY "], " STREAMS ", \"analyses\": ["
    "{\"analysis\": \"keyboard\", \"stream\": \"typed\", \"version\": 2, \"mechanisms\": "
    "[\"onehot-symmetric\"], "
    "\"query\": "
    "{\"fields\": 2}, \"budget\": {\"epsilon\": 2, \"delta\": \"1e-6\", \"reports\": 12, "
    "\"composition\": \"renyi\", "
    "\"slack\": "
    "\"1e-9\"}, \"cohort\": {\"minimum\": 5000}, \"split_by\": [\"locale\", \"device\"], "
    "\"fields\": [{\"field\": "
    "\"phrase\", "
    "\"local_epsilon\": 4, \"epsilon\": 2, \"reports\": 12}, {\"field\": \"age\", "
    "\"local_epsilon\": 2.5, \"epsilon\": "
    "2, "
    "\"reports\": 9}]}]}",
    // words in rounds
    "{\"policy\": \"words-2026\", \"keys\": [" KEY
    "], \"streams\": [{\"stream\": \"words\", \"retention_days\": 30, "
    "\"fields\": [{\"field\": \"word\", \"type\": \"characters\"}]}], \"analyses\": "
    "[{\"analysis\": \"words\", "
    "\"stream\": "
    "\"words\", \"mechanisms\": [\"subset\", \"trie\"], \"query\": {\"size\": 1000}, \"budget\": "
    "{\"epsilon\": 1.5, "
    "\"delta\": \"1e-8\", \"reports\": 6, \"composition\": \"renyi\", \"slack\": \"1e-10\"}, "
    "\"fields\": [{\"field\": "
    "\"word\", "
    "\"local_epsilon\": 2, \"epsilon\": 1.2, \"reports\": 5}]}]}"};

#define POLICIES (sizeof policy_texts / sizeof policy_texts[0] - 1)
static shoal_policy policies[POLICIES + 1]; // the last is that of tries

static void put_policy(size_t i, int is_last)
{
    static char line[16384];
    static uint8_t canonical[SHOAL_POLICY_CANONICAL_MAX];
    size_t len = 0;
    if (!CHECK(json_policy(&policies[i], policy_texts[i]) == SHOAL_OK))
        printf("%s: %s\n", policies[i].error_field, policies[i].error_text);
    CHECK(policy_canonical(canonical, sizeof canonical, &len, &policies[i]) == SHOAL_OK);
    snprintf(line, sizeof line, "{\"policy\": %s, \"hash\": \"%s\", \"canonical\": \"%s\"}%s",
             policy_texts[i], hex_of(policies[i].policy_hash, 32), hex_of(canonical, len),
             is_last ? "" : ",");
    put_line(line);
}

static void make_policies(void)
{
    put_line("{\"policies\": [");
    for (size_t i = 0; i < POLICIES; i++) put_policy(i, i + 1 == POLICIES);
}

// ---- queries ----

#define AGE "{\"field\": \"age\", \"boundaries\": [20, 30.5, 40]}"
#define PHRASE                                                                                     \
    "{\"field\": \"phrase\", \"prefixes\": [\"hello world\", \"i went\"], \"tokens\": [\"a\", "    \
    "\"and\", \"got\"]}"
#define FIRST                                                                                      \
    "{\"field\": \"phrase\", \"prefixes\": [\"\"], \"tokens\": [\"i\", \"hello\", "                \
    "\"\303\251t\303\251\"]}"
#define PAGE "{\"field\": \"page\", \"values\": [\"home\", \"news\", \"about us\"]}"
#define DWELL "{\"field\": \"dwell\", \"boundaries\": [-1.5, 0, 0.000001, 60]}"
#define LOCALE "{\"field\": \"locale\", \"values\": [\"de\", \"en\"]}"
#define DEVICE "{\"field\": \"device\", \"values\": [\"phone\"]}"

// What differs from a query of the keyboard's that is accepted. 0 and NULL: nothing.
typedef struct spec {
    const char *analysis, *stream, *encoding, *mechanism, *epsilon, *split, *part, *expires;
    const char *minimum, *claim, *delta;
    int policy;   // index from 1, -1: none
    int version;  // 0: 2
    int round;    // 0: none
    int previous; // index from 1
} spec;

#define QUERIES 200
static char texts[QUERIES][1600];
static shoal_recipe recipes[QUERIES];
static int n_queries;

static const char *either(const char *given, const char *otherwise)
{
    return given != NULL ? given : otherwise;
}

static void append(char *text, const char *format, const char *word)
{
    size_t n = strlen(text);
    CHECK(snprintf(text + n, sizeof texts[0] - n, format, word) < (int)(sizeof texts[0] - n));
}

static void append_number(char *text, const char *format, int number)
{
    size_t n = strlen(text);
    CHECK(snprintf(text + n, sizeof texts[0] - n, format, number) < (int)(sizeof texts[0] - n));
}

static void write_round(char *text, const spec *s)
{
    if (s->round == 0) return;
    append_number(text, ", \"round\": {\"index\": %d", s->round);
    if (s->previous > 0)
        append(text, ", \"previous\": \"%s\"", hex_of(recipes[s->previous - 1].query_hash, 32));
    append(text, "}", "");
}

// Makes a query. Returns: its index from 1.
static int add(spec s)
{
    char *text = texts[n_queries];
    if (!CHECK(n_queries < QUERIES)) return 1;
    append_number(text, "{\"recipe\": \"q%d\"", n_queries);
    append(text, ", \"analysis\": \"%s\"", either(s.analysis, "keyboard"));
    append(text, ", \"stream\": \"%s\"", either(s.stream, "typed"));
    append(text, ", \"value\": \"fields\", \"encoding\": [%s]",
           either(s.encoding, AGE ", " PHRASE));
    append(text, ", \"mechanism\": \"%s\"", either(s.mechanism, "onehot-symmetric"));
    append(text, ", \"parameters\": {\"epsilon\": %s}", either(s.epsilon, "2"));
    if (s.split != NULL) append(text, ", \"split_by\": [%s]", s.split);
    if (s.part != NULL) append(text, ", \"part\": [%s]", s.part);
    append(text, ", \"limit\": {\"per_day\": 1}, \"cohort\": {\"minimum\": %s",
           either(s.minimum, "100000"));
    append(text, ", \"epsilon\": %s", either(s.claim, "0.25"));
    append(text, ", \"delta\": \"%s\"}", either(s.delta, "1e-10"));
    if (s.policy >= 0) {
        append(text, ", \"policy\": \"%s\"",
               hex_of(policies[s.policy > 0 ? s.policy - 1 : 0].policy_hash, 32));
        append_number(text, ", \"version\": %d", s.version > 0 ? s.version : 2);
    }
    write_round(text, &s);
    append(text, n_queries % 3 == 1 ? ", \"aggregation\": {\"protocol\": \"sum\"}" : "", "");
    append(text, ", \"expires\": \"%s\"}", either(s.expires, "2026-12-31"));
    if (!CHECK(json_recipe(&recipes[n_queries], text) == SHOAL_OK))
        printf("%s\n%s: %s\n", text, either(building.error_field, "?"),
               either(building.error_text, "?"));
    return ++n_queries;
}

// ---- steps ----

typedef struct step {
    int policy, query; // indices from 1
    uint32_t day;
    int damaged; // one bit of this byte of the books, from 1, is another; the books themselves stay
} step;

#define STEPS 300
static step steps[STEPS];
static int n_steps;

static void ask(int query, uint32_t day)
{
    if (CHECK(n_steps < STEPS)) steps[n_steps++] = (step){1, query, day, 0};
}

static void ask_under(int policy, int query, uint32_t day)
{
    ask(query, day);
    steps[n_steps - 1].policy = policy;
}

static void ask_damaged(int query, uint32_t day, int byte)
{
    ask(query, day);
    steps[n_steps - 1].damaged = byte;
}

#define OPENED 20500u // 2026-02-16

// Refused for what it is, whatever the books say.
static void script_kinds(uint32_t day)
{
    ask(add((spec){.policy = -1}), day);
    ask(add((spec){.analysis = "mouse"}), day);
    ask(add((spec){.expires = "2026-02-18"}), day);
    ask(add((spec){.version = 1}), day);
    ask(add((spec){.stream = "clicks"}), day);
    ask(add((spec){.encoding = PHRASE ", " LOCALE}), day);
    ask(add((spec){.encoding = "{\"field\": \"age\", \"values\": [\"old\"]}, " PHRASE}), day);
    ask(add((spec){.analysis = "dwelling", .stream = "clicks", .encoding = PAGE ", " DWELL}), day);
    ask(add((spec){
            .encoding =
                "{\"field\": \"age\", \"boundaries\": [1, 2, 3, 4, 5, 6, 7, 8, 9]}, " PHRASE}),
        day);
    ask(add((spec){.mechanism = "hadamard"}), day);
    ask(add((spec){.split = LOCALE ", " DEVICE}), day);
    ask(add((spec){.epsilon = "2.500001", .minimum = "900000"}),
        day); // age allows less than phrase
    ask(add((spec){.minimum = "4999"}), day);
    ask(add((spec){.minimum = "5000"}), day);
    ask(add((spec){.claim = "1.200001"}), day);
    ask(add((spec){.delta = "1e-7"}), day);
}

// Rounds, replays, clocks, damage: what the books remember.
static void script_books(void)
{
    int first = add((spec){.round = 1});
    ask(first, OPENED);
    ask(first, OPENED + 1); // the policy asks for two days
    ask(first, OPENED + 2);
    ask(first, OPENED + 2);
    ask(first, OPENED + 400); // expired comes before replayed
    int second = add((spec){.round = 2, .previous = first, .encoding = PHRASE, .split = LOCALE});
    int rival = add((spec){.round = 2, .previous = first, .encoding = PHRASE, .epsilon = "1.5"});
    for (int byte = 1; byte < 300; byte += 37) ask_damaged(second, OPENED + 3, byte);
    ask(add((spec){.round = 2, .previous = rival}), OPENED + 3); // follows what was not answered
    ask(add((spec){
            .round = 2, .previous = first, .encoding = PHRASE, .split = LOCALE, .part = "\"de\""}),
        OPENED + 4);
    ask(second, OPENED + 4); // another part of the collection: another recipe
    ask(rival, OPENED + 4);
    ask(add((spec){.encoding = PHRASE}), OPENED + 1); // a clock set back
    ask_under(2, add((spec){.round = 3, .previous = second}), OPENED + 4);
}

static int phrase(const char *claim, int policy)
{
    return add((spec){
        .encoding = FIRST, .version = 3, .claim = claim, .minimum = "400000", .policy = policy});
}

// The keyboard's budget to the last: 0.5 of 1.2 is charged, all of it to the phrase, half of it to
// the age.
static void script_keyboard(void)
{
    ask(add((spec){.encoding = AGE, .version = 3, .claim = "0.1", .minimum = "400000"}),
        OPENED + 5);
    ask(add((spec){.encoding = PHRASE}), OPENED + 5); // version 2 after version 3
    ask(add((spec){.encoding = AGE, .version = 3, .claim = "0.2", .minimum = "400000"}),
        OPENED + 6);
    ask(phrase("0.600001", 1), OPENED + 6);
    ask(phrase("0.6", 1), OPENED + 6);
    ask(phrase("0.500001", 1), OPENED + 6);
    ask(add((spec){
            .encoding = FIRST, .version = 3, .claim = "0.1", .delta = "1e-8", .minimum = "400000"}),
        OPENED + 6);
    ask(phrase("0.25", 1), OPENED + 6);
    ask(phrase("0.25", 1), OPENED + 7); // the phrase's epsilon to the last micro-unit
    ask(phrase("0.1", 1), OPENED + 7);
    ask(phrase("0.1", 2), OPENED + 7); // names the other policy
    for (int i = 0; i < 8; i++) ask_under(2, phrase("0.2", 2), OPENED + 8);
    ask_under(2, add((spec){.encoding = AGE, .version = 3, .minimum = "400000", .policy = 2}),
              OPENED + 8);
}

// As many small queries as each of the two other compositions allows, and more than the basic one
// would.
static void script_small(void)
{
    for (int i = 0; i < 62; i++) {
        ask(add((spec){.analysis = "pages",
                       .stream = "clicks",
                       .encoding = PAGE,
                       .version = 1 + i / 9,
                       .mechanism = i % 2 ? "hadamard" : "onehot-asymmetric",
                       .epsilon = "1",
                       .claim = "0.02",
                       .minimum = "10000000",
                       .delta = "1e-12",
                       .expires = i % 5 ? "2026-03-10" : NULL}),
            OPENED + 9 + (uint32_t)i / 6);
    }
    for (int i = 0; i < 56; i++)
        ask(add((spec){.analysis = "dwelling",
                       .stream = "clicks",
                       .encoding = DWELL,
                       .mechanism = "grr",
                       .epsilon = "1",
                       .claim = "0.023",
                       .minimum = "10000000",
                       .delta = "1e-12",
                       .version = 1}),
            OPENED + 30 + (uint32_t)(i * 7 % 11));
}

// ---- tries ----

// What differs from a round that is accepted.
typedef struct trie_spec {
    const char *mechanism, *sampler, *claim, *more; // more: members of parameters, after a comma
    int contributions, version, previous, expired;
} trie_spec;

#define TRIES 16
static char trie_texts[TRIES][1600];
static shoal_recipe tries[TRIES];
static int n_tries;

static int add_trie(trie_spec s)
{
    char *text = trie_texts[n_tries], parameters[160] = "", round[120] = "";
    if (!CHECK(n_tries < TRIES)) return 0;
    if (s.mechanism == NULL)
        snprintf(
            parameters, sizeof parameters,
            ", \"contributions\": %d, \"sampler\": \"%s\", \"depth\": 12, \"max_prefixes\": 100",
            s.contributions > 0 ? s.contributions : 3, either(s.sampler, "random"));
    if (s.previous > 0)
        snprintf(round, sizeof round, ", \"round\": {\"index\": 2, \"previous\": \"%s\"}",
                 hex_of(tries[s.previous - 1].query_hash, 32));
    CHECK(snprintf(text, sizeof trie_texts[0],
                   "{\"recipe\": \"t%d\", \"analysis\": \"words\", \"stream\": \"words\", "
                   "\"value\": \"fields\", "
                   "\"encoding\": "
                   "[{\"field\": \"word\", \"starts\": [\"ab\", \"c\303\266\"], \"characters\": "
                   "[\"a\", \"\303\266\", "
                   "\"\346\227\245\"], \"step\": 2}], \"mechanism\": \"%s\", \"parameters\": "
                   "{\"epsilon\": 2%s%s}, \"limit\": "
                   "{\"per_day\": 1}, \"cohort\": {\"minimum\": 100000, \"epsilon\": %s, "
                   "\"delta\": \"1e-10\"}, \"policy\": "
                   "\"%s\", \"version\": %d%s, \"expires\": \"%s\"}",
                   n_tries, either(s.mechanism, "trie"), parameters, either(s.more, ""),
                   either(s.claim, "0.2"), hex_of(policies[POLICIES].policy_hash, 32),
                   s.version > 0 ? s.version : 1, round,
                   s.expired ? "2026-02-20" : "2026-12-31") < (int)sizeof trie_texts[0]);
    if (!CHECK(json_recipe(&tries[n_tries], text) == SHOAL_OK))
        printf("%s\n%s\n", text, either(building.error_field, "?"));
    return ++n_tries;
}

typedef struct trie_step {
    int query; // from 1
    uint32_t day;
    int is_new; // with new books
} trie_step;

static trie_step trie_steps[24];
static int n_trie_steps;

static void ask_trie(int query, uint32_t day, int is_new)
{
    if (CHECK(n_trie_steps < 24)) trie_steps[n_trie_steps++] = (trie_step){query, day, is_new};
}

static void script_tries(void)
{
    int first = add_trie((trie_spec){.expired = 1});
    int second =
        add_trie((trie_spec){.previous = first, .more = ", \"known\": [\"abba\", \"\303\266l\"]"});
    int newer = add_trie((trie_spec){.version = 9});
    int pass = add_trie((trie_spec){.more = ", \"passes\": 2, \"pass\": 2"});
    int other = add_trie((trie_spec){.mechanism = "subset", .version = 9});
    int greedy = add_trie((trie_spec){.contributions = 5, .sampler = "greedy"});
    int one = add_trie((trie_spec){.contributions = 1, .sampler = "greedy"});
    ask_trie(first, OPENED, 1); // fresh
    ask_trie(first, OPENED + 1, 0);
    ask_trie(first, OPENED + 1, 0);
    ask_trie(second, OPENED + 2, 0); // the round that follows
    ask_trie(newer, OPENED + 2, 0);
    ask_trie(pass, OPENED + 2, 0);
    ask_trie(other, OPENED + 5, 0); // no trie: and the first is forgotten
    ask_trie(first, OPENED + 5, 0);
    ask_trie(newer, OPENED + 5, 0);
    ask_trie(one, OPENED + 5, 0); // a version before the last is looked for after
    ask_trie(add_trie((trie_spec){.contributions = 7}), OPENED + 1, 1);
    ask_trie(add_trie((trie_spec){.contributions = 6}), OPENED + 1, 0);
    ask_trie(add_trie((trie_spec){.contributions = 5, .claim = "0.300001"}), OPENED + 1, 0);
    ask_trie(add_trie((trie_spec){.contributions = 5, .claim = "0.25"}), OPENED + 1, 0);
    ask_trie(greedy, OPENED + 1, 0);
    ask_trie(one, OPENED + 1, 0);
    ask_trie(other, OPENED + 1, 0);  // the field has no report left
    ask_trie(second, OPENED + 1, 1); // a device that comes late
    ask_trie(first, OPENED + 1, 0);
}

// ---- the file ----

#define LINE 20000
static char line[LINE];

static void put_text(const char *format, const char *word)
{
    size_t n = strlen(line);
    CHECK(snprintf(line + n, LINE - n, format, word) < (int)(LINE - n));
}

static void put_number(const char *format, unsigned long long number)
{
    size_t n = strlen(line);
    CHECK(snprintf(line + n, LINE - n, format, number) < (int)(LINE - n));
}

static void end_line(int is_last)
{
    put_text(is_last ? "}" : "},", "");
    put_line(line);
    line[0] = '\0';
}

// An item as buckets and back.
static void put_cell(const shoal_recipe *recipe, uint64_t item)
{
    uint32_t buckets[SHOAL_ENCODED_MAX];
    shoal_encoding_buckets(buckets, &recipe->encoding, item);
    CHECK(shoal_encoding_item(&recipe->encoding, buckets) == item);
    put_number("[%llu, [", item);
    for (uint32_t i = 0; i < recipe->encoding.n_fields; i++)
        put_number(i > 0 ? ", %llu" : "%llu", buckets[i]);
    put_text("]]", "");
}

// One look-up of a field: its arguments and its bucket.
static void put_probe(uint32_t field, long long first, long long second, uint32_t bucket)
{
    size_t n = strlen(line);
    CHECK(snprintf(line + n, LINE - n, "%s[%u, %lld, %lld, %u]", line[n - 1] == '[' ? "" : ", ",
                   field, first, second, bucket) < (int)(LINE - n));
}

static void put_field_probes(uint32_t field, const shoal_encoded *e)
{
    const uint32_t nexts[] = {0, e->tokens.count - 1, e->tokens.count, SHOAL_NEXT_END,
                              SHOAL_NOT_LISTED};
    for (uint32_t i = 0; i < e->n_boundaries; i++) {
        int64_t at = e->boundaries[i];
        put_probe(field, at - 1, 0, shoal_encoded_number(e, at - 1));
        put_probe(field, at, 0, shoal_encoded_number(e, at));
    }
    for (uint32_t i = 0; e->values.count > 0 && i <= e->values.count; i++)
        put_probe(field, i, 0, shoal_encoded_value(e, i));
    for (uint32_t i = 0; e->prefixes.count > 0 && i <= e->prefixes.count; i++)
        for (uint32_t j = 0; j < sizeof nexts / sizeof nexts[0]; j++)
            put_probe(field, i, nexts[j], shoal_encoded_next(e, i, nexts[j]));
}

// What a device draws from seed bytes 0, 1, ... 31 for the item, and for "no event matches".
static void put_draws(const shoal_recipe *recipe, uint64_t item)
{
    uint8_t seed[32], record[64];
    char text[400] = "";
    shoal_rng rng;
    for (uint8_t i = 0; i < 32; i++) seed[i] = i;
    shoal_rng_init(&rng, seed);
    put_number(", \"random_item\": %llu", shoal_rng_below(&rng, recipe->parts[0].size));
    shoal_rng_init(&rng, seed);
    CHECK(recipe->record_size <= sizeof record && recipe->text_size < sizeof text);
    CHECK(shoal_record_randomize(record, recipe, &item, 1, NULL, &rng) == SHOAL_OK);
    CHECK(shoal_record_to_text(text, sizeof text, recipe, record) == SHOAL_OK);
    put_text(", \"record\": \"%s\"", text);
}

// Look-ups are written of the first queries only: the later ones ask the same.
static void put_query(int index)
{
    const shoal_recipe *recipe = &recipes[index];
    uint64_t size = recipe->parts[0].size;
    put_text("{\"recipe\": %s", texts[index]);
    put_text(", \"recipe_hash\": \"%s\"", hex_of(recipe->recipe_hash, 32));
    put_text(", \"query_hash\": \"%s\"", hex_of(recipe->query_hash, 32));
    put_text(", \"key\": \"%s\"", ""); // closed below: a name has a length, no end
    line[strlen(line) - 1] = '\0';
    for (uint32_t i = 0; i < recipe->key.len; i++) put_text("%.1s", recipe->key.bytes + i);
    put_text("\", \"cells\": [", "");
    put_cell(recipe, 0);
    put_text(", ", "");
    put_cell(recipe, size * 2 / 3);
    put_text(", ", "");
    put_cell(recipe, size - 1);
    put_text("], \"probes\": [", "");
    for (uint32_t i = 0; index < 40 && i < recipe->encoding.n_fields; i++)
        put_field_probes(i, &recipe->encoding.fields[i]);
    put_text("]", "");
    put_draws(recipe, size * 2 / 3);
    end_line(index + 1 == n_queries);
}

static uint32_t word_bucket(const shoal_encoded *e, uint32_t start, const uint32_t *characters,
                            uint32_t n)
{
    return shoal_encoded_next(e, start, shoal_encoded_run(e, characters, n));
}

// Buckets of words: a start's index, characters' indices (-1: not listed), the bucket.
static void put_words(const shoal_encoded *e)
{
    static const uint32_t listed[][2] = {{0, 0}, {2, 1}, {1, 3}, {SHOAL_NOT_LISTED, 0}};
    for (uint32_t start = 0; start <= e->prefixes.count; start++)
        for (uint32_t i = 0; i < 4; i++)
            for (uint32_t n = 0; n <= 2; n++) {
                put_number(line[strlen(line) - 1] == '[' ? "[%llu, [" : ", [%llu, [", start);
                for (uint32_t j = 0; j < n; j++) {
                    long long index =
                        listed[i][j] == SHOAL_NOT_LISTED ? -1 : (long long)listed[i][j];
                    snprintf(line + strlen(line), LINE - strlen(line), j > 0 ? ", %lld" : "%lld",
                             index);
                }
                put_number("], %llu]", word_bucket(e, start, listed[i], n));
            }
}

// A device's answer of the words whose buckets those are, from seed bytes n, n + 1, ... n + 31.
static void put_answer(const shoal_recipe *recipe, const uint32_t *words, uint32_t n)
{
    uint8_t seed[32], record[64];
    uint32_t buckets[16];
    uint64_t items[SHOAL_TRIE_CONTRIBUTIONS_MAX];
    char text[200] = "";
    shoal_rng rng;
    for (uint8_t i = 0; i < 32; i++) seed[i] = (uint8_t)(i + n);
    shoal_rng_init(&rng, seed);
    memcpy(buckets, words, n * sizeof *words);
    CHECK(shoal_trie_choose(items, recipe, buckets, n, &rng) == SHOAL_OK);
    put_text(line[strlen(line) - 1] == '[' ? "{\"buckets\": [" : ", {\"buckets\": [", "");
    for (uint32_t i = 0; i < n; i++) put_number(i > 0 ? ", %llu" : "%llu", words[i]);
    put_text("], \"records\": [", "");
    for (uint32_t i = 0; i < recipe->contributions; i++) {
        CHECK(recipe->record_size <= sizeof record && recipe->text_size < sizeof text);
        CHECK(shoal_record_randomize(record, recipe, &items[i], 1, NULL, &rng) == SHOAL_OK);
        CHECK(shoal_record_to_text(text, sizeof text, recipe, record) == SHOAL_OK);
        put_text(i > 0 ? ", \"%s\"" : "\"%s\"", text);
    }
    put_text("]}", "");
}

static void put_trie(int index)
{
    static const uint32_t words[] = {3, 9, 9, 9, 2, 0, 17, 28, 28, 4, 1, 4000000000u};
    const shoal_recipe *recipe = &tries[index];
    put_text("{\"recipe\": %s", trie_texts[index]);
    put_text(", \"recipe_hash\": \"%s\"", hex_of(recipe->recipe_hash, 32));
    put_text(", \"query_hash\": \"%s\"", hex_of(recipe->query_hash, 32));
    put_text(", \"words\": [", "");
    put_words(&recipe->encoding.fields[0]);
    put_text("], \"answers\": [", "");
    for (uint32_t n = 0; recipe->mechanism == shoal_trie_id && n <= 12; n += 4)
        put_answer(recipe, words, n);
    put_text("]", "");
    end_line(index + 1 == n_tries);
}

static uint8_t books[SHOAL_ACCOUNTANT_SIZE_MAX];
static size_t books_len;
static int seen[SHOAL_REFUSALS];

static shoal_verdict take_step(const step *s)
{
    shoal_verdict checked, verdict;
    const shoal_policy *policy = &policies[s->policy - 1];
    const shoal_recipe *recipe = &recipes[s->query - 1];
    size_t byte = (size_t)s->damaged - 1, before = books_len;
    if (s->damaged > 0 && CHECK(byte < books_len)) books[byte] ^= 1;
    shoal_query_check(&checked, books, books_len, policy, recipe, s->day);
    shoal_query_debit(&verdict, books, &books_len, sizeof books, policy, recipe, s->day);
    if (s->damaged > 0) books[byte] ^= 1;
    CHECK(checked.refusal == verdict.refusal && checked.field == verdict.field);
    CHECK(verdict.refusal == SHOAL_ACCEPTED || books_len == before);
    CHECK(s->damaged == 0 || verdict.refusal == SHOAL_REFUSED_STORAGE);
    return verdict;
}

static void put_step(const step *s, int is_last)
{
    shoal_verdict v = take_step(s);
    seen[v.refusal]++;
    put_number("{\"policy\": %llu", (unsigned long long)s->policy - 1);
    put_number(", \"query\": %llu", (unsigned long long)s->query - 1);
    put_number(", \"day\": %llu", s->day);
    if (s->damaged > 0) put_number(", \"damaged\": %llu", (unsigned long long)s->damaged - 1);
    put_text(", \"verdict\": \"%s\"", shoal_refusal_name(v.refusal));
    put_number(", \"number\": %llu", v.refusal);
    if (v.field != UINT32_MAX) put_number(", \"field\": %llu", v.field);
    put_number(", \"local\": %llu", v.local_eps_micro);
    put_number(", \"central\": %llu", v.central_eps_micro);
    put_text(", \"books\": \"%s\"", digest_of(books, books_len));
    end_line(is_last);
}

static void put_trie_step(const trie_step *s, int is_last)
{
    shoal_verdict v;
    if (s->is_new)
        CHECK(shoal_accountant_init(books, sizeof books, &books_len, OPENED) == SHOAL_OK);
    shoal_query_debit(&v, books, &books_len, sizeof books, &policies[POLICIES],
                      &tries[s->query - 1], s->day);
    seen[v.refusal]++;
    put_number("{\"query\": %llu", (unsigned long long)s->query - 1);
    put_number(", \"day\": %llu", s->day);
    if (s->is_new) put_number(", \"opened\": %llu", OPENED);
    put_text(", \"verdict\": \"%s\"", shoal_refusal_name(v.refusal));
    put_number(", \"number\": %llu", v.refusal);
    put_text(", \"books\": \"%s\"", digest_of(books, books_len));
    end_line(is_last);
}

static void put_charge(uint32_t policy, uint32_t analysis, uint32_t field, int is_last)
{
    shoal_charge c;
    CHECK(shoal_accountant_charge(&c, books, books_len, &policies[policy], analysis, field) ==
          SHOAL_OK);
    put_number("{\"policy\": %llu", policy);
    put_number(", \"analysis\": %llu", analysis);
    if (field != UINT32_MAX) put_number(", \"field\": %llu", field);
    put_number(", \"reports\": %llu", c.reports);
    put_number(", \"epsilon\": %llu", c.eps_micro);
    put_number(", \"delta\": %llu", c.delta_e15);
    put_number(", \"local\": %llu", c.local_eps_micro);
    end_line(is_last);
}

static void put_charges(void)
{
    for (uint32_t p = 0; p < POLICIES; p++) {
        for (uint32_t a = 0; a < policies[p].n_analyses; a++) {
            put_charge(p, a, UINT32_MAX, 0);
            for (uint32_t f = 0; f < policies[p].analyses[a].n_fields; f++)
                put_charge(p, a, f,
                           p + 1 == POLICIES && a + 1 == policies[p].n_analyses &&
                               f + 1 == policies[p].analyses[a].n_fields);
        }
    }
}

static void put_file(void)
{
    make_policies();
    script_books();
    script_kinds(OPENED + 4);
    script_keyboard();
    script_small();
    put_line("], \"queries\": [");
    for (int i = 0; i < n_queries; i++) put_query(i);
    put_line("], \"steps\": [");
    CHECK(shoal_accountant_init(books, sizeof books, &books_len, OPENED) == SHOAL_OK);
    for (int i = 0; i < n_steps; i++) put_step(&steps[i], i + 1 == n_steps);
    put_line("], \"charges\": [");
    put_charges();
    put_line("], \"trie_policies\": [");
    put_policy(POLICIES, 1);
    put_line("], \"tries\": [");
    script_tries();
    for (int i = 0; i < n_tries; i++) put_trie(i);
    put_line("], \"trie_steps\": [");
    for (int i = 0; i < n_trie_steps; i++) put_trie_step(&trie_steps[i], i + 1 == n_trie_steps);
    put_line("]}");
}

int main(int argc, char **argv)
{
    if (!CHECK(argc == 2)) return check_summary();
    if (strcmp(argv[1], "--write") != 0) {
        file_name = argv[1];
        file = fopen(file_name, "rb");
        if (!CHECK(file != NULL)) return check_summary();
    }
    put_file();
    for (int i = 0; i < SHOAL_REFUSALS; i++)
        if (!CHECK(seen[i] > 0))
            fprintf(stderr, "no step is refused by %s\n", shoal_refusal_name((shoal_refusal)i));
    if (file_name == NULL) return check_failed > 0;
    CHECK(fgetc(file) == EOF);
    fclose(file);
    return check_summary();
}
