// SPDX-License-Identifier: Apache-2.0
// What differs between two recipes.
#ifndef RECIPE_DIFF_H
#define RECIPE_DIFF_H

// Prints each member that one file states and the other does not, or states otherwise, by its dotted path; of a list of values how
// many were added and removed; and whether the hash is another.
// Returns: an exit code; 0 when the files state the same, 1 when they do not.
int recipe_diff(const char *before, const char *after);

#endif
