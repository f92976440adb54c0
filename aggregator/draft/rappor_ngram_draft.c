// SPDX-License-Identifier: Apache-2.0
// Defaults of rappor-ngram: probabilities with which all parts of a report together cost the stated
// epsilon.
#include "compound_draft.h"
#include "draft_numbers.h"
#include "ngram_plan.h"

static agg_err fill(compound_defaults *out, agg_error *error, const recipe_options *o)
{
    double epsilon = 0;
    uint64_t hashes = 0, grams = 0;
    agg_err err = draft_read_micro(&epsilon, error, o, "epsilon");
    if (err == SHOAL_OK) err = draft_read_parameter(&hashes, error, o, "hashes");
    if (err == SHOAL_OK) err = draft_read_parameter(&grams, error, o, "grams");
    if (err != SHOAL_OK || recipe_option(o, "p") != NULL || recipe_option(o, "q") != NULL)
        return err;
    uint32_t q = agg_ngram_plan_q(epsilon, (double)grams, (double)hashes);
    draft_put_micro(out->q, q);
    draft_put_micro(out->p, 1000000 - q);
    return SHOAL_OK;
}

const compound_draft agg_rappor_ngram_draft = {
    .id = shoal_rappor_ngram_id,
    .fill = fill,
};
