// SPDX-License-Identifier: Apache-2.0
// One report as a device makes it: a measurement is sharded, and each share is sealed to its
// server. No network.
//
// Privacy: a maker holds a measurement's shares only while it makes the report, and wipes them.
#ifndef DAP_SEAL_REPORT_H
#define DAP_SEAL_REPORT_H

#include "dap_task.h"
#include "hpke.h"

// What reports of one task are made with. The buffers are for one report at a time.
typedef struct agg_dap_report_maker {
    const agg_dap_task *task;
    int64_t time_s; // stated by reports, seconds since 1970; -1: the clock's
    shoal_prio3 prio3;
    agg_hpke_key keys[2]; // public halves of leader and helper; set them before the first report
    size_t report_len;    // bytes of an encoded report
    // Private:
    uint8_t *rand, *public_share, *shares[2]; // of leader and helper
    uint8_t *plaintext;                       // of either share, as long as the longer one
    uint8_t *sealed[2];
    uint8_t *aad;
    size_t rand_len, public_len, share_len[2], plaintext_len, aad_len;
    uint64_t *scratch;
    size_t scratch_words;
} agg_dap_report_maker;

// Plans the maker's buffers; allocates nothing.
//   m: zeros
//   task: outlives the maker
// Returns: an error of shoal_prio3_init.
agg_err agg_dap_report_maker_plan(agg_dap_report_maker *m, agg_error *error,
                                  const agg_dap_task *task, int64_t time_s) SHOAL_MUST_CHECK;

// Returns: the bytes that a planned maker's buffers take.
uint64_t agg_dap_report_maker_size(const agg_dap_report_maker *m);

// Allocates a planned maker's buffers. Call agg_dap_report_maker_release also after an error.
agg_err agg_dap_report_maker_init(agg_dap_report_maker *m, agg_error *error) SHOAL_MUST_CHECK;
void agg_dap_report_maker_release(agg_dap_report_maker *m); // wipes

// Makes a report under a fresh id.
//   out: m->report_len bytes, the encoded report
//   measurement: words as shoal_prio3_shard takes them
// Returns: SHOAL_ERR_RANGE for a measurement that the task does not allow.
agg_err agg_dap_report_make(uint8_t *out, uint8_t id[SHOAL_DAP_REPORT_ID], agg_error *error,
                            agg_dap_report_maker *m, const uint64_t *measurement) SHOAL_MUST_CHECK;

// Returns: "the leader" or "the helper".
const char *agg_dap_role_name(enum shoal_dap_role role);

#endif
