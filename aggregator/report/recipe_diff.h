// SPDX-License-Identifier: Apache-2.0
// What differs between two recipes.
#ifndef RECIPE_DIFF_H
#define RECIPE_DIFF_H

// Prints each member that one file states and the other does not, or states otherwise, by its path,
// in which the entries of encoding and split_by go by their field's name; of a list of texts how
// many were added and removed; whether the hash is another; and notes where the second asks for
// more, costs more or hides less. Returns: an exit code; 0 when the files state the same, 1 when
// they do not.
int recipe_diff(const char *before, const char *after);

#endif
