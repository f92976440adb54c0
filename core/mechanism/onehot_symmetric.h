// SPDX-License-Identifier: Apache-2.0
// Symmetric private one-hot encoding, the device's side (apple-2022 Appendix C, Algorithm 3).
//
// A device with value d of a known list sends one bit for every entry: 1 at d and 0 elsewhere, each
// flipped with probability T/2^64 >= 1/(e^(epsilon/2) + 1). A value that is not in the list is the
// vector of zeros.
//
// Privacy: epsilon per record in the replacement model, because another value changes two bits,
// each with odds (2^64 - T)/T <= e^(epsilon/2). In the deletion model (a value against none) it is
// **epsilon/2**, because one bit changes. Algorithm 3 states epsilon in the deletion model, so its
// epsilon is half of ours. The epsilon really drawn falls short of the stated one by less than
// 2 (1 + 2^-40) (1/T + 1/(2^64 - T)).
// Timing: constant in the item.
// Draws, in order: one 64-lane coin for every 64 entries.
// Parameters: size (m) 2 .. 65536. Record: m bits. Text: "<hex>".
#ifndef SHOAL_ONEHOT_SYMMETRIC_H
#define SHOAL_ONEHOT_SYMMETRIC_H

#include "mechanism.h"

#endif
