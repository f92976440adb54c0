// SPDX-License-Identifier: Apache-2.0
// Field64; the checks are in test_field_body.h.
#include "field64.h"
#include "xof.h"

#define FE shoal_field64
#define F(name) shoal_field64_##name
#define LOG_ORDER SHOAL_FIELD64_LOG_ORDER
#define COFACTOR 4294967295u
#define SEED 64
#include "field_vector.h"
#include "ntt.h"

static const uint32_t MODULUS[] = {1, 0xffffffff}; // 2^32 * 4294967295 + 1
#include "test_field_body.h"
