// SPDX-License-Identifier: Apache-2.0
// Calendar of the store: days, ISO weeks, spans. Expected numbers are from `date -d ... +%s` and
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

static void periods_lie_within_outside_or_across(void **state)
{
    (void)state;
    agg_period day = agg_period_of_day(AGG_PERIOD_DAY, 20778),
               week = agg_period_of_day(AGG_PERIOD_WEEK, 20778);
    agg_period all = agg_period_of_day(AGG_PERIOD_ALL, 20778);
    assert_int_equal(week.start, 20773); // Monday 2026-11-16
    assert_int_equal(agg_period_overlap(day, (agg_span){20778, 20778}), AGG_WITHIN);
    assert_int_equal(agg_period_overlap(day, (agg_span){20779, 20790}), AGG_OUTSIDE);
    assert_int_equal(agg_period_overlap(day, (agg_span){20700, 20777}), AGG_OUTSIDE);
    assert_int_equal(agg_period_overlap(week, (agg_span){20773, 20779}), AGG_WITHIN);
    assert_int_equal(agg_period_overlap(week, (agg_span){20774, 20779}), AGG_ACROSS);
    assert_int_equal(agg_period_overlap(week, (agg_span){20773, 20778}), AGG_ACROSS);
    assert_int_equal(agg_period_overlap(week, (agg_span){20780, 20790}), AGG_OUTSIDE);
    assert_int_equal(agg_period_overlap(all, AGG_SPAN_ALL), AGG_WITHIN);
    assert_int_equal(agg_period_overlap(all, (agg_span){0, 90000}), AGG_ACROSS);
    assert_int_equal(agg_period_overlap(day, AGG_SPAN_ALL), AGG_WITHIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_read_and_print),
        cmocka_unit_test(days_agree_with_the_c_library),
        cmocka_unit_test(weeks_of_short_years_end),
        cmocka_unit_test(periods_lie_within_outside_or_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
