// SPDX-License-Identifier: Apache-2.0
// EM for two noisy variables: against a case with an answer in closed form, against the likelihood
// itself, and against what was drawn.
#include "agg_test.h"

#include <math.h>

#include "ngram_joint.h"
#include "rng.h"

// Without noise a report is in one cell, and the estimate is how often that cell came.
static void without_noise_cells_are_counted(void **state)
{
    static const float a[] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[] = {1, 0, 0, 1, 0, 1};
    static const uint32_t weights[] = {5, 3, 2};
    static const double expected[] = {0.5, 0, 0, 0.3, 0, 0.2};
    const agg_joint_reports reports = {3, 3, 2, a, b, weights};
    agg_joint_cell cells[6];
    agg_joint_summary summary;
    agg_error error;
    (void)state;
    assert_ok(agg_ngram_joint(cells, &summary, &error, &reports));
    assert_true(summary.has_converged);
    for (int i = 0; i < 6; i++) assert_true(fabs(cells[i].em - expected[i]) < 1e-9);
}

// Two coins that lie with probability e each: four kinds of reports with counts n_xy. Undoing the
// matrix of both coins gives the maximum of the likelihood when nothing of it is negative.
static void coins_have_a_closed_form(void **state)
{
    enum { E_PERCENT = 30 };
    const double e = E_PERCENT / 100.0, gap = 1 - 2 * e;
    static const uint32_t weights[] = {3400, 2300, 2100, 2200};
    float a[8], b[8];
    const agg_joint_reports reports = {4, 2, 2, a, b, weights};
    agg_joint_cell cells[4];
    agg_joint_summary summary;
    agg_error error;
    (void)state;
    for (int k = 0; k < 4; k++)
        for (int u = 0; u < 2; u++) {
            a[2 * k + u] = (float)(k / 2 == u ? 1 - e : e);
            b[2 * k + u] = (float)(k % 2 == u ? 1 - e : e);
        }
    assert_ok(agg_ngram_joint(cells, &summary, &error, &reports));
    assert_true(summary.has_converged);
    for (int u = 0; u < 2; u++)
        for (int v = 0; v < 2; v++) {
            double exact = 0, square = 0, n = 10000;
            for (int k = 0; k < 4; k++) {
                double weight =
                    ((k / 2 == u ? 1 - e : -e) / gap) * ((k % 2 == v ? 1 - e : -e) / gap);
                exact += weight * weights[k] / n;
                square += weight * weight * weights[k] / n;
            }
            const agg_joint_cell *cell = &cells[2 * u + v];
            // EM ends while steps still gain a thousandth, a few tenths of an error short at its
            // slow pace; the Newton step makes that good.
            double error_of_all = sqrt((square - exact * exact) / n);
            assert_true(fabs(cell->em - exact) < 0.4 * error_of_all);
            assert_true(fabs(cell->share - exact) < 0.1 * error_of_all);
            // With both margins kept there is one number left to estimate; its error is below that
            // of a cell alone.
            assert_true(cell->error > 0.3 * error_of_all && cell->error < 1.2 * error_of_all);
        }
}

typedef struct drawn {
    float *a, *b;
    uint32_t *weights;
    double truth[16];
} drawn;

enum { N = 4000, WIDE = 4 };

// Reports of 4 x 4 categories, one bit each, that lie with probability 0.25; the first category is
// likely with the first.
static void draw(drawn *d, uint8_t number)
{
    const uint8_t seed[32] = {number};
    static const double truth[16] = {0.3, 0, 0, 0.1, 0, 0.2, 0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.2};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    d->a = malloc(N * WIDE * sizeof *d->a);
    d->b = malloc(N * WIDE * sizeof *d->b);
    d->weights = malloc(N * sizeof *d->weights);
    assert_true(d->a != NULL && d->b != NULL && d->weights != NULL);
    memcpy(d->truth, truth, sizeof truth);
    for (size_t k = 0; k < N; k++) {
        double at = (double)shoal_rng_below(&rng, 1000000) / 1e6;
        uint32_t cell = 0;
        while (cell < 15 && at >= truth[cell]) at -= truth[cell++];
        d->weights[k] = 1;
        for (uint32_t u = 0; u < WIDE; u++) {
            uint64_t a_bit = (u == cell / WIDE) ^ (shoal_rng_below(&rng, 4) == 0);
            uint64_t b_bit = (u == cell % WIDE) ^ (shoal_rng_below(&rng, 4) == 0);
            d->a[k * WIDE + u] =
                a_bit ? 9 : 1; // odds of the bit under "it is u" and under "it is not"
            d->b[k * WIDE + u] = b_bit ? 9 : 1;
        }
    }
}

static double log_likelihood(const drawn *d, const double *p)
{
    double sum = 0;
    for (size_t k = 0; k < N; k++) {
        double s = 0;
        for (uint32_t c = 0; c < 16; c++)
            s += p[c] * (double)d->a[k * WIDE + c / WIDE] * (double)d->b[k * WIDE + c % WIDE];
        sum += log(s);
    }
    return sum;
}

static void nothing_near_is_likelier(void **state)
{
    (void)state;
    for (uint8_t number = 1; number <= 5; number++) {
        agg_joint_cell cells[16];
        agg_joint_summary summary;
        agg_error error;
        drawn d;
        double p[16], z = 0;
        draw(&d, number);
        const agg_joint_reports reports = {N, WIDE, WIDE, d.a, d.b, d.weights};
        assert_ok(agg_ngram_joint(cells, &summary, &error, &reports));
        assert_true(summary.has_converged);
        double sum = 0, best;
        for (int i = 0; i < 16; i++) {
            p[i] = cells[i].em;
            sum += p[i];
            assert_true(p[i] >= 0);
        }
        assert_true(fabs(sum - 1) < 1e-9);
        best = log_likelihood(&d, p);
        assert_true(fabs(best - summary.log_likelihood) < 1e-6 * fabs(best));
        assert_true(log_likelihood(&d, d.truth) < best);
        for (int i = 0; i < 16; i++) { // towards every cell alone
            double moved[16];
            for (int j = 0; j < 16; j++) moved[j] = 0.995 * p[j] + (i == j ? 0.005 : 0);
            assert_true(log_likelihood(&d, moved) < best + 0.1);
        }
        for (int i = 0; i < 16; i++) {
            double off = (cells[i].share - d.truth[i]) / cells[i].error;
            assert_true(fabs(off) < 5);
            z += off * off;
        }
        // 16 squares of about 1, a little more since errors leave the other cells aside; 5 sigma of
        // chi square of 9 free numbers.
        assert_in_range((int)z, 2, 16 * 3);
        free(d.a);
        free(d.b);
        free(d.weights);
    }
}

// A record that came often counts as often as it came, and no report is no reason to fail.
static void weights_and_nothing(void **state)
{
    static const float a[] = {3, 1, 1, 2, 3, 1}, b[] = {1, 2, 4, 1, 1, 2};
    static const uint32_t twice[] = {2, 5}, thrice[] = {1, 5, 1};
    const agg_joint_reports few = {2, 2, 2, a, b, twice}, all = {3, 2, 2, a, b, thrice},
                            none = {0, 2, 2, a, b, twice};
    agg_joint_cell x[4], y[4];
    agg_error error;
    (void)state;
    assert_ok(agg_ngram_joint(x, NULL, &error, &few));
    assert_ok(agg_ngram_joint(y, NULL, &error, &all));
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(x[i].em - y[i].em) < 1e-9);
        assert_true(fabs(x[i].error - y[i].error) < 1e-9);
    }
    assert_ok(agg_ngram_joint(x, NULL, &error, &none));
    for (int i = 0; i < 4; i++) assert_true(fabs(x[i].em - 0.25) < 1e-12 && isinf(x[i].error));
}

// Likelihoods from 1 down to 1e-38 and 0, as mechanisms of almost no noise give them, and one
// report a million times as often as another: steps lengthen there until powers overflow. Shares
// stay shares, every report stays possible, and the likelihood that is said is theirs.
static void extreme_likelihoods_stay_numbers(void **state)
{
    (void)state;
    static const uint8_t seed[32] = {21};
    enum { MOST = 12 };
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 6000; i++) {
        uint32_t n_a = 1 + (uint32_t)shoal_rng_below(&rng, MOST),
                 n_b = 1 + (uint32_t)shoal_rng_below(&rng, MOST);
        size_t n = 1 + (size_t)shoal_rng_below(&rng, MOST);
        float a[MOST * MOST], b[MOST * MOST];
        uint32_t weights[MOST];
        agg_joint_cell cells[MOST * MOST];
        agg_joint_summary summary;
        agg_error error;
        for (size_t k = 0; k < n; k++) {
            weights[k] = 1 + (uint32_t)pow(10, (double)shoal_rng_below(&rng, 7));
            for (int side = 0; side < 2; side++) {
                uint32_t width = side == 0 ? n_a : n_b;
                float *row = side == 0 ? a + k * n_a : b + k * n_b;
                for (uint32_t u = 0; u < width; u++)
                    row[u] =
                        shoal_rng_below(&rng, 2) ? 0 : powf(10, -(float)shoal_rng_below(&rng, 38));
                row[shoal_rng_below(&rng, width)] = 1;
            }
        }
        const agg_joint_reports reports = {n, n_a, n_b, a, b, weights};
        assert_ok(agg_ngram_joint(cells, &summary, &error, &reports));
        double sum = 0, log_likelihood = 0;
        for (uint32_t c = 0; c < n_a * n_b; c++) {
            sum += cells[c].em;
            assert_true(cells[c].em >= 0 && isfinite(cells[c].share) && cells[c].error >= 0);
        }
        for (size_t k = 0; k < n; k++) {
            double s = 0;
            for (uint32_t c = 0; c < n_a * n_b; c++)
                s += cells[c].em * (double)a[k * n_a + c / n_b] * (double)b[k * n_b + c % n_b];
            log_likelihood += weights[k] * log(s);
        }
        assert_true(fabs(sum - 1) < 1e-9);
        assert_true(fabs(log_likelihood - summary.log_likelihood) <
                    1e-9 * fabs(log_likelihood) + 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(without_noise_cells_are_counted),
                                       cmocka_unit_test(coins_have_a_closed_form),
                                       cmocka_unit_test(extreme_likelihoods_stay_numbers),
                                       cmocka_unit_test(nothing_near_is_likelier),
                                       cmocka_unit_test(weights_and_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
