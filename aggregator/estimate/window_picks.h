// SPDX-License-Identifier: Apache-2.0
// What counts estimate where reports answer for windows (send.pick "uniform"), and the variance
// that picking adds to the coins'. Pure.
//
// A report answers for one event of its window, drawn uniformly, or for "none" in a window without
// events. Let s_w be a value's share of the events of window w, 0 in a window without events. A
// count estimates the sum of s_w over the windows of the n reports; divided by n it is the mean
// share. The mechanism's estimator is unbiased for the picks, and the expected number of picks is
// that sum, so it is unbiased for the sum.
//
// Target: the crowd. Windows are independent draws with E s_w = p, and each of n windows sends one
// report. Then the number of picks is binomial whatever windows hold, because each pick is the
// value with probability p:
//
//     Var(picks) = n p (1 - p)
//
// Slots: a window has r slots, each with a pick of its own, and each slot reports with the chance c
// of send.sample. With M reports of a window, Var(its picks) = E[M] p (1 - p) + E[M (M - 1)]
// Var(s), E[M] = r c, E[M (M - 1)] = r (r - 1) c^2, and n = E[M] N of N windows:
//
//     Var(picks) = n p (1 - p) (1 + (r - 1) c rho),     rho = Var(s) / (p (1 - p)), in [0, 1]
//
// rho is 1 where every active window holds one value only, and 0 where all windows are alike.
// Reports cannot be linked, so rho cannot be estimated. The stated error takes rho = 1, the design
// effect D = 1 + (r - 1) c of cluster sampling (Kish 1965, section 5.4): exact at r = 1 and for
// windows of one value, else too large.
//
// Target: these very windows. Var(picks) = sum of s_w (1 - s_w) over the reports <= n p (1 - p),
// for any r and however windows depend on one another, by Jensen's inequality. So the interval also
// covers the sum over the windows that reported, at least as often as stated. It does not cover the
// crowd where windows of one person are alike and a person sends many of them.
//
// A mean (one-bit-mean) already contains the drawing of reports from a population. A window without
// events counts as the middle of the range. Slots add at most (D - 1) u (1 - u) / n to the variance
// of the mean u, as a fraction of the range.
#ifndef WINDOW_PICKS_H
#define WINDOW_PICKS_H

#include <stdbool.h>
#include <stddef.h>

#include "estimator.h"
#include "recipe_ref.h"

// Returns: whether reports answer for windows.
bool agg_picks_windows(const shoal_recipe *recipe);

// Returns: what a count is a number of, "reports" or "windows".
const char *agg_picks_unit(const shoal_recipe *recipe);

// Returns: the design effect D, 1 or more; 0 where reports answer for events.
double agg_picks_design(const shoal_recipe *recipe);

// Returns: the variance that picking adds to a count of n reports, D n p (1 - p) with p the count's
// share, clamped to [0, 1]; 0 where reports answer for events.
double agg_picks_variance(const shoal_recipe *recipe, double n, double count);

// Returns: the variance that the slots of one window add to a mean of n reports, as a fraction of
// its range; 0 where reports answer for events.
double agg_picks_mean_variance(const shoal_recipe *recipe, double n, double fraction);

// Adds the variance of picking to the standard errors of counts, or of fractions of a mean's range.
// Scores and errors of a count of zero stay as they are: where nobody holds a value, none is
// picked.
//   counts: n_items, as agg_estimator_counts gives them
//   n: reports
void agg_picks_widen(agg_count *counts, size_t n_items, const shoal_recipe *recipe, double n);

#define AGG_PICKS_NOTE_MAX 160u

// Writes line i of what a result of windows says of its counts, without a full stop.
// Returns: false past the last line; at once where reports answer for events.
bool agg_picks_note(char note[AGG_PICKS_NOTE_MAX], const shoal_recipe *recipe, size_t i);

#endif
