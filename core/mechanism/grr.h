// SPDX-License-Identifier: Apache-2.0
// Generalized randomized response, the device's side (Warner 1965 for s answers; Kairouz, Bonawitz,
// Ramage 2016).
//
// There are s = size + 1 answers: the listed values and, as index `size`, "none of the list". A
// device sends its own answer with probability 1 - T/2^64, otherwise one of the s - 1 others,
// uniformly. T = ceil(2^64 / (e^epsilon/(s - 1) + 1)).
//
// Privacy: epsilon per record, replacement model, "none" included. The true answer is
// (2^64 - T)(s - 1)/T <= e^epsilon times as likely as any other. The ratio falls short of e^epsilon
// by a relative (1 + 2^-40) (1/T + 1/(2^64 - T)) at most.
// Timing: constant in the item and in the coin: the code computes both truth and lie, and a mask
// chooses.
// Draws, in order: bernoulli, below(s - 1).
// Parameters: size 2 .. 2^24. Part: m = s. Record: answer (u32). Text: "v".
#ifndef SHOAL_GRR_H
#define SHOAL_GRR_H

#include "mechanism.h"

#define SHOAL_GRR_SIZE_MAX (1u << 24)

#endif
