// SPDX-License-Identifier: Apache-2.0
// Days, ISO weeks, spans and ticks; see period.h. The calendar is Howard Hinnant's
// "chrono-compatible low-level date algorithms".
#include "period.h"

#include <stdio.h>
#include <string.h>

#define LAST_DAY 2932896 // 9999-12-31

static int32_t day_of_date(int32_t y, int32_t m, int32_t d)
{
    y -= m <= 2;
    int32_t era = y / 400, year = y - era * 400; // years from 1970 on, so y >= 0
    int32_t day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468;
}

static void date_of_day(int32_t *y, int32_t *m, int32_t *d, int32_t day)
{
    int32_t z = day + 719468, era = z / 146097, rest = z - era * 146097;
    int32_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int32_t of_year = rest - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
    *d = of_year - (153 * month + 2) / 5 + 1;
    *m = month + (month < 10 ? 3 : -9);
    *y = year + era * 400 + (*m <= 2);
}

// Returns: the Monday of the day's week. 1970-01-01 was a Thursday.
static int32_t monday_of(int32_t day)
{
    int32_t weekday = (day + 3) % 7; // Monday is 0
    return day - (weekday < 0 ? weekday + 7 : weekday);
}

agg_period agg_period_of_day(agg_period_kind kind, int32_t day)
{
    switch (kind) {
    case AGG_PERIOD_DAY: return (agg_period){kind, day};
    case AGG_PERIOD_WEEK: return (agg_period){kind, monday_of(day)};
    case AGG_PERIOD_ALL: break;
    }
    return (agg_period){AGG_PERIOD_ALL, 0};
}

agg_span agg_period_span(agg_period period)
{
    switch (period.kind) {
    case AGG_PERIOD_DAY: return (agg_span){period.start, period.start};
    case AGG_PERIOD_WEEK: return (agg_span){period.start, period.start + 6};
    case AGG_PERIOD_ALL: break;
    }
    return AGG_SPAN_ALL;
}

bool agg_span_overlaps(agg_span a, agg_span b)
{
    return a.first <= b.last && b.first <= a.last;
}

int32_t agg_month_of_day(int32_t day)
{
    int32_t y, m, d;
    date_of_day(&y, &m, &d, day);
    return day - (d - 1);
}

bool agg_period_kind_parse(agg_period_kind *kind, const char *text)
{
    static const char *const names[] = {"all", "day", "week"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *kind = (agg_period_kind)i;
        return true;
    }
    return false;
}

// Reads exactly `width` digits.
// Returns: the number, or -1.
static int32_t digits(const char *text, int width)
{
    int32_t number = 0;
    for (int i = 0; i < width; i++) {
        if (text[i] < '0' || text[i] > '9') return -1;
        number = number * 10 + (text[i] - '0');
    }
    return number;
}

bool agg_day_parse(int32_t *day, const char *text)
{
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-') return false;
    int32_t y = digits(text, 4), m = digits(text + 5, 2), d = digits(text + 8, 2);
    if (y < 1970 || m < 1 || m > 12 || d < 1 || d > 31) return false;
    int32_t number = day_of_date(y, m, d), back_y, back_m, back_d;
    date_of_day(&back_y, &back_m, &back_d, number);
    if (back_m != m || back_d != d) return false; // a date like 31 April
    *day = number;
    return true;
}

// Reads "YYYY-Www". Week 1 is the week of 4 January (ISO 8601), and a week belongs to the year of
// its Thursday.
static bool week_parse(agg_span *span, const char *text)
{
    if (strlen(text) != 8 || text[4] != '-' || text[5] != 'W') return false;
    int32_t y = digits(text, 4), week = digits(text + 6, 2);
    if (y < 1970 || week < 1 || week > 53) return false;
    int32_t monday = monday_of(day_of_date(y, 1, 4)) + (week - 1) * 7;
    int32_t thursday_year, month, day;
    date_of_day(&thursday_year, &month, &day, monday + 3);
    if (thursday_year != y) return false;
    *span = (agg_span){monday, monday + 6};
    return true;
}

bool agg_span_parse(agg_span *span, const char *text)
{
    int32_t day;
    if (agg_day_parse(&day, text)) {
        *span = (agg_span){day, day};
        return true;
    }
    if (strcmp(text, "all") == 0) {
        *span = AGG_SPAN_ALL;
        return true;
    }
    return week_parse(span, text);
}

void agg_day_print(char out[11], int32_t day)
{
    int32_t y, m, d;
    date_of_day(&y, &m, &d, day < 0 ? 0 : day > LAST_DAY ? LAST_DAY : day);
    // The casts tell the compiler that each field has its digits.
    snprintf(out, 11, "%04u-%02u-%02u", (unsigned)y % 10000u, (unsigned)m % 100u,
             (unsigned)d % 100u);
}

#define DAY_S 86400
#define FIRST_TICK ((int64_t)4 * DAY_S) // Monday 1970-01-05 00:00 UTC

int64_t agg_tick_before(int64_t now_s, uint32_t tick_s)
{
    return now_s < FIRST_TICK ? 0 : now_s - (now_s - FIRST_TICK) % tick_s;
}

int64_t agg_tick_after(int64_t now_s, uint32_t tick_s)
{
    return now_s < FIRST_TICK ? FIRST_TICK : agg_tick_before(now_s, tick_s) + tick_s;
}

int32_t agg_tick_day(int64_t tick)
{
    return tick <= 0 ? 0 : (int32_t)((tick - 1) / DAY_S);
}

void agg_moment_print(char out[AGG_MOMENT_SIZE], int64_t now_s)
{
    char day[11];
    unsigned second = (unsigned)(now_s % DAY_S);
    agg_day_print(day, (int32_t)(now_s / DAY_S));
    snprintf(out, AGG_MOMENT_SIZE, "%sT%02u:%02u:%02uZ", day, second / 3600 % 24u,
             second / 60 % 60u, second % 60u);
}
