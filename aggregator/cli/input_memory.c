// SPDX-License-Identifier: Apache-2.0
// Sizes of accumulators and dictionaries; see input_memory.h.
#include "input_memory.h"

#include <string.h>
#include <sys/stat.h>

#include "sketch.h"

uint64_t cli_accumulator_memory(const char *path, const shoal_recipe *recipe)
{
    struct stat about;
    uint64_t cells = 0;
    if (strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode)) return (uint64_t)about.st_size;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        cells += (uint64_t)(agg_sketch_kind_of(part->mechanism)->is_one_row ? 1 : part->k) * part->m;
    }
    return cells * sizeof(uint32_t);
}

uint64_t cli_dictionary_memory(const agg_dictionary *dictionary)
{
    uint64_t bytes = dictionary->n * (sizeof *dictionary->values + sizeof *dictionary->items);
    for (size_t i = 0; i < dictionary->n; i++) bytes += dictionary->values[i].len + 1;
    return bytes;
}

// The pool is the file as it was, counts and all.
cli_counts_bytes cli_counts_memory(const agg_dictionary *counts, const char *path)
{
    struct stat about;
    uint64_t n = counts->n, text = 0, slots = 16;
    int is_file = path != NULL && strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISREG(about.st_mode);
    if (is_file) text = (uint64_t)about.st_size;
    for (size_t i = 0; !is_file && i < n; i++) text += counts->values[i].len + sizeof "\t1000000";
    while (slots / 2 < n + 1) slots *= 2;
    uint64_t a_line = sizeof *counts->values + counts->width * sizeof *counts->items + sizeof *counts->counts +
                      (counts->kinds != NULL);
    return (cli_counts_bytes){n * a_line + text, text + slots * sizeof(uint32_t)};
}
