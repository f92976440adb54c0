// SPDX-License-Identifier: Apache-2.0
// Bounds tails of a binomial law plus one more coin, with outward rounding; see split_weight.h.
#include "split_weight.h"

#include "wide.h"

// MODE is w at the mode: for n <= 2^16, w (n - j) and the sum of all w fit 64 bits.
#define MODE ((uint64_t)1 << 47)
#define ODDS_BITS 40 // fractional bits of the odds (1 - q)/q, which are below 2^24 if q >= 2^-24

// Returns floor(a / b) for a below 2^64 b, bit by bit.
static uint64_t divide(wide a, uint64_t b)
{
    uint64_t quotient = 0;
    for (int i = 0; i < 64; i++) {
        uint64_t is_over = a.high >> 63;
        a.high = a.high << 1 | a.low >> 63;
        a.low <<= 1;
        quotient <<= 1;
        if (!is_over && a.high < b) continue;
        a.high -= b;
        quotient |= 1;
    }
    return quotient;
}

typedef struct law {
    uint32_t n, mode;
    uint64_t ratio; // floor(2^64 q/(1 - q))
} law;

// Returns w(j + 1) from w(j), rounded down; j is at the mode or above.
static uint64_t next_below(const law *coins, uint64_t w, uint32_t j)
{
    return wide_mul(w * (coins->n - j), coins->ratio).high / (j + 1);
}

// Returns w(j + 1) from w(j), rounded up.
static uint64_t next_above(const law *coins, uint64_t w, uint32_t j)
{
    uint64_t scaled = wide_mul(w * (coins->n - j), coins->ratio + 1).high + 1;
    return (scaled + j) / (j + 1);
}

// Returns a lower bound of the sum of all w. Up to the mode j (1 - q)/q is at most n + 1 - j, so
// the products stay below 2^127.
static uint64_t sum_below(const law *coins, uint64_t threshold)
{
    uint64_t sum = 0, w = MODE,
             odds = divide(wide_mul(0 - threshold, (uint64_t)1 << ODDS_BITS), threshold);
    for (uint32_t j = coins->mode; w > 0; j++) {
        sum += w;
        if (j == coins->n) break;
        w = next_below(coins, w, j);
    }
    w = MODE;
    for (uint32_t j = coins->mode; j > 0 && w > 0; j--) {
        wide product = wide_mul(w, j * odds);
        w = (product.high << (64 - ODDS_BITS) | product.low >> ODDS_BITS) / (coins->n - j + 1);
        sum += w;
    }
    return sum;
}

uint32_t shoal_split_weight(uint64_t *refusal, uint32_t n, uint64_t threshold, uint64_t hot)
{
    const law coins = {n, (uint32_t)wide_mul((uint64_t)n + 1, threshold).high,
                       divide((wide){.low = 0, .high = threshold}, 0 - threshold)};
    uint64_t sum = sum_below(&coins, threshold), tail = 0, w = MODE;
    for (uint32_t j = coins.mode; j < n; j++) tail += w = next_above(&coins, w, j);
    w = MODE;
    // `tail` is the sum of the terms above `weight`; w is the term of `weight` itself.
    for (uint32_t weight = coins.mode; weight <= n; weight++) {
        uint64_t over = tail + wide_mul(w, hot).high + 1;
        if (over <= sum / SHOAL_SPLIT_REFUSALS) {
            *refusal = divide((wide){.low = 0, .high = over}, sum) + 1;
            return weight;
        }
        if (weight == n) break;
        w = next_above(&coins, w, weight);
        tail -= w;
    }
    *refusal = 0;
    return n + 1;
}
