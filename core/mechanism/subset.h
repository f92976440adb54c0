// SPDX-License-Identifier: Apache-2.0
// Subset selection, the device's side (gboard-2024 Algorithm 1; Ye, Barg 2018; Wang et al. 2016).
//
// There are s = size + 1 indices: the listed values and, as index `size`, "none of the list". A
// device sends a set of d of them. With probability 1 - T/2^64 the set holds its own index and
// d - 1 of the s - 1 others, otherwise d of the others. In either case all such sets are equally
// likely. T = ceil(2^64 / ((d/(s - d)) e^epsilon + 1)). d is the smallest number for which the own
// index is sent at least half of the time, T <= 2^63. This is the paper's ceil(s/(e^epsilon + 1)),
// computed from the coin itself.
//
// Privacy: epsilon per record, replacement model, "none" included. A set is
// ((2^64 - T)/T) (s - d)/d <= e^epsilon times as likely if it holds the own index as if it does
// not. The ratio falls short of e^epsilon by a relative (1 + 2^-40) (1/T + 1/(2^64 - T)) at most.
// **A set has no order.** A record holds its set in ascending order and `check` refuses any other
// order. Indices sent in the order of drawing, with the own index first, would reveal far more
// (epsilon 2 was really 6.9 in a library that did so).
//
// How: Floyd's sampling draws d of the s - 1 others without knowing which index is the own one.
// Renumbering the indices past the own one keeps them ascending. One pass under masks then replaces
// one of them with the own index, or leaves them.
// Cost: the code builds neither the domain nor a table of it. It makes d draws and d binary
// searches and moves about d^2 bytes within the record, for any s (6 us for 120 of 1,000 indices or
// of a million, 0.4 ms for 4,096).
// Timing: constant in the item and in the coin. Which bytes move depends on the set drawn from the
// others.
// Draws, in order: bernoulli; below(s - d), below(s - d + 1), ... below(s - 1); below(d).
// Parameters: size 2 .. 2^24, d <= 4096. Part: k = d, m = s.
// Record: d indices (u32), ascending. Text: "i,i,...".
#ifndef SHOAL_SUBSET_H
#define SHOAL_SUBSET_H

#include "mechanism.h"

#define SHOAL_SUBSET_SIZE_MAX (1u << 24)
#define SHOAL_SUBSET_D_MAX 4096u

#endif
