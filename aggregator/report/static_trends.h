// SPDX-License-Identifier: Apache-2.0
// The part of a static report that follows its largest values over the periods: a picture with a
// band for each, and a table of every figure.
#ifndef STATIC_TRENDS_H
#define STATIC_TRENDS_H

#include <stddef.h>
#include <stdio.h>

#include "estimate.h"
#include "static_report.h"
#include "trend_figure.h"

// What is known of the picked values in each accumulator.
typedef struct agg_static_trends {
    size_t n_values, n_periods;
    agg_text values[AGG_STATIC_TRENDS]; // point into the dictionary
    agg_trend_point *points;            // n_values times n_periods, in shares or in the mean's unit
    uint64_t *reports;                  // n_periods
    int *decimals_of;                   // n_periods: what the figures of each one need
    int decimals;                       // of the figures: in percent, or in the mean's unit
    bool is_mean;
} agg_static_trends;

// Picks the largest values that can be told from zero, and estimates them in every accumulator.
//   all: of all periods together, with all rows
//   before: of an earlier page, whose figures are taken where the report says that a period was in
//   it, if it has the same values; NULL for none
// Returns: as agg_static_report_make. agg_static_trends_release frees what is made; after an error
// there is nothing to free.
agg_err agg_static_trends_make(agg_static_trends *t, agg_error *error, const agg_static_report *r,
                               const agg_estimate *all, bool is_mean,
                               const agg_static_trends *before) SHOAL_MUST_CHECK;

// Writes the section, in the order that the report asks for.
void agg_static_trends_write(FILE *out, const agg_static_report *r, const agg_static_trends *t);

// Returns: the bytes of memory that it holds besides itself.
size_t agg_static_trends_size(const agg_static_trends *t);

void agg_static_trends_release(agg_static_trends *t);

#endif
