// SPDX-License-Identifier: Apache-2.0
// One estimate of a collection's closed blocks, with its guarantee and its alarms, or the reason
// why there is none. Only the results thread makes them.
#ifndef SERVE_ESTIMATE_H
#define SERVE_ESTIMATE_H

#include "collection.h"
#include "distribution.h"
#include "estimate.h"
#include "guarantee.h"
#include "store_close.h"

typedef struct serve_estimate {
    agg_error error; // code SHOAL_OK when there is an estimate
    agg_estimate estimate;
    agg_estimate_blocks blocks; // of the estimate
    agg_released released;      // the same, as the ledger numbers them; zeros without an estimate
    agg_guarantee guarantee;    // of the estimate
    agg_distribution spread;    // of numbers; estimate.distribution points to it where there is one
} serve_estimate;

// Makes an estimate of the blocks of a span. It points into itself, so it must not move.
//   dictionary: outlives it
//   with_spread: also how the numbers are spread, where the recipe asks for numbers and its
//   mechanism tells that; reports that fit no distribution are no error
void serve_estimate_make(serve_estimate *made, agg_store *store, const serve_collection *collection,
                         const agg_dictionary *dictionary, agg_span span, bool with_spread,
                         unsigned n_threads);

// Releases an estimate; nothing where there is none.
void serve_estimate_release(serve_estimate *made);

// Returns: the HTTP status of an error.
unsigned serve_estimate_status(agg_err code);

// Returns: why there is no estimate, as a reader may know it. The estimator's own text tells how
// many reports there are: a cohort that is too small must not show that.
agg_error serve_estimate_why_not(const serve_estimate *made, const serve_collection *collection);

// Logs an error of the server's own. It may name files, so it goes to the server's log only.
void serve_estimate_tell_log(const serve_collection *collection, const agg_error *error);

#endif
