// SPDX-License-Identifier: Apache-2.0
// Finds the known name that a mistyped one probably means, for errors that say "did you mean".
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

#include "agg_error.h"

// Returns: the name that is nearest to the text, with at most two errors and one more for every
// three characters of the text; NULL if none is that near, or the text has over 31 characters. An
// error is an insertion, a deletion, a replacement, or a swap of neighbours.
//   names: a list of n names
const char *agg_nearest(const char *const *names, size_t n, const char *text);

// Fails with SHOAL_ERR_UNKNOWN_FIELD: "WHERE" and the name, and the nearest known name, if any.
//   where: what comes before the name in the error, such as "limits: "
//   names: a list of n known names
agg_err agg_fail_unknown_field(agg_error *error, const char *where, const char *text,
                               const char *const *names, size_t n);

#endif
