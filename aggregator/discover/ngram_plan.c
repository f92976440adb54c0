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

// What a new recipe states where nothing else is asked for.
#define BITS 128
#define HASHES 1
#define COHORTS 8
#define N_GRAM 2
#define GRAMS 2

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

uint32_t agg_ngram_plan_q(double epsilon, double grams, double hashes)
{
    double each = epsilon / ((grams + 1) * hashes);
    return (uint32_t)floor(1e6 / (1 + exp(-each / 2))) - 1;
}

double agg_ngram_plan_share_for(double epsilon, uint32_t length, uint32_t letters, double n)
{
    const char *field;
    const uint32_t q = agg_ngram_plan_q(epsilon, GRAMS, HASHES);
    shoal_part part = {.mechanism = shoal_rappor_id,
                       .domain = SHOAL_DOMAIN_OPEN,
                       .hash = SHOAL_HASH_POLY1,
                       .k = COHORTS,
                       .m = BITS,
                       .hashes = HASHES,
                       .pqf_micro = {1000000 - q, q, 0}};
    shoal_recipe recipe = {.length = length,
                           .n_gram = N_GRAM,
                           .grams = GRAMS,
                           .alphabet_len = (uint8_t)fmin(letters, UINT8_MAX)};
    if (q <= 500000 || shoal_part_prepare(&part, &field) != SHOAL_OK) return 1;
    recipe.parts[0] = recipe.parts[GRAMS] = part;
    return agg_ngram_plan_share(&recipe, n);
}

void agg_ngram_plan_say(char text[AGG_NGRAM_PLAN_TEXT], const shoal_recipe *recipe, double n)
{
    agg_ngram_plan_say_share(text, agg_ngram_plan_share(recipe, n));
}

void agg_ngram_plan_say_share(char text[AGG_NGRAM_PLAN_TEXT], double share)
{
    if (share < 1)
        snprintf(text, AGG_NGRAM_PLAN_TEXT, "only what %.2g %% or more send", 100 * share);
    else
        snprintf(text, AGG_NGRAM_PLAN_TEXT, "nothing");
}
