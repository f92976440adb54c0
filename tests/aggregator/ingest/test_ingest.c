// SPDX-License-Identifier: Apache-2.0
// What comes in: recipes, reports, streams, dictionaries and counts files, good and bad.
#include "agg_test.h"
#include "recipe.h"

#include "agg_parallel.h"
#include "batch.h"
#include "batch_ids.h"
#include "dictionary.h"
#include "domain_dictionary.h"
#include "field_text.h"
#include "hex_digits.h"
#include "reader.h"
#include "reader_bytes.h"
#include "report_json.h"
#include "text_rule.h"

#define HEAD                                                                                       \
    "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"      \
    "\"cms\","                                                                                     \
    "\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED                                                 \
    "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\""
#define LIST                                                                                       \
    "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"      \
    "\"onehot-asymmetric\","                                                                       \
    "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\""
#define P(parameters) ",\"parameters\":{" parameters "}"

typedef struct bad_recipe {
    const char *text;
    agg_err err;
    const char *says; // part of the error's text
} bad_recipe;

static void bad_recipes_are_refused(void **state)
{
    static const bad_recipe table[] = {
        {"", AGG_ERR_JSON, "not JSON"},
        {"[]", SHOAL_ERR_TYPE, "object"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16") "} x", AGG_ERR_JSON, "is not JSON"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16") ",\"nope\":1}", SHOAL_ERR_UNKNOWN_FIELD, "nope"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16,\"o\":{\"p\":1}") "}", SHOAL_ERR_UNKNOWN_FIELD,
         "parameters.o.p"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16") ",\"send.sample\":1}", SHOAL_ERR_UNKNOWN_FIELD,
         "send.sample"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16,\"k\":8") "}", SHOAL_ERR_DUPLICATE, "parameters.k"},
        {HEAD P(
             "\"epsilon\":4,\"k\":8,\"m\":16") ",\"send\":{\"sample\":1},\"send\":{\"delay_s\":1}}",
         SHOAL_ERR_DUPLICATE, "send"},
        {HEAD P("\"epsilon\":4,\"k\":8") "}", SHOAL_ERR_MISSING_FIELD, "parameters.m"},
        {HEAD P("\"epsilon\":\"4\",\"k\":8,\"m\":16") "}", SHOAL_ERR_TYPE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":true,\"k\":8,\"m\":16") "}", SHOAL_ERR_TYPE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":null,\"k\":8,\"m\":16") "}", SHOAL_ERR_TYPE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":[4],\"k\":8,\"m\":16") "}", SHOAL_ERR_UNKNOWN_FIELD,
         "parameters.epsilon is not a list"},
        {HEAD P("\"epsilon\":0,\"k\":8,\"m\":16") "}", SHOAL_ERR_RANGE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":-1,\"k\":8,\"m\":16") "}", SHOAL_ERR_RANGE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":17,\"k\":8,\"m\":16") "}", SHOAL_ERR_RANGE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":NaN,\"k\":8,\"m\":16") "}", AGG_ERR_JSON, "is not JSON"},
        {HEAD P("\"epsilon\":1e999,\"k\":8,\"m\":16") "}", SHOAL_ERR_RANGE, "parameters.epsilon"},
        {HEAD P("\"epsilon\":0.0000001,\"k\":8,\"m\":16") "}", SHOAL_ERR_RANGE, "six decimals"},
        {HEAD P("\"epsilon\":1.00000001,\"k\":8,\"m\":16") "}", SHOAL_ERR_RANGE, "six decimals"},
        {HEAD P("\"epsilon\":4,\"k\":8.5,\"m\":16") "}", SHOAL_ERR_TYPE, "parameters.k"},
        {HEAD P("\"epsilon\":4,\"k\":0,\"m\":16") "}", SHOAL_ERR_RANGE, "parameters.k"},
        {HEAD P("\"epsilon\":4,\"k\":2097152,\"m\":16") "}", SHOAL_ERR_RANGE, "parameters.k"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":1") "}", SHOAL_ERR_RANGE, "parameters.m"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":131072") "}", SHOAL_ERR_RANGE, "parameters.m"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16,\"size\":4") "}", SHOAL_ERR_UNKNOWN_FIELD,
         "parameters.size"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16") ",\"batch\":{\"minimum\":\"a\\u0000b\"}}",
         AGG_ERR_JSON, "NUL"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16") ",\"x\":\"\xff\"}", AGG_ERR_JSON, "UTF-8"},
        {LIST P("\"epsilon\":4,\"values\":[\"a\",\"b\",\"a\"]") "}", SHOAL_ERR_DUPLICATE,
         "entries 1 and 3"},
        {LIST P("\"epsilon\":4,\"values\":[\"a\",3]") "}", SHOAL_ERR_TYPE, "parameters.values"},
        {LIST P("\"epsilon\":4,\"values\":[\"a\",\"\"]") "}", SHOAL_ERR_RANGE, "parameters.values"},
        {LIST P("\"epsilon\":4,\"values\":[]") "}", SHOAL_ERR_MISSING_FIELD, "parameters.values"},
        {HEAD P("\"epsilon\":4,\"k\":8,\"m\":16,\"values\":[]") "}", SHOAL_ERR_MISSING_FIELD,
         "parameters.values"},
        {LIST P("\"epsilon\":4,\"values\":[\"a\"]") "}", SHOAL_ERR_RANGE, "parameters.size"},
        {LIST P("\"epsilon\":4,\"values\":[\"a\",\"b\"],\"values\":[\"c\"]") "}",
         SHOAL_ERR_DUPLICATE, "values"},
        {LIST P("\"epsilon\":4,\"values\":[\"a\",\"b\"],\"size\":2") "}", SHOAL_ERR_DUPLICATE,
         "parameters.size"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        agg_recipe recipe;
        agg_error error = {SHOAL_OK, 0, ""};
        agg_err err = agg_recipe_from_bytes(&recipe, &error, "file.json", table[i].text,
                                            strlen(table[i].text));
        if (err != table[i].err || strstr(error.text, table[i].says) == NULL)
            fail_msg("case %zu: %d, %s", i, (int)err, error.text);
        assert_int_equal(strncmp(error.text, "file.json: ", 11), 0);
        assert_int_equal(error.exit_code, AGG_EXIT_USAGE);
    }
}

static void values_are_found(void **state)
{
    static const char text[] =
        LIST P("\"epsilon\":4,\"values\":[\"pear\",\"fig\",\"apple\",\"figs\"]") "}";
    agg_recipe recipe;
    uint64_t item = 99;
    (void)state;
    read_recipe(&recipe, text);
    static const char *const values[] = {"pear", "fig", "apple", "figs"};
    for (uint64_t i = 0; i < 4; i++) {
        assert_true(agg_recipe_item(&item, &recipe, values[i], strlen(values[i])));
        assert_int_equal(item, i);
    }
    assert_false(agg_recipe_item(&item, &recipe, "fi", 2));
    assert_false(agg_recipe_item(&item, &recipe, "figss", 5));
    assert_false(agg_recipe_item(&item, &recipe, "", 0));
    agg_recipe_release(&recipe);
    read_recipe(&recipe, LIST P("\"epsilon\":4,\"size\":12") "}");
    assert_true(agg_recipe_item(&item, &recipe, "11", 2));
    assert_int_equal(item, 11);
    assert_false(agg_recipe_item(&item, &recipe, "12", 2));
    assert_false(agg_recipe_item(&item, &recipe, "01", 2));
    assert_false(agg_recipe_item(&item, &recipe, "-1", 2));
    assert_false(agg_recipe_item(&item, &recipe, "99999999999999999999", 20));
    agg_recipe_release(&recipe);
}

static char *print_report(const agg_recipe *recipe, const uint8_t *record)
{
    size_t len = agg_report_size(recipe);
    char *json = malloc(len + 1);
    assert_non_null(json);
    assert_err(agg_report_print(json, len - 1, recipe, record), SHOAL_ERR_SPACE);
    assert_ok(agg_report_print(json, len, recipe, record));
    json[len] = '\0';
    return json;
}

static void reports_come_back(void **state)
{
    static const char *const mechanisms[] = {"cms", "hcms", ""};
    (void)state;
    for (size_t c = 0; c < 3; c++) {
        agg_recipe recipe;
        agg_error error = {SHOAL_OK, 0, ""};
        uint8_t back[64];
        if (c < 2)
            sketch_recipe(&recipe, mechanisms[c], 0.25, 300, 64);
        else
            read_recipe(&recipe, LIST P("\"epsilon\":1.000001,\"values\":[\"a\",\"b\",\"c\"]") "}");
        uint8_t *records = make_records(&recipe, 50, 0);
        for (uint32_t i = 0; i < 50; i++) {
            const uint8_t *record = records + i * recipe.recipe->record_size;
            char *json = print_report(&recipe, record);
            if (agg_report_parse(back, &error, &recipe, json, strlen(json)) != SHOAL_OK)
                fail_msg("%s", error.text);
            assert_memory_equal(back, record, recipe.recipe->record_size);
            if (c == 0)
                assert_non_null(
                    strstr(json, "\"parameters\":{\"epsilon\":0.25,\"k\":300,\"m\":64}"));
            if (c == 2)
                assert_non_null(strstr(json, "\"parameters\":{\"epsilon\":1.000001,\"size\":3}"));
            free(json);
        }
        free(records);
        agg_recipe_release(&recipe);
    }
}

static void bad_reports_are_refused(void **state)
{
    agg_recipe recipe;
    agg_error error;
    uint8_t record[64];
    char good[1024], text[1024];
    (void)state;
    sketch_recipe(&recipe, "hcms", 4, 10, 16);
    const char *h = recipe.hash_hex;
    const char *format =
        "{\"key\":\"%s\",\"recipe_hash\":\"%s\",\"parameters\":{%s},\"records\":[%s]%s}";
    const char *p = "\"epsilon\":4,\"k\":10,\"m\":16";
    snprintf(good, sizeof good, format, "test", h, p, "\"3,05,1\"", "");
    assert_ok(agg_report_parse(record, &error, &recipe, good, strlen(good)));
    const struct {
        const char *key, *hash, *parameters, *records, *extra;
        agg_err err;
    } table[] = {
        {"other", h, p, "\"3,05,1\"", "", SHOAL_ERR_RECIPE_HASH},
        {"test", "00", p, "\"3,05,1\"", "", SHOAL_ERR_RECIPE_HASH},
        {"test", h, "\"epsilon\":4,\"k\":10", "\"3,05,1\"", "", SHOAL_ERR_MISSING_FIELD},
        {"test", h, "\"epsilon\":4,\"k\":10,\"m\":16,\"size\":3", "\"3,05,1\"", "",
         SHOAL_ERR_UNKNOWN_FIELD},
        {"test", h, "\"epsilon\":4,\"k\":10,\"m\":16,\"m\":16", "\"3,05,1\"", "",
         SHOAL_ERR_DUPLICATE},
        {"test", h, "\"epsilon\":4.5,\"k\":10,\"m\":16", "\"3,05,1\"", "", SHOAL_ERR_RANGE},
        {"test", h, "\"epsilon\":\"4\",\"k\":10,\"m\":16", "\"3,05,1\"", "", SHOAL_ERR_TYPE},
        {"test", h, p, "", "", SHOAL_ERR_TYPE},
        {"test", h, p, "\"3,05,1\",\"3,05,1\"", "", SHOAL_ERR_TYPE},
        {"test", h, p, "7", "", SHOAL_ERR_TYPE},
        {"test", h, p, "\"3,05\"", "", SHOAL_ERR_TRUNCATED},
        {"test", h, p, "\"3,05,1 \"", "", SHOAL_ERR_EXTRA},
        {"test", h, p, "\"3,99,1\"", "", SHOAL_ERR_RANGE},
        {"test", h, p, "\"3,0x,1\"", "", SHOAL_ERR_TYPE},
        {"test", h, p, "\"3,05,1\"", ",\"when\":1", SHOAL_ERR_UNKNOWN_FIELD},
        {"test", h, p, "\"3,05,1\"", ",\"key\":\"test\"", SHOAL_ERR_DUPLICATE},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        snprintf(text, sizeof text, format, table[i].key, table[i].hash, table[i].parameters,
                 table[i].records, table[i].extra);
        agg_err err = agg_report_parse(record, &error, &recipe, text, strlen(text));
        if (err != table[i].err) fail_msg("case %zu: %d, %s", i, (int)err, error.text);
    }
    for (size_t cut = 0; cut < strlen(good); cut++) {
        // Exactly cut bytes, so that a read beyond them is seen by the address checker.
        char *start = malloc(cut > 0 ? cut : 1);
        assert_non_null(start);
        memcpy(start, good, cut);
        assert_int_not_equal((int)agg_report_parse(record, &error, &recipe, start, cut),
                             (int)SHOAL_OK);
        free(start);
    }
    agg_recipe_release(&recipe);
}

typedef struct collected {
    uint8_t bytes[65536];
    size_t len;
    uint32_t runs, told;
    char first[512];
} collected;

static agg_err collect(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    collected *c = context;
    (void)error;
    for (uint32_t i = 0; i < n_runs; i++) {
        assert_true(c->len + runs[i].count * 8 <= sizeof c->bytes);
        memcpy(c->bytes + c->len, runs[i].records, runs[i].count * 8);
        c->len += runs[i].count * 8;
        c->runs++;
    }
    return SHOAL_OK;
}

static void hear(void *context, const char *text)
{
    collected *c = context;
    if (c->told++ == 0) snprintf(c->first, sizeof c->first, "%s", text);
}

static agg_err read_stream(collected *c, agg_read_count *count, agg_error *error,
                           const agg_recipe *recipe, const void *bytes, size_t len)
{
    agg_reader reader = {recipe, collect, c, hear, c, NULL, NULL, 1};
    memset(c, 0, sizeof *c);
    memset(count, 0, sizeof *count);
    return reader_bytes(count, error, &reader, "stream", bytes, len);
}

// Three batches of 5, 1 and 40 records behind one another.
static size_t make_batches(uint8_t *out, const agg_recipe *recipe, const uint8_t *records)
{
    static const uint32_t counts[] = {5, 1, 40};
    size_t len = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t id[16] = {(uint8_t)i};
        size_t size = shoal_batch_size(recipe->recipe, counts[i]);
        memcpy(out + len + SHOAL_BATCH_HEADER, records + first * 8, counts[i] * 8);
        assert_ok(shoal_batch_seal(out + len, size, recipe->recipe, counts[i], 20780, id));
        len += size;
        first += counts[i];
    }
    return len;
}

static void batches_are_read(void **state)
{
    agg_recipe recipe;
    agg_error error;
    agg_read_count count;
    static collected c;
    static uint8_t stream[4096];
    (void)state;
    sketch_recipe(&recipe, "hcms", 4, 10, 16);
    uint8_t *records = make_records(&recipe, 46, 0);
    size_t len = make_batches(stream, &recipe, records);
    assert_ok(read_stream(&c, &count, &error, &recipe, stream, len));
    assert_int_equal(count.batches, 3);
    assert_int_equal(count.records, 46);
    assert_int_equal(count.bytes, len);
    assert_int_equal(c.len, 46 * 8);
    assert_memory_equal(c.bytes, records, c.len);
    size_t starts[] = {0, 136, 240, len};
    assert_int_equal(len, 240 + 88 + 320 + 8);
    for (size_t cut = 1; cut < len; cut++) {
        agg_err err = read_stream(&c, &count, &error, &recipe, stream, cut);
        size_t whole = 0;
        while (starts[whole + 1] <= cut) whole++;
        assert_int_equal(count.batches, whole);
        if (cut == starts[whole])
            assert_ok(err);
        else
            assert_err(err, SHOAL_ERR_TRUNCATED);
    }
    for (size_t bit = 0; bit < 8 * len; bit++) {
        stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
        agg_err err = read_stream(&c, &count, &error, &recipe, stream, len);
        size_t whole = bit / 8 < 136 ? 0 : bit / 8 < 240 ? 1 : 2;
        // A stream that does not start with the magic is taken for lines, and every one is bad.
        if (bit / 8 < 8)
            assert_true(err == SHOAL_OK && count.rejected == count.lines && count.records == 0);
        else
            assert_true(err != SHOAL_OK && count.batches == whole);
        stream[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    stream[136 + 96] ^= 1;
    assert_err(read_stream(&c, &count, &error, &recipe, stream, len), SHOAL_ERR_CHECKSUM);
    assert_non_null(strstr(error.text, "stream: batch 2: "));
    free(records);
    agg_recipe_release(&recipe);
}

static void batches_of_another_recipe_are_refused(void **state)
{
    agg_recipe recipe, other;
    agg_error error;
    agg_read_count count;
    static collected c;
    static uint8_t stream[4096];
    (void)state;
    sketch_recipe(&recipe, "hcms", 4, 10, 16);
    sketch_recipe(&other, "hcms", 5, 10, 16);
    uint8_t *records = make_records(&recipe, 46, 0);
    size_t len = make_batches(stream, &recipe, records);
    assert_err(read_stream(&c, &count, &error, &other, stream, len), SHOAL_ERR_RECIPE_HASH);
    assert_int_equal(c.len, 0);
    assert_int_equal(error.exit_code, AGG_EXIT_RUNTIME);
    free(records);
    agg_recipe_release(&recipe);
    agg_recipe_release(&other);
}

static void lines_are_read_and_bad_ones_counted(void **state)
{
    enum { COUNT = 5000 };
    agg_recipe recipe;
    agg_error error;
    agg_read_count count;
    static collected c;
    (void)state;
    sketch_recipe(&recipe, "hcms", 4, 10, 16);
    uint8_t *records = make_records(&recipe, COUNT, 0);
    size_t line = agg_report_size(&recipe), len = 0, long_len = (size_t)3 << 18;
    char *text = malloc(COUNT * (line + 2) + 20 * 32 + long_len + 1);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ok(agg_report_print(text + len, line, &recipe, records + i * 8));
        len += line;
        if (i % 2 == 1) text[len++] = '\r';
        if (i < COUNT - 1) text[len++] = '\n'; // the last line ends with the file
        if (i == 10)
            for (int bad = 0; bad < 20; bad++)
                len += (size_t)sprintf(text + len, "{\"secret%d\":1}\n\n", bad);
        if (i == 20) {
            memset(text + len, 'x', long_len);
            len += long_len;
            text[len++] = '\n';
        }
    }
    assert_ok(read_stream(&c, &count, &error, &recipe, text, len));
    assert_int_equal(count.lines, COUNT + 21);
    assert_int_equal(count.rejected, 21);
    assert_int_equal(count.records, COUNT);
    assert_int_equal(c.told, AGG_LOG_LINES_MAX);
    assert_string_equal(c.first, "stream: line 12: unknown field");
    assert_int_equal(c.len, COUNT * 8);
    assert_memory_equal(c.bytes, records, c.len);
    free(text);
    free(records);
    agg_recipe_release(&recipe);
}

// A stream of many kinds of lines: the recipe's own, with their fields in another order, with and
// without \r, empty, bad, over-long.
static char *make_lines(size_t *len, const agg_recipe *recipe, const uint8_t *records,
                        uint32_t count, size_t bad_after)
{
    size_t line = agg_report_size(recipe), long_len = (size_t)3 << 18;
    char *text = malloc(count * (line + 16) + long_len), *to = text;
    assert_non_null(text);
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(agg_report_print(to, line, recipe, records + i * 8));
        if (i % 1009 == 5) to[0] = ' '; // no JSON
        if (i % 3001 == 7) memcpy(to + line - 4, "9\"]}", 4);
        to += line;
        if (i % 70001 == 9) *to++ = ' '; // JSON still, and another length
        if (i % 7 == 1) *to++ = '\r';
        if (i % 911 == 3) *to++ = '\n';
        if (i < count - 1) *to++ = '\n';
        if (i == bad_after) {
            memset(to, 'x', long_len);
            to += long_len;
            *to++ = '\n';
        }
    }
    *len = (size_t)(to - text);
    return text;
}

typedef struct told {
    uint64_t records, sum; // of the records in their order
    char words[AGG_LOG_LINES_MAX + 1][160];
    uint32_t n_words, n_runs;
} told;

static agg_err sum_up(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    told *t = context;
    (void)error;
    assert_in_range(n_runs, 1, AGG_RUNS_MAX);
    for (uint32_t i = 0; i < n_runs; i++) {
        assert_true(runs[i].count > 0);
        for (size_t b = 0; b < runs[i].count * (size_t)8; b++)
            t->sum = t->sum * 0x100000001b3u + runs[i].records[b];
        t->records += runs[i].count;
        t->n_runs++;
    }
    return SHOAL_OK;
}

static void note(void *context, const char *text)
{
    told *t = context;
    assert_true(t->n_words < AGG_LOG_LINES_MAX);
    snprintf(t->words[t->n_words++], sizeof t->words[0], "%s", text);
}

static char *write_file(const void *bytes, size_t len)
{
    static char path[32];
    strcpy(path, "/tmp/shoal-test-XXXXXX");
    int file = mkstemp(path);
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    assert_int_equal(fclose(stream), 0);
    return path;
}

// What threads give out themselves, in any order: records in a sum that does not know one, by parts
// that are never two at a time.
typedef struct shared_told {
    told told;
    agg_lock guard;
    uint8_t is_busy[AGG_THREADS_MAX];
    uint64_t sum, fail_at; // fails when there are as many records
    uint32_t n_shared, n_together;
} shared_told;

static uint64_t sum_of_records(const uint8_t *records, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t hash = 1;
        for (uint32_t b = 0; b < 8; b++) hash = (hash + records[8 * i + b]) * 0x100000001b3u;
        sum += hash;
    }
    return sum;
}

static void set_busy(shared_told *t, unsigned part, int is_busy)
{
    agg_lock_take(&t->guard);
    if (part >= AGG_THREADS_MAX || t->is_busy[part] == is_busy)
        abort(); // not on a thread that cmocka knows
    t->is_busy[part] = (uint8_t)is_busy;
    agg_lock_leave(&t->guard);
}

static agg_err sum_share(void *context, agg_error *error, unsigned part, const agg_run *run)
{
    shared_told *t = context;
    set_busy(t, part, 1);
    uint64_t sum = sum_of_records(run->records, run->count);
    agg_lock_take(&t->guard);
    t->sum += sum;
    t->told.records += run->count;
    t->n_shared++;
    int is_failure = t->told.records >= t->fail_at;
    agg_lock_leave(&t->guard);
    set_busy(t, part, 0);
    return is_failure ? agg_fail(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME, "enough") : SHOAL_OK;
}

static agg_err sum_alone(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    shared_told *t = context;
    (void)error;
    for (unsigned part = 0; part < AGG_THREADS_MAX; part++) assert_false(t->is_busy[part]);
    for (uint32_t i = 0; i < n_runs; i++) t->sum += sum_of_records(runs[i].records, runs[i].count);
    for (uint32_t i = 0; i < n_runs; i++) t->told.records += runs[i].count;
    t->n_together += n_runs == 0;
    return SHOAL_OK;
}

// Threads that give out what they have checked: the same records, counts, complaints and error as
// of one thread.
static void same_when_shared(const agg_recipe *recipe, const char *path, agg_err expected)
{
    static const unsigned threads[] = {1, 2, 3, 16, 300};
    static const uint32_t spans[] = {1000, 1000, UINT32_MAX, 1, 12345};
    static shared_told one, other;
    agg_error error = {SHOAL_OK, 0, ""}, error2 = {SHOAL_OK, 0, ""};
    agg_read_count count = {0, 0, 0, 0, 0};
    memset(&one, 0, sizeof one);
    agg_reader reader = {recipe, sum_alone, &one, note, &one, NULL, NULL, 4};
    assert_err(agg_reader_file(&count, &error, &reader, path), expected);
    reader.sink_context = reader.log_context = &other;
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        agg_read_count count2 = {0, 0, 0, 0, 0};
        memset(&other, 0, sizeof other);
        assert_true(agg_lock_init(&other.guard));
        other.fail_at = UINT64_MAX;
        reader.n_threads = threads[i];
        assert_err(agg_reader_file_shared(&count2, &error2, &reader, sum_share, spans[i], path),
                   expected);
        assert_string_equal(error2.text, error.text);
        assert_memory_equal(&count2, &count, sizeof count);
        assert_true(other.told.records >= one.told.records); // batches behind a damaged one
        if (expected == SHOAL_OK)
            assert_true(other.told.records == one.told.records && other.sum == one.sum);
        assert_int_equal(other.n_shared > 0, threads[i] > 1);
        if (expected == SHOAL_OK) assert_int_equal(other.n_together > 0, threads[i] > 1);
        assert_memory_equal(other.told.words, one.told.words, sizeof one.told.words);
        agg_lock_release(&other.guard);
    }
    // One that fails ends it.
    agg_read_count count2 = {0, 0, 0, 0, 0};
    memset(&other, 0, sizeof other);
    assert_true(agg_lock_init(&other.guard));
    reader.n_threads = 3;
    assert_err(agg_reader_file_shared(&count2, &error2, &reader, sum_share, 1000, path),
               SHOAL_ERR_OVERFLOW);
    assert_string_equal(error2.text, "enough");
    assert_in_range(other.n_shared, 1, 3);
    agg_lock_release(&other.guard);
}

// From memory by one thread, as the reference; by several; from a file, mapped and not: records in
// their order, counts, complaints and the error are the same.
static void same_by_any_way(const agg_recipe *recipe, const void *bytes, size_t len,
                            agg_err expected)
{
    static const unsigned threads[] = {2, 3, 16, 300};
    static told first, other;
    agg_error error = {SHOAL_OK, 0, ""}, error2;
    agg_read_count count = {0, 0, 0, 0, 0};
    agg_reader reader = {recipe, sum_up, &first, note, &first, NULL, NULL, 1};
    memset(&first, 0, sizeof first);
    const char *path = write_file(bytes, len);
    assert_err(reader_bytes(&count, &error, &reader, path, bytes, len), expected);
    reader.sink_context = reader.log_context = &other;
    for (size_t i = 0; i < 9; i++) {
        agg_read_count count2 = {0, 0, 0, 0, 0};
        memset(&other, 0, sizeof other);
        error2 = (agg_error){SHOAL_OK, 0, ""};
        reader.n_threads = threads[i / 2 % 4];
        FILE *stream = i == 8 ? fopen(path, "rb") : NULL;
        agg_err err = i == 8       ? agg_reader_stream(&count2, &error2, &reader, path, stream)
                      : i % 2 == 0 ? reader_bytes(&count2, &error2, &reader, path, bytes, len)
                                   : agg_reader_file(&count2, &error2, &reader, path);
        if (stream != NULL) fclose(stream);
        assert_err(err, expected);
        assert_string_equal(error2.text, error.text);
        assert_int_equal(count2.records, count.records);
        assert_int_equal(count2.lines, count.lines);
        assert_int_equal(count2.batches, count.batches);
        assert_int_equal(count2.rejected, count.rejected);
        assert_int_equal(other.records, first.records);
        assert_true(other.sum == first.sum);
        assert_int_equal(other.n_words, first.n_words);
        assert_memory_equal(other.words, first.words, sizeof first.words);
    }
    same_when_shared(recipe, path, expected);
    remove(path);
}

static void threads_and_files_change_nothing(void **state)
{
    enum { COUNT = 30000 }; // 6 MB of lines: several shares of 1 MiB
    agg_recipe recipe;
    size_t len = 0;
    (void)state;
    sketch_recipe(&recipe, "hcms", 4, 10, 16);
    uint8_t *records = make_records(&recipe, COUNT, 0);
    for (size_t bad_after = 100; bad_after <= COUNT; bad_after += 14000) {
        char *text = make_lines(&len, &recipe, records, COUNT, bad_after);
        assert_true(len > 5000000);
        same_by_any_way(&recipe, text, len, SHOAL_OK);
        same_by_any_way(&recipe, text, len - 1, SHOAL_OK); // the last line is cut
        free(text);
    }
    // 600 batches of 1 to 99 records; then one of them damaged, its last cut, another recipe's.
    uint8_t *stream = malloc(600 * 1024), *to = stream, *damaged = NULL;
    assert_non_null(stream);
    for (uint32_t i = 0, first = 0; i < 600; i++) {
        uint32_t n = 1 + i * 37 % 99;
        uint8_t id[16] = {(uint8_t)i, (uint8_t)(i >> 8)};
        size_t size = shoal_batch_size(recipe.recipe, n);
        memcpy(to + SHOAL_BATCH_HEADER, records + first * 8, n * 8);
        assert_ok(shoal_batch_seal(to, size, recipe.recipe, n, 20780, id));
        if (i == 411) damaged = to;
        first += n;
        to += size;
    }
    len = (size_t)(to - stream);
    same_by_any_way(&recipe, stream, len, SHOAL_OK);
    same_by_any_way(&recipe, stream, len - 1, SHOAL_ERR_TRUNCATED);
    same_by_any_way(&recipe, stream, len - 70, SHOAL_ERR_TRUNCATED);
    damaged[23] = 1;
    same_by_any_way(&recipe, stream, len, SHOAL_ERR_DAY_LATE);
    damaged[23] = 0;
    damaged[60] ^= 1;
    same_by_any_way(&recipe, stream, len, SHOAL_ERR_CHECKSUM);
    free(stream);
    free(records);
    agg_recipe_release(&recipe);
}

// Records of every instruction set's reader are the core's, digit by digit: each character at each
// place of texts of several lengths.
static void digits_are_read_alike(void **state)
{
    static const uint32_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 128, 200};
    char digits[400];
    uint8_t bytes[200], expected[200];
    (void)state;
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu <= agg_cpu_best(); cpu++) {
        agg_hex_digits read = agg_hex_digits_of(cpu);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            char *own =
                malloc(2 * sizes[s]); // so that a read beyond them is seen by the address checker
            assert_non_null(own);
            for (uint32_t i = 0; i < sizes[s]; i++) expected[i] = (uint8_t)(i * 151 + s);
            shoal_print_hex(digits, expected, sizes[s]);
            for (uint32_t i = 0; i < 2 * sizes[s]; i++) {
                for (int c = -128; c < 128; c++) {
                    const char *at = own;
                    uint8_t theirs[200];
                    memcpy(own, digits, 2 * sizes[s]);
                    own[i] = (char)c;
                    int is_good = shoal_parse_hex(theirs, sizes[s], &at) == SHOAL_OK;
                    assert_int_equal(read(bytes, sizes[s], own), is_good);
                    if (is_good) assert_memory_equal(bytes, theirs, sizes[s]);
                }
            }
            free(own);
        }
    }
}

static void an_empty_stream_is_empty(void **state)
{
    agg_recipe recipe;
    agg_error error;
    agg_read_count count;
    static collected c;
    (void)state;
    sketch_recipe(&recipe, "hcms", 4, 10, 16);
    assert_ok(read_stream(&c, &count, &error, &recipe, "", 0));
    assert_int_equal(count.records + count.lines, 0);
    agg_recipe_release(&recipe);
}

static void ids_are_remembered(void **state)
{
    agg_batch_ids set = {NULL, NULL, 0, 0};
    agg_error error;
    bool was_there = false;
    (void)state;
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < 3000; i++) {
            uint8_t id[16] = {(uint8_t)i, (uint8_t)(i >> 8)};
            assert_ok(agg_batch_ids_add(&set, &error, id, &was_there));
            assert_int_equal(was_there, round == 1);
        }
    assert_int_equal(set.n, 3000);
    agg_batch_ids_release(&set);
}

static agg_err parse_counts(agg_dictionary *out, agg_error *error, const agg_recipe *recipe,
                            const char *text)
{
    return agg_dictionary_parse(out, error, recipe, "counts.tsv", text, strlen(text), true, NULL,
                                NULL);
}

static void bad_counts_name_their_line(void **state)
{
    static const struct {
        const char *text, *says;
        agg_err err;
    } table[] = {
        {"", "no value", SHOAL_ERR_RANGE},
        {"a\t1\nb 2\n", "line 2: a tab", SHOAL_ERR_TYPE},
        {"a\t1\nb\t-2\n", "line 2: the count is negative", SHOAL_ERR_RANGE},
        {"a\t1\nb\t2.5\n", "line 2: the count is not a whole", SHOAL_ERR_TYPE},
        {"a\t1\nb\t2e3\n", "line 2: the count is not a whole", SHOAL_ERR_TYPE},
        {"a\t1\nb\t 2\n", "line 2: the count is not a whole", SHOAL_ERR_TYPE},
        {"a\t1\nb\t2\t3\n", "line 2: the count is not a whole", SHOAL_ERR_TYPE},
        {"a\t1\nb\t\n", "line 2: the count is missing", SHOAL_ERR_TYPE},
        {"a\t1\nb\t9007199254740993\n", "line 2: the count is over", SHOAL_ERR_OVERFLOW},
        {"a\t1\nb\t99999999999999999999999\n", "line 2: the count is over", SHOAL_ERR_OVERFLOW},
        {"a\t1\nb\t9007199254740992\n", "line 2: the sum", SHOAL_ERR_OVERFLOW},
        {"a\t1\nb\t1\nc\t1\nb\t4\n", "line 4: the value came before", SHOAL_ERR_DUPLICATE},
        {"a\t1\n\t4\n", "line 2: the value is empty", SHOAL_ERR_RANGE},
        {"a\t1\n\nb\t4\n", "line 2: the value is empty", SHOAL_ERR_RANGE},
        {"a\t0\nb\t0\n", "sum to zero", SHOAL_ERR_RANGE},
    };
    agg_recipe recipe;
    (void)state;
    sketch_recipe(&recipe, "cms", 4, 10, 16);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        agg_dictionary counts;
        agg_error error = {SHOAL_OK, 0, ""};
        agg_err err = parse_counts(&counts, &error, &recipe, table[i].text);
        if (err != table[i].err || strstr(error.text, table[i].says) == NULL)
            fail_msg("case %zu: %d, %s", i, (int)err, error.text);
        assert_int_equal(strncmp(error.text, "counts.tsv: ", 12), 0);
    }
    agg_dictionary counts;
    agg_error error;
    assert_err(
        agg_dictionary_parse(&counts, &error, &recipe, "c", "a\0b\t1\n", 6, true, NULL, NULL),
        SHOAL_ERR_TYPE);
    agg_recipe_release(&recipe);
}

static void good_counts_are_read(void **state)
{
    agg_recipe recipe;
    agg_dictionary counts;
    agg_error error;
    (void)state;
    sketch_recipe(&recipe, "cms", 4, 10, 16);
    assert_ok(parse_counts(&counts, &error, &recipe,
                           "\xef\xbb\xbf"
                           "b\t3\r\na c\t0\nz\t9007199254740989"));
    assert_int_equal(counts.n, 3);
    assert_int_equal(counts.total, 9007199254740992);
    assert_int_equal(counts.counts[0], 3);
    assert_int_equal(counts.values[0].len, 1);
    assert_memory_equal(counts.values[1].bytes, "a c", 3);
    assert_int_equal(counts.items[0],
                     shoal_part_item(&recipe.recipe->parts[0], (const uint8_t *)"b", 1));
    agg_dictionary_release(&counts);
    agg_recipe_release(&recipe);
}

static void dictionaries_warn_of_changed_lines(void **state)
{
    // The third line is "e" and a combining acute: NFC composes it.
    static const char text[] = "plain\nUpper\ne\xcc\x81tude\n\xc3\xa9tude\tnote\nplain\nab\xff\n";
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_error error;
    static collected c;
    (void)state;
    sketch_recipe(&recipe, "cms", 4, 10, 16);
    memset(&c, 0, sizeof c);
    assert_ok(agg_dictionary_parse(&dictionary, &error, &recipe, "words", text, strlen(text), false,
                                   hear, &c));
    assert_int_equal(dictionary.n, 5);
    assert_int_equal(dictionary.n_changed, 3);
    assert_int_equal(dictionary.n_repeated, 1);
    assert_int_equal(c.told, 4);
    assert_non_null(strstr(c.first, "words: line 2: "));
    assert_null(strstr(c.first, "Upper"));
    agg_dictionary_release(&dictionary);
    agg_recipe_release(&recipe);
}

static void text_rules_are_followed(void **state)
{
    shoal_recipe recipe = {.text_form = SHOAL_FORM_NFC, .text_case = SHOAL_CASE_LOWER};
    (void)state;
    recipe.text_min = 2;
    recipe.text_max = 4;
    assert_true(agg_text_is_kept(&recipe, "abcd", 4));
    assert_true(agg_text_is_kept(&recipe, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8));
    assert_false(agg_text_is_kept(&recipe, "a", 1));
    assert_false(agg_text_is_kept(&recipe, "abcde", 5));
    assert_false(agg_text_is_kept(&recipe, "\xc3\x89t", 3)); // capital E acute
    assert_false(agg_text_is_kept(&recipe, "\xce\xa3t", 3)); // capital sigma
    assert_false(agg_text_is_kept(&recipe, "\xc4\xb0t", 3)); // capital I with a dot
    assert_false(agg_text_is_kept(&recipe, "ab\xc3", 3));
    recipe.text_case = SHOAL_CASE_KEEP;
    assert_true(agg_text_is_kept(&recipe, "AB", 2));
    assert_false(agg_text_is_kept(&recipe, "e\xcc\x81z", 4));
    recipe.text_form = SHOAL_FORM_NONE;
    assert_true(agg_text_is_kept(&recipe, "e\xcc\x81z", 4));
}

static void closed_dictionaries_come_from_the_recipe(void **state)
{
    agg_recipe recipe;
    agg_dictionary dictionary;
    agg_error error;
    (void)state;
    read_recipe(&recipe, LIST P("\"epsilon\":4,\"values\":[\"pear\",\"fig\"]") "}");
    assert_ok(agg_dictionary_of_recipe(&dictionary, &error, &recipe));
    assert_int_equal(dictionary.n, 2);
    assert_memory_equal(dictionary.values[1].bytes, "fig", 3);
    assert_int_equal(dictionary.items[1], 1);
    agg_dictionary_release(&dictionary);
    assert_err(agg_dictionary_parse(&dictionary, &error, &recipe, "d", "fig\nplum\n", 9, false,
                                    NULL, NULL),
               SHOAL_ERR_RANGE);
    assert_non_null(strstr(error.text, "d: line 2: "));
    agg_recipe_release(&recipe);
    read_recipe(&recipe, LIST P("\"epsilon\":4,\"size\":11") "}");
    assert_ok(agg_dictionary_of_recipe(&dictionary, &error, &recipe));
    assert_int_equal(dictionary.n, 11);
    assert_memory_equal(dictionary.values[10].bytes, "10", 2);
    assert_int_equal(dictionary.items[10], 10);
    agg_dictionary_release(&dictionary);
    agg_recipe_release(&recipe);
    sketch_recipe(&recipe, "cms", 4, 10, 16);
    assert_err(agg_dictionary_of_recipe(&dictionary, &error, &recipe), SHOAL_ERR_ARGUMENT);
    agg_recipe_release(&recipe);
}

static void error_texts_are_cut_not_overrun(void **state)
{
    agg_error error;
    char long_text[600];
    (void)state;
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    assert_err(agg_fail(&error, SHOAL_ERR_RANGE, 1, "%s", long_text), SHOAL_ERR_RANGE);
    agg_error_prefix(&error, "file");
    assert_int_equal(strncmp(error.text, "file: xxx", 9), 0);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    agg_error_prefix(&error, "%s", long_text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_string_equal(agg_err_name(AGG_ERR_USAGE), "usage");
    assert_string_equal(agg_err_name(SHOAL_ERR_RANGE), "range");
    assert_string_equal(agg_err_name((agg_err)4000), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bad_recipes_are_refused),
                                       cmocka_unit_test(values_are_found),
                                       cmocka_unit_test(reports_come_back),
                                       cmocka_unit_test(bad_reports_are_refused),
                                       cmocka_unit_test(batches_are_read),
                                       cmocka_unit_test(batches_of_another_recipe_are_refused),
                                       cmocka_unit_test(lines_are_read_and_bad_ones_counted),
                                       cmocka_unit_test(threads_and_files_change_nothing),
                                       cmocka_unit_test(digits_are_read_alike),
                                       cmocka_unit_test(an_empty_stream_is_empty),
                                       cmocka_unit_test(ids_are_remembered),
                                       cmocka_unit_test(bad_counts_name_their_line),
                                       cmocka_unit_test(good_counts_are_read),
                                       cmocka_unit_test(dictionaries_warn_of_changed_lines),
                                       cmocka_unit_test(text_rules_are_followed),
                                       cmocka_unit_test(closed_dictionaries_come_from_the_recipe),
                                       cmocka_unit_test(error_texts_are_cut_not_overrun)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
