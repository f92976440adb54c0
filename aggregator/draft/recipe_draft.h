// SPDX-License-Identifier: Apache-2.0
// A recipe of one mechanism before it is text: the mechanism that the options ask for, and each
// parameter, by default where no option states it. Descriptors say what a mechanism needs
// (shoal_takes) and what is usual for it (account.h, compound_draft.h), so no mechanism is named
// here.
#ifndef RECIPE_DRAFT_H
#define RECIPE_DRAFT_H

#include <stdbool.h>

#include "agg_error.h"
#include "compound_draft.h"
#include "mechanism.h"
#include "recipe_options.h"

typedef struct recipe_draft {
    const recipe_options *options;
    const char *mechanism, *value;
    shoal_takes takes;
    bool is_compound;
    bool is_run;             // a run over epochs
    char k[16], m[16];       // the mechanism's own defaults; empty if it has none
    compound_defaults words; // defaults of a compound
    char group[16];          // users of one group of a run
} recipe_draft;

// Chooses the mechanism and the defaults.
// Returns: AGG_ERR_USAGE naming an option that is missing or does not go with the mechanism.
agg_err recipe_draft_make(recipe_draft *draft, agg_error *error,
                          const recipe_options *options) SHOAL_MUST_CHECK;

// Reads one parameter and its text: the option's, or the default of a mechanism that needs it; NULL
// where the recipe does not state the parameter.
// Returns: whether there is an index-th parameter.
bool recipe_draft_parameter(recipe_parameter *parameter, const char **text,
                            const recipe_draft *draft, size_t index);

#endif
