// SPDX-License-Identifier: Apache-2.0
// Splits Hadamard response records, a cell and a sign (hadamard.h).
#include "split_kind.h"

const shoal_split_kind shoal_hadamard_split = {
    shoal_hadamard_id, {SPLIT_CELL, SPLIT_BIT}, 1, 0, NULL};
