// SPDX-License-Identifier: Apache-2.0
// The table of a recipe's fields, generated from recipe_fields.def; see recipe_fields.h.
#include "recipe_fields.h"

#include "carried_rows.h"

#define SHOAL_CHOICE(modules, name, number) SHOAL_CARRIED(modules, {name, number}, )
#define SHOAL_CHOICES(...)                                                                         \
    (const shoal_choice[])                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
        {                                                                                          \
            NULL, 0                                                                                \
        }                                                                                          \
    }
#define SHOAL_NO_CHOICES NULL
#define SHOAL_PART(member) (uint16_t) offsetof(shoal_part, member)
#define SHOAL_NO_PART SHOAL_NO_PART_OFFSET
#define SHOAL_FIELD(a_tag, modules, a_path, a_kind, member, some_flags, a_min, a_max, an_initial,  \
                    some_choices, some_takes, a_part, help)                                        \
    SHOAL_CARRIED(modules,                                                                         \
                  {.f = {.path = a_path,                                                           \
                         .choices = some_choices,                                                  \
                         .min = a_min,                                                             \
                         .max = a_max,                                                             \
                         .initial = an_initial,                                                    \
                         .offset = (uint16_t)offsetof(shoal_recipe, member),                       \
                         .kind = FIELD_##a_kind,                                                   \
                         .is_always = ((some_flags)&SHOAL_REQUIRED) != 0},                         \
                   .takes = some_takes,                                                            \
                   .tag = a_tag,                                                                   \
                   .part = a_part,                                                                 \
                   .flags = some_flags}, )
#define SHOAL_OWN(a_tag, modules, a_path, stem, some_flags, some_takes, help)                      \
    SHOAL_CARRIED(modules,                                                                         \
                  {.f = {.path = a_path, .kind = FIELD_LIST},                                      \
                   .takes = some_takes,                                                            \
                   .tag = a_tag,                                                                   \
                   .part = SHOAL_NO_PART_OFFSET,                                                   \
                   .flags = some_flags,                                                            \
                   .put = shoal_put_##stem}, )

const shoal_recipe_row shoal_recipe_rows[] = {
#include "recipe_fields.def"
};
const size_t shoal_recipe_n_rows = sizeof shoal_recipe_rows / sizeof shoal_recipe_rows[0];

_Static_assert(sizeof shoal_recipe_rows / sizeof shoal_recipe_rows[0] <= 128, "bits of `stated`");
_Static_assert(SHOAL_DEPTH_MAX == 64 && SHOAL_EPOCHS_MAX == 65536, "ranges of the rows");

const char *shoal_recipe_parameter_name(const shoal_recipe_row *row)
{
    static const char head[] = "parameters.";
    return text_len(row->f.path) >= sizeof head && memcmp(row->f.path, head, sizeof head - 1) == 0
               ? row->f.path + sizeof head - 1
               : NULL;
}
