// SPDX-License-Identifier: Apache-2.0
// The instruction sets of the machine. A hot loop has a portable form, which is the reference for
// ever, and may have variants in files of their own, *_avx2.c and *_avx512.c. Each hot loop calls
// agg_cpu_chosen in one place to pick its variant. All variants give the same bytes.
//
// The environment variable SHOAL_CPU (portable, avx2, avx512) selects a lesser set than the machine
// has: for tests, for benchmarks, and to tell a broken variant from a broken machine. A greater set
// than the machine has, or any other word, changes nothing.
#ifndef AGG_CPU_H
#define AGG_CPU_H

// Instruction sets in rising order; each includes the ones before it.
typedef enum agg_cpu {
    AGG_CPU_PORTABLE,
    AGG_CPU_AVX2,  // x86-64 with AVX2: Haswell, Zen and later
    AGG_CPU_AVX512 // F, BW, DQ, VL and IFMA: Ice Lake, Zen 4 and later. Older machines with AVX-512
                   // run slower with it, so they use AVX2.
} agg_cpu;

#define AGG_CPU_COUNT 3

// Returns: the best set that this machine and this build have.
agg_cpu agg_cpu_best(void);

// Returns: the set to use: the best one, or a lesser one if SHOAL_CPU names it.
// Cost: reads the environment on each call, so keep it out of inner loops.
agg_cpu agg_cpu_chosen(void);

// Returns: "portable", "avx2" or "avx512".
const char *agg_cpu_name(agg_cpu cpu);

#endif
