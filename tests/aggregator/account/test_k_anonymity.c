// SPDX-License-Identifier: Apache-2.0
// Approximate k-anonymity: the paper's setting as Lemma 1 has it, the law by enumeration on a small
// case, monotony.
#include <math.h>

#include "agg_test.h"
#include "amplification.h"
#include "binomial.h"
#include "k_anonymity.h"

#define CONTRIBUTIONS 3e7 // gboard-2024 section 4.1: 5 * 10^5 devices with 60 each
#define PREFIXES 1e4
#define CHARACTERS 100

static void gboards_setting(agg_anonymity *a)
{
    agg_anonymity_of(a, CONTRIBUTIONS, PREFIXES * CHARACTERS + 1, 10);
}

static void gboards_sets_have_46_indices(void **state)
{
    (void)state;
    agg_anonymity a;
    gboards_setting(&a);
    assert_true(a.d == 46);
    assert_true(fabs(a.p - 0.5033) < 1e-4);
    assert_true(fabs(a.q - 4.5497e-5) < 1e-9);
}

// Section 4.1 states k = 45 at alpha = 0.95. The lemma as printed gives none, and its two
// neighbours do not give 45.
static void lemma_1_as_printed_gives_gboard_no_k(void **state)
{
    (void)state;
    agg_anonymity a;
    gboards_setting(&a);
    assert_true(agg_anonymity_k(&a, agg_anonymity_tau(&a, PREFIXES, 2), 0.95) ==
                AGG_ANONYMITY_NONE);
    assert_true(agg_anonymity_k(&a, agg_anonymity_tau(&a, PREFIXES, 1), 0.95) == 18);
    assert_true(agg_anonymity_k(&a, agg_anonymity_tau(&a, PREFIXES, 0), 0.95) == 79);
}

// Theorem 2 at the same setting: the published 0.315 by the clones bound, evaluated exactly; the
// closed form; the stronger bound.
static void theorem_2_of_gboards_setting(void **state)
{
    (void)state;
    agg_crowd crowd = {10, CONTRIBUTIONS, 1e-10, 1, NULL};
    agg_central central;
    agg_error error;
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_CLONES, true));
    assert_true(fabs(central.upper - 0.3075) < 1e-4);
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_CLOSED_FORM, true));
    assert_true(fabs(central.upper - 0.565) < 1e-3);
    assert_ok(agg_crowd_epsilon(&central, &error, &crowd, AGG_BOUND_STRONGER, true));
    assert_true(central.upper < 0.3075 && central.upper > 0.1);
}

// P(f(k) >= tau) of 3 + 4 contributions by all outcomes of seven coins.
static void chance_is_that_of_all_outcomes(void **state)
{
    (void)state;
    const agg_anonymity a = {7, 20, 4, 0.6, 0.15};
    for (int tau = 0; tau <= 8; tau++) {
        double wanted = 0;
        for (unsigned coins = 0; coins < 128; coins++) {
            double chance = 1;
            int votes = 0;
            for (int i = 0; i < 7; i++) {
                double p = i < 3 ? a.p : a.q;
                votes += (int)(coins >> i & 1);
                chance *= coins >> i & 1 ? p : 1 - p;
            }
            if (votes >= tau) wanted += chance;
        }
        assert_true(fabs(agg_anonymity_chance(&a, 3, tau) - wanted) < 1e-12);
    }
}

// tau is where max_prefixes indices are expected, and k the last that is kept seldom enough.
static void tau_and_k_are_the_last_that_hold(void **state)
{
    (void)state;
    for (double less = 0; less <= 1; less++) {
        agg_anonymity a;
        agg_anonymity_of(&a, 1e5, 30001, 4);
        double tau = agg_anonymity_tau(&a, 300, less), k = agg_anonymity_k(&a, tau, 0.9),
               c = (a.d - less) / (a.s - 1);
        agg_binomial law = {a.n, c, 1 - c};
        assert_true((a.s - 1) * agg_binomial_upper(tau, &law) >= 300);
        assert_true((a.s - 1) * agg_binomial_upper(tau + 1, &law) < 300);
        assert_true(k > 0 && k < 1000);
        assert_true(agg_anonymity_chance(&a, k, tau) <= 0.1);
        assert_true(agg_anonymity_chance(&a, k + 1, tau) > 0.1);
    }
}

// What everybody holds cannot be hidden, and where a vote of everybody is asked for anything is.
static void the_ends(void **state)
{
    (void)state;
    const agg_anonymity a = {50, 20, 4, 0.6, 0.15};
    assert_true(agg_anonymity_chance(&a, 50, 0) > 1 - 1e-12);
    assert_true(agg_anonymity_k(&a, 51, 0.95) == 50);
    assert_true(agg_anonymity_k(&a, 0, 0.95) == AGG_ANONYMITY_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gboards_sets_have_46_indices),
        cmocka_unit_test(lemma_1_as_printed_gives_gboard_no_k),
        cmocka_unit_test(theorem_2_of_gboards_setting),
        cmocka_unit_test(chance_is_that_of_all_outcomes),
        cmocka_unit_test(tau_and_k_are_the_last_that_hold),
        cmocka_unit_test(the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
