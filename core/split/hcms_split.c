// SPDX-License-Identifier: Apache-2.0
// Splits HCMS records, a row, a column and a sign (hcms.h).
#include "split_kind.h"

const shoal_split_kind shoal_hcms_split = {
    shoal_hcms_id, {SPLIT_ROW, SPLIT_COLUMN, SPLIT_BIT}, 1, 0, NULL};
