// SPDX-License-Identifier: Apache-2.0
// Holds the constants of VDAF-08's Prio3; see vdaf08.h.
// Source: draft-irtf-cfrg-vdaf-08 sections "XofTurboShake128", "Construction" of Prio3, "A
// General-Purpose FLP" and "Instantiations".
#include "vdaf08.h"

#include <stdbool.h>

// Returns the number of elements of joint randomness for all calls of the gadget together.
static uint32_t joint_rand_len(shoal_circuit circuit)
{
    if (circuit == SHOAL_CIRCUIT_COUNT) return 0;
    return circuit == SHOAL_CIRCUIT_HISTOGRAM ? 2 : 1;
}

void shoal_vdaf08_flp(shoal_flp *flp)
{
    flp->joint_rand_len = joint_rand_len(flp->circuit);
    flp->query_rand_len = 1;
    flp->has_coefficients = true;
    flp->has_powers = flp->joint_rand_len > 0;
}

shoal_err shoal_vdaf08_init(shoal_prio3 *prio3, const shoal_prio3_parameters *parameters)
{
    shoal_circuit circuit = parameters->circuit;
    bool has_bits = circuit == SHOAL_CIRCUIT_SUM || circuit == SHOAL_CIRCUIT_SUM_VEC;
    if (circuit > SHOAL_CIRCUIT_HISTOGRAM) return SHOAL_ERR_ARGUMENT;
    if (has_bits && (parameters->max & (parameters->max + 1)) != 0)
        return SHOAL_ERR_RANGE; // max must be 2^bits - 1: every digit is binary
    shoal_prio3 made;
    shoal_err err = shoal_prio3_init(&made, parameters);
    if (err != SHOAL_OK) return err;
    shoal_vdaf08_flp(&made.flp);
    if (parameters->proofs == 1) {
        made.algorithm = (uint32_t)circuit - 1;
        made.element = circuit == SHOAL_CIRCUIT_COUNT ? 8 : 16;
    }
    made.version = SHOAL_VDAF08_VERSION;
    made.seed = SHOAL_XOF_SEED_08;
    made.share_seeds = 2;
    made.ctx_max = 0;
    *prio3 = made;
    return SHOAL_OK;
}
