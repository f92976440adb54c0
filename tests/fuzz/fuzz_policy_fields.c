// SPDX-License-Identifier: Apache-2.0
// Property: however a host's parser calls the setters, a policy that finishes has a hash that is
// that of its canonical bytes, names that are found again, and fields, streams and slack that fit
// together; one that met an error never finishes. Input: the lines of field_lines.h.
#include "field_lines.h"
#include "fuzz.h"
#include "policy_canonical.h"

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static const char *const tails[] = {
        "", "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-9\n",
        "keys+" KEY_B "\nanalyses.0.version:2000000\nfresh_days:9000000\n"};
    if (index >= sizeof tails / sizeof tails[0]) return 0;
    int n = snprintf((char *)out, cap, "%s%s", small_policy, tails[index]);
    PROPERTY(n > 0 && (size_t)n < cap);
    return (size_t)n;
}

static void is_whole(const shoal_policy *policy)
{
    for (uint32_t i = 0; i < policy->n_analyses; i++) {
        const shoal_policy_analysis *a = &policy->analyses[i];
        PROPERTY(shoal_policy_find_analysis(policy, &a->analysis) == i);
        PROPERTY(a->stream_index < policy->n_streams && a->mechanisms != 0 && a->n_fields > 0);
        PROPERTY(shoal_name_equal(&policy->streams[a->stream_index].stream, &a->stream));
        PROPERTY((a->composition == SHOAL_COMPOSE_BASIC) == (a->slack_exp == 0));
        PROPERTY(a->slack_exp == 0 || a->slack_exp > a->delta_exp);
        PROPERTY(a->budget.eps_micro > 0 && a->budget.reports > 0 && a->honest_micro > 0 &&
                 a->cohort_minimum > 0);
        for (uint32_t m = 0; m < a->n_fields; m++)
            PROPERTY(shoal_policy_find_field(a, &a->fields[m].field) == m &&
                     a->fields[m].local_eps_micro > 0);
        for (uint32_t k = 0; k < a->n_splits; k++)
            PROPERTY(shoal_policy_find_field(a, &a->splits[k]) == UINT32_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static shoal_policy policy;
    static uint8_t canonical[SHOAL_POLICY_CANONICAL_MAX];
    const char *text = (const char *)data;
    uint8_t digest[32];
    size_t size = 0;
    shoal_sha256 sha;
    shoal_err err = SHOAL_OK;
    field_line line;
    shoal_policy_init(&policy);
    while (err == SHOAL_OK && next_line(&line, &text, &len)) err = policy_line(&policy, &line);
    if (err == SHOAL_OK) err = shoal_policy_finish(&policy);
    PROPERTY(policy.is_finished == (err == SHOAL_OK));
    if (err != SHOAL_OK) {
        PROPERTY(policy.error_text != NULL && shoal_policy_finish(&policy) == SHOAL_ERR_ARGUMENT);
        PROPERTY(policy_canonical(canonical, sizeof canonical, &size, &policy) ==
                 SHOAL_ERR_ARGUMENT);
        return 0;
    }
    PROPERTY(policy_canonical(canonical, sizeof canonical, &size, &policy) == SHOAL_OK);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, canonical, size);
    shoal_sha256_final(digest, &sha);
    PROPERTY(memcmp(digest, policy.policy_hash, 32) == 0);
    is_whole(&policy);
    return 0;
}
