// SPDX-License-Identifier: Apache-2.0
// A statistic over epochs; see track_series.h.
#include "track_series.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "compound.h"
#include "estimate.h"
#include "estimator.h"
#include "flip_chance.h"
#include "normal_law.h"

void agg_track_init(agg_track *track, double confidence)
{
    memset(track, 0, sizeof *track);
    track->confidence = confidence;
}

void agg_track_release(agg_track *track)
{
    for (size_t i = 0; i < track->n_updates; i++) free(track->updates[i].sums);
    free(track->updates);
    free(track->rows);
    agg_recipe_release(&track->recipe);
    memset(track, 0, sizeof *track);
}

// ---- the chain ----

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

static agg_err refuse_epoch(agg_error *error, uint32_t found, uint32_t awaited)
{
    if (found < awaited)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "is epoch %u, which was given before",
                        found);
    if (found == awaited + 1)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "is epoch %u: epoch %u is missing",
                        found, awaited);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "is epoch %u: epochs %u to %u are missing", found, awaited, found - 1);
}

// Refuses an epoch that no device answers, whatever came before it.
static agg_err check_round(agg_error *error, const shoal_recipe *r)
{
    if (r->round_index == 0) return usage(error, "states no round, so no device answers it");
    if (r->round_index == 1 && r->round_update)
        return usage(error, "is epoch 1 and says that there was an update before it");
    if (r->round_index <= r->epochs + r->round_update) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "is epoch %u, but the run ends with epoch %u", r->round_index, r->epochs);
}

static agg_err check_chain(const agg_track *track, agg_error *error, const shoal_recipe *r)
{
    uint32_t awaited = (uint32_t)(track->n_rows + track->n_closing) + 1;
    if (r->epochs == 0)
        return usage(error, "is not a recipe of thresh or heavythresh, so it has no epochs");
    if (track->n_rows > 0 && memcmp(track->recipe.recipe.run_hash, r->run_hash, 32) != 0)
        return agg_fail(
            error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
            "belongs to another run than the epochs before it: more than `round` differs");
    agg_err err = check_round(error, r);
    if (err != SHOAL_OK) return err;
    if (r->round_index != awaited) return refuse_epoch(error, r->round_index, awaited);
    if (track->n_rows > 0 && memcmp(track->last_hash, r->round_previous, 32) != 0)
        return agg_fail(
            error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
            "does not follow the recipe of epoch %u: round.previous is the hash of another",
            awaited - 1);
    return SHOAL_OK;
}

static agg_err begin(agg_track *track, agg_error *error, const agg_recipe *recipe)
{
    if (track->n_rows > 0) return SHOAL_OK;
    agg_err err =
        agg_recipe_from_bytes(&track->recipe, error, "the recipe", recipe->json, recipe->json_len);
    if (err != SHOAL_OK) return err;
    agg_hex(track->run_hex, recipe->recipe.run_hash, 32);
    shoal_evolving_plan plan = shoal_evolving_stated(&recipe->recipe);
    agg_track_law_of(&track->law, &plan);
    return SHOAL_OK;
}

// ---- one epoch ----

// Sets each coordinate's sum of signs. Its two cells count the reports of - and of +.
static agg_err take_sums(agg_track_update *update, agg_error *error, const agg_sketch *sketch)
{
    size_t n = sketch->shape.k;
    update->sums = agg_alloc(error, n, sizeof *update->sums);
    if (update->sums == NULL) return AGG_ERR_MEMORY;
    for (size_t j = 0; j < n; j++)
        update->sums[j] =
            (int32_t)((int64_t)sketch->cells.ones[2 * j + 1] - (int64_t)sketch->cells.ones[2 * j]);
    return SHOAL_OK;
}

// Adds the estimates of the epoch before this one, which was an update. Devices answer a limited
// number of updates; after that their estimates are noise and are left out.
static agg_err take_estimates(agg_track *track, agg_error *error, const agg_accumulator *acc)
{
    const agg_sketch *sketch = &acc->parts[1];
    if (track->n_updates >= track->law.figures.n_estimates) return SHOAL_OK;
    agg_track_update update = {.epoch = (uint32_t)track->n_rows, .n = acc->n};
    agg_err err = agg_grow((void **)&track->updates, &track->updates_cap, track->n_updates + 1,
                           sizeof update, error);
    if (err == SHOAL_OK && agg_track_is_heavy(&track->law)) err = take_sums(&update, error, sketch);
    if (err != SHOAL_OK) return err;
    update.ones = (double)sketch->cells.ones[0] / (double)acc->n;
    track->updates[track->n_updates++] = update;
    return SHOAL_OK;
}

// Sets whether the last row is an update, as the recipe of the next epoch says.
static void settle_last(agg_track *track, const shoal_recipe *r)
{
    if (track->n_rows == 0) return;
    agg_track_row *last = &track->rows[track->n_rows - 1];
    bool is_update = r->round_update != 0;
    track->n_other += last->is_update != is_update;
    last->is_update = is_update;
    last->is_pending = false;
}

static void count_reports(agg_track *track, uint64_t n)
{
    if (track->least == 0 || n < track->least) track->least = n;
    if (n > track->most) track->most = n;
}

static agg_err add_row(agg_track *track, agg_error *error, const agg_accumulator *acc)
{
    agg_err err = agg_grow((void **)&track->rows, &track->rows_cap, track->n_rows + 1,
                           sizeof *track->rows, error);
    if (err != SHOAL_OK) return err;
    uint64_t needed = agg_track_votes_needed(&track->law, acc->n);
    agg_track_row *row = &track->rows[track->n_rows];
    *row = (agg_track_row){.epoch = (uint32_t)track->n_rows + 1,
                           .n = acc->n,
                           .votes = (double)acc->parts[0].cells.ones[0] / (double)acc->n,
                           .needed = (double)needed / (double)acc->n};
    row->is_update = row->is_pending = acc->parts[0].cells.ones[0] >= needed;
    track->n_rows++;
    return SHOAL_OK;
}

static agg_err add(agg_track *track, agg_error *error, const agg_recipe *recipe,
                   const agg_accumulator *acc)
{
    const shoal_recipe *r = &recipe->recipe;
    bool is_closing = r->round_index > r->epochs;
    agg_err err = check_chain(track, error, r);
    if (err == SHOAL_OK) err = agg_estimate_check(error, recipe, acc);
    if (err == SHOAL_OK && acc->n == 0) err = usage(error, "holds no report");
    if (err == SHOAL_OK && acc->n < r->release_threshold)
        err = agg_fail(
            error, AGG_ERR_COHORT, AGG_EXIT_PRIVACY,
            "%llu reports are below the recipe's release threshold of %llu; nothing is shown",
            (unsigned long long)acc->n, (unsigned long long)r->release_threshold);
    if (err == SHOAL_OK) err = begin(track, error, recipe);
    if (err == SHOAL_OK && r->round_update) err = take_estimates(track, error, acc);
    if (err != SHOAL_OK) return err;
    settle_last(track, r);
    if (!is_closing) {
        err = add_row(track, error, acc);
        if (err != SHOAL_OK) return err;
    }
    track->n_closing = (uint32_t)is_closing;
    count_reports(track, acc->n);
    memcpy(track->last_hash, r->query_hash, 32);
    return SHOAL_OK;
}

agg_err agg_track_add(agg_track *track, agg_error *error, const char *name,
                      const agg_recipe *recipe, const agg_accumulator *acc)
{
    agg_err err = add(track, error, recipe, acc);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", name);
    return err;
}

// ---- values ----

static void put_interval(agg_track_row *row, const agg_track *track)
{
    double z = -agg_normal_quantile((1 - track->confidence) / 2);
    row->low = row->value - z * row->stderr_;
    row->high = row->value + z * row->stderr_;
}

// Sets the mean of an update and its error, with the formulas of one_bit_mean_estimate.c. Without
// an update the value is the middle of the range, without an error.
static void put_value(agg_track_row *row, const agg_track *track, const agg_track_update *update)
{
    const shoal_recipe *r = &track->recipe.recipe;
    double low = (double)r->low_micro / 1e6, range = (double)(r->high_micro - r->low_micro) / 1e6;
    row->value = low + range / 2;
    row->stderr_ = row->low = row->high = NAN;
    if (update == NULL) return;
    double q = agg_rare_probability(&r->parts[1]), c = agg_flip_correction(&r->parts[1]),
           v = update->ones;
    double inside = v < q ? q : v > 1 - q ? 1 - q : v;
    row->value = low + range * ((v - q) * c);
    row->stderr_ = range * c * sqrt(inside * (1 - inside) / (double)update->n);
    put_interval(row, track);
}

static void fill_row(agg_track_row *row, const agg_track *track, const agg_track_update *update)
{
    bool is_heavy = agg_track_is_heavy(&track->law);
    row->of = update != NULL ? update->epoch : 0;
    row->is_frozen = track->n_updates >= track->law.figures.n_estimates &&
                     (update == NULL || row->epoch > update->epoch) &&
                     (track->n_updates == 0 || update == &track->updates[track->n_updates - 1]);
    row->value = row->stderr_ = row->low = row->high = NAN;
    if (is_heavy || (row->is_pending && !row->is_frozen)) return;
    put_value(row, track, update);
}

agg_err agg_track_finish(agg_track *track, agg_error *error)
{
    size_t next = 0;
    const agg_track_update *update = NULL;
    if (track->n_rows == 0) return usage(error, "no epoch was given");
    track->n_called = 0;
    for (size_t i = 0; i < track->n_rows; i++) {
        agg_track_row *row = &track->rows[i];
        track->n_called += (uint32_t)row->is_update;
        if (next < track->n_updates && track->updates[next].epoch == row->epoch)
            update = &track->updates[next++];
        fill_row(row, track, update);
    }
    return SHOAL_OK;
}

uint32_t agg_track_updates_left(const agg_track *track)
{
    return track->law.figures.n_estimates - (uint32_t)track->n_updates;
}

void agg_track_error(double *rms, double *largest, const agg_track *track, const double *truth)
{
    double sum = 0, n = 0;
    *rms = *largest = NAN;
    for (size_t i = 0; i < track->n_rows; i++) {
        double away = fabs(track->rows[i].value - truth[i]);
        if (isnan(away)) continue;
        sum += away * away;
        n++;
        *largest = isnan(*largest) || away > *largest ? away : *largest;
    }
    if (n > 0) *rms = sqrt(sum / n);
}
