// SPDX-License-Identifier: Apache-2.0
// Messages of clients of DAP-09; see dap09.h. Source: draft-ietf-ppm-dap-09 sections "Uploading
// Reports" and "Errors".
#include "dap09.h"

#include "dap_private.h"

const char *shoal_dap09_media_type(enum shoal_dap_message message)
{
    if (message == SHOAL_DAP_HPKE_CONFIG_LIST) return "application/dap-hpke-config-list";
    return message == SHOAL_DAP_UPLOAD_REQ ? "application/dap-report" : NULL;
}

const char *shoal_dap09_upload_problem(enum shoal_dap_report_error error)
{
    switch (error) {
    case SHOAL_DAP_HPKE_UNKNOWN_CONFIG_ID:
    case SHOAL_DAP_OUTDATED_CONFIG: return "outdatedConfig";
    case SHOAL_DAP_REPORT_TOO_EARLY: return "reportTooEarly";
    case SHOAL_DAP_INVALID_MESSAGE: return "invalidMessage";
    default: return "reportRejected";
    }
}

size_t shoal_dap09_context(uint8_t context[SHOAL_DAP_CONTEXT_MAX], const shoal_dap_task *task)
{
    (void)context;
    (void)task;
    return 0;
}

size_t shoal_dap09_input_share_info(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                                    enum shoal_dap_role to)
{
    static const char label[] = SHOAL_DAP09_TAG " input share";
    size_t len = sizeof label - 1;
    (void)task; // the associated data holds the task
    memcpy(info, label, len);
    info[len] = SHOAL_DAP_CLIENT;
    info[len + 1] = (uint8_t)to;
    return len + 2;
}

static void put_metadata(shoal_dap_writer *w, const shoal_dap_metadata *metadata)
{
    if (metadata->extensions.len > 0) w->is_full = true;
    shoal_dap_put(w, metadata->id, sizeof metadata->id);
    shoal_dap_put_number(w, metadata->time, 8);
}

void shoal_dap09_put_input_share_aad(shoal_dap_writer *w, const shoal_dap_task *task,
                                     const shoal_dap_metadata *metadata, shoal_bytes public_share)
{
    shoal_dap_put(w, task->id, sizeof task->id);
    put_metadata(w, metadata);
    shoal_dap_put_opaque(w, public_share, 4);
}

shoal_err shoal_dap09_read_report(shoal_dap_report *report, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_dap_report taken = {0};
    shoal_dap_take_copy(taken.metadata.id, &p, sizeof taken.metadata.id);
    taken.metadata.time = shoal_dap_take_number(&p, 8);
    taken.public_share = shoal_dap_take_opaque(&p, 4, 0);
    taken.leader = shoal_dap_take_ciphertext(&p);
    taken.helper = shoal_dap_take_ciphertext(&p);
    if (p.err != SHOAL_OK) return p.err;
    *report = taken;
    *r = p.at;
    return SHOAL_OK;
}
