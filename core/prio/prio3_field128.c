// SPDX-License-Identifier: Apache-2.0
// Instantiates Prio3 over Field128; see prio3_field.h.
#include "field128.h"
#include "prio3_private.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#define FIELD_LOG_ORDER SHOAL_FIELD128_LOG_ORDER
#define PRIO3_FIELD shoal_prio3_field128
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

#include "prio3_field.h"
