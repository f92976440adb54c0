// SPDX-License-Identifier: Apache-2.0
// The transforms of both widths, as one file's instruction set makes them: the same C in each. A
// variant's file names its table in WHT_VARIANT and includes this; wht.c picks one. Private to
// wht*.c.
#ifndef WHT_VARIANT_H
#define WHT_VARIANT_H

#include <stddef.h>
#include <stdint.h>

// Numbers are unsigned: sums wrap.
typedef struct wht_transforms {
    void (*whole_32)(uint32_t *x, size_t n);
    void (*whole_64)(uint64_t *x, size_t n);
    void (*from_64)(uint64_t *x, size_t n, size_t h); // only the distances from h on
} wht_transforms;

extern const wht_transforms agg_wht_portable, agg_wht_avx2;

#define PIECE ((size_t)4096) // numbers that stay in the first-level cache

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
