// SPDX-License-Identifier: Apache-2.0
// The result page as a pure function: hostile values come out harmless, odd estimates come out
// drawable.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guarantee.h"
#include "recipe.h"
#include "result_page.h"

static const shoal_recipe no_fields = {.n_parts = 0};
static const agg_recipe plain = {.recipe = &no_fields, .id = "page-test"};

// A page of one section of this recipe with these rows; free it.
static char *page_for(const agg_recipe *recipe, agg_estimate_row *rows, size_t n_rows, size_t top,
                      const char *note)
{
    const agg_estimate estimate = {.recipe = recipe,
                                   .n = 1234567,
                                   .epsilon = 0.5,
                                   .confidence = 0.9,
                                   .n_dictionary = n_rows,
                                   .selection = agg_selection_of(n_rows, n_rows + 3, 0.9),
                                   .n_rows = n_rows,
                                   .rows = rows};
    const agg_page_section section = {
        .recipe = recipe, .estimate = rows == NULL ? NULL : &estimate, .note = note, .top = top};
    const agg_page page = {.title = "a <title>", .sections = &section, .n_sections = 1};
    char *text = NULL;
    size_t len;
    agg_error error;
    FILE *stream = open_memstream(&text, &len);
    assert_int_equal(agg_page_write(stream, &error, &page), SHOAL_OK);
    fclose(stream);
    assert_int_equal(strlen(text), len); // no NUL inside
    return text;
}

static char *page_of(agg_estimate_row *rows, size_t n_rows, size_t top, const char *note)
{
    return page_for(&plain, rows, n_rows, top, note);
}

static agg_estimate_row row_of(const char *bytes, size_t len, double count, double half)
{
    return (agg_estimate_row){.value = {bytes, len},
                              .count = count,
                              .stderr_ = half / 2,
                              .low = count - half,
                              .high = count + half,
                              .score = half / 2,
                              .detected = count > half,
                              .raw = count};
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) n++;
    return n;
}

static void hostile_values_are_harmless(void **state)
{
    (void)state;
    static const char script[] = "<script>alert('1')</script>\"&";
    static const char control[] = "a\0b\x1b[31m\x7f\xc2\x85";
    static const char turned[] = "x\xe2\x80\xae"
                                 "evil\xe2\x81\xa6\xef\xbb\xbf";
    static const char broken[] = "\xff\xc0\xaf\xed\xa0\x80\xf5"
                                 "z\xe2\x82";
    static const char fine[] = "na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x9f";
    agg_estimate_row rows[] = {
        row_of(script, sizeof script - 1, 50, 9), row_of(control, sizeof control - 1, 40, 9),
        row_of(turned, sizeof turned - 1, 30, 9), row_of(broken, sizeof broken - 1, 20, 9),
        row_of(fine, sizeof fine - 1, 10, 9)};
    char *text = page_of(rows, 5, 0, NULL);
    assert_null(strstr(text, "<script"));
    assert_non_null(strstr(text, "<p class=\"note\">rows were selected (5 of 8): intervals that "
                                 "cover 90 % of them are 1.13 times as wide</p>"));
    assert_non_null(strstr(text, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"));
    assert_non_null(strstr(text, ">a\xef\xbf\xbd"
                                 "b\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd<"));
    assert_non_null(strstr(text, ">x\xef\xbf\xbd"
                                 "evil\xef\xbf\xbd\xef\xbf\xbd<"));
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        assert_true(*c == '\n' || (*c >= 0x20 && *c != 0x7f));
        assert_true(*c != 0xff && *c != 0xc0 && *c != 0xf5);
    }
    assert_non_null(strstr(text, fine));
    assert_non_null(strstr(text, "<title>a &lt;title&gt;</title>"));
    free(text);
}

// Each x of the drawing lies in [0, 100] percent: nothing is drawn outside its cell.
static void check_percents(const char *text)
{
    for (const char *c = text; (c = strstr(c, "x1=\"")) != NULL; c++) {
        double x = strtod(c + 4, NULL);
        assert_true(x >= 0 && x <= 100);
    }
    for (const char *c = text; (c = strstr(c, "width=\"")) != NULL; c++) {
        char *end;
        double width = strtod(c + 7, &end);
        if (*end == '%') assert_true(width >= 0 && width <= 100);
    }
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

static void odd_estimates_are_drawn(void **state)
{
    (void)state;
    agg_estimate_row below[] = {row_of("a", 1, -5, 3), row_of("b", 1, -500000.4, 100)};
    char *text = page_of(below, 2, 0, NULL);
    check_percents(text);
    assert_non_null(strstr(text, "\xe2\x88\x92"
                                 "500,000")); // a true minus
    assert_int_equal(count_of(text, "<tr class=\"mute\">"), 2);
    assert_non_null(strstr(text, "not distinguishable from zero"));
    free(text);

    agg_estimate_row nothing[] = {row_of("a", 1, 0, 0)};
    text = page_of(nothing, 1, 0, NULL);
    check_percents(text);
    free(text);

    agg_estimate_row huge[] = {row_of("a", 1, 9e15, 1e15), row_of("b", 1, 1e-9, 1e-10)};
    text = page_of(huge, 2, 0, NULL);
    check_percents(text);
    assert_true(count_of(text, "<text ") < 12); // ticks
    free(text);

    agg_estimate_row none[1];
    text = page_of(none, 0, 0, NULL);
    assert_non_null(strstr(text, "0 of 0 values shown"));
    free(text);
}

static void top_limits_rows_and_a_note_stands_alone(void **state)
{
    (void)state;
    agg_estimate_row rows[] = {row_of("a", 1, 50, 9), row_of("b", 1, 40, 9), row_of("c", 1, 1, 9)};
    char *text = page_of(rows, 3, 2, NULL);
    assert_int_equal(count_of(text, "<td class=\"value\""), 2);
    assert_non_null(strstr(text, "2 of 3 values shown"));
    assert_non_null(strstr(text, "1,234,567</b> reports"));
    assert_int_equal(count_of(text, "class=\"whisker\""),
                     2 * 3 + 3); // three lines a row, and the key's
    free(text);
    text = page_of(NULL, 0, 0, "fewer <than> needed");
    assert_non_null(strstr(text, "fewer &lt;than&gt; needed"));
    assert_null(strstr(text, "<table"));
    free(text);
}

// A mean is drawn in the range of its numbers, with the decimals of its error, and is not tested
// against zero.
static void a_mean_is_no_count(void **state)
{
    (void)state;
    const shoal_recipe fields = {.value = SHOAL_VALUE_NUMBER,
                                 .n_parts = 1,
                                 .parts[0].domain = SHOAL_DOMAIN_NUMBER,
                                 .low_micro = -1500000,
                                 .high_micro = 2500000};
    const agg_recipe recipe = {.recipe = &fields, .id = "heights"};
    agg_estimate_row rows[] = {row_of("mean", 4, 0.5, 0.04)};
    rows[0].detected = 0;
    char *text = page_for(&recipe, rows, 1, 20, NULL);
    assert_non_null(strstr(text, "<td class=\"count\">0.500</td>"));
    assert_non_null(strstr(text, "<td class=\"interval\">0.460 to 0.540</td>"));
    assert_non_null(strstr(text, "Mean of numbers from -1.5 to 2.5."));
    // The bar goes from zero, 37.5 % of the range, to the mean at half of it.
    assert_non_null(strstr(text, "x=\"37.50%\" y=\"18%\" width=\"12.50%\""));
    assert_null(strstr(text, "class=\"mute\""));
    assert_null(strstr(text, "distinguishable"));
    free(text);
}

// Buckets go along the number line where all are shown, by count where only the largest are.
static void histograms_follow_their_numbers(void **state)
{
    (void)state;
    const shoal_recipe fields = {
        .value = SHOAL_VALUE_NUMBER, .n_parts = 1, .parts[0].domain = SHOAL_DOMAIN_CLOSED};
    const agg_recipe recipe = {.recipe = &fields, .id = "ages"};
    agg_estimate_row rows[] = {row_of("[9, 10]", 7, 50, 9), row_of("[-9, 0)", 7, 40, 9),
                               row_of("[0, 9)", 6, 30, 9)};
    char *text = page_for(&recipe, rows, 3, 0, NULL);
    const char *first = strstr(text, "[-9, 0)"), *second = strstr(text, "[0, 9)"),
               *third = strstr(text, "[9, 10]");
    assert_true(first != NULL && second != NULL && third != NULL && first < second &&
                second < third);
    free(text);
    text = page_for(&recipe, rows, 3, 2, NULL);
    first = strstr(text, "[9, 10]");
    second = strstr(text, "[-9, 0)");
    assert_true(first != NULL && second != NULL && first < second &&
                strstr(text, "[0, 9)") == NULL);
    free(text);
}

static void what_a_result_promises_stands_below_it(void **state)
{
    agg_estimate_row rows[] = {row_of("a", 1, 50, 9)};
    const agg_guarantee guarantee = {.local = 2,
                                     .drawn = 2,
                                     .per_day = 1,
                                     .reports = 1000,
                                     .honest = 1,
                                     .delta = 1e-9,
                                     .is_delta_stated = true,
                                     .central = 0.25,
                                     .bound = "stronger",
                                     .days = 1,
                                     .person_reports = 1,
                                     .person = 0.25};
    const agg_estimate estimate = {.recipe = &plain,
                                   .n = 1000,
                                   .n_dictionary = 1,
                                   .n_rows = 1,
                                   .rows = rows,
                                   .guarantee = &guarantee};
    const agg_page_section section = {.recipe = &plain, .estimate = &estimate};
    const agg_page page = {.title = "t", .sections = &section, .n_sections = 1};
    char *text = NULL;
    size_t len;
    agg_error error;
    FILE *stream = open_memstream(&text, &len);
    (void)state;
    assert_int_equal(agg_page_write(stream, &error, &page), SHOAL_OK);
    fclose(stream);
    const char *table_end = strstr(text, "</table>");
    assert_non_null(table_end);
    assert_non_null(strstr(table_end, "<p class=\"note\">epsilon per report  2 (as drawn: 2)<br>"));
    assert_non_null(strstr(
        table_end, "<br>central epsilon     0.25 (stronger bound, smallest block of 1,000 "
                   "reports, 100 % honest, delta 1e-9)<br>central, person     0.25 (1 report "
                   "of 1 day, in any blocks)<br>The central epsilon assumes"));
    assert_non_null(strstr(table_end,
                           "<br>verdict, report     moderate: a 50:50 guess comes true "
                           "in at most 88.08 of 100 cases (odds x 7.4)<br>verdict, day"));
    free(text);
}

static void windows_say_so(void **state)
{
    shoal_recipe fields = {.n_parts = 0, .per_day = 1};
    const agg_recipe recipe = {.recipe = &fields, .id = "page-test"};
    agg_estimate_row row = row_of("tide", 4, 100, 10);
    (void)state;
    char *page = page_for(&recipe, &row, 1, 10, NULL);
    assert_null(strstr(page, "windows"));
    free(page);
    fields.pick = SHOAL_PICK_UNIFORM;
    fields.window = SHOAL_WINDOW_VISIT;
    page = page_for(&recipe, &row, 1, 10, NULL);
    assert_non_null(strstr(page, "<p class=\"note\">Counts are windows (visits): a report counts a "
                                 "value&#39;s share of its window&#39;s events.</p>"));
    free(page);
}

static void a_broken_stream_is_an_error(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w");
    if (full == NULL) skip();
    const agg_page page = {.title = "t"};
    agg_error error;
    assert_int_equal(agg_page_write(full, &error, &page), AGG_ERR_IO);
    fclose(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_values_are_harmless),
        cmocka_unit_test(odd_estimates_are_drawn),
        cmocka_unit_test(top_limits_rows_and_a_note_stands_alone),
        cmocka_unit_test(a_mean_is_no_count),
        cmocka_unit_test(histograms_follow_their_numbers),
        cmocka_unit_test(what_a_result_promises_stands_below_it),
        cmocka_unit_test(windows_say_so),
        cmocka_unit_test(a_broken_stream_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
