// SPDX-License-Identifier: Apache-2.0
// The state and the steps that `shoal round next` shares among its files; only round_*.c include
// it.
#ifndef ROUND_WORK_H
#define ROUND_WORK_H

#include "accumulator.h"
#include "agg_file.h"
#include "next_prefixes.h"
#include "next_recipe.h"
#include "next_trie.h"
#include "refine.h"
#include "round_next.h"

// One call's state.
typedef struct round_work {
    const round_options *options;
    agg_recipe recipe; // the recipe of this round
    agg_accumulator acc;
    uint32_t field;    // the field that changes
    agg_count *counts; // counts of the field's buckets
    agg_bytes token_bytes;
    agg_text *tokens; // the tokens of --tokens; NULL without it
    size_t n_tokens;
    agg_next_prefixes prefixes;
    agg_refined refined;
    agg_trie_layer layer; // the kept cells of a trie
    agg_next_trie trie;
} round_work;

// Logs a line.
AGG_PRINTF(1, 2) void round_say(const char *format, ...);

// ---- round_write.c ----

// Reads the next recipe back, logs what it asks for and writes it to --output.
agg_err round_write(round_work *w, agg_error *error, const agg_next_recipe *next) SHOAL_MUST_CHECK;

// ---- round_field.c: a field of an encoding ----

// Finds the field that changes. Returns: AGG_ERR_USAGE where there is none, or several.
agg_err round_field_find(round_work *w, agg_error *error) SHOAL_MUST_CHECK;

// Chooses the field's next prefixes or boundaries from its counts.
agg_err round_field_choose(round_work *w, agg_error *error, agg_next_recipe *next) SHOAL_MUST_CHECK;

// Returns: the most bytes that choosing takes beside the accumulator.
uint64_t round_field_memory(const round_work *w);

// ---- round_trie.c: a trie ----

// Finds the starts of the next round and writes its recipe; logs the end of a trie that is
// complete.
agg_err round_trie(round_work *w, agg_error *error, agg_next_recipe *next) SHOAL_MUST_CHECK;

// Returns: the most bytes that it takes beside the accumulator.
uint64_t round_trie_memory(const round_work *w);

// ---- round_epoch.c: a run over epochs ----

// Decides whether the epoch was an update and writes the recipe of the next one.
agg_err round_epoch(round_work *w, agg_error *error) SHOAL_MUST_CHECK;

#endif
