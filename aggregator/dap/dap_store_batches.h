// SPDX-License-Identifier: Apache-2.0
// Batches in a DAP server's store: the sums of shares by batch bucket, the intervals that were
// collected, and the leader's collection jobs; see dap_store.h, which includes this header.
#ifndef DAP_STORE_BATCHES_H
#define DAP_STORE_BATCHES_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"

#define AGG_DAP_ID 16 // bytes of a job's id: the first bytes of its request's digest

typedef struct agg_dap_store agg_dap_store;

// ---- batch buckets ----

typedef struct agg_dap_bucket {
    uint64_t bucket, n_reports;
    uint8_t checksum[SHOAL_DAP_CHECKSUM];
    uint8_t *share; // NULL: there is no such bucket yet
    size_t len;
} agg_dap_bucket;
void agg_dap_bucket_release(agg_dap_bucket *bucket); // wipes the share

// Reads one bucket.
agg_err agg_dap_bucket_get(agg_dap_store *store, agg_dap_bucket *out, agg_error *error,
                           int64_t task, uint64_t bucket) SHOAL_MUST_CHECK;

// Writes one bucket.
agg_err agg_dap_bucket_set(agg_dap_store *store, agg_error *error, int64_t task,
                           const agg_dap_bucket *bucket) SHOAL_MUST_CHECK;

// Finds the first bucket of an interval at or after `from`.
//   out: share NULL when there is none
agg_err agg_dap_bucket_next(agg_dap_store *store, agg_dap_bucket *out, agg_error *error,
                            int64_t task, shoal_dap_interval interval,
                            uint64_t from) SHOAL_MUST_CHECK;

// Finds whether any bucket of an interval was collected.
agg_err agg_dap_is_collected(agg_dap_store *store, bool *is_collected, agg_error *error,
                             int64_t task, shoal_dap_interval interval) SHOAL_MUST_CHECK;

// Enters an interval as collected and removes its buckets.
agg_err agg_dap_batch_close(agg_dap_store *store, agg_error *error, int64_t task,
                            shoal_dap_interval interval) SHOAL_MUST_CHECK;

// ---- the leader's collection jobs ----

enum agg_dap_collection_state {
    AGG_DAP_WAITING = 0, // waits for reports
    AGG_DAP_SENDING = 1, // share_request is on its way to the helper; no report may be
                         // aggregated until it is answered
    AGG_DAP_READY = 2,   // `answer` is a CollectionJobResp
    AGG_DAP_FAILED = 3   // `problem` tells why
};

typedef struct agg_dap_collection {
    uint8_t id[AGG_DAP_ID];
    enum agg_dap_collection_state state;
    shoal_dap_interval query;
    uint32_t problem; // enum shoal_dap_problem
    uint8_t *request, *share_request, *answer;
    size_t request_len, share_request_len, answer_len;
} agg_dap_collection;
void agg_dap_collection_release(agg_dap_collection *collection);

// Finds a collection.
//   out: request NULL when there is none
agg_err agg_dap_collection_get(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                               int64_t task, const uint8_t id[AGG_DAP_ID]) SHOAL_MUST_CHECK;

// Finds the next collection in a state whose id is above `after`.
//   out: request NULL when there is none
//   after: NULL: find the first
agg_err agg_dap_collection_next(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                                int64_t task, enum agg_dap_collection_state state,
                                const uint8_t *after) SHOAL_MUST_CHECK;

// Writes a collection.
agg_err agg_dap_collection_set(agg_dap_store *store, agg_error *error, int64_t task,
                               const agg_dap_collection *collection) SHOAL_MUST_CHECK;

// Removes a collection.
agg_err agg_dap_collection_remove(agg_dap_store *store, agg_error *error, int64_t task,
                                  const uint8_t id[AGG_DAP_ID]) SHOAL_MUST_CHECK;

#endif
