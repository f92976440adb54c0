// SPDX-License-Identifier: Apache-2.0
// Parameters from the rows of recipe_fields.def; see recipe_parameters.h.
#include "recipe_parameters.h"

#include <string.h>

#include "compound_draft.h"
#include "mechanism.h"
#include "recipe_help.h"

#define PREFIX "parameters."

// Values that new recipes state where no option does. They are advice that may change; a row's own
// default is what a silent recipe means and never changes. A mechanism or a compound may work out a
// better value, which the note says.
static const struct {
    const char *name, *usual, *note;
} usual[] = {
    {"epsilon", "4", "rappor: a bound; rappor-ngram: p and q are chosen for it"},
    {"epsilon_permanent", "2", "a table of g answers costs g times as much"},
    {"k", "65536", "hcms: 1024; olh: as many as g needs"},
    {"m", "1024", "hcms: 32768; an accumulator takes 4 k m bytes"},
    {"g", NULL, "olh: the power of two nearest to e^epsilon + 1; loloha: the least that fits"},
    {"bits", "128", NULL},
    {"hashes", "1", NULL},
    {"cohorts", "64", "rappor-ngram: 8"},
    {"p", "0.25", "rappor-ngram: from epsilon"},
    {"q", "0.75", "rappor-ngram: from epsilon"},
    {"f", "0.5", "rappor-ngram: 0"},
    {"low", NULL, "needed where the value is a number; thresh: 0"},
    {"high", NULL, "needed where the value is a number; thresh: 1"},
    {"epsilon_fragment", NULL, "where it is given, epsilon is that of the string"},
    {"oracle", NULL, "new recipes of sfp state olh"},
    {"length", "10", NULL},
    {"n", "2", NULL},
    {"alphabet", COMPOUND_LETTERS, NULL},
    {"contributions", "1", NULL},
    {"depth", "15", NULL},
    {"max_prefixes", "10000", NULL},
    {"smallest_group", NULL, "the default is users/groups"},
    {"groups", "1", NULL},
    {"delta", "1e-6", NULL},
    {"epsilon_estimate", "0.5", NULL},
};

// A list has an option only where its members are one text. `shoal round` counts the passes.
static bool has_option(const shoal_recipe_help *row)
{
    if (strncmp(row->path, PREFIX, sizeof PREFIX - 1) != 0) return false;
    const char *name = row->path + sizeof PREFIX - 1;
    return row->kind == FIELD_LIST ? strcmp(name, "alphabet") == 0 : strcmp(name, "pass") != 0;
}

static void read_row(recipe_parameter *out, const shoal_recipe_help *row)
{
    *out = (recipe_parameter){.name = row->path + sizeof PREFIX - 1,
                              .kind = row->kind,
                              .is_text = row->kind < FIELD_INTEGER,
                              .takes = row->takes,
                              .min = row->min,
                              .max = row->max,
                              .initial = row->initial,
                              .choices = row->choices,
                              .help = row->help};
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (strcmp(usual[i].name, out->name) != 0) continue;
        out->usual = usual[i].usual;
        out->note = usual[i].note;
    }
}

bool recipe_parameter_at(recipe_parameter *parameter, size_t i)
{
    for (size_t row = 0; row < SHOAL_RECIPE_N_HELPS; row++) {
        if (!has_option(&shoal_recipe_helps[row]) || i-- > 0) continue;
        read_row(parameter, &shoal_recipe_helps[row]);
        return true;
    }
    return false;
}

size_t recipe_parameter_find(recipe_parameter *parameter, const char *name)
{
    for (size_t i = 0; recipe_parameter_at(parameter, i); i++)
        if (strcmp(parameter->name, name) == 0) return i;
    return RECIPE_PARAMETERS_MAX;
}

void recipe_parameter_option(char option[RECIPE_OPTION_SIZE], const char *name)
{
    size_t n = 0;
    for (; name[n] != '\0' && n < RECIPE_OPTION_SIZE - 1; n++)
        option[n] = (char)(name[n] == '_' ? '-' : name[n]);
    option[n] = '\0';
}

bool recipe_mechanism_at(const char **name, uint32_t *takes, bool *is_compound, size_t i)
{
    static const uint32_t ids[] = {
#define SHOAL_MECHANISM(id, stem, name) id,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
#define SHOAL_COMPOUND(id, stem, name) id,
#include "compounds.def"
#undef SHOAL_COMPOUND
    };
    *name = NULL;
    *takes = 0;
    if (i >= sizeof ids / sizeof ids[0]) return false;
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(ids[i]);
    const shoal_compound *compound = shoal_compound_by_id(ids[i]);
    *is_compound = mechanism == NULL;
    if (mechanism != NULL) {
        *name = mechanism->name;
        *takes = mechanism->open.needs | mechanism->open.may | mechanism->closed.needs |
                 mechanism->closed.may | mechanism->number.needs | mechanism->number.may;
    } else if (compound != NULL) {
        *name = compound->name;
        *takes = compound->takes.needs | compound->takes.may;
    }
    return true;
}
