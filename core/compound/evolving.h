// SPDX-License-Identifier: Apache-2.0
// The figures of a statistic that is followed over T epochs (joseph-2018, Algorithms 1-3; the
// papers' notes). They are the noise of votes and estimates, the number of each that a device may
// send, the change from which a device votes, and the votes that make an update. thresh.h and
// heavythresh.h are the two protocols; epoch.h is the device's state.
//
// A run has n users, T epochs, l samples of a user in an epoch, and m groups that may change alone,
// the smallest of L users. delta is the chance that the run's accuracy (not its privacy) fails. log
// is to base 2, ln is natural.
//
//     a      = 8 R / (L - 3 R)                     epsilon of a vote
//              R = sqrt(n ln(12 m T/delta)/2)
//     b      = 2 s / (log(T) h - s)                epsilon of an estimate in thresh
//              s = sqrt(ln(12 T/delta)/(2n))
//              h = sqrt(ln(12 n T/delta)/(2l))
//     tau_i  = (i + 1) tau, i = 0 .. floor(log T)  thresholds of a mean, a fraction of its range
//              tau = sqrt(2 ln(12 n T/delta)/l)    in thresh
//              tau = sqrt(2 ln(16 w n T/delta)/l)  in heavythresh, see there
//     update   if more than N/(e^a + 1) + sqrt(N ln(10 T/delta)/2) of N devices vote
//     L > 11 R                                     Assumption 4.2: 3/sqrt 2 + sqrt 32 = 11/sqrt 2;
//                                                  so a < 1
//
// In heavythresh the recipe states b as `eps_estimate_micro`.
//
// Privacy holds for any figures. A device votes while c_V + a <= epsilon/4 and estimates while c_E
// + b <= epsilon/2. For any two inputs and any server, the loss of a whole run is therefore at most
// 2 floor(epsilon/4a) a + floor(epsilon/2b) b <= epsilon. Votes count twice, because those of two
// inputs may fall in different epochs. Estimates are sent in the same epochs, since c_E follows
// what the server publishes.
//
// All arithmetic is in integers, so that device and aggregator agree to the last bit. Rounding:
// - logarithms go up, by less than 2^-35
// - roots go up, by one unit
// - a and b go up to a whole micro-unit (below 0.01 they are 0.01), b after a quotient that is
//   right to 1e-7
// - tau and the number of votes of an update go up
// The caps and the cost are exact in micro-units. A case where rounding decides Assumption 4.2 is
// decided against the analyst.
#ifndef SHOAL_EVOLVING_H
#define SHOAL_EVOLVING_H

#include <stdint.h>

#include "recipe_ref.h"

#define SHOAL_EVOLVING_STEP_BITS 48

// The numbers that a run's recipe states.
typedef struct shoal_evolving_plan {
    uint32_t eps_micro;          // epsilon of the whole run
    uint32_t users, samples;     // n, l: 1 .. 10^9
    uint32_t epochs;             // T: 2 .. SHOAL_EPOCHS_MAX
    uint32_t smallest_group;     // L
    uint32_t groups;             // m; the groups together have at most n users
    uint32_t delta_exp;          // delta = 10^-delta_exp: 3 .. 15
    uint32_t projection;         // heavythresh: w, a power of two in 64 .. 65536; thresh: 0
    uint32_t eps_estimate_micro; // heavythresh: b; thresh: 0, b is derived
} shoal_evolving_plan;

// The figures that follow from a plan.
typedef struct shoal_evolving {
    uint32_t eps_micro;
    uint32_t vote_micro, estimate_micro; // a, b
    uint32_t n_votes, n_estimates;       // floor(epsilon/4a), floor(epsilon/2b)
    uint32_t cost_micro;                 // 2 n_votes a + n_estimates b, at most eps_micro
    uint32_t epochs;                     // T
    uint32_t levels;                     // floor(log T)
    uint64_t step;                       // tau, in units of 2^-SHOAL_EVOLVING_STEP_BITS
} shoal_evolving;

// Returns: the plan that a recipe of thresh or heavythresh states.
shoal_evolving_plan shoal_evolving_stated(const shoal_recipe *recipe);

// Computes a run's figures.
//   figures: written on OK
// Returns: SHOAL_ERR_RANGE with the offending field in *field, spelled as in the recipe after
// "parameters.". It is "smallest_group" if Assumption 4.2 fails, "samples" if there are too many
// for any b, and "epsilon" or "epsilon_estimate" if not one vote or not one estimate is affordable.
shoal_err shoal_evolving_figures(shoal_evolving *figures, const char **field,
                                 const shoal_evolving_plan *plan) SHOAL_MUST_CHECK;

// Computes the figures of a finished recipe from its parts.
shoal_evolving shoal_evolving_of(const shoal_recipe *recipe);

// Computes the numbers that Assumption 4.2 needs. Reads users, epochs, groups and delta_exp of the
// plan, which must be in their ranges.
//   smallest_group: the smallest L for the plan's users and groups; above users/groups, no L works
//     with these users
//   users: the smallest n for the plan's groups if they have equal size, L = floor(n/m); 0 if 10^9
//     users are not enough
void shoal_evolving_needs(uint64_t *smallest_group, uint64_t *users,
                          const shoal_evolving_plan *plan);

// Returns: the smallest number of votes, out of n devices, that makes an update.
//   vote_threshold: threshold of the vote's part, 2^64/(e^a + 1)
//   n: 1 .. 10^12 received reports
uint64_t shoal_evolving_update_votes(const shoal_evolving_plan *plan, uint64_t vote_threshold,
                                     uint64_t n);

// Makes the two parts of a recipe of thresh or heavythresh: a vote, and an estimate of `rows`
// means. It does the work of expand of shoal_compound.
shoal_err shoal_evolving_expand(shoal_recipe *recipe, uint32_t rows,
                                const char **field) SHOAL_MUST_CHECK;

enum { SHOAL_EVOLVING_VOTE = 0, SHOAL_EVOLVING_ESTIMATE = 1 }; // parts

#endif
