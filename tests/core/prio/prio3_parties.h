// SPDX-License-Identifier: Apache-2.0
// All parties of Prio3 in one program, for tests of every version of it (prio3.h, vdaf08.h): exact
// sums over ten reports, and every single flipped bit of every message refused.
#ifndef PRIO3_PARTIES_H
#define PRIO3_PARTIES_H

#include "prio3.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rng.h"

enum { MOST = SHOAL_PRIO3_SHARES_MAX };

typedef shoal_err initializer(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters);

// Buffers of exactly the lengths that the functions say, so that sanitizers see a byte too much.
typedef struct parties {
    shoal_prio3 prio3;
    uint8_t *rand, *public_share, *input_shares[MOST], *states[MOST], *verifier_shares[MOST],
        *message, *output;
    uint8_t nonce[SHOAL_PRIO3_NONCE], key[SHOAL_PRIO3_VERIFY_KEY];
    uint64_t *scratch, *measurement;
    shoal_prio3_bytes ctx;
} parties;

static inline void open_parties(parties *p, initializer *init, shoal_prio3_parameters parameters,
                                uint32_t shares, shoal_rng *rng)
{
    parameters.shares = shares;
    if (!CHECK(init(&p->prio3, &parameters) == SHOAL_OK)) exit(1);
    p->rand = malloc(shoal_prio3_rand_len(&p->prio3));
    p->public_share = malloc(shoal_prio3_public_share_len(&p->prio3));
    p->message = malloc(shoal_prio3_message_len(&p->prio3));
    p->output = malloc(shoal_prio3_output_share_len(&p->prio3));
    p->scratch = malloc(shoal_prio3_scratch_words(&p->prio3) * sizeof *p->scratch);
    p->measurement = calloc(p->prio3.flp.length, sizeof *p->measurement);
    for (uint32_t i = 0; i < shares; i++) {
        p->input_shares[i] = malloc(shoal_prio3_input_share_len(&p->prio3, i));
        p->states[i] = malloc(shoal_prio3_state_len(&p->prio3));
        p->verifier_shares[i] = malloc(shoal_prio3_verifier_share_len(&p->prio3));
    }
    p->ctx = (shoal_prio3_bytes){(const uint8_t *)"test", p->prio3.ctx_max > 0 ? 4 : 0};
    shoal_rng_bytes(rng, p->rand, shoal_prio3_rand_len(&p->prio3));
    shoal_rng_bytes(rng, p->nonce, sizeof p->nonce);
    shoal_rng_bytes(rng, p->key, sizeof p->key);
    memset(p->scratch, 0xa5, shoal_prio3_scratch_words(&p->prio3) * sizeof *p->scratch);
}

static inline void close_parties(parties *p)
{
    for (uint32_t i = 0; i < p->prio3.shares; i++) {
        free(p->input_shares[i]);
        free(p->states[i]);
        free(p->verifier_shares[i]);
    }
    free(p->rand);
    free(p->public_share);
    free(p->message);
    free(p->output);
    free(p->scratch);
    free(p->measurement);
}

static inline shoal_err shard(parties *p)
{
    return shoal_prio3_shard(p->public_share, p->input_shares, &p->prio3, p->ctx, p->measurement,
                             p->nonce, p->rand, p->scratch);
}

static inline shoal_err verify_init(parties *p, uint32_t id)
{
    const shoal_prio3_report report = {
        .nonce = p->nonce,
        .public_share = {p->public_share, shoal_prio3_public_share_len(&p->prio3)},
        .input_share = {p->input_shares[id], shoal_prio3_input_share_len(&p->prio3, id)}};
    return shoal_prio3_verify_init(p->states[id], p->verifier_shares[id], &p->prio3, p->key, p->ctx,
                                   id, &report, p->scratch);
}

static inline shoal_err combine(parties *p)
{
    shoal_prio3_bytes shares[MOST];
    for (uint32_t i = 0; i < p->prio3.shares; i++)
        shares[i] =
            (shoal_prio3_bytes){p->verifier_shares[i], shoal_prio3_verifier_share_len(&p->prio3)};
    return shoal_prio3_combine(p->message, &p->prio3, p->ctx, shares, p->scratch);
}

static inline shoal_err verify_next(parties *p, uint32_t id)
{
    return shoal_prio3_verify_next(
        p->output, &p->prio3, p->states[id],
        (shoal_prio3_bytes){p->message, shoal_prio3_message_len(&p->prio3)});
}

// From the input shares on. Returns: the first refusal.
static inline shoal_err verify(parties *p)
{
    shoal_err err = SHOAL_OK;
    for (uint32_t i = 0; err == SHOAL_OK && i < p->prio3.shares; i++) err = verify_init(p, i);
    if (err == SHOAL_OK) err = combine(p);
    for (uint32_t i = 0; err == SHOAL_OK && i < p->prio3.shares; i++) err = verify_next(p, i);
    return err;
}

static inline void draw_measurement(parties *p, shoal_rng *rng)
{
    const shoal_flp *flp = &p->prio3.flp;
    memset(p->measurement, 0, flp->length * sizeof *p->measurement);
    if (flp->circuit == SHOAL_CIRCUIT_HISTOGRAM) {
        p->measurement[0] = shoal_rng_below(rng, flp->length);
        return;
    }
    if (flp->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC) {
        uint64_t weight = shoal_rng_below(rng, flp->max + 1); // or less: places may coincide
        for (uint64_t i = 0; i < weight; i++) p->measurement[shoal_rng_below(rng, flp->length)] = 1;
        return;
    }
    for (uint32_t i = 0; i < flp->length; i++)
        p->measurement[i] =
            shoal_rng_below(rng, flp->circuit == SHOAL_CIRCUIT_COUNT ? 2 : flp->max + 1);
}

static inline void add_measurement(uint64_t *truth, const parties *p)
{
    int is_bucket = p->prio3.flp.circuit == SHOAL_CIRCUIT_HISTOGRAM;
    if (is_bucket) truth[p->measurement[0]]++;
    for (uint32_t i = 0; !is_bucket && i < p->prio3.flp.output_len; i++)
        truth[i] += p->measurement[i];
}

// Ten reports; aggregates made in two halves and merged.
static inline void check_sums(initializer *init, shoal_prio3_parameters parameters, uint32_t shares,
                              shoal_rng *rng)
{
    parties p;
    uint64_t truth[128] = {0}, sums[128];
    shoal_prio3_bytes aggregates[MOST];
    uint8_t *halves[2][MOST];
    open_parties(&p, init, parameters, shares, rng);
    size_t len = shoal_prio3_output_share_len(&p.prio3);
    for (uint32_t i = 0; i < 2 * shares; i++) halves[i / shares][i % shares] = calloc(1, len);
    for (int report = 0; report < 10; report++) {
        draw_measurement(&p, rng);
        add_measurement(truth, &p);
        shoal_rng_bytes(rng, p.rand, shoal_prio3_rand_len(&p.prio3));
        shoal_rng_bytes(rng, p.nonce, sizeof p.nonce);
        CHECK(shard(&p) == SHOAL_OK);
        CHECK(verify(&p) == SHOAL_OK);
        for (uint32_t i = 0; i < shares; i++) {
            CHECK(verify_next(&p, i) == SHOAL_OK);
            CHECK(shoal_prio3_add(halves[report % 2][i], &p.prio3,
                                  (shoal_prio3_bytes){p.output, len}) == SHOAL_OK);
        }
    }
    for (uint32_t i = 0; i < shares; i++) {
        CHECK(shoal_prio3_add(halves[1][i], &p.prio3, (shoal_prio3_bytes){halves[0][i], len}) ==
              SHOAL_OK);
        aggregates[i] = (shoal_prio3_bytes){halves[1][i], len};
    }
    CHECK(shoal_prio3_unshard(sums, &p.prio3, aggregates, p.scratch) == SHOAL_OK);
    CHECK(memcmp(sums, truth, p.prio3.flp.output_len * sizeof sums[0]) == 0);
    for (uint32_t i = 0; i < 2 * shares; i++) free(halves[i / shares][i % shares]);
    close_parties(&p);
}

typedef shoal_err step(parties *p);

// Flips every bit of a message in turn, runs what comes after it, and puts the bit back.
static inline void flip_each(parties *p, uint8_t *bytes, size_t len, step *after)
{
    for (size_t bit = 0; bit < 8 * len; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        CHECK(after(p) == SHOAL_ERR_RECORD);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static inline shoal_err after_verifiers(parties *p)
{
    shoal_err err = combine(p);
    for (uint32_t i = 0; err == SHOAL_OK && i < p->prio3.shares; i++) err = verify_next(p, i);
    return err;
}

// Every aggregator by itself refuses a flipped message.
static inline shoal_err after_message(parties *p)
{
    for (uint32_t i = 0; i < p->prio3.shares; i++)
        if (verify_next(p, i) == SHOAL_OK) return SHOAL_OK;
    return SHOAL_ERR_RECORD;
}

static inline void check_flips(initializer *init, shoal_prio3_parameters parameters,
                               uint32_t shares, shoal_rng *rng)
{
    parties p;
    open_parties(&p, init, parameters, shares, rng);
    draw_measurement(&p, rng);
    CHECK(shard(&p) == SHOAL_OK && verify(&p) == SHOAL_OK);
    flip_each(&p, p.public_share, shoal_prio3_public_share_len(&p.prio3), verify);
    for (uint32_t i = 0; i < shares; i++)
        flip_each(&p, p.input_shares[i], shoal_prio3_input_share_len(&p.prio3, i), verify);
    CHECK(verify(&p) == SHOAL_OK);
    for (uint32_t i = 0; i < shares; i++)
        flip_each(&p, p.verifier_shares[i], shoal_prio3_verifier_share_len(&p.prio3),
                  after_verifiers);
    CHECK(after_verifiers(&p) == SHOAL_OK);
    flip_each(&p, p.message, shoal_prio3_message_len(&p.prio3), after_message);
    CHECK(verify(&p) == SHOAL_OK);
    close_parties(&p);
}

#endif
