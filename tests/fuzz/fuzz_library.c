// SPDX-License-Identifier: Apache-2.0
// Property: whatever bytes a program hands to libshoal_aggregate, a call either succeeds or fails
// with a code and a sentence, and one that fails to add leaves the accumulator as it was. What was
// read is written back as the same bytes. Input: which call (1), then its bytes. The commands that
// are run write no files.
#include "fuzz.h"
#include "shoal_aggregate.h"

#define RECIPE                                                                                     \
    "{\"recipe\":\"l\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\",\"mechanism\":"      \
    "\"onehot-asymmetric\",\"parameters\":{\"epsilon\":2,\"values\":[\"one\",\"two\"]},"           \
    "\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}"

enum { RUN, RUN_HASH, READ_RECIPE, READ_SUM, ADD_BATCHES, ADD_REPORTS, ADD_RECORDS, ASK, CALLS };

static shoal_agg_recipe *list_recipe(void)
{
    static shoal_agg_recipe *recipe;
    if (recipe == NULL)
        PROPERTY(shoal_agg_recipe_from_json(&recipe, NULL, RECIPE, strlen(RECIPE), NULL) ==
                 SHOAL_AGG_OK);
    return recipe;
}

static void check_error(shoal_agg_code code, const shoal_agg_error *error)
{
    PROPERTY(code != SHOAL_AGG_MEMORY);
    if (code == SHOAL_AGG_OK) return;
    PROPERTY(error->code == code && error->text[0] != '\0');
    PROPERTY(memchr(error->text, 0, sizeof error->text) != NULL);
    PROPERTY(strcmp(shoal_agg_error_name(code), "unknown") != 0);
}

static void run_command(const char *command, const char *text)
{
    shoal_agg_error error = {0};
    shoal_agg_bytes out;
    const char *format = strlen(text) % 2 == 0 ? "json" : NULL;
    check_error(shoal_agg_run(NULL, command, text, format, &out, &error), &error);
    PROPERTY((out.data == NULL) == (out.len == 0));
    shoal_agg_bytes_free(&out);
}

static void read_recipe(const char *text, size_t len)
{
    shoal_agg_error error = {0};
    shoal_agg_recipe *recipe = NULL;
    shoal_agg_recipe_facts facts = {.size = sizeof facts};
    shoal_agg_code code = shoal_agg_recipe_from_json(&recipe, NULL, text, len, &error);
    check_error(code, &error);
    if (code != SHOAL_AGG_OK) return;
    PROPERTY(memcmp(shoal_agg_recipe_json(recipe), text, len) == 0);
    PROPERTY(strlen(shoal_agg_recipe_hash(recipe)) == 64);
    PROPERTY(shoal_agg_recipe_facts_of(&facts, recipe, NULL) == SHOAL_AGG_OK);
    for (uint64_t i = 0; i < 3; i++) {
        size_t value_len = 0;
        const char *value = shoal_agg_recipe_value(recipe, i, &value_len);
        PROPERTY(value == NULL || i < facts.n_values);
    }
    shoal_agg_recipe_free(recipe);
}

static void read_sum(const uint8_t *bytes, size_t len)
{
    shoal_agg_error error = {0};
    shoal_agg_accumulator *acc = NULL;
    shoal_agg_bytes out;
    shoal_agg_code code = shoal_agg_accumulator_from_bytes(&acc, list_recipe(), bytes, len, &error);
    check_error(code, &error);
    if (code != SHOAL_AGG_OK) return;
    PROPERTY(shoal_agg_accumulator_to_bytes(acc, &out, NULL) == SHOAL_AGG_OK);
    PROPERTY(out.len == len && memcmp(out.data, bytes, len) == 0);
    shoal_agg_bytes_free(&out);
    shoal_agg_accumulator_free(acc);
}

// Adds bytes twice to an accumulator of one record.
static void add(int call, const uint8_t *bytes, size_t len)
{
    static const uint8_t one[1] = {1}, claim[SHOAL_AGG_CLAIM] = {5};
    shoal_agg_accumulator *acc = NULL;
    shoal_agg_added added = {.size = sizeof added};
    shoal_agg_bytes before, after;
    PROPERTY(shoal_agg_accumulator_new(&acc, list_recipe(), NULL) == SHOAL_AGG_OK);
    PROPERTY(shoal_agg_accumulator_add_records(acc, one, 1, NULL, NULL) == SHOAL_AGG_OK);
    for (uint32_t turn = 0; turn < 3; turn++) {
        shoal_agg_error error = {0};
        uint64_t n = shoal_agg_accumulator_n(acc);
        PROPERTY(shoal_agg_accumulator_to_bytes(acc, &before, NULL) == SHOAL_AGG_OK);
        shoal_agg_code code =
            call == ADD_BATCHES
                ? shoal_agg_accumulator_add_batches(acc, bytes, len, turn == 2, &added, &error)
            : call == ADD_REPORTS ? shoal_agg_accumulator_add_reports(acc, (const char *)bytes, len,
                                                                      turn / 2.0, &added, &error)
                                  : shoal_agg_accumulator_add_records(
                                        acc, bytes, len, turn < 2 ? claim : NULL, &error);
        check_error(code, &error);
        if (code != SHOAL_AGG_OK) {
            PROPERTY(shoal_agg_accumulator_n(acc) == n);
            PROPERTY(shoal_agg_accumulator_to_bytes(acc, &after, NULL) == SHOAL_AGG_OK);
            PROPERTY(after.len == before.len && memcmp(after.data, before.data, after.len) == 0);
            shoal_agg_bytes_free(&after);
        } else if (call != ADD_RECORDS) {
            PROPERTY(shoal_agg_accumulator_n(acc) == n + added.records);
        }
        shoal_agg_bytes_free(&before);
    }
    shoal_agg_accumulator_free(acc);
}

// Asks for values, one a line, and for indices, eight bytes each.
static void ask(const uint8_t *bytes, size_t len)
{
    static const uint8_t records[4] = {1, 2, 3, 0};
    shoal_agg_error error = {0};
    shoal_agg_accumulator *acc = NULL;
    shoal_agg_estimate *estimate = NULL;
    shoal_agg_text values[9];
    uint64_t indices[9];
    size_t n = 0, n_indices = len / 8 < 9 ? len / 8 : 9;
    for (size_t at = 0; at < len && n < 9; n++) {
        const uint8_t *end = memchr(bytes + at, '\n', len - at);
        size_t size = end != NULL ? (size_t)(end - bytes) - at : len - at;
        values[n] = (shoal_agg_text){(const char *)bytes + at, size};
        at += size + 1;
    }
    memcpy(indices, bytes, 8 * n_indices);
    PROPERTY(shoal_agg_accumulator_new(&acc, list_recipe(), NULL) == SHOAL_AGG_OK);
    PROPERTY(shoal_agg_accumulator_add_records(acc, records, 4, NULL, NULL) == SHOAL_AGG_OK);
    check_error(shoal_agg_estimate_new(&estimate, acc, values, n, NULL, &error), &error);
    shoal_agg_estimate_free(estimate);
    estimate = NULL;
    check_error(shoal_agg_estimate_new_of_indices(&estimate, acc, indices, n_indices, NULL, &error),
                &error);
    shoal_agg_estimate_free(estimate);
    shoal_agg_accumulator_free(acc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0) return 0;
    // A copy of exactly this length, so that a sanitizer sees what is read behind it.
    char *text = malloc(len);
    PROPERTY(text != NULL);
    memcpy(text, data + 1, len - 1);
    text[len - 1] = '\0';
    uint8_t *bytes = malloc(len > 1 ? len - 1 : 1);
    PROPERTY(bytes != NULL);
    memcpy(bytes, data + 1, len - 1);
    switch (data[0] % CALLS) {
    case RUN: run_command("recipe check", text); break;
    case RUN_HASH: run_command("recipe hash", text); break;
    case READ_RECIPE: read_recipe((const char *)bytes, len - 1); break;
    case READ_SUM: read_sum(bytes, len - 1); break;
    case ASK: ask(bytes, len - 1); break;
    default: add(data[0] % CALLS, bytes, len - 1);
    }
    free(bytes);
    free(text);
    return 0;
}

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static const char *const texts[] = {
        "{\"words\":[\"/nowhere\",\"r.json\"],\"policy\":\"p\",\"format\":\"json\"}",
        "{\"query\":true,\"words\":[]}", RECIPE};
    shoal_agg_bytes bytes = {NULL, 0};
    shoal_agg_accumulator *acc = NULL;
    static const uint8_t records[4] = {1, 2, 3, 0};
    if (index > 7 || index == ADD_BATCHES) return 0; // a batch is in the corpus
    out[0] = (uint8_t)index;
    if (index <= READ_RECIPE) {
        memcpy(out + 1, texts[index], strlen(texts[index]));
        return 1 + strlen(texts[index]);
    }
    if (index == READ_SUM) {
        PROPERTY(shoal_agg_accumulator_new(&acc, list_recipe(), NULL) == SHOAL_AGG_OK);
        PROPERTY(shoal_agg_accumulator_add_records(acc, records, 4, NULL, NULL) == SHOAL_AGG_OK);
        PROPERTY(shoal_agg_accumulator_to_bytes(acc, &bytes, NULL) == SHOAL_AGG_OK);
        PROPERTY(bytes.len < cap);
        memcpy(out + 1, bytes.data, bytes.len);
        size_t len = 1 + bytes.len;
        shoal_agg_bytes_free(&bytes);
        shoal_agg_accumulator_free(acc);
        return len;
    }
    if (index == ADD_REPORTS)
        return (size_t)snprintf((char *)out + 1, cap - 1,
                                "{\"recipe_hash\":\"%s\",\"key\":\"l\",\"parameters\":{}}\n",
                                shoal_agg_recipe_hash(list_recipe())) +
               1;
    memcpy(out + 1, index == ASK ? "one\ntwo\nfox" : "\1\2\3\0", index == ASK ? 11 : 4);
    return index == ASK ? 12 : 5;
}
