// SPDX-License-Identifier: Apache-2.0
// Branch-free arithmetic on 64-bit words: 64 x 64 -> 128 bit products, sums with carries, and
// choices by mask. Private to the core.
// wide_mul_portable is the reference product. On machines with a 128-bit multiply instruction,
// wide_mul uses the compiler's 128-bit integer instead.
#ifndef SHOAL_WIDE_H
#define SHOAL_WIDE_H

#include <stdint.h>

// The 128-bit number high * 2^64 + low.
typedef struct wide {
    uint64_t low, high;
} wide;

// Returns: a * b, from four products of 32-bit halves.
static inline wide wide_mul_portable(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
    uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10; // < 3 * 2^32
    return (wide){.low = middle << 32 | (uint32_t)p00,
                  .high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32)};
}

#ifdef __SIZEOF_INT128__
// Returns: a * b, by the compiler's 128-bit integer.
static inline wide wide_mul_int128(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (wide){.low = (uint64_t)product, .high = (uint64_t)(product >> 64)};
}
#endif

// Returns: a * b. WebAssembly has no 128-bit multiply instruction, so it uses the portable product.
// With the 128-bit integer, the compiler would call a library function that returns through memory.
static inline wide wide_mul(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__) && !defined(__wasm__)
    return wide_mul_int128(a, b);
#else
    return wide_mul_portable(a, b);
#endif
}

// Returns: a + b mod 2^64. Adds 1 to *carry if the sum overflows.
static inline uint64_t wide_add(uint64_t a, uint64_t b, uint64_t *carry)
{
    uint64_t sum = a + b;
    *carry += sum < a;
    return sum;
}

// Returns: a - b mod 2^64. Adds 1 to *borrow if a < b.
static inline uint64_t wide_sub(uint64_t a, uint64_t b, uint64_t *borrow)
{
    *borrow += a < b;
    return a - b;
}

// Returns: all ones if the condition is 1, zero if it is 0. The empty asm hides the mask's value
// from the compiler, which could otherwise turn a choice by this mask into a branch.
static inline uint64_t wide_mask(uint64_t condition)
{
    uint64_t mask = 0 - condition;
#if defined(__GNUC__) || defined(__clang__)
    __asm__("" : "+r"(mask));
#endif
    return mask;
}

// Returns: `yes` if the condition (0 or 1) is 1, otherwise `no`.
static inline uint64_t wide_choose(uint64_t condition, uint64_t yes, uint64_t no)
{
    return no ^ ((yes ^ no) & wide_mask(condition));
}

#endif
