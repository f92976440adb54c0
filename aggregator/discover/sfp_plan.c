// SPDX-License-Identifier: Apache-2.0
// Splits epsilon and chooses rows; see sfp_plan.h.
#include "sfp_plan.h"

#include <math.h>

#include "account.h"
#include "least_share.h"
#include "recipe.h"
#include "recipe_choices.h"
#include "sfp.h"

#define MICRO 1e6
#define STEP 50000.0          // step of the split, in millionths
#define SHARING 0.05          // largest share of the variance from words that share rows
#define CMS_COLUMNS 1024u     // apple-2017 section 6
#define CMS_ROWS 2048.0       // at least; apple-2017 section 6
#define OLH_ROWS 1024.0       // at least
#define FRAGMENT_CELLS 0x1p26 // cells of all positions
#define STRING_CELLS 0x1p24
#define CMS_ROWS_MOST 0x1p20 // rows of all positions
#define G_MOST 0x1p20

static uint32_t columns_of(uint32_t oracle, double epsilon)
{
    if (oracle == SHOAL_ORACLE_CMS) return CMS_COLUMNS;
    return (uint32_t)fmin(fmax(exp2(round(log2(exp(epsilon) + 1))), 2), G_MOST);
}

// Returns: the variance that one report adds to the count of a string that nobody sends.
static double variance_of(uint32_t oracle, double epsilon)
{
    if (oracle == SHOAL_ORACLE_CMS) return exp(epsilon / 2) / pow(expm1(epsilon / 2), 2);
    double g = columns_of(oracle, epsilon), p = exp(epsilon) / (exp(epsilon) + g - 1);
    return (1 - 1 / g) / g / pow(p - 1 / g, 2);
}

static double columns_apart(uint32_t oracle, double m)
{
    return oracle == SHOAL_ORACLE_CMS ? m : m - 1;
}

// Returns: the variance that words in shared rows add.
static double shared(uint32_t oracle, double n, double k, double m)
{
    return n * n * AGG_SFP_SAME_WORD / (k * columns_apart(oracle, m));
}

// Returns: the number of rows for n reports, a power of two.
static uint32_t rows_of(uint32_t oracle, double epsilon, double n, double cells)
{
    double m = columns_of(oracle, epsilon);
    double wanted =
        n * AGG_SFP_SAME_WORD / (columns_apart(oracle, m) * SHARING * variance_of(oracle, epsilon));
    double least = oracle == SHOAL_ORACLE_CMS ? CMS_ROWS : OLH_ROWS;
    double k = exp2(ceil(log2(fmax(wanted, least))));
    return (uint32_t)fmax(fmin(k, exp2(floor(log2(cells / m)))), 1);
}

// Returns: the string's share of `eps`, in millionths. It is the least share at which the string
// requires no larger count than its fragments.
static double string_share(uint32_t oracle, double eps, double positions)
{
    double share = STEP;
    for (; share + STEP < eps; share += STEP) {
        double string = AGG_SFP_STRING_SCORE * sqrt(variance_of(oracle, share / MICRO));
        double fragment =
            AGG_SFP_FRAGMENT_SCORE * sqrt(positions * variance_of(oracle, (eps - share) / MICRO));
        if (string <= fragment) break;
    }
    return share;
}

agg_err agg_sfp_plan_run(agg_sfp_plan *plan, agg_error *error, uint32_t oracle, double n,
                         uint32_t eps_micro, uint32_t length)
{
    if (oracle > SHOAL_ORACLE_OLH || !(n >= 1 && n <= 4e9) || eps_micro < 100000 ||
        eps_micro > 16000000 || length < 2 || length > 32 || length % 2 != 0)
        return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE);
    double positions = length / 2, share = string_share(oracle, eps_micro, positions);
    double string = share / MICRO, fragment = (eps_micro - share) / MICRO;
    double cells = FRAGMENT_CELLS / positions;
    if (oracle == SHOAL_ORACLE_CMS) cells = fmin(cells, CMS_ROWS_MOST * CMS_COLUMNS / positions);
    *plan = (agg_sfp_plan){.oracle = oracle,
                           .eps_micro = (uint32_t)share,
                           .eps_fragment_micro = eps_micro - (uint32_t)share,
                           .k = rows_of(oracle, string, n, STRING_CELLS),
                           .m = columns_of(oracle, string),
                           .k_fragment = rows_of(oracle, fragment, n / positions, cells),
                           .m_fragment = columns_of(oracle, fragment)};
    plan->string_error =
        sqrt(n * variance_of(oracle, string) + shared(oracle, n, plan->k, plan->m));
    plan->fragment_error = sqrt(n * positions * variance_of(oracle, fragment) +
                                shared(oracle, n, plan->k_fragment, plan->m_fragment));
    plan->least = fmax(AGG_SFP_STRING_SCORE * plan->string_error,
                       AGG_SFP_FRAGMENT_SCORE * plan->fragment_error);
    return SHOAL_OK;
}

double agg_sfp_found_from(const shoal_recipe *recipe, double n, double same)
{
    const double of_position = fmax(1, n / shoal_sfp_positions(recipe));
    return fmax(agg_least_share_of(&recipe->parts[SHOAL_SFP_STRING], n, same, AGG_SFP_STRING_SCORE),
                agg_least_share_of(&recipe->parts[SHOAL_SFP_FRAGMENT], of_position, same,
                                   AGG_SFP_FRAGMENT_SCORE));
}
