// SPDX-License-Identifier: Apache-2.0
// Prints how a policy judges a query; see recipe_policy.h.
#include "recipe_policy.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "accountant.h"
#include "call_streams.h"
#include "compound.h"
#include "recipe.h"
#include "recipe_signature.h"

static bool is_key_of(const agg_policy *policy, const uint8_t key[32])
{
    for (uint32_t i = 0; i < policy->policy.n_keys; i++)
        if (memcmp(policy->policy.keys[i], key, 32) == 0) return true;
    return false;
}

static int print_signer(const agg_recipe *recipe, const agg_policy *policy)
{
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    char hex[65];
    agg_hex(hex, recipe->key, sizeof recipe->key);
    if (!recipe->has_signature)
        agg_print("signed              no: devices refuse it\n");
    else if (!is_key_of(policy, recipe->key))
        agg_print(
            "signed              by %.8s..., which is not a key of the policy: devices refuse it\n",
            hex);
    else if (!agg_signature_is_built())
        agg_print(
            "signed              not checked, by %.8s..., a key of the policy: signatures are "
            "not part of this build\n",
            hex);
    else if (agg_recipe_verify(&error, recipe) != SHOAL_OK)
        agg_print("signed              badly: %.8s..., which it names, did not make the signature: "
                  "devices refuse it\n",
                  hex);
    else {
        agg_print("signed              by %.8s..., a key of the policy\n", hex);
        return AGG_EXIT_OK;
    }
    return recipe->has_signature && is_key_of(policy, recipe->key) && !agg_signature_is_built()
               ? AGG_EXIT_OK
               : AGG_EXIT_PRIVACY;
}

// Returns: the field that a refusal is about.
static const shoal_name *field_of(const shoal_verdict *verdict, const shoal_recipe *r)
{
    if (verdict->refusal == SHOAL_REFUSED_SPLIT)
        return verdict->field < r->n_splits ? &r->splits[verdict->field].field : NULL;
    return verdict->field < r->encoding.n_fields ? &r->encoding.fields[verdict->field].field : NULL;
}

// Returns: the reports that one device sends for the query.
static uint32_t reports_of(const shoal_recipe *r)
{
    return r->contributions > 0 ? r->contributions : 1;
}

// Prints the delta of a person with several reports, which grows with the claimed epsilon
// (accountant.h).
static void print_delta(const shoal_recipe *r, const shoal_policy_analysis *a)
{
    agg_print("%20sdelta 1e-%u", "", r->cohort_delta_exp);
    if (reports_of(r) > 1) agg_print(" a report, of %u of one person,", reports_of(r));
    agg_print(" of 1e-%u\n", a->delta_exp);
}

// Prints a bound and what the query would need, if the verdict has these two figures.
static void print_figures(const shoal_verdict *v, const shoal_recipe *r, const shoal_policy *p)
{
    if (v->analysis == UINT32_MAX) return;
    const shoal_policy_analysis *a = &p->analyses[v->analysis];
    const shoal_name *name = field_of(v, r);
    uint32_t index = name != NULL ? shoal_policy_find_field(a, name) : UINT32_MAX;
    const shoal_policy_budget *b = index != UINT32_MAX ? &a->fields[index] : &a->budget;
    double honest = r->cohort_minimum * (a->honest_micro / 1e6);
    switch (v->refusal) {
    case SHOAL_REFUSED_DOWNGRADED:
        agg_print("%20sversion %u, the policy asks for %u\n", "", r->version, a->version);
        break;
    case SHOAL_REFUSED_COMBINATION:
        agg_print("%20s%u fields of %u\n", "", r->encoding.n_fields, a->query_fields);
        break;
    case SHOAL_REFUSED_SIZE:
        agg_print("%20s%u cells of %u\n", "", r->parts[0].size, a->query_size);
        break;
    case SHOAL_REFUSED_LOCAL:
        agg_print("%20sepsilon %.8g of %.8g\n", "", v->local_eps_micro / 1e6,
                  b->local_eps_micro / 1e6);
        break;
    case SHOAL_REFUSED_EPSILON:
    case SHOAL_REFUSED_FIELD_EPSILON:
        agg_print("%20sepsilon %.8g of %.8g\n", "", reports_of(r) * (r->cohort_eps_micro / 1e6),
                  b->eps_micro / 1e6);
        break;
    case SHOAL_REFUSED_REPORTS:
    case SHOAL_REFUSED_FIELD_REPORTS:
        agg_print("%20s%u reports of %u\n", "", reports_of(r), b->reports);
        break;
    case SHOAL_REFUSED_DELTA: print_delta(r, a); break;
    case SHOAL_REFUSED_COHORT:
        agg_print("%20s%u reports, the policy asks for %u\n", "", r->cohort_minimum,
                  a->cohort_minimum);
        break;
    case SHOAL_REFUSED_AMPLIFICATION:
        agg_print("%20s%.0f honest reports of epsilon %.8g give %.8g, it claims %.8g\n", "", honest,
                  v->local_eps_micro / 1e6, v->central_eps_micro / 1e6, r->cohort_eps_micro / 1e6);
        break;
    default: break;
    }
}

static void print_refusal(const shoal_verdict *verdict, const shoal_recipe *r,
                          const shoal_policy *p)
{
    const shoal_name *field = field_of(verdict, r);
    agg_print("answered            no: %s", shoal_refusal_name(verdict->refusal));
    if (field != NULL) agg_print(" (%.*s)", (int)field->len, field->bytes);
    agg_print(". %s\n", shoal_refusal_text(verdict->refusal));
    print_figures(verdict, r, p);
}

// Returns: how many queries with the same cost fit the tightest of the budgets that the query
// touches.
static uint32_t count_alike(const shoal_policy_analysis *a, const shoal_recipe *r)
{
    uint32_t n = 0;
    for (;; n++) {
        uint64_t eps = shoal_composed_epsilon(a, n + 1, r->cohort_eps_micro);
        if (n == a->budget.reports || eps > a->budget.eps_micro) return n;
        for (uint32_t i = 0; i < r->encoding.n_fields; i++) {
            const shoal_policy_budget *b =
                &a->fields[shoal_policy_find_field(a, &r->encoding.fields[i].field)];
            if (n == b->reports || eps > b->eps_micro) return n;
        }
    }
}

// Prints the costs of an item, which is one word of a device, and of a person, which is all that a
// device answers.
static void print_item_costs(const shoal_verdict *v, const shoal_recipe *r)
{
    uint32_t n = r->contributions;
    agg_print(
        "  of one word       epsilon %.8g of the crowd (%.8g is what its cohort gives), delta "
        "1e-%u; %.8g in its report\n",
        r->cohort_eps_micro / 1e6, v->central_eps_micro / 1e6, r->cohort_delta_exp,
        v->local_eps_micro / 1e6);
    agg_print("  of one person     epsilon %.8g of the crowd; %.8g in %u report%s\n",
              n * (r->cohort_eps_micro / 1e6), n * (v->local_eps_micro / 1e6), n,
              n == 1 ? "" : "s");
    agg_print("  room              for one: a device answers one round of an analysis\n");
}

static void print_answer(const shoal_verdict *v, const shoal_recipe *r, const shoal_policy *p,
                         bool is_signed)
{
    const shoal_policy_analysis *a = &p->analyses[v->analysis];
    agg_print("answered            %s by a device that has answered none\n",
              is_signed ? "yes," : "once it is signed,");
    if (r->contributions > 0) {
        print_item_costs(v, r);
        return;
    }
    uint32_t n = count_alike(a, r);
    agg_print(
        "  it costs          epsilon %.8g of the crowd (%.8g is what its cohort gives), delta "
        "1e-%u, 1 report\n",
        r->cohort_eps_micro / 1e6, v->central_eps_micro / 1e6, r->cohort_delta_exp);
    agg_print("  of one person     epsilon %.8g\n", v->local_eps_micro / 1e6);
    agg_print("  room              for %u such quer%s in epsilon and reports\n", n,
              n == 1 ? "y" : "ies");
}

// Asks whether a device that has answered no query would answer this one.
static agg_err judge(shoal_verdict *verdict, const agg_recipe *recipe, const agg_policy *policy,
                     uint32_t today)
{
    uint8_t books[SHOAL_ACCOUNTANT_HEADER + 8];
    size_t len = 0;
    uint32_t fresh = policy->policy.fresh_days;
    agg_err err =
        shoal_accountant_init(books, sizeof books, &len, today > fresh ? today - fresh : 0);
    if (err == SHOAL_OK)
        shoal_query_check(verdict, books, len, &policy->policy, recipe->recipe, today);
    return err;
}

int recipe_policy_print(const agg_recipe *recipe, const agg_policy *policy, uint32_t today)
{
    shoal_verdict verdict;
    agg_print("policy              %s\n", policy->id);
    int code = print_signer(recipe, policy);
    if (judge(&verdict, recipe, policy, today) != SHOAL_OK) return AGG_EXIT_RUNTIME;
    if (verdict.refusal == SHOAL_ACCEPTED) {
        print_answer(&verdict, recipe->recipe, &policy->policy, code == AGG_EXIT_OK);
        return code;
    }
    print_refusal(&verdict, recipe->recipe, &policy->policy);
    return AGG_EXIT_PRIVACY;
}

int recipe_policy_print_json(const agg_recipe *recipe, const agg_policy *policy, uint32_t today)
{
    shoal_verdict verdict;
    const bool is_key = recipe->has_signature && is_key_of(policy, recipe->key);
    agg_error error = {SHOAL_OK, AGG_EXIT_RUNTIME, ""};
    const char *signer = !recipe->has_signature ? "none" : !is_key ? "another-key" : "good";
    if (is_key && !agg_signature_is_built())
        signer = "not-checked";
    else if (is_key && agg_recipe_verify(&error, recipe) != SHOAL_OK)
        signer = "bad";
    if (judge(&verdict, recipe, policy, today) != SHOAL_OK) return AGG_EXIT_RUNTIME;
    const bool is_signed = strcmp(signer, "good") == 0 || strcmp(signer, "not-checked") == 0;
    const bool is_accepted = verdict.refusal == SHOAL_ACCEPTED;
    const shoal_name *field = is_accepted ? NULL : field_of(&verdict, recipe->recipe);
    agg_print(",\"policy\":{\"policy\":\"%s\",\"signer\":\"%s\",\"answered\":%s,\"refusal\":",
              policy->id, signer, is_accepted && is_signed ? "true" : "false");
    agg_print(is_accepted ? "null" : "\"%s\"", shoal_refusal_name(verdict.refusal));
    if (field != NULL) agg_print(",\"field\":\"%.*s\"", (int)field->len, field->bytes);
    fputs("}", agg_out());
    return is_accepted && is_signed ? AGG_EXIT_OK : AGG_EXIT_PRIVACY;
}
