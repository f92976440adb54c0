// SPDX-License-Identifier: Apache-2.0
// The elements of all messages of the Distributed Aggregation Protocol (draft-ietf-ppm-dap-18
// section "Basic Type Definitions", RFC 8446 section 3), and their names; see dap.h. The file must
// not depend on Prio3's code.
#include "dap_private.h"

#include <stdbool.h>

const char *shoal_dap_media_type(enum shoal_dap_message message)
{
    static const char *const types[SHOAL_DAP_MESSAGES] = {
        [SHOAL_DAP_HPKE_CONFIG_LIST] = "application/ppm-dap;message=hpke-config-list",
        [SHOAL_DAP_UPLOAD_REQ] = "application/ppm-dap;message=upload-req",
        [SHOAL_DAP_UPLOAD_ERRORS] = "application/ppm-dap;message=upload-errors",
        [SHOAL_DAP_AGGREGATION_JOB_INIT_REQ] =
            "application/ppm-dap;message=aggregation-job-init-req",
        [SHOAL_DAP_AGGREGATION_JOB_RESP] = "application/ppm-dap;message=aggregation-job-resp",
        [SHOAL_DAP_AGGREGATE_SHARE_REQ] = "application/ppm-dap;message=aggregate-share-req",
        [SHOAL_DAP_AGGREGATE_SHARE] = "application/ppm-dap;message=aggregate-share",
        [SHOAL_DAP_COLLECTION_JOB_REQ] = "application/ppm-dap;message=collection-job-req",
        [SHOAL_DAP_COLLECTION_JOB_RESP] = "application/ppm-dap;message=collection-job-resp",
    };
    return types[message];
}

const char *shoal_dap_problem_name(enum shoal_dap_problem problem)
{
    static const char *const names[SHOAL_DAP_PROBLEMS] = {
        [SHOAL_DAP_PROBLEM_INVALID_MESSAGE] = "invalidMessage",
        [SHOAL_DAP_PROBLEM_UNRECOGNIZED_TASK] = "unrecognizedTask",
        [SHOAL_DAP_PROBLEM_UNRECOGNIZED_AGGREGATION_JOB] = "unrecognizedAggregationJob",
        [SHOAL_DAP_PROBLEM_BATCH_INVALID] = "batchInvalid",
        [SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE] = "invalidBatchSize",
        [SHOAL_DAP_PROBLEM_INVALID_AGGREGATION_PARAMETER] = "invalidAggregationParameter",
        [SHOAL_DAP_PROBLEM_BATCH_MISMATCH] = "batchMismatch",
        [SHOAL_DAP_PROBLEM_STEP_MISMATCH] = "stepMismatch",
        [SHOAL_DAP_PROBLEM_BATCH_OVERLAP] = "batchOverlap",
        [SHOAL_DAP_PROBLEM_UNSUPPORTED_EXTENSION] = "unsupportedExtension",
        [SHOAL_DAP_PROBLEM_INVALID_EXTENSION] = "invalidExtension",
    };
    return names[problem];
}

const char *shoal_dap_report_error_name(uint32_t error)
{
    static const char *const names[SHOAL_DAP_OUTDATED_CONFIG + 1] = {
        [SHOAL_DAP_BATCH_COLLECTED] = "batch_collected",
        [SHOAL_DAP_REPORT_REPLAYED] = "report_replayed",
        [SHOAL_DAP_REPORT_DROPPED] = "report_dropped",
        [SHOAL_DAP_HPKE_UNKNOWN_CONFIG_ID] = "hpke_unknown_config_id",
        [SHOAL_DAP_HPKE_DECRYPT_ERROR] = "hpke_decrypt_error",
        [SHOAL_DAP_VDAF_VERIFY_ERROR] = "vdaf_verify_error",
        [SHOAL_DAP_TASK_EXPIRED] = "task_expired",
        [SHOAL_DAP_INVALID_MESSAGE] = "invalid_message",
        [SHOAL_DAP_REPORT_TOO_EARLY] = "report_too_early",
        [SHOAL_DAP_TASK_NOT_STARTED] = "task_not_started",
        [SHOAL_DAP_OUTDATED_CONFIG] = "outdated_config",
    };
    return error >= 1 && error <= SHOAL_DAP_OUTDATED_CONFIG ? names[error] : "unknown";
}

// ---- writing ----

void shoal_dap_put(shoal_dap_writer *w, const void *bytes, size_t len)
{
    if (w->is_full || len > w->cap - w->len)
        w->is_full = true; // a full writer writes nothing more, even if it would fit
    else if (len > 0)
        memcpy(w->at + w->len, bytes, len);
    w->len += len;
}

void shoal_dap_put_number(shoal_dap_writer *w, uint64_t number, uint32_t n_bytes)
{
    uint8_t bytes[8];
    store64_be(bytes, number);
    shoal_dap_put(w, bytes + sizeof bytes - n_bytes, n_bytes);
}

void shoal_dap_put_opaque(shoal_dap_writer *w, shoal_bytes bytes, uint32_t prefix)
{
    if ((uint64_t)bytes.len >> (8 * prefix) != 0) w->is_full = true;
    shoal_dap_put_number(w, bytes.len, prefix);
    shoal_dap_put(w, bytes.at, bytes.len);
}

void shoal_dap_put_interval(shoal_dap_writer *w, const shoal_dap_interval *interval)
{
    shoal_dap_put_number(w, interval->start, 8);
    shoal_dap_put_number(w, interval->duration, 8);
}

void shoal_dap_put_ciphertext(shoal_dap_writer *w, const shoal_dap_ciphertext *c)
{
    shoal_dap_put_number(w, c->config_id, 1);
    shoal_dap_put_opaque(w, c->enc, 2);
    shoal_dap_put_opaque(w, c->payload, 4);
}

// ---- reading ----

shoal_bytes shoal_dap_take(shoal_dap_parser *p, size_t len)
{
    if (p->err == SHOAL_OK && len > p->at.len - p->at.position) p->err = SHOAL_ERR_TRUNCATED;
    if (p->err != SHOAL_OK) return (shoal_bytes){NULL, 0};
    shoal_bytes taken = {p->at.at + p->at.position, len};
    p->at.position += len;
    return taken;
}

uint64_t shoal_dap_take_number(shoal_dap_parser *p, uint32_t n_bytes)
{
    shoal_bytes bytes = shoal_dap_take(p, n_bytes);
    uint64_t number = 0;
    for (size_t i = 0; i < bytes.len; i++) number = number << 8 | bytes.at[i];
    return number;
}

shoal_bytes shoal_dap_take_opaque(shoal_dap_parser *p, uint32_t prefix, size_t least)
{
    uint64_t len = shoal_dap_take_number(p, prefix);
    if (len < least) shoal_dap_fail(p, SHOAL_ERR_RANGE);
    if (len > p->at.len - p->at.position)
        shoal_dap_fail(p, SHOAL_ERR_TRUNCATED); // also for a length beyond size_t
    return shoal_dap_take(p, (size_t)len);
}

void shoal_dap_take_copy(uint8_t *out, shoal_dap_parser *p, size_t len)
{
    shoal_bytes taken = shoal_dap_take(p, len);
    if (taken.len > 0) memcpy(out, taken.at, taken.len);
}

shoal_dap_interval shoal_dap_take_interval(shoal_dap_parser *p)
{
    uint64_t start = shoal_dap_take_number(p, 8);
    return (shoal_dap_interval){start, shoal_dap_take_number(p, 8)};
}

uint32_t shoal_dap_take_report_error(shoal_dap_parser *p)
{
    uint32_t error = (uint32_t)shoal_dap_take_number(p, 1);
    if (error < 1 || error > SHOAL_DAP_OUTDATED_CONFIG) shoal_dap_fail(p, SHOAL_ERR_RANGE);
    return error;
}

shoal_bytes shoal_dap_take_extensions(shoal_dap_parser *p, bool *is_ordered)
{
    shoal_bytes list = shoal_dap_take_opaque(p, 2, 0);
    shoal_dap_parser each = shoal_dap_parse_bytes(list);
    int32_t before = -1;
    if (is_ordered != NULL) *is_ordered = true;
    while (each.err == SHOAL_OK && !shoal_dap_is_at_end(&each.at)) {
        int32_t type = (int32_t)shoal_dap_take_number(&each, 2);
        shoal_dap_take_opaque(&each, 2, 0);
        if (type <= before && is_ordered != NULL) *is_ordered = false;
        before = type;
    }
    if (each.err != SHOAL_OK) shoal_dap_fail(p, each.err);
    return list;
}

shoal_dap_ciphertext shoal_dap_take_ciphertext(shoal_dap_parser *p)
{
    shoal_dap_ciphertext c;
    c.config_id = (uint8_t)shoal_dap_take_number(p, 1);
    c.enc = shoal_dap_take_opaque(p, 2, 1);
    c.payload = shoal_dap_take_opaque(p, 4, 1);
    return c;
}

shoal_err shoal_dap_read_ciphertext(shoal_dap_ciphertext *c, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_dap_ciphertext taken = shoal_dap_take_ciphertext(&p);
    if (p.err != SHOAL_OK) return p.err;
    *c = taken;
    *r = p.at;
    return SHOAL_OK;
}

// ---- HPKE ----

void shoal_dap_put_hpke_configs(shoal_dap_writer *w, const shoal_dap_hpke_config *configs, size_t n)
{
    uint64_t len = 0;
    for (size_t i = 0; i < n; i++) len += 9 + (uint64_t)configs[i].public_key.len;
    if (len > UINT16_MAX) w->is_full = true;
    shoal_dap_put_number(w, len, 2);
    for (size_t i = 0; i < n; i++) {
        shoal_dap_put_number(w, configs[i].id, 1);
        shoal_dap_put_number(w, configs[i].kem, 2);
        shoal_dap_put_number(w, configs[i].kdf, 2);
        shoal_dap_put_number(w, configs[i].aead, 2);
        shoal_dap_put_opaque(w, configs[i].public_key, 2);
    }
}

static shoal_dap_hpke_config take_hpke_config(shoal_dap_parser *p)
{
    shoal_dap_hpke_config config;
    config.id = (uint8_t)shoal_dap_take_number(p, 1);
    config.kem = (uint16_t)shoal_dap_take_number(p, 2);
    config.kdf = (uint16_t)shoal_dap_take_number(p, 2);
    config.aead = (uint16_t)shoal_dap_take_number(p, 2);
    config.public_key = shoal_dap_take_opaque(p, 2, 1);
    if (config.kem == SHOAL_DAP_KEM_X25519 && config.public_key.len != 32)
        shoal_dap_fail(p, SHOAL_ERR_RANGE);
    return config;
}

static bool is_supported(const shoal_dap_hpke_config *config)
{
    return config->kem == SHOAL_DAP_KEM_X25519 && config->kdf == SHOAL_DAP_KDF_SHA256 &&
           config->aead == SHOAL_DAP_AEAD_AES128;
}

shoal_err shoal_dap_read_hpke_configs(shoal_dap_hpke_config *config, shoal_bytes list)
{
    shoal_dap_parser whole = shoal_dap_parse_bytes(list);
    shoal_dap_parser p = shoal_dap_parse_bytes(shoal_dap_take_opaque(&whole, 2, 10));
    shoal_dap_hpke_config found;
    uint8_t seen[32] = {0};
    bool is_found = false;
    shoal_dap_take_end(&whole);
    if (whole.err != SHOAL_OK) return whole.err;
    while (p.err == SHOAL_OK && !shoal_dap_is_at_end(&p.at)) {
        shoal_dap_hpke_config one = take_hpke_config(&p);
        if (seen[one.id / 8] >> one.id % 8 & 1) shoal_dap_fail(&p, SHOAL_ERR_DUPLICATE);
        seen[one.id / 8] |= (uint8_t)(1 << one.id % 8);
        if (p.err != SHOAL_OK || is_found || !is_supported(&one)) continue;
        found = one;
        is_found = true;
    }
    if (p.err != SHOAL_OK) return p.err;
    if (!is_found) return SHOAL_ERR_MECHANISM;
    *config = found;
    return SHOAL_OK;
}

shoal_err shoal_dap_open(uint8_t *plaintext, const shoal_dap_sealer *sealer,
                         const uint8_t secret_key[32], const shoal_dap_ciphertext *c,
                         shoal_bytes info, shoal_bytes aad)
{
    if (c->enc.len != 32 || c->payload.len < SHOAL_DAP_SEAL) return SHOAL_ERR_CHECKSUM;
    return sealer->open(sealer->self, plaintext, secret_key, c->enc.at, info, aad, c->payload);
}
