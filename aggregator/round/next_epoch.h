// SPDX-License-Identifier: Apache-2.0
// The next epoch of a run of thresh or heavythresh: whether this epoch was a global update, and the
// recipe that follows. Pure.
//
// An epoch is an update if more than 1/(e^a + 1) + sqrt(ln(10 T/delta)/(2n)) of its n reports vote
// yes (joseph-2018, Algorithm 1, line 10), computed with the integers of core/compound/evolving.h.
// The next recipe is this one with another `round`: the index counted up, `previous` set to this
// recipe's hash, and `update` set to 1 after an update, so that devices send their estimates of it.
// Any other change would make it another run. If epoch T was an update, one more recipe follows
// that collects its estimates only. The decision does not depend on whether devices have estimates
// left: an update that nobody answers still tells devices what to compare with.
#ifndef NEXT_EPOCH_H
#define NEXT_EPOCH_H

#include <stdbool.h>

#include "accumulator.h"
#include "recipe_json.h"

typedef struct agg_next_epoch {
    uint32_t epoch, epochs;    // the number of this epoch, and T
    uint64_t n, votes, needed; // reports, yes votes, and yes votes that make an update
    bool is_update;            // votes >= needed
    bool is_over;              // no recipe follows
} agg_next_epoch;

// Decides whether the epoch was an update.
//   acc: the epoch's reports
// Returns: AGG_ERR_COHORT below the minimum cohort, AGG_ERR_USAGE for a recipe of another
// mechanism, and the other errors of agg_estimate_check.
agg_err agg_next_epoch_decide(agg_next_epoch *next, agg_error *error, const agg_recipe *recipe,
                              const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Writes the text of the next recipe, NUL-terminated, unsigned. Release with free.
//   next: a decision whose is_over is false
agg_err agg_next_epoch_text(char **text, agg_error *error, const agg_recipe *recipe,
                            const agg_next_epoch *next) SHOAL_MUST_CHECK;

#endif
