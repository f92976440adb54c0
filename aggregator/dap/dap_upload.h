// SPDX-License-Identifier: Apache-2.0
// Uploads as a device makes them (draft-ietf-ppm-dap-18 section "Upload Request"): a measurement is
// sharded, each share sealed to its server, and the reports go to the leader, up to
// AGG_DAP_UPLOAD_REPORTS in a request.
//
// An uploader holds the measurements of one request, so that it can seal them again where a server
// changed its key in between; it wipes them when the request is answered. One that got no answer is
// sent again, byte for byte: ids make that safe.
//
// Privacy: the leader learns what a device's upload would tell it, a public share and two
// ciphertexts, and from where they came. Records were randomized before, measurements of a task
// file were not.
#ifndef DAP_UPLOAD_H
#define DAP_UPLOAD_H

#include "dap_http.h"
#include "dap_task.h"

#define AGG_DAP_UPLOAD_REPORTS 100
#define AGG_DAP_UPLOAD_BODY ((size_t)4 << 20) // bytes of a request that holds more than one report

typedef struct agg_dap_upload_count {
    uint64_t accepted;
    uint64_t heavy; // records with more weight than the task allows: not sent
    uint64_t refused[SHOAL_DAP_OUTDATED_CONFIG +
                     1]; // by enum shoal_dap_report_error; 0 is any other number
} agg_dap_upload_count;

typedef struct agg_dap_upload_settings {
    const agg_dap_task *task; // of draft 18; outlives the uploader
    const shoal_url *leader;  // where it is reached, if not under the task's URL; may be NULL
    const shoal_url *helper;  // the same
    int64_t time_s;           // that reports state, seconds since 1970; -1: the clock's
    uint32_t tries;           // of a request without an answer; 0: 5
    uint32_t reports;         // of a request at most; 0: AGG_DAP_UPLOAD_REPORTS
} agg_dap_upload_settings;

typedef struct agg_dap_uploader agg_dap_uploader;

// Finds the bytes that an uploader of these settings takes, its requests included. Asks nobody.
// Returns: as agg_dap_uploader_open for a task that cannot be
agg_err agg_dap_upload_memory(uint64_t *bytes, agg_error *error,
                              const agg_dap_upload_settings *settings) SHOAL_MUST_CHECK;

// Asks both servers for their keys.
// Returns: SHOAL_ERR_ARGUMENT for a task of DAP-09, whose clients are their own; SHOAL_ERR_EXPIRED
// (exit code 3) behind the task's last day;
//          SHOAL_ERR_MECHANISM where a server advertises no key that we can use; as agg_http_fetch
agg_err agg_dap_uploader_open(agg_dap_uploader **u, agg_error *error,
                              const agg_dap_upload_settings *settings) SHOAL_MUST_CHECK;
void agg_dap_uploader_close(agg_dap_uploader *u); // wipes; what was not flushed is not sent

// 64-bit words of a measurement, as shoal_prio3_shard takes it.
size_t agg_dap_upload_words(const agg_dap_task *task);

// Takes a measurement, and sends a request when one is full.
// Returns: SHOAL_ERR_RANGE for a measurement that the task does not allow, and nothing was taken;
// else an error of the request, after which the
//          uploader is only good for its counts
agg_err agg_dap_upload_add(agg_dap_uploader *u, agg_error *error,
                           const uint64_t *measurement) SHOAL_MUST_CHECK;

// Takes a checked binary record of the task's recipe; one with too much weight is counted and left
// out.
agg_err agg_dap_upload_add_record(agg_dap_uploader *u, agg_error *error,
                                  const uint8_t *record) SHOAL_MUST_CHECK;

// Sends what is left.
agg_err agg_dap_upload_flush(agg_dap_uploader *u, agg_error *error) SHOAL_MUST_CHECK;

const agg_dap_upload_count *agg_dap_upload_counts(const agg_dap_uploader *u);

#endif
