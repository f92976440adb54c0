// SPDX-License-Identifier: Apache-2.0
// The rounds of an analysis that asks fields, one after the other: of tokens, which ones follow the
// starts that the last round kept; of a number, buckets that are finer where more is. A step is one
// round: what its recipe asks, the counts of the field that changes, and what the next recipe made
// of them. Private to static_analysis.c.
#ifndef STATIC_STEPS_H
#define STATIC_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "accumulator.h"
#include "agg_error.h"
#include "alarms.h"
#include "recipe_json.h"

typedef struct agg_step_row {
    uint32_t bucket;
    double count, low, high; // reports; unbiased, and their 95 % interval
    bool is_told;            // from zero, for all buckets of the field together
    bool is_withheld;        // below the release threshold: no figure of it is shown
} agg_step_row;

typedef struct agg_step {
    const agg_recipe *recipe, *next; // next: NULL for none
    uint32_t field;                  // that changes, or the one that changed before
    bool has_field;                  // whether any did
    bool has_reports;
    uint64_t n;        // reports
    agg_error why_not; // why the counts are not shown; code OK: they are
    size_t n_asked;    // sequences, or buckets
    size_t n_told;     // of them, told from zero
    size_t n_withheld; // of them
    double release;    // counts below are withheld: the release threshold, or more where that would
                       // withhold one alone, which n and the others tell
    agg_step_row none; // of tokens: what begins or goes on otherwise
    agg_step_row *rows; // of tokens the largest, of a number all in their order
    size_t n_rows;
    agg_alarms alarms;
} agg_step;

// Sets what the recipes say. before and next may be NULL.
void agg_step_begin(agg_step *step, const agg_recipe *recipe, const agg_recipe *before,
                    const agg_recipe *next);

// Adds the counts of the round's reports, of which there are at least the minimum cohort.
// Returns: AGG_ERR_MEMORY, and others as agg_marginal for a damaged accumulator.
agg_err agg_step_count(agg_step *step, agg_error *error, const agg_accumulator *acc,
                       unsigned n_threads) SHOAL_MUST_CHECK;

// Writes the section of all steps.
//   top: sequences that a round shows; 0: twelve
void agg_steps_write(FILE *out, const agg_step *steps, size_t n, size_t top);

size_t agg_step_size(const agg_step *step); // bytes of memory that it holds besides itself
void agg_step_release(agg_step *step);

// Returns: the bytes that agg_step_count takes for a recipe.
uint64_t agg_step_memory(const agg_recipe *recipe, unsigned n_threads);

#endif
