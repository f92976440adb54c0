// SPDX-License-Identifier: Apache-2.0
// Reports in a DAP server's store: their ids, the reports that wait at the leader, and the leader's
// aggregation job; see dap_store.h, which includes this header.
#ifndef DAP_STORE_REPORTS_H
#define DAP_STORE_REPORTS_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"

typedef struct agg_dap_store agg_dap_store;

// ---- report ids ----

// Finds whether a report's id is known.
agg_err agg_dap_is_known(agg_dap_store *store, bool *is_known, agg_error *error, int64_t task,
                         const uint8_t id[SHOAL_DAP_REPORT_ID]) SHOAL_MUST_CHECK;

// Enters a report's id.
//   bucket: when the floor rises above it, the id is forgotten
agg_err agg_dap_know(agg_dap_store *store, agg_error *error, int64_t task,
                     const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket) SHOAL_MUST_CHECK;

// ---- reports that wait at the leader ----

typedef struct agg_dap_pending {
    uint8_t id[SHOAL_DAP_REPORT_ID];
    uint64_t bucket;
    uint8_t *body; // the encoded report
    size_t len;
} agg_dap_pending;

typedef struct agg_dap_pendings {
    agg_dap_pending *list;
    size_t n, cap;
} agg_dap_pendings;
void agg_dap_pendings_release(agg_dap_pendings *pendings);

// Keeps a report whose id is not among the waiting ones.
agg_err agg_dap_report_add(agg_dap_store *store, agg_error *error, int64_t task,
                           const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket,
                           shoal_bytes body) SHOAL_MUST_CHECK;

// Removes a report, if it waits.
agg_err agg_dap_report_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              const uint8_t id[SHOAL_DAP_REPORT_ID]) SHOAL_MUST_CHECK;

// Removes all reports in an interval of buckets.
//   n: how many there were
agg_err agg_dap_report_remove_all(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                                  shoal_dap_interval interval) SHOAL_MUST_CHECK;

// Appends the report of an id, if it waits.
agg_err agg_dap_report_find(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, const uint8_t id[SHOAL_DAP_REPORT_ID]) SHOAL_MUST_CHECK;

// Appends the first reports in the order of their ids, which tells nothing about the order in which
// they came.
//   max_n, max_len: most reports and most bytes; at least one report is appended
agg_err agg_dap_report_next(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, size_t max_n, size_t max_len) SHOAL_MUST_CHECK;

// Counts the reports in an interval of buckets, up to `most`.
agg_err agg_dap_report_count(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                             shoal_dap_interval interval, uint64_t most) SHOAL_MUST_CHECK;

// ---- the leader's job ----

// An aggregation job. A task has at most one.
typedef struct agg_dap_job {
    uint8_t *ids; // n report ids
    size_t n;
    uint8_t *request; // NULL: there is no job
    size_t len;
} agg_dap_job;
void agg_dap_job_release(agg_dap_job *job);

agg_err agg_dap_job_get(agg_dap_store *store, agg_dap_job *job, agg_error *error,
                        int64_t task) SHOAL_MUST_CHECK;
agg_err agg_dap_job_set(agg_dap_store *store, agg_error *error, int64_t task,
                        const agg_dap_job *job) SHOAL_MUST_CHECK;
agg_err agg_dap_job_remove(agg_dap_store *store, agg_error *error, int64_t task) SHOAL_MUST_CHECK;

#endif
