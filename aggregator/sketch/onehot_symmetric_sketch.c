// SPDX-License-Identifier: Apache-2.0
// Symmetric one-hot sums (apple-2022 Appendix C, Algorithm 4, before its affine step): how many
// records have each bit set.
#include "onehot_sums.h"

const agg_sketch_kind agg_onehot_symmetric_sketch = {
    shoal_onehot_symmetric_id, UINT32_MAX,   0,         0, 0, 0,
    onehot_record_size,        onehot_check, onehot_add};
