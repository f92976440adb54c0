// SPDX-License-Identifier: Apache-2.0
// Figures of a run; see track_law.h.
#include "track_law.h"

#include <math.h>
#include <string.h>

#include "probability.h"

static agg_track_fault fault_of(const char *field)
{
    if (strcmp(field, "smallest_group") == 0) return AGG_TRACK_GROUP;
    if (strcmp(field, "samples") == 0) return AGG_TRACK_SAMPLES;
    return strncmp(field, "epsilon", 7) == 0 ? AGG_TRACK_EPSILON : AGG_TRACK_OTHER;
}

// As the device draws it.
static double rare(uint32_t eps_micro)
{
    uint64_t threshold = 0;
    if (shoal_threshold(&threshold, eps_micro, 1) != SHOAL_OK) return 0.5;
    return (double)threshold / 18446744073709551616.0;
}

static void fill(agg_track_law *law)
{
    const shoal_evolving *f = &law->figures;
    int is_heavy = agg_track_is_heavy(law);
    law->epsilon = f->eps_micro / 1e6;
    law->cost = f->cost_micro / 1e6;
    law->a = f->vote_micro / 1e6;
    law->b = f->estimate_micro / 1e6;
    // A share s of a value moves a coordinate by s/sqrt(w), of a range of 2/sqrt(w).
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
    if (law->fault != AGG_TRACK_OTHER) shoal_evolving_needs(&law->group_needed, &law->users_needed, plan);
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
    double passed = ceil(fabs(change) / law->unit) - 2; // thresholds are passed strictly
    if (!(passed > -1)) return -1;
    return passed < law->figures.levels ? (int32_t)passed : (int32_t)law->figures.levels;
}

uint32_t agg_track_wait(const agg_track_law *law, int32_t level)
{
    return ((uint32_t)1 << (law->figures.levels - (uint32_t)level)) - 1;
}
