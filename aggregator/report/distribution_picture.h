// SPDX-License-Identifier: Apache-2.0
// How a number is spread, for pages: a histogram whose bins have bands, a table of quantiles with
// their intervals, the distribution function with its band, and tables with their figures. SVG
// within HTML, without a style of its own: each page that agg_page_open begins has
// distribution_style.h. Pure.
#ifndef DISTRIBUTION_PICTURE_H
#define DISTRIBUTION_PICTURE_H

#include <stdio.h>

#include "distribution.h"

// Draws the histogram: a bar as high as the share of each bin, the band of its interval, and a line
// at the median where the quantiles have it. Bins whose interval holds zero are grey, withheld ones
// are empty. Shares are drawn from zero up to the highest end of an interval.
//   label: what a screen reader says of it; UTF-8 or not, escaped here
void agg_distribution_figure(FILE *out, const agg_distribution *distribution, const char *label);

// Draws the distribution function from 0 at the foot to 1 at the top, with the band of its
// intervals. At most AGG_RISE_MAX of its steps are drawn.
//   distribution: with one step at least
//   label: as of agg_distribution_figure
void agg_distribution_rise(FILE *out, const agg_distribution *distribution, const char *label);

#define AGG_RISE_MAX 256u

// Prints the figures, their range and its tables. It is for a part of a page that has a title
// already. The distribution function is left out where it is withheld.
//   distribution: with one bin at least
//   among: a name for the labels of its tables, if the page has several distributions; or NULL
void agg_distribution_page_write(FILE *out, const agg_distribution *distribution,
                                 const char *among);

#endif
