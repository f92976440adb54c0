// SPDX-License-Identifier: Apache-2.0
// Central epsilon: against figures made elsewhere, against the definition by brute force, and as it
// must move.
//
// aggregator/golden/central_epsilon.csv holds random settings evaluated by the definition in 40
// digits, term by term over both counts. Where SHOAL_SHARED names a folder with
// golden/amplification.csv, every row of it is checked too; SHOAL_REQUIRE_SHARED=1 makes its
// absence a failure.
#include "agg_test.h"

#include <math.h>
#include <time.h>

#include "amplification.h"

static agg_error error;

static agg_central central_of(double e0, double n, double delta, agg_bound bound)
{
    const agg_crowd crowd = {e0, n, delta, 1, NULL};
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, bound, true));
    return central;
}

// Within `tolerance` from above, and the bracket holds the figure. Both bounds round: a part in
// 10^7 is given.
static void check_figure(const char *line, agg_central found, double expected, double tolerance)
{
    int is_good = found.upper >= expected * (1 - 1e-7) && found.lower <= expected * (1 + 1e-7) &&
                  found.upper <= expected * (1 + tolerance);
    if (!is_good)
        fail_msg("%sgives %.12g .. %.12g, not %.12g", line, found.lower, found.upper, expected);
}

static void agrees_with_the_definition_in_40_digits(void **state)
{
    char line[256];
    double e0 = 0, n = 0, delta = 0, clones = 0, stronger = 0;
    int rows = 0;
    FILE *file = fopen("aggregator/golden/central_epsilon.csv", "r");
    (void)state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%lf,%lf,%lf,%lf,%lf", &e0, &n, &delta, &clones, &stronger) != 5) continue;
        check_figure(line, central_of(e0, n, delta, AGG_BOUND_CLONES), clones, 1e-6);
        check_figure(line, central_of(e0, n, delta, AGG_BOUND_STRONGER), stronger, 1e-6);
        rows++;
    }
    fclose(file);
    assert_true(rows >= 20);
}

static void check_shared_row(const char *line)
{
    double e0 = 0, n = 0, delta = 0, closed = 0, clones = 0, stronger = 0;
    char valid[8] = "";
    if (sscanf(line, "%lf,%lf,%lf,%lf,%7[A-Za-z],%lf,%lf", &e0, &n, &delta, &closed, valid, &clones,
               &stronger) != 7)
        fail_msg("not a row: %s", line);
    agg_central form = central_of(e0, n, delta, AGG_BOUND_CLOSED_FORM);
    if (strcmp(valid, "True") == 0 && closed < e0)
        assert_true(fabs(form.upper - closed) <= 1e-12 * closed);
    else
        assert_true(isnan(form.upper));
    // Theirs is good to about 6 digits, our bracket to 5.
    check_figure(line, central_of(e0, n, delta, AGG_BOUND_CLONES), clones, 1e-5);
    check_figure(line, central_of(e0, n, delta, AGG_BOUND_STRONGER), stronger, 1e-5);
}

static void agrees_with_the_shared_table(void **state)
{
    char line[256], path[1024];
    const char *shared = getenv("SHOAL_SHARED"), *required = getenv("SHOAL_REQUIRE_SHARED");
    int rows = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/golden/amplification.csv", shared != NULL ? shared : "");
    FILE *file = shared != NULL ? fopen(path, "r") : NULL;
    if (file == NULL) {
        if (required != NULL && strcmp(required, "1") == 0)
            fail_msg("no golden/amplification.csv in SHOAL_SHARED");
        fputs("SKIPPED: golden/amplification.csv is not there; SHOAL_SHARED names its folder\n",
              stderr);
        skip();
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (line[0] >= '0' && line[0] <= '9') {
            check_shared_row(line);
            rows++;
        }
    fclose(file);
    assert_int_equal(rows, 72);
}

// The law of both counts, by its definition: `swapped` is the other input.
static long double pair_probability(int n, long double e0, long double p, int c, int a, int swapped)
{
    long double q = expl(e0) / (expl(e0) + 1), count = 1, some = 1, none = 1;
    for (int i = 0; i < c; i++) count *= (long double)(n - 1 - i) / (i + 1) * p;
    for (int i = 0; i < n - 1 - c; i++) count *= 1 - p;
    for (int i = 0; i < c; i++) {
        some *= 0.5L;
        none *= 0.5L;
    }
    for (int i = 0; i < a - 1; i++) some *= (long double)(c - i) / (i + 1); // a - 1 of c fair coins
    for (int i = 0; i < a; i++) none *= (long double)(c - i) / (i + 1);
    if (a == 0) some = 0;
    if (a == c + 1) none = 0;
    return count * (swapped ? (1 - q) * some + q * none : q * some + (1 - q) * none);
}

static long double delta_by_force(int n, double e0, double p, double epsilon, int swapped)
{
    long double sum = 0;
    for (int c = 0; c < n; c++)
        for (int a = 0; a <= c + 1; a++) {
            long double gap = pair_probability(n, e0, p, c, a, swapped) -
                              expl(epsilon) * pair_probability(n, e0, p, c, a, !swapped);
            if (gap > 0) sum += gap;
        }
    return sum;
}

static void agrees_with_brute_force_in_both_directions(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n += 3)
        for (double e0 = 0.1; e0 < 9; e0 *= 2.1)
            for (double share = 0; share < 1; share += 0.19) {
                const agg_crowd crowd = {e0, n, 1e-9, 1, NULL};
                agg_central clones, stronger;
                assert_ok(agg_crowd_delta(&clones, &error, &crowd, AGG_BOUND_CLONES, share * e0));
                assert_ok(
                    agg_crowd_delta(&stronger, &error, &crowd, AGG_BOUND_STRONGER, share * e0));
                for (int swapped = 0; swapped < 2; swapped++) {
                    double exact = (double)delta_by_force(n, e0, exp(-e0), share * e0, swapped);
                    assert_true(clones.lower <= exact * (1 + 1e-12) &&
                                clones.upper >= exact * (1 - 1e-12));
                    assert_true(clones.upper - clones.lower <= 3e-8 * exact + 1e-19);
                    exact = (double)delta_by_force(n, e0, 2 / (exp(e0) + 1), share * e0, swapped);
                    assert_true(stronger.lower <= exact * (1 + 1e-12) &&
                                stronger.upper >= exact * (1 - 1e-12));
                    assert_true(stronger.upper - stronger.lower <= 3e-8 * exact + 1e-19);
                }
            }
}

static void closed_form_needs_its_condition(void **state)
{
    double n = 1000, delta = 1e-6, edge = log(n / (8 * log(2 / delta)) - 1);
    (void)state;
    assert_true(central_of(edge - 1e-9, n, delta, AGG_BOUND_CLOSED_FORM).upper < edge);
    assert_true(isnan(central_of(edge + 1e-9, n, delta, AGG_BOUND_CLOSED_FORM).upper));
    assert_true(isnan(
        central_of(1, 10, delta, AGG_BOUND_CLOSED_FORM).upper)); // n too small for any epsilon
    assert_true(isnan(central_of(0.01, 200, delta, AGG_BOUND_CLOSED_FORM)
                          .upper)); // the formula gives more than 0.01
}

// gboard-2024, section 5: 500,000 devices of 60 words each, epsilon 10, delta 1e-10.
static void gboard(void **state)
{
    const agg_crowd device = {10, 3e7, 1e-10, 60, NULL};
    agg_central many;
    double n = 0;
    (void)state;
    assert_true(fabs(central_of(10, 3e7, 1e-10, AGG_BOUND_CLONES).upper - 0.3075) < 5e-5);
    assert_true(fabs(central_of(10, 3e7, 1e-10, AGG_BOUND_CLOSED_FORM).upper - 0.5654) < 5e-5);
    const agg_crowd one = {10, 0, 1e-10, 1, NULL};
    assert_ok(agg_crowd_find_reports(&n, &error, &one, AGG_BOUND_STRONGER, 0.3075));
    assert_true(n > 0.49 * 3e7 && n < 0.51 * 3e7); // half the reports
    // 60 of them together: more than 60 times as much, for the group's delta is a sum.
    assert_ok(agg_crowd_epsilon(&many, &error, &device, AGG_BOUND_CLONES, true));
    assert_true(many.upper > 60 * 0.3075 && many.upper < 60 * 0.6);
}

// A group's epsilon, checked by the sum that defines it.
static void group_keeps_its_delta(void **state)
{
    static const double groups[] = {2, 7, 60, 1000};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (agg_bound bound = AGG_BOUND_CLONES; bound <= AGG_BOUND_STRONGER; bound++) {
            const agg_crowd many = {2, 1e6, 1e-8, groups[i], NULL}, one = {2, 1e6, 1e-8, 1, NULL};
            agg_central epsilon, delta;
            double sum = 0;
            assert_ok(agg_crowd_epsilon(&epsilon, &error, &many, bound, true));
            double each = epsilon.upper / groups[i];
            // The sum over a group of a thousand asks for a delta far below what one report is
            // asked for.
            agg_crowd deep = one;
            deep.contributions = 2;
            assert_ok(agg_crowd_delta(&delta, &error, &deep, bound, each));
            for (double j = 0; j < groups[i]; j++) sum += exp(j * each);
            assert_true(sum * delta.upper <= 1e-8 * (1 + 1e-6) && sum * delta.upper > 1e-8 * 0.999);
        }
}

static void moves_the_right_way(void **state)
{
    static const double epsilons[] = {0.01, 0.5, 2, 8, 16}, reports[] = {2, 1000, 40000, 1e9, 1e12},
                        deltas[] = {1e-3, 1e-15};
    (void)state;
    for (agg_bound bound = AGG_BOUND_CLOSED_FORM; bound <= AGG_BOUND_STRONGER; bound++)
        for (size_t e = 0; e < 5; e++)
            for (size_t n = 0; n < 5; n++)
                for (size_t d = 0; d < 2; d++) {
                    if (!effort_is_long() && (e + n + d) % 2 == 1) continue; // every other one
                    const agg_crowd crowd = {epsilons[e], reports[n], deltas[d], 1, NULL};
                    agg_central here, moved, tight;
                    assert_ok(agg_crowd_epsilon(&here, &error, &crowd, bound, false));
                    if (isnan(here.upper)) continue;
                    assert_true(here.lower >= 0 && here.lower <= here.upper &&
                                here.upper < crowd.local_epsilon);
                    assert_true(here.upper - here.lower <= 1e-3 * here.upper); // coarse
                    agg_crowd more = crowd, looser = crowd, quieter = crowd;
                    more.n = crowd.n * 4;
                    looser.delta = crowd.delta * 1.5;
                    quieter.local_epsilon = crowd.local_epsilon * 0.8;
                    if (more.n <= AGG_CROWD_REPORTS_MAX) {
                        assert_ok(agg_crowd_epsilon(&moved, &error, &more, bound, false));
                        assert_true(moved.upper <= here.upper);
                    }
                    assert_ok(agg_crowd_epsilon(&moved, &error, &looser, bound, false));
                    assert_true(moved.upper <= here.upper);
                    assert_ok(agg_crowd_epsilon(&moved, &error, &quieter, bound, false));
                    assert_true(isnan(moved.upper) ||
                                moved.lower <= here.upper); // nan: no better than the quieter
                    if (n != 2 || bound == AGG_BOUND_CLOSED_FORM) continue;
                    assert_ok(agg_crowd_epsilon(&tight, &error, &crowd, bound, true));
                    assert_true(tight.upper <= here.upper * (1 + 1e-9) &&
                                tight.upper >= here.lower);
                    assert_true(tight.upper - tight.lower <= 2e-5 * tight.upper);
                }
}

static void bounds_keep_their_order(void **state)
{
    (void)state;
    for (double e0 = 0.25; e0 <= 8; e0 *= 2)
        for (double n = 1e4; n <= 1e9; n *= 100) {
            agg_central closed = central_of(e0, n, 1e-8, AGG_BOUND_CLOSED_FORM);
            agg_central clones = central_of(e0, n, 1e-8, AGG_BOUND_CLONES);
            agg_central stronger = central_of(e0, n, 1e-8, AGG_BOUND_STRONGER);
            assert_true(stronger.upper < clones.lower);
            assert_true(isnan(closed.upper) || stronger.upper < closed.upper);
        }
}

static void inverses_invert(void **state)
{
    (void)state;
    for (agg_bound bound = AGG_BOUND_CLOSED_FORM; bound <= AGG_BOUND_STRONGER; bound++)
        for (double epsilon = 0.02; epsilon < 1; epsilon *= 16) {
            agg_crowd crowd = {4, 0, 1e-7, 1, NULL};
            agg_central central;
            double n = 0, e0 = 0;
            assert_ok(agg_crowd_find_reports(&n, &error, &crowd, bound, epsilon));
            crowd.n = n;
            assert_ok(agg_crowd_epsilon(&central, &error, &crowd, bound, true));
            assert_true(central.upper <= epsilon * (1 + 1e-6));
            crowd.n = floor(n * 0.9999) - 1; // fewer do not do, up to the bracket's width
            assert_ok(agg_crowd_epsilon(&central, &error, &crowd, bound, true));
            assert_true(isnan(central.upper) || central.upper > epsilon);
            crowd.n = n;
            assert_ok(agg_crowd_find_local_epsilon(&e0, &error, &crowd, bound, epsilon));
            assert_true(e0 >= 4 * (1 - 1e-4) && e0 < 4.05);
        }
    agg_crowd tiny = {16, 0, 1e-15, 1, NULL};
    double n = 0;
    assert_ok(agg_crowd_find_reports(&n, &error, &tiny, AGG_BOUND_CLONES, 1e-6));
    assert_true(isnan(n));
}

static void takes_less_than_a_second(void **state)
{
    (void)state;
    clock_t start = clock();
    agg_central central = central_of(1, 1e9, 1e-10, AGG_BOUND_STRONGER);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_true(central.upper - central.lower < 1e-4);
    if (getenv("SHOAL_LONG") == NULL && seconds > 5)
        fail_msg("%.1f s", seconds); // sanitizers: several times as long
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition_in_40_digits),
        cmocka_unit_test(agrees_with_the_shared_table),
        cmocka_unit_test(agrees_with_brute_force_in_both_directions),
        cmocka_unit_test(closed_form_needs_its_condition),
        cmocka_unit_test(gboard),
        cmocka_unit_test(group_keeps_its_delta),
        cmocka_unit_test(moves_the_right_way),
        cmocka_unit_test(bounds_keep_their_order),
        cmocka_unit_test(inverses_invert),
        cmocka_unit_test(takes_less_than_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
