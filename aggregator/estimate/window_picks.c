// SPDX-License-Identifier: Apache-2.0
// What counts of windows estimate, and how surely; see window_picks.h.
#include "window_picks.h"

#include <math.h>
#include <stdio.h>

#include "recipe.h"

bool agg_picks_windows(const shoal_recipe *recipe)
{
    return recipe->pick == SHOAL_PICK_UNIFORM;
}

const char *agg_picks_unit(const shoal_recipe *recipe)
{
    return agg_picks_windows(recipe) ? "windows" : "reports";
}

double agg_picks_design(const shoal_recipe *recipe)
{
    if (!agg_picks_windows(recipe)) return 0;
    return 1 + (recipe->per_day - 1.0) * (recipe->sample_micro / 1e6);
}

static double of_share(double share)
{
    double p = share < 0 ? 0 : share > 1 ? 1 : share;
    return p * (1 - p);
}

double agg_picks_variance(const shoal_recipe *recipe, double n, double count)
{
    return n > 0 ? agg_picks_design(recipe) * n * of_share(count / n) : 0;
}

double agg_picks_mean_variance(const shoal_recipe *recipe, double n, double fraction)
{
    double design = agg_picks_design(recipe);
    return n > 0 && design > 1 ? (design - 1) * of_share(fraction) / n : 0;
}

void agg_picks_widen(agg_count *counts, size_t n_items, const shoal_recipe *recipe, double n)
{
    bool is_mean = recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER;
    if (!agg_picks_windows(recipe)) return;
    for (size_t i = 0; i < n_items; i++) {
        double own = counts[i].stderr_ * counts[i].stderr_;
        double added = is_mean ? agg_picks_mean_variance(recipe, n, counts[i].count)
                               : agg_picks_variance(recipe, n, counts[i].count);
        if (added > 0) counts[i].stderr_ = sqrt(own + added);
    }
}

bool agg_picks_note(char note[AGG_PICKS_NOTE_MAX], const shoal_recipe *recipe, size_t i)
{
    const char *what = recipe->window == SHOAL_WINDOW_VISIT ? "visits" : "days of a person";
    if (!agg_picks_windows(recipe) || i > (recipe->per_day > 1)) return false;
    if (i == 1)
        snprintf(note, AGG_PICKS_NOTE_MAX,
                 "a window has up to %u reports, and errors allow for their being alike",
                 recipe->per_day);
    else if (recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER)
        snprintf(note, AGG_PICKS_NOTE_MAX,
                 "a mean over windows (%s); one without events counts as the middle of the range",
                 what);
    else
        snprintf(note, AGG_PICKS_NOTE_MAX,
                 "counts are windows (%s): a report counts a value's share of its window's events",
                 what);
    return true;
}
