// SPDX-License-Identifier: Apache-2.0
// The account of local hashing: Wang et al. 2017 section 4.4; its variance is that of
// estimate/olh_estimate.c.
#include <math.h>

#include "account.h"
#include "bytes.h"
#include "cms.h"
#include "hash_column.h"
#include "olh.h"
#include "row_count.h"
#include "value_law.h"

// Returns: the rows that n reports need with g answers; e is e^epsilon.
static uint32_t rows_for(double n, double squares, double e, double g, double most_cells)
{
    double rest = n * (e + g - 1) * (e + g - 1) / ((g - 1) * (e - 1) * (e - 1));
    double cells = fmin(most_cells, (double)SHOAL_SKETCH_CELLS_MAX);
    return agg_row_count((squares - n) / (g - 1), rest, g, cells, SHOAL_OLH_K_MAX);
}

// Proposes one variant for every g from 2 to a few times the best one, e^epsilon + 1, with the rows
// that it needs.
static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    double e = exp(wish->eps_micro / 1e6), g = exp2(index + 1.0);
    if (wish->is_number || wish->size > (uint32_t)1 << SHOAL_AFFINE1_BITS) return false;
    if (g > SHOAL_OLH_G_MAX || g > 8 * (e + 1)) return false;
    uint32_t k = rows_for(wish->n, wish->squares, e, g, wish->cells);
    *part = (shoal_part){.mechanism = shoal_olh_id,
                         .domain = wish->size > 0 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN,
                         .hash = wish->size > 0 ? SHOAL_HASH_AFFINE1 : SHOAL_HASH_POLY1,
                         .eps_micro = wish->eps_micro,
                         .k = k,
                         .m = (uint32_t)g,
                         .size = wish->size};
    return true;
}

static double truth_of(const shoal_part *part)
{
    return (double)(0 - part->threshold) * 0x1p-64;
}

// Returns: the probability of each untrue answer.
static double lie_of(const shoal_part *part)
{
    return (double)part->threshold * 0x1p-64 / (part->m - 1);
}

// The formula is that of estimate/olh_estimate.c, with Q = squares - n in place of its estimate.
static double variance(const shoal_part *part, double n, double f, double squares)
{
    double g = part->m, p = truth_of(part), spread = (1 - 1 / g) / g,
           pairs = squares - n - f * f + f;
    double gap = (p * g - 1) / (g - 1), scale = 1 / (p - 1 / g);
    double together = gap * gap * spread / part->k * (pairs > 0 ? pairs : 0);
    return scale * scale * (f * p * (1 - p) + (n - f) * spread + together);
}

static uint32_t row_of(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) / part->m;
}

static uint32_t answer_of(const shoal_part *part, const uint8_t *record)
{
    return load32_le(record) % part->m;
}

static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    uint32_t j = row_of(part, record), y = answer_of(part, record);
    return y == agg_hash_column(part, j, a) && y != agg_hash_column(part, j, b);
}

static uint64_t n_outputs(const shoal_part *part)
{
    uint64_t outputs = (uint64_t)part->k * part->m;
    return outputs <= 1u << 20 ? outputs : 0;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    (void)part;
    store32_le(record, (uint32_t)index);
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double each_row = 1.0 / part->k;
    if (part->domain != SHOAL_DOMAIN_OPEN && item == SHOAL_ITEM_NONE)
        return each_row / part->m; // all answers are equally likely
    uint32_t truth = agg_hash_column(part, row_of(part, record), item);
    return each_row * (answer_of(part, record) == truth ? truth_of(part) : lie_of(part));
}

#define DRAFT_ZIPF 1.2 // the law that the planner assumes where nobody counted
#define DRAFT_VALUES 10000.0
#define DRAFT_CELLS (double)(1u << 28)

// The variance is least at g = e^epsilon + 1; g is the nearest power of two. A quarter of the rows
// that `propose` names adds 1.5 % to the error, which the planner counts as equal (plan.h).
static void draft(shoal_part *part, double epsilon, double n)
{
    double best = log2(exp(epsilon) + 1);
    agg_value_law law = agg_value_law_zipf(DRAFT_ZIPF, DRAFT_VALUES);
    if (part->m == 0)
        part->m = (uint32_t)1 << (best < 1 ? 1 : best > 20 ? 20 : (uint32_t)lround(best));
    if (part->k == 0 && part->m > 1)
        part->k = rows_for(n, n * n * law.squares, exp(epsilon), part->m, DRAFT_CELLS) / 4;
    if (part->k < AGG_ROWS_LEAST) part->k = AGG_ROWS_LEAST;
    agg_value_law_release(&law);
}

// Of values that share no answer in any row.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double truth = truth_of(part), lie = lie_of(part), rest = (part->m - 2.0) * lie;
    agg_pair_add_both(law, truth, lie, lie, lie);
    agg_pair_add(law, rest, rest, rest, rest - lie + truth);
}

const agg_account agg_olh_account = {
    .id = shoal_olh_id,
    .usual_for = AGG_USUAL_VARIABLE_STRINGS,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
    .columns = "answers",
    .draft = draft,
    .draft_needs_reports = true,
};
