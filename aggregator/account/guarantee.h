// SPDX-License-Identifier: Apache-2.0
// The privacy guarantees of a result for the people whose reports are in it. The local guarantee
// holds against everybody; the central one holds against those who see released blocks only.
//
// Local: the epsilon of one report in the replacement model, summed over a record's parts. Both the
// stated epsilon, which the randomizer never exceeds, and the exact epsilon of its thresholds are
// given. The reports that the recipe lets a person send in a day are given as well.
//
// Central, of a report: (epsilon, delta) of one report against someone who sees only the sums of
// released blocks. A report is in one block, and every answer is made of whole blocks, so the
// figure is that of the smallest block the report may be in. It is never that of a longer span,
// because the blocks of a span can be asked for one by one. It is the least of Theorem 3.1's closed
// form, the blanket's bound of the recipe's mechanism (blanket.h; the stronger clones of
// amplification.h where the mechanism states no law of pairs) and a bound of the mechanism's own,
// if there is one (renyi.h). Reports that are not honest add no privacy, so only the honest share
// is counted.
//
// Central, of a person: the same for all reports that a person may send in some days, whatever
// blocks they fall into. Replacing them one after the other makes a chain of such changes. Each
// changes one report in one block, so group privacy over the chain bounds every arrangement: one
// report in each of many blocks, all in one block, and all between.
//
// There is no central figure where it would be untrue or where nobody stated what it assumes
// (agg_central_none). Every printed result carries its guarantees. Pure; any thread.
#ifndef GUARANTEE_H
#define GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_ref.h"

#define AGG_DELTA_UNSTATED 1e-9 // for recipes without cohort.delta
#define AGG_HONEST_MIN 0.01     // the least honest share that may be assumed

// How results leave the aggregator, as far as the central guarantee rests on it. Zeros mean that
// nobody stated it; there is no central figure then.
typedef struct agg_release {
    // Reports of the smallest block that was ever released of this collection, or that may be: the
    // recipe's block_minimum is always right. Blocks that retention merged count as they were
    // released first. 0: any part of the reports can be asked for, as of the operator's own files.
    uint64_t block;
    double honest; // share of the reports that is assumed to be honest, AGG_HONEST_MIN .. 1; or 0
    uint32_t days; // days whose reports the person's figure covers; 0 counts as 1
} agg_release;

// Why there is no central figure.
typedef enum agg_central_none {
    AGG_CENTRAL_GIVEN,     // there is one
    AGG_CENTRAL_FILES,     // no blocks: whoever holds the files can ask for any part of them
    AGG_CENTRAL_HONEST,    // nobody stated the honest share
    AGG_CENTRAL_PERMANENT, // a device's reports share permanent coins, so one report tells of
                           // others
    AGG_CENTRAL_RUN,       // the stated epsilon is of all reports of a run, in all its epochs
    AGG_CENTRAL_NO_GAIN    // no bound improves on the local epsilon by a thousandth of it
} agg_central_none;

typedef struct agg_guarantee {
    double local, drawn; // epsilon of one report: as stated, and by its thresholds
    uint32_t per_day;    // reports of a person in a day; for a trie all that a person ever sends
    bool is_of_items;    // epsilon and central are those of one item, and so is the wording
    uint64_t reports;    // of the smallest block; 0 without blocks
    double honest;       // honest share of the reports; 0 if nobody stated it
    double delta;
    bool is_delta_stated;
    double central;    // central epsilon of a report, an upper bound; NAN where `none` says why
    const char *bound; // the bound that gave `central`: "closed_form", "blanket",
                       // "stronger" or "renyi"; NULL
                       // without one
    agg_central_none none;
    uint32_t days;           // days of the person's figure; 0: of all that a person ever sends
    uint64_t person_reports; // reports that a person may send in these days
    double person;      // central epsilon of all of them; NAN without `central`, and if no bound
                        // improves on person_reports times `local`
    double claim;       // the recipe's cohort.epsilon, at `delta`; 0 where it claims none
    bool is_claim_kept; // by `central`, or by `local` alone
} agg_guarantee;

// Computes the guarantees of a result of a finished recipe.
//   n: reports of the result; a smallest block above it counts as n
//   release: what is stated of blocks and honest reports
// Returns: AGG_ERR_MEMORY.
// Cost: 0.2 s at any n, with the Renyi route 0.5 s.
agg_err agg_guarantee_run(agg_guarantee *guarantee, agg_error *error, const shoal_recipe *recipe,
                          uint64_t n, const agg_release *release) SHOAL_MUST_CHECK;

// Returns: whether it is known if the recipe's claim is kept. It is not where the central figure is
// missing for want of a statement.
bool agg_guarantee_knows_claim(const agg_guarantee *guarantee);

// Returns: a word for programs that says why there is no central figure: "files", "honest",
// "permanent", "run" or "no_gain"; NULL if there is one.
const char *agg_central_none_name(agg_central_none none);

// Returns: how many of n reports count when this share is honest; whole, at least 1.
double agg_honest_reports(double n, double honest);

// Adds up the promises of two disjoint results to a person with one report in each. Their epsilons
// add. A result with a central epsilon counts with it and its delta; any other counts with its
// local epsilon.
void agg_guarantee_both(double *epsilon, double *delta, const agg_guarantee *a,
                        const agg_guarantee *b);

#endif
