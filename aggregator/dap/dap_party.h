// SPDX-License-Identifier: Apache-2.0
// What leader and helper have in common: their tasks, keys and store, which reports they take, and
// how output shares enter batch buckets and come out of them. No network; time is an argument.
#ifndef DAP_PARTY_H
#define DAP_PARTY_H

#include <stdatomic.h>

#include "dap_answer.h"
#include "dap_store.h"
#include "dap_vdaf.h"

#define AGG_DAP_LEEWAY_S 300 // clocks of devices may be ahead by this
#define AGG_DAP_JOB_BYTES ((uint64_t)64 << 20)
#define AGG_DAP_ERRORS 12 // enum shoal_dap_report_error, and 0

// A task as a server serves it. Read-only once loaded, but for the counters, which any thread may
// add to.
typedef struct agg_dap_served {
    agg_dap_vdaf vdaf;
    int64_t number; // in the store
    char id_text[SHOAL_DAP_TEXT_LEN(SHOAL_DAP_TASK_ID) + 1];
    char name[SHOAL_NAME_MAX + 1];
    // Since the start:
    atomic_ullong uploaded, aggregated, jobs,
        collected; // reports taken, reports in sums, jobs done, batches given out
    atomic_ullong refused[AGG_DAP_ERRORS]; // reports, by enum shoal_dap_report_error
    atomic_llong pending;                  // leader: reports that wait, about
    atomic_bool is_failing;                // the last exchange with the helper failed
    // The leader's driver alone:
    double retry_s, retry_at; // pause after a failure, and its end on the driver's clock; 0: none
    size_t job_cap;           // reports that the helper takes in one job; 0: not known
    unsigned bad_replies;     // in a row, to the same job
    size_t reports_left; // in jobs until a batch that is over and waited for is given out; 1: now;
                         // 0: none waits
} agg_dap_served;

typedef struct agg_dap_party {
    enum shoal_dap_role role;
    agg_dap_store *store;
    agg_dap_keys keys;
    agg_hpke_key collector; // public
    agg_dap_served *tasks;
    size_t n_tasks;
    unsigned n_threads;  // for verification
    uint64_t keep_s;     // how long reports are taken, and their ids known
    int64_t max_pending; // leader: reports of a task that may wait; uploads are put off then
    size_t job_reports;  // leader: of one job at most
    size_t job_len;      // leader: bytes of one job's request, about
    uint64_t job_bytes;  // of memory for one job, by agg_dap_report_bytes; 0: AGG_DAP_JOB_BYTES
    char helper_url[SHOAL_URL_MAX +
                    1]; // leader: where the helper is, if not where its tasks say; "" else
} agg_dap_party;

// Enters a task in the store.
//   served: zeros; seed: the two servers' common one
agg_err agg_dap_serve_task(agg_dap_party *party, agg_dap_served *served, agg_error *error,
                           const shoal_dap_task *task, const uint8_t seed[32]) SHOAL_MUST_CHECK;

// Returns: the task of that id, or NULL.
agg_dap_served *agg_dap_task_by_id(const agg_dap_party *party, const uint8_t id[SHOAL_DAP_TASK_ID]);

// Returns: why a report of this time is not taken now, as aggregators say it; 0 where it is.
uint32_t agg_dap_check_time(const agg_dap_served *task, uint64_t time, uint64_t now_s);

// Returns: why a report may not enter its bucket: batch_collected, report_dropped; 0 where it may.
// Between begin and commit.
agg_err agg_dap_check_bucket(uint32_t *why, agg_dap_store *store, agg_error *error, int64_t task,
                             uint64_t bucket);

// Forgets what is older than the party keeps, and counts anew how many reports wait.
agg_err agg_dap_forget_old(agg_dap_party *party, agg_error *error, uint64_t now_s) SHOAL_MUST_CHECK;

// The output shares of one job, by bucket, on their way into the store.
typedef struct agg_dap_sums {
    agg_dap_bucket *list;
    size_t n, cap;
} agg_dap_sums;
void agg_dap_sums_release(agg_dap_sums *sums); // wipes
agg_err agg_dap_sums_add(agg_dap_sums *sums, agg_error *error, const agg_dap_vdaf *vdaf,
                         uint64_t bucket, const uint8_t id[SHOAL_DAP_REPORT_ID],
                         const uint8_t *output_share) SHOAL_MUST_CHECK;
// Adds them to the store's buckets. Between begin and commit.
agg_err agg_dap_sums_store(const agg_dap_sums *sums, agg_dap_store *store, agg_error *error,
                           const agg_dap_served *task) SHOAL_MUST_CHECK;

// A whole batch.
typedef struct agg_dap_batch {
    uint64_t n_reports;
    uint8_t checksum[SHOAL_DAP_CHECKSUM];
    shoal_dap_interval interval; // of the buckets that have reports
    uint8_t *share;              // aggregate share
    size_t len;
} agg_dap_batch;
void agg_dap_batch_release(agg_dap_batch *batch); // wipes
agg_err agg_dap_batch_load(agg_dap_batch *batch, agg_dap_store *store, agg_error *error,
                           const agg_dap_served *task,
                           shoal_dap_interval interval) SHOAL_MUST_CHECK;

void agg_dap_hash(uint8_t hash[AGG_DAP_HASH], shoal_bytes body);

#endif
