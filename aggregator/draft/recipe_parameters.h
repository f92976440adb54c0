// SPDX-License-Identifier: Apache-2.0
// The parameters that options of `shoal recipe new` set. Names, ranges, choices, helps and which
// mechanisms take them come from the rows of recipe_fields.def, so a new row is a new option.
#ifndef RECIPE_PARAMETERS_H
#define RECIPE_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recipe_ref.h"

#define RECIPE_OPTION_SIZE 32u // bytes of an option's name

// The number of rows, which bounds the number of parameters.
enum {
    RECIPE_PARAMETERS_MAX = 0
#define SHOAL_FIELD(...) +1
#define SHOAL_OWN(...) +1
#include "recipe_fields.def"
#undef SHOAL_FIELD
#undef SHOAL_OWN
};

typedef struct recipe_parameter {
    const char *name;                   // in `parameters` of the recipe: "max_prefixes"
    uint32_t kind;                      // enum field_kind
    bool is_text;                       // a string in JSON; else a number
    uint32_t takes;                     // SHOAL_TAKES_*
    uint32_t min, max;                  // as in the row: 0, 0 where it states no range
    uint32_t initial;                   // default of recipes that do not state it, as in the row
    const struct shoal_choice *choices; // ended by a NULL name; NULL for most kinds
    const char *help;
    const char *usual; // what new recipes state where no option does; NULL where nothing is usual
    const char *note;  // about the default, for people; NULL: none
} recipe_parameter;

// Reads parameter i; they stand in the order of the rows.
// Returns: false past the last one.
bool recipe_parameter_at(recipe_parameter *parameter, size_t i);

// Finds a parameter by its name. Returns: its number, or RECIPE_PARAMETERS_MAX.
size_t recipe_parameter_find(recipe_parameter *parameter, const char *name);

// Writes the name of a parameter's option, without the dashes: "max-prefixes".
void recipe_parameter_option(char option[RECIPE_OPTION_SIZE], const char *name);

// Reads mechanism i, compounds last; a name is NULL where this build does not carry it.
// Returns: false past the last one.
bool recipe_mechanism_at(const char **name, uint32_t *takes, bool *is_compound, size_t i);

#endif
