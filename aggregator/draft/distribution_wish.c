// SPDX-License-Identifier: Apache-2.0
// Reads wishes for a distribution; see distribution_wish.h.
#include "distribution_wish.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "options.h"
#include "plan.h"
#include "plan_counts.h"
#include "plan_recipe.h"
#include "probability.h"
#include "recipe_json.h"

static agg_err refuse(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

static agg_err read_micro(int64_t *micro, agg_error *error, const char *name, const char *text)
{
    if (agg_decimal_micro(micro, text, strlen(text))) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--%s must be a number with at most 6 decimals", name);
}

// ---- the crowd ----

static agg_err read_counts(agg_distribution_wish *w, agg_error *error, const char *path,
                           int64_t low, int64_t high)
{
    const agg_plan_source source = {path, false, true, low, high};
    agg_plan_counts counts = {.buckets = NULL};
    agg_plan_wish plan = {.size = AGG_FORECAST_CELLS};
    double all = 0;
    agg_err err = agg_plan_counts_take(&counts, &plan, error, &source);
    if (err == SHOAL_OK) {
        for (size_t i = 0; i < AGG_FORECAST_CELLS; i++) all += (double)counts.buckets[i];
        for (size_t i = 0; i < AGG_FORECAST_CELLS; i++)
            w->crowd.shares[i] = (double)counts.buckets[i] / all;
        w->crowd_name = "counts file";
    }
    agg_value_law_release(&plan.law);
    agg_plan_counts_release(&counts);
    return err;
}

static agg_err read_shape(agg_distribution_wish *w, agg_error *error, const char *name)
{
    for (size_t i = 0; i < AGG_DISTRIBUTION_SHAPES; i++) {
        w->crowd_name = agg_distribution_shape(NULL, i);
        if (name != NULL && strcmp(name, w->crowd_name) != 0) continue;
        agg_distribution_shape(&w->crowd, i);
        return SHOAL_OK;
    }
    return refuse(error, "--shape is skewed, hump, humps or even");
}

// ---- the rest ----

static agg_err read_range(int64_t *low, int64_t *high, agg_distribution_wish *w, agg_error *error,
                          const agg_distribution_texts *t)
{
    agg_err err = read_micro(low, error, "low", t->low);
    if (err == SHOAL_OK) err = read_micro(high, error, "high", t->high);
    if (err != SHOAL_OK) return err;
    if (*low >= *high) return refuse(error, "--low must be below --high");
    agg_plan_micro_text(w->low, *low);
    agg_plan_micro_text(w->high, *high);
    w->low_end = (double)*low / 1e6;
    w->width = (double)*high / 1e6 - w->low_end;
    return SHOAL_OK;
}

static agg_err read_mechanism(agg_distribution_wish *w, agg_error *error, const char *name)
{
    if (name == NULL) return SHOAL_OK;
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(name, strlen(name));
    if (mechanism == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no mechanism is called %s", name);
    w->mechanism = mechanism->id;
    return SHOAL_OK;
}

static agg_err read_numbers(agg_distribution_wish *w, agg_error *error,
                            const agg_distribution_texts *t)
{
    uint64_t devices = 0, size = 0;
    int64_t epsilon = 0;
    agg_err err = cli_read_whole(&devices, error, "devices", t->devices, 100, 4000000000u);
    if (err == SHOAL_OK && t->size != NULL)
        err = cli_read_whole(&size, error, "size", t->size, 2, 256);
    if (err == SHOAL_OK) err = read_micro(&epsilon, error, "epsilon", t->epsilon);
    if (err != SHOAL_OK) return err;
    if (epsilon < SHOAL_EPS_MICRO_MIN || epsilon > SHOAL_EPS_MICRO_MAX)
        return refuse(error, "--epsilon must be from 0.01 to 16");
    w->n = (double)devices;
    w->size = (uint32_t)size;
    w->eps_micro = (uint32_t)epsilon;
    w->quantiles[0] = 0.5;
    w->quantiles[1] = 0.9;
    w->n_quantiles = 2;
    if (t->quantile == NULL) return SHOAL_OK;
    w->is_by_quantile = true;
    w->n_quantiles = 3;
    return cli_read_decimal(&w->quantiles[2], error, "quantile", t->quantile, 0.001, 0.999);
}

agg_err agg_distribution_wish_read(agg_distribution_wish *wish, agg_error *error,
                                   const agg_distribution_texts *texts)
{
    int64_t low = 0, high = 0;
    *wish = (agg_distribution_wish){0};
    if (texts->counts != NULL && texts->shape != NULL)
        return refuse(error, "--counts or --shape, not both");
    agg_err err = read_range(&low, &high, wish, error, texts);
    if (err == SHOAL_OK) err = read_numbers(wish, error, texts);
    if (err == SHOAL_OK) err = read_mechanism(wish, error, texts->mechanism);
    if (err == SHOAL_OK)
        err = texts->counts != NULL ? read_counts(wish, error, texts->counts, low, high)
                                    : read_shape(wish, error, texts->shape);
    return err;
}

agg_err agg_distribution_recipe_write(agg_error *error, const char *path,
                                      const agg_distribution_plan *plan,
                                      const agg_distribution_wish *wish, const char *id,
                                      const char *expires)
{
    agg_plan *best = agg_alloc(error, 1, sizeof *best);
    const agg_plan_wish frame = {.per_day = 1,
                                 .size = plan->candidates[0].part.size,
                                 .id = id != NULL ? id : "planned",
                                 .low = wish->low,
                                 .high = wish->high};
    if (best == NULL) return AGG_ERR_MEMORY;
    best->n = wish->n;
    best->n_candidates = 1;
    best->candidates[0].part = plan->candidates[0].part;
    agg_err err = agg_plan_recipe_write(error, path, best, &frame, NULL, expires);
    free(best);
    return err;
}
