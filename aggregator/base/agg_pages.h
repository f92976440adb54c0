// SPDX-License-Identifier: Apache-2.0
// Huge pages and prefaulting for large arrays. Both are hints to the kernel: if it ignores them, or
// under WASI, everything works the same, only slower.
#ifndef AGG_PAGES_H
#define AGG_PAGES_H

#include <stddef.h>

// Asks the kernel to back the whole 2 MiB pages of [memory, memory + bytes) with huge pages. The
// first use of the memory then takes half the time, and scattered writes miss the TLB less often.
//   memory: some MiB or more, fresh from agg_alloc and not yet written to; freed as usual
void agg_pages_advise(void *memory, size_t bytes);

// Prefaults memory for writing, before several threads write to it. A fresh page that is read
// first maps the kernel's shared page of zeros, and its first write then maps another page, which
// interrupts every thread of the process.
void agg_pages_prefault(void *memory, size_t bytes);

#endif
