// SPDX-License-Identifier: Apache-2.0
// The deletion model for mechanisms that randomize one bit for each listed value. Pure.
#ifndef DELETION_H
#define DELETION_H

#include "mechanism.h"

// Returns: the epsilon between a listed value and "none", which is the largest log-ratio over all
// records; 0 if the part cannot have a list of two.
//   part: prepared, of a mechanism whose account has_bit_a_value
double agg_deletion_epsilon(const shoal_part *part);

#endif
