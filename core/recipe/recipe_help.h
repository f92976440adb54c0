// SPDX-License-Identifier: Apache-2.0
// The rows of recipe_fields.def with their help texts, for programs that write recipes from options
// or explain them. Each file that includes this header gets a copy of the table, so WebAssembly
// modules do not include it.
#ifndef SHOAL_RECIPE_HELP_H
#define SHOAL_RECIPE_HELP_H

#include "field_table.h"
#include "recipe.h"

typedef struct shoal_recipe_help {
    const char *path; // "parameters.k"
    uint8_t kind;     // enum field_kind; LIST for a list and for a field with its own form
    uint32_t min, max, initial;  // as in shoal_field: whole numbers, or millionths if kind is MICRO
    const shoal_choice *choices; // choices of a CHOICE, ended by a NULL name; else NULL
    uint32_t takes;   // SHOAL_TAKES_* of the mechanisms that take the field; 0 for every recipe
    const char *help; // a phrase in lower case without a full stop
} shoal_recipe_help;

#define SHOAL_CHOICE(modules, name, number) {name, number},
#define SHOAL_CHOICES(...)                                                                         \
    (const shoal_choice[])                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }
#define SHOAL_NO_CHOICES NULL
#define SHOAL_FIELD(tag, modules, path, kind, member, flags, min, max, initial, choices, takes,    \
                    part, help)                                                                    \
    {path, FIELD_##kind, min, max, initial, choices, takes, help},
#define SHOAL_OWN(tag, modules, path, stem, flags, takes, help)                                    \
    {path, FIELD_LIST, 0, 0, 0, NULL, takes, help},

static const shoal_recipe_help shoal_recipe_helps[] = {
#include "recipe_fields.def"
};
#define SHOAL_RECIPE_N_HELPS (sizeof shoal_recipe_helps / sizeof shoal_recipe_helps[0])

#undef SHOAL_CHOICE
#undef SHOAL_CHOICES
#undef SHOAL_NO_CHOICES
#undef SHOAL_FIELD
#undef SHOAL_OWN

#endif
