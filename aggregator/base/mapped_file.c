// SPDX-License-Identifier: Apache-2.0
// Maps files with mmap; see mapped_file.h.
#include "mapped_file.h"

#include <stdbool.h>
#include <string.h>

#ifdef __wasi__

bool agg_mapped_file_open(agg_mapped_file *file, FILE *stream)
{
    (void)stream;
    memset(file, 0, sizeof *file);
    return false;
}

void agg_mapped_file_drop(const agg_mapped_file *file, size_t first, size_t last)
{
    (void)file;
    (void)first;
    (void)last;
}

void agg_mapped_file_close(agg_mapped_file *file)
{
    memset(file, 0, sizeof *file);
}

#else

#include <sys/mman.h>
#include <sys/stat.h>

#include "call_streams.h"

#define PAGE ((size_t)64 << 10) // a multiple of every page size

static void advise(const agg_mapped_file *file, size_t first, size_t len, int advice)
{
    (void)madvise((void *)(uintptr_t)(file->bytes + first), len,
                  advice); // only a hint
}

bool agg_mapped_file_open(agg_mapped_file *file, FILE *stream)
{
    struct stat about;
    memset(file, 0, sizeof *file);
    if (agg_call_current() != NULL) return false; // SIGBUS would end the host
    if (fstat(fileno(stream), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0)
        return false;
    if ((uintmax_t)about.st_size > SIZE_MAX / 2) return false;
    size_t len = (size_t)about.st_size;
    void *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
    if (bytes == MAP_FAILED) return false;
    *file = (agg_mapped_file){bytes, len};
    advise(file, 0, len, MADV_SEQUENTIAL);
    return true;
}

void agg_mapped_file_drop(const agg_mapped_file *file, size_t first, size_t last)
{
    first = (first + PAGE - 1) / PAGE * PAGE;
    last = last / PAGE * PAGE;
    if (file->bytes != NULL && first < last) advise(file, first, last - first, MADV_DONTNEED);
}

void agg_mapped_file_close(agg_mapped_file *file)
{
    if (file->bytes != NULL) (void)munmap((void *)(uintptr_t)file->bytes, file->len);
    memset(file, 0, sizeof *file);
}

#endif
