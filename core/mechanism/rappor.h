// SPDX-License-Identifier: Apache-2.0
// RAPPOR, the device's side (Erlingsson, Pihur and Korolova, CCS 2014; fanti-2016 section 2).
//
// A string sets up to `hashes` (h) of `bits` (m) bits, chosen by hash functions of the device's
// cohort. In a closed list, entry i sets bit i alone, in one cohort ("basic"). "None of the list"
// sets no bit. The answer is randomized twice:
//
//     permanent       every bit is flipped with probability f/2, by coins derived from the
//                     device's secret and the item: the same each time
//     instantaneous   a report's bit is 1 with probability q where the permanent bit is 1,
//                     p where it is 0: fresh each time
//
// One report's bit is therefore 1 with probability q* = q - (f/2)(q - p) where the string sets it,
// and p* = p + (f/2)(q - p) elsewhere. The cohort is derived from the secret alone and sent in the
// clear.
//
// Privacy: replacement model; two items differ in 2h bits at most:
//
//     one report              epsilon = h ln( q* (1 - p*) / (p* (1 - q*)) ), the mechanism's
//                             epsilon; a stated epsilon is an upper bound
//     any number of reports   epsilon_u = 2 h ln( (1 - f/2) / (f/2) ), as long as the item does
//                             not change: shoal_rappor_unlimited
//
// The costs of reports of different items add up, between two histories of a device whose items
// change at the same reports. When an item changes is not hidden: two reports of one item share all
// bits of a permanent answer, so a history that stays and one that changes differ by more, in every
// bit, and the sum of the single reports' epsilons does not bound that (enumerated in test_rappor).
// Both epsilons are computed from the thresholds really drawn.
// Recipes share permanent coins and cohorts only if seed, bits, hashes, cohorts and f are all the
// same; their permanent answers are then the same too.
//
// Thresholds: p is rounded up and q down to 2^-64, towards each other; f/2 is rounded up to 2^-32.
// q = 1 is drawn as 1 - 2^-64.
// Draws, fresh: for every 64 bits, one 64-lane coin of p, then one of q. Permanent: label "rappor
// group", item 0, one u64 for the cohort; label "rappor coins", the item, for every 64 bits one u64
// for each bit of f/2's threshold down to its last 1 bit.
// Timing: constant in the item and in the secret.
// Parameters: bits 2 .. 65536 (or size), hashes 1 .. 16, cohorts 1 .. 65536, bits * cohorts <=
// 2^28, p < q, f < 1.
// Record: cohort (u32), m bits. Text: "cohort,<hex>".
#ifndef SHOAL_RAPPOR_H
#define SHOAL_RAPPOR_H

#include "mechanism.h"

#define SHOAL_RAPPOR_BITS_MAX 65536u
#define SHOAL_RAPPOR_HASHES_MAX 16u
#define SHOAL_RAPPOR_COHORTS_MAX 65536u

// Indices of pqf_micro and of pqf_threshold, which holds f/2 for f.
enum { SHOAL_RAPPOR_P = 0, SHOAL_RAPPOR_Q = 1, SHOAL_RAPPOR_F = 2 };

// Returns: the number of the poly1 row of a cohort's hash function, in [0, cohorts * hashes).
static inline uint32_t shoal_rappor_row(const shoal_part *part, uint32_t cohort, uint32_t hash)
{
    return cohort * part->hashes + hash;
}

// Returns: the device's cohort in [0, part->k), uniform up to a relative 2^-32.
uint32_t shoal_rappor_cohort(const shoal_part *part, const shoal_permanent *permanent);

// Writes a record as randomize does, with both sources of coins given by the caller.
//   coins: the coins of the permanent answer
void shoal_rappor_answer(uint8_t *record, const shoal_part *part, uint64_t item, uint32_t cohort,
                         shoal_rng *coins, shoal_rng *rng);

// Writes p* and q* of one report in units of 2^-64. p* is rounded down and q* up, so that an
// epsilon computed from them is an upper bound.
void shoal_rappor_effective(uint64_t *p_star, uint64_t *q_star, const shoal_part *part);

// Computes the epsilon of any number of reports about one item, rounded up to micro-units.
// Returns: SHOAL_ERR_RANGE if it is above 16 for each hash; f = 0 has no finite epsilon.
shoal_err shoal_rappor_unlimited(uint32_t *eps_micro, const shoal_part *part) SHOAL_MUST_CHECK;

#endif
