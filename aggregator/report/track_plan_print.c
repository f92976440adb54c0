// SPDX-License-Identifier: Apache-2.0
// Prints plans of runs over epochs; see track_plan_print.h.
#include "track_plan_print.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "compound_list.h"
#include "print_text.h"
#include "track_print.h"

static const char *mechanism_of(const agg_track_law *law)
{
    return agg_compound_of_run(agg_track_is_heavy(law))->name;
}

static void print_change(FILE *stream, const agg_track_law *law, double change)
{
    if (isnan(change)) return;
    int32_t level = agg_track_level(law, change);
    if (level < 0)
        fprintf(stream, "\nA change of %g is never voted on.\n", change);
    else if (agg_track_wait(law, level) == 0)
        fprintf(stream, "\nA change of %g is voted on at once.\n", change);
    else
        fprintf(stream, "\nA change of %g is voted on within %u epochs of the %u.\n", change,
                agg_track_wait(law, level), law->plan.epochs);
}

static void print_table(FILE *stream, const agg_track_plan *p)
{
    const shoal_evolving_plan *plan = &p->law->plan;
    fprintf(stream,
            "%s: %s devices, %u epochs, %s samples of each in an epoch, epsilon %g for all, delta "
            "1e-%u\n\n",
            mechanism_of(p->law), agg_whole(plan->users).text, plan->epochs,
            agg_whole(plan->samples).text, plan->eps_micro / 1e6, plan->delta_exp);
    agg_track_print_law(stream, p->law);
    print_change(stream, p->law, p->change);
}

static void print_json(FILE *stream, const agg_track_law *law)
{
    fprintf(
        stream,
        "{\"schema\":1,\"mechanism\":\"%s\",\"votes\":%u,\"estimates\":%u,\"updates_needed\":%llu",
        mechanism_of(law), law->figures.n_votes, law->figures.n_estimates,
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
    if (is_json)
        print_json(stream, plan->law);
    else
        print_table(stream, plan);
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the plan: %s", strerror(errno));
}
