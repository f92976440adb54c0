// SPDX-License-Identifier: Apache-2.0
// The plan of a trie's rounds: what holds for every answer, and that it answers as the model does.
#include <math.h>

#include "agg_test.h"
#include "encoding.h"
#include "k_anonymity.h"
#include "trie_plan.c" // `judge` weighs one sequence of steps, which no caller of the plan needs

static void plan_of(agg_trie_plan *plan, double devices, double epsilon)
{
    const agg_trie_wish wish = {.devices = devices,
                                .epsilon = epsilon,
                                .depth = 15,
                                .characters = 27,
                                .max_prefixes = 10000};
    agg_trie_plan_run(plan, &wish);
}

static void rounds_share_all_devices_and_keep_the_bytes(void **state)
{
    (void)state;
    const double epsilons[] = {1, 2, 4, 8, 12}, devices[] = {1e4, 1e6, 1e7};
    for (size_t i = 0; i < 15; i++) {
        agg_trie_plan plan;
        double sum = 0, words = 0;
        uint32_t depth = 0;
        plan_of(&plan, devices[i % 3], epsilons[i / 3]);
        assert_in_range(plan.n_rounds, 1, AGG_TRIE_ROUNDS_MAX);
        for (uint32_t r = 0; r < plan.n_rounds; r++) {
            const agg_trie_round *round = &plan.rounds[r];
            assert_int_equal(round->depth, depth);
            assert_in_range(round->step, 1, SHOAL_STEP_MAX);
            assert_true(round->devices > 0 && 4 * round->set <= AGG_TRIE_RECORD_BYTES);
            assert_true(round->cells <= SHOAL_DOMAIN_SIZE_MAX);
            depth += round->step;
            sum += round->devices;
            words += round->words;
        }
        assert_true(depth <= 15);
        assert_true(fabs(sum - devices[i % 3]) < 1e-6 * devices[i % 3]);
        assert_true(fabs(words - plan.words) < 1e-6);
    }
}

static void more_devices_and_more_epsilon_find_more(void **state)
{
    (void)state;
    double before = 0;
    for (double n = 1e4; n < 1e8; n *= 10) {
        agg_trie_plan plan;
        plan_of(&plan, n, 6);
        assert_true(plan.words > before);
        before = plan.words;
    }
    before = 0;
    for (double epsilon = 1; epsilon <= 12; epsilon *= 2) {
        agg_trie_plan plan;
        plan_of(&plan, 1e6, epsilon);
        assert_true(plan.words > before);
        before = plan.words;
    }
}

// The best plan is better than the paper's: one character a round, as many devices each.
static void several_characters_a_round_are_worth_it(void **state)
{
    (void)state;
    const agg_trie_wish wish = {
        .devices = 1e6, .epsilon = 8, .depth = 15, .characters = 27, .max_prefixes = 10000};
    agg_trie_plan best, single = {.n_rounds = AGG_TRIE_ROUNDS_MAX};
    for (uint32_t i = 0; i < single.n_rounds; i++)
        single.rounds[i] = (agg_trie_round){.step = 1, .devices = 1e6 / 8};
    assert_true(judge(&single, &wish, scale_of(&wish)));
    plan_of(&best, 1e6, 8);
    assert_true(best.rounds[0].step > 1);
    assert_true(best.words > 1.15 * single.words);
    assert_true(best.words > 240); // what one character at a time was thought to find
}

// One round of known starts: the share by the formula, z being the quantile of half of 5 % of the
// cells that end, one found.
static void a_round_is_judged_by_the_formula(void **state)
{
    (void)state;
    const agg_trie_wish wish = {.devices = 1e4,
                                .epsilon = 3,
                                .depth = 15,
                                .characters = 10,
                                .from_depth = 14,
                                .n_starts = 40,
                                .step = 1};
    agg_trie_plan plan;
    agg_anonymity law;
    agg_trie_plan_run(&plan, &wish);
    assert_int_equal(plan.n_rounds, 1);
    assert_true(plan.rounds[0].cells == 40 * 12 + 1);
    agg_anonymity_of(&law, 1e4, 482, 3);
    double z = 3.2272,
           votes = z * sqrt(1e4 * law.q * (1 - law.q)) + z * z / 6; // P(Z > z) = 0.025 / 40
    assert_true(plan.rounds[0].set == law.d);
    assert_true(fabs(plan.rounds[0].share * 1e4 * (law.p - law.q) - votes) < 1e-3 * votes);
}

static void cells_are_those_of_the_encoding(void **state)
{
    (void)state;
    agg_recipe recipe;
    char text[512];
    for (uint32_t step = 1; step <= SHOAL_STEP_MAX; step++) {
        snprintf(text, sizeof text,
                 "{\"recipe\":\"w\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","
                 "\"encoding\":[{\"field\":"
                 "\"word\",\"starts\":[\"ab\",\"cd\"],\"characters\":\"abcd\",\"step\":%u}],"
                 "\"mechanism\":\"trie\","
                 "\"parameters\":{\"epsilon\":4,\"contributions\":1,\"depth\":15,\"max_prefixes\":"
                 "10},\"limit\":{\"per_"
                 "day\":1},"
                 "\"expires\":\"2099-01-31\"}",
                 step);
        read_recipe(&recipe, text);
        assert_true(agg_trie_cells(2, 4, step) == shoal_recipe_part(recipe.recipe, 0)->size);
        agg_recipe_release(&recipe);
    }
}

// A depth below AGG_TRIE_DEPTH_OPEN is a length that is wanted: the rounds go further, in larger
// records, and few of the words of English are given up for it.
static void a_wanted_length_is_planned_for(void **state)
{
    (void)state;
    agg_trie_wish wish = {
        .devices = 1e6, .epsilon = 4, .depth = 15, .characters = 26, .max_prefixes = 10000};
    agg_trie_plan any, wanted;
    agg_trie_plan_run(&any, &wish);
    wish.depth = 10;
    agg_trie_plan_run(&wanted, &wish);
    assert_true(agg_trie_plan_reach(&any) <= 5);
    assert_in_range(agg_trie_plan_reach(&wanted), 7, 9);
    assert_true(wanted.words > 0.9 * any.words);
    for (uint32_t i = 0; i < wanted.n_rounds; i++)
        assert_true(4 * wanted.rounds[i].set <= agg_trie_record_bytes(10));
    assert_true(agg_trie_start_rate(0.05, 15) == 0.05);
    assert_true(fabs(agg_trie_start_rate(0.05, 10) - 0.2) < 1e-12);
    assert_true(agg_trie_start_rate(0.3, 10) == 0.5 && agg_trie_start_rate(0.7, 10) == 0.7);
    const agg_trie_plan none = {.n_rounds = 0};
    assert_int_equal(agg_trie_plan_reach(&none), 0);
}

// Two starts that have 30 % each at least: English has none such, and its table alone would expect
// no word behind them. Moved, it goes on.
static void another_population_moves_the_table(void **state)
{
    (void)state;
    agg_trie_wish wish = {
        .devices = 1e5, .epsilon = 6, .depth = 6, .characters = 4, .from_depth = 2, .n_starts = 2};
    agg_trie_plan plan;
    wish.least_share = 0.3;
    agg_trie_plan_run(&plan, &wish);
    assert_true(plan.words > 0.5);
    const agg_trie_round *last = &plan.rounds[plan.n_rounds - 1];
    assert_true(last->depth + last->step >= 5);
}

// Where even one character behind the starts is too much for a record, there is nothing to plan.
static void what_does_not_fit_is_said(void **state)
{
    (void)state;
    const agg_trie_wish wish = {.devices = 1e6,
                                .epsilon = 1,
                                .depth = 15,
                                .characters = 100,
                                .from_depth = 3,
                                .n_starts = 10000};
    agg_trie_plan plan;
    agg_trie_plan_run(&plan, &wish);
    assert_int_equal(plan.n_rounds, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_share_all_devices_and_keep_the_bytes),
        cmocka_unit_test(more_devices_and_more_epsilon_find_more),
        cmocka_unit_test(several_characters_a_round_are_worth_it),
        cmocka_unit_test(a_round_is_judged_by_the_formula),
        cmocka_unit_test(cells_are_those_of_the_encoding),
        cmocka_unit_test(a_wanted_length_is_planned_for),
        cmocka_unit_test(another_population_moves_the_table),
        cmocka_unit_test(what_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
