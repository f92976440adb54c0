// SPDX-License-Identifier: Apache-2.0
// The proof system under Prio3, over one field, by itself: what an honest device sends is accepted,
// and no encoding outside the circuit's is, though its device proves it by the book (a cheating
// client that shoal_prio3_shard would not serve). Included by test_prio3_flp64.c and
// test_prio3_flp128.c with FE, F and FIELD_LOG_ORDER.
#include "check.h"
#include "rng.h"
#include "vdaf08.h"

enum { MOST = 256 };

typedef struct proof {
    shoal_flp flp;
    FE meas[MOST], prove_rand[MOST], joint_rand[MOST], query_rand[MOST], proof[2 * MOST],
        verifier[MOST], scratch[10 * MOST];
} proof;

static void draw(FE *vector, size_t n, shoal_rng *rng)
{
    for (size_t i = 0; i < n;) {
        uint8_t bytes[sizeof(FE)];
        shoal_rng_bytes(rng, bytes, sizeof bytes);
        i += F(load)(&vector[i], bytes);
    }
}

static int open_proof(proof *p, shoal_circuit circuit, uint32_t length, uint64_t max,
                      uint32_t chunk)
{
    return CHECK(shoal_flp_init(&p->flp, circuit, length, max, chunk) == SHOAL_OK) &&
           CHECK(p->flp.meas_len <= MOST) &&
           CHECK(p->flp.proof_len <= 2 * MOST && p->flp.verifier_len <= MOST);
}

static void draw_all(proof *p, shoal_rng *rng)
{
    draw(p->prove_rand, p->flp.arity, rng);
    draw(p->joint_rand, p->flp.joint_rand_len, rng);
    draw(p->query_rand, p->flp.query_rand_len, rng);
}

// Returns: whether p->meas, proved by the book, is accepted.
static uint64_t is_accepted(proof *p, shoal_rng *rng)
{
    draw_all(p, rng);
    F(flp_prove)(p->proof, &p->flp, p->meas, p->prove_rand, p->joint_rand, p->scratch);
    CHECK(F(flp_query)(p->verifier, &p->flp, p->meas, p->proof, p->query_rand, p->joint_rand, 1,
                       p->scratch));
    return F(flp_decide)(&p->flp, p->verifier);
}

// Accepted as it is, and refused with any one element by one off; twos and minus ones are among
// those.
static void check_measurement(proof *p, const uint64_t *measurement, shoal_rng *rng)
{
    CHECK(F(flp_encode)(p->meas, &p->flp, measurement));
    CHECK(is_accepted(p, rng));
    for (uint32_t i = 0; i < p->flp.meas_len; i++) {
        FE kept = p->meas[i];
        for (int sign = -1; sign <= 1; sign += 2) {
            FE off = sign > 0 ? F(add)(kept, F(of)(1)) : F(sub)(kept, F(of)(1));
            int is_bit = F(is_equal)(off, F(of)(0)) || F(is_equal)(off, F(of)(1));
            int is_free =
                p->flp.circuit <= SHOAL_CIRCUIT_SUM_VEC; // any zeros and ones are an encoding
            p->meas[i] = off;
            CHECK(is_accepted(p, rng) == (uint64_t)(is_bit && is_free));
        }
        p->meas[i] = kept;
    }
}

// The verifiers of shares add up to that of the whole.
static void check_shares(proof *p, shoal_rng *rng)
{
    static proof parts[3];
    CHECK(is_accepted(p, rng));
    for (int i = 0; i < 3; i++) parts[i] = *p;
    for (int i = 1; i < 3; i++) {
        draw(parts[i].meas, p->flp.meas_len, rng);
        draw(parts[i].proof, p->flp.proof_len, rng);
        F(vector_sub)(parts[0].meas, parts[i].meas, p->flp.meas_len);
        F(vector_sub)(parts[0].proof, parts[i].proof, p->flp.proof_len);
    }
    for (int i = 0; i < 3; i++)
        CHECK(F(flp_query)(parts[i].verifier, &p->flp, parts[i].meas, parts[i].proof, p->query_rand,
                           p->joint_rand, 3, p->scratch));
    for (int i = 1; i < 3; i++)
        F(vector_add)(parts[0].verifier, parts[i].verifier, p->flp.verifier_len);
    for (uint32_t i = 0; i < p->flp.verifier_len; i++)
        CHECK(F(is_equal)(parts[0].verifier[i], p->verifier[i]));
}

// Every element of a proof counts, and every one of a verifier.
static void check_elements(proof *p, shoal_rng *rng)
{
    CHECK(is_accepted(p, rng));
    for (uint32_t i = 0; i < p->flp.verifier_len; i++) {
        FE kept = p->verifier[i];
        draw(&p->verifier[i], 1, rng);
        CHECK(!F(flp_decide)(&p->flp, p->verifier));
        p->verifier[i] = kept;
    }
    for (uint32_t i = 0; i < p->flp.proof_len; i++) {
        FE kept = p->proof[i];
        draw(&p->proof[i], 1, rng);
        CHECK(F(flp_query)(p->verifier, &p->flp, p->meas, p->proof, p->query_rand, p->joint_rand, 1,
                           p->scratch));
        CHECK(!F(flp_decide)(&p->flp, p->verifier));
        p->proof[i] = kept;
    }
}

// A query at a value that the wires are written at would show a wire: none is made. Others, even of
// the gadget, do no harm.
static void check_points(proof *p, shoal_rng *rng)
{
    draw_all(p, rng);
    F(flp_prove)(p->proof, &p->flp, p->meas, p->prove_rand, p->joint_rand, p->scratch);
    FE root = F(root)(F(flp_log)(&p->flp) + 1, FIELD_LOG_ORDER), point = F(of)(1);
    for (uint32_t i = 0; i < 2 * p->flp.wire_len; i++) {
        p->query_rand[p->flp.query_rand_len - 1] = point;
        CHECK(F(flp_query)(p->verifier, &p->flp, p->meas, p->proof, p->query_rand, p->joint_rand, 1,
                           p->scratch) == i % 2);
        if (i % 2 == 1) CHECK(F(flp_decide)(&p->flp, p->verifier));
        point = F(mul)(point, root);
    }
}

// All encodings of all integers: each decodes to itself, and the largest is all ones.
static void check_integers(void)
{
    for (uint64_t max = 1; max <= 70; max++) {
        shoal_flp flp;
        FE bits[8], ones = F(of)(1);
        if (!CHECK(shoal_flp_init(&flp, SHOAL_CIRCUIT_SUM, 1, max, 1) == SHOAL_OK)) return;
        for (uint64_t value = 0; value <= max; value++) {
            CHECK(F(flp_put_integer)(bits, &flp, value));
            CHECK(F(is_equal)(F(flp_integer)(bits, &flp), F(of)(value)));
            for (uint32_t i = 0; i < flp.bits; i++)
                CHECK(F(is_equal)(bits[i], F(of)(0)) || F(is_equal)(bits[i], ones));
        }
        for (uint32_t i = 0; i < flp.bits; i++) CHECK(F(is_equal)(bits[i], ones));
        CHECK(!F(flp_put_integer)(bits, &flp, max + 1) &&
              !F(flp_put_integer)(bits, &flp, UINT64_MAX));
    }
}

// One more than the largest weight, with every claim of zeros and ones about it, and with the one
// claim that adds up.
static void check_too_heavy(shoal_rng *rng)
{
    static proof p;
    const uint64_t measurement[9] = {1, 1, 1, 1, 0, 0, 0, 0, 0};
    if (!open_proof(&p, SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 9, 4, 3)) return;
    CHECK(F(flp_encode)(p.meas, &p.flp, measurement) && p.flp.bits == 3);
    CHECK(is_accepted(&p, rng)); // as heavy as allowed
    p.meas[8] = F(of)(1);
    for (uint64_t claim = 0; claim < 8; claim++) {
        for (uint32_t i = 0; i < 3; i++) p.meas[9 + i] = F(of)(claim >> i & 1);
        CHECK(!is_accepted(&p, rng));
    }
    p.meas[9] = F(of)(2); // 2 + 2 + 1
    CHECK(F(is_equal)(F(flp_integer)(p.meas + 9, &p.flp), F(of)(5)));
    CHECK(!is_accepted(&p, rng));
}

static void check_circuit(int is_08, shoal_circuit circuit, uint32_t length, uint64_t max,
                          uint32_t chunk, shoal_rng *rng)
{
    static proof p;
    uint64_t measurement[MOST] = {0};
    if (!open_proof(&p, circuit, length, max, chunk)) return;
    if (is_08) shoal_vdaf08_flp(&p.flp);
    if (!CHECK(shoal_flp_scratch(&p.flp) <= sizeof p.scratch / sizeof p.scratch[0])) return;
    int is_hot = circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC;
    for (int round = 0; round < 3; round++) { // none, the most, some
        for (uint32_t i = 0; i < length; i++) {
            uint64_t some = is_hot ? i < (max + 1) / 2 : shoal_rng_below(rng, max + 1),
                     most = is_hot ? i < max : max;
            measurement[i] = round == 0 ? 0 : round == 1 ? most : some;
        }
        check_measurement(&p, measurement, rng);
    }
    check_shares(&p, rng);
    check_elements(&p, rng);
    check_points(&p, rng);
}

int main(void)
{
    const uint8_t seed[32] = {FIELD_LOG_ORDER};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    check_integers();
    check_too_heavy(&rng);
    check_circuit(0, SHOAL_CIRCUIT_COUNT, 1, 1, 1, &rng);
    for (uint64_t max = 1; max < 20; max += 3) check_circuit(0, SHOAL_CIRCUIT_SUM, 1, max, 1, &rng);
    for (uint32_t chunk = 1; chunk <= 12; chunk++) {
        check_circuit(0, SHOAL_CIRCUIT_SUM_VEC, 4, 6, chunk, &rng);
        check_circuit(0, SHOAL_CIRCUIT_HISTOGRAM, 12, 11, chunk, &rng);
        check_circuit(0, SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 9, 4, chunk, &rng);
    }
    check_circuit(1, SHOAL_CIRCUIT_COUNT, 1, 1, 1, &rng);
    for (uint64_t max = 1; max < 20; max += 3) check_circuit(1, SHOAL_CIRCUIT_SUM, 1, max, 1, &rng);
    for (uint32_t chunk = 1; chunk <= 12; chunk++) {
        check_circuit(1, SHOAL_CIRCUIT_SUM_VEC, 4, 6, chunk, &rng);
        check_circuit(1, SHOAL_CIRCUIT_HISTOGRAM, 12, 11, chunk, &rng);
    }
    return check_summary();
}
