// SPDX-License-Identifier: Apache-2.0
// The recipe's field table and everything read off it: setting, checking, canonical bytes; see
// recipe.h.
#include "recipe.h"

#include "bytes.h"
#include "field_table.h"
#include "number_item.h"
#include "recipe_compound.h"
#include "recipe_query.h"
#include "recipe_variables.h"

typedef struct row {
    shoal_field f;
    uint16_t tag;   // in the canonical bytes; fixed for ever
    uint32_t takes; // SHOAL_TAKES_*: only recipes of mechanisms that take it may
} row;

// A module that only answers queries (SHOAL_ONLY_QUERIES) knows no value but fields, and nothing
// that no query can state.
static const shoal_choice value_kinds[] = {
#ifndef SHOAL_ONLY_QUERIES
    {"word", SHOAL_VALUE_WORD},
    {"host", SHOAL_VALUE_HOST},
    {"site", SHOAL_VALUE_SITE},
    {"item", SHOAL_VALUE_ITEM},
    {"number", SHOAL_VALUE_NUMBER},
#endif
#ifndef SHOAL_WITHOUT_QUERIES
    {"fields", SHOAL_VALUE_FIELDS},
#endif
    {NULL, 0}};
static const shoal_choice forms[] = {{"none", SHOAL_FORM_NONE}, {"NFC", SHOAL_FORM_NFC}, {NULL, 0}};
static const shoal_choice cases[] = {
    {"keep", SHOAL_CASE_KEEP}, {"lower", SHOAL_CASE_LOWER}, {NULL, 0}};
#ifndef SHOAL_ONLY_QUERIES
static const shoal_choice hashes[] = {
    {"poly1", SHOAL_HASH_POLY1}, {"affine1", SHOAL_HASH_AFFINE1}, {NULL, 0}};
#endif
static const shoal_choice protocols[] = {{"reports", SHOAL_AGGREGATION_REPORTS},
#ifndef SHOAL_WITHOUT_QUERIES
                                         {"sum", SHOAL_AGGREGATION_SUM},
#endif
#ifndef SHOAL_ONLY_QUERIES
                                         {"dap", SHOAL_AGGREGATION_DAP},
#endif
                                         {NULL, 0}};
#ifndef SHOAL_WITHOUT_COMPOUNDS
static const shoal_choice oracles[] = {
    {"cms", SHOAL_ORACLE_CMS}, {"olh", SHOAL_ORACLE_OLH}, {NULL, 0}};
static const shoal_choice samplers[] = {
    {"random", SHOAL_SAMPLER_RANDOM}, {"greedy", SHOAL_SAMPLER_GREEDY}, {NULL, 0}};
#endif
static const shoal_choice freshness[] = {
    {"wait", SHOAL_FRESH_WAIT}, {"allow", SHOAL_FRESH_ALLOW}, {NULL, 0}};

enum {
    TAG_VALUE = 4,
    TAG_MECHANISM = 9,
    TAG_ROUND_INDEX = 39,
    TAG_ROUND_PREVIOUS = 40,
    TAG_ROUND_UPDATE = 69,
    TAG_KEEP_DAYS = 70,
    TAG_LEADER = 71,
    TAG_HELPER = 72,
    TAG_TIME_PRECISION = 73
};

#define AT(member) (uint16_t) offsetof(shoal_recipe, member)
#define TAKES_HASH (SHOAL_TAKES_POLY1 | SHOAL_TAKES_AFFINE1)

// path, choices, min, max, initial, offset, kind, always; tag, takes
static const row fields[] = {
    {{"recipe", NULL, 0, 0, 0, AT(recipe), FIELD_NAME, 1}, 1, 0},
    {{"analysis", NULL, 0, 0, 0, AT(analysis), FIELD_NAME, 1}, 2, 0},
    {{"stream", NULL, 0, 0, 0, AT(stream), FIELD_NAME, 1}, 3, 0},
    {{"value", value_kinds, 0, 0, 0, AT(value), FIELD_CHOICE, 1}, TAG_VALUE, 0},
    {{"text.form", forms, 0, 0, SHOAL_FORM_NFC, AT(text_form), FIELD_CHOICE, 0}, 5, 0},
    {{"text.case", cases, 0, 0, SHOAL_CASE_LOWER, AT(text_case), FIELD_CHOICE, 0}, 6, 0},
    {{"text.min", NULL, 1, 64, 1, AT(text_min), FIELD_INTEGER, 0}, 7, 0},
    {{"text.max", NULL, 1, 64, 32, AT(text_max), FIELD_INTEGER, 0}, 8, 0},
    {{"mechanism", NULL, 0, 0, 0, AT(mechanism), FIELD_OTHER, 1}, TAG_MECHANISM, 0},
    {{"parameters.epsilon", NULL, 10000, 16000000, 0, AT(eps_micro), FIELD_MICRO, 0},
     10,
     SHOAL_TAKES_EPSILON},
#ifndef SHOAL_ONLY_QUERIES
    {{"parameters.k", NULL, 1, 1u << 24, 0, AT(k), FIELD_INTEGER, 0}, 11, SHOAL_TAKES_K},
    {{"parameters.m", NULL, 2, 1u << 20, 0, AT(m), FIELD_INTEGER, 0}, 12, SHOAL_TAKES_M},
    {{"parameters.size", NULL, 2, 1u << 24, 0, AT(size), FIELD_INTEGER, 0}, 13, SHOAL_TAKES_LIST},
    {{"parameters.values", NULL, 0, 0, 0, 0, FIELD_LIST, 0}, 14, SHOAL_TAKES_LIST},
    {{"hash", hashes, 0, 0, SHOAL_HASH_NONE, AT(hash), FIELD_CHOICE, 0}, 15, TAKES_HASH},
    {{"seed", NULL, 0, 0, 0, AT(seed), FIELD_BYTES, 0}, 16, SHOAL_TAKES_SEED},
#endif
    {{"limit.per_day", NULL, 1, 1000000, 0, AT(per_day), FIELD_INTEGER, 1}, 17, 0},
    {{"send.sample", NULL, 1, 1000000, 1000000, AT(sample_micro), FIELD_MICRO, 0}, 18, 0},
    {{"send.delay_s", NULL, 0, 604800, 86400, AT(delay_s), FIELD_INTEGER, 0}, 19, 0},
    {{"send.fresh", freshness, 0, 0, SHOAL_FRESH_WAIT, AT(fresh), FIELD_CHOICE, 0}, 20, 0},
    {{"batch.minimum", NULL, 1, 1000000, 500, AT(batch_minimum), FIELD_INTEGER, 0}, 21, 0},
    {{"batch.max_age_s", NULL, 1, 2592000, 86400, AT(batch_max_age_s), FIELD_INTEGER, 0}, 22, 0},
    {{"cohort.minimum", NULL, 1, 1000000000, 1000, AT(cohort_minimum), FIELD_INTEGER, 0}, 23, 0},
    {{"cohort.epsilon", NULL, 1, 16000000, 0, AT(cohort_eps_micro), FIELD_MICRO, 0}, 24, 0},
    {{"cohort.delta", NULL, 3, 15, 0, AT(cohort_delta_exp), FIELD_DELTA, 0}, 25, 0},
    {{"release.threshold", NULL, 0, 0, 0, AT(release_threshold), FIELD_COUNT, 0}, 26, 0},
    {{"expires", NULL, 0, 0, 0, AT(expires_day), FIELD_DAY, 1}, 27, 0},
#ifndef SHOAL_ONLY_QUERIES
    {{"parameters.g", NULL, 2, 1u << 20, 0, AT(g), FIELD_INTEGER, 0}, 28, SHOAL_TAKES_G},
    {{"parameters.bits", NULL, 2, 1u << 16, 0, AT(bits), FIELD_INTEGER, 0}, 29, SHOAL_TAKES_BITS},
    {{"parameters.hashes", NULL, 1, 16, 0, AT(hashes), FIELD_INTEGER, 0}, 30, SHOAL_TAKES_HASHES},
    {{"parameters.cohorts", NULL, 1, 1u << 16, 0, AT(cohorts), FIELD_INTEGER, 0},
     31,
     SHOAL_TAKES_COHORTS},
    {{"parameters.p", NULL, 0, 1000000, 0, AT(pqf_micro[0]), FIELD_MICRO, 0}, 32, SHOAL_TAKES_PQF},
    {{"parameters.q", NULL, 0, 1000000, 0, AT(pqf_micro[1]), FIELD_MICRO, 0}, 33, SHOAL_TAKES_PQF},
    {{"parameters.f", NULL, 0, 1000000, 0, AT(pqf_micro[2]), FIELD_MICRO, 0}, 34, SHOAL_TAKES_PQF},
    {{"parameters.low", NULL, 0, 0, 0, AT(low_micro), FIELD_SIGNED, 0}, 35, SHOAL_TAKES_RANGE},
    {{"parameters.high", NULL, 0, 0, 0, AT(high_micro), FIELD_SIGNED, 0}, 36, SHOAL_TAKES_RANGE},
#endif
#ifndef SHOAL_WITHOUT_QUERIES
    {{"policy", NULL, 0, 0, 0, AT(policy), FIELD_BYTES, 0}, 37, 0},
    {{"version", NULL, 1, 1000000, 0, AT(version), FIELD_INTEGER, 0}, 38, 0},
    {{"round.index", NULL, 1, SHOAL_EPOCHS_MAX + 1, 0, AT(round_index), FIELD_INTEGER, 0},
     TAG_ROUND_INDEX,
     0},
    {{"round.previous", NULL, 0, 0, 0, AT(round_previous), FIELD_BYTES, 0}, TAG_ROUND_PREVIOUS, 0},
#endif
    {{"aggregation.protocol", protocols, 0, 0, SHOAL_AGGREGATION_REPORTS, AT(aggregation),
      FIELD_CHOICE, 0},
     41,
     0},
#ifndef SHOAL_WITHOUT_COMPOUNDS
#define FRAGMENTS SHOAL_TAKES_FRAGMENTS
#define PASSES SHOAL_TAKES_TRIE_PASSES
    {{"parameters.epsilon_fragment", NULL, 10000, 16000000, 0, AT(eps_fragment_micro), FIELD_MICRO,
      0},
     45,
     FRAGMENTS},
    {{"parameters.k_fragment", NULL, 1, 1u << 24, 0, AT(k_fragment), FIELD_INTEGER, 0},
     46,
     FRAGMENTS},
    {{"parameters.m_fragment", NULL, 2, 1u << 20, 0, AT(m_fragment), FIELD_INTEGER, 0},
     47,
     FRAGMENTS},
    {{"parameters.oracle", oracles, 0, 0, SHOAL_ORACLE_CMS, AT(oracle), FIELD_CHOICE, 0},
     48,
     SHOAL_TAKES_ORACLE},
    {{"parameters.length", NULL, 2, 32, 0, AT(length), FIELD_INTEGER, 0}, 49, SHOAL_TAKES_LENGTH},
    {{"parameters.n", NULL, 1, 4, 0, AT(n_gram), FIELD_INTEGER, 0}, 50, SHOAL_TAKES_NGRAM},
    {{"parameters.grams", NULL, 2, 4, 2, AT(grams), FIELD_INTEGER, 0}, 51, SHOAL_TAKES_GRAMS},
    {{"parameters.contributions", NULL, 1, 64, 0, AT(contributions), FIELD_INTEGER, 0},
     52,
     SHOAL_TAKES_TRIE},
    {{"parameters.sampler", samplers, 0, 0, SHOAL_SAMPLER_RANDOM, AT(sampler), FIELD_CHOICE, 0},
     53,
     PASSES},
    {{"parameters.depth", NULL, 1, SHOAL_DEPTH_MAX, 0, AT(depth), FIELD_INTEGER, 0},
     54,
     SHOAL_TAKES_TRIE},
    {{"parameters.max_prefixes", NULL, 1, 65536, 0, AT(max_prefixes), FIELD_INTEGER, 0},
     55,
     SHOAL_TAKES_TRIE},
    {{"parameters.passes", NULL, 1, 10, 1, AT(passes), FIELD_INTEGER, 0}, 56, PASSES},
    {{"parameters.pass", NULL, 1, 10, 1, AT(pass), FIELD_INTEGER, 0}, 57, PASSES},
#define THRESH SHOAL_TAKES_THRESH
    {{"parameters.users", NULL, 2, 1000000000, 0, AT(users), FIELD_INTEGER, 0}, 61, THRESH},
    {{"parameters.epochs", NULL, 1, SHOAL_EPOCHS_MAX, 0, AT(epochs), FIELD_INTEGER, 0}, 62, THRESH},
    {{"parameters.samples", NULL, 1, 1000000000, 0, AT(samples), FIELD_INTEGER, 0}, 63, THRESH},
    {{"parameters.smallest_group", NULL, 1, 1000000000, 0, AT(smallest_group), FIELD_INTEGER, 0},
     64,
     THRESH},
    {{"parameters.groups", NULL, 1, 1000000, 0, AT(groups), FIELD_INTEGER, 0}, 65, THRESH},
    {{"parameters.delta", NULL, 3, 15, 0, AT(delta_exp), FIELD_DELTA, 0}, 66, THRESH},
    {{"parameters.projection", NULL, 16, 65536, 2048, AT(projection), FIELD_INTEGER, 0},
     67,
     SHOAL_TAKES_PROJECTION},
    {{"parameters.epsilon_estimate", NULL, 10000, 16000000, 0, AT(eps_estimate_micro), FIELD_MICRO,
      0},
     68,
     SHOAL_TAKES_ESTIMATE},
    {{"round.update", NULL, 0, 1, 0, AT(round_update), FIELD_INTEGER, 0},
     TAG_ROUND_UPDATE,
     SHOAL_TAKES_UPDATE},
    {{"records.keep_days", NULL, 0, 365, 30, AT(keep_days), FIELD_INTEGER, 0},
     TAG_KEEP_DAYS,
     SHOAL_TAKES_RECORDS},
#endif
#ifndef SHOAL_ONLY_QUERIES
    {{"aggregation.leader", NULL, 0, 0, 0, AT(leader), FIELD_URL, 0}, TAG_LEADER, 0},
    {{"aggregation.helper", NULL, 0, 0, 0, AT(helper), FIELD_URL, 0}, TAG_HELPER, 0},
    {{"aggregation.time_precision_s", NULL, 60, 604800, 86400, AT(time_precision_s), FIELD_INTEGER,
      0},
     TAG_TIME_PRECISION,
     0},
#endif
};
#define N_FIELDS (sizeof fields / sizeof fields[0])

void shoal_recipe_init(shoal_recipe *recipe)
{
    memset(recipe, 0, sizeof *recipe);
    for (size_t i = 0; i < N_FIELDS; i++)
        if (shoal_field_is_number(&fields[i].f))
            shoal_field_put(&fields[i].f, recipe, fields[i].f.initial);
    shoal_sha256_init(&recipe->values_sha);
}

static int is_stated(const shoal_recipe *recipe, size_t i)
{
    return recipe->seen[i / 64] >> i % 64 & 1;
}

static void set_stated(shoal_recipe *recipe, size_t i)
{
    recipe->seen[i / 64] |= (uint64_t)1 << i % 64;
}

#ifdef SHOAL_WITHOUT_COMPOUNDS
static int is_misplaced(const shoal_recipe *recipe, const row *r)
{
    (void)recipe;
    (void)r;
    return 0;
}
#else
// In a joint recipe each variable states it, and the recipe does not.
static int is_of_variable(const row *r)
{
    return r->tag == TAG_VALUE || r->tag == TAG_MECHANISM ||
           (r->takes != 0 && r->tag != TAG_ROUND_UPDATE && r->tag != TAG_KEEP_DAYS);
}

// Is it a variable's, and stated of the joint recipe, or the reverse?
static int is_misplaced(const shoal_recipe *recipe, const row *r)
{
    return recipe->n_variables > 0 && is_of_variable(r) != (recipe->at_variable > 0);
}
#endif

// The field of a path, marked as seen; NULL (and *err) when there is none or it came before.
static const shoal_field *take_field(shoal_recipe *recipe, const char *path, size_t path_len,
                                     shoal_err *err)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const shoal_field *f = &fields[i].f;
        if (!shoal_text_equal(f->path, path, path_len)) continue;
        if (is_misplaced(recipe, &fields[i])) break;
        if (is_stated(recipe, i)) {
            *err = shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_DUPLICATE, "is given twice");
            return NULL;
        }
        set_stated(recipe, i);
        return f;
    }
    *err = shoal_recipe_refuse(recipe, NULL, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of a recipe");
    return NULL;
}

shoal_err shoal_recipe_set_number(shoal_recipe *recipe, const char *path, size_t path_len,
                                  int64_t micro)
{
    const char *why;
    shoal_err err = SHOAL_OK;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    err = shoal_variables_enter(recipe, &path, &path_len);
    if (err != SHOAL_OK) return err;
#endif
#if !defined SHOAL_WITHOUT_QUERIES && !defined SHOAL_WITHOUT_COMPOUNDS
    if (shoal_query_set_number(recipe, path, path_len, micro, &err)) return err;
#endif
    const shoal_field *f = take_field(recipe, path, path_len, &err);
    if (f == NULL) return err;
    err = shoal_field_set_number(f, recipe, micro, &why);
    return err == SHOAL_OK ? SHOAL_OK : shoal_recipe_refuse(recipe, f->path, err, why);
}

int shoal_recipe_range(int64_t *min_micro, int64_t *max_micro, const char *path, size_t path_len)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const shoal_field *f = &fields[i].f;
        if (!shoal_text_equal(f->path, path, path_len)) continue;
        if (f->kind != FIELD_MICRO && f->kind != FIELD_INTEGER && f->kind != FIELD_COUNT) return 0;
        uint64_t max = f->kind == FIELD_COUNT ? FIELD_COUNT_MAX : f->max,
                 unit = f->kind == FIELD_MICRO ? 1 : 1000000;
        *min_micro = (int64_t)(f->min * unit);
        *max_micro = (int64_t)(max * unit);
        return 1;
    }
    return 0;
}

static shoal_err set_mechanism(shoal_recipe *recipe, const shoal_field *f, const char *text,
                               size_t len)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(text, len);
    if (mechanism != NULL) recipe->mechanism = mechanism->id;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    const shoal_compound *compound = shoal_compound_by_name(text, len);
    if (compound != NULL) recipe->mechanism = compound->id;
#endif
    if (recipe->mechanism != SHOAL_MECHANISM_NONE) return SHOAL_OK;
    return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_MECHANISM,
                               "is unknown or not part of this build");
}

shoal_err shoal_recipe_set_string(shoal_recipe *recipe, const char *path, size_t path_len,
                                  const char *text, size_t len)
{
    const char *why;
    shoal_err err = SHOAL_OK;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    err = shoal_variables_enter(recipe, &path, &path_len);
    if (err != SHOAL_OK || shoal_variables_set_name(recipe, path, path_len, text, len, &err))
        return err;
#endif
#ifndef SHOAL_WITHOUT_QUERIES
    if (shoal_query_set_string(recipe, path, path_len, text, len, &err)) return err;
#endif
#ifndef SHOAL_WITHOUT_COMPOUNDS
    if (shoal_compound_set_string(recipe, path, path_len, text, len, &err)) return err;
#endif
    const shoal_field *f = take_field(recipe, path, path_len, &err);
    if (f == NULL) return err;
    if (f->kind == FIELD_OTHER) return set_mechanism(recipe, f, text, len);
    err = shoal_field_set_string(f, recipe, text, len, &why);
    return err == SHOAL_OK ? SHOAL_OK : shoal_recipe_refuse(recipe, f->path, err, why);
}

// ---- what depends on the kind of value ----

#ifdef SHOAL_ONLY_QUERIES
shoal_err shoal_recipe_add_value(shoal_recipe *recipe, const char *text, size_t len)
{
    (void)text;
    (void)len;
    return shoal_recipe_refuse(recipe, NULL, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of a query");
}

#ifndef SHOAL_WITHOUT_COMPOUNDS
shoal_err shoal_recipe_add_own_value(shoal_recipe *recipe, const char *text, size_t len)
{
    return shoal_recipe_add_value(recipe, text, len);
}
#endif

static void put_values(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    (void)w;
    (void)tag;
    (void)recipe;
}

static uint32_t domain_of(const shoal_recipe *recipe, const shoal_mechanism *mechanism)
{
    (void)recipe;
    (void)mechanism;
    return SHOAL_DOMAIN_CLOSED;
}

// A mechanism that needs what a query cannot state is none of this module.
static shoal_err check_value(shoal_recipe *recipe, uint32_t needs, uint32_t domain)
{
    (void)domain;
    if ((needs & ~(uint32_t)(SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST)) == 0) return SHOAL_OK;
    return shoal_recipe_refuse(recipe, "mechanism", SHOAL_ERR_MECHANISM, "does not answer queries");
}
#else
shoal_err shoal_recipe_add_own_value(shoal_recipe *recipe, const char *text, size_t len)
{
    static const char path[] = "parameters.values";
    uint8_t prefix[4];
    if (recipe->n_values == 0) {
        shoal_err err = SHOAL_OK;
        if (take_field(recipe, path, sizeof path - 1, &err) == NULL) return err;
    }
    if (len < 1 || len > SHOAL_VALUE_MAX)
        return shoal_recipe_refuse(recipe, path, SHOAL_ERR_RANGE,
                                   "holds a value that is empty or over 256 bytes");
    if (recipe->n_values == (1u << 24))
        return shoal_recipe_refuse(recipe, path, SHOAL_ERR_RANGE, "has too many values");
    store32_be(prefix, (uint32_t)len);
    shoal_sha256_update(&recipe->values_sha, prefix, sizeof prefix);
    shoal_sha256_update(&recipe->values_sha, (const uint8_t *)text, len);
    recipe->n_values++;
    return SHOAL_OK;
}

shoal_err shoal_recipe_add_value(shoal_recipe *recipe, const char *text, size_t len)
{
    recipe->at_variable = 0;
    if (recipe->n_variables > 0)
        return shoal_recipe_refuse(recipe, "parameters.values", SHOAL_ERR_UNKNOWN_FIELD,
                                   "is not for a joint recipe");
    return shoal_recipe_add_own_value(recipe, text, len);
}

static void put_values(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    uint8_t bytes[40];
    store64_be(bytes, recipe->n_values);
    memcpy(bytes + 8, recipe->values_digest, 32);
    if (recipe->n_values > 0) shoal_canonical_field(w, tag, bytes, sizeof bytes);
}

static uint32_t domain_of(const shoal_recipe *recipe, const shoal_mechanism *mechanism)
{
    if (recipe->value == SHOAL_VALUE_FIELDS) return SHOAL_DOMAIN_CLOSED;
    int has_list = recipe->size != 0 || recipe->n_values != 0 || recipe->hash == SHOAL_HASH_AFFINE1;
    if (mechanism->number.needs != 0) return SHOAL_DOMAIN_NUMBER;
    if (recipe->value == SHOAL_VALUE_NUMBER || mechanism->open.needs == 0)
        return SHOAL_DOMAIN_CLOSED;
    return has_list && recipe->hash != SHOAL_HASH_POLY1 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN;
}

static shoal_err check_list(shoal_recipe *recipe)
{
    if (recipe->value == SHOAL_VALUE_FIELDS) {
        if (recipe->size == 0 && recipe->n_values == 0) return SHOAL_OK;
        return shoal_recipe_refuse(
            recipe, recipe->size != 0 ? "parameters.size" : "parameters.values",
            SHOAL_ERR_UNKNOWN_FIELD, "is not for fields: encoding says what is counted");
    }
    if (recipe->size != 0 && recipe->n_values != 0)
        return shoal_recipe_refuse(recipe, "parameters.size", SHOAL_ERR_DUPLICATE,
                                   "and values exclude each other");
    if (recipe->size == 0 && recipe->n_values == 0)
        return shoal_recipe_refuse(recipe, "parameters.values", SHOAL_ERR_MISSING_FIELD,
                                   "or size is needed");
    if (recipe->value == SHOAL_VALUE_NUMBER && recipe->n_values != 0)
        return shoal_recipe_refuse(recipe, "parameters.values", SHOAL_ERR_UNKNOWN_FIELD,
                                   "is not for numbers: their buckets are size, low and high");
    return SHOAL_OK;
}

// What the fields say together.
static shoal_err check_value(shoal_recipe *recipe, uint32_t needs, uint32_t domain)
{
    if (needs & SHOAL_TAKES_POLY1 && recipe->hash != SHOAL_HASH_POLY1)
        return shoal_recipe_refuse(recipe, "hash", SHOAL_ERR_RANGE,
                                   "must be poly1 for open strings");
    if (needs & SHOAL_TAKES_AFFINE1 && recipe->hash != SHOAL_HASH_AFFINE1)
        return shoal_recipe_refuse(recipe, "hash", SHOAL_ERR_RANGE, "must be affine1 for a list");
    shoal_err err = needs & SHOAL_TAKES_LIST ? check_list(recipe) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    if (domain == SHOAL_DOMAIN_NUMBER && recipe->value != SHOAL_VALUE_NUMBER)
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_RANGE,
                                   "must be number for this mechanism");
    if (recipe->value == SHOAL_VALUE_NUMBER && recipe->low_micro >= recipe->high_micro)
        return shoal_recipe_refuse(recipe, "parameters.low", SHOAL_ERR_RANGE, "must be below high");
    return SHOAL_OK;
}
#endif

// ---- checks ----

// Does the recipe state what its mechanism needs in this domain, and nothing else?
static shoal_err check_takes(shoal_recipe *recipe, uint32_t needs, uint32_t may)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const row *r = &fields[i];
        if (r->takes == 0 || is_misplaced(recipe, r)) continue;
        if (is_stated(recipe, i) && !(r->takes & (needs | may)))
            return shoal_recipe_refuse(recipe, r->f.path, SHOAL_ERR_UNKNOWN_FIELD,
                                       "is not a field of this mechanism");
        if (!is_stated(recipe, i) && r->takes & needs && r->takes != SHOAL_TAKES_LIST)
            return shoal_recipe_refuse(recipe, r->f.path, SHOAL_ERR_MISSING_FIELD, "is missing");
    }
    return SHOAL_OK;
}

static shoal_err check_domain(shoal_recipe *recipe, const shoal_takes *takes, uint32_t domain)
{
    if (takes->needs == 0)
        return shoal_recipe_refuse(recipe, "mechanism", SHOAL_ERR_RANGE, "does not take a list");
    uint32_t needs = takes->needs | (recipe->value == SHOAL_VALUE_NUMBER ? SHOAL_TAKES_RANGE : 0u);
    shoal_err err = check_takes(recipe, needs, takes->may);
    return err == SHOAL_OK ? check_value(recipe, needs, domain) : err;
}

static shoal_err check_pairs(shoal_recipe *recipe)
{
    if (recipe->text_min > recipe->text_max)
        return shoal_recipe_refuse(recipe, "text.min", SHOAL_ERR_RANGE, "is above text.max");
    if ((recipe->cohort_eps_micro == 0) != (recipe->cohort_delta_exp == 0))
        return shoal_recipe_refuse(recipe, "cohort.delta", SHOAL_ERR_MISSING_FIELD,
                                   "and cohort.epsilon go together");
    return SHOAL_OK;
}

#ifdef SHOAL_ONLY_QUERIES
static shoal_err check_servers(shoal_recipe *recipe)
{
    (void)recipe;
    return SHOAL_OK;
}
#else
// Where two servers add up shares: who they are. A report is then one record, whole, of cells that
// can be added.
static shoal_err check_servers(shoal_recipe *recipe)
{
    if (recipe->aggregation != SHOAL_AGGREGATION_DAP) {
        for (size_t i = 0; i < N_FIELDS; i++)
            if (fields[i].tag >= TAG_LEADER && fields[i].tag <= TAG_TIME_PRECISION &&
                is_stated(recipe, i))
                return shoal_recipe_refuse(recipe, fields[i].f.path, SHOAL_ERR_UNKNOWN_FIELD,
                                           "goes with protocol dap");
        return SHOAL_OK;
    }
    if (recipe->leader.len == 0 || recipe->helper.len == 0)
        return shoal_recipe_refuse(
            recipe, recipe->leader.len == 0 ? "aggregation.leader" : "aggregation.helper",
            SHOAL_ERR_MISSING_FIELD, "is missing");
    if (shoal_url_equal(&recipe->leader, &recipe->helper))
        return shoal_recipe_refuse(recipe, "aggregation.helper", SHOAL_ERR_RANGE,
                                   "must be another server than the leader");
    if (shoal_mechanism_by_id(recipe->mechanism) == NULL)
        return shoal_recipe_refuse(
            recipe, "aggregation.protocol", SHOAL_ERR_RANGE,
            "dap adds up one record of one mechanism, not what consists of several");
    if (recipe->value == SHOAL_VALUE_FIELDS || recipe->version != 0 || recipe->n_splits > 0)
        return shoal_recipe_refuse(recipe, "aggregation.protocol", SHOAL_ERR_RANGE,
                                   "dap does not go with queries");
    return SHOAL_OK;
}
#endif

// The name of a field behind "parameters.", or NULL.
static const char *parameter_name(const shoal_field *f)
{
    static const char head[] = "parameters.";
    return text_len(f->path) >= sizeof head && memcmp(f->path, head, sizeof head - 1) == 0
               ? f->path + sizeof head - 1
               : NULL;
}

// The field that a mechanism's own check names, as a recipe path.
static const char *path_of(const shoal_recipe *recipe, const char *name)
{
    if (recipe->encoding.n_fields > 0 && shoal_text_equal("size", name, text_len(name)))
        return "encoding"; // its cells
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *own = parameter_name(&fields[i].f);
        if (own != NULL && shoal_text_equal(own, name, text_len(name))) return fields[i].f.path;
    }
    return "mechanism";
}

// Fills and prepares a part with what the fields state.
static shoal_err prepare_part(shoal_part *part, const shoal_recipe *recipe, uint32_t domain,
                              uint32_t cells, const char **name)
{
    part->mechanism = recipe->mechanism;
    part->domain = domain;
    part->hash = recipe->hash;
    part->eps_micro = recipe->eps_micro;
    part->k = recipe->k != 0 ? recipe->k : recipe->cohorts != 0 ? recipe->cohorts : 1;
    part->m = recipe->m != 0 ? recipe->m : recipe->g != 0 ? recipe->g : recipe->bits;
    part->size = recipe->encoding.n_fields > 0 ? cells
                 : recipe->size != 0           ? recipe->size
                                               : recipe->n_values;
    part->hashes = recipe->hashes;
    memcpy(part->pqf_micro, recipe->pqf_micro, sizeof part->pqf_micro);
    memcpy(part->seed, recipe->seed, sizeof part->seed);
    return shoal_part_prepare(part, name);
}

static shoal_err prepare_only_part(shoal_recipe *recipe, uint32_t domain, uint32_t cells,
                                   const char **name)
{
    const shoal_part *part = &recipe->parts[0];
    shoal_err err = prepare_part(&recipe->parts[0], recipe, domain, cells, name);
    if (err != SHOAL_OK) return err;
    recipe->record_size = part->record_size;
    recipe->text_size = part->text_size;
    recipe->cost_micro = part->eps_micro;
    recipe->n_parts = 1;
    return SHOAL_OK;
}

// Checks and prepares what the mechanism makes of the fields.
static shoal_err finish_mechanism(shoal_recipe *recipe)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    const shoal_compound *compound = NULL;
    const char *name = "mechanism";
    uint32_t cells = 0;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    compound = mechanism == NULL ? shoal_compound_by_id(recipe->mechanism) : NULL;
    shoal_takes takes = compound != NULL ? compound->takes : (shoal_takes){0, 0};
#endif
    uint32_t domain = compound != NULL ? compound->domain : domain_of(recipe, mechanism);
    shoal_err err = check_domain(
        recipe, compound != NULL ? &compound->takes : shoal_mechanism_takes(mechanism, domain),
        domain);
#ifndef SHOAL_WITHOUT_COMPOUNDS
    if (err == SHOAL_OK) err = shoal_compound_check(recipe, &takes);
#endif
    if (err == SHOAL_OK) err = check_pairs(recipe);
    if (err == SHOAL_OK) err = check_servers(recipe);
#ifndef SHOAL_WITHOUT_QUERIES
    if (err == SHOAL_OK) err = shoal_query_finish(recipe, &cells);
#endif
    if (err != SHOAL_OK) return err;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    if (compound != NULL)
        err = shoal_compound_finish(recipe, compound, cells, &name);
    else
#endif
        err = prepare_only_part(recipe, domain, cells, &name);
    if (err == SHOAL_OK) return SHOAL_OK;
    return shoal_recipe_refuse(recipe, path_of(recipe, name), err,
                               "is outside what the mechanism takes");
}

// ---- canonical bytes ----

static void put_field(shoal_canonical *w, const shoal_recipe *recipe, size_t i)
{
    const shoal_field *f = &fields[i].f;
    uint16_t tag = fields[i].tag;
    uint8_t eight[8];
    if (f->kind == FIELD_LIST) {
        put_values(w, tag, recipe);
    } else if (f->kind == FIELD_NAME) {
        shoal_name name;
        memcpy(&name, (const uint8_t *)recipe + f->offset, sizeof name);
        shoal_canonical_field(w, tag, name.bytes, name.len);
    } else if (f->kind == FIELD_BYTES) {
        if (is_stated(recipe, i))
            shoal_canonical_field(w, tag, (const uint8_t *)recipe + f->offset, 32);
#ifndef SHOAL_ONLY_QUERIES
    } else if (f->kind == FIELD_URL) {
        shoal_url url;
        memcpy(&url, (const uint8_t *)recipe + f->offset, sizeof url);
        if (url.len > 0) shoal_canonical_field(w, tag, url.bytes, url.len);
#endif
    } else if (shoal_field_get(f, recipe) != f->initial) {
        store64_be(eight, shoal_field_get(f, recipe));
        shoal_canonical_field(w, tag, eight, sizeof eight);
    }
}

// What they are the bytes of: a part of a collection, what is signed, a run of rounds.
enum extent { OF_PART, OF_QUERY, OF_RUN };

static shoal_err write_canonical(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe,
                                 enum extent extent)
{
    static const char title[] = "shoal recipe 1\n";
    shoal_canonical w = {out, cap, 0, 0};
    if (recipe->n_parts == 0) return SHOAL_ERR_ARGUMENT;
    shoal_canonical_put(&w, title, sizeof title - 1);
    for (size_t i = 0; i < N_FIELDS; i++) {
        uint16_t tag = fields[i].tag;
        int is_round =
            tag == TAG_ROUND_INDEX || tag == TAG_ROUND_PREVIOUS || tag == TAG_ROUND_UPDATE;
        if (extent != OF_RUN || !is_round) put_field(&w, recipe, i);
    }
#ifndef SHOAL_WITHOUT_QUERIES
    shoal_query_put(&w, recipe, extent == OF_PART);
#endif
#ifndef SHOAL_WITHOUT_COMPOUNDS
    shoal_compound_put(&w, recipe);
    shoal_variables_put(&w, recipe);
#endif
    if (w.is_full) return SHOAL_ERR_SPACE;
    *len = w.len;
    return SHOAL_OK;
}

static void hash_bytes(uint8_t hash[32], const uint8_t *bytes, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(hash, &sha);
}

static shoal_err hash_recipe(uint8_t hash[32], const shoal_recipe *recipe, enum extent extent)
{
    uint8_t canonical[SHOAL_CANONICAL_MAX];
    size_t len = 0;
    shoal_err err = write_canonical(canonical, sizeof canonical, &len, recipe, extent);
    if (err == SHOAL_OK) hash_bytes(hash, canonical, len);
    return err;
}

// ---- variables ----

#ifndef SHOAL_WITHOUT_COMPOUNDS
int shoal_recipe_has_own(const shoal_recipe *recipe)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (is_of_variable(&fields[i]) && is_stated(recipe, i)) return 1;
    return 0;
}

void shoal_recipe_state_joint(shoal_recipe *recipe, uint32_t mechanism)
{
    recipe->value = SHOAL_VALUE_VARIABLES;
    recipe->mechanism = mechanism;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].tag == TAG_VALUE || fields[i].tag == TAG_MECHANISM) set_stated(recipe, i);
}

static shoal_err check_variable(shoal_recipe *recipe, uint32_t *domain)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    if (recipe->value == 0)
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_MISSING_FIELD, "is missing");
    if (recipe->value == SHOAL_VALUE_FIELDS)
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_RANGE,
                                   "of a variable must not be fields");
    if (recipe->mechanism == SHOAL_MECHANISM_NONE)
        return shoal_recipe_refuse(recipe, "mechanism", SHOAL_ERR_MISSING_FIELD, "is missing");
    if (mechanism == NULL || mechanism->number.needs != 0)
        return shoal_recipe_refuse(recipe, "mechanism", SHOAL_ERR_MECHANISM,
                                   "is none that a variable can have");
    *domain = domain_of(recipe, mechanism);
    return check_domain(recipe, shoal_mechanism_takes(mechanism, *domain), *domain);
}

static void digest_variable(uint8_t digest[32], const shoal_recipe *recipe)
{
    uint8_t bytes[1024];
    shoal_canonical w = {bytes, sizeof bytes, 0, 0};
    for (size_t i = 0; i < N_FIELDS; i++)
        if (is_of_variable(&fields[i])) put_field(&w, recipe, i);
    hash_bytes(digest, bytes, w.len);
}

// Puts every field of a variable back to its beginning.
static void clear_variable(shoal_recipe *recipe)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (!is_of_variable(&fields[i])) continue;
        if (shoal_field_is_number(&fields[i].f))
            shoal_field_put(&fields[i].f, recipe, fields[i].f.initial);
        recipe->seen[i / 64] &= ~((uint64_t)1 << i % 64);
    }
    memset(recipe->seed, 0, sizeof recipe->seed);
    memset(recipe->values_digest, 0, sizeof recipe->values_digest);
    recipe->n_values = 0;
    shoal_sha256_init(&recipe->values_sha);
}

shoal_err shoal_recipe_take_variable(shoal_recipe *recipe, shoal_variable *variable,
                                     shoal_part *part)
{
    const char *name = "mechanism";
    uint32_t domain = 0;
    shoal_err err = check_variable(recipe, &domain);
    if (err != SHOAL_OK) return err;
    err = prepare_part(part, recipe, domain, 0, &name);
    if (err != SHOAL_OK)
        return shoal_recipe_refuse(recipe, path_of(recipe, name), err,
                                   "is outside what the mechanism takes");
    if (recipe->n_values > 0) shoal_sha256_final(recipe->values_digest, &recipe->values_sha);
    digest_variable(variable->digest, recipe);
    variable->value = recipe->value;
    variable->size = recipe->size;
    variable->n_values = recipe->n_values;
    variable->low_micro = recipe->low_micro;
    variable->high_micro = recipe->high_micro;
    clear_variable(recipe);
    return SHOAL_OK;
}
#endif

// ---- the whole ----

shoal_err shoal_recipe_finish(shoal_recipe *recipe)
{
    shoal_err err = SHOAL_OK;
    if (recipe->error_text != NULL) return SHOAL_ERR_ARGUMENT;
#ifndef SHOAL_WITHOUT_COMPOUNDS
    err = shoal_variables_finish(recipe);
    if (err != SHOAL_OK) return err;
#endif
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].f.is_always && !is_stated(recipe, i))
            return shoal_recipe_refuse(recipe, fields[i].f.path, SHOAL_ERR_MISSING_FIELD,
                                       "is missing");
    err = finish_mechanism(recipe);
    if (err != SHOAL_OK) return err;
    if (recipe->n_values > 0) shoal_sha256_final(recipe->values_digest, &recipe->values_sha);
#ifndef SHOAL_WITHOUT_COMPOUNDS
    err = hash_recipe(recipe->run_hash, recipe, OF_RUN);
    if (err != SHOAL_OK) return err;
#endif
    err = hash_recipe(recipe->query_hash, recipe, OF_QUERY);
    return err == SHOAL_OK ? hash_recipe(recipe->recipe_hash, recipe, OF_PART) : err;
}

shoal_err shoal_recipe_canonical(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe)
{
    return write_canonical(out, cap, len, recipe, OF_PART);
}

shoal_err shoal_recipe_signed(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe)
{
    return write_canonical(out, cap, len, recipe, OF_QUERY);
}

shoal_err shoal_recipe_check_day(const shoal_recipe *recipe, uint32_t day)
{
    return day > recipe->expires_day ? SHOAL_ERR_EXPIRED : SHOAL_OK;
}

shoal_err shoal_recipe_epsilon(uint32_t *eps_micro, const shoal_recipe *recipe)
{
    uint32_t sum = 0, one = 0;
    if (recipe->n_parts == 0) return SHOAL_ERR_ARGUMENT;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        shoal_err err = shoal_mechanism_by_id(part->mechanism)->epsilon(&one, part);
        if (err != SHOAL_OK) return err;
        sum += one;
    }
    *eps_micro = sum;
    return SHOAL_OK;
}

const char *shoal_recipe_mechanism_name(const shoal_recipe *recipe)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
#ifndef SHOAL_WITHOUT_COMPOUNDS
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    if (compound != NULL) return compound->name;
#endif
    return mechanism != NULL ? mechanism->name : NULL;
}

static int get_parameter(int64_t *micro, const shoal_recipe *recipe, size_t i)
{
    const shoal_field *f = &fields[i].f;
    if (!is_stated(recipe, i) || f->kind == FIELD_CHOICE || f->kind == FIELD_DELTA)
        return 0; // those are texts
    if (f->kind == FIELD_LIST)
        *micro = (int64_t)recipe->n_values * 1000000;
    else
        *micro = (int64_t)shoal_field_get(f, recipe) * (f->kind == FIELD_INTEGER ? 1000000 : 1);
    return 1;
}

int shoal_recipe_parameter(const char **name, int64_t *micro, const shoal_recipe *recipe,
                           uint32_t index)
{
#ifndef SHOAL_WITHOUT_COMPOUNDS
    if (recipe->n_variables > 0) { // of which none speaks for all
        *name = "epsilon";
        *micro = recipe->cost_micro;
        return index == 0;
    }
#endif
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *own = parameter_name(&fields[i].f);
        if (own == NULL || !get_parameter(micro, recipe, i) || index-- > 0) continue;
        *name = fields[i].f.kind == FIELD_LIST ? "size" : own;
        return 1;
    }
    return 0;
}

int shoal_recipe_is_permanent(const shoal_recipe *recipe)
{
    int is_permanent = 0;
    for (uint32_t i = 0; i < recipe->n_parts; i++)
        is_permanent |= shoal_mechanism_by_id(recipe->parts[i].mechanism)->is_permanent;
    return is_permanent;
}

uint64_t shoal_recipe_number_item(const shoal_recipe *recipe, int64_t micro)
{
    const shoal_part *part = &recipe->parts[0];
    int is_bucket = part->domain == SHOAL_DOMAIN_CLOSED;
    uint64_t count = is_bucket ? part->size : SHOAL_NUMBER_ONE;
    uint64_t item = shoal_number_scale(micro, recipe->low_micro, recipe->high_micro, count);
    return item - ((uint64_t)is_bucket &
                   (uint64_t)(item == count)); // the upper end belongs to the last bucket
}
