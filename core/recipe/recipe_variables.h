// SPDX-License-Identifier: Apache-2.0
// The variables of a joint recipe, between recipe.c, which has the table of fields, and joint.c.
// Private to the core; a module built with SHOAL_WITHOUT_COMPOUNDS has none of it.
//
// While a host sets what belongs to one variable, it is set as if that were the whole recipe's.
// Once the next variable begins, or the recipe is finished, it is checked, made a part, digested
// and cleared.
#ifndef SHOAL_RECIPE_VARIABLES_H
#define SHOAL_RECIPE_VARIABLES_H

#include "canonical.h"
#include "recipe.h"

// ---- of joint.c ----

// Takes "variables.N." off a path and makes N the variable that fields are set of; a path without
// it makes it none.
shoal_err shoal_variables_enter(shoal_recipe *recipe, const char **path,
                                size_t *path_len) SHOAL_MUST_CHECK;

// Sets variables.N.name, behind shoal_variables_enter. Returns: whether the path is that; then *err
// is the answer.
int shoal_variables_set_name(shoal_recipe *recipe, const char *path, size_t path_len,
                             const char *text, size_t len, shoal_err *err);

// Ends the last variable, if there are any, and states value and mechanism.
shoal_err shoal_variables_finish(shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Writes field 60: for each variable its name (length in 1 byte) and its digest (32).
void shoal_variables_put(shoal_canonical *w, const shoal_recipe *recipe);

// ---- of recipe.c ----

// Checks the fields that were set of a variable, prepares its part and digests its canonical bytes;
// then clears them.
shoal_err shoal_recipe_take_variable(shoal_recipe *recipe, shoal_variable *variable,
                                     shoal_part *part) SHOAL_MUST_CHECK;

// shoal_recipe_add_value, also for the variable whose fields are being set.
shoal_err shoal_recipe_add_own_value(shoal_recipe *recipe, const char *text,
                                     size_t len) SHOAL_MUST_CHECK;

// Returns: whether any field is set that only variables have in a joint recipe.
int shoal_recipe_has_own(const shoal_recipe *recipe);

// States value and mechanism of a joint recipe.
void shoal_recipe_state_joint(shoal_recipe *recipe, uint32_t mechanism);

#endif
