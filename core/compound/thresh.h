// SPDX-License-Identifier: Apache-2.0
// THRESH, the device's side (joseph-2018, Algorithms 1-3). It follows a mean over epochs, at the
// cost of its changes.
//
// In epoch t a device holds the mean of its own samples, as a fraction of a range. It votes, with
// noise of epsilon a, on whether that mean differs by more than a threshold from its mean of the
// last update (1/2 before the first). The smaller the difference, the rarer are the epochs in which
// it votes (epoch.h). If enough devices vote yes, the server calls an update. Devices then send
// their mean of that epoch, with noise of epsilon b, in the report of the next epoch. Vote and
// estimate are one-bit means (one_bit_mean.h): part 0 is the vote, part 1 the estimate. A record is
// two bytes, its text "1;0".
//
// Privacy: epsilon for a whole run, against any server, for any two series of means of any length
// (evolving.h); exact, tested by enumeration.
// In an epoch without data the vote is "no" and the mean stays as it was; an update of that epoch
// would collect it. Epochs in which the device was away are treated in the same way.
// Draws, in order: the vote, the estimate (two u64 each).
#ifndef SHOAL_THRESH_H
#define SHOAL_THRESH_H

#include "compound.h"
#include "epoch.h"

typedef struct shoal_thresh {
    shoal_epoch_ledger ledger;
    uint64_t reference,
        previous; // means of the last update and of the last epoch with data, in units of 2^-32
} shoal_thresh;

// Starts a run without answers.
void shoal_thresh_start(shoal_thresh *state);

// Takes one epoch's step.
//   items: items of the vote and of the estimate, for shoal_record_randomize; written if accepted
//   state: unchanged unless accepted
//   mean: 0 .. SHOAL_NUMBER_ONE, or SHOAL_ITEM_NONE without data
// Timing: constant in the mean and in the means that the state remembers.
shoal_epoch_refusal shoal_thresh_step(uint64_t items[2], shoal_thresh *state,
                                      const shoal_evolving *run, uint32_t index, uint32_t is_update,
                                      uint64_t mean);

// Answers a recipe of a run.
//   record: recipe->record_size bytes; written if accepted
//   state: the run's bytes (epoch.h), unchanged unless accepted; the host persists them before the
//     record leaves
//   mean: as for shoal_thresh_step, refused otherwise; shoal_recipe_number_item makes it from a
//     number
//   rng: seeded with 32 fresh bytes
// Cost: some 10,000 multiplications of 32 bits.
shoal_epoch_refusal shoal_thresh_answer(uint8_t *record, uint8_t *state, size_t len,
                                        const shoal_recipe *recipe, uint64_t mean, shoal_rng *rng);

#endif
