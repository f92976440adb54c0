// SPDX-License-Identifier: Apache-2.0
// Huge pages for large arrays: the kernel is asked to back them with pages of 2 MiB, which makes
// their first use twice as fast and spares scattered writes a miss in the page table each. Only a
// request: without it, or where there is none (WASI), everything works the same.
#ifndef AGG_PAGES_H
#define AGG_PAGES_H

#include <stddef.h>

// Asks for huge pages below the whole ones of [memory, memory + bytes). Memory that agg_alloc has
// just given, of some MiB or more: before anything was written. It is freed as ever.
void agg_pages_advise(void *memory, size_t bytes);

// Brings memory in for writing, where several threads will write. A page of zeros that is read
// first is brought in as one that all share, and the first write makes another of it: which
// interrupts every thread, page by page.
void agg_pages_bring(void *memory, size_t bytes);

#endif
