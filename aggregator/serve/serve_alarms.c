// SPDX-License-Identifier: Apache-2.0
// Watching collections; see serve_alarms.h.
#include "serve_alarms.h"

#include "alarm_print.h"
#include "estimate.h"
#include "recipe.h"
#include "store_growth.h"

static const char *const span_names[SERVE_WATCHED] = {"all", "newest"};

// Computes the alarms of the blocks of a span. Nothing is measured below the minimum cohort.
static agg_err test_span(agg_alarms *alarms, agg_error *error, const serve_collection *collection,
                         agg_store *store, agg_span span, const agg_growth *growth)
{
    agg_accumulator acc;
    agg_released released;
    *alarms = (agg_alarms){.n_tests = 0};
    agg_err err = agg_store_load(store, &acc, &released, error, collection->number,
                                 collection->recipe.recipe, span);
    if (err != SHOAL_OK) return err;
    err = agg_estimate_check(error, &collection->recipe, &acc);
    if (err == SHOAL_OK) err = agg_alarms_test(alarms, error, collection->recipe.recipe, &acc);
    if (err == SHOAL_OK) {
        agg_alarms_test_copies(alarms, collection->recipe.recipe, &released.copies);
        agg_alarms_finish(alarms);
        agg_alarms_compare_growth(alarms, growth->newest, growth->usual, collection->growth_alarm);
    }
    agg_accumulator_release(&acc);
    return err == AGG_ERR_COHORT ? SHOAL_OK : err;
}

static void keep(serve_collection *collection, int span, const agg_alarms *alarms)
{
    char line[AGG_ALARM_LINE_MAX];
    bool is_new = false;
    for (int c = 0; c < AGG_ALARM_CODES; c++) {
        int outcome = (int)alarms->list[c].outcome;
        int before = atomic_exchange(&collection->live->alarms[span][c], outcome);
        is_new = is_new || (outcome == AGG_ALARM_RAISED && before != outcome);
    }
    for (size_t i = 0; is_new && agg_alarm_line(line, alarms, i); i++)
        fprintf(stderr, "shoal: serve: %s (%s blocks): %s\n", collection->recipe.id,
                span_names[span], line);
}

bool serve_alarms_watch(serve_collection *collection, agg_store *store)
{
    agg_error error = {.text = ""};
    agg_released released = {0};
    agg_growth growth = {0, 0};
    agg_alarms alarms;
    if (!atomic_exchange(&collection->live->is_alarm_due, false)) return false;
    agg_err err =
        agg_store_find_released(store, &released, &error, collection->number, AGG_SPAN_ALL);
    if (err == SHOAL_OK && released.n == 0) return false;
    if (err == SHOAL_OK)
        err = agg_store_growth(store, &growth, &error, collection->number, released.last_number);
    const agg_span spans[SERVE_WATCHED] = {AGG_SPAN_ALL, {released.last_day, released.last_day}};
    for (int s = 0; err == SHOAL_OK && s < SERVE_WATCHED; s++) {
        err = test_span(&alarms, &error, collection, store, spans[s], &growth);
        if (err == SHOAL_OK) keep(collection, s, &alarms);
    }
    if (err == SHOAL_OK) return true;
    atomic_store(&collection->live->is_alarm_due, true);
    fprintf(stderr, "shoal: serve: alarms of %s: %s\n", collection->recipe.id, error.text);
    return false;
}

void serve_alarms_put(FILE *stream, const serve_collection *collection)
{
    for (int s = 0; s < SERVE_WATCHED; s++)
        for (int c = 0; c < AGG_ALARM_CODES; c++) {
            int outcome = atomic_load(&collection->live->alarms[s][c]);
            if (outcome == AGG_ALARM_NOT_MEASURED) continue;
            fprintf(stream, "shoal_alarm{recipe=\"%s\",blocks=\"%s\",code=\"%s\"} %d\n",
                    collection->recipe.id, span_names[s], agg_alarm_name((agg_alarm_code)c),
                    outcome == AGG_ALARM_RAISED);
        }
}
