// SPDX-License-Identifier: Apache-2.0
// The messages of clients of draft-ietf-ppm-dap-09, over the fields of dap.h. These are the clients
// in use today, which shard as VDAF-08 does (vdaf08.h). Every function here has the parameters of
// its namesake in dap.h, so a server calls one or the other by the task's version. The rest of such
// a task is dap.h's. HpkeConfigList, HpkeCiphertext and PlaintextInputShare have the same bytes in
// both drafts. Our leader, helper and collector speak draft 18 with each other.
//
// A client of DAP-09 asks {leader}/hpke_config?task_id=... and {helper}/hpke_config?task_id=... for
// keys. It accepts the answer only under exactly the media type below. It sends one report in a PUT
// to {leader}/tasks/{task-id}/reports and expects 201. A refusal is a problem document, with the
// names below.
//
// The associated data hold the ids of task and report and the report's time, but not the task's
// configuration. Device and servers may therefore disagree on the minimum batch or on the other
// server without noticing, which is a reason to move clients to draft 18. Times are seconds here,
// also in shoal_dap_metadata and wherever such a report's metadata goes on to the helper.
#ifndef SHOAL_DAP09_H
#define SHOAL_DAP09_H

#include "dap.h"

#define SHOAL_DAP09_TAG "dap-09"

// Returns: the media type of SHOAL_DAP_HPKE_CONFIG_LIST and, for a Report, of SHOAL_DAP_UPLOAD_REQ;
// NULL for the messages that no client sees. Neither media type has a parameter.
const char *shoal_dap09_media_type(enum shoal_dap_message message);

// Returns: the problem type, without its URN, of the answer that refuses an upload.
// "outdatedConfig" makes a client fetch the keys again and retry once.
const char *shoal_dap09_upload_problem(enum shoal_dap_report_error error);

// Returns: 0, because VDAF-08 has no context.
size_t shoal_dap09_context(uint8_t context[SHOAL_DAP_CONTEXT_MAX], const shoal_dap_task *task);

size_t shoal_dap09_input_share_info(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                                    enum shoal_dap_role to);

// Writes the associated data of an input share. metadata->time is in seconds. metadata->extensions
// must be empty, because the draft has no place for them; otherwise the writer is filled.
void shoal_dap09_put_input_share_aad(shoal_dap_writer *w, const shoal_dap_task *task,
                                     const shoal_dap_metadata *metadata, shoal_bytes public_share);

// Reads one report. An upload is a single report, so the caller checks for its end
// (shoal_dap_is_at_end).
shoal_err shoal_dap09_read_report(shoal_dap_report *report, shoal_dap_reader *r) SHOAL_MUST_CHECK;

#endif
