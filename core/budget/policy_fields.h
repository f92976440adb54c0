// SPDX-License-Identifier: Apache-2.0
// The policy's field table as the checks and the canonical bytes of a whole policy use it. Private
// to the core.
#ifndef SHOAL_POLICY_FIELDS_H
#define SHOAL_POLICY_FIELDS_H

#include "canonical.h"
#include "policy.h"

// Where a member lives: in the policy, a stream, a field of a stream, an analysis, a budgeted field
// of an analysis. Behind an entry come its fields.
enum level { TOP, STREAM, STREAM_FIELD, ANALYSIS, BUDGET };

// Notes which field is refused and why. The policy is unusable afterwards.
//   path: static, with N and M in place of indices
//   text: a static sentence
// Returns: err.
shoal_err shoal_policy_refuse(shoal_policy *policy, const char *path, shoal_err err,
                              const char *text);

// Checks that an entry states every field that it must.
//   n, m: indices of the entry and of the entry inside it; 0 where the level has none
shoal_err shoal_policy_check_missing(shoal_policy *policy, uint32_t at_level, uint32_t n,
                                     uint32_t m) SHOAL_MUST_CHECK;

// Opens an entry in the canonical bytes and writes its members.
// Returns: the position that shoal_canonical_close takes to close it.
size_t shoal_policy_put_members(shoal_canonical *w, const shoal_policy *policy, uint32_t at_level,
                                uint32_t n, uint32_t m);

// Writes one piece of the canonical bytes. They come in pieces so that hashing needs no buffer for
// all of them: the title with the top level, each stream, each analysis.
//   piece: below shoal_policy_count_pieces
void shoal_policy_put_piece(shoal_canonical *w, const shoal_policy *policy, uint32_t piece);
uint32_t shoal_policy_count_pieces(const shoal_policy *policy);

#endif
