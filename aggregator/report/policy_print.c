// SPDX-License-Identifier: Apache-2.0
// Prints policies; see policy_print.h.
#include "policy_print.h"

#include <stdio.h>

#include "accountant.h"
#include "call_streams.h"
#include "compound.h"
#include "compound_list.h"
#include "recipe_json.h"

static void print_names(const char *separator, const shoal_name *name)
{
    agg_print("%s%.*s", separator, (int)name->len, name->bytes);
}

static void print_keys(const shoal_policy *p)
{
    char hex[65];
    for (uint32_t i = 0; i < p->n_keys; i++) {
        agg_hex(hex, p->keys[i], 32);
        agg_print("%-19s %s\n", i == 0 ? "signed by" : "or", hex);
    }
}

static void print_stream(const shoal_policy_stream *s)
{
    static const char *const types[] = {[SHOAL_SCHEME_NUMBER] = "number",
                                        [SHOAL_SCHEME_LIST] = "text",
                                        [SHOAL_SCHEME_TOKENS] = "tokens",
                                        [SHOAL_SCHEME_CHARACTERS] = "characters"};
    print_names("stream              ", &s->stream);
    agg_print(", events erased after %u day%s:", s->retention_days,
              s->retention_days == 1 ? "" : "s");
    for (uint32_t i = 0; i < s->n_fields; i++) {
        print_names(i > 0 ? ", " : " ", &s->fields[i].field);
        agg_print(" (%s)", types[s->fields[i].scheme]);
    }
    agg_print("\n");
}

// Returns: whether one of the mechanisms runs in rounds, in which each contribution of a device is
// a report.
static bool takes_rounds(uint32_t mechanisms)
{
    for (uint32_t id = 0; id < 32; id++)
        if (mechanisms >> id & 1 && agg_compound_needs(id, SHOAL_TAKES_TRIE)) return true;
    return false;
}

static const char *mechanism_name(uint32_t id)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(id);
    const shoal_compound *compound = shoal_compound_by_id(id);
    return mechanism != NULL ? mechanism->name : compound != NULL ? compound->name : NULL;
}

static void print_class(const shoal_policy_analysis *a)
{
    const char *separator = "";
    agg_print("queries             version %u or later, of at most %u field%s and %u cells, by ",
              a->version, a->query_fields, a->query_fields == 1 ? "" : "s", a->query_size);
    for (uint32_t id = 0; id < 32; id++) {
        const char *name = a->mechanisms >> id & 1 ? mechanism_name(id) : NULL;
        if (name == NULL) continue;
        agg_print("%s%s", separator, name);
        separator = ", ";
    }
    for (uint32_t i = 0; i < a->n_splits; i++)
        print_names(i == 0 ? "; may be split by " : " and ", &a->splits[i]);
    if (takes_rounds(a->mechanisms))
        agg_print(
            "\ntries               one round of all, by a device that has answered nothing else "
            "here; each of its contributions is a report");
    agg_print("\ncohort              %u reports at least", a->cohort_minimum);
    if (a->honest_micro < 1000000)
        agg_print(", %g of them taken to be honest", a->honest_micro / 1e6);
    agg_print("\n");
}

static const char *composition_name(uint32_t composition)
{
    static const char *const names[] = {"basic", "advanced", "renyi"};
    return names[composition];
}

// Returns: how many queries of that epsilon fit the budget.
static uint32_t count_fitting(const shoal_policy_analysis *a, const shoal_policy_budget *b,
                              uint32_t eps_micro)
{
    uint32_t low = 0, high = b->reports;
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        if (shoal_composed_epsilon(a, middle, eps_micro) <= b->eps_micro)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Prints how many queries fit that cost a half, a quarter and so on of the budget. The list
// ends where the limit of reports is reached first.
static void print_fitting(const shoal_policy_analysis *a, const shoal_policy_budget *b)
{
    uint32_t n = 0;
    agg_print("  queries that fit  ");
    for (uint32_t i = 0; i < 6 && n < b->reports && b->eps_micro >> i > 0; i++) {
        n = count_fitting(a, b, b->eps_micro >> i);
        agg_print("%s%u of epsilon %.6g", i > 0 ? ", " : "", n, (b->eps_micro >> i) / 1e6);
    }
    agg_print(n == b->reports ? "; more have no report left\n" : "\n");
}

static void print_field(const shoal_policy_analysis *a, const shoal_policy_budget *b)
{
    agg_print("field %-13.*s epsilon %.8g of the crowd, %u report%s\n", (int)b->field.len,
              b->field.bytes, b->eps_micro / 1e6, b->reports, b->reports == 1 ? "" : "s");
    agg_print(
        "  of one person     epsilon %.8g in one report at most; in all together %.8g at most\n",
        b->local_eps_micro / 1e6, b->local_eps_micro / 1e6 * b->reports);
    print_fitting(a, b);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

// Prints the most that a person can spend. Every report reads at least one field and costs no more
// than that field allows, so the sum over fields is one bound. The number of the analysis's
// reports, each at the largest cost, gives another.
static void print_person(const shoal_policy_analysis *a)
{
    double most = 0, sum = 0;
    for (uint32_t i = 0; i < a->n_fields; i++) {
        double local = a->fields[i].local_eps_micro / 1e6;
        sum += local * a->fields[i].reports;
        if (local > most) most = local;
    }
    agg_print(
        "  of one person     epsilon %.8g in one report at most; in all together %.8g at most\n",
        most, smaller(sum, most * a->budget.reports));
}

static void print_analysis(const shoal_policy_analysis *a)
{
    print_names("\nanalysis            ", &a->analysis);
    print_names(", reads ", &a->stream);
    agg_print("\n");
    print_class(a);
    agg_print(
        "budget              epsilon %.8g of the crowd at delta 1e-%u, %u report%s, all queries "
        "together\n",
        a->budget.eps_micro / 1e6, a->delta_exp, a->budget.reports,
        a->budget.reports == 1 ? "" : "s");
    agg_print("  composition       %s", composition_name(a->composition));
    if (a->slack_exp != 0) agg_print(", whose own delta is 1e-%u", a->slack_exp);
    agg_print("\n");
    print_person(a);
    print_fitting(a, &a->budget);
    for (uint32_t i = 0; i < a->n_fields; i++) print_field(a, &a->fields[i]);
}

void agg_policy_print(const agg_policy *policy)
{
    const shoal_policy *p = &policy->policy;
    agg_print("policy              %s\nhash                %s\n", policy->id, policy->hash_hex);
    print_keys(p);
    agg_print("fresh storage       answers nothing for %u day%s\n", p->fresh_days,
              p->fresh_days == 1 ? "" : "s");
    for (uint32_t i = 0; i < p->n_streams; i++) print_stream(&p->streams[i]);
    for (uint32_t i = 0; i < p->n_analyses; i++) print_analysis(&p->analyses[i]);
}
