// SPDX-License-Identifier: Apache-2.0
// Prio3 as VDAF-08 has it (draft-irtf-cfrg-vdaf-08): Count, Sum, SumVec and Histogram of the DAP-09
// clients that are in use today. It is the Prio3 of prio3.h with other data, so that every function
// there takes what is made here. What differs:
//
//   derived values   VERSION byte 8; identifiers 0 .. 3 for 1 .. 4; the XOF without a context and
//   with a tag of at most 255
//                    bytes; seeds, messages and the verification key of 16 bytes
//   helper's share   one seed for the measurement and one for the proofs
//   proof            the gadget's polynomial by coefficients; one element of joint randomness whose
//   powers go over the whole
//                    measurement, and which reduces the outputs as well; Sum takes joint
//                    randomness, over Field128
//
// Privacy: as in prio3.h, with one thing less: no context, so that nothing in a share says for
// which application it was made. The HPKE layer of DAP-09 binds the task. The seeds of 16 bytes
// leave less of a margin when very many reports are attacked together. Use it for clients that
// cannot send draft 18, between aggregators that both know so.
#ifndef SHOAL_VDAF08_H
#define SHOAL_VDAF08_H

#include "prio3.h"

#define SHOAL_VDAF08_VERSION 8
#define SHOAL_VDAF08_VERIFY_KEY SHOAL_XOF_SEED_08 // of a longer key the first 16 bytes are used

// Makes *prio3 the VDAF-08 form of what shoal_prio3_init makes of the same parameters.
//   max: Sum, SumVec: 2^bits - 1, with 1 .. 63 bits
// Every ctx given with it must be empty. SumVec with 3 .. 255 proofs is libprio's
// Prio3SumVecField64Multiproof. Returns: SHOAL_ERR_ARGUMENT for a circuit that VDAF-08 does not
// have; SHOAL_ERR_RANGE for a number outside its range
shoal_err shoal_vdaf08_init(shoal_prio3 *prio3,
                            const shoal_prio3_parameters *parameters) SHOAL_MUST_CHECK;

// Of shoal_vdaf08_init, the part about proofs: *flp, which shoal_flp_init made, becomes VDAF-08's.
void shoal_vdaf08_flp(shoal_flp *flp);

#endif
