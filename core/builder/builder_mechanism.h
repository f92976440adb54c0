// SPDX-License-Identifier: Apache-2.0
// What a mechanism makes of the fields of a recipe, or of one variable of a joint recipe. Private
// to the core.
#ifndef SHOAL_BUILDER_MECHANISM_H
#define SHOAL_BUILDER_MECHANISM_H

#include "builder.h"

// Returns: the domain that the stated fields ask the mechanism for.
uint32_t shoal_builder_domain(const shoal_recipe *recipe, const shoal_mechanism *mechanism);

// Checks that the recipe states what a mechanism takes in that domain, no other mechanism's fields,
// and values that go together.
shoal_err shoal_builder_check_takes(shoal_recipe_builder *builder, const shoal_takes *takes,
                                    uint32_t domain) SHOAL_MUST_CHECK;

// Makes and prepares a part of the stated fields.
//   part: written on OK
//   cells: of the encoding, where there is one
shoal_err shoal_builder_make_part(shoal_part *part, shoal_recipe_builder *builder, uint32_t domain,
                                  uint32_t cells) SHOAL_MUST_CHECK;

// Records that a mechanism refused one of its parameters. Returns: err.
//   name: as the mechanism calls it, without "parameters."
shoal_err shoal_builder_refuse_parameter(shoal_recipe_builder *builder, const char *name,
                                         shoal_err err);

// Finishes the digest of parameters.values.
void shoal_builder_close_values(shoal_recipe_builder *builder);

#endif
