// SPDX-License-Identifier: Apache-2.0
// The durable state of a DAP server, in one SQLite database: what a leader has not aggregated yet
// and the job it is at, the sums of shares of either role by batch bucket, report ids against
// replay, which intervals were collected, and the answers that a repeated request gets again.
// Depends on SQLite and dap.h's structs; knows no VDAF, no keys and no network.
//
// Everything happens between agg_dap_begin and agg_dap_commit, one thread at a time: what is done
// there is done together or not at all, durable once agg_dap_commit returns, and gone after
// agg_dap_abandon. The functions between begin and commit return SHOAL_OK or fail with AGG_ERR_IO
// or AGG_ERR_MEMORY; after a failure abandon.
//
// Privacy: a server's database holds ciphertexts, shares of sums, ids and times in units of the
// task's precision. It never holds a measurement, nor an address or the order in which reports
// came. Deleted content is overwritten.
#ifndef DAP_STORE_H
#define DAP_STORE_H

#include "agg_error.h"
#include "dap.h"

#define AGG_DAP_STORE_VERSION 1
#define AGG_DAP_ID 16   // bytes of a job's id: the first of its request's digest
#define AGG_DAP_HASH 32 // SHA-256 of a request

typedef struct agg_dap_store agg_dap_store;

// Opens or makes the store in a folder, which one process holds at a time.
agg_err agg_dap_store_open(agg_dap_store **store, agg_error *error,
                           const char *folder) SHOAL_MUST_CHECK;
void agg_dap_store_close(agg_dap_store *store); // store may be NULL

agg_err agg_dap_begin(agg_dap_store *store, agg_error *error) SHOAL_MUST_CHECK;
agg_err agg_dap_commit(agg_dap_store *store,
                       agg_error *error) SHOAL_MUST_CHECK; // abandons when it fails
void agg_dap_abandon(agg_dap_store *store);

// Empties the write-ahead log, where replaced shares still lie. Not between begin and commit.
void agg_dap_store_tidy(agg_dap_store *store);

// Enters a task, with what it must agree on for ever.
//   number: what the functions below call it
//   digest: SHA-256 of it
// Returns: SHOAL_ERR_RECIPE_HASH when the store knows the id with another digest.
agg_err agg_dap_store_task(agg_dap_store *store, int64_t *number, agg_error *error,
                           const uint8_t id[SHOAL_DAP_TASK_ID],
                           const uint8_t digest[32]) SHOAL_MUST_CHECK;

// The first bucket that is still kept: reports before it are refused, so that their ids can be
// forgotten. Only grows.
agg_err agg_dap_floor(agg_dap_store *store, uint64_t *floor, agg_error *error,
                      int64_t task) SHOAL_MUST_CHECK;

// Raises the floor and forgets up to `limit` ids, answers and pending reports before it; reports
// only while there is no job.
//   n_left: how many more calls would find some, at least: 0 or 1
//   n_reports: reports that were dropped
agg_err agg_dap_forget(agg_dap_store *store, int *n_left, uint64_t *n_reports, agg_error *error,
                       int64_t task, uint64_t floor, int64_t limit) SHOAL_MUST_CHECK;

// ---- report ids ----

agg_err agg_dap_is_known(agg_dap_store *store, int *is_known, agg_error *error, int64_t task,
                         const uint8_t id[SHOAL_DAP_REPORT_ID]) SHOAL_MUST_CHECK;
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

agg_err agg_dap_report_add(agg_dap_store *store, agg_error *error, int64_t task,
                           const uint8_t id[SHOAL_DAP_REPORT_ID], uint64_t bucket,
                           shoal_bytes body) SHOAL_MUST_CHECK;
agg_err agg_dap_report_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              const uint8_t id[SHOAL_DAP_REPORT_ID]) SHOAL_MUST_CHECK;
// Removes all of an interval of buckets.
agg_err agg_dap_report_remove_all(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                                  shoal_dap_interval interval) SHOAL_MUST_CHECK;
// Appends the report of that id, if it waits.
agg_err agg_dap_report_find(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, const uint8_t id[SHOAL_DAP_REPORT_ID]) SHOAL_MUST_CHECK;
// Appends the first reports in the order of their ids, which says nothing of the order of arrival.
//   max_n, max_len: reports and bytes at most, but one report at least
agg_err agg_dap_report_next(agg_dap_store *store, agg_dap_pendings *out, agg_error *error,
                            int64_t task, size_t max_n, size_t max_len) SHOAL_MUST_CHECK;
// Counts those of an interval, up to `most`.
agg_err agg_dap_report_count(agg_dap_store *store, uint64_t *n, agg_error *error, int64_t task,
                             shoal_dap_interval interval, uint64_t most) SHOAL_MUST_CHECK;

// ---- the leader's job: at most one a task ----

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

// ---- batch buckets ----

typedef struct agg_dap_bucket {
    uint64_t bucket, n_reports;
    uint8_t checksum[SHOAL_DAP_CHECKSUM];
    uint8_t *share; // NULL: there is no such bucket yet
    size_t len;
} agg_dap_bucket;
void agg_dap_bucket_release(agg_dap_bucket *bucket); // wipes the share
agg_err agg_dap_bucket_get(agg_dap_store *store, agg_dap_bucket *out, agg_error *error,
                           int64_t task, uint64_t bucket) SHOAL_MUST_CHECK;
agg_err agg_dap_bucket_set(agg_dap_store *store, agg_error *error, int64_t task,
                           const agg_dap_bucket *bucket) SHOAL_MUST_CHECK;
// The first bucket of an interval that is at or behind `from`.
agg_err agg_dap_bucket_next(agg_dap_store *store, agg_dap_bucket *out, agg_error *error,
                            int64_t task, shoal_dap_interval interval,
                            uint64_t from) SHOAL_MUST_CHECK;
// How many reports were aggregated into an interval's buckets.
agg_err agg_dap_bucket_count(agg_dap_store *store, uint64_t *n_reports, agg_error *error,
                             int64_t task, shoal_dap_interval interval) SHOAL_MUST_CHECK;

// Whether some bucket of the interval was collected.
agg_err agg_dap_is_collected(agg_dap_store *store, int *is_collected, agg_error *error,
                             int64_t task, shoal_dap_interval interval) SHOAL_MUST_CHECK;
// Enters an interval as collected and removes its buckets.
agg_err agg_dap_batch_close(agg_dap_store *store, agg_error *error, int64_t task,
                            shoal_dap_interval interval) SHOAL_MUST_CHECK;

// ---- the leader's collection jobs ----

enum agg_dap_collection_state {
    AGG_DAP_WAITING = 0, // for reports
    AGG_DAP_SENDING = 1, // share_request is on its way to the helper; nothing may be aggregated
                         // until it is answered
    AGG_DAP_READY = 2,   // answer is a CollectionJobResp
    AGG_DAP_FAILED = 3   // problem
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
// request NULL afterwards: there is none.
agg_err agg_dap_collection_get(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                               int64_t task, const uint8_t id[AGG_DAP_ID]) SHOAL_MUST_CHECK;
// The next one in that state whose id is above `after` (NULL: the first).
agg_err agg_dap_collection_next(agg_dap_store *store, agg_dap_collection *out, agg_error *error,
                                int64_t task, enum agg_dap_collection_state state,
                                const uint8_t *after) SHOAL_MUST_CHECK;
agg_err agg_dap_collection_set(agg_dap_store *store, agg_error *error, int64_t task,
                               const agg_dap_collection *collection) SHOAL_MUST_CHECK;
agg_err agg_dap_collection_remove(agg_dap_store *store, agg_error *error, int64_t task,
                                  const uint8_t id[AGG_DAP_ID]) SHOAL_MUST_CHECK;

// ---- the helper's answers ----

enum agg_dap_answer_kind { AGG_DAP_OF_JOB = 0, AGG_DAP_OF_SHARE = 1 };
// The answer that a request of this digest got; by_id: only the id's bytes of it are compared.
// *body NULL: none; else free it.
agg_err agg_dap_answer_get(agg_dap_store *store, uint8_t **body, size_t *len, agg_error *error,
                           int64_t task, enum agg_dap_answer_kind kind, const uint8_t *hash,
                           int by_id) SHOAL_MUST_CHECK;
//   bucket: of now; answers are forgotten as ids are
agg_err agg_dap_answer_set(agg_dap_store *store, agg_error *error, int64_t task,
                           enum agg_dap_answer_kind kind, const uint8_t hash[AGG_DAP_HASH],
                           uint64_t bucket, shoal_bytes body) SHOAL_MUST_CHECK;
agg_err agg_dap_answer_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              enum agg_dap_answer_kind kind,
                              const uint8_t id[AGG_DAP_ID]) SHOAL_MUST_CHECK;

// ---- counts, for metrics ----

typedef struct agg_dap_counts {
    uint64_t pending, aggregated, jobs, collections;
} agg_dap_counts;
agg_err agg_dap_count(agg_dap_store *store, agg_dap_counts *counts, agg_error *error,
                      int64_t task) SHOAL_MUST_CHECK;

#endif
