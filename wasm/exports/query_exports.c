// SPDX-License-Identifier: Apache-2.0
// Exports for queries: a recipe's lists, the item of an event, the policy, the accountant. See
// exports.h. The page's small module does not have them.
#include "accountant.h"
#include "exports.h"

// ---- recipes that are queries ----

EXPORT(recipe_add_text)
uint32_t export_recipe_add_text(uint32_t handle, uint32_t path, uint32_t path_len, uint32_t text,
                                uint32_t len)
{
    shoal_recipe_builder *b = building_recipe(handle);
    if (!b || !inside(path, path_len) || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_builder_add_text(b, (const char *)at(path), path_len, (const char *)at(text), len);
}

EXPORT(recipe_add_number)
uint32_t export_recipe_add_number(uint32_t handle, uint32_t path, uint32_t path_len, int64_t micro)
{
    shoal_recipe_builder *b = building_recipe(handle);
    if (!b || !inside(path, path_len)) return SHOAL_ERR_ARGUMENT;
    return shoal_builder_add_number(b, (const char *)at(path), path_len, micro);
}

// Writes, as little-endian u32: epsilon of the cohort, K of its delta 1e-K, the round, the version,
// the kind of aggregation, and the depth and number of buckets of each field (zeros beyond the last
// field). Then writes the query's hash and its policy's.
#define QUERY_WORDS (5u + 2u * SHOAL_ENCODED_MAX)
EXPORT(recipe_query_info) uint32_t export_recipe_query_info(uint32_t handle, uint32_t out)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(out, QUERY_WORDS * 4 + 64)) return SHOAL_ERR_ARGUMENT;
    uint32_t words[QUERY_WORDS] = {r->cohort_eps_micro, r->cohort_delta_exp, r->round_index,
                                   r->version, r->aggregation};
    for (uint32_t i = 0; i < r->encoding.n_fields; i++) {
        words[5 + 2 * i] = r->encoding.fields[i].depth;
        words[6 + 2 * i] = r->encoding.fields[i].size;
    }
    put_words(out, words, QUERY_WORDS);
    memcpy(at(out) + QUERY_WORDS * 4, r->query_hash, 32);
    memcpy(at(out) + QUERY_WORDS * 4 + 32, r->policy, 32);
    return SHOAL_OK;
}

static const shoal_encoded *field_of(uint32_t handle, uint32_t field)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r && field < r->encoding.n_fields ? &r->encoding.fields[field] : NULL;
}

// encoded_number, encoded_value and encoded_next return the bucket of a number, of an index of the
// field's list, or of what follows one of its prefixes; see core/recipe/encoding.h.
// Returns: the bucket, or minus ARGUMENT if the recipe has no such field.
EXPORT(encoded_number) int32_t export_encoded_number(uint32_t handle, uint32_t field, int64_t micro)
{
    const shoal_encoded *e = field_of(handle, field);
    return e ? (int32_t)shoal_encoded_number(e, micro) : failed(SHOAL_ERR_ARGUMENT);
}

EXPORT(encoded_value) int32_t export_encoded_value(uint32_t handle, uint32_t field, uint32_t index)
{
    const shoal_encoded *e = field_of(handle, field);
    return e ? (int32_t)shoal_encoded_value(e, index) : failed(SHOAL_ERR_ARGUMENT);
}

EXPORT(encoded_next)
int32_t export_encoded_next(uint32_t handle, uint32_t field, uint32_t prefix, uint32_t next)
{
    const shoal_encoded *e = field_of(handle, field);
    return e ? (int32_t)shoal_encoded_next(e, prefix, next) : failed(SHOAL_ERR_ARGUMENT);
}

// Reads one little-endian u32 bucket for each field. Returns: the item, or minus ARGUMENT.
EXPORT(encoding_item) int32_t export_encoding_item(uint32_t handle, uint32_t in)
{
    uint32_t buckets[SHOAL_ENCODED_MAX];
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || r->encoding.n_fields == 0 || !inside(in, r->encoding.n_fields * 4))
        return failed(SHOAL_ERR_ARGUMENT);
    for (uint32_t i = 0; i < r->encoding.n_fields; i++) {
        buckets[i] = load32_le(at(in) + 4 * i);
        if (buckets[i] >= r->encoding.fields[i].size) return failed(SHOAL_ERR_ARGUMENT);
    }
    return (int32_t)shoal_encoding_item(&r->encoding, buckets);
}

// Writes one little-endian u32 bucket for each field.
EXPORT(encoding_buckets)
uint32_t export_encoding_buckets(uint32_t out, uint32_t handle, uint32_t item)
{
    uint32_t buckets[SHOAL_ENCODED_MAX];
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || r->encoding.n_fields == 0 || item >= r->parts[0].size) return SHOAL_ERR_ARGUMENT;
    if (!inside(out, r->encoding.n_fields * 4)) return SHOAL_ERR_ARGUMENT;
    shoal_encoding_buckets(buckets, &r->encoding, item);
    put_words(out, buckets, r->encoding.n_fields);
    return SHOAL_OK;
}

// Draws a uniformly random item of a closed domain, for devices without a matching event. Wipes the
// seed. Returns: the item, or minus ARGUMENT.
EXPORT(random_item) int32_t export_random_item(uint32_t handle, uint32_t seed)
{
    if (!inside(seed, 32)) return failed(SHOAL_ERR_ARGUMENT);
    const shoal_recipe *r = ready_recipe(handle);
    int32_t item = failed(SHOAL_ERR_ARGUMENT);
    if (r && r->parts[0].domain == SHOAL_DOMAIN_CLOSED) {
        shoal_rng rng;
        shoal_rng_init(&rng, at(seed));
        item = (int32_t)shoal_rng_below(&rng, r->parts[0].size);
        shoal_rng_wipe(&rng);
    }
    wipe(at(seed), 32);
    return item;
}

// ---- the policy ----

#define POLICIES 2u // a new policy is checked while the page's old one still counts

static shoal_policy policies[POLICIES];
static lease leases[POLICIES];

static shoal_policy *policy_in(uint32_t handle, uint32_t state)
{
    uint32_t i = lease_find(leases, POLICIES, handle, state);
    return i < POLICIES ? &policies[i] : NULL;
}

const shoal_policy *ready_policy(uint32_t handle)
{
    return policy_in(handle, LEASE_READY);
}

// Returns: the handle of a new empty policy; SPACE if all slots are taken.
EXPORT(policy_open) int32_t export_policy_open(void)
{
    int32_t handle = lease_take(leases, POLICIES);
    if (handle > 0) shoal_policy_init(&policies[(uint32_t)handle % POLICIES]);
    return handle;
}

EXPORT(policy_set_number)
uint32_t export_policy_set_number(uint32_t handle, uint32_t path, uint32_t path_len, int64_t micro)
{
    shoal_policy *p = policy_in(handle, LEASE_BUILDING);
    if (!p || !inside(path, path_len)) return SHOAL_ERR_ARGUMENT;
    return shoal_policy_set_number(p, (const char *)at(path), path_len, micro);
}

EXPORT(policy_set_string)
uint32_t export_policy_set_string(uint32_t handle, uint32_t path, uint32_t path_len, uint32_t text,
                                  uint32_t len)
{
    shoal_policy *p = policy_in(handle, LEASE_BUILDING);
    if (!p || !inside(path, path_len) || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_policy_set_string(p, (const char *)at(path), path_len, (const char *)at(text),
                                   len);
}

EXPORT(policy_add_text)
uint32_t export_policy_add_text(uint32_t handle, uint32_t path, uint32_t path_len, uint32_t text,
                                uint32_t len)
{
    shoal_policy *p = policy_in(handle, LEASE_BUILDING);
    if (!p || !inside(path, path_len) || !inside(text, len)) return SHOAL_ERR_ARGUMENT;
    return shoal_policy_add_text(p, (const char *)at(path), path_len, (const char *)at(text), len);
}

EXPORT(policy_finish) uint32_t export_policy_finish(uint32_t handle)
{
    shoal_policy *p = policy_in(handle, LEASE_BUILDING);
    if (!p) return SHOAL_ERR_ARGUMENT;
    shoal_err err = shoal_policy_finish(p);
    if (!err) leases[handle % POLICIES].state = LEASE_READY;
    return err;
}

// Returns: the field of the last policy_* error on this handle, as static text, or 0.
EXPORT(policy_error_field) const char *export_policy_error_field(uint32_t handle)
{
    const shoal_policy *p = policy_in(handle, LEASE_BUILDING);
    return p ? p->error_field : NULL;
}

EXPORT(policy_error_text) const char *export_policy_error_text(uint32_t handle)
{
    const shoal_policy *p = policy_in(handle, LEASE_BUILDING);
    return p ? p->error_text : NULL;
}

EXPORT(policy_hash) uint32_t export_policy_hash(uint32_t handle, uint32_t out)
{
    const shoal_policy *p = policy_in(handle, LEASE_READY);
    if (!p || !inside(out, 32)) return SHOAL_ERR_ARGUMENT;
    memcpy(at(out), p->policy_hash, 32);
    return SHOAL_OK;
}

EXPORT(policy_release) uint32_t export_policy_release(uint32_t handle)
{
    return lease_end(leases, POLICIES, handle) < POLICIES ? SHOAL_OK : SHOAL_ERR_ARGUMENT;
}

// ---- the accountant ----

EXPORT(accountant_size_max) uint32_t export_accountant_size_max(void)
{
    return SHOAL_ACCOUNTANT_SIZE_MAX;
}

// Writes an empty accountant. Returns: its length.
EXPORT(accountant_init)
int32_t export_accountant_init(uint32_t accountant, uint32_t cap, uint32_t day)
{
    if (!inside(accountant, cap)) return failed(SHOAL_ERR_ARGUMENT);
    size_t len = 0;
    shoal_err err = shoal_accountant_init(at(accountant), cap, &len, day);
    return length_or(err, len);
}

// Writes, as little-endian u32: the refusal's number (0: accepted), the index of the field, the
// index of the analysis, the epsilon of one report and the epsilon of the cohort.
#define VERDICT_WORDS 5u
static void put_verdict(uint32_t out, const shoal_verdict *v)
{
    const uint32_t words[VERDICT_WORDS] = {v->refusal, v->field, v->analysis, v->local_eps_micro,
                                           v->central_eps_micro};
    put_words(out, words, VERDICT_WORDS);
}

EXPORT(query_check)
uint32_t export_query_check(uint32_t out, uint32_t accountant, uint32_t len, uint32_t policy,
                            uint32_t recipe, uint32_t day)
{
    shoal_verdict verdict;
    const shoal_policy *p = policy_in(policy, LEASE_READY);
    const shoal_recipe *r = ready_recipe(recipe);
    if (!p || !r || !inside(out, VERDICT_WORDS * 4) || !inside(accountant, len))
        return SHOAL_ERR_ARGUMENT;
    shoal_query_check(&verdict, at(accountant), len, p, r, day);
    put_verdict(out, &verdict);
    return SHOAL_OK;
}

// Returns: length of the accountant after the debit, unchanged if the verdict is a refusal.
EXPORT(query_debit)
int32_t export_query_debit(uint32_t out, uint32_t accountant, uint32_t len, uint32_t cap,
                           uint32_t policy, uint32_t recipe, uint32_t day)
{
    shoal_verdict verdict;
    const shoal_policy *p = policy_in(policy, LEASE_READY);
    const shoal_recipe *r = ready_recipe(recipe);
    if (!p || !r || len > cap || !inside(out, VERDICT_WORDS * 4) || !inside(accountant, cap))
        return failed(SHOAL_ERR_ARGUMENT);
    size_t size = len;
    shoal_query_debit(&verdict, at(accountant), &size, cap, p, r, day);
    put_verdict(out, &verdict);
    return (int32_t)size;
}

// Writes reports (u32), zero (u32), epsilon in micro-units (u64), delta in units of 1e-15 (u64) and
// the epsilon of all reports together in micro-units (u64), little-endian, at out.
//   field: index of one of the analysis's fields, or 0xffffffff for the analysis itself
EXPORT(accountant_charge)
uint32_t export_accountant_charge(uint32_t out, uint32_t accountant, uint32_t len, uint32_t policy,
                                  uint32_t analysis, uint32_t field)
{
    shoal_charge charge;
    const shoal_policy *p = policy_in(policy, LEASE_READY);
    if (!p || !inside(out, 32) || !inside(accountant, len)) return SHOAL_ERR_ARGUMENT;
    if (analysis >= p->n_analyses ||
        (field != UINT32_MAX && field >= p->analyses[analysis].n_fields))
        return SHOAL_ERR_ARGUMENT;
    shoal_err err = shoal_accountant_charge(&charge, at(accountant), len, p, analysis, field);
    if (err) return err;
    const uint32_t head[2] = {charge.reports, 0};
    put_words(out, head, 2);
    store64_le(at(out) + 8, charge.eps_micro);
    store64_le(at(out) + 16, charge.delta_e15);
    store64_le(at(out) + 24, charge.local_eps_micro);
    return SHOAL_OK;
}

// Returns: static NUL-terminated text about a refusal.
EXPORT(refusal_name) const char *export_refusal_name(uint32_t refusal)
{
    return shoal_refusal_name((shoal_refusal)refusal);
}

EXPORT(refusal_text) const char *export_refusal_text(uint32_t refusal)
{
    return shoal_refusal_text((shoal_refusal)refusal);
}
