// SPDX-License-Identifier: Apache-2.0
// Longitudinal local hashing, the device's side (Arcolezi, Pinzón, Palamidessi, Gambs, EDBT 2023,
// "LOLOHA"), for a value of a list that changes over time.
//
// A device keeps one of k public rows, which hashes its value to one of g answers. It keeps, too, a
// table of g permanent answers, one for each hashed answer. A report is the row and the permanent
// answer for today's hash, with fresh noise on top:
//
//     hash            y = h_j(x) in [g], with j derived from the device's secret
//     permanent       with probability F1/2^64 a uniform answer of [g], else y: by coins derived
//                     from the secret and y, so the same each time
//     instantaneous   with probability F2/2^64 a uniform answer of [g], else the permanent one
//
// F1 belongs to epsilon_permanent and F2 to epsilon: F = ceil(T g / (g - 1)) with T of
// shoal_threshold_odds, so that 1 + g (2^64 - F)/F, the odds of the true answer, are at most e^eps.
//
// Rows. The paper gives each device a random hash, which links its reports. Here the rows are the
// points of a projective space over the field of g elements, which are k = (N - 1)/(g - 1) for N =
// g^d >= size + 1. "None" is the list's last value more. Value x is the vector of its digits to
// base g, and row j takes its scalar product with point j. Any two values then share their answer
// in exactly (N/g - 1)/(g - 1) rows, so that collisions are known and add no error (estimate/).
// log2(k) bits, at most 4.1, link the reports of a device.
//
// Privacy, replacement model; a neighbour may have any other value at each report:
//
//     one report               1 + g s/(1 - s), s = (1 - F1/2^64)(1 - F2/2^64), are the odds: the
//                              mechanism's epsilon
//     every further report     epsilon at most, whatever came before and however values change:
//                              the stated epsilon, which is what a device debits
//     any number, one value    epsilon_permanent: `unlimited`
//     any number, any values   g epsilon_permanent, of a reader who knows at which reports the
//                              hashed answer was which earlier one
//
// Any number of reports show, in the end, when a hashed answer changed and when it came back; no
// permanent answer hides that. Only the fresh coins do, at `epsilon` a report. The first report's
// epsilon times the reports is no bound: reports of one value share a permanent answer, and reports
// of unlike values do not. test_loloha.c enumerates all pairs of histories; at epsilon_permanent 1
// and epsilon 2, g = 2, four reports lose 3.387 between some two, and 1.916 between any two whose
// answers change at the same reports.
//
// Draws, permanent: label "loloha group", item 0, one u64 for the row; label "loloha coins", item
// y, one u64 for the coin F1, one for the uniform answer. Fresh: one u64 for F2, one for the
// uniform answer.
// Timing: constant in the item and in the secret.
// Parameters: size 2 .. 255, g 2, 4, 8 or 16, k at most 17. Part: m = g, k derived.
// Record: j g + y (u32). Text: "j,y".
#ifndef SHOAL_LOLOHA_H
#define SHOAL_LOLOHA_H

#include "mechanism.h"

#define SHOAL_LOLOHA_G_MAX 16u
#define SHOAL_LOLOHA_ROWS_MAX 17u

// Index of pqf_threshold that holds F1; part->threshold is F2.
enum { SHOAL_LOLOHA_PERMANENT = 0 };

// Returns: N, the values that the rows tell apart: the least power of g above size.
//   part: size at most 255, m at least 2
uint32_t shoal_loloha_values(const shoal_part *part);

// Returns: h_j(x), the answer in [0, m) of value x in row j.
//   j: below k
//   x: below N; size stands for "none"
// Timing: constant in j and x.
uint32_t shoal_loloha_answer(const shoal_part *part, uint32_t j, uint32_t x);

// Returns: the device's row in [0, k), uniform up to a relative 2^-43.
uint32_t shoal_loloha_row(const shoal_part *part, const shoal_permanent *permanent);

// Returns: an answer of [0, m): `truth`, or a uniform one with probability F/2^64. Both steps are
// this one.
//   f: F
// Draws: one u64 for the coin, one for the uniform answer.
uint32_t shoal_loloha_noisy(const shoal_part *part, uint64_t f, uint32_t truth, shoal_rng *rng);

// Computes the epsilon of any number of reports of one value, rounded up.
shoal_err shoal_loloha_unlimited(uint32_t *eps_micro, const shoal_part *part) SHOAL_MUST_CHECK;

#endif
