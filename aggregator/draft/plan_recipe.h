// SPDX-License-Identifier: Apache-2.0
// Writes the recipe of a planned mechanism (plan.h).
#ifndef PLAN_RECIPE_H
#define PLAN_RECIPE_H

#include "guarantee.h"
#include "plan.h"
#include "text_list.h"

#define AGG_PLAN_COHORT 1000u          // minimum cohort of such a recipe
#define AGG_PLAN_BLOCK_MAX 1000000000u // the largest block.minimum

// What a plan is asked of central guarantees.
typedef struct agg_plan_crowd {
    double honest;  // share of the reports that is assumed to be honest, AGG_HONEST_MIN .. 1
    double central; // central epsilon of a report to reach, if above 0
    uint32_t block; // reports of the smallest block, if above 0; not both
} agg_plan_crowd;

// Chooses the smallest block, and computes the central guarantee that rests on it. Without a wish
// for either, a block is half of a day's reports, so that one closes on most days.
//   guarantee: of the plan's best candidate, over the days of the wish
//   wish: its `block` is written
// Returns: AGG_ERR_USAGE where no block of up to AGG_PLAN_BLOCK_MAX reports gives the epsilon.
agg_err agg_plan_crowd_run(agg_guarantee *guarantee, agg_plan_wish *wish, agg_error *error,
                           const agg_plan *plan, const agg_plan_crowd *crowd) SHOAL_MUST_CHECK;

// Returns: why results of the plan's recipe will not be seen, as a sentence; NULL if they will.
const char *agg_plan_recipe_doubt(const agg_plan *plan, const agg_plan_wish *wish);

// Writes the recipe of the plan's best candidate to a file, with a fresh random seed. The text is
// read back before anything is written.
//   path: NULL or "-" is standard output
//   values: wish->size values, of a list that was read; NULL where values are known by number
//   expires: the last day, or NULL: in 180 days
agg_err agg_plan_recipe_write(agg_error *error, const char *path, const agg_plan *plan,
                              const agg_plan_wish *wish, const agg_text *values,
                              const char *expires) SHOAL_MUST_CHECK;

#endif
