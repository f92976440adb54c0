// SPDX-License-Identifier: Apache-2.0
// Reads variables from command-line words; see recipe_joint.h.
#include "recipe_joint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "agg_file.h"
#include "agg_size.h"
#include "draft_numbers.h"
#include "options.h"
#include "recipe_json.h"
#include "recipe_values.h"

static agg_err refuse(agg_error *error, const recipe_variable *v, const char *why)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--variable %.64s: %s",
                    v->name != NULL ? v->name : "", why);
}

// Cuts off the next field.
// Returns: NULL at the end.
static char *next_field(char **at)
{
    char *field = *at, *colon = field != NULL ? strchr(field, ':') : NULL;
    *at = colon != NULL ? colon + 1 : NULL;
    if (colon != NULL) *colon = '\0';
    return field;
}

// The epsilon and the list of a variable have fields of their own in its line.
static bool is_member(const recipe_parameter *p)
{
    const char *name;
    uint32_t takes, all = 0;
    bool is_compound;
    for (size_t i = 0; recipe_mechanism_at(&name, &takes, &is_compound, i); i++)
        if (!is_compound) all |= takes;
    const uint32_t others = SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST;
    return (p->takes & all & ~others) != 0;
}

static const char **member_of(recipe_options *o, const char *name)
{
    recipe_parameter p;
    if (strcmp(name, "value") == 0) return &o->value;
    size_t i = recipe_parameter_find(&p, name);
    return i < RECIPE_PARAMETERS_MAX && is_member(&p) ? &o->parameters[i] : NULL;
}

static agg_err refuse_member(agg_error *error, const recipe_variable *v)
{
    char names[512];
    size_t len = (size_t)snprintf(names, sizeof names, "members are value");
    recipe_parameter p;
    for (size_t i = 0; recipe_parameter_at(&p, i) && len < sizeof names; i++)
        if (is_member(&p)) len += (size_t)snprintf(names + len, sizeof names - len, ", %s", p.name);
    return refuse(error, v, names);
}

static agg_err take_member(recipe_variable *v, agg_error *error, char *field, char *equals)
{
    *equals = '\0';
    const char **at = member_of(&v->own, field);
    if (at == NULL) return refuse_member(error, v);
    if (*at != NULL || equals[1] == '\0')
        return refuse(error, v, "a member is given twice, or is empty");
    *at = equals + 1;
    return SHOAL_OK;
}

static bool is_whole(const char *text)
{
    return text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
}

static agg_err take_list(recipe_variable *v, agg_error *error, const char *field)
{
    const char **size = recipe_option_of(&v->own, "size");
    if (*size != NULL || v->own.values != NULL) return refuse(error, v, "has two lists");
    if (is_whole(field))
        *size = field;
    else
        v->own.values = field;
    return SHOAL_OK;
}

static agg_err take_fields(recipe_variable *v, agg_error *error, char *rest)
{
    v->own.mechanism = next_field(&rest);
    const char **epsilon = recipe_option_of(&v->own, "epsilon");
    *epsilon = next_field(&rest);
    if (*epsilon == NULL || (*epsilon)[0] == '\0')
        return refuse(error, v, "its form is NAME=[MECHANISM]:EPSILON[:LIST][:MEMBER=VALUE]...");
    if (v->own.mechanism[0] == '\0') v->own.mechanism = NULL;
    for (char *field; (field = next_field(&rest)) != NULL;) {
        char *equals = strchr(field, '=');
        agg_err err =
            equals != NULL ? take_member(v, error, field, equals) : take_list(v, error, field);
        if (err != SHOAL_OK) return err;
    }
    return SHOAL_OK;
}

// Reads a stated parameter in the range of its row.
static agg_err read_whole(uint64_t *n, agg_error *error, const recipe_options *o, const char *name)
{
    recipe_parameter p;
    size_t i = recipe_parameter_find(&p, name);
    return cli_read_whole(n, error, "variable", o->parameters[i], p.min, p.max);
}

static agg_err count_values(uint64_t *n, agg_error *error, const recipe_options *o)
{
    if (recipe_option(o, "size") != NULL) return read_whole(n, error, o, "size");
    return recipe_count_values(n, error, o->values);
}

static agg_err choose_mechanism(recipe_variable *v, agg_error *error, double epsilon)
{
    uint64_t n = 0;
    uint32_t kind = AGG_USUAL_VARIABLE_STRINGS;
    agg_err err = SHOAL_OK;
    if (v->own.mechanism != NULL) return SHOAL_OK;
    if (recipe_option(&v->own, "size") != NULL || v->own.values != NULL) {
        err = count_values(&n, error, &v->own);
        kind = (double)n <= exp(epsilon) + 2 ? AGG_USUAL_VARIABLE_FEW : AGG_USUAL_VARIABLE_MANY;
    }
    v->own.mechanism = shoal_mechanism_by_id(agg_account_usual(kind)->id)->name;
    return err;
}

// Chooses the probabilities of a variable if its mechanism has a default for them. A stated p or q
// is checked against epsilon later.
static agg_err choose_coins(recipe_variable *v, agg_error *error, double epsilon)
{
    uint64_t hashes = 1;
    recipe_options *o = &v->own;
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(o->mechanism, strlen(o->mechanism));
    if (mechanism == NULL || agg_account_of(mechanism->id)->draft_variable == NULL) return SHOAL_OK;
    if (recipe_option(o, "hashes") != NULL) {
        agg_err err = read_whole(&hashes, error, o, "hashes");
        if (err != SHOAL_OK) return err;
    }
    shoal_part part = {.hashes = (uint32_t)hashes};
    agg_account_of(mechanism->id)->draft_variable(&part, epsilon);
    snprintf(v->p, sizeof v->p, "0.%06u", part.pqf_micro[0]);
    snprintf(v->q, sizeof v->q, "0.%06u", part.pqf_micro[1]);
    draft_put_micro(v->f, part.pqf_micro[2]);
    const char **p = recipe_option_of(o, "p"), **q = recipe_option_of(o, "q"),
               **f = recipe_option_of(o, "f");
    if (*f == NULL) *f = v->f;
    if (*p != NULL || *q != NULL) return SHOAL_OK;
    *p = v->p;
    *q = v->q;
    return SHOAL_OK;
}

static agg_err complete(recipe_variable *v, agg_error *error)
{
    double epsilon = 0;
    const recipe_options *o = &v->own;
    recipe_parameter p;
    size_t i = recipe_parameter_find(&p, "epsilon");
    agg_err err =
        cli_read_decimal(&epsilon, error, "variable", o->parameters[i], p.min / 1e6, p.max / 1e6);
    if (err == SHOAL_OK) err = choose_mechanism(v, error, epsilon);
    if (err == SHOAL_OK) err = choose_coins(v, error, epsilon);
    if (v->own.value == NULL)
        v->own.value =
            recipe_option(o, "low") != NULL || recipe_option(o, "high") != NULL ? "number" : "item";
    return err;
}

agg_err recipe_variable_read(recipe_variable *variable, agg_error *error, const char *line)
{
    size_t size = strlen(line) + 1;
    memset(variable, 0, sizeof *variable);
    variable->words = agg_alloc(error, size, 1);
    if (variable->words == NULL) return AGG_ERR_MEMORY;
    memcpy(variable->words, line, size);
    char *equals = strchr(variable->words, '=');
    agg_err err = SHOAL_OK;
    if (equals == NULL) {
        err = refuse(error, variable,
                     "its form is NAME=[MECHANISM]:EPSILON[:LIST][:MEMBER=VALUE]...");
    } else {
        *equals = '\0';
        variable->name = variable->words;
        err = take_fields(variable, error, equals + 1);
    }
    if (err == SHOAL_OK) err = complete(variable, error);
    if (err != SHOAL_OK) recipe_variable_release(variable);
    return err;
}

void recipe_variable_release(recipe_variable *variable)
{
    free(variable->words);
    memset(variable, 0, sizeof *variable);
}
