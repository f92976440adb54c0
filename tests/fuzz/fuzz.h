// SPDX-License-Identifier: Apache-2.0
// What every fuzz target has: its entry, its seeds, and how it says that its property broke.
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Aborts, so that the fuzzer keeps the input.
#define PROPERTY(condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

// A target may define this: writes its index-th good input, of at most cap bytes (longer ones cost
// time and reach nothing more), made of a sample. The replay runs them like the files of its
// corpus, so that a new mechanism needs no file. Returns: its length; 0 where that sample makes
// none.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index);

#endif
