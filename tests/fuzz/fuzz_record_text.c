// SPDX-License-Identifier: Apache-2.0
// Property: text records are read at speed as the core reads them: the same texts, the same
// records, by every instruction set; and a report around one is read by its frame exactly where it
// is one that the recipe prints, as the parser reads it.
//
// The first byte chooses the recipe: of bits in rows, wide enough for every instruction set, of
// many mechanisms, or of several variables. The second says where the rest is a record's text and
// where it is a whole report.
#include "fuzz_aggregator.h"
#include "report_json.h"

#define RECORD_MAX 512u
#define REPORT_MAX 4096u

#define OTHER_SEED "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

static const char *const recipes[] = {
    "\"value\":\"word\",\"mechanism\":\"cms\",\"parameters\":{\"epsilon\":2,\"k\":1000,\"m\":600},"
    "\"hash\":\"poly1\","
    "\"seed\":"
    "\"" TEST_SEED "\"",
    "\"value\":\"word\",\"mechanism\":\"cms\",\"parameters\":{\"epsilon\":0.5,\"k\":9,\"m\":20},"
    "\"hash\":\"poly1\","
    "\"seed\":"
    "\"" TEST_SEED "\"",
    "\"value\":\"word\",\"mechanism\":\"rappor\",\"parameters\":{\"bits\":128,\"hashes\":2,"
    "\"cohorts\":64,\"p\":0.25,"
    "\"q\":"
    "0.75,\"f\":0.5},\"hash\":\"poly1\",\"seed\":\"" TEST_SEED "\"",
    "\"value\":\"item\",\"mechanism\":\"onehot-symmetric\",\"parameters\":{\"epsilon\":2,\"size\":"
    "70}",
    "\"value\":\"item\",\"mechanism\":\"subset\",\"parameters\":{\"epsilon\":1,\"size\":30}",
    "\"value\":\"word\",\"mechanism\":\"hcms\",\"parameters\":{\"epsilon\":4,\"k\":10,\"m\":16},"
    "\"hash\":\"poly1\","
    "\"seed\":\"" TEST_SEED "\"",
    "\"variables\":[{\"name\":\"a\",\"value\":\"word\",\"mechanism\":\"rappor\",\"parameters\":{"
    "\"bits\":64,\"hashes\":"
    "2,"
    "\"cohorts\":8,\"p\":0.25,\"q\":0.75,\"f\":0.5},\"hash\":\"poly1\",\"seed\":\"" TEST_SEED
    "\"},{\"name\":\"b\",\"value\":"
    "\"word\",\"mechanism\":\"rappor\",\"parameters\":{\"bits\":8,\"hashes\":1,\"cohorts\":100,"
    "\"p\":0.25,\"q\":0.75,"
    "\"f\":0.5},"
    "\"hash\":\"poly1\",\"seed\":\"" OTHER_SEED "\"}]",
};
#define N_RECIPES (sizeof recipes / sizeof recipes[0])

static const agg_recipe *recipe_of(uint8_t choice)
{
    static agg_recipe made[N_RECIPES];
    agg_recipe *recipe = &made[choice % N_RECIPES];
    if (recipe->json != NULL) return recipe;
    char json[1024];
    agg_error error;
    int len = snprintf(json, sizeof json,
                       "{\"recipe\":\"t\",\"analysis\":\"a\",\"stream\":\"s\",%s,\"limit\":{\"per_"
                       "day\":1},\"expires\":"
                       "\"2030-01-01\"}",
                       recipes[choice % N_RECIPES]);
    PROPERTY(agg_recipe_from_bytes(recipe, &error, "recipe", json, (size_t)len) == SHOAL_OK);
    PROPERTY(shoal_record_size(recipe->recipe) <= RECORD_MAX &&
             agg_report_size(recipe) <= REPORT_MAX);
    return recipe;
}

// A text of the record's length, flush against the end of its memory.
static void check_text(const agg_recipe *recipe, const uint8_t *data, size_t len)
{
    uint8_t own[RECORD_MAX], cores[RECORD_MAX];
    size_t size = shoal_record_text_size(recipe->recipe);
    char *text = malloc(size);
    PROPERTY(text != NULL);
    memset(text, '0', size);
    memcpy(text, data, len < size ? len : size);
    int is_good = shoal_record_from_text(cores, recipe->recipe, text, size, NULL) == SHOAL_OK;
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu <= agg_cpu_best(); cpu++) {
        agg_record_text reader;
        agg_record_text_init(&reader, recipe->recipe, cpu);
        PROPERTY(agg_record_text_read(own, &reader, text) == is_good);
        if (is_good) PROPERTY(memcmp(own, cores, shoal_record_size(recipe->recipe)) == 0);
    }
    free(text);
}

// A report of the frame's length, made of the input or, where that is shorter, of a printed one
// that it replaces the end of.
static void check_report(const agg_recipe *recipe, const uint8_t *data, size_t len)
{
    uint8_t own[RECORD_MAX], parsed[RECORD_MAX] = {0};
    char printed[REPORT_MAX];
    size_t size = agg_report_size(recipe);
    agg_error error = {SHOAL_OK, 0, ""};
    char *json = malloc(size + 1);
    PROPERTY(json != NULL);
    PROPERTY(agg_report_print(json, size, recipe, parsed) == SHOAL_OK);
    json[size] = '\0';
    if (len > size) len = size;
    memcpy(json + size - len, data, len);
    shoal_err err = agg_report_parse(parsed, &error, recipe, json, size);
    int is_printed = err == SHOAL_OK &&
                     agg_report_print(printed, REPORT_MAX, recipe, parsed) == SHOAL_OK &&
                     memcmp(printed, json, size) == 0;
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu <= agg_cpu_best(); cpu++) {
        agg_report_frame frame;
        agg_report_frame_init(&frame, recipe, cpu);
        PROPERTY(frame.size == size);
        PROPERTY(agg_report_read(own, &frame, json) == is_printed);
        if (is_printed) PROPERTY(memcmp(own, parsed, shoal_record_size(recipe->recipe)) == 0);
    }
    free(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 2) return 0;
    const agg_recipe *recipe = recipe_of(data[0]);
    if (data[1] & 1)
        check_report(recipe, data + 2, len - 2);
    else
        check_text(recipe, data + 2, len - 2);
    return 0;
}

// Good records and reports of every recipe.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    uint8_t record[RECORD_MAX] = {0};
    char report[REPORT_MAX];
    if (index >= 2 * N_RECIPES) return 0;
    const agg_recipe *recipe = recipe_of((uint8_t)(index / 2));
    size_t size = agg_report_size(recipe), at = 0;
    // Bits of many digits; the first parts' rows stay 0, where every recipe has one.
    for (uint32_t i = 4; index / 2 < 2 && i + 1 < shoal_record_size(recipe->recipe); i++)
        record[i] = (uint8_t)(37 * i);
    PROPERTY(agg_report_print(report, REPORT_MAX, recipe, record) == SHOAL_OK);
    if (index % 2 == 0) at = size - shoal_record_text_size(recipe->recipe) - 3;
    if (index % 2 == 0) size -= 3;
    if (size - at + 2 > cap) return 0;
    out[0] = (uint8_t)(index / 2);
    out[1] = index % 2;
    memcpy(out + 2, report + at, size - at);
    return size - at + 2;
}
