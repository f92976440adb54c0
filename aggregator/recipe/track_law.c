// SPDX-License-Identifier: Apache-2.0
// Computes the figures of a run; see track_law.h.
#include "track_law.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "probability.h"

static agg_track_fault fault_of(const char *field)
{
    if (strcmp(field, "smallest_group") == 0) return AGG_TRACK_GROUP;
    if (strcmp(field, "samples") == 0) return AGG_TRACK_SAMPLES;
    return strncmp(field, "epsilon", 7) == 0 ? AGG_TRACK_EPSILON : AGG_TRACK_OTHER;
}

// Returns: the probability that the device draws.
static double rare(uint32_t eps_micro)
{
    uint64_t threshold = 0;
    if (shoal_threshold(&threshold, eps_micro, 1) != SHOAL_OK) return 0.5;
    return (double)threshold / 18446744073709551616.0;
}

static void fill(agg_track_law *law)
{
    const shoal_evolving *f = &law->figures;
    bool is_heavy = agg_track_is_heavy(law);
    law->epsilon = f->eps_micro / 1e6;
    law->cost = f->cost_micro / 1e6;
    law->a = f->vote_micro / 1e6;
    law->b = f->estimate_micro / 1e6;
    // A value's share s moves a coordinate by s/sqrt(w), in a range of 2/sqrt(w).
    law->unit = ldexp((double)f->step, -SHOAL_EVOLVING_STEP_BITS) * (is_heavy ? 2 : 1);
    law->bound = is_heavy ? NAN : 2 * (log2(f->epochs) + 2) * law->unit;
    law->changes = fmin(f->n_votes / 2, f->n_estimates);
    law->vote_rare = rare(f->vote_micro);
    law->vote_common = 1 - law->vote_rare;
    law->stderr_ = (is_heavy ? 1 : 0.5) / (1 - 2 * rare(f->estimate_micro)) / sqrt(law->plan.users);
}

void agg_track_law_of(agg_track_law *law, const shoal_evolving_plan *plan)
{
    memset(law, 0, sizeof *law);
    law->plan = *plan;
    if (shoal_evolving_figures(&law->figures, &law->field, plan) != SHOAL_OK)
        law->fault = fault_of(law->field);
    else
        law->field = NULL;
    if (law->fault != AGG_TRACK_OTHER)
        shoal_evolving_needs(&law->group_needed, &law->users_needed, plan);
    if (law->fault == AGG_TRACK_RUNS) fill(law);
}

uint64_t agg_track_votes_needed(const agg_track_law *law, uint64_t n)
{
    uint64_t threshold = 0;
    if (shoal_threshold(&threshold, law->figures.vote_micro, 1) != SHOAL_OK) return UINT64_MAX;
    return shoal_evolving_update_votes(&law->plan, threshold, n);
}

int32_t agg_track_level(const agg_track_law *law, double change)
{
    double passed = ceil(fabs(change) / law->unit) -
                    2; // a change passes a threshold if it is strictly above it
    if (!(passed > -1)) return -1;
    return passed < law->figures.levels ? (int32_t)passed : (int32_t)law->figures.levels;
}

uint32_t agg_track_wait(const agg_track_law *law, int32_t level)
{
    return ((uint32_t)1 << (law->figures.levels - (uint32_t)level)) - 1;
}

static void why_group(char *out, const agg_track_law *law)
{
    const shoal_evolving_plan *p = &law->plan;
    char group[80] = "no group is large enough", users[80] = "";
    if (law->group_needed <= p->users / p->groups)
        snprintf(group, sizeof group, "the smallest that works is %llu",
                 (unsigned long long)law->group_needed);
    if (law->users_needed > 0)
        snprintf(users, sizeof users, "; or %llu users in %u group%s of one size",
                 (unsigned long long)law->users_needed, p->groups, p->groups == 1 ? "" : "s");
    snprintf(
        out, AGG_TRACK_WHY_MAX,
        "parameters.smallest_group: %u of %u users could not call an update (Assumption 4.2): %s%s",
        p->smallest_group, p->users, group, users);
}

// Returns: the number of samples at which b is epsilon/2, which leaves one estimate.
static double samples_most(const shoal_evolving_plan *p)
{
    double delta = pow(10, -(double)p->delta_exp), epochs = p->epochs;
    double s = sqrt(log(12 * epochs / delta) / (2 * p->users));
    double h = s * (1 + 4 / (p->eps_micro / 1e6)) / log2(epochs);
    return floor(log(12 * p->users * epochs / delta) / (2 * h * h));
}

bool agg_track_why_not(char out[AGG_TRACK_WHY_MAX], const agg_track_law *law)
{
    switch (law->fault) {
    case AGG_TRACK_RUNS: return false;
    case AGG_TRACK_GROUP: why_group(out, law); break;
    case AGG_TRACK_SAMPLES:
        snprintf(
            out, AGG_TRACK_WHY_MAX,
            "parameters.samples: with %u a device and epoch the thresholds are finer than any "
            "estimate of %u users: up to about %.0f leave a device one estimate, fewer leave more",
            law->plan.samples, law->plan.users, samples_most(&law->plan));
        break;
    case AGG_TRACK_EPSILON:
        snprintf(out, AGG_TRACK_WHY_MAX,
                 "parameters.%s: a device's epsilon does not suffice for one vote and one "
                 "estimate: state more users, more epsilon, or (for estimates) fewer samples",
                 law->field);
        break;
    case AGG_TRACK_OTHER:
        snprintf(out, AGG_TRACK_WHY_MAX, "parameters.%s is out of its range", law->field);
        break;
    }
    return true;
}
