// SPDX-License-Identifier: Apache-2.0
// Composition of central guarantees: the total cost of several queries to the same crowd for one
// person, by the basic, the advanced and the Renyi theorem, and by numbers (privacy_loss.h).
//
// Queries may be chosen after seeing earlier answers. Each one costs the cohort's guarantee, or its
// local epsilon where that is less. The total delta is shared: basic composition gives each of K
// queries delta/K. Advanced composition keeps half for itself and gives each query delta/(2K).
// Renyi composition and that by numbers spend no delta before the end. The figures are printed
// separately and never mixed. The last is nearly always the least; for few queries it is up to a
// per cent above the basic one, as it is computed from above.
//
// A person may have several reports in each query. All of them are then protected together by the
// same theorems, which hold for any two inputs that a person may change. Basic and advanced
// composition take each query's figure for that many reports, by group privacy (amplification.h).
// The other two first compose one report of the person in each query and applies group privacy
// at the end. c reports in each query are c such changes, one after the other, each of them at the
// composed (epsilon, delta).
#ifndef COMPOSITION_H
#define COMPOSITION_H

#include <stddef.h>

#include "amplification.h"
#include "renyi.h"

#define AGG_SCHEDULE_MAX 64 // kinds of queries

// Queries of one kind.
typedef struct agg_query {
    double local_epsilon;     // for one report, replacement model
    double n;                 // honest reports
    double count;             // how many such queries: whole, at least 1
    double bit_epsilon;       // for a bit of the symmetric encoding; 0 for other mechanisms
    const agg_pair_law *pair; // of the mechanism; NULL: not known
} agg_query;

typedef struct agg_totals {
    double local;           // basic composition of local epsilons, which holds without any crowd
    double basic, advanced; // central epsilons by the blanket where all mechanisms are known,
                            // else by the stronger clones bound
    double renyi;           // NAN unless every query uses the symmetric encoding
    double numeric;         // by the same bounds as `basic`
} agg_totals;

typedef struct agg_composition {
    double queries, contributions;
    agg_totals item, user; // totals for one report in each query; for all contributions of a person
} agg_composition;

// Computes the total central epsilon of a schedule at `delta`. A figure is NAN if it is no better
// than its `local`.
//   delta: for all queries together, AGG_CROWD_DELTA_MIN .. _MAX
//   contributions: reports of one person in each query: whole, at least 1
// Returns: AGG_ERR_MEMORY.
// Cost: two bounds for every kind of query, and 60 evaluations of one.
agg_err agg_compose(agg_composition *total, agg_error *error, const agg_query *queries,
                    size_t n_queries, double delta, double contributions) SHOAL_MUST_CHECK;

// Returns: the epsilon of the composition of (epsilon[i], .)-private queries, count[i] times each,
// at an additional `slack`.
// Source: P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for differential privacy"
// (2015), Theorem 3.5.
double agg_advanced_composition(const double *epsilon, const double *count, size_t n, double slack);

#endif
