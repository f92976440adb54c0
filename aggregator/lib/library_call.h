// SPDX-License-Identifier: Apache-2.0
// What the files of the library share: handles, errors, and the surroundings of a call.
#ifndef LIBRARY_CALL_H
#define LIBRARY_CALL_H

#include <locale.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "accumulator.h"
#include "call_streams.h"
#include "recipe_json.h"
#include "shoal_aggregate.h"

struct shoal_agg_recipe {
    agg_recipe recipe;
    atomic_uint n_users; // the caller, and every accumulator and estimate that was made with it
};

struct shoal_agg_accumulator {
    agg_accumulator acc;
    shoal_agg_recipe *recipe; // held
    unsigned n_threads;
    bool is_broken; // memory ended while records were added: some of them may be in the sums
};

struct shoal_agg_context {
    shoal_agg_log log;
    void *user;
};

// The surroundings of a call: its own streams and the locale "C", on this thread only.
typedef struct library_call {
    agg_call call, *before;
    locale_t locale, locale_before;
} library_call;

// Begins a call. Returns: AGG_ERR_MEMORY, and then nothing is to be left.
agg_err library_enter(library_call *call, agg_error *error) SHOAL_MUST_CHECK;
void library_leave(library_call *call);

// Gives an error to the caller. Returns: its code.
//   to: may be NULL; untouched for SHOAL_OK
shoal_agg_code library_fail(shoal_agg_error *to, agg_err err, const agg_error *error);

// The same for a broken contract.
shoal_agg_code library_refuse(shoal_agg_error *to, const char *text);

// Holds a recipe once more. Returns: it.
shoal_agg_recipe *library_hold(const shoal_agg_recipe *recipe);

// Returns: threads that a number of the caller stands for, 1 .. AGG_THREADS_MAX.
unsigned library_threads(uint32_t n_threads);

// Refuses an accumulator that is broken. Returns: AGG_ERR_MEMORY.
agg_err library_check(const shoal_agg_accumulator *accumulator, agg_error *error) SHOAL_MUST_CHECK;

#endif
