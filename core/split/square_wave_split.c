// SPDX-License-Identifier: Apache-2.0
// Splits records of square waves, a place (square_wave.h). Places are the m cells of one row; the
// width k of the window plays no part.
#include "split_kind.h"

const shoal_split_kind shoal_square_wave_split = {shoal_square_wave_id, {SPLIT_COLUMN}, 0, 0, NULL};
