// SPDX-License-Identifier: Apache-2.0
// Periods: the days that one accumulator of the store covers. A day is a number of days since
// 1970-01-01 in UTC. This file is calendar arithmetic and reads no clock.
//
// A store keeps its counts by day, by ISO week (Monday to Sunday) or all in one period. A question
// names a span of days. It is answered from the stored periods within the span, and refused when
// the span cuts a stored period.
#ifndef PERIOD_H
#define PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The numbers are written to the store and never change.
typedef enum agg_period_kind {
    AGG_PERIOD_ALL = 0,
    AGG_PERIOD_DAY = 1,
    AGG_PERIOD_WEEK = 2
} agg_period_kind;

typedef struct agg_period {
    agg_period_kind kind;
    int32_t start; // first day; 0 for AGG_PERIOD_ALL
} agg_period;

// The days first .. last, both included. AGG_SPAN_ALL holds every day.
typedef struct agg_span {
    int32_t first, last;
} agg_span;
#define AGG_SPAN_ALL ((agg_span){INT32_MIN, INT32_MAX})

typedef enum agg_overlap { AGG_OUTSIDE = 0, AGG_WITHIN = 1, AGG_ACROSS = 2 } agg_overlap;

// Returns: the period of a kind that holds a day.
agg_period agg_period_of_day(agg_period_kind kind, int32_t day);

// Returns: the days of a period.
agg_span agg_period_span(agg_period period);

// Returns: whether a period lies outside a span, within it, or across its edge.
agg_overlap agg_period_overlap(agg_period period, agg_span span);

// Reads "day", "week" or "all".
// Returns: false for any other text; *kind is unchanged then.
bool agg_period_kind_parse(agg_period_kind *kind, const char *text);

// Reads "YYYY-MM-DD", a real date of the years 1970 to 9999.
// Returns: false for any other text; *day is unchanged then.
bool agg_day_parse(int32_t *day, const char *text);

// Reads a day, an ISO week "YYYY-Www" or "all" as the days that it covers.
// Returns: false for any other text; *span is unchanged then.
bool agg_span_parse(agg_span *span, const char *text);

// Writes "YYYY-MM-DD" and a NUL.
//   day: 0 .. 2932896 (the last day of the year 9999)
void agg_day_print(char out[11], int32_t day);

#endif
