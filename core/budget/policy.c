// SPDX-License-Identifier: Apache-2.0
// The policy's field table, and setting a field by its path; see policy.h.
#include "policy_fields.h"

#include "canonical.h"
#include "central.h"
#include "field_table.h"
#include "probability.h"
#include "sentence.h"
#include "sha256.h"

static const shoal_choice types[] = {{"number", SHOAL_SCHEME_NUMBER},
                                     {"text", SHOAL_SCHEME_LIST},
                                     {"tokens", SHOAL_SCHEME_TOKENS},
                                     {"characters", SHOAL_SCHEME_CHARACTERS},
                                     {NULL, 0}};
static const shoal_choice compositions[] = {{"basic", SHOAL_COMPOSE_BASIC},
                                            {"advanced", SHOAL_COMPOSE_ADVANCED},
                                            {"renyi", SHOAL_COMPOSE_RENYI},
                                            {NULL, 0}};

// This list names every mechanism, also those that a build leaves out, so that a policy has the
// same hash in every build.
static const shoal_choice mechanisms[] = {
#define SHOAL_MECHANISM(id, stem, name) {name, id},
#include "mechanisms.def"
#undef SHOAL_MECHANISM
#define SHOAL_COMPOUND(id, stem, name) {name, id},
#include "compounds.def"
#undef SHOAL_COMPOUND
    {NULL, 0}};

enum list { KEYS = 1, MECHANISMS, SPLITS }; // KEYS belongs to the policy, the others to an analysis

typedef struct row {
    shoal_field f;       // N and M in its path stand for one digit each
    uint8_t level, list; // list: 0 for a scalar
} row;

#define IN(type, member) (uint16_t) offsetof(type, member)
#define IN_TOP(member) IN(shoal_policy, member)
#define IN_STREAM(member) IN(shoal_policy_stream, member)
#define IN_ANALYSIS(member) IN(shoal_policy_analysis, member)
#define EPS_MAX SHOAL_EPS_MICRO_MAX
#define REPORTS_MAX SHOAL_POLICY_REPORTS_MAX

// Columns: path, choices, min, max, initial, offset, kind, always; level, list. The number of a row
// is its tag in the canonical bytes, so new rows go to the end and no row moves.
static const row fields[] = {
    {{"policy", NULL, 0, 0, 0, IN_TOP(policy), FIELD_NAME, 1}, TOP, 0},
    {{"keys", NULL, 0, 0, 0, 0, FIELD_LIST, 1}, TOP, KEYS},
    {{"fresh_days", NULL, 1, 365, 1, IN_TOP(fresh_days), FIELD_INTEGER, 0}, TOP, 0},
    {{"streams.N.stream", NULL, 0, 0, 0, IN_STREAM(stream), FIELD_NAME, 1}, STREAM, 0},
    {{"streams.N.retention_days", NULL, 1, 400, 0, IN_STREAM(retention_days), FIELD_INTEGER, 1},
     STREAM,
     0},
    {{"streams.N.fields.M.field", NULL, 0, 0, 0, IN(shoal_policy_field, field), FIELD_NAME, 1},
     STREAM_FIELD,
     0},
    {{"streams.N.fields.M.type", types, 0, 0, 0, IN(shoal_policy_field, scheme), FIELD_CHOICE, 1},
     STREAM_FIELD,
     0},
    {{"analyses.N.analysis", NULL, 0, 0, 0, IN_ANALYSIS(analysis), FIELD_NAME, 1}, ANALYSIS, 0},
    {{"analyses.N.stream", NULL, 0, 0, 0, IN_ANALYSIS(stream), FIELD_NAME, 1}, ANALYSIS, 0},
    {{"analyses.N.version", NULL, 1, 1000000, 1, IN_ANALYSIS(version), FIELD_INTEGER, 0},
     ANALYSIS,
     0},
    {{"analyses.N.mechanisms", mechanisms, 0, 0, 0, IN_ANALYSIS(mechanisms), FIELD_LIST, 1},
     ANALYSIS,
     MECHANISMS},
    {{"analyses.N.query.fields", NULL, 1, SHOAL_ENCODED_MAX, 1, IN_ANALYSIS(query_fields),
      FIELD_INTEGER, 0},
     ANALYSIS,
     0},
    {{"analyses.N.query.size", NULL, 2, SHOAL_DOMAIN_SIZE_MAX, 65536, IN_ANALYSIS(query_size),
      FIELD_INTEGER, 0},
     ANALYSIS,
     0},
    {{"analyses.N.budget.epsilon", NULL, 1, EPS_MAX, 0, IN_ANALYSIS(budget.eps_micro), FIELD_MICRO,
      1},
     ANALYSIS,
     0},
    {{"analyses.N.budget.delta", NULL, SHOAL_DELTA_EXP_MIN, SHOAL_DELTA_EXP_MAX, 0,
      IN_ANALYSIS(delta_exp), FIELD_DELTA, 1},
     ANALYSIS,
     0},
    {{"analyses.N.budget.reports", NULL, 1, REPORTS_MAX, 0, IN_ANALYSIS(budget.reports),
      FIELD_INTEGER, 1},
     ANALYSIS,
     0},
    {{"analyses.N.budget.composition", compositions, 0, 0, 0, IN_ANALYSIS(composition),
      FIELD_CHOICE, 0},
     ANALYSIS,
     0},
    {{"analyses.N.budget.slack", NULL, SHOAL_DELTA_EXP_MIN, SHOAL_DELTA_EXP_MAX, 0,
      IN_ANALYSIS(slack_exp), FIELD_DELTA, 0},
     ANALYSIS,
     0},
    {{"analyses.N.cohort.minimum", NULL, 1, 1000000000, 1000, IN_ANALYSIS(cohort_minimum),
      FIELD_INTEGER, 0},
     ANALYSIS,
     0},
    {{"analyses.N.cohort.honest", NULL, 1, 1000000, 1000000, IN_ANALYSIS(honest_micro), FIELD_MICRO,
      0},
     ANALYSIS,
     0},
    {{"analyses.N.split_by", NULL, 0, 0, 0, 0, FIELD_LIST, 0}, ANALYSIS, SPLITS},
    {{"analyses.N.fields.M.field", NULL, 0, 0, 0, IN(shoal_policy_budget, field), FIELD_NAME, 1},
     BUDGET,
     0},
    {{"analyses.N.fields.M.local_epsilon", NULL, 1, EPS_MAX, 0,
      IN(shoal_policy_budget, local_eps_micro), FIELD_MICRO, 1},
     BUDGET,
     0},
    {{"analyses.N.fields.M.epsilon", NULL, 1, EPS_MAX, 0, IN(shoal_policy_budget, eps_micro),
      FIELD_MICRO, 1},
     BUDGET,
     0},
    {{"analyses.N.fields.M.reports", NULL, 1, REPORTS_MAX, 0, IN(shoal_policy_budget, reports),
      FIELD_INTEGER, 1},
     BUDGET,
     0},
};
#define N_FIELDS (sizeof fields / sizeof fields[0])
#define TAG_LEVEL 64u // plus its level: the tag of an entry of a list of objects

shoal_err shoal_policy_refuse(shoal_policy *policy, const char *path, shoal_err err,
                              const char *text)
{
    policy->error_field = path;
    policy->error_text = SHOAL_SENTENCE(text);
    policy->is_finished = false;
    return err;
}

// ---- places ----

// The place of an entry: its offset in the policy, and the index of its bits in `seen`.
typedef struct place {
    size_t offset;
    uint32_t seen; // index
} place;

static place place_of(uint32_t at_level, uint32_t n, uint32_t m)
{
    uint32_t streams = 1 + n * (1 + SHOAL_POLICY_FIELDS_MAX);
    uint32_t analyses = streams + SHOAL_POLICY_STREAMS_MAX * (1 + SHOAL_POLICY_FIELDS_MAX);
    size_t stream = IN_TOP(streams) + n * sizeof(shoal_policy_stream);
    size_t analysis = IN_TOP(analyses) + n * sizeof(shoal_policy_analysis);
    switch (at_level) {
    case STREAM: return (place){stream, streams};
    case STREAM_FIELD:
        return (place){stream + IN_STREAM(fields) + m * sizeof(shoal_policy_field),
                       streams + 1 + m};
    case ANALYSIS: return (place){analysis, analyses};
    case BUDGET:
        return (place){analysis + IN_ANALYSIS(fields) + m * sizeof(shoal_policy_budget),
                       analyses + 1 + m};
    default: return (place){0, 0};
    }
}

static void put_defaults(shoal_policy *policy, uint32_t at_level, uint32_t n)
{
    uint8_t *at = (uint8_t *)policy + place_of(at_level, n, 0).offset;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level && fields[i].f.initial != 0)
            shoal_field_put(&fields[i].f, at, fields[i].f.initial);
}

void shoal_policy_init(shoal_policy *policy)
{
    memset(policy, 0, sizeof *policy);
    put_defaults(policy, TOP, 0);
}

// Adds the entry n (and m) where it is the next one.
// Returns: whether the entry exists.
static bool reach(shoal_policy *policy, uint32_t at_level, uint32_t n, uint32_t m)
{
    bool is_stream = at_level == STREAM || at_level == STREAM_FIELD;
    uint32_t *count = is_stream ? &policy->n_streams : &policy->n_analyses;
    uint32_t max = is_stream ? SHOAL_POLICY_STREAMS_MAX : SHOAL_POLICY_ANALYSES_MAX;
    if (at_level == TOP) return true;
    if (n > *count || n >= max) return false;
    if (n == *count) {
        (*count)++;
        put_defaults(policy, is_stream ? STREAM : ANALYSIS, n);
    }
    if (at_level == STREAM || at_level == ANALYSIS) return true;
    count = is_stream ? &policy->streams[n].n_fields : &policy->analyses[n].n_fields;
    if (m > *count || m >= SHOAL_POLICY_FIELDS_MAX) return false;
    if (m == *count) (*count)++;
    return true;
}

// Matches a path against a pattern in which N and M stand for one digit each.
// Returns: whether it matches; then index[] has the digits.
static bool matches(const char *pattern, const char *path, size_t len, uint32_t index[2])
{
    size_t i = 0;
    for (; i < len && pattern[i] != '\0'; i++) {
        bool is_index = pattern[i] == 'N' || pattern[i] == 'M';
        if (is_index ? path[i] < '0' || path[i] > '9' : path[i] != pattern[i]) return false;
        if (is_index) index[pattern[i] == 'M'] = (uint32_t)(path[i] - '0');
    }
    return i == len && pattern[i] == '\0';
}

// A member that a path leads to.
typedef struct target {
    const row *row; // NULL where the path leads nowhere; then `err` says why
    const shoal_field *f;
    uint8_t *at;
    uint64_t *seen;
    shoal_err err;
} target;

static uint64_t bit_of(const row *r)
{
    return (uint64_t)1 << (r - fields);
}

// Finds the field of a path and marks it as seen.
//   is_list: the caller adds an entry to a list, so the path may come again
static target take_field(shoal_policy *policy, const char *path, size_t len, bool is_list)
{
    uint32_t index[2] = {0, 0};
    target t = {NULL, NULL, NULL, NULL, SHOAL_OK};
    const row *r = fields;
    while (r < fields + N_FIELDS && !matches(r->f.path, path, len, index)) r++;
    if (r == fields + N_FIELDS) {
        t.err = shoal_policy_refuse(policy, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a field of a policy");
        return t;
    }
    t.f = &r->f;
    if (!reach(policy, r->level, index[0], index[1])) {
        t.err = shoal_policy_refuse(policy, t.f->path, SHOAL_ERR_RANGE,
                                    "is of one entry too many, or skips one");
        return t;
    }
    place p = place_of(r->level, index[0], index[1]);
    t.at = (uint8_t *)policy + p.offset;
    t.seen = policy->seen + p.seen;
    if (!is_list && *t.seen & bit_of(r)) {
        t.err = shoal_policy_refuse(policy, t.f->path, SHOAL_ERR_DUPLICATE, "is given twice");
        return t;
    }
    *t.seen |= bit_of(r);
    t.row = r;
    return t;
}

// ---- setting ----

static shoal_err answer(shoal_policy *policy, const shoal_field *f, shoal_err err, const char *why)
{
    return err == SHOAL_OK ? SHOAL_OK : shoal_policy_refuse(policy, f->path, err, why);
}

shoal_err shoal_policy_set_number(shoal_policy *policy, const char *path, size_t path_len,
                                  int64_t micro)
{
    const char *why;
    target t = take_field(policy, path, path_len, false);
    if (t.row == NULL) return t.err;
    shoal_err err = shoal_field_set_number(t.f, t.at, micro, &why);
    return answer(policy, t.f, err, why);
}

shoal_err shoal_policy_set_string(shoal_policy *policy, const char *path, size_t path_len,
                                  const char *text, size_t len)
{
    const char *why;
    target t = take_field(policy, path, path_len, false);
    if (t.row == NULL) return t.err;
    shoal_err err = shoal_field_set_string(t.f, t.at, text, len, &why);
    return answer(policy, t.f, err, why);
}

static shoal_err add_key(shoal_policy *policy, const char *text, size_t len, const char **why)
{
    uint8_t key[32];
    *why = SHOAL_SENTENCE("holds too many");
    if (policy->n_keys == SHOAL_POLICY_KEYS_MAX) return SHOAL_ERR_RANGE;
    shoal_err err = shoal_parse_bytes(key, text, len, why);
    if (err != SHOAL_OK) return err;
    *why = SHOAL_SENTENCE("holds one twice");
    for (uint32_t i = 0; i < policy->n_keys; i++)
        if (memcmp(policy->keys[i], key, sizeof key) == 0) return SHOAL_ERR_DUPLICATE;
    memcpy(policy->keys[policy->n_keys++], key, sizeof key);
    return SHOAL_OK;
}

static shoal_err add_mechanism(shoal_policy_analysis *analysis, const char *text, size_t len,
                               const char **why)
{
    const shoal_choice *c = shoal_find_choice(mechanisms, text, len);
    *why = SHOAL_SENTENCE("holds an unknown one");
    if (c == NULL) return SHOAL_ERR_MECHANISM;
    uint32_t bit = (uint32_t)1 << c->number;
    *why = SHOAL_SENTENCE("holds one twice");
    if (analysis->mechanisms & bit) return SHOAL_ERR_DUPLICATE;
    analysis->mechanisms |= bit;
    return SHOAL_OK;
}

static shoal_err add_split(shoal_policy_analysis *analysis, const char *text, size_t len,
                           const char **why)
{
    *why = SHOAL_SENTENCE("holds too many");
    if (analysis->n_splits == SHOAL_SPLIT_MAX) return SHOAL_ERR_RANGE;
    shoal_name *name = &analysis->splits[analysis->n_splits];
    shoal_err err = shoal_name_set(name, text, len, why);
    if (err != SHOAL_OK) return err;
    *why = SHOAL_SENTENCE("holds one twice");
    if (analysis->n_splits > 0 && shoal_name_equal(&analysis->splits[0], name))
        return SHOAL_ERR_DUPLICATE;
    analysis->n_splits++;
    return SHOAL_OK;
}

shoal_err shoal_policy_add_text(shoal_policy *policy, const char *path, size_t path_len,
                                const char *text, size_t len)
{
    const char *why = SHOAL_SENTENCE("is not a list");
    target t = take_field(policy, path, path_len, true);
    if (t.row == NULL) return t.err;
    shoal_policy_analysis *analysis =
        (shoal_policy_analysis *)(void *)t.at; // both lists belong to an analysis
    shoal_err err = SHOAL_ERR_TYPE;
    if (t.row->list == KEYS) err = add_key(policy, text, len, &why);
    if (t.row->list == MECHANISMS) err = add_mechanism(analysis, text, len, &why);
    if (t.row->list == SPLITS) err = add_split(analysis, text, len, &why);
    return answer(policy, t.f, err, why);
}

// ---- checks ----

shoal_err shoal_policy_check_missing(shoal_policy *policy, uint32_t at_level, uint32_t n,
                                     uint32_t m)
{
    uint64_t seen = policy->seen[place_of(at_level, n, m).seen];
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level && fields[i].f.is_always && !(seen & bit_of(&fields[i])))
            return shoal_policy_refuse(policy, fields[i].f.path, SHOAL_ERR_MISSING_FIELD,
                                       "is missing");
    return SHOAL_OK;
}

// ---- canonical bytes ----

static void put_member(shoal_canonical *w, const shoal_policy *policy, const row *r,
                       const uint8_t *at)
{
    uint16_t tag = (uint16_t)(r - fields + 1);
    uint8_t number[4];
    if (r->f.kind == FIELD_NAME) {
        const shoal_name *name = (const shoal_name *)(const void *)(at + r->f.offset);
        shoal_canonical_field(w, tag, name->bytes, name->len);
    } else if (r->list == KEYS) {
        shoal_canonical_field(w, tag, policy->keys, policy->n_keys * sizeof policy->keys[0]);
    } else if (r->list == SPLITS) {
        const shoal_policy_analysis *a = (const shoal_policy_analysis *)(const void *)at;
        size_t start = shoal_canonical_open(w, tag);
        for (uint32_t i = 0; i < a->n_splits; i++) shoal_canonical_name(w, &a->splits[i]);
        shoal_canonical_close(w, start);
    } else { // a number, or the mask of mechanisms
        store32_be(number, (uint32_t)shoal_field_get(&r->f, at));
        shoal_canonical_field(w, tag, number, sizeof number);
    }
}

// Opens an entry and writes its members. Returns: what closes it.
size_t shoal_policy_put_members(shoal_canonical *w, const shoal_policy *policy, uint32_t at_level,
                                uint32_t n, uint32_t m)
{
    const uint8_t *at = (const uint8_t *)policy + place_of(at_level, n, m).offset;
    size_t start = shoal_canonical_open(w, (uint16_t)(TAG_LEVEL + at_level));
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level) put_member(w, policy, &fields[i], at);
    return start;
}
