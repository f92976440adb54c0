// SPDX-License-Identifier: Apache-2.0
// Computes laws of pairs from those of the mechanisms; see pair_law.h.
#include "pair_law.h"

#include <math.h>
#include <string.h>

#include "account.h"
#include "recipe.h"

// Returns: whether a report costs what its parts cost together.
static bool is_sum_of_parts(const shoal_recipe *recipe)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < recipe->n_parts; i++) sum += recipe->parts[i].eps_micro;
    return sum == recipe->cost_micro;
}

void agg_pair_law_of_part(agg_pair_law *law, const shoal_part *part)
{
    const agg_account *account = agg_account_of(part->mechanism);
    law->n = 0;
    if (account->pair != NULL) account->pair(law, part);
}

static bool multiply(agg_pair_law *law, const agg_pair_law *part)
{
    agg_pair_class product[AGG_PAIR_CLASSES_MAX];
    if (part->n == 0 || law->n > AGG_PAIR_CLASSES_MAX / part->n) return false;
    for (size_t i = 0; i < law->n; i++)
        for (size_t j = 0; j < part->n; j++) {
            const agg_pair_class *a = &law->classes[i], *b = &part->classes[j];
            product[i * part->n + j] = (agg_pair_class){a->own * b->own, a->other * b->other,
                                                        a->least * b->least, a->third * b->third};
        }
    law->n *= part->n;
    memcpy(law->classes, product, law->n * sizeof *product);
    return true;
}

void agg_pair_law_of(agg_pair_law *law, const shoal_recipe *recipe)
{
    agg_pair_law part;
    law->n = 0;
    if (recipe->n_parts == 0 || !is_sum_of_parts(recipe)) return;
    agg_pair_law_of_part(law, &recipe->parts[0]);
    for (uint32_t i = 1; i < recipe->n_parts && law->n > 0; i++) {
        agg_pair_law_of_part(&part, &recipe->parts[i]);
        if (!multiply(law, &part)) law->n = 0;
    }
}

double agg_pair_variation(const agg_pair_law *law)
{
    double sum = 0;
    for (size_t i = 0; i < law->n; i++) sum += fmax(0, law->classes[i].own - law->classes[i].other);
    return sum;
}
