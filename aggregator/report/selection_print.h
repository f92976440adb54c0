// SPDX-License-Identifier: Apache-2.0
// Prints what is said of a result whose rows were selected.
#ifndef SELECTION_PRINT_H
#define SELECTION_PRINT_H

#include <stdio.h>

#include "selection.h"

// Prints the member "selection":{"selected", "of", "confidence"} and a comma: rows that count as
// selected, rows in all, and the confidence of each "fcr_low" and "fcr_high".
void agg_selection_print_json(FILE *stream, const agg_selection *selection);

// Prints an empty line and the note of a selection, or nothing if all rows were selected.
//   confidence: of the ordinary intervals
void agg_selection_print(FILE *stream, const agg_selection *selection, double confidence);

#endif
