// SPDX-License-Identifier: Apache-2.0
// Output laws by enumeration, in exact integers.
//
// A test forces every combination of a randomizer's coins through the real code (scripted_rng.h)
// and adds the combination's weight to the output that came out. Coins have probability t/16 (a
// threshold of t * 2^60), so that a weight is t^flips (16 - t)^others: whole numbers that a
// uint64_t holds. What holds for the ratio of two outputs as a power of (16 - t)/t, for several t,
// is the structure; the odds themselves are test_probability's.
#ifndef LAW_H
#define LAW_H

#include <stdint.h>
#include <string.h>

#define LAW_OUTPUTS 4096

typedef struct law {
    uint64_t weight[LAW_OUTPUTS];
} law;

static inline uint64_t power(uint64_t base, uint32_t exponent)
{
    uint64_t product = 1;
    for (uint32_t i = 0; i < exponent; i++) product *= base;
    return product;
}

static inline uint32_t count_bits(uint64_t x)
{
    uint32_t n = 0;
    for (; x != 0; x &= x - 1) n++;
    return n;
}

static inline uint64_t law_total(const law *a, uint32_t outputs)
{
    uint64_t total = 0;
    for (uint32_t o = 0; o < outputs; o++) total += a->weight[o];
    return total;
}

// Is every ratio of a to b at most num/den? *is_reached when one is equal to it.
static inline int law_within_odds(const law *a, const law *b, uint32_t outputs, uint64_t num,
                                  uint64_t den, int *is_reached)
{
    for (uint32_t o = 0; o < outputs; o++) {
        if (a->weight[o] * den > b->weight[o] * num) return 0;
        if (a->weight[o] != 0 && a->weight[o] * den == b->weight[o] * num) *is_reached = 1;
    }
    return 1;
}

// Is every ratio of a to b at most ((16 - t)/t)^exponent? *is_reached when one is equal to it.
static inline int law_within(const law *a, const law *b, uint32_t outputs, uint64_t t,
                             uint32_t exponent, int *is_reached)
{
    return law_within_odds(a, b, outputs, power(16 - t, exponent), power(t, exponent), is_reached);
}

#endif
