// SPDX-License-Identifier: Apache-2.0
// Discrete Laplace and discrete Gaussian noise, drawn exactly: integers only, and no rounding. Each
// server of two adds such noise to its share of a sum (docs/two-servers.md).
//
// Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020),
// Algorithms 1 to 3. A coin of probability e^-x is made of coins with rational probabilities, and
// those of uniform integers, so the law is the stated one and not one near it.
//
// Timing: depends on the draws. A server that adds noise is not timed by whom it protects against.
#ifndef SHOAL_DISCRETE_NOISE_H
#define SHOAL_DISCRETE_NOISE_H

#include <stdint.h>

#include "rng.h"
#include "shoal_err.h"

#define SHOAL_NOISE_SENSITIVITY_MAX (UINT64_C(1) << 32)
#define SHOAL_NOISE_VARIANCE_MAX (UINT64_C(1) << 40)
#define SHOAL_NOISE_EPS_MICRO_MIN 1000u // 0.001
#define SHOAL_NOISE_EPS_MICRO_MAX 16000000u

typedef enum shoal_noise_kind {
    SHOAL_NOISE_NONE = 0,
    SHOAL_NOISE_LAPLACE = 1, // P(x) is proportional to e^(-|x| s/t)
    SHOAL_NOISE_GAUSSIAN = 2 // P(x) is proportional to e^(-x^2/(2 variance))
} shoal_noise_kind;

typedef struct shoal_noise {
    shoal_noise_kind kind;
    uint64_t t, s;     // Laplace: the scale is t/s, without a common divisor; t is below 2^52
    uint64_t variance; // Gaussian
    uint64_t root;     // Gaussian: floor(sqrt(variance)) + 1
} shoal_noise;

// Makes discrete Laplace noise of scale sensitivity/epsilon. A vector of integers that a change of
// one report moves by at most `sensitivity` in all (L1), with such noise on each entry, has exactly
// this epsilon and no delta.
//   noise: written on OK
//   sensitivity: 1 .. SHOAL_NOISE_SENSITIVITY_MAX
//   eps_micro: SHOAL_NOISE_EPS_MICRO_MIN .. SHOAL_NOISE_EPS_MICRO_MAX
// Returns: SHOAL_ERR_RANGE for an argument out of range.
shoal_err shoal_noise_laplace(shoal_noise *noise, uint64_t sensitivity,
                              uint32_t eps_micro) SHOAL_MUST_CHECK;

// Makes discrete Gaussian noise. A vector of integers that a change of one report moves by at most
// `d` in Euclidean distance (L2), with such noise on each entry, keeps rho-zero-concentrated
// privacy with rho = d^2/(2 variance) (the source, Theorem 4).
//   noise: written on OK
//   variance: 1 .. SHOAL_NOISE_VARIANCE_MAX; the law's parameter, which its variance nearly equals
// Returns: SHOAL_ERR_RANGE for an argument out of range.
shoal_err shoal_noise_gaussian(shoal_noise *noise, uint64_t variance) SHOAL_MUST_CHECK;

// Draws one integer. Consumes a varying number of draws.
//   noise: not of kind SHOAL_NOISE_NONE
// Returns: the noise, below 2^63 in absolute value.
int64_t shoal_noise_draw(shoal_rng *rng, const shoal_noise *noise);

#endif
