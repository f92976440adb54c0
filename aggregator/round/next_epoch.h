// SPDX-License-Identifier: Apache-2.0
// The next epoch of a run of thresh or heavythresh: whether this epoch was a global update, and the
// recipe that follows. Pure.
//
// joseph-2018, Algorithm 1, line 10: an update where more than 1/(e^a + 1) + sqrt(ln(10
// T/delta)/(2n)) of the n reports say yes, by the integers of core/compound/evolving.h. The next
// recipe is this one with another `round`: the index counted up, `previous` the hash of this one,
// `update` 1 where this epoch was one, so that devices send their estimates of it. All else is as
// it was, or it would be another run. After epoch T follows one more recipe where T was an update,
// which collects its estimates, and nothing else. The decision does not ask whether devices have
// estimates left: one that is not answered still tells devices what to compare with.
#ifndef NEXT_EPOCH_H
#define NEXT_EPOCH_H

#include "accumulator.h"
#include "recipe_json.h"

typedef struct agg_next_epoch {
    uint32_t epoch, epochs; // this one, and T
    uint64_t n, votes, needed;
    int is_update; // votes >= needed
    int is_over;   // no recipe follows
} agg_next_epoch;

// Decides.
// Returns: as agg_estimate_check (below the minimum cohort: AGG_ERR_COHORT); AGG_ERR_USAGE for a
// recipe of another mechanism.
agg_err agg_next_epoch_decide(agg_next_epoch *next, agg_error *error, const agg_recipe *recipe,
                              const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Writes the text of the next recipe, NUL-terminated, unsigned. Release with free.
//   next: not over
agg_err agg_next_epoch_text(char **text, agg_error *error, const agg_recipe *recipe,
                            const agg_next_epoch *next) SHOAL_MUST_CHECK;

#endif
