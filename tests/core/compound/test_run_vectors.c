// SPDX-License-Identifier: Apache-2.0
// Runs over epochs are answered alike on every build: run_vectors.json, which WebAssembly's
// JavaScript replays too (wasm/test/bindings/track_vectors.test.mjs). Every refusal but those of
// another run and of a damaged state is among its steps.
//
//     test_run_vectors FILE       checks the file
//     test_run_vectors --write    prints it anew (when a format changes on purpose)
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "heavythresh.h"
#include "json_feed.h"
#include "record.h"
#include "thresh.h"

#define W_MAX 4096u

// What is asked and what there is to say. The recipe before is the last one that was answered,
// where `follows` is "".
typedef struct step {
    uint32_t index, update;
    const char *follows; // 64 digits; "" the last answered
    const char *data;    // thresh: millionths; heavythresh: "value count value count"; "": no data
} step;

typedef struct vector_run {
    const char *mechanism, *kind, *parameters, *rest;
    step steps[16];
} vector_run;

#define OTHER "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define PLAN(samples)                                                                              \
    "\"epsilon\": 4, \"users\": 20000, \"epochs\": 5, \"samples\": " samples                       \
    ", \"smallest_group\": 20000, \"groups\": 1, \"delta\": \"1e-6\""
#define HEAVY(w) PLAN("100000") ", \"projection\": " w ", \"epsilon_estimate\": 0.5"
#define SEED ", \"seed\": \"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\""

static const vector_run runs[] = {
    {"thresh",
     "number",
     PLAN("1000") ", \"low\": -10, \"high\": 30",
     "",
     {{1, 1, "", "30000000"},
      {1, 0, "", "30000000"},
      {1, 0, "", "12345678"},
      {2, 0, OTHER, "-10000000"},
      {2, 0, "", "-9999999"},
      {3, 1, "", ""},
      {5, 0, OTHER, "29000000"},
      {4, 0, OTHER, "29000000"},
      {6, 0, "", "1"},
      {7, 1, OTHER, "1"},
      {6, 1, "", "1"}}},
    {"heavythresh",
     "item",
     HEAVY("64"),
     SEED,
     {{1, 0, "", "news 70 sport 30"},
      {2, 1, "", "sport 1"},
      {2, 1, "", "sport 1"},
      {4, 1, OTHER, ""},
      {5, 0, "", "news 1 films 99999"},
      {6, 1, "", ""}}},
    {"heavythresh",
     "item",
     HEAVY("4096"),
     SEED,
     {{1, 0, "", "a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8"},
      {2, 0, "", "a 8 b 7 c 6 d 5 e 4 f 3 g 2 h 1000000000"},
      {3, 1, "", "a 1"},
      {4, 1, "", "a 2147483647"}}},
};
#define N_RUNS (sizeof runs / sizeof runs[0])

static const char *file_name; // NULL: write
static FILE *file;

// A line of the file: printed, or compared with the file's next.
static void put_line(const char *line)
{
    static char read[8192];
    if (file_name == NULL) {
        puts(line);
        return;
    }
    if (!CHECK(fgets(read, sizeof read, file) != NULL)) return;
    read[strcspn(read, "\n")] = '\0';
    if (!CHECK(strcmp(read, line) == 0)) printf("expected %s\nread     %s\n", line, read);
}

static void hex_of(char *text, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

static void digest_of(char *text, const uint8_t *bytes, size_t len)
{
    uint8_t digest[32];
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
    hex_of(text, digest, sizeof digest);
}

static uint8_t state[SHOAL_RUN_HEADER + 8 * W_MAX + 8];
static size_t state_len;

static shoal_epoch_refusal answer_counts(uint8_t *record, const shoal_recipe *recipe,
                                         const char *data, shoal_rng *rng)
{
    static uint32_t scratch[3 * W_MAX];
    shoal_counted values[16];
    uint32_t n = 0;
    while (*data != '\0') {
        size_t len = strcspn(data, " ");
        char *end;
        values[n].item =
            shoal_part_item(shoal_recipe_value_part(recipe), (const uint8_t *)data, len);
        values[n++].count = (uint32_t)strtoul(data + len + 1, &end, 10);
        data = end + (*end == ' ');
    }
    return shoal_heavythresh_answer(record, state, state_len, recipe, values, n, scratch, rng);
}

// The data as JSON: a number, an object of counts, or null.
static void json_of(char *text, size_t cap, const vector_run *run, const char *data)
{
    if (*data == '\0' || strcmp(run->mechanism, "thresh") == 0) {
        snprintf(text, cap, "%s", *data == '\0' ? "null" : data);
        return;
    }
    size_t at = (size_t)snprintf(text, cap, "{");
    while (*data != '\0') {
        int len = (int)strcspn(data, " "), digits = (int)strcspn(data + len + 1, " ");
        at += (size_t)snprintf(text + at, cap - at, "%s\"%.*s\": %.*s", at > 1 ? ", " : "", len,
                               data, digits, data + len + 1);
        data += len + 1 + digits;
        data += *data == ' ';
    }
    snprintf(text + at, cap - at, "}");
}

// One step: the whole recipe, what came of it.
static void take_step(const vector_run *run, uint32_t at, char previous[65], int is_last)
{
    static char line[8192], text[4096], data[512];
    const step *s = &run->steps[at];
    uint8_t record[8] = {0}, seed[32];
    char print[16] = "", round[160] = "", digest[65], hash[65];
    shoal_recipe recipe;
    shoal_rng rng;
    if (s->index > 1)
        snprintf(round, sizeof round, ", \"previous\": \"%s\"",
                 *s->follows != '\0' ? s->follows : previous);
    snprintf(text, sizeof text,
             "{\"recipe\": \"run\", \"analysis\": \"test\", \"stream\": \"s\", \"value\": \"%s\", "
             "\"mechanism\": \"%s\", "
             "\"parameters\": {%s}%s, \"round\": {\"index\": %u%s%s}, \"limit\": {\"per_day\": 1}, "
             "\"expires\": "
             "\"2030-01-01\"}",
             run->kind, run->mechanism, run->parameters, run->rest, s->index, round,
             s->update ? ", \"update\": 1" : "");
    CHECK(json_recipe(&recipe, text) == SHOAL_OK);
    if (at == 0) CHECK(shoal_run_init(state, sizeof state, &state_len, &recipe) == SHOAL_OK);
    for (uint32_t i = 0; i < 32; i++) seed[i] = (uint8_t)(at * 32 + i);
    shoal_rng_init(&rng, seed);
    int has_data = *s->data != '\0';
    uint64_t mean =
        has_data ? shoal_recipe_number_item(&recipe, strtoll(s->data, NULL, 10)) : SHOAL_ITEM_NONE;
    shoal_epoch_refusal refusal =
        recipe.mechanism == shoal_thresh_id
            ? shoal_thresh_answer(record, state, state_len, &recipe, mean, &rng)
            : answer_counts(record, &recipe, s->data, &rng);
    if (refusal == SHOAL_EPOCH_ACCEPTED) {
        CHECK(shoal_record_to_text(print, sizeof print - 1, &recipe, record) == SHOAL_OK);
        hex_of(previous, recipe.query_hash, 32);
    }
    digest_of(digest, state, state_len);
    hex_of(hash, recipe.run_hash, 32);
    json_of(data, sizeof data, run, s->data);
    snprintf(line, sizeof line,
             "{\"recipe\": %s, \"starts\": %s, \"data\": %s, \"first_seed_byte\": %u, "
             "\"run_hash\": \"%s\", \"refusal\": "
             "\"%s\", \"record\": \"%s\", \"state\": \"%s\"}%s",
             text, at == 0 ? "true" : "false", data, seed[0], hash,
             shoal_epoch_refusal_name(refusal), print, digest, is_last ? "" : ",");
    put_line(line);
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    if (strcmp(argv[1], "--write") != 0) {
        file_name = argv[1];
        file = fopen(file_name, "r");
        if (!CHECK(file != NULL)) return check_summary();
    }
    put_line("[");
    for (size_t r = 0; r < N_RUNS; r++) {
        char previous[65] = OTHER;
        for (uint32_t i = 0; runs[r].steps[i].index > 0; i++)
            take_step(&runs[r], i, previous, r + 1 == N_RUNS && runs[r].steps[i + 1].index == 0);
    }
    put_line("]");
    if (file != NULL) fclose(file);
    return file_name == NULL ? 0 : check_summary();
}
