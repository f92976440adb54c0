// SPDX-License-Identifier: Apache-2.0
// Defaults of rappor-ngram: probabilities with which all parts of a report together cost the stated
// epsilon.
#include <math.h>

#include "compound_draft.h"
#include "draft_numbers.h"

// Each hash of each part may cost x = epsilon/(parts hashes). With p = 1 - q it costs 2
// ln(q/(1-q)), so q = 1/(1 + e^(-x/2)). q is rounded down and lowered by one millionth, since the
// cost of each hash is rounded up.
static agg_err fill(compound_defaults *out, agg_error *error, const recipe_options *o)
{
    double epsilon = 0;
    uint64_t hashes = 0, grams = 0;
    agg_err err = draft_read_micro(&epsilon, error, o, "epsilon");
    if (err == SHOAL_OK) err = draft_read_parameter(&hashes, error, o, "hashes");
    if (err == SHOAL_OK) err = draft_read_parameter(&grams, error, o, "grams");
    if (err != SHOAL_OK || recipe_option(o, "p") != NULL || recipe_option(o, "q") != NULL)
        return err;
    double each = epsilon / (double)((grams + 1) * hashes);
    uint32_t q = (uint32_t)floor(1e6 / (1 + exp(-each / 2))) - 1;
    draft_put_micro(out->q, q);
    draft_put_micro(out->p, 1000000 - q);
    return SHOAL_OK;
}

const compound_draft agg_rappor_ngram_draft = {
    .id = shoal_rappor_ngram_id,
    .fill = fill,
};
