// SPDX-License-Identifier: Apache-2.0
// The recipes of a new installation: what the plan chose, the probe, and the set with the budget.
// The core reads each back, so that nothing is written that a device or a server would refuse.
#ifndef INIT_RECIPES_H
#define INIT_RECIPES_H

#include "init_figures.h"

#define INIT_PROBE_ID "shoal-probe"

typedef struct init_recipes {
    char *recipe, *probe, *set;                         // JSON, to free
    char recipe_hash[65], probe_hash[65], set_hash[65]; // 64 hex digits
    char stream[SHOAL_NAME_MAX + 1];                    // that the page's events go to
    const char *mechanism;                              // static
    double epsilon;                                     // of one report
    double month_epsilon;                               // the budget, of INIT_WINDOW_DAYS
    double record_bytes; // of a report as a batch holds it, at most; 0: not known
    bool needs_whole_module;
} init_recipes;

// Writes and checks the recipes. Release them on an error, too.
agg_err init_recipes_make(init_recipes *recipes, agg_error *error, const init_answers *answers,
                          const init_figures *figures) SHOAL_MUST_CHECK;
void init_recipes_release(init_recipes *recipes);

#endif
