// SPDX-License-Identifier: Apache-2.0
// Recipe sets; see recipe_set.h.
#include "recipe_set.h"

#include "bytes.h"
#include "recipe.h"
#include "sha256.h"

static const char *field_name(uint32_t value)
{
    static const char *const names[] = {"", "word", "host", "site", "item", "number"};
    return value < sizeof names / sizeof names[0] ? names[value] : "";
}

static void digest_text(shoal_sha256 *sha, const char *text, size_t len)
{
    uint8_t head = (uint8_t)len;
    shoal_sha256_update(sha, &head, 1);
    shoal_sha256_update(sha, (const uint8_t *)text, len);
}

void shoal_account_key_of(uint8_t key[SHOAL_ACCOUNT_KEY], const shoal_recipe *recipe)
{
    shoal_sha256 sha;
    uint8_t digest[32];
    const char *field = field_name(recipe->value);
    shoal_sha256_init(&sha);
    digest_text(&sha, recipe->analysis.bytes, recipe->analysis.len);
    digest_text(&sha, field, text_len(field));
    shoal_sha256_final(digest, &sha);
    memcpy(key, digest, SHOAL_ACCOUNT_KEY);
}

// A recipe's key begins with the length of a name, at most SHOAL_NAME_MAX. The first byte here is
// larger, so no named account shares a key with a recipe.
static void digest_named(uint8_t digest[32], uint32_t kind, const char *name, size_t len)
{
    shoal_sha256 sha;
    uint8_t head = (uint8_t)(128 + kind);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, &head, 1);
    digest_text(&sha, name, len);
    shoal_sha256_final(digest, &sha);
}

void shoal_account_key(uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t kind, const char *name, size_t len)
{
    uint8_t digest[32];
    digest_named(digest, kind, name, len);
    memcpy(key, digest, SHOAL_ACCOUNT_KEY);
}

void shoal_set_init(shoal_recipe_set *set)
{
    memset(set, 0, sizeof *set);
}

shoal_err shoal_set_budget(shoal_recipe_set *set, uint64_t eps_micro, uint32_t days)
{
    if (eps_micro < 1 || eps_micro > SHOAL_BUDGET_EPS_MICRO_MAX || days < 1 ||
        days > SHOAL_BUDGET_DAYS_MAX)
        return SHOAL_ERR_RANGE;
    if (set->days > 0) return SHOAL_ERR_DUPLICATE;
    set->eps_micro = eps_micro;
    set->days = days;
    return SHOAL_OK;
}

// Returns: below 0, 0 or above 0, as a comes before b, is b, or comes after it.
static int order(const shoal_set_member *a, const shoal_set_member *b)
{
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    return memcmp(a->hash, b->hash, 32);
}

static shoal_err add(shoal_recipe_set *set, const shoal_set_member *member)
{
    uint32_t at = set->n_members;
    while (at > 0 && order(member, &set->members[at - 1]) < 0) at--;
    if (at > 0 && order(member, &set->members[at - 1]) == 0) return SHOAL_ERR_DUPLICATE;
    if (set->n_members == SHOAL_SET_MEMBERS_MAX) return SHOAL_ERR_SPACE;
    memmove(&set->members[at + 1], &set->members[at],
            (set->n_members - at) * sizeof set->members[0]);
    set->members[at] = *member;
    set->n_members++;
    if (member->kind == SHOAL_ACCOUNT_RUN) set->n_runs++;
    if (member->kind == SHOAL_ACCOUNT_ANALYSIS) set->n_analyses++;
    return SHOAL_OK;
}

void shoal_set_member_of(shoal_set_member *member, const shoal_recipe *recipe)
{
    bool is_run = recipe->epochs > 0;
    *member = (shoal_set_member){.kind = is_run ? SHOAL_ACCOUNT_RUN : SHOAL_ACCOUNT_RECIPE,
                                 .analysis = recipe->analysis,
                                 .value = recipe->value,
                                 .per_day = is_run ? 0 : recipe->per_day,
                                 .last_day = recipe->expires_day,
                                 .waits = recipe->fresh == SHOAL_FRESH_WAIT};
    memcpy(member->hash, is_run ? recipe->run_hash : recipe->recipe_hash, 32);
    shoal_account_key_of(member->key, recipe);
}

shoal_err shoal_set_add_recipe(shoal_recipe_set *set, const shoal_recipe *recipe)
{
    uint32_t eps_micro = 0;
    shoal_set_member member;
    shoal_set_member_of(&member, recipe);
    shoal_err err = shoal_recipe_charge(&eps_micro, recipe);
    member.eps_micro = eps_micro;
    return err == SHOAL_OK ? add(set, &member) : err;
}

static uint64_t analysis_cost(const shoal_policy_analysis *analysis)
{
    uint64_t largest = 0, of_fields = 0;
    for (uint32_t i = 0; i < analysis->n_fields; i++) {
        const shoal_policy_budget *field = &analysis->fields[i];
        if (field->local_eps_micro > largest) largest = field->local_eps_micro;
        of_fields += (uint64_t)field->reports * field->local_eps_micro;
    }
    uint64_t of_analysis = analysis->budget.reports * largest;
    return of_analysis < of_fields ? of_analysis : of_fields;
}

shoal_err shoal_set_add_policy(shoal_recipe_set *set, const shoal_policy *policy)
{
    if (set->has_policy) return SHOAL_ERR_DUPLICATE;
    if (policy->n_analyses > SHOAL_SET_MEMBERS_MAX - set->n_members) return SHOAL_ERR_SPACE;
    for (uint32_t i = 0; i < policy->n_analyses; i++) {
        const shoal_policy_analysis *analysis = &policy->analyses[i];
        shoal_set_member member = {.kind = SHOAL_ACCOUNT_ANALYSIS,
                                   .analysis = analysis->analysis,
                                   .eps_micro = analysis_cost(analysis),
                                   .last_day = UINT32_MAX};
        digest_named(member.hash, SHOAL_ACCOUNT_ANALYSIS, analysis->analysis.bytes,
                     analysis->analysis.len);
        memcpy(member.key, member.hash, SHOAL_ACCOUNT_KEY);
        shoal_err err = add(set, &member); // a policy's analyses have distinct names
        if (err != SHOAL_OK) return err;
    }
    set->has_policy = true;
    memcpy(set->policy_hash, policy->policy_hash, 32);
    return SHOAL_OK;
}

static void digest_number(shoal_sha256 *sha, uint32_t number)
{
    uint8_t bytes[4];
    store32_be(bytes, number);
    shoal_sha256_update(sha, bytes, sizeof bytes);
}

void shoal_set_hash(uint8_t hash[32], const shoal_recipe_set *set)
{
    static const char magic[] = "shoal set 1\n";
    uint32_t n_recipes = set->n_members - set->n_runs - set->n_analyses;
    uint8_t eps[8];
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)magic, sizeof magic - 1);
    store64_be(eps, set->eps_micro);
    shoal_sha256_update(&sha, eps, sizeof eps);
    digest_number(&sha, set->days);
    digest_number(&sha, n_recipes);
    for (uint32_t i = 0; i < n_recipes + set->n_runs; i++) {
        if (i == n_recipes) digest_number(&sha, set->n_runs);
        shoal_sha256_update(&sha, set->members[i].hash, 32);
    }
    if (set->n_runs == 0) digest_number(&sha, 0);
    digest_number(&sha, set->has_policy);
    if (set->has_policy) shoal_sha256_update(&sha, set->policy_hash, 32);
    shoal_sha256_final(hash, &sha);
}

uint64_t shoal_rates_cost(const shoal_rate *rates, uint32_t n)
{
    uint64_t cost = 0;
    uint32_t covered = 0; // reports of the day that are counted at their largest epsilon
    for (;;) {
        const shoal_rate *best = NULL;
        for (uint32_t i = 0; i < n; i++)
            if (rates[i].per_day > covered &&
                (best == NULL || rates[i].eps_micro > best->eps_micro))
                best = &rates[i];
        if (best == NULL) return cost;
        cost += (best->per_day - covered) * best->eps_micro;
        covered = best->per_day;
    }
}

// Returns: the daily cost of the account of member i, or 0 if an earlier member has that account.
static uint64_t account_cost(const shoal_recipe_set *set, uint32_t i, uint32_t today)
{
    shoal_rate rates[SHOAL_SET_MEMBERS_MAX];
    uint32_t n = 0;
    for (uint32_t j = 0; j < set->n_members; j++) {
        const shoal_set_member *other = &set->members[j];
        if (other->per_day == 0 || memcmp(other->key, set->members[i].key, SHOAL_ACCOUNT_KEY) != 0)
            continue;
        if (j < i) return 0;
        if (other->last_day >= today) rates[n++] = (shoal_rate){other->per_day, other->eps_micro};
    }
    return shoal_rates_cost(rates, n);
}

void shoal_set_cost_of(shoal_set_cost *cost, const shoal_recipe_set *set, uint32_t today)
{
    *cost = (shoal_set_cost){0};
    for (uint32_t i = 0; i < set->n_members; i++) {
        const shoal_set_member *member = &set->members[i];
        if (member->per_day > 0)
            cost->daily_micro += account_cost(set, i, today);
        else if (member->last_day >= today)
            cost->whole_micro += member->eps_micro;
    }
    uint64_t days = set->days > 0 ? set->days : 1;
    cost->window_micro = cost->daily_micro * days + cost->whole_micro;
}
