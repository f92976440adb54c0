// SPDX-License-Identifier: Apache-2.0
// Which instruction sets the machine has. Hot loops have a portable form, for ever the reference,
// and may have variants of it in files of their own, *_avx2.c and *_avx512.c: each hot loop asks
// here, in one place, which of them to take. All give the same bytes.
//
// The environment variable SHOAL_CPU (portable, avx2, avx512) takes a lesser set than the machine
// has: for tests, for benchmarks, and to tell a broken variant from a broken machine. A greater one
// than it has, or any other word, changes nothing.
#ifndef AGG_CPU_H
#define AGG_CPU_H

// Each holds those before it.
typedef enum agg_cpu {
    AGG_CPU_PORTABLE,
    AGG_CPU_AVX2,  // x86-64 with AVX2: Haswell, Zen and later
    AGG_CPU_AVX512 // F, BW, DQ, VL and IFMA: Ice Lake, Zen 4 and later. Earlier ones are slowed
                   // down by it and take AVX2.
} agg_cpu;

#define AGG_CPU_COUNT 3

// Returns: the best that this machine and this build have.
agg_cpu agg_cpu_best(void);

// Returns: what to take: the best, or less where SHOAL_CPU says so. Asks the environment anew: not
// for inner loops.
agg_cpu agg_cpu_chosen(void);

// Returns: "portable", "avx2", "avx512".
const char *agg_cpu_name(agg_cpu cpu);

#endif
