// SPDX-License-Identifier: Apache-2.0
// Estimates counts from longitudinal local hashing: index_counts.h, where a report supports all
// values that hash to its answer in its row.
//
// The rows are so chosen that any two of the N values share their answer in equally many rows. So a
// report supports each value that its device does not hold with one probability q,
//
//     p = 1 - F + F/g,   q = F/g + (1 - F) (N/g - 1)/(N - 1),   1 - F = (1 - F1)(1 - F2)
//
// and counts have no error by collisions. F1 and F2 are loloha.h's, as probabilities. "None" is one
// of the N values. Var is that of one report a device: reports of one device share its row and its
// permanent answers (docs/mechanisms/loloha.md).
#include <string.h>

#include "index_counts.h"
#include "loloha_law.h"

static agg_err support(int64_t *sums, agg_error *error, const shoal_part *part,
                       const agg_sketch *sketch, const uint64_t *items, size_t n_items,
                       unsigned n_threads)
{
    (void)n_threads;
    for (size_t i = 0; i < n_items; i++) {
        if (items[i] >= part->size) return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
        sums[i] = 0;
        for (uint32_t j = 0; j < part->k; j++)
            sums[i] +=
                sketch->cells.ones[j * part->m + shoal_loloha_answer(part, j, (uint32_t)items[i])];
    }
    return SHOAL_OK;
}

static void debias(agg_debias *out, const shoal_part *part, const agg_sketch *sketch, uint64_t n)
{
    agg_loloha_law law = agg_loloha_law_of(part);
    (void)sketch;
    agg_index_debias(out, (double)n, law.truth, law.other);
}

static bool same_answers(const shoal_part *a, const shoal_part *b)
{
    return a->size == b->size && a->m == b->m &&
           a->pqf_threshold[SHOAL_LOLOHA_PERMANENT] == b->pqf_threshold[SHOAL_LOLOHA_PERMANENT] &&
           memcmp(a->seed, b->seed, sizeof a->seed) == 0;
}

static double opposed(const shoal_part *part)
{
    double covariance = agg_loloha_moved_covariance(part);
    return covariance < 0 ? covariance : 0;
}

const agg_estimator agg_loloha_estimator = {
    .id = shoal_loloha_id,
    .support = support,
    .debias = debias,
    .same_answers = same_answers,
    .opposed = opposed,
};
