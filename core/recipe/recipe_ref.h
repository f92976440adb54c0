// SPDX-License-Identifier: Apache-2.0
// A recipe for files that pass it on and read none of its members: its type, its limits, and the
// functions that answer questions about it. recipe.h has the members. A new field changes recipe.h
// and rebuilds only the files that include it, so headers include this one.
#ifndef SHOAL_RECIPE_REF_H
#define SHOAL_RECIPE_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mechanism.h"
#include "shoal_err.h"

#define SHOAL_PARTS_MAX 8        // parts of one record
#define SHOAL_VALUE_MAX 256      // bytes of one value or string
#define SHOAL_CANONICAL_MAX 4096 // bytes of a recipe's canonical form

#define SHOAL_ALPHABET_MAX 128     // bytes of a candidates' alphabet
#define SHOAL_KNOWN_MAX (1u << 17) // words that devices do not report

#define SHOAL_VARIABLES_MAX SHOAL_PARTS_MAX
#define SHOAL_EPOCHS_MAX 65536 // epochs of a run

#define SHOAL_SPLIT_MAX 2         // fields that a collection is split by
#define SHOAL_SPLIT_VALUES_MAX 31 // listed values of one split field

typedef struct shoal_recipe shoal_recipe;

// Returns: part i of a finished recipe.
//   i: below the recipe's n_parts
const shoal_part *shoal_recipe_part(const shoal_recipe *recipe, uint32_t i);

// Returns: the part whose items are whole values.
const shoal_part *shoal_recipe_value_part(const shoal_recipe *recipe);

// Finds a parameter that reports state: a number of the recipe under "parameters.". A list of
// values counts as the parameter "size", with its length.
//   name: written; static, without "parameters."
//   micro: written, in micro-units
//   index: 0, 1, ... in the order of the rows
// Returns: whether there are more than `index` parameters.
bool shoal_recipe_parameter(const char **name, int64_t *micro, const shoal_recipe *recipe,
                            uint32_t index);

// Returns: whether a device needs a permanent secret of its own to make records of this recipe.
bool shoal_recipe_is_permanent(const shoal_recipe *recipe);

// Returns: the item of a number. A closed domain divides low .. high into `size` equal buckets; the
// item is the bucket that holds the number, or the nearest end for a number outside. In the number
// domain the item is the fraction of the range, rounded down exactly, or an end for a number
// outside.
//   micro: the number in micro-units; the recipe's value must be "number"
// Timing: constant in micro.
uint64_t shoal_recipe_number_item(const shoal_recipe *recipe, int64_t micro);

// Returns: the item of a number for variable i of a joint recipe.
uint64_t shoal_variable_number_item(const shoal_recipe *recipe, uint32_t i, int64_t micro);

// Writes the signed bytes of a finished recipe: the canonical bytes without `part`.
// Returns: SPACE if they do not fit into cap bytes; SHOAL_CANONICAL_MAX is always enough.
shoal_err shoal_recipe_signed(uint8_t *out, size_t cap, size_t *len,
                              const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Returns: SHOAL_ERR_EXPIRED if day is after the recipe's last day, else SHOAL_OK.
//   day: days since 1970-01-01 UTC
shoal_err shoal_recipe_check_day(const shoal_recipe *recipe, uint32_t day) SHOAL_MUST_CHECK;

// Computes the actual epsilon of one report: the sum over all parts, recomputed from the thresholds
// and rounded up.
//   eps_micro: written, in micro-units, at most cost_micro
shoal_err shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Computes what the ledger charges when it is debited: the epsilon of one report, or of all reports
// of a run, which is debited once.
//   eps_micro: written, in micro-units
shoal_err shoal_recipe_charge(uint32_t *eps_micro, const shoal_recipe *recipe) SHOAL_MUST_CHECK;

#endif
