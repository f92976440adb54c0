// SPDX-License-Identifier: Apache-2.0
// The least share that is found; see least_share.h.
#include "least_share.h"

#include <math.h>

#include "account.h"
#include "discoverer.h"
#include "recipe.h"

double agg_least_share_of(const shoal_part *part, double n, double same, double score)
{
    const agg_account *account = agg_account_of(part->mechanism);
    double squares = n + same * n * n;
    return fmin(1, score * sqrt(account->variance(part, n, 0, squares)) / n);
}

double agg_least_share(const agg_recipe *recipe, double n, double fdr, double same)
{
    return agg_discoverer_of(recipe->recipe->mechanism)->least_share(recipe->recipe, n, fdr, same);
}
