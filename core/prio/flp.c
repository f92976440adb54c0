// SPDX-License-Identifier: Apache-2.0
// Computes the lengths of a fully linear proof; see flp.h.
// Source: draft-irtf-cfrg-vdaf sections "Validity Circuits" and "Variants".
#include "flp.h"

#include <stdbool.h>

static uint32_t bit_length(uint64_t x)
{
    uint32_t n = 0;
    for (; x > 0; x >>= 1) n++;
    return n;
}

// Sizes measurement, gadget and outputs of the circuits over vectors, which check ranges by a
// parallel sum.
static shoal_err size_vector(shoal_flp *flp, uint32_t chunk)
{
    uint64_t meas_len = flp->length;
    if (flp->circuit == SHOAL_CIRCUIT_SUM_VEC) meas_len *= flp->bits;
    if (flp->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC) meas_len += flp->bits;
    if (meas_len > SHOAL_FLP_MEAS_MAX || chunk == 0 || chunk > meas_len) return SHOAL_ERR_RANGE;
    flp->meas_len = (uint32_t)meas_len;
    flp->output_len = flp->length;
    flp->chunk = chunk;
    flp->calls = (flp->meas_len + chunk - 1) / chunk;
    flp->arity = 2 * chunk;
    flp->outputs = flp->circuit == SHOAL_CIRCUIT_SUM_VEC ? 1 : 2;
    flp->joint_rand_len = flp->calls;
    return SHOAL_OK;
}

// Sizes Count and Sum.
static void size_scalar(shoal_flp *flp)
{
    bool is_sum = flp->circuit == SHOAL_CIRCUIT_SUM;
    flp->length = flp->output_len = flp->chunk = 1;
    flp->meas_len = flp->calls = flp->outputs = is_sum ? flp->bits : 1;
    flp->arity = is_sum ? 1 : 2;
}

shoal_err shoal_flp_init(shoal_flp *flp, shoal_circuit circuit, uint32_t length, uint64_t max,
                         uint32_t chunk)
{
    if (circuit < SHOAL_CIRCUIT_COUNT || circuit > SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC)
        return SHOAL_ERR_ARGUMENT;
    bool is_scalar = circuit == SHOAL_CIRCUIT_COUNT || circuit == SHOAL_CIRCUIT_SUM;
    bool has_max = circuit != SHOAL_CIRCUIT_COUNT && circuit != SHOAL_CIRCUIT_HISTOGRAM;
    uint64_t largest = circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC ? length : UINT64_MAX >> 1;
    if (!is_scalar && (length == 0 || length > SHOAL_FLP_MEAS_MAX)) return SHOAL_ERR_RANGE;
    if (has_max && (max == 0 || max > largest)) return SHOAL_ERR_RANGE;
    shoal_flp sized = {.circuit = circuit, .length = length, .max = has_max ? max : 0};
    sized.bits = bit_length(sized.max);
    if (is_scalar)
        size_scalar(&sized);
    else {
        shoal_err err = size_vector(&sized, chunk);
        if (err != SHOAL_OK) return err;
    }
    sized.wire_len = 1u << bit_length(sized.calls);
    sized.query_rand_len = 1 + (sized.outputs > 1 ? sized.outputs : 0);
    sized.proof_len = sized.arity + 2 * sized.wire_len - 1;
    sized.verifier_len = 1 + sized.arity + 1;
    *flp = sized;
    return SHOAL_OK;
}

uint32_t shoal_flp_best_chunk(uint32_t meas_len)
{
    uint32_t best = meas_len, shortest = UINT32_MAX;
    // Wire polynomials of p values have room for p - 1 calls. The smallest chunk that needs no more
    // calls is best for that p.
    for (uint32_t p = 2; p / 2 <= meas_len; p *= 2) {
        uint32_t chunk = (meas_len + p - 2) / (p - 1), proof_len = 2 * chunk + 2 * p - 1;
        if (proof_len >= shortest) continue;
        shortest = proof_len;
        best = chunk;
    }
    return best;
}

size_t shoal_flp_scratch(const shoal_flp *flp)
{
    return (flp->has_coefficients ? 10 : 8) * (size_t)flp->wire_len;
}
