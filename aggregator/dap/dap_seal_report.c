// SPDX-License-Identifier: Apache-2.0
// Making reports; see dap_seal_report.h.
#include "dap_seal_report.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "dap_vdaf.h"

static const enum shoal_dap_role roles[2] = {SHOAL_DAP_LEADER, SHOAL_DAP_HELPER};

const char *agg_dap_role_name(enum shoal_dap_role role)
{
    return role == SHOAL_DAP_LEADER ? "the leader" : "the helper";
}

// ---- one report ----

static agg_err no_random(agg_error *error)
{
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "libcrypto returned no random bytes");
}

static uint64_t time_of_report(const agg_dap_report_maker *m)
{
    int64_t now = m->time_s >= 0 ? m->time_s : (int64_t)time(NULL);
    return (uint64_t)now / m->task->task.time_precision_s;
}

static agg_err shard(agg_dap_report_maker *m, agg_error *error, const uint8_t *id,
                     const uint64_t *measurement)
{
    uint8_t ctx[SHOAL_DAP_CONTEXT_MAX];
    const shoal_bytes context = {ctx, shoal_dap_context(ctx, &m->task->task)};
    if (RAND_priv_bytes(m->rand, (int)m->rand_len) != 1) return no_random(error);
    agg_err err = shoal_prio3_shard(m->public_share, m->shares, &m->prio3, context, measurement, id,
                                    m->rand, m->scratch);
    OPENSSL_cleanse(m->rand, m->rand_len);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_USAGE, "this is not a measurement of the task");
}

// Seals the share of server i into m->sealed[i].
static agg_err seal_share(agg_dap_report_maker *m, agg_error *error, int i,
                          uint8_t enc[AGG_HPKE_ENC])
{
    uint8_t info_bytes[SHOAL_DAP_INFO_MAX];
    const shoal_bytes info = {info_bytes,
                              shoal_dap_input_share_info(info_bytes, &m->task->task, roles[i])};
    const shoal_bytes aad = {m->aad, m->aad_len};
    shoal_dap_writer w = {m->plaintext, m->plaintext_len, 0, 0};
    shoal_dap_put_input_share(&w, (shoal_bytes){m->shares[i], m->share_len[i]});
    agg_err err = agg_hpke_seal(enc, m->sealed[i], m->keys[i].public_key, info, aad,
                                (shoal_bytes){m->plaintext, w.len});
    OPENSSL_cleanse(m->plaintext, w.len);
    OPENSSL_cleanse(m->shares[i], m->share_len[i]);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_RUNTIME, "nothing can be sealed to the key of %s",
                    agg_dap_role_name(roles[i]));
}

// Returns: the bytes of server i's sealed share.
static size_t sealed_len(const agg_dap_report_maker *m, int i)
{
    return SHOAL_DAP_INPUT_SHARE_HEAD + m->share_len[i] + AGG_HPKE_TAG;
}

static shoal_dap_report lay_out(const agg_dap_report_maker *m, const uint8_t *id,
                                const uint8_t enc[2][AGG_HPKE_ENC])
{
    shoal_dap_report report = {.public_share = {m->public_share, m->public_len}};
    memcpy(report.metadata.id, id, SHOAL_DAP_REPORT_ID);
    report.metadata.time = time_of_report(m);
    report.leader = (shoal_dap_ciphertext){
        m->keys[0].id, {enc[0], AGG_HPKE_ENC}, {m->sealed[0], sealed_len(m, 0)}};
    report.helper = (shoal_dap_ciphertext){
        m->keys[1].id, {enc[1], AGG_HPKE_ENC}, {m->sealed[1], sealed_len(m, 1)}};
    return report;
}

agg_err agg_dap_report_make(uint8_t *out, uint8_t id[SHOAL_DAP_REPORT_ID], agg_error *error,
                            agg_dap_report_maker *m, const uint64_t *measurement)
{
    uint8_t enc[2][AGG_HPKE_ENC];
    if (RAND_bytes(id, SHOAL_DAP_REPORT_ID) != 1) return no_random(error);
    agg_err err = shard(m, error, id, measurement);
    if (err != SHOAL_OK) return err;
    shoal_dap_report report = lay_out(m, id, (const uint8_t(*)[AGG_HPKE_ENC])enc);
    shoal_dap_writer aad = {m->aad, m->aad_len, 0, 0};
    shoal_dap_put_input_share_aad(&aad, &m->task->task, &report.metadata, report.public_share);
    for (int i = 0; i < 2 && err == SHOAL_OK; i++) err = seal_share(m, error, i, enc[i]);
    shoal_dap_writer writer = {out, m->report_len, 0, 0};
    if (err == SHOAL_OK) shoal_dap_put_report(&writer, &report);
    return err;
}

// ---- buffers ----

agg_err agg_dap_report_maker_plan(agg_dap_report_maker *m, agg_error *error,
                                  const agg_dap_task *task, int64_t time_s)
{
    static const uint8_t id[SHOAL_DAP_REPORT_ID], enc[2][AGG_HPKE_ENC];
    m->task = task;
    m->time_s = time_s;
    agg_err err = shoal_prio3_init(&m->prio3, &task->task.vdaf);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_USAGE);
    (void)agg_dap_choose_cpu(&m->prio3);
    m->rand_len = shoal_prio3_rand_len(&m->prio3);
    m->public_len = shoal_prio3_public_share_len(&m->prio3);
    for (uint32_t i = 0; i < 2; i++) m->share_len[i] = shoal_prio3_input_share_len(&m->prio3, i);
    m->plaintext_len = SHOAL_DAP_INPUT_SHARE_HEAD +
                       (m->share_len[0] > m->share_len[1] ? m->share_len[0] : m->share_len[1]);
    m->scratch_words = shoal_prio3_scratch_words(&m->prio3);
    const shoal_dap_metadata none = {.time = 0};
    shoal_dap_writer w = {NULL, 0, 0, 0};
    shoal_dap_put_input_share_aad(&w, &m->task->task, &none,
                                  (shoal_bytes){m->public_share, m->public_len});
    m->aad_len = w.len;
    const shoal_dap_report report = lay_out(m, id, enc);
    w = (shoal_dap_writer){NULL, 0, 0, 0};
    shoal_dap_put_report(&w, &report);
    m->report_len = w.len;
    return SHOAL_OK;
}

uint64_t agg_dap_report_maker_size(const agg_dap_report_maker *m)
{
    uint64_t shares =
        (uint64_t)m->share_len[0] + m->share_len[1] + sealed_len(m, 0) + sealed_len(m, 1);
    return m->rand_len + m->public_len + shares + m->plaintext_len + m->aad_len +
           m->scratch_words * sizeof(uint64_t);
}

agg_err agg_dap_report_maker_init(agg_dap_report_maker *m, agg_error *error)
{
    m->rand = agg_alloc(error, m->rand_len, 1);
    m->public_share = agg_alloc(error, m->public_len, 1);
    m->plaintext = agg_alloc(error, m->plaintext_len, 1);
    m->scratch = agg_alloc(error, m->scratch_words, sizeof *m->scratch);
    m->aad = agg_alloc(error, m->aad_len, 1);
    bool is_there = m->rand != NULL && m->public_share != NULL && m->plaintext != NULL &&
                    m->scratch != NULL && m->aad != NULL;
    for (int i = 0; i < 2; i++) {
        m->shares[i] = agg_alloc(error, m->share_len[i], 1);
        m->sealed[i] = agg_alloc(error, sealed_len(m, i), 1);
        is_there = is_there && m->shares[i] != NULL && m->sealed[i] != NULL;
    }
    return is_there ? SHOAL_OK : AGG_ERR_MEMORY;
}

static void wipe_and_free(void *at, size_t len)
{
    if (at != NULL) OPENSSL_cleanse(at, len);
    free(at);
}

void agg_dap_report_maker_release(agg_dap_report_maker *m)
{
    wipe_and_free(m->rand, m->rand_len);
    wipe_and_free(m->plaintext, m->plaintext_len);
    wipe_and_free(m->scratch, m->scratch_words * sizeof *m->scratch);
    for (int i = 0; i < 2; i++) {
        wipe_and_free(m->shares[i], m->share_len[i]);
        free(m->sealed[i]);
    }
    free(m->public_share);
    free(m->aad);
    *m = (agg_dap_report_maker){0};
}
