// SPDX-License-Identifier: Apache-2.0
// The memory that a command's input takes, which cli_state_memory states.
#ifndef INPUT_MEMORY_H
#define INPUT_MEMORY_H

#include <stdint.h>

#include "dictionary.h"
#include "recipe_json.h"
#include "recipe_ref.h"

// Returns: the size of a file in bytes; 0 for a pipe, for standard input ("-") and where the size
// is not known.
uint64_t cli_file_bytes(const char *path);

// The same of a file that is not compressed; 0 for one that is.
uint64_t cli_plain_bytes(const char *path);

// Returns: the bytes that reading reports takes, be they batches or lines. All batches of a file
// are assumed to be as large as its first.
uint64_t cli_reader_memory(const char *const *files, int n_files, const agg_recipe *recipe,
                           unsigned n_threads);

// Returns: about how many batches and files of reports these files hold; pipes, of which nothing is
// known, count as one each.
uint64_t cli_input_claims(const char *const *files, int n_files);

// Returns: the bytes that an accumulator will take: the size of its file, or of the recipe's
// sketches where the file's size is not known.
//   path: NULL for an accumulator that is made, not read
uint64_t cli_accumulator_memory(const char *path, const shoal_recipe *recipe);

// Returns: the bytes that a dictionary takes after it was read.
uint64_t cli_dictionary_memory(const agg_dictionary *dictionary);

// Bytes that a counts file takes.
typedef struct cli_counts_bytes {
    uint64_t held; // after it was read
    // More while it is read: the file, and the table that finds values that came before.
    uint64_t reading;
} cli_counts_bytes;

// Returns: the bytes of counts that were read.
//   path: of their file; NULL for counts that were computed
cli_counts_bytes cli_counts_memory(const agg_dictionary *counts, const char *path);

#endif
