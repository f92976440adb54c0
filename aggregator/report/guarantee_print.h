// SPDX-License-Identifier: Apache-2.0
// The guarantees of a result as text: sentences for people, and a JSON object.
#ifndef GUARANTEE_PRINT_H
#define GUARANTEE_PRINT_H

#include <stdio.h>

#include "guarantee.h"

#define AGG_GUARANTEE_LINE_MAX 240

// Writes one line of the guarantees for people: "epsilon per report  4 (as drawn: 4)".
//   index: 0, 1, ...; where there is a central epsilon, the last line states what it assumes
// Returns: whether there is an index-th line.
int agg_guarantee_line(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                       size_t index);

// Writes the verdict on one report, or on all reports of a person in a day, as the result page
// shows them (verdict_text.h). A run has one verdict.
//   index: 0 or 1
// Returns: whether there is such a line.
int agg_guarantee_verdict(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                          size_t index);

// Writes the sentence that goes with every central epsilon: the honest share that it assumes, and
// who must not see single reports or batches.
// Returns: whether there is a central epsilon.
int agg_guarantee_assumption(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee);

// Writes one line of the guarantees of two disjoint results. Lines that differ come first, with "a:
// " or "b: " before them, then the common ones. The last line states the guarantee of a person with
// a report in each.
int agg_guarantee_line_of_two(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *a,
                              const agg_guarantee *b, size_t index);

// Writes the JSON object {"local":{"epsilon","drawn","model","reports_per_day","epsilon_per_day"},
// "central":{"epsilon","delta","bound","reports","honest","person":{"epsilon","reports","days"},
// "assumes"} or null,"no_central","claim":{"epsilon","delta","kept"}}. "no_central" is the reason
// beside null; "claim" is there only where the recipe has one.
void agg_guarantee_print_json(FILE *stream, const agg_guarantee *guarantee);

#endif
