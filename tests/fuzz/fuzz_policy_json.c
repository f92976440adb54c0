// SPDX-License-Identifier: Apache-2.0
// Property: a policy file either is refused with a text, or gives a policy with a name, its hash
// and an analysis at least.
#include "fuzz.h"

#include "policy_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_policy policy;
    agg_error error = {0};
    if (agg_policy_from_bytes(&policy, &error, "input", (const char *)data, len) != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0' && memchr(error.text, '\0', sizeof error.text) != NULL);
        return 0;
    }
    PROPERTY(strlen(policy.id) > 0 && strlen(policy.hash_hex) == 64);
    PROPERTY(policy.policy.n_analyses > 0 && policy.policy.n_keys > 0);
    return 0;
}
