// SPDX-License-Identifier: Apache-2.0
// Calendar of the store: days, ISO weeks, spans, ticks. Expected numbers are from `date -d ... +%s`
// and
// `+%G-W%V`.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "period.h"

static void days_read_and_print(void **state)
{
    (void)state;
    int32_t day;
    assert_true(agg_day_parse(&day, "1970-01-01") && day == 0);
    assert_true(agg_day_parse(&day, "2000-02-29") && day == 11016);
    assert_true(agg_day_parse(&day, "2026-11-21") && day == 20778);
    assert_true(agg_day_parse(&day, "9999-12-31") && day == 2932896);
    static const char *const bad[] = {"",           "2026-11-2",  "2026-11-211", "2026-02-29",
                                      "2026-04-31", "2026-00-10", "2026-13-01",  "2026-01-00",
                                      "1969-12-31", "2026/11/21", "+026-11-21",  "2100-02-29"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(agg_day_parse(&day, bad[i]));
}

// Every day of the supported years against the C library.
static void days_agree_with_the_c_library(void **state)
{
    (void)state;
    for (int32_t day = 0; day <= 2932896; day += day < 60000 ? 1 : 97) {
        time_t seconds = (time_t)day * 86400;
        struct tm date;
        char expected[16], printed[11], week[16];
        assert_non_null(gmtime_r(&seconds, &date));
        strftime(expected, sizeof expected, "%Y-%m-%d", &date);
        agg_day_print(printed, day);
        assert_string_equal(printed, expected);
        int32_t back;
        assert_true(agg_day_parse(&back, printed) && back == day);
        strftime(week, sizeof week, "%G-W%V", &date);
        agg_span span;
        if (day >= 4 && day < 2932893) { // the week's year lies in 1970 to 9999
            assert_true(agg_span_parse(&span, week));
            assert_true(span.first <= day && day <= span.last && span.last - span.first == 6);
            assert_int_equal(agg_period_of_day(AGG_PERIOD_WEEK, day).start, span.first);
        }
    }
}

static void weeks_of_short_years_end(void **state)
{
    (void)state;
    agg_span span;
    assert_true(agg_span_parse(&span, "2026-W53")); // 2026 begins on a Thursday
    assert_false(agg_span_parse(&span, "2025-W53"));
    assert_false(agg_span_parse(&span, "2026-W00"));
    assert_false(agg_span_parse(&span, "2026-W54"));
    assert_false(agg_span_parse(&span, "2026-w47"));
    assert_false(agg_span_parse(&span, "2026-W7"));
}

static void spans_overlap_where_they_share_a_day(void **state)
{
    (void)state;
    agg_period week = agg_period_of_day(AGG_PERIOD_WEEK, 20778);
    assert_int_equal(week.start, 20773); // Monday 2026-11-16
    const agg_span days = agg_period_span(week);
    assert_int_equal(days.last, 20779);
    assert_true(agg_span_overlaps(days, (agg_span){20779, 20790}));
    assert_true(agg_span_overlaps(days, (agg_span){20700, 20773}));
    assert_true(agg_span_overlaps(days, (agg_span){20775, 20775}));
    assert_true(agg_span_overlaps(days, AGG_SPAN_ALL));
    assert_false(agg_span_overlaps(days, (agg_span){20780, 20790}));
    assert_false(agg_span_overlaps(days, (agg_span){INT32_MIN, 20772}));
}

static void months_begin_on_their_first_day(void **state)
{
    (void)state;
    static const char *const days[][2] = {{"2026-11-21", "2026-11-01"},
                                          {"2028-02-29", "2028-02-01"},
                                          {"2027-01-01", "2027-01-01"},
                                          {"1970-01-31", "1970-01-01"}};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        int32_t day = 0, first = 0;
        assert_true(agg_day_parse(&day, days[i][0]) && agg_day_parse(&first, days[i][1]));
        assert_int_equal(agg_month_of_day(day), first);
    }
}

// Of each tick: ticks before and after the moments around it, and the day that it ends.
static void ticks_are_counted_from_a_monday(void **state)
{
    (void)state;
    static const struct {
        uint32_t tick_s;
        int64_t tick;
        const char *moment, *day;
    } ticks[] = {{1, 1795252999, "2026-11-21T09:23:19Z", "2026-11-21"},
                 {86400, 1795219200, "2026-11-21T00:00:00Z", "2026-11-20"},
                 {604800, 1794787200, "2026-11-16T00:00:00Z", "2026-11-15"}, // a Monday
                 {3600, 1795251600, "2026-11-21T09:00:00Z", "2026-11-21"}};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        char text[AGG_MOMENT_SIZE], day[11];
        int64_t tick = ticks[i].tick;
        uint32_t every = ticks[i].tick_s;
        assert_int_equal(agg_tick_before(tick, every), tick);
        assert_int_equal(agg_tick_before(tick + every - 1, every), tick);
        assert_int_equal(agg_tick_before(tick - 1, every), tick - every);
        assert_int_equal(agg_tick_after(tick, every), tick + every);
        assert_int_equal(agg_tick_after(tick - 1, every), tick);
        agg_moment_print(text, tick);
        assert_string_equal(text, ticks[i].moment);
        agg_day_print(day, agg_tick_day(tick));
        assert_string_equal(day, ticks[i].day);
    }
    assert_int_equal(agg_tick_before(5, 86400), 0);
    assert_int_equal(agg_tick_after(5, 86400), 4 * 86400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_read_and_print),
        cmocka_unit_test(days_agree_with_the_c_library),
        cmocka_unit_test(weeks_of_short_years_end),
        cmocka_unit_test(spans_overlap_where_they_share_a_day),
        cmocka_unit_test(months_begin_on_their_first_day),
        cmocka_unit_test(ticks_are_counted_from_a_monday),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
