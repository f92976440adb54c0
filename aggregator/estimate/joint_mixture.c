// SPDX-License-Identifier: Apache-2.0
// Mixtures over columns; see joint_mixture.h.
#include "joint_mixture.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

#define ROUNDING 0x1p-52 // rounding error of weights that sum to one

agg_err agg_joint_mixture_init(agg_joint_mixture *mixture, agg_error *error, uint32_t n_columns)
{
    mixture->none = 0;
    mixture->weights = agg_alloc(error, n_columns, sizeof *mixture->weights);
    return mixture->weights != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
}

void agg_joint_mixture_release(agg_joint_mixture *mixture)
{
    free(mixture->weights);
    memset(mixture, 0, sizeof *mixture);
}

double agg_joint_leave_unnamed(double *shares, const bool *is_named, const agg_joint_items *items)
{
    double named = 0, n_unnamed = 0;
    for (uint32_t l = 0; l < items->n_columns; l++) {
        if (is_named[l])
            named += shares[l];
        else
            n_unnamed++;
    }
    double rest = fmax(0, 1 - named);
    bool is_apart = items->marks->columns == AGG_JOINT_APART;
    double each = is_apart || !(n_unnamed > 0) ? 0 : rest / n_unnamed;
    for (uint32_t l = 0; l < items->n_columns; l++)
        if (!is_named[l]) shares[l] = each;
    return is_apart ? rest : 0;
}

void agg_joint_mixture_scale(agg_joint_mixture *mixture, uint32_t n_columns)
{
    double *weights = mixture->weights, sum = mixture->none;
    for (uint32_t l = 0; l < n_columns; l++) sum += weights[l];
    for (uint32_t l = 0; l < n_columns; l++)
        weights[l] = sum > 0 ? weights[l] / sum : 1.0 / n_columns;
    mixture->none = sum > 0 ? mixture->none / sum : 0;
}

double agg_joint_mixture_log(const agg_joint_mixture *mixture, const agg_joint_items *items,
                             const uint8_t *record)
{
    const agg_joint_coins *c = &items->coins;
    double marked = items->marks->sum_marked(mixture->weights, items->part, record);
    double sum =
        c->miss * (1 - mixture->none) + (c->hit - c->miss) * marked + c->none * mixture->none;
    return log(fmax(sum, ROUNDING * c->miss)); // anything below is a rounding error of the sums
}
