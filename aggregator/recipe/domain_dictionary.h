// SPDX-License-Identifier: Apache-2.0
// The dictionary that a closed domain implies: all of its values, with their labels.
#ifndef DOMAIN_DICTIONARY_H
#define DOMAIN_DICTIONARY_H

#include "dictionary.h"

// Makes the dictionary of a recipe with a closed domain: its values, its indices in decimal, its
// buckets of a number (agg_bucket_print), the cells of its encoding (agg_recipe_label), or the one
// entry "mean" if the recipe estimates a mean.
//   dictionary: may point into the recipe, which must outlive it
// Returns: SHOAL_ERR_ARGUMENT for an open domain; AGG_ERR_USAGE for a joint recipe; AGG_ERR_MEMORY.
agg_err agg_dictionary_of_recipe(agg_dictionary *dictionary, agg_error *error,
                                 const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Makes the dictionary of the buckets of one field of an encoding.
//   field: its index in the encoding
agg_err agg_dictionary_of_field(agg_dictionary *dictionary, agg_error *error,
                                const agg_recipe *recipe, uint32_t field) SHOAL_MUST_CHECK;

#endif
