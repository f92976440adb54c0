// SPDX-License-Identifier: Apache-2.0
// Histograms for pages: where bars and bands come to lie, what is withheld, and the tables.
#include "agg_test.h"

#include <math.h>
#include <stdlib.h>

#include "distribution_picture.h"

static agg_distribution_bin bins[] = {{0, 10, 0.5, 0.05, 0.4, 0.6},
                                      {10, 20, 0.02, 0.04, 0, 0.1},
                                      {20, 30, NAN, NAN, NAN, NAN},
                                      {30, 40, 0.4, 0.05, 0.3, 0.5}};

static agg_distribution spread(void)
{
    return (agg_distribution){.confidence = 0.95,
                              .n_quantiles = 2,
                              .quantiles = {{0.5, 10, 8, 12}, {0.99, 39.5, 39.5, 39.5}},
                              .n_bins = 4,
                              .bins = bins,
                              .n_withheld = 1};
}

static char *print(const agg_distribution *d, const char *label)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    if (label != NULL)
        agg_distribution_figure(stream, d, label);
    else
        agg_distribution_page_write(stream, d, NULL);
    fclose(stream);
    return text;
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) n++;
    return n;
}

// Four bins share 1000 units, and the highest end of an interval, 0.6, is at the top: 0.5 lies at
// 16.67 of 100, and the band of 0.4 to 0.6 goes from 0 to 33.33.
static void bars_lie_on_their_scale(void **state)
{
    (void)state;
    agg_distribution d = spread();
    char *text = print(&d, "a");
    assert_non_null(strstr(text, "<rect class=\"bin\" x=\"10.00\" y=\"16.67\" width=\"230.00\" "
                                 "height=\"83.33\"/><rect class=\"range\" x=\"10.00\" y=\"0.00\" "
                                 "width=\"230.00\" height=\"33.33\"/>"));
    assert_int_equal(count_of(text, "class=\"bin\""), 3);
    assert_int_equal(count_of(text, "class=\"unsure\""), 1);
    assert_non_null(strstr(text, "class=\"middle\" x1=\"250.00\""));
    assert_null(strstr(text, "nan"));
    d.quantiles[0].p = 0.4;
    free(text);
    text = print(&d, "a");
    assert_null(strstr(text, "class=\"middle\""));
    free(text);
}

static void tables_have_every_figure(void **state)
{
    (void)state;
    agg_distribution d = spread();
    char *text = print(&d, NULL);
    assert_non_null(strstr(text, "50\xe2\x80\xaf% (median)</th><td>10.0</td><td>8.0 to 12.0<"));
    assert_non_null(strstr(text, "99\xe2\x80\xaf%</th><td>39.5</td><td>39.5 to 39.5<"));
    assert_non_null(strstr(text, "0.0 to 10.0</th><td>50.0\xe2\x80\xaf%</td><td>5.0</td><td>40.0 "
                                 "to 60.0</td>"));
    assert_non_null(strstr(text, "0.0 to 10.0 (cannot be told from zero)"));
    assert_int_equal(count_of(text, "withheld</td>"), 1);
    assert_non_null(strstr(text, "1 of 4 bins are below the release threshold"));
    assert_non_null(strstr(text, "The picture ends at 60.0\xe2\x80\xaf%."));
    assert_null(strstr(text, "nan"));
    free(text);
}

static void labels_stay_text(void **state)
{
    (void)state;
    const agg_distribution d = spread();
    char *text = print(&d, "\"><script>");
    assert_non_null(strstr(text, "aria-label=\"&quot;&gt;&lt;script&gt;\""));
    assert_null(strstr(text, "<script"));
    free(text);
}

// Three steps over 40 units: the line starts at zero, the band goes up by the high ends and back by
// the low ones, and the last step is drawn once.
static void distribution_function_rises(void **state)
{
    (void)state;
    agg_distribution_bin steps[600] = {
        {0, 10, 0.5, 0.05, 0.4, 0.6}, {0, 20, 0.75, 0.05, 0.7, 0.8}, {0, 40, 1, 0, 1, 1}};
    agg_distribution d = spread();
    char *text = print(&d, NULL);
    assert_null(strstr(text, "Distribution function"));
    free(text);
    d.steps = steps;
    d.n_steps = 3;
    text = print(&d, NULL);
    assert_non_null(strstr(text, "class=\"rise\" points=\"0.0,100.0 250.0,50.0 500.0,25.0 "
                                 "1000.0,0.0 \""));
    assert_non_null(strstr(text, "class=\"within\" points=\"0.0,100.0 250.0,40.0 500.0,20.0 "
                                 "1000.0,0.0 1000.0,0.0 1000.0,0.0 500.0,30.0 250.0,60.0 \""));
    assert_non_null(strstr(text, "20.0</th><td>75.0\xe2\x80\xaf%</td><td>70.0 to 80.0<"));
    free(text);
    // Many steps are thinned, and the last one stays.
    for (size_t i = 0; i < 600; i++) {
        double at = (double)(i + 1) / 600;
        steps[i] = (agg_distribution_bin){0, 40 * at, at, 0.01, at - 0.01, at + 0.01};
    }
    d.n_steps = 600;
    text = print(&d, NULL);
    assert_non_null(strstr(text, "1000.0,0.0 \"/>"));
    assert_true(count_of(text, ",50.0 ") < 10);
    assert_true(strlen(text) < 3 * 12 * AGG_RISE_MAX + 8192);
    assert_int_equal(count_of(text, "40.0</th><td>100"), 1);
    free(text);
}

// Nothing is above the threshold: the picture is empty, and no figure is made up.
static void all_bins_may_be_withheld(void **state)
{
    (void)state;
    agg_distribution d = spread();
    d.bins = &bins[2];
    d.n_bins = 1;
    d.n_quantiles = 0;
    char *text = print(&d, NULL);
    assert_int_equal(count_of(text, "<rect"), 0);
    assert_int_equal(count_of(text, "withheld</td>"), 1);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "The picture ends"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bars_lie_on_their_scale),  cmocka_unit_test(tables_have_every_figure),
        cmocka_unit_test(labels_stay_text),         cmocka_unit_test(distribution_function_rises),
        cmocka_unit_test(all_bins_may_be_withheld),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
