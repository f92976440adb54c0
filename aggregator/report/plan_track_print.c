// SPDX-License-Identifier: Apache-2.0
// Printed plans of runs; see plan_track_print.h.
#include "plan_track_print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "estimate_print.h"
#include "track_print.h"

static void print_change(FILE *stream, const agg_track_plan *p)
{
    int32_t level = agg_track_level(&p->law, p->change);
    if (p->change <= 0) return;
    if (level < 0)
        fprintf(stream, "\nA change of %g is never voted on.\n", p->change);
    else if (agg_track_wait(&p->law, level) == 0)
        fprintf(stream, "\nA change of %g is voted on at once.\n", p->change);
    else
        fprintf(stream, "\nA change of %g is voted on within %u epochs of the %u.\n", p->change,
                agg_track_wait(&p->law, level), p->plan.epochs);
}

static void print_table(FILE *stream, const agg_track_plan *p)
{
    fprintf(stream,
            "%s: %u devices, %u epochs, %u samples of each in an epoch, epsilon %g for all, delta "
            "1e-%u\n\n",
            p->is_items ? "heavythresh" : "thresh", p->plan.users, p->plan.epochs, p->plan.samples,
            p->plan.eps_micro / 1e6, p->plan.delta_exp);
    agg_track_print_law(stream, &p->law);
    print_change(stream, p);
}

static void print_json(FILE *stream, const agg_track_plan *p)
{
    const agg_track_law *law = &p->law;
    fprintf(
        stream,
        "{\"schema\":1,\"mechanism\":\"%s\",\"votes\":%u,\"estimates\":%u,\"updates_needed\":%llu",
        p->is_items ? "heavythresh" : "thresh", law->figures.n_votes, law->figures.n_estimates,
        (unsigned long long)agg_track_votes_needed(law, law->plan.users));
    const struct {
        const char *name;
        double x;
    } numbers[] = {{"epsilon_vote", law->a},  {"epsilon_estimate", law->b}, {"epsilon", law->cost},
                   {"changes", law->changes}, {"stderr", law->stderr_},     {"bound", law->bound},
                   {"never_voted", law->unit}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fprintf(stream, ",\"%s\":", numbers[i].name);
        if (isfinite(numbers[i].x))
            agg_print_number(stream, numbers[i].x);
        else
            fputs("null", stream);
    }
    fputs(",\"waits\":[", stream);
    for (uint32_t i = 0; i <= law->figures.levels; i++) {
        fprintf(stream, "%s{\"above\":", i > 0 ? "," : "");
        agg_print_number(stream, (i + 1) * law->unit);
        fprintf(stream, ",\"epochs\":%u}", agg_track_wait(law, (int32_t)i));
    }
    fputs("]}\n", stream);
}

agg_err agg_track_plan_print(FILE *stream, agg_error *error, const agg_track_plan *plan,
                             bool is_json)
{
    (is_json ? print_json : print_table)(stream, plan);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the plan: %s", strerror(errno));
}
