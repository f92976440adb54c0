// SPDX-License-Identifier: Apache-2.0
// Asks on standard error and reads answers from standard input, one a line.
#ifndef INIT_ASK_H
#define INIT_ASK_H

#include <stdbool.h>

#include "agg_error.h"

#define INIT_ANSWER_MAX 1024u // bytes of an answer with its NUL
#define INIT_TRIES 3

// Returns: whether there is a terminal to ask on.
bool init_ask_is_terminal(void);

// Asks once. An empty answer becomes `initial`.
// Returns: AGG_ERR_USAGE where the input has ended, or the line is longer than an answer.
agg_err init_ask(char answer[INIT_ANSWER_MAX], agg_error *error, const char *question,
                 const char *initial) SHOAL_MUST_CHECK;

// Takes one answer. Returns: an error that is shown before the question is asked again.
typedef agg_err init_take(void *context, agg_error *error, const char *answer);

// Asks until an answer is taken, INIT_TRIES times at most.
agg_err init_ask_until(agg_error *error, const char *question, const char *initial, init_take *take,
                       void *context) SHOAL_MUST_CHECK;

#endif
