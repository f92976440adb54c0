// SPDX-License-Identifier: Apache-2.0
// The durable state of a DAP server, in one SQLite database:
//
// - report ids, which refuse replays;
// - the leader's waiting reports, its aggregation job and its collections;
// - the sums of shares by batch bucket, and the intervals that were collected;
// - the helper's answers, which a repeated request gets again.
//
// The store knows no VDAF, no keys and no network. Its functions in dap_store_reports.h and
// dap_store_batches.h belong to it and are included here.
//
// All reading and writing happens between agg_dap_begin and agg_dap_commit, by one thread at a
// time. Changes in between are made together or not at all: they are durable when agg_dap_commit
// returns, and undone by agg_dap_abandon. Functions in between fail with AGG_ERR_IO or
// AGG_ERR_MEMORY; abandon after a failure.
//
// Privacy: a server's database holds ciphertexts, shares of sums, ids, and times in units of the
// task's precision. It never holds a measurement, an address, or the order in which reports came.
// Deleted content is overwritten.
#ifndef DAP_STORE_H
#define DAP_STORE_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"
#include "dap_store_batches.h"
#include "dap_store_reports.h"
#include "store_check.h"

#define AGG_DAP_HASH 32 // SHA-256 of a request

typedef struct agg_dap_store agg_dap_store;

// Opens or creates the store in a folder, which one process holds at a time.
// Returns: as agg_database_open.
agg_err agg_dap_store_open(agg_dap_store **store, agg_error *error,
                           const char *folder) SHOAL_MUST_CHECK;
void agg_dap_store_close(agg_dap_store *store); // store may be NULL

// Begins a transaction, once no other thread is in one.
agg_err agg_dap_begin(agg_dap_store *store, agg_error *error) SHOAL_MUST_CHECK;

// Commits the transaction, or abandons it when that fails.
agg_err agg_dap_commit(agg_dap_store *store, agg_error *error) SHOAL_MUST_CHECK;

// Undoes the transaction.
void agg_dap_abandon(agg_dap_store *store);

// Commits when `err` is SHOAL_OK and abandons otherwise.
// Returns: `err`, or the commit's error.
agg_err agg_dap_end(agg_dap_store *store, agg_error *error, agg_err err) SHOAL_MUST_CHECK;

// Checks the structure of the database (agg_database_quick_check). Shares and ciphertexts have no
// checksum of their own: a changed byte within one shows as a report or a batch that is refused, or
// not at all. An agg_watch_fn.
//   store: an agg_dap_store
agg_err agg_dap_store_check(void *store, agg_store_found *found, agg_error *error,
                            agg_store_told told, const agg_pace *pace) SHOAL_MUST_CHECK;

// Empties the write-ahead log, which still holds replaced shares. Not between begin and commit.
void agg_dap_store_tidy(agg_dap_store *store);

// Finds or enters a task.
//   number: the task's number in the functions below
//   digest: SHA-256 of the task's configuration and keys, which must never change
// Returns: SHOAL_ERR_RECIPE_HASH when the store knows the id with another digest.
agg_err agg_dap_store_task(agg_dap_store *store, int64_t *number, agg_error *error,
                           const uint8_t id[SHOAL_DAP_TASK_ID],
                           const uint8_t digest[32]) SHOAL_MUST_CHECK;

// Reads the floor: the first bucket that is still kept. Reports before the floor are refused, so
// that their ids can be forgotten. The floor only rises.
agg_err agg_dap_floor(agg_dap_store *store, uint64_t *floor, agg_error *error,
                      int64_t task) SHOAL_MUST_CHECK;

// Raises the floor and forgets up to `limit` ids, answers and waiting reports before it. Reports
// stay while there is a job.
//   is_left: whether another call may find more
//   n_reports: waiting reports that were dropped
agg_err agg_dap_forget(agg_dap_store *store, bool *is_left, uint64_t *n_reports, agg_error *error,
                       int64_t task, uint64_t floor, int64_t limit) SHOAL_MUST_CHECK;

// ---- the helper's answers ----

enum agg_dap_answer_kind { AGG_DAP_OF_JOB = 0, AGG_DAP_OF_SHARE = 1 };

// Finds the answer that a request got.
//   body: from malloc, or NULL when there is no answer
//   hash: the request's digest, or only its first AGG_DAP_ID bytes when by_id
agg_err agg_dap_answer_get(agg_dap_store *store, uint8_t **body, size_t *len, agg_error *error,
                           int64_t task, enum agg_dap_answer_kind kind, const uint8_t *hash,
                           bool by_id) SHOAL_MUST_CHECK;

// Keeps an answer.
//   bucket: the bucket of now; answers are forgotten like ids
agg_err agg_dap_answer_set(agg_dap_store *store, agg_error *error, int64_t task,
                           enum agg_dap_answer_kind kind, const uint8_t hash[AGG_DAP_HASH],
                           uint64_t bucket, shoal_bytes body) SHOAL_MUST_CHECK;

// Forgets an answer.
agg_err agg_dap_answer_remove(agg_dap_store *store, agg_error *error, int64_t task,
                              enum agg_dap_answer_kind kind,
                              const uint8_t id[AGG_DAP_ID]) SHOAL_MUST_CHECK;

// ---- counts, for metrics ----

typedef struct agg_dap_counts {
    uint64_t pending;     // reports that wait
    uint64_t aggregated;  // reports in sums that are not collected
    uint64_t jobs;        // 0 or 1
    uint64_t collections; // that are not decided
} agg_dap_counts;

// Counts a task's rows.
agg_err agg_dap_count(agg_dap_store *store, agg_dap_counts *counts, agg_error *error,
                      int64_t task) SHOAL_MUST_CHECK;

#endif
