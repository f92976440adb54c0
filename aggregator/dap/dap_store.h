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

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"
#include "dap_store_batches.h"
#include "dap_store_reports.h"

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
// Commits when `err` is SHOAL_OK and abandons otherwise.
// Returns: `err`, or the commit's error.
agg_err agg_dap_end(agg_dap_store *store, agg_error *error, agg_err err) SHOAL_MUST_CHECK;

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
//   is_left: whether another call would find more, perhaps
//   n_reports: reports that were dropped
agg_err agg_dap_forget(agg_dap_store *store, bool *is_left, uint64_t *n_reports, agg_error *error,
                       int64_t task, uint64_t floor, int64_t limit) SHOAL_MUST_CHECK;

// ---- the helper's answers ----

enum agg_dap_answer_kind { AGG_DAP_OF_JOB = 0, AGG_DAP_OF_SHARE = 1 };
// The answer that a request of this digest got; by_id: only the id's bytes of it are compared.
// *body NULL: none; else free it.
agg_err agg_dap_answer_get(agg_dap_store *store, uint8_t **body, size_t *len, agg_error *error,
                           int64_t task, enum agg_dap_answer_kind kind, const uint8_t *hash,
                           bool by_id) SHOAL_MUST_CHECK;
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
