// SPDX-License-Identifier: Apache-2.0
// Reports in: NDJSON and batches through the aggregator's reader, and the hex of a record by
// itself. All of it is checked input. Naive: what one writes first, without the checks.
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "bench.h"
#include "field_text.h"
#include "hex_digits.h"
#include "reader.h"
#include "reader_bytes.h"
#include "report_json.h"

#define REPORTS 100000u
#define NAIVE_REPORTS 10000u
#define COLUMNS 1024u
#define BITS (COLUMNS / 8)

typedef struct parse {
    agg_recipe recipe;
    agg_reader reader;
    uint8_t *records;
    uint8_t *batches;
    size_t batch_size;
    char *reports; // NDJSON
    size_t report_size;
    char *hex; // 2 * BITS digits a record
} parse;

static agg_err take(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    (void)context;
    (void)error;
    for (uint32_t i = 0; i < n_runs; i++) bench_keep(runs[i].records[0] + runs[i].count);
    return SHOAL_OK;
}

static void read_stream(const parse *p, const void *bytes, size_t len)
{
    agg_error error;
    agg_read_count count = {0, 0, 0, 0, 0};
    bench_check(reader_bytes(&count, &error, &p->reader, "bench", bytes, len),
                "the stream is refused");
    if (count.records != REPORTS) bench_die("records were lost");
}

static void real_ndjson(void *context)
{
    const parse *p = context;
    read_stream(p, p->reports, REPORTS * p->report_size);
}

// Two digits at a time, as strtoul would have it.
static void plain_hex(uint8_t *bits, const char *text)
{
    char two[3] = "";
    for (uint32_t i = 0; i < BITS; i++) {
        memcpy(two, text + 2 * i, 2);
        bits[i] = (uint8_t)strtoul(two, NULL, 16);
    }
}

static void naive_ndjson(void *context)
{
    const parse *p = context;
    uint8_t bits[BITS];
    for (uint32_t i = 0; i < NAIVE_REPORTS; i++) {
        cJSON *json = cJSON_ParseWithLength(p->reports + i * p->report_size, p->report_size);
        const char *text = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "records"), 0)->valuestring;
        char *comma = NULL;
        bench_keep(strtoul(text, &comma, 10));
        plain_hex(bits, comma + 1);
        bench_keep(bits[0]);
        cJSON_Delete(json);
    }
}

static void read_ndjson(void *context)
{
    const parse *p = context;
    bench_keep(bench_read(p->reports, REPORTS * p->report_size));
}

static void real_batch(void *context)
{
    const parse *p = context;
    read_stream(p, p->batches, p->batch_size);
}

static void naive_batch(void *context)
{
    const parse *p = context;
    uint8_t row[4], bits[BITS];
    FILE *stream = fmemopen(p->batches, p->batch_size, "rb");
    if (stream == NULL || fseek(stream, SHOAL_BATCH_HEADER, SEEK_SET) != 0)
        bench_die("fmemopen failed");
    for (uint32_t i = 0; i < REPORTS; i++) {
        if (fread(row, 1, sizeof row, stream) != sizeof row ||
            fread(bits, 1, sizeof bits, stream) != sizeof bits)
            bench_die("the batch is short");
        bench_keep(row[0] + bits[0]);
    }
    fclose(stream);
}

static void read_batch(void *context)
{
    const parse *p = context;
    bench_keep(bench_read(p->batches, p->batch_size));
}

static void real_hex(void *context)
{
    const parse *p = context;
    uint8_t bits[BITS];
    agg_hex_digits read = agg_hex_digits_of(agg_cpu_chosen());
    for (uint32_t i = 0; i < REPORTS; i++) {
        if (!read(bits, BITS, p->hex + (size_t)i * 2 * BITS)) bench_die("hex is refused");
        bench_keep(bits[i % BITS]);
    }
}

static void naive_hex(void *context)
{
    const parse *p = context;
    uint8_t bits[BITS];
    for (uint32_t i = 0; i < NAIVE_REPORTS; i++) {
        plain_hex(bits, p->hex + (size_t)i * 2 * BITS);
        bench_keep(bits[i % BITS]);
    }
}

static void read_hex(void *context)
{
    const parse *p = context;
    bench_keep(bench_read(p->hex, (size_t)REPORTS * 2 * BITS));
}

static void make_texts(parse *p)
{
    size_t size = shoal_record_size(p->recipe.recipe);
    p->report_size = agg_report_size(&p->recipe) + 1;
    p->reports = bench_alloc(REPORTS, p->report_size);
    p->hex = bench_alloc(REPORTS, 2 * BITS);
    for (uint32_t i = 0; i < REPORTS; i++) {
        char *line = p->reports + i * p->report_size;
        bench_check(agg_report_print(line, p->report_size, &p->recipe, p->records + i * size),
                    "a report is refused");
        line[p->report_size - 1] = '\n';
        shoal_print_hex(p->hex + (size_t)i * 2 * BITS, p->records + i * size + 4, BITS);
    }
}

static void make_batch(parse *p)
{
    static const uint8_t id[16] = "a batch";
    p->batch_size = shoal_batch_size(p->recipe.recipe, REPORTS);
    p->batches = bench_alloc(p->batch_size, 1);
    memcpy(p->batches + SHOAL_BATCH_HEADER, p->records,
           (size_t)REPORTS * shoal_record_size(p->recipe.recipe));
    bench_check(shoal_batch_seal(p->batches, p->batch_size, p->recipe.recipe, REPORTS, 20780, id),
                "the batch is refused");
}

void bench_parse(void)
{
    parse p;
    memset(&p, 0, sizeof p);
    bench_recipe(&p.recipe, "cms", 65536, COLUMNS);
    p.reader = (agg_reader){&p.recipe, take, NULL, NULL, NULL, NULL, NULL, 1};
    p.records = bench_alloc(REPORTS, shoal_record_size(p.recipe.recipe));
    bench_records(p.records, &p.recipe, REPORTS);
    make_texts(&p);
    make_batch(&p);
    bench_run(&(bench_step){"NDJSON report to record, checked",
                            "report",
                            "cJSON and strtoul, scalar",
                            150,
                            0,
                            {real_ndjson, REPORTS},
                            {naive_ndjson, NAIVE_REPORTS},
                            {read_ndjson, REPORTS},
                            &p});
    bench_run(&(bench_step){"batch to records, checked",
                            "record",
                            "fread a field, unchecked",
                            15,
                            0,
                            {real_batch, REPORTS},
                            {naive_batch, REPORTS},
                            {read_batch, REPORTS},
                            &p});
    bench_run_variants(&(bench_step){"256 hex digits",
                                     "256 digits",
                                     "strtoul a byte, scalar",
                                     20,
                                     0,
                                     {real_hex, REPORTS},
                                     {naive_hex, NAIVE_REPORTS},
                                     {read_hex, REPORTS},
                                     &p});
    free(p.records);
    free(p.reports);
    free(p.hex);
    free(p.batches);
    agg_recipe_release(&p.recipe);
}
