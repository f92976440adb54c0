// SPDX-License-Identifier: Apache-2.0
// The central epsilon of a cohort against its size, for two local epsilons and by three bounds
// (apple-2022 Figure 1).
#ifndef CENTRAL_FIGURE_H
#define CENTRAL_FIGURE_H

#include <stdio.h>

#include "amplification.h"

#define AGG_CENTRAL_SIZES 17 // cohorts of 10^2 .. 10^6, four a decade
#define AGG_CENTRAL_LINES 2

typedef struct agg_central_figure {
    double delta;
    double local_epsilon[AGG_CENTRAL_LINES]; // 3 and 6
    double n[AGG_CENTRAL_SIZES];
    double epsilon[AGG_CENTRAL_LINES][AGG_GENERAL_BOUNDS]
                  [AGG_CENTRAL_SIZES]; // NAN if the bound does not hold
} agg_central_figure;

typedef enum agg_figure_format {
    AGG_FIGURE_TABLE,
    AGG_FIGURE_JSON,
    AGG_FIGURE_CSV,
    AGG_FIGURE_SVG,
    AGG_FIGURE_ARROW
} agg_figure_format;

// Computes the figure for local epsilons 3 and 6.
// Returns: AGG_ERR_MEMORY.
agg_err agg_central_figure_run(agg_central_figure *figure, agg_error *error,
                               double delta) SHOAL_MUST_CHECK;

// Prints the figure.
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_central_figure_print(FILE *stream, agg_error *error, const agg_central_figure *figure,
                                 agg_figure_format format) SHOAL_MUST_CHECK;

#endif
