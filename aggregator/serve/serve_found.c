// SPDX-License-Identifier: Apache-2.0
// Words that nobody listed; see serve_found.h.
#include "serve_found.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "input_memory.h"
#include "recipe.h"
#include "serve_chart.h"
#include "serve_spans.h"
#include "static_found.h"

enum { PERIODS = 60, PERIODS_FEW = 12, ROWS = 20, NAME_MAX = 40 };
#define LARGE ((uint64_t)16 << 20) // bytes of an accumulator of which few periods are read

// The periods of a view, each a whole of closed blocks that can be asked for by itself, and what is
// made of them.
typedef struct found {
    const serve_view_order *order; // while it is made
    size_t n;
    agg_span spans[PERIODS];
    char texts[PERIODS][NAME_MAX];
    const char *names[PERIODS];
    agg_static_made *made;
} found;

static bool has(const agg_recipe *recipe)
{
    return agg_static_found_is_told(recipe);
}

static uint64_t memory(const serve_collection *collection)
{
    uint64_t sum =
        cli_accumulator_memory(NULL, collection->recipe.recipe) + collection->records_room;
    return 2 * sum + agg_static_found_memory(&collection->recipe, sum, 1);
}

// ---- periods ----

static void name_period(found *f, size_t i, const agg_released *blocks, bool is_open)
{
    char first[11], last[11];
    agg_day_print(first, blocks->first_day);
    agg_day_print(last, blocks->last_day);
    if (is_open)
        snprintf(f->texts[i], NAME_MAX, "until %s", last);
    else if (blocks->first_day == blocks->last_day)
        snprintf(f->texts[i], NAME_MAX, "%s", last);
    else
        snprintf(f->texts[i], NAME_MAX, "%s to %s", first, last);
    f->names[i] = f->texts[i];
}

// Returns: how many periods are told apart at most. Each is read some times, and must hold the
// minimum cohort by itself.
static size_t most_periods(const serve_view_order *order)
{
    const shoal_recipe *recipe = order->collection->recipe.recipe;
    if (order->set->config.period == AGG_PERIOD_ALL ||
        recipe->block_minimum < recipe->cohort_minimum)
        return 1;
    return cli_accumulator_memory(NULL, recipe) > LARGE ? PERIODS_FEW : PERIODS;
}

// Lists the newest periods, the oldest one first. What is older than the first one counts with it.
static agg_err find_periods(found *f, agg_error *error, const serve_view_order *order)
{
    serve_span spans[PERIODS];
    size_t most = most_periods(order);
    int64_t number = order->collection->number;
    agg_err err = serve_spans_find(spans, &f->n, error, order->store, number, order->span, most);
    if (err == SHOAL_OK && f->n == 0) err = AGG_ERR_COHORT;
    for (size_t i = 0; err == SHOAL_OK && i < f->n; i++) {
        agg_released blocks;
        bool is_open = i == 0 && f->n == most;
        f->spans[i] = spans[i].days;
        if (is_open) f->spans[i].first = order->span.first;
        if (most == 1) f->spans[i] = order->span;
        err = agg_store_find_released(order->store, &blocks, error, number, f->spans[i]);
        if (err == SHOAL_OK) name_period(f, i, &blocks, is_open && most > 1);
    }
    return err;
}

static agg_err load(void *context, agg_accumulator *acc, agg_error *error, size_t i)
{
    const found *f = context;
    const serve_view_order *order = f->order;
    agg_released blocks;
    if (!order->goes_on(order->context, error)) return error->code;
    return agg_store_load(order->store, acc, &blocks, error, order->collection->number,
                          order->collection->recipe.recipe, f->spans[i]);
}

// ---- making ----

// Fills in what making and printing have in common.
static void fill(agg_static_report *report, found *f, const serve_view_order *order)
{
    static const agg_dictionary none = {0};
    report->recipe = &order->collection->recipe;
    report->dictionary = &none; // the words found are what is followed over time
    report->finds = true;
    report->names = f->names;
    report->n = f->n;
    report->options.n_threads = 1;
    report->release = serve_view_release(order);
}

static agg_err make_report(found *f, agg_error *error, const serve_view_order *order)
{
    agg_list known = {0};
    const agg_dictionary *dictionary =
        order->dictionary == NULL ? NULL : &order->dictionary->dictionary;
    agg_static_report report = {.load = load, .context = f};
    agg_err err = find_periods(f, error, order);
    if (err == SHOAL_OK && dictionary != NULL && dictionary->n > 0)
        err = agg_list_copy(&known, error, "dictionary", dictionary->values, dictionary->n);
    if (err != SHOAL_OK) return err;
    fill(&report, f, order);
    report.known = &known;
    err = agg_static_report_make(&f->made, error, &report);
    agg_list_release(&known);
    return err;
}

static agg_err check_memory(agg_error *error, const serve_view_order *order)
{
    uint64_t sum = 0;
    agg_err err = serve_view_sum(&sum, error, order);
    return err == SHOAL_OK
               ? serve_view_check(error, order,
                                  2 * sum +
                                      agg_static_found_memory(&order->collection->recipe, sum, 1))
               : err;
}

static agg_err make(void **made, agg_error *error, const serve_view_order *order)
{
    found *f = agg_alloc(error, 1, sizeof *f);
    if (f == NULL) return AGG_ERR_MEMORY;
    f->order = order;
    agg_err err = check_memory(error, order);
    if (err == SHOAL_OK) err = make_report(f, error, order);
    f->order = NULL;
    if (err == SHOAL_OK)
        *made = f;
    else
        free(f);
    return err;
}

static size_t size(const void *made)
{
    const found *f = made;
    return sizeof *f + agg_static_report_size(f->made);
}

static void release(void *made)
{
    found *f = made;
    agg_static_report_release(f->made);
    free(f);
}

// ---- answers ----

static agg_err page(FILE *out, agg_error *error, const serve_job *job,
                    const serve_view_order *order, const void *made)
{
    serve_view_texts texts;
    found *f = (found *)(uintptr_t)made; // its names are printed, not changed
    agg_static_report report = {.script = serve_chart_path()};
    serve_view_begin(&report, job, order, &texts);
    fill(&report, f, order);
    report.options.top = job->top > 0 ? job->top : ROWS;
    return agg_static_report_print(out, error, &report, f->made);
}

static agg_err rows(FILE *out, agg_error *error, const serve_job *job,
                    const serve_view_order *order, const void *made)
{
    const found *f = made;
    (void)order;
    return agg_static_found_print(out, error, agg_static_report_found(f->made), job->format);
}

static bool sorts_by(const char *column)
{
    return agg_static_found_sorts_by(column) || agg_static_report_sorts_by(column);
}

const serve_view_kind serve_found_view = {
    .name = "found",
    .title = "Words that nobody listed",
    .href = "?view=found",
    .needs = "this recipe does not find words that nobody listed, or finds them in rounds",
    .script = serve_chart_path,
    .has = has,
    .memory = memory,
    .make = make,
    .size = size,
    .release = release,
    .page = page,
    .rows = rows,
    .sorts_by = sorts_by};
