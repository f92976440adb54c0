// SPDX-License-Identifier: Apache-2.0
// What a plan of a distribution (distribution_plan.h) is asked, from texts; and its recipe.
#ifndef DISTRIBUTION_WISH_H
#define DISTRIBUTION_WISH_H

#include "distribution_plan.h"

// The options as they were typed; NULL where one is left out.
typedef struct agg_distribution_texts {
    const char *devices, *low, *high, *epsilon; // stated
    const char *counts;                         // a file of number<TAB>count lines
    const char *shape, *quantile, *size, *mechanism;
} agg_distribution_texts;

// Reads a wish.
// Returns: AGG_ERR_USAGE for what is out of range or does not go together; SHOAL_ERR_TYPE for a
// counts file with a value that is not a number.
agg_err agg_distribution_wish_read(agg_distribution_wish *wish, agg_error *error,
                                   const agg_distribution_texts *texts) SHOAL_MUST_CHECK;

// Writes the recipe of the plan's best candidate to a file, with a fresh random seed where it takes
// one. The text is read back before anything is written.
//   path: "-" is standard output
//   id: NULL: "planned"
//   expires: the last day, or NULL: in 180 days
agg_err agg_distribution_recipe_write(agg_error *error, const char *path,
                                      const agg_distribution_plan *plan,
                                      const agg_distribution_wish *wish, const char *id,
                                      const char *expires) SHOAL_MUST_CHECK;

#endif
