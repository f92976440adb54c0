// SPDX-License-Identifier: Apache-2.0
// Asymmetric one-hot sums (apple-2022 Appendix A, Algorithm 2, before its affine step): how many
// records have each bit set.
#include "onehot_sums.h"

const agg_sketch_kind agg_onehot_asymmetric_sketch = {
    .id = shoal_onehot_asymmetric_id,
    .n_max = UINT32_MAX,
    .record_size = onehot_record_size,
    .check = onehot_check,
    .add = onehot_add,
    .log_likeliest = onehot_log_likeliest,
};
