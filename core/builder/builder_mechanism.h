// SPDX-License-Identifier: Apache-2.0
// Checks the fields of a recipe, or of one variable of a joint recipe, against its mechanism, and
// makes the part. The header is private to the core.
#ifndef SHOAL_BUILDER_MECHANISM_H
#define SHOAL_BUILDER_MECHANISM_H

#include "builder.h"

// Returns: the domain that the stated fields imply for the mechanism.
uint32_t shoal_builder_domain(const shoal_recipe *recipe, const shoal_mechanism *mechanism);

// Checks that the recipe states the fields that a mechanism takes in that domain, and no field of
// other mechanisms.
shoal_err shoal_builder_check_takes(shoal_recipe_builder *builder, const shoal_takes *takes,
                                    uint32_t domain) SHOAL_MUST_CHECK;

// Makes a part from the stated fields and prepares it.
//   part: written on OK
//   cells: cells of the encoding, if there is one
shoal_err shoal_builder_make_part(shoal_part *part, shoal_recipe_builder *builder, uint32_t domain,
                                  uint32_t cells) SHOAL_MUST_CHECK;

// Records that a mechanism refused one of its parameters. Returns: err.
//   name: the mechanism's name for it, without "parameters."
shoal_err shoal_builder_refuse_parameter(shoal_recipe_builder *builder, const char *name,
                                         shoal_err err);

// Finishes the digest of parameters.values.
void shoal_builder_close_values(shoal_recipe_builder *builder);

#endif
