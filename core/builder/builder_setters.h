// SPDX-License-Identifier: Apache-2.0
// The setters of the fields that are not scalars, generated from the rows SHOAL_OWN of
// recipe_fields.def that this build carries. The header is private to the core.
#ifndef SHOAL_BUILDER_SETTERS_H
#define SHOAL_BUILDER_SETTERS_H

#include "builder_fields.h"

// Returns: the setter of such a field, whose path may go below the field ("encoding.0.values"), or
// NULL.
const shoal_setter *shoal_setter_of(const char *path, size_t path_len);

// Calls every setter's `close`, or every setter's `check`, in the order of the rows.
// Returns: the first error.
shoal_err shoal_setters_close(shoal_recipe_builder *builder) SHOAL_MUST_CHECK;
shoal_err shoal_setters_check(shoal_recipe_builder *builder) SHOAL_MUST_CHECK;

#endif
