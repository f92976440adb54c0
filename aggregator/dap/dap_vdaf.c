// SPDX-License-Identifier: Apache-2.0
// Opening, verifying and sealing; see dap_vdaf.h.
#include "dap_vdaf.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

#include "agg_cpu.h"
#include "agg_size.h"
#include "bytes.h"
#include "dap09.h"
#include "prio_cpu.h"
#include "vdaf08.h"

static const agg_dap_wire wires[] = {
    {.version = SHOAL_DAP_18,
     .init = shoal_prio3_init,
     .context = shoal_dap_context,
     .input_share_info = shoal_dap_input_share_info,
     .put_input_share_aad = shoal_dap_put_input_share_aad,
     .read_input_share = shoal_dap_read_input_share,
     .read_report = shoal_dap_read_report,
     .method = "POST",
     .media_type = shoal_dap_media_type,
     .success = 200},
    {.version = SHOAL_DAP_09,
     .init = shoal_vdaf08_init,
     .context = shoal_dap09_context,
     .input_share_info = shoal_dap09_input_share_info,
     .put_input_share_aad = shoal_dap09_put_input_share_aad,
     .read_input_share = shoal_dap_read_input_share, // both versions encode it alike
     .read_report = shoal_dap09_read_report,
     .method = "PUT",
     .media_type = shoal_dap09_media_type,
     .success = 201,
     .upload_problem = shoal_dap09_upload_problem,
     .times_are_seconds = 1},
};

_Static_assert((int)SHOAL_PRIO_AVX2 == (int)AGG_CPU_AVX2 &&
                   (int)SHOAL_PRIO_AVX512 == (int)AGG_CPU_AVX512,
               "core and aggregator number instruction sets alike");

const char *agg_dap_choose_cpu(shoal_prio3 *prio3)
{
    uint32_t chosen = (uint32_t)agg_cpu_chosen();
    if (chosen < prio3->cpu) prio3->cpu = chosen;
    return agg_cpu_name((agg_cpu)prio3->cpu);
}

const agg_hpke_key *agg_dap_key_of(const agg_dap_keys *keys, uint8_t id)
{
    for (size_t i = 0; i < keys->n; i++) {
        if (keys->list[i].id == id) return &keys->list[i];
    }
    return NULL;
}

// Derives a task's verification key as the draft's section "VDAF Verification Key Requirements"
// says: HKDF-SHA256 (RFC 5869) of the common seed, with the task's id as info. One block is enough,
// and a shorter key is its first bytes.
static bool derive_verify_key(uint8_t key[32], const uint8_t seed[32],
                              const uint8_t task_id[SHOAL_DAP_TASK_ID])
{
    static const char salt[] = "verify_key";
    uint8_t prk[32], info[SHOAL_DAP_TASK_ID + 1];
    unsigned len = 0;
    memcpy(info, task_id, SHOAL_DAP_TASK_ID);
    info[SHOAL_DAP_TASK_ID] = 1; // the block's number
    bool is_done = HMAC(EVP_sha256(), salt, sizeof salt - 1, seed, 32, prk, &len) != NULL &&
                   len == sizeof prk &&
                   HMAC(EVP_sha256(), prk, sizeof prk, info, sizeof info, key, &len) != NULL &&
                   len == 32;
    wipe(prk, sizeof prk);
    return is_done;
}

agg_err agg_dap_vdaf_init(agg_dap_vdaf *vdaf, agg_error *error, const shoal_dap_task *task,
                          const uint8_t seed[32])
{
    *vdaf = (agg_dap_vdaf){.task = *task};
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) {
        if (wires[i].version == task->version) vdaf->wire = &wires[i];
    }
    if (vdaf->wire == NULL)
        return agg_fail(error, SHOAL_ERR_VERSION, AGG_EXIT_USAGE,
                        "this build does not serve clients of this version");
    agg_err err = vdaf->wire->init(&vdaf->prio3, &task->vdaf);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_USAGE);
    (void)agg_dap_choose_cpu(&vdaf->prio3);
    vdaf->context_len = vdaf->wire->context(vdaf->context, task);
    if (derive_verify_key(vdaf->verify_key, seed, task->id)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "libcrypto failed");
}

uint64_t agg_dap_bucket_of(const agg_dap_vdaf *vdaf, uint64_t time)
{
    return vdaf->wire->times_are_seconds ? time / vdaf->task.time_precision_s : time;
}

// ---- buffers ----

static size_t longest_share(const agg_dap_vdaf *vdaf)
{
    size_t leader = shoal_prio3_input_share_len(&vdaf->prio3, 0),
           helper = shoal_prio3_input_share_len(&vdaf->prio3, 1);
    return leader > helper ? leader : helper;
}

static agg_dap_work plan_work(const agg_dap_vdaf *vdaf)
{
    return (agg_dap_work){
        .scratch_words = shoal_prio3_scratch_words(&vdaf->prio3),
        .plaintext_cap = longest_share(vdaf) + SHOAL_DAP_INPUT_SHARE_HEAD,
        .aad_cap = SHOAL_DAP_CONFIGURATION_MAX + 256 + shoal_prio3_public_share_len(&vdaf->prio3),
    };
}

uint64_t agg_dap_work_memory_opening(const agg_dap_vdaf *vdaf)
{
    const agg_dap_work work = plan_work(vdaf);
    return (uint64_t)work.plaintext_cap + work.aad_cap;
}

uint64_t agg_dap_work_memory(const agg_dap_vdaf *vdaf)
{
    return plan_work(vdaf).scratch_words * (uint64_t)sizeof(uint64_t) +
           agg_dap_work_memory_opening(vdaf) + shoal_prio3_verifier_share_len(&vdaf->prio3);
}

agg_err agg_dap_work_init_opening(agg_dap_work *work, agg_error *error, const agg_dap_vdaf *vdaf)
{
    *work = plan_work(vdaf);
    work->plaintext = agg_alloc(error, work->plaintext_cap, 1);
    work->aad = agg_alloc(error, work->aad_cap, 1);
    if (work->plaintext != NULL && work->aad != NULL) return SHOAL_OK;
    agg_dap_work_release(work);
    return AGG_ERR_MEMORY;
}

agg_err agg_dap_work_init(agg_dap_work *work, agg_error *error, const agg_dap_vdaf *vdaf)
{
    agg_err err = agg_dap_work_init_opening(work, error, vdaf);
    if (err != SHOAL_OK) return err;
    work->scratch = agg_alloc(error, work->scratch_words, sizeof *work->scratch);
    work->verifier_share = agg_alloc(error, shoal_prio3_verifier_share_len(&vdaf->prio3), 1);
    if (work->scratch != NULL && work->verifier_share != NULL) return SHOAL_OK;
    agg_dap_work_release(work);
    return AGG_ERR_MEMORY;
}

void agg_dap_work_release(agg_dap_work *work)
{
    if (work->plaintext != NULL) wipe(work->plaintext, work->plaintext_cap);
    free(work->scratch); // the functions that used it have wiped it
    free(work->plaintext);
    free(work->aad);
    free(work->verifier_share);
    *work = (agg_dap_work){0};
}

// ---- shares ----

bool agg_dap_has_lengths(const agg_dap_vdaf *vdaf, shoal_bytes public_share,
                         const shoal_dap_ciphertext *share, enum shoal_dap_role role)
{
    size_t len = shoal_prio3_input_share_len(&vdaf->prio3, role == SHOAL_DAP_LEADER ? 0 : 1);
    return public_share.len == shoal_prio3_public_share_len(&vdaf->prio3) &&
           share->enc.len == AGG_HPKE_ENC &&
           share->payload.len == len + SHOAL_DAP_INPUT_SHARE_HEAD + SHOAL_DAP_SEAL;
}

// Opens this server's share, into the work buffers.
static uint32_t open_share(shoal_bytes *share, agg_dap_work *work, const agg_dap_vdaf *vdaf,
                           const agg_dap_keys *keys, enum shoal_dap_role role,
                           const shoal_dap_metadata *metadata, shoal_bytes public_share,
                           const shoal_dap_ciphertext *ciphertext)
{
    const agg_hpke_key *key = agg_dap_key_of(keys, ciphertext->config_id);
    if (key == NULL) return SHOAL_DAP_HPKE_DECRYPT_ERROR; // as the draft says
    if (metadata->extensions.len > 0) return SHOAL_DAP_INVALID_MESSAGE;
    if (!agg_dap_has_lengths(vdaf, public_share, ciphertext, role))
        return SHOAL_DAP_INVALID_MESSAGE;
    uint8_t info[SHOAL_DAP_INFO_MAX];
    size_t info_len = vdaf->wire->input_share_info(info, &vdaf->task, role);
    shoal_dap_writer aad = {work->aad, work->aad_cap, 0, 0};
    vdaf->wire->put_input_share_aad(&aad, &vdaf->task, metadata, public_share);
    if (aad.is_full) return SHOAL_DAP_INVALID_MESSAGE;
    if (shoal_dap_open(work->plaintext, agg_hpke(), key->secret_key, ciphertext,
                       (shoal_bytes){info, info_len},
                       (shoal_bytes){work->aad, aad.len}) != SHOAL_OK)
        return SHOAL_DAP_HPKE_DECRYPT_ERROR;
    shoal_bytes plaintext = {work->plaintext, ciphertext->payload.len - SHOAL_DAP_SEAL};
    return vdaf->wire->read_input_share(share, plaintext) == SHOAL_OK ? 0
                                                                      : SHOAL_DAP_INVALID_MESSAGE;
}

// Returns: the error of the message for a share that no device makes, and the VDAF's error for a
// proof that does not hold.
static uint32_t error_of(agg_err err)
{
    if (err == SHOAL_OK) return 0;
    return err == SHOAL_ERR_TRUNCATED || err == SHOAL_ERR_EXTRA ? SHOAL_DAP_INVALID_MESSAGE
                                                                : SHOAL_DAP_VDAF_VERIFY_ERROR;
}

static uint32_t verify_init(uint8_t *state, uint8_t *verifier_share, agg_dap_work *work,
                            const agg_dap_vdaf *vdaf, uint32_t aggregator, const uint8_t *nonce,
                            shoal_bytes public_share, shoal_bytes share)
{
    const shoal_prio3_report report = {nonce, public_share, share};
    return error_of(shoal_prio3_verify_init(state, verifier_share, &vdaf->prio3, vdaf->verify_key,
                                            (shoal_bytes){vdaf->context, vdaf->context_len},
                                            aggregator, &report, work->scratch));
}

uint32_t agg_dap_leader_check(agg_dap_work *work, const agg_dap_vdaf *vdaf,
                              const agg_dap_keys *keys, const shoal_dap_report *report)
{
    shoal_bytes share;
    uint32_t error = open_share(&share, work, vdaf, keys, SHOAL_DAP_LEADER, &report->metadata,
                                report->public_share, &report->leader);
    if (error == 0 && shoal_prio3_check_share(&vdaf->prio3, 0, share) != SHOAL_OK)
        error = SHOAL_DAP_INVALID_MESSAGE;
    wipe(work->plaintext, work->plaintext_cap);
    return error;
}

uint32_t agg_dap_leader_begin(uint8_t *state, uint8_t *verifier_share, agg_dap_work *work,
                              const agg_dap_vdaf *vdaf, const agg_dap_keys *keys,
                              const shoal_dap_report *report)
{
    shoal_bytes share;
    uint32_t error = open_share(&share, work, vdaf, keys, SHOAL_DAP_LEADER, &report->metadata,
                                report->public_share, &report->leader);
    if (error == 0)
        error = verify_init(state, verifier_share, work, vdaf, 0, report->metadata.id,
                            report->public_share, share);
    wipe(work->plaintext, work->plaintext_cap);
    return error;
}

uint32_t agg_dap_leader_end(uint8_t *output_share, const agg_dap_vdaf *vdaf, const uint8_t *state,
                            shoal_bytes message)
{
    shoal_bytes verifier_message;
    if (shoal_dap_read_finish(&verifier_message, message) != SHOAL_OK)
        return SHOAL_DAP_INVALID_MESSAGE;
    return error_of(shoal_prio3_verify_next(output_share, &vdaf->prio3, state, verifier_message));
}

uint32_t agg_dap_helper_verify(uint8_t *output_share, uint8_t *verifier_message, uint8_t *state,
                               agg_dap_work *work, const agg_dap_vdaf *vdaf,
                               const agg_dap_keys *keys, const shoal_dap_verify_init *init)
{
    shoal_bytes share, verifier_shares[2];
    uint32_t error = open_share(&share, work, vdaf, keys, SHOAL_DAP_HELPER, &init->metadata,
                                init->public_share, &init->share);
    if (error == 0 && shoal_dap_read_initialize(&verifier_shares[0], init->payload) != SHOAL_OK)
        error = SHOAL_DAP_INVALID_MESSAGE;
    if (error == 0)
        error = verify_init(state, work->verifier_share, work, vdaf, 1, init->metadata.id,
                            init->public_share, share);
    wipe(work->plaintext, work->plaintext_cap);
    if (error != 0) return error;
    verifier_shares[1] =
        (shoal_bytes){work->verifier_share, shoal_prio3_verifier_share_len(&vdaf->prio3)};
    // A bad verifier share of the leader counts as a report that does not verify.
    if (shoal_prio3_combine(verifier_message, &vdaf->prio3,
                            (shoal_bytes){vdaf->context, vdaf->context_len}, verifier_shares,
                            work->scratch) != SHOAL_OK)
        return SHOAL_DAP_VDAF_VERIFY_ERROR;
    return error_of(shoal_prio3_verify_next(
        output_share, &vdaf->prio3, state,
        (shoal_bytes){verifier_message, shoal_prio3_message_len(&vdaf->prio3)}));
}

agg_err agg_dap_seal_aggregate(uint8_t *enc, uint8_t *ciphertext, agg_error *error,
                               const agg_dap_vdaf *vdaf, const agg_hpke_key *collector,
                               enum shoal_dap_role role, shoal_bytes collection_req,
                               const uint8_t *aggregate)
{
    uint8_t info[SHOAL_DAP_INFO_MAX];
    size_t info_len = shoal_dap_aggregate_share_info(info, &vdaf->task, role);
    shoal_dap_writer aad = {NULL, 0, 0, 0};
    shoal_dap_put_aggregate_share_aad(&aad, &vdaf->task, collection_req);
    size_t len = aad.len;
    uint8_t *bytes = agg_alloc(error, len, 1);
    if (bytes == NULL) return AGG_ERR_MEMORY;
    aad = (shoal_dap_writer){bytes, len, 0, 0};
    shoal_dap_put_aggregate_share_aad(&aad, &vdaf->task, collection_req);
    agg_err err = agg_hpke_seal(enc, ciphertext, collector->public_key,
                                (shoal_bytes){info, info_len}, (shoal_bytes){bytes, len},
                                (shoal_bytes){aggregate, agg_dap_output_len(vdaf)});
    free(bytes);
    if (err == SHOAL_OK) return SHOAL_OK;
    return agg_fail(error, err, AGG_EXIT_RUNTIME, "nothing can be sealed to the collector's key");
}
