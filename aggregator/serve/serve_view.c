// SPDX-License-Identifier: Apache-2.0
// What views have in common; see serve_view.h.
#include "serve_view.h"

#include <string.h>

#include "compound.h"
#include "input_memory.h"
#include "recipe.h"
#include "serve_links.h"

// Writes the place of a view's rows. Days come as they are in the span.
static void name_downloads(serve_view_texts *texts, const serve_job *job)
{
    char day[11];
    const size_t most = sizeof texts->downloads;
    size_t len = (size_t)snprintf(texts->downloads, most, "/v1/results/%s?view=%s",
                                  job->collection->recipe.id, job->view->name);
    if (job->span.first != AGG_SPAN_ALL.first) {
        agg_day_print(day, job->span.first);
        len += (size_t)snprintf(texts->downloads + len, most - len, "&from=%s", day);
    }
    if (job->span.last != AGG_SPAN_ALL.last) {
        agg_day_print(day, job->span.last);
        len += (size_t)snprintf(texts->downloads + len, most - len, "&to=%s", day);
    }
    if (job->dictionary == NULL || job->dictionary == serve_dictionary_of(job->collection, NULL) ||
        3 * strlen(job->dictionary->name) + 20 > most - len)
        return;
    len += (size_t)snprintf(texts->downloads + len, most - len, "&dictionary=");
    agg_table_escape(texts->downloads + len, most - len, job->dictionary->name);
}

void serve_view_begin(agg_static_report *report, const serve_job *job,
                      const serve_view_order *order, serve_view_texts *texts)
{
    uint32_t days = job->collection->recipe.recipe->keep_days;
    snprintf(texts->home, sizeof texts->home, "/recipes/%s", job->collection->recipe.id);
    snprintf(texts->note, sizeof texts->note,
             "Older blocks are left out. What came together in a report is kept %u day%s after its "
             "block closed; after that only sums are left.",
             days, days == 1 ? "" : "s");
    name_downloads(texts, job);
    report->title = job->collection->recipe.id;
    report->recipe = &job->collection->recipe;
    report->home = texts->home;
    report->links = serve_links(job->rights);
    report->account = job->account;
    report->order = &job->order;
    report->downloads = order == NULL ? NULL : texts->downloads;
    report->note = order != NULL && order->leaves_out ? texts->note : NULL;
}

agg_span serve_view_within(const serve_collection *collection, agg_span span, int32_t today)
{
    int32_t first = today - (int32_t)collection->recipe.recipe->keep_days;
    if (shoal_recipe_keeps_records(collection->recipe.recipe) && first > span.first)
        span.first = first;
    return span;
}

void serve_view_name_blocks(char out[SERVE_VIEW_BLOCKS_MAX], const agg_released *blocks)
{
    char first[11], last[11];
    agg_day_print(first, blocks->first_day);
    agg_day_print(last, blocks->last_day);
    snprintf(out, SERVE_VIEW_BLOCKS_MAX, "%s block%s, %s to %s", agg_whole(blocks->n).text,
             blocks->n == 1 ? "" : "s", first, last);
}

agg_release serve_view_release(const serve_view_order *order)
{
    return (agg_release){.block = order->collection->recipe.recipe->block_minimum,
                         .honest = order->collection->honest,
                         .days = (uint32_t)(order->blocks.last_day - order->blocks.first_day + 1)};
}

agg_err serve_view_sum(uint64_t *bytes, agg_error *error, const serve_view_order *order)
{
    const shoal_recipe *recipe = order->collection->recipe.recipe;
    uint64_t files = 0, waiting = 0;
    *bytes = cli_accumulator_memory(NULL, recipe);
    if (!shoal_recipe_keeps_records(recipe)) return SHOAL_OK;
    agg_err err = agg_store_bytes(order->store, &files, &waiting, error, order->collection->number);
    if (err == SHOAL_OK) *bytes += files;
    return err;
}

agg_err serve_view_check(agg_error *error, const serve_view_order *order, uint64_t bytes)
{
    if (bytes <= order->memory) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "it needs %llu MB of memory",
                    (unsigned long long)(bytes / 1000000 + 1));
}
