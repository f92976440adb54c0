// SPDX-License-Identifier: Apache-2.0
// Rules for many tests at once: which of many rows stand out from the noise, given that each had
// the chance to do so by accident. Pure.
#ifndef MULTIPLE_H
#define MULTIPLE_H

#include <stddef.h>

#include "agg_error.h"

typedef enum agg_multiple { AGG_BONFERRONI = 0, AGG_BH, AGG_NONE } agg_multiple;

// Returns: "bonferroni", "bh" or "none".
const char *agg_multiple_name(agg_multiple multiple);

// Returns: the level at which the row of a rank is tested. A row is detected if it, or any row
// after it, passes the test at its level.
//   alpha: the level of all rows together
//   rank: 0 for the row that stands out most
double agg_multiple_share(agg_multiple multiple, double alpha, size_t rank, size_t n_rows);

// Finds the least score that is detected, by a one-sided test.
//   least: HUGE_VAL if no row is detected
//   scores: in standard errors; standard normal, or less, for a null row (one without an effect)
//   alpha: in (0, 1)
//
// Under `bonferroni` the chance that any null row is detected is at most alpha. Under `bh` the
// expected share of null rows among the detected is at most alpha (Benjamini and Hochberg 1995).
// From 20 rows on `bh` divides its level by an estimate of the share of null rows: one plus the
// rows with p-values above 3/4, times four, over all rows. That keeps the bound for independent
// rows, and does not waste it if many rows have an effect (Storey, Taylor and Siegmund, J. R.
// Statist. Soc. B 66, 2004, theorem 3). A row that would not be detected alone is never detected.
agg_err agg_multiple_least(double *least, agg_error *error, const double *scores, size_t n_scores,
                           agg_multiple multiple, double alpha) SHOAL_MUST_CHECK;

#endif
