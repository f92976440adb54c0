// SPDX-License-Identifier: Apache-2.0
// A run over epochs as parts of a server's page: its series or its shares at every update, which
// epochs were updates, and what the votes said, as `shoal track` prints them (track_series.h).
#ifndef STATIC_RUN_H
#define STATIC_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "result_page.h"
#include "track_items.h"

typedef struct agg_static_run {
    agg_track track;
    agg_track_items items; // of a run of strings, if has_items
    bool has_items, is_finished;
    const char *why_no_items; // static; NULL where there are some, or none are asked for
} agg_static_run;

// Begins a run without epochs. Release it in any case.
void agg_static_run_begin(agg_static_run *run);

// Adds the next epoch.
// Returns: as agg_track_add.
agg_err agg_static_run_add(agg_static_run *run, agg_error *error, const agg_recipe *recipe,
                           const agg_accumulator *acc) SHOAL_MUST_CHECK;

// Finds the values, after all epochs are added; nothing without any.
//   dictionary: the values of a run of strings; outlives the run; may be NULL
//   most: bytes that their shares may take; a larger dictionary is not told
agg_err agg_static_run_finish(agg_static_run *run, agg_error *error,
                              const agg_dictionary *dictionary, uint64_t most) SHOAL_MUST_CHECK;

// Writes the section; nothing without an epoch.
//   top: values at each update, and as many again that moved; 0: all
void agg_static_run_write(FILE *out, const agg_static_run *run, size_t top);

size_t agg_static_run_size(const agg_static_run *run); // bytes of memory besides itself
void agg_static_run_release(agg_static_run *run);

#endif
