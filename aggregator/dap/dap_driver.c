// SPDX-License-Identifier: Apache-2.0
// The driver's steps; see dap_driver.h. A job or collection that is under way comes first, so that
// neither a crash nor an absent helper lets a second one begin.
#include "dap_driver.h"

#include "dap_batch.h"
#include "dap_job.h"

// Spare jobs before a batch is given out. Anybody may send reports of a batch for which the
// collector waits, and so could delay it for ever. The batch is given out after twice the reports
// that waited at first, and this many full jobs. Reports that are left then came late.
#define JOBS_SPARE 8

// Counts task->reports_left down by a full job. It counts reports, so that a helper that takes
// smaller jobs than before does not shorten the wait.
static void count_down(agg_dap_served *task, bool is_awaited, size_t full)
{
    long long n = atomic_load(&task->pending);
    if (!is_awaited)
        task->reports_left = 0;
    else if (task->reports_left == 0)
        task->reports_left = (n > 0 ? 2 * (size_t)n : 0) + JOBS_SPARE * full + 1;
    else
        task->reports_left = task->reports_left > full ? task->reports_left - full : 1;
}

// Finds whether a job is due: enough reports wait for a full job, or a collection waits for some.
// No job is due when a batch has waited long enough.
static agg_err is_job_due(bool *is_due, agg_dap_party *party, agg_error *error,
                          agg_dap_served *task, uint64_t now_s, bool is_eager)
{
    const shoal_dap_interval always = {0, UINT64_MAX};
    const size_t full = agg_dap_job_full(party, task);
    uint64_t n = 0;
    bool is_awaited = false;
    agg_err err = agg_dap_begin(party->store, error);
    if (err != SHOAL_OK) return err;
    err = agg_dap_report_count(party->store, &n, error, task->number, always, full);
    if (err == SHOAL_OK && n > 0)
        err = agg_dap_batch_is_awaited(&is_awaited, party, error, task, now_s);
    agg_dap_abandon(party->store); // the transaction only read
    if (err != SHOAL_OK) return err;
    count_down(task, is_awaited, full);
    *is_due = n > 0 && (is_eager || is_awaited || n == full) && task->reports_left != 1;
    return SHOAL_OK;
}

agg_err agg_dap_leader_turn(bool *is_more, agg_error *error, agg_dap_party *party,
                            agg_dap_served *task, const agg_dap_link *link, uint64_t now_s,
                            bool is_eager)
{
    bool is_due = false;
    *is_more = false;
    agg_err err = agg_dap_job_resume(is_more, party, error, task, link);
    if (err == SHOAL_OK && !*is_more) err = agg_dap_batch_resume(is_more, party, error, task, link);
    if (err == SHOAL_OK && !*is_more) {
        err = is_job_due(&is_due, party, error, task, now_s, is_eager);
        if (err == SHOAL_OK && is_due) err = agg_dap_job_run(party, error, task, link);
        if (err == SHOAL_OK && !is_due)
            err =
                agg_dap_batch_advance(is_more, party, error, task, now_s, task->reports_left == 1);
        if (*is_more) task->reports_left = 0; // the count begins anew for the next batch
        *is_more |= is_due;
    }
    atomic_store(&task->is_failing, err != SHOAL_OK);
    return err;
}
