// SPDX-License-Identifier: Apache-2.0
// Writes the folder of a new installation: recipes, page, configurations, secrets, and drafts for
// whoever answers for the data. Everything in it follows from three answers and the planner.
//
// The same code runs natively and as WASI. It uses no server library.
#ifndef INIT_H
#define INIT_H

#include <stdbool.h>

#include "agg_error.h"

#define INIT_REGISTRY "registry" // --packages: by name, from the registry that npm asks
#define INIT_PACKAGES "packages" // folder of the new one whose files are taken without --packages

// The options of `shoal init` as typed; NULL for an absent one.
typedef struct init_options {
    const char *what, *visitors, *strict;              // the three answers
    const char *values, *low, *high, *buckets, *field; // what is counted, closer
    const char *taking_part, *days, *active, *pages;   // how the plan counts
    const char *site, *edge, *relay, *id, *expires;    // names
    const char *packages, *seed;                       // where packages are; tests
    bool takes_defaults;                               // --yes
    bool asks;                                         // --ask: read answers from a pipe, too
    bool is_anyway;                                    // write what will see nothing
    const char *folder, *version;                      // of the packages that the folder names
} init_options;

// Asks for what no option says, plans, and writes the folder. Prints what was written.
// Returns: AGG_ERR_USAGE for a missing or wrong answer, for a folder that is in the way, and for a
// plan that sees nothing, unless `is_anyway`. Nothing is left behind on an error.
agg_err init_run(agg_error *error, const init_options *options) SHOAL_MUST_CHECK;

#endif
