// SPDX-License-Identifier: Apache-2.0
// The loop of dense_rows_body.h, which the compiler vectorizes with AVX2: four numbers at a time,
// not two.
#define DENSE_ROWS_VARIANT agg_dense_rows_avx2
#include "dense_rows_body.h"
