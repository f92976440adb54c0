// SPDX-License-Identifier: Apache-2.0
// Lists of values: dictionaries (one value a line, or value<TAB>anything) and counts files
// (value<TAB>count).
#ifndef DICTIONARY_H
#define DICTIONARY_H

#include <stdbool.h>

#include "log.h"
#include "recipe_json.h"

#define AGG_EVENT_MATCHES 1u // the recipe's query is about such an event
#define AGG_EVENT_IN_PART 2u // it belongs to the recipe's part of a split collection

typedef struct agg_dictionary {
    size_t n;
    agg_text *values; // in file order, each once
    uint64_t *items;  // the values' items under the recipe, `width` each
    size_t width;     // 1; of a joint recipe's counts the number of its variables
    uint64_t *counts; // of a counts file; NULL for a dictionary
    uint64_t total;   // sum of counts, at most 2^53
    uint8_t *kinds;   // of events: AGG_EVENT_*; NULL for other values
    char *pool;
    size_t n_changed;  // lines that the recipe's text rule would change: no device sends them as
                       // they stand
    size_t n_repeated; // lines of a dictionary whose value came before; counted once
} agg_dictionary;

// Reads a dictionary file, which a joint recipe takes of one variable only
// (agg_recipe_of_variable). Values outside a closed domain, texts that are no numbers where numbers
// are asked for, empty lines and NUL bytes are refused with their line; any dictionary where a mean
// is all there is.
//   warn: told of lines that the text rule would change (the first AGG_LOG_LINES_MAX) and of
//   repeated lines; may be NULL
agg_err agg_dictionary_load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                            const char *path, agg_log_fn warn, void *warn_context) SHOAL_MUST_CHECK;

// Reads a counts file: refuses, with the line, a missing tab, anything but a whole number, a sum
// over 2^53, a repeated or empty value; and a file whose sum is zero. Of a recipe with an encoding
// the values are events, JSON objects (event.h), up to the line's last tab; where that is one field
// of characters, and the file does not begin with {", plain words. Of a joint recipe a value is one
// of each variable, in order, with a tab between two; an empty one is an event that lacks the
// variable.
agg_err agg_counts_load(agg_dictionary *counts, agg_error *error, const agg_recipe *recipe,
                        const char *path, agg_log_fn warn, void *warn_context) SHOAL_MUST_CHECK;

// The same from bytes; `bytes` need not outlive the call.
agg_err agg_dictionary_parse(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                             const char *name, const char *bytes, size_t len, bool has_counts,
                             agg_log_fn warn, void *warn_context) SHOAL_MUST_CHECK;

// Returns: SHOAL_OK if the recipe has one value, AGG_ERR_USAGE if it is joint: a dictionary lists
// the values of one variable.
agg_err agg_dictionary_check(agg_error *error, const agg_recipe *recipe) SHOAL_MUST_CHECK;

void agg_dictionary_release(agg_dictionary *dictionary);

#endif
