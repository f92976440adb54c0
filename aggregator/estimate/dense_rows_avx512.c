// SPDX-License-Identifier: Apache-2.0
// The loop of dense_rows_body.h, with AVX-512: eight numbers at a time.
#define DENSE_ROWS_VARIANT agg_dense_rows_avx512
#include "dense_rows_body.h"
