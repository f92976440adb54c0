// SPDX-License-Identifier: Apache-2.0
// Uploads as a device makes them (draft-ietf-ppm-dap-18 section "Upload Request"). Reports
// (dap_seal_report.h) go to the leader, up to AGG_DAP_UPLOAD_REPORTS in a request.
//
// An uploader holds the measurements of one request, so that it can seal them again when a server
// has changed its key. It wipes them when the request is answered. A request without an answer is
// sent again byte for byte, which is safe because every report has an id.
//
// Privacy: the leader learns the same as from a device's upload: a public share, two ciphertexts,
// and the address that sent them. Records were randomized before; measurements of a task file were
// not.
#ifndef DAP_UPLOAD_H
#define DAP_UPLOAD_H

#include "dap_http.h"
#include "dap_task.h"

#define AGG_DAP_UPLOAD_REPORTS 100
#define AGG_DAP_UPLOAD_BODY ((size_t)4 << 20) // bytes of a request that holds more than one report

typedef struct agg_dap_upload_count {
    uint64_t accepted;
    uint64_t heavy; // records with more weight than the task allows; they are not sent
    // Reports that the leader refused, by enum shoal_dap_report_error; [0] counts any other number.
    uint64_t refused[SHOAL_DAP_OUTDATED_CONFIG + 1];
} agg_dap_upload_count;

typedef struct agg_dap_upload_settings {
    const agg_dap_task *task; // of draft 18; outlives the uploader
    const shoal_url *leader;  // the leader's URL; NULL: the task's
    const shoal_url *helper;  // the helper's URL; NULL: the task's
    int64_t time_s;           // time in the reports, seconds since 1970; -1: the clock's
    uint32_t tries;           // most tries of a request; 0: 5
    uint32_t reports;         // most reports of a request; 0: AGG_DAP_UPLOAD_REPORTS
} agg_dap_upload_settings;

typedef struct agg_dap_uploader agg_dap_uploader;

// Finds the bytes of memory that an uploader takes, with its requests. Sends nothing.
// Returns: as agg_dap_uploader_open for an impossible task.
agg_err agg_dap_upload_memory(uint64_t *bytes, agg_error *error,
                              const agg_dap_upload_settings *settings) SHOAL_MUST_CHECK;

// Opens an uploader and asks both servers for their keys.
// Returns: SHOAL_ERR_ARGUMENT for a task of DAP-09, which has clients of its own; SHOAL_ERR_EXPIRED
// (exit code 3) after the task's last day; SHOAL_ERR_MECHANISM when a server advertises no usable
// key; the errors of agg_http_fetch.
agg_err agg_dap_uploader_open(agg_dap_uploader **u, agg_error *error,
                              const agg_dap_upload_settings *settings) SHOAL_MUST_CHECK;
void agg_dap_uploader_close(agg_dap_uploader *u); // wipes; unsent reports are lost

// Returns: the 64-bit words of a measurement, as shoal_prio3_shard takes it.
size_t agg_dap_upload_words(const agg_dap_task *task);

// Takes a measurement, and sends a request when it is full.
// Returns: SHOAL_ERR_RANGE for a measurement that the task does not allow, which is not taken; any
// other error is the request's, and then only agg_dap_upload_counts may be called.
agg_err agg_dap_upload_add(agg_dap_uploader *u, agg_error *error,
                           const uint64_t *measurement) SHOAL_MUST_CHECK;

// Takes a checked binary record of the task's recipe. A record with too much weight is counted and
// left out.
agg_err agg_dap_upload_add_record(agg_dap_uploader *u, agg_error *error,
                                  const uint8_t *record) SHOAL_MUST_CHECK;

// Sends the reports that are left.
agg_err agg_dap_upload_flush(agg_dap_uploader *u, agg_error *error) SHOAL_MUST_CHECK;

// Returns: the counts so far.
const agg_dap_upload_count *agg_dap_upload_counts(const agg_dap_uploader *u);

// Prints what became of the reports to standard output.
//   rejected: lines or records that were no report
// Returns: how many were not taken, with those.
uint64_t agg_dap_upload_print(const agg_dap_upload_count *count, uint64_t rejected);

#endif
