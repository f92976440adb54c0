// SPDX-License-Identifier: Apache-2.0
// Composition of central guarantees: what several queries to the same crowd cost a person together,
// by the basic, the advanced and the Renyi theorem.
//
// Queries may be chosen after seeing earlier answers; each costs the cohort's guarantee, or its
// local epsilon where that is less. The total delta is shared: basic gives each of K queries
// delta/K; advanced keeps half for itself and gives each delta/(2K); Renyi spends none before the
// end. The three are told apart in what is printed and are never mixed.
//
// A person may have several reports in each query. What is then protected is all of them together,
// and by the same theorems: those of composition hold for any two inputs that a person may be the
// difference of. Basic and advanced take each query's figure for that many reports, by group
// privacy (amplification.h). Renyi composes first, over one report of the person in each query, and
// takes the group at the end: c reports in each query are c such changes, one after the other, each
// of them at the composed (epsilon, delta).
#ifndef COMPOSITION_H
#define COMPOSITION_H

#include <stddef.h>

#include "amplification.h"
#include "renyi.h"

#define AGG_SCHEDULE_MAX 64 // kinds of queries

// Queries of one kind.
typedef struct agg_query {
    double local_epsilon; // of one report, replacement model
    double n;             // honest reports
    double count;         // how many such queries: whole, at least 1
    double bit_epsilon;   // of a bit of the symmetric one-hot encoding; 0 for other mechanisms
} agg_query;

typedef struct agg_totals {
    double local;           // basic composition of local epsilons: what holds without any crowd
    double basic, advanced; // of the stronger bound
    double renyi;           // NAN unless every query is of the symmetric encoding
} agg_totals;

typedef struct agg_composition {
    double queries, contributions;
    agg_totals item, user; // of one report in each query; of all contributions of a person
} agg_composition;

// Total central epsilon of a schedule at `delta`. A figure that is no better than its `local` is
// NAN.
//   delta: for all queries together, AGG_CROWD_DELTA_MIN .. _MAX
//   contributions: reports of one person in each query: whole, at least 1
// Returns: AGG_ERR_MEMORY. Cost: as two bounds of every kind.
agg_err agg_compose(agg_composition *total, agg_error *error, const agg_query *queries,
                    size_t n_queries, double delta, double contributions) SHOAL_MUST_CHECK;

// Returns: epsilon of the composition of (epsilon[i], .)-private queries, count[i] times each, at
// an additional `slack`. Source: P. Kairouz, S. Oh, P. Viswanath, "The composition theorem for
// differential privacy" (2015), Theorem 3.5.
double agg_advanced_composition(const double *epsilon, const double *count, size_t n, double slack);

#endif
