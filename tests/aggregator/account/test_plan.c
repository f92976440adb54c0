// SPDX-License-Identifier: Apache-2.0
// The planner: are its sizes those of real reports and sketches, its errors those of the papers,
// its limits kept, and is its recommendation one that no other setting of any mechanism beats?
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "cms.h"
#include "normal_law.h"
#include "part_recipe.h"
#include "plan.h"
#include "plan_print.h"
#include "report_json.h"
#include "trade_off.h"

#define N_WISHES 60        // random wishes
#define N_OTHERS 60        // random settings of each mechanism against each
#define WISH_SEED "plan 1" // another text here gives other wishes

static agg_plan_wish list_wish(double devices, double epsilon, uint32_t size)
{
    agg_plan_wish wish = {.devices = devices,
                          .per_day = 1,
                          .days = 1,
                          .eps_micro = (uint32_t)lround(epsilon * 1e6),
                          .size = size,
                          .law = agg_value_law_zipf(1.2, size),
                          .law_name = "Zipf 1.2",
                          .asked = size,
                          .confidence = 0.95,
                          .id = "planned"};
    return wish;
}

static agg_plan_wish open_wish(double devices, double epsilon, double asked)
{
    agg_plan_wish wish = list_wish(devices, epsilon, 2);
    wish.size = 0;
    wish.asked = asked;
    wish.law = agg_value_law_zipf(1.2, asked);
    return wish;
}

static agg_plan *run_plan(const agg_plan_wish *wish)
{
    agg_plan *plan = calloc(1, sizeof *plan);
    agg_error error;
    assert_non_null(plan);
    assert_ok(agg_plan_run(plan, &error, wish));
    return plan;
}

static const agg_plan_candidate *candidate_of(const agg_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_candidates; i++)
        if (strcmp(plan->candidates[i].mechanism->name, name) == 0) return &plan->candidates[i];
    return NULL;
}

static void assert_close(double x, double expected, double relative)
{
    if (!(fabs(x - expected) <= relative * fabs(expected)))
        fail_msg("%.10g is not %.10g", x, expected);
}

// Sums with and without Euler and Maclaurin's tail; 1e-11 is its error and that of adding 262,549
// doubles.
static void test_zipf_shares_sum_to_one(void **state)
{
    static const double exponents[] = {0, 0.5, 1, 1.2, 3};
    (void)state;
    for (size_t e = 0; e < sizeof exponents / sizeof exponents[0]; e++)
        for (double n = 1; n <= 300000; n = n * 21 + 7) {
            agg_value_law law = agg_value_law_zipf(exponents[e], n);
            double sum = 0, squares = 0;
            for (double r = n - 1; r >= 0; r--) {
                double share = agg_value_law_share(&law, r);
                sum += share;
                squares += share * share;
            }
            assert_close(sum, 1, 1e-11);
            assert_close(law.squares, squares, 1e-11);
            assert_true(agg_value_law_share(&law, n) == 0);
        }
}

static void test_counts_become_falling_shares(void **state)
{
    static const uint64_t counts[] = {1, 5, 0, 4};
    agg_value_law law;
    agg_error error;
    (void)state;
    assert_ok(agg_value_law_counts(&law, &error, counts, 4));
    assert_close(law.squares, 0.42, 1e-12);
    assert_close(agg_value_law_share(&law, 0), 0.5, 0);
    assert_close(agg_value_law_share(&law, 2), 0.1, 0);
    assert_true(agg_value_law_above(&law, 0.4) == 2);
    assert_true(agg_value_law_above(&law, 0.41) == 1);
    assert_true(agg_value_law_above(&law, 0.6) == 0);
    assert_true(agg_value_law_above(&law, 1e-9) == 3);
    agg_value_law_release(&law);
}

static double error_of(const agg_plan_wish *wish, shoal_part part)
{
    const char *field = NULL;
    agg_plan_candidate judged;
    assert_ok(shoal_part_prepare(&part, &field));
    agg_plan_judge(&judged, wish, &part);
    return judged.error;
}

// Theorems 4.2 and 4.4 of apple-2017 for n = 100,000, Zipf(1.2) over 1,000 values; they leave out
// what a hundredth holds.
static void test_errors_are_those_of_the_papers(void **state)
{
    (void)state;
    for (double epsilon = 1; epsilon <= 4; epsilon *= 2) {
        agg_plan_wish wish = list_wish(100000, epsilon, 1000);
        double n = wish.devices, m = 1024, k = 2048, h = exp(epsilon / 2), e = exp(epsilon);
        double stretch = m / (m - 1), pairs = n * wish.law.squares / (k * m);
        shoal_part part = {.mechanism = shoal_cms_id,
                           .domain = SHOAL_DOMAIN_CLOSED,
                           .hash = SHOAL_HASH_AFFINE1,
                           .eps_micro = wish.eps_micro,
                           .k = 2048,
                           .m = 1024,
                           .size = 1000};
        assert_close(error_of(&wish, part),
                     stretch * sqrt(n * (h / ((h - 1) * (h - 1)) + 1 / m + pairs)), 0.01);
        part.mechanism = shoal_hcms_id;
        assert_close(error_of(&wish, part),
                     stretch * sqrt(n * ((e + 1) / (e - 1) * (e + 1) / (e - 1) + pairs)), 0.01);
        shoal_part one_hot = {.mechanism = shoal_onehot_asymmetric_id,
                              .domain = SHOAL_DOMAIN_CLOSED,
                              .eps_micro = wish.eps_micro,
                              .k = 1,
                              .size = 1000};
        assert_close(error_of(&wish, one_hot), sqrt(n * 4 * e) / (e - 1), 1e-9);
    }
}

// Every variant that is proposed, as a real recipe: its report, its record and its sketch have the
// size that the plan says.
static void check_sizes(const agg_plan_wish *wish, const agg_plan_candidate *c)
{
    const agg_recipe_frame frame = {.id = wish->id,
                                    .analysis = "a",
                                    .stream = "s",
                                    .value = wish->low != NULL ? "number" : "item",
                                    .seed_hex = AGG_TEST_SEED,
                                    .low = wish->low,
                                    .high = wish->high,
                                    .expires = "2030-01-01",
                                    .per_day = 1};
    char *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    agg_part_recipe_print(stream, &c->part, &frame);
    fclose(stream);
    read_recipe(&recipe, text);
    assert_int_equal((uint64_t)c->report_bytes, agg_report_size(&recipe));
    assert_int_equal((uint64_t)c->record_bytes, recipe.recipe->record_size);
    assert_true(recipe.recipe->cost_micro <= wish->eps_micro);
    if (c->memory < 1 << 24) {
        const agg_shape shape = {c->part.mechanism, c->part.k, c->part.m};
        agg_sketch sketch;
        agg_error error;
        assert_ok(agg_sketch_init(&sketch, &error, &shape));
        assert_true(c->memory == 4.0 * (double)(sketch.n_cells + sketch.n_rows));
        agg_sketch_release(&sketch);
    }
    agg_recipe_release(&recipe);
    free(text);
}

static void test_sizes_are_those_of_recipes(void **state)
{
    agg_plan_wish wishes[] = {list_wish(100000, 1, 100), list_wish(1000000, 4, 3000),
                              open_wish(50000, 3.25, 10000), list_wish(10000, 2, 20),
                              list_wish(10000, 0.5, 2)};
    (void)state;
    wishes[3].low = "-0.5"; // buckets of a number
    wishes[3].high = "12";
    wishes[4].is_mean = 1;
    wishes[4].size = 0;
    wishes[4].low = "-3";
    wishes[4].high = "7.25";
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        agg_plan *plan = run_plan(&wishes[i]);
        assert_true(plan->n_candidates > (wishes[i].is_mean ? 0 : 1));
        for (size_t j = 0; j < plan->n_candidates; j++)
            check_sizes(&wishes[i], &plan->candidates[j]);
        free(plan);
    }
}

static void test_every_mechanism_is_a_candidate_somewhere(void **state)
{
    agg_plan_wish list = list_wish(100000, 2, 100), mean = list_wish(1000, 1, 2);
    (void)state;
    mean.size = 0;
    mean.is_mean = 1;
    agg_plan *of_list = run_plan(&list), *of_mean = run_plan(&mean);
    for (uint32_t i = 0; agg_account_at(i) != NULL; i++) {
        const char *name = shoal_mechanism_by_id(agg_account_at(i)->id)->name;
        if ((candidate_of(of_list, name) == NULL) == (candidate_of(of_mean, name) == NULL))
            fail_msg("%s", name);
    }
    for (size_t i = 2; i < of_list->n_candidates; i++)
        assert_true(of_list->candidates[i - 1].error <= of_list->candidates[i].error);
    free(of_list);
    free(of_mean);
}

// Several reports of one device carry the same permanent noise, which no variance here knows: such
// mechanisms are left out, unless one is asked for by name.
static void test_permanent_noise_is_not_planned_twice(void **state)
{
    agg_plan_wish wish = list_wish(100000, 2, 100);
    (void)state;
    agg_plan *once = run_plan(&wish);
    wish.days = 2;
    agg_plan *twice = run_plan(&wish);
    wish.mechanism = shoal_rappor_id;
    agg_plan *named = run_plan(&wish);
    assert_non_null(candidate_of(once, "rappor"));
    assert_null(candidate_of(twice, "rappor"));
    assert_non_null(candidate_of(twice, "grr"));
    assert_non_null(candidate_of(named, "rappor"));
    free(once);
    free(twice);
    free(named);
}

typedef struct draws {
    shoal_rng rng;
} draws;

static double uniform(draws *d, double low, double high)
{
    return low + (high - low) * (double)shoal_rng_below(&d->rng, 1u << 30) / (1u << 30);
}

static double log_uniform(draws *d, double low, double high)
{
    return exp(uniform(d, log(low), log(high)));
}

static uint32_t power_of_two(draws *d, uint32_t most)
{
    return 1u << shoal_rng_below(&d->rng, most + 1);
}

// Any setting of a mechanism for the wish, on no grid: what its recipe states is drawn.
static shoal_part random_part(draws *d, const shoal_mechanism *mechanism, const agg_plan_wish *wish)
{
    uint32_t domain = wish->size > 0 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN;
    const shoal_takes *takes = shoal_mechanism_takes(mechanism, domain);
    uint32_t all = takes->needs | takes->may;
    shoal_part part = {.mechanism = mechanism->id,
                       .domain = domain,
                       .eps_micro = wish->eps_micro,
                       .k = 1,
                       .size = wish->size};
    if (all & SHOAL_TAKES_AFFINE1) part.hash = SHOAL_HASH_AFFINE1;
    if (all & SHOAL_TAKES_POLY1) part.hash = SHOAL_HASH_POLY1;
    if (all & SHOAL_TAKES_K) part.k = (uint32_t)log_uniform(d, 1, 1 << 22);
    if (all & SHOAL_TAKES_M)
        part.m = part.hash == SHOAL_HASH_AFFINE1 ? power_of_two(d, 20)
                                                 : (uint32_t)log_uniform(d, 2, 1 << 17);
    if (all & SHOAL_TAKES_G) part.m = power_of_two(d, 20);
    if (all & SHOAL_TAKES_BITS) part.m = (uint32_t)log_uniform(d, 2, 1 << 12);
    if (all & SHOAL_TAKES_HASHES) part.hashes = 1 + (uint32_t)shoal_rng_below(&d->rng, 3);
    if (all & SHOAL_TAKES_COHORTS) part.k = (uint32_t)log_uniform(d, 1, 1 << 12);
    if (all & SHOAL_TAKES_PQF) {
        // One report's epsilon is used up or nearly; f is anything.
        double e = exp(wish->eps_micro / 1e6 / (part.hashes > 0 ? part.hashes : 1)),
               q_star = uniform(d, 0.2, 0.9);
        double p_star = q_star / (q_star + e * (1 - q_star)), t = uniform(d, 0, fmin(p_star, 0.49)),
               gap = (q_star - p_star) / (1 - 2 * t);
        part.eps_micro = 0;
        part.hashes = part.hashes > 0 ? part.hashes : 1;
        part.pqf_micro[0] = (uint32_t)fmin(1e6, fmax(0, ceil(1e6 * (p_star - t * gap))));
        part.pqf_micro[1] = (uint32_t)fmin(1e6, fmax(0, floor(1e6 * (q_star + t * gap))));
        part.pqf_micro[2] = (uint32_t)ceil(2e6 * t);
        if (domain == SHOAL_DOMAIN_CLOSED) part.m = wish->size;
    }
    return part;
}

static agg_plan_wish random_wish(draws *d)
{
    double devices = floor(log_uniform(d, 1000, 1e9)), epsilon = log_uniform(d, 0.1, 12),
           zipf = uniform(d, 0, 2);
    uint32_t size = (uint32_t)log_uniform(d, 2, 1 << 20);
    agg_plan_wish wish = shoal_rng_below(&d->rng, 3) == 0 ? open_wish(devices, epsilon, size)
                                                          : list_wish(devices, epsilon, size);
    wish.law = agg_value_law_zipf(zipf, size);
    if (shoal_rng_below(&d->rng, 2) == 0) wish.report_bytes = floor(log_uniform(d, 160, 4000));
    if (shoal_rng_below(&d->rng, 2) == 0) wish.memory = floor(log_uniform(d, 1 << 10, 1 << 30));
    return wish;
}

static void assert_unbeaten(const agg_plan_wish *w, const agg_plan_candidate *own,
                            const agg_plan_candidate *other)
{
    if (own != NULL && own->error <= 1.1 * other->error) return;
    fail_msg("n %.0f, epsilon %g, size %u, asked %.0f, zipf %g, report %g, memory %g: %s k=%u m=%u "
             "has %g, what was "
             "chosen, %s "
             "k=%u m=%u, has %g",
             w->devices, w->eps_micro / 1e6, w->size, w->asked, w->law.zipf, w->report_bytes,
             w->memory, other->mechanism->name, other->part.k, other->part.m, other->error,
             own != NULL ? own->mechanism->name : "none", own != NULL ? own->part.k : 0,
             own != NULL ? own->part.m : 0, own != NULL ? own->error : 0);
}

// The promise: no other mechanism, nor other parameters, that keep the same limits do
// better by more than 10 %. The same holds for each mechanism's candidate among its own settings
// (but for p, q and f, whose very decimals a limit on reports may shorten).
static void test_no_other_setting_beats_the_answer(void **state)
{
    draws d;
    uint8_t seed[32] = {0};
    size_t n_compared = 0;
    (void)state;
    memcpy(seed, WISH_SEED, sizeof WISH_SEED);
    shoal_rng_init(&d.rng, seed);
    for (int w = 0; w < N_WISHES; w++) {
        agg_plan_wish wish = random_wish(&d);
        agg_plan *plan = run_plan(&wish);
        const agg_plan_candidate *best = plan->n_candidates > 0 ? &plan->candidates[0] : NULL;
        if (best != NULL) assert_true(agg_plan_keeps_limits(best, &wish));
        for (uint32_t i = 0; agg_account_at(i) != NULL; i++)
            for (int other = 0; other < N_OTHERS; other++) {
                const char *field = NULL;
                agg_plan_candidate judged;
                shoal_part part =
                    random_part(&d, shoal_mechanism_by_id(agg_account_at(i)->id), &wish);
                if (shoal_mechanism_takes(shoal_mechanism_by_id(part.mechanism), part.domain)
                        ->needs == 0)
                    continue;
                if (shoal_part_prepare(&part, &field) != SHOAL_OK) continue;
                agg_plan_judge(&judged, &wish, &part);
                if (!agg_plan_keeps_limits(&judged, &wish)) continue;
                n_compared++;
                assert_unbeaten(&wish, best, &judged);
                if (judged.part.pqf_micro[1] == 0)
                    assert_unbeaten(&wish, candidate_of(plan, judged.mechanism->name), &judged);
            }
        free(plan);
    }
    assert_true(n_compared > 5000); // limits did not leave the comparison empty
}

// Equal errors: the smallest report wins. A bit of each of 2 values is no better than saying one,
// and longer.
static void test_ties_go_to_the_smaller_report(void **state)
{
    (void)state;
    for (double epsilon = 0.5; epsilon <= 8; epsilon *= 2) {
        agg_plan_wish wish = list_wish(100000, epsilon, 500);
        agg_plan *plan = run_plan(&wish);
        const agg_plan_candidate *best = &plan->candidates[0];
        for (size_t i = 1; i < plan->n_candidates; i++) {
            const agg_plan_candidate *c = &plan->candidates[i];
            assert_true(c->error * AGG_PLAN_TIE >= best->error);
            if (c->error <= best->error) assert_true(c->report_bytes >= best->report_bytes);
        }
        free(plan);
    }
}

// What is needed is needed: with that much the share is detectable, with 2 % fewer devices (0.02
// less epsilon) it is not.
static void check_needs(const agg_plan_wish *wish)
{
    agg_plan *plan = run_plan(wish);
    agg_plan_wish other = *wish;
    other.detect = plan->target;
    assert_true(plan->is_nothing);
    assert_true(plan->needed_devices > wish->devices);
    assert_true(plan->needed_epsilon > wish->eps_micro / 1e6);
    for (int is_enough = 0; is_enough < 2; is_enough++) {
        other.devices = ceil(plan->needed_devices * (is_enough ? 1 : 0.98));
        agg_plan *of_devices = run_plan(&other);
        assert_int_equal(of_devices->is_nothing, !is_enough);
        free(of_devices);
    }
    other.devices = wish->devices;
    for (int is_enough = 0; is_enough < 2; is_enough++) {
        other.eps_micro = (uint32_t)lround(1e6 * (plan->needed_epsilon - (is_enough ? 0 : 0.02)));
        agg_plan *of_epsilon = run_plan(&other);
        assert_int_equal(of_epsilon->is_nothing, !is_enough);
        free(of_epsilon);
    }
    free(plan);
}

static void test_nothing_says_what_it_would_take(void **state)
{
    agg_plan_wish rare = list_wish(100000, 1, 1000), even = list_wish(20000, 1, 5000);
    (void)state;
    rare.detect = 0.001;
    check_needs(&rare);
    even.law = agg_value_law_zipf(0.3, 5000); // the commonest of 5,000 holds 0.2 %
    check_needs(&even);
}

static void test_limits_that_nothing_meets(void **state)
{
    agg_plan_wish wish = list_wish(100000, 1, 1000);
    (void)state;
    wish.report_bytes = 100;
    agg_plan *plan = run_plan(&wish);
    assert_true(plan->is_nothing && plan->n_candidates == 0);
    assert_true(plan->least_report > 100 && plan->least_report < 200);
    wish.report_bytes = plan->least_report;
    free(plan);
    plan = run_plan(&wish);
    assert_true(plan->n_candidates >= 1); // any mechanism with a report as short
    for (size_t i = 0; i < plan->n_candidates; i++)
        assert_true(plan->candidates[i].report_bytes == wish.report_bytes);
    free(plan);
}

// Benjamini and Hochberg by their definition, on shares that are given.
static void test_bh_counts_what_the_rule_detects(void **state)
{
    agg_plan_wish wish = list_wish(200000, 2, 1000);
    size_t most = 0;
    (void)state;
    wish.multiple = AGG_BH;
    agg_plan *plan = run_plan(&wish);
    const agg_plan_candidate *best = &plan->candidates[0];
    for (size_t i = 1; i <= 1000; i++)
        if (wish.devices * agg_value_law_share(&wish.law, (double)i - 1) >=
            -agg_normal_quantile(0.05 * (double)i / 1000) * best->error)
            most = i;
    assert_true(most > 10);
    assert_int_equal((size_t)best->n_detectable, most);
    free(plan);
}

static void test_detected_as_often_as_not(void **state)
{
    agg_plan_wish wish = list_wish(1000000, 2, 1000);
    (void)state;
    agg_plan *plan = run_plan(&wish);
    const agg_plan_candidate *best = &plan->candidates[0];
    assert_close(best->smallest, -agg_normal_quantile(0.05 / 1000) * best->error / 1e6, 1e-12);
    // At the sure share an estimate lies 1.645 of its own standard errors above the bound.
    double variance = agg_account_of(best->part.mechanism)
                          ->variance(&best->part, 1e6, best->sure * 1e6, 1e12 * wish.law.squares);
    assert_close((best->sure - best->smallest) * 1e6, 1.6448536269514722 * sqrt(variance), 1e-6);
    free(plan);
}

// At epsilon 16 hardly a coin lies; a value that nobody holds still cannot be detected.
static void test_no_share_below_one_report(void **state)
{
    agg_plan_wish wish = list_wish(1000, 16, 5000);
    (void)state;
    agg_plan *plan = run_plan(&wish);
    assert_true(plan->candidates[0].error < 0.1);
    assert_true(plan->candidates[0].smallest == 0.001);
    assert_true(agg_value_law_share(&wish.law, plan->candidates[0].n_detectable - 1) >= 0.001);
    assert_true(agg_value_law_share(&wish.law, plan->candidates[0].n_detectable) < 0.001);
    free(plan);
}

static void test_budgets_are_split_and_never_exceeded(void **state)
{
    (void)state;
    assert_int_equal(agg_plan_split_budget(8, 30), 266666);
    assert_int_equal(agg_plan_split_budget(0.3, 3), 100000);
    assert_int_equal(agg_plan_split_budget(100, 2), 16000000);
    assert_int_equal(agg_plan_split_budget(1, 101), 0);
    agg_plan_wish wish = list_wish(100000, 1, 100);
    wish.days = 30;
    wish.budget = 30;
    agg_plan *plan = run_plan(&wish);
    assert_true(plan->n == 3000000);
    assert_true(plan->once_epsilon == 16); // no report may cost more
    assert_true(plan->once_smallest < plan->candidates[0].smallest / 5);
    free(plan);
}

// apple-2017 section 5, by hand.
static void test_section_5(void **state)
{
    const shoal_part cms = {.mechanism = shoal_cms_id, .k = 65536, .m = 1024};
    const shoal_part hcms = {.mechanism = shoal_hcms_id, .k = 1024, .m = 32768};
    const shoal_part other = {.mechanism = shoal_onehot_asymmetric_id, .k = 1, .m = 100};
    (void)state;
    assert_true(agg_trade_off_bits(&cms) == 16 + 1024);
    assert_true(agg_trade_off_bits(&hcms) == 10 + 15 + 1);
    assert_true(isnan(agg_trade_off_bits(&other)));
    assert_true(agg_trade_off_steps(&cms, 1e6, 2600) == 1e6 * 1024 + 2600.0 * 65536);
    assert_true(agg_trade_off_steps(&hcms, 1e6, 250000) ==
                1e6 + 1024.0 * 32768 * 15 + 250000.0 * 1024);
}

// Figure 4b: falling in m and in k; where collisions rule, by sqrt 2 a step; flat at the coins' own
// error.
static void test_figure_4b(void **state)
{
    agg_plan_wish wish = list_wish(1e8, 2, 100000);
    agg_trade_off *s = calloc(1, sizeof *s);
    agg_error error;
    (void)state;
    assert_non_null(s);
    assert_ok(agg_trade_off_run(s, &error, &wish, shoal_cms_id));
    for (uint32_t row = 0; row < AGG_TRADE_OFF_SIDE; row++)
        for (uint32_t i = 0; i < AGG_TRADE_OFF_SIDE; i++) {
            double x = s->error[row][i];
            if (isnan(x)) {
                assert_true((uint64_t)s->parts[row][i].k * s->parts[row][i].m >
                            SHOAL_SKETCH_CELLS_MAX);
                continue;
            }
            if (row > 0) assert_true(x < s->error[row - 1][i]);
            if (i > 0) assert_true(x < s->error[row][i - 1]);
        }
    assert_close(s->error[0][0] / s->error[1][0], sqrt(2), 0.001);
    assert_close(s->least, sqrt(1e8 * exp(1) / ((exp(1) - 1) * (exp(1) - 1))), 0.02);
    assert_err(agg_trade_off_run(s, &error, &wish, shoal_onehot_asymmetric_id), AGG_ERR_USAGE);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf_shares_sum_to_one),
        cmocka_unit_test(test_counts_become_falling_shares),
        cmocka_unit_test(test_errors_are_those_of_the_papers),
        cmocka_unit_test(test_sizes_are_those_of_recipes),
        cmocka_unit_test(test_every_mechanism_is_a_candidate_somewhere),
        cmocka_unit_test(test_permanent_noise_is_not_planned_twice),
        cmocka_unit_test(test_no_other_setting_beats_the_answer),
        cmocka_unit_test(test_ties_go_to_the_smaller_report),
        cmocka_unit_test(test_nothing_says_what_it_would_take),
        cmocka_unit_test(test_limits_that_nothing_meets),
        cmocka_unit_test(test_bh_counts_what_the_rule_detects),
        cmocka_unit_test(test_detected_as_often_as_not),
        cmocka_unit_test(test_no_share_below_one_report),
        cmocka_unit_test(test_budgets_are_split_and_never_exceeded),
        cmocka_unit_test(test_section_5),
        cmocka_unit_test(test_figure_4b),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
