// SPDX-License-Identifier: Apache-2.0
// The common part of leader and helper: tasks, keys and store, the check of a report's time and
// bucket, and the sums of output shares by batch bucket. There is no network here, and time is an
// argument.
#ifndef DAP_PARTY_H
#define DAP_PARTY_H

#include <stdatomic.h>

#include "dap_answer.h"
#include "dap_store.h"
#include "dap_vdaf.h"

#define AGG_DAP_LEEWAY_S 300 // seconds by which clocks of devices may be ahead
#define AGG_DAP_JOB_BYTES ((uint64_t)64 << 20)
#define AGG_DAP_ERRORS 12 // enum shoal_dap_report_error, and 0

// A task as a server serves it. It is read-only once loaded, except the counters, which any thread
// may add to.
typedef struct agg_dap_served {
    agg_dap_vdaf vdaf;
    int64_t number; // in the store
    char id_text[SHOAL_DAP_TEXT_LEN(SHOAL_DAP_TASK_ID) + 1];
    char name[SHOAL_NAME_MAX + 1];
    // Since the start: reports taken, reports in sums, jobs done, batches given out.
    atomic_ullong uploaded, aggregated, jobs, collected;
    atomic_ullong refused[AGG_DAP_ERRORS]; // reports, by enum shoal_dap_report_error
    atomic_llong pending;                  // leader: reports that wait, approximately
    atomic_bool is_failing;                // the last exchange with the helper failed
    // Only the leader's driver uses these:
    double retry_s;       // pause after a failure; 0: no pause
    double retry_at;      // its end on the driver's clock
    size_t job_cap;       // most reports that the helper takes in one job; 0: not known
    unsigned bad_replies; // bad replies in a row to the same job
    // Reports to aggregate before a batch is given out whose interval is over and for which
    // somebody waits. 1: give it out now; 0: nobody waits.
    size_t reports_left;
} agg_dap_served;

typedef struct agg_dap_party {
    enum shoal_dap_role role;
    agg_dap_store *store;
    agg_dap_keys keys;
    agg_hpke_key collector; // public
    agg_dap_served *tasks;
    size_t n_tasks;
    unsigned n_threads;  // threads that verify
    uint64_t keep_s;     // seconds for which reports are taken and their ids known
    int64_t max_pending; // leader: most reports of a task that may wait; uploads are put off then
    size_t job_reports;  // leader: most reports of one job
    size_t job_len;      // leader: bytes of one job's request, approximately
    uint64_t job_bytes;  // memory for one job; 0: AGG_DAP_JOB_BYTES
    char helper_url[SHOAL_URL_MAX + 1]; // leader: the helper's URL; "": the tasks'
} agg_dap_party;

// Enters a task in the store.
//   served: zeros
//   seed: common to the two servers
agg_err agg_dap_serve_task(agg_dap_party *party, agg_dap_served *served, agg_error *error,
                           const shoal_dap_task *task, const uint8_t seed[32]) SHOAL_MUST_CHECK;

// Returns: the task of an id, or NULL.
agg_dap_served *agg_dap_task_by_id(const agg_dap_party *party, const uint8_t id[SHOAL_DAP_TASK_ID]);

// Returns: the error (enum shoal_dap_report_error) of a report whose time is too early or too late
// now, or 0.
uint32_t agg_dap_check_time(const agg_dap_served *task, uint64_t time, uint64_t now_s);

// Checks whether a report may still enter its bucket. Call between begin and commit.
//   why: SHOAL_DAP_BATCH_COLLECTED, SHOAL_DAP_REPORT_DROPPED, or 0 when it may
agg_err agg_dap_check_bucket(uint32_t *why, agg_dap_store *store, agg_error *error, int64_t task,
                             uint64_t bucket);

// Forgets ids, answers and reports that are older than the party keeps, and recounts the reports
// that wait.
agg_err agg_dap_forget_old(agg_dap_party *party, agg_error *error, uint64_t now_s) SHOAL_MUST_CHECK;

// The sums of one job's output shares by bucket, on their way into the store.
typedef struct agg_dap_sums {
    agg_dap_bucket *list;
    size_t n, cap;
} agg_dap_sums;
void agg_dap_sums_release(agg_dap_sums *sums); // wipes
agg_err agg_dap_sums_add(agg_dap_sums *sums, agg_error *error, const agg_dap_vdaf *vdaf,
                         uint64_t bucket, const uint8_t id[SHOAL_DAP_REPORT_ID],
                         const uint8_t *output_share) SHOAL_MUST_CHECK;
// Adds the sums to the store's buckets. Call between begin and commit.
agg_err agg_dap_sums_store(const agg_dap_sums *sums, agg_dap_store *store, agg_error *error,
                           const agg_dap_served *task) SHOAL_MUST_CHECK;

// The sum of the buckets of an interval.
typedef struct agg_dap_batch {
    uint64_t n_reports;
    uint8_t checksum[SHOAL_DAP_CHECKSUM];
    shoal_dap_interval interval; // from the first to the last bucket that has reports
    uint8_t *share;              // the aggregate share; NULL: there are no reports
    size_t len;
} agg_dap_batch;
void agg_dap_batch_release(agg_dap_batch *batch); // wipes
agg_err agg_dap_batch_load(agg_dap_batch *batch, agg_dap_store *store, agg_error *error,
                           const agg_dap_served *task,
                           shoal_dap_interval interval) SHOAL_MUST_CHECK;

// Hashes a request by SHA-256.
void agg_dap_hash(uint8_t hash[AGG_DAP_HASH], shoal_bytes body);

#endif
