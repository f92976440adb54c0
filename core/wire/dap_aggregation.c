// SPDX-License-Identifier: Apache-2.0
// The messages that the leader and the helper of a DAP task exchange while they verify reports
// (draft-ietf-ppm-dap-18 section "Verifying and Aggregating Reports", draft-irtf-cfrg-vdaf section
// "The Ping-Pong Topology"); see dap.h.
#include <stdbool.h>

#include "dap_private.h"
#include "sha256.h"

enum {
    PING_PONG_INITIALIZE = 0,
    PING_PONG_FINISH = 2
}; // MessageType; 1 is for VDAFs of several rounds

void shoal_dap_put_job_head(shoal_dap_writer *w, uint8_t verification_key_id)
{
    shoal_dap_put_number(w, verification_key_id, 1);
    shoal_dap_put_number(w, 0, 4); // aggregation parameter
    shoal_dap_put_number(w, 0, 2); // extensions
}

shoal_err shoal_dap_read_job_head(uint8_t *verification_key_id, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    bool is_ordered;
    uint8_t id = (uint8_t)shoal_dap_take_number(&p, 1);
    shoal_bytes parameter = shoal_dap_take_opaque(&p, 4, 0);
    shoal_bytes extensions = shoal_dap_take_extensions(&p, &is_ordered);
    if (!is_ordered) shoal_dap_fail(&p, SHOAL_ERR_DUPLICATE);
    if (extensions.len > 0) shoal_dap_fail(&p, SHOAL_ERR_UNKNOWN_FIELD);
    if (parameter.len > 0) shoal_dap_fail(&p, SHOAL_ERR_ARGUMENT);
    if (p.err != SHOAL_OK) return p.err;
    *verification_key_id = id;
    *r = p.at;
    return SHOAL_OK;
}

void shoal_dap_put_verify_init(shoal_dap_writer *w, const shoal_dap_verify_init *init)
{
    shoal_dap_put_metadata(w, &init->metadata);
    shoal_dap_put_opaque(w, init->public_share, 4);
    shoal_dap_put_ciphertext(w, &init->share);
    shoal_dap_put_opaque(w, init->payload, 4);
}

shoal_err shoal_dap_read_verify_init(shoal_dap_verify_init *init, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_dap_verify_init taken;
    taken.metadata = shoal_dap_take_metadata(&p);
    taken.public_share = shoal_dap_take_opaque(&p, 4, 0);
    taken.share = shoal_dap_take_ciphertext(&p);
    taken.payload = shoal_dap_take_opaque(&p, 4, 1);
    if (p.err != SHOAL_OK) return p.err;
    *init = taken;
    *r = p.at;
    return SHOAL_OK;
}

static void put_ping_pong(shoal_dap_writer *w, uint64_t type, shoal_bytes bytes)
{
    shoal_dap_put_number(w, type, 1);
    shoal_dap_put_opaque(w, bytes, 4);
}

static shoal_err read_ping_pong(shoal_bytes *bytes, uint64_t type, shoal_bytes payload)
{
    shoal_dap_parser p = shoal_dap_parse_bytes(payload);
    uint64_t stated = shoal_dap_take_number(&p, 1);
    if (stated != type) shoal_dap_fail(&p, SHOAL_ERR_TYPE);
    shoal_bytes taken = shoal_dap_take_opaque(&p, 4, 0);
    shoal_dap_take_end(&p);
    if (p.err != SHOAL_OK) return p.err;
    *bytes = taken;
    return SHOAL_OK;
}

void shoal_dap_put_initialize(shoal_dap_writer *w, shoal_bytes verifier_share)
{
    put_ping_pong(w, PING_PONG_INITIALIZE, verifier_share);
}

void shoal_dap_put_finish(shoal_dap_writer *w, shoal_bytes verifier_message)
{
    put_ping_pong(w, PING_PONG_FINISH, verifier_message);
}

shoal_err shoal_dap_read_initialize(shoal_bytes *verifier_share, shoal_bytes payload)
{
    return read_ping_pong(verifier_share, PING_PONG_INITIALIZE, payload);
}

shoal_err shoal_dap_read_finish(shoal_bytes *verifier_message, shoal_bytes payload)
{
    return read_ping_pong(verifier_message, PING_PONG_FINISH, payload);
}

void shoal_dap_put_verify_resp(shoal_dap_writer *w, const shoal_dap_verify_resp *resp)
{
    shoal_dap_put(w, resp->id, sizeof resp->id);
    shoal_dap_put_number(w, resp->kind, 1);
    if (resp->kind == SHOAL_DAP_CONTINUE) shoal_dap_put_opaque(w, resp->payload, 4);
    if (resp->kind == SHOAL_DAP_REJECT) shoal_dap_put_number(w, resp->error, 1);
}

shoal_err shoal_dap_read_verify_resp(shoal_dap_verify_resp *resp, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_dap_verify_resp taken = {{0}, 0, {NULL, 0}, 0};
    shoal_dap_take_copy(taken.id, &p, sizeof taken.id);
    taken.kind = (uint32_t)shoal_dap_take_number(&p, 1);
    if (taken.kind > SHOAL_DAP_REJECT) shoal_dap_fail(&p, SHOAL_ERR_TYPE);
    if (taken.kind == SHOAL_DAP_CONTINUE) taken.payload = shoal_dap_take_opaque(&p, 4, 1);
    if (taken.kind == SHOAL_DAP_REJECT) taken.error = shoal_dap_take_report_error(&p);
    if (p.err != SHOAL_OK) return p.err;
    *resp = taken;
    *r = p.at;
    return SHOAL_OK;
}

void shoal_dap_checksum_add(uint8_t checksum[SHOAL_DAP_CHECKSUM],
                            const uint8_t id[SHOAL_DAP_REPORT_ID])
{
    uint8_t digest[32];
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, id, SHOAL_DAP_REPORT_ID);
    shoal_sha256_final(digest, &sha);
    for (size_t i = 0; i < sizeof digest; i++) checksum[i] ^= digest[i];
}
