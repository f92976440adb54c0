// SPDX-License-Identifier: Apache-2.0
// The law of a mean estimated from square waves, on fixed seeds: bias, variance, coverage; the law
// of one report in sums over all places. Devices draw their numbers afresh in every trial.
#include "agg_test.h"

#include <math.h>

#include "account.h"
#include "estimator.h"
#include "place_law.h"
#include "square_wave.h"

#define DEVICES 1500u
#define TRIALS 600u

static shoal_part part_of(double epsilon)
{
    shoal_part part = {.mechanism = shoal_square_wave_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = (uint32_t)lround(epsilon * 1e6)};
    const char *field;
    assert_ok(shoal_part_prepare(&part, &field));
    return part;
}

static agg_place_law law_of(const shoal_part *part)
{
    agg_place_law law;
    agg_place_law_of(&law, part, shoal_square_wave_steps(part));
    return law;
}

// Returns: the estimate of the mean of squares of uniform numbers.
static agg_count estimate_once(const shoal_part *part, unsigned trial)
{
    uint8_t seed[32] = {18, (uint8_t)trial, (uint8_t)(trial >> 8)};
    static uint8_t records[DEVICES][4];
    agg_sketch sketch;
    agg_error error;
    agg_count count;
    shoal_rng rng;
    const uint64_t item = 0;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DEVICES; i++) {
        double u = (double)(shoal_rng_u64(&rng) >> 11) * 0x1p-53;
        uint64_t fraction = (uint64_t)(u * u * 0x1p32);
        shoal_square_wave_mechanism.randomize(records[i], part, fraction, NULL, &rng);
    }
    assert_ok(agg_sketch_init(&sketch, &error, &(agg_shape){part->mechanism, part->k, part->m}));
    assert_ok(agg_square_wave_sketch.add(&sketch, &error, records[0], 4, DEVICES, 1));
    assert_ok(
        agg_square_wave_estimator.counts(&count, &error, part, &sketch, DEVICES, &item, 1, 1));
    agg_sketch_release(&sketch);
    return count;
}

static void check_means(double epsilon)
{
    shoal_part part = part_of(epsilon);
    agg_place_law law = law_of(&part);
    double noise = 0, cells = 4096, mean = 1.0 / 3, spread = 4.0 / 45;
    for (double i = 0; i < cells; i++) {
        double u = (i + 0.5) / cells;
        noise += agg_place_variance(&law, u * u) / cells;
    }
    double sd = sqrt((noise + spread) / DEVICES), off = 0, square = 0, stated = 0, covered = 0;
    const uint32_t n_trials = effort(TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        agg_count c = estimate_once(&part, trial);
        double error = c.count - mean;
        off += error / sd / TRIALS;
        square += error * error / (sd * sd) / TRIALS;
        stated += c.stderr_ / sd / TRIALS;
        covered += fabs(error) <= 1.959964 * c.stderr_ ? 1.0 / TRIALS : 0;
    }
    if (n_trials < TRIALS) return; // too few to judge
    // Standard errors over 600 independent trials: of the mean error 0.041, of the mean square
    // 0.058, of the coverage 0.009; 4 of each. The stated error moves by less than 8 % in a trial.
    if (fabs(off) > 4 * 0.041) fail_msg("epsilon %g: mean error is %g sigma", epsilon, off);
    if (fabs(square - 1) > 4 * 0.058) fail_msg("epsilon %g: mean square is %g", epsilon, square);
    if (fabs(stated - 1) > 0.015) fail_msg("epsilon %g: stated error is %g", epsilon, stated);
    if (fabs(covered - 0.95) > 4 * 0.009) fail_msg("epsilon %g: coverage %g", epsilon, covered);
}

static void means_follow_their_law(void **state)
{
    (void)state;
    check_means(0.5);
    check_means(2);
    check_means(6);
}

// One report: probabilities add up to 1, its worth is right on average, and the variance in closed
// form is that of the sums over all places. The account's variance is the largest of all numbers
// within 1 %.
static void one_report_is_worth_its_number(void **state)
{
    const double epsilons[] = {0.01, 0.6, 1, 2, 4, 8, 12, 16};
    (void)state;
    for (size_t e = 0; e < sizeof epsilons / sizeof epsilons[0]; e++) {
        shoal_part part = part_of(epsilons[e]);
        agg_place_law law = law_of(&part);
        double worst = 0;
        for (double u = 0; u <= 1; u += 1.0 / 1024) {
            double total = 0, mean = 0, square = 0;
            for (uint32_t place = 0; place < law.places; place++) {
                double p = agg_place_probability(&law, place, u),
                       worth = agg_place_worth(&law, place);
                total += p;
                mean += p * worth;
                square += p * (worth - u) * (worth - u);
            }
            double variance = agg_place_variance(&law, u), scale = fmax(1, variance);
            assert_true(fabs(total - 1) < 1e-12);
            assert_true(fabs(mean - u) < 1e-10 * scale);
            assert_true(fabs(variance - square) < 1e-9 * scale);
            worst = fmax(worst, variance);
        }
        double stated = agg_square_wave_account.variance(&part, 10, 5, 0) * 10;
        if (stated > worst * (1 + 1e-9) || stated < 0.99 * worst)
            fail_msg("epsilon %g: the account states %g of %g", epsilons[e], stated, worst);
    }
}

static void shapes(void **state)
{
    const uint32_t bad[][2] = {{0, 256}, {257, 513}, {16, 271}, {16, 273}};
    agg_sketch sketch;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(agg_sketch_init(&sketch, &error,
                                         &(agg_shape){shoal_square_wave_id, bad[i][0], bad[i][1]}),
                         SHOAL_ERR_RANGE);
    assert_ok(agg_sketch_init(&sketch, &error, &(agg_shape){shoal_square_wave_id, 16, 272}));
    assert_int_equal(sketch.n_cells, 272);
    agg_sketch_release(&sketch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_follow_their_law),
        cmocka_unit_test(one_report_is_worth_its_number),
        cmocka_unit_test(shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
