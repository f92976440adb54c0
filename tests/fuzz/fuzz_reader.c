// SPDX-License-Identifier: Apache-2.0
// Property: whatever a stream holds, every record that the reader gives out passes the check, the counts say how many, and
// cutting the stream differently (a file instead of memory) changes nothing.
#include "fuzz_aggregator.h"
#include "reader.h"
#include "record.h"

typedef struct seen {
    const agg_recipe *recipe;
    uint64_t records, sum;
} seen;

static shoal_err sink(void *context, agg_error *error, const uint8_t *batch_id, const uint8_t *records, uint32_t count)
{
    seen *s = context;
    (void)error;
    (void)batch_id;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *record = records + (size_t)i * s->recipe->recipe.record_size;
        PROPERTY(shoal_record_check(&s->recipe->recipe, record) == SHOAL_OK);
        for (uint32_t b = 0; b < s->recipe->recipe.record_size; b++) s->sum = s->sum * 31 + record[b];
    }
    s->records += count;
    return SHOAL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 1) return 0;
    const agg_recipe *recipe = fuzz_agg_recipe(data[0]);
    seen memory = {recipe, 0, 7}, file = {recipe, 0, 7};
    agg_reader reader = {.recipe = recipe, .sink = sink, .sink_context = &memory};
    agg_read_count count = {0}, count2 = {0};
    agg_error error = {0};
    shoal_err err = agg_reader_bytes(&count, &error, &reader, "input", data + 1, len - 1);
    PROPERTY(count.records == memory.records);
    PROPERTY(err == SHOAL_OK || error.text[0] != '\0');
    FILE *stream = tmpfile();
    PROPERTY(stream != NULL && fwrite(data + 1, 1, len - 1, stream) == len - 1);
    rewind(stream);
    reader.sink_context = &file;
    PROPERTY(agg_reader_stream(&count2, &error, &reader, "input", stream) == err);
    PROPERTY(count2.records == count.records && count2.rejected == count.rejected && file.sum == memory.sum);
    fclose(stream);
    return 0;
}
