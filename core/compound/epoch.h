// SPDX-License-Identifier: Apache-2.0
// What a device remembers of a run of thresh or heavythresh, and what of a recipe it refuses: the
// part that the two have in common.
//
// A run is a chain of recipes, one an epoch, t = 1 .. T, and T + 1 where epoch T was an update. A
// device answers each with one report, `vote;estimate`: the vote is about epoch t, the estimate
// about epoch t - 1, sent where the recipe says `round.update`. Else, and once the estimates are
// spent, the estimate's place is filled by the answer of nobody: the coin that a mean at the low
// end of its range would toss.
//
// Privacy does not rest on the server. It names epochs and updates as it likes, of which a device
// only takes what the caps below let through; what is refused beyond that keeps a run's figures
// meaningful. Nothing that is refused depends on the device's data.
//
//     each index once, rising      a second answer about the same epoch would be a second debit of
//     the vote's budget a gap is allowed             the device was away; its mean of the epochs
//     between is the last one it knew, see thresh.h c_V + a <= epsilon/4         else the vote is
//     "no", whatever the data c_E + b <= epsilon/2         else the estimate is that of nobody
//
// The state is bytes that the host persists, before the report leaves the device: what is saved and
// not sent is lost, what is sent and not saved would be sent twice. Damaged bytes are refused for
// ever, and a host must never start a run anew for which the ledger was debited: a run whose state
// is lost is over for this device.
//
// Layout, little-endian: magic "shoalrun" (8), version 1 (4), w (4; 0 for thresh), last index
// answered (4), c_V (4), c_E (4), zero (4), run_hash (32), query_hash of the last recipe answered
// (32); then reference and previous: fractions of 2^-32 (8 each; thresh), w fractions of 2^-31 (4
// each; heavythresh); then the checksum (8, checksum.h).
#ifndef SHOAL_EPOCH_H
#define SHOAL_EPOCH_H

#include <stddef.h>
#include <stdint.h>

#include "evolving.h"

// Why a recipe is not answered. The numbers never change. In the order in which they are looked
// for.
typedef enum shoal_epoch_refusal {
    SHOAL_EPOCH_ACCEPTED = 0,
    SHOAL_EPOCH_NOT_TRACKED =
        1, // the recipe is of another mechanism, states no round, or the epoch's data cannot be
    SHOAL_EPOCH_STATE = 2,    // the state is damaged: nothing is ever sent in this run again
    SHOAL_EPOCH_RUN = 3,      // the recipe is of another run than the state
    SHOAL_EPOCH_ANSWERED = 4, // its epoch was answered, or one after it
    SHOAL_EPOCH_FOLLOWS = 5,  // it follows another recipe than the one answered
    SHOAL_EPOCH_LATE =
        6, // it is after the run's last epoch, and not the one that collects its estimates
    SHOAL_EPOCH_FIRST = 7, // it says that there was an update before the first epoch
    SHOAL_EPOCH_REFUSALS   // how many there are; not a refusal
} shoal_epoch_refusal;

// Returns: a short static name in lower case with hyphens ("answered"), one static sentence.
const char *shoal_epoch_refusal_name(shoal_epoch_refusal refusal);
const char *shoal_epoch_refusal_text(shoal_epoch_refusal refusal);

// ---- the books of one device, for who keeps states by himself (a simulation) ----

typedef struct shoal_epoch_books {
    uint32_t epoch;                      // last index answered; 0 before the first
    uint32_t vote_micro, estimate_micro; // c_V, c_E
} shoal_epoch_books;

// May epoch `index` be answered? ACCEPTED, ANSWERED, LATE or FIRST.
//   is_update: what the recipe says of the epoch before
shoal_epoch_refusal shoal_epoch_check(const shoal_epoch_books *books, const shoal_evolving *run,
                                      uint32_t index, uint32_t is_update);

// Decides the vote, and pays for a yes: of the thresholds that the distance exceeds, the highest,
// tau_i, votes in epochs that 2^(levels - i) divides, while the cap allows.
//   distance: of the epoch's mean from the reference, in units of 2^-32; 0 where there is no data
// Returns: the vote's item, SHOAL_NUMBER_ONE or 0. Timing: constant in the distance and in c_V.
uint64_t shoal_epoch_vote(shoal_epoch_books *books, const shoal_evolving *run, uint32_t index,
                          uint64_t distance);

// Decides whether an estimate is sent, and pays for it.
// Returns: all ones, or zero: the mask of the estimate's item.
uint64_t shoal_epoch_estimate(shoal_epoch_books *books, const shoal_evolving *run,
                              uint32_t is_update);

// ---- the state as bytes ----

#define SHOAL_RUN_HEADER 96u

// Returns: bytes of the state of a finished recipe's run; 0 where the recipe is of another
// mechanism.
size_t shoal_run_size(const shoal_recipe *recipe);

// Writes the state of a run in which nothing was answered yet: references at the middle of the
// range. Returns: ARGUMENT where the recipe is of another mechanism, SPACE.
shoal_err shoal_run_init(uint8_t *state, size_t cap, size_t *len,
                         const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Reads the books and checks everything about a recipe that is to be answered.
//   books, run: written where accepted
shoal_epoch_refusal shoal_run_open(shoal_epoch_books *books, shoal_evolving *run,
                                   const uint8_t *state, size_t len, const shoal_recipe *recipe);

// Writes books and checksum back, the recipe being answered.
void shoal_run_close(uint8_t *state, size_t len, const shoal_epoch_books *books,
                     const shoal_recipe *recipe);

// What a run has spent on this device, for people.
typedef struct shoal_run_spent {
    uint32_t epoch;                // last answered
    uint32_t n_votes, n_estimates; // yes-votes and estimates sent
    uint32_t eps_micro;            // 2 c_V + c_E, at most epsilon
} shoal_run_spent;

// Returns: LEDGER where the bytes are damaged, RECIPE_HASH where they are of another run, ARGUMENT.
shoal_err shoal_run_spent_of(shoal_run_spent *spent, const uint8_t *state, size_t len,
                             const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
