// SPDX-License-Identifier: Apache-2.0
// The figures of a statistic that is followed over T epochs (joseph-2018, Algorithms 1-3; the
// papers' notes): how noisy votes and estimates are, how many of each a device may send, from when
// on a change is voted for, how many votes make an update. thresh.h and heavythresh.h are the two
// protocols, epoch.h is what a device remembers.
//
// With n users, T epochs, l samples of a user in an epoch, m groups that may change alone, the
// smallest of them L users, and delta the chance that the run's accuracy (not its privacy) fails;
// log to base 2, ln natural:
//
//     a        = 8 R / (L - 3 R), R = sqrt(n ln(12 m T/delta)/2)                 epsilon of a vote
//     b        = 2 s / (log(T) h - s), s = sqrt(ln(12 T/delta)/(2n)),            epsilon of an
//     estimate: thresh
//                h = sqrt(ln(12 n T/delta)/(2l));                                heavythresh:
//                stated, `eps_estimate_micro`
//     tau_i    = (i + 1) tau, i = 0 .. floor(log T)                              thresholds, of a
//     mean as a fraction of its range tau      = sqrt(2 ln(12 n T/delta)/l) (thresh), sqrt(2 ln(16
//     w n T/delta)/l) (heavythresh, see there) update   where more than N/(e^a + 1) + sqrt(N ln(10
//     T/delta)/2) of N devices vote L > 11 R Assumption 4.2: 3/sqrt 2 + sqrt 32 = 11/sqrt 2; so a <
//     1
//
// Privacy, whatever the figures: a device votes while c_V + a <= epsilon/4 and estimates while c_E
// + b <= epsilon/2, so that for any two inputs and any server the loss of a whole run is at most 2
// floor(epsilon/4a) a + floor(epsilon/2b) b <= epsilon. Votes count twice: those of two inputs may
// fall in different epochs. Estimates are sent in the same epochs, since c_E follows what the
// server publishes.
//
// Everything is in integers, so that device and aggregator agree to the last bit. Rounding:
// logarithms up, by less than 2^-35; roots up, by one unit; a and b up to a whole micro-unit (below
// 0.01 they are 0.01), b after a quotient that is right to 1e-7; tau up; the number of votes of an
// update up. The caps and the cost are exact in micro-units. Assumption 4.2 is decided against the
// analyst.
#ifndef SHOAL_EVOLVING_H
#define SHOAL_EVOLVING_H

#include <stdint.h>

#include "recipe.h"

#define SHOAL_EVOLVING_STEP_BITS 48

// What a run's recipe states.
typedef struct shoal_evolving_plan {
    uint32_t eps_micro;          // of the whole run
    uint32_t users, samples;     // n, l: 1 .. 10^9
    uint32_t epochs;             // T: 2 .. SHOAL_EPOCHS_MAX
    uint32_t smallest_group;     // L
    uint32_t groups;             // m; together they have at most n users
    uint32_t delta_exp;          // delta = 10^-delta_exp: 3 .. 15
    uint32_t projection;         // heavythresh: w, a power of two in 64 .. 65536; thresh: 0
    uint32_t eps_estimate_micro; // heavythresh: b; thresh: 0, it follows from the others
} shoal_evolving_plan;

// What follows.
typedef struct shoal_evolving {
    uint32_t eps_micro;
    uint32_t vote_micro, estimate_micro; // a, b
    uint32_t n_votes, n_estimates;       // floor(epsilon/4a), floor(epsilon/2b)
    uint32_t cost_micro;                 // 2 n_votes a + n_estimates b, at most eps_micro
    uint32_t epochs;                     // T
    uint32_t levels;                     // floor(log T)
    uint64_t step;                       // tau, in units of 2^-SHOAL_EVOLVING_STEP_BITS
} shoal_evolving;

// Returns: what a recipe of thresh or heavythresh states.
shoal_evolving_plan shoal_evolving_stated(const shoal_recipe *recipe);

// Writes a run's figures.
//   figures: written on OK
// Returns: SHOAL_ERR_RANGE, and in *field what is outside, as the recipe spells it behind
// "parameters.": "smallest_group" where Assumption 4.2 fails, "samples" where so many give no b at
// all, "epsilon" or "epsilon_estimate" where there is not one vote or not one estimate.
shoal_err shoal_evolving_figures(shoal_evolving *figures, const char **field,
                                 const shoal_evolving_plan *plan) SHOAL_MUST_CHECK;

// The same of a finished recipe, from its parts.
shoal_evolving shoal_evolving_of(const shoal_recipe *recipe);

// What Assumption 4.2 needs.
//   smallest_group: the smallest L for the plan's users and groups; above users/groups: none works
//   with these users users: the smallest n for the plan's groups, were they of equal size, L =
//   floor(n/m); 0 where 10^9 are not enough
// Reads users, epochs, groups and delta_exp of the plan, which must be in their ranges.
void shoal_evolving_needs(uint64_t *smallest_group, uint64_t *users,
                          const shoal_evolving_plan *plan);

// Returns: the smallest number of votes of n devices that is an update.
//   vote_threshold: of the vote's part, 2^64/(e^a + 1)
//   n: 1 .. 10^12, reports that are in
uint64_t shoal_evolving_update_votes(const shoal_evolving_plan *plan, uint64_t vote_threshold,
                                     uint64_t n);

// Makes the two parts of a recipe of one of the two: vote, and an estimate of `rows` means. What
// expand of shoal_compound does.
shoal_err shoal_evolving_expand(shoal_recipe *recipe, uint32_t rows,
                                const char **field) SHOAL_MUST_CHECK;

enum { SHOAL_EVOLVING_VOTE = 0, SHOAL_EVOLVING_ESTIMATE = 1 }; // parts

#endif
