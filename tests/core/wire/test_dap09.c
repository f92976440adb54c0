// SPDX-License-Identifier: Apache-2.0
// Messages of DAP-09's clients: reports that @divviup/dap made (dap09_vectors.json, recorded by
// tests/aggregator/dap/make_divviup_vectors.mjs) are read, written and sharded to the same bytes,
// and give the measurement; one report by hand from the draft; refusals.
#include "dap09.h"
#include "dap09_report.h"
#include "json_scan.h"
#include "vdaf08.h"

enum { MOST = 1 << 12 };

static char text[1 << 16];
static uint64_t scratch[1 << 12];

static shoal_bytes hex(uint8_t bytes[MOST], const char *value)
{
    return (shoal_bytes){bytes, scan_hex(bytes, MOST, value)};
}

static int is_same(shoal_bytes a, shoal_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static int is_written(const shoal_dap_writer *w, shoal_bytes expected)
{
    return !w->is_full && is_same((shoal_bytes){w->at, w->len}, expected);
}

static shoal_dap_report read_report(shoal_bytes message)
{
    shoal_dap_report report = {0};
    shoal_dap_reader r = {message.at, message.len, 0};
    CHECK(shoal_dap09_read_report(&report, &r) == SHOAL_OK && shoal_dap_is_at_end(&r));
    return report;
}

// What is cut short is refused, and moves nothing; what follows is the next report's.
static void check_cuts(shoal_bytes message)
{
    static uint8_t twice[2 * MOST];
    shoal_dap_report report;
    for (size_t len = 0; len < message.len; len++) {
        shoal_dap_reader r = {message.at, len, 0};
        CHECK(shoal_dap09_read_report(&report, &r) == SHOAL_ERR_TRUNCATED && r.position == 0);
    }
    memcpy(twice, message.at, message.len);
    memcpy(twice + message.len, message.at, message.len);
    shoal_dap_reader r = {twice, 2 * message.len, 0};
    CHECK(shoal_dap09_read_report(&report, &r) == SHOAL_OK && r.position == message.len);
    CHECK(shoal_dap09_read_report(&report, &r) == SHOAL_OK && shoal_dap_is_at_end(&r));
}

static void check_written(const shoal_dap_report *report, shoal_bytes message)
{
    static uint8_t room[MOST];
    shoal_dap_writer w = {.at = room, .cap = sizeof room};
    put_dap09_report(&w, report);
    CHECK(is_written(&w, message));
    for (size_t cap = 0; cap < message.len; cap++) {
        shoal_dap_writer small = {.at = room, .cap = cap};
        put_dap09_report(&small, report);
        CHECK(small.is_full && small.len == message.len);
    }
}

static shoal_dap_task open_task(const char *vector)
{
    const char *vdaf = scan_member(vector, "vdaf"), *type = scan_member(vdaf, "type");
    shoal_dap_task task = {.version = SHOAL_DAP_09, .vdaf = {.shares = 2, .proofs = 1}};
    static uint8_t id[MOST];
    CHECK(hex(id, scan_member(vector, "task_id")).len == sizeof task.id);
    memcpy(task.id, id, sizeof task.id);
    task.vdaf.circuit = scan_is(type, "count")    ? SHOAL_CIRCUIT_COUNT
                        : scan_is(type, "sum")    ? SHOAL_CIRCUIT_SUM
                        : scan_is(type, "sumVec") ? SHOAL_CIRCUIT_SUM_VEC
                                                  : SHOAL_CIRCUIT_HISTOGRAM;
    task.vdaf.length = (uint32_t)scan_number(scan_member(vdaf, "length"));
    task.vdaf.max = ((uint64_t)1 << scan_number(scan_member(vdaf, "bits"))) - 1;
    task.vdaf.chunk = (uint32_t)scan_number(scan_member(vdaf, "chunkLength"));
    return task;
}

static void check_strings(const char *vector, const shoal_dap_task *task,
                          const shoal_dap_report *report)
{
    static uint8_t expected[MOST], room[MOST];
    uint8_t info[SHOAL_DAP_INFO_MAX], context[SHOAL_DAP_CONTEXT_MAX];
    shoal_dap_writer w = {.at = room, .cap = sizeof room};
    for (int i = 0; i < 2; i++) {
        size_t len =
            shoal_dap09_input_share_info(info, task, i == 0 ? SHOAL_DAP_LEADER : SHOAL_DAP_HELPER);
        CHECK(is_same((shoal_bytes){info, len},
                      hex(expected, scan_item(scan_member(vector, "infos"), (size_t)i))));
    }
    shoal_dap09_put_input_share_aad(&w, task, &report->metadata, report->public_share);
    CHECK(is_written(&w, hex(expected, scan_member(vector, "aad"))));
    CHECK(shoal_dap09_context(context, task) == 0);
}

// The package's random bytes make the package's shares.
static void check_shard(const char *vector, const shoal_prio3 *prio3,
                        const shoal_dap_report *report, const shoal_bytes *shares)
{
    static uint8_t rand[MOST], public_share[MOST], leader[MOST], helper[MOST];
    uint8_t *const input_shares[2] = {leader, helper};
    uint64_t measurement[8] = {0};
    const char *value = scan_member(vector, "measurement");
    for (size_t i = 0; i < 8; i++)
        measurement[i] = scan_number(*value == '[' ? scan_item(value, i) : value);
    CHECK(hex(rand, scan_member(vector, "rand")).len == shoal_prio3_rand_len(prio3));
    CHECK(shoal_prio3_shard(public_share, input_shares, prio3, (shoal_bytes){NULL, 0}, measurement,
                            report->metadata.id, rand, scratch) == SHOAL_OK);
    CHECK(is_same((shoal_bytes){public_share, shoal_prio3_public_share_len(prio3)},
                  report->public_share));
    for (uint32_t i = 0; i < 2; i++)
        CHECK(is_same((shoal_bytes){input_shares[i], shoal_prio3_input_share_len(prio3, i)},
                      shares[i]));
}

// The package's shares are accepted, and their sum is the measurement.
static void check_sum(const char *vector, const shoal_prio3 *prio3, const shoal_dap_report *report,
                      const shoal_bytes *shares)
{
    static uint8_t states[2][MOST], verifier_shares[2][MOST], out[2][MOST];
    uint8_t message[SHOAL_XOF_SEED], key[SHOAL_PRIO3_VERIFY_KEY] = {9};
    const shoal_bytes no_ctx = {NULL, 0};
    shoal_bytes verifiers[2], outs[2];
    uint64_t sums[16];
    for (uint32_t i = 0; i < 2; i++) {
        const shoal_prio3_report given = {report->metadata.id, report->public_share, shares[i]};
        CHECK(shoal_prio3_verify_init(states[i], verifier_shares[i], prio3, key, no_ctx, i, &given,
                                      scratch) == SHOAL_OK);
        verifiers[i] = (shoal_bytes){verifier_shares[i], shoal_prio3_verifier_share_len(prio3)};
    }
    CHECK(shoal_prio3_combine(message, prio3, no_ctx, verifiers, scratch) == SHOAL_OK);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(shoal_prio3_verify_next(out[i], prio3, states[i],
                                      (shoal_bytes){message, shoal_prio3_message_len(prio3)}) ==
              SHOAL_OK);
        outs[i] = (shoal_bytes){out[i], shoal_prio3_output_share_len(prio3)};
    }
    CHECK(shoal_prio3_unshard(sums, prio3, outs, scratch) == SHOAL_OK);
    const char *value = scan_member(vector, "measurement");
    uint64_t number = scan_number(value);
    for (uint32_t i = 0; i < prio3->flp.output_len; i++) {
        if (prio3->flp.circuit == SHOAL_CIRCUIT_HISTOGRAM)
            CHECK(sums[i] == (number == i));
        else
            CHECK(sums[i] == (*value == '[' ? scan_number(scan_item(value, i)) : number));
    }
}

static void check_vector(const char *vector)
{
    static uint8_t message[MOST], plaintexts[2][MOST];
    shoal_dap_task task = open_task(vector);
    shoal_bytes encoded = hex(message, scan_member(vector, "report")), shares[2];
    shoal_dap_report report = read_report(encoded);
    shoal_prio3 prio3;
    const char *ids = scan_member(vector, "config_ids");
    CHECK(report.metadata.time == scan_number(scan_member(vector, "time")) &&
          report.metadata.extensions.len == 0);
    CHECK(report.leader.config_id == scan_number(scan_item(ids, 0)) && report.leader.enc.len == 32);
    CHECK(report.helper.config_id == scan_number(scan_item(ids, 1)) && report.helper.enc.len == 32);
    check_written(&report, encoded);
    check_cuts(encoded);
    check_strings(vector, &task, &report);
    if (!CHECK(shoal_vdaf08_init(&prio3, &task.vdaf) == SHOAL_OK) ||
        !CHECK(shoal_prio3_scratch_words(&prio3) <= sizeof scratch / sizeof scratch[0]))
        return;
    for (size_t i = 0; i < 2; i++) {
        shoal_bytes plaintext = hex(plaintexts[i], scan_item(scan_member(vector, "plaintexts"), i));
        CHECK(shoal_dap_read_input_share(&shares[i], plaintext) == SHOAL_OK);
        CHECK((i == 0 ? report.leader : report.helper).payload.len ==
              plaintext.len + SHOAL_DAP_SEAL);
    }
    check_shard(vector, &prio3, &report, shares);
    check_sum(vector, &prio3, &report, shares);
}

static int check_vectors(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL)) return 0;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    if (!CHECK(len < sizeof text - 1)) return 0;
    text[len] = '\0';
    const char *vectors = scan_member(scan_next(text), "vectors");
    size_t n = scan_count(vectors);
    for (size_t i = 0; i < n; i++) check_vector(scan_item(vectors, i));
    return CHECK(n == 4);
}

// A report as the draft's section "Upload Request" spells it.
static void check_by_hand(void)
{
    static const uint8_t bytes[] = {
        1, 2, 3, 4,    5,    6,    7, 8,  9,    10,  11, 12, 13, 14, 15, 16, // report_id
        0, 0, 0, 1,    0,    0,    0, 60,                                    // time
        0, 0, 0, 2,    0xaa, 0xbb,                                           // public_share
        7, 0, 1, 0xcc, 0,    0,    0, 1,  0xdd,        // leader: config_id, enc, payload
        8, 0, 2, 0xee, 0xef, 0,    0, 0,  1,    0xff}; // helper
    shoal_dap_report report = read_report((shoal_bytes){bytes, sizeof bytes});
    CHECK(memcmp(report.metadata.id, bytes, 16) == 0 &&
          report.metadata.time == ((uint64_t)1 << 32) + 60);
    CHECK(is_same(report.public_share, (shoal_bytes){bytes + 28, 2}));
    CHECK(report.leader.config_id == 7 && report.helper.config_id == 8);
    CHECK(is_same(report.leader.enc, (shoal_bytes){bytes + 33, 1}));
    CHECK(is_same(report.leader.payload, (shoal_bytes){bytes + 38, 1}));
    CHECK(is_same(report.helper.enc, (shoal_bytes){bytes + 42, 2}));
    CHECK(is_same(report.helper.payload, (shoal_bytes){bytes + 48, 1}));
    check_written(&report, (shoal_bytes){bytes, sizeof bytes});
    check_cuts((shoal_bytes){bytes, sizeof bytes});

    uint8_t room[sizeof bytes], empty_enc[sizeof bytes], no_payload[sizeof bytes];
    shoal_dap_writer w = {.at = room, .cap = sizeof room};
    report.metadata.extensions = (shoal_bytes){bytes, 4}; // there is no place for them
    put_dap09_report(&w, &report);
    CHECK(w.is_full);
    memcpy(empty_enc, bytes, sizeof bytes);
    memcpy(no_payload, bytes, sizeof bytes);
    empty_enc[32] = 0;
    no_payload[37] = 0;
    shoal_dap_reader r = {empty_enc, sizeof empty_enc, 0};
    CHECK(shoal_dap09_read_report(&report, &r) == SHOAL_ERR_RANGE && r.position == 0);
    r.at = no_payload;
    CHECK(shoal_dap09_read_report(&report, &r) == SHOAL_ERR_RANGE && r.position == 0);
}

static int is_text(const char *a, const char *b)
{
    return a != NULL && strcmp(a, b) == 0;
}

static void check_names(void)
{
    CHECK(is_text(shoal_dap09_media_type(SHOAL_DAP_HPKE_CONFIG_LIST),
                  "application/dap-hpke-config-list"));
    CHECK(is_text(shoal_dap09_media_type(SHOAL_DAP_UPLOAD_REQ), "application/dap-report"));
    CHECK(shoal_dap09_media_type(SHOAL_DAP_AGGREGATE_SHARE) == NULL);
    CHECK(is_text(shoal_dap09_upload_problem(SHOAL_DAP_OUTDATED_CONFIG), "outdatedConfig"));
    CHECK(is_text(shoal_dap09_upload_problem(SHOAL_DAP_HPKE_UNKNOWN_CONFIG_ID), "outdatedConfig"));
    CHECK(is_text(shoal_dap09_upload_problem(SHOAL_DAP_REPORT_TOO_EARLY), "reportTooEarly"));
    CHECK(is_text(shoal_dap09_upload_problem(SHOAL_DAP_INVALID_MESSAGE), "invalidMessage"));
    CHECK(is_text(shoal_dap09_upload_problem(SHOAL_DAP_REPORT_REPLAYED), "reportRejected"));
    CHECK(is_text(shoal_dap09_upload_problem(SHOAL_DAP_TASK_EXPIRED), "reportRejected"));
}

int main(int argc, char **argv)
{
    check_by_hand();
    check_names();
    check_vectors(argc > 1 ? argv[1] : "core/dap09_vectors.json");
    return check_summary();
}
