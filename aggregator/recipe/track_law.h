// SPDX-License-Identifier: Apache-2.0
// The figures of a run of THRESH or HEAVYTHRESH: its cost, its errors, and how late it sees which
// changes. Devices go by the integers of core/compound/evolving.h; here they are doubles in the
// units of the data, for people. Pure.
//
// Threshold i is (i + 1) unit. A device compares its local mean with the one at the last update. If
// they differ by more than threshold i and at most threshold i + 1, it votes in the epochs that
// 2^(levels-i) divides. So devices vote on a change beyond the highest threshold at once, and never
// on one of up to `unit`.
//
// Source: joseph-2018, Algorithms 1 to 3, Assumption 4.2, Theorem 4.3 and section 5.2. In the code
// "log2" is to base 2 and "log" natural.
#ifndef TRACK_LAW_H
#define TRACK_LAW_H

#include <stdbool.h>

#include "evolving.h"

// The reason why a run is impossible.
typedef enum agg_track_fault {
    AGG_TRACK_RUNS = 0, // the run is possible
    AGG_TRACK_GROUP,    // Assumption 4.2: the smallest group is too small
    AGG_TRACK_SAMPLES,  // with so many samples no estimate fits the thresholds
    AGG_TRACK_EPSILON,  // epsilon is not enough for one vote and one estimate
    AGG_TRACK_OTHER     // `field` is outside its range
} agg_track_fault;

typedef struct agg_track_law {
    shoal_evolving_plan plan;
    agg_track_fault fault;
    const char *field;     // the field below "parameters." that the core refused, or NULL
    uint64_t group_needed; // the smallest sufficient L for these users and groups; above
                           // users/groups if no L is sufficient
    uint64_t users_needed; // the smallest sufficient n for these groups, of equal size; 0 if 10^9
                           // users are not enough
    // The members below are set if fault is AGG_TRACK_RUNS.
    shoal_evolving figures;
    double epsilon, cost; // of the run: as stated, and spent at most
    double a, b;          // epsilon of one vote and of one estimate
    double unit;    // threshold 0, as a fraction of the range; with HEAVYTHRESH, of a value's share
    double bound;   // Theorem 4.3's bound on the error of a published value, which is loose; NaN
                    // for HEAVYTHRESH
    double changes; // the number that the run has room for, at two votes and an estimate each
    double vote_rare, vote_common; // the chance of a yes from a quiet device and from a voting one
    double stderr_; // standard error of an update with all users at worst, as a fraction of the
                    // range; with HEAVYTHRESH, of a share
} agg_track_law;

// Computes the figures of a planned run; `fault` says if it is possible.
void agg_track_law_of(agg_track_law *law, const shoal_evolving_plan *plan);

// Returns: whether the run is of HEAVYTHRESH.
static inline bool agg_track_is_heavy(const agg_track_law *law)
{
    return law->plan.projection > 0;
}

// Returns: the least number of yes votes among n reports that makes an update.
uint64_t agg_track_votes_needed(const agg_track_law *law, uint64_t n);

// Returns: the highest threshold that a change passes; -1 if it passes none.
//   change: of a group's mean, as a fraction of the range; with HEAVYTHRESH, of one value's share,
//   at the expense of many other values
int32_t agg_track_level(const agg_track_law *law, double change);

// Returns: the most epochs that pass between a change and the vote on it; 0 if devices vote at
// once.
//   level: of agg_track_level, not -1: devices never vote on such a change
uint32_t agg_track_wait(const agg_track_law *law, int32_t level);

#define AGG_TRACK_WHY_MAX 320 // bytes with a NUL

// Writes why a run is impossible, with the smallest group and the least number of users that would
// be sufficient: one line without a newline.
// Returns: false if the run is possible.
bool agg_track_why_not(char out[AGG_TRACK_WHY_MAX], const agg_track_law *law);

#endif
