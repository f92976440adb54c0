// SPDX-License-Identifier: Apache-2.0
// What views have in common; see serve_view.h.
#include "serve_view.h"

#include "compound.h"
#include "input_memory.h"
#include "recipe.h"
#include "serve_links.h"

void serve_view_days(char out[SERVE_VIEW_DAYS_MAX], agg_span span)
{
    char day[11];
    size_t len = 0;
    out[0] = '\0';
    if (span.first != AGG_SPAN_ALL.first) {
        agg_day_print(day, span.first);
        len += (size_t)snprintf(out, SERVE_VIEW_DAYS_MAX, "&from=%s", day);
    }
    if (span.last != AGG_SPAN_ALL.last) {
        agg_day_print(day, span.last);
        snprintf(out + len, SERVE_VIEW_DAYS_MAX - len, "&to=%s", day);
    }
}

void serve_view_begin(agg_static_report *report, const serve_job *job,
                      char home[SHOAL_NAME_MAX + 16])
{
    snprintf(home, SHOAL_NAME_MAX + 16, "/recipes/%s", job->collection->recipe.id);
    report->title = job->collection->recipe.id;
    report->recipe = &job->collection->recipe;
    report->home = home;
    report->links = serve_links(job->rights);
    report->account = job->account;
    report->order = &job->order;
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
