// SPDX-License-Identifier: Apache-2.0
// The covariance of joint tables: against closed forms, where the data say nothing, at the
// boundary; and the coverage of its intervals.
#include <math.h>

#include "agg_test.h"
#include "dense.h"
#include "joint_covariance.h"
#include "joint_draws.h"
#include "joint_em.h"
#include "joint_tables.h"

static void near(double is, double ought, double tolerance)
{
    if (!(fabs(is - ought) <= tolerance)) fail_msg("%.17g instead of %.17g", is, ought);
}

// Answers of two variables with m and n categories, every pair (i, j) given counts[i * n + j]
// times; first[i * m + c] is how likely answer i is under category c, likewise `second`.
static void answers(agg_joint_data *data, const double *first, size_t m, const double *second,
                    size_t n, const uint32_t *counts)
{
    double *tables[2] = {malloc(m * n * m * sizeof(double)), malloc(m * n * n * sizeof(double))};
    agg_error error;
    assert_non_null(tables[0]);
    assert_non_null(tables[1]);
    for (size_t i = 0; i < m * n; i++) {
        memcpy(tables[0] + i * m, first + i / n * m, m * sizeof(double));
        memcpy(tables[1] + i * n, second + i % n * n, n * sizeof(double));
    }
    const uint32_t sizes[2] = {(uint32_t)m, (uint32_t)n};
    assert_ok(
        joint_data_of_tables(data, &error, (const double *const *)tables, sizes, 2, counts, m * n));
    free(tables[0]);
    free(tables[1]);
}

static void estimate(double *p, const agg_joint_data *data)
{
    agg_error error;
    agg_joint_em_result result;
    agg_joint_em_options options = agg_joint_em_defaults();
    options.gain = 1e-15;
    options.iterations_max = 100000;
    assert_ok(agg_joint_em(p, &result, &error, data, &options));
    assert_true(result.has_converged);
}

static const double identity3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, identity2[4] = {1, 0, 0, 1};
static const uint32_t counts6[6] = {310, 120, 80, 190, 55, 245};

// Without noise the estimate is the table itself and its covariance the multinomial law's: (diag p
// - p p') / N.
static void is_multinomial_without_noise(void **state)
{
    double p[6];
    agg_joint_data data;
    agg_joint_covariance c;
    agg_joint_share shares[6];
    agg_error error;
    (void)state;
    answers(&data, identity3, 3, identity2, 2, counts6);
    for (int i = 0; i < 6; i++) p[i] = counts6[i] / 1000.0;
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 2));
    assert_int_equal(c.rank, 5);
    assert_int_equal(c.n_free, 5);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            near(c.matrix[6 * i + j], ((i == j) * p[i] - p[i] * p[j]) / 1000, 1e-16);
    agg_joint_cells(shares, &c, 0.95);
    near(shares[1].stderr_, sqrt(0.12 * 0.88 / 1000), 1e-15);
    near(shares[1].low, 0.12 - 1.959963984540054 * shares[1].stderr_, 1e-15);
    near(shares[1].high, 0.12 + 1.959963984540054 * shares[1].stderr_, 1e-15);
    assert_ok(agg_joint_marginal(shares, &error, &c, 0, 0.9));
    near(shares[2].p, 0.3, 1e-15);
    near(shares[2].stderr_, sqrt(0.3 * 0.7 / 1000), 1e-15);
    near(shares[2].high, 0.3 + 1.6448536269514722 * shares[2].stderr_, 1e-15);
    assert_ok(agg_joint_marginal(shares, &error, &c, 1, 0.9));
    near(shares[1].p, 0.555, 1e-15);
    near(shares[1].stderr_, sqrt(0.555 * 0.445 / 1000), 1e-15);
    // A rate is then a proportion of its own row: 190 of 270.
    assert_ok(agg_joint_rates(shares, &error, &c, 0, 1, 0.95));
    near(shares[3].p, 190 / 270.0, 1e-15);
    near(shares[3].stderr_, sqrt(190.0 * 80 / 270 / 270 / 270), 1e-15);
    // The ends of its interval are where a - r b is z errors off 0: a = 0.19, b = 0.27, of the
    // multinomial law.
    for (int end = 0; end < 2; end++) {
        double r = end == 0 ? shares[3].low : shares[3].high, off = 0.19 - r * 0.27,
               z = 1.959963984540054;
        near(off * off, z * z / 1000 * (0.19 * 0.81 - 2 * r * 0.19 * 0.73 + r * r * 0.27 * 0.73),
             1e-15);
        near(r, 190 / 270.0, 2.1 * shares[3].stderr_);
    }
    assert_true(shares[3].low < shares[3].p && shares[3].p < shares[3].high);
    assert_ok(agg_joint_rates(shares, &error, &c, 1, 0, 0.95));
    near(shares[5].p, 245 / 555.0, 1e-15);
    near(shares[5].stderr_, sqrt(245.0 * 310 / 555 / 555 / 555), 1e-15);
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
}

// Three answers to three categories and two to two: the estimate inside is A^-1 of the answers'
// shares l, A the product of both tables, and its covariance A^-1 (diag l - l l') A^-T / N,
// whatever made it.
static void agrees_with_the_linear_estimate(void **state)
{
    static const double first[9] = {0.6, 0.2, 0.1, 0.3, 0.7, 0.2, 0.1, 0.1, 0.7},
                        second[4] = {0.8, 0.3, 0.2, 0.7};
    static const uint32_t counts[6] = {2300, 1900, 2500, 2100, 1500, 1800};
    double a[36], inverse[36], p[6], l[6], n = 12100, normal[36];
    agg_joint_data data;
    agg_joint_covariance c;
    agg_error error;
    size_t rank;
    (void)state;
    answers(&data, first, 3, second, 2, counts);
    estimate(p, &data);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            a[6 * i + j] = first[i / 2 * 3 + j / 2] * second[i % 2 * 2 + j % 2];
    // A^-1 = (A'A)^-1 A'
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            normal[6 * i + j] = 0;
            for (int k = 0; k < 6; k++) normal[6 * i + j] += a[6 * k + i] * a[6 * k + j];
        }
    assert_ok(agg_dense_pseudo_inverse(inverse, NULL, &rank, &error, normal, 6));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            normal[6 * i + j] = 0;
            for (int k = 0; k < 6; k++) normal[6 * i + j] += inverse[6 * i + k] * a[6 * j + k];
        }
    for (int i = 0; i < 6; i++) l[i] = counts[i] / n;
    for (int i = 0; i < 6; i++) {
        double linear = 0;
        for (int k = 0; k < 6; k++) linear += normal[6 * i + k] * l[k];
        assert_true(linear > 0.01); // inside
        near(p[i], linear, 1e-6);
    }
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 1));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double ought = 0, left = 0, right = 0;
            for (int k = 0; k < 6; k++) {
                ought += normal[6 * i + k] * l[k] * normal[6 * j + k];
                left += normal[6 * i + k] * l[k];
                right += normal[6 * j + k] * l[k];
            }
            near(c.matrix[6 * i + j] * n, ought - left * right,
                 1e-4); // elements of about 1; the estimate is exact to 1e-6
        }
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
}

// 2 x 3 x 2 categories seen through noise: the information against the sum as it is written, with 1
// and 5 threads.
static void sums_any_number_of_variables(void **state)
{
    enum { RECORDS = 200 };
    static const uint32_t sizes[3] = {2, 3, 2};
    static double tables[3][RECORDS * 3];
    uint32_t counts[RECORDS];
    double p[12], j1[144], j5[144], plain[144] = {0}, total = 0;
    const double *given[3] = {tables[0], tables[1], tables[2]};
    agg_joint_data data;
    agg_error error;
    uint64_t seed = 5;
    (void)state;
    for (int v = 0; v < 3; v++)
        for (uint32_t i = 0; i < RECORDS * sizes[v]; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            tables[v][i] =
                0.1 + (double)(seed >> 62); // few different rows, so that tuples share them
        }
    for (int i = 0; i < RECORDS; i++) counts[i] = 1 + (uint32_t)i % 3;
    for (int i = 0; i < 12; i++) total += p[i] = i + 1;
    for (int i = 0; i < 12; i++) p[i] /= total;
    assert_ok(joint_data_of_tables(&data, &error, given, sizes, 3, counts, RECORDS));
    assert_true(data.n_tuples < RECORDS);
    for (int k = 0; k < RECORDS; k++) {
        double likelihood[12], chance = 0;
        for (int i = 0; i < 12; i++) {
            likelihood[i] =
                tables[0][k * 2 + i / 6] * tables[1][k * 3 + i / 2 % 3] * tables[2][k * 2 + i % 2];
            chance += p[i] * likelihood[i];
        }
        for (int i = 0; i < 144; i++)
            plain[i] += counts[k] * likelihood[i / 12] * likelihood[i % 12] / (chance * chance);
    }
    assert_ok(agg_joint_information(j1, &error, &data, p, 1));
    assert_ok(agg_joint_information(j5, &error, &data, p, 5));
    for (int i = 0; i < 144; i++) near(j1[i] / plain[i], 1, 1e-13);
    assert_memory_equal(j1, j5, sizeof j1);

    // Marginals and rates of a middle variable against sums over the covariance.
    agg_joint_covariance c;
    agg_joint_share shares[6];
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 3));
    double a = 0, aa = 0, ab = 0, bb = 0, b = 0;
    for (int i = 0; i < 12; i++) {
        int in_b = i / 2 % 3 == 2,
            in_a = in_b && i % 2 == 1; // of category 2 of the second variable, 1 of the third
        a += in_a * p[i];
        b += in_b * p[i];
        for (int k = 0; k < 12; k++) {
            int also_b = k / 2 % 3 == 2, also_a = also_b && k % 2 == 1;
            aa += in_a * also_a * c.matrix[12 * i + k];
            ab += in_a * also_b * c.matrix[12 * i + k];
            bb += in_b * also_b * c.matrix[12 * i + k];
        }
    }
    assert_ok(agg_joint_marginal(shares, &error, &c, 1, 0.95));
    near(shares[2].p, b, 1e-15);
    near(shares[2].stderr_, sqrt(bb), 1e-12);
    assert_ok(agg_joint_rates(shares, &error, &c, 1, 2, 0.95));
    near(shares[5].p, a / b, 1e-15);
    near(shares[5].stderr_, sqrt(aa - 2 * a / b * ab + a / b * a / b * bb) / b, 1e-12);
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
}

// Two categories of the first variable that no answer tells apart: their cells have no error that
// could be stated; all else has.
static void says_what_it_cannot_know(void **state)
{
    static const double first[9] = {0.7, 0.2, 0.2, 0.3, 0.8, 0.8, 0, 0, 0},
                        second[4] = {0.8, 0.3, 0.2, 0.7};
    static const uint32_t counts[4] = {2300, 1900, 2500, 2100};
    const uint32_t sizes[2] = {3, 2};
    double p[6], tables[2][12];
    const double *given[2] = {tables[0], tables[1]};
    agg_joint_data data;
    agg_joint_covariance c;
    agg_joint_share shares[6];
    agg_error error;
    (void)state;
    for (int i = 0; i < 4; i++) {
        memcpy(tables[0] + 3 * i, first + i / 2 * 3, 3 * sizeof(double));
        memcpy(tables[1] + 2 * i, second + i % 2 * 2, 2 * sizeof(double));
    }
    assert_ok(joint_data_of_tables(&data, &error, given, sizes, 2, counts, 4));
    estimate(p, &data);
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 1));
    assert_int_equal(c.n_free, 5);
    assert_int_equal(c.rank, 3);
    agg_joint_cells(shares, &c, 0.95);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(isinf(shares[i].stderr_) != 0, i >= 2);
        if (i >= 2) assert_true(shares[i].low == 0 && shares[i].high == 1);
    }
    assert_ok(agg_joint_marginal(shares, &error, &c, 0, 0.95));
    assert_true(isfinite(shares[0].stderr_) && isinf(shares[1].stderr_) &&
                isinf(shares[2].stderr_));
    double error_of_first = shares[0].stderr_, l = 4200 / 8800.0;
    near(error_of_first, sqrt(l * (1 - l) / 8800) / 0.5,
         1e-6); // a coin that says yes with 0.7 or 0.2
    assert_ok(agg_joint_marginal(shares, &error, &c, 1, 0.95));
    assert_true(isfinite(shares[0].stderr_) && isfinite(shares[1].stderr_));
    assert_ok(agg_joint_rates(shares, &error, &c, 0, 1, 0.95));
    assert_true(isfinite(shares[0].stderr_) && isinf(shares[2].stderr_));
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
}

// A category that nobody has: rates given it do not exist, and its cells may still be what their
// intervals say.
static void keeps_empty_categories_honest(void **state)
{
    static const double first[9] = {0.6, 0.2, 0.2, 0.2, 0.6, 0.2, 0.2, 0.2, 0.6},
                        second[4] = {0.8, 0.2, 0.2, 0.8};
    static const uint32_t counts[6] = {
        3000, 3000, 3000, 3000, 1500, 1500}; // fewer of the third answer than noise alone sends
    double p[6];
    agg_joint_data data;
    agg_joint_covariance c;
    agg_joint_share cells[6], rates[6], marginal[3];
    agg_error error;
    (void)state;
    answers(&data, first, 3, second, 2, counts);
    estimate(p, &data);
    p[0] += p[4] + p[5];
    p[4] = p[5] = 0; // EM comes near it only
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 1));
    assert_int_equal(c.rank, 5);
    agg_joint_cells(cells, &c, 0.95);
    assert_ok(agg_joint_marginal(marginal, &error, &c, 0, 0.95));
    assert_ok(agg_joint_rates(rates, &error, &c, 0, 1, 0.95));
    for (int i = 4; i < 6; i++) {
        assert_true(cells[i].p == 0 && cells[i].low == 0);
        assert_true(cells[i].high > 0.005 &&
                    cells[i].high < 0.05); // 15,000 answers, most of them noise
        assert_true(isnan(rates[i].p) && isinf(rates[i].stderr_) && rates[i].low == 0 &&
                    rates[i].high == 1);
    }
    assert_true(marginal[2].p == 0 && marginal[2].high > 0.005 && marginal[2].high < 0.05);
    for (int i = 0; i < 4; i++)
        assert_true(rates[i].low < rates[i].p && rates[i].p < rates[i].high);
    agg_joint_covariance_release(&c);

    // A share of the given category within its own error of 0: the rate could be anything.
    for (int i = 0; i < 4; i++) p[i] *= 0.998;
    p[4] = p[5] = 0.001;
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 1));
    assert_ok(agg_joint_rates(rates, &error, &c, 0, 1, 0.95));
    near(rates[4].p, 0.5, 1e-12);
    assert_true(rates[4].low == 0 && rates[4].high == 1 && rates[4].stderr_ > 0.5);
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
}

static void refuses_what_has_no_answer(void **state)
{
    static const uint32_t none[6] = {0};
    double p[6] = {0.5, 0.5, 0, 0, 0, 0};
    agg_joint_data data;
    agg_joint_covariance c;
    agg_error error;
    (void)state;
    answers(&data, identity3, 3, identity2, 2, counts6);
    assert_err(agg_joint_covariance_make(&c, &error, &data, p, 2), SHOAL_ERR_RANGE);
    assert_non_null(strstr(error.text, "impossible"));
    agg_joint_data_release(&data);
    answers(&data, identity3, 3, identity2, 2, none);
    assert_err(agg_joint_covariance_make(&c, &error, &data, p, 2), SHOAL_ERR_RANGE);
    agg_joint_data_release(&data);
}

// Table 1 of the paper in percent: five named values of each variable and Other, here of `size`
// values by Zipf's law.
static const double table1[36] = {3.567, 2.937, 2.468, 1.952, 1.639, 6.436, 2.984, 2.432, 1.967,
                                  1.581, 1.289, 5.362, 2.473, 1.991, 1.609, 1.223, 1.025, 4.343,
                                  1.881, 1.569, 1.293, 1.069, 0.874, 3.499, 1.625, 1.292, 1.080,
                                  0.892, 0.662, 2.836, 6.380, 5.292, 4.311, 3.495, 2.809, 11.863};

static double *paper_table(uint32_t size)
{
    double *table = malloc(sizeof(double) * size * size), rest = 0;
    assert_non_null(table);
    for (uint32_t i = 5; i < size; i++) rest += 1.0 / (i + 1);
    for (uint32_t i = 0; i < size; i++)
        for (uint32_t j = 0; j < size; j++)
            table[i * size + j] = table1[(i < 5 ? i : 5) * 6 + (j < 5 ? j : 5)] *
                                  (i < 5 ? 1 : 1.0 / (i + 1) / rest) *
                                  (j < 5 ? 1 : 1.0 / (j + 1) / rest);
    return table;
}

// Counts the intervals of cells that hold the truth, and sums the squares of errors over standard
// errors.
static uint32_t covered(double *squares, const joint_world *world, const double *table,
                        const double *truth, uint64_t n, uint64_t seed, const uint32_t named[2],
                        int has_other)
{
    double p[36];
    uint32_t n_covered = 0;
    agg_joint_data data;
    agg_joint_covariance c;
    agg_joint_share shares[36];
    agg_error error;
    agg_joint_em_result result;
    agg_joint_em_options options = agg_joint_em_defaults();
    options.n_threads = 2;
    assert_ok(joint_draws_data(&data, &error, world, table, n, seed, named, has_other, 2));
    assert_ok(agg_joint_em(p, &result, &error, &data, &options));
    assert_true(result.has_converged);
    assert_ok(agg_joint_covariance_make(&c, &error, &data, p, 2));
    agg_joint_cells(shares, &c, 0.95);
    for (uint32_t i = 0; i < data.n_cells; i++) {
        n_covered += shares[i].low <= truth[i] && truth[i] <= shares[i].high;
        *squares += (p[i] - truth[i]) * (p[i] - truth[i]) / (shares[i].stderr_ * shares[i].stderr_);
    }
    agg_joint_covariance_release(&c);
    agg_joint_data_release(&data);
    return n_covered;
}

// Tables 1 and 2 at a fifth of the paper's reports; with SHOAL_LONG as in the paper (100 values
// each, N = 100,000): 40 seeds, and 200 others in each step of a campaign.
static void intervals_cover(void **state)
{
    bool is_long = !EFFORT_SANITIZED && effort_is_long();
    uint32_t size = is_long ? 100 : 20, n_covered = 0;
    const uint32_t n_seeds = effort_of_campaign(200, effort(40, 20, 20));
    const uint64_t first = 1000 * effort_seed(0) + 1;
    const uint32_t sizes[2] = {size, size}, named[2] = {5, 5};
    double truth[36], squares = 0, *table = paper_table(size), total = 0, all;
    joint_world world;
    agg_error error;
    (void)state;
    for (int i = 0; i < 36; i++) total += table1[i];
    for (int i = 0; i < 36; i++) truth[i] = table1[i] / total;
    assert_ok(joint_world_make(&world, &error, is_long ? "rappor" : "onehot-symmetric", sizes,
                               3)); // the same law, sooner
    for (uint64_t seed = first; seed < first + n_seeds; seed++)
        n_covered +=
            covered(&squares, &world, table, truth, is_long ? 100000 : 20000, seed, named, 1);
    all = 36.0 * n_seeds;
    // 720 intervals, cells of one table nearly independent: 0.95 +- 3.7 of 0.008. Of 1,440: 0.02 is
    // 3.5 of 0.0057, and 91.7 % are found in 99 of 100 runs. Of 7,200: 7.8 of 0.0026.
    double width = is_long ? 0.02 : 0.03;
    if (!(fabs(n_covered / all - 0.95) <= width)) fail_msg("%u of %g", n_covered, all);
    // Squared errors over their variances: mean 1, give or take sqrt(2/all): 0.05 of 720, 0.037 of
    // 1,440, 0.017 of 7,200.
    if (!(fabs(squares / all - 1) <= (n_seeds == 200 ? 0.08 : is_long ? 0.14 : 0.2)))
        fail_msg("mean square %g", squares / all);

    // Without Other its reports are taken for the five values: of 25 shares among themselves most
    // are off, the large ones too small.
    double inside = 0, sum = 0;
    for (int i = 0; i < 25; i++) inside += truth[i / 5 * 6 + i % 5];
    double among[25];
    for (int i = 0; i < 25; i++) among[i] = truth[i / 5 * 6 + i % 5] / inside;
    n_covered = covered(&sum, &world, table, among, 100000, 1, named, 0);
    if (!(n_covered <= 20 && sum > 50))
        fail_msg("%u covered without Other, sum of squares %g", n_covered, sum);
    free(table);
    joint_world_release(&world);
}

// 3 x 3 cells of which four are empty or nearly: half of the estimates are cut at 0. Intervals must
// cover at least as often as they say.
static void intervals_cover_at_the_boundary(void **state)
{
    static const double table[9] = {0.5, 0, 0, 0.001, 0.3, 0, 0.002, 0, 0.197};
    const uint32_t sizes[2] = {3, 3}, n_seeds = 100;
    uint32_t n_covered = 0;
    double squares = 0;
    joint_world world;
    agg_error error;
    (void)state;
    assert_ok(joint_world_make(&world, &error, "grr", sizes, 1.5));
    for (uint64_t seed = 1; seed <= n_seeds; seed++)
        n_covered += covered(&squares, &world, table, table, 5000, seed, sizes, 0);
    // 900 intervals at 0.95: 855, give or take 7.
    if (!(n_covered >= 834)) fail_msg("%u of 900", n_covered);
    joint_world_release(&world);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_multinomial_without_noise),
                                       cmocka_unit_test(agrees_with_the_linear_estimate),
                                       cmocka_unit_test(sums_any_number_of_variables),
                                       cmocka_unit_test(says_what_it_cannot_know),
                                       cmocka_unit_test(keeps_empty_categories_honest),
                                       cmocka_unit_test(refuses_what_has_no_answer),
                                       cmocka_unit_test(intervals_cover),
                                       cmocka_unit_test(intervals_cover_at_the_boundary)};
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
