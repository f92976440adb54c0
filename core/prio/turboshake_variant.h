// SPDX-License-Identifier: Apache-2.0
// Variants of TurboSHAKE128's permutation for instruction sets. turboshake.c has the reference and
// picks; all give the same state. Private to the core.
#ifndef SHOAL_TURBOSHAKE_VARIANT_H
#define SHOAL_TURBOSHAKE_VARIANT_H

#include <stdint.h>

// Constants of iota in rounds 12 to 23 (FIPS 202 section 3.2.5).
extern const uint64_t SHOAL_TURBOSHAKE_ROUND[12];

void shoal_turboshake_permute_portable(uint64_t lanes[25]);
// Only where SHOAL_X86 is defined, and on machines with the instructions (prio_cpu.h).
void shoal_turboshake_permute_avx2(uint64_t lanes[25]);

#endif
