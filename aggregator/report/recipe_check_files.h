// SPDX-License-Identifier: Apache-2.0
// What `shoal recipe check` and `shoal recipe hash` say of files.
#ifndef RECIPE_CHECK_FILES_H
#define RECIPE_CHECK_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy_json.h"
#include "set_json.h"

// What files are checked against, and how that is printed.
typedef struct recipe_checking {
    const agg_policy *policy; // NULL: none
    agg_set *set;             // gets the recipes, if it has a budget
    bool is_json;
    uint32_t today; // days since 1970
} recipe_checking;

// Checks every file, also after one that fails, and all together against the budget if there is
// one. Errors are logged.
// Returns: an exit code, that of the last file that failed.
int recipe_check_files(const recipe_checking *checking, const char *const *paths, size_t n);

// Prints the hash of a recipe, or of a set of recipes. An error is logged.
//   is_query: the hash that all parts of a collection share, and which their devices compute
// Returns: an exit code.
int recipe_hash_print(const char *path, bool is_query);

#endif
