// SPDX-License-Identifier: Apache-2.0
// The canonical bytes of a whole policy, which the product only ever hashes piece by piece.
#ifndef POLICY_CANONICAL_H
#define POLICY_CANONICAL_H

#include "policy_fields.h"

// Writes the canonical bytes of a finished policy.
// Returns: SHOAL_ERR_ARGUMENT where it is not finished, SHOAL_ERR_SPACE where `cap` is too small.
static inline shoal_err policy_canonical(uint8_t *out, size_t cap, size_t *len,
                                         const shoal_policy *policy)
{
    shoal_canonical w = {out, cap, 0, 0};
    if (!policy->is_finished) return SHOAL_ERR_ARGUMENT;
    for (uint32_t i = 0; i < shoal_policy_count_pieces(policy); i++)
        shoal_policy_put_piece(&w, policy, i);
    if (w.is_full) return SHOAL_ERR_SPACE;
    *len = w.len;
    return SHOAL_OK;
}

#endif
