// SPDX-License-Identifier: Apache-2.0
// What a command's input takes of memory, for cli_state_memory.
#ifndef INPUT_MEMORY_H
#define INPUT_MEMORY_H

#include <stdint.h>

#include "dictionary.h"
#include "recipe.h"
#include "recipe_json.h"

// Returns: the bytes of a file; 0 of a pipe, of standard input ("-"), and where that is not known.
uint64_t cli_file_bytes(const char *path);

// Returns: what a reader of reports takes, of batches or lines. The first batch of each file stands
// for its others.
uint64_t cli_reader_memory(const char *const *files, int n_files, const agg_recipe *recipe,
                           unsigned n_threads);

// Returns: the bytes that an accumulator takes before it is read: those of the file, or of the
// recipe's sketches where there is no file to look at.
//   path: NULL: of one that is made
uint64_t cli_accumulator_memory(const char *path, const shoal_recipe *recipe);

// Returns: the bytes that a dictionary takes once it is read.
uint64_t cli_dictionary_memory(const agg_dictionary *dictionary);

// What a counts file takes.
typedef struct cli_counts_bytes {
    uint64_t held; // once it is read
    uint64_t
        reading; // beside that while it is read: the file, and what finds values that came before
} cli_counts_bytes;

// Returns: the bytes that counts have taken and take.
//   path: of their file; NULL: they were made up
cli_counts_bytes cli_counts_memory(const agg_dictionary *counts, const char *path);

#endif
