// SPDX-License-Identifier: Apache-2.0
// Pictures of change for pages: a value over several periods with its band, and two periods of one
// value side by side. SVG within HTML, in percent of the picture's width, without text of its own:
// the page's style colours it, and a label says in words what it shows. Pure.
#ifndef TREND_FIGURE_H
#define TREND_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// One period of a trend.
typedef struct agg_trend_point {
    double value, low, high; // estimate and interval
    bool is_known;           // false: no figure for this period; the line has a gap there
} agg_trend_point;

// The scale of a picture: low is drawn at the bottom or the left, high at the other end.
typedef struct agg_scale {
    double low, high; // low < high
} agg_scale;

// Widens a scale until it holds a value. A scale of zeros holds nothing yet.
void agg_scale_hold(agg_scale *scale, double value);

// Makes room for a scale that holds one value only.
void agg_scale_finish(agg_scale *scale);

// Draws a line through the estimates, a band of their intervals, and a dot for each.
//   label: what a screen reader says of it; escaped here
void agg_trend_figure(FILE *out, const agg_trend_point *points, size_t n, const agg_scale *scale,
                      const char *label);

// Draws two values on one scale: a ring for the earlier one, a dot for the later one, and what lies
// between. It is decoration: its figures stand beside it.
void agg_dumbbell_figure(FILE *out, double earlier, double later, const agg_scale *scale);

#endif
