// SPDX-License-Identifier: Apache-2.0
// The messages of DAP against bytes written out by hand from draft-ietf-ppm-dap-18
// (dap_messages.h), the draft's example URLs, and what readers must refuse.
#include <string.h>

#include "check.h"
#include "dap_messages.h"
#include "split.h"
#include "test_recipes.h"

#define BYTES(array) ((shoal_bytes){array, sizeof array})
#define READER(array)                                                                              \
    {                                                                                              \
        array, sizeof array, 0                                                                     \
    }

static const uint8_t id_0_to_15[] = {ID_0_TO_15};

static int same(shoal_bytes a, const void *bytes, size_t len)
{
    return a.len == len && memcmp(a.at, bytes, len) == 0;
}

// Whole, cut at every byte, one byte longer, and written into too little room.
static void every_message(void)
{
    uint8_t out[256], longer[256];
    for (size_t i = 0; i < N_DAP_MESSAGES; i++) {
        const dap_message *m = &dap_messages[i];
        shoal_dap_writer w = {out, sizeof out, 0, 0};
        CHECK(m->again(&w, (shoal_bytes){m->bytes, m->len}) == SHOAL_OK);
        if (!CHECK(!w.is_full && same((shoal_bytes){out, w.len}, m->bytes, m->len)))
            printf("of %s\n", m->name);
        for (size_t n = 0; n <= m->len; n++) {
            shoal_dap_writer cut = {out, sizeof out, 0, 0};
            if (!CHECK(m->again(&cut, (shoal_bytes){m->bytes, n}) == dap_message_cut(m, n)))
                printf("of %s, %d bytes\n", m->name, (int)n);
        }
        memcpy(longer, m->bytes, m->len);
        longer[m->len] = 0;
        w = (shoal_dap_writer){out, sizeof out, 0, 0};
        CHECK(m->again(&w, (shoal_bytes){longer, m->len + 1}) != SHOAL_OK);
        shoal_dap_writer none = {NULL, 0, 0, 0};
        CHECK(m->again(&none, (shoal_bytes){m->bytes, m->len}) == SHOAL_OK && none.is_full &&
              none.len == m->len);
        memset(out, 0x77, sizeof out);
        shoal_dap_writer tight = {out, m->len - 1, 0, 0};
        CHECK(m->again(&tight, (shoal_bytes){m->bytes, m->len}) == SHOAL_OK && tight.is_full &&
              tight.len == m->len);
        CHECK(out[m->len - 1] == 0x77);
    }
}

static void hpke_configs(void)
{
    static const uint8_t two[] = {
        0,   83,                                 //
        194, 0x00, 0x10, 0x00, 0x01, 0x00, 0x01, // P-256, as in the draft's example
        0,   4,    1,    2,    3,    4,          //
        17,  0x00, 0x20, 0x00, 0x01, 0x00, 0x03, 0, 32, KEY_OF_9, // ChaCha20Poly1305
        1,   0x00, 0x20, 0x00, 0x01, 0x00, 0x01, 0, 20, KEY_OF_9, // length put right below
    };
    uint8_t list[256];
    shoal_dap_hpke_config config = {.id = 77};
    memcpy(list, two, sizeof two);
    size_t len = sizeof two;
    list[1] = (uint8_t)(len - 2);
    CHECK(shoal_dap_read_hpke_configs(&config, (shoal_bytes){list, len}) ==
          SHOAL_ERR_RANGE); // X25519 keys have 32
    CHECK(config.id == 77);
    list[len - 33] = 32;
    CHECK(shoal_dap_read_hpke_configs(&config, (shoal_bytes){list, len}) == SHOAL_OK);
    CHECK(config.id == 1 && config.kem == 0x20 && config.kdf == 1 && config.aead == 1);
    CHECK(config.public_key.at == list + len - 32 && config.public_key.len == 32);
    list[len - 41] = 17; // an id twice
    CHECK(shoal_dap_read_hpke_configs(&config, (shoal_bytes){list, len}) == SHOAL_ERR_DUPLICATE);
    list[len - 41] = 2;
    list[len - 35] = 3; // none that we can
    CHECK(shoal_dap_read_hpke_configs(&config, (shoal_bytes){list, len}) == SHOAL_ERR_MECHANISM);
    CHECK(shoal_dap_read_hpke_configs(&config, (shoal_bytes){list, len - 1}) ==
          SHOAL_ERR_TRUNCATED);
    static const uint8_t empty[] = {0, 0};
    CHECK(shoal_dap_read_hpke_configs(&config, BYTES(empty)) == SHOAL_ERR_RANGE);
    // The first of two is preferred, and both are written.
    static const uint8_t key[32] = {KEY_OF_9};
    const shoal_dap_hpke_config configs[2] = {{5, 0x20, 1, 1, BYTES(key)},
                                              {6, 0x20, 1, 1, BYTES(key)}};
    shoal_dap_writer w = {list, sizeof list, 0, 0};
    shoal_dap_put_hpke_configs(&w, configs, 2);
    CHECK(!w.is_full && w.len == 2 + 2 * 41);
    CHECK(shoal_dap_read_hpke_configs(&config, (shoal_bytes){list, w.len}) == SHOAL_OK &&
          config.id == 5);
}

static void ciphertexts(void)
{
    static const uint8_t no_enc[] = {3, 0, 0, 0, 0, 0, 1, 0xbb},
                         no_payload[] = {3, 0, 1, 0xaa, 0, 0, 0, 0};
    static const uint8_t endless[] = {3, 0, 1, 0xaa, 0xff, 0xff, 0xff, 0xff, 0xbb};
    shoal_dap_ciphertext c = {77, {NULL, 0}, {NULL, 0}};
    shoal_dap_reader r = READER(ciphertext_bytes), a = READER(no_enc), b = READER(no_payload),
                     e = READER(endless);
    CHECK(shoal_dap_read_ciphertext(&c, &a) == SHOAL_ERR_RANGE && a.position == 0 &&
          c.config_id == 77);
    CHECK(shoal_dap_read_ciphertext(&c, &b) == SHOAL_ERR_RANGE && b.position == 0 &&
          c.config_id == 77);
    CHECK(shoal_dap_read_ciphertext(&c, &e) == SHOAL_ERR_TRUNCATED && e.position == 0 &&
          c.config_id == 77);
    CHECK(shoal_dap_read_ciphertext(&c, &r) == SHOAL_OK && c.config_id == 3 &&
          shoal_dap_is_at_end(&r));
    CHECK(same(c.enc, "\xaa\xab", 2) && same(c.payload, "\xbb", 1));
}

static void reports(void)
{
    uint8_t two[sizeof report_bytes + sizeof extended_report_bytes];
    memcpy(two, report_bytes, sizeof report_bytes);
    memcpy(two + sizeof report_bytes, extended_report_bytes, sizeof extended_report_bytes);
    shoal_dap_reader r = READER(two);
    shoal_dap_report report;
    CHECK(shoal_dap_read_report(&report, &r) == SHOAL_OK && r.position == sizeof report_bytes);
    CHECK(memcmp(report.metadata.id, id_0_to_15, 16) == 0 && report.metadata.time == 17419860);
    CHECK(report.metadata.extensions.len == 0 && same(report.public_share, "PQ", 2));
    CHECK(report.leader.config_id == 1 && same(report.leader.enc, "a", 1) &&
          same(report.leader.payload, "bcd", 3));
    CHECK(report.helper.config_id == 2 && same(report.helper.enc, "qr", 2) &&
          same(report.helper.payload, "st", 2));
    CHECK(shoal_dap_read_report(&report, &r) == SHOAL_OK && shoal_dap_is_at_end(&r));
    CHECK(report.metadata.time == (UINT64_C(0xff) << 56 | 1) && report.public_share.len == 0);
    CHECK(same(report.metadata.extensions, "\0\x17\0\1\xee\0\x2a\0\0", 9));
    two[25] = 8; // the list ends inside of its second extension, and the report reads on as
                 // something else
    shoal_dap_reader broken = {two, sizeof report_bytes, 0};
    CHECK(shoal_dap_read_report(&report, &broken) == SHOAL_ERR_TRUNCATED && broken.position == 0);
    memcpy(two, extended_report_bytes, sizeof extended_report_bytes);
    two[29] = 6; // the first extension is longer than the list
    broken = (shoal_dap_reader){two, sizeof extended_report_bytes, 0};
    CHECK(shoal_dap_read_report(&report, &broken) == SHOAL_ERR_TRUNCATED && broken.position == 0);
    CHECK(report.leader.config_id == 1 &&
          report.helper.config_id == 2); // of the last that was read
}

static void input_shares(void)
{
    static const uint8_t extended[] = {0, 4, 0, 1, 0, 0, 0, 0, 0, 1, 0x11},
                         empty[] = {0, 0, 0, 0, 0, 0};
    shoal_bytes share = {NULL, 77};
    CHECK(shoal_dap_read_input_share(&share, BYTES(extended)) == SHOAL_ERR_UNKNOWN_FIELD &&
          share.len == 77);
    CHECK(shoal_dap_read_input_share(&share, BYTES(empty)) == SHOAL_ERR_RANGE && share.len == 77);
    CHECK(shoal_dap_read_input_share(&share, BYTES(input_share_bytes)) == SHOAL_OK);
    CHECK(same(share, "\x11\x12\x13", 3) &&
          sizeof input_share_bytes == 3 + SHOAL_DAP_INPUT_SHARE_HEAD);
}

static void report_errors(void)
{
    uint8_t bytes[sizeof upload_error_bytes], id[SHOAL_DAP_REPORT_ID] = {77};
    uint32_t error = 0;
    memcpy(bytes, upload_error_bytes, sizeof bytes);
    for (uint32_t number = 0; number < 256; number++) {
        shoal_dap_reader r = READER(bytes);
        int is_known = number >= 1 && number <= 11;
        bytes[16] = (uint8_t)number;
        CHECK(shoal_dap_read_upload_error(id, &error, &r) ==
              (is_known ? SHOAL_OK : SHOAL_ERR_RANGE));
        CHECK(!is_known || (error == number && memcmp(id, id_0_to_15, 16) == 0));
        CHECK((strcmp(shoal_dap_report_error_name(number), "unknown") != 0) == is_known);
    }
    CHECK(strcmp(shoal_dap_report_error_name(5), "hpke_decrypt_error") == 0);
    CHECK(strcmp(shoal_dap_report_error_name(11), "outdated_config") == 0);
}

static void jobs(void)
{
    uint8_t bytes[sizeof job_bytes], key = 77;
    shoal_dap_reader r = READER(job_bytes);
    shoal_dap_verify_init init;
    shoal_bytes share;
    CHECK(shoal_dap_read_job_head(&key, &r) == SHOAL_OK && key == 5);
    CHECK(shoal_dap_read_verify_init(&init, &r) == SHOAL_OK && shoal_dap_is_at_end(&r));
    CHECK(memcmp(init.metadata.id, id_0_to_15, 16) == 0 && init.metadata.time == 17419860);
    CHECK(init.metadata.extensions.len == 0 && same(init.public_share, "PQ", 2));
    CHECK(init.share.config_id == 2 && same(init.share.enc, "qr", 2) &&
          same(init.share.payload, "st", 2));
    CHECK(shoal_dap_read_initialize(&share, init.payload) == SHOAL_OK && same(share, "\xcc", 1));
    static const uint8_t parameter[] = {5, 0, 0, 0, 1, 7, 0, 0},
                         extension[] = {5, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0};
    static const uint8_t unordered[] = {5, 0, 0, 0, 0, 0, 8, 0, 2, 0, 0, 0, 2, 0, 0};
    shoal_dap_reader p = READER(parameter), e = READER(extension), u = READER(unordered);
    key = 77;
    CHECK(shoal_dap_read_job_head(&key, &p) == SHOAL_ERR_ARGUMENT && p.position == 0 && key == 77);
    CHECK(shoal_dap_read_job_head(&key, &e) == SHOAL_ERR_UNKNOWN_FIELD && e.position == 0);
    CHECK(shoal_dap_read_job_head(&key, &u) == SHOAL_ERR_DUPLICATE && u.position == 0);
    memcpy(bytes, job_bytes, sizeof bytes);
    bytes[sizeof bytes - 7] = 0; // an empty payload
    shoal_dap_reader b = {bytes, sizeof bytes, 7};
    CHECK(shoal_dap_read_verify_init(&init, &b) == SHOAL_ERR_RANGE && b.position == 7);
}

static void ping_pong(void)
{
    static const uint8_t of_rounds[] = {1, 0, 0, 0, 0, 0, 0, 0, 0};
    shoal_bytes bytes = {NULL, 77};
    CHECK(shoal_dap_read_initialize(&bytes, BYTES(finish_bytes)) == SHOAL_ERR_TYPE &&
          bytes.len == 77);
    CHECK(shoal_dap_read_finish(&bytes, BYTES(initialize_bytes)) == SHOAL_ERR_TYPE &&
          bytes.len == 77);
    CHECK(shoal_dap_read_finish(&bytes, BYTES(of_rounds)) == SHOAL_ERR_TYPE);
    CHECK(shoal_dap_read_initialize(&bytes, BYTES(of_rounds)) == SHOAL_ERR_TYPE);
    CHECK(shoal_dap_read_initialize(&bytes, BYTES(initialize_bytes)) == SHOAL_OK &&
          same(bytes, "\xd0\xd1", 2));
    CHECK(shoal_dap_read_finish(&bytes, BYTES(finish_bytes)) == SHOAL_OK && bytes.len == 0);
}

static void responses(void)
{
    uint8_t bytes[sizeof reject_resp_bytes];
    shoal_dap_verify_resp resp = {{77}, 77, {NULL, 0}, 0};
    memcpy(bytes, reject_resp_bytes, sizeof bytes);
    for (uint32_t kind = 3; kind < 256; kind++) {
        shoal_dap_reader r = READER(bytes);
        bytes[16] = (uint8_t)kind;
        CHECK(shoal_dap_read_verify_resp(&resp, &r) == SHOAL_ERR_TYPE && r.position == 0 &&
              resp.kind == 77);
    }
    shoal_dap_reader reject = READER(reject_resp_bytes), go_on = READER(continue_resp_bytes);
    shoal_dap_reader finish = READER(finish_resp_bytes);
    CHECK(shoal_dap_read_verify_resp(&resp, &reject) == SHOAL_OK && resp.kind == SHOAL_DAP_REJECT);
    CHECK(resp.error == SHOAL_DAP_VDAF_VERIFY_ERROR && memcmp(resp.id, id_0_to_15, 16) == 0);
    CHECK(shoal_dap_read_verify_resp(&resp, &go_on) == SHOAL_OK && resp.kind == SHOAL_DAP_CONTINUE);
    CHECK(same(resp.payload, "\2\0\0\0\0", 5));
    CHECK(shoal_dap_read_verify_resp(&resp, &finish) == SHOAL_OK && resp.kind == SHOAL_DAP_FINISH);
    bytes[16] = SHOAL_DAP_REJECT;
    bytes[17] = 0; // reserved
    shoal_dap_reader r = READER(bytes);
    CHECK(shoal_dap_read_verify_resp(&resp, &r) == SHOAL_ERR_RANGE);
    static const uint8_t nothing[] = {ID_0_TO_15, 0, 0, 0, 0, 0};
    shoal_dap_reader n = READER(nothing);
    CHECK(shoal_dap_read_verify_resp(&resp, &n) == SHOAL_ERR_RANGE);
}

static void collections(void)
{
    shoal_dap_interval query = {77, 77};
    shoal_dap_reader r = READER(collection_req_bytes);
    CHECK(shoal_dap_read_collection_req(&query, &r) == SHOAL_OK && query.start == 16595440 &&
          query.duration == 100);
    static const struct {
        uint8_t bytes[40];
        size_t len;
        shoal_err err;
    } bad[] = {
        {{2, 0, 0, 0, 0, 0, 0, 0, 0}, 9, SHOAL_ERR_TYPE}, // leader_selected
        {{0, 0, 0, 0, 0, 0, 0, 0, 0}, 9, SHOAL_ERR_TYPE}, // reserved
        {{1, 0, 15, [18] = 0, 0, 0, 0, 0, 0}, 24, SHOAL_ERR_TRUNCATED},
        {{1, 0, 17, [20] = 0, 0, 0, 0, 0, 0}, 26, SHOAL_ERR_EXTRA},
        {{1, 0, 16, [19] = 0, 0, 0, 1, 7, 0, 0}, 26, SHOAL_ERR_ARGUMENT},
        {{1, 0, 16, [19] = 0, 0, 0, 0, 0, 4, 0, 1, 0, 0}, 29, SHOAL_ERR_UNKNOWN_FIELD},
        {{1, 0, 16, [19] = 0, 0, 0, 0, 0, 8, 0, 1, 0, 0, 0, 1, 0, 0}, 33, SHOAL_ERR_DUPLICATE},
        {{1, 0, 16, [19] = 0, 0, 0, 0, 0, 8, 0, 1, 0, 0, 0, 2, 0, 0}, 33, SHOAL_ERR_UNKNOWN_FIELD},
        {{1, 0, 16, [19] = 0, 0, 0, 0, 0, 5, 0, 1, 0, 2, 0}, 30, SHOAL_ERR_TRUNCATED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        shoal_dap_reader b = {bad[i].bytes, bad[i].len, 0};
        if (!CHECK(shoal_dap_read_collection_req(&query, &b) == bad[i].err))
            printf("of %d\n", (int)i);
        CHECK(b.position == 0 && query.start == 16595440);
    }
    shoal_dap_collection_resp resp;
    CHECK(shoal_dap_read_collection_resp(&resp, BYTES(collection_resp_bytes)) == SHOAL_OK);
    CHECK(resp.report_count == 4000 && resp.interval.start == 16595442 &&
          resp.interval.duration == 10);
    CHECK(resp.leader.config_id == 9 && same(resp.leader.enc, "\x81", 1) &&
          same(resp.leader.payload, "\x82\x83", 2));
    CHECK(same(resp.helper.enc, "\x91", 1) && same(resp.helper.payload, "\x92\x93\x94", 3));
    shoal_dap_aggregate_share_req req;
    CHECK(shoal_dap_read_aggregate_share_req(&req, BYTES(aggregate_share_req_bytes)) == SHOAL_OK);
    CHECK(same(req.collection_req, collection_req_bytes, sizeof collection_req_bytes));
    CHECK(req.query.start == 16595440 && req.query.duration == 100 && req.report_count == 4000);
    CHECK(req.batch.start == 16595442 && req.batch.duration == 10 && req.checksum[0] == 9 &&
          req.checksum[31] == 9);
}

static void intervals(void)
{
    const shoal_dap_interval query = {10, 5}, whole = {0, UINT64_MAX}, none = {10, 0},
                             endless = {1, UINT64_MAX};
    CHECK(shoal_dap_interval_is_batch(&query) && shoal_dap_interval_is_batch(&whole));
    CHECK(!shoal_dap_interval_is_batch(&none) && !shoal_dap_interval_is_batch(&endless));
    static const struct {
        shoal_dap_interval inner;
        int is_within;
    } cases[] = {{{10, 5}, 1}, {{11, 4}, 1}, {{10, 1}, 1}, {{14, 1}, 1},
                 {{9, 2}, 0},  {{14, 2}, 0}, {{15, 1}, 0}, {{10, 0}, 0},
                 {{9, 7}, 0},  {{2, 3}, 0},  {{10, 6}, 0}, {{11, UINT64_MAX}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(shoal_dap_interval_is_within(&cases[i].inner, &query) == cases[i].is_within);
    CHECK(!shoal_dap_interval_is_within(&query, &none) &&
          !shoal_dap_interval_is_within(&query, &endless));
}

static void checksums(void)
{
    static const uint8_t of_zeros[32] = {0x37, 0x47, 0x08, 0xff, 0xf7, 0x71, 0x9d, 0xd5,
                                         0x97, 0x9e, 0xc8, 0x75, 0xd5, 0x6c, 0xd2, 0x28,
                                         0x6f, 0x6d, 0x3c, 0xf7, 0xec, 0x31, 0x7a, 0x3b,
                                         0x25, 0x63, 0x2a, 0xab, 0x28, 0xec, 0x37, 0xbb}; // SHA-256
    uint8_t sum[32] = {0}, id[16] = {0}, other[16] = {1};
    shoal_dap_checksum_add(sum, id);
    CHECK(memcmp(sum, of_zeros, 32) == 0);
    shoal_dap_checksum_add(sum, other);
    CHECK(memcmp(sum, of_zeros, 32) != 0);
    shoal_dap_checksum_add(sum, id);
    shoal_dap_checksum_add(sum, other);
    for (size_t i = 0; i < 32; i++) CHECK(sum[i] == 0);
}

// ---- tasks ----

static const uint8_t example_task[32] = {
    0xf0, 0x16, 0x34, 0x47, 0x36, 0x4c, 0xcf, 0x1b, 0xc0, 0xe3, 0xaf, 0xfc, 0xca, 0x68, 0x73, 0xc9,
    0xc3, 0x81, 0xf6, 0x4a, 0xcd, 0xf9, 0x02, 0x06, 0x62, 0xf8, 0x3f, 0x46, 0xc0, 0x72, 0x19, 0xe7};

static void make_task(shoal_dap_task *task)
{
    const char *why;
    memset(task, 0, sizeof *task);
    memcpy(task->id, example_task, 32);
    task->version = SHOAL_DAP_18;
    task->info_len = 2;
    memcpy(task->info, "hi", 2);
    CHECK(shoal_url_set(&task->leader, "https://a.b/l", 13, &why) == SHOAL_OK);
    CHECK(shoal_url_set(&task->helper, "https://example.com/api/dap", 27, &why) == SHOAL_OK);
    task->time_precision_s = 3600;
    task->min_batch_size = 500;
}

#define TASK_START                                                                                 \
    2, 'h', 'i',                                                                /* task_info */    \
        0, 13, 'h', 't', 't', 'p', 's', ':', '/', '/', 'a', '.', 'b', '/', 'l', /* leader */       \
        0, 27, 'h', 't', 't', 'p', 's', ':', '/', '/', 'e', 'x', 'a', 'm', 'p', 'l', 'e', '.',     \
        'c', 'o', 'm', '/', 'a', 'p', 'i', '/', 'd', 'a', 'p', /* helper */                        \
        0, 0, 0, 0, 0, 0, 0x0e, 0x10,                          /* time_precision: 3600 */          \
        0, 0, 0, 0, 0, 0, 0x01, 0xf4,                          /* min_batch_size: 500 */           \
        1,                                                     /* batch_mode: time_interval */     \
        0, 0                                                   /* batch_config */

static void task_is(const shoal_dap_task *task, const uint8_t *bytes, size_t len)
{
    uint8_t out[SHOAL_DAP_CONFIGURATION_MAX];
    shoal_dap_writer w = {out, sizeof out, 0, 0};
    shoal_dap_put_task(&w, task);
    CHECK(!w.is_full && same((shoal_bytes){out, w.len}, bytes, len));
}

static void task_configurations(void)
{
    static const uint8_t count[] = {TASK_START, 0, 0, 0, 1, 0, 0, 0, 0};
    static const uint8_t sum[] = {TASK_START, 0, 0, 0, 2, 0, 8, 0, 0, 0, 0, 0, 0, 0x03, 0xe8, 0, 0};
    static const uint8_t sum_vec[] = {TASK_START, 0,  0, 0,  3,             // vdaf_type
                                      0,          16,                       // vdaf_configuration
                                      0,          0,  0, 10,                // length
                                      0,          0,  0, 0,  0, 0, 0, 0xff, // max_measurement
                                      0,          0,  0, 9,                 // chunk_length
                                      0,          0};                       // extensions
    static const uint8_t histogram[] = {
        TASK_START, 0,  0, 0, 4, 0,  8,     // vdaf_type
        0,          0,  4, 0, 0, 0,  0, 32, // length 1024, chunk_length 32
        0,          20, 0, 1, 0, 16,        // extensions: task_interval
        0,          0,  0, 0, 0, 0,  0, 3,  // start
        0,          0,  0, 0, 0, 0,  1, 4}; // duration
    static const uint8_t multihot[] = {TASK_START, 0, 0, 0, 5, 0, 16,    // vdaf_type
                                       0,          0, 0, 7, 0, 0, 0,  3, // length, chunk_length
                                       0,          0, 0, 0, 0, 0, 0,  2, // max_weight
                                       0,          0};                   // extensions
    shoal_dap_task task;
    make_task(&task);
    task.vdaf.circuit = SHOAL_CIRCUIT_COUNT;
    task_is(&task, count, sizeof count);
    task.vdaf = (shoal_prio3_parameters){SHOAL_CIRCUIT_SUM, 0, 1000, 0, 2, 1};
    task_is(&task, sum, sizeof sum);
    task.vdaf = (shoal_prio3_parameters){SHOAL_CIRCUIT_SUM_VEC, 10, 255, 9, 2, 1};
    task_is(&task, sum_vec, sizeof sum_vec);
    task.vdaf = (shoal_prio3_parameters){SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 7, 2, 3, 2, 1};
    task_is(&task, multihot, sizeof multihot);
    task.vdaf = (shoal_prio3_parameters){SHOAL_CIRCUIT_HISTOGRAM, 1024, 0, 32, 2, 1};
    task.interval = (shoal_dap_interval){3, 260};
    task_is(&task, histogram, sizeof histogram);

    // Both associated data: what is put together, in order.
    uint8_t out[1024];
    shoal_dap_writer w = {out, sizeof out, 0, 0};
    shoal_dap_report report;
    shoal_dap_reader r = READER(report_bytes);
    CHECK(shoal_dap_read_report(&report, &r) == SHOAL_OK);
    shoal_dap_put_input_share_aad(&w, &task, &report.metadata, report.public_share);
    CHECK(!w.is_full && w.len == 32 + sizeof histogram + 26 + 6);
    CHECK(memcmp(out, example_task, 32) == 0 && memcmp(out + 32, histogram, sizeof histogram) == 0);
    CHECK(memcmp(out + 32 + sizeof histogram, report_bytes, 26 + 6) ==
          0); // metadata and public share, as they came
    w = (shoal_dap_writer){out, sizeof out, 0, 0};
    shoal_dap_put_aggregate_share_aad(&w, &task, BYTES(collection_req_bytes));
    CHECK(!w.is_full && w.len == 32 + sizeof histogram + sizeof collection_req_bytes);
    CHECK(memcmp(out, example_task, 32) == 0 && memcmp(out + 32, histogram, sizeof histogram) == 0);
    CHECK(memcmp(out + 32 + sizeof histogram, collection_req_bytes, sizeof collection_req_bytes) ==
          0);

    // Domain separation.
    CHECK(shoal_dap_context(out, &task) == 38 && memcmp(out, "dap-18", 6) == 0 &&
          memcmp(out + 6, task.id, 32) == 0);
    CHECK(same((shoal_bytes){out, shoal_dap_input_share_info(out, &task, SHOAL_DAP_LEADER)},
               "dap-18 input share\x01\x02", 20));
    CHECK(same((shoal_bytes){out, shoal_dap_input_share_info(out, &task, SHOAL_DAP_HELPER)},
               "dap-18 input share\x01\x03", 20));
    CHECK(same((shoal_bytes){out, shoal_dap_aggregate_share_info(out, &task, SHOAL_DAP_LEADER)},
               "dap-18 aggregate share\x02\x00", 24));
    CHECK(same((shoal_bytes){out, shoal_dap_aggregate_share_info(out, &task, SHOAL_DAP_HELPER)},
               "dap-18 aggregate share\x03\x00", 24));

    // The longest there can be.
    task.info_len = SHOAL_NAME_MAX;
    task.leader.len = task.helper.len = SHOAL_URL_MAX;
    w = (shoal_dap_writer){out, SHOAL_DAP_CONFIGURATION_MAX, 0, 0};
    shoal_dap_put_task(&w, &task);
    CHECK(!w.is_full);
}

static void urls(void)
{
    static const uint8_t job[16] = {0x95, 0xce, 0xda, 0x51, 0xe1, 0xa9, 0x75, 0x23,
                                    0x68, 0xb0, 0xd9, 0x61, 0xf9, 0x46, 0x61, 0x28};
    char url[SHOAL_DAP_URL_MAX];
    shoal_dap_task task;
    make_task(&task);
    shoal_dap_url(url, &task.helper, SHOAL_DAP_AGGREGATION_JOBS, task.id, job,
                  sizeof job); // the draft's example
    CHECK(strcmp(url,
                 "https://example.com/api/dap/tasks/8BY0RzZMzxvA46_8ymhzycOB9krN-QIGYvg_RsByGec/"
                 "aggregation_jobs/lc7aUeGpdSNosNlh-UZhKA") == 0);
    shoal_dap_url(url, &task.leader, SHOAL_DAP_HPKE_CONFIG, NULL, NULL, 0);
    CHECK(strcmp(url, "https://a.b/l/hpke_config") == 0);
    shoal_dap_url(url, &task.leader, SHOAL_DAP_REPORTS, task.id, NULL, 0);
    CHECK(strcmp(url, "https://a.b/l/tasks/8BY0RzZMzxvA46_8ymhzycOB9krN-QIGYvg_RsByGec/reports") ==
          0);
    shoal_dap_url(url, &task.leader, SHOAL_DAP_COLLECTION_JOBS, task.id, NULL, 0);
    CHECK(strcmp(url + 64, "collection_jobs") == 0);
    memset(task.helper.bytes, 'x', SHOAL_URL_MAX);
    task.helper.len = SHOAL_URL_MAX;
    shoal_dap_url(url, &task.helper, SHOAL_DAP_AGGREGATE_SHARES, task.id, task.id, 32);
    CHECK(strlen(url) == 200 + 6 + 1 + 43 + 1 + 16 + 1 + 43);

    // RFC 4648 section 10, and ids of every length.
    static const char *const texts[] = {"", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy"};
    char text[64];
    uint8_t id[32];
    for (size_t len = 0; len <= 6; len++) {
        shoal_dap_id_to_text(text, (const uint8_t *)"foobar", len);
        CHECK(strcmp(text, texts[len]) == 0 && strlen(text) == SHOAL_DAP_TEXT_LEN(len));
        CHECK(shoal_dap_id_from_text(id, len, text, strlen(text)) == SHOAL_OK &&
              memcmp(id, "foobar", len) == 0);
    }
    shoal_dap_id_to_text(text, example_task, 32);
    CHECK(shoal_dap_id_from_text(id, 32, text, 43) == SHOAL_OK &&
          memcmp(id, example_task, 32) == 0);
    CHECK(shoal_dap_id_from_text(id, 32, text, 42) == SHOAL_ERR_TRUNCATED);
    CHECK(shoal_dap_id_from_text(id, 31, text, 43) == SHOAL_ERR_EXTRA);
    CHECK(shoal_dap_id_from_text(id, 1, "Zh", 2) == SHOAL_ERR_TYPE); // bits behind the byte
    CHECK(shoal_dap_id_from_text(id, 2, "Zm9", 3) == SHOAL_ERR_TYPE);
    CHECK(shoal_dap_id_from_text(id, 2, "Zm-", 3) == SHOAL_ERR_TYPE);
    CHECK(shoal_dap_id_from_text(id, 3, "Zm9+", 4) == SHOAL_ERR_TYPE); // the other alphabet
    CHECK(shoal_dap_id_from_text(id, 3, "Zm9=", 4) == SHOAL_ERR_TYPE);
}

static void tables(void)
{
    CHECK(strcmp(shoal_dap_media_type(SHOAL_DAP_UPLOAD_REQ),
                 "application/ppm-dap;message=upload-req") == 0);
    for (int i = 0; i < SHOAL_DAP_MESSAGES; i++)
        CHECK(strncmp(shoal_dap_media_type((enum shoal_dap_message)i),
                      "application/ppm-dap;message=", 28) == 0);
    for (int i = 0; i < SHOAL_DAP_PROBLEMS; i++)
        CHECK(shoal_dap_problem_name((enum shoal_dap_problem)i) != NULL);
    CHECK(strcmp(shoal_dap_problem_name(SHOAL_DAP_PROBLEM_BATCH_OVERLAP), "batchOverlap") == 0);
}

// The task of a recipe: every number in its place, and an end that no device of the last day is
// behind.
static void tasks_of_recipes(void)
{
    static const struct {
        uint32_t precision;
        uint64_t duration; // of a recipe that expires on 2030-01-01, day 21915
    } ends[] = {{86400, 21916}, {3600, 21916 * 24}, {604800, 3131}, {50000, 37871}};
    shoal_recipe recipe;
    shoal_dap_task task;
    shoal_split split;
    const char *why = NULL;
    CHECK(start_recipe("grr", 2000000) == SHOAL_OK && set_int("parameters.size", 12) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_OK);
    CHECK(shoal_dap_task_of(&task, &recipe, &why) == SHOAL_ERR_ARGUMENT && why != NULL);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        CHECK(start_recipe("grr", 2000000) == SHOAL_OK &&
              set_int("parameters.size", 12) == SHOAL_OK);
        CHECK(set_text("aggregation.protocol", "dap") == SHOAL_OK);
        CHECK(set_text("aggregation.leader", "https://leader.example/dap") == SHOAL_OK);
        CHECK(set_text("aggregation.helper", "https://helper.example/dap") == SHOAL_OK);
        CHECK(set_int("aggregation.time_precision_s", ends[i].precision) == SHOAL_OK);
        CHECK(set_int("cohort.minimum", 4321) == SHOAL_OK);
        // A batch is the block that is released: the recipe's smallest, by default the cohort.
        if (i == 1) CHECK(set_int("block.minimum", 5000) == SHOAL_OK);
        CHECK(finish_recipe(&recipe) == SHOAL_OK);
        CHECK(shoal_dap_task_of(&task, &recipe, &why) == SHOAL_OK);
        CHECK(memcmp(task.id, recipe.recipe_hash, 32) == 0 && task.version == SHOAL_DAP_18);
        CHECK(task.info_len == 6 && memcmp(task.info, "vector", 6) == 0);
        CHECK(same((shoal_bytes){(const uint8_t *)task.leader.bytes, task.leader.len},
                   "https://leader.example/dap", 26));
        CHECK(same((shoal_bytes){(const uint8_t *)task.helper.bytes, task.helper.len},
                   "https://helper.example/dap", 26));
        CHECK(task.time_precision_s == ends[i].precision &&
              task.min_batch_size == (i == 1 ? 5000 : 4321));
        CHECK(task.interval.start == 0 && task.interval.duration == ends[i].duration);
        CHECK(shoal_split_init(&split, &recipe.parts[0], &why) == SHOAL_OK);
        CHECK(memcmp(&task.vdaf, &split.prio3, sizeof task.vdaf) == 0);
        // 12 values, and an output for what is none of them.
        CHECK(task.vdaf.circuit == SHOAL_CIRCUIT_HISTOGRAM && task.vdaf.length == 13 &&
              task.vdaf.shares == 2);
    }
}

// ---- sealing ----

static shoal_err open_fake(void *self, uint8_t *plaintext, const uint8_t secret_key[32],
                           const uint8_t enc[32], shoal_bytes info, shoal_bytes aad,
                           shoal_bytes ciphertext)
{
    (void)info, (void)aad;
    ++*(int *)self;
    plaintext[0] = secret_key[0] ^ enc[0] ^ ciphertext.at[0];
    return SHOAL_OK;
}

static void opening(void)
{
    int calls = 0;
    const shoal_dap_sealer fake = {&calls, NULL, open_fake};
    uint8_t key[32] = {1}, enc[33] = {2}, payload[17] = {4}, plaintext[1] = {0};
    for (size_t enc_len = 31; enc_len <= 33; enc_len++)
        for (size_t len = 15; len <= 17; len++) {
            const shoal_dap_ciphertext c = {0, {enc, enc_len}, {payload, len}};
            int is_sound = enc_len == 32 && len >= 16;
            calls = 0;
            CHECK(shoal_dap_open(plaintext, &fake, key, &c, (shoal_bytes){NULL, 0},
                                 (shoal_bytes){NULL, 0}) ==
                  (is_sound ? SHOAL_OK : SHOAL_ERR_CHECKSUM));
            CHECK(calls == is_sound);
        }
    CHECK(plaintext[0] == 7);
}

int main(void)
{
    every_message();
    hpke_configs();
    ciphertexts();
    reports();
    input_shares();
    report_errors();
    jobs();
    ping_pong();
    responses();
    collections();
    intervals();
    checksums();
    task_configurations();
    urls();
    tables();
    tasks_of_recipes();
    opening();
    return check_summary();
}
