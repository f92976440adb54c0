// SPDX-License-Identifier: Apache-2.0
// The alarms of a whole accumulator; see alarms.h.
#include "alarms.h"

#include <math.h>
#include <string.h>

#include "alarm_tests.h"
#include "estimator.h"
#include "recipe.h"

static const agg_alarm_kind *const kinds[] = {
#define SHOAL_MECHANISM(id, stem, name) &agg_##stem##_alarms,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
};

static const char no_days[] = "an accumulator has no days";

static const agg_alarm_kind *kind_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i]->id == mechanism) return kinds[i];
    return NULL;
}

// Returns: whether a reason says that there is nothing to measure.
static bool is_moot(const char *why)
{
    return why == agg_alarm_no_rows || why == agg_alarm_one_mark || why == agg_alarm_is_cells ||
           why == no_days;
}

// Says why codes are not measured that no part measures. The first part with a reason gives it.
static void give_reasons(agg_alarms *alarms, const shoal_recipe *recipe)
{
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const agg_alarm_kind *kind = kind_of(recipe->parts[i].mechanism);
        for (int c = 0; c < AGG_ALARM_CODES; c++)
            if (alarms->list[c].outcome == AGG_ALARM_NOT_MEASURED && alarms->list[c].why == NULL)
                alarms->list[c].why = kind->why[c];
    }
    alarms->list[AGG_ALARM_GROWTH].why = no_days;
    for (int c = 0; c < AGG_ALARM_CODES; c++)
        alarms->list[c].is_moot = is_moot(alarms->list[c].why);
}

agg_err agg_alarms_test(agg_alarms *alarms, agg_error *error, const shoal_recipe *recipe,
                        const agg_accumulator *acc)
{
    if (recipe->epochs > 0) {
        for (int c = 0; c < AGG_ALARM_CODES; c++)
            alarms->list[c].why = "devices of a run answer again as they did before";
        return SHOAL_OK;
    }
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; err == SHOAL_OK && acc->n > 0 && i < recipe->n_parts; i++)
        err = kind_of(recipe->parts[i].mechanism)
                  ->test(alarms, error, &recipe->parts[i], &acc->parts[i], acc->n);
    if (err == SHOAL_OK) give_reasons(alarms, recipe);
    return err;
}

uint64_t agg_alarms_memory(const shoal_recipe *recipe)
{
    uint64_t most = 0;
    for (uint32_t i = 0; recipe->epochs == 0 && i < recipe->n_parts; i++) {
        const agg_alarm_kind *kind = kind_of(recipe->parts[i].mechanism);
        uint64_t bytes = kind->memory != NULL ? kind->memory(&recipe->parts[i]) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

void agg_alarms_test_counts(agg_alarms *alarms, const shoal_part *part, uint64_t n,
                            const agg_count *counts, size_t n_items)
{
    const agg_alarm_kind *kind = kind_of(part->mechanism);
    agg_extreme above = {0}, below = {0};
    double low = 0, high = 0, least = HUGE_VAL, most = -HUGE_VAL, reports = (double)n;
    if (kind->support == NULL || n_items == 0 || n == 0) return;
    for (size_t i = 0; i < n_items; i++) {
        least = fmin(least, counts[i].support);
        most = fmax(most, counts[i].support);
    }
    if (kind->is_signed) {
        least = (reports + least) / 2;
        most = (reports + most) / 2;
    }
    kind->support(&low, &high, part);
    agg_extreme_above(&above, &(agg_bounded){most, reports, high, 1 - high});
    agg_extreme_below(&below, &(agg_bounded){least, reports, low, 1 - low});
    agg_alarm_enter_above(alarms, AGG_ALARM_ABOVE, &above, (double)n_items);
    agg_alarm_enter_below(alarms, AGG_ALARM_BELOW, &below, (double)n_items);
}

void agg_alarms_test_copies(agg_alarms *alarms, const shoal_recipe *recipe,
                            const agg_copies_seen *seen)
{
    static const char partly[] = "the server restarted or failed while a block was open, or the "
                                 "blocks are from before it counted copies";
    agg_alarm *alarm = &alarms->list[AGG_ALARM_IDENTICAL];
    double likeliest = 1, p = agg_copies_seen_p(&likeliest, recipe, seen);
    if (!(likeliest < 1)) return;
    if (seen->n_examined > 0) {
        const agg_bounded counted = {seen->largest, (double)seen->n_examined, likeliest,
                                     1 - likeliest};
        agg_alarm_enter(alarms, AGG_ALARM_IDENTICAL, p, &counted);
        alarm->is_counted = alarm->p == p;
    }
    alarm->is_partial = !seen->is_whole;
    if (alarm->is_partial) alarm->why = partly;
}

void agg_alarms_finish(agg_alarms *alarms)
{
    alarms->n_raised = 0;
    alarms->is_measured = true;
    for (int c = 0; c < AGG_ALARM_CODES; c++) {
        agg_alarm *alarm = &alarms->list[c];
        if (alarm->outcome == AGG_ALARM_NOT_MEASURED) continue;
        alarm->p = fmin(1, alarm->p * alarms->n_tests);
        if (alarm->p > AGG_ALARM_RATE && alarm->is_partial) alarm->outcome = AGG_ALARM_NOT_MEASURED;
        if (alarm->p > AGG_ALARM_RATE) continue;
        alarm->outcome = AGG_ALARM_RAISED;
        alarms->n_raised++;
    }
}

void agg_alarms_compare_growth(agg_alarms *alarms, double newest, double usual, double factor)
{
    agg_alarm *alarm = &alarms->list[AGG_ALARM_GROWTH];
    *alarm = (agg_alarm){.observed = newest, .expected = usual, .why = "no rule is configured"};
    if (!(factor > 0)) return;
    alarm->why = "too few blocks have closed to say what is usual";
    if (!(usual > 0)) return;
    alarm->outcome = newest > factor * usual ? AGG_ALARM_RAISED : AGG_ALARM_PASSED;
    alarms->n_raised += alarm->outcome == AGG_ALARM_RAISED;
}
