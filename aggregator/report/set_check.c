// SPDX-License-Identifier: Apache-2.0
// Prints recipe sets; see set_check.h.
#include "set_check.h"

#include <stdio.h>
#include <string.h>

#include "call_streams.h"

void set_check_print_uncapped(void)
{
    agg_print("budget              uncapped: nothing bounds what recipes cost together\n");
}

static void print_member(const agg_set *set, const shoal_set_member *member, uint32_t today)
{
    static const char *const kinds[] = {"", "recipe", "run", "analysis"};
    int length = 0;
    const char *name = agg_set_name(&length, set, member);
    double each = (double)member->eps_micro / 1e6;
    agg_print("%-19s %.*s: ", kinds[member->kind], length, name);
    if (member->last_day < today)
        agg_print("expired, costs nothing\n");
    else if (member->per_day > 0)
        agg_print("%u report%s a day of epsilon %.8g each\n", member->per_day,
                  member->per_day == 1 ? "" : "s", each);
    else
        agg_print("epsilon %.8g, once in every window in which it may answer\n", each);
}

// Returns: whether member j may answer and spends from the account of member i.
static bool shares(const shoal_set_member *members, uint32_t i, uint32_t j, uint32_t today)
{
    return members[j].per_day > 0 && members[j].last_day >= today &&
           memcmp(members[j].key, members[i].key, SHOAL_ACCOUNT_KEY) == 0;
}

// Prints the recipes that spend from the account of member i, if it is the first of several.
static void print_shared(const agg_set *set, uint32_t i, uint32_t today)
{
    const shoal_set_member *members = set->set.members;
    shoal_rate rates[SHOAL_SET_MEMBERS_MAX];
    uint32_t n = 0;
    for (uint32_t j = 0; j < set->set.n_members; j++) {
        if (!shares(members, i, j, today)) continue;
        if (j < i) return;
        rates[n++] = (shoal_rate){members[j].per_day, members[j].eps_micro};
    }
    if (n < 2) return;
    agg_print("shared              ");
    for (uint32_t j = i, k = 0; k < n; j++) {
        int length = 0;
        if (!shares(members, i, j, today)) continue;
        const char *name = agg_set_name(&length, set, &members[j]);
        agg_print("%s%.*s", k == 0 ? "" : k + 1 == n ? " and " : ", ", length, name);
        k++;
    }
    agg_print(" share the reports of analysis %.*s: epsilon %.8g a day together\n",
              members[i].analysis.len, members[i].analysis.bytes,
              (double)shoal_rates_cost(rates, n) / 1e6);
}

static bool print_budget(const shoal_recipe_set *set, const shoal_set_cost *cost)
{
    double cap = (double)set->eps_micro / 1e6, costs = (double)cost->window_micro / 1e6;
    if (set->days == 0) {
        set_check_print_uncapped();
        return true;
    }
    agg_print("budget              epsilon %.8g in any %u day%s\n", cap, set->days,
              set->days == 1 ? "" : "s");
    agg_print("window              epsilon %.8g: %u day%s of %.8g", costs, set->days,
              set->days == 1 ? "" : "s", (double)cost->daily_micro / 1e6);
    if (cost->whole_micro > 0)
        agg_print(", and %.8g for runs and analyses", (double)cost->whole_micro / 1e6);
    agg_print("\n");
    if (cost->window_micro > set->eps_micro) {
        agg_print("refused             exceeds its budget by epsilon %.8g\n", costs - cap);
        return false;
    }
    agg_print("within              its budget; epsilon %.8g is left\n", cap - costs);
    return true;
}

bool set_check_print(const agg_set *set, const char *path, uint32_t today)
{
    shoal_set_cost cost;
    if (path != NULL)
        agg_print("set                 %s\nhash                %s\n", path, set->hash_hex);
    else
        agg_print("set                 all of these recipes together\n");
    for (uint32_t i = 0; i < set->set.n_members; i++)
        print_member(set, &set->set.members[i], today);
    for (uint32_t i = 0; i < set->set.n_members; i++)
        if (set->set.members[i].per_day > 0) print_shared(set, i, today);
    shoal_set_cost_of(&cost, &set->set, today);
    agg_print("day                 epsilon %.8g on each day on which a page opens\n",
              (double)cost.daily_micro / 1e6);
    return print_budget(&set->set, &cost);
}
