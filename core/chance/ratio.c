// SPDX-License-Identifier: Apache-2.0
// Coins of rational probability; see ratio.h.
#include "ratio.h"

static bool is_zero(const whole *a)
{
    for (int i = 0; i < WHOLE_WORDS; i++)
        if (a->word[i] != 0) return false;
    return true;
}

// Returns: the index of the highest word that is not zero; 0 for zero.
static int top_word(const whole *a)
{
    int top = WHOLE_WORDS - 1;
    while (top > 0 && a->word[top] == 0) top--;
    return top;
}

// Draws a uniform number of as many bits as den has, until it is below den: half of the numbers
// are, at least.
static whole draw_below(shoal_rng *rng, const whole *den)
{
    int top = top_word(den);
    uint32_t mask = den->word[top];
    for (uint32_t shift = 1; shift < 32; shift <<= 1) mask |= mask >> shift;
    whole drawn;
    do {
        drawn = (whole){{0}};
        for (int i = 0; i <= top; i += 2) {
            uint64_t word = shoal_rng_u64(rng);
            drawn.word[i] = (uint32_t)word;
            if (i < top) drawn.word[i + 1] = (uint32_t)(word >> 32);
        }
        drawn.word[top] &= mask;
    } while (!whole_less(&drawn, den));
    return drawn;
}

uint32_t shoal_rng_ratio(shoal_rng *rng, const whole *num, const whole *den)
{
    if (is_zero(num)) return 0;
    if (!whole_less(num, den)) return 1;
    whole drawn = draw_below(rng, den);
    return whole_less(&drawn, num);
}
