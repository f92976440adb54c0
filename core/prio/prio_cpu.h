// SPDX-License-Identifier: Apache-2.0
// The instruction sets that Prio3 has variants for. All variants give the same bytes; the portable
// code is the reference. An object remembers its variant from its start, so that a caller may
// choose a lesser one: for tests, for benchmarks, and to tell a broken variant from a broken
// machine.
#ifndef SHOAL_PRIO_CPU_H
#define SHOAL_PRIO_CPU_H

#include <stdint.h>

// Instruction sets in rising order; each includes the ones before it.
enum {
    SHOAL_PRIO_PORTABLE,
    SHOAL_PRIO_AVX2,  // x86-64 with AVX2 and BMI2
    SHOAL_PRIO_AVX512 // F, DQ, VL and IFMA
};

// Returns: the best set that this machine and this build have.
static inline uint32_t shoal_prio_cpu_best(void)
{
#ifdef SHOAL_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma"))
        return SHOAL_PRIO_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return SHOAL_PRIO_AVX2;
#endif
    return SHOAL_PRIO_PORTABLE;
}

#endif
