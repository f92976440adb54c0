// SPDX-License-Identifier: Apache-2.0
// The messages that devices and the leader exchange in DAP (draft-ietf-ppm-dap-18 section
// "Uploading Reports"); see dap.h.
#include "dap_private.h"

void shoal_dap_put_metadata(shoal_dap_writer *w, const shoal_dap_metadata *metadata)
{
    shoal_dap_put(w, metadata->id, sizeof metadata->id);
    shoal_dap_put_number(w, metadata->time, 8);
    shoal_dap_put_opaque(w, metadata->extensions, 2);
}

shoal_dap_metadata shoal_dap_take_metadata(shoal_dap_parser *p)
{
    shoal_dap_metadata metadata = {{0}, 0, {NULL, 0}};
    shoal_dap_take_copy(metadata.id, p, sizeof metadata.id);
    metadata.time = shoal_dap_take_number(p, 8);
    metadata.extensions = shoal_dap_take_extensions(p, NULL);
    return metadata;
}

void shoal_dap_put_report(shoal_dap_writer *w, const shoal_dap_report *report)
{
    shoal_dap_put_metadata(w, &report->metadata);
    shoal_dap_put_opaque(w, report->public_share, 4);
    shoal_dap_put_ciphertext(w, &report->leader);
    shoal_dap_put_ciphertext(w, &report->helper);
}

shoal_err shoal_dap_read_report(shoal_dap_report *report, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_dap_report taken;
    taken.metadata = shoal_dap_take_metadata(&p);
    taken.public_share = shoal_dap_take_opaque(&p, 4, 0);
    taken.leader = shoal_dap_take_ciphertext(&p);
    taken.helper = shoal_dap_take_ciphertext(&p);
    if (p.err != SHOAL_OK) return p.err;
    *report = taken;
    *r = p.at;
    return SHOAL_OK;
}

void shoal_dap_put_input_share(shoal_dap_writer *w, shoal_bytes share)
{
    shoal_dap_put_number(w, 0, 2); // no extensions
    shoal_dap_put_opaque(w, share, 4);
}

shoal_err shoal_dap_read_input_share(shoal_bytes *share, shoal_bytes plaintext)
{
    shoal_dap_parser p = shoal_dap_parse_bytes(plaintext);
    shoal_bytes extensions = shoal_dap_take_extensions(&p, NULL);
    shoal_bytes payload = shoal_dap_take_opaque(&p, 4, 1);
    shoal_dap_take_end(&p);
    if (extensions.len > 0) shoal_dap_fail(&p, SHOAL_ERR_UNKNOWN_FIELD);
    if (p.err != SHOAL_OK) return p.err;
    *share = payload;
    return SHOAL_OK;
}

void shoal_dap_put_input_share_aad(shoal_dap_writer *w, const shoal_dap_task *task,
                                   const shoal_dap_metadata *metadata, shoal_bytes public_share)
{
    shoal_dap_put(w, task->id, sizeof task->id);
    shoal_dap_put_task(w, task);
    shoal_dap_put_metadata(w, metadata);
    shoal_dap_put_opaque(w, public_share, 4);
}

void shoal_dap_put_upload_error(shoal_dap_writer *w, const uint8_t id[SHOAL_DAP_REPORT_ID],
                                enum shoal_dap_report_error error)
{
    shoal_dap_put(w, id, SHOAL_DAP_REPORT_ID);
    shoal_dap_put_number(w, (uint64_t)error, 1);
}

shoal_err shoal_dap_read_upload_error(uint8_t id[SHOAL_DAP_REPORT_ID], uint32_t *error,
                                      shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_bytes taken = shoal_dap_take(&p, SHOAL_DAP_REPORT_ID);
    uint32_t number = shoal_dap_take_report_error(&p);
    if (p.err != SHOAL_OK) return p.err;
    memcpy(id, taken.at, SHOAL_DAP_REPORT_ID);
    *error = number;
    *r = p.at;
    return SHOAL_OK;
}
