// SPDX-License-Identifier: Apache-2.0
// A trend as small as a word, for the row of a table: a line through estimates with the band of
// their intervals. The scale is that of the band, so that a wiggle which the errors explain lies
// within a broad band and looks like nothing. Drawn once and kept as text, because a page may have
// a thousand of them. Pure.
#ifndef SPARK_FIGURE_H
#define SPARK_FIGURE_H

#include <stddef.h>

#include "trend_figure.h"

#define AGG_SPARK_POINTS 24u // most points of one picture
#define AGG_SPARK_SIZE 1280u // bytes of one picture with a NUL
#define AGG_SPARK_BOX "0 0 240 100"

// Draws points at equal distances, the newest one with a dot. The paths belong into an svg element
// whose viewBox is AGG_SPARK_BOX, which the page stretches as it likes.
//   n: at most AGG_SPARK_POINTS; what is not known is a gap
void agg_spark_draw(char out[AGG_SPARK_SIZE], const agg_trend_point *points, size_t n);

#endif
