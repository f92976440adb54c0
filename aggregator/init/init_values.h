// SPDX-License-Identifier: Apache-2.0
// What fills the templates: answers, figures and secrets as texts.
#ifndef INIT_VALUES_H
#define INIT_VALUES_H

#include "init_files.h"
#include "init_recipes.h"

#define INIT_VALUES_SIZE 80u
#define INIT_COLUMNS 80u

typedef struct init_values {
    init_value list[INIT_VALUES_SIZE]; // ended by a NULL name
    size_t n;
    char *owned[INIT_VALUES_SIZE]; // texts of the list that are freed with it
    size_t n_owned;
} init_values;

// Fills the list. Release it on an error, too.
agg_err init_values_make(init_values *values, agg_error *error, const init_answers *answers,
                         const init_figures *figures, const init_recipes *recipes) SHOAL_MUST_CHECK;
void init_values_release(init_values *values);

// Returns: the text of a name that the list holds.
const char *init_values_get(const init_values *values, const char *name);

// Writes a whole number with commas, such as 12,500.
void init_put_count(char out[32], double number);

// Writes a share as percent, with two digits that mean something: 0.31 %.
void init_put_share(char out[32], double share);

// Writes what will be seen, as a sentence.
void init_put_sentence(char *out, size_t size, const init_answers *answers,
                       const init_figures *figures);

// Prints a text with a line end before column INIT_COLUMNS, each line indented.
void init_print_wrapped(FILE *stream, const char *indent, const char *text);

// Writes what it would take to see something, as a sentence; empty where nobody knows.
void init_put_needed(char *out, size_t size, const init_figures *figures);

#endif
