// SPDX-License-Identifier: Apache-2.0
// Hadamard response, the device's side (Acharya, Sun, Zhang 2019, "Hadamard response", in the form
// with one sign a row).
//
// The list is divided into B blocks of b columns; B and b are powers of two. Item x is column
// c = x / B of block x mod B. In a list sorted by frequency the common items, which make their
// block noisier, therefore fall into different blocks.
//
// A device draws a row r of the b x b Hadamard matrix and then holds one of 2 B cells: its block
// with the sign (-1)^popcount(r & c). It sends that cell with probability 1 - T/2^64, otherwise one
// of the 2 B - 1 others, uniformly (generalized randomized response); T = ceil(2^64 / (e^epsilon/(2
// B - 1) + 1)). For "none of the list" it sends a uniformly random cell. The code never builds the
// matrix. B is the power of two with the smallest variance at this epsilon, which minimises
// (e^epsilon - 1)^2/B + 4 B (a table in hadamard.c). For a shorter list, B is the power of two that
// the list fits.
//
// Privacy: epsilon per record, replacement model. r is drawn independently of the item. Given r, a
// cell is (2^64 - T)(2 B - 1)/T <= e^epsilon times as likely for one item as for another; against
// "none" the ratio is smaller. It falls short of e^epsilon by a relative (1 + 2^-40) (1/T +
// 1/(2^64 - T)) at most.
// Timing: constant in the item and in the coin.
// Draws, in order: below(b), bernoulli, below(2 B - 1), below(2 B).
// Parameters: size 2 .. 2^24. Part: k = B, m = b, the smallest power of two with B b >= size.
// Record: 2 i + s (u32), i = block b + r, s = 1 for a positive sign. Text: "i,s".
#ifndef SHOAL_HADAMARD_H
#define SHOAL_HADAMARD_H

#include "mechanism.h"

#define SHOAL_HADAMARD_SIZE_MAX (1u << 24)

#endif
