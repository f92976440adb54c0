// SPDX-License-Identifier: Apache-2.0
// THRESH, the device's side (joseph-2018, Algorithms 1-3): a mean that is followed over epochs at
// the cost of its changes.
//
// In epoch t a device holds the mean of its own samples, a fraction of a range. It votes, in noise
// of epsilon a, whether that differs by more than a threshold from its mean of the last update, 1/2
// before the first; the less it differs the rarer are the epochs in which it votes (epoch.h). Where
// the votes say so the server calls an update, and devices send their mean of that epoch, in noise
// of epsilon b, with the report of the next. Both are one-bit means (one_bit_mean.h): part 0 the
// vote, part 1 the estimate. A record is two bytes, its text "1;0".
//
// Privacy: epsilon for a whole run, against any server, for any two series of means of any length
// (evolving.h): exact, tested by enumeration. No data in an epoch: the vote is "no" and the mean is
// what it was, which is what an update of that epoch would collect. So it is for epochs in which a
// device was away: what it knew last. Draws, in order: of the vote, of the estimate (two u64 each).
#ifndef SHOAL_THRESH_H
#define SHOAL_THRESH_H

#include "compound.h"
#include "epoch.h"

typedef struct shoal_thresh {
    shoal_epoch_books books;
    uint64_t reference,
        previous; // means of the last update and of the last epoch with data, in units of 2^-32
} shoal_thresh;

// A run in which nothing was answered yet.
void shoal_thresh_start(shoal_thresh *state);

// Lives through one epoch.
//   items: of the vote and of the estimate, for shoal_record_randomize; written where accepted
//   state: unchanged unless accepted
//   mean: 0 .. SHOAL_NUMBER_ONE, or SHOAL_ITEM_NONE where the epoch has no data
// Timing: constant in the mean and in what the state remembers of others.
shoal_epoch_refusal shoal_thresh_step(uint64_t items[2], shoal_thresh *state,
                                      const shoal_evolving *run, uint32_t index, uint32_t is_update,
                                      uint64_t mean);

// Answers a recipe of a run.
//   record: recipe->record_size bytes; written where accepted
//   state: the run's bytes (epoch.h); unchanged unless accepted. The host persists them before the
//   record leaves mean: as above (refused where it is neither); of numbers shoal_recipe_number_item
//   rng: seeded with 32 fresh bytes
// Cost: some 10,000 multiplications of 32 bits.
shoal_epoch_refusal shoal_thresh_answer(uint8_t *record, uint8_t *state, size_t len,
                                        const shoal_recipe *recipe, uint64_t mean, shoal_rng *rng);

#endif
