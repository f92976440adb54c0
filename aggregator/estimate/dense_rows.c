// SPDX-License-Identifier: Apache-2.0
// The portable form, and the choice; see dense_rows.h.
#define DENSE_ROWS_VARIANT agg_dense_rows_portable
#include "dense_rows_body.h"

agg_dense_rows agg_dense_rows_of(agg_cpu cpu)
{
#ifdef SHOAL_X86
    static const agg_dense_rows variants[AGG_CPU_COUNT] = {
        agg_dense_rows_portable, agg_dense_rows_avx2, agg_dense_rows_avx512};
    return variants[cpu];
#else
    (void)cpu;
    return agg_dense_rows_portable;
#endif
}
