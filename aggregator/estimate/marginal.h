// SPDX-License-Identifier: Apache-2.0
// Estimates one field of an encoding: for each of its buckets the sum over all cells in it, with
// the error of that sum. Pure.
//
// The count, in reports, is the sum of the cells' unbiased counts. Its variance is not the sum of
// the cells' variances, because one report supports many cells. It follows from the law of how many
// of a bucket's c cells one report supports (sum_law.h; marginal.c has the formula). CMS, HCMS and
// local hashing with more than one field are refused. Their rows hash cells by one linear map, and
// the cells of a bucket differ in the same few bits, so that collisions are correlated and the
// error of the sum is unknown.
#ifndef MARGINAL_H
#define MARGINAL_H

#include "accumulator.h"
#include "agg_error.h"
#include "estimator.h"
#include "recipe_ref.h"

// Estimates every bucket of a field.
//   counts: encoding.fields[field].size, as agg_estimator_counts gives them
//   recipe: finished, with an encoding
//   acc: of this recipe; the caller checks the minimum cohort (agg_estimate_check)
//   field: its index in the encoding
// Returns: what agg_marginal_check refuses; SHOAL_ERR_RECIPE_HASH; AGG_ERR_MEMORY.
// Cost: one pass over the cells; Hadamard response takes memory of 40 bytes a cell.
agg_err agg_marginal(agg_count *counts, agg_error *error, const shoal_recipe *recipe,
                     const agg_accumulator *acc, uint32_t field,
                     unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_marginal takes, not counting the counts.
uint64_t agg_marginal_memory(const shoal_recipe *recipe, uint32_t field, unsigned n_threads);

// Returns: SHOAL_OK if agg_marginal can estimate the field; AGG_ERR_USAGE, with the reason, for a
// field that the recipe lacks and for a mechanism whose sums over cells have no known error.
agg_err agg_marginal_check(agg_error *error, const shoal_recipe *recipe,
                           uint32_t field) SHOAL_MUST_CHECK;

#endif
