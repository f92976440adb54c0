// SPDX-License-Identifier: Apache-2.0
// Splits records of piecewise means, an answer (piecewise.h). Answers are the m cells of one row;
// the width k of the window plays no part.
#include "split_kind.h"

const shoal_split_kind shoal_piecewise_split = {shoal_piecewise_id, {SPLIT_COLUMN}, 0, 0, NULL};
