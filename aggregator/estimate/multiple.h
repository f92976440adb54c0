// SPDX-License-Identifier: Apache-2.0
// Which of many rows stand out of the noise, when each was given the chance to do so by accident.
// Pure.
#ifndef MULTIPLE_H
#define MULTIPLE_H

#include <stddef.h>

#include "agg_error.h"

typedef enum agg_multiple { AGG_BONFERRONI = 0, AGG_BH, AGG_NONE } agg_multiple;

// Returns: "bonferroni", "bh" or "none".
const char *agg_multiple_name(agg_multiple multiple);

// Returns: the chance of a false detection that the row of a rank (0 first) among n_rows may use
// up, alpha being that of all. A row is detected when it or any row after it passes the test of
// that level.
double agg_multiple_share(agg_multiple multiple, double alpha, size_t rank, size_t n_rows);

// Writes the least score that is detected; HUGE_VAL where none is. One-sided.
//   scores: how far each row stands out, in standard errors: standard normal, or less, for a row of
//   nothing
// Under `bonferroni` the chance that any row of nothing is detected is at most alpha. Under `bh`
// the expected share of such rows among the detected is (Benjamini and Hochberg 1995). From 20 rows
// on its level is divided by an estimate of the share of all rows that are nothing: four times
// those with p-values above 3/4, and one. That keeps the promise for independent rows and does not
// waste it where many rows are something (Storey, Taylor and Siegmund, J. R. Statist. Soc. B 66,
// 2004, theorem 3). No row is detected that would not be if it were the only one.
agg_err agg_multiple_least(double *least, agg_error *error, const double *scores, size_t n_scores,
                           agg_multiple multiple, double alpha) SHOAL_MUST_CHECK;

#endif
