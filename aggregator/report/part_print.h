// SPDX-License-Identifier: Apache-2.0
// One part of a compound's recipe in print.
#ifndef PART_PRINT_H
#define PART_PRINT_H

#include "mechanism.h"

// Returns: epsilon of the coins that are really thrown; 0 where the thresholds keep none up to 16.
double agg_part_drawn_epsilon(const shoal_part *part);

// Prints a part in a line, in the words of its mechanism.
//   label: the head of the line
//   what: the piece of a value that the part is about
//   rows: at one position; 0 where the part knows no positions
void agg_part_print(const shoal_part *part, const char *label, const char *what, uint32_t rows);

#endif
