// SPDX-License-Identifier: Apache-2.0
// Computes the central epsilon of shuffled or summed local reports by every bound, for one query or
// several, and answers the inverse questions. All figures are upper bounds in the replacement
// model.
#ifndef CROWD_ACCOUNT_H
#define CROWD_ACCOUNT_H

#include <stdbool.h>

#include "amplification.h"
#include "composition.h"

// The quantity that a question asks for.
typedef enum agg_account_find {
    AGG_FIND_CENTRAL_EPSILON,
    AGG_FIND_REPORTS,      // the fewest reports that give central_epsilon
    AGG_FIND_LOCAL_EPSILON // the largest local epsilon that gives it
} agg_account_find;

#define AGG_LOCAL_EPSILON_MIN 0.01 // epsilon of one report, in the question's model
#define AGG_LOCAL_EPSILON_MAX 16.0

typedef struct agg_crowd_account {
    // The question. Quantities that it does not state are 0.
    agg_account_find find;
    bool is_deletion; // local_epsilon is of the deletion model; else of replacement
    bool is_one_hot;  // the mechanism is onehot-symmetric, for which the Renyi route holds too
    const agg_pair_law *pair; // of the mechanism; NULL: not known, and no blanket bound
    bool has_schedule_only;   // the queries of the schedule state their own epsilon and reports
    double local_epsilon, reports, delta, central_epsilon;
    double honest;        // share of the reports that are honest, AGG_HONEST_MIN to 1
    double contributions; // reports of one person in each query, 1 or more
    agg_query schedule[AGG_SCHEDULE_MAX]; // local_epsilon, n and count as stated
    size_t n_schedule;

    // The answer. A figure is NAN if its bound does not apply.
    agg_crowd crowd; // in the replacement model, with honest reports only
    agg_central item[AGG_BOUNDS], user[AGG_BOUNDS];
    double item_renyi, user_renyi, found[AGG_BOUNDS], found_renyi;
    double variation_ratio; // a figure of one report, not a bound (variation_ratio.h); NAN without
                            // a pair
    agg_composition composition; // total of the schedule, if there is one
} agg_crowd_account;

// Answers the question.
// Returns: AGG_ERR_USAGE where one person contributes more reports than there are honest ones.
agg_err agg_account_run(agg_crowd_account *account, agg_error *error) SHOAL_MUST_CHECK;

#endif
