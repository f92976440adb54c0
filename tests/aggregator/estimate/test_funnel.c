// SPDX-License-Identifier: Apache-2.0
// Funnels: which recipes are none, chains against sums of a joint table, and the coverage of shares
// and rates over simulated devices.
//
// `SHOAL_SEED=N` draws other devices than those of seed 1, and `SHOAL_CAMPAIGN` ten times as
// many collections: the table of docs/funnel.md.
#include "agg_test.h"

#include <math.h>

#include "funnel.h"
#include "recipe.h"
#include "rng.h"

#define STEPS 3u
#define CELLS 8u // of three steps; bit 0 is the first step

typedef struct setting {
    double epsilon; // of each step
    uint32_t n;
    double shares[CELLS]; // of the crowd
} setting;

// The first share is that of devices that reached nothing.
static const setting settings[] = {{2, 5000, {0.4, 0.35, 0, 0.15, 0, 0, 0, 0.1}},
                                   {1, 20000, {0.4, 0.35, 0, 0.15, 0, 0, 0, 0.1}},
                                   {4, 3000, {0.7, 0.2, 0, 0.06, 0, 0, 0, 0.04}},
                                   {2, 10000, {0.1, 0.2, 0, 0.3, 0, 0, 0, 0.4}},
                                   {2, 10000, {0.35, 0.3, 0.06, 0.12, 0.03, 0.02, 0.04, 0.08}}};

static void open_recipe(agg_recipe *recipe, const char *mechanism, double epsilon,
                        const char *values, const char *extra)
{
    char text[1200];
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "{\"recipe\":\"steps\",\"analysis\":\"a\",\"stream\":\"s\","
                                  "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"%s,"
                                  "\"variables\":[",
                                  extra);
    for (unsigned v = 1; v <= STEPS; v++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "%s{\"name\":\"step%u\",\"value\":\"item\",\"mechanism\":\"%s\","
                                "\"parameters\":{\"epsilon\":%g,\"values\":%s}}",
                                v > 1 ? "," : "", v, mechanism, epsilon, values);
    snprintf(text + len, sizeof text - len, "]}");
    read_recipe(recipe, text);
}

static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 12) + 0.5) * 0x1p-52;
}

static unsigned draw_cell(const setting *s, shoal_rng *rng)
{
    double u = uniform(rng);
    unsigned cell = 0;
    while (cell + 1 < CELLS && u >= s->shares[cell]) u -= s->shares[cell++];
    return cell;
}

// Folds devices that are drawn from the crowd. In the recipe's lists, value 0 is "yes".
static void fold_devices(agg_accumulator *acc, const agg_recipe *recipe, const setting *s,
                         uint64_t stream)
{
    size_t size = shoal_record_size(recipe->recipe);
    uint8_t seed[32] = {41}, *records = malloc(s->n * size);
    const char *text = getenv("SHOAL_SEED");
    shoal_rng rng;
    assert_non_null(records);
    strncpy((char *)seed + 1, text != NULL ? text : "1", 30);
    shoal_rng_init_stream(&rng, seed, stream);
    for (uint32_t i = 0; i < s->n; i++) {
        unsigned cell = draw_cell(s, &rng);
        uint64_t items[STEPS];
        for (unsigned v = 0; v < STEPS; v++) items[v] = (cell >> v & 1) == 0;
        assert_ok(
            shoal_record_randomize(records + i * size, recipe->recipe, items, STEPS, NULL, &rng));
    }
    read_acc(acc, recipe, records, s->n, 1);
    free(records);
}

static void run(agg_funnel *funnel, const agg_recipe *recipe, const agg_accumulator *acc)
{
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_funnel_choose(funnel, &error, recipe, acc, 0, 1) != SHOAL_OK ||
        agg_funnel_run(funnel, &error, recipe, acc, 0, 1) != SHOAL_OK)
        fail_msg("%s", error.text);
}

// Cell i of the result has bit 2 for "no" at the first step.
static void chains_are_sums_of_cells(void **state)
{
    const setting *s = &settings[4];
    agg_recipe recipe;
    agg_accumulator acc;
    agg_funnel funnel;
    (void)state;
    open_recipe(&recipe, "grr", s->epsilon, "[\"yes\",\"no\"]", "");
    fold_devices(&acc, &recipe, s, 1);
    run(&funnel, &recipe, &acc);
    const agg_joint_result *r = &funnel.analysis->result;
    const agg_joint_share *cells = r->cells;
    assert_int_equal(r->n_cells, CELLS);
    const double sums[] = {cells[0].p + cells[1].p + cells[2].p + cells[3].p,
                           cells[0].p + cells[1].p, cells[0].p};
    for (unsigned v = 0; v < STEPS; v++) {
        assert_true(fabs(r->reached[v].p - sums[v]) < 1e-12);
        assert_true(r->reached[v].low < sums[v] && sums[v] < r->reached[v].high);
        if (v > 0) assert_true(fabs(r->onward[v - 1].p - sums[v] / sums[v - 1]) < 1e-12);
    }
    // The first event is the marginal of the first variable, and the last one is a cell.
    assert_true(fabs(r->reached[0].stderr_ - r->marginals[0][0].stderr_) < 1e-12);
    assert_true(fabs(r->reached[2].stderr_ - cells[0].stderr_) < 1e-12);
    // no yes *, no no yes, yes no yes
    double astray = cells[4].p + cells[5].p + cells[6].p + cells[2].p;
    assert_true(fabs(r->astray.p - astray) < 1e-12 && r->astray.low > 0);
    agg_funnel_release(&funnel);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static void the_order_of_the_list_does_not_matter(void **state)
{
    agg_recipe other;
    agg_accumulator acc;
    agg_funnel funnel;
    (void)state;
    const setting few = {4, 3000, {0, 0, 0, 0, 0, 0, 0.9, 0.1}}; // "yes" is value 1 below
    open_recipe(&other, "grr", 4, "[\"no\",\"yes\"]", "");
    fold_devices(&acc, &other, &few, 2);
    run(&funnel, &other, &acc);
    assert_true(funnel.analysis->result.reached[0].p > 0.8);
    assert_true(funnel.analysis->result.reached[1].p < 0.05);
    agg_funnel_release(&funnel);
    agg_accumulator_release(&acc);
    agg_recipe_release(&other);
}

static void other_recipes_are_refused(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_funnel funnel;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    open_recipe(&recipe, "grr", 2, "[\"ja\",\"nein\"]", "");
    fold_devices(&acc, &recipe, &settings[0], 3);
    assert_err(agg_funnel_choose(&funnel, &error, &recipe, &acc, 0, 1), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "variable step1 has no value \"yes\""));
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    open_recipe(&recipe, "grr", 2, "[\"yes\",\"no\"]", ",\"cohort\":{\"minimum\":6000}");
    fold_devices(&acc, &recipe, &settings[0], 3);
    assert_err(agg_funnel_choose(&funnel, &error, &recipe, &acc, 0, 1), AGG_ERR_COHORT);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// ---- coverage ----

typedef struct tally {
    uint32_t n, reached, onward;
} tally;

static bool holds(const agg_joint_share *share, double truth)
{
    return share->low <= truth && truth <= share->high;
}

static void count_covered(tally *t, const agg_joint_result *r, const setting *s)
{
    double truth[STEPS];
    for (unsigned v = 0; v < STEPS; v++) {
        unsigned bits = (2u << v) - 1;
        truth[v] = 0;
        for (unsigned cell = 0; cell < CELLS; cell++)
            if ((cell & bits) == bits) truth[v] += s->shares[cell];
        t->reached += holds(&r->reached[v], truth[v]);
        if (v > 0) t->onward += holds(&r->onward[v - 1], truth[v] / truth[v - 1]);
    }
    t->n++;
}

static void intervals_cover(void **state)
{
    uint32_t trials = effort_of_campaign(3000, effort(900, 300, 4));
    (void)state;
    if (effort_is_small()) skip();
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const setting *s = &settings[i];
        tally t = {0};
        agg_recipe recipe;
        open_recipe(&recipe, "grr", s->epsilon, "[\"yes\",\"no\"]", "");
        for (uint32_t trial = 0; trial < trials; trial++) {
            agg_accumulator acc;
            agg_funnel funnel;
            fold_devices(&acc, &recipe, s, 1000000 * (i + 1) + trial);
            run(&funnel, &recipe, &acc);
            count_covered(&t, &funnel.analysis->result, s);
            agg_funnel_release(&funnel);
            agg_accumulator_release(&acc);
        }
        agg_recipe_release(&recipe);
        double reached = (double)t.reached / (STEPS * t.n),
               onward = (double)t.onward / ((STEPS - 1) * t.n);
        printf("| %g | %u | %.1f %% | %.1f %% |\n", s->epsilon, s->n, 100 * reached, 100 * onward);
        assert_true(reached >= 0.92 && reached <= 0.992);
        assert_true(onward >= 0.92 && onward <= 0.992);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_sums_of_cells),
        cmocka_unit_test(the_order_of_the_list_does_not_matter),
        cmocka_unit_test(other_recipes_are_refused),
        cmocka_unit_test(intervals_cover),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
