// SPDX-License-Identifier: Apache-2.0
// Reads `shoal recipe new --variable LINE`: one variable of a joint recipe.
//
//     NAME=[MECHANISM]:EPSILON[:LIST][:MEMBER=VALUE]...
//
// LIST is a file of values, one a line, or their number; with `low=` and `high=`, which make it a
// number, that of its buckets. Without a list a variable takes any string. A member is `value` or a
// parameter of the mechanism, as --value and the others of a recipe of one value. Where MECHANISM
// is left out, a list has grr up to e^EPSILON + 2 values, where it is the most accurate, and
// onehot-symmetric above, and strings have olh.
#ifndef RECIPE_JOINT_H
#define RECIPE_JOINT_H

#include "agg_error.h"
#include "recipe_options.h"

typedef struct recipe_variable {
    char *words;              // a copy of the line, cut up; what `options` points into
    const char *name;         // in words
    recipe_options own;       // as if it were a recipe of one value
    char p[24], q[24], f[24]; // coins that the mechanism chooses for epsilon
} recipe_variable;

// Reads a line. The caller releases the variable where OK is returned.
// Returns: AGG_ERR_USAGE naming the variable, for a line that is none of this form.
agg_err recipe_variable_read(recipe_variable *variable, agg_error *error,
                             const char *line) SHOAL_MUST_CHECK;
void recipe_variable_release(recipe_variable *variable);

#endif
