// SPDX-License-Identifier: Apache-2.0
// One field of a joint domain alone: for each of its buckets the sum over all cells that lie in it,
// with the error of that sum. Pure.
//
// The count is the sum of the cells' unbiased counts. Its error is not the cells' errors added up,
// since one report speaks of many cells: it is taken from the law of how many of a bucket's c cells
// one report supports (marginal.c). CMS, HCMS and local hashing with more than one field are
// refused: their rows hash the cells by one linear map, and the cells of a bucket differ by the
// same few bits, so that collisions come in whole families and no error could be stated.
#ifndef MARGINAL_H
#define MARGINAL_H

#include "accumulator.h"
#include "agg_error.h"
#include "estimator.h"
#include "recipe.h"

// Estimates every bucket of a field.
//   counts: encoding.fields[field].size, written; in reports, as agg_estimator_counts gives them
//   recipe: finished, with an encoding
//   acc: of this recipe. The minimum cohort is the caller's to check (agg_estimate_check)
//   field: index in the encoding
// Returns: AGG_ERR_USAGE, with the reason, for a mechanism whose sums over cells have no known
// error; RECIPE_HASH. Cost: one pass over the cells; Hadamard response takes 40 bytes a cell
// besides.
agg_err agg_marginal(agg_count *counts, agg_error *error, const shoal_recipe *recipe,
                     const agg_accumulator *acc, uint32_t field,
                     unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the bytes that agg_marginal takes beside the counts.
uint64_t agg_marginal_memory(const shoal_recipe *recipe, uint32_t field, unsigned n_threads);

// Whether agg_marginal can: SHOAL_OK, or its AGG_ERR_USAGE.
agg_err agg_marginal_check(agg_error *error, const shoal_recipe *recipe,
                           uint32_t field) SHOAL_MUST_CHECK;

#endif
