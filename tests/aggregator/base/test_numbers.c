// SPDX-License-Identifier: Apache-2.0
// Numbers as people type them into options, and as they read them in tables and in CSV.
#include "agg_test.h"

#include <math.h>

#include "options.h"
#include "print_text.h"

static void options_take_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t number;
    } good[] = {{"0", 0},
                {"7", 7},
                {"200000", 200000},
                {"1e6", 1000000},
                {"1E6", 1000000},
                {"1.5e3", 1500},
                {"2k", 2000},
                {"2K", 2000},
                {"1M", 1000000},
                {"2.25M", 2250000},
                {"1G", 1000000000},
                {"1.0", 1},
                {"999999999999999999", 999999999999999999u}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t number = 0;
        agg_error error;
        assert_ok(cli_read_whole(&number, &error, "n", good[i].text, 0, UINT64_MAX));
        assert_true(number == good[i].number);
    }
    static const char *const bad[] = {"",
                                      " 1",
                                      "1 ",
                                      "-1",
                                      "+1",
                                      "1e",
                                      "1e+3",
                                      "e3",
                                      ".5k",
                                      "5.",
                                      "1.5",
                                      "1kk",
                                      "1k6",
                                      "1T",
                                      "0x10",
                                      "1e19",
                                      "10e18",
                                      "1e400",
                                      "1.2.3",
                                      "1,000",
                                      "1e-1",
                                      "1.55k1",
                                      "1000000000000000000",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t number = 5;
        agg_error error;
        if (cli_read_whole(&number, &error, "n", bad[i], 0, UINT64_MAX) != AGG_ERR_USAGE ||
            number != 5)
            fail_msg("%s was read as %llu", bad[i], (unsigned long long)number);
    }
}

static void options_hold_their_range(void **state)
{
    uint64_t number = 0;
    agg_error error;
    (void)state;
    assert_ok(cli_read_whole(&number, &error, "n", "1k", 1000, 1000));
    assert_int_equal(cli_read_whole(&number, &error, "n", "999", 1000, 2000), AGG_ERR_USAGE);
    assert_string_equal(error.text, "--n must be a whole number from 1000 to 2000");
    assert_int_equal(cli_read_whole(&number, &error, "n", "2M", 1, 1000000), AGG_ERR_USAGE);
    assert_string_equal(error.text, "--n must be a whole number from 1 to 1000000, such as 200000, "
                                    "2e5 or 1M");
}

static void people_read_groups_of_three(void **state)
{
    (void)state;
    assert_string_equal(agg_whole(0).text, "0");
    assert_string_equal(agg_whole(999).text, "999");
    assert_string_equal(agg_whole(1000).text, "1,000");
    assert_string_equal(agg_whole(123456).text, "123,456");
    assert_string_equal(agg_whole(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(agg_grouped(-1234567.891, 2).text, "-1,234,567.89");
    assert_string_equal(agg_grouped(-123, 0).text, "-123");
    assert_string_equal(agg_grouped(999.96, 1).text, "1,000.0");
    assert_string_equal(agg_grouped(0.00012, 5).text, "0.00012");
    assert_string_equal(agg_grouped(1e30, 0).text, "1e+30");
    assert_string_equal(agg_grouped(INFINITY, 0).text, "inf");
}

static void assert_measured(double x, double error, const char *expected)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    agg_print_measured(stream, x, error);
    fclose(stream);
    assert_string_equal(text, expected);
    free(text);
}

static void csv_has_the_digits_that_mean_something(void **state)
{
    (void)state;
    assert_measured(5539.941372295645, 60.491288393884496, "5539.9");
    assert_measured(60.491288393884496, 60.491288393884496, "60.5");
    assert_measured(-55883.4, 612.2, "-55883");
    assert_measured(0.123456789, 0.00123, "0.12346");
    assert_measured(1234.5678, 9.99, "1234.57");
    assert_measured(0.1, 0, "0.1");
    assert_measured(0.1, NAN, "0.1");
    assert_measured(1.0 / 3, 1e-12, "0.3333333333333333"); // all digits where an error is tiny
}

// A double has the fewest digits that read back, whatever way finds them: against the loop over 15,
// 16 and 17, for doubles of any bits and for decimals of few digits.
static void doubles_have_the_fewest_digits(void **state)
{
    uint64_t bits = 1;
    (void)state;
    for (int i = 0; i < 400000; i++) {
        char text[AGG_NUMBER_TEXT], fewest[AGG_NUMBER_TEXT];
        double x;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        uint64_t own = bits ^ bits >> 29;
        memcpy(&x, &own, sizeof x);
        if (i % 2 == 1) x = (double)(int64_t)own / pow(10, i % 37);
        if (i % 4 == 3) x = strtod((snprintf(text, sizeof text, "%.14e", x), text), NULL);
        if (i % 100 == 0) x = ldexp(x, -1060); // few bits
        if (i % 16 == 2) x = ldexp(1, i % 140 - 60) + (i % 32 == 2 ? 0 : ldexp(1, i % 70 - 60));
        if (i % 16 == 6) x = floor(fmod(x, 1e6)) / (double)(1 << i % 20); // halfway between two
        if (i % 16 == 10) x = ldexp((double)(own >> 11), -(i % 60 + 40)) * (i % 3 - 1);
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(fewest, sizeof fewest, "%.*g", digits, x);
            if (strtod(fewest, NULL) == x) break;
        }
        agg_number_text(text, x);
        assert_string_equal(text, fewest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_take_whole_numbers),
                                       cmocka_unit_test(options_hold_their_range),
                                       cmocka_unit_test(people_read_groups_of_three),
                                       cmocka_unit_test(csv_has_the_digits_that_mean_something),
                                       cmocka_unit_test(doubles_have_the_fewest_digits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
