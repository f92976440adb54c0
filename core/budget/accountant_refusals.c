// SPDX-License-Identifier: Apache-2.0
// The names and sentences of the reasons for which a query is refused; see accountant.h.
#include "accountant.h"

static const struct {
    const char *name, *text;
} refusals[SHOAL_REFUSALS] = {
    [SHOAL_ACCEPTED] = {"accepted", "Nothing speaks against it."},
    [SHOAL_REFUSED_STORAGE] = {"storage", "The books are damaged or full."},
    [SHOAL_REFUSED_NOT_QUERY] = {"not-query", "It names no policy."},
    [SHOAL_REFUSED_POLICY] = {"policy", "It names another policy."},
    [SHOAL_REFUSED_ANALYSIS] = {"analysis", "The policy has no such analysis."},
    [SHOAL_REFUSED_EXPIRED] = {"expired", "Its last day has passed."},
    [SHOAL_REFUSED_FRESH] = {"fresh", "Fresh storage waits."},
    [SHOAL_REFUSED_REPLAYED] = {"replayed", "It was answered before."},
    [SHOAL_REFUSED_DOWNGRADED] = {"downgraded", "Its version is too low."},
    [SHOAL_REFUSED_REORDERED] = {"reordered", "Its round does not follow the last answered."},
    [SHOAL_REFUSED_STREAM] = {"stream", "It reads another stream."},
    [SHOAL_REFUSED_FIELD] = {"field", "It reads a field that is not approved."},
    [SHOAL_REFUSED_SCHEME] = {"scheme", "It encodes a field not as its type."},
    [SHOAL_REFUSED_COMBINATION] = {"combination", "It joins too many fields."},
    [SHOAL_REFUSED_SIZE] = {"size", "It asks for too many cells."},
    [SHOAL_REFUSED_MECHANISM] = {"mechanism", "Its mechanism is not approved."},
    [SHOAL_REFUSED_SPLIT] = {"split", "It splits by a field that is not approved."},
    [SHOAL_REFUSED_REPORTS] = {"reports", "The analysis has no reports left."},
    [SHOAL_REFUSED_EPSILON] = {"epsilon", "The analysis has too little epsilon left."},
    [SHOAL_REFUSED_DELTA] = {"delta", "The analysis has too little delta left."},
    [SHOAL_REFUSED_LOCAL] = {"local", "One report costs more than a field allows."},
    [SHOAL_REFUSED_FIELD_REPORTS] = {"field-reports", "A field has no reports left."},
    [SHOAL_REFUSED_FIELD_EPSILON] = {"field-epsilon", "A field has too little epsilon left."},
    [SHOAL_REFUSED_COHORT] = {"cohort", "Its cohort is below the minimum."},
    [SHOAL_REFUSED_AMPLIFICATION] = {"amplification",
                                     "Its cohort does not give the epsilon claimed."},
    [SHOAL_REFUSED_ANSWERED] =
        {"answered", "This device has answered in its analysis, and answers one round only."},
};

static size_t index_of(shoal_refusal refusal)
{
    return (int)refusal >= 0 && refusal < SHOAL_REFUSALS ? (size_t)refusal
                                                         : (size_t)SHOAL_REFUSED_STORAGE;
}

const char *shoal_refusal_name(shoal_refusal refusal)
{
    return refusals[index_of(refusal)].name;
}

const char *shoal_refusal_text(shoal_refusal refusal)
{
    return refusals[index_of(refusal)].text;
}
