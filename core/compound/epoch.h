// SPDX-License-Identifier: Apache-2.0
// The state that a device keeps of a run, and the reasons for which it refuses a recipe. thresh and
// heavythresh share both.
//
// A run is a chain of recipes, one per epoch: t = 1 .. T, and T + 1 if epoch T was an update. A
// device answers each recipe with one report, `vote;estimate`. The vote is about epoch t. The
// estimate is about epoch t - 1 and is sent if the recipe states `round.update`. Otherwise, and
// once the device's estimates are spent, a filler takes its place: the coin that a mean at the low
// end of its range would toss.
//
// Privacy does not depend on the server. The server names epochs and updates as it likes, but the
// device enforces the caps below. The other refusals keep a run's figures meaningful. No refusal
// depends on the device's data.
//
// - Each index is answered once, in rising order: a second answer about an epoch would be a second
//   debit of the vote's budget.
// - A gap is allowed, because the device may have been away. Its mean of the skipped epochs is the
//   last one it knew, see thresh.h.
// - The vote needs c_V + a <= epsilon/4; otherwise it is "no", whatever the data.
// - The estimate needs c_E + b <= epsilon/2; otherwise the filler is sent.
//
// The state is bytes that the host persists before the report leaves the device. A report that is
// saved and not sent is lost; a report that is sent and not saved would be sent twice. Damaged
// bytes are refused for ever. A host must never start a run anew for which the ledger was debited:
// a run whose state is lost is over for this device.
//
// Layout, little-endian:
// - header: magic "shoalrun" (8), version 1 (4), w (4; 0 for thresh), last index answered (4), c_V
//   (4), c_E (4), zero (4), run_hash (32), query_hash of the last recipe answered (32)
// - reference, then previous: fractions of 2^-32 (8 each; thresh), or w fractions of 2^-31 (4 each;
//   heavythresh)
// - checksum (8, checksum.h)
#ifndef SHOAL_EPOCH_H
#define SHOAL_EPOCH_H

#include <stddef.h>
#include <stdint.h>

#include "evolving.h"

// A reason for which a recipe is not answered. The numbers never change. The reasons are listed in
// the order in which they are checked.
typedef enum shoal_epoch_refusal {
    SHOAL_EPOCH_ACCEPTED = 0,
    SHOAL_EPOCH_NOT_TRACKED = 1, // wrong mechanism, no round, or impossible data
    SHOAL_EPOCH_STATE = 2,       // the state is damaged: nothing is ever sent in this run again
    SHOAL_EPOCH_RUN = 3,         // the recipe and the state belong to different runs
    SHOAL_EPOCH_ANSWERED = 4,    // the recipe's epoch, or a later one, was answered
    SHOAL_EPOCH_FOLLOWS = 5,     // the recipe follows another recipe than the last one answered
    SHOAL_EPOCH_LATE = 6,        // after the run's last epoch, and not collecting its estimates
    SHOAL_EPOCH_FIRST = 7,       // the recipe claims an update before the first epoch
    SHOAL_EPOCH_REFUSALS         // number of refusals, not a refusal
} shoal_epoch_refusal;

// Returns: a short static name in lower case with hyphens ("answered"), or one static sentence.
const char *shoal_epoch_refusal_name(shoal_epoch_refusal refusal);
const char *shoal_epoch_refusal_text(shoal_epoch_refusal refusal);

// ---- a device's ledger of one run, for programs that keep states themselves (a simulation) ----

typedef struct shoal_epoch_ledger {
    uint32_t epoch;                      // last index answered, 0 before the first
    uint32_t vote_micro, estimate_micro; // c_V, c_E
} shoal_epoch_ledger;

// Checks whether epoch `index` may be answered. Returns: ACCEPTED, ANSWERED, LATE or FIRST.
//   is_update: whether the recipe states that the epoch before was an update
shoal_epoch_refusal shoal_epoch_check(const shoal_epoch_ledger *ledger, const shoal_evolving *run,
                                      uint32_t index, uint32_t is_update);

// Decides the vote and debits a yes. Of the thresholds that the distance exceeds, the highest,
// tau_i, decides: the vote is "yes" in epochs that 2^(levels - i) divides, while the cap allows.
//   distance: distance of the epoch's mean from the reference, in units of 2^-32; 0 without data
// Returns: the vote's item, SHOAL_NUMBER_ONE or 0.
// Timing: constant in the distance and in c_V.
uint64_t shoal_epoch_vote(shoal_epoch_ledger *ledger, const shoal_evolving *run, uint32_t index,
                          uint64_t distance);

// Decides whether an estimate is sent, and debits it.
// Returns: the mask of the estimate's item, all ones or zero.
uint64_t shoal_epoch_estimate(shoal_epoch_ledger *ledger, const shoal_evolving *run,
                              uint32_t is_update);

// ---- the state as bytes ----

#define SHOAL_RUN_HEADER 96u

// Returns: bytes of the state of a finished recipe's run, or 0 if the recipe's mechanism has no
// state.
size_t shoal_run_size(const shoal_recipe *recipe);

// Writes the state of a run without answers, whose references are the middle of the range.
// Returns: ARGUMENT if the recipe's mechanism has no state, SPACE.
shoal_err shoal_run_init(uint8_t *state, size_t cap, size_t *len,
                         const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Reads a run's ledger and checks everything about the recipe to be answered.
//   ledger, run: written if accepted
shoal_epoch_refusal shoal_run_open(shoal_epoch_ledger *ledger, shoal_evolving *run,
                                   const uint8_t *state, size_t len, const shoal_recipe *recipe);

// Writes the ledger and the checksum back after the recipe is answered.
void shoal_run_close(uint8_t *state, size_t len, const shoal_epoch_ledger *ledger,
                     const shoal_recipe *recipe);

// What a run has spent on this device, for display.
typedef struct shoal_run_spent {
    uint32_t epoch;                // last epoch answered
    uint32_t n_votes, n_estimates; // yes-votes and estimates sent
    uint32_t eps_micro;            // 2 c_V + c_E, at most epsilon
} shoal_run_spent;

// Reads what a run has spent.
// Returns: LEDGER if the bytes are damaged, RECIPE_HASH if they belong to another run, ARGUMENT.
shoal_err shoal_run_spent_of(shoal_run_spent *spent, const uint8_t *state, size_t len,
                             const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
