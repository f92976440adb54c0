// SPDX-License-Identifier: Apache-2.0
// The defaults of mechanisms that find strings, for the recipe writer. A planner computes them from
// the number of devices and from epsilon.
#ifndef COMPOUND_DRAFT_H
#define COMPOUND_DRAFT_H

#include <stdint.h>

#include "agg_error.h"
#include "compound.h"
#include "recipe_options.h"

#define COMPOUND_LETTERS "abcdefghijklmnopqrstuvwxyz" // characters that a round asks about

// Parameters as a recipe states them; empty if the mechanism has none or an option states it.
typedef struct compound_defaults {
    char epsilon[24]; // the share of a report's epsilon that the recipe states, where the epsilon
                      // is shared out
    char epsilon_fragment[24], k[16], m[16], k_fragment[16], m_fragment[16], p[24], q[24],
        oracle[8];
    uint32_t step; // characters of a first round; 0: no rounds
    double sample; // share of devices that answers that round; 0: no rounds
} compound_defaults;

typedef struct compound_draft {
    uint32_t id; // an id of compounds.def
    // Fills in the defaults, which are zeros before.
    // Returns: AGG_ERR_USAGE for numbers that the planner refuses.
    agg_err (*fill)(compound_defaults *defaults, agg_error *error, const recipe_options *options);
} compound_draft;

#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) extern const compound_draft agg_##stem##_draft;
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND

// Returns: the draft of a mechanism id, or NULL for one without defaults of its own.
const compound_draft *compound_draft_of(uint32_t mechanism);

#endif
