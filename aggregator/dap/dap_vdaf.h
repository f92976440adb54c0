// SPDX-License-Identifier: Apache-2.0
// The cryptography of one report at a server: it opens its share and verifies it together with the
// other server. This is the only place that knows both versions that clients speak: draft 18
// (prio3.h), and DAP-09 (vdaf08.h and dap09.h). Between the servers, and to the collector, every
// message is draft 18's. There is no store, network or clock here.
//
// Functions of one report return its error, an enum shoal_dap_report_error, or 0. After an error
// the outputs mean nothing.
#ifndef DAP_VDAF_H
#define DAP_VDAF_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"
#include "hpke.h"

#define AGG_DAP_KEYS_MAX 8 // HPKE keys of a server

typedef struct agg_dap_keys {
    agg_hpke_key list[AGG_DAP_KEYS_MAX]; // the first key is advertised to clients
    size_t n;
} agg_dap_keys;

// Returns: the key of an id, or NULL.
const agg_hpke_key *agg_dap_key_of(const agg_dap_keys *keys, uint8_t id);

// Chooses the instruction set by which shares are made and verified: the one that the environment
// variable SHOAL_CPU names (agg_cpu.h), if it is less than the machine's best. Call it before
// anything is sized by *prio3. All sets give the same bytes.
// Returns: its name.
const char *agg_dap_choose_cpu(shoal_prio3 *prio3);

// The differences between the versions that clients speak.
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
    // Returns: the media type of a message between client and server.
    const char *(*media_type)(enum shoal_dap_message message);
    unsigned success; // HTTP status of an upload that was taken
    // Returns: the problem's type for a report's error, when an upload is one report. NULL: an
    // upload has many reports and is answered with UploadErrors.
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

// Makes the common part of all reports of a task. HKDF derives its verification key from the
// servers' common seed and the task's id, as the draft requires.
// Returns: SHOAL_ERR_VERSION for a version that this build does not have; the VDAF's own errors.
agg_err agg_dap_vdaf_init(agg_dap_vdaf *vdaf, agg_error *error, const shoal_dap_task *task,
                          const uint8_t seed[32]) SHOAL_MUST_CHECK;

// Returns: the number of the batch bucket of a report's time.
uint64_t agg_dap_bucket_of(const agg_dap_vdaf *vdaf, uint64_t time);

// Buffers for one report at a time. Each thread has its own. Without scratch and verifier share
// they serve for opening only.
typedef struct agg_dap_work {
    uint64_t *scratch;
    uint8_t *plaintext, *aad, *verifier_share;
    size_t scratch_words, plaintext_cap, aad_cap;
} agg_dap_work;
agg_err agg_dap_work_init(agg_dap_work *work, agg_error *error,
                          const agg_dap_vdaf *vdaf) SHOAL_MUST_CHECK;
// Makes the buffers that agg_dap_leader_check needs, which are far fewer.
agg_err agg_dap_work_init_opening(agg_dap_work *work, agg_error *error,
                                  const agg_dap_vdaf *vdaf) SHOAL_MUST_CHECK;
// Returns: the bytes of these buffers; of those for opening.
uint64_t agg_dap_work_memory(const agg_dap_vdaf *vdaf);
uint64_t agg_dap_work_memory_opening(const agg_dap_vdaf *vdaf);
void agg_dap_work_release(agg_dap_work *work); // wipes the buffers that held shares

// Lengths in bytes.
static inline size_t agg_dap_state_len(const agg_dap_vdaf *vdaf)
{
    return shoal_prio3_state_len(&vdaf->prio3);
}
static inline size_t agg_dap_output_len(const agg_dap_vdaf *vdaf)
{
    return shoal_prio3_output_share_len(&vdaf->prio3);
}

// Returns: whether the public parts of a report have the lengths that the task's clients make. This
// needs no key.
bool agg_dap_has_lengths(const agg_dap_vdaf *vdaf, shoal_bytes public_share,
                         const shoal_dap_ciphertext *share, enum shoal_dap_role role);

// Opens the leader's share and checks its length and its field elements, which needs no helper. The
// share is wiped. What stays possible is a share whose proof does not hold, or a helper's share
// that the helper cannot open. Cost: one product on the curve, HMACs, and AES over the share.
uint32_t agg_dap_leader_check(agg_dap_work *work, const agg_dap_vdaf *vdaf,
                              const agg_dap_keys *keys, const shoal_dap_report *report);

// The leader's first step.
//   state: agg_dap_state_len bytes; secret
//   verifier_share: shoal_prio3_verifier_share_len bytes, for the helper
uint32_t agg_dap_leader_begin(uint8_t *state, uint8_t *verifier_share, agg_dap_work *work,
                              const agg_dap_vdaf *vdaf, const agg_dap_keys *keys,
                              const shoal_dap_report *report);

// The leader's last step.
//   message: the ping-pong message in the helper's response
uint32_t agg_dap_leader_end(uint8_t *output_share, const agg_dap_vdaf *vdaf, const uint8_t *state,
                            shoal_bytes message);

// The helper's only step.
//   verifier_message: shoal_prio3_message_len bytes, for the leader
uint32_t agg_dap_helper_verify(uint8_t *output_share, uint8_t *verifier_message, uint8_t *state,
                               agg_dap_work *work, const agg_dap_vdaf *vdaf,
                               const agg_dap_keys *keys, const shoal_dap_verify_init *init);

// Seals an aggregate share to the collector.
//   enc: AGG_HPKE_ENC bytes
//   ciphertext: agg_dap_output_len + SHOAL_DAP_SEAL bytes
agg_err agg_dap_seal_aggregate(uint8_t *enc, uint8_t *ciphertext, agg_error *error,
                               const agg_dap_vdaf *vdaf, const agg_hpke_key *collector,
                               enum shoal_dap_role role, shoal_bytes collection_req,
                               const uint8_t *aggregate) SHOAL_MUST_CHECK;

#endif
