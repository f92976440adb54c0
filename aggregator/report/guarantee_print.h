// SPDX-License-Identifier: Apache-2.0
// The guarantees of a result as text: sentences for people, and a JSON object.
#ifndef GUARANTEE_PRINT_H
#define GUARANTEE_PRINT_H

#include <stdio.h>

#include "guarantee.h"

#define AGG_GUARANTEE_LINE_MAX 200

// The guarantees for people, a line each: "epsilon per report  4 (as drawn: 4)".
//   index: 0, 1, ...; the last is the sentence on what the central epsilon assumes
// Returns: whether there is an index-th.
int agg_guarantee_line(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *guarantee,
                       size_t index);

// The same for two disjoint results: what they differ in, "a: " or "b: " before it, what holds for
// both, and last what a person with a report in each has to expect.
int agg_guarantee_line_of_two(char out[AGG_GUARANTEE_LINE_MAX], const agg_guarantee *a,
                              const agg_guarantee *b, size_t index);

// Writes the JSON object
// {"local":{"epsilon","drawn","model","reports_per_day","epsilon_per_day"},"central":{"epsilon","delta",
// "bound","reports","honest"} or null,"claim":{"epsilon","delta","kept"}}; "claim" only where the
// recipe has one.
void agg_guarantee_print_json(FILE *stream, const agg_guarantee *guarantee);

#endif
