// SPDX-License-Identifier: Apache-2.0
// Runs over epochs as analysts read them: figures against the formulas in doubles, the chain of
// epochs and what breaks it, values and errors of updates from accumulators made by hand, frozen
// series, the next epoch's recipe, shares of items.
#include "agg_test.h"

#include <math.h>

#include "next_epoch.h"
#include "track_items.h"
#include "track_print.h"
#include "track_series.h"

static const char thresh_text[] = "{\"recipe\":\"run\",\"analysis\":\"a\",\"stream\":\"s\","
                                  "\"value\":\"number\",\"mechanism\":\"thresh\","
                                  "\"parameters\":{\"epsilon\":%s,\"users\":20000,\"epochs\":%u,"
                                  "\"samples\":50000,\"smallest_group\":20000,"
                                  "\"groups\":1,"
                                  "\"delta\":\"1e-6\",\"low\":-1,\"high\":3},\"limit\":{\"per_"
                                  "day\":1},\"round\":%s,\"expires\":\"2030-01-01\"}";

static void read_epoch(agg_recipe *recipe, const char *epsilon, unsigned epochs, const char *round)
{
    char text[1024];
    snprintf(text, sizeof text, thresh_text, epsilon, epochs, round);
    read_recipe(recipe, text);
}

// ---- figures ----

// The papers' notes, in doubles.
typedef struct formulas {
    double a, b, unit, group;
} formulas;

static formulas formulas_of(const shoal_evolving_plan *p)
{
    double n = p->users, m = p->groups, T = p->epochs, l = p->samples, L = p->smallest_group;
    double delta = pow(10, -(double)p->delta_exp), lnV = log(12 * m * T / delta),
           s = sqrt(log(12 * T / delta) / (2 * n));
    formulas f;
    f.a = 4 * sqrt(2 * n * lnV) / (L - 3 / sqrt(2.0) * sqrt(n * lnV));
    f.b = 2 * s / (log2(T) * sqrt(log(12 * n * T / delta) / (2 * l)) - s);
    f.unit = 2 * sqrt(log(12 * n * T / delta) / (2 * l));
    f.group = (3 / sqrt(2.0) + sqrt(32.0)) * sqrt(n * lnV);
    return f;
}

static int is_near(double x, double y, double relative)
{
    return fabs(x - y) <= relative * fabs(y);
}

static void test_figures(void **state)
{
    shoal_rng rng;
    const uint8_t seed[32] = {3};
    int n_runs = 0;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 2000; i++) {
        shoal_evolving_plan plan = {.eps_micro =
                                        1000000 * (1 + (uint32_t)shoal_rng_below(&rng, 16)),
                                    .users = 2000 + (uint32_t)shoal_rng_below(&rng, 1000000),
                                    .epochs = 4 + (uint32_t)shoal_rng_below(&rng, 2000),
                                    .samples = 100 + (uint32_t)shoal_rng_below(&rng, 100000),
                                    .groups = 1 + (uint32_t)shoal_rng_below(&rng, 3),
                                    .delta_exp = 3 + (uint32_t)shoal_rng_below(&rng, 10)};
        plan.smallest_group = plan.users / plan.groups;
        agg_track_law law;
        agg_track_law_of(&law, &plan);
        formulas f = formulas_of(&plan);
        // Assumption 4.2 asks for more than f.group: the smallest whole number above it, rounded
        // against the analyst
        assert_true((double)law.group_needed > f.group - 1e-6 &&
                    (double)law.group_needed < f.group * (1 + 1e-6) + 2);
        if (law.fault != AGG_TRACK_RUNS) continue;
        n_runs++;
        assert_true(
            is_near(law.a, fmax(0.01, f.a), 1e-6 + 1e-6 / f.a)); // whole micro-units, 0.01 at least
        assert_true(is_near(law.b, fmax(0.01, f.b), 1e-5 + 1e-6 / f.b));
        assert_true(is_near(law.unit, f.unit, 1e-6));
        assert_true(is_near(law.bound, 2 * (log2(plan.epochs) + 2) * f.unit, 1e-6));
        assert_true(law.cost <= law.epsilon + 1e-12);
        assert_true(law.figures.n_votes == (uint32_t)floor(law.epsilon / (4 * law.a) + 1e-9));
        double n = plan.users,
               needed = n * law.vote_rare +
                        sqrt(n * log(10 * plan.epochs * pow(10, plan.delta_exp)) / 2);
        assert_true(is_near((double)agg_track_votes_needed(&law, plan.users), ceil(needed), 1e-5));
    }
    assert_true(n_runs > 500);
}

static shoal_evolving_plan issue_plan(void)
{
    return (shoal_evolving_plan){.eps_micro = 4000000,
                                 .users = 100000,
                                 .epochs = 1000,
                                 .samples = 100000,
                                 .smallest_group = 100000,
                                 .groups = 1,
                                 .delta_exp = 6};
}

static void test_waits(void **state)
{
    shoal_evolving_plan plan = issue_plan();
    agg_track_law law;
    (void)state;
    agg_track_law_of(&law, &plan);
    assert_int_equal(law.figures.levels, 9);
    assert_int_equal(agg_track_level(&law, 0.3), 9); // beyond 10 units of 0.02635
    assert_int_equal(agg_track_wait(&law, 9), 0);
    assert_int_equal(agg_track_level(&law, 2.5 * law.unit), 1);
    assert_int_equal(agg_track_wait(&law, 1), 255);
    assert_int_equal(agg_track_level(&law, -2.5 * law.unit), 1); // whichever way
    assert_int_equal(agg_track_level(&law, 1.5 * law.unit), 0);
    assert_int_equal(agg_track_wait(&law, 0), 511);
    assert_int_equal(agg_track_level(&law, law.unit), -1); // strictly
    assert_int_equal(agg_track_level(&law, 0), -1);
}

// What a refusal names does work, and one less does not.
static void test_why_not(void **state)
{
    char why[AGG_TRACK_WHY_MAX];
    shoal_evolving_plan plan = issue_plan();
    agg_track_law law;
    (void)state;
    agg_track_law_of(&law, &plan);
    assert_int_equal(agg_track_why_not(why, &law), 0);
    plan.smallest_group = 5000;
    agg_track_law_of(&law, &plan);
    assert_int_equal(law.fault, AGG_TRACK_GROUP);
    assert_int_equal(agg_track_why_not(why, &law), 1);
    assert_non_null(strstr(why, "the smallest that works is 11850"));
    plan.eps_micro = 16000000; // a is near 1 there, and a device must have room for a vote
    plan.smallest_group = (uint32_t)law.group_needed;
    agg_track_law_of(&law, &plan);
    assert_int_equal(law.fault, AGG_TRACK_RUNS);
    plan.smallest_group--;
    agg_track_law_of(&law, &plan);
    assert_int_equal(law.fault, AGG_TRACK_GROUP);
    plan = issue_plan();
    plan.samples = 10000000;
    agg_track_law_of(&law, &plan);
    assert_int_equal(agg_track_why_not(why, &law), 1);
    assert_non_null(strstr(why, "parameters."));
}

// ---- chains ----

// An accumulator of n reports of which so many are yes and so many estimates are 1.
static void make_acc(agg_accumulator *acc, const agg_recipe *recipe, uint64_t n, uint32_t yes,
                     uint32_t ones)
{
    agg_error error;
    assert_ok(agg_accumulator_init(acc, &error, &recipe->recipe));
    acc->n = n;
    acc->parts[0].cells.ones[0] = yes;
    acc->parts[1].cells.ones[0] = ones;
}

static void next_recipe(agg_recipe *after, const agg_recipe *recipe, int is_update)
{
    agg_error error;
    char *text = NULL;
    agg_next_epoch next = {.epoch = recipe->recipe.round_index,
                           .epochs = recipe->recipe.epochs,
                           .is_update = is_update};
    assert_ok(agg_next_epoch_text(&text, &error, recipe, &next));
    read_recipe(after, text);
    free(text);
}

// One more epoch of a series whose recipes follow one another.
static void add(agg_track *track, agg_recipe *recipe, uint32_t yes, uint32_t ones, int is_update)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_accumulator acc;
    agg_recipe after;
    make_acc(&acc, recipe, 20000, yes, ones);
    if (agg_track_add(track, &error, "epoch", recipe, &acc) != SHOAL_OK) fail_msg("%s", error.text);
    agg_accumulator_release(&acc);
    next_recipe(&after, recipe, is_update);
    agg_recipe_release(recipe);
    *recipe = after;
}

#define QUIET 9000u // yes votes: 45 %, a rare side of 0.451
#define LOUD 10500u

static void test_values(void **state)
{
    agg_error error;
    agg_track track;
    agg_recipe recipe;
    (void)state;
    agg_track_init(&track, 0.9);
    read_epoch(&recipe, "4", 100, "{\"index\":1}");
    add(&track, &recipe, QUIET, 7777, 0);
    add(&track, &recipe, LOUD, 7777, 1);
    add(&track, &recipe, QUIET, 12000, 0); // the estimates of epoch 2
    add(&track, &recipe, LOUD, 7777, 1);
    assert_ok(agg_track_finish(&track, &error));
    assert_int_equal(track.n_rows, 4);
    const agg_track_row *rows = track.rows;
    // the middle of the range, no estimate
    assert_true(rows[0].value == 1 && isnan(rows[0].stderr_) && rows[0].of == 0 &&
                !rows[0].is_update);
    // 0.6 of ones, q = 1/(e^b + 1), range 4 from -1; z of 90 %
    double e = exp(track.law.b), q = 1 / (e + 1), fraction = (0.6 - q) / (1 - 2 * q);
    double spread = 4 * sqrt(0.24 / 20000) / (1 - 2 * q);
    assert_true(rows[1].is_update && !rows[1].is_pending && rows[1].of == 2);
    assert_true(is_near(rows[1].value, -1 + 4 * fraction,
                        1e-5)); // the coin is that of the core, just below
    assert_true(is_near(rows[1].stderr_, spread, 1e-5));
    assert_true(is_near(rows[1].high - rows[1].value, 1.6448536 * spread, 1e-5));
    assert_true(is_near(rows[1].value - rows[1].low, 1.6448536 * spread, 1e-5));
    assert_true(rows[2].value == rows[1].value && rows[2].of == 2 && !rows[2].is_update);
    // an update whose estimates are not in has no value
    assert_true(rows[3].is_update && rows[3].is_pending && isnan(rows[3].value));
    assert_int_equal(agg_track_updates_left(&track), track.law.figures.n_estimates - 1);
    assert_int_equal(track.n_other, 0);
    const double truth[] = {1, rows[1].value, rows[1].value - 0.3, 99};
    double rms, largest;
    agg_track_error(&rms, &largest, &track, truth); // over three epochs, one of them 0.3 off
    assert_true(is_near(rms, 0.3 / sqrt(3), 1e-9) && is_near(largest, 0.3, 1e-9));
    agg_recipe_release(&recipe);
    agg_track_release(&track);
}

// What devices were asked, not what the votes would say now.
static void test_recipe_decides(void **state)
{
    agg_error error;
    agg_track track;
    agg_recipe recipe;
    char note[AGG_TRACK_NOTE_MAX];
    (void)state;
    agg_track_init(&track, 0.95);
    read_epoch(&recipe, "4", 100, "{\"index\":1}");
    add(&track, &recipe, LOUD, 10000, 0);
    add(&track, &recipe, QUIET, 10000, 1);
    add(&track, &recipe, QUIET, 10000, 0);
    assert_ok(agg_track_finish(&track, &error));
    assert_true(!track.rows[0].is_update && track.rows[1].is_update && track.n_other == 2);
    assert_true(agg_track_note(note, &track, 0) &&
                strstr(note, "2 epochs: the next recipe decided otherwise") != NULL);
    assert_false(agg_track_note(note, &track, 1));
    agg_recipe_release(&recipe);
    agg_track_release(&track);
}

// Devices answer as many updates as their epsilon has room for; the noise of later ones is no
// value.
static void test_frozen(void **state)
{
    agg_error error;
    agg_track track;
    agg_recipe recipe;
    char note[AGG_TRACK_NOTE_MAX];
    (void)state;
    agg_track_init(&track, 0.95);
    read_epoch(&recipe, "4", 100, "{\"index\":1}");
    uint32_t most = 0;
    for (uint32_t t = 1; t <= 7; t++) {
        add(&track, &recipe, LOUD, t > 1 ? 8000 + 100 * t : 0, 1);
        most = track.law.figures.n_estimates;
    }
    assert_int_equal(most, 4); // b = 0.488
    assert_ok(agg_track_finish(&track, &error));
    assert_int_equal(agg_track_updates_left(&track), 0);
    assert_int_equal(track.n_updates, 4);
    assert_int_equal(track.n_called, 7);
    assert_false(track.rows[3].is_frozen);
    for (uint32_t i = 4; i < 7; i++) {
        assert_true(track.rows[i].is_frozen && track.rows[i].is_update);
        assert_true(track.rows[i].value == track.rows[3].value && track.rows[i].of == 4);
    }
    assert_true(agg_track_note(note, &track, 0) && strstr(note, "frozen since epoch 4") != NULL);
    assert_non_null(strstr(note, "3 later updates were called and not answered"));
    agg_recipe_release(&recipe);
    agg_track_release(&track);
}

typedef struct chain {
    agg_track track;
    agg_recipe third; // what would follow
} chain;

static void start_chain(chain *c)
{
    agg_track_init(&c->track, 0.95);
    read_epoch(&c->third, "4", 100, "{\"index\":1}");
    add(&c->track, &c->third, QUIET, 0, 0);
    add(&c->track, &c->third, QUIET, 0, 0);
}

static void refuse(chain *c, const agg_recipe *recipe, const agg_recipe *of, uint64_t n,
                   agg_err code, const char *says)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_accumulator acc;
    make_acc(&acc, of, n, QUIET / 20, 0);
    assert_err(agg_track_add(&c->track, &error, "0003.acc", recipe, &acc), code);
    if (strstr(error.text, says) == NULL) fail_msg("%s", error.text);
    assert_int_equal(strncmp(error.text, "0003.acc: ", 10), 0);
    assert_int_equal(c->track.n_rows, 2);
    agg_accumulator_release(&acc);
}

static void test_breaks(void **state)
{
    char round[160], hex[65];
    agg_recipe other, fourth;
    chain c;
    (void)state;
    start_chain(&c);
    next_recipe(&fourth, &c.third, 0);
    refuse(&c, &fourth, &fourth, 20000, AGG_ERR_USAGE, "is epoch 4: epoch 3 is missing");
    next_recipe(&other, &fourth, 0);
    refuse(&c, &other, &other, 20000, AGG_ERR_USAGE, "is epoch 5: epochs 3 to 4 are missing");
    agg_recipe_release(&other);
    read_epoch(&other, "4", 100, "{\"index\":1}");
    refuse(&c, &other, &other, 20000, AGG_ERR_USAGE, "is epoch 1, which was given before");
    agg_recipe_release(&other);
    agg_hex(hex, c.third.recipe.round_previous, 32);
    snprintf(round, sizeof round, "{\"index\":3,\"previous\":\"%s\"}", hex);
    read_epoch(&other, "5", 100, round);
    refuse(&c, &other, &other, 20000, SHOAL_ERR_RECIPE_HASH, "belongs to another run");
    agg_recipe_release(&other);
    hex[0] = hex[0] == '0' ? '1' : '0';
    snprintf(round, sizeof round, "{\"index\":3,\"previous\":\"%s\"}", hex);
    read_epoch(&other, "4", 100, round);
    refuse(&c, &other, &other, 20000, SHOAL_ERR_RECIPE_HASH,
           "does not follow the recipe of epoch 2");
    agg_recipe_release(&other);
    refuse(&c, &c.third, &fourth, 20000, SHOAL_ERR_RECIPE_HASH, "belongs to recipe run");
    refuse(&c, &c.third, &c.third, 999, AGG_ERR_COHORT, "999 reports are fewer");
    read_epoch(&other, "4", 100, "{\"index\":1,\"update\":1}");
    refuse(&c, &other, &c.third, 20000, AGG_ERR_USAGE,
           "is epoch 1 and says that there was an update before it");
    agg_recipe_release(&other);
    sketch_recipe(&other, "cms", 2, 64, 64);
    refuse(&c, &other, &c.third, 20000, AGG_ERR_USAGE, "not a recipe of thresh or heavythresh");
    agg_recipe_release(&other);
    add(&c.track, &c.third, QUIET, 0, 0); // and the one that belongs there is taken
    assert_int_equal(c.track.n_rows, 3);
    agg_recipe_release(&fourth);
    agg_recipe_release(&c.third);
    agg_track_release(&c.track);
}

// The recipe after epoch T brings the last estimates, and no row.
static void test_closing(void **state)
{
    agg_error error;
    agg_track track;
    agg_recipe recipe;
    (void)state;
    agg_track_init(&track, 0.95);
    read_epoch(&recipe, "8", 4, "{\"index\":1}");
    for (int t = 0; t < 3; t++) add(&track, &recipe, QUIET, 0, 0);
    add(&track, &recipe, 15000, 0, 1);
    assert_int_equal(recipe.recipe.round_index, 5);
    agg_accumulator acc;
    make_acc(&acc, &recipe, 20000, 15000, 12000);
    assert_ok(agg_track_add(&track, &error, "closing", &recipe, &acc));
    assert_err(agg_track_add(&track, &error, "closing", &recipe, &acc), AGG_ERR_USAGE);
    agg_recipe after;
    next_recipe(&after, &recipe, 1);
    assert_err(agg_track_add(&track, &error, "after", &after, &acc), AGG_ERR_USAGE);
    assert_string_equal(error.text, "after: is epoch 6, but the run ends with epoch 4");
    agg_recipe_release(&after);
    assert_ok(agg_track_finish(&track, &error));
    assert_int_equal(track.n_rows, 4);
    assert_true(track.rows[3].is_update && track.rows[3].of == 4 && track.rows[3].value > 1);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    agg_track_release(&track);
}

// ---- the next epoch ----

static agg_next_epoch decide(const agg_recipe *recipe, uint64_t n, uint32_t yes)
{
    agg_error error;
    agg_accumulator acc;
    agg_next_epoch next;
    make_acc(&acc, recipe, n, yes, 0);
    assert_ok(agg_next_epoch_decide(&next, &error, recipe, &acc));
    agg_accumulator_release(&acc);
    return next;
}

static void test_next_epoch(void **state)
{
    agg_error error;
    agg_recipe recipe, after;
    agg_accumulator acc;
    agg_next_epoch next;
    (void)state;
    read_epoch(&recipe, "4", 100, "{\"index\":1}");
    // More than 20000/(e^a + 1) + sqrt(20000 ln(10^9)/2) = 9022.7 + 455.2 of 20,000 with a =
    // 0.196...
    uint32_t needed = (uint32_t)decide(&recipe, 20000, 0).needed;
    double a = recipe.recipe.parts[0].eps_micro / 1e6, mean = 20000 / (exp(a) + 1),
           spread = sqrt(20000 * log(1e9) / 2);
    assert_true(fabs(needed - (mean + spread)) <= 1.5);
    assert_false(decide(&recipe, 20000, needed - 1).is_update);
    assert_true(decide(&recipe, 20000, needed).is_update);
    assert_true(decide(&recipe, 10000, 0).needed > needed / 2); // fewer reports, more noise
    make_acc(&acc, &recipe, 999, 999, 0);
    assert_err(agg_next_epoch_decide(&next, &error, &recipe, &acc), AGG_ERR_COHORT);
    agg_accumulator_release(&acc);
    next_recipe(&after, &recipe, 1);
    assert_int_equal(after.recipe.round_index, 2);
    assert_int_equal(after.recipe.round_update, 1);
    assert_memory_equal(after.recipe.round_previous, recipe.recipe.query_hash, 32);
    assert_memory_equal(after.recipe.run_hash, recipe.recipe.run_hash, 32);
    assert_memory_not_equal(after.recipe.recipe_hash, recipe.recipe.recipe_hash, 32);
    agg_recipe_release(&after);
    agg_recipe_release(&recipe);
}

static void test_last_epochs(void **state)
{
    agg_recipe recipe, closing;
    (void)state;
    read_epoch(&recipe, "8", 4,
               "{\"index\":4,\"previous\":"
               "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"}");
    agg_next_epoch quiet = decide(&recipe, 20000, 0), loud = decide(&recipe, 20000, 19000);
    assert_true(!quiet.is_update && quiet.is_over);
    assert_true(loud.is_update && !loud.is_over);
    next_recipe(&closing, &recipe, 1);
    agg_next_epoch end = decide(&closing, 20000, 19000);
    assert_true(!end.is_update && end.is_over); // votes of no epoch
    agg_recipe_release(&closing);
    agg_recipe_release(&recipe);
}

// ---- print ----

static char *printed(const agg_track_result *result, agg_track_format format)
{
    agg_error error;
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    assert_ok(agg_track_print(stream, &error, result, format));
    fclose(stream);
    return text;
}

static void test_print(void **state)
{
    agg_error error;
    agg_track track;
    agg_recipe recipe;
    (void)state;
    agg_track_init(&track, 0.95);
    read_epoch(&recipe, "4", 100, "{\"index\":1}");
    add(&track, &recipe, LOUD, 0, 1);
    add(&track, &recipe, QUIET, 12000, 0);
    add(&track, &recipe, LOUD, 0, 1);
    assert_ok(agg_track_finish(&track, &error));
    const double truth[] = {2, 2, 2};
    const agg_track_result result = {.track = &track, .truth = truth};
    const struct {
        agg_track_format format;
        const char *holds[4];
    } expected[] = {
        {AGG_TRACK_TABLE,
         {"update, value to come", "devices answered 1 and have 3 left", "against the truth",
          "epoch 3 is an update"}},
        {AGG_TRACK_JSON,
         {"\"updates_left\":3", "\"rms_error\":", "\"value\":null", "\"pending\":true"}},
        {AGG_TRACK_CSV,
         {"epoch,of,value,stderr,low,high,n,votes,needed,update,pending,frozen,truth\n", "\n1,1,",
          "\n3,1,,,,,20000,", ",1,1,0,2\n"}},
        {AGG_TRACK_SVG, {"<svg ", "<polyline", "3 left", "</svg>\n"}}};
    for (size_t i = 0; i < 4; i++) {
        char *text = printed(&result, expected[i].format);
        for (size_t j = 0; j < 4; j++)
            if (strstr(text, expected[i].holds[j]) == NULL)
                fail_msg("%s: not in\n%s", expected[i].holds[j], text);
        free(text);
    }
    agg_recipe_release(&recipe);
    agg_track_release(&track);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_why_not),        cmocka_unit_test(test_values),
        cmocka_unit_test(test_frozen),         cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_recipe_decides), cmocka_unit_test(test_closing),
        cmocka_unit_test(test_next_epoch),     cmocka_unit_test(test_last_epochs),
        cmocka_unit_test(test_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
