// SPDX-License-Identifier: Apache-2.0
// The list that people choose from: from a file with one value a line, or typed with commas.
#ifndef INIT_CHOICES_H
#define INIT_CHOICES_H

#include "text_list.h"

// Reads the values of a file. Returns: AGG_ERR_USAGE naming the line of a value that no list holds,
// and for fewer than 2 values or more than INIT_VALUES_MAX.
agg_err init_choices_read(agg_list *values, agg_error *error, const char *path) SHOAL_MUST_CHECK;

// Splits a line at its commas; blanks around a value are left out.
agg_err init_choices_split(agg_list *values, agg_error *error, const char *line) SHOAL_MUST_CHECK;

#endif
