// SPDX-License-Identifier: Apache-2.0
// Estimates shares of listed values; see track_items.h.
#include "track_items.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "estimator.h"
#include "flip_chance.h"
#include "heavythresh.h"
#include "normal_law.h"
#include "recipe.h"

typedef struct ranked {
    double share;
    uint32_t value;
} ranked;

// Compares by falling share, then by the dictionary's order.
static int by_share(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int64_t weigh(const int32_t *sums, const uint8_t *signs, uint32_t w)
{
    int64_t sum = 0;
    for (uint32_t j = 0; j < w; j++)
        sum += (signs[j / 8] >> (j % 8)) & 1 ? sums[j] : -(int64_t)sums[j];
    return sum;
}

// Returns: the error that comes from the reports alone.
static void put_share(agg_track_share *out, const agg_track_update *update, double sum, double c,
                      double z_one)
{
    double n = (double)update->n;
    out->share = c * sum / n;
    out->stderr_ = sqrt(fmax(0, c * c - out->share * out->share) / n);
    out->is_detected = out->share > z_one * c / sqrt(n);
}

static double square(double x)
{
    return x * x;
}

// Adds the error from the other values' signs, and computes the change since the update before.
static void finish_update(agg_track_items *items, size_t u, double z, double z_two)
{
    double shares = 0, changes = 0, w = items->track->law.plan.projection;
    agg_track_share *now = &items->shares[u * items->n];
    const agg_track_share *before = u > 0 ? now - items->n : NULL;
    for (size_t i = 0; i < items->n; i++) {
        shares += now[i].is_detected ? square(now[i].share) : 0;
        now[i].change = before != NULL ? now[i].share - before[i].share : NAN;
        now[i].reports_error = now[i].stderr_;
        changes += before != NULL && (now[i].is_detected || before[i].is_detected)
                       ? square(now[i].change)
                       : 0;
    }
    for (size_t i = 0; i < items->n; i++) {
        agg_track_share *s = &now[i];
        double own = s->is_detected ? square(s->share) : 0;
        bool is_in = before != NULL && (s->is_detected || before[i].is_detected);
        double reports =
            before != NULL ? square(s->reports_error) + square(before[i].reports_error) : NAN;
        s->stderr_ = sqrt(square(s->reports_error) + fmax(0, shares - own) / w);
        s->low = s->share - z * s->stderr_;
        s->high = s->share + z * s->stderr_;
        s->change_error = sqrt(reports + fmax(0, changes - (is_in ? square(s->change) : 0)) / w);
        s->has_moved = before != NULL && fabs(s->change) > z_two * s->change_error;
    }
    // From a change and the share now, the one before would follow.
    for (size_t i = 0; i < items->n; i++) {
        if (before == NULL || !agg_track_is_withheld(items, u - 1, i)) continue;
        now[i].change = now[i].change_error = NAN;
        now[i].has_moved = false;
    }
}

static void put_value(agg_track_items *items, size_t i, const uint8_t *signs, double z_one)
{
    const agg_track *track = items->track;
    const shoal_recipe *r = track->recipe.recipe;
    double c = agg_flip_correction(&r->parts[1]);
    for (size_t u = 0; u < track->n_updates; u++) {
        const agg_track_update *update = &track->updates[u];
        put_share(&items->shares[u * items->n + i], update,
                  (double)weigh(update->sums, signs, r->projection), c, z_one);
    }
}

static agg_err rank(agg_track_items *items, agg_error *error)
{
    ranked *all = agg_alloc(error, items->n, sizeof *all);
    size_t u = items->track->n_updates;
    if (all == NULL) return AGG_ERR_MEMORY;
    for (size_t i = 0; i < items->n; i++)
        all[i] = (ranked){u == 0 ? 0
                          : agg_track_is_withheld(items, u - 1, i)
                              ? -INFINITY
                              : agg_track_items_at(items, u - 1, i)->share,
                          (uint32_t)i};
    qsort(all, items->n, sizeof *all, by_share);
    for (size_t i = 0; i < items->n; i++) items->order[i] = all[i].value;
    free(all);
    return SHOAL_OK;
}

static agg_err fill(agg_track_items *items, agg_error *error)
{
    const shoal_recipe *r = items->track->recipe.recipe;
    size_t n_shares = 0;
    if (!agg_size_multiply(&n_shares, items->n, items->track->n_updates))
        return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
                        "more values than any memory holds");
    uint8_t *signs = agg_alloc(error, r->projection / 8 + 1, 1);
    items->shares = agg_alloc(error, n_shares, sizeof *items->shares);
    items->order = agg_alloc(error, items->n, sizeof *items->order);
    agg_err err =
        signs == NULL || items->shares == NULL || items->order == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    double alpha = 1 - items->track->confidence, n = (double)items->n;
    uint32_t key[8];
    shoal_heavythresh_key(key, r->seed);
    for (size_t i = 0; i < items->n && err == SHOAL_OK; i++) {
        shoal_heavythresh_signs(signs, r->projection, key, items->dictionary->items[i]);
        put_value(items, i, signs, -agg_normal_quantile(alpha / n));
    }
    for (size_t u = 0; u < items->track->n_updates && err == SHOAL_OK; u++)
        finish_update(items, u, -agg_normal_quantile(alpha / 2),
                      -agg_normal_quantile(alpha / 2 / n));
    free(signs);
    return err == SHOAL_OK ? rank(items, error) : err;
}

uint64_t agg_track_items_memory(const agg_track *track, size_t n_values)
{
    const agg_track_items *items = NULL;
    uint64_t sorting = 2 * sizeof(ranked); // including the copy that qsort makes
    return n_values * (track->n_updates * sizeof *items->shares + sizeof *items->order + sorting);
}

agg_err agg_track_items_run(agg_track_items *items, agg_error *error, const agg_track *track,
                            const agg_dictionary *dictionary)
{
    memset(items, 0, sizeof *items);
    items->track = track;
    items->dictionary = dictionary;
    items->n = dictionary->n;
    agg_err err = fill(items, error);
    if (err != SHOAL_OK) agg_track_items_release(items);
    return err;
}

void agg_track_items_release(agg_track_items *items)
{
    free(items->shares);
    free(items->order);
    memset(items, 0, sizeof *items);
}

bool agg_track_is_withheld(const agg_track_items *items, size_t u, size_t i)
{
    double threshold = (double)items->track->recipe.recipe->release_threshold,
           n = (double)items->track->updates[u].n;
    return threshold > 0 && agg_track_items_at(items, u, i)->share * n < threshold;
}
