// SPDX-License-Identifier: Apache-2.0
// How a number is spread, for pages: a histogram whose bins have bands, a table of quantiles with
// their intervals, and a table with every figure of the histogram. SVG within HTML, without a style
// of its own: each page that agg_page_open begins has distribution_style.h. Pure.
#ifndef DISTRIBUTION_PICTURE_H
#define DISTRIBUTION_PICTURE_H

#include <stdio.h>

#include "distribution.h"

// Draws the histogram: a bar as high as the share of each bin, the band of its interval, and a line
// at the median where the quantiles have it. Bins whose interval holds zero are grey, withheld ones
// are empty. Shares are drawn from zero up to the highest end of an interval.
//   label: what a screen reader says of it; UTF-8 or not, escaped here
void agg_distribution_figure(FILE *out, const agg_distribution *distribution, const char *label);

// Prints the figure, its range and its tables. It is for a part of a page that has a title already.
//   distribution: with one bin at least
void agg_distribution_page_write(FILE *out, const agg_distribution *distribution);

#endif
