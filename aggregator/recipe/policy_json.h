// SPDX-License-Identifier: Apache-2.0
// Reads a policy file (JSON) into the core's policy. The JSON is walked as a recipe is
// (json_walk.h): every scalar goes to shoal_policy_set_*, every entry of a list to
// shoal_policy_add_text. A repeated entry is refused.
#ifndef POLICY_JSON_H
#define POLICY_JSON_H

#include <stddef.h>

#include "agg_error.h"
#include "policy.h"

#define AGG_POLICY_FILE_MAX ((size_t)1 << 18) // bytes of a policy file

typedef struct agg_policy {
    shoal_policy policy;
    char id[SHOAL_NAME_MAX + 1]; // NUL-terminated
    char hash_hex[65];           // policy.policy_hash, by which queries name it; NUL-terminated
} agg_policy;

// Reads a policy; there is nothing to release.
//   name: the name of the bytes in errors
agg_err agg_policy_from_bytes(agg_policy *policy, agg_error *error, const char *name,
                              const char *bytes, size_t len) SHOAL_MUST_CHECK;
agg_err agg_policy_from_file(agg_policy *policy, agg_error *error,
                             const char *path) SHOAL_MUST_CHECK;

#endif
