// SPDX-License-Identifier: Apache-2.0
// Prints the costs of a recipe; see recipe_cost.h.
#include "recipe_cost.h"

#include <math.h>
#include <stdio.h>

#include "account.h"
#include "call_streams.h"
#include "central.h"
#include "compound_check.h"
#include "deletion.h"
#include "part_print.h"
#include "print_text.h"
#include "recipe.h"
#include "verdict_text.h"

static void print_report_cost(const shoal_recipe *r)
{
    uint32_t drawn = 0;
    if (shoal_recipe_epsilon(&drawn, r) != SHOAL_OK) drawn = 0;
    agg_print("epsilon per report  %.8g (as drawn: %.8g)%s\n", r->cost_micro / 1e6, drawn / 1e6,
              r->n_variables > 0 ? ", all variables together"
              : r->n_parts > 1   ? ", all parts together"
                                 : "");
    const agg_account *account = agg_account_of(r->mechanism); // NULL for a compound
    if (account != NULL && account->has_bit_a_value)
        agg_print("deletion model      %.4g (a listed value against none of the list)\n",
                  agg_deletion_epsilon(&r->parts[0]));
}

// A reader who knows when a device's answer changed learns no more about any number of values.
static void print_changing(const shoal_part *part)
{
    const agg_account *account = agg_account_of(part->mechanism);
    uint64_t all = 0;
    if (account->changing == NULL || account->changing(&all, part) != SHOAL_OK) return;
    agg_print("epsilon of changes  %.8g (of any values, but not of when they change)\n",
              (double)all / 1e6);
    agg_print("linked by           one of %u rows, which a device keeps (%.1f bits)\n", part->k,
              log2(part->k));
}

// The permanent answer bounds what any number of reports of one value reveal. Reports of another
// value cost the same again. No figure bounds what they reveal of when the value changed.
static void print_unlimited(const shoal_recipe *r)
{
    const agg_compound_check *check = agg_compound_check_of(r->mechanism);
    uint32_t unlimited = 0;
    // With several variables, each variable's line has its own bound.
    if (!shoal_recipe_is_permanent(r) || r->n_variables > 0) return;
    const shoal_part *part = &r->parts[0];
    uint32_t answers = check != NULL && check->answers != NULL ? check->answers(r) : 1;
    if (shoal_mechanism_by_id(part->mechanism)->unlimited(&unlimited, part) == SHOAL_OK)
        agg_print("epsilon per value   %.8g (however many reports of it a person sends)\n",
                  answers * (unlimited / 1e6));
    else
        agg_print("epsilon per value   no bound: the permanent answer hides next to nothing\n");
    agg_print("a changed value     reports of one device, known as such, show when it changed\n");
    print_changing(part);
}

// Prints whether the central claim follows from the minimum cohort by the device's computation, and
// the smallest cohort for which it does. Both calls accept any recipe that was read, because its
// cost, cohort and delta lie in their ranges.
static void print_claim(const shoal_recipe *r)
{
    uint32_t eps = 0;
    uint64_t n = 0;
    if (r->cohort_eps_micro == 0) return;
    if (shoal_central_epsilon(&eps, r->cost_micro, r->cohort_minimum, r->cohort_delta_exp) !=
        SHOAL_OK)
        return;
    agg_print("closed form         central epsilon %.8g: the claim %s", eps / 1e6,
              eps <= r->cohort_eps_micro ? "follows" : "does not follow");
    if (shoal_central_cohort(&n, r->cost_micro, r->cohort_eps_micro, r->cohort_delta_exp) ==
        SHOAL_OK)
        agg_print(" (it does from %s report%s on)\n", agg_whole(n).text, n == 1 ? "" : "s");
    else
        agg_print(" (nor does it with 10^12 reports)\n");
    agg_print("assumes             all these reports honest, in one block, and a reader of blocks "
              "only\n");
}

static void print_cohort(const shoal_recipe *r)
{
    agg_print("minimum cohort      %s reports", agg_whole(r->cohort_minimum).text);
    if (r->cohort_eps_micro > 0)
        agg_print(", claims central epsilon %.8g at delta 1e-%u", r->cohort_eps_micro / 1e6,
                  r->cohort_delta_exp);
    agg_print("\n");
    print_claim(r);
    if (r->block_minimum != r->cohort_minimum || r->block_tick_s != 86400)
        agg_print("blocks              %s reports at least, and one may close every %u s\n",
                  agg_whole(r->block_minimum).text, r->block_tick_s);
}

// Prints the cost of a person by group privacy. For all of a person's contributions to one cohort,
// delta is that of one contribution times 1 + e^eps + e^(2 eps) + ...
static void print_person_of_items(const shoal_recipe *r)
{
    double eps = r->cohort_eps_micro / 1e6, powers = 0;
    for (uint32_t i = 0; i < r->contributions; i++) powers += exp(i * eps);
    agg_print("central, per person %.8g at delta %.3g: of all contributions as one group\n",
              r->contributions * eps, powers * pow(10, -(double)r->cohort_delta_exp));
}

static void print_verdict(const char *what, const shoal_verdict *verdict, const char *rest)
{
    char text[AGG_VERDICT_TEXT_MAX];
    agg_print("%-19s %s%s\n", what, agg_verdict_text(text, verdict), rest);
}

// Prints what a report, a window and the recipe's life promise a person. What a person answers
// once, or pays for as a whole, has one verdict.
static void print_verdicts(const shoal_recipe *r, uint32_t today)
{
    shoal_promise promise;
    shoal_promise_of(&promise, r, today);
    if (r->epochs > 0 || r->version > 0) {
        print_verdict(r->epochs > 0 ? "verdict, run" : "verdict, answer", &promise.window, "");
        return;
    }
    print_verdict("verdict, report", &promise.report, "");
    if (r->contributions > 0)
        print_verdict("verdict, person", &promise.window, "");
    else if (r->pick == SHOAL_PICK_UNIFORM)
        print_verdict("verdict, window", &promise.window,
                      r->window == SHOAL_WINDOW_VISIT ? ", about all that was done in the visit"
                                                      : ", about all that was done in the day");
    else
        print_verdict("verdict, day", &promise.window, "");
    if (r->contributions == 0 && r->expires_day >= today)
        print_verdict("verdict, life", &promise.life,
                      shoal_recipe_is_permanent(r) ? ", about one value" : "");
}

// A device answers one round of an analysis, once.
static void print_item_cost(const shoal_recipe *r)
{
    double each = r->cost_micro / 1e6;
    agg_print("epsilon per report  %.8g (as drawn: %.8g), item-level: of one contribution\n", each,
              agg_part_drawn_epsilon(&r->parts[0]));
    agg_print(
        "epsilon per person  %.8g, user-level: %u contribution%s to the one round that a device "
        "answers\n",
        each * r->contributions, r->contributions, r->contributions == 1 ? "" : "s");
    print_cohort(r);
    if (r->cohort_eps_micro > 0) print_person_of_items(r);
}

void recipe_cost_print(const shoal_recipe *r, uint32_t today)
{
    double each = r->cost_micro / 1e6;
    unsigned days = r->expires_day >= today ? r->expires_day - today + 1 : 0;
    if (r->contributions > 0) {
        print_item_cost(r);
        print_verdicts(r, today);
        return;
    }
    if (r->epochs > 0) {
        agg_print("epsilon per person  %.8g, of all epochs together; debited once\n", each);
        print_verdicts(r, today);
        print_cohort(r);
        return;
    }
    print_report_cost(r);
    if (r->version != 0) {
        agg_print("epsilon per person  %g (a query is answered once)\n", each);
        print_verdicts(r, today);
        print_cohort(r);
        return;
    }
    agg_print("epsilon per day     %g (%u report%s)\n", each * r->per_day, r->per_day,
              r->per_day == 1 ? "" : "s");
    agg_print("epsilon per person  %g (%u days until it expires, every report sent)\n",
              each * r->per_day * days, days);
    print_unlimited(r);
    print_verdicts(r, today);
    print_cohort(r);
}
