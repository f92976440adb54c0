// SPDX-License-Identifier: Apache-2.0
// What a command's input takes of memory, for cli_state_memory.
#ifndef INPUT_MEMORY_H
#define INPUT_MEMORY_H

#include <stdint.h>

#include "dictionary.h"
#include "recipe.h"

// Returns: the bytes that an accumulator takes before it is read: those of the file, or of the recipe's sketches where
// there is no file to look at.
uint64_t cli_accumulator_memory(const char *path, const shoal_recipe *recipe);

// Returns: the bytes that a dictionary takes once it is read.
uint64_t cli_dictionary_memory(const agg_dictionary *dictionary);

#endif
