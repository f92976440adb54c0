// SPDX-License-Identifier: Apache-2.0
// Runs the three methods and gives the verdict; see audit.h.
#include "audit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "recipe.h"

AGG_PRINTF(2, 3) static void fail(agg_audit *audit, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(audit->failures[audit->n_failures], sizeof audit->failures[0], format, arguments);
    va_end(arguments);
    audit->n_failures++;
}

// Returns: whether x exceeds the bound by more than the rounding error of its sum of doubles.
static bool is_above(double x, double bound)
{
    return x > bound * (1 + AGG_LAW_SLACK) + 1e-12;
}

static void judge_exact(agg_audit *audit)
{
    uint32_t micro = 0;
    audit->exact =
        shoal_recipe_epsilon(&micro, audit->recipe->recipe) == SHOAL_OK ? micro / 1e6 : INFINITY;
    // Both are whole micro-units, so the comparison needs no slack.
    if (audit->exact > audit->claimed)
        fail(audit, "exact: the thresholds give epsilon %.6f, above the claimed %.6f", audit->exact,
             audit->claimed);
}

static void judge_law(agg_audit *audit)
{
    const agg_law *law = &audit->law;
    if (!law->is_enumerated) return;
    if (law->sum_error > AGG_LAW_SLACK)
        fail(audit, "enumerated: the probabilities of some item sum to 1 but for %.3g",
             law->sum_error);
    if (is_above(law->epsilon, audit->claimed))
        fail(audit, "enumerated: the output law has epsilon %.6f, above the claimed %.6f",
             law->epsilon, audit->claimed);
    else if (is_above(law->epsilon, audit->exact))
        fail(audit, "enumerated: the output law has epsilon %.6f, above the closed form's %.6f",
             law->epsilon, audit->exact);
}

static agg_err judge_answer(agg_audit *audit, agg_error *error, unsigned n_threads)
{
    const shoal_recipe *recipe = audit->recipe->recipe;
    uint32_t micro = 0;
    shoal_recipe twin;
    audit->is_permanent = shoal_recipe_is_permanent(recipe);
    if (!audit->is_permanent) return SHOAL_OK;
    const agg_account *account = agg_account_of(recipe->parts[0].mechanism);
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->parts[0].mechanism);
    audit->unlimited =
        mechanism->unlimited(&micro, &recipe->parts[0]) == SHOAL_OK ? micro / 1e6 : INFINITY;
    twin = *recipe;
    if (account->reveal(&twin.parts[0]) != SHOAL_OK)
        return SHOAL_OK; // the permanent answer hides nothing
    agg_err err = agg_law_enumerate(&audit->answer, error, &twin, n_threads);
    if (err == SHOAL_OK && audit->answer.is_enumerated &&
        is_above(audit->answer.epsilon, audit->unlimited))
        fail(audit,
             "unlimited: the permanent answer has epsilon %.6f, above the closed form's %.6f",
             audit->answer.epsilon, audit->unlimited);
    return err;
}

static void judge_records(agg_audit *audit, const agg_draws *draws)
{
    audit->n_refused = draws->n_refused;
    if (draws->n_refused > 0)
        fail(audit, "records: %llu of %llu cannot have been made by the recipe's randomizer; %s",
             (unsigned long long)draws->n_refused, (unsigned long long)audit->n_draws,
             draws->refusal);
}

static void judge_events(agg_audit *audit, const agg_events *events)
{
    const agg_event *best = NULL;
    char what[200];
    audit->n_events = events->n;
    for (uint32_t e = 0; e < events->n; e++)
        if (best == NULL || events->events[e].low > best->low) best = &events->events[e];
    if (best == NULL) return;
    audit->event = *best;
    audit->empirical_low = fmax(best->low, 0);
    if (audit->empirical_low <= audit->claimed) return;
    agg_event_describe(what, sizeof what, best);
    fail(audit,
         "empirical: draws show epsilon of %.6f at least (confidence %.10g), above the claimed "
         "%.6f; by: %s",
         audit->empirical_low, audit->confidence, audit->claimed, what);
}

void agg_audit_part(agg_recipe *one, shoal_recipe *own, const agg_recipe *recipe, uint32_t part)
{
    *one = *recipe;
    one->recipe = own;
    *own = *recipe->recipe;
    own->n_parts = 1;
    own->n_variables = 0;
    own->parts[0] = recipe->recipe->parts[part];
    own->value_part = 0;
    own->mechanism = own->parts[0].mechanism;
    own->value = SHOAL_VALUE_ITEM; // named by its index where the domain is closed
    if (own->parts[0].domain ==
        SHOAL_DOMAIN_NUMBER) { // part of a run; a vote is a number too, 0 or 1
        own->value = SHOAL_VALUE_NUMBER;
        own->low_micro = 0;
        own->high_micro = 1000000;
    }
    own->record_size = own->parts[0].record_size;
    own->text_size = own->parts[0].text_size;
    own->cost_micro = own->parts[0].eps_micro;
}

agg_err agg_audit_run(agg_audit *audit, agg_error *error, const agg_recipe *recipe,
                      const agg_draws *draws, double confidence, unsigned n_threads)
{
    agg_events events;
    memset(audit, 0, sizeof *audit);
    audit->recipe = recipe;
    audit->claimed = recipe->recipe->cost_micro / 1e6;
    audit->confidence = confidence;
    for (uint32_t i = 0; i < draws->n_items; i++) audit->n_draws += draws->count[i];
    judge_exact(audit);
    agg_err err = agg_law_enumerate(&audit->law, error, recipe->recipe, n_threads);
    if (err != SHOAL_OK) return err;
    judge_law(audit);
    err = judge_answer(audit, error, n_threads);
    if (err != SHOAL_OK) return err;
    judge_records(audit, draws);
    err = agg_events_choose(&events, error, draws, n_threads);
    if (err == SHOAL_OK) err = agg_events_count(&events, error, draws, confidence, n_threads);
    if (err == SHOAL_OK) judge_events(audit, &events);
    agg_events_release(&events);
    return err;
}
