// SPDX-License-Identifier: Apache-2.0
// What a server does with one report of a task: open its share, verify it with the other server,
// and what comes of it. The one place where the versions that clients send meet (draft 18 with
// prio3.h; DAP-09 with vdaf08.h and dap09.h); between the servers, and to the collector, every
// message is draft 18's. Pure but for HPKE: no store, no network, no clock.
//
// Errors of one report are enum shoal_dap_report_error, 0 where there is none. After an error
// outputs mean nothing.
#ifndef DAP_VDAF_H
#define DAP_VDAF_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"
#include "hpke.h"

#define AGG_DAP_KEYS_MAX 8 // HPKE keys of a server

typedef struct agg_dap_keys {
    agg_hpke_key list[AGG_DAP_KEYS_MAX]; // the first is the one that clients should take
    size_t n;
} agg_dap_keys;
// Returns: the key of that id, or NULL.
const agg_hpke_key *agg_dap_key_of(const agg_dap_keys *keys, uint8_t id);

// What clients of one version do otherwise than those of another.
typedef struct agg_dap_wire {
    uint32_t version; // enum shoal_dap_version
    shoal_err (*init)(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters);
    size_t (*context)(uint8_t context[SHOAL_DAP_CONTEXT_MAX], const shoal_dap_task *task);
    size_t (*input_share_info)(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                               enum shoal_dap_role to);
    void (*put_input_share_aad)(shoal_dap_writer *w, const shoal_dap_task *task,
                                const shoal_dap_metadata *metadata, shoal_bytes public_share);
    shoal_err (*read_input_share)(shoal_bytes *share, shoal_bytes plaintext);
    shoal_err (*read_report)(shoal_dap_report *report, shoal_dap_reader *r);
    const char *method; // of the upload request
    const char *(*media_type)(
        enum shoal_dap_message message); // of the messages that clients send and get
    unsigned success;                    // HTTP status of an upload that was taken
    // NULL: an upload is many reports, and answered with UploadErrors. Else it is one, and this the
    // type of the problem.
    const char *(*upload_problem)(enum shoal_dap_report_error error);
    bool times_are_seconds; // reports state seconds, not units of the task's precision
} agg_dap_wire;

typedef struct agg_dap_vdaf {
    shoal_dap_task task;
    const agg_dap_wire *wire;
    shoal_prio3 prio3;
    uint8_t context[SHOAL_DAP_CONTEXT_MAX];
    size_t context_len;
    uint8_t verify_key[SHOAL_PRIO3_VERIFY_KEY];
} agg_dap_vdaf;

// Makes what all reports of a task share. Its verification key is derived from the servers' common
// seed and the task's id by HKDF, as the draft has it. Returns: SHOAL_ERR_VERSION for a version
// that is not built in; as the VDAF's own checks
agg_err agg_dap_vdaf_init(agg_dap_vdaf *vdaf, agg_error *error, const shoal_dap_task *task,
                          const uint8_t seed[32]) SHOAL_MUST_CHECK;

// Returns: the number of the batch bucket that a report of this time falls into.
uint64_t agg_dap_bucket_of(const agg_dap_vdaf *vdaf, uint64_t time);

// Work areas for one report at a time; one for each thread.
typedef struct agg_dap_work {
    uint64_t *scratch;
    uint8_t *plaintext, *aad, *verifier_share;
    size_t scratch_words, plaintext_cap, aad_cap;
} agg_dap_work;
agg_err agg_dap_work_init(agg_dap_work *work, agg_error *error,
                          const agg_dap_vdaf *vdaf) SHOAL_MUST_CHECK;
// Returns: the bytes that a work area takes.
uint64_t agg_dap_work_memory(const agg_dap_vdaf *vdaf);
void agg_dap_work_release(agg_dap_work *work); // wipes what held shares

// Lengths in bytes.
static inline size_t agg_dap_state_len(const agg_dap_vdaf *vdaf)
{
    return shoal_prio3_state_len(&vdaf->prio3);
}
static inline size_t agg_dap_output_len(const agg_dap_vdaf *vdaf)
{
    return shoal_prio3_output_share_len(&vdaf->prio3);
}

// Whether a report's public parts have the lengths that the task's clients make; decides without
// any key.
bool agg_dap_has_lengths(const agg_dap_vdaf *vdaf, shoal_bytes public_share,
                         const shoal_dap_ciphertext *share, enum shoal_dap_role role);

// The leader's first step.
//   state: agg_dap_state_len bytes; secret
//   verifier_share: shoal_prio3_verifier_share_len bytes, for the helper
uint32_t agg_dap_leader_begin(uint8_t *state, uint8_t *verifier_share, agg_dap_work *work,
                              const agg_dap_vdaf *vdaf, const agg_dap_keys *keys,
                              const shoal_dap_report *report);

// The leader's last step. message: the ping-pong message that the helper answered
uint32_t agg_dap_leader_end(uint8_t *output_share, const agg_dap_vdaf *vdaf, const uint8_t *state,
                            shoal_bytes message);

// The helper's only step.
//   verifier_message: shoal_prio3_message_len bytes, for the leader
uint32_t agg_dap_helper_verify(uint8_t *output_share, uint8_t *verifier_message, uint8_t *state,
                               agg_dap_work *work, const agg_dap_vdaf *vdaf,
                               const agg_dap_keys *keys, const shoal_dap_verify_init *init);

// Seals an aggregate share to the collector.
//   ciphertext: agg_dap_output_len + SHOAL_DAP_SEAL bytes; enc: 32
agg_err agg_dap_seal_aggregate(uint8_t *enc, uint8_t *ciphertext, agg_error *error,
                               const agg_dap_vdaf *vdaf, const agg_hpke_key *collector,
                               enum shoal_dap_role role, shoal_bytes collection_req,
                               const uint8_t *aggregate) SHOAL_MUST_CHECK;

#endif
