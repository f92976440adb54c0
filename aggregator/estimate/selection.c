// SPDX-License-Identifier: Apache-2.0
// Intervals of selected rows and of ranks; see selection.h.
#include "selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "normal_law.h"
#include "print_text.h"

agg_selection agg_selection_of(size_t n_selected, size_t n_all, double confidence)
{
    agg_selection s = {.n_all = n_all, .confidence = confidence};
    if (n_all == 0) return s;
    s.n_selected = n_selected < 1 ? 1 : n_selected > n_all ? n_all : n_selected;
    // The level is kept apart from 1: it may be far below the precision of a double near 1.
    s.level = (1 - confidence) * (double)s.n_selected / (double)n_all;
    s.confidence = s.n_selected == n_all ? confidence : 1 - s.level;
    s.quantile = -agg_normal_quantile(s.level / 2);
    return s;
}

bool agg_selection_note(char note[AGG_SELECTION_NOTE_MAX], const agg_selection *selection,
                        double confidence)
{
    if (selection->n_selected == selection->n_all) return false;
    double plain = -agg_normal_quantile((1 - confidence) / 2);
    snprintf(note, AGG_SELECTION_NOTE_MAX,
             "rows were selected (%s of %s): intervals that cover %g %% of them are %.2f times as "
             "wide",
             agg_whole(selection->n_selected).text, agg_whole(selection->n_all).text,
             100 * confidence, selection->quantile / plain);
    return true;
}

agg_err agg_ranks_init(agg_ranks *ranks, agg_error *error, size_t n, size_t n_all,
                       double confidence)
{
    *ranks = (agg_ranks){.n = n, .n_all = n_all};
    ranks->level = (1 - confidence) / (double)(n_all > 0 ? n_all : 1);
    ranks->quantile = -agg_normal_quantile(ranks->level / 2);
    ranks->lows = agg_alloc(error, n, sizeof *ranks->lows);
    ranks->highs = agg_alloc(error, n, sizeof *ranks->highs);
    if (ranks->lows != NULL && ranks->highs != NULL) return SHOAL_OK;
    agg_ranks_release(ranks);
    return AGG_ERR_MEMORY;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void agg_ranks_sort(agg_ranks *ranks)
{
    qsort(ranks->lows, ranks->n, sizeof *ranks->lows, compare_numbers);
    qsort(ranks->highs, ranks->n, sizeof *ranks->highs, compare_numbers);
    ranks->is_sorted = true;
}

// Returns: how many of n sorted numbers are below x, or, with `or_equal`, not above it.
static size_t count_below(const double *sorted, size_t n, double x, bool or_equal)
{
    size_t from = 0;
    while (n > 0) {
        size_t half = n / 2;
        double middle = sorted[from + half];
        if (middle < x || (or_equal && middle == x)) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from;
}

agg_rank agg_ranks_find(const agg_ranks *ranks, double low, double high)
{
    size_t n_above = 0, n_below = 0;
    if (ranks->is_sorted) {
        n_above = ranks->n - count_below(ranks->lows, ranks->n, high, true);
        n_below = count_below(ranks->highs, ranks->n, low, false);
    } else {
        for (size_t i = 0; i < ranks->n; i++) {
            n_above += ranks->lows[i] > high;
            n_below += ranks->highs[i] < low;
        }
    }
    return (agg_rank){n_above + 1, ranks->n_all - n_below};
}

void agg_ranks_release(agg_ranks *ranks)
{
    free(ranks->lows);
    free(ranks->highs);
    memset(ranks, 0, sizeof *ranks);
}
