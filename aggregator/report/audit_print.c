// SPDX-License-Identifier: Apache-2.0
// Prints audits; see audit_print.h.
#include "audit_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit_events.h"
#include "call_streams.h"
#include "compound.h"
#include "estimate_print.h"
#include "print_text.h"
#include "recipe.h"

// JSON has no infinity, so it becomes the text "infinite".
static void print_field(const char *name, double x)
{
    agg_print(",\"%s\":", name);
    if (isfinite(x))
        agg_print_number(agg_out(), x);
    else
        fputs("\"infinite\"", agg_out());
}

static void print_json_text(const char *name, agg_text text)
{
    agg_print("%s", name);
    agg_print_json_text(agg_out(), text.bytes, text.len);
}

static agg_text text_of(const char *text)
{
    return (agg_text){text, strlen(text)};
}

static void print_json_event(const agg_audit *audit, const agg_draws *draws)
{
    const agg_event *event = &audit->event;
    char what[200];
    agg_event_describe(what, sizeof what, event);
    print_json_text(",\"event\":{\"what\":", text_of(what));
    print_json_text(",\"items\":[", draws->names[event->a]);
    print_json_text(",", draws->names[event->b]);
    agg_print("],\"hits\":[%llu,%llu],\"of\":[%llu,%llu]}", (unsigned long long)event->hits[0],
              (unsigned long long)event->hits[1], (unsigned long long)event->n[0],
              (unsigned long long)event->n[1]);
}

// Returns: how many contributions a device makes, each a report that costs the claim. It is 1
// except for a trie.
static uint32_t contributions_of(const shoal_recipe *recipe)
{
    return recipe->contributions > 0 ? recipe->contributions : 1;
}

static void print_json(const agg_audit *audit, const agg_draws *draws)
{
    const agg_law *law = &audit->law;
    print_json_text("{\"mechanism\":", text_of(shoal_recipe_mechanism_name(audit->recipe->recipe)));
    if (contributions_of(audit->recipe->recipe) > 1)
        agg_print(",\"contributions\":%u", audit->recipe->recipe->contributions);
    print_field("claimed", audit->claimed);
    print_field("exact", audit->exact);
    print_field("empirical_low", audit->empirical_low);
    agg_print(",\"ok\":%s", audit->n_failures == 0 ? "true" : "false");
    if (law->is_enumerated) {
        print_field("enumerated", law->epsilon);
        agg_print(
            ",\"enumerated_items\":%llu,\"enumerated_records\":%llu,\"enumerated_all_items\":%s",
            (unsigned long long)law->n_items, (unsigned long long)law->n_outputs,
            law->is_whole ? "true" : "false");
        if (agg_recipe_is_closed(audit->recipe)) print_field("deletion", law->deletion);
    } else {
        fputs(",\"enumerated\":null", agg_out());
    }
    if (audit->is_permanent) print_field("unlimited", audit->unlimited);
    if (audit->answer.is_enumerated) print_field("unlimited_enumerated", audit->answer.epsilon);
    print_field("confidence", audit->confidence);
    agg_print(",\"draws\":%llu,\"refused\":%llu,\"events\":%u", (unsigned long long)audit->n_draws,
              (unsigned long long)audit->n_refused, audit->n_events);
    fputs(",\"items\":[", agg_out());
    for (uint32_t i = 0; i < draws->n_items; i++)
        print_json_text(i > 0 ? "," : "", draws->names[i]);
    fputs("]", agg_out());
    if (audit->n_events > 0) print_json_event(audit, draws);
    fputs(",\"failures\":[", agg_out());
    for (uint32_t i = 0; i < audit->n_failures; i++)
        print_json_text(i > 0 ? "," : "", text_of(audit->failures[i]));
    fputs("]}", agg_out());
}

static void print_name(agg_text name)
{
    if (name.len == 0)
        fputs("none", agg_out());
    else
        agg_print_terminal_text(agg_out(), name.bytes, name.len);
}

static void print_table_law(const agg_audit *audit)
{
    const agg_law *law = &audit->law;
    if (!law->is_enumerated) {
        agg_print("enumerated     -           too large to enumerate: see exact and empirical\n");
        return;
    }
    agg_print("enumerated     %-10.6f  %s records, %s items%s\n", law->epsilon,
              agg_whole(law->n_outputs).text, agg_whole(law->n_items).text,
              law->is_whole ? ": all of them" : ", a sample of them");
    if (agg_recipe_is_closed(audit->recipe))
        agg_print("deletion       %-10.6f  of a value against none, in the enumeration\n",
                  law->deletion);
}

static void print_table_answer(const agg_audit *audit)
{
    if (!audit->is_permanent) return;
    agg_print("unlimited      %-10.6f  any number of reports of one value", audit->unlimited);
    if (audit->answer.is_enumerated) agg_print("; enumerated %.6f", audit->answer.epsilon);
    fputc('\n', agg_out());
}

static void print_table(const agg_audit *audit, const agg_draws *draws)
{
    const agg_event *event = &audit->event;
    char what[200];
    uint32_t contributions = contributions_of(audit->recipe->recipe);
    agg_print("mechanism      %s\n", shoal_recipe_mechanism_name(audit->recipe->recipe));
    agg_print("claimed        %-10.6f  the recipe's epsilon of one report\n", audit->claimed);
    if (contributions > 1)
        agg_print(
            "a person       %-10.6f  of all %u contributions, which are reports of their own\n",
            contributions * audit->claimed, contributions);
    agg_print("exact          %-10.6f  from the integer thresholds, rounded up\n", audit->exact);
    print_table_law(audit);
    print_table_answer(audit);
    agg_print("empirical      %-10.6f  at least, with confidence %.10g: %s draws, %u events\n",
              audit->empirical_low, audit->confidence, agg_whole(audit->n_draws).text,
              audit->n_events);
    if (audit->empirical_low > 0) {
        agg_event_describe(what, sizeof what, event);
        agg_print("  by           %s\n  of           ", what);
        print_name(draws->names[event->a]);
        agg_print(" (%s of %s) against ", agg_whole(event->hits[0]).text,
                  agg_whole(event->n[0]).text);
        print_name(draws->names[event->b]);
        agg_print(" (%s of %s)\n", agg_whole(event->hits[1]).text, agg_whole(event->n[1]).text);
    }
    agg_print("ok             %s\n", audit->n_failures == 0 ? "yes" : "no");
}

void agg_audit_print_part_start(uint32_t first, uint32_t n, bool is_json)
{
    if (is_json)
        agg_print("%s{\"first\":%u,\"alike\":%u,\"audit\":", first > 0 ? "," : "", first + 1, n);
    else if (n == 1)
        agg_print("\npart %u\n", first + 1);
    else
        agg_print("\nparts %u to %u, alike\n", first + 1, first + n);
}

static const char *why_together(const shoal_recipe *recipe)
{
    if (agg_audit_is_run(recipe))
        return "all reports of a run together: so many votes, each counted twice, and so many "
               "estimates";
    return recipe->n_variables > 0 ? "all variables together: independent given their values"
                                   : "all parts together: independent given their positions, which "
                                     "say nothing of the string";
}

void agg_audit_print_sum(const agg_recipe *recipe, const agg_audit_sum *sum, bool is_json)
{
    const shoal_recipe *r = recipe->recipe;
    const agg_audit_sum *t = sum;
    if (is_json) {
        fputs("]", agg_out());
        print_field("claimed", t->claimed);
        print_field("exact", t->exact);
        print_field("empirical_low", t->low);
        agg_print(",\"ok\":%s}", t->is_ok ? "true" : "false");
        return;
    }
    agg_print("\n%s\n", why_together(r));
    agg_print("claimed        %-10.6f  the recipe's epsilon of %s\n", t->claimed,
              agg_audit_is_run(r) ? "the run" : "one report");
    agg_print("exact          %-10.6f  the sum of the parts', from the integer thresholds\n",
              t->exact);
    agg_print(
        "empirical      %-10.6f  the sum of what draws of each prove; the confidence is that of "
        "all\n",
        t->low);
    agg_print("ok             %s\n", t->is_ok ? "yes" : "no");
}

void agg_audit_print_start(const agg_recipe *recipe, bool is_json)
{
    const char *name = shoal_recipe_mechanism_name(recipe->recipe);
    if (is_json) {
        print_json_text("{\"mechanism\":", text_of(name));
        fputs(",\"parts\":[", agg_out());
    } else {
        agg_print("mechanism      %s\n", name);
    }
}

void agg_audit_print_part_end(bool is_json)
{
    if (is_json) fputs("}", agg_out());
}

void agg_audit_print(const agg_audit *audit, const agg_draws *draws, bool is_json)
{
    (is_json ? print_json : print_table)(audit, draws);
}
