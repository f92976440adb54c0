// SPDX-License-Identifier: Apache-2.0
// libshoal_aggregate as a program that links it sees it: its answers are those of the command, its
// errors have the codes of the header, and threads may call it at the same time.
#include "agg_test.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <unistd.h>

#include "batch.h"
#include "recipe.h"
#include "report_json.h"
#include "shoal_aggregate.h"

// The layout on which programs of 64-bit machines, and the Python package, were built.
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(shoal_agg_error) == 520 && offsetof(shoal_agg_error, text) == 8 &&
                    sizeof(shoal_agg_bytes) == 16 && sizeof(shoal_agg_recipe_facts) == 56 &&
                    offsetof(shoal_agg_recipe_facts, record_size) == 32 &&
                    sizeof(shoal_agg_added) == 40 && sizeof(shoal_agg_estimate_options) == 32 &&
                    offsetof(shoal_agg_estimate_options, n_threads) == 20 &&
                    sizeof(shoal_agg_text) == 16 && sizeof(shoal_agg_columns) == 120 &&
                    offsetof(shoal_agg_columns, count) == 48 &&
                    offsetof(shoal_agg_columns, value) == 96),
               "the layout of a public struct has changed");

#define RECORDS 3000u
#define LIST "\"values\":[\"ant\",\"bee\",\"cat\",\"dog\",\"eel\"]"

static char folder[] = "/tmp/shoal-library-XXXXXX";

static const char *in_folder(const char *name)
{
    static _Thread_local char paths[4][128];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    assert_int_equal(fclose(stream), 0);
}

static size_t read_file(uint8_t *out, size_t cap, const char *path)
{
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t len = fread(out, 1, cap, stream);
    fclose(stream);
    return len;
}

// A recipe of a list, its records, and the same as a batch and as lines.
typedef struct collection {
    char text[1024];
    agg_recipe own;
    shoal_agg_recipe *recipe;
    uint8_t *records, *batch;
    size_t batch_len;
    char *lines;
    size_t lines_len;
} collection;

static void open_collection(collection *c)
{
    static const uint8_t salt[16] = {9};
    shoal_agg_error error;
    onehot_text(c->text, 2, LIST, ",\"cohort\":{\"minimum\":100}");
    read_recipe(&c->own, c->text);
    assert_ok(shoal_agg_recipe_from_json(&c->recipe, NULL, c->text, strlen(c->text), &error));
    c->records = make_records(&c->own, RECORDS, 1);
    c->batch_len = shoal_batch_size(c->own.recipe, RECORDS);
    c->batch = calloc(1, c->batch_len);
    assert_non_null(c->batch);
    memcpy(c->batch + SHOAL_BATCH_HEADER, c->records, RECORDS * c->own.recipe->record_size);
    assert_ok(shoal_batch_seal(c->batch, c->batch_len, c->own.recipe, RECORDS, 20000, salt));
    size_t size = agg_report_size(&c->own);
    c->lines_len = RECORDS * (size + 1);
    c->lines = malloc(c->lines_len);
    assert_non_null(c->lines);
    for (uint32_t i = 0; i < RECORDS; i++) {
        char *line = c->lines + i * (size + 1);
        assert_ok(
            agg_report_print(line, size, &c->own, c->records + i * c->own.recipe->record_size));
        line[size] = '\n';
    }
}

static void close_collection(collection *c)
{
    agg_recipe_release(&c->own);
    shoal_agg_recipe_free(c->recipe);
    free(c->records);
    free(c->batch);
    free(c->lines);
}

static shoal_agg_accumulator *empty(const collection *c)
{
    shoal_agg_accumulator *acc = NULL;
    assert_ok(shoal_agg_accumulator_new(&acc, c->recipe, NULL));
    return acc;
}

// Runs a command that must succeed. Returns: what it prints, which the caller frees.
static shoal_agg_bytes run(const char *command, const char *options, const char *format)
{
    shoal_agg_error error = {0};
    shoal_agg_bytes out;
    if (shoal_agg_run(NULL, command, options, format, &out, &error) != SHOAL_AGG_OK)
        fail_msg("%s: %s", command, error.text);
    return out;
}

static void test_facts(void **state)
{
    collection c;
    (void)state;
    open_collection(&c);
    shoal_agg_recipe_facts facts = {.size = sizeof facts};
    size_t len = 0;
    assert_ok(shoal_agg_recipe_facts_of(&facts, c.recipe, NULL));
    assert_int_equal(facts.n_values, 5);
    assert_int_equal(facts.record_size, c.own.recipe->record_size);
    assert_int_equal(facts.cohort_minimum, 100);
    assert_true(facts.epsilon == 2);
    assert_int_equal(facts.is_mean, 0);
    assert_string_equal(shoal_agg_recipe_id(c.recipe), "list");
    assert_string_equal(shoal_agg_recipe_hash(c.recipe), c.own.hash_hex);
    assert_string_equal(shoal_agg_recipe_mechanism(c.recipe), "onehot-asymmetric");
    assert_string_equal(shoal_agg_recipe_json(c.recipe), c.text);
    assert_memory_equal(shoal_agg_recipe_value(c.recipe, 4, &len), "eel", 3);
    assert_int_equal(len, 3);
    assert_null(shoal_agg_recipe_value(c.recipe, 5, &len));
    facts.size--;
    assert_err(shoal_agg_recipe_facts_of(&facts, c.recipe, NULL), SHOAL_AGG_ARGUMENT);
    close_collection(&c);
}

// Batches, reports and records give the bytes of `shoal ingest`.
static void test_same_bytes_as_ingest(void **state)
{
    collection c;
    uint8_t expected[4096];
    char options[1024];
    shoal_agg_bytes bytes = {0};
    shoal_agg_added added = {.size = sizeof added};
    (void)state;
    open_collection(&c);
    write_file(in_folder("r.json"), c.text, strlen(c.text));
    write_file(in_folder("in.batch"), c.batch, c.batch_len);
    write_file(in_folder("in.ndjson"), c.lines, c.lines_len);
    static const char *const names[] = {"in.batch", "in.ndjson"};
    for (int i = 0; i < 2; i++) {
        snprintf(options, sizeof options,
                 "{\"recipe\":\"%s\",\"output\":\"%s\",\"words\":[\"%s\"]}", in_folder("r.json"),
                 in_folder("want.acc"), in_folder(names[i]));
        shoal_agg_bytes out = run("ingest", options, NULL);
        assert_int_equal(out.len, 0);
        size_t len = read_file(expected, sizeof expected, in_folder("want.acc"));
        unlink(in_folder("want.acc"));
        shoal_agg_accumulator *acc = empty(&c);
        shoal_agg_accumulator_set_threads(acc, 2);
        assert_ok(
            i == 0 ? shoal_agg_accumulator_add_batches(acc, c.batch, c.batch_len, 0, &added, NULL)
                   : shoal_agg_accumulator_add_reports(acc, c.lines, c.lines_len, 0, &added, NULL));
        assert_int_equal(added.records, RECORDS);
        assert_int_equal(added.batches, i == 0);
        assert_int_equal(shoal_agg_accumulator_n_claims(acc), 1);
        assert_int_equal(shoal_agg_accumulator_is_claimed(acc), 1);
        assert_ok(shoal_agg_accumulator_to_bytes(acc, &bytes, NULL));
        assert_int_equal(bytes.len, len);
        assert_memory_equal(bytes.data, expected, len);
        shoal_agg_bytes_free(&bytes);
        if (i == 0) { // the same records under the batch's own id
            shoal_agg_accumulator *other = empty(&c);
            assert_ok(shoal_agg_accumulator_add_records(other, c.records, RECORDS,
                                                        shoal_agg_accumulator_claims(acc), NULL));
            assert_ok(shoal_agg_accumulator_to_bytes(other, &bytes, NULL));
            assert_int_equal(bytes.len, len);
            assert_memory_equal(bytes.data, expected, len);
            shoal_agg_bytes_free(&bytes);
            shoal_agg_accumulator_free(other);
        }
        shoal_agg_accumulator_free(acc);
    }
    close_collection(&c);
}

// Nothing counts twice, and nothing changes when a call is refused.
static void test_refusals_add_nothing(void **state)
{
    collection c;
    shoal_agg_error error;
    shoal_agg_added added = {.size = sizeof added};
    (void)state;
    open_collection(&c);
    shoal_agg_accumulator *acc = empty(&c), *other = empty(&c);
    assert_ok(shoal_agg_accumulator_add_batches(acc, c.batch, c.batch_len, 0, NULL, NULL));
    assert_err(shoal_agg_accumulator_add_batches(acc, c.batch, c.batch_len, SHOAL_AGG_REFUSE_HELD,
                                                 NULL, &error),
               SHOAL_AGG_DUPLICATE);
    assert_int_equal(error.code, SHOAL_AGG_DUPLICATE);
    assert_ok(shoal_agg_accumulator_add_batches(acc, c.batch, c.batch_len, SHOAL_AGG_SKIP_HELD,
                                                &added, NULL));
    assert_int_equal(added.held, 1);
    assert_int_equal(added.records, 0);
    assert_ok(shoal_agg_accumulator_add_batches(other, c.batch, c.batch_len, 0, NULL, NULL));
    assert_err(shoal_agg_accumulator_merge(acc, other, &error), SHOAL_AGG_DUPLICATE);
    assert_err(shoal_agg_accumulator_merge(acc, acc, NULL), SHOAL_AGG_ARGUMENT);
    c.batch[c.batch_len - 1] ^= 1;
    shoal_agg_accumulator_free(other);
    other = empty(&c);
    assert_err(shoal_agg_accumulator_add_batches(other, c.batch, c.batch_len, 0, NULL, &error),
               SHOAL_AGG_CHECKSUM);
    for (size_t len = 1; len < 200; len += 13)
        assert_true(shoal_agg_accumulator_add_batches(other, c.batch, len, 0, NULL, NULL) !=
                    SHOAL_AGG_OK);
    assert_err(shoal_agg_accumulator_add_batches(other, (const uint8_t *)c.lines, c.lines_len, 0,
                                                 NULL, NULL),
               SHOAL_AGG_MAGIC);
    c.lines[5] ^= 1;
    assert_err(shoal_agg_accumulator_add_reports(other, c.lines, c.lines_len, 0, NULL, &error),
               SHOAL_AGG_REJECTED);
    assert_non_null(strstr(error.text, "1 of 3000 lines"));
    assert_int_equal(shoal_agg_accumulator_n(other), 0);
    assert_ok(shoal_agg_accumulator_add_reports(other, c.lines, c.lines_len, 0.001, &added, NULL));
    assert_int_equal(added.rejected, 1);
    assert_int_equal(added.records, RECORDS - 1);
    assert_err(shoal_agg_accumulator_add_reports(other, c.lines, c.lines_len, 0.5, NULL, NULL),
               SHOAL_AGG_DUPLICATE);
    memset(c.records + 17 * c.own.recipe->record_size, 0xff, c.own.recipe->record_size);
    assert_err(shoal_agg_accumulator_add_records(other, c.records, RECORDS, NULL, &error),
               SHOAL_AGG_RECORD);
    assert_non_null(strstr(error.text, "record 17"));
    assert_int_equal(shoal_agg_accumulator_n(other), RECORDS - 1);
    assert_int_equal(shoal_agg_accumulator_is_claimed(other), 1);
    assert_ok(shoal_agg_accumulator_add_records(other, c.records, 17, NULL, NULL));
    assert_int_equal(shoal_agg_accumulator_is_claimed(other), 0);
    shoal_agg_accumulator_free(acc);
    shoal_agg_accumulator_free(other);
    close_collection(&c);
}

static void test_bytes_in(void **state)
{
    collection c;
    shoal_agg_bytes bytes = {0};
    shoal_agg_accumulator *read = NULL;
    shoal_agg_recipe *foreign = NULL;
    char text[1024];
    (void)state;
    open_collection(&c);
    shoal_agg_accumulator *acc = empty(&c);
    assert_ok(shoal_agg_accumulator_add_batches(acc, c.batch, c.batch_len, 0, NULL, NULL));
    assert_ok(shoal_agg_accumulator_to_bytes(acc, &bytes, NULL));
    for (size_t len = 0; len < bytes.len; len++)
        assert_true(shoal_agg_accumulator_from_bytes(&read, c.recipe, bytes.data, len, NULL) !=
                    SHOAL_AGG_OK);
    for (size_t i = 0; i < bytes.len; i++) { // every byte is under the checksum
        bytes.data[i] ^= 0x10;
        assert_true(shoal_agg_accumulator_from_bytes(&read, c.recipe, bytes.data, bytes.len,
                                                     NULL) != SHOAL_AGG_OK);
        bytes.data[i] ^= 0x10;
    }
    assert_null(read);
    onehot_text(text, 3, LIST, "");
    assert_ok(shoal_agg_recipe_from_json(&foreign, "other", text, strlen(text), NULL));
    assert_err(shoal_agg_accumulator_from_bytes(&read, foreign, bytes.data, bytes.len, NULL),
               SHOAL_AGG_RECIPE_HASH);
    assert_ok(shoal_agg_accumulator_from_bytes(&read, c.recipe, bytes.data, bytes.len, NULL));
    assert_int_equal(shoal_agg_accumulator_n(read), RECORDS);
    assert_ok(shoal_agg_accumulator_save(read, in_folder("saved.acc"), NULL));
    shoal_agg_accumulator_free(read);
    assert_ok(shoal_agg_accumulator_load(&read, c.recipe, in_folder("saved.acc"), NULL));
    assert_err(shoal_agg_accumulator_save(read, "-", NULL), SHOAL_AGG_USAGE);
    assert_err(shoal_agg_accumulator_load(&read, c.recipe, "-", NULL), SHOAL_AGG_USAGE);
    assert_err(shoal_agg_accumulator_load(&read, c.recipe, in_folder("absent"), NULL),
               SHOAL_AGG_IO);
    shoal_agg_accumulator_free(read);
    shoal_agg_recipe_free(foreign);
    shoal_agg_recipe_free(c.recipe); // the accumulator keeps what it needs
    c.recipe = NULL;
    shoal_agg_estimate *estimate = NULL;
    assert_ok(shoal_agg_estimate_new(&estimate, acc, NULL, 0, NULL, NULL));
    shoal_agg_accumulator_free(acc);
    shoal_agg_columns columns = {.size = sizeof columns};
    assert_ok(shoal_agg_estimate_columns(&columns, estimate, NULL));
    assert_memory_equal(columns.value[1].bytes, "bee", 3);
    shoal_agg_estimate_free(estimate);
    shoal_agg_bytes_free(&bytes);
    close_collection(&c);
}

// Columns are in the order of the question, and hold the numbers that the command prints.
static void test_estimates(void **state)
{
    collection c;
    char options[1024], row[256];
    shoal_agg_estimate *estimate = NULL;
    shoal_agg_columns columns = {.size = sizeof columns}, all = {.size = sizeof all};
    const shoal_agg_text values[] = {{"dog", 3}, {"ant", 3}, {"dog", 3}};
    const uint64_t indices[] = {3, 0, 3}, beyond[] = {0, 5};
    (void)state;
    open_collection(&c);
    shoal_agg_accumulator *acc = empty(&c);
    assert_ok(shoal_agg_accumulator_add_records(acc, c.records, 99, NULL, NULL));
    shoal_agg_error error;
    assert_err(shoal_agg_estimate_new(&estimate, acc, NULL, 0, NULL, &error), SHOAL_AGG_COHORT);
    assert_int_equal(error.exit_code, 3);
    shoal_agg_accumulator_free(acc);
    acc = empty(&c);
    assert_ok(shoal_agg_accumulator_add_batches(acc, c.batch, c.batch_len, 0, NULL, NULL));
    assert_ok(shoal_agg_estimate_new(&estimate, acc, NULL, 0, NULL, NULL));
    assert_ok(shoal_agg_estimate_columns(&all, estimate, NULL));
    assert_int_equal(all.n_rows, 5);
    assert_int_equal(all.n_reports, RECORDS);
    for (int by_index = 0; by_index < 2; by_index++) {
        shoal_agg_estimate *some = NULL;
        assert_ok(by_index ? shoal_agg_estimate_new_of_indices(&some, acc, indices, 3, NULL, NULL)
                           : shoal_agg_estimate_new(&some, acc, values, 3, NULL, NULL));
        assert_ok(shoal_agg_estimate_columns(&columns, some, NULL));
        assert_int_equal(columns.n_rows, 3);
        for (int i = 0; i < 3; i++) {
            assert_memory_equal(columns.value[i].bytes, values[i].bytes, 3);
            assert_true(columns.count[i] == all.count[indices[i]]);
            assert_true(columns.high[i] == all.high[indices[i]]);
        }
        shoal_agg_estimate_free(some);
    }
    shoal_agg_estimate *none = NULL;
    assert_err(shoal_agg_estimate_new_of_indices(&none, acc, beyond, 2, NULL, &error),
               SHOAL_AGG_RANGE);
    assert_non_null(strstr(error.text, "value 1"));
    const shoal_agg_text strange = {"fox", 3};
    assert_err(shoal_agg_estimate_new(&none, acc, &strange, 1, NULL, &error), SHOAL_AGG_RANGE);
    assert_non_null(strstr(error.text, "value 0"));
    assert_null(strstr(error.text, "fox"));
    // The command's own figures.
    write_file(in_folder("r.json"), c.text, strlen(c.text));
    assert_ok(shoal_agg_accumulator_save(acc, in_folder("e.acc"), NULL));
    snprintf(options, sizeof options, "{\"recipe\":\"%s\",\"words\":[\"%s\"]}", in_folder("r.json"),
             in_folder("e.acc"));
    shoal_agg_bytes out = run("estimate", options, "csv");
    char *csv = calloc(1, out.len + 1);
    assert_non_null(csv);
    memcpy(csv, out.data, out.len);
    for (size_t i = 0; i < all.n_rows; i++) {
        snprintf(row, sizeof row, "\"%.*s\",%.1f,%.1f,%.1f,%.1f,%s,", (int)all.value[i].len,
                 all.value[i].bytes, all.count[i], all.standard_error[i], all.low[i], all.high[i],
                 all.detected[i] ? "true" : "false");
        if (strstr(csv, row) == NULL) fail_msg("%s is not in\n%s", row, csv);
    }
    free(csv);
    shoal_agg_bytes_free(&out);
    shoal_agg_estimate_free(estimate);
    shoal_agg_accumulator_free(acc);
    close_collection(&c);
}

// Shards 1 and 2 of three are folded; the third is missing.
static void test_incomplete(void **state)
{
    collection c;
    char options[512];
    shoal_agg_error error;
    agg_error inner;
    agg_accumulator sum;
    shoal_agg_accumulator *acc = NULL;
    shoal_agg_estimate *estimate = NULL;
    shoal_agg_columns columns = {.size = sizeof columns};
    shoal_agg_estimate_options asked = {.size = sizeof asked, .incomplete = 1};
    const agg_shard_claim about = {.manifest = {7}, .generation = 1, .n_shards = 3};
    (void)state;
    open_collection(&c);
    assert_ok(agg_accumulator_init(&sum, &inner, c.own.recipe));
    assert_ok(agg_accumulator_add(&sum, &inner, c.records, RECORDS, 1));
    for (uint32_t shard = 1; shard <= 2; shard++) {
        agg_shard_claims one;
        assert_ok(agg_shard_claims_of(&one, &inner, &about, shard));
        assert_ok(agg_accumulator_claim_shards(&sum, &inner, &one));
        agg_shard_claims_release(&one);
    }
    write_file(in_folder("r.json"), c.text, strlen(c.text));
    assert_ok(agg_accumulator_save(&sum, &inner, in_folder("half.acc")));
    agg_accumulator_release(&sum);
    assert_ok(shoal_agg_accumulator_load(&acc, c.recipe, in_folder("half.acc"), NULL));
    assert_err(shoal_agg_estimate_new(&estimate, acc, NULL, 0, NULL, &error), SHOAL_AGG_INCOMPLETE);
    assert_non_null(strstr(error.text, "incomplete: of the 3 shards of manifest 07"));
    assert_string_equal(shoal_agg_error_name(error.code), "incomplete");
    const uint64_t first = 0;
    assert_err(shoal_agg_estimate_new_of_indices(&estimate, acc, &first, 1, NULL, NULL),
               SHOAL_AGG_INCOMPLETE);
    assert_null(estimate);
    assert_ok(shoal_agg_estimate_new(&estimate, acc, NULL, 0, &asked, NULL));
    assert_ok(shoal_agg_estimate_columns(&columns, estimate, NULL));
    assert_int_equal(columns.n_shards, 3);
    assert_int_equal(columns.n_missing_shards, 1);
    // A program that was built with the first version of the header gets what it knows of.
    shoal_agg_columns old = {.size = offsetof(shoal_agg_columns, n_shards), .n_shards = 77};
    assert_ok(shoal_agg_estimate_columns(&old, estimate, NULL));
    assert_int_equal(old.size, offsetof(shoal_agg_columns, n_shards));
    assert_int_equal(old.n_shards, 77);
    assert_true(old.n_rows == 5 && old.count[1] == columns.count[1]);
    shoal_agg_estimate_free(estimate);
    estimate = NULL;
    asked.size = offsetof(shoal_agg_estimate_options, incomplete); // so `incomplete` is not read
    assert_err(shoal_agg_estimate_new(&estimate, acc, NULL, 0, &asked, NULL), SHOAL_AGG_INCOMPLETE);
    asked = (shoal_agg_estimate_options){.size = sizeof asked, .incomplete = 2};
    assert_err(shoal_agg_estimate_new(&estimate, acc, NULL, 0, &asked, NULL), SHOAL_AGG_ARGUMENT);
    asked = (shoal_agg_estimate_options){.size = 8};
    assert_err(shoal_agg_estimate_new(&estimate, acc, NULL, 0, &asked, NULL), SHOAL_AGG_ARGUMENT);
    shoal_agg_accumulator_free(acc);
    // The command behind shoal_agg_run.
    shoal_agg_bytes out = {NULL, 0};
    snprintf(options, sizeof options, "{\"recipe\":\"%s\",\"words\":[\"%s\"]}", in_folder("r.json"),
             in_folder("half.acc"));
    assert_err(shoal_agg_run(NULL, "estimate", options, "json", &out, NULL), SHOAL_AGG_INCOMPLETE);
    snprintf(options, sizeof options, "{\"recipe\":\"%s\",\"incomplete\":true,\"words\":[\"%s\"]}",
             in_folder("r.json"), in_folder("half.acc"));
    assert_ok(shoal_agg_run(NULL, "estimate", options, "json", &out, NULL));
    assert_non_null(memmem(out.data, out.len, "\"incomplete\":{\"shards\":3,\"missing\":1}", 37));
    shoal_agg_bytes_free(&out);
    close_collection(&c);
}

static void keep_log(void *user, const char *text)
{
    char *line = user;
    snprintf(line, 256, "%s", text);
}

static void test_run_refusals(void **state)
{
    static const struct {
        const char *command, *options, *format;
        shoal_agg_code code;
        const char *said;
    } cases[] = {
        {"serve", NULL, NULL, SHOAL_AGG_USAGE, "unknown command"},
        {"", NULL, NULL, SHOAL_AGG_USAGE, "unknown command"},
        {"recipe nothing", NULL, NULL, SHOAL_AGG_USAGE, "unknown action"},
        {"estimate", "{", NULL, SHOAL_AGG_NOT_JSON, "options"},
        {"estimate", "[]", NULL, SHOAL_AGG_USAGE, "JSON object"},
        {"estimate", "{\"--x\":1}", NULL, SHOAL_AGG_USAGE, "no option's name"},
        {"estimate", "{\"top\":{}}", NULL, SHOAL_AGG_USAGE, "top"},
        {"estimate", "{\"top\":1,\"top\":2}", NULL, SHOAL_AGG_USAGE, "twice"},
        {"estimate", "{\"words\":[],\"words\":[]}", NULL, SHOAL_AGG_USAGE, "words: is twice"},
        {"estimate", "{\"format\":\"csv\"}", "csv", SHOAL_AGG_USAGE, "beside"},
        {"estimate", "{\"words\":\"a\"}", NULL, SHOAL_AGG_USAGE, "list of texts"},
        {"estimate", "{\"colour\":1,\"recipe\":\"r\",\"words\":[\"a\"]}", NULL, SHOAL_AGG_USAGE,
         "unknown option"},
        {"estimate", "{\"words\":[\"a\"]}", NULL, SHOAL_AGG_USAGE, "--recipe is needed"},
        {"estimate", "{\"recipe\":\"-\",\"words\":[\"a\"]}", NULL, SHOAL_AGG_USAGE,
         "no standard input"},
        {"merge", "{\"output\":\"/tmp/x\",\"words\":[\"/nowhere/a\",\"/nowhere/b\"]}", NULL,
         SHOAL_AGG_IO, "/nowhere/a"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        shoal_agg_error error = {0};
        shoal_agg_bytes out;
        shoal_agg_code code =
            shoal_agg_run(NULL, cases[i].command, cases[i].options, cases[i].format, &out, &error);
        if (code != cases[i].code || strstr(error.text, cases[i].said) == NULL)
            fail_msg("case %zu: %u, %s", i, code, error.text);
        shoal_agg_bytes_free(&out);
    }
    assert_err(shoal_agg_run(NULL, NULL, NULL, NULL, NULL, NULL), SHOAL_AGG_ARGUMENT);
    shoal_agg_context *context = NULL;
    shoal_agg_bytes out;
    char line[256] = "";
    assert_ok(shoal_agg_context_new(&context, NULL));
    shoal_agg_context_set_log(context, keep_log, line);
    assert_true(shoal_agg_run(context, "merge", "{\"output\":\"/tmp/x\",\"words\":[\"/no\"]}", NULL,
                              &out, NULL) != SHOAL_AGG_OK);
    assert_non_null(strstr(line, "merge: "));
    shoal_agg_context_free(context);
}

// Bad handles, and the names of codes.
static void test_contracts(void **state)
{
    shoal_agg_recipe *recipe = NULL;
    shoal_agg_error error;
    static const char *const names[] = {"io",       "memory", "json",      "cohort",
                                        "rejected", "usage",  "signature", "alarm"};
    (void)state;
    assert_err(shoal_agg_recipe_from_json(NULL, NULL, "", 0, NULL), SHOAL_AGG_ARGUMENT);
    assert_err(shoal_agg_recipe_from_json(&recipe, NULL, "{", 1, &error), SHOAL_AGG_NOT_JSON);
    assert_err(shoal_agg_recipe_from_json(&recipe, NULL, "{}", 2, &error), SHOAL_AGG_MISSING_FIELD);
    assert_err(shoal_agg_recipe_from_json(&recipe, NULL, "{\"x\":1}", 7, &error),
               SHOAL_AGG_UNKNOWN_FIELD);
    assert_err(shoal_agg_recipe_from_file(&recipe, "/nowhere", &error), SHOAL_AGG_IO);
    assert_err(shoal_agg_recipe_from_file(&recipe, "-", &error), SHOAL_AGG_USAGE);
    assert_null(recipe);
    assert_err(shoal_agg_accumulator_new(NULL, NULL, NULL), SHOAL_AGG_ARGUMENT);
    assert_err(shoal_agg_accumulator_merge(NULL, NULL, NULL), SHOAL_AGG_ARGUMENT);
    assert_err(shoal_agg_estimate_new(NULL, NULL, NULL, 0, NULL, NULL), SHOAL_AGG_ARGUMENT);
    assert_err(shoal_agg_accumulator_save(NULL, NULL, NULL), SHOAL_AGG_ARGUMENT);
    shoal_agg_recipe_free(NULL);
    shoal_agg_accumulator_free(NULL);
    shoal_agg_estimate_free(NULL);
    shoal_agg_context_free(NULL);
    shoal_agg_bytes_free(NULL);
    assert_int_equal(shoal_agg_accumulator_n(NULL), 0);
    assert_string_equal(shoal_agg_error_name(SHOAL_AGG_OK), "ok");
    for (uint32_t i = 0; i < 8; i++)
        assert_string_equal(shoal_agg_error_name(SHOAL_AGG_IO + i), names[i]);
    assert_string_equal(shoal_agg_error_name(SHOAL_AGG_VERDICT), "verdict");
    assert_string_equal(shoal_agg_error_name(99), "unknown");
}

// ---- threads ----

typedef struct caller {
    const collection *c;
    shoal_agg_bytes acc, plan;
    bool is_good;
} caller;

static void *call_all(void *argument)
{
    caller *me = argument;
    shoal_agg_accumulator *acc = NULL, *half = NULL;
    shoal_agg_estimate *estimate = NULL;
    const size_t size = me->c->own.recipe->record_size;
    bool is_good = true;
    for (int round = 0; round < 3 && is_good; round++) {
        shoal_agg_bytes_free(&me->acc);
        shoal_agg_bytes_free(&me->plan);
        is_good =
            shoal_agg_accumulator_new(&acc, me->c->recipe, NULL) == SHOAL_AGG_OK &&
            shoal_agg_accumulator_new(&half, me->c->recipe, NULL) == SHOAL_AGG_OK &&
            shoal_agg_accumulator_add_records(acc, me->c->records, RECORDS / 2, NULL, NULL) ==
                SHOAL_AGG_OK &&
            shoal_agg_accumulator_add_records(half, me->c->records + RECORDS / 2 * size,
                                              RECORDS - RECORDS / 2, NULL, NULL) == SHOAL_AGG_OK &&
            shoal_agg_accumulator_merge(acc, half, NULL) == SHOAL_AGG_OK &&
            shoal_agg_estimate_new(&estimate, acc, NULL, 0, NULL, NULL) == SHOAL_AGG_OK &&
            shoal_agg_accumulator_to_bytes(acc, &me->acc, NULL) == SHOAL_AGG_OK &&
            shoal_agg_run(NULL, "plan", "{\"devices\":\"100k\",\"size\":5,\"epsilon\":1}", "json",
                          &me->plan, NULL) == SHOAL_AGG_OK;
        shoal_agg_accumulator_free(acc);
        shoal_agg_accumulator_free(half);
        shoal_agg_estimate_free(estimate);
        acc = half = NULL;
        estimate = NULL;
    }
    me->is_good = is_good;
    return NULL;
}

static void test_threads(void **state)
{
    collection c;
    pthread_t threads[4];
    caller callers[4];
    (void)state;
    open_collection(&c);
    for (int i = 0; i < 4; i++) {
        callers[i] = (caller){.c = &c};
        assert_int_equal(pthread_create(&threads[i], NULL, call_all, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++) {
        assert_true(callers[i].is_good);
        assert_true(callers[i].plan.len > 2 && callers[i].plan.len == callers[0].plan.len);
        assert_memory_equal(callers[i].plan.data, callers[0].plan.data, callers[0].plan.len);
        assert_int_equal(callers[i].acc.len, callers[0].acc.len);
        assert_memory_equal(callers[i].acc.data, callers[0].acc.data, callers[0].acc.len);
    }
    for (int i = 0; i < 4; i++) {
        shoal_agg_bytes_free(&callers[i].acc);
        shoal_agg_bytes_free(&callers[i].plan);
    }
    close_collection(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_same_bytes_as_ingest),
        cmocka_unit_test(test_refusals_add_nothing),
        cmocka_unit_test(test_bytes_in),
        cmocka_unit_test(test_estimates),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_run_refusals),
        cmocka_unit_test(test_contracts),
        cmocka_unit_test(test_threads),
    };
    if (mkdtemp(folder) == NULL) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const left[] = {"r.json", "in.batch", "in.ndjson", "saved.acc", "e.acc"};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) unlink(in_folder(left[i]));
    rmdir(folder);
    return failed;
}
