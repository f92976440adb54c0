// SPDX-License-Identifier: Apache-2.0
// Periods: the days that one accumulator of the store covers. Pure calendar in UTC, days since
// 1970-01-01; no clock here.
//
// A store keeps its counts by day, by ISO week (Monday to Sunday) or all in one. A question names a
// span of days; it is answered by the stored periods that lie within it, and refused where a stored
// period lies across its edge.
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

// Days first .. last, both included. AGG_SPAN_ALL holds everything.
typedef struct agg_span {
    int32_t first, last;
} agg_span;
#define AGG_SPAN_ALL ((agg_span){INT32_MIN, INT32_MAX})

typedef enum agg_overlap { AGG_OUTSIDE = 0, AGG_WITHIN = 1, AGG_ACROSS = 2 } agg_overlap;

// Returns: the period of that kind which holds a day.
agg_period agg_period_of_day(agg_period_kind kind, int32_t day);

// Returns: the days of a period.
agg_span agg_period_span(agg_period period);

// Returns: where the period lies, seen from the span.
agg_overlap agg_period_overlap(agg_period period, agg_span span);

// Reads "day", "week" or "all". Returns: 1, or 0 for anything else.
bool agg_period_kind_parse(agg_period_kind *kind, const char *text);

// Reads "YYYY-MM-DD" (years 1970 to 9999, real dates only). Returns: 1, or 0.
bool agg_day_parse(int32_t *day, const char *text);

// Reads a day, an ISO week "YYYY-Www" or "all" as the days it covers. Returns: 1, or 0.
bool agg_span_parse(agg_span *span, const char *text);

// Writes "YYYY-MM-DD" and a NUL. day: 0 .. 2932896 (the year 9999)
void agg_day_print(char out[11], int32_t day);

#endif
