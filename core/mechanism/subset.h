// SPDX-License-Identifier: Apache-2.0
// Subset selection, the device's side (gboard-2024 Algorithm 1; Ye, Barg 2018; Wang et al. 2016).
//
// There are s = size + 1 indices: the listed values and, as index `size`, "none of the list". A
// device sends a set of d of them: with probability 1 - T/2^64 its own and d - 1 of the s - 1
// others, else d of the others, every set alike. T = ceil(2^64 / ((d/(s - d)) e^epsilon + 1)). d is
// the smallest number with which the own index comes at least every other time, T <= 2^63: that is
// the paper's ceil(s/(e^epsilon + 1)), taken from the coin itself. Privacy: epsilon per record,
// replacement model, "none" included: a set is ((2^64 - T)/T) (s - d)/d <= e^epsilon times as
// likely when the own index is in it as when it is not. It falls short of e^epsilon by a relative
// (1 + 2^-40) (1/T + 1/(2^64 - T)) at most.
// **A set has no order.** Records hold it ascending and `check` refuses any other: sent in the
// order in which it was drawn, with the own index first, it would say far more (epsilon 2 was
// really 6.9 in a library that did so). How: Floyd's sampling draws d of the s - 1 others without
// knowing which index is the own one; counting past the own index keeps them ascending; then one
// pass under masks puts it in the place of one of them, or does not. Neither the domain nor a table
// of it is made: d draws, d binary searches and about d^2 bytes moved within the record, whatever s
// is (6 us for 120 of 1,000 indices or of a million, 0.4 ms for 4,096). Timing: constant in the
// item and in the coin; the set that is drawn of the others decides which bytes are moved. Draws,
// in order: bernoulli; below(s - d), below(s - d + 1), ... below(s - 1); below(d). Parameters: size
// 2 .. 2^24, d <= 4096. Part: k = d, m = s. Record: d indices (u32), ascending. Text: "i,i,...".
#ifndef SHOAL_SUBSET_H
#define SHOAL_SUBSET_H

#include "mechanism.h"

#define SHOAL_SUBSET_SIZE_MAX (1u << 24)
#define SHOAL_SUBSET_D_MAX 4096u

#endif
