// SPDX-License-Identifier: Apache-2.0
// Instantiates Prio3 over Field64; see prio3_field.h.
#include "field64.h"
#include "prio3_private.h"

#define FE shoal_field64
#define F(name) shoal_field64_##name
#define FIELD_LOG_ORDER SHOAL_FIELD64_LOG_ORDER
#define PRIO3_FIELD shoal_prio3_field64
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

#define PRIO3_PROVE(prio3) shoal_field64_flp_prove
#define PRIO3_QUERY(prio3) shoal_field64_flp_query
#include "prio3_field.h"
