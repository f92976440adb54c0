// SPDX-License-Identifier: Apache-2.0
// One of every message of DAP (dap.h), written out by hand from draft-ietf-ppm-dap-18's structures;
// and for each a function that reads it and writes it again. For test_dap.c, guard_pages.c and the
// fuzzer.
#ifndef DAP_MESSAGES_H
#define DAP_MESSAGES_H

#include "dap.h"

#define ID_0_TO_15 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define KEY_OF_9                                                                                   \
    9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9

static const uint8_t hpke_configs_bytes[] = {
    0,    41,            // HpkeConfigList: length
    17,                  // id
    0x00, 0x20,          // kem_id: DHKEM(X25519, HKDF-SHA256)
    0x00, 0x01,          // kdf_id: HKDF-SHA256
    0x00, 0x01,          // aead_id: AES-128-GCM
    0,    32,   KEY_OF_9 // public_key
};

static const uint8_t ciphertext_bytes[] = {
    3,                   // config_id
    0,    2, 0xaa, 0xab, // enc
    0,    0, 0,    1,    // payload
    0xbb,                //
};

static const uint8_t report_bytes[] = {
    ID_0_TO_15,                                           // report_metadata.report_id
    0,          0,    0,    0,    0x01, 0x09, 0xce, 0x54, // .time: 17419860
    0,          0,                                        // .public_extensions
    0,          0,    0,    2,    0x50, 0x51,             // public_share
    1,          0,    1,    0x61, 0,    0,    0,    3,
    0x62,       0x63, 0x64, // leader_encrypted_input_share
    2,          0,    2,    0x71, 0x72, 0,    0,    0,
    2,          0x73, 0x74 // helper_encrypted_input_share
};

static const uint8_t extended_report_bytes[] = {
    ID_0_TO_15,                                     // report_metadata.report_id
    0xff, 0, 0, 0, 0, 0, 0, 1,                      // .time
    0, 9, 0x00, 0x17, 0, 1, 0xee, 0x00, 0x2a, 0, 0, // .public_extensions: 23 of one
                                                    // byte, 42 of none
    0, 0, 0, 0,                                     // public_share
    1, 0, 1, 0x61, 0, 0, 0, 1, 0x62, 2, 0, 1, 0x71, 0, 0, 0, 1, 0x72 // both shares
};

static const uint8_t input_share_bytes[] = {
    0, 0,                        // private_extensions
    0, 0, 0, 3, 0x11, 0x12, 0x13 // payload
};

static const uint8_t upload_error_bytes[] = {
    ID_0_TO_15, // id
    2           // error: report_replayed
};

static const uint8_t job_bytes[] = {
    5,                   // verification_key_id
    0,          0, 0, 0, // agg_param
    0,          0,       // extensions
    ID_0_TO_15,          // verify_inits[0].report_share.report_metadata.report_id
    0,          0, 0, 0,    0x01, 0x09, 0xce, 0x54,                // .time
    0,          0,                                                 // .public_extensions
    0,          0, 0, 2,    0x50, 0x51,                            // .public_share
    2,          0, 2, 0x71, 0x72, 0,    0,    0,    2, 0x73, 0x74, // .encrypted_input_share
    0,          0, 0, 6,    0,    0,    0,    0,    1, 0xcc // .payload: initialize(0), a verifier
                                                            // share of one byte
};

static const uint8_t initialize_bytes[] = {
    0,                     // type: initialize
    0, 0, 0, 2, 0xd0, 0xd1 // verifier_share
};

static const uint8_t finish_bytes[] = {
    2,         // type: finish
    0, 0, 0, 0 // verifier_message: of a VDAF without joint randomness
};

static const uint8_t continue_resp_bytes[] = {
    ID_0_TO_15,                        // report_id
    0,                                 // verify_resp_type: continue
    0,          0, 0, 5, 2, 0, 0, 0, 0 // payload: finish, without a message
};

static const uint8_t finish_resp_bytes[] = {
    ID_0_TO_15, // report_id
    1           // verify_resp_type: finish
};

static const uint8_t reject_resp_bytes[] = {
    ID_0_TO_15, // report_id
    2,          // verify_resp_type: reject
    6           // report_error: vdaf_verify_error
};

#define COLLECTION_REQ                                                                             \
    1,                                      /* query.batch_mode: time_interval */                  \
        0, 16,                              /* query.config */                                     \
        0, 0, 0, 0, 0x00, 0xfd, 0x39, 0xf0, /* batch_interval.start: 16595440 */                   \
        0, 0, 0, 0, 0, 0, 0, 100,           /* .duration */                                        \
        0, 0, 0, 0,                         /* agg_param */                                        \
        0, 0                                /* extensions */

static const uint8_t collection_req_bytes[] = {COLLECTION_REQ};

static const uint8_t collection_resp_bytes[] = {
    0, 0, 0, 0,    0,    0,    0x0f, 0xa0,                  // report_count: 4000
    0, 0, 0, 0,    0x00, 0xfd, 0x39, 0xf2,                  // interval.start: 16595442
    0, 0, 0, 0,    0,    0,    0,    10,                    // interval.duration
    9, 0, 1, 0x81, 0,    0,    0,    2,    0x82, 0x83,      // leader_encrypted_agg_share
    9, 0, 1, 0x91, 0,    0,    0,    3,    0x92, 0x93, 0x94 // helper_encrypted_agg_share
};

static const uint8_t aggregate_share_req_bytes[] = {
    COLLECTION_REQ, // collection_job_req
    1,              // batch_selector.batch_mode
    0,
    16, // .config
    0,
    0,
    0,
    0,
    0x00,
    0xfd,
    0x39,
    0xf2, // batch_interval.start: 16595442
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    10, // .duration
    0,
    0,
    0,
    0,
    0,
    0,
    0x0f,
    0xa0,    // report_count: 4000
    KEY_OF_9 // checksum
};

// ---- reading and writing again ----

static inline shoal_err hpke_configs_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_hpke_config config;
    shoal_err err = shoal_dap_read_hpke_configs(&config, message);
    if (err == SHOAL_OK) shoal_dap_put_hpke_configs(w, &config, 1);
    return err;
}

// The end of a message that is one thing.
static inline shoal_err dap_end_of(const shoal_dap_reader *r)
{
    return shoal_dap_is_at_end(r) ? SHOAL_OK : SHOAL_ERR_EXTRA;
}

static inline shoal_err ciphertext_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_reader r = {message.at, message.len, 0};
    shoal_dap_ciphertext c;
    shoal_err err = shoal_dap_read_ciphertext(&c, &r);
    if (err != SHOAL_OK) return err;
    shoal_dap_put_ciphertext(w, &c);
    return dap_end_of(&r);
}

static inline shoal_err reports_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_reader r = {message.at, message.len, 0};
    shoal_err err = SHOAL_OK;
    while (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) {
        shoal_dap_report report;
        err = shoal_dap_read_report(&report, &r);
        if (err == SHOAL_OK) shoal_dap_put_report(w, &report);
    }
    return err;
}

static inline shoal_err input_share_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_bytes share;
    shoal_err err = shoal_dap_read_input_share(&share, message);
    if (err == SHOAL_OK) shoal_dap_put_input_share(w, share);
    return err;
}

static inline shoal_err upload_errors_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_reader r = {message.at, message.len, 0};
    shoal_err err = SHOAL_OK;
    while (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) {
        uint8_t id[SHOAL_DAP_REPORT_ID];
        uint32_t error;
        err = shoal_dap_read_upload_error(id, &error, &r);
        if (err == SHOAL_OK) shoal_dap_put_upload_error(w, id, (enum shoal_dap_report_error)error);
    }
    return err;
}

static inline shoal_err job_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_reader r = {message.at, message.len, 0};
    uint8_t key;
    shoal_err err = shoal_dap_read_job_head(&key, &r);
    if (err != SHOAL_OK) return err;
    shoal_dap_put_job_head(w, key);
    while (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) {
        shoal_dap_verify_init init;
        err = shoal_dap_read_verify_init(&init, &r);
        if (err == SHOAL_OK) shoal_dap_put_verify_init(w, &init);
    }
    return err;
}

static inline shoal_err initialize_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_bytes bytes;
    shoal_err err = shoal_dap_read_initialize(&bytes, message);
    if (err == SHOAL_OK) shoal_dap_put_initialize(w, bytes);
    return err;
}

static inline shoal_err finish_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_bytes bytes;
    shoal_err err = shoal_dap_read_finish(&bytes, message);
    if (err == SHOAL_OK) shoal_dap_put_finish(w, bytes);
    return err;
}

static inline shoal_err resps_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_reader r = {message.at, message.len, 0};
    shoal_err err = SHOAL_OK;
    while (err == SHOAL_OK && !shoal_dap_is_at_end(&r)) {
        shoal_dap_verify_resp resp;
        err = shoal_dap_read_verify_resp(&resp, &r);
        if (err == SHOAL_OK) shoal_dap_put_verify_resp(w, &resp);
    }
    return err;
}

static inline shoal_err collection_req_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_reader r = {message.at, message.len, 0};
    shoal_dap_interval query;
    shoal_err err = shoal_dap_read_collection_req(&query, &r);
    if (err != SHOAL_OK) return err;
    shoal_dap_put_collection_req(w, &query);
    return dap_end_of(&r);
}

static inline shoal_err collection_resp_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_collection_resp resp;
    shoal_err err = shoal_dap_read_collection_resp(&resp, message);
    if (err == SHOAL_OK) shoal_dap_put_collection_resp(w, &resp);
    return err;
}

static inline shoal_err aggregate_share_req_again(shoal_dap_writer *w, shoal_bytes message)
{
    shoal_dap_aggregate_share_req req;
    shoal_err err = shoal_dap_read_aggregate_share_req(&req, message);
    if (err == SHOAL_OK) shoal_dap_put_aggregate_share_req(w, &req);
    return err;
}

typedef struct dap_message {
    const char *name;
    const uint8_t *bytes;
    size_t len;
    shoal_err (*again)(shoal_dap_writer *w, shoal_bytes message);
    size_t least; // the one length, besides the whole, at which the message may end: its list
                  // empty; SIZE_MAX: none
} dap_message;

#define DAP_MESSAGE(bytes) bytes, sizeof bytes
static const dap_message dap_messages[] = {
    {"HpkeConfigList", DAP_MESSAGE(hpke_configs_bytes), hpke_configs_again, SIZE_MAX},
    {"AggregateShare", DAP_MESSAGE(ciphertext_bytes), ciphertext_again, SIZE_MAX},
    {"UploadRequest", DAP_MESSAGE(report_bytes), reports_again, 0},
    {"UploadRequest with extensions", DAP_MESSAGE(extended_report_bytes), reports_again, 0},
    {"PlaintextInputShare", DAP_MESSAGE(input_share_bytes), input_share_again, SIZE_MAX},
    {"UploadErrors", DAP_MESSAGE(upload_error_bytes), upload_errors_again, 0},
    {"AggregationJobInitReq", DAP_MESSAGE(job_bytes), job_again, 7},
    {"initialize", DAP_MESSAGE(initialize_bytes), initialize_again, SIZE_MAX},
    {"finish", DAP_MESSAGE(finish_bytes), finish_again, SIZE_MAX},
    {"AggregationJobResp, continue", DAP_MESSAGE(continue_resp_bytes), resps_again, 0},
    {"AggregationJobResp, finish", DAP_MESSAGE(finish_resp_bytes), resps_again, 0},
    {"AggregationJobResp, reject", DAP_MESSAGE(reject_resp_bytes), resps_again, 0},
    {"CollectionJobReq", DAP_MESSAGE(collection_req_bytes), collection_req_again, SIZE_MAX},
    {"CollectionJobResp", DAP_MESSAGE(collection_resp_bytes), collection_resp_again, SIZE_MAX},
    {"AggregateShareReq", DAP_MESSAGE(aggregate_share_req_bytes), aggregate_share_req_again,
     SIZE_MAX},
};
#define N_DAP_MESSAGES (sizeof dap_messages / sizeof dap_messages[0])

// What reading the first n bytes of a message must give.
static inline shoal_err dap_message_cut(const dap_message *m, size_t n)
{
    return n == m->len || n == m->least ? SHOAL_OK : SHOAL_ERR_TRUNCATED;
}

#endif
