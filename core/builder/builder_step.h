// SPDX-License-Identifier: Apache-2.0
// Sets encoding.N.step. Only modules that carry starts and characters link it. The header is
// private to the core.
#ifndef SHOAL_BUILDER_STEP_H
#define SHOAL_BUILDER_STEP_H

#include "builder.h"

// The `set_number` of the encoding's setter.
shoal_err shoal_builder_set_step(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 int64_t micro) SHOAL_MUST_CHECK;

#endif
