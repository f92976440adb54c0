// SPDX-License-Identifier: Apache-2.0
// Chooses the variant of bit_columns.h for an instruction set (agg_cpu.h). No other file knows
// which variants a build has.
#include "bit_columns.h"

const agg_bit_columns *agg_bit_columns_of(agg_cpu cpu)
{
#ifdef SHOAL_X86
    if (cpu == AGG_CPU_AVX512) return &agg_bit_columns_avx512;
    if (cpu == AGG_CPU_AVX2) return &agg_bit_columns_avx2;
#endif
    (void)cpu;
    return &agg_bit_columns_portable;
}
