// SPDX-License-Identifier: Apache-2.0
// Prio3 of VDAF-08 as a whole: exact sums for every circuit and number of aggregators; every single
// flipped bit of every message refused; parameters, contexts and keys that are not VDAF-08's.
// Encodings that no circuit allows are refused in test_prio3_flp64.c and test_prio3_flp128.c, whose
// device proves them by the book.
#include "prio3_parties.h"
#include "vdaf08.h"

static const shoal_prio3_parameters cases[] = {
    {.circuit = SHOAL_CIRCUIT_COUNT, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 3, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 255, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = ((uint64_t)1 << 40) - 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 1, .max = 1, .chunk = 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 3, .max = 7, .chunk = 4, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 2, .max = 3, .chunk = 2, .proofs = 3},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 20, .max = 15, .chunk = 7, .proofs = 4},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 1, .chunk = 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 7, .chunk = 7, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 100, .chunk = 9, .proofs = 1},
};
#define N_CASES (sizeof cases / sizeof cases[0])

// What is bound into a report: the key's sixteen bytes, the nonce, who is who; and nothing else of
// the key.
static void check_bindings(shoal_rng *rng)
{
    parties p;
    open_parties(&p, shoal_vdaf08_init, cases[6], 2, rng);
    CHECK(shard(&p) == SHOAL_OK && verify(&p) == SHOAL_OK);
    p.key[15] ^= 1;
    CHECK(verify_init(&p, 1) == SHOAL_OK && combine(&p) == SHOAL_ERR_RECORD);
    p.key[15] ^= 1;
    p.key[16] ^= 1;
    CHECK(verify_init(&p, 1) == SHOAL_OK && combine(&p) == SHOAL_OK);
    p.nonce[15] ^= 1;
    CHECK(verify(&p) == SHOAL_ERR_RECORD);
    p.ctx.len = 1;
    CHECK(shard(&p) == SHOAL_ERR_RANGE && verify_init(&p, 0) == SHOAL_ERR_RANGE &&
          combine(&p) == SHOAL_ERR_RANGE);
    close_parties(&p);
}

// The shares of one version are none of the other: their lengths differ, or the proof does not
// hold.
static void check_versions(shoal_rng *rng)
{
    parties p;
    open_parties(&p, shoal_vdaf08_init, cases[11], 2, rng);
    shoal_prio3_parameters parameters = cases[11];
    shoal_prio3 other;
    parameters.shares = 2;
    CHECK(shoal_prio3_init(&other, &parameters) == SHOAL_OK);
    CHECK(shard(&p) == SHOAL_OK);
    const shoal_prio3_report report = {
        .nonce = p.nonce,
        .public_share = {p.public_share, shoal_prio3_public_share_len(&p.prio3)},
        .input_share = {p.input_shares[1], shoal_prio3_input_share_len(&p.prio3, 1)}};
    uint8_t state[4096], verifier_share[4096];
    CHECK(shoal_prio3_state_len(&other) <= sizeof state &&
          shoal_prio3_verifier_share_len(&other) <= sizeof verifier_share);
    CHECK(shoal_prio3_verify_init(state, verifier_share, &other, p.key, p.ctx, 1, &report,
                                  p.scratch) == SHOAL_ERR_TRUNCATED);
    close_parties(&p);
}

static void check_lengths(void)
{
    shoal_prio3 sum;
    const shoal_prio3_parameters parameters = {
        .circuit = SHOAL_CIRCUIT_SUM, .max = 255, .shares = 3, .proofs = 1};
    CHECK(shoal_vdaf08_init(&sum, &parameters) == SHOAL_OK);
    CHECK(shoal_prio3_rand_len(&sum) == 16 * (1 + 2 * 2 + 3));
    CHECK(shoal_prio3_public_share_len(&sum) == 3 * 16 && shoal_prio3_message_len(&sum) == 16);
    CHECK(shoal_prio3_input_share_len(&sum, 0) == 16 * (8 + 1 + 2 * 15 + 1) + 16);
    CHECK(shoal_prio3_input_share_len(&sum, 2) == 3 * 16);
    CHECK(shoal_prio3_verifier_share_len(&sum) == 16 * 3 + 16 &&
          shoal_prio3_output_share_len(&sum) == 16);
}

static void refuses(shoal_circuit circuit, uint32_t length, uint64_t max, uint32_t chunk,
                    uint32_t proofs, shoal_err err)
{
    shoal_prio3 prio3;
    const shoal_prio3_parameters parameters = {circuit, length, max, chunk, 2, proofs};
    CHECK(shoal_vdaf08_init(&prio3, &parameters) == err);
}

static void check_parameters(void)
{
    refuses((shoal_circuit)0, 1, 1, 1, 1, SHOAL_ERR_ARGUMENT);
    refuses(SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 5, 3, 2, 1, SHOAL_ERR_ARGUMENT);
    refuses(SHOAL_CIRCUIT_SUM, 0, 0, 0, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_SUM, 0, 2, 0, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_SUM, 0, 1000, 0, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_SUM, 0, UINT64_MAX >> 1, 0, 1, SHOAL_OK);
    refuses(SHOAL_CIRCUIT_SUM, 0, UINT64_MAX, 0, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_SUM, 0, 1, 0, 3, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_SUM_VEC, 5, 5, 2, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_SUM_VEC, 5, 7, 16, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_HISTOGRAM, 5, 0, 0, 1, SHOAL_ERR_RANGE);
    refuses(SHOAL_CIRCUIT_HISTOGRAM, 5, 0, 2, 1, SHOAL_OK);
}

// Shard refuses what is out of range, and leaves nothing of it.
static void refuses_measurement(shoal_prio3_parameters parameters, uint64_t value, shoal_rng *rng)
{
    parties p;
    open_parties(&p, shoal_vdaf08_init, parameters, 2, rng);
    p.measurement[p.prio3.flp.length - 1] = p.measurement[0] = value;
    CHECK(shard(&p) == SHOAL_ERR_RANGE);
    for (size_t i = 0; i < shoal_prio3_input_share_len(&p.prio3, 0); i++)
        CHECK(p.input_shares[0][i] == 0);
    close_parties(&p);
}

int main(void)
{
    const uint8_t seed[32] = {8};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < N_CASES; i++)
        for (uint32_t shares = 2; shares <= MOST; shares++)
            check_sums(shoal_vdaf08_init, cases[i], shares, &rng);
    for (size_t i = 0; i < N_CASES; i++)
        if (cases[i].length <= 7 && cases[i].max <= 255)
            check_flips(shoal_vdaf08_init, cases[i], 2, &rng);
    check_flips(shoal_vdaf08_init, cases[5], 3, &rng);
    check_bindings(&rng);
    check_versions(&rng);
    check_lengths();
    check_parameters();
    refuses_measurement(cases[0], 2, &rng);
    refuses_measurement(cases[3], 256, &rng);
    refuses_measurement(cases[6], 8, &rng);
    refuses_measurement(cases[10], 7, &rng);
    return check_summary();
}
