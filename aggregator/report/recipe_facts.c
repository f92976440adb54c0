// SPDX-License-Identifier: Apache-2.0
// Prints recipes as JSON; see recipe_facts.h.
#include "recipe_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "call_streams.h"
#include "central.h"
#include "compound.h"
#include "print_text.h"
#include "recipe.h"
#include "recipe_policy.h"
#include "recipe_signer.h"
#include "report_json.h"
#include "verdict.h"

static void print_text(const char *name, const char *text)
{
    agg_print(",\"%s\":", name);
    agg_print_json_text(agg_out(), text, strlen(text));
}

static void print_micro(const char *name, uint64_t micro)
{
    agg_print(",\"%s\":", name);
    agg_print_number(agg_out(), (double)micro / 1e6);
}

static void print_file(const char *path)
{
    fputs("{\"file\":", agg_out());
    if (path != NULL)
        agg_print_json_text(agg_out(), path, strlen(path));
    else
        fputs("null", agg_out());
}

static void print_day(const char *name, uint32_t day)
{
    char text[16] = "";
    time_t at = (time_t)day * 86400;
    struct tm utc;
    if (gmtime_r(&at, &utc) != NULL) strftime(text, sizeof text, "%Y-%m-%d", &utc);
    print_text(name, text);
}

static void print_parameters(const shoal_recipe *r)
{
    const char *name = NULL;
    int64_t micro = 0;
    bool is_first = true;
    fputs(",\"parameters\":{", agg_out());
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &micro, r, i); i++) {
        agg_print("%s\"%s\":", is_first ? "" : ",", name);
        agg_print_number(agg_out(), strcmp(name, "delta") == 0 ? pow(10, -(double)r->delta_exp)
                                                               : (double)micro / 1e6);
        is_first = false;
    }
    fputs("}", agg_out());
}

// A run is paid for as a whole and a query is answered once, so neither has a cost of a day.
static bool has_days(const shoal_recipe *r)
{
    return r->epochs == 0 && r->version == 0 && r->contributions == 0;
}

static void print_cost(const shoal_recipe *r, uint32_t days)
{
    uint32_t drawn = 0;
    const uint64_t each = r->cost_micro;
    const uint32_t reports = r->contributions > 0 ? r->contributions : 1;
    if (shoal_recipe_epsilon(&drawn, r) != SHOAL_OK) drawn = 0;
    fputs(",\"epsilon\":{\"of\":", agg_out());
    fputs(r->epochs > 0 ? "\"run\"" : "\"report\"", agg_out());
    print_micro("stated", each);
    print_micro("drawn", drawn);
    if (has_days(r)) {
        print_micro("day", each * r->per_day);
        print_micro("person", each * r->per_day * days);
    } else {
        fputs(",\"day\":null", agg_out());
        print_micro("person", each * reports);
    }
    fputs("}", agg_out());
}

static void print_verdict(const char *name, const shoal_verdict *verdict)
{
    agg_print("\"%s\":{\"verdict\":\"%s\"", name, shoal_verdict_words(verdict->code));
    print_micro("epsilon", verdict->eps_micro);
    fputs("}", agg_out());
}

static void print_verdicts(const shoal_recipe *r, uint32_t today)
{
    shoal_promise promise;
    shoal_promise_of(&promise, r, today);
    fputs(",\"verdicts\":{", agg_out());
    print_verdict("report", &promise.report);
    fputs(",", agg_out());
    print_verdict("window", &promise.window);
    fputs(",", agg_out());
    print_verdict("life", &promise.life);
    fputs("}", agg_out());
}

static void print_claim(const shoal_recipe *r)
{
    uint32_t eps = 0;
    uint64_t n = 0;
    if (r->cohort_eps_micro == 0 || shoal_central_epsilon(&eps, r->cost_micro, r->cohort_minimum,
                                                          r->cohort_delta_exp) != SHOAL_OK) {
        fputs(",\"claim\":null", agg_out());
        return;
    }
    agg_print(",\"claim\":{\"delta\":1e-%u", r->cohort_delta_exp);
    print_micro("epsilon", r->cohort_eps_micro);
    print_micro("closed_form", eps);
    agg_print(",\"follows\":%s,\"follows_from\":", eps <= r->cohort_eps_micro ? "true" : "false");
    if (shoal_central_cohort(&n, r->cost_micro, r->cohort_eps_micro, r->cohort_delta_exp) ==
        SHOAL_OK)
        agg_print("%llu}", (unsigned long long)n);
    else
        fputs("null}", agg_out());
}

static void print_cohort(const shoal_recipe *r)
{
    static const char *const names[] = {[SHOAL_AGGREGATION_REPORTS] = "reports",
                                        [SHOAL_AGGREGATION_SUM] = "sum",
                                        [SHOAL_AGGREGATION_DAP] = "dap"};
    agg_print(",\"cohort\":{\"minimum\":%u", r->cohort_minimum);
    print_claim(r);
    agg_print("},\"block\":{\"minimum\":%u,\"tick_s\":%u},\"aggregation\":\"%s\"", r->block_minimum,
              r->block_tick_s, names[r->aggregation]);
}

static void print_query(const shoal_recipe *r)
{
    char hex[65];
    if (r->version == 0) {
        fputs(",\"query\":null", agg_out());
        return;
    }
    agg_hex(hex, r->query_hash, sizeof r->query_hash);
    agg_print(",\"query\":{\"version\":%u,\"hash\":\"%s\"", r->version, hex);
    agg_hex(hex, r->policy, sizeof r->policy);
    agg_print(",\"policy\":\"%s\",\"cells\":%u}", hex, r->parts[0].size);
}

int recipe_facts_print(const char *path, const agg_recipe *recipe, const agg_policy *policy,
                       uint32_t today)
{
    const shoal_recipe *r = recipe->recipe;
    const uint32_t days = r->expires_day >= today ? r->expires_day - today + 1 : 0;
    print_file(path);
    agg_print(",\"kind\":\"recipe\",\"recipe\":\"%s\",\"hash\":\"%s\",\"mechanism\":\"%s\"",
              recipe->id, recipe->hash_hex, shoal_recipe_mechanism_name(r));
    print_parameters(r);
    agg_print(",\"record_bytes\":%u,\"report_bytes\":%zu,\"reports_per_day\":%u", r->record_size,
              agg_report_size(recipe), r->per_day);
    print_day("expires", r->expires_day);
    agg_print(",\"days_left\":%u", days);
    print_cost(r, days);
    print_verdicts(r, today);
    print_cohort(r);
    print_query(r);
    recipe_signature signature;
    int code = recipe_signature_of(&signature, recipe);
    print_text("signature", recipe_signature_name(signature));
    if (policy != NULL) code = recipe_policy_print_json(recipe, policy, today);
    fputs("}", agg_out());
    return code;
}

static void print_member(const agg_set *set, const shoal_set_member *member, uint32_t today)
{
    static const char *const kinds[] = {"", "recipe", "run", "analysis"};
    int length = 0;
    const char *name = agg_set_name(&length, set, member);
    agg_print("{\"kind\":\"%s\",\"name\":\"%.*s\",\"expired\":%s,\"reports_per_day\":",
              kinds[member->kind], length, name, member->last_day < today ? "true" : "false");
    if (member->per_day > 0)
        agg_print("%u", member->per_day);
    else
        fputs("null", agg_out());
    print_micro("epsilon", member->eps_micro);
    fputs("}", agg_out());
}

bool recipe_set_facts_print(const char *path, const agg_set *set, uint32_t today)
{
    shoal_set_cost cost;
    const shoal_recipe_set *s = &set->set;
    bool is_within = s->days == 0;
    print_file(path);
    fputs(",\"kind\":\"set\"", agg_out());
    if (path != NULL) print_text("hash", set->hash_hex);
    fputs(",\"members\":[", agg_out());
    for (uint32_t i = 0; i < s->n_members; i++) {
        if (i > 0) fputs(",", agg_out());
        print_member(set, &s->members[i], today);
    }
    shoal_set_cost_of(&cost, s, today);
    fputs("],\"epsilon\":{\"of\":\"set\"", agg_out());
    print_micro("day", cost.daily_micro);
    print_micro("window", cost.window_micro);
    fputs("},\"budget\":", agg_out());
    if (s->days > 0) {
        is_within = cost.window_micro <= s->eps_micro;
        agg_print("{\"days\":%u", s->days);
        print_micro("epsilon", s->eps_micro);
        agg_print(",\"within\":%s}", is_within ? "true" : "false");
    } else {
        fputs("null", agg_out());
    }
    fputs("}", agg_out());
    return is_within;
}

void recipe_facts_print_error(const char *path, const agg_error *error)
{
    print_file(path);
    fputs(",\"kind\":\"error\"", agg_out());
    print_text("error", error->text);
    agg_print(",\"exit_code\":%d}", error->exit_code);
}
