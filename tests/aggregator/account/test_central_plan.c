// SPDX-License-Identifier: Apache-2.0
// Plans under a central promise: what is chosen keeps it and a little more epsilon does not, and
// the noise of a trusted server is that of its definition.
#include "agg_test.h"

#include <math.h>

#include "amplification.h"
#include "central_plan.h"

static agg_error error;

static agg_plan_wish wish_of(uint32_t size, double devices)
{
    return (agg_plan_wish){.devices = devices,
                           .per_day = 1,
                           .days = 1,
                           .size = size,
                           .law = agg_value_law_zipf(1.2, size > 0 ? size : 1000),
                           .asked = size > 0 ? size : 1000,
                           .confidence = 0.95,
                           .id = "planned"};
}

static bool is_kept(uint32_t mechanism, const agg_plan_wish *wish, double epsilon,
                    const agg_central_promise *promise)
{
    agg_plan_wish own = *wish;
    agg_plan_candidate found = {.mechanism = NULL};
    agg_pair_law law;
    bool kept = false;
    own.mechanism = mechanism;
    own.eps_micro = (uint32_t)(epsilon * 1e6);
    assert_ok(agg_plan_best(&found, &error, &own));
    assert_non_null(found.mechanism);
    agg_pair_law_of_part(&law, &found.part);
    const agg_crowd crowd = {epsilon, promise->reports, promise->delta, 1, &law};
    assert_ok(agg_crowd_keeps(&kept, &error, &crowd, AGG_BOUND_BLANKET, promise->epsilon));
    return kept;
}

static double error_of(const agg_plan_wish *wish)
{
    agg_plan_candidate found = {.mechanism = NULL};
    assert_ok(agg_plan_best(&found, &error, wish));
    return found.error;
}

// The headline: at central (0.1, 1e-8) a million devices with a list of a thousand.
static void comes_near_a_trusted_server(void **state)
{
    agg_plan_wish wish = wish_of(1000, 1e6);
    agg_central_promise promise = {.epsilon = 0.1, .delta = 1e-8, .reports = 1e6};
    (void)state;
    assert_ok(agg_central_plan_choose(&wish, &promise, &error));
    double local = wish.eps_micro / 1e6;
    print_message("%s at epsilon %g: %.4g, Laplace %.4g, Gaussian %.4g\n",
                  shoal_mechanism_by_id(wish.mechanism)->name, local, error_of(&wish),
                  promise.laplace, promise.gaussian);
    assert_true(is_kept(wish.mechanism, &wish, local, &promise));
    assert_false(is_kept(wish.mechanism, &wish, local * 1.005, &promise));
    assert_true(fabs(promise.laplace - 28.3) < 0.05 && fabs(promise.gaussian - 65.0) < 0.05);
    assert_true(error_of(&wish) < 66);
}

static void the_choice_is_the_least_error(void **state)
{
    static const char *const names[] = {"grr", "subset", "olh", "onehot-asymmetric", "hadamard"};
    agg_plan_wish wish = wish_of(50, 20000), best = wish;
    agg_central_promise promise = {.epsilon = 0.5, .delta = 1e-6, .reports = 10000};
    (void)state;
    assert_ok(agg_central_plan_choose(&best, &promise, &error));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        agg_plan_wish one = wish;
        one.mechanism = shoal_mechanism_by_name(names[i], strlen(names[i]))->id;
        uint32_t mechanism = one.mechanism;
        assert_ok(agg_central_plan_choose(&one, &promise, &error));
        assert_int_equal(one.mechanism, mechanism);
        assert_true(error_of(&one) >= error_of(&best) * (1 - 1e-9));
    }
}

static void noise_is_that_of_its_definition(void **state)
{
    (void)state;
    for (double epsilon = 0.05; epsilon < 6; epsilon *= 2.3) {
        double t = 2 / epsilon, sum = 0, squares = 0;
        for (int y = -20000; y <= 20000; y++) {
            sum += exp(-abs(y) / t);
            squares += (double)y * y * exp(-abs(y) / t);
        }
        assert_true(fabs(agg_laplace_noise(epsilon, 2) / sqrt(squares / sum) - 1) < 1e-6);
        for (double delta = 1e-12; delta < 1e-2; delta *= 300) {
            double sigma = agg_gaussian_noise(epsilon, delta, 1.5), exact = 0, step = sigma / 500;
            for (double x = -15 * sigma; x < 15 * sigma; x += step) {
                double p = exp(-(x - 1.5) * (x - 1.5) / (2 * sigma * sigma)),
                       q = exp(-x * x / (2 * sigma * sigma));
                exact += fmax(0, p - exp(epsilon) * q) * step / (sigma * sqrt(2 * acos(-1)));
            }
            if (fabs(exact / delta - 1) > 1e-3)
                fail_msg("epsilon %g delta %g: %g", epsilon, delta, exact);
        }
    }
}

static void what_nobody_makes_is_refused(void **state)
{
    agg_plan_wish wish = wish_of(1000, 1e6);
    agg_central_promise promise = {.epsilon = 0.1, .delta = 1e-8, .reports = 1e6};
    (void)state;
    wish.mechanism = shoal_mechanism_by_name("one-bit-mean", 12)->id;
    assert_err(agg_central_plan_choose(&wish, &promise, &error), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "central epsilon of 0.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_near_a_trusted_server),
        cmocka_unit_test(the_choice_is_the_least_error),
        cmocka_unit_test(noise_is_that_of_its_definition),
        cmocka_unit_test(what_nobody_makes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
