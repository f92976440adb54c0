// SPDX-License-Identifier: Apache-2.0
// Prio3 against the official vectors: every entry of `operations` of every file, those that must be
// refused included. HigherDegree alone is left out: its circuit is made for a test of the draft.
// The files are vectors/vdaf of the folder that SHOAL_SHARED names (cfrg/draft-irtf-cfrg-vdaf,
// test_vec/vdaf).
#include "json_scan.h"
#include "prio3.h"

enum {
    MOST_SHARES = SHOAL_PRIO3_SHARES_MAX,
    MOST_BYTES = 1 << 14,
    MOST_REPORTS = 16,
    MOST_VALUES = 128
};

static const struct {
    const char *name;
    shoal_circuit circuit;
    uint32_t proofs;
} files[] = {
    {"Prio3Count_0", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_1", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_2", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_bad_gadget_poly", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_bad_helper_seed", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_bad_meas_share", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Count_bad_wire_seed", SHOAL_CIRCUIT_COUNT, 1},
    {"Prio3Sum_0", SHOAL_CIRCUIT_SUM, 1},
    {"Prio3Sum_1", SHOAL_CIRCUIT_SUM, 1},
    {"Prio3Sum_2", SHOAL_CIRCUIT_SUM, 1},
    {"Prio3SumVec_0", SHOAL_CIRCUIT_SUM_VEC, 1},
    {"Prio3SumVec_1", SHOAL_CIRCUIT_SUM_VEC, 1},
    {"Prio3SumVecWithMultiproof_0", SHOAL_CIRCUIT_SUM_VEC, 3},
    {"Prio3SumVecWithMultiproof_1", SHOAL_CIRCUIT_SUM_VEC, 3},
    {"Prio3Histogram_0", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_1", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_2", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_bad_helper_jr_blind", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_bad_leader_jr_blind", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_bad_public_share", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3Histogram_bad_verifier_message", SHOAL_CIRCUIT_HISTOGRAM, 1},
    {"Prio3MultihotCountVec_0", SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 1},
    {"Prio3MultihotCountVec_1", SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 1},
    {"Prio3MultihotCountVec_2", SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 1},
};
#define N_FILES (sizeof files / sizeof files[0])
#define N_OPERATIONS 388 // of all of them

typedef struct vector {
    shoal_prio3 prio3;
    const char *json, *reports;
    uint8_t ctx[64], verify_key[SHOAL_PRIO3_VERIFY_KEY];
    size_t ctx_len;
} vector;

// By report and aggregator: what one operation leaves to a later one.
static uint8_t states[MOST_REPORTS][MOST_SHARES][MOST_BYTES];
static uint64_t scratch[1 << 16];
static char text[1 << 18];

static shoal_prio3_bytes ctx_of(const vector *v)
{
    return (shoal_prio3_bytes){v->ctx, v->ctx_len};
}

static shoal_prio3_bytes hex(uint8_t *bytes, const char *value)
{
    return (shoal_prio3_bytes){bytes, scan_hex(bytes, MOST_BYTES, value)};
}

static int is_bytes(const uint8_t *bytes, size_t len, const char *value)
{
    static uint8_t expected[MOST_BYTES];
    return scan_hex(expected, sizeof expected, value) == len && memcmp(bytes, expected, len) == 0;
}

static int open_vector(vector *v, const char *json, shoal_circuit circuit, uint32_t proofs)
{
    const char *max = scan_member(
        json, circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC ? "max_weight" : "max_measurement");
    const shoal_prio3_parameters parameters = {
        .circuit = circuit,
        .length = (uint32_t)scan_number(scan_member(json, "length")),
        .max = scan_number(max),
        .chunk = (uint32_t)scan_number(scan_member(json, "chunk_length")),
        .shares = (uint32_t)scan_number(scan_member(json, "shares")),
        .proofs = proofs};
    v->json = json;
    v->reports = scan_member(json, "reports");
    v->ctx_len = scan_hex(v->ctx, sizeof v->ctx, scan_member(json, "ctx"));
    CHECK(scan_hex(v->verify_key, sizeof v->verify_key, scan_member(json, "verify_key")) ==
          sizeof v->verify_key);
    return CHECK(shoal_prio3_init(&v->prio3, &parameters) == SHOAL_OK) &&
           CHECK(shoal_prio3_scratch_words(&v->prio3) <= sizeof scratch / sizeof scratch[0]) &&
           CHECK(shoal_prio3_input_share_len(&v->prio3, 0) <= MOST_BYTES) &&
           CHECK(v->prio3.flp.length <= MOST_VALUES);
}

static shoal_err shard(const vector *v, const char *report)
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
    shoal_err err = shoal_prio3_shard(public_share, input_shares, &v->prio3, ctx_of(v), measurement,
                                      nonce, rand, scratch);
    if (err != SHOAL_OK) return err;
    CHECK(is_bytes(public_share, shoal_prio3_public_share_len(&v->prio3),
                   scan_member(report, "public_share")));
    for (uint32_t i = 0; i < v->prio3.shares; i++)
        CHECK(is_bytes(shares[i], shoal_prio3_input_share_len(&v->prio3, i),
                       scan_item(scan_member(report, "input_shares"), i)));
    return err;
}

static shoal_err verify_init(const vector *v, const char *report, uint8_t *state, uint32_t id)
{
    static uint8_t nonce[MOST_BYTES], public_share[MOST_BYTES], input_share[MOST_BYTES],
        verifier_share[MOST_BYTES];
    const shoal_prio3_report given = {
        .nonce = nonce,
        .public_share = hex(public_share, scan_member(report, "public_share")),
        .input_share = hex(input_share, scan_item(scan_member(report, "input_shares"), id))};
    const char *expected = scan_item(scan_item(scan_member(report, "verifier_shares"), 0), id);
    CHECK(hex(nonce, scan_member(report, "nonce")).len == SHOAL_PRIO3_NONCE);
    CHECK(shoal_prio3_state_len(&v->prio3) <= MOST_BYTES);
    shoal_err err = shoal_prio3_verify_init(state, verifier_share, &v->prio3, v->verify_key,
                                            ctx_of(v), id, &given, scratch);
    if (err == SHOAL_OK)
        CHECK(is_bytes(verifier_share, shoal_prio3_verifier_share_len(&v->prio3), expected));
    return err;
}

static shoal_err combine(const vector *v, const char *report)
{
    static uint8_t bytes[MOST_SHARES][MOST_BYTES];
    uint8_t message[SHOAL_XOF_SEED];
    shoal_prio3_bytes shares[MOST_SHARES];
    const char *list = scan_item(scan_member(report, "verifier_shares"), 0);
    for (uint32_t i = 0; i < v->prio3.shares; i++) shares[i] = hex(bytes[i], scan_item(list, i));
    shoal_err err = shoal_prio3_combine(message, &v->prio3, ctx_of(v), shares, scratch);
    if (err == SHOAL_OK)
        CHECK(is_bytes(message, shoal_prio3_message_len(&v->prio3),
                       scan_item(scan_member(report, "verifier_messages"), 0)));
    return err;
}

static shoal_err verify_next(const vector *v, const char *report, const uint8_t *state, uint32_t id)
{
    static uint8_t message[MOST_BYTES], out[MOST_BYTES];
    shoal_prio3_bytes given = hex(message, scan_item(scan_member(report, "verifier_messages"), 0));
    shoal_err err = shoal_prio3_verify_next(out, &v->prio3, state, given);
    if (err == SHOAL_OK)
        CHECK(is_bytes(out, shoal_prio3_output_share_len(&v->prio3),
                       scan_item(scan_member(report, "out_shares"), id)));
    return err;
}

static shoal_err aggregate(const vector *v, uint32_t id)
{
    static uint8_t out[MOST_BYTES], sum[MOST_BYTES];
    size_t n_reports = scan_count(v->reports);
    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < n_reports; i++) {
        const char *share = scan_item(scan_member(scan_item(v->reports, i), "out_shares"), id);
        shoal_err err = shoal_prio3_add(sum, &v->prio3, hex(out, share));
        if (err != SHOAL_OK) return err;
    }
    CHECK(is_bytes(sum, shoal_prio3_output_share_len(&v->prio3),
                   scan_item(scan_member(v->json, "agg_shares"), id)));
    return SHOAL_OK;
}

static shoal_err unshard(const vector *v)
{
    static uint8_t bytes[MOST_SHARES][MOST_BYTES];
    shoal_prio3_bytes shares[MOST_SHARES];
    uint64_t sums[MOST_VALUES];
    const char *result = scan_member(v->json, "agg_result");
    for (uint32_t i = 0; i < v->prio3.shares; i++)
        shares[i] = hex(bytes[i], scan_item(scan_member(v->json, "agg_shares"), i));
    shoal_err err = shoal_prio3_unshard(sums, &v->prio3, shares, scratch);
    if (err != SHOAL_OK) return err;
    CHECK(*result != '[' || scan_count(result) == v->prio3.flp.output_len);
    for (uint32_t i = 0; i < v->prio3.flp.output_len; i++)
        CHECK(sums[i] == scan_number(*result == '[' ? scan_item(result, i) : result));
    return SHOAL_OK;
}

static void run_operation(const vector *v, const char *operation)
{
    const char *name = scan_member(operation, "operation");
    size_t index = (size_t)scan_number(scan_member(operation, "report_index"));
    uint32_t id = (uint32_t)scan_number(scan_member(operation, "aggregator_id"));
    const char *report = scan_item(v->reports, index);
    shoal_err err = SHOAL_ERR_COUNT;
    if (!CHECK(index < MOST_REPORTS && id < v->prio3.shares && report != NULL)) return;
    if (scan_is(name, "shard")) err = shard(v, report);
    if (scan_is(name, "verify_init")) err = verify_init(v, report, states[index][id], id);
    if (scan_is(name, "verifier_shares_to_message")) err = combine(v, report);
    if (scan_is(name, "verify_next")) err = verify_next(v, report, states[index][id], id);
    if (scan_is(name, "aggregate")) err = aggregate(v, id);
    if (scan_is(name, "unshard")) err = unshard(v);
    CHECK(err == (scan_number(scan_member(operation, "success")) ? SHOAL_OK : SHOAL_ERR_RECORD));
}

int main(void)
{
    size_t n_files = 0, n_operations = 0;
    for (size_t i = 0; i < N_FILES; i++) {
        vector v;
        char name[128];
        snprintf(name, sizeof name, "vectors/vdaf/%s.json", files[i].name);
        const char *json = scan_shared(text, sizeof text, name);
        if (json == NULL || !open_vector(&v, json, files[i].circuit, files[i].proofs)) continue;
        const char *operations = scan_member(json, "operations");
        size_t n = scan_count(operations);
        for (size_t o = 0; o < n; o++) run_operation(&v, scan_item(operations, o));
        n_files++;
        n_operations += n;
    }
    if (n_files > 0) CHECK(n_files == N_FILES && n_operations == N_OPERATIONS);
    printf("vectors/vdaf: %zu files, %zu operations\n", n_files, n_operations);
    CHECK(N_FILES == 24);
    return check_summary();
}
