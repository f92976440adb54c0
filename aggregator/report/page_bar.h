// SPDX-License-Identifier: Apache-2.0
// The bars of a table in a page: an estimate and the whisker of its interval, all on one axis.
#ifndef PAGE_BAR_H
#define PAGE_BAR_H

#include <stddef.h>
#include <stdio.h>

// The axis that all bars of a table share.
typedef struct agg_page_axis {
    double low, high; // low <= 0 <= high; low < high once it is settled
    double step;      // between ticks: 1, 2 or 5 times a power of ten
    int decimals;     // decimals of the numbers beside the bars
} agg_page_axis;

// Chooses the step, with one to five ticks on each side of zero, from the ends.
void agg_page_axis_settle(agg_page_axis *axis);

// Writes the ticks' numbers, for the head of the column.
void agg_page_axis_write(FILE *out, const agg_page_axis *axis);

// Writes one bar. Ends beyond the axis are cut.
void agg_page_bar_write(FILE *out, const agg_page_axis *axis, double count, double low,
                        double high);

// Writes the cells of a count, from its chart on: the bar, the count and its interval. The row's
// cells before end open, and the last one is left open.
void agg_page_count_cells_write(FILE *out, const agg_page_axis *axis, double count, double low,
                                double high);

// Writes what the bars mean.
//   n_mute: rows that cannot be told from zero; the key names them if there are any
void agg_page_bar_key_write(FILE *out, size_t n_mute);

#endif
