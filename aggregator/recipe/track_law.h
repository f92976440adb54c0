// SPDX-License-Identifier: Apache-2.0
// What a run of THRESH or HEAVYTHRESH costs, how much it says and which changes it sees how late,
// for people: core/compound/evolving.h, whose integers devices go by, in doubles and in the units
// of the data. Pure.
//
// A device whose local mean lies more than threshold i, (i + 1) unit, from that of the last update,
// and not more than threshold i + 1, votes in the epochs that 2^(levels-i) divides: a change beyond
// the highest threshold is voted on at once, one of up to `unit` never. Source: joseph-2018,
// Algorithms 1 to 3, Assumption 4.2, Theorem 4.3 and section 5.2; log to base 2 and ln natural.
#ifndef TRACK_LAW_H
#define TRACK_LAW_H

#include <stdbool.h>

#include "evolving.h"

// What stands in the way of a run.
typedef enum agg_track_fault {
    AGG_TRACK_RUNS = 0,
    AGG_TRACK_GROUP,   // Assumption 4.2: the smallest group is too small
    AGG_TRACK_SAMPLES, // so many samples that no estimate is private enough to be of use: no b
    AGG_TRACK_EPSILON, // not one vote, or not one estimate
    AGG_TRACK_OTHER    // a figure is outside its range: `field`
} agg_track_fault;

typedef struct agg_track_law {
    shoal_evolving_plan plan;
    agg_track_fault fault;
    const char *field; // that the core refused, behind "parameters."; NULL where it refused none
    uint64_t group_needed; // the smallest L that will do with these users and groups; above
                           // users/groups: none does
    uint64_t users_needed; // the smallest n for these groups, of equal size; 0: 10^9 are not enough
    // below: written where fault is AGG_TRACK_RUNS
    shoal_evolving figures;
    double epsilon, cost; // of the run: stated, and spent at most
    double a, b;          // epsilon of one vote and of one estimate
    double unit;    // threshold 0, a fraction of the range; HEAVYTHRESH: in a value's share of its
                    // samples
    double bound;   // Theorem 4.3: no published value is further off; loose; NaN for HEAVYTHRESH
    double changes; // that the run has room for: each costs two votes and an estimate at most
    double vote_rare, vote_common; // a quiet and a voting device's chance to say yes
    double stderr_; // of an update with all users, at worst, a fraction of the range; HEAVYTHRESH:
                    // of a share
} agg_track_law;

// Fills it.
void agg_track_law_of(agg_track_law *law, const shoal_evolving_plan *plan);

// Returns: whether it is a run of HEAVYTHRESH.
static inline int agg_track_is_heavy(const agg_track_law *law)
{
    return law->plan.projection > 0;
}

// Returns: the least number of yes among n reports that is an update.
uint64_t agg_track_votes_needed(const agg_track_law *law, uint64_t n);

// Returns: the highest threshold that a change passes, -1 where it passes none.
//   change: of a group's mean, as a fraction of the range; HEAVYTHRESH: of one value's share, at
//   the expense of many others'
int32_t agg_track_level(const agg_track_law *law, double change);

// Returns: epochs that pass at most between such a change and the vote on it: 0 where it is voted
// on at once. Not for level -1, which never votes.
uint32_t agg_track_wait(const agg_track_law *law, int32_t level);

// Writes why a run cannot be, with the smallest group and the least number of users that could: one
// line, no newline. Returns: 0 where it can.
#define AGG_TRACK_WHY_MAX 320
bool agg_track_why_not(char out[AGG_TRACK_WHY_MAX], const agg_track_law *law);

#endif
