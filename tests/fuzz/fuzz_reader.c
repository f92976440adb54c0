// SPDX-License-Identifier: Apache-2.0
// Property: whatever a stream holds, every record that the reader gives out passes the check, the
// counts say how many, and cutting the stream differently (a file instead of memory, shares of
// threads) changes nothing: not a record, a count or a word. A compressed stream is expanded where
// it is a file only, so that there is nothing to compare it with.
#include "expander.h"
#include "fuzz_aggregator.h"
#include "reader.h"
#include "reader_bytes.h"
#include "record.h"

typedef struct seen {
    const agg_recipe *recipe;
    uint64_t records, sum, told;
} seen;

static void see(seen *s, const agg_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const uint8_t *record = run->records + (size_t)i * shoal_record_size(s->recipe->recipe);
        PROPERTY(shoal_record_check(s->recipe->recipe, record) == SHOAL_OK);
        for (uint32_t b = 0; b < shoal_record_size(s->recipe->recipe); b++)
            s->sum = s->sum * 31 + record[b];
    }
    s->records += run->count;
}

static agg_err sink(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    (void)error;
    PROPERTY(n_runs >= 1 && n_runs <= AGG_RUNS_MAX);
    for (uint32_t i = 0; i < n_runs; i++) see(context, &runs[i]);
    return SHOAL_OK;
}

static void hear(void *context, const char *text)
{
    seen *s = context;
    for (; *text != '\0'; text++) s->told = s->told * 31 + (uint8_t)*text;
}

// A stream that is not on the disk, where a file would take most of the time. Close it with fclose.
static FILE *stream_of(const uint8_t *bytes, size_t len)
{
    FILE *stream = len > 0 ? fmemopen((void *)(uintptr_t)bytes, len, "rb") : tmpfile();
    PROPERTY(stream != NULL);
    return stream;
}

static void read_compressed(agg_reader *reader, const uint8_t *bytes, size_t len)
{
    seen s = {reader->recipe, 0, 7, 7};
    agg_read_count count = {0};
    agg_error error = {0};
    FILE *stream = stream_of(bytes, len);
    reader->sink_context = reader->log_context = &s;
    agg_err err = agg_reader_stream(&count, &error, reader, "input", stream);
    PROPERTY(count.records == s.records);
    PROPERTY(err == SHOAL_OK || error.text[0] != '\0');
    fclose(stream);
}

// The same stream from memory, by one thread or several, and from a file; mapped or not.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 1) return 0;
    const agg_recipe *recipe = fuzz_agg_recipe(data[0]);
    seen memory = {recipe, 0, 7, 7}, threads = memory, file = memory;
    agg_reader reader = {.recipe = recipe,
                         .sink = sink,
                         .sink_context = &memory,
                         .log = hear,
                         .log_context = &memory};
    if (agg_compression_of(data + 1, len - 1) != AGG_COMPRESSION_NONE) {
        read_compressed(&reader, data + 1, len - 1);
        return 0;
    }
    agg_read_count count = {0}, count2 = {0}, count3 = {0};
    agg_error error = {0}, error2 = {0}, error3 = {0};
    agg_err err = reader_bytes(&count, &error, &reader, "input", data + 1, len - 1);
    PROPERTY(count.records == memory.records);
    PROPERTY(err == SHOAL_OK || error.text[0] != '\0');
    reader.sink_context = reader.log_context = &threads;
    reader.n_threads = 3;
    PROPERTY(reader_bytes(&count2, &error2, &reader, "input", data + 1, len - 1) == err);
    PROPERTY(memcmp(&count, &count2, sizeof count) == 0 && strcmp(error.text, error2.text) == 0);
    PROPERTY(threads.sum == memory.sum && threads.told == memory.told);
    FILE *stream = stream_of(data + 1, len - 1);
    reader.sink_context = reader.log_context = &file;
    PROPERTY(agg_reader_stream(&count3, &error3, &reader, "input", stream) == err);
    PROPERTY(count3.records == count.records && count3.rejected == count.rejected &&
             count3.lines == count.lines);
    PROPERTY(strcmp(error.text, error3.text) == 0);
    PROPERTY(file.sum == memory.sum && file.told == memory.told);
    fclose(stream);
    return 0;
}
