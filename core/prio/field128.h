// SPDX-License-Identifier: Apache-2.0
// Field128: the integers modulo p = 2^128 - 28 * 2^64 + 1 (draft-irtf-cfrg-vdaf section
// "Parameters"). Private to the core.
//
// An element is always its canonical representative, below p, so its bytes are its value. No
// operation branches or indexes on a value; only load() reports whether bytes are canonical. Code
// that both fields share is in field_vector.h.
#ifndef SHOAL_FIELD128_H
#define SHOAL_FIELD128_H

#include "bytes.h"
#include "wide.h"

#define SHOAL_FIELD128_SIZE 16      // bytes of an element
#define SHOAL_FIELD128_LOG_ORDER 66 // the generator's order is 2^66

typedef struct shoal_field128 {
    uint64_t low, high;
} shoal_field128;
_Static_assert(sizeof(shoal_field128) == SHOAL_FIELD128_SIZE, "an element is as long as its bytes");

#define FIELD128_P_HIGH 0xffffffffffffffe4u // p's low word is 1

static inline shoal_field128 shoal_field128_of(uint64_t value)
{
    return (shoal_field128){.low = value, .high = 0};
}

// Returns: 1 if high * 2^64 + low >= p, else 0.
static inline uint64_t field128_is_above(uint64_t low, uint64_t high)
{
    return (high > FIELD128_P_HIGH) | ((high == FIELD128_P_HIGH) & (low != 0));
}

// Returns: carry * 2^128 + high * 2^64 + low mod p. The value must be below 2p.
static inline shoal_field128 field128_reduce_once(uint64_t low, uint64_t high, uint64_t carry)
{
    uint64_t mask = wide_mask(carry | field128_is_above(low, high)), borrow = 0;
    low = wide_sub(low, 1 & mask, &borrow);
    return (shoal_field128){.low = low, .high = high - (FIELD128_P_HIGH & mask) - borrow};
}

static inline shoal_field128 shoal_field128_add(shoal_field128 a, shoal_field128 b)
{
    uint64_t carry = 0, carry_high = 0;
    uint64_t low = wide_add(a.low, b.low, &carry);
    uint64_t high = wide_add(a.high, b.high, &carry_high);
    high = wide_add(high, carry, &carry_high);
    return field128_reduce_once(low, high, carry_high);
}

static inline shoal_field128 shoal_field128_sub(shoal_field128 a, shoal_field128 b)
{
    uint64_t borrow = 0, borrow_high = 0, carry = 0;
    uint64_t low = wide_sub(a.low, b.low, &borrow);
    uint64_t high = wide_sub(a.high, b.high, &borrow_high);
    high = wide_sub(high, borrow, &borrow_high);
    low = wide_add(low, 1 & wide_mask(borrow_high), &carry);
    return (shoal_field128){.low = low,
                            .high = high + (FIELD128_P_HIGH & wide_mask(borrow_high)) + carry};
}

// Returns: 28 x.
static inline wide field128_28(uint64_t x)
{
    uint64_t low = x << 5, take = x << 2, borrow = 0;
    low = wide_sub(low, take, &borrow);
    return (wide){.low = low, .high = (x >> 59) - (x >> 62) - borrow};
}

// Folds the words above 2^128 once. Because 2^128 = 28 * 2^64 - 1 mod p, the fold replaces T 2^128
// by 28 T 2^64 - T.
//   words: four, little-endian; the value shrinks from below 2^(128+b) to below 2^(69+b) + 2^128
static inline void field128_fold(uint64_t words[4])
{
    wide low28 = field128_28(words[2]), high28 = field128_28(words[3]);
    uint64_t borrow = 0, borrow_high = 0, carry = 0, top = 0, above = high28.high;
    uint64_t next = wide_add(high28.low, low28.high, &above);
    uint64_t w0 = wide_sub(words[0], words[2], &borrow);
    uint64_t w1 = wide_add(words[1], low28.low, &carry);
    w1 = wide_sub(w1, words[3], &borrow_high);
    w1 = wide_sub(w1, borrow, &borrow_high);
    next = wide_add(next, carry, &above);
    next = wide_sub(next, borrow_high, &top);
    words[0] = w0;
    words[1] = w1;
    words[2] = next;
    words[3] = above - top;
}

// Folds a value below 2^197, so that words[3] < 2^5, to below 2^139.
static inline void field128_fold_again(uint64_t words[4])
{
    wide low28 = field128_28(words[2]);
    uint64_t borrow = 0, borrow_high = 0, carry = 0;
    words[0] = wide_sub(words[0], words[2], &borrow);
    words[1] = wide_add(words[1], low28.low, &carry);
    words[1] = wide_sub(words[1], words[3] + borrow, &borrow_high);
    words[2] = low28.high + 28 * words[3] + carry - borrow_high;
}

// Folds a value below 2^139, so that words[2] < 2^11, to below 2^128 + 2^80.
static inline void field128_fold_last(uint64_t words[4])
{
    uint64_t borrow = 0, carry = 0, above = words[2];
    words[0] = wide_sub(words[0], above, &borrow);
    words[1] = wide_add(words[1], 28 * above - borrow, &carry);
    words[2] = carry;
}

// Returns: a b mod p. The four words of the product take three folds (256, 197, 138, 128 bits and a
// carry) and one subtraction.
static inline shoal_field128 shoal_field128_mul(shoal_field128 a, shoal_field128 b)
{
    wide p00 = wide_mul(a.low, b.low), p01 = wide_mul(a.low, b.high);
    wide p10 = wide_mul(a.high, b.low), p11 = wide_mul(a.high, b.high);
    uint64_t carry1 = 0, carry2 = 0, words[4];
    words[0] = p00.low;
    words[1] = wide_add(p00.high, p01.low, &carry1);
    words[1] = wide_add(words[1], p10.low, &carry1);
    words[2] = wide_add(p01.high, p10.high, &carry2);
    words[2] = wide_add(words[2], p11.low, &carry2);
    words[2] = wide_add(words[2], carry1, &carry2);
    words[3] = p11.high + carry2;
    field128_fold(words);
    field128_fold_again(words);
    field128_fold_last(words);
    return field128_reduce_once(words[0], words[1], words[2]);
}

static inline uint64_t shoal_field128_is_equal(shoal_field128 a, shoal_field128 b)
{
    return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
}

// Reads SHOAL_FIELD128_SIZE little-endian bytes.
// Returns: 1 if they are canonical, else 0.
static inline uint64_t shoal_field128_load(shoal_field128 *element, const uint8_t *bytes)
{
    element->low = load64_le(bytes);
    element->high = load64_le(bytes + 8);
    return field128_is_above(element->low, element->high) ^ 1;
}

static inline void shoal_field128_store(uint8_t *bytes, shoal_field128 element)
{
    store64_le(bytes, element.low);
    store64_le(bytes + 8, element.high);
}

// Writes the element's low word to *value.
// Returns: 1 if the element is below 2^64, else 0.
static inline uint64_t shoal_field128_value(uint64_t *value, shoal_field128 element)
{
    *value = element.low;
    return element.high == 0;
}

// Returns: 7^((p - 1) / 2^66), which generates the roots of unity of power-of-two order.
static inline shoal_field128 shoal_field128_generator(void)
{
    return (shoal_field128){.low = 0x1f9b2759c5109f06u, .high = 0x6d278fbf4f60228bu};
}

// Returns: 1/2.
static inline shoal_field128 shoal_field128_half(void)
{
    return (shoal_field128){.low = 1, .high = 0x7ffffffffffffff2u};
}

#endif
