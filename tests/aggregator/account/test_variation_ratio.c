// SPDX-License-Identifier: Apache-2.0
// The variation-ratio figure: against its definition by brute force, against the bound of stronger
// clones where the two are the same, against figures made elsewhere, and as it must move.
//
// Where SHOAL_SHARED names a folder with golden/amplification-mechanisms.csv, every row of it is
// checked; SHOAL_REQUIRE_SHARED=1 makes its absence a failure.
#include "agg_test.h"

#include <math.h>
#include <time.h>

#include "variation_ratio.h"

static agg_error error;

static agg_central central_of(double e0, double n, double delta, double variation)
{
    const agg_crowd crowd = {e0, n, delta, 1, NULL};
    const agg_three_classes classes = agg_variation_classes(e0, variation);
    return agg_three_classes_epsilon(&classes, &crowd);
}

// Returns: P(A = a, B = b) where n - 1 reports are of either class with probability r each.
static long double counts(int n, long double r, int a, int b)
{
    long double p = 1;
    if (a < 0 || b < 0 || a + b > n - 1) return 0;
    for (int i = 0; i < a; i++) p *= (long double)(n - 1 - i) / (i + 1) * r;
    for (int i = 0; i < b; i++) p *= (long double)(n - 1 - a - i) / (i + 1) * r;
    for (int i = a + b; i < n - 1; i++) p *= 1 - 2 * r;
    return p;
}

static long double pair_probability(int n, const agg_three_classes *c, int a, int b)
{
    long double rest = 1.0L - c->hit - c->miss;
    return c->hit * counts(n, c->clone, a - 1, b) + c->miss * counts(n, c->clone, a, b - 1) +
           rest * counts(n, c->clone, a, b);
}

static long double delta_by_force(int n, const agg_three_classes *c, long double epsilon)
{
    long double sum = 0;
    for (int a = 0; a <= n; a++)
        for (int b = 0; a + b <= n; b++) {
            long double gap =
                pair_probability(n, c, a, b) - expl(epsilon) * pair_probability(n, c, b, a);
            if (gap > 0) sum += gap;
        }
    return sum;
}

static void check_delta(int n, const agg_three_classes *classes, double epsilon)
{
    double exact = (double)delta_by_force(n, classes, epsilon);
    agg_central found = agg_three_classes_delta(classes, n, epsilon, 1e-30);
    if (!(found.lower <= exact * (1 + 1e-12) + 1e-17 &&
          found.upper >= exact * (1 - 1e-12) - 1e-17 &&
          found.upper - found.lower <= 3e-7 * exact + 1e-17))
        fail_msg("n %d, hit %g, miss %g, clone %g, epsilon %g: %g .. %g, not %g", n, classes->hit,
                 classes->miss, classes->clone, epsilon, found.lower, found.upper, exact);
}

static void agrees_with_brute_force(void **state)
{
    (void)state;
    for (int n = 1; n <= 42; n += n < 10 ? 1 : 11)
        for (double e0 = 0.05; e0 < 9; e0 *= 2.6)
            for (double part = 0.03; part <= 1; part += 0.194)
                for (double share = 0; share <= 1; share += 0.13) {
                    agg_three_classes classes = agg_variation_classes(e0, part * tanh(e0 / 2));
                    check_delta(n, &classes, share * e0);
                    classes.clone = fmin(0.5, classes.clone * (1 + share)); // a test's classes
                    check_delta(n, &classes, share * e0);
                }
}

// In the worst case nothing is left to tell, and the sum is that of stronger clones.
static void is_stronger_at_the_worst_variation(void **state)
{
    static const double epsilons[] = {0.1, 1, 3.3, 6}, reports[] = {10, 997, 1e5, 3e7, 1e9};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 5; j++) {
            double e0 = epsilons[i], n = reports[j];
            const agg_crowd crowd = {e0, n, 1e-9, 1, NULL};
            agg_central stronger, ours = central_of(e0, n, 1e-9, 1);
            assert_ok(agg_crowd_epsilon(&stronger, &error, &crowd, AGG_BOUND_STRONGER, true));
            if (isnan(ours.upper)) { // nothing is gained in the first six digits
                assert_true(isnan(stronger.upper) || stronger.upper > e0 * (1 - 2e-6));
                continue;
            }
            if (!(ours.upper >= stronger.lower * (1 - 1e-6) &&
                  ours.upper <= stronger.upper * (1 + 1e-5)))
                fail_msg("epsilon0 %g, n %g: %.9g, stronger %.9g", e0, n, ours.upper,
                         stronger.upper);
        }
}

static void check_row(const char *line)
{
    double e0 = 0, n = 0, delta = 0, variation = 0, expected = 0;
    if (sscanf(line, "%*[^,],%*[^,],%lf,%lf,%lf,%lf,%lf", &e0, &n, &delta, &variation, &expected) !=
        5)
        fail_msg("not a row: %s", line);
    agg_central found = central_of(e0, n, delta, variation);
    // Theirs is an upper bound by 22 bisections, printed with six decimals.
    if (!(found.upper <= expected * 1.005 && found.upper >= expected * 0.995 - 1e-6))
        fail_msg("%sgives %.9g", line, found.upper);
}

static void agrees_with_the_shared_table(void **state)
{
    char line[256], path[1024];
    const char *shared = getenv("SHOAL_SHARED"), *required = getenv("SHOAL_REQUIRE_SHARED");
    int rows = 0;
    (void)state;
    snprintf(path, sizeof path, "%s/golden/amplification-mechanisms.csv",
             shared != NULL ? shared : "");
    FILE *file = shared != NULL ? fopen(path, "r") : NULL;
    if (file == NULL) {
        if (required != NULL && strcmp(required, "1") == 0)
            fail_msg("no golden/amplification-mechanisms.csv in SHOAL_SHARED");
        fputs("SKIPPED: golden/amplification-mechanisms.csv is not there; SHOAL_SHARED names its "
              "folder\n",
              stderr);
        skip();
    }
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "mechanism,", 10) != 0) {
            check_row(line);
            rows++;
        }
    fclose(file);
    assert_int_equal(rows, 36);
}

// More reports, a smaller variation and a larger delta never raise epsilon; a part in 10^6 is
// given.
static void moves_the_right_way(void **state)
{
    double before = INFINITY;
    (void)state;
    for (double n = 100; n < 1e11; n *= 37) {
        double epsilon = central_of(3, floor(n), 1e-8, 0.6).upper;
        if (isnan(epsilon)) epsilon = 3;
        assert_true(epsilon <= before * (1 + 1e-6));
        before = epsilon;
    }
    before = 0;
    for (double variation = 0.01; variation < 0.9; variation *= 1.5) {
        double epsilon = central_of(3, 250000, 1e-8, variation).upper;
        assert_true(epsilon >= before * (1 - 1e-6));
        before = epsilon;
    }
    before = INFINITY;
    for (double delta = 1e-15; delta < 1e-3; delta *= 31) {
        double epsilon = central_of(3, 250000, delta, 0.6).upper;
        assert_true(epsilon <= before * (1 + 1e-6));
        before = epsilon;
    }
}

// The figures at the ends of the range; the times are printed, not judged.
static void answers_for_very_many_reports(void **state)
{
    clock_t start = clock();
    (void)state;
    assert_true(central_of(4, 1e9, 1e-9, 0.626).upper < 0.002);
    print_message("10^9 reports: %.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
    start = clock();
    assert_true(central_of(4, 1e12, 1e-9, 0.626).upper < 0.0001);
    print_message("10^12 reports: %.3f s\n", (double)(clock() - start) / CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_brute_force),
        cmocka_unit_test(is_stronger_at_the_worst_variation),
        cmocka_unit_test(agrees_with_the_shared_table),
        cmocka_unit_test(moves_the_right_way),
        cmocka_unit_test(answers_for_very_many_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
