// SPDX-License-Identifier: Apache-2.0
// Computes the surface of apple-2017 Figure 4b; see trade_off.h.
#include "trade_off.h"

#include <math.h>
#include <string.h>

double agg_trade_off_bits(const shoal_part *part)
{
    const agg_paper_cost *paper = agg_account_of(part->mechanism)->paper;
    return paper != NULL ? paper->bits(part) : NAN;
}

double agg_trade_off_steps(const shoal_part *part, double n, double p)
{
    const agg_paper_cost *paper = agg_account_of(part->mechanism)->paper;
    return paper != NULL ? paper->steps(part, n, p) : NAN;
}

static void fill(agg_trade_off *s, uint32_t row, uint32_t column)
{
    const char *field = NULL;
    agg_plan_candidate judged;
    shoal_part part = {.mechanism = s->mechanism->id,
                       .domain = SHOAL_DOMAIN_OPEN,
                       .hash = SHOAL_HASH_POLY1,
                       .eps_micro = s->wish->eps_micro,
                       .k = 1u << (row + AGG_TRADE_OFF_LEAST_BITS),
                       .m = 1u << (column + AGG_TRADE_OFF_LEAST_BITS)};
    s->parts[row][column] = part;
    s->error[row][column] = NAN;
    if (shoal_part_prepare(&part, &field) != SHOAL_OK)
        return; // the settings need more cells than a sketch has
    agg_plan_judge(&judged, s->wish, &part);
    s->parts[row][column] = part;
    s->error[row][column] = judged.error;
    s->least = fmin(s->least, judged.error);
    s->most = fmax(s->most, judged.error);
}

agg_err agg_trade_off_run(agg_trade_off *s, agg_error *error, const agg_plan_wish *wish,
                          uint32_t mechanism)
{
    if (agg_account_of(mechanism)->paper == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--surface is for sketches of rows and columns: cms and hcms");
    memset(s, 0, sizeof *s);
    s->wish = wish;
    s->mechanism = shoal_mechanism_by_id(mechanism);
    s->n = wish->devices * wish->per_day * wish->days;
    s->least = INFINITY;
    for (uint32_t row = 0; row < AGG_TRADE_OFF_SIDE; row++)
        for (uint32_t column = 0; column < AGG_TRADE_OFF_SIDE; column++) fill(s, row, column);
    return SHOAL_OK;
}
