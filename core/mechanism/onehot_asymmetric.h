// SPDX-License-Identifier: Apache-2.0
// Asymmetric private one-hot encoding, the device's side (apple-2022 Appendix A, Algorithm 1).
//
// A device with value d of a known list sends one bit for every entry. The bit at d is a fair coin;
// every other bit is 1 with probability threshold/2^64 >= 1/(e^epsilon + 1). A value that is not in
// the list is the vector of zeros.
//
// Privacy: epsilon per record, replacement model. The fair coin's odds are 1, so the ratio of two
// listed values is the odds (2^64 - T)/T <= e^epsilon of one coin. Against the vector of zeros it
// is at most half of that plus one half. The epsilon really drawn is below the stated one by less
// than (1 + 2^-40) (1/T + 1/(2^64 - T)): 5e-13 at epsilon 16, 3e-18 at 4.
// Draws, in order: one u64 for the fair coin, then one 64-lane coin for every 64 entries.
// Parameters: size (m) 2 .. 65536. Record: m bits. Text: "<hex>".
#ifndef SHOAL_ONEHOT_ASYMMETRIC_H
#define SHOAL_ONEHOT_ASYMMETRIC_H

#include "mechanism.h"

#endif
