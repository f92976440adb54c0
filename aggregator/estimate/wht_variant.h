// SPDX-License-Identifier: Apache-2.0
// The transforms of both widths for one instruction set. All variants are the same C. A variant's
// file defines WHT_VARIANT as the name of its table and includes this file; wht.c picks a variant.
// Private to wht*.c.
#ifndef WHT_VARIANT_H
#define WHT_VARIANT_H

#include <stddef.h>
#include <stdint.h>

// The transforms of one variant. Numbers are unsigned, so that sums wrap.
typedef struct wht_transforms {
    void (*whole_32)(uint32_t *x, size_t n);
    void (*whole_64)(uint64_t *x, size_t n);
    void (*from_64)(uint64_t *x, size_t n, size_t h); // the distances from h on only
} wht_transforms;

extern const wht_transforms agg_wht_portable, agg_wht_avx2;

#define PIECE ((size_t)4096) // numbers that fit the first-level cache

#define NUMBER uint32_t
#define NAMED(name) name##_32
#include "wht_body.h"
#undef NUMBER
#undef NAMED
#define NUMBER uint64_t
#define NAMED(name) name##_64
#include "wht_body.h"
#undef NUMBER
#undef NAMED

const wht_transforms WHT_VARIANT = {transform_32, transform_64, transform_from_64};

#endif
