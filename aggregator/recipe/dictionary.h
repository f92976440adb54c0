// SPDX-License-Identifier: Apache-2.0
// Reads lists of values from files: dictionaries, with one value a line or value<TAB>anything, and
// counts files, with value<TAB>count.
#ifndef DICTIONARY_H
#define DICTIONARY_H

#include <stdbool.h>

#include "log.h"
#include "recipe_json.h"
#include "ruled_texts.h"

#define AGG_EVENT_MATCHES 1u // the event matches the recipe's query
#define AGG_EVENT_IN_PART 2u // the event belongs to the recipe's part of a split collection

typedef struct agg_dictionary {
    size_t n;
    agg_text *values; // n, distinct, in the file's order
    uint64_t *items;  // n * width: the values' items under the recipe
    size_t width;     // items of a value: 1, or the number of variables in counts of a joint recipe
    uint64_t *counts; // n, of a counts file; NULL in a dictionary
    uint64_t total;   // sum of counts, at most 2^53
    uint8_t *kinds;   // n, AGG_EVENT_* of each event; NULL if the values are not events
    char *pool;       // the values' bytes
    agg_ruled_texts ruled; // the values that the text rule changed
    size_t n_changed;  // lines that the recipe's text rule would change, so that no device sends
                       // them as they stand
    size_t n_repeated; // lines of a dictionary that repeat a value and are left out
} agg_dictionary;

// Reads a dictionary file. Where the recipe states text.locale or case fold, its text rule is
// applied to the values, as devices apply it: a list may hold them as people type them.
//   recipe: of one value; take agg_recipe_of_variable of a joint recipe
//   warn: receives the first AGG_LOG_LINES_MAX lines that the text rule would change, and as many
//   repeated lines; may be NULL
// Returns: AGG_ERR_USAGE for a joint recipe and for one that estimates a mean only. An error that
// names the line for a value outside a closed domain, a text that is not a number if the recipe
// collects numbers, an empty line, and a NUL byte.
agg_err agg_dictionary_load(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                            const char *path, agg_log_fn warn, void *warn_context) SHOAL_MUST_CHECK;

// Reads a counts file.
//
// The form of a value depends on the recipe. With an encoding it is an event, a JSON object
// (event.h), up to the line's last tab. If the encoding is one field of characters and the file
// does not begin with {", it is a plain word. In a joint recipe it is one value of each variable,
// in order, with a tab between two; an empty one stands for an event without that variable.
//
// Returns: an error that names the line for a missing tab, a count that is not a whole number, a
// sum over 2^53, and a repeated or empty value (the counts of two spellings of which the text rule
// makes one value are added up); an error for a file whose sum is zero; and what
// agg_dictionary_load refuses of values.
agg_err agg_counts_load(agg_dictionary *counts, agg_error *error, const agg_recipe *recipe,
                        const char *path, agg_log_fn warn, void *warn_context) SHOAL_MUST_CHECK;

// Reads a dictionary or a counts file from memory; `bytes` need not outlive the call.
//   name: the name of the bytes in errors and warnings
agg_err agg_dictionary_parse(agg_dictionary *dictionary, agg_error *error, const agg_recipe *recipe,
                             const char *name, const char *bytes, size_t len, bool has_counts,
                             agg_log_fn warn, void *warn_context) SHOAL_MUST_CHECK;

// Makes a dictionary of texts, which need not outlive the call. The text rule is applied as to the
// lines of a file.
//   places: n entries; the index in `values` of each text
// Returns: as agg_dictionary_load, with the place of the text from 0: "value 3: ...".
agg_err agg_dictionary_of_texts(agg_dictionary *dictionary, uint32_t *places, agg_error *error,
                                const agg_recipe *recipe, const agg_text *texts,
                                size_t n) SHOAL_MUST_CHECK;

// Returns: SHOAL_OK if the recipe has one value, AGG_ERR_USAGE if it is joint: a dictionary lists
// the values of one variable.
agg_err agg_dictionary_check(agg_error *error, const agg_recipe *recipe) SHOAL_MUST_CHECK;

void agg_dictionary_release(agg_dictionary *dictionary);

#endif
