// SPDX-License-Identifier: Apache-2.0
// What picking rows does to their intervals: false-coverage-rate intervals for rows that were
// picked because they are large, and intervals of ranks. Pure.
//
// An interval of 95 % covers its own row 95 times of 100. The rows on top are there for their true
// count or for their luck, so among them more than 5 % of such intervals miss.
//
// False-coverage-rate intervals. Of n rows, R are selected by the same estimates that the intervals
// are of. With intervals at the confidence 1 - alpha R/n, the expected share of the selected rows
// whose interval misses is at most alpha, for rows with independent errors and any true counts.
// That is a mean over the selected rows. It does not bound the share among fewer rows that are
// picked from them later. Source: Benjamini and Yekutieli, "False Discovery Rate-Adjusted Multiple
// Confidence Intervals for Selected Parameters", J. Am. Stat. Assoc. 100 (2005).
//
// Intervals of ranks. All n rows get intervals at the confidence 1 - alpha/n, which cover all n
// true values together with a chance of at least 1 - alpha. A row is above another one for sure
// where its interval lies above the other's. So the true rank of a row lies between 1 + the rows
// above it for sure, and n less the rows below it for sure. That holds for all rows together, so
// picking rows does no harm, and under any dependence of their errors. Source: Klein, Wright and
// Wieczorek, "A joint confidence region for an overall ranking of populations", J. R. Stat. Soc. C
// 69 (2020).
//
// Both hold where the interval of one row holds its level far out in its tails (estimate.h).
#ifndef SELECTION_H
#define SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"

typedef struct agg_selection {
    size_t n_selected; // rows, 1 .. n_all; 0 in an empty selection
    size_t n_all;      // rows that could have been selected
    double confidence; // of each false-coverage-rate interval
    double quantile;   // half of such an interval, in standard errors, if it is normal
    double level;      // 1 - confidence, which may be too small for a confidence near 1
} agg_selection;

// Returns: the selection of rows of which at most 1 - confidence miss on average.
//   n_selected: cut to 1 .. n_all
//   confidence: in (0, 1)
agg_selection agg_selection_of(size_t n_selected, size_t n_all, double confidence);

#define AGG_SELECTION_NOTE_MAX 200 // bytes of a note with its NUL

// Writes the sentence of a result whose rows were selected.
// Returns: false, and writes nothing, if all rows were.
//   confidence: of the ordinary intervals
bool agg_selection_note(char note[AGG_SELECTION_NOTE_MAX], const agg_selection *selection,
                        double confidence);

// Rows whose ranks are asked for. The caller fills lows and highs with an interval of each row at
// the level.
typedef struct agg_ranks {
    double *lows, *highs; // n of each; sorted by agg_ranks_sort
    size_t n;             // rows with an interval
    size_t n_all;         // rows in all; those without an interval are never surely below another
    double level;         // the chance of a miss of one interval
    double quantile;      // half of a normal interval, in standard errors
    bool is_sorted;
} agg_ranks;

typedef struct agg_rank {
    uint64_t low, high; // 1 .. n_all, 1 is the largest
} agg_rank;

// Takes room for n rows of n_all.
// Returns: AGG_ERR_MEMORY.
agg_err agg_ranks_init(agg_ranks *ranks, agg_error *error, size_t n, size_t n_all,
                       double confidence) SHOAL_MUST_CHECK;

// Sorts the intervals, for a call of agg_ranks_find in O(log n) instead of O(n).
void agg_ranks_sort(agg_ranks *ranks);

// Returns: the interval of the rank of a row, one of those that fill lows and highs.
agg_rank agg_ranks_find(const agg_ranks *ranks, double low, double high);

void agg_ranks_release(agg_ranks *ranks);

#endif
