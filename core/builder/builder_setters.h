// SPDX-License-Identifier: Apache-2.0
// The setters of the fields that are no scalars, made from the rows SHOAL_OWN of recipe_fields.def
// that this build carries. Private to the core.
#ifndef SHOAL_BUILDER_SETTERS_H
#define SHOAL_BUILDER_SETTERS_H

#include "builder_fields.h"

// Returns: the setter of a path that is such a field or below one ("encoding.0.values"), or NULL.
const shoal_setter *shoal_setter_of(const char *path, size_t path_len);

// Calls every setter's `close`, or every setter's `check`, in the order of the rows.
// Returns: the first error.
shoal_err shoal_setters_close(shoal_recipe_builder *builder) SHOAL_MUST_CHECK;
shoal_err shoal_setters_check(shoal_recipe_builder *builder) SHOAL_MUST_CHECK;

#endif
