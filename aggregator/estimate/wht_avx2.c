// SPDX-License-Identifier: Apache-2.0
// The transforms of wht_body.h, which the compiler vectorizes with AVX2: eight numbers of 32 bits
// at a time, not four.
#define WHT_VARIANT agg_wht_avx2
#include "wht_variant.h"
