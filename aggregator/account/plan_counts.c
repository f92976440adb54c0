// SPDX-License-Identifier: Apache-2.0
// Reads the counts file of a plan; see plan_counts.h.
#include "plan_counts.h"

#include <stdlib.h>

#include "agg_size.h"
#include "input_memory.h"
#include "memory_option.h"
#include "number_item.h"

// agg_value_law_counts holds two doubles for each value: its share, and the copy of the share that
// qsort may make.
#define DOUBLES_OF_VALUE 2u

// Loads the counts file and states the memory that this takes. agg_counts_load reads values as a
// recipe says, and a plan has no recipe yet, so `text` is a stand-in that accepts any string.
static agg_err load(agg_plan_counts *p, agg_error *error, const char *path)
{
    char command[] = "plan";
    static const char text[] =
        "{\"recipe\":\"counts\",\"analysis\":\"counts\",\"stream\":\"counts\",\"value\":\"item\","
        "\"mechanism\":\"cms\","
        "\"text\":{\"form\":\"none\",\"case\":\"keep\",\"max\":64},\"parameters\":{\"epsilon\":1,"
        "\"k\":1,\"m\":2},"
        "\"hash\":\"poly1\","
        "\"seed\":\"73686f616c20706c616e2073686f616c20706c616e2073686f616c20706c616e\",\"limit\":{"
        "\"per_day\":1},"
        "\"expires\":\"2099-12-31\"}";
    agg_err err = agg_recipe_from_bytes(&p->reader, error, "counts", text, sizeof text - 1);
    if (err == SHOAL_OK) err = agg_counts_load(&p->counts, error, &p->reader, path, NULL, NULL);
    if (err != SHOAL_OK) return err;
    const cli_counts_bytes bytes = cli_counts_memory(&p->counts, path);
    uint64_t law = p->counts.n * sizeof(double) * DOUBLES_OF_VALUE;
    // The shares are sorted after the file was read, so only the larger of the two amounts
    // is added.
    return cli_state_memory(error, command,
                            bytes.held + (bytes.reading > law ? bytes.reading : law), 0);
}

// Adds the count of each number to its bucket. Numbers outside the range count in the end buckets,
// and `high` itself, which shoal_number_scale takes to `size`, counts in the last one.
static agg_err fill_buckets(agg_plan_counts *p, agg_error *error, const agg_plan_source *source,
                            uint32_t size)
{
    p->buckets = agg_alloc(error, size, sizeof *p->buckets);
    if (p->buckets == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < p->counts.n; i++) {
        int64_t micro = 0;
        if (!agg_decimal_micro(&micro, p->counts.values[i].bytes, p->counts.values[i].len))
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE, "%s: value %zu is not a number",
                            source->path, i + 1);
        uint64_t bucket = shoal_number_scale(micro, source->low_micro, source->high_micro, size);
        p->buckets[bucket == size ? bucket - 1 : bucket] += p->counts.counts[i];
    }
    return SHOAL_OK;
}

agg_err agg_plan_counts_take(agg_plan_counts *counts, agg_plan_wish *wish, agg_error *error,
                             const agg_plan_source *source)
{
    size_t n = 0;
    agg_err err = load(counts, error, source->path);
    if (err != SHOAL_OK) return err;
    n = counts->counts.n;
    if (source->is_number) {
        err = fill_buckets(counts, error, source, wish->size);
        return err == SHOAL_OK
                   ? agg_value_law_counts(&wish->law, error, counts->buckets, wish->size)
                   : err;
    }
    if (wish->size == 0 && !source->is_open) wish->size = (uint32_t)n;
    if (wish->size > 0 && (wish->size < 2 || wish->size < n))
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "%s holds %zu values: a list takes at least 2, and at most as many as --size",
            source->path, n);
    return agg_value_law_counts(&wish->law, error, counts->counts.counts, n);
}

void agg_plan_counts_release(agg_plan_counts *counts)
{
    agg_dictionary_release(&counts->counts);
    agg_recipe_release(&counts->reader);
    free(counts->buckets);
}
