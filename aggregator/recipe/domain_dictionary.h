// SPDX-License-Identifier: Apache-2.0
// The dictionary that a recipe implies: all values of its closed domain, labelled.
#ifndef DOMAIN_DICTIONARY_H
#define DOMAIN_DICTIONARY_H

#include "dictionary.h"

// The dictionary of a closed domain: the recipe's values, its indices in decimal, its buckets of a
// number (agg_bucket_print), the cells of its encoding (agg_recipe_label), or "mean" alone where a
// mean is all there is. ARGUMENT for an open domain.
agg_err agg_dictionary_of_recipe(agg_dictionary *dictionary, agg_error *error,
                                 const agg_recipe *recipe) SHOAL_MUST_CHECK;

// The buckets of one field of an encoding.
agg_err agg_dictionary_of_field(agg_dictionary *dictionary, agg_error *error,
                                const agg_recipe *recipe, uint32_t field) SHOAL_MUST_CHECK;

#endif
