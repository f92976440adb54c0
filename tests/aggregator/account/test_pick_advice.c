// SPDX-License-Identifier: Apache-2.0
// Which pick is advised for what, and what plans say of both picks.
#include "agg_test.h"

#include <math.h>

#include "pick_advice.h"
#include "plan.h"
#include "recipe.h"

static void what_is_advised(void **state)
{
    const struct {
        agg_pick_wish wish;
        agg_pick_reason reason;
        const char *says;
    } cases[] = {
        {{.active = 0.3, .value = SHOAL_VALUE_SITE}, AGG_PICK_ACTIVE, "1.83 times"},
        {{.active = 1, .value = SHOAL_VALUE_WORD}, AGG_PICK_ACTIVE, "1.00 times"},
        {{.active = 0.29, .value = SHOAL_VALUE_SITE}, AGG_PICK_RARE, "a site was visited"},
        {{.active = 0.02, .value = SHOAL_VALUE_WORD}, AGG_PICK_RARE, "7.1 times"},
        {{.active = 0.02, .value = SHOAL_VALUE_WORD}, AGG_PICK_RARE, "search results"},
        {{.active = 0, .value = SHOAL_VALUE_WORD}, AGG_PICK_UNKNOWN, "something was typed"},
        {{.active = 0, .value = SHOAL_VALUE_ITEM}, AGG_PICK_UNKNOWN, "--active"},
        {{.active = 1, .is_permanent = true}, AGG_PICK_PERMANENT, "costs less"},
        {{.active = 0.9, .is_mean = true}, AGG_PICK_MEAN, "--size"},
        {{.active = 1, .is_mean = true}, AGG_PICK_ACTIVE, "uniform: "},
        {{.active = 1, .is_own = true, .is_permanent = true}, AGG_PICK_OWN, "by themselves"},
    };
    char sentence[AGG_PICK_SENTENCE_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        agg_pick_reason reason = agg_pick_advise(&cases[i].wish);
        assert_int_equal(reason, cases[i].reason);
        agg_pick_sentence(sentence, &cases[i].wish, reason);
        if (strstr(sentence, cases[i].says) == NULL) fail_msg("%s", sentence);
        assert_true(strlen(sentence) + 1 < AGG_PICK_SENTENCE_MAX);
        const char *name = agg_pick_is_uniform(reason) ? "uniform: " : "first: ";
        assert_memory_equal(sentence, name, strlen(name));
    }
}

static void the_bias_at_which_errors_are_equal(void **state)
{
    (void)state;
    assert_true(fabs(agg_pick_break_even(0.05, 0.03) - 0.04) < 1e-12);
    assert_true(agg_pick_break_even(0.03, 0.03) == 0);
    assert_true(agg_pick_break_even(0.02, 0.03) == 0);
}

static agg_plan_wish wish_of(double devices, double active, bool is_uniform)
{
    return (agg_plan_wish){.devices = devices,
                           .per_day = 1,
                           .days = 1,
                           .eps_micro = 4000000,
                           .size = 100,
                           .law = agg_value_law_zipf(1.2, 100),
                           .law_name = "Zipf 1.2",
                           .asked = 100,
                           .confidence = 0.95,
                           .id = "w",
                           .active = active,
                           .is_uniform = is_uniform};
}

static agg_plan *plan_of(const agg_plan_wish *wish)
{
    agg_error error;
    agg_plan *plan = malloc(sizeof *plan);
    assert_non_null(plan);
    assert_ok(agg_plan_run(plan, &error, wish));
    return plan;
}

// Devices that have nothing to report do not report: the plan is that of fewer devices.
static void first_is_a_plan_of_the_active_windows(void **state)
{
    agg_plan_wish few = wish_of(30000, 0, false), some = wish_of(100000, 0.3, false);
    agg_plan *a = plan_of(&few), *b = plan_of(&some);
    (void)state;
    assert_true(a->n == b->n && a->n_candidates == b->n_candidates);
    for (size_t i = 0; i < a->n_candidates; i++) {
        assert_true(a->candidates[i].error == b->candidates[i].error);
        assert_true(a->candidates[i].smallest == b->candidates[i].smallest);
        assert_true(a->candidates[i].sure == b->candidates[i].sure);
    }
    assert_true(a->other_smallest == 0 && b->other_smallest > b->candidates[0].smallest);
    free(a);
    free(b);
}

// Of uniform by hand, for grr and 101 answers: n (e^4 + 99)/(e^4 - 1)^2, and f 99/(e^4 - 1) + r f
// (1 - f/n) more for a value that f reports hold.
static void uniform_adds_the_picks_and_scales_the_shares(void **state)
{
    for (unsigned r = 1; r <= 3; r++) {
        agg_plan_wish wish = wish_of(100000, 0.3, true);
        const double e4 = exp(4), n = 100000.0 * r;
        wish.per_day = r;
        wish.mechanism = shoal_grr_id;
        agg_plan *plan = plan_of(&wish);
        const agg_plan_candidate *c = &plan->candidates[0];
        double rare = n * (e4 + 99) / ((e4 - 1) * (e4 - 1));
        double f = 0.3 * n * agg_value_law_share(&wish.law, 0);
        assert_true(plan->n == n);
        assert_true(fabs(c->error / sqrt(rare) - 1) < 1e-3);
        double common = sqrt(rare + f * 99 / (e4 - 1) + r * f * (1 - f / n));
        assert_true(fabs(c->error_largest / common - 1) < 1e-3);
        // The bound of `detected`: 3.29 standard errors at 0.05/100, of 30 % of all windows.
        assert_true(fabs(c->smallest / (3.2905 * sqrt(rare) / (0.3 * n)) - 1) < 1e-3);
        free(plan);
    }
    (void)state;
}

static void the_other_pick_is_judged_too(void **state)
{
    agg_plan_wish wish = wish_of(100000, 0.05, false), other = wish_of(100000, 0.05, true);
    agg_plan *first = plan_of(&wish), *uniform = plan_of(&other);
    (void)state;
    double a = first->candidates[0].error / 5000, b = uniform->candidates[0].error / 5000;
    assert_true(fabs(b / a - 1 / sqrt(0.05)) < 1e-6);
    assert_true(first->other_smallest == uniform->candidates[0].smallest);
    assert_true(uniform->other_smallest == first->candidates[0].smallest);
    assert_true(fabs(first->break_even / sqrt(b * b - a * a) - 1) < 1e-9);
    assert_true(first->break_even == uniform->break_even);
    free(first);
    free(uniform);
}

static void windows_are_not_answered_with_permanent_coins(void **state)
{
    agg_plan_wish wish = wish_of(100000, 0.5, true);
    agg_plan *plan = plan_of(&wish);
    (void)state;
    for (size_t i = 0; i < plan->n_candidates; i++)
        assert_false(plan->candidates[i].mechanism->is_permanent);
    free(plan);
    wish.mechanism = shoal_rappor_id;
    plan = plan_of(&wish);
    assert_true(plan->is_nothing && plan->n_candidates == 0);
    free(plan);
    agg_pick_wish pick = agg_plan_pick_wish(&wish);
    assert_int_equal(agg_pick_advise(&pick), AGG_PICK_PERMANENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_advised),
        cmocka_unit_test(the_bias_at_which_errors_are_equal),
        cmocka_unit_test(first_is_a_plan_of_the_active_windows),
        cmocka_unit_test(uniform_adds_the_picks_and_scales_the_shares),
        cmocka_unit_test(the_other_pick_is_judged_too),
        cmocka_unit_test(windows_are_not_answered_with_permanent_coins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
