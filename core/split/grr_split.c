// SPDX-License-Identifier: Apache-2.0
// Splits records of generalized randomized response, an answer (grr.h).
#include "split_kind.h"

const shoal_split_kind shoal_grr_split = {shoal_grr_id, {SPLIT_COLUMN}, 0, 0, NULL};
