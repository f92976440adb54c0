// SPDX-License-Identifier: Apache-2.0
// Exact samplers of discrete noise; see discrete_noise.h.
#include "discrete_noise.h"

#include "ratio.h"

#define MILLION 1000000u
// A run of so many coins of probability 1/e does not happen: 2^-2885. The bound keeps every product
// below within its width: t is below 2^52 and root at most 2^20 + 1.
#define RUN_MAX 2000u

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

shoal_err shoal_noise_laplace(shoal_noise *noise, uint64_t sensitivity, uint32_t eps_micro)
{
    if (sensitivity < 1 || sensitivity > SHOAL_NOISE_SENSITIVITY_MAX ||
        eps_micro < SHOAL_NOISE_EPS_MICRO_MIN || eps_micro > SHOAL_NOISE_EPS_MICRO_MAX)
        return SHOAL_ERR_RANGE;
    uint64_t t = sensitivity * MILLION, divisor = common_divisor(t, eps_micro);
    *noise = (shoal_noise){.kind = SHOAL_NOISE_LAPLACE, .t = t / divisor, .s = eps_micro / divisor};
    return SHOAL_OK;
}

shoal_err shoal_noise_gaussian(shoal_noise *noise, uint64_t variance)
{
    if (variance < 1 || variance > SHOAL_NOISE_VARIANCE_MAX) return SHOAL_ERR_RANGE;
    uint64_t root = 0; // floor(sqrt(variance)), bit by bit
    for (uint64_t bit = UINT64_C(1) << 20; bit > 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= variance) root += bit;
    *noise = (shoal_noise){.kind = SHOAL_NOISE_GAUSSIAN, .variance = variance, .root = root + 1};
    return SHOAL_OK;
}

// Draws a coin of probability e^-(num/den), for num <= den: the number of coins num/den, num/2den,
// num/3den and so on up to the first 0 is odd with that probability (Algorithm 1).
static uint32_t coin_below_one(shoal_rng *rng, const whole *num, const whole *den)
{
    for (uint32_t k = 1;; k++) {
        whole kth = *den;
        whole_multiply(&kth, k);
        if (!shoal_rng_ratio(rng, num, &kth)) return k % 2;
    }
}

static uint32_t coin_one(shoal_rng *rng)
{
    const whole one = {{1}};
    return coin_below_one(rng, &one, &one);
}

static void subtract(whole *a, const whole *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < WHOLE_WORDS; i++) {
        uint64_t rest = (uint64_t)a->word[i] - b->word[i] - borrow;
        a->word[i] = (uint32_t)rest;
        borrow = rest >> 63;
    }
}

// Draws a coin of probability e^-(num/den), for any num: a coin of probability 1/e for each whole
// den in it, and one for the rest.
static uint32_t coin(shoal_rng *rng, whole num, const whole *den)
{
    while (whole_less(den, &num)) {
        if (!coin_one(rng)) return 0;
        subtract(&num, den);
    }
    return coin_below_one(rng, &num, den);
}

// Draws from P(x) proportional to e^(-|x| s/t) (Algorithm 2). u + t run is a geometric variable
// with parameter 1/t, and its quotient by s one with parameter s/t. The sign is drawn apart, and
// "minus zero" is drawn again.
static int64_t draw_laplace(shoal_rng *rng, uint64_t t, uint64_t s)
{
    const whole scale = whole_product(t, 1, 1);
    for (;;) {
        uint64_t u = shoal_rng_below(rng, t), run = 0;
        const whole num = whole_product(u, 1, 1);
        if (!coin_below_one(rng, &num, &scale)) continue;
        while (run < RUN_MAX && coin_one(rng)) run++;
        uint64_t size = (u + t * run) / s;
        uint64_t is_negative = shoal_rng_u64(rng) >> 63;
        if (is_negative && size == 0) continue;
        return is_negative ? -(int64_t)size : (int64_t)size;
    }
}

// Draws from P(x) proportional to e^(-x^2/(2 V)): a draw y of Laplace noise of scale root stays
// with probability e^-((|y| - V/root)^2/(2 V)) (Algorithm 3). Times root^2 that exponent is a ratio
// of integers: (|y| root - V)^2 / (2 V root^2), below 2^(2 * 53) over 2^83 at most.
static int64_t draw_gaussian(shoal_rng *rng, const shoal_noise *noise)
{
    const uint64_t v = noise->variance, root = noise->root;
    const whole den = whole_product(2 * v, root, root);
    for (;;) {
        int64_t y = draw_laplace(rng, root, 1);
        uint64_t reach = (uint64_t)(y < 0 ? -y : y) * root;
        uint64_t distance = reach < v ? v - reach : reach - v;
        if (coin(rng, whole_product(distance, distance, 1), &den)) return y;
    }
}

int64_t shoal_noise_draw(shoal_rng *rng, const shoal_noise *noise)
{
    return noise->kind == SHOAL_NOISE_GAUSSIAN ? draw_gaussian(rng, noise)
                                               : draw_laplace(rng, noise->t, noise->s);
}
