// SPDX-License-Identifier: Apache-2.0
// Field128; the checks are in test_field_body.h.
#include "field128.h"
#include "xof.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#define LOG_ORDER SHOAL_FIELD128_LOG_ORDER
#define COFACTOR 4611686018427387897u
#define SEED 128
#include "field_vector.h"
#include "ntt.h"

static const uint32_t MODULUS[] = {1, 0, 0xffffffe4, 0xffffffff}; // 2^66 * 4611686018427387897 + 1
#include "test_field_body.h"
