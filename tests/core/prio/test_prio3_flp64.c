// SPDX-License-Identifier: Apache-2.0
// The proof system over Field64; the checks are in test_prio3_flp_body.h.
#include "field64.h"
#include "flp.h"
#include "xof.h"

#define FE shoal_field64
#define F(name) shoal_field64_##name
#define FIELD_LOG_ORDER SHOAL_FIELD64_LOG_ORDER
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

#include "test_prio3_flp_body.h"
