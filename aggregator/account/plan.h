// SPDX-License-Identifier: Apache-2.0
// Plans a collection that does not exist yet: chooses a mechanism and its parameters, and predicts
// what the collection will detect and cost. Pure.
//
// Every account of the registry proposes variants, and those that break a limit are dropped. The
// others are judged by the standard error of the count of a value that hardly anybody holds. A mean
// is judged at its least favourable place in the range. Errors within AGG_PLAN_TIE of the least
// count as equal. Among equals the smallest report wins, then the fewest parameters, then the
// smallest sketch.
//
// A value counts as detectable when it is detected with probability one half. Its expected count is
// then at the bound of estimate.h's `detected`: z standard errors of a value that nobody holds,
// corrected for all values that are queried together.
//
// Where the wish states the share of active windows, devices are those that open a window each day,
// and shares are of active windows whatever the pick: under "first" these are the windows that
// report, under "uniform" all windows do, and the variance of picking adds to that of the coins
// (window_picks.h). pick_advice.h says which pick is advised.
#ifndef PLAN_H
#define PLAN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "agg_error.h"
#include "estimate.h"
#include "pick_advice.h"
#include "value_law.h"

#define AGG_PLAN_TIE 1.03        // standard errors this close count as equal
#define AGG_PLAN_MECHANISMS 32   // at least the registry's length
#define AGG_PLAN_EPS_MAX 16.0    // the largest epsilon of one report
#define AGG_PLAN_REPORTS_MAX 4e9 // more would overflow the counters of one accumulator

// The collection that is planned, and its limits.
typedef struct agg_plan_wish {
    double devices; // 1 or more
    double per_day,
        days;           // reports a device sends each day, and the days of the collection
    double budget;      // epsilon of a device over these days; 0: eps_micro is given
    uint32_t eps_micro; // the most for one report
    uint32_t size;      // values of the list, 2 or more; 0: any string, or a mean
    bool is_mean;
    agg_value_law law;     // not read for a mean
    const char *law_name;  // "Zipf 1.2"
    double asked;          // values queried together, 1 or more
    double detect;         // share that must be detectable; 0: no such demand
    double confidence;     // in (0, 1)
    agg_multiple multiple; // correction of `detected` for several values
    double report_bytes;   // the most for a report as JSON; 0: no limit
    double memory;         // bytes of an accumulator's sketch, at most; 0: no limit
    uint32_t mechanism;    // 0: any
    double active;         // share of windows with an event; 0: every device reports
    bool is_uniform;       // send.pick; false where `active` is 0
    bool is_visit;         // send.window of a uniform pick: a visit, else a day
    const char *id;        // the recipe's id, which every report carries
    uint32_t block;        // reports of the smallest block; 0: the minimum cohort
    const char *low,
        *high; // range of a mean, or of a list that is a histogram of a number, as
               // agg_plan_micro_text writes it; else NULL
} agg_plan_wish;

typedef struct agg_plan_candidate {
    const shoal_mechanism *mechanism;
    shoal_part part; // prepared; its seed is zeros
    double error; // standard error for a value that hardly anybody holds, in reports; of a mean at
                  // worst, in ranges
    double error_largest; // for the commonest value
    double smallest; // the share that is detected with probability one half; above 1: no share is
    double sure;     // the share that is detected with a probability of `confidence`
    double n_detectable;        // values of the law at or above `smallest`
    double report_bytes;        // JSON, as a device sends it
    double record_bytes;        // bytes of a record in a batch
    double day_bytes;           // bytes of JSON from all devices in a day
    double memory;              // bytes of the sketch
    double fold_s, fold_json_s; // seconds of one core, from batches and from JSON; estimates
    double estimate_s;          // seconds to estimate the values that are queried
} agg_plan_candidate;

typedef struct agg_plan {
    double n;       // reports
    double epsilon; // for one report
    size_t n_candidates;
    agg_plan_candidate candidates[AGG_PLAN_MECHANISMS]; // each mechanism's best, by rising error;
                                                        // the chosen one first
    bool is_nothing;                                    // no value is detectable within the limits
    const char *why;       // the reason as a sentence, where is_nothing
    double target;         // the share that `needed_*` refer to; 0 if there is none
    double needed_devices; // the fewest devices that make the target detectable at this epsilon; 0:
                           // no number does
    double needed_epsilon; // the least epsilon of one report that makes it detectable with these
                           // devices; 0: none up to AGG_PLAN_EPS_MAX
    double once_epsilon;   // where devices send several reports: the epsilon that a single report
                           // could have,
    double once_smallest; // and the smallest detectable share then (of a mean: the standard error);
                          // 0 elsewhere
    double other_smallest; // with `active`: the smallest detectable share under the other pick; 0:
                           // it has no answer, or the plan is for a mean
    double break_even;     // with `active`: agg_pick_break_even; 0: uniform is closer anyway
    double least_report,
        least_memory; // the smallest that any variant takes, if none meets the limits
    const struct agg_guarantee *guarantee;     // printed with the plan (guarantee.h); may be NULL
    const struct agg_central_promise *promise; // that the plan was made for (central_plan.h), or
                                               // NULL
} agg_plan;

// Returns: what decides on the wish's pick.
agg_pick_wish agg_plan_pick_wish(const agg_plan_wish *wish);

// Chooses the mechanism and its parameters.
// Returns: AGG_ERR_MEMORY.
agg_err agg_plan_run(agg_plan *plan, agg_error *error, const agg_plan_wish *wish) SHOAL_MUST_CHECK;

// Chooses as agg_plan_run does, and no more.
//   best: its mechanism is NULL where no variant keeps the limits
agg_err agg_plan_best(agg_plan_candidate *best, agg_error *error,
                      const agg_plan_wish *wish) SHOAL_MUST_CHECK;

// Predicts the results of one setting of one mechanism, and fills the whole candidate.
//   part: prepared
void agg_plan_judge(agg_plan_candidate *out, const agg_plan_wish *wish, const shoal_part *part);

// Returns: the reports of all devices over the days; under "first" those of active windows, a whole
// number.
static inline double agg_plan_reports(const agg_plan_wish *wish)
{
    double all = wish->devices * wish->per_day * wish->days;
    return wish->active > 0 && !wish->is_uniform ? fmax(1, round(all * wish->active)) : all;
}

// Returns: the share of the reports that the law's shares are of.
static inline double agg_plan_active(const agg_plan_wish *wish)
{
    return wish->is_uniform ? wish->active : 1;
}

// Returns: whether the mechanism can answer the wish at all, whatever the limits on report and
// memory.
bool agg_plan_is_possible(const agg_plan_candidate *candidate, const agg_plan_wish *wish);

// Returns: whether a candidate keeps the wish's limits on epsilon, report and memory, and has no
// more reports than its counters take.
bool agg_plan_keeps_limits(const agg_plan_candidate *candidate, const agg_plan_wish *wish);

// Returns: epsilon of one report, in micro-units, when a budget is spent evenly over `reports`
// (basic composition). It is rounded down and at most AGG_PLAN_EPS_MAX; 0 if it is below the least
// epsilon of a randomizer.
uint32_t agg_plan_split_budget(double budget, double reports);

// Calls `visit` with the name and the micro-units of each stated parameter of a part, in the order
// of a report.
void agg_plan_parameters(const shoal_part *part,
                         void (*visit)(void *context, const char *name, uint64_t micro),
                         void *context);

// Writes a number of micro-units as reports do: without trailing zeros, and without a point when it
// is whole.
// Returns: the length of the text.
int agg_plan_micro_text(char out[32], int64_t micro);

#endif
