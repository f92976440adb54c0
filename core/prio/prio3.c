// SPDX-License-Identifier: Apache-2.0
// Implements Prio3's messages and lengths; see prio3.h. Field elements are handled in
// prio3_field.h.
// Source: draft-irtf-cfrg-vdaf sections "Specification" of Prio3, "Message Serialization" and
// "Variants".
#include "prio3.h"

#include <stdbool.h>

#include "bytes.h"
#include "flp128_lanes.h"
#include "prio3_private.h"

#define PROOF_ELEMENTS_MAX (1u << 22) // in all proofs of a report; keeps every length below 2^32

shoal_err shoal_prio3_init(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters)
{
    const shoal_prio3_parameters *p = parameters;
    shoal_prio3 made = {.algorithm = (uint32_t)p->circuit,
                        .shares = p->shares,
                        .proofs = p->proofs,
                        .element = 16,
                        .version = SHOAL_PRIO3_VERSION,
                        .seed = SHOAL_XOF_SEED,
                        .share_seeds = 1,
                        .ctx_max = 65535 - PRIO3_TAG,
                        .cpu = shoal_prio_cpu_best()};
    bool is_multiproof = p->circuit == SHOAL_CIRCUIT_SUM_VEC && p->proofs >= 3 && p->proofs <= 255;
    shoal_err err = shoal_flp_init(&made.flp, p->circuit, p->length, p->max, p->chunk);
    if (err != SHOAL_OK) return err;
    if (p->shares < 2 || p->shares > SHOAL_PRIO3_SHARES_MAX || (p->proofs != 1 && !is_multiproof))
        return SHOAL_ERR_RANGE;
    if ((uint64_t)made.flp.proof_len * p->proofs > PROOF_ELEMENTS_MAX) return SHOAL_ERR_RANGE;
    if (is_multiproof) made.algorithm = 0xffffffff;
    if (is_multiproof || made.flp.joint_rand_len == 0) made.element = 8;
    *prio3 = made;
    return SHOAL_OK;
}

static const prio3_field *field_of(const shoal_prio3 *prio3)
{
    return prio3->element == 8 ? &shoal_prio3_field64 : &shoal_prio3_field128;
}

// Returns the bytes of an aggregator's blind, 0 without joint randomness.
static size_t blind_len(const shoal_prio3 *prio3)
{
    return prio3->flp.joint_rand_len > 0 ? prio3->seed : 0;
}

// Returns the bytes of the seeds in a helper's share.
static size_t seeds_len(const shoal_prio3 *prio3)
{
    return (size_t)prio3->seed * prio3->share_seeds;
}

size_t shoal_prio3_rand_len(const shoal_prio3 *prio3)
{
    return seeds_len(prio3) * (prio3->shares - 1) + blind_len(prio3) * prio3->shares +
           prio3->seed /* the prover's seed */;
}

static size_t leader_elements(const shoal_prio3 *prio3)
{
    return prio3->flp.meas_len + (size_t)prio3->flp.proof_len * prio3->proofs;
}

size_t shoal_prio3_input_share_len(const shoal_prio3 *prio3, uint32_t aggregator)
{
    return blind_len(prio3) +
           (aggregator > 0 ? seeds_len(prio3) : leader_elements(prio3) * prio3->element);
}

static size_t verifier_elements(const shoal_prio3 *prio3)
{
    return (size_t)prio3->flp.verifier_len * prio3->proofs;
}

size_t shoal_prio3_verifier_share_len(const shoal_prio3 *prio3)
{
    return verifier_elements(prio3) * prio3->element + shoal_prio3_message_len(prio3);
}

size_t shoal_prio3_output_share_len(const shoal_prio3 *prio3)
{
    return (size_t)prio3->flp.output_len * prio3->element;
}

size_t shoal_prio3_state_len(const shoal_prio3 *prio3)
{
    return shoal_prio3_output_share_len(prio3) + shoal_prio3_message_len(prio3);
}

size_t shoal_prio3_scratch_words(const shoal_prio3 *prio3)
{
    const shoal_flp *flp = &prio3->flp;
    size_t of_a_proof =
        flp->arity + flp->query_rand_len + flp->joint_rand_len + 2 * (size_t)flp->verifier_len;
    size_t elements = flp->meas_len + leader_elements(prio3) + prio3->proofs * of_a_proof +
                      shoal_flp_scratch(flp);
    size_t words = elements * (prio3->element / 8);
    return prio3->element == 16 ? words + shoal_flp128_lanes_words(flp, prio3->cpu) : words;
}

static shoal_err check_len(shoal_prio3_bytes message, size_t len)
{
    if (message.len < len) return SHOAL_ERR_TRUNCATED;
    return message.len > len ? SHOAL_ERR_EXTRA : SHOAL_OK;
}

// Divides the random bytes into each helper's share and blind, the leader's blind, and the prover's
// seed.
static prio3_seeds cut_rand(const shoal_prio3 *prio3, const uint8_t *rand)
{
    prio3_seeds seeds = {.prove = NULL};
    bool has_blinds = prio3->flp.joint_rand_len > 0;
    for (uint32_t i = 1; i < prio3->shares; i++) {
        seeds.shares[i] = rand;
        rand += seeds_len(prio3);
        if (has_blinds) seeds.blinds[i] = rand;
        rand += blind_len(prio3);
    }
    seeds.blinds[0] = has_blinds ? rand : NULL;
    seeds.prove = rand + blind_len(prio3);
    return seeds;
}

shoal_err shoal_prio3_shard(uint8_t *public_share, uint8_t *const *input_shares,
                            const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                            const uint64_t *measurement, const uint8_t nonce[SHOAL_PRIO3_NONCE],
                            const uint8_t *rand, uint64_t *scratch)
{
    if (ctx.len > prio3->ctx_max) return SHOAL_ERR_RANGE;
    prio3_seeds seeds = cut_rand(prio3, rand);
    prio3_sharder *sharder =
        prio3->element == 8 ? shoal_field64_prio3_shard : shoal_field128_prio3_shard;
    uint64_t is_valid =
        sharder(input_shares[0], public_share, prio3, ctx, measurement, nonce, &seeds, scratch);
    wipe(scratch, shoal_prio3_scratch_words(prio3) * sizeof *scratch);
    for (uint32_t i = 0; i < prio3->shares; i++) {
        uint8_t *at = input_shares[i];
        if (i > 0) memcpy(at, seeds.shares[i], seeds_len(prio3));
        at += i > 0 ? seeds_len(prio3) : leader_elements(prio3) * prio3->element;
        if (seeds.blinds[i] != NULL) memcpy(at, seeds.blinds[i], prio3->seed);
        if (!is_valid) wipe(input_shares[i], shoal_prio3_input_share_len(prio3, i));
    }
    return is_valid ? SHOAL_OK : SHOAL_ERR_RANGE;
}

shoal_err shoal_prio3_check_share(const shoal_prio3 *prio3, uint32_t aggregator,
                                  shoal_prio3_bytes input_share)
{
    if (aggregator >= prio3->shares) return SHOAL_ERR_ARGUMENT;
    shoal_err err = check_len(input_share, shoal_prio3_input_share_len(prio3, aggregator));
    if (err != SHOAL_OK || aggregator > 0) return err; // a helper's share is seeds: any bytes
    return field_of(prio3)->check(input_share.at, leader_elements(prio3)) ? SHOAL_OK
                                                                          : SHOAL_ERR_RECORD;
}

shoal_err shoal_prio3_verify_init(uint8_t *state, uint8_t *verifier_share, const shoal_prio3 *prio3,
                                  const uint8_t verify_key[SHOAL_PRIO3_VERIFY_KEY],
                                  shoal_prio3_bytes ctx, uint32_t aggregator,
                                  const shoal_prio3_report *report, uint64_t *scratch)
{
    if (aggregator >= prio3->shares) return SHOAL_ERR_ARGUMENT;
    if (ctx.len > prio3->ctx_max) return SHOAL_ERR_RANGE;
    shoal_err err = check_len(report->public_share, shoal_prio3_public_share_len(prio3));
    if (err == SHOAL_OK)
        err = check_len(report->input_share, shoal_prio3_input_share_len(prio3, aggregator));
    if (err != SHOAL_OK) return err;
    uint64_t is_valid = field_of(prio3)->verify(state, verifier_share, prio3, verify_key, ctx,
                                                aggregator, report, scratch);
    wipe(scratch, shoal_prio3_scratch_words(prio3) * sizeof *scratch);
    if (is_valid) return SHOAL_OK;
    wipe(state, shoal_prio3_state_len(prio3));
    wipe(verifier_share, shoal_prio3_verifier_share_len(prio3));
    return SHOAL_ERR_RECORD;
}

shoal_err shoal_prio3_combine(uint8_t *message, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                              const shoal_prio3_bytes *verifier_shares, uint64_t *scratch)
{
    uint8_t parts[SHOAL_PRIO3_SHARES_MAX * SHOAL_XOF_SEED];
    size_t part_len = shoal_prio3_message_len(prio3),
           elements_len = verifier_elements(prio3) * prio3->element;
    if (ctx.len > prio3->ctx_max) return SHOAL_ERR_RANGE;
    for (uint32_t i = 0; i < prio3->shares; i++) {
        shoal_err err = check_len(verifier_shares[i], elements_len + part_len);
        if (err != SHOAL_OK) return err;
        memcpy(parts + i * part_len, verifier_shares[i].at + elements_len, part_len);
    }
    if (!field_of(prio3)->decide(prio3, verifier_shares, scratch)) return SHOAL_ERR_RECORD;
    if (part_len > 0) shoal_prio3_joint_seed(message, prio3, ctx, parts);
    return SHOAL_OK;
}

shoal_err shoal_prio3_verify_next(uint8_t *output_share, const shoal_prio3 *prio3,
                                  const uint8_t *state, shoal_prio3_bytes message)
{
    size_t output_len = shoal_prio3_output_share_len(prio3);
    unsigned difference = 0;
    shoal_err err = check_len(message, shoal_prio3_message_len(prio3));
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < message.len; i++)
        difference |= (unsigned)(state[output_len + i] ^ message.at[i]);
    if (difference != 0) return SHOAL_ERR_RECORD;
    memcpy(output_share, state, output_len);
    return SHOAL_OK;
}

shoal_err shoal_prio3_add(uint8_t *aggregate, const shoal_prio3 *prio3, shoal_prio3_bytes share)
{
    shoal_err err = check_len(share, shoal_prio3_output_share_len(prio3));
    if (err != SHOAL_OK) return err;
    return field_of(prio3)->add(aggregate, share.at, prio3->flp.output_len) ? SHOAL_OK
                                                                            : SHOAL_ERR_RECORD;
}

// Adds the aggregate shares, in the scratch.
static shoal_err add_all(uint8_t *sum, const shoal_prio3 *prio3,
                         const shoal_prio3_bytes *aggregate_shares)
{
    size_t n = prio3->flp.output_len;
    for (uint32_t i = 0; i < prio3->shares; i++) {
        shoal_err err = check_len(aggregate_shares[i], shoal_prio3_output_share_len(prio3));
        if (err != SHOAL_OK) return err;
    }
    memset(sum, 0, shoal_prio3_output_share_len(prio3));
    for (uint32_t i = 0; i < prio3->shares; i++)
        if (!field_of(prio3)->add(sum, aggregate_shares[i].at, n)) return SHOAL_ERR_RECORD;
    return SHOAL_OK;
}

shoal_err shoal_prio3_unshard(uint64_t *sums, const shoal_prio3 *prio3,
                              const shoal_prio3_bytes *aggregate_shares, uint64_t *scratch)
{
    uint8_t *sum = (uint8_t *)scratch;
    shoal_err err = add_all(sum, prio3, aggregate_shares);
    if (err != SHOAL_OK) return err;
    return field_of(prio3)->values(sums, sum, prio3->flp.output_len) ? SHOAL_OK
                                                                     : SHOAL_ERR_OVERFLOW;
}

shoal_err shoal_prio3_add_noise(uint8_t *aggregate, const shoal_prio3 *prio3, const int64_t *noise)
{
    return field_of(prio3)->add_integers(aggregate, noise, prio3->flp.output_len)
               ? SHOAL_OK
               : SHOAL_ERR_RECORD;
}

shoal_err shoal_prio3_unshard_centred(int64_t *sums, const shoal_prio3 *prio3,
                                      const shoal_prio3_bytes *aggregate_shares, uint64_t *scratch)
{
    uint8_t *sum = (uint8_t *)scratch;
    shoal_err err = add_all(sum, prio3, aggregate_shares);
    if (err != SHOAL_OK) return err;
    return field_of(prio3)->centred_values(sums, sum, prio3->flp.output_len) ? SHOAL_OK
                                                                             : SHOAL_ERR_OVERFLOW;
}
