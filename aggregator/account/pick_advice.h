// SPDX-License-Identifier: Apache-2.0
// Whether a recipe should report the first events of a day (send.pick "first") or one event of each
// window, drawn uniformly. Pure.
//
// Let a be the share of windows in which something happens. Both ways spend the same epsilon on a
// window. Under "first" only a n of n windows report, and the count of a rare value has the
// variance a n v, with v that of the coins of one report. Under "uniform" all n report, and it has
// n v: errors of counts, and of shares of active windows, grow by 1/sqrt(a). In return epsilon
// covers all that a person did in a window, whether something happened does not show, and a
// window's first event counts no more than its last. From a = AGG_PICK_ACTIVE_LEAST on, where
// errors grow by less than 1.83, "uniform" is advised.
//
// "first" is never advised for its estimand: it counts what opens a day. Where openings differ from
// the mean share among a window's events by more than `agg_pick_break_even`, "uniform" is closer to
// that share at any a.
#ifndef PICK_ADVICE_H
#define PICK_ADVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe_ref.h"

#define AGG_PICK_ACTIVE_LEAST 0.3

typedef enum agg_pick_reason {
    AGG_PICK_ACTIVE,    // uniform: enough windows are active
    AGG_PICK_RARE,      // first: few windows are active
    AGG_PICK_UNKNOWN,   // first: nobody said how many are
    AGG_PICK_PERMANENT, // first: permanent coins
    AGG_PICK_MEAN,      // first: a mean cannot tell windows without events apart
    AGG_PICK_OWN        // first: queries, tries and runs choose what they report by themselves
} agg_pick_reason;

typedef struct agg_pick_wish {
    double active;  // share of windows with an event, (0, 1]; 0 if it is not known
    uint32_t value; // enum shoal_value_kind
    bool is_permanent, is_mean, is_own; // as in agg_pick_reason
} agg_pick_wish;

// Returns: what the recipe, which may be of either pick, says of a wish.
//   active: as above
agg_pick_wish agg_pick_wish_of(const shoal_recipe *recipe, double active);

// Returns: why to pick as agg_pick_is_uniform says.
agg_pick_reason agg_pick_advise(const agg_pick_wish *wish);

static inline bool agg_pick_is_uniform(agg_pick_reason reason)
{
    return reason == AGG_PICK_ACTIVE;
}

#define AGG_PICK_SENTENCE_MAX 400u

// Writes the reason as a sentence that begins with the name of the pick and has no full stop.
void agg_pick_sentence(char out[AGG_PICK_SENTENCE_MAX], const agg_pick_wish *wish,
                       agg_pick_reason reason);

// Returns: the error in the share of active windows up to which what opens a day may differ from
// what windows hold before "uniform" is closer; 0 where it is closer anyway.
//   uniform, first: standard errors of a rare value's share of active windows
double agg_pick_break_even(double uniform, double first);

#endif
