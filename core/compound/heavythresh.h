// SPDX-License-Identifier: Apache-2.0
// HEAVYTHRESH, the device's side (joseph-2018, section 5; Bassily and Smith 2015 for projection and
// randomizer; the papers' notes for the details left to the supplement). It follows the frequencies
// of any strings over epochs, at the cost of their changes.
//
// A device's samples of an epoch form a histogram p. The device sees p through w projections, Phi
// p, whose entries for an item are +-1/sqrt(w). The signs come from ChaCha20 under a key derived
// from the recipe's seed, with the item's 64-bit fingerprint as nonce. No matrix is ever stored.
// The code keeps the w fractions
//
//     u_j = (1 + sqrt(w) (Phi p)_j)/2 = share of the samples whose item has sign + in coordinate j
//
// in units of 2^-31, 0 .. 2^31. The device votes as in thresh.h, on the largest |u_j - u_j of the
// last update|. In these units the paper's condition, max-norm |Phi p - Phi p_ref| > (i + 1) 2
// sqrt(2 ln(16 w n T/delta)/(w l)), becomes |..| > (i + 1) sqrt(2 ln(16 w n T/delta)/l). Before the
// first update the reference is the empty frequency: Phi p = 0, u_j = 1/2.
//
// An estimate is one coordinate, drawn uniformly and sent in the clear. It is a one-bit mean of u_j
// with epsilon b: sign + with probability 1/2 + sqrt(w) (Phi p)_j (e^b - 1)/(2 (e^b + 1)). Part 0
// is the vote, part 1 the estimate, of k = w rows; the text is "1;jjjj,0".
//
// Privacy and epochs without data: as thresh.h. The parameter epsilon_estimate is b.
// Draws, in order: the vote (two u64), below(w) (one u64), the estimate (two u64).
#ifndef SHOAL_HEAVYTHRESH_H
#define SHOAL_HEAVYTHRESH_H

#include "compound.h"
#include "epoch.h"

#define SHOAL_HEAVYTHRESH_ONE ((uint32_t)1 << 31) // the fraction 1
#define SHOAL_HEAVYTHRESH_SAMPLES_MAX ((uint32_t)INT32_MAX)

// The count of an item in an epoch.
typedef struct shoal_counted {
    uint64_t item; // item of the estimate's part, from shoal_part_item
    uint32_t count;
} shoal_counted;

// Writes the signs of an item: bit j % 8 of byte j / 8 is 1 if entry j is positive.
//   bits: w/8 bytes; w is a power of two in 64 .. 65536
//   key: written by shoal_heavythresh_key
// Timing: constant in the item.
void shoal_heavythresh_signs(uint8_t *bits, uint32_t w, const uint32_t key[8], uint64_t item);

// Derives the projection's key from a recipe's seed.
void shoal_heavythresh_key(uint32_t key[8], const uint8_t seed[32]);

// Writes the fractions u_j of a histogram.
//   fractions: w fractions
//   values: n different items, whose counts add up to 1 .. SHOAL_HEAVYTHRESH_SAMPLES_MAX
// Returns: RANGE for another sum; then fractions are unchanged.
// Timing: depends on n only.
// Cost: n w additions and n w/512 blocks of ChaCha20.
shoal_err shoal_heavythresh_project(uint32_t *fractions, uint32_t w, const uint32_t key[8],
                                    const shoal_counted *values, uint32_t n) SHOAL_MUST_CHECK;

// Writes fractions[j] = positive[j]/total, rounded down and exact at both ends. Both arrays may be
// the same.
//   positive: samples whose item has sign + in coordinate j, at most total
//   total: 1 .. SHOAL_HEAVYTHRESH_SAMPLES_MAX
// Timing: constant in positive and total.
void shoal_heavythresh_fractions(uint32_t *fractions, const uint32_t *positive, uint32_t w,
                                 uint32_t total);

// Takes one epoch's step. If the estimate of epoch t - 1 is sent, it is the value of `reference`
// after the call.
//   vote: the vote's item; written if accepted
//   sends: mask of the estimate's item; written if accepted
//   ledger, reference, previous (w each): unchanged unless accepted; reference and previous begin
//   at
//     2^30
//   now: the epoch's w fractions, or NULL without data
// Timing: constant in the fractions and the ledger; whether there are data shows.
shoal_epoch_refusal shoal_heavythresh_step(uint64_t *vote, uint64_t *sends,
                                           shoal_epoch_ledger *ledger, uint32_t *reference,
                                           uint32_t *previous, const shoal_evolving *run,
                                           uint32_t w, uint32_t index, uint32_t is_update,
                                           const uint32_t *now);

// Writes the record of a step's decisions.
void shoal_heavythresh_record(uint8_t *record, const shoal_recipe *recipe, uint64_t vote,
                              uint64_t sends, const uint32_t *reference, shoal_rng *rng);

// Answers a recipe of a run, like shoal_thresh_answer.
//   values: the epoch's histogram, as for shoal_heavythresh_project; n = 0 without data
//   scratch: 3 w words, wiped
shoal_epoch_refusal shoal_heavythresh_answer(uint8_t *record, uint8_t *state, size_t len,
                                             const shoal_recipe *recipe,
                                             const shoal_counted *values, uint32_t n,
                                             uint32_t *scratch, shoal_rng *rng);

#endif
