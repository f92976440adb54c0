// SPDX-License-Identifier: Apache-2.0
// Detects instruction sets with the compiler's builtin; see agg_cpu.h.
#include "agg_cpu.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *agg_cpu_name(agg_cpu cpu)
{
    static const char *const names[AGG_CPU_COUNT] = {"portable", "avx2", "avx512"};
    return names[cpu];
}

agg_cpu agg_cpu_best(void)
{
#ifdef SHOAL_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2")) return AGG_CPU_PORTABLE;
    bool has_all = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512ifma");
    return has_all ? AGG_CPU_AVX512 : AGG_CPU_AVX2;
#else
    return AGG_CPU_PORTABLE;
#endif
}

agg_cpu agg_cpu_chosen(void)
{
    agg_cpu best = agg_cpu_best();
    const char *wanted = getenv("SHOAL_CPU");
    if (wanted == NULL) return best;
    for (agg_cpu cpu = AGG_CPU_PORTABLE; cpu < best; cpu++)
        if (strcmp(wanted, agg_cpu_name(cpu)) == 0) return cpu;
    return best;
}
