// SPDX-License-Identifier: Apache-2.0
// Huge pages and prefaulting by madvise; see agg_pages.h.
#include "agg_pages.h"

#ifdef __linux__

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uintptr_t)2 << 20)

void agg_pages_advise(void *memory, size_t bytes)
{
    uintptr_t at = (uintptr_t)memory, first = (at + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = (at + bytes) / HUGE_PAGE * HUGE_PAGE;
    if (memory == NULL || first >= end) return;
    (void)madvise((char *)memory + (first - at), end - first,
                  MADV_HUGEPAGE); // only a hint
}

#define PAGE ((uintptr_t)64 << 10) // a multiple of every page size

void agg_pages_prefault(void *memory, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    uintptr_t at = (uintptr_t)memory, first = (at + PAGE - 1) / PAGE * PAGE,
              end = (at + bytes) / PAGE * PAGE;
    if (memory == NULL || first >= end) return;
    (void)madvise((char *)memory + (first - at), end - first,
                  MADV_POPULATE_WRITE); // only a hint
#else
    (void)memory;
    (void)bytes;
#endif
}

#else

void agg_pages_prefault(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

void agg_pages_advise(void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
}

#endif
