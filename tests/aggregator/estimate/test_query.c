// SPDX-License-Identifier: Apache-2.0
// Recipes with an encoding: Figure 4 of apple-2022 as a recipe, cell by cell; events and the cells
// that they lie in; parts; lists of ten thousand entries; what is refused, under its own path;
// policies.
#include "agg_test.h"
#include "recipe.h"

#include "dictionary.h"
#include "domain_dictionary.h"
#include "event.h"
#include "item_label.h"
#include "json_walk.h"
#include "policy_json.h"

#define HEAD                                                                                       \
    "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"mechanism\":"    \
    "\"onehot-symmetric\","                                                                        \
    "\"parameters\":{\"epsilon\":4},\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\""
#define AGE "{\"field\":\"age\",\"boundaries\":[20,30,40,50,60,70,80]}"
#define PHRASE                                                                                     \
    "{\"field\":\"ngrams\",\"prefixes\":[\"hello world\",\"i went\",\"i got\"],"                   \
    "\"tokens\":[\"a\",\"and\",\"got\",\"hello\",\"home\",\"i\",\"school\",\"went\",\"world\"]}"
#define FIGURE_4 HEAD ",\"encoding\":[" AGE "," PHRASE "]}"
#define SPLIT                                                                                      \
    ",\"split_by\":[{\"field\":\"locale\",\"values\":[\"de\",\"en\"]},{\"field\":\"os\","          \
    "\"values\":[\"x\"]}]"

static int find_event(char *label, size_t cap, const agg_recipe *recipe, const char *text)
{
    uint64_t item = 0;
    cJSON *event = agg_json_parse(NULL, text, strlen(text));
    assert_true(cJSON_IsObject(event));
    int matches = agg_recipe_event_item(&item, recipe, event);
    assert_true(agg_recipe_label(label, cap, recipe, item) < cap);
    cJSON_Delete(event);
    return matches;
}

// The paper's list: every bucket of age with every bucket of n-grams, in order, 8 times 34.
static void figure_4_has_272_cells(void **state)
{
    static const char *const ages[] = {"<oov>",   "[20,30)", "[30,40)", "[40,50)",
                                       "[50,60)", "[60,70)", "[70,80)", "[80,inf)"};
    static const char *const prefixes[] = {"hello world", "i went", "i got"};
    static const char *const next[] = {"<end>", "<oov>", "a",      "and",  "got",  "hello",
                                       "home",  "i",     "school", "went", "world"};
    agg_recipe recipe;
    agg_dictionary cells;
    agg_error error;
    char wanted[256], label[AGG_CELL_LABEL_MAX];
    (void)state;
    read_recipe(&recipe, FIGURE_4);
    assert_int_equal(recipe.recipe->parts[0].size, 272);
    assert_ok(agg_dictionary_of_recipe(&cells, &error, &recipe));
    assert_int_equal(cells.n, 272);
    for (uint32_t i = 0; i < 272; i++) {
        uint32_t bucket = i % 34;
        if (bucket == 0)
            snprintf(wanted, sizeof wanted, "%s | <oov>", ages[i / 34]);
        else
            snprintf(wanted, sizeof wanted, "%s | %s %s", ages[i / 34], prefixes[(bucket - 1) / 11],
                     next[(bucket - 1) % 11]);
        assert_int_equal(agg_recipe_label(label, sizeof label, &recipe, i), strlen(wanted));
        assert_string_equal(label, wanted);
        assert_int_equal(cells.values[i].len, strlen(wanted));
        assert_memory_equal(cells.values[i].bytes, wanted, strlen(wanted));
        assert_int_equal(cells.items[i], i);
    }
    agg_dictionary_release(&cells);
    agg_recipe_release(&recipe);
}

static void one_field_has_its_buckets(void **state)
{
    agg_recipe recipe;
    agg_dictionary buckets;
    agg_error error;
    (void)state;
    read_recipe(&recipe, FIGURE_4);
    assert_ok(agg_dictionary_of_field(&buckets, &error, &recipe, 0));
    assert_int_equal(buckets.n, 8);
    assert_memory_equal(buckets.values[7].bytes, "[80,inf)", buckets.values[7].len);
    agg_dictionary_release(&buckets);
    assert_ok(agg_dictionary_of_field(&buckets, &error, &recipe, 1));
    assert_int_equal(buckets.n, 34);
    assert_memory_equal(buckets.values[33].bytes, "i got world", buckets.values[33].len);
    agg_dictionary_release(&buckets);
    agg_recipe_release(&recipe);
}

// A label that does not fit is cut, and ends in a NUL.
static void labels_are_cut(void **state)
{
    agg_recipe recipe;
    char whole[64], cut[64];
    (void)state;
    read_recipe(&recipe, FIGURE_4);
    size_t len = agg_recipe_label(whole, sizeof whole, &recipe, 271);
    assert_string_equal(whole, "[80,inf) | i got world");
    for (size_t cap = 1; cap <= len; cap++) {
        memset(cut, 'x', sizeof cut);
        assert_int_equal(agg_recipe_label(cut, cap, &recipe, 271), len);
        assert_int_equal(strlen(cut), cap - 1);
        assert_memory_equal(cut, whole, cap - 1);
        assert_int_equal(cut[cap], 'x');
    }
    assert_int_equal(agg_recipe_label(NULL, 0, &recipe, 271), len);
    agg_recipe_release(&recipe);
}

typedef struct event_case {
    const char *event;
    int matches;
    const char *label;
} event_case;

static void events_lie_in_cells(void **state)
{
    static const event_case table[] = {
        {"{\"ngrams\":\"i went home\",\"age\":34}", 1, "[30,40) | i went home"},
        {"{\"age\":34,\"ngrams\":\"i went home again\"}", 1, "[30,40) | i went home"},
        {"{\"ngrams\":\"i went\",\"age\":20}", 1, "[20,30) | i went <end>"},
        {"{\"ngrams\":\"i went away\",\"age\":80}", 1, "[80,inf) | i went <oov>"},
        {"{\"ngrams\":\" hello\\t\\u00a0world\\u3000a \",\"age\":19.9999994}", 1,
         "<oov> | hello world a"},
        {"{\"ngrams\":\"i got got\",\"age\":19.9999995}", 1, "[20,30) | i got got"},
        {"{\"ngrams\":\"i got a\",\"age\":1e999}", 1, "<oov> | i got a"},
        {"{\"ngrams\":\"i got a\",\"age\":1e300}", 1, "[80,inf) | i got a"},
        {"{\"ngrams\":\"i got a\",\"age\":-1e300}", 1, "<oov> | i got a"},
        {"{\"ngrams\":\"i got a\",\"age\":\"34\"}", 1, "<oov> | i got a"},
        {"{\"ngrams\":\"i got a\"}", 1, "<oov> | i got a"},
        {"{\"ngrams\":\"i wentx home\",\"age\":34}", 0, "[30,40) | <oov>"},
        {"{\"ngrams\":\"went home\",\"age\":34}", 0, "[30,40) | <oov>"},
        {"{\"ngrams\":\"i\",\"age\":34}", 0, "[30,40) | <oov>"},
        {"{\"ngrams\":\"\",\"age\":34}", 0, "[30,40) | <oov>"},
        {"{\"ngrams\":7,\"age\":34}", 0, "[30,40) | <oov>"},
        {"{\"NGRAMS\":\"i went home\",\"age\":34}", 0, "[30,40) | <oov>"},
        {"{}", 0, "<oov> | <oov>"},
    };
    agg_recipe recipe;
    char label[AGG_CELL_LABEL_MAX];
    (void)state;
    read_recipe(&recipe, FIGURE_4);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        int matches = find_event(label, sizeof label, &recipe, table[i].event);
        if (matches != table[i].matches || strcmp(label, table[i].label) != 0)
            fail_msg("event %zu: %d, %s", i, matches, label);
    }
    agg_recipe_release(&recipe);
}

// A token of more bytes than an entry can have is none of the list; so is a prefix.
static void long_tokens_are_not_listed(void **state)
{
    agg_recipe recipe;
    char event[2048], token[600], label[AGG_CELL_LABEL_MAX];
    (void)state;
    read_recipe(&recipe, FIGURE_4);
    memset(token, 'i', sizeof token - 1);
    token[sizeof token - 1] = '\0';
    snprintf(event, sizeof event, "{\"ngrams\":\"i went %s\"}", token);
    assert_true(find_event(label, sizeof label, &recipe, event));
    assert_string_equal(label, "<oov> | i went <oov>");
    snprintf(event, sizeof event, "{\"ngrams\":\"i %s home\"}", token);
    assert_false(find_event(label, sizeof label, &recipe, event));
    agg_recipe_release(&recipe);
}

// The empty prefix asks for the first token; a list takes a whole value.
static void first_tokens_and_values(void **state)
{
    agg_recipe recipe;
    char label[AGG_CELL_LABEL_MAX];
    (void)state;
    read_recipe(&recipe, HEAD
                ",\"encoding\":[{\"field\":\"w\",\"prefixes\":[\"\"],\"tokens\":[\"i\",\"you\"]},"
                "{\"field\":\"app\",\"values\":[\"mail\",\"the notes\"]}]}");
    assert_int_equal(recipe.recipe->parts[0].size, 15);
    assert_true(
        find_event(label, sizeof label, &recipe, "{\"w\":\"you went\",\"app\":\"the notes\"}"));
    assert_string_equal(label, "you | the notes");
    assert_true(find_event(label, sizeof label, &recipe, "{\"w\":\"\",\"app\":\"notes\"}"));
    assert_string_equal(label, "<end> | <oov>");
    assert_true(find_event(label, sizeof label, &recipe, "{\"w\":\"we\",\"app\":\"mail\"}"));
    assert_string_equal(label, "<oov> | mail");
    agg_recipe_label(label, sizeof label, &recipe, 1);
    assert_string_equal(label, "<none> | mail"); // no event that matches: a label of its own
    agg_recipe_release(&recipe);
}

static int is_part(const agg_recipe *recipe, const char *text)
{
    cJSON *event = agg_json_parse(NULL, text, strlen(text));
    int is = agg_recipe_event_is_part(recipe, event);
    cJSON_Delete(event);
    return is;
}

static void parts_take_their_events(void **state)
{
    agg_recipe whole, part, other;
    (void)state;
    read_recipe(&whole, HEAD SPLIT ",\"encoding\":[" AGE "]}");
    read_recipe(&part, HEAD SPLIT ",\"part\":[\"en\",\"x\"],\"encoding\":[" AGE "]}");
    read_recipe(&other, HEAD ",\"part\":[\"other\",\"other\"],\"encoding\":[" AGE "]" SPLIT "}");
    assert_string_equal(part.id, "r/en/x");
    assert_memory_equal(part.recipe->query_hash, whole.recipe->query_hash, 32);
    assert_string_not_equal(part.hash_hex, whole.hash_hex);
    assert_true(is_part(&whole, "{}"));
    assert_true(is_part(&part, "{\"locale\":\"en\",\"os\":\"x\"}"));
    assert_false(is_part(&part, "{\"locale\":\"de\",\"os\":\"x\"}"));
    assert_false(is_part(&part, "{\"locale\":\"en\"}"));
    assert_true(is_part(&other, "{\"locale\":\"fr\",\"os\":7}"));
    assert_true(is_part(&other, "{}"));
    assert_true(is_part(&other, "{\"locale\":\"other\"}"));
    assert_false(is_part(&other, "{\"locale\":\"de\"}"));
    agg_recipe_release(&whole);
    agg_recipe_release(&part);
    agg_recipe_release(&other);
}

// Ten thousand prefixes of twenty bytes, in no order, all found.
static void long_lists_fit(void **state)
{
    static char text[AGG_RECIPE_FILE_MAX];
    char label[AGG_CELL_LABEL_MAX], event[128];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "%s,\"encoding\":[{\"field\":\"w\",\"prefixes\":[", HEAD);
    agg_recipe recipe;
    (void)state;
    for (unsigned i = 0; i < 10000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\"prefixnumber %07u\"",
                                i > 0 ? "," : "", i * 7919u % 10000u);
    snprintf(text + len, sizeof text - len, "],\"tokens\":[\"a\",\"b\"]}]}");
    read_recipe(&recipe, text);
    assert_int_equal(recipe.recipe->parts[0].size, 40001);
    for (unsigned i = 0; i < 10000; i++) {
        char wanted[64];
        snprintf(event, sizeof event, "{\"w\":\"prefixnumber %07u b\"}", i);
        snprintf(wanted, sizeof wanted, "prefixnumber %07u b", i);
        assert_true(find_event(label, sizeof label, &recipe, event));
        assert_string_equal(label, wanted);
    }
    agg_recipe_release(&recipe);
}

typedef struct bad_text {
    const char *text;
    agg_err err;
    const char *says;
} bad_text;

static void bad_queries_are_refused(void **state)
{
    static const bad_text table[] = {
        {HEAD ",\"encoding\":[" AGE ",{\"field\":\"p\",\"tokens\":[\"a\"]}]}",
         SHOAL_ERR_MISSING_FIELD, "encoding needs"},
        {HEAD ",\"encoding\":[" AGE ",{\"field\":\"p\",\"prefix\":[\"a\"]}]}",
         SHOAL_ERR_UNKNOWN_FIELD, "encoding[1].prefix "},
        {HEAD ",\"encoding\":[" AGE
              ",{\"field\":\"p\",\"prefixes\":[\"a\"],\"tokens\":[\"x y\"]}]}",
         SHOAL_ERR_TYPE, "encoding[1].tokens "},
        {HEAD ",\"encoding\":[" AGE ",{\"field\":\"p\",\"values\":[\"a\",\"b\",\"a\"]}]}",
         SHOAL_ERR_DUPLICATE, "encoding[1].values holds one value twice (entries 1 and 3)"},
        {HEAD ",\"encoding\":[" AGE
              ",{\"field\":\"p\",\"prefixes\":[\"a\",\"b c\"],\"tokens\":[\"x\"]}]}",
         SHOAL_ERR_RANGE, "encoding[1].prefixes "},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"values\":[]}]}", SHOAL_ERR_MISSING_FIELD,
         "encoding[0].values holds no value"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"values\":[\"a\",1]}]}", SHOAL_ERR_TYPE,
         "encoding[0].values must hold strings only"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"values\":[1,2]}]}", SHOAL_ERR_TYPE,
         "encoding[0].values must hold strings only"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"boundaries\":[1,\"2\"]}]}", SHOAL_ERR_TYPE,
         "encoding[0].boundaries must hold numbers only"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"boundaries\":[\"1\"]}]}", SHOAL_ERR_UNKNOWN_FIELD,
         "encoding[0].boundaries"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"boundaries\":[1,1]}]}", SHOAL_ERR_RANGE,
         "encoding[0].boundaries must rise"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"boundaries\":[0.0000001]}]}", SHOAL_ERR_RANGE,
         "encoding[0].boundaries must hold numbers of"},
        {HEAD ",\"encoding\":[{\"field\":\"p\",\"boundaries\":[true]}]}", SHOAL_ERR_TYPE,
         "encoding[0].boundaries must hold strings or numbers"},
        {HEAD ",\"encoding\":[{\"field\":\"P\",\"boundaries\":[1]}]}", SHOAL_ERR_TYPE,
         "encoding[0].field "},
        {HEAD ",\"encoding\":[" AGE "," AGE "]}", SHOAL_ERR_DUPLICATE,
         "encoding holds one field twice"},
        {HEAD ",\"encoding\":[]}", SHOAL_ERR_MISSING_FIELD, "encoding holds no value"},
        {HEAD ",\"encoding\":[{}]}", SHOAL_ERR_UNKNOWN_FIELD, "encoding[0] is not"},
        {HEAD ",\"encoding\":[" AGE ",{}]}", SHOAL_ERR_UNKNOWN_FIELD, "encoding[1] is not"},
        {HEAD ",\"encoding\":[" AGE ",7]}", SHOAL_ERR_TYPE, "encoding must hold objects only"},
        {HEAD ",\"encoding\":{\"0\":{\"field\":\"age\",\"boundaries\":[1]}}}",
         SHOAL_ERR_UNKNOWN_FIELD, "encoding.0 is not"},
        {HEAD ",\"encoding\":{\"field\":\"age\",\"boundaries\":[1]}}", SHOAL_ERR_UNKNOWN_FIELD,
         "encoding."},
        {HEAD ",\"encoding\":\"age\"}", SHOAL_ERR_TYPE, "encoding must be a list"},
        {HEAD "}", SHOAL_ERR_MISSING_FIELD, "encoding "},
        {HEAD ",\"encoding\":[" AGE "],\"split_by\":[\"locale\"]}", SHOAL_ERR_UNKNOWN_FIELD,
         "split_by is not a list"},
        {HEAD ",\"encoding\":[" AGE "],\"split_by\":[{\"field\":\"l\",\"values\":[\"A\"]}]}",
         SHOAL_ERR_TYPE, "split_by[0].values "},
        {HEAD ",\"encoding\":[" AGE "],\"split_by\":[{\"field\":\"l\",\"values\":[\"a\",\"a\"]}]}",
         SHOAL_ERR_DUPLICATE, "split_by[0].values holds"},
        {HEAD SPLIT ",\"encoding\":[" AGE "],\"part\":[\"de\"]}", SHOAL_ERR_RANGE,
         "part has one entry for each"},
        {HEAD SPLIT ",\"encoding\":[" AGE "],\"part\":[\"de\",\"fr\"]}", SHOAL_ERR_RANGE,
         "part[1] is neither"},
        {HEAD SPLIT ",\"encoding\":[" AGE "],\"part\":[\"d\",\"x\"]}", SHOAL_ERR_RANGE,
         "part[0] is neither"},
        {HEAD ",\"encoding\":[" AGE "],\"part\":[]}", SHOAL_ERR_MISSING_FIELD,
         "part holds no value"},
        {HEAD ",\"encoding\":[" AGE "],\"part\":[\"de\"]}", SHOAL_ERR_RANGE, "part has one entry"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        agg_recipe recipe;
        agg_error error = {SHOAL_OK, 0, ""};
        agg_err err =
            agg_recipe_from_bytes(&recipe, &error, "q.json", table[i].text, strlen(table[i].text));
        if (err != table[i].err || strstr(error.text, table[i].says) == NULL)
            fail_msg("case %zu: %d, %s", i, (int)err, error.text);
        assert_int_equal(strncmp(error.text, "q.json: ", 8), 0);
        assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
    }
}

#define KEY "\"keys\":[\"" AGG_TEST_SEED "\"]"
#define STREAM                                                                                     \
    "\"streams\":[{\"stream\":\"s\",\"retention_days\":14,\"fields\":[{\"field\":\"age\","         \
    "\"type\":\"number\"}]}]"
#define ANALYSIS(budget)                                                                           \
    "\"analyses\":[{\"analysis\":\"a\",\"stream\":\"s\",\"mechanisms\":[\"grr\",\"subset\"],"      \
    "\"budget\":{" budget "},"                                                                     \
    "\"fields\":[{\"field\":\"age\",\"local_epsilon\":4,\"epsilon\":1,\"reports\":2}]}]"
#define BUDGET "\"epsilon\":1,\"delta\":\"1e-7\",\"reports\":3"

static void policies_are_read(void **state)
{
    static const char text[] = "{\"policy\":\"p\"," KEY "," STREAM "," ANALYSIS(BUDGET) "}";
    agg_policy policy, again;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    if (agg_policy_from_bytes(&policy, &error, "p.json", text, strlen(text)) != SHOAL_OK)
        fail_msg("%s", error.text);
    assert_string_equal(policy.id, "p");
    assert_int_equal(policy.policy.analyses[0].budget.eps_micro, 1000000);
    assert_int_equal(policy.policy.analyses[0].mechanisms, 1u << 5 | 1u << 6);
    assert_int_equal(policy.policy.analyses[0].fields[0].reports, 2);
    // order and white space are no part of it
    static const char moved[] =
        "{ " ANALYSIS(BUDGET) ",\n" STREAM ", " KEY ", \"policy\": \"p\" }\n";
    assert_ok(agg_policy_from_bytes(&again, &error, "p.json", moved, strlen(moved)));
    assert_string_equal(policy.hash_hex, again.hash_hex);
}

static void bad_policies_are_refused(void **state)
{
    static const bad_text table[] = {
        {"", AGG_ERR_JSON, "not JSON"},
        {"[]", SHOAL_ERR_TYPE, "object"},
        {"{\"policy\":\"p\"," KEY "," STREAM "," ANALYSIS(BUDGET) ",\"nope\":1}",
         SHOAL_ERR_UNKNOWN_FIELD, "nope"},
        {"{\"policy\":\"p\"," KEY "," STREAM
         "," ANALYSIS("\"epsilon\":17,\"delta\":\"1e-7\",\"reports\":3") "}",
         SHOAL_ERR_RANGE, "analyses[0].budget.epsilon"},
        {"{\"policy\":\"p\"," KEY "," STREAM "," ANALYSIS(BUDGET ",\"report\":1") "}",
         SHOAL_ERR_UNKNOWN_FIELD, "analyses[0].budget.report "},
        {"{\"policy\":\"p\"," KEY "," STREAM "," ANALYSIS(BUDGET ",\"reports\":1") "}",
         SHOAL_ERR_DUPLICATE, "analyses[0].budget.reports"},
        {"{\"policy\":\"p\",\"keys\":[\"00\"]," STREAM "," ANALYSIS(BUDGET) "}", SHOAL_ERR_TYPE,
         "keys"},
        {"{\"policy\":\"p\",\"keys\":[\"" AGG_TEST_SEED "\",\"" AGG_TEST_SEED "\"]," STREAM
         "," ANALYSIS(BUDGET) "}",
         SHOAL_ERR_DUPLICATE, "keys"},
        {"{\"policy\":\"p\",\"keys\":[1]," STREAM "," ANALYSIS(BUDGET) "}", SHOAL_ERR_TYPE,
         "keys must hold strings only"},
        {"{\"policy\":\"p\"," STREAM "," ANALYSIS(BUDGET) "}", SHOAL_ERR_MISSING_FIELD, "keys"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        agg_policy policy;
        agg_error error = {SHOAL_OK, 0, ""};
        agg_err err =
            agg_policy_from_bytes(&policy, &error, "p.json", table[i].text, strlen(table[i].text));
        if (err != table[i].err || strstr(error.text, table[i].says) == NULL)
            fail_msg("case %zu: %d, %s", i, (int)err, error.text);
        assert_int_equal(strncmp(error.text, "p.json: ", 8), 0);
        assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(figure_4_has_272_cells),
                                       cmocka_unit_test(one_field_has_its_buckets),
                                       cmocka_unit_test(labels_are_cut),
                                       cmocka_unit_test(events_lie_in_cells),
                                       cmocka_unit_test(long_tokens_are_not_listed),
                                       cmocka_unit_test(first_tokens_and_values),
                                       cmocka_unit_test(parts_take_their_events),
                                       cmocka_unit_test(long_lists_fit),
                                       cmocka_unit_test(bad_queries_are_refused),
                                       cmocka_unit_test(policies_are_read),
                                       cmocka_unit_test(bad_policies_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
