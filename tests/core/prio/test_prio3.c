// SPDX-License-Identifier: Apache-2.0
// Prio3 as a whole: exact sums for every circuit and number of aggregators; every single flipped
// bit of every message refused; refusals of what no party sends; nothing that depends on or remains
// in the scratch.
#include "prio3_parties.h"

static const shoal_prio3_parameters cases[] = {
    {.circuit = SHOAL_CIRCUIT_COUNT, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 2, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 1000, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = (uint64_t)1 << 40, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 1, .max = 1, .chunk = 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 3, .max = 5, .chunk = 4, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 2, .max = 2, .chunk = 2, .proofs = 3},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 20, .max = 9, .chunk = 7, .proofs = 4},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 1, .chunk = 1, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 7, .chunk = 7, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 100, .chunk = 9, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, .length = 6, .max = 3, .chunk = 3, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, .length = 40, .max = 40, .chunk = 5, .proofs = 1},
};
#define N_CASES (sizeof cases / sizeof cases[0])

// What is bound into a report: the context, the key, the nonce, who is who.
static void check_bindings(shoal_rng *rng)
{
    parties p;
    open_parties(&p, shoal_prio3_init, cases[6], 2, rng);
    CHECK(shard(&p) == SHOAL_OK && verify_init(&p, 0) == SHOAL_OK);
    p.ctx.at = (const uint8_t *)"tess";
    CHECK(verify(&p) == SHOAL_ERR_RECORD);
    CHECK(verify_init(&p, 0) == SHOAL_OK);
    p.ctx.at = (const uint8_t *)"test";
    CHECK(verify_init(&p, 1) == SHOAL_OK && combine(&p) == SHOAL_ERR_RECORD);
    CHECK(verify_init(&p, 0) == SHOAL_OK);
    p.key[31] ^= 1;
    CHECK(verify_init(&p, 1) == SHOAL_OK && combine(&p) == SHOAL_ERR_RECORD);
    CHECK(verify(&p) == SHOAL_OK); // any key will do, if all have it
    p.nonce[15] ^= 1;
    CHECK(verify(&p) == SHOAL_ERR_RECORD);
    close_parties(&p);
}

// Shard refuses, and leaves nothing of the measurement.
static void refuses_measurement(shoal_prio3_parameters parameters, size_t at, uint64_t value,
                                uint64_t others, shoal_rng *rng)
{
    parties p;
    open_parties(&p, shoal_prio3_init, parameters, 2, rng);
    for (uint32_t i = 0; i < p.prio3.flp.length; i++) p.measurement[i] = others;
    p.measurement[at] = value;
    CHECK(shard(&p) == SHOAL_ERR_RANGE);
    for (size_t i = 0; i < shoal_prio3_input_share_len(&p.prio3, 0); i++)
        CHECK(p.input_shares[0][i] == 0);
    close_parties(&p);
}

static void check_ranges(shoal_rng *rng)
{
    refuses_measurement(cases[0], 0, 2, 0, rng);
    refuses_measurement(cases[2], 0, 3, 0, rng);
    refuses_measurement(cases[3], 0, 1001, 0, rng);
    refuses_measurement(cases[3], 0, UINT64_MAX, 0, rng);
    refuses_measurement(cases[6], 2, 6, 0, rng);
    refuses_measurement(cases[10], 0, 7, 0, rng);
    refuses_measurement(cases[12], 5, 2, 0, rng);
    refuses_measurement(cases[12], 0, 1, 1, rng); // six ones of at most three
}

static void refuses_parameters(uint32_t circuit, uint32_t length, uint64_t max, uint32_t chunk,
                               uint32_t shares, uint32_t proofs, shoal_err err)
{
    shoal_prio3 prio3;
    const shoal_prio3_parameters parameters = {
        (shoal_circuit)circuit, length, max, chunk, shares, proofs};
    CHECK(shoal_prio3_init(&prio3, &parameters) == err);
}

static void check_parameters(void)
{
    const uint32_t sum = SHOAL_CIRCUIT_SUM, vec = SHOAL_CIRCUIT_SUM_VEC,
                   hist = SHOAL_CIRCUIT_HISTOGRAM, hot = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC;
    refuses_parameters(0, 1, 1, 1, 2, 1, SHOAL_ERR_ARGUMENT);
    refuses_parameters(6, 1, 1, 1, 2, 1, SHOAL_ERR_ARGUMENT);
    refuses_parameters(sum, 0, 1, 0, 2, 1, SHOAL_OK);
    refuses_parameters(sum, 0, 0, 0, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(sum, 0, (uint64_t)1 << 63, 0, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(sum, 0, 1, 0, 1, 1, SHOAL_ERR_RANGE);
    refuses_parameters(sum, 0, 1, 0, 5, 1, SHOAL_ERR_RANGE);
    refuses_parameters(sum, 0, 1, 0, 2, 3, SHOAL_ERR_RANGE);
    refuses_parameters(sum, 0, 1, 0, 2, 0, SHOAL_ERR_RANGE);
    refuses_parameters(vec, 5, 3, 10, 2, 1, SHOAL_OK);
    refuses_parameters(vec, 5, 3, 11, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(vec, 5, 3, 0, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(vec, 0, 3, 1, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(vec, 5, 3, 1, 2, 2, SHOAL_ERR_RANGE);
    refuses_parameters(vec, 5, 3, 1, 2, 255, SHOAL_OK);
    refuses_parameters(vec, 5, 3, 1, 2, 256, SHOAL_ERR_RANGE);
    refuses_parameters(vec, SHOAL_FLP_MEAS_MAX, 1, 1024, 2, 1, SHOAL_OK);
    refuses_parameters(vec, SHOAL_FLP_MEAS_MAX, 2, 1024, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(vec, SHOAL_FLP_MEAS_MAX, 1, 1, 2, 3, SHOAL_ERR_RANGE); // proofs too long
    refuses_parameters(hist, SHOAL_FLP_MEAS_MAX + 1, 0, 9, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(hist, UINT32_MAX, 0, 9, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(hot, 5, 5, 3, 2, 1, SHOAL_OK);
    refuses_parameters(hot, 5, 6, 3, 2, 1, SHOAL_ERR_RANGE);
    refuses_parameters(hot, 5, 0, 3, 2, 1, SHOAL_ERR_RANGE);
}

// No chunk gives a shorter proof, and no greater one as short a proof.
static void check_best_chunk(void)
{
    for (uint32_t meas_len = 1; meas_len <= 300; meas_len++) {
        uint32_t best = 0, shortest = UINT32_MAX;
        for (uint32_t chunk = 1; chunk <= meas_len; chunk++) {
            shoal_flp flp;
            CHECK(shoal_flp_init(&flp, SHOAL_CIRCUIT_HISTOGRAM, meas_len, 0, chunk) == SHOAL_OK);
            if (flp.proof_len > shortest) continue;
            shortest = flp.proof_len;
            best = chunk;
        }
        CHECK(shoal_flp_best_chunk(meas_len) == best);
    }
    CHECK(shoal_flp_best_chunk(1024) == 34);
    CHECK(shoal_flp_best_chunk(SHOAL_FLP_MEAS_MAX) == 1026);
}

// A leader's share one byte short or long; a number that is no aggregator's; a context too long;
// elements above the modulus.
static void check_refusals(shoal_rng *rng)
{
    static const uint8_t long_ctx[65536];
    parties p;
    open_parties(&p, shoal_prio3_init, cases[6], 3, rng);
    CHECK(shard(&p) == SHOAL_OK);
    size_t public_len = shoal_prio3_public_share_len(&p.prio3),
           input_len = shoal_prio3_input_share_len(&p.prio3, 0);
    for (size_t off = 0; off < 3; off++) {
        static const shoal_err expected[] = {SHOAL_ERR_TRUNCATED, SHOAL_OK, SHOAL_ERR_EXTRA};
        shoal_prio3_report report = {
            p.nonce, {p.public_share, public_len + off - 1}, {p.input_shares[0], input_len}};
        CHECK(shoal_prio3_verify_init(p.states[0], p.verifier_shares[0], &p.prio3, p.key, p.ctx, 0,
                                      &report, p.scratch) == expected[off]);
        report.public_share.len = public_len;
        report.input_share.len = input_len + off - 1;
        CHECK(shoal_prio3_verify_init(p.states[0], p.verifier_shares[0], &p.prio3, p.key, p.ctx, 0,
                                      &report, p.scratch) == expected[off]);
        CHECK(shoal_prio3_check_share(&p.prio3, 0, report.input_share) == expected[off]);
        CHECK(shoal_prio3_verify_next(p.output, &p.prio3, p.states[0],
                                      (shoal_prio3_bytes){p.nonce, 31 + 2 * off}) != SHOAL_OK);
    }
    CHECK(verify_init(&p, 2) == SHOAL_OK);
    shoal_prio3_report report = {p.nonce, {p.public_share, public_len}, {p.input_shares[2], 64}};
    CHECK(shoal_prio3_verify_init(p.states[0], p.verifier_shares[0], &p.prio3, p.key, p.ctx, 3,
                                  &report, p.scratch) == SHOAL_ERR_ARGUMENT);
    p.ctx = (shoal_prio3_bytes){long_ctx, 65528};
    CHECK(shard(&p) == SHOAL_ERR_RANGE && verify_init(&p, 0) == SHOAL_ERR_RANGE &&
          combine(&p) == SHOAL_ERR_RANGE);
    p.ctx.len = 65527;
    CHECK(shard(&p) == SHOAL_OK && verify(&p) == SHOAL_OK);
    memset(p.input_shares[0] + 16, 0xff, 16);
    CHECK(verify_init(&p, 0) == SHOAL_ERR_RECORD);
    // The same verdict without the proof. A helper's share is seeds, which any bytes are.
    const shoal_prio3_bytes bad = {p.input_shares[0], input_len};
    CHECK(shoal_prio3_check_share(&p.prio3, 0, bad) == SHOAL_ERR_RECORD);
    const shoal_prio3_bytes seeds = {p.input_shares[1], shoal_prio3_input_share_len(&p.prio3, 1)};
    CHECK(shoal_prio3_check_share(&p.prio3, 1, seeds) == SHOAL_OK);
    CHECK(shoal_prio3_check_share(&p.prio3, 3, seeds) == SHOAL_ERR_ARGUMENT);
    for (size_t i = 0; i < shoal_prio3_state_len(&p.prio3); i++) CHECK(p.states[0][i] == 0);
    close_parties(&p);
}

// The aggregate keeps its value when a share is refused; sums above 64 bits are said to be so.
static void check_aggregates(shoal_rng *rng)
{
    parties p;
    uint8_t aggregate[48], before[48], share[49];
    uint64_t sums[3];
    open_parties(&p, shoal_prio3_init, cases[6], 2, rng);
    memset(aggregate, 1, sizeof aggregate);
    memcpy(before, aggregate, sizeof before);
    memset(share, 2, sizeof share);
    memset(share + 32, 0xff, 16);
    CHECK(shoal_prio3_add(aggregate, &p.prio3, (shoal_prio3_bytes){share, 48}) == SHOAL_ERR_RECORD);
    CHECK(shoal_prio3_add(aggregate, &p.prio3, (shoal_prio3_bytes){share, 47}) ==
          SHOAL_ERR_TRUNCATED);
    CHECK(shoal_prio3_add(aggregate, &p.prio3, (shoal_prio3_bytes){share, 49}) == SHOAL_ERR_EXTRA);
    CHECK(memcmp(aggregate, before, sizeof before) == 0);
    const shoal_prio3_bytes high[] = {{aggregate, 48}, {before, 48}},
                            bad[] = {{aggregate, 48}, {share, 48}},
                            cut[] = {{aggregate, 48}, {share, 47}};
    CHECK(shoal_prio3_unshard(sums, &p.prio3, high, p.scratch) == SHOAL_ERR_OVERFLOW);
    CHECK(shoal_prio3_unshard(sums, &p.prio3, bad, p.scratch) == SHOAL_ERR_RECORD);
    CHECK(shoal_prio3_unshard(sums, &p.prio3, cut, p.scratch) == SHOAL_ERR_TRUNCATED);
    close_parties(&p);
}

// Noise of both aggregators enters the sums exactly, and sums below zero come out as such, in both
// fields. A sum that 63 bits do not hold is said to be so.
static void check_noise(shoal_rng *rng)
{
    static const size_t of[] = {3, 6}; // Sum over Field64, SumVec over Field128
    for (size_t c = 0; c < 2; c++) {
        parties p;
        uint8_t shares[2][48] = {{0}}, before[48];
        const int64_t noise[2][3] = {{5, -7, INT64_MAX}, {-6, -INT64_MAX, 1}};
        int64_t sums[3];
        open_parties(&p, shoal_prio3_init, cases[of[c]], 2, rng);
        size_t len = shoal_prio3_output_share_len(&p.prio3), n = p.prio3.flp.output_len;
        const shoal_prio3_bytes both[] = {{shares[0], len}, {shares[1], len}};
        CHECK(len <= sizeof before && n <= 3);
        shares[0][0] = 4; // 4 and 0 add up to 4
        CHECK(shoal_prio3_add_noise(shares[0], &p.prio3, noise[0]) == SHOAL_OK);
        CHECK(shoal_prio3_add_noise(shares[1], &p.prio3, noise[1]) == SHOAL_OK);
        shoal_err err = shoal_prio3_unshard_centred(sums, &p.prio3, both, p.scratch);
        CHECK(err == (n == 3 ? SHOAL_ERR_OVERFLOW : SHOAL_OK)); // -7 - INT64_MAX does not fit
        CHECK(sums[0] == 3);
        const int64_t back[3] = {-3, 7, -1}; // and INT64_MAX + 1 does not, either
        CHECK(shoal_prio3_add_noise(shares[0], &p.prio3, back) == SHOAL_OK);
        CHECK(shoal_prio3_unshard_centred(sums, &p.prio3, both, p.scratch) == SHOAL_OK);
        CHECK(sums[0] == 0);
        if (n == 3) CHECK(sums[1] == -INT64_MAX && sums[2] == INT64_MAX);
        const int64_t below[3] = {-9, 0, 0};
        CHECK(shoal_prio3_add_noise(shares[1], &p.prio3, below) == SHOAL_OK);
        CHECK(shoal_prio3_unshard_centred(sums, &p.prio3, both, p.scratch) == SHOAL_OK);
        CHECK(sums[0] == -9);
        memset(shares[1], 0xff, 16);
        memcpy(before, shares[1], len);
        CHECK(shoal_prio3_add_noise(shares[1], &p.prio3, below) == SHOAL_ERR_RECORD);
        CHECK(memcmp(before, shares[1], len) == 0);
        CHECK(shoal_prio3_unshard_centred(sums, &p.prio3, both, p.scratch) == SHOAL_ERR_RECORD);
        close_parties(&p);
    }
}

// The same bytes whatever was in the scratch, which is zeros afterwards; other random bytes, other
// shares.
static void check_scratch(shoal_rng *rng)
{
    parties p;
    open_parties(&p, shoal_prio3_init, cases[11], 2, rng);
    size_t len = shoal_prio3_input_share_len(&p.prio3, 0), n = shoal_prio3_scratch_words(&p.prio3);
    uint8_t *first = malloc(len);
    CHECK(shard(&p) == SHOAL_OK);
    for (size_t i = 0; i < n; i++) CHECK(p.scratch[i] == 0);
    memcpy(first, p.input_shares[0], len);
    memset(p.scratch, 0xff, n * sizeof *p.scratch);
    CHECK(shard(&p) == SHOAL_OK && memcmp(first, p.input_shares[0], len) == 0);
    p.rand[0] ^= 1;
    CHECK(shard(&p) == SHOAL_OK && memcmp(first, p.input_shares[0], len) != 0);
    CHECK(verify(&p) == SHOAL_OK);
    free(first);
    close_parties(&p);
}

int main(void)
{
    const uint8_t seed[32] = {7};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < N_CASES; i++)
        for (uint32_t shares = 2; shares <= MOST; shares++)
            check_sums(shoal_prio3_init, cases[i], shares, &rng);
    for (size_t i = 0; i < N_CASES; i++)
        if (cases[i].length <= 7 && cases[i].max <= 1000)
            check_flips(shoal_prio3_init, cases[i], 2, &rng);
    check_flips(shoal_prio3_init, cases[0], 4, &rng);
    check_flips(shoal_prio3_init, cases[5], 3, &rng);
    check_bindings(&rng);
    check_ranges(&rng);
    check_parameters();
    check_best_chunk();
    check_refusals(&rng);
    check_aggregates(&rng);
    check_noise(&rng);
    check_scratch(&rng);
    return check_summary();
}
