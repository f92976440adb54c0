// SPDX-License-Identifier: Apache-2.0
// Sizes of accumulators and dictionaries; see input_memory.h.
#include "input_memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "batch.h"
#include "compound.h"
#include "read_window.h"
#include "reader.h"
#include "recipe.h"
#include "sketch.h"

uint64_t cli_file_bytes(const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
    return (uint64_t)about.st_size;
}

uint64_t cli_plain_bytes(const char *path)
{
    uint64_t bytes = cli_file_bytes(path);
    return bytes > 0 && agg_compression_of_file(path) != AGG_COMPRESSION_NONE ? 0 : bytes;
}

// Reads the first bytes of a compressed file. Returns: how many there are, 0 after an error.
static size_t expand_head(uint8_t *head, size_t size, FILE *stream)
{
    agg_read_window window;
    agg_error ignored;
    uint64_t n_read = 0;
    size_t len = 0;
    agg_read_window_open(&window, stream, false);
    if (agg_read_window_fill(&window, &ignored, &n_read, size) == SHOAL_OK) {
        len = agg_read_window_has(&window) < size ? agg_read_window_has(&window) : size;
        memcpy(head, window.bytes + window.start, len);
    }
    agg_read_window_release(&window);
    return len;
}

// Returns: the size of a file's first batch; 0 where it holds none.
static uint64_t first_batch_bytes(const char *path)
{
    uint8_t head[SHOAL_BATCH_HEADER_V1];
    shoal_batch batch = {.size = 0};
    FILE *stream = cli_file_bytes(path) > 0 ? fopen(path, "rb") : NULL;
    size_t len = stream != NULL ? fread(head, 1, sizeof head, stream) : 0;
    if (agg_compression_of(head, len) != AGG_COMPRESSION_NONE) {
        rewind(stream);
        len = expand_head(head, sizeof head, stream);
    }
    if (stream != NULL) fclose(stream);
    return shoal_batch_peek(&batch, head, len) == SHOAL_OK ? batch.size : 0;
}

uint64_t cli_reader_memory(const char *const *files, int n_files, const agg_recipe *recipe,
                           unsigned n_threads)
{
    uint64_t most = 0, input = 0;
    bool is_pipe = false;
    for (int i = 0; i < n_files; i++) {
        uint64_t size = cli_plain_bytes(files[i]);
        uint64_t bytes = agg_reader_memory(recipe, n_threads, first_batch_bytes(files[i]));
        if (size == 0 && cli_file_bytes(files[i]) > 0) bytes += AGG_EXPANDER_BYTES;
        if (bytes > most) most = bytes;
        if (size == 0) is_pipe = true;
        input += size;
    }
    // Small inputs take no more than the files and the records of their lines.
    return !is_pipe && input < most / 2 ? 2 * input : most;
}

uint64_t cli_input_claims(const char *const *files, int n_files)
{
    uint64_t n = 0;
    for (int i = 0; i < n_files; i++) {
        uint64_t batch = first_batch_bytes(files[i]);
        n += batch > 0 ? (cli_file_bytes(files[i]) - 1) / batch + 1 : 1;
    }
    return n;
}

uint64_t cli_accumulator_memory(const char *path, const shoal_recipe *recipe)
{
    uint64_t bytes = path != NULL ? cli_file_bytes(path) : 0, cells = 0;
    if (bytes > 0 && !shoal_recipe_keeps_records(recipe)) return bytes;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        cells +=
            (uint64_t)(agg_sketch_kind_of(part->mechanism)->is_one_row ? 1 : part->k) * part->m;
    }
    return bytes + cells * sizeof(uint32_t);
}

uint64_t cli_dictionary_memory(const agg_dictionary *dictionary)
{
    uint64_t bytes = dictionary->n * (sizeof *dictionary->values + sizeof *dictionary->items);
    for (size_t i = 0; i < dictionary->n; i++) bytes += dictionary->values[i].len + 1;
    return bytes;
}

// The pool of texts is the whole file, counts included.
cli_counts_bytes cli_counts_memory(const agg_dictionary *counts, const char *path)
{
    uint64_t n = counts->n, text = path != NULL ? cli_file_bytes(path) : 0, slots = 16;
    bool is_file = text > 0;
    for (size_t i = 0; !is_file && i < n; i++) text += counts->values[i].len + sizeof "\t1000000";
    while (slots / 2 < n + 1) slots *= 2;
    uint64_t a_line = sizeof *counts->values + counts->width * sizeof *counts->items +
                      sizeof *counts->counts + (counts->kinds != NULL);
    return (cli_counts_bytes){n * a_line + text, text + slots * sizeof(uint32_t)};
}
