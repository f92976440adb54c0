// SPDX-License-Identifier: Apache-2.0
// The portable variant, and the choice among variants; see hex_digits.h.
#include "hex_digits.h"

#include <stdbool.h>

#include "field_text.h"

bool agg_hex_digits_portable(uint8_t *bytes, size_t len, const char *digits)
{
    return shoal_parse_hex(bytes, len, &digits) == SHOAL_OK;
}

agg_hex_digits agg_hex_digits_of(agg_cpu cpu)
{
#ifdef SHOAL_X86
    if (cpu >= AGG_CPU_AVX2) return agg_hex_digits_avx2;
#endif
    (void)cpu;
    return agg_hex_digits_portable;
}
