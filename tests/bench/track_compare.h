// SPDX-License-Identifier: Apache-2.0
// shoal_track_rivals: THRESH, naive recomputation and memoized responses on simulated devices of
// the same laws: error and privacy spent, against epochs and changes, in one table.
#ifndef TRACK_COMPARE_H
#define TRACK_COMPARE_H

#include "agg_error.h"
#include "track_print.h"

typedef struct track_compare_options {
    const char *recipe, *counts, *seed, *output;
    uint64_t n_devices;      // 0: as many as the recipe has users
    uint32_t n_epochs;       // 0: all
    agg_track_format format; // no SVG
    int has_all_epochs;      // a row for every epoch, not for ten of them
    unsigned n_threads;
    uint64_t memory_limit; // of --memory; 0: none
} track_compare_options;

agg_err track_compare(agg_error *error, const track_compare_options *options) SHOAL_MUST_CHECK;

#endif
