// SPDX-License-Identifier: Apache-2.0
// Proving and querying over Field128 with AVX-512 IFMA. The results are those of flp_field.h, which
// is the reference and is to be read first. Private to the core.
#ifndef SHOAL_FLP128_LANES_H
#define SHOAL_FLP128_LANES_H

#include "field128.h"
#include "flp.h"
#include "prio_cpu.h"

// Returns whether a circuit of Field128 has this variant: one that checks ranges by a parallel sum,
// with 8 to 512 values of a wire and at most 1,024 pairs. Others are small or rare.
static inline bool shoal_flp128_has_lanes(const shoal_flp *flp, uint32_t cpu)
{
    return cpu >= SHOAL_PRIO_AVX512 && flp->circuit >= SHOAL_CIRCUIT_SUM_VEC &&
           flp->wire_len >= 8 && flp->wire_len <= 512 && flp->chunk <= 1024;
}

// Returns: the 64-bit words of scratch that these functions need after the reference's.
static inline size_t shoal_flp128_lanes_words(const shoal_flp *flp, uint32_t cpu)
{
    return shoal_flp128_has_lanes(flp, cpu) ? 129 * (size_t)flp->wire_len : 0;
}

// Does what flp_prove does, with the same arguments.
//   scratch: shoal_flp_scratch(flp) elements and shoal_flp128_lanes_words words
void shoal_flp128_prove_avx512(shoal_field128 *proof, const shoal_flp *flp,
                               const shoal_field128 *meas, const shoal_field128 *prove_rand,
                               const shoal_field128 *joint_rand, shoal_field128 *scratch);

// Does what flp_query does, with the same arguments and the same scratch.
uint64_t shoal_flp128_query_avx512(shoal_field128 *verifier, const shoal_flp *flp,
                                   const shoal_field128 *meas, const shoal_field128 *proof,
                                   const shoal_field128 *query_rand,
                                   const shoal_field128 *joint_rand, unsigned shares,
                                   shoal_field128 *scratch);

#endif
