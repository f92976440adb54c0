// SPDX-License-Identifier: Apache-2.0
// The messages of the Distributed Aggregation Protocol, draft-ietf-ppm-dap-18: tasks, reports,
// aggregation jobs, collections. This is only a codec, without network, keys or clock. The caller
// provides HPKE (shoal_dap_sealer below is its interface).
//
// Conventions:
// - Writers append to a shoal_dap_writer and never fail midway. If the buffer is too small,
//   `is_full` is set and `len` goes on counting, so an empty writer measures a message.
// - Readers take from a shoal_dap_reader and are strict. They refuse messages that are truncated,
//   too long or of an unknown kind with SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA, SHOAL_ERR_RANGE or
//   SHOAL_ERR_TYPE. Each is the draft's invalidMessage, as is every error for which a reader names
//   no other. A refusal leaves outputs and the reader's position unchanged.
// - Outputs of readers point into the message. Integers are big-endian. No size is trusted beyond
//   the message's own length.
//
// Task configurations are in the associated data of every ciphertext. Device, servers and collector
// each insert their own, so a share opens only if all of them agree on the servers, the minimum
// batch and the VDAF.
#ifndef SHOAL_DAP_H
#define SHOAL_DAP_H

#include <stdbool.h>

#include "name.h"
#include "prio3.h"
#include "recipe_ref.h"
#include "url.h"

#define SHOAL_DAP_TAG "dap-18" // in every domain separation; the only place of the version
#define SHOAL_DAP_TASK_ID 32
#define SHOAL_DAP_REPORT_ID 16
#define SHOAL_DAP_CHECKSUM 32
#define SHOAL_DAP_CONFIGURATION_MAX 1024 // bytes of an encoded task configuration
#define SHOAL_DAP_INFO_MAX 64            // bytes of an HPKE info string
#define SHOAL_DAP_CONTEXT_MAX 64         // bytes of a Prio3 context

typedef shoal_prio3_bytes shoal_bytes;

enum shoal_dap_role {
    SHOAL_DAP_COLLECTOR = 0,
    SHOAL_DAP_CLIENT = 1,
    SHOAL_DAP_LEADER = 2,
    SHOAL_DAP_HELPER = 3
};
enum shoal_dap_version { SHOAL_DAP_18 = 18, SHOAL_DAP_09 = 9 }; // draft that a task's clients send

// A reason for which one report is refused: ReportError.
enum shoal_dap_report_error {
    SHOAL_DAP_BATCH_COLLECTED = 1,
    SHOAL_DAP_REPORT_REPLAYED = 2,
    SHOAL_DAP_REPORT_DROPPED = 3,
    SHOAL_DAP_HPKE_UNKNOWN_CONFIG_ID = 4,
    SHOAL_DAP_HPKE_DECRYPT_ERROR = 5,
    SHOAL_DAP_VDAF_VERIFY_ERROR = 6,
    SHOAL_DAP_TASK_EXPIRED = 7,
    SHOAL_DAP_INVALID_MESSAGE = 8,
    SHOAL_DAP_REPORT_TOO_EARLY = 9,
    SHOAL_DAP_TASK_NOT_STARTED = 10,
    SHOAL_DAP_OUTDATED_CONFIG = 11
};

// The messages with their own media type.
enum shoal_dap_message {
    SHOAL_DAP_HPKE_CONFIG_LIST,
    SHOAL_DAP_UPLOAD_REQ,
    SHOAL_DAP_UPLOAD_ERRORS,
    SHOAL_DAP_AGGREGATION_JOB_INIT_REQ,
    SHOAL_DAP_AGGREGATION_JOB_RESP,
    SHOAL_DAP_AGGREGATE_SHARE_REQ,
    SHOAL_DAP_AGGREGATE_SHARE,
    SHOAL_DAP_COLLECTION_JOB_REQ,
    SHOAL_DAP_COLLECTION_JOB_RESP,
    SHOAL_DAP_MESSAGES
};
// Returns: "application/ppm-dap;message=...", static.
const char *shoal_dap_media_type(enum shoal_dap_message message);

// Problem types, without "urn:ietf:params:ppm:dap:error:".
enum shoal_dap_problem {
    SHOAL_DAP_PROBLEM_INVALID_MESSAGE,
    SHOAL_DAP_PROBLEM_UNRECOGNIZED_TASK,
    SHOAL_DAP_PROBLEM_UNRECOGNIZED_AGGREGATION_JOB,
    SHOAL_DAP_PROBLEM_BATCH_INVALID,
    SHOAL_DAP_PROBLEM_INVALID_BATCH_SIZE,
    SHOAL_DAP_PROBLEM_INVALID_AGGREGATION_PARAMETER,
    SHOAL_DAP_PROBLEM_BATCH_MISMATCH,
    SHOAL_DAP_PROBLEM_STEP_MISMATCH,
    SHOAL_DAP_PROBLEM_BATCH_OVERLAP,
    SHOAL_DAP_PROBLEM_UNSUPPORTED_EXTENSION,
    SHOAL_DAP_PROBLEM_INVALID_EXTENSION,
    SHOAL_DAP_PROBLEMS
};
const char *shoal_dap_problem_name(enum shoal_dap_problem problem);
// Returns: the draft's name of a report's error, "hpke_decrypt_error"; "unknown" for other numbers.
const char *shoal_dap_report_error_name(uint32_t error);

// ---- resources ----

// Ids in URLs and in problem documents are base64 of the URL alphabet, without padding.
#define SHOAL_DAP_TEXT_LEN(len) (((len)*4 + 2) / 3)
// Writes the text of an id and a NUL.
void shoal_dap_id_to_text(char *text, const uint8_t *id, size_t len);
// Reads the text of an id. It is strict: `text_len` must be SHOAL_DAP_TEXT_LEN(len), and the bits
// after the last byte must be zero.
shoal_err shoal_dap_id_from_text(uint8_t *id, size_t len, const char *text,
                                 size_t text_len) SHOAL_MUST_CHECK;

enum shoal_dap_resource {
    SHOAL_DAP_HPKE_CONFIG,      // {server}/hpke_config
    SHOAL_DAP_REPORTS,          // {leader}/tasks/{task}/reports
    SHOAL_DAP_AGGREGATION_JOBS, // {helper}/tasks/{task}/aggregation_jobs
    SHOAL_DAP_COLLECTION_JOBS,  // {leader}/tasks/{task}/collection_jobs
    SHOAL_DAP_AGGREGATE_SHARES  // {helper}/tasks/{task}/aggregate_shares
};
// Returns: the resource's last word, "aggregation_jobs".
const char *shoal_dap_resource_name(enum shoal_dap_resource resource);
#define SHOAL_DAP_URL_MAX 320 // with its NUL
// Writes the URL of a resource and a NUL.
//   task_id: may be NULL for SHOAL_DAP_HPKE_CONFIG
//   id, id_len: id of one job or share, up to 32 bytes; NULL, 0 for the resource that creates them
void shoal_dap_url(char url[SHOAL_DAP_URL_MAX], const shoal_url *server,
                   enum shoal_dap_resource resource, const uint8_t *task_id, const uint8_t *id,
                   size_t id_len);

// ---- tasks ----

typedef struct shoal_dap_interval {
    uint64_t start, duration; // in units of the task's time precision
} shoal_dap_interval;

// Returns: whether the interval has at least one unit and an end, as every query and batch must
// (else: batchInvalid).
static inline bool shoal_dap_interval_is_batch(const shoal_dap_interval *i)
{
    return i->duration > 0 && i->duration <= UINT64_MAX - i->start;
}
// Returns: whether both are batches and `inner` lies in `outer`. A batch selector must lie in its
// query.
static inline bool shoal_dap_interval_is_within(const shoal_dap_interval *inner,
                                                const shoal_dap_interval *outer)
{
    return shoal_dap_interval_is_batch(inner) && shoal_dap_interval_is_batch(outer) &&
           inner->start >= outer->start &&
           inner->start + inner->duration <= outer->start + outer->duration;
}

// Noise that each server adds to its share of a task's sums. The core only binds it into the task's
// id; discrete_noise.h draws it.
enum shoal_dap_noise_kind {
    SHOAL_DAP_NOISE_NONE = 0,
    SHOAL_DAP_NOISE_LAPLACE = 1,
    SHOAL_DAP_NOISE_GAUSSIAN = 2
};

typedef struct shoal_dap_noise {
    uint32_t kind;   // enum shoal_dap_noise_kind
    uint64_t number; // Laplace: epsilon in micro-units; Gaussian: the variance
} shoal_dap_noise;

typedef struct shoal_dap_task {
    uint8_t id[SHOAL_DAP_TASK_ID];
    uint32_t version; // enum shoal_dap_version
    uint8_t info_len; // at least 1
    uint8_t info[SHOAL_NAME_MAX];
    shoal_url leader, helper;
    uint64_t time_precision_s, min_batch_size;
    shoal_dap_interval interval; // reports' times; duration 0: any (no task_interval extension)
    shoal_prio3_parameters vdaf; // two servers and one proof (the draft cannot encode more)
    shoal_dap_noise noise;       // of task files; recipes have local noise
} shoal_dap_task;

// Makes the task of a finished recipe whose aggregation is dap. The id is the recipe's hash, the
// info the recipe's name, and the minimum batch cohort.minimum. The interval ends after `expires`.
// split.h chooses the VDAF.
//   why: static sentence, written on error
// Returns: SHOAL_ERR_ARGUMENT for another aggregation, else as shoal_split_init.
shoal_err shoal_dap_task_of(shoal_dap_task *task, const shoal_recipe *recipe,
                            const char **why) SHOAL_MUST_CHECK;

// ---- writing and reading ----

typedef struct shoal_dap_writer {
    uint8_t *at; // may be NULL if cap is 0
    size_t cap, len;
    bool is_full;
} shoal_dap_writer;

typedef struct shoal_dap_reader {
    const uint8_t *at;
    size_t len, position;
} shoal_dap_reader;

void shoal_dap_put(shoal_dap_writer *w, const void *bytes, size_t len);
void shoal_dap_put_number(shoal_dap_writer *w, uint64_t number, uint32_t n_bytes);
// Writes bytes after a length prefix of `prefix` bytes. Bytes that are too long for the prefix fill
// the writer.
void shoal_dap_put_opaque(shoal_dap_writer *w, shoal_bytes bytes, uint32_t prefix);
static inline bool shoal_dap_is_at_end(const shoal_dap_reader *r)
{
    return r->position == r->len;
}

// Writes TaskConfiguration, as it enters the associated data.
void shoal_dap_put_task(shoal_dap_writer *w, const shoal_dap_task *task);

// Writes what a task's id hashes behind its configuration: the noise, or nothing when there is
// none. The draft's configuration has no place for it.
void shoal_dap_put_noise(shoal_dap_writer *w, const shoal_dap_task *task);

// Writes Prio3's context of every report of the task: "dap-18" and the task's id. dap09.h has the
// context of DAP-09's clients. Returns: its length.
size_t shoal_dap_context(uint8_t context[SHOAL_DAP_CONTEXT_MAX], const shoal_dap_task *task);

// Writes an HPKE info string: of an input share from a client to a server, or of an aggregate share
// from a server to the collector. Returns: its length.
size_t shoal_dap_input_share_info(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                                  enum shoal_dap_role to);
size_t shoal_dap_aggregate_share_info(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                                      enum shoal_dap_role from);

typedef struct shoal_dap_hpke_config {
    uint8_t id;
    uint16_t kem, kdf, aead;
    shoal_bytes public_key;
} shoal_dap_hpke_config;
#define SHOAL_DAP_KEM_X25519 0x0020
#define SHOAL_DAP_KDF_SHA256 0x0001
#define SHOAL_DAP_AEAD_AES128 0x0001

void shoal_dap_put_hpke_configs(shoal_dap_writer *w, const shoal_dap_hpke_config *configs,
                                size_t n);
// Finds the first config of a list that is X25519, HKDF-SHA256, AES-128-GCM; its key has 32 bytes.
// The whole list is checked.
// Returns: SHOAL_ERR_MECHANISM if there is no such config, SHOAL_ERR_DUPLICATE if an id is given
// twice.
shoal_err shoal_dap_read_hpke_configs(shoal_dap_hpke_config *config,
                                      shoal_bytes list) SHOAL_MUST_CHECK;

typedef struct shoal_dap_ciphertext {
    uint8_t config_id;
    shoal_bytes enc, payload;
} shoal_dap_ciphertext;
void shoal_dap_put_ciphertext(shoal_dap_writer *w, const shoal_dap_ciphertext *c);
shoal_err shoal_dap_read_ciphertext(shoal_dap_ciphertext *c, shoal_dap_reader *r) SHOAL_MUST_CHECK;

// The metadata of a report. We write no extensions and refuse a report that has any
// (invalid_message). Readers check only that the extensions are a list, and return it, because the
// associated data covers them.
typedef struct shoal_dap_metadata {
    uint8_t id[SHOAL_DAP_REPORT_ID];
    uint64_t time;          // in units of the time precision; seconds in DAP-09
    shoal_bytes extensions; // encoded, without their length
} shoal_dap_metadata;

typedef struct shoal_dap_report {
    shoal_dap_metadata metadata;
    shoal_bytes public_share;
    shoal_dap_ciphertext leader, helper;
} shoal_dap_report;
void shoal_dap_put_report(shoal_dap_writer *w, const shoal_dap_report *report);
// Reads the next report of an upload request, which is a sequence of reports.
shoal_err shoal_dap_read_report(shoal_dap_report *report, shoal_dap_reader *r) SHOAL_MUST_CHECK;

// PlaintextInputShare without extensions. Reading refuses extensions with SHOAL_ERR_UNKNOWN_FIELD.
// The message is SHOAL_DAP_INPUT_SHARE_HEAD bytes longer than the share.
#define SHOAL_DAP_INPUT_SHARE_HEAD 6
void shoal_dap_put_input_share(shoal_dap_writer *w, shoal_bytes share);
shoal_err shoal_dap_read_input_share(shoal_bytes *share, shoal_bytes plaintext) SHOAL_MUST_CHECK;

// Writes InputShareAad.
void shoal_dap_put_input_share_aad(shoal_dap_writer *w, const shoal_dap_task *task,
                                   const shoal_dap_metadata *metadata, shoal_bytes public_share);

// Writes and reads UploadErrors, one error at a time.
void shoal_dap_put_upload_error(shoal_dap_writer *w, const uint8_t id[SHOAL_DAP_REPORT_ID],
                                enum shoal_dap_report_error error);
shoal_err shoal_dap_read_upload_error(uint8_t id[SHOAL_DAP_REPORT_ID], uint32_t *error,
                                      shoal_dap_reader *r) SHOAL_MUST_CHECK;

// ---- aggregation ----

// AggregationJobInitReq is the head, and then a VerifyInit for each report.
typedef struct shoal_dap_verify_init {
    shoal_dap_metadata metadata;
    shoal_bytes public_share;
    shoal_dap_ciphertext share; // the helper's share
    shoal_bytes payload; // the ping-pong message initialize, with the leader's verifier share
} shoal_dap_verify_init;
void shoal_dap_put_job_head(shoal_dap_writer *w, uint8_t verification_key_id);
void shoal_dap_put_verify_init(shoal_dap_writer *w, const shoal_dap_verify_init *init);
// Reads the head. Extensions of a report are in its metadata.
// Returns: SHOAL_ERR_ARGUMENT for an aggregation parameter that is not empty
// (invalidAggregationParameter), SHOAL_ERR_UNKNOWN_FIELD for extensions of the job
// (unsupportedExtension).
shoal_err shoal_dap_read_job_head(uint8_t *verification_key_id,
                                  shoal_dap_reader *r) SHOAL_MUST_CHECK;
shoal_err shoal_dap_read_verify_init(shoal_dap_verify_init *init,
                                     shoal_dap_reader *r) SHOAL_MUST_CHECK;

// Writes and reads the ping-pong messages of a one-round VDAF: initialize carries a verifier share,
// finish a verifier message.
void shoal_dap_put_initialize(shoal_dap_writer *w, shoal_bytes verifier_share);
void shoal_dap_put_finish(shoal_dap_writer *w, shoal_bytes verifier_message);
shoal_err shoal_dap_read_initialize(shoal_bytes *verifier_share,
                                    shoal_bytes payload) SHOAL_MUST_CHECK;
shoal_err shoal_dap_read_finish(shoal_bytes *verifier_message,
                                shoal_bytes payload) SHOAL_MUST_CHECK;

enum shoal_dap_verify_kind { SHOAL_DAP_CONTINUE = 0, SHOAL_DAP_FINISH = 1, SHOAL_DAP_REJECT = 2 };
typedef struct shoal_dap_verify_resp {
    uint8_t id[SHOAL_DAP_REPORT_ID];
    uint32_t kind;       // enum shoal_dap_verify_kind
    shoal_bytes payload; // payload of continue
    uint32_t error;      // enum shoal_dap_report_error, of reject
} shoal_dap_verify_resp;
void shoal_dap_put_verify_resp(shoal_dap_writer *w, const shoal_dap_verify_resp *resp);
shoal_err shoal_dap_read_verify_resp(shoal_dap_verify_resp *resp,
                                     shoal_dap_reader *r) SHOAL_MUST_CHECK;

// ---- collection (time-interval batches; no aggregation parameter, no extensions) ----

void shoal_dap_put_collection_req(shoal_dap_writer *w, const shoal_dap_interval *query);
// Reads a collection request. The caller checks whether the interval is a batch, and whether the
// message ends here.
// Returns: SHOAL_ERR_TYPE for another batch mode, SHOAL_ERR_ARGUMENT for an aggregation parameter
// (invalidAggregationParameter), SHOAL_ERR_DUPLICATE for extensions out of order
// (invalidExtension), SHOAL_ERR_UNKNOWN_FIELD for other extensions (unsupportedExtension).
shoal_err shoal_dap_read_collection_req(shoal_dap_interval *query,
                                        shoal_dap_reader *r) SHOAL_MUST_CHECK;

typedef struct shoal_dap_collection_resp {
    uint64_t report_count;
    shoal_dap_interval interval;
    shoal_dap_ciphertext leader, helper;
} shoal_dap_collection_resp;
void shoal_dap_put_collection_resp(shoal_dap_writer *w, const shoal_dap_collection_resp *resp);
shoal_err shoal_dap_read_collection_resp(shoal_dap_collection_resp *resp,
                                         shoal_bytes message) SHOAL_MUST_CHECK;

typedef struct shoal_dap_aggregate_share_req {
    shoal_bytes collection_req; // as the collector wrote it
    shoal_dap_interval query;   // the request's query; written by the reader
    shoal_dap_interval batch;   // the selector's batch
    uint64_t report_count;
    uint8_t checksum[SHOAL_DAP_CHECKSUM];
} shoal_dap_aggregate_share_req;
void shoal_dap_put_aggregate_share_req(shoal_dap_writer *w,
                                       const shoal_dap_aggregate_share_req *req);
// Reads an AggregateShareReq. Returns: the errors of the collection request inside it.
shoal_err shoal_dap_read_aggregate_share_req(shoal_dap_aggregate_share_req *req,
                                             shoal_bytes message) SHOAL_MUST_CHECK;
// AggregateShare is one ciphertext and nothing more.

// Writes AggregateShareAad.
void shoal_dap_put_aggregate_share_aad(shoal_dap_writer *w, const shoal_dap_task *task,
                                       shoal_bytes collection_req);

// Adds a report to a batch's checksum: exclusive or with the SHA-256 of the report's id.
void shoal_dap_checksum_add(uint8_t checksum[SHOAL_DAP_CHECKSUM],
                            const uint8_t id[SHOAL_DAP_REPORT_ID]);

// ---- HPKE, which the host provides ----

// HPKE in base mode with X25519, HKDF-SHA256, AES-128-GCM. ciphertext: plaintext.len + 16 bytes.
typedef struct shoal_dap_sealer {
    void *self;
    shoal_err (*seal)(void *self, uint8_t enc[32], uint8_t *ciphertext,
                      const uint8_t public_key[32], shoal_bytes info, shoal_bytes aad,
                      shoal_bytes plaintext);
    shoal_err (*open)(void *self, uint8_t *plaintext, const uint8_t secret_key[32],
                      const uint8_t enc[32], shoal_bytes info, shoal_bytes aad,
                      shoal_bytes ciphertext); // plaintext: ciphertext.len - 16 bytes
} shoal_dap_sealer;

// Opens a ciphertext of a message, whose lengths are untrusted.
//   plaintext: c->payload.len - SHOAL_DAP_SEAL bytes; nothing is written if that is negative
// Returns: SHOAL_ERR_CHECKSUM for lengths that such a ciphertext cannot have, else as the sealer's
// open.
#define SHOAL_DAP_SEAL 16 // bytes that sealing adds
shoal_err shoal_dap_open(uint8_t *plaintext, const shoal_dap_sealer *sealer,
                         const uint8_t secret_key[32], const shoal_dap_ciphertext *c,
                         shoal_bytes info, shoal_bytes aad) SHOAL_MUST_CHECK;

#endif
