// SPDX-License-Identifier: Apache-2.0
// Instantiates Prio3 over Field128; see prio3_field.h.
#include "field128.h"
#include "flp128_lanes.h"
#include "prio3_private.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#define FIELD_LOG_ORDER SHOAL_FIELD128_LOG_ORDER
#define PRIO3_FIELD shoal_prio3_field128
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

#ifdef SHOAL_X86
#define HAS_LANES(prio3) shoal_flp128_has_lanes(&(prio3)->flp, (prio3)->cpu)
#define PRIO3_PROVE(prio3) (HAS_LANES(prio3) ? shoal_flp128_prove_avx512 : shoal_field128_flp_prove)
#define PRIO3_QUERY(prio3) (HAS_LANES(prio3) ? shoal_flp128_query_avx512 : shoal_field128_flp_query)
#else
#define PRIO3_PROVE(prio3) shoal_field128_flp_prove
#define PRIO3_QUERY(prio3) shoal_field128_flp_query
#endif
#include "prio3_field.h"
