// SPDX-License-Identifier: Apache-2.0
// Plans of plan_words.h as a table or as JSON.
#ifndef PLAN_WORDS_PRINT_H
#define PLAN_WORDS_PRINT_H

#include <stdio.h>

#include "plan_words.h"

// Prints a plan. Returns: AGG_ERR_IO.
agg_err agg_words_plan_print(FILE *stream, agg_error *error, const agg_words_plan *plan,
                             bool is_json) SHOAL_MUST_CHECK;

#endif
