// SPDX-License-Identifier: Apache-2.0
// Prio3 in the form of VDAF-08 (draft-irtf-cfrg-vdaf-08): Count, Sum, SumVec and Histogram for the
// DAP-09 clients that are in use today. It is the Prio3 of prio3.h with other constants, so every
// function there accepts a shoal_prio3 made here. The differences:
//
//     derived values   VERSION byte 8; identifiers 0 .. 3 instead of 1 .. 4; a XOF without a
//                      context, with a tag of at most 255 bytes; seeds, messages and the
//                      verification key of 16 bytes
//     helper's share   one seed for the measurement and one for the proofs
//     proof            the gadget's polynomial by coefficients; one element of joint randomness,
//                      whose powers cover the whole measurement and also reduce the outputs;
//                      Sum takes joint randomness, over Field128
//
// Privacy: as in prio3.h, except that there is no context. Nothing in a share says for which
// application it was made; the HPKE layer of DAP-09 binds the task. Seeds of 16 bytes leave a
// smaller margin when very many reports are attacked together. Use VDAF-08 for clients that cannot
// send draft 18, between aggregators that have both agreed to it.
#ifndef SHOAL_VDAF08_H
#define SHOAL_VDAF08_H

#include "prio3.h"

#define SHOAL_VDAF08_VERSION 8
#define SHOAL_VDAF08_VERIFY_KEY SHOAL_XOF_SEED_08 // a longer key is cut to its first 16 bytes

// Fills *prio3 with the VDAF-08 form of what shoal_prio3_init makes of the same parameters.
//   max: Sum, SumVec: 2^bits - 1, with 1 .. 63 bits
// Every ctx used with *prio3 must be empty. SumVec with 3 .. 255 proofs is libprio's
// Prio3SumVecField64Multiproof.
// Returns: SHOAL_ERR_ARGUMENT for a circuit that VDAF-08 does not have; SHOAL_ERR_RANGE for a
// number outside its range.
shoal_err shoal_vdaf08_init(shoal_prio3 *prio3,
                            const shoal_prio3_parameters *parameters) SHOAL_MUST_CHECK;

// Converts *flp, which shoal_flp_init made, to VDAF-08's proofs. shoal_vdaf08_init does this too.
void shoal_vdaf08_flp(shoal_flp *flp);

#endif
