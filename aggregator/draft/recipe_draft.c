// SPDX-License-Identifier: Apache-2.0
// Chooses the mechanism and the defaults of a new recipe; see recipe_draft.h.
#include "recipe_draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "agg_size.h"
#include "compound.h"
#include "draft_numbers.h"
#include "options.h"
#include "plan.h"
#include "probability.h"
#include "recipe_values.h"

static bool has_list(const recipe_options *o)
{
    return o->values != NULL || recipe_option(o, "size") != NULL || o->encoding != NULL;
}

static const char *usual_mechanism(const recipe_options *o, bool is_number)
{
    uint32_t kind = o->encoding != NULL ? AGG_USUAL_CELLS
                    : has_list(o)       ? AGG_USUAL_LIST
                    : is_number         ? AGG_USUAL_NUMBER
                                        : AGG_USUAL_STRINGS;
    return shoal_mechanism_by_id(agg_account_usual(kind)->id)->name;
}

static uint32_t domain_of(const shoal_mechanism *mechanism, const recipe_draft *d)
{
    if (mechanism->number.needs != 0) return SHOAL_DOMAIN_NUMBER;
    return has_list(d->options) || mechanism->open.needs == 0 ? SHOAL_DOMAIN_CLOSED
                                                              : SHOAL_DOMAIN_OPEN;
}

#define PLAN_ZIPF 1.2 // as `shoal plan` has it
#define PLAN_VALUES 10000.0

// Takes what the planner chooses for these devices, so that a recipe of `recipe new` is that of
// `plan` for the same mechanism.
static agg_err plan_rows(shoal_part *part, agg_error *error, const recipe_options *o,
                         double epsilon, double devices)
{
    const char *size = recipe_option(o, "size");
    agg_plan_wish w = {.devices = devices,
                       .per_day = 1,
                       .days = 1,
                       .eps_micro = (uint32_t)lround(epsilon * 1e6),
                       .size = size != NULL ? (uint32_t)strtoul(size, NULL, 10) : 0,
                       .confidence = 0.95,
                       .mechanism = part->mechanism,
                       .law_name = "",
                       .id = o->id != NULL ? o->id : ""}; // a variable has none
    agg_plan *plan = agg_alloc(error, 1, sizeof *plan);
    if (plan == NULL) return AGG_ERR_MEMORY;
    w.asked = w.size > 0 ? w.size : PLAN_VALUES;
    w.law = agg_value_law_zipf(PLAN_ZIPF, w.asked);
    agg_err err = agg_plan_run(plan, error, &w);
    if (err == SHOAL_OK && plan->n_candidates > 0) {
        part->k = plan->candidates[0].part.k;
        part->m = plan->candidates[0].part.m;
    }
    agg_value_law_release(&w.law);
    free(plan);
    return err;
}

// Takes the mechanism's own proposal for k and m, or g.
static agg_err choose_rows(recipe_draft *d, agg_error *error, uint32_t mechanism)
{
    const char *g = recipe_option(d->options, "g");
    const agg_account *account = agg_account_of(mechanism);
    shoal_part part = {0};
    recipe_parameter epsilon;
    double devices = 0;
    const recipe_options *o = d->options;
    if (o->step != NULL ||
        (o->devices != NULL && (account->draft == NULL || !account->draft_needs_reports)))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--devices and --step are for recipes that find words; --devices also goes "
                        "with mechanisms whose rows follow it, such as olh");
    if (account->draft == NULL) return SHOAL_OK;
    agg_err err = draft_read_devices(&devices, error, o->devices);
    if (err != SHOAL_OK) return err;
    size_t i = recipe_parameter_find(&epsilon, "epsilon");
    const char *text = d->options->parameters[i];
    uint64_t size = 0;
    if (recipe_option(o, "size") != NULL)
        size = strtoul(recipe_option(o, "size"), NULL, 10);
    else if (o->values != NULL)
        err = recipe_count_values(&size, error, o->values);
    if (err != SHOAL_OK) return err;
    part.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    if (g != NULL) part.m = (uint32_t)strtoul(g, NULL, 10);
    double eps = strtod(text != NULL ? text : epsilon.usual, NULL);
    bool is_planned = account->draft_needs_reports && g == NULL && recipe_option(o, "k") == NULL &&
                      eps >= SHOAL_EPS_MICRO_MIN / 1e6 && eps <= AGG_PLAN_EPS_MAX;
    part.mechanism = mechanism;
    if (is_planned) err = plan_rows(&part, error, o, eps, devices);
    if (err != SHOAL_OK) return err;
    account->draft(&part, eps, devices);
    snprintf(d->k, sizeof d->k, "%u", part.k);
    snprintf(d->m, sizeof d->m, "%u", part.m);
    return SHOAL_OK;
}

// Returns: the default that a compound computes for a parameter, or NULL.
static const char *planned(const recipe_draft *d, const recipe_parameter *p)
{
    const struct {
        const char *name, *text;
    } table[] = {{"epsilon", d->words.epsilon},
                 {"epsilon_fragment", d->words.epsilon_fragment},
                 {"k", d->words.k},
                 {"m", d->words.m},
                 {"k_fragment", d->words.k_fragment},
                 {"m_fragment", d->words.m_fragment},
                 {"p", d->words.p},
                 {"q", d->words.q},
                 {"oracle", d->words.oracle}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(p->name, table[i].name) == 0 && table[i].text[0] != '\0') return table[i].text;
    return NULL;
}

// Returns: the default of a run's parameter: groups of one size, and a share or a bit.
static const char *initial_of_run(const recipe_draft *d, const recipe_parameter *p)
{
    if (strcmp(p->name, "smallest_group") == 0 && d->group[0] != '\0') return d->group;
    if (p->takes != SHOAL_TAKES_RANGE) return p->usual;
    return strcmp(p->name, "low") == 0 ? "0" : "1";
}

// Returns: the default of a compound's parameter. The coins of rappor-ngram are of one report each.
// Few cohorts share a filter, because a device reveals its cohort.
static const char *initial_of_compound(const recipe_draft *d, const recipe_parameter *p)
{
    if (p->takes == SHOAL_TAKES_COHORTS) return "8";
    if (strcmp(p->name, "f") == 0) return "0";
    return planned(d, p) != NULL ? planned(d, p) : p->usual;
}

static const char *initial_of(const recipe_draft *d, const recipe_parameter *p)
{
    if (d->is_run) return initial_of_run(d, p);
    if (d->is_compound) return initial_of_compound(d, p);
    if (p->takes == SHOAL_TAKES_K && d->k[0] != '\0') return d->k;
    if ((p->takes == SHOAL_TAKES_M || p->takes == SHOAL_TAKES_G) && d->m[0] != '\0') return d->m;
    return p->usual;
}

bool recipe_draft_parameter(recipe_parameter *parameter, const char **text,
                            const recipe_draft *draft, size_t index)
{
    const recipe_draft *d = draft;
    const recipe_parameter *p = parameter;
    if (!recipe_parameter_at(parameter, index)) return false;
    *text = d->options->parameters[index];
    if (*text == NULL && d->takes.needs & p->takes) *text = initial_of(d, p);
    // Where a plan shares epsilon out, --epsilon is that of a whole report, and the recipe
    // states the share.
    if (p->takes == SHOAL_TAKES_EPSILON && d->words.epsilon[0] != '\0') *text = d->words.epsilon;
    return true;
}

static agg_err draft_run(recipe_draft *d, agg_error *error)
{
    static const char *const needed[] = {"users", "epochs", "samples"};
    const recipe_options *o = d->options;
    uint64_t users = 0, groups = 1;
    agg_err err = SHOAL_OK;
    if (o->devices != NULL || o->step != NULL)
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "--devices and --step are for recipes that find words; a run over epochs has "
            "--users and --epochs");
    for (int i = 0; i < 3 && err == SHOAL_OK; i++)
        err = cli_need(error, needed[i], recipe_option(o, needed[i]));
    if (err == SHOAL_OK) err = draft_read_parameter(&users, error, o, "users");
    if (err == SHOAL_OK && recipe_option(o, "groups") != NULL)
        err = cli_read_whole(&groups, error, "groups", recipe_option(o, "groups"), 1, users);
    if (err != SHOAL_OK) return err;
    snprintf(d->group, sizeof d->group, "%u", (uint32_t)(users / groups));
    if (d->takes.needs & SHOAL_TAKES_RANGE && o->value == NULL) d->value = "number";
    return SHOAL_OK;
}

static agg_err draft_compound(recipe_draft *d, agg_error *error, const shoal_compound *compound)
{
    const recipe_options *o = d->options;
    const compound_draft *own = compound_draft_of(compound->id);
    d->is_compound = true;
    d->takes = compound->takes;
    d->is_run = (d->takes.needs & SHOAL_TAKES_THRESH) != 0;
    if (d->is_run) return draft_run(d, error);
    // New recipes always state the oracle, because a recipe without one means an older default.
    d->takes.needs |= d->takes.may & SHOAL_TAKES_ORACLE;
    if (compound->domain == SHOAL_DOMAIN_CLOSED && o->value == NULL) d->value = "fields";
    return own != NULL ? own->fill(&d->words, error, o) : SHOAL_OK;
}

agg_err recipe_draft_make(recipe_draft *draft, agg_error *error, const recipe_options *options)
{
    recipe_draft *d = draft;
    const recipe_options *o = options;
    bool is_ranged = recipe_option(o, "low") != NULL || recipe_option(o, "high") != NULL;
    *d = (recipe_draft){.options = o};
    d->value = o->value != NULL      ? o->value
               : o->encoding != NULL ? "fields"
               : is_ranged           ? "number"
                                     : "word";
    bool is_number = strcmp(d->value, "number") == 0;
    d->mechanism = o->mechanism != NULL ? o->mechanism : usual_mechanism(o, is_number);
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(d->mechanism, strlen(d->mechanism));
    const shoal_compound *compound = shoal_compound_by_name(d->mechanism, strlen(d->mechanism));
    if (compound != NULL) return draft_compound(d, error, compound);
    if (mechanism == NULL)
        return agg_fail(error, SHOAL_ERR_MECHANISM, AGG_EXIT_USAGE,
                        "--mechanism: no mechanism of that name");
    uint32_t domain = domain_of(mechanism, d);
    d->takes = *shoal_mechanism_takes(mechanism, domain);
    if (domain == SHOAL_DOMAIN_NUMBER && o->value == NULL) d->value = "number";
    if (domain == SHOAL_DOMAIN_CLOSED && !has_list(o))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--mechanism %s goes with --values, --size or --encoding", d->mechanism);
    return choose_rows(d, error, mechanism->id);
}
