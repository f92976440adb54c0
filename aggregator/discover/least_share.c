// SPDX-License-Identifier: Apache-2.0
// The least share that is found; see least_share.h.
#include "least_share.h"

#include <math.h>

#include "account.h"
#include "compound.h"
#include "ngram_plan.h"
#include "normal_law.h"
#include "recipe.h"
#include "sfp.h"
#include "sfp_plan.h"
#include "trie_layer.h"

// Returns: `score` standard errors of a part's count of what nobody sent, as a share of n reports.
static double share_of(const shoal_part *part, double n, double same, double score)
{
    const agg_account *account = agg_account_of(part->mechanism);
    double squares = n + same * n * n;
    return fmin(1, score * sqrt(account->variance(part, n, 0, squares)) / n);
}

static double sfp_share(const shoal_recipe *recipe, double n, double same)
{
    double speak = fmax(1, n / shoal_sfp_positions(recipe)); // reports of one position
    return fmax(share_of(&recipe->parts[SHOAL_SFP_FRAGMENT], speak, same, AGG_SFP_FRAGMENT_SCORE),
                share_of(&recipe->parts[SHOAL_SFP_STRING], n, same, AGG_SFP_STRING_SCORE));
}

static double trie_share(const shoal_recipe *recipe, double n, double fdr)
{
    double cells = fmax(1, recipe->encoding.fields[0].size);
    return share_of(&recipe->parts[0], n, 0, -agg_normal_quantile(AGG_TRIE_WORD_FDR * fdr / cells));
}

double agg_least_share(const agg_recipe *recipe, double n, double fdr, double same)
{
    const shoal_recipe *r = recipe->recipe;
    if (r->mechanism == shoal_sfp_id) return sfp_share(r, n, same);
    if (r->mechanism == shoal_rappor_ngram_id) return agg_ngram_plan_share(r, n);
    return trie_share(r, n, fdr);
}
