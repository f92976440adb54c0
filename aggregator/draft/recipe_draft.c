// SPDX-License-Identifier: Apache-2.0
// Chooses the mechanism and the defaults of a new recipe; see recipe_draft.h.
#include "recipe_draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "compound.h"
#include "options.h"

// A parameter that is one number, or a text where is_text. It is written if an option states it, or
// if the mechanism needs it and there is a default.
typedef struct parameter {
    const char *name;
    uint32_t takes; // SHOAL_TAKES_*
    size_t offset;  // offset of its option in recipe_options
    const char *initial;
    bool is_text;
} parameter;

#define AT(member) offsetof(recipe_options, member)

static const parameter parameters[] = {
    {"epsilon", SHOAL_TAKES_EPSILON, AT(epsilon), "4", false},
    {"k", SHOAL_TAKES_K, AT(k), "65536", false},
    {"m", SHOAL_TAKES_M, AT(m), "1024", false},
    {"size", SHOAL_TAKES_LIST, AT(size), NULL, false},
    {"g", SHOAL_TAKES_G, AT(g), NULL, false},
    {"bits", SHOAL_TAKES_BITS, AT(bits), "128", false},
    {"hashes", SHOAL_TAKES_HASHES, AT(hashes), "1", false},
    {"cohorts", SHOAL_TAKES_COHORTS, AT(cohorts), "64", false},
    {"p", SHOAL_TAKES_PQF, AT(p), "0.25", false},
    {"q", SHOAL_TAKES_PQF, AT(q), "0.75", false},
    {"f", SHOAL_TAKES_PQF, AT(f), "0.5", false},
    {"low", SHOAL_TAKES_RANGE, AT(low), NULL, false},
    {"high", SHOAL_TAKES_RANGE, AT(high), NULL, false},
    {"epsilon_fragment", SHOAL_TAKES_FRAGMENTS, AT(epsilon_fragment), NULL, false},
    {"k_fragment", SHOAL_TAKES_FRAGMENTS, AT(k_fragment), NULL, false},
    {"m_fragment", SHOAL_TAKES_FRAGMENTS, AT(m_fragment), NULL, false},
    {"oracle", SHOAL_TAKES_ORACLE, AT(oracle), NULL, true},
    {"length", SHOAL_TAKES_LENGTH, AT(length), "10", false},
    {"n", SHOAL_TAKES_NGRAM, AT(n), "2", false},
    {"grams", SHOAL_TAKES_GRAMS, AT(grams), NULL, false},
    {"alphabet", SHOAL_TAKES_NGRAM, AT(alphabet), COMPOUND_LETTERS, true},
    {"contributions", SHOAL_TAKES_TRIE, AT(contributions), "1", false},
    {"sampler", SHOAL_TAKES_TRIE_PASSES, AT(sampler), NULL, true},
    {"depth", SHOAL_TAKES_TRIE, AT(depth), "15", false},
    {"max_prefixes", SHOAL_TAKES_TRIE, AT(max_prefixes), "10000", false},
    {"passes", SHOAL_TAKES_TRIE_PASSES, AT(passes), NULL, false},
    {"users", SHOAL_TAKES_THRESH, AT(users), NULL, false},
    {"epochs", SHOAL_TAKES_THRESH, AT(epochs), NULL, false},
    {"samples", SHOAL_TAKES_THRESH, AT(samples), NULL, false},
    {"smallest_group", SHOAL_TAKES_THRESH, AT(smallest_group), NULL, false},
    {"groups", SHOAL_TAKES_THRESH, AT(groups), "1", false},
    {"delta", SHOAL_TAKES_THRESH, AT(delta), "1e-6", true},
    {"projection", SHOAL_TAKES_PROJECTION, AT(projection), NULL, false},
    {"epsilon_estimate", SHOAL_TAKES_ESTIMATE, AT(epsilon_estimate), "0.5", false},
};
#define N_PARAMETERS (sizeof parameters / sizeof parameters[0])

static const char *given(const recipe_options *o, const parameter *p)
{
    const char *text;
    memcpy(&text, (const char *)o + p->offset, sizeof text);
    return text;
}

static bool has_list(const recipe_options *o)
{
    return o->values != NULL || o->size != NULL || o->encoding != NULL;
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

// Takes the mechanism's own proposal for k and m, or g.
static void choose_rows(recipe_draft *d, uint32_t mechanism)
{
    const char *epsilon = d->options->epsilon != NULL ? d->options->epsilon : "4";
    const agg_account *account = agg_account_of(mechanism);
    shoal_part part = {0};
    if (account->draft == NULL) return;
    if (d->options->g != NULL) part.m = (uint32_t)strtoul(d->options->g, NULL, 10);
    account->draft(&part, strtod(epsilon, NULL));
    snprintf(d->k, sizeof d->k, "%u", part.k);
    snprintf(d->m, sizeof d->m, "%u", part.m);
}

// Returns: the default that a compound computes for a parameter, or NULL.
static const char *planned(const recipe_draft *d, const parameter *p)
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
static const char *initial_of_run(const recipe_draft *d, const parameter *p)
{
    if (strcmp(p->name, "smallest_group") == 0 && d->group[0] != '\0') return d->group;
    if (p->takes != SHOAL_TAKES_RANGE) return p->initial;
    return strcmp(p->name, "low") == 0 ? "0" : "1";
}

// Returns: the default of a compound's parameter. The coins of rappor-ngram are of one report each.
// Few cohorts share a filter, because a device reveals its cohort.
static const char *initial_of_compound(const recipe_draft *d, const parameter *p)
{
    if (p->takes == SHOAL_TAKES_COHORTS) return "8";
    if (strcmp(p->name, "f") == 0) return "0";
    return planned(d, p) != NULL ? planned(d, p) : p->initial;
}

static const char *initial_of(const recipe_draft *d, const parameter *p)
{
    if (d->is_run) return initial_of_run(d, p);
    if (d->is_compound) return initial_of_compound(d, p);
    if (p->takes == SHOAL_TAKES_K && d->k[0] != '\0') return d->k;
    if ((p->takes == SHOAL_TAKES_M || p->takes == SHOAL_TAKES_G) && d->m[0] != '\0') return d->m;
    return p->initial;
}

bool recipe_draft_parameter(recipe_parameter *out, const recipe_draft *draft, size_t index)
{
    const recipe_draft *d = draft;
    if (index >= N_PARAMETERS) return false;
    const parameter *p = &parameters[index];
    *out = (recipe_parameter){p->name, given(d->options, p), p->is_text};
    if (out->text == NULL && d->takes.needs & p->takes) out->text = initial_of(d, p);
    // Where a plan shares epsilon out, --epsilon is that of a whole report, and the recipe states
    // the share.
    if (p->takes == SHOAL_TAKES_EPSILON && d->words.epsilon[0] != '\0')
        out->text = d->words.epsilon;
    return true;
}

static agg_err draft_run(recipe_draft *d, agg_error *error)
{
    static const char *const needed[] = {"users", "epochs", "samples"};
    const recipe_options *o = d->options;
    const char *const texts[] = {o->users, o->epochs, o->samples};
    uint64_t users = 0, groups = 1;
    agg_err err = SHOAL_OK;
    if (o->devices != NULL || o->step != NULL)
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "--devices and --step are for recipes that find words; a run over epochs has "
            "--users and --epochs");
    for (int i = 0; i < 3 && err == SHOAL_OK; i++) err = cli_need(error, needed[i], texts[i]);
    if (err == SHOAL_OK) err = cli_read_whole(&users, error, "users", o->users, 1, 1000000000);
    if (err == SHOAL_OK && o->groups != NULL)
        err = cli_read_whole(&groups, error, "groups", o->groups, 1, users);
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
    bool is_ranged = o->low != NULL || o->high != NULL;
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
    if (o->devices != NULL || o->step != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--devices and --step are for recipes that find words");
    if (mechanism == NULL)
        return agg_fail(error, SHOAL_ERR_MECHANISM, AGG_EXIT_USAGE,
                        "--mechanism: no mechanism of that name");
    uint32_t domain = domain_of(mechanism, d);
    d->takes = *shoal_mechanism_takes(mechanism, domain);
    if (domain == SHOAL_DOMAIN_NUMBER && o->value == NULL) d->value = "number";
    if (domain == SHOAL_DOMAIN_CLOSED && !has_list(o))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--mechanism %s goes with --values, --size or --encoding", d->mechanism);
    choose_rows(d, mechanism->id);
    return SHOAL_OK;
}
