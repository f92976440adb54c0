// SPDX-License-Identifier: Apache-2.0
// Prints one part of a compound's recipe.
#ifndef PART_PRINT_H
#define PART_PRINT_H

#include "mechanism.h"

// Returns: the exact epsilon of the part's thresholds; 0 if they have no epsilon up to 16.
double agg_part_drawn_epsilon(const shoal_part *part);

// Prints a part on one line, in the terms of its mechanism.
//   label: the head of the line
//   what: the piece of a value that the part is about
//   rows: rows at one position; 0 if the part has no positions
void agg_part_print(const shoal_part *part, const char *label, const char *what, uint32_t rows);

#endif
