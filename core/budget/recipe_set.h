// SPDX-License-Identifier: Apache-2.0
// A site's recipe set: everything that the pages of one origin may ask of a person, and the budget
// that bounds it.
//
// A set holds recipes, runs over epochs and the analyses of one policy. Its budget, if it has one,
// caps the epsilon of all of them together, by basic composition, in any `days` consecutive UTC
// days. The ledger reserves the members of a set when the first page of a day opens (ledger.h).
//
// The members are kept in canonical order: recipes before runs before analyses, each by hash. The
// set's hash is the SHA-256 of these bytes, integers big-endian: "shoal set 1\n", the budget's
// epsilon in micro-units (u64, 0 without a budget) and its days (u32), the number of recipes (u32)
// and their hashes, the number of runs (u32) and their run hashes, and the number of policies (u32)
// and their hashes. So neither the order nor the spelling of the file changes the hash.
#ifndef SHOAL_RECIPE_SET_H
#define SHOAL_RECIPE_SET_H

#include <stdbool.h>

#include "name.h"
#include "policy.h"
#include "recipe_ref.h"

#define SHOAL_SET_MEMBERS_MAX 64u
#define SHOAL_BUDGET_DAYS_MAX 365u
#define SHOAL_BUDGET_EPS_MICRO_MAX 1000000000000u // epsilon 1,000,000
#define SHOAL_ACCOUNT_KEY 16u                     // bytes

// The kind of an account of the ledger, and of a member of a set (the first three). The numbers
// never change.
enum shoal_account_kind {
    SHOAL_ACCOUNT_RECIPE = 1,   // reports of the recipes of one (analysis, field)
    SHOAL_ACCOUNT_RUN = 2,      // runs over epochs, debited once each
    SHOAL_ACCOUNT_ANALYSIS = 3, // queries under an analysis of a policy
    SHOAL_ACCOUNT_EXACT = 4,    // values shared without noise: counted, no epsilon bounds them
    SHOAL_ACCOUNT_UNNAMED = 5,  // spent under version 1 of the ledger, which kept no names
    SHOAL_ACCOUNT_ERASED = 6    // the sum of everything before the books were erased
};

typedef struct shoal_set_member {
    uint8_t hash[32]; // of the recipe or the run; of an analysis, SHA-256 of its kind and name
    uint8_t key[SHOAL_ACCOUNT_KEY]; // the account that it spends from
    uint32_t kind;                  // enum shoal_account_kind
    shoal_name analysis;
    uint32_t value;     // enum shoal_value_kind; 0 for an analysis
    uint32_t per_day;   // reports a day; 0 if the whole cost is charged once (runs, analyses)
    uint64_t eps_micro; // of one report, or the whole cost
    uint32_t last_day;  // the last day on which it may answer; UINT32_MAX for an analysis
    bool waits;         // does it wait while storage is fresh?
} shoal_set_member;

typedef struct shoal_recipe_set {
    uint64_t eps_micro; // the budget; 0: none, uncapped
    uint32_t days;
    uint32_t n_members, n_runs, n_analyses;
    shoal_set_member members[SHOAL_SET_MEMBERS_MAX]; // in canonical order
    bool has_policy;
    uint8_t policy_hash[32];
} shoal_recipe_set;

// Starts a set without members and without a budget.
void shoal_set_init(shoal_recipe_set *set);

// States the budget.
//   eps_micro: 1 .. SHOAL_BUDGET_EPS_MICRO_MAX
//   days: 1 .. SHOAL_BUDGET_DAYS_MAX
// Returns: RANGE for other numbers, DUPLICATE if the set has a budget.
shoal_err shoal_set_budget(shoal_recipe_set *set, uint64_t eps_micro,
                           uint32_t days) SHOAL_MUST_CHECK;

// Adds a finished recipe. An epoch of a run stands for its run.
// Returns: DUPLICATE if the set has it, SPACE beyond SHOAL_SET_MEMBERS_MAX; the set is unchanged
// unless OK.
shoal_err shoal_set_add_recipe(shoal_recipe_set *set, const shoal_recipe *recipe) SHOAL_MUST_CHECK;

// Writes what a set and the ledger read of a finished recipe. Its eps_micro is 0.
void shoal_set_member_of(shoal_set_member *member, const shoal_recipe *recipe);

// Adds the analyses of a finished policy. An analysis may cost what all its reports cost together:
// the smaller of its own reports at its fields' largest local epsilon, and of the sum of its
// fields' reports at theirs.
// Returns: as shoal_set_add_recipe; DUPLICATE for a second policy.
shoal_err shoal_set_add_policy(shoal_recipe_set *set, const shoal_policy *policy) SHOAL_MUST_CHECK;

// Writes the set's hash.
void shoal_set_hash(uint8_t hash[32], const shoal_recipe_set *set);

// Writes the key of an account that goes by a name: an analysis of a policy or an exact task.
//   name: len bytes, at most SHOAL_NAME_MAX
void shoal_account_key(uint8_t key[SHOAL_ACCOUNT_KEY], uint32_t kind, const char *name, size_t len);

// Writes the key of the account that a recipe spends from, its (analysis, field). Recipes that
// share it share their reports a day.
void shoal_account_key_of(uint8_t key[SHOAL_ACCOUNT_KEY], const shoal_recipe *recipe);

// The reports a day and the epsilon of a report of one recipe.
typedef struct shoal_rate {
    uint32_t per_day;
    uint64_t eps_micro;
} shoal_rate;

// Returns: the most epsilon that recipes which share one account can spend in a day. They share one
// count, and each may report while the count is below its own per_day, so report j costs at most
// the largest epsilon among the recipes with per_day > j.
//   rates: n of them
uint64_t shoal_rates_cost(const shoal_rate *rates, uint32_t n);

// The costs of a set.
typedef struct shoal_set_cost {
    uint64_t daily_micro;  // of each day on which a page opens
    uint64_t whole_micro;  // of runs and analyses, counted once in every window
    uint64_t window_micro; // daily * days + whole; daily + whole without a budget
} shoal_set_cost;

// Computes what a set costs if a page opens on every day.
//   today: recipes whose last day is before today cost nothing; days since 1970-01-01 UTC
void shoal_set_cost_of(shoal_set_cost *cost, const shoal_recipe_set *set, uint32_t today);

#endif
