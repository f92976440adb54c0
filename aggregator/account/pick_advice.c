// SPDX-License-Identifier: Apache-2.0
// Chooses between "first" and "uniform"; see pick_advice.h.
#include "pick_advice.h"

#include <math.h>
#include <stdio.h>

#include "recipe.h"

agg_pick_wish agg_pick_wish_of(const shoal_recipe *recipe, double active)
{
    return (agg_pick_wish){
        .active = active,
        .value = recipe->value,
        .is_permanent = shoal_recipe_is_permanent(recipe),
        .is_mean = recipe->n_variables == 0 && recipe->parts[0].domain == SHOAL_DOMAIN_NUMBER,
        .is_own = recipe->encoding.n_fields > 0 || recipe->round_index > 0 || recipe->epochs > 0};
}

agg_pick_reason agg_pick_advise(const agg_pick_wish *wish)
{
    if (wish->is_own) return AGG_PICK_OWN;
    if (wish->is_permanent) return AGG_PICK_PERMANENT;
    if (!(wish->active > 0)) return AGG_PICK_UNKNOWN;
    if (wish->is_mean && wish->active < 1) return AGG_PICK_MEAN;
    return wish->active < AGG_PICK_ACTIVE_LEAST ? AGG_PICK_RARE : AGG_PICK_ACTIVE;
}

// Returns: what "first" lets the network see, and what it favours.
static const char *shown_by_first(uint32_t value)
{
    switch (value) {
    case SHOAL_VALUE_WORD:
        return "it shows that something was typed, and favours a day's first words";
    case SHOAL_VALUE_HOST:
    case SHOAL_VALUE_SITE:
        return "it shows that a site was visited, and favours a day's first sites";
    default: return "it shows that something happened, and favours a day's first events";
    }
}

void agg_pick_sentence(char out[AGG_PICK_SENTENCE_MAX], const agg_pick_wish *wish,
                       agg_pick_reason reason)
{
    const char *shown = shown_by_first(wish->value);
    switch (reason) {
    case AGG_PICK_ACTIVE:
        snprintf(
            out, AGG_PICK_SENTENCE_MAX,
            "uniform: epsilon covers the whole window, also whether anything happened in it; with "
            "events in %g %% of windows, errors are %.2f times those of first",
            100 * wish->active, 1 / sqrt(wish->active));
        break;
    case AGG_PICK_RARE:
        snprintf(out, AGG_PICK_SENTENCE_MAX,
                 "first: %s; with events in %g %% of windows, uniform would make errors %.1f times "
                 "as large%s",
                 shown, 100 * wish->active, 1 / sqrt(wish->active),
                 wish->value == SHOAL_VALUE_WORD
                     ? "; on pages that follow an event, such as search results, most "
                       "windows are active"
                     : "");
        break;
    case AGG_PICK_UNKNOWN:
        snprintf(out, AGG_PICK_SENTENCE_MAX,
                 "first: %s; to compare it with uniform, state --active SHARE (of windows with an "
                 "event)",
                 shown);
        break;
    case AGG_PICK_PERMANENT:
        snprintf(out, AGG_PICK_SENTENCE_MAX,
                 "first: a permanent answer to a value costs less than an answer for each window");
        break;
    case AGG_PICK_MEAN:
        snprintf(out, AGG_PICK_SENTENCE_MAX,
                 "first: a mean would count windows without events as the middle of its range; a "
                 "histogram (--size) would not");
        break;
    case AGG_PICK_OWN:
        snprintf(out, AGG_PICK_SENTENCE_MAX,
                 "first: queries, tries and runs choose what they report by themselves");
        break;
    }
}

double agg_pick_break_even(double uniform, double first)
{
    return uniform > first ? sqrt(uniform * uniform - first * first) : 0;
}
