// SPDX-License-Identifier: Apache-2.0
// The recipe's field table and everything read off it: setting, checking, canonical bytes; see recipe.h.
#include "recipe.h"

#include "bytes.h"
#include "number_item.h"
#include "recipe_query.h"

typedef enum kind {
    KIND_NAME,      // shoal_name
    KIND_CHOICE,    // uint32_t, one of `choices`
    KIND_INTEGER,   // uint32_t, a whole number
    KIND_INTEGER64, // uint64_t, a whole number
    KIND_MICRO,     // uint32_t, micro-units
    KIND_SIGNED,    // int64_t, micro-units, may be negative
    KIND_SEED,      // 32 bytes, 64 hex digits, not all zero
    KIND_DAY,       // uint32_t, "YYYY-MM-DD"
    KIND_DELTA,     // uint32_t K of "1e-K"
    KIND_MECHANISM, // uint32_t, a name of mechanisms.def
    KIND_VALUES     // the list parameters.values, given by shoal_recipe_add_value
} kind;

typedef struct choice {
    const char *name;
    uint32_t number;
} choice;

typedef struct field {
    const char *path;
    uint16_t tag;      // in the canonical bytes; fixed for ever
    uint8_t is_always; // every recipe must state it
    uint16_t takes;    // SHOAL_TAKES_*: only recipes of mechanisms that take it may
    kind kind;
    size_t offset;
    uint64_t min, max, initial;
    const choice *choices;
} field;

static const choice value_kinds[] = {{"word", SHOAL_VALUE_WORD},
                                     {"host", SHOAL_VALUE_HOST},
                                     {"site", SHOAL_VALUE_SITE},
                                     {"item", SHOAL_VALUE_ITEM},
                                     {"number", SHOAL_VALUE_NUMBER},
#ifndef SHOAL_WITHOUT_QUERIES
                                     {"fields", SHOAL_VALUE_FIELDS},
#endif
                                     {NULL, 0}};
static const choice forms[] = {{"none", SHOAL_FORM_NONE}, {"NFC", SHOAL_FORM_NFC}, {NULL, 0}};
static const choice cases[] = {{"keep", SHOAL_CASE_KEEP}, {"lower", SHOAL_CASE_LOWER}, {NULL, 0}};
static const choice hashes[] = {{"poly1", SHOAL_HASH_POLY1}, {"affine1", SHOAL_HASH_AFFINE1}, {NULL, 0}};
#ifndef SHOAL_WITHOUT_QUERIES
static const choice protocols[] = {{"reports", SHOAL_AGGREGATION_REPORTS}, {"sum", SHOAL_AGGREGATION_SUM}, {NULL, 0}};
#endif
static const choice freshness[] = {{"wait", SHOAL_FRESH_WAIT}, {"allow", SHOAL_FRESH_ALLOW}, {NULL, 0}};

#define AT(member) offsetof(shoal_recipe, member)
#define TAKES_HASH (SHOAL_TAKES_POLY1 | SHOAL_TAKES_AFFINE1)

// path, tag, always, takes, kind, offset, min, max, initial, choices
static const field fields[] = {
    {"recipe", 1, 1, 0, KIND_NAME, AT(recipe), 0, 0, 0, NULL},
    {"analysis", 2, 1, 0, KIND_NAME, AT(analysis), 0, 0, 0, NULL},
    {"stream", 3, 1, 0, KIND_NAME, AT(stream), 0, 0, 0, NULL},
    {"value", 4, 1, 0, KIND_CHOICE, AT(value), 0, 0, 0, value_kinds},
    {"text.form", 5, 0, 0, KIND_CHOICE, AT(text_form), 0, 0, SHOAL_FORM_NFC, forms},
    {"text.case", 6, 0, 0, KIND_CHOICE, AT(text_case), 0, 0, SHOAL_CASE_LOWER, cases},
    {"text.min", 7, 0, 0, KIND_INTEGER, AT(text_min), 1, 64, 1, NULL},
    {"text.max", 8, 0, 0, KIND_INTEGER, AT(text_max), 1, 64, 32, NULL},
    {"mechanism", 9, 1, 0, KIND_MECHANISM, AT(mechanism), 0, 0, 0, NULL},
    {"parameters.epsilon", 10, 0, SHOAL_TAKES_EPSILON, KIND_MICRO, AT(eps_micro), 10000, 16000000, 0, NULL},
    {"parameters.k", 11, 0, SHOAL_TAKES_K, KIND_INTEGER, AT(k), 1, 1u << 24, 0, NULL},
    {"parameters.m", 12, 0, SHOAL_TAKES_M, KIND_INTEGER, AT(m), 2, 1u << 20, 0, NULL},
    {"parameters.size", 13, 0, SHOAL_TAKES_LIST, KIND_INTEGER, AT(size), 2, 1u << 24, 0, NULL},
    {"parameters.values", 14, 0, SHOAL_TAKES_LIST, KIND_VALUES, 0, 0, 0, 0, NULL},
    {"hash", 15, 0, TAKES_HASH, KIND_CHOICE, AT(hash), 0, 0, SHOAL_HASH_NONE, hashes},
    {"seed", 16, 0, SHOAL_TAKES_SEED, KIND_SEED, AT(seed), 0, 0, 0, NULL},
    {"limit.per_day", 17, 1, 0, KIND_INTEGER, AT(per_day), 1, 1000000, 0, NULL},
    {"send.sample", 18, 0, 0, KIND_MICRO, AT(sample_micro), 1, 1000000, 1000000, NULL},
    {"send.delay_s", 19, 0, 0, KIND_INTEGER, AT(delay_s), 0, 604800, 86400, NULL},
    {"send.fresh", 20, 0, 0, KIND_CHOICE, AT(fresh), 0, 0, SHOAL_FRESH_WAIT, freshness},
    {"batch.minimum", 21, 0, 0, KIND_INTEGER, AT(batch_minimum), 1, 1000000, 500, NULL},
    {"batch.max_age_s", 22, 0, 0, KIND_INTEGER, AT(batch_max_age_s), 1, 2592000, 86400, NULL},
    {"cohort.minimum", 23, 0, 0, KIND_INTEGER, AT(cohort_minimum), 1, 1000000000, 1000, NULL},
    {"cohort.epsilon", 24, 0, 0, KIND_MICRO, AT(cohort_eps_micro), 1, 16000000, 0, NULL},
    {"cohort.delta", 25, 0, 0, KIND_DELTA, AT(cohort_delta_exp), 3, 15, 0, NULL},
    {"release.threshold", 26, 0, 0, KIND_INTEGER64, AT(release_threshold), 0, 1000000000000, 0, NULL},
    {"expires", 27, 1, 0, KIND_DAY, AT(expires_day), 0, 0, 0, NULL},
    {"parameters.g", 28, 0, SHOAL_TAKES_G, KIND_INTEGER, AT(g), 2, 1u << 20, 0, NULL},
    {"parameters.bits", 29, 0, SHOAL_TAKES_BITS, KIND_INTEGER, AT(bits), 2, 1u << 16, 0, NULL},
    {"parameters.hashes", 30, 0, SHOAL_TAKES_HASHES, KIND_INTEGER, AT(hashes), 1, 16, 0, NULL},
    {"parameters.cohorts", 31, 0, SHOAL_TAKES_COHORTS, KIND_INTEGER, AT(cohorts), 1, 1u << 16, 0, NULL},
    {"parameters.p", 32, 0, SHOAL_TAKES_PQF, KIND_MICRO, AT(pqf_micro[0]), 0, 1000000, 0, NULL},
    {"parameters.q", 33, 0, SHOAL_TAKES_PQF, KIND_MICRO, AT(pqf_micro[1]), 0, 1000000, 0, NULL},
    {"parameters.f", 34, 0, SHOAL_TAKES_PQF, KIND_MICRO, AT(pqf_micro[2]), 0, 1000000, 0, NULL},
    {"parameters.low", 35, 0, SHOAL_TAKES_RANGE, KIND_SIGNED, AT(low_micro), 0, 0, 0, NULL},
    {"parameters.high", 36, 0, SHOAL_TAKES_RANGE, KIND_SIGNED, AT(high_micro), 0, 0, 0, NULL},
#ifndef SHOAL_WITHOUT_QUERIES
    {"policy", 37, 0, 0, KIND_SEED, AT(policy), 0, 0, 0, NULL},
    {"version", 38, 0, 0, KIND_INTEGER, AT(version), 1, 1000000, 0, NULL},
    {"round.index", 39, 0, 0, KIND_INTEGER, AT(round_index), 1, 1000, 0, NULL},
    {"round.previous", 40, 0, 0, KIND_SEED, AT(round_previous), 0, 0, 0, NULL},
    {"aggregation.protocol", 41, 0, 0, KIND_CHOICE, AT(aggregation), 0, 0, SHOAL_AGGREGATION_REPORTS, protocols},
#endif
};
#define N_FIELDS (sizeof fields / sizeof fields[0])

static int is_wide(const field *f)
{
    return f->kind == KIND_INTEGER64 || f->kind == KIND_SIGNED;
}

static uint64_t get_number(const shoal_recipe *recipe, const field *f)
{
    const uint8_t *at = (const uint8_t *)recipe + f->offset;
    uint32_t narrow;
    uint64_t wide;
    if (is_wide(f)) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

static void put_number(shoal_recipe *recipe, const field *f, uint64_t number)
{
    uint8_t *at = (uint8_t *)recipe + f->offset;
    uint32_t narrow = (uint32_t)number;
    if (is_wide(f))
        memcpy(at, &number, sizeof number);
    else
        memcpy(at, &narrow, sizeof narrow);
}

static int is_number(const field *f)
{
    return f->kind != KIND_NAME && f->kind != KIND_SEED && f->kind != KIND_VALUES;
}

void shoal_recipe_init(shoal_recipe *recipe)
{
    memset(recipe, 0, sizeof *recipe);
    for (size_t i = 0; i < N_FIELDS; i++)
        if (is_number(&fields[i])) put_number(recipe, &fields[i], fields[i].initial);
    shoal_sha256_init(&recipe->values_sha);
}

// The field of a path, marked as seen; NULL (and *err) when there is none or it came before.
static const field *take_field(shoal_recipe *recipe, const char *path, size_t path_len, shoal_err *err)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        if (!shoal_text_equal(fields[i].path, path, path_len)) continue;
        if (recipe->seen >> i & 1) {
            *err = shoal_recipe_refuse(recipe, fields[i].path, SHOAL_ERR_DUPLICATE, "is given twice");
            return NULL;
        }
        recipe->seen |= (uint64_t)1 << i;
        return &fields[i];
    }
    *err = shoal_recipe_refuse(recipe, NULL, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of a recipe");
    return NULL;
}

shoal_err shoal_recipe_set_number(shoal_recipe *recipe, const char *path, size_t path_len, int64_t micro)
{
    shoal_err err = SHOAL_OK;
    const field *f = take_field(recipe, path, path_len, &err);
    if (f == NULL) return err;
    if (f->kind == KIND_VALUES)
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a list of strings");
    if (f->kind != KIND_MICRO && f->kind != KIND_INTEGER && !is_wide(f))
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a string");
    if (f->kind == KIND_SIGNED) {
        put_number(recipe, f, (uint64_t)micro);
        return SHOAL_OK;
    }
    if (micro < 0) return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_RANGE, "must not be negative");
    uint64_t number = (uint64_t)micro;
    if (f->kind != KIND_MICRO) {
        if (number % 1000000 != 0)
            return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a whole number");
        number /= 1000000;
    }
    if (number < f->min || number > f->max)
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_RANGE, "is outside its range");
    put_number(recipe, f, number);
    return SHOAL_OK;
}

int shoal_recipe_range(int64_t *min_micro, int64_t *max_micro, const char *path, size_t path_len)
{
    for (const field *f = fields; f < fields + N_FIELDS; f++) {
        if (f->kind != KIND_MICRO && f->kind != KIND_INTEGER && f->kind != KIND_INTEGER64) continue;
        if (!shoal_text_equal(f->path, path, path_len)) continue;
        uint64_t unit = f->kind == KIND_MICRO ? 1 : 1000000;
        *min_micro = (int64_t)(f->min * unit);
        *max_micro = (int64_t)(f->max * unit);
        return 1;
    }
    return 0;
}

static shoal_err set_name(shoal_recipe *recipe, const field *f, const char *text, size_t len)
{
    shoal_name name;
    const char *why;
    shoal_err err = shoal_name_set(&name, text, len, &why);
    if (err != SHOAL_OK) return shoal_recipe_refuse(recipe, f->path, err, why);
    memcpy((uint8_t *)recipe + f->offset, &name, sizeof name);
    return SHOAL_OK;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static shoal_err set_seed(shoal_recipe *recipe, const field *f, const char *text, size_t len)
{
    uint8_t any = 0, *bytes = (uint8_t *)recipe + f->offset;
    if (len != 64) return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be 64 lower-case hex digits");
    for (size_t i = 0; i < 32; i++) {
        int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be 64 lower-case hex digits");
        bytes[i] = (uint8_t)(high << 4 | low);
        any |= bytes[i];
    }
    return any ? SHOAL_OK : shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_RANGE, "must not be all zeros");
}

// Reads n digits; UINT32_MAX when one is not a digit.
static uint32_t digits(const char *text, size_t n)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') return UINT32_MAX;
        sum = sum * 10 + (uint32_t)(text[i] - '0');
    }
    return sum;
}

static int is_leap(uint32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t month_days(uint32_t year, uint32_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

static shoal_err set_day(shoal_recipe *recipe, const field *f, const char *text, size_t len)
{
    if (len != 10 || text[4] != '-' || text[7] != '-')
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a date YYYY-MM-DD");
    uint32_t year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    if (year == UINT32_MAX || month == UINT32_MAX || day == UINT32_MAX)
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a date YYYY-MM-DD");
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_RANGE, "is not a date");
    uint32_t days = day - 1;
    for (uint32_t y = 1970; y < year; y++) days += is_leap(y) ? 366 : 365;
    for (uint32_t m = 1; m < month; m++) days += month_days(year, m);
    put_number(recipe, f, days);
    return SHOAL_OK;
}

static shoal_err set_delta(shoal_recipe *recipe, const field *f, const char *text, size_t len)
{
    if (len < 4 || len > 5 || memcmp(text, "1e-", 3) != 0)
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be written 1e-K");
    uint32_t exponent = digits(text + 3, len - 3);
    if (exponent == UINT32_MAX || text[3] == '0')
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be written 1e-K");
    if (exponent < f->min || exponent > f->max)
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_RANGE, "must be 1e-3 to 1e-15");
    put_number(recipe, f, exponent);
    return SHOAL_OK;
}

static shoal_err set_choice(shoal_recipe *recipe, const field *f, const char *text, size_t len)
{
    for (const choice *c = f->choices; c->name != NULL; c++) {
        if (!shoal_text_equal(c->name, text, len)) continue;
        put_number(recipe, f, c->number);
        return SHOAL_OK;
    }
    return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "is none of the known names");
}

static shoal_err set_mechanism(shoal_recipe *recipe, const field *f, const char *text, size_t len)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_name(text, len);
    if (mechanism == NULL)
        return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_MECHANISM, "is unknown or not part of this build");
    put_number(recipe, f, mechanism->id);
    return SHOAL_OK;
}

shoal_err shoal_recipe_set_string(shoal_recipe *recipe, const char *path, size_t path_len, const char *text, size_t len)
{
    shoal_err err = SHOAL_OK;
#ifndef SHOAL_WITHOUT_QUERIES
    if (shoal_query_set_string(recipe, path, path_len, text, len, &err)) return err;
#endif
    const field *f = take_field(recipe, path, path_len, &err);
    if (f == NULL) return err;
    switch (f->kind) {
    case KIND_NAME: return set_name(recipe, f, text, len);
    case KIND_CHOICE: return set_choice(recipe, f, text, len);
    case KIND_SEED: return set_seed(recipe, f, text, len);
    case KIND_DAY: return set_day(recipe, f, text, len);
    case KIND_DELTA: return set_delta(recipe, f, text, len);
    case KIND_MECHANISM: return set_mechanism(recipe, f, text, len);
    case KIND_VALUES: return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a list of strings");
    case KIND_INTEGER:
    case KIND_INTEGER64:
    case KIND_SIGNED:
    case KIND_MICRO: break;
    }
    return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_TYPE, "must be a number");
}

shoal_err shoal_recipe_add_value(shoal_recipe *recipe, const char *text, size_t len)
{
    static const char path[] = "parameters.values";
    uint8_t prefix[4];
    if (recipe->n_values == 0) {
        shoal_err err = SHOAL_OK;
        if (take_field(recipe, path, sizeof path - 1, &err) == NULL) return err;
    }
    if (len < 1 || len > SHOAL_VALUE_MAX)
        return shoal_recipe_refuse(recipe, path, SHOAL_ERR_RANGE, "holds a value that is empty or over 256 bytes");
    if (recipe->n_values == (1u << 24))
        return shoal_recipe_refuse(recipe, path, SHOAL_ERR_RANGE, "has too many values");
    store32_be(prefix, (uint32_t)len);
    shoal_sha256_update(&recipe->values_sha, prefix, sizeof prefix);
    shoal_sha256_update(&recipe->values_sha, (const uint8_t *)text, len);
    recipe->n_values++;
    return SHOAL_OK;
}

static uint32_t domain_of(const shoal_recipe *recipe, const shoal_mechanism *mechanism)
{
    if (recipe->value == SHOAL_VALUE_FIELDS) return SHOAL_DOMAIN_CLOSED;
    int has_list = recipe->size != 0 || recipe->n_values != 0 || recipe->hash == SHOAL_HASH_AFFINE1;
    if (mechanism->number.needs != 0) return SHOAL_DOMAIN_NUMBER;
    if (recipe->value == SHOAL_VALUE_NUMBER || mechanism->open.needs == 0) return SHOAL_DOMAIN_CLOSED;
    return has_list && recipe->hash != SHOAL_HASH_POLY1 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN;
}

static shoal_err check_list(shoal_recipe *recipe)
{
    if (recipe->value == SHOAL_VALUE_FIELDS) {
        if (recipe->size == 0 && recipe->n_values == 0) return SHOAL_OK;
        return shoal_recipe_refuse(recipe, recipe->size != 0 ? "parameters.size" : "parameters.values",
                                   SHOAL_ERR_UNKNOWN_FIELD, "is not for fields: encoding says what is counted");
    }
    if (recipe->size != 0 && recipe->n_values != 0)
        return shoal_recipe_refuse(recipe, "parameters.size", SHOAL_ERR_DUPLICATE, "and values exclude each other");
    if (recipe->size == 0 && recipe->n_values == 0)
        return shoal_recipe_refuse(recipe, "parameters.values", SHOAL_ERR_MISSING_FIELD, "or size is needed");
    if (recipe->value == SHOAL_VALUE_NUMBER && recipe->n_values != 0)
        return shoal_recipe_refuse(recipe, "parameters.values", SHOAL_ERR_UNKNOWN_FIELD,
                                   "is not for numbers: their buckets are size, low and high");
    return SHOAL_OK;
}

// Does the recipe state what its mechanism needs in this domain, and nothing else?
static shoal_err check_takes(shoal_recipe *recipe, const shoal_takes *takes)
{
    uint32_t needs = takes->needs | (recipe->value == SHOAL_VALUE_NUMBER ? SHOAL_TAKES_RANGE : 0u);
    for (size_t i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        int is_stated = recipe->seen >> i & 1;
        if (f->takes == 0) continue;
        if (is_stated && !(f->takes & (needs | takes->may)))
            return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of this mechanism");
        if (!is_stated && f->takes & needs && f->takes != SHOAL_TAKES_LIST)
            return shoal_recipe_refuse(recipe, f->path, SHOAL_ERR_MISSING_FIELD, "is missing");
    }
    if (needs & SHOAL_TAKES_POLY1 && recipe->hash != SHOAL_HASH_POLY1)
        return shoal_recipe_refuse(recipe, "hash", SHOAL_ERR_RANGE, "must be poly1 for open strings");
    if (needs & SHOAL_TAKES_AFFINE1 && recipe->hash != SHOAL_HASH_AFFINE1)
        return shoal_recipe_refuse(recipe, "hash", SHOAL_ERR_RANGE, "must be affine1 for a list");
    return needs & SHOAL_TAKES_LIST ? check_list(recipe) : SHOAL_OK;
}

static shoal_err check_domain(shoal_recipe *recipe, const shoal_mechanism *mechanism, uint32_t domain)
{
    const shoal_takes *takes = shoal_mechanism_takes(mechanism, domain);
    if (takes->needs == 0) return shoal_recipe_refuse(recipe, "mechanism", SHOAL_ERR_RANGE, "does not take a list");
    shoal_err err = check_takes(recipe, takes);
    if (err != SHOAL_OK) return err;
    if (domain == SHOAL_DOMAIN_NUMBER && recipe->value != SHOAL_VALUE_NUMBER)
        return shoal_recipe_refuse(recipe, "value", SHOAL_ERR_RANGE, "must be number for this mechanism");
    if (recipe->value == SHOAL_VALUE_NUMBER && recipe->low_micro >= recipe->high_micro)
        return shoal_recipe_refuse(recipe, "parameters.low", SHOAL_ERR_RANGE, "must be below high");
    return SHOAL_OK;
}

static shoal_err check_pairs(shoal_recipe *recipe)
{
    if (recipe->text_min > recipe->text_max)
        return shoal_recipe_refuse(recipe, "text.min", SHOAL_ERR_RANGE, "is above text.max");
    if ((recipe->cohort_eps_micro == 0) != (recipe->cohort_delta_exp == 0))
        return shoal_recipe_refuse(recipe, "cohort.delta", SHOAL_ERR_MISSING_FIELD, "and cohort.epsilon go together");
    return SHOAL_OK;
}

// The name of a field behind "parameters.", or NULL.
static const char *parameter_name(const field *f)
{
    static const char head[] = "parameters.";
    return text_len(f->path) >= sizeof head && memcmp(f->path, head, sizeof head - 1) == 0 ? f->path + sizeof head - 1
                                                                                           : NULL;
}

// The field that a mechanism's own check names, as a recipe path.
static const char *path_of(const char *name)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *own = parameter_name(&fields[i]);
        if (own != NULL && shoal_text_equal(own, name, text_len(name))) return fields[i].path;
    }
    return "mechanism";
}

static shoal_err prepare_parts(shoal_recipe *recipe, uint32_t domain, uint32_t cells)
{
    shoal_part *part = &recipe->parts[0];
    const char *name = "mechanism";
    part->mechanism = recipe->mechanism;
    part->domain = domain;
    part->hash = recipe->hash;
    part->eps_micro = recipe->eps_micro;
    part->k = recipe->k != 0 ? recipe->k : recipe->cohorts != 0 ? recipe->cohorts : 1;
    part->m = recipe->m != 0 ? recipe->m : recipe->g != 0 ? recipe->g : recipe->bits;
    part->size = recipe->encoding.n_fields > 0 ? cells : recipe->size != 0 ? recipe->size : recipe->n_values;
    part->hashes = recipe->hashes;
    memcpy(part->pqf_micro, recipe->pqf_micro, sizeof part->pqf_micro);
    memcpy(part->seed, recipe->seed, sizeof part->seed);
    shoal_err err = shoal_part_prepare(part, &name);
    if (err != SHOAL_OK) return shoal_recipe_refuse(recipe, path_of(name), err, "is outside what the mechanism takes");
    recipe->record_size = part->record_size;
    recipe->text_size = part->text_size;
    recipe->cost_micro = part->eps_micro;
    recipe->n_parts = 1;
    return SHOAL_OK;
}

static shoal_err write_canonical(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe, int with_part);

static shoal_err hash_recipe(uint8_t hash[32], const shoal_recipe *recipe, int with_part)
{
    uint8_t canonical[SHOAL_CANONICAL_MAX];
    size_t len = 0;
    shoal_sha256 sha;
    shoal_err err = write_canonical(canonical, sizeof canonical, &len, recipe, with_part);
    if (err != SHOAL_OK) return err;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, canonical, len);
    shoal_sha256_final(hash, &sha);
    return SHOAL_OK;
}

shoal_err shoal_recipe_finish(shoal_recipe *recipe)
{
    if (recipe->error_text != NULL) return SHOAL_ERR_ARGUMENT;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].is_always && !(recipe->seen >> i & 1))
            return shoal_recipe_refuse(recipe, fields[i].path, SHOAL_ERR_MISSING_FIELD, "is missing");
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(recipe->mechanism);
    uint32_t domain = domain_of(recipe, mechanism);
    uint32_t cells = 0;
    shoal_err err = check_domain(recipe, mechanism, domain);
    if (err == SHOAL_OK) err = check_pairs(recipe);
#ifndef SHOAL_WITHOUT_QUERIES
    if (err == SHOAL_OK) err = shoal_query_finish(recipe, &cells);
#endif
    if (err == SHOAL_OK) err = prepare_parts(recipe, domain, cells);
    if (err != SHOAL_OK) return err;
    if (recipe->n_values > 0) shoal_sha256_final(recipe->values_digest, &recipe->values_sha);
    err = hash_recipe(recipe->query_hash, recipe, 0);
    return err == SHOAL_OK ? hash_recipe(recipe->recipe_hash, recipe, 1) : err;
}

static void put_values(shoal_canonical *w, uint16_t tag, const shoal_recipe *recipe)
{
    uint8_t bytes[40];
    store64_be(bytes, recipe->n_values);
    memcpy(bytes + 8, recipe->values_digest, 32);
    if (recipe->n_values > 0) shoal_canonical_field(w, tag, bytes, sizeof bytes);
}

static shoal_err write_canonical(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe, int with_part)
{
    static const char title[] = "shoal recipe 1\n";
    shoal_canonical w = {out, cap, 0, 0};
    if (recipe->n_parts == 0) return SHOAL_ERR_ARGUMENT;
    shoal_canonical_put(&w, title, sizeof title - 1);
    for (size_t i = 0; i < N_FIELDS; i++) {
        const field *f = &fields[i];
        uint8_t eight[8];
        if (f->kind == KIND_VALUES) {
            put_values(&w, f->tag, recipe);
        } else if (f->kind == KIND_NAME) {
            shoal_name name;
            memcpy(&name, (const uint8_t *)recipe + f->offset, sizeof name);
            shoal_canonical_field(&w, f->tag, name.bytes, name.len);
        } else if (f->kind == KIND_SEED) {
            if (recipe->seen >> i & 1) shoal_canonical_field(&w, f->tag, (const uint8_t *)recipe + f->offset, 32);
        } else if (get_number(recipe, f) != f->initial) {
            store64_be(eight, get_number(recipe, f));
            shoal_canonical_field(&w, f->tag, eight, sizeof eight);
        }
    }
#ifndef SHOAL_WITHOUT_QUERIES
    shoal_query_put(&w, recipe, with_part);
#else
    (void)with_part;
#endif
    if (w.is_full) return SHOAL_ERR_SPACE;
    *len = w.len;
    return SHOAL_OK;
}

shoal_err shoal_recipe_canonical(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe)
{
    return write_canonical(out, cap, len, recipe, 1);
}

shoal_err shoal_recipe_signed(uint8_t *out, size_t cap, size_t *len, const shoal_recipe *recipe)
{
    return write_canonical(out, cap, len, recipe, 0);
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

static int get_parameter(int64_t *micro, const shoal_recipe *recipe, size_t i)
{
    const field *f = &fields[i];
    if (!(recipe->seen >> i & 1)) return 0;
    if (f->kind == KIND_VALUES)
        *micro = (int64_t)recipe->n_values * 1000000;
    else
        *micro = (int64_t)get_number(recipe, f) * (f->kind == KIND_INTEGER ? 1000000 : 1);
    return 1;
}

int shoal_recipe_parameter(const char **name, int64_t *micro, const shoal_recipe *recipe, uint32_t index)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *own = parameter_name(&fields[i]);
        if (own == NULL || !get_parameter(micro, recipe, i) || index-- > 0) continue;
        *name = fields[i].kind == KIND_VALUES ? "size" : own;
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
    return item - ((uint64_t)is_bucket & (uint64_t)(item == count)); // the upper end belongs to the last bucket
}
