// SPDX-License-Identifier: Apache-2.0
// Declares the integer exponential of probability.c for other files of the core. Private to the
// core.
#ifndef SHOAL_EXPONENTIAL_H
#define SHOAL_EXPONENTIAL_H

#include <stdint.h>

#define SHOAL_EXPONENTIAL_BITS 40

// Returns: a lower bound D of e^x 2^40 for x = micro/1,000,000: D <= e^x 2^40 < D + 2. D never
// falls as x rises.
//   micro: 0 .. 16,000,000, so that D < 2^63.1
uint64_t shoal_exponential(uint32_t micro);

#endif
