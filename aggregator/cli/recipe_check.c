// SPDX-License-Identifier: Apache-2.0
// Recipes in print; see recipe_check.h.
#include "recipe_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "central.h"
#include "dictionary.h"
#include "rappor.h"
#include "report_json.h"
#include "talk.h"

static const shoal_mechanism *mechanism_of(const shoal_recipe *r)
{
    return shoal_mechanism_by_id(r->mechanism);
}

static void print_parameters(const agg_recipe *recipe)
{
    const shoal_recipe *r = &recipe->recipe;
    const char *name = NULL;
    int64_t micro = 0;
    printf("mechanism           %s", mechanism_of(r)->name);
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &micro, r, i); i++)
        if (strcmp(name, "epsilon") != 0) printf(", %s=%.10g", name, (double)micro / 1e6);
    printf("\nrecord              %u byte%s in a batch, %zu in a JSON report\n", r->record_size,
           r->record_size == 1 ? "" : "s", agg_report_size(recipe));
}

static void print_range(const shoal_recipe *r)
{
    double low = (double)r->low_micro / 1e6, high = (double)r->high_micro / 1e6;
    uint32_t size = r->parts[0].size;
    if (r->value != SHOAL_VALUE_NUMBER) return;
    if (r->parts[0].domain == SHOAL_DOMAIN_NUMBER) {
        printf("mean                of numbers from %.10g to %.10g; one outside counts as the nearer end\n", low, high);
        return;
    }
    char first[AGG_LABEL_MAX], last[AGG_LABEL_MAX];
    agg_bucket_print(first, r, 0);
    agg_bucket_print(last, r, size - 1);
    printf("buckets             %u of %.10g each, from %s to %s; a number outside counts in the nearer\n", size,
           (high - low) / size, first, last);
}

// The largest log-ratio between an entry of a list and none of it, over all vectors of a list of two: the other entries' coins are the
// same with either, so that a longer list has the same ratio.
static double deletion_epsilon(const shoal_part *part)
{
    const agg_account *account = agg_account_of(part->mechanism);
    shoal_part two = *part;
    uint8_t record[8];
    const char *field;
    double most = 0;
    two.size = 2;
    if (shoal_part_prepare(&two, &field) != SHOAL_OK) return 0;
    for (uint64_t i = 0; i < account->n_outputs(&two); i++) {
        if (!account->output(record, &two, i)) continue;
        double ratio = log(account->probability(&two, record, 0) / account->probability(&two, record, SHOAL_ITEM_NONE));
        if (fabs(ratio) > most) most = fabs(ratio);
    }
    return most;
}

static int is_onehot(const shoal_recipe *r)
{
    static const char head[] = "onehot-";
    return strncmp(mechanism_of(r)->name, head, sizeof head - 1) == 0;
}

static void print_report_cost(const shoal_recipe *r)
{
    uint32_t drawn = 0;
    if (shoal_recipe_epsilon(&drawn, r) != SHOAL_OK) drawn = 0;
    printf("epsilon per report  %.8g (as drawn: %.8g)\n", r->cost_micro / 1e6, drawn / 1e6);
    if (is_onehot(r))
        printf("deletion model      %.4g (a listed value against none of the list)\n", deletion_epsilon(&r->parts[0]));
}

// The permanent answer bounds what any number of reports of one value tell; those of another value cost anew.
static void print_unlimited(const shoal_recipe *r)
{
    uint32_t unlimited = 0;
    if (!shoal_recipe_is_permanent(r)) return;
    if (shoal_rappor_unlimited(&unlimited, &r->parts[0]) == SHOAL_OK)
        printf("epsilon per value   %.8g (however many reports of it a person sends)\n", unlimited / 1e6);
    else
        printf("epsilon per value   no bound: the permanent answer keeps next to nothing back\n");
}

// Whether the central claim follows from the minimum cohort as devices compute it, and from which cohort on it does. Both calls take
// any recipe that was read: its cost, cohort and delta lie in their ranges.
static void print_claim(const shoal_recipe *r)
{
    uint32_t eps = 0;
    uint64_t n = 0;
    if (r->cohort_eps_micro == 0) return;
    if (shoal_central_epsilon(&eps, r->cost_micro, r->cohort_minimum, r->cohort_delta_exp) != SHOAL_OK) return;
    printf("closed form         central epsilon %.8g: the claim %s", eps / 1e6,
           eps <= r->cohort_eps_micro ? "follows" : "does not follow");
    if (shoal_central_cohort(&n, r->cost_micro, r->cohort_eps_micro, r->cohort_delta_exp) == SHOAL_OK)
        printf(" (it does from %llu report%s on)\n", (unsigned long long)n, n == 1 ? "" : "s");
    else
        printf(" (nor does it with 10^12 reports)\n");
}

static void print_cost(const shoal_recipe *r, uint32_t today)
{
    double each = r->cost_micro / 1e6;
    unsigned days = r->expires_day >= today ? r->expires_day - today + 1 : 0;
    print_report_cost(r);
    printf("epsilon per day     %g (%u report%s)\n", each * r->per_day, r->per_day, r->per_day == 1 ? "" : "s");
    printf("epsilon per person  %g (%u days until it expires, every report sent)\n", each * r->per_day * days, days);
    print_unlimited(r);
    printf("minimum cohort      %u reports", r->cohort_minimum);
    if (r->cohort_eps_micro > 0)
        printf(", claims central epsilon %.8g at delta 1e-%u", r->cohort_eps_micro / 1e6, r->cohort_delta_exp);
    printf("\n");
    print_claim(r);
}

static void warn_of_values(const agg_recipe *recipe)
{
    char text[160];
    if (recipe->recipe.value == SHOAL_VALUE_ITEM) return; // the client matches these as they are written
    for (uint32_t i = 0; i < recipe->values.n; i++) {
        if (agg_text_is_kept(&recipe->recipe, recipe->values.texts[i].bytes, recipe->values.texts[i].len)) continue;
        snprintf(text, sizeof text, "entry %u of parameters.values: the text rule changes it, so no device reports it",
                 i + 1);
        cli_talk("recipe", text);
    }
}

void recipe_check_print(const agg_recipe *recipe, uint32_t today)
{
    printf("recipe              %s\nhash                %s\n", recipe->id, recipe->hash_hex);
    print_parameters(recipe);
    print_range(&recipe->recipe);
    print_cost(&recipe->recipe, today);
    warn_of_values(recipe);
    if (shoal_recipe_check_day(&recipe->recipe, today) != SHOAL_OK)
        cli_talk("recipe", "the recipe has expired: devices send nothing");
}
