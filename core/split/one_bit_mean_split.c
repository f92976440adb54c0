// SPDX-License-Identifier: Apache-2.0
// Splits records of one-bit means, 0 or 1 (one_bit_mean.h). Only ones are counted, but a Histogram
// needs an entry for zeros too.
#include "split_kind.h"

const shoal_split_kind shoal_one_bit_mean_split = {shoal_one_bit_mean_id, {SPLIT_BIT}, 0, 1, NULL};
