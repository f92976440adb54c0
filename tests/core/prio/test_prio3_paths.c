// SPDX-License-Identifier: Apache-2.0
// Prio3 by every instruction set that the machine has: all messages of random reports are the
// portable code's, byte for byte, for circuits of every kind and at the ends of the sizes that the
// variants take; and so are proofs and verifiers of elements at the ends of their range.
#include <stdlib.h>
#include <string.h>

#include "flp128_lanes.h"
#include "vdaf08.h"
#include "xof.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#define FIELD_LOG_ORDER SHOAL_FIELD128_LOG_ORDER
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

#include "prio3_parties.h"

// Messages of one report, and its scratch.
static void compare_parties(parties *a, parties *b)
{
    const shoal_prio3 *prio3 = &a->prio3;
    CHECK(shard(a) == SHOAL_OK && shard(b) == SHOAL_OK);
    CHECK(memcmp(a->public_share, b->public_share, shoal_prio3_public_share_len(prio3)) == 0);
    for (uint32_t i = 0; i < prio3->shares; i++) {
        CHECK(memcmp(a->input_shares[i], b->input_shares[i],
                     shoal_prio3_input_share_len(prio3, i)) == 0);
        CHECK(verify_init(a, i) == SHOAL_OK && verify_init(b, i) == SHOAL_OK);
        CHECK(memcmp(a->states[i], b->states[i], shoal_prio3_state_len(prio3)) == 0);
        CHECK(memcmp(a->verifier_shares[i], b->verifier_shares[i],
                     shoal_prio3_verifier_share_len(prio3)) == 0);
    }
    CHECK(combine(a) == SHOAL_OK && combine(b) == SHOAL_OK);
    CHECK(memcmp(a->message, b->message, shoal_prio3_message_len(prio3)) == 0);
    for (uint32_t i = 0; i < prio3->shares; i++) {
        CHECK(verify_next(a, i) == SHOAL_OK && verify_next(b, i) == SHOAL_OK);
        CHECK(memcmp(a->output, b->output, shoal_prio3_output_share_len(prio3)) == 0);
    }
}

static shoal_err init_portable(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters)
{
    shoal_err err = shoal_prio3_init(prio3, parameters);
    prio3->cpu = SHOAL_PRIO_PORTABLE;
    return err;
}

static shoal_err init_avx2(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters)
{
    shoal_err err = shoal_prio3_init(prio3, parameters);
    if (prio3->cpu > SHOAL_PRIO_AVX2) prio3->cpu = SHOAL_PRIO_AVX2;
    return err;
}

static shoal_err init_old_portable(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters)
{
    shoal_err err = shoal_vdaf08_init(prio3, parameters);
    prio3->cpu = SHOAL_PRIO_PORTABLE;
    return err;
}

static void compare(initializer *reference, initializer *variant, shoal_prio3_parameters parameters,
                    uint32_t shares, shoal_rng *rng)
{
    parties a, b;
    open_parties(&a, reference, parameters, shares, rng);
    open_parties(&b, variant, parameters, shares, rng);
    for (int report = 0; report < 4; report++) {
        draw_measurement(&a, rng);
        memcpy(b.measurement, a.measurement, a.prio3.flp.length * sizeof *a.measurement);
        shoal_rng_bytes(rng, a.rand, shoal_prio3_rand_len(&a.prio3));
        shoal_rng_bytes(rng, a.nonce, sizeof a.nonce);
        memcpy(b.rand, a.rand, shoal_prio3_rand_len(&a.prio3));
        memcpy(b.nonce, a.nonce, sizeof a.nonce);
        memcpy(b.key, a.key, sizeof a.key);
        compare_parties(&a, &b);
    }
    close_parties(&a);
    close_parties(&b);
}

// Zero, one, p - 1, and words at the ends of the limbs in radix 2^52 and of 64-bit words.
static FE edge(shoal_rng *rng)
{
    static const uint64_t ends[] = {0,
                                    1,
                                    2,
                                    0xfffffffffffff,
                                    0x10000000000000,
                                    0x10000000000001,
                                    0xfff,
                                    0x1000,
                                    0xffffffffff,
                                    0x10000000000,
                                    0xffffffffffffffe3,
                                    0xffffffffffffffe4,
                                    0xffffffffffffffff};
    FE element = {ends[shoal_rng_below(rng, 13)], ends[shoal_rng_below(rng, 13)]};
    uint8_t bytes[sizeof element];
    F(store)(bytes, element);
    if (shoal_rng_below(rng, 8) == 0) shoal_rng_bytes(rng, bytes, sizeof bytes);
    return F(load)(&element, bytes) ? element : F(sub)(F(of)(0), F(of)(1));
}

static FE *edges(size_t n, shoal_rng *rng)
{
    FE *vector = malloc((n + 1) * sizeof *vector);
    if (!CHECK(vector != NULL)) exit(1);
    for (size_t i = 0; i < n; i++) vector[i] = edge(rng);
    return vector;
}

// Measurements, seeds and randomness that no device makes are proved and queried alike.
static void compare_edges(uint32_t length, uint32_t chunk, bool is_old, shoal_rng *rng)
{
#ifdef SHOAL_X86
    shoal_flp flp;
    CHECK(shoal_flp_init(&flp, SHOAL_CIRCUIT_HISTOGRAM, length, 0, chunk) == SHOAL_OK);
    if (is_old) shoal_vdaf08_flp(&flp);
    if (!shoal_flp128_has_lanes(&flp, shoal_prio_cpu_best())) return;
    size_t words = shoal_flp128_lanes_words(&flp, SHOAL_PRIO_AVX512);
    FE *scratch = malloc(shoal_flp_scratch(&flp) * sizeof *scratch + words * sizeof(uint64_t));
    for (int round = 0; round < 20; round++) {
        FE *meas = edges(flp.meas_len, rng), *prove = edges(flp.arity, rng),
           *joint = edges(flp.joint_rand_len, rng), *query = edges(flp.query_rand_len, rng);
        FE *a = edges(flp.proof_len, rng), *b = edges(flp.proof_len, rng),
           *c = edges(flp.verifier_len, rng), *d = edges(flp.verifier_len, rng);
        F(flp_prove)(a, &flp, meas, prove, joint, scratch);
        shoal_flp128_prove_avx512(b, &flp, meas, prove, joint, scratch);
        CHECK(memcmp(a, b, flp.proof_len * sizeof *a) == 0);
        for (uint32_t i = 0; round % 2 && i < flp.proof_len; i++) a[i] = edge(rng);
        uint64_t is_valid = F(flp_query)(c, &flp, meas, a, query, joint, 2, scratch);
        CHECK(shoal_flp128_query_avx512(d, &flp, meas, a, query, joint, 2, scratch) == is_valid);
        CHECK(!is_valid || memcmp(c, d, flp.verifier_len * sizeof *c) == 0);
        FE *all[] = {meas, prove, joint, query, a, b, c, d};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) free(all[i]);
    }
    free(scratch);
#else
    (void)length, (void)chunk, (void)is_old, (void)rng, (void)edges;
#endif
}

int main(void)
{
    static const shoal_prio3_parameters cases[] = {
        {.circuit = SHOAL_CIRCUIT_COUNT, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM, .max = 1000, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 33, .max = 255, .chunk = 9, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 20, .max = 7, .chunk = 5, .proofs = 3},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 8, .chunk = 1, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 100, .chunk = 1, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 1024, .chunk = 17, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 1024, .chunk = 3, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 1024, .chunk = 1, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 7000, .chunk = 1000, .proofs = 1},
        {.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC,
         .length = 1024,
         .max = 30,
         .chunk = 33,
         .proofs = 1},
    };
    const uint8_t seed[32] = {18};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (uint32_t shares = 2; shares <= 3; shares++) {
            compare(init_portable, shoal_prio3_init, cases[i], shares, &rng);
            compare(init_portable, init_avx2, cases[i], shares, &rng);
        }
        if (cases[i].circuit <= SHOAL_CIRCUIT_HISTOGRAM && cases[i].max != 1000)
            compare(init_old_portable, shoal_vdaf08_init, cases[i], 2, &rng);
    }
    static const uint32_t sizes[][2] = {{7, 1},    {8, 1},     {40, 4},    {63, 1},
                                        {64, 3},   {1024, 17}, {1024, 2},  {511, 1},
                                        {4000, 9}, {1023, 33}, {2100, 300}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        compare_edges(sizes[i][0], sizes[i][1], false, &rng);
        compare_edges(sizes[i][0], sizes[i][1], true, &rng);
    }
    return check_summary();
}
