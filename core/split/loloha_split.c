// SPDX-License-Identifier: Apache-2.0
// Splits records of longitudinal local hashing, a row and an answer (loloha.h).
#include "split_kind.h"

const shoal_split_kind shoal_loloha_split = {
    shoal_loloha_id, {SPLIT_ROW, SPLIT_COLUMN}, 0, 0, NULL};
