// SPDX-License-Identifier: Apache-2.0
// Implements the helpers for parts of audited recipes; see audit_parts.h.
#include "audit_parts.h"

#include <math.h>
#include <string.h>

#include "compound.h"
#include "evolving.h"
#include "recipe.h"

uint32_t agg_audit_count_alike(const shoal_recipe *recipe, uint32_t first)
{
    const shoal_part *one = &recipe->parts[first];
    uint32_t i = first + 1;
    while (i < recipe->n_parts && recipe->parts[i].mechanism == one->mechanism &&
           recipe->parts[i].k == one->k && recipe->parts[i].m == one->m &&
           recipe->parts[i].eps_micro == one->eps_micro &&
           memcmp(recipe->parts[i].seed, one->seed, sizeof one->seed) == 0)
        i++;
    return i - first;
}

bool agg_audit_is_run(const shoal_recipe *recipe)
{
    return recipe->epochs > 0;
}

uint32_t agg_audit_times(const shoal_recipe *recipe, uint32_t part)
{
    if (!agg_audit_is_run(recipe)) return 1;
    shoal_evolving run = shoal_evolving_of(recipe);
    return part == SHOAL_EVOLVING_VOTE ? 2 * run.n_votes : run.n_estimates;
}

double agg_audit_exact_sum(const shoal_recipe *recipe)
{
    uint64_t sum = 0; // in micro-units
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        uint32_t micro = 0;
        if (shoal_mechanism_by_id(part->mechanism)->epsilon(&micro, part) != SHOAL_OK)
            return INFINITY;
        sum += (uint64_t)agg_audit_times(recipe, i) * micro;
    }
    return (double)sum / 1e6;
}

uint32_t agg_audit_count_kinds(const shoal_recipe *recipe)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < recipe->n_parts; i += agg_audit_count_alike(recipe, i)) n++;
    return n;
}
