// SPDX-License-Identifier: Apache-2.0
// Distributions of numbers: derivatives of both likelihoods, what exact observations give, coverage
// of intervals on fixed seeds, piles at the ends of the range, and what is refused.
#include "agg_test.h"

#include <math.h>

#include "density_sources.h"
#include "distribution.h"
#include "estimator.h"
#include "recipe.h"
#include "square_wave.h"

#define DEVICES 4000u
#define TRIALS 40u

static agg_place_law law_of(double epsilon)
{
    shoal_part part = {.mechanism = shoal_square_wave_id,
                       .domain = SHOAL_DOMAIN_NUMBER,
                       .eps_micro = (uint32_t)lround(epsilon * 1e6)};
    agg_place_law law;
    const char *field;
    assert_ok(shoal_part_prepare(&part, &field));
    agg_place_law_of(&law, &part, shoal_square_wave_steps(&part));
    return law;
}

// The distribution function of x^2 (3 - 2 x), a smooth hill.
static double hill_below(double x)
{
    return x * x * (3 - 2 * x);
}

static void hill(double *shares, const agg_density_data *data)
{
    for (size_t j = 0; j < data->n_cells; j++)
        shares[j] = hill_below(data->edges[j + 1]) - hill_below(data->edges[j]);
}

// Sets the places that a million devices of the hill would send on average, rounded.
static void observe_hill(agg_density_observed *observed, double epsilon)
{
    agg_place_law law = law_of(epsilon);
    uint32_t cells[AGG_DENSITY_PLACES_MAX] = {0};
    double shares[AGG_DENSITY_CELLS_MAX];
    agg_density_of_places(observed, &law, cells);
    hill(shares, &observed->data);
    for (uint32_t y = 0; y < law.places; y++) {
        double p = 0;
        for (uint32_t j = 0; j <= law.steps; j++)
            p += shares[j] * agg_place_probability(&law, y, (double)j / law.steps);
        cells[y] = (uint32_t)lround(1e6 * p);
    }
    agg_density_of_places(observed, &law, cells);
}

static void observe_buckets(agg_density_observed *observed, size_t n, double total)
{
    double counts[1000], errors[1000];
    for (size_t b = 0; b < n; b++) {
        double low = (double)b / (double)n, high = (double)(b + 1) / (double)n;
        counts[b] = 1e6 * (hill_below(high) - hill_below(low));
        errors[b] = 300;
    }
    assert_true(agg_density_of_buckets(observed, total, counts, errors, n));
}

// The gradient is that of the log likelihood, and the information its expected curvature: at the
// true shares the likelihood falls by half the form of the information.
static void check_derivatives(const agg_density_observed *observed)
{
    const agg_density_data *data = &observed->data;
    size_t n = data->n_cells;
    double shares[AGG_DENSITY_CELLS_MAX], gradient[AGG_DENSITY_CELLS_MAX];
    double *information = calloc(n * n, sizeof *information);
    assert_non_null(information);
    hill(shares, data);
    data->curvature(gradient, information, data, shares);
    double middle = data->log_likelihood(data, shares);
    for (size_t j = n / 8; j < n / 2; j += n / 7) {
        size_t k = j + n / 3; // the cell that gives what cell j takes
        double h = shares[j] / 16, up, down;
        shares[j] += h;
        shares[k] -= h;
        up = data->log_likelihood(data, shares);
        shares[j] -= 2 * h;
        shares[k] += 2 * h;
        down = data->log_likelihood(data, shares);
        shares[j] += h;
        shares[k] -= h;
        double bent = -(up - 2 * middle + down) / (h * h), slope = (up - down) / (2 * h);
        double stated = gradient[j] - gradient[k];
        double form = information[j * n + j] - 2 * information[k * n + j] + information[k * n + k];
        if (!(fabs(slope - stated) < 1e-3 * fabs(gradient[j]) + 1))
            fail_msg("cell %zu of %zu: slope %g, stated %g", j, n, slope, stated);
        if (!(fabs(bent / form - 1) < 0.02))
            fail_msg("cell %zu of %zu: bent %g instead of %g", j, n, bent, form);
    }
    free(information);
}

static void likelihoods_have_their_derivatives(void **state)
{
    static agg_density_observed observed;
    (void)state;
    observe_hill(&observed, 2);
    check_derivatives(&observed);
    for (double total = 0; total < 2e6; total += 1e6) { // not known, and known
        observe_buckets(&observed, 32, total);
        check_derivatives(&observed);
    }
    observe_buckets(&observed, 1000, 1e6);
    assert_int_equal(observed.data.n_cells, 250); // four buckets each
    assert_true(observed.edges[250] == 1 && fabs(observed.edges[1] - 0.004) < 1e-12);
    check_derivatives(&observed);
}

// Observations without noise give the distribution back, within its own errors.
static void check_exact(const agg_density_observed *observed)
{
    const agg_density_range ranges[] = {{0, 0.1}, {0, 0.5}, {0, 0.9}, {0.37, 0.41}, {0, 1}, {0, 0}};
    agg_density_share shares[6];
    agg_error error;
    assert_ok(agg_density_fit(shares, &error, &observed->data, ranges, 6));
    for (int i = 0; i < 4; i++) {
        double truth = hill_below(ranges[i].high) - hill_below(ranges[i].low);
        if (fabs(shares[i].share - truth) > 0.5 * shares[i].stderr_ || shares[i].stderr_ > 0.01)
            fail_msg("range %d: %g with error %g instead of %g", i, shares[i].share,
                     shares[i].stderr_, truth);
    }
    assert_true(fabs(shares[4].share - 1) < 1e-9 && shares[4].stderr_ < 1e-6);
    assert_true(shares[5].share == 0);
}

static void exact_observations_give_the_truth(void **state)
{
    static agg_density_observed observed;
    (void)state;
    observe_hill(&observed, 1);
    check_exact(&observed);
    observe_hill(&observed, 4);
    check_exact(&observed);
    observe_buckets(&observed, 10, 1e6);
    check_exact(&observed);
}

static void number_recipe(agg_recipe *recipe, const char *mechanism, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"spread\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"number\","
             "\"mechanism\":\"%s\",\"parameters\":{\"epsilon\":2,\"low\":-10,\"high\":30%s},"
             "\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1},\"expires\":\"2030-01-01\"}",
             mechanism, more);
    read_recipe(recipe, text);
}

// Estimates the numbers -10 + 40 draw(u) of uniform u.
static void estimate_once(agg_distribution *d, const char *mechanism, const char *more,
                          double (*draw)(double), unsigned trial)
{
    const agg_distribution_options options = {.n_quantiles = 3, .quantiles = {0.2, 0.5, 0.9}};
    uint8_t seed[32] = {19, (uint8_t)trial};
    static uint8_t records[DEVICES * 64];
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    shoal_rng rng;
    number_recipe(&recipe, mechanism, more);
    size_t size = recipe.recipe->record_size;
    assert_true(size <= 64);
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DEVICES; i++) {
        double u = (double)(shoal_rng_u64(&rng) >> 11) * 0x1p-53;
        int64_t micro = (int64_t)llround(1e6 * (-10 + 40 * draw(u)));
        uint64_t item = shoal_recipe_number_item(recipe.recipe, micro);
        assert_ok(shoal_record_randomize(records + i * size, recipe.recipe, &item, 1, NULL, &rng));
    }
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_ok(agg_accumulator_add(&acc, &error, records, DEVICES, 1));
    assert_ok(agg_distribution_run(d, &error, &recipe, &acc, &options));
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static double squared(double u)
{
    return u * u;
}

// Inverts hill_below.
static double hilly(double u)
{
    return 0.5 - sin(asin(1 - 2 * u) / 3);
}

// 95 % intervals of 40 trials, for three quantiles and the share of one bin: each covers 38 on
// average, with a standard deviation of 1.4; 32 is 4 of them below. All 160 together are 152 with a
// deviation of less than 5, since those of one trial hang together: 134 to 159.
static void check_coverage(const char *mechanism, const char *more, double (*draw)(double),
                           double share)
{
    unsigned covered[4] = {0}, all = 0;
    const unsigned n_trials = effort(TRIALS, TRIALS, 2);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        agg_distribution d;
        estimate_once(&d, mechanism, more, draw, trial);
        assert_int_equal(d.n_bins, 16);
        for (int i = 0; i < 3; i++) {
            double truth = -10 + 40 * draw(d.quantiles[i].p);
            covered[i] += d.quantiles[i].low <= truth && truth <= d.quantiles[i].high;
        }
        covered[3] += d.bins[4].low <= share && share <= d.bins[4].high;
        agg_distribution_release(&d);
    }
    if (n_trials < TRIALS) return; // too few to judge
    for (int i = 0; i < 4; i++) {
        all += covered[i];
        if (covered[i] < 32) fail_msg("%s: interval %d covers %u of 40", mechanism, i, covered[i]);
    }
    if (all < 134 || all > 159) fail_msg("%s: %u of 160 intervals cover", mechanism, all);
}

static void intervals_cover(void **state)
{
    (void)state;
    const double of_hill = hill_below(5.0 / 16) - hill_below(4.0 / 16);
    check_coverage("square-wave", "", squared, sqrt(5.0 / 16) - sqrt(4.0 / 16));
    check_coverage("grr", ",\"size\":12", hilly, of_hill);
    check_coverage("onehot-asymmetric", ",\"size\":40", hilly, of_hill);
}

static double mostly_below(double u)
{
    return u < 0.4 ? 0 : u;
}

// Numbers below the range count as its lower end: quantiles among them are that end.
static void piles_at_the_ends(void **state)
{
    agg_distribution d;
    (void)state;
    estimate_once(&d, "square-wave", "", mostly_below, 1);
    assert_true(d.quantiles[0].low == -10 && d.quantiles[0].value < -9);
    assert_true(d.quantiles[1].low > 0 && d.quantiles[1].high < 20);
    double before = 0;
    for (size_t i = 0; i < d.n_steps; i++) {
        assert_true(d.steps[i].share >= before && d.steps[i].from == -10);
        before = d.steps[i].share;
    }
    assert_true(fabs(before - 1) < 1e-9 && d.steps[d.n_steps - 1].to == 30);
    agg_distribution_release(&d);
}

static void check_refused(const char *json, agg_err err, const char *words)
{
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    agg_distribution d;
    const agg_distribution_options options = {.n_quantiles = 1, .quantiles = {0.5}};
    read_recipe(&recipe, json);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    assert_int_equal(agg_distribution_run(&d, &error, &recipe, &acc, &options), err);
    assert_non_null(strstr(error.text, words));
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

#define RECIPE(value, mechanism, parameters, more)                                                 \
    "{\"recipe\":\"spread\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"" value                \
    "\",\"mechanism\":\"" mechanism "\",\"parameters\":{\"epsilon\":2," parameters                 \
    "},\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":1}" more ",\"expires\":\"2030-01-01\"}"

static void refusals(void **state)
{
    (void)state;
    check_refused(RECIPE("item", "grr", "\"size\":4", ""), AGG_ERR_USAGE, "no number");
    check_refused(RECIPE("number", "piecewise", "\"low\":0,\"high\":1", ""), AGG_ERR_USAGE, "mean");
    check_refused(RECIPE("number", "square-wave", "\"low\":0,\"high\":1", ""), AGG_ERR_COHORT,
                  "cohort");
    check_refused(RECIPE("number", "grr", "\"low\":0,\"high\":1,\"size\":4", ""), AGG_ERR_COHORT,
                  "cohort");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihoods_have_their_derivatives),
        cmocka_unit_test(exact_observations_give_the_truth),
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(piles_at_the_ends),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
