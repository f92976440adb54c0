// SPDX-License-Identifier: Apache-2.0
// Pictures of change: where a value comes to lie, gaps, and labels of hostile text.
#include "agg_test.h"

#include <math.h>
#include <stdlib.h>

#include "trend_figure.h"

static char *draw(const agg_trend_point *points, size_t n, agg_scale scale, const char *label)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    agg_trend_figure(stream, points, n, &scale, label);
    fclose(stream);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) n++;
    return n;
}

// Three periods on a scale of 0 .. 4 lie at 0, 500 and 1000 of 1000, and 1 at 75 of 100 from above.
static void values_lie_on_their_scale(void **state)
{
    static const agg_trend_point points[] = {{1, 0, 2, true}, {2, 1, 3, true}, {4, 3, 5, true}};
    (void)state;
    char *text = draw(points, 3, (agg_scale){0, 4}, "a");
    assert_non_null(strstr(text, "class=\"line\" points=\"0.0,75.0 500.0,50.0 1000.0,0.0 \""));
    // The band goes along the upper ends and back along the lower ones; 5 is cut at the scale's
    // end.
    assert_non_null(strstr(text, "points=\"0.0,50.0 500.0,25.0 1000.0,0.0 "
                                 "1000.0,25.0 500.0,75.0 0.0,100.0 \""));
    assert_non_null(strstr(text, "cx=\"50.00%\" cy=\"50.00%\""));
    assert_int_equal(count_of(text, "<circle"), 3);
    free(text);
}

static void a_period_without_a_figure_is_a_gap(void **state)
{
    static const agg_trend_point points[] = {
        {1, 0, 2, true}, {0, 0, 0, false}, {2, 1, 3, true}, {2, 1, 3, true}, {0, 0, 0, false}};
    (void)state;
    char *text = draw(points, 5, (agg_scale){0, 4}, "a");
    assert_int_equal(count_of(text, "<polyline"), 2);
    assert_int_equal(count_of(text, "<circle"), 3);
    assert_non_null(strstr(text, "points=\"500.0,50.0 750.0,50.0 \""));
    free(text);
    text = draw(points + 1, 1, (agg_scale){0, 4}, "a");
    assert_int_equal(count_of(text, "<poly"), 0);
    free(text);
}

static void labels_stay_text(void **state)
{
    static const agg_trend_point point = {1, 0, 2, true};
    (void)state;
    char *text = draw(&point, 1, (agg_scale){0, 4}, "\"><script>\xe2\x80\xae & '\x01\xff");
    assert_non_null(strstr(text, "aria-label=\"&quot;&gt;&lt;script&gt;\xef\xbf\xbd &amp; &#39;"
                                 "\xef\xbf\xbd\xef\xbf\xbd\""));
    assert_null(strstr(text, "<script"));
    free(text);
}

static void scales_hold_what_they_are_given(void **state)
{
    agg_scale scale = {0, 0};
    (void)state;
    agg_scale_hold(&scale, NAN);
    agg_scale_hold(&scale, INFINITY);
    agg_scale_finish(&scale);
    assert_true(scale.low == 0 && scale.high == 1);
    scale = (agg_scale){0, 0};
    agg_scale_hold(&scale, -2);
    agg_scale_hold(&scale, 6);
    agg_scale_finish(&scale);
    assert_true(scale.low == -2 && scale.high == 6);
}

// From -1 .. 3: zero lies at 25 %, and the two values at 0 and 100 %.
static void a_dumbbell_has_a_ring_and_a_dot(void **state)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    (void)state;
    assert_non_null(stream);
    agg_dumbbell_figure(stream, -1, 3, &(agg_scale){-1, 3});
    fclose(stream);
    assert_non_null(strstr(text, "class=\"ring\" cx=\"0.00%\""));
    assert_non_null(strstr(text, "class=\"dot\" cx=\"100.00%\""));
    assert_non_null(strstr(text, "class=\"zero\" x1=\"25.00%\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_lie_on_their_scale),
        cmocka_unit_test(a_period_without_a_figure_is_a_gap),
        cmocka_unit_test(labels_stay_text),
        cmocka_unit_test(scales_hold_what_they_are_given),
        cmocka_unit_test(a_dumbbell_has_a_ring_and_a_dot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
