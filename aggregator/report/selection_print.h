// SPDX-License-Identifier: Apache-2.0
// Prints what is said of a result whose rows were selected.
#ifndef SELECTION_PRINT_H
#define SELECTION_PRINT_H

#include <stdio.h>

#include "estimate.h"
#include "result_table.h"
#include "selection.h"

// Adds the columns of rows that were selected: "fcr_low", "fcr_high", "rank_low", "rank_high",
// "adjusted", "adjusted_low" and "adjusted_high". The last three may be missing.
//   unit: of the counts
void agg_selection_columns(agg_table *table, const char *unit);

// Prints the member "selection":{"selected", "of", "confidence"} and a comma: rows that count as
// selected, rows in all, and the confidence of each "fcr_low" and "fcr_high".
void agg_selection_print_json(FILE *stream, const agg_selection *selection);

// Prints an empty line and the note of a selection, or nothing if all rows were selected.
//   confidence: of the ordinary intervals
void agg_selection_print(FILE *stream, const agg_selection *selection, double confidence);

// Prints the head of the three columns of adjusted figures on a terminal, or the figures of one
// row. Prints nothing where rows have none.
//   row: NULL for the head
void agg_adjusted_print(FILE *stream, const agg_estimate *e, const agg_estimate_row *row);

// Prints an empty line and why there are no adjusted figures, or how they are meant.
void agg_adjusted_print_note(FILE *stream, const agg_estimate *e);

// Prints the head of the page's column of adjusted figures, the cell of one row, or the note below
// the table. Prints nothing where rows have none, except for the note.
void agg_adjusted_page_head(FILE *out, const agg_estimate *e);
void agg_adjusted_page_cell(FILE *out, const agg_estimate *e, const agg_estimate_row *row);
void agg_adjusted_page_note(FILE *out, const agg_estimate *e);

#endif
