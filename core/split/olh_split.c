// SPDX-License-Identifier: Apache-2.0
// Splits local hashing records, a row and an answer (olh.h).
#include "split_kind.h"

const shoal_split_kind shoal_olh_split = {shoal_olh_id, {SPLIT_ROW, SPLIT_COLUMN}, 0, 0, NULL};
