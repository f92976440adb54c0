// SPDX-License-Identifier: Apache-2.0
// Prio3 of VDAF-08 against the draft's vectors: every message of every report, the aggregate shares
// and the result. The files are vectors/legacy-vdaf-08 of the folder that SHOAL_SHARED names; those
// of Poplar1 and of primitives are not for us.
#include "json_scan.h"
#include "vdaf08.h"

enum { MOST_SHARES = SHOAL_PRIO3_SHARES_MAX, MOST_BYTES = 1 << 12, MOST_VALUES = 16 };

static const struct {
    const char *name;
    shoal_circuit circuit;
    uint32_t proofs;
} files[] = {
    {"Prio3Count_0", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_1", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Sum_0", SHOAL_CIRCUIT_SUM, 1},
    {"Prio3Sum_1", SHOAL_CIRCUIT_SUM, 1},
    {"Prio3SumVec_0", SHOAL_CIRCUIT_SUM_VEC, 1},
    {"Prio3SumVec_1", SHOAL_CIRCUIT_SUM_VEC, 1},
    {"Prio3SumVecField64Multiproof_0", SHOAL_CIRCUIT_SUM_VEC, 3},
    {"Prio3SumVecField64Multiproof_1", SHOAL_CIRCUIT_SUM_VEC, 3},
    {"Prio3Histogram_0", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_1", SHOAL_CIRCUIT_HISTOGRAM, 1},
};
#define N_FILES (sizeof files / sizeof files[0])
#define N_REPORTS 18 // of all of them

static const shoal_prio3_bytes no_ctx;
static uint64_t scratch[1 << 14];
static char text[1 << 16];

typedef struct vector {
    shoal_prio3 prio3;
    const char *json, *reports;
    uint8_t verify_key[SHOAL_PRIO3_VERIFY_KEY];
} vector;

static shoal_prio3_bytes hex(uint8_t bytes[MOST_BYTES], const char *value)
{
    return (shoal_prio3_bytes){bytes, scan_hex(bytes, MOST_BYTES, value)};
}

static int is_bytes(const uint8_t *bytes, size_t len, const char *value)
{
    static uint8_t expected[MOST_BYTES];
    return scan_hex(expected, sizeof expected, value) == len && memcmp(bytes, expected, len) == 0;
}

// An output share is a list of elements, one string each.
static int is_elements(const uint8_t *bytes, size_t len, const char *list)
{
    static uint8_t expected[MOST_BYTES];
    size_t at = 0;
    for (size_t i = 0; i < scan_count(list); i++)
        at += scan_hex(expected + at, sizeof expected - at, scan_item(list, i));
    return at == len && memcmp(bytes, expected, len) == 0;
}

static int open_vector(vector *v, const char *json, shoal_circuit circuit, uint32_t proofs)
{
    const shoal_prio3_parameters parameters = {
        .circuit = circuit,
        .length = (uint32_t)scan_number(scan_member(json, "length")),
        .max = ((uint64_t)1 << scan_number(scan_member(json, "bits"))) - 1,
        .chunk = (uint32_t)scan_number(scan_member(json, "chunk_length")),
        .shares = (uint32_t)scan_number(scan_member(json, "shares")),
        .proofs = proofs};
    v->json = json;
    v->reports = scan_member(json, "prep");
    memset(v->verify_key, 0xee, sizeof v->verify_key); // what is beyond its length does not count
    return CHECK(scan_hex(v->verify_key, sizeof v->verify_key, scan_member(json, "verify_key")) ==
                 SHOAL_VDAF08_VERIFY_KEY) &&
           CHECK(shoal_vdaf08_init(&v->prio3, &parameters) == SHOAL_OK) &&
           CHECK(shoal_prio3_scratch_words(&v->prio3) <= sizeof scratch / sizeof scratch[0]) &&
           CHECK(shoal_prio3_input_share_len(&v->prio3, 0) <= MOST_BYTES) &&
           CHECK(v->prio3.flp.length <= MOST_VALUES);
}

static void check_shard(const vector *v, const char *report)
{
    static uint8_t rand[MOST_BYTES], nonce[MOST_BYTES], public_share[MOST_BYTES],
        shares[MOST_SHARES][MOST_BYTES];
    uint8_t *const input_shares[MOST_SHARES] = {shares[0], shares[1], shares[2], shares[3]};
    uint64_t measurement[MOST_VALUES];
    const char *value = scan_member(report, "measurement");
    for (size_t i = 0; i < MOST_VALUES; i++)
        measurement[i] = scan_number(*value == '[' ? scan_item(value, i) : value);
    CHECK(hex(rand, scan_member(report, "rand")).len == shoal_prio3_rand_len(&v->prio3));
    CHECK(hex(nonce, scan_member(report, "nonce")).len == SHOAL_PRIO3_NONCE);
    CHECK(shoal_prio3_shard(public_share, input_shares, &v->prio3, no_ctx, measurement, nonce, rand,
                            scratch) == SHOAL_OK);
    CHECK(is_bytes(public_share, shoal_prio3_public_share_len(&v->prio3),
                   scan_member(report, "public_share")));
    for (uint32_t i = 0; i < v->prio3.shares; i++)
        CHECK(is_bytes(shares[i], shoal_prio3_input_share_len(&v->prio3, i),
                       scan_item(scan_member(report, "input_shares"), i)));
}

// Each aggregator's preparation, from the file's messages and against them.
static void check_preparation(const vector *v, const char *report, uint32_t id)
{
    static uint8_t nonce[MOST_BYTES], public_share[MOST_BYTES], input_share[MOST_BYTES],
        state[MOST_BYTES], verifier_share[MOST_BYTES], message[MOST_BYTES], out[MOST_BYTES];
    const shoal_prio3_report given = {
        .nonce = nonce,
        .public_share = hex(public_share, scan_member(report, "public_share")),
        .input_share = hex(input_share, scan_item(scan_member(report, "input_shares"), id))};
    const char *expected = scan_item(scan_item(scan_member(report, "prep_shares"), 0), id);
    CHECK(hex(nonce, scan_member(report, "nonce")).len == SHOAL_PRIO3_NONCE);
    if (!CHECK(shoal_prio3_verify_init(state, verifier_share, &v->prio3, v->verify_key, no_ctx, id,
                                       &given, scratch) == SHOAL_OK))
        return;
    CHECK(is_bytes(verifier_share, shoal_prio3_verifier_share_len(&v->prio3), expected));
    shoal_prio3_bytes combined = hex(message, scan_item(scan_member(report, "prep_messages"), 0));
    CHECK(shoal_prio3_verify_next(out, &v->prio3, state, combined) == SHOAL_OK);
    CHECK(is_elements(out, shoal_prio3_output_share_len(&v->prio3),
                      scan_item(scan_member(report, "out_shares"), id)));
}

static void check_combine(const vector *v, const char *report)
{
    static uint8_t bytes[MOST_SHARES][MOST_BYTES];
    uint8_t message[SHOAL_XOF_SEED];
    shoal_prio3_bytes shares[MOST_SHARES];
    const char *list = scan_item(scan_member(report, "prep_shares"), 0);
    for (uint32_t i = 0; i < v->prio3.shares; i++) shares[i] = hex(bytes[i], scan_item(list, i));
    if (!CHECK(shoal_prio3_combine(message, &v->prio3, no_ctx, shares, scratch) == SHOAL_OK))
        return;
    CHECK(is_bytes(message, shoal_prio3_message_len(&v->prio3),
                   scan_item(scan_member(report, "prep_messages"), 0)));
}

static void check_aggregate(const vector *v, uint32_t id)
{
    static uint8_t out[MOST_BYTES], sum[MOST_BYTES];
    size_t n_reports = scan_count(v->reports);
    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < n_reports; i++) {
        const char *list = scan_item(scan_member(scan_item(v->reports, i), "out_shares"), id);
        size_t at = 0;
        for (size_t e = 0; e < scan_count(list); e++)
            at += scan_hex(out + at, MOST_BYTES - at, scan_item(list, e));
        CHECK(shoal_prio3_add(sum, &v->prio3, (shoal_prio3_bytes){out, at}) == SHOAL_OK);
    }
    CHECK(is_bytes(sum, shoal_prio3_output_share_len(&v->prio3),
                   scan_item(scan_member(v->json, "agg_shares"), id)));
}

static void check_unshard(const vector *v)
{
    static uint8_t bytes[MOST_SHARES][MOST_BYTES];
    shoal_prio3_bytes shares[MOST_SHARES];
    uint64_t sums[MOST_VALUES];
    const char *result = scan_member(v->json, "agg_result");
    for (uint32_t i = 0; i < v->prio3.shares; i++)
        shares[i] = hex(bytes[i], scan_item(scan_member(v->json, "agg_shares"), i));
    if (!CHECK(shoal_prio3_unshard(sums, &v->prio3, shares, scratch) == SHOAL_OK)) return;
    CHECK(*result != '[' || scan_count(result) == v->prio3.flp.output_len);
    for (uint32_t i = 0; i < v->prio3.flp.output_len; i++)
        CHECK(sums[i] == scan_number(*result == '[' ? scan_item(result, i) : result));
}

// Returns: how many reports the file has.
static size_t check_file(const vector *v)
{
    size_t n = scan_count(v->reports);
    for (size_t i = 0; i < n; i++) {
        const char *report = scan_item(v->reports, i);
        check_shard(v, report);
        for (uint32_t id = 0; id < v->prio3.shares; id++) check_preparation(v, report, id);
        check_combine(v, report);
    }
    for (uint32_t id = 0; id < v->prio3.shares; id++) check_aggregate(v, id);
    check_unshard(v);
    return n;
}

int main(void)
{
    size_t n_files = 0, n_reports = 0;
    for (size_t i = 0; i < N_FILES; i++) {
        vector v;
        char name[128];
        snprintf(name, sizeof name, "vectors/legacy-vdaf-08/%s.json", files[i].name);
        const char *json = scan_shared(text, sizeof text, name);
        if (json == NULL || !open_vector(&v, json, files[i].circuit, files[i].proofs)) continue;
        n_reports += check_file(&v);
        n_files++;
    }
    if (n_files > 0) CHECK(n_files == N_FILES && n_reports == N_REPORTS);
    printf("vectors/legacy-vdaf-08: %zu files, %zu reports\n", n_files, n_reports);
    return check_summary();
}
