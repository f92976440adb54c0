// SPDX-License-Identifier: Apache-2.0
// Runs the parts of a joint analysis; see joint_analysis.h.
#include "joint_analysis.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "chi_square.h"
#include "estimate.h"
#include "joint_chain.h"
#include "joint_covariance.h"
#include "joint_em.h"
#include "joint_wald.h"
#include "recipe.h"
#include "window_picks.h"

static const agg_text other = {"Other", 5}, rest = {"<other>", 7}, the_rest = {"<Other>", 7};

static bool is_same(agg_text a, agg_text b)
{
    return agg_text_compare(a, b) == 0;
}

static bool is_label(const agg_joint_choice *choice, agg_text text)
{
    for (uint32_t i = 0; i < choice->n; i++)
        if (is_same(choice->labels[i], text)) return true;
    return false;
}

// Returns: a label for the rest that no named category has.
static agg_text rest_label(const agg_joint_choice *choice)
{
    if (!is_label(choice, other)) return other;
    return is_label(choice, rest) ? the_rest : rest;
}

agg_err agg_joint_may_run(agg_error *error, const agg_recipe *recipe, const agg_accumulator *acc)
{
    if (recipe->recipe->n_variables < 2)
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "recipe %s has one value; a joint distribution needs a recipe with variables",
            recipe->id);
    agg_err err = agg_estimate_check(error, recipe, acc);
    if (err != SHOAL_OK || agg_accumulator_keeps_records(acc)) return err;
    return agg_fail(
        error, SHOAL_ERR_ARGUMENT, AGG_EXIT_PRIVACY,
        "recipe %s: the records are gone, which are kept %u day%s after their block "
        "closed or until the analysis is done; sums do not say what came together. shoal "
        "estimate --variable has each variable alone",
        recipe->id, recipe->recipe->keep_days, recipe->recipe->keep_days == 1 ? "" : "s");
}

static agg_err set_axes(agg_joint_analysis *a, agg_error *error, const agg_joint_choice *choices,
                        uint32_t n)
{
    agg_joint_result *r = &a->result;
    uint64_t n_cells = 1;
    if (n < 2 || n > r->recipe->recipe->n_variables)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "a joint distribution needs two variables or more");
    for (uint32_t v = 0; v < n; v++) {
        const agg_joint_choice *c = &choices[v];
        const shoal_name *name = &r->recipe->recipe->variables[c->variable].name;
        uint32_t size = c->n + (c->has_other != 0);
        n_cells *= size;
        if (size > AGG_JOINT_TABLE_MAX || n_cells > AGG_JOINT_TABLE_MAX)
            return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                            "a table has at most %u cells: --top N keeps the N largest categories "
                            "of each variable, and --variables keeps some of the variables",
                            AGG_JOINT_TABLE_MAX);
        memcpy(a->labels[v], c->labels, c->n * sizeof *c->labels);
        if (c->has_other) a->labels[v][c->n] = rest_label(c);
        r->axes[v] = (agg_joint_axis){{name->bytes, name->len}, size, a->labels[v], c->has_other};
    }
    r->n_axes = n;
    r->n_cells = (size_t)n_cells;
    return SHOAL_OK;
}

static agg_err reserve(agg_joint_analysis *a, agg_error *error)
{
    agg_joint_result *r = &a->result;
    a->cells = agg_alloc(error, r->n_cells, sizeof *a->cells);
    a->rates = agg_alloc(error, r->n_cells, sizeof *a->rates);
    bool has_all = a->cells != NULL && a->rates != NULL;
    for (uint32_t v = 0; v < r->n_axes; v++) {
        a->marginals[v] = agg_alloc(error, r->axes[v].n, sizeof *a->marginals[v]);
        has_all &= a->marginals[v] != NULL;
        r->marginals[v] = a->marginals[v];
    }
    r->cells = a->cells;
    r->rates = r->n_axes == 2 ? a->rates : NULL;
    r->pairs = a->pairs;
    return has_all ? SHOAL_OK : AGG_ERR_MEMORY;
}

// Clears the rates of categories with less than half a report, which determine no rates.
static void clear_rates(agg_joint_analysis *a)
{
    const agg_joint_share none = {NAN, INFINITY, 0, 1};
    const agg_joint_result *r = &a->result;
    uint32_t columns = r->axes[1].n;
    for (size_t cell = 0; cell < r->n_cells; cell++) {
        size_t category = r->given == 0 ? cell / columns : cell % columns;
        if (r->marginals[r->given][category].p * (double)r->n < 0.5) a->rates[cell] = none;
    }
}

// Computes the rates in the order of the cells; agg_joint_rates gives a row each given category.
static agg_err find_rates(agg_joint_analysis *a, agg_error *error,
                          const agg_joint_covariance *covariance)
{
    agg_joint_result *r = &a->result;
    uint32_t rows = r->axes[0].n, columns = r->axes[1].n;
    if (r->given == 0) return agg_joint_rates(a->rates, error, covariance, 0, 1, r->confidence);
    agg_joint_share *turned = agg_alloc(error, r->n_cells, sizeof *turned);
    if (turned == NULL) return AGG_ERR_MEMORY;
    agg_err err = agg_joint_rates(turned, error, covariance, 1, 0, r->confidence);
    for (uint32_t i = 0; err == SHOAL_OK && i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            a->rates[(size_t)i * columns + j] = turned[(size_t)j * rows + i];
    free(turned);
    return err;
}

// Divides the statistic by the design effect of the slots of one window (window_picks.h), which
// bounds the variance of every linear statistic of the reports.
static void allow_for_slots(agg_joint_wald *wald, const shoal_recipe *recipe)
{
    double design = agg_picks_design(recipe);
    if (design <= 1 || wald->df == 0) return;
    wald->statistic /= design;
    wald->p_value = agg_chi_square_tail(wald->statistic, (double)wald->df);
}

static void widen(agg_joint_covariance *covariance, const shoal_recipe *recipe)
{
    double design = agg_picks_design(recipe);
    size_t n = covariance->n_cells;
    for (size_t i = 0; design > 1 && i < n * n; i++) covariance->matrix[i] *= design;
}

static agg_err test_pairs(agg_joint_analysis *a, agg_error *error, const agg_joint_data *data,
                          const double *p, const agg_joint_covariance *covariance)
{
    agg_joint_result *r = &a->result;
    for (uint32_t i = 0; i < r->n_axes; i++)
        for (uint32_t j = i + 1; j < r->n_axes; j++) {
            agg_joint_wald wald;
            agg_err err = r->is_em_wald ? agg_joint_wald_em(&wald, error, covariance, i, j)
                                        : agg_joint_wald_linear(&wald, error, data, p, i, j);
            if (err != SHOAL_OK) return err;
            if (!r->is_em_wald) allow_for_slots(&wald, r->recipe->recipe);
            a->pairs[r->n_pairs++] =
                (agg_joint_independence){i, j, wald.statistic, (uint32_t)wald.df, wald.p_value};
        }
    return SHOAL_OK;
}

static agg_err say_how_sure(agg_joint_analysis *a, agg_error *error, const agg_joint_data *data,
                            const double *p, const agg_joint_analysis_options *options)
{
    agg_joint_result *r = &a->result;
    agg_joint_covariance covariance;
    agg_err err = agg_joint_covariance_make(&covariance, error, data, p, options->n_threads);
    if (err != SHOAL_OK) return err;
    widen(&covariance, r->recipe->recipe);
    r->rank = covariance.rank;
    r->n_free = covariance.n_free;
    agg_joint_cells(a->cells, &covariance, r->confidence);
    for (uint32_t v = 0; err == SHOAL_OK && v < r->n_axes; v++)
        err = agg_joint_marginal(a->marginals[v], error, &covariance, v, r->confidence);
    if (err == SHOAL_OK && r->rates != NULL) {
        err = find_rates(a, error, &covariance);
        clear_rates(a);
    }
    if (err == SHOAL_OK && options->chain != NULL)
        err = agg_joint_chain(r->reached, r->onward, &r->astray, error, &covariance, options->chain,
                              r->confidence);
    if (err == SHOAL_OK) err = test_pairs(a, error, data, p, &covariance);
    agg_joint_covariance_release(&covariance);
    return err;
}

// The gain in log-likelihood a report at which EM stops. At 1e-10 the worst cell of a 6x6 table of
// 100,000 RAPPOR reports was still 1.1e-5 from the maximum. At 1e-12 it is 3e-7 from it, for a
// third more steps.
#define GAIN 1e-12

static agg_err fit(agg_joint_analysis *a, agg_error *error, const agg_joint_data *data,
                   const agg_joint_analysis_options *given)
{
    agg_joint_result *r = &a->result;
    agg_joint_em_result em;
    agg_joint_em_options options = agg_joint_em_defaults();
    double *p = agg_alloc(error, data->n_cells, sizeof *p);
    if (p == NULL) return AGG_ERR_MEMORY;
    options.gain = GAIN;
    options.n_threads = given->n_threads;
    agg_err err = agg_joint_em(p, &em, error, data, &options);
    if (err == SHOAL_OK) {
        r->iterations = em.iterations;
        r->converged = em.has_converged;
        r->log_likelihood = em.log_likelihood / (double)data->n;
        err = say_how_sure(a, error, data, p, given);
    }
    free(p);
    return err;
}

static agg_err estimate(agg_joint_analysis *a, agg_error *error, const agg_accumulator *acc,
                        const agg_joint_choice *choices, const agg_joint_analysis_options *options)
{
    agg_joint_categories categories[SHOAL_VARIABLES_MAX];
    agg_joint_data data;
    uint32_t n = a->result.n_axes;
    for (uint32_t v = 0; v < n; v++)
        categories[v] = (agg_joint_categories){choices[v].variable, choices[v].n, choices[v].items,
                                               choices[v].shares, choices[v].has_other};
    agg_err err = agg_joint_data_make(&data, error, a->result.recipe->recipe->parts, acc,
                                      categories, n, options->n_threads);
    if (err != SHOAL_OK) return err;
    err = fit(a, error, &data, options);
    agg_joint_data_release(&data);
    return err;
}

uint64_t agg_joint_memory(const agg_recipe *recipe, const agg_accumulator *acc,
                          const agg_joint_choice *choices, uint32_t n_choices)
{
    agg_joint_categories categories[SHOAL_VARIABLES_MAX];
    uint64_t n_cells = 1;
    for (uint32_t v = 0; v < n_choices; v++) {
        categories[v] = (agg_joint_categories){choices[v].variable, choices[v].n, choices[v].items,
                                               choices[v].shares, choices[v].has_other};
        n_cells *= agg_joint_categories_count(&categories[v]);
        if (n_cells > AGG_JOINT_TABLE_MAX) n_cells = AGG_JOINT_TABLE_MAX;
    }
    uint64_t squares = 4 * n_cells * n_cells *
                       sizeof(double); // the information, its inverse, and scratch for both
    uint64_t estimating =
        agg_joint_data_memory(recipe->recipe->parts, acc, categories, n_choices) + squares;
    uint64_t testing = agg_alarms_memory(recipe->recipe);
    return (testing > estimating ? testing : estimating) + sizeof(agg_joint_analysis);
}

// Finds the share from which on cells are shown.
static void find_least(agg_joint_result *r)
{
    size_t n_hidden = 0;
    double next = INFINITY; // the smallest share that would be shown
    r->least = r->n > 0 ? (double)r->recipe->recipe->release_threshold / (double)r->n : 0;
    if (!(r->least > 0)) {
        r->least = -INFINITY;
        return;
    }
    for (size_t i = 0; i < r->n_cells; i++) {
        if (r->cells[i].p < r->least)
            n_hidden++;
        else
            next = fmin(next, r->cells[i].p);
    }
    if (n_hidden == 1 && isfinite(next)) r->least = nextafter(next, INFINITY);
}

agg_err agg_joint_analyse(agg_joint_analysis *analysis, agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc, const agg_joint_choice *choices,
                          uint32_t n_choices, const agg_joint_analysis_options *options)
{
    memset(analysis, 0, sizeof *analysis);
    analysis->result =
        (agg_joint_result){.recipe = recipe,
                           .n = acc->n,
                           .shards = agg_shard_claims_about(&acc->shards),
                           .confidence = options->confidence > 0 ? options->confidence : 0.95,
                           .given = options->given,
                           .is_em_wald = options->is_em_wald};
    agg_err err = agg_joint_may_run(error, recipe, acc);
    if (err == SHOAL_OK) err = set_axes(analysis, error, choices, n_choices);
    if (err == SHOAL_OK) err = reserve(analysis, error);
    if (err == SHOAL_OK)
        err = agg_alarms_test(&analysis->result.alarms, error, recipe->recipe, acc);
    if (err == SHOAL_OK) agg_alarms_finish(&analysis->result.alarms);
    agg_joint_analysis_options set = *options;
    if (set.n_threads == 0) set.n_threads = 1;
    if (err == SHOAL_OK) err = estimate(analysis, error, acc, choices, &set);
    if (err == SHOAL_OK) find_least(&analysis->result);
    if (err != SHOAL_OK) agg_joint_analysis_release(analysis);
    return err;
}

void agg_joint_analysis_release(agg_joint_analysis *analysis)
{
    free(analysis->cells);
    free(analysis->rates);
    for (uint32_t v = 0; v < SHOAL_VARIABLES_MAX; v++) free(analysis->marginals[v]);
    memset(analysis, 0, sizeof *analysis);
}
