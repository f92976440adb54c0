// SPDX-License-Identifier: Apache-2.0
// Days, spans of days that a question names, and ticks. A day is a number of days since 1970-01-01
// in UTC. This file is calendar arithmetic and reads no clock.
//
// A tick is a moment at which blocks may close: every tick_s seconds, counted from Monday
// 1970-01-05 00:00 UTC, so that ticks of a day fall on midnight and ticks of a week on the midnight
// before a Monday.
//
// Stores of version 2 kept their counts by period: by day, by ISO week (Monday to Sunday) or all in
// one. The configuration of `shoal serve` still names ticks in these words.
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

// Returns: the period of a kind that holds a day.
agg_period agg_period_of_day(agg_period_kind kind, int32_t day);

// Returns: the days of a period.
agg_span agg_period_span(agg_period period);

// Returns: whether two spans have a day in common.
bool agg_span_overlaps(agg_span a, agg_span b);

// Returns: the first day of a day's month.
int32_t agg_month_of_day(int32_t day);

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

// Returns: the last tick at or before a moment; 0 before the first one.
//   now_s: seconds since 1970-01-01 00:00 UTC
//   tick_s: seconds between two ticks, at least 1
int64_t agg_tick_before(int64_t now_s, uint32_t tick_s);

// Returns: the first tick after a moment.
int64_t agg_tick_after(int64_t now_s, uint32_t tick_s);

// Returns: the UTC day that a tick ends: the day of the second before it. So a tick at midnight
// belongs to the day that is over.
int32_t agg_tick_day(int64_t tick);

#define AGG_MOMENT_SIZE 21

// Writes "YYYY-MM-DDThh:mm:ssZ" and a NUL.
//   now_s: 0 .. the end of the year 9999
void agg_moment_print(char out[AGG_MOMENT_SIZE], int64_t now_s);

#endif
