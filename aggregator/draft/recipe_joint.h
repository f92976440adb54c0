// SPDX-License-Identifier: Apache-2.0
// Reads `shoal recipe new --variable LINE`: one variable of a joint recipe.
//
//     NAME=[MECHANISM]:EPSILON[:LIST][:MEMBER=VALUE]...
//
// LIST is the number of values, or a file with one value on each line. With `low=` and `high=` the
// variable is a number, and LIST is the number of its buckets. Without a list a variable takes any
// string. MEMBER is `value` or a parameter of the mechanism, with the meaning of the same option
// for a recipe of one value.
//
// Where MECHANISM is left out, strings have olh. A list of at most e^EPSILON + 2 values has grr,
// which is then the most accurate; a longer list has onehot-symmetric.
#ifndef RECIPE_JOINT_H
#define RECIPE_JOINT_H

#include "agg_error.h"
#include "recipe_options.h"

typedef struct recipe_variable {
    char *words;              // a copy of the line, split into words that `own` points into
    const char *name;         // in words
    recipe_options own;       // options of the variable, as for a recipe of one value
    char p[24], q[24], f[24]; // probabilities that the mechanism chooses for epsilon
} recipe_variable;

// Reads a line. The caller releases the variable if OK is returned.
// Returns: AGG_ERR_USAGE naming the variable, for a line that is not of this form.
agg_err recipe_variable_read(recipe_variable *variable, agg_error *error,
                             const char *line) SHOAL_MUST_CHECK;
void recipe_variable_release(recipe_variable *variable);

#endif
