// SPDX-License-Identifier: Apache-2.0
// Retention: how many people of the week in which they first came are there again one, two and more
// weeks later. Pure: no files, no clock.
//
// On its first visit of a week a device reports its age, the weeks since its first visit ever, as
// an entry of the list "0", "1", "2" and so on. The last entry may have another name, such as "12
// or more". So the reports of a week are its visitors, and entry a of week w counts the people of
// the cohort w - a who came in week w. The cohort of week c has e[c][0] people, and its retention
// after a weeks is
//
//     r = A / B,   A = e[c + a][a],   B = e[c][0]
//
// A and B are estimates from different weeks, whose coins are independent. With their variances V_A
// and V_B, the standard error of r is sqrt(V_A + r^2 V_B) / B, and its interval is Fieller's: all r
// with (A - r B)^2 <= z^2 (V_A + r^2 V_B). It needs no linear approximation of the ratio, so it
// holds while B is small, where it is not symmetric. It is bounded if and only if B > z sqrt(V_B).
// Below that the share is not shown (AGG_RETENTION_SMALL_BASE). docs/retention.md has the measured
// coverage, also of shares that are shown though B is near that bound.
//
// Shares are not clamped to 0 .. 1, so that averages of several stay right. Age 0 is 1 by
// definition, with error 0.
//
// Where the recipe reports only a share p of the events (send.sample), counts are those of reports,
// and the retention is that of the people behind them: V of a count x grows by max(x, 0) (1 - p),
// the variance of a binomial draw.
//
// Assumption: a device reports once a week at most, and is in one accumulator a week.
// Source: E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical
// Society B 16 (1954).
#ifndef RETENTION_H
#define RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accumulator.h"
#include "agg_error.h"
#include "alarms.h"
#include "recipe_json.h"
#include "text_list.h"

#define AGG_RETENTION_WEEKS_MAX ((size_t)520)

// A ratio of two independent estimates with its error.
typedef struct agg_ratio {
    double ratio, stderr_, low, high; // NAN if the interval would not be bounded
    bool is_bounded;
} agg_ratio;

// Finds a ratio with Fieller's interval.
//   a, b: the estimates; their variances are 0 or more
//   quantile: z above 0, 1.96 for 95 %
// Returns: a ratio that is not bounded if b is not above quantile * sqrt(variance_b).
agg_ratio agg_ratio_of(double a, double variance_a, double b, double variance_b, double quantile);

// One week.
typedef struct agg_retention_week {
    agg_text label;
    const agg_accumulator *acc; // NULL: there is none of this week
} agg_retention_week;

typedef struct agg_retention_count {
    double count, stderr_, low, high; // reports, with the interval of estimate.h
    bool is_missing;                  // nothing is known: no accumulator, or no such entry
    bool is_withheld;                 // below the recipe's release threshold
} agg_retention_count;

// Why a share is not there.
typedef enum agg_retention_why {
    AGG_RETENTION_SHOWN = 0,
    AGG_RETENTION_NO_WEEK,    // there is no accumulator of one of its two weeks
    AGG_RETENTION_SMALL_BASE, // the cohort's size is not above 0 by more than its interval
    AGG_RETENTION_WITHHELD    // one of the two counts is below the release threshold
} agg_retention_why;

// Returns: "shown", "no-week", "small-cohort" or "withheld".
const char *agg_retention_why_name(agg_retention_why why);

// The people of one cohort in one week.
typedef struct agg_retention_cell {
    size_t cohort, age; // week `cohort` is their first, week cohort + age this one
    agg_retention_count count;
    double share, stderr_, low, high; // NAN unless `why` is AGG_RETENTION_SHOWN
    agg_retention_why why;
} agg_retention_cell;

// What is known of one week's visitors.
typedef struct agg_retention_total {
    agg_text label;
    bool is_missing;               // no accumulator
    uint64_t n;                    // visitors: the reports
    agg_retention_count new_;      // in their first week
    agg_retention_count returning; // all others: n less the new ones
    agg_retention_count or_more;   // of the last entry, if it holds several ages; else missing
    agg_shards_about shards;       // of the manifests that the accumulator counts
    agg_alarms alarms;             // not set where the week is missing
} agg_retention_total;

typedef struct agg_retention {
    const agg_recipe *recipe;
    double confidence;
    size_t n_ages;    // ages that are entries of their own: 0 .. n_ages - 1
    agg_text or_more; // name of the entry of all other ages; len 0 if there is none
    size_t n_weeks;
    agg_retention_total *weeks;
    size_t n_cells;
    agg_retention_cell *cells;             // by cohort, then by age
    const struct agg_guarantee *guarantee; // of the smallest week, printed with the result
                                           // (guarantee.h); NULL, and the caller may set it
} agg_retention;

// Reads the ages out of a recipe's list.
//   n_ages, or_more: as in agg_retention
// Returns: AGG_ERR_USAGE, naming the entry, unless the list is "0", "1", "2" and so on, where the
// last entry may have another name; for a recipe that takes any string, that has several variables,
// that follows a run, or whose reports answer for windows.
agg_err agg_retention_ages(size_t *n_ages, agg_text *or_more, agg_error *error,
                           const agg_recipe *recipe) SHOAL_MUST_CHECK;

// Estimates the cohorts of a sequence of weeks.
//   retention: points into the recipe and the labels, which must outlive it
//   weeks: n_weeks, one after another without a gap; AGG_RETENTION_WEEKS_MAX at most
//   confidence: of the intervals, in (0, 1); 0 means 0.95
//   n_threads: 0 means 1
// Returns: as agg_retention_ages; AGG_ERR_USAGE for fewer than two weeks, for weeks none of which
// has an accumulator, and for two that hold the same reports; behind the week's label
// SHOAL_ERR_RECIPE_HASH, and AGG_ERR_COHORT with exit code 3 for one below the minimum cohort.
// Privacy: post-processing. The minimum cohort and the release threshold are enforced here: a count
// below the threshold is withheld with every figure from which it would follow.
agg_err agg_retention_run(agg_retention *retention, agg_error *error, const agg_recipe *recipe,
                          const agg_retention_week *weeks, size_t n_weeks, double confidence,
                          unsigned n_threads) SHOAL_MUST_CHECK;

void agg_retention_release(agg_retention *retention);

// Returns: the cell of a cohort at an age; NULL if there is none.
const agg_retention_cell *agg_retention_find(const agg_retention *retention, size_t cohort,
                                             size_t age);

#endif
