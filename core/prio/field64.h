// SPDX-License-Identifier: Apache-2.0
// Field64: the integers modulo p = 2^64 - 2^32 + 1 (draft-irtf-cfrg-vdaf section "Parameters").
// Private to the core.
//
// An element is always its canonical representative, below p, so its bytes are its value. No
// operation branches or indexes on a value; only load() reports whether bytes are canonical. Code
// that both fields share is in field_vector.h.
#ifndef SHOAL_FIELD64_H
#define SHOAL_FIELD64_H

#include "bytes.h"
#include "wide.h"

#define SHOAL_FIELD64_SIZE 8       // bytes of an element
#define SHOAL_FIELD64_LOG_ORDER 32 // the generator's order is 2^32

typedef struct shoal_field64 {
    uint64_t value;
} shoal_field64;
_Static_assert(sizeof(shoal_field64) == SHOAL_FIELD64_SIZE, "an element is as long as its bytes");

#define FIELD64_P 0xffffffff00000001u
#define FIELD64_2_64 0xffffffffu // 2^64 mod p

static inline shoal_field64 shoal_field64_of(uint64_t value)
{
    return (shoal_field64){wide_choose(value >= FIELD64_P, value - FIELD64_P, value)};
}

static inline shoal_field64 shoal_field64_add(shoal_field64 a, shoal_field64 b)
{
    uint64_t carry = 0, sum = wide_add(a.value, b.value, &carry);
    return (shoal_field64){sum - (FIELD64_P & wide_mask(carry | (sum >= FIELD64_P)))};
}

static inline shoal_field64 shoal_field64_sub(shoal_field64 a, shoal_field64 b)
{
    uint64_t borrow = 0, difference = wide_sub(a.value, b.value, &borrow);
    return (shoal_field64){difference + (FIELD64_P & wide_mask(borrow))};
}

// Returns: a b mod p. 2^64 = 2^32 - 1 and 2^96 = -1 mod p, so low + 2^64 (x + 2^32 y) = low - y + x
// (2^32 - 1).
static inline shoal_field64 shoal_field64_mul(shoal_field64 a, shoal_field64 b)
{
    wide product = wide_mul(a.value, b.value);
    uint64_t borrow = 0, carry = 0;
    uint64_t rest = wide_sub(product.low, product.high >> 32, &borrow);
    rest -= FIELD64_2_64 & wide_mask(borrow);
    rest = wide_add(rest, (uint32_t)product.high * (uint64_t)FIELD64_2_64, &carry);
    return shoal_field64_of(rest + (FIELD64_2_64 & wide_mask(carry)));
}

static inline uint64_t shoal_field64_is_equal(shoal_field64 a, shoal_field64 b)
{
    return a.value == b.value;
}

// Reads SHOAL_FIELD64_SIZE little-endian bytes.
// Returns: 1 if they are canonical, else 0.
static inline uint64_t shoal_field64_load(shoal_field64 *element, const uint8_t *bytes)
{
    element->value = load64_le(bytes);
    return element->value < FIELD64_P;
}

static inline void shoal_field64_store(uint8_t *bytes, shoal_field64 element)
{
    store64_le(bytes, element.value);
}

// Writes the element to *value.
// Returns: 1, because every element is below 2^64.
static inline uint64_t shoal_field64_value(uint64_t *value, shoal_field64 element)
{
    *value = element.value;
    return 1;
}

// Returns: 7^((p - 1) / 2^32), which generates the roots of unity of power-of-two order.
static inline shoal_field64 shoal_field64_generator(void)
{
    return (shoal_field64){0x185629dcda58878cu};
}

// Returns: 1/2.
static inline shoal_field64 shoal_field64_half(void)
{
    return (shoal_field64){0x7fffffff80000001u};
}

#endif
