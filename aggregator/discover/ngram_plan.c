// SPDX-License-Identifier: Apache-2.0
// The least share that n-grams find; see ngram_plan.h.
#include "ngram_plan.h"

#include <math.h>
#include <stdio.h>

#include "account.h"
#include "normal_law.h"
#include "recipe.h"

#define CANDIDATES 1000.0 // strings that the last test holds against each other
#define FALSE_ROW 0.05    // chance of any false row

static double share_of(const shoal_part *part, double n, double chance)
{
    const agg_account *account = agg_account_of(part->mechanism);
    double z = -agg_normal_quantile(chance);
    return fmin(1, z * sqrt(account->variance(part, n, 0, 0)) / n);
}

double agg_ngram_plan_share(const shoal_recipe *recipe, double n)
{
    double positions = ceil((double)recipe->length / recipe->n_gram),
           ngrams = fmax(2, pow(recipe->alphabet_len, recipe->n_gram)),
           speak = fmax(1, n * recipe->grams / positions);
    double pieces = share_of(&recipe->parts[0], speak, 1 / ngrams);
    double whole = share_of(&recipe->parts[recipe->grams], n, FALSE_ROW / CANDIDATES);
    return fmax(pieces, whole);
}

void agg_ngram_plan_say(char text[AGG_NGRAM_PLAN_TEXT], const shoal_recipe *recipe, double n)
{
    double share = agg_ngram_plan_share(recipe, n);
    if (share < 1)
        snprintf(text, AGG_NGRAM_PLAN_TEXT, "only what %.2g %% or more send", 100 * share);
    else
        snprintf(text, AGG_NGRAM_PLAN_TEXT, "nothing");
}
