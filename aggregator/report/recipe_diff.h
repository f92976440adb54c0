// SPDX-License-Identifier: Apache-2.0
// Prints the differences between two recipes.
#ifndef RECIPE_DIFF_H
#define RECIPE_DIFF_H

// Prints each member that the two files state differently, or only one of them states, by its path.
// In paths the entries of encoding and split_by are named by their field. A list of texts is
// summarized by the numbers of added and removed texts. Also prints whether the hash differs, and
// notes where the second recipe asks for more, costs more or hides less.
// Returns: an exit code; 0 when the files state the same, 1 when they do not.
int recipe_diff(const char *before, const char *after);

#endif
