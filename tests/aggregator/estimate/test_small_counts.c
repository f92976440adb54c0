// SPDX-License-Identifier: Apache-2.0
// Intervals of counts whose supports are few: tails against a sum over all outcomes, ends against
// their definition, and coverage by enumeration, where nothing is simulated.
#include "agg_test.h"

#include <math.h>

#include "estimate.h"
#include "small_counts.h"

// Returns: P(X = x) of n draws, by a product of n factors at most.
static double draws(int n, int x, double p)
{
    double sum = 0;
    if (x < 0 || x > n) return 0;
    for (int i = 0; i < x; i++) sum += log((double)(n - i) / (x - i));
    return exp(sum + x * log(p) + (n - x) * log1p(-p));
}

static double tail_by_sum(const agg_support_law *law, int f, int c, bool is_upper)
{
    double sum = 0;
    for (int own = 0; own <= f; own++)
        for (int other = 0; other <= (int)law->n - f; other++)
            if (is_upper ? own + other >= c : own + other <= c)
                sum += draws(f, own, law->p) * draws((int)law->n - f, other, law->q);
    return sum;
}

static void tails_are_sums_over_all_outcomes(void **state)
{
    static const agg_support_law laws[] = {
        {60, 0.5, 0.02, 1}, {60, 0.97, 0.001, 1}, {40, 0.7, 0.6, 1}, {1, 0.9, 0.1, 1}};
    (void)state;
    for (size_t l = 0; l < sizeof laws / sizeof *laws; l++)
        for (int f = 0; f <= (int)laws[l].n; f += 3)
            for (int c = 0; c <= (int)laws[l].n; c += 2)
                for (int upper = 0; upper < 2; upper++) {
                    double sum = tail_by_sum(&laws[l], f, c, upper),
                           tail = agg_support_tail(&laws[l], f, c, upper);
                    if (fabs(tail - sum) > 1e-9 * sum + 1e-17)
                        fail_msg("law %zu, f %d, c %d: %g for %g", l, f, c, tail, sum);
                }
}

// The ends are the first and last whole counts whose tails are above half the level, found here one
// by one.
static void ends_are_those_of_the_definition(void **state)
{
    const agg_support_law law = {50, 0.8, 0.03, 1};
    (void)state;
    for (double c = 0; c <= 50; c++) {
        double low = 0, high = 0, first = 0, last = 50;
        agg_exact_interval(&low, &high, &law, c, 0.05);
        while (first < 50 && agg_support_tail(&law, first, c, true) <= 0.025) first++;
        while (last > 0 && agg_support_tail(&law, last, c, false) <= 0.025) last--;
        // Beyond 0 and 50 the law goes on, so that the ends may lie there.
        if (low >= 0 && low <= 50 && low != first)
            fail_msg("%g supports: from %g for %g", c, low, first);
        if (high <= 50 && high >= 0 && high != last)
            fail_msg("%g supports: to %g for %g", c, high, last);
        double count = (c - 1.5) / 0.77;
        assert_true(low <= count && count <= high);
    }
}

static double coverage(const agg_intervals *intervals, double f)
{
    const agg_support_law *law = intervals->law;
    double sum = 0, gap = law->p - law->q;
    for (double c = 0; c <= law->n; c++) {
        double low = 0, high = 0, count = (c - law->n * law->q) / gap;
        double stderr_ = sqrt(agg_support_variance(law, count)) / gap;
        agg_intervals_of(&low, &high, intervals, count, 0, stderr_);
        if (low > f || high < f) continue;
        sum += agg_support_tail(law, f, c, false) -
               (c > 0 ? agg_support_tail(law, f, c - 1, false) : 0);
    }
    return sum;
}

// Every count of 0 to 40 of 200, at four chances of a foreign support and two of an own one. Normal
// intervals would cover 77 to 99 of 100 here.
static void small_counts_are_covered_by_enumeration(void **state)
{
    static const double hits[] = {0.1, 0.7, 3, 12}, ps[] = {0.5, 0.85}, levels[] = {0.05, 1e-4};
    double least = 1, most = 0;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < 16; i++) {
        agg_intervals intervals;
        const agg_support_law law = {200, ps[i % 2], hits[i / 4] / 200, 1};
        double level = levels[i / 2 % 2];
        assert_ok(agg_intervals_init(&intervals, &error, &law, level));
        for (int f = 0; f <= 40; f++) {
            double covered = coverage(&intervals, f);
            if (covered < 1 - level - 1e-12)
                fail_msg("n q %g, p %g, f %d: %.5f", hits[i / 4], law.p, f, covered);
            if (level < 0.05) continue;
            least = fmin(least, covered);
            most = fmax(most, covered);
        }
        agg_intervals_release(&intervals);
    }
    print_message("95 %% intervals cover from %.4f to %.4f\n", least, most);
    assert_true(least < 0.953); // they are as short as whole supports allow
}

// Shared rows stretch an interval, and picking adds to its square; large supports are normal.
static void wider_errors_give_wider_intervals(void **state)
{
    agg_error error;
    agg_support_law law = {1000, 0.5, 0.004, 1};
    double low = 0, high = 0, far_low = 0, far_high = 0, count = (9 - 4) / 0.496;
    agg_intervals intervals;
    (void)state;
    assert_ok(agg_intervals_init(&intervals, &error, &law, 0.05));
    agg_intervals_of(&low, &high, &intervals, count, 0, 5);
    agg_intervals_of(&far_low, &far_high, &intervals, count, 16, 7);
    double z2 = intervals.quantile * intervals.quantile;
    assert_true(fabs(far_low - (count - sqrt((count - low) * (count - low) + 16 * z2))) < 1e-9);
    assert_true(fabs(far_high - (count + sqrt((high - count) * (high - count) + 16 * z2))) < 1e-9);
    // A bound for rows of up to 700 is above the upper end of each of them.
    double bound = agg_intervals_highest(&intervals, 700, 0, 30);
    for (double c = 0; c < 350; c++) {
        double own = (c - 4) / 0.496;
        agg_intervals_of(&far_low, &far_high, &intervals, own, 0,
                         sqrt(agg_support_variance(&law, own)) / 0.496);
        assert_true(far_high <= bound);
    }
    agg_intervals_of(&far_low, &far_high, &intervals, 900, 0, 30); // variance 225
    assert_true(fabs(far_high - 900 - intervals.quantile * 30) < 1e-9);
    agg_intervals_release(&intervals);
    law.stretch = 1.5;
    agg_exact_interval(&far_low, &far_high, &law, 9, 0.05);
    assert_true(fabs((count - far_low) - 1.5 * (count - low)) < 1e-9);
    assert_true(fabs((far_high - count) - 1.5 * (high - count)) < 1e-9);
}

// 1,000 devices at epsilon 8.65 answer one of 1,000 values: what estimate says of each support.
static void estimate_has_exact_intervals(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_dictionary dictionary;
    agg_error error;
    agg_estimate estimate;
    agg_estimate_options options = {.confidence = 0, .multiple = AGG_BONFERRONI};
    (void)state;
    read_recipe(&recipe, "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
                         "\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":8.65,\"size\":1000},"
                         "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}");
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    for (uint32_t i = 0; i < 40; i++) acc.parts[0].cells.ones[i] = i / 4;
    acc.parts[0].cells.ones[40] = 820;
    acc.n = 1000;
    const char text[] = "0\n4\n8\n12\n16\n36\n40\n";
    assert_ok(agg_dictionary_parse(&dictionary, &error, &recipe, "values", text, sizeof text - 1,
                                   false, NULL, NULL));
    assert_ok(agg_estimate_run(&estimate, &error, &recipe, &acc, &dictionary, &options));
    assert_int_equal(estimate.n_rows, 7);
    // 1,001 answers, "none" among them.
    double e = exp(8.65), p = e / (e + 1000), q = 1 / (e + 1000);
    assert_true(fabs(estimate.law.p - p) < 1e-6 && fabs(estimate.law.q - q) < 1e-9);
    for (size_t i = 0; i < 7; i++) {
        const agg_estimate_row *row = &estimate.rows[i];
        double c = acc.parts[0].cells.ones[row->item], low = 0, high = 0;
        agg_exact_interval(&low, &high, &estimate.law, c, 0.05);
        print_message("%g supports: %.1f from %g to %g\n", c, row->raw, row->low, row->high);
        // The value of 820 has a variance above the limit only in the law of its own supports.
        if (agg_support_variance(&estimate.law, row->raw) <= AGG_SMALL_VARIANCE)
            assert_true(row->low == low && row->high == high);
        else
            assert_true(fabs(row->high - row->raw - 1.959964 * row->stderr_) < 1e-4);
        agg_exact_interval(&low, &high, &estimate.law, c, estimate.selection.level);
        if (agg_support_variance(&estimate.law, row->raw) <= AGG_SMALL_VARIANCE)
            assert_true(row->fcr_low == low && row->fcr_high == high);
    }
    agg_estimate_release(&estimate);
    agg_dictionary_release(&dictionary);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_are_sums_over_all_outcomes),
        cmocka_unit_test(ends_are_those_of_the_definition),
        cmocka_unit_test(small_counts_are_covered_by_enumeration),
        cmocka_unit_test(wider_errors_give_wider_intervals),
        cmocka_unit_test(estimate_has_exact_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
