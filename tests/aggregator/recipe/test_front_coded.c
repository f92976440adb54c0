// SPDX-License-Identifier: Apache-2.0
// Lists of words as one string, there and back; recipes that carry them, which are the same recipe
// as with arrays; the cells that words lie in, by whole characters, and what cells are called; what
// a device does not report.
#include "agg_test.h"

#include "dictionary.h"
#include "domain_dictionary.h"
#include "event.h"
#include "front_coded.h"
#include "item_label.h"
#include "json_walk.h"

static agg_text text_of(const char *text)
{
    return (agg_text){text, strlen(text)};
}

// ---- the strings ----

static void assert_texts(const agg_texts *texts, const char *const *wanted, size_t n)
{
    assert_int_equal(texts->n, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(texts->texts[i].len, strlen(wanted[i]));
        assert_memory_equal(texts->texts[i].bytes, wanted[i], strlen(wanted[i]));
    }
}

static void decodes(void **state)
{
    static const struct {
        const char *coded, *wanted[4];
        size_t n;
    } rows[] = {
        {"0cat 3s 1ow", {"cat", "cats", "cow"}, 3},
        {"0", {""}, 1},
        {"0cat 0", {"cat", ""}, 2},
        {"0cats 3", {"cats", "cat"}, 2},
        {"0cö 1ö 2x 0é", {"cö", "cö", "cöx", "é"}, 4}, // a shared character is two bytes
        {"0日本 1光 0日", {"日本", "日光", "日"}, 3},
        {"00 11", {"0", "01"}, 2},
    };
    agg_texts texts;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_ok(agg_front_decode(&texts, &error, "list", text_of(rows[i].coded)));
        assert_texts(&texts, rows[i].wanted, rows[i].n);
        agg_texts_release(&texts);
    }
    // c is twelve
    const char *const twelve[] = {"abcdefghijkl", "abcdefghijkl"};
    assert_ok(agg_front_decode(&texts, &error, "list", text_of("0abcdefghijkl c")));
    assert_texts(&texts, twelve, 2);
    agg_texts_release(&texts);
}

static void refuses(void **state)
{
    static const struct {
        const char *coded, *says;
        agg_err err;
    } rows[] = {
        {"", "list holds no entry", SHOAL_ERR_MISSING_FIELD},
        {" 0a", "list must be entries with one space", SHOAL_ERR_TYPE},
        {"0a ", "list ends with a space", SHOAL_ERR_TYPE},
        {"0a  0b", "list must be entries with one space", SHOAL_ERR_TYPE},
        {"-a", "list must be entries with one space", SHOAL_ERR_TYPE},
        {"öa", "list must be entries with one space", SHOAL_ERR_TYPE},
        {"1a", "list shares more characters", SHOAL_ERR_TYPE},
        {"0ab 3c", "list shares more characters", SHOAL_ERR_TYPE},
        {"0ö 2c", "list shares more characters", SHOAL_ERR_TYPE}, // which is one, of two bytes
        {"0a Z", "list shares more characters", SHOAL_ERR_TYPE},
    };
    agg_texts texts;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        agg_error error = {SHOAL_OK, 0, ""};
        assert_err(agg_front_decode(&texts, &error, "list", text_of(rows[i].coded)), rows[i].err);
        if (strncmp(error.text, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("%s: %s", rows[i].coded, error.text);
    }
}

// An entry of 256 bytes has room, 257 have none: written whole, or shared and more.
static void long_entries(void **state)
{
    char coded[600];
    agg_texts texts;
    agg_error error;
    (void)state;
    for (int len = 256; len <= 257; len++) {
        int used = snprintf(coded, sizeof coded, "0%0*d", len, 0);
        agg_err err = agg_front_decode(&texts, &error, "list", (agg_text){coded, (size_t)used});
        assert_err(err, len == 256 ? SHOAL_OK : SHOAL_ERR_TYPE);
        if (err == SHOAL_OK) agg_texts_release(&texts);
        used = snprintf(coded, sizeof coded, "0%0256d Z%0*d", 0, len - 61, 0);
        err = agg_front_decode(&texts, &error, "list", (agg_text){coded, (size_t)used});
        assert_err(err, len == 256 ? SHOAL_OK : SHOAL_ERR_TYPE);
        if (err == SHOAL_OK) agg_texts_release(&texts);
    }
}

static void encodes(void **state)
{
    static const char *const words[] = {"cat", "cats", "cow", "", "ca", "caé", "caè"};
    agg_text texts[7], bad[] = {{"a b", 3}};
    char *coded = NULL, many[100];
    size_t len = 0;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < 7; i++) texts[i] = text_of(words[i]);
    assert_ok(agg_front_encode(&coded, &len, &error, texts, 7));
    assert_string_equal(coded, "0cat 3s 1ow 0 0ca 2é 2è"); // é and è share a byte, and no character
    assert_int_equal(len, strlen(coded));
    free(coded);
    assert_err(agg_front_encode(&coded, &len, &error, bad, 1), SHOAL_ERR_ARGUMENT);
    assert_err(agg_front_encode(&coded, &len, &error, texts, 0), SHOAL_ERR_ARGUMENT);
    // 61 characters are the most that are shared
    memset(many, 'm', sizeof many);
    for (size_t i = 0; i < 3; i++) texts[i] = (agg_text){many, 60 + i};
    texts[3] = (agg_text){many, 63};
    assert_ok(agg_front_encode(&coded, &len, &error, texts, 4));
    assert_int_equal(coded[61], ' ');
    assert_string_equal(coded + 62, "Ym Zm Zmm");
    free(coded);
}

static void comes_back(void **state)
{
    static const char *const letters[] = {"a", "b", "é", "ж", "日", "𝒳", "0", "Z"};
    uint64_t draw = 7;
    (void)state;
    for (int list = 0; list < 200; list++) {
        char words[40][80], *coded = NULL;
        agg_text texts[40];
        agg_texts back;
        agg_error error;
        size_t n = 1 + (size_t)list % 40, len = 0;
        for (size_t i = 0; i < n; i++) {
            size_t used = 0;
            for (uint32_t j = (uint32_t)(draw >> 33) % 18; j > 0; j--) {
                draw = draw * 6364136223846793005u + 1442695040888963407u;
                const char *letter = letters[(draw >> 40) % (list % 2 == 0 ? 8 : 3)];
                memcpy(words[i] + used, letter, strlen(letter));
                used += strlen(letter);
            }
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            texts[i] = (agg_text){words[i], used};
        }
        assert_ok(agg_front_encode(&coded, &len, &error, texts, n));
        assert_ok(agg_front_decode(&back, &error, "list", (agg_text){coded, len}));
        assert_int_equal(back.n, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(agg_text_compare(back.texts[i], texts[i]), 0);
        agg_texts_release(&back);
        free(coded);
    }
}

static void rows_of_characters(void **state)
{
    const char *const wanted[] = {"a", "ö", "日", "𝒳", " "};
    agg_texts texts;
    agg_error error;
    (void)state;
    assert_ok(agg_characters_split(&texts, &error, "row", text_of("aö日𝒳 ")));
    assert_texts(&texts, wanted, 5);
    agg_texts_release(&texts);
    assert_err(agg_characters_split(&texts, &error, "row", text_of("")), SHOAL_ERR_MISSING_FIELD);
    assert_int_equal(agg_characters_size(text_of("ö日x"), 2), 5);
    assert_int_equal(agg_characters_size(text_of("ö日x"), 0), 0);
    assert_true(agg_characters_size(text_of("ö日x"), 4) == SIZE_MAX);
}

// ---- recipes ----

#define TRIE(starts, characters, more, parameters)                                                 \
    "{\"recipe\":\"t\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"encoding\":[{"   \
    "\"field\":\"word\","                                                                          \
    "\"starts\":" starts ",\"characters\":" characters more                                        \
    "}],\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":4,"                                     \
    "\"contributions\":2,\"sampler\":\"random\",\"depth\":15,\"max_prefixes\":300" parameters      \
    "},\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}"
#define KNOWN ",\"known\":\"0cobra 0cold 3t\""

static void one_recipe(void **state)
{
    agg_recipe arrays, strings;
    (void)state;
    read_recipe(&arrays, TRIE("[\"ab\",\"cö\"]", "[\"a\",\"ö\"]", "",
                              ",\"known\":[\"cobra\",\"cold\",\"colt\"]"));
    read_recipe(&strings, TRIE("\"0ab 0cö\"", "\"aö\"", "", KNOWN));
    assert_string_equal(arrays.hash_hex, strings.hash_hex);
    assert_int_equal(strings.known.n, 3);
    assert_int_equal(agg_list_find(&strings.known, text_of("colt")), 2);
    assert_int_equal(agg_list_find(&strings.lists[0][SHOAL_LIST_STARTS], text_of("cö")), 1);
    assert_int_equal(agg_list_find(&strings.lists[0][SHOAL_LIST_CHARACTERS], text_of("ö")), 1);
    agg_recipe_release(&strings);
    read_recipe(&strings, TRIE("\"0ab 0cö\"", "\"öa\"", "", KNOWN)); // in another order
    assert_string_not_equal(arrays.hash_hex, strings.hash_hex);
    agg_recipe_release(&arrays);
    agg_recipe_release(&strings);
}

static void bad_recipes(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {TRIE("\"\"", "\"a\"", "", ""), "x: encoding[0].starts holds no entry"},
        {TRIE("\"0ab 3c\"", "\"a\"", "", ""), "x: encoding[0].starts shares more"},
        {TRIE("\"0ab 2\"", "\"a\"", "", ""),
         "x: encoding[0].starts holds one value twice (entries 1 and 2)"},
        {TRIE("\"0ab 1\"", "\"a\"", "", ""),
         "x: encoding[0].starts holds starts of different lengths"},
        {TRIE("\"0ab\"", "\"\"", "", ""), "x: encoding[0].characters holds no character"},
        {TRIE("\"0ab\"", "\"aba\"", "", ""),
         "x: encoding[0].characters holds one value twice (entries 1 and 3)"},
        {TRIE("\"0ab\"", "\"a b\"", "", ""),
         "x: encoding[0].characters holds what is not one printing"},
        {TRIE("\"0ab\"", "\"a\"", "", ",\"known\":\"-cat\""),
         "x: parameters.known must be entries"},
        {TRIE("\"0ab\"", "\"a\"", "", ",\"known\":\"0cat 3\""),
         "x: parameters.known holds one value twice"},
        {TRIE("\"0ab\"", "\"a\"", "", ",\"known\":\"0\""),
         "x: parameters.known holds a word that is empty"},
        {TRIE("\"0ab\"", "\"a\"", ",\"values\":\"a\"", ""), "x: encoding[0].values"},
        {TRIE("\"0ab\"", "\"a\"", ",\"tokens\":\"a\"", ""), "x: encoding[0].tokens"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        agg_recipe recipe;
        agg_error error = {SHOAL_OK, 0, ""};
        assert_true(agg_recipe_from_bytes(&recipe, &error, "x", rows[i].text,
                                          strlen(rows[i].text)) != SHOAL_OK);
        if (strncmp(error.text, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("%zu: %s", i, error.text);
        assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
    }
}

// ---- cells ----

static void assert_cell(const agg_recipe *recipe, const char *word, const char *wanted,
                        int is_reported)
{
    char label[AGG_CELL_LABEL_MAX], text[128];
    uint64_t item = 99, of_event = 98;
    int matches = agg_recipe_word_item(&item, recipe, text_of(word));
    snprintf(text, sizeof text, "{\"word\":\"%s\",\"other\":1}", word);
    cJSON *event = agg_json_parse(NULL, text, strlen(text));
    assert_int_equal(agg_recipe_event_item(&of_event, recipe, event), matches);
    cJSON_Delete(event);
    assert_int_equal(item, of_event);
    agg_recipe_label(label, sizeof label, recipe, item);
    if (strcmp(label, wanted) != 0 || matches != is_reported)
        fail_msg("%s: %s, %d", word, label, matches);
}

static void cells_of_words(void **state)
{
    agg_recipe recipe;
    uint64_t item = 99;
    (void)state;
    read_recipe(&recipe,
                TRIE("\"0ab 0cö\"", "\"aö日\"", ",\"step\":2", ",\"known\":\"0abaa 2öö\""));
    assert_int_equal(shoal_recipe_part(recipe.recipe, 0)->size, 1 + 2 * (2 + 3 + 9));
    assert_cell(&recipe, "ab", "ab<end>", 1);
    assert_cell(&recipe, "aba", "aba<end>", 1);
    assert_cell(&recipe, "ab日", "ab日<end>", 1);
    assert_cell(&recipe, "abö日", "abö日", 1); // whether it ends here is for the next round
    assert_cell(&recipe, "abö日x", "abö日", 1);
    assert_cell(&recipe, "cö日日日日", "cö日日", 1);
    assert_cell(&recipe, "cöa", "cöa<end>", 1);
    assert_cell(&recipe, "abx", "ab<oov>", 0);
    assert_cell(&recipe, "abax", "ab<oov>", 0);
    assert_cell(&recipe, "abaö", "abaö", 1);
    assert_cell(&recipe, "abaa", "abaa", 0); // known, though its cell is listed
    assert_cell(&recipe, "abaab", "abaa", 1);
    assert_cell(&recipe, "aböö", "aböö", 0);
    assert_cell(&recipe, "a", "<oov>", 0);
    assert_cell(&recipe, "cobra", "<oov>", 0);
    assert_cell(&recipe, "c\xcc\x88o", "<oov>", 0); // o and a mark are two characters
    assert_cell(&recipe, "", "<oov>", 0);
    cJSON *event = agg_json_parse(NULL, "{\"word\":3}", 10);
    assert_int_equal(agg_recipe_event_item(&item, &recipe, event), 0);
    assert_int_equal(item, 0);
    cJSON_Delete(event);
    agg_recipe_release(&recipe);
    // the first round: one empty start, one character a step
    read_recipe(&recipe, TRIE("\"0\"", "\"aö\"", "", ""));
    assert_int_equal(shoal_recipe_part(recipe.recipe, 0)->size, 5);
    assert_cell(&recipe, "öl", "ö", 1);
    assert_cell(&recipe, "a", "a", 1);
    assert_cell(&recipe, "x", "<oov>", 0);
    agg_recipe_release(&recipe);
}

// Each cell's label is another, and buckets and labels agree with the dictionary of the recipe.
static void labels_differ(void **state)
{
    agg_recipe recipe;
    agg_dictionary cells;
    agg_error error;
    char label[AGG_CELL_LABEL_MAX];
    (void)state;
    read_recipe(&recipe, TRIE("\"0ab 0cö\"", "\"aö日\"", ",\"step\":3", ""));
    assert_int_equal(shoal_recipe_part(recipe.recipe, 0)->size, 1 + 2 * (2 + 3 + 9 + 27));
    assert_ok(agg_dictionary_of_recipe(&cells, &error, &recipe));
    for (size_t i = 0; i < cells.n; i++) {
        assert_int_equal(agg_recipe_label(label, sizeof label, &recipe, i), cells.values[i].len);
        assert_memory_equal(label, cells.values[i].bytes, cells.values[i].len);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(agg_text_compare(cells.values[i], cells.values[j]), 0);
    }
    assert_memory_equal(cells.values[1].bytes, "ab<end>", 7);
    assert_memory_equal(cells.values[3].bytes, "aba<end>", 8);
    assert_memory_equal(cells.values[cells.n - 1].bytes, "cö日日日", cells.values[cells.n - 1].len);
    agg_dictionary_release(&cells);
    agg_recipe_release(&recipe);
}

// ---- counts ----

static void counts_of_words(void **state)
{
    static const char words[] = "ab\t4\nabaö\t3\nabaa\t9\nzz\t1\n{\t2\n";
    static const char events[] =
        "{\"word\":\"ab\"}\t4\n{\"word\":\"abaö\"}\t3\n{\"word\":\"abaa\"}\t9\n"
        "{\"word\":\"zz\"}\t1\n{\"word\":\"{\"}\t2\n";
    agg_recipe recipe;
    agg_dictionary a, b;
    agg_error error;
    (void)state;
    read_recipe(&recipe, TRIE("\"0ab\"", "\"aö\"", ",\"step\":2", ",\"known\":\"0abaa\""));
    assert_ok(
        agg_dictionary_parse(&a, &error, &recipe, "words", words, strlen(words), true, NULL, NULL));
    assert_ok(agg_dictionary_parse(&b, &error, &recipe, "events", events, strlen(events), true,
                                   NULL, NULL));
    assert_int_equal(a.n, 5);
    assert_int_equal(b.n, 5);
    assert_int_equal(a.total, b.total);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(a.items[i], b.items[i]);
        assert_int_equal(a.kinds[i], b.kinds[i]);
        assert_int_equal(a.kinds[i], AGG_EVENT_IN_PART | (i < 2 ? AGG_EVENT_MATCHES : 0));
    }
    agg_dictionary_release(&a);
    agg_dictionary_release(&b);
    assert_err(agg_dictionary_parse(&a, &error, &recipe, "x", "{\"word\t1\n", 9, true, NULL, NULL),
               SHOAL_ERR_TYPE);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes),         cmocka_unit_test(refuses),
        cmocka_unit_test(long_entries),    cmocka_unit_test(encodes),
        cmocka_unit_test(comes_back),      cmocka_unit_test(rows_of_characters),
        cmocka_unit_test(one_recipe),      cmocka_unit_test(bad_recipes),
        cmocka_unit_test(cells_of_words),  cmocka_unit_test(labels_differ),
        cmocka_unit_test(counts_of_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
