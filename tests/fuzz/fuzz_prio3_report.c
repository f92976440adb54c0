// SPDX-License-Identifier: Apache-2.0
// Property: of the messages about one report (input shares, public share, verifier shares, the
// verifier message) each party takes what the honest one sent, and nothing else. An aggregate share
// is taken where its length and every element are in order, and a refused one changes nothing. All
// versions of Prio3.
#include <stdio.h>

#include "fuzz.h"
#include "prio3_parties.h"
#include "vdaf08.h"

// The message that is replaced by the input.
enum kind {
    LEADER_SHARE,
    HELPER_SHARE,
    PUBLIC_SHARE,
    LEADER_VERIFIER,
    HELPER_VERIFIER,
    MESSAGE,
    AGGREGATE,
    SUMS,
    KINDS
};

static const struct {
    initializer *init;
    shoal_prio3_parameters parameters;
} cases[] = {
    {shoal_prio3_init, {.circuit = SHOAL_CIRCUIT_COUNT, .proofs = 1}},
    {shoal_prio3_init, {.circuit = SHOAL_CIRCUIT_SUM, .max = 5, .proofs = 1}},
    {shoal_prio3_init, {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 5, .chunk = 2, .proofs = 1}},
    {shoal_prio3_init,
     {.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, .length = 4, .max = 2, .chunk = 3, .proofs = 1}},
    {shoal_prio3_init,
     {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 2, .max = 2, .chunk = 2, .proofs = 3}},
    {shoal_vdaf08_init, {.circuit = SHOAL_CIRCUIT_COUNT, .proofs = 1}},
    {shoal_vdaf08_init,
     {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 2, .max = 3, .chunk = 2, .proofs = 1}},
};
#define N_CASES (sizeof cases / sizeof cases[0])
#define OUTPUT_MAX 256u

// One honest report of each case, as far as its output shares.
static parties *report_of(size_t which)
{
    static parties made[N_CASES];
    static char is_made[N_CASES];
    parties *p = &made[which];
    uint8_t seed[32] = {(uint8_t)(which + 1)};
    shoal_rng rng;
    if (is_made[which]) return p;
    shoal_rng_init(&rng, seed);
    open_parties(p, cases[which].init, cases[which].parameters, 2, &rng);
    draw_measurement(p, &rng);
    PROPERTY(shard(p) == SHOAL_OK && verify(p) == SHOAL_OK);
    PROPERTY(shoal_prio3_output_share_len(&p->prio3) <= OUTPUT_MAX);
    is_made[which] = 1;
    return p;
}

static shoal_prio3_bytes honest_message(const parties *p, enum kind kind)
{
    switch (kind) {
    case LEADER_SHARE:
    case HELPER_SHARE:
        return (shoal_prio3_bytes){p->input_shares[kind],
                                   shoal_prio3_input_share_len(&p->prio3, kind)};
    case PUBLIC_SHARE:
        return (shoal_prio3_bytes){p->public_share, shoal_prio3_public_share_len(&p->prio3)};
    case LEADER_VERIFIER:
    case HELPER_VERIFIER:
        return (shoal_prio3_bytes){p->verifier_shares[kind - LEADER_VERIFIER],
                                   shoal_prio3_verifier_share_len(&p->prio3)};
    case MESSAGE: return (shoal_prio3_bytes){p->message, shoal_prio3_message_len(&p->prio3)};
    default: return (shoal_prio3_bytes){p->output, shoal_prio3_output_share_len(&p->prio3)};
    }
}

// The report with one message replaced, from its first step on. Returns: the first refusal.
static shoal_err verify_with(const parties *p, enum kind kind, shoal_prio3_bytes input)
{
    shoal_prio3_bytes m[AGGREGATE], verifiers[2];
    uint8_t *state[2], *verifier[2], *message = malloc(shoal_prio3_message_len(&p->prio3) + 1);
    uint8_t output[OUTPUT_MAX];
    shoal_err err = SHOAL_OK;
    for (int i = 0; i < AGGREGATE; i++)
        m[i] = i == (int)kind ? input : honest_message(p, (enum kind)i);
    for (uint32_t i = 0; i < 2; i++) {
        const shoal_prio3_report report = {p->nonce, m[PUBLIC_SHARE], m[i]};
        state[i] = malloc(shoal_prio3_state_len(&p->prio3));
        verifier[i] = malloc(shoal_prio3_verifier_share_len(&p->prio3));
        PROPERTY(state[i] != NULL && verifier[i] != NULL && message != NULL);
        // Whoever checks an input share alone refuses nothing that verifies, and takes nothing that
        // is refused for its length.
        shoal_err checked = shoal_prio3_check_share(&p->prio3, i, m[i]);
        PROPERTY((int)kind != (int)i ||
                 (checked == SHOAL_ERR_TRUNCATED || checked == SHOAL_ERR_EXTRA) ==
                     (m[i].len != honest_message(p, (enum kind)i).len));
        if (err == SHOAL_OK) {
            err = shoal_prio3_verify_init(state[i], verifier[i], &p->prio3, p->key, p->ctx, i,
                                          &report, p->scratch);
            PROPERTY(err != SHOAL_OK || checked == SHOAL_OK);
        }
        verifiers[i] = (shoal_prio3_bytes){verifier[i], shoal_prio3_verifier_share_len(&p->prio3)};
        if (kind == LEADER_VERIFIER + i) verifiers[i] = input;
    }
    if (err == SHOAL_OK)
        err = shoal_prio3_combine(message, &p->prio3, p->ctx, verifiers, p->scratch);
    if (kind != MESSAGE) m[MESSAGE].at = message;
    for (uint32_t i = 0; i < 2; i++) {
        if (err == SHOAL_OK) err = shoal_prio3_verify_next(output, &p->prio3, state[i], m[MESSAGE]);
        free(state[i]);
        free(verifier[i]);
    }
    free(message);
    return err;
}

// Whether every element is below the field's modulus, as its bytes say, from the highest: 2^64 -
// 2^32 + 1 or 2^128 - 28 2^64 + 1.
static int is_canonical(const shoal_prio3 *prio3, shoal_prio3_bytes share)
{
    static const uint8_t modulus64[8] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1};
    static const uint8_t modulus128[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe4,
                                           0,    0,    0,    0,    0,    0,    0,    1};
    const uint8_t *modulus = prio3->element == 8 ? modulus64 : modulus128;
    if (share.len != shoal_prio3_output_share_len(prio3)) return 0;
    for (size_t first = 0; first < share.len; first += prio3->element) {
        uint8_t reversed[16];
        for (uint32_t i = 0; i < prio3->element; i++)
            reversed[i] = share.at[first + prio3->element - 1 - i];
        if (memcmp(reversed, modulus, prio3->element) >= 0) return 0;
    }
    return 1;
}

static void try_aggregate(const parties *p, shoal_prio3_bytes input)
{
    uint8_t sum[OUTPUT_MAX];
    const size_t len = shoal_prio3_output_share_len(&p->prio3);
    memcpy(sum, p->output, len);
    shoal_err err = shoal_prio3_add(sum, &p->prio3, input);
    PROPERTY((err == SHOAL_OK) == is_canonical(&p->prio3, input));
    PROPERTY(err == SHOAL_OK || memcmp(sum, p->output, len) == 0);
    PROPERTY(err != SHOAL_OK || is_canonical(&p->prio3, (shoal_prio3_bytes){sum, len}));
}

static void try_sums(const parties *p, shoal_prio3_bytes input)
{
    uint64_t sums[OUTPUT_MAX / 8];
    const shoal_prio3_bytes both[2] = {input, honest_message(p, AGGREGATE)};
    shoal_err err = shoal_prio3_unshard(sums, &p->prio3, both, p->scratch);
    if (err == SHOAL_OK || err == SHOAL_ERR_OVERFLOW) PROPERTY(is_canonical(&p->prio3, input));
    if (input.len != both[1].len)
        PROPERTY(err == (input.len < both[1].len ? SHOAL_ERR_TRUNCATED : SHOAL_ERR_EXTRA));
}

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    if (index >= KINDS * N_CASES) return 0;
    const shoal_prio3_bytes message =
        honest_message(report_of(index / KINDS), (enum kind)(index % KINDS));
    if (2 + message.len > cap) return 0;
    out[0] = (uint8_t)(index / KINDS);
    out[1] = (uint8_t)(index % KINDS);
    memcpy(out + 2, message.at, message.len);
    return 2 + message.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 2) return 0;
    const parties *p = report_of(data[0] % N_CASES);
    const enum kind kind = (enum kind)(data[1] % KINDS);
    const shoal_prio3_bytes input = {data + 2, len - 2};
    if (kind == AGGREGATE) {
        try_aggregate(p, input);
        return 0;
    }
    if (kind == SUMS) {
        try_sums(p, input);
        return 0;
    }
    const shoal_prio3_bytes honest = honest_message(p, kind);
    int is_honest = input.len == honest.len && memcmp(input.at, honest.at, honest.len) == 0;
    PROPERTY((verify_with(p, kind, input) == SHOAL_OK) == is_honest);
    return 0;
}
