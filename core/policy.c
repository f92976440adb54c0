// SPDX-License-Identifier: Apache-2.0
// The policy's field table and everything read off it: setting, checking, canonical bytes; see policy.h.
#include "policy.h"

#include "canonical.h"
#include "field_text.h"
#include "probability.h"

// Where a member lives: in the policy, a stream, a field of a stream, an analysis, a budgeted field of an analysis. Behind an entry come
// its fields.
enum level { TOP, STREAM, STREAM_FIELD, ANALYSIS, BUDGET };

typedef enum kind {
    NAME,       // shoal_name
    INTEGER,    // uint32_t, a whole number
    MICRO,      // uint32_t, micro-units
    CHOICE,     // uint32_t, one of `choices`
    DELTA,      // uint32_t K of "1e-K"
    KEYS,       // list of Ed25519 public keys
    MECHANISMS, // uint32_t, list of names, bit id of each
    SPLITS      // list of names
} kind;

typedef struct choice {
    const char *name;
    uint32_t number;
} choice;

static const choice types[] = {
    {"number", SHOAL_SCHEME_NUMBER}, {"text", SHOAL_SCHEME_LIST}, {"tokens", SHOAL_SCHEME_TOKENS}, {NULL, 0}};
static const choice compositions[] = {
    {"basic", SHOAL_COMPOSE_BASIC}, {"advanced", SHOAL_COMPOSE_ADVANCED}, {"renyi", SHOAL_COMPOSE_RENYI}, {NULL, 0}};

// Every mechanism has a name here, carried by this build or not: a policy and its hash are the same everywhere.
static const choice mechanisms[] = {
#define SHOAL_MECHANISM(id, stem, name) {name, id},
#include "mechanisms.def"
#undef SHOAL_MECHANISM
    {NULL, 0}};

typedef struct row {
    const char *path; // N and M stand for a digit
    uint8_t level, kind, is_always;
    uint16_t offset; // in what its level says
    uint32_t min, max, initial;
    const choice *choices;
} row;

#define IN(type, member) (uint16_t) offsetof(type, member)
#define IN_TOP(member) IN(shoal_policy, member)
#define IN_STREAM(member) IN(shoal_policy_stream, member)
#define IN_ANALYSIS(member) IN(shoal_policy_analysis, member)
#define EPS_MAX SHOAL_EPS_MICRO_MAX
#define REPORTS_MAX SHOAL_POLICY_REPORTS_MAX

// path, level, kind, always, offset, min, max, initial, choices. The row's number is the tag in the canonical bytes: rows are added at
// the end and never move.
static const row fields[] = {
    {"policy", TOP, NAME, 1, IN_TOP(policy), 0, 0, 0, NULL},
    {"keys", TOP, KEYS, 1, 0, 0, 0, 0, NULL},
    {"fresh_days", TOP, INTEGER, 0, IN_TOP(fresh_days), 1, 365, 1, NULL},
    {"streams.N.stream", STREAM, NAME, 1, IN_STREAM(stream), 0, 0, 0, NULL},
    {"streams.N.retention_days", STREAM, INTEGER, 1, IN_STREAM(retention_days), 1, 400, 0, NULL},
    {"streams.N.fields.M.field", STREAM_FIELD, NAME, 1, IN(shoal_policy_field, field), 0, 0, 0, NULL},
    {"streams.N.fields.M.type", STREAM_FIELD, CHOICE, 1, IN(shoal_policy_field, scheme), 0, 0, 0, types},
    {"analyses.N.analysis", ANALYSIS, NAME, 1, IN_ANALYSIS(analysis), 0, 0, 0, NULL},
    {"analyses.N.stream", ANALYSIS, NAME, 1, IN_ANALYSIS(stream), 0, 0, 0, NULL},
    {"analyses.N.version", ANALYSIS, INTEGER, 0, IN_ANALYSIS(version), 1, 1000000, 1, NULL},
    {"analyses.N.mechanisms", ANALYSIS, MECHANISMS, 1, IN_ANALYSIS(mechanisms), 0, 0, 0, mechanisms},
    {"analyses.N.query.fields", ANALYSIS, INTEGER, 0, IN_ANALYSIS(query_fields), 1, SHOAL_ENCODED_MAX, 1, NULL},
    {"analyses.N.query.size", ANALYSIS, INTEGER, 0, IN_ANALYSIS(query_size), 2, SHOAL_DOMAIN_SIZE_MAX, 65536, NULL},
    {"analyses.N.budget.epsilon", ANALYSIS, MICRO, 1, IN_ANALYSIS(budget.eps_micro), 1, EPS_MAX, 0, NULL},
    {"analyses.N.budget.delta", ANALYSIS, DELTA, 1, IN_ANALYSIS(delta_exp), 0, 0, 0, NULL},
    {"analyses.N.budget.reports", ANALYSIS, INTEGER, 1, IN_ANALYSIS(budget.reports), 1, REPORTS_MAX, 0, NULL},
    {"analyses.N.budget.composition", ANALYSIS, CHOICE, 0, IN_ANALYSIS(composition), 0, 0, 0, compositions},
    {"analyses.N.budget.slack", ANALYSIS, DELTA, 0, IN_ANALYSIS(slack_exp), 0, 0, 0, NULL},
    {"analyses.N.cohort.minimum", ANALYSIS, INTEGER, 0, IN_ANALYSIS(cohort_minimum), 1, 1000000000, 1000, NULL},
    {"analyses.N.cohort.honest", ANALYSIS, MICRO, 0, IN_ANALYSIS(honest_micro), 1, 1000000, 1000000, NULL},
    {"analyses.N.split_by", ANALYSIS, SPLITS, 0, 0, 0, 0, 0, NULL},
    {"analyses.N.fields.M.field", BUDGET, NAME, 1, IN(shoal_policy_budget, field), 0, 0, 0, NULL},
    {"analyses.N.fields.M.local_epsilon", BUDGET, MICRO, 1, IN(shoal_policy_budget, local_eps_micro), 1, EPS_MAX, 0,
     NULL},
    {"analyses.N.fields.M.epsilon", BUDGET, MICRO, 1, IN(shoal_policy_budget, eps_micro), 1, EPS_MAX, 0, NULL},
    {"analyses.N.fields.M.reports", BUDGET, INTEGER, 1, IN(shoal_policy_budget, reports), 1, REPORTS_MAX, 0, NULL},
};
#define N_FIELDS (sizeof fields / sizeof fields[0])
#define TAG_LEVEL 64u // tag of an entry of a list of objects: this and its level

static shoal_err refuse(shoal_policy *policy, const char *path, shoal_err err, const char *text)
{
    policy->error_field = path;
    policy->error_text = text;
    policy->is_finished = 0;
    return err;
}

// ---- places ----

// An entry of a list of objects, as its offset in the policy, and which of its members were given.
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
    case STREAM_FIELD: return (place){stream + IN_STREAM(fields) + m * sizeof(shoal_policy_field), streams + 1 + m};
    case ANALYSIS: return (place){analysis, analyses};
    case BUDGET: return (place){analysis + IN_ANALYSIS(fields) + m * sizeof(shoal_policy_budget), analyses + 1 + m};
    default: return (place){0, 0};
    }
}

static void put_number(uint8_t *at, const row *f, uint32_t number)
{
    memcpy(at + f->offset, &number, sizeof number);
}

static uint32_t get_number(const uint8_t *at, const row *f)
{
    uint32_t number;
    memcpy(&number, at + f->offset, sizeof number);
    return number;
}

static void put_defaults(shoal_policy *policy, uint32_t at_level, uint32_t n)
{
    uint8_t *at = (uint8_t *)policy + place_of(at_level, n, 0).offset;
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level && fields[i].initial != 0) put_number(at, &fields[i], fields[i].initial);
}

void shoal_policy_init(shoal_policy *policy)
{
    memset(policy, 0, sizeof *policy);
    put_defaults(policy, TOP, 0);
}

// Makes room for the index-th entry where it is the next one.
static int reach(shoal_policy *policy, uint32_t at_level, uint32_t n, uint32_t m)
{
    int is_stream = at_level == STREAM || at_level == STREAM_FIELD;
    uint32_t *count = is_stream ? &policy->n_streams : &policy->n_analyses;
    uint32_t max = is_stream ? SHOAL_POLICY_STREAMS_MAX : SHOAL_POLICY_ANALYSES_MAX;
    if (at_level == TOP) return 1;
    if (n > *count || n >= max) return 0;
    if (n == *count) {
        (*count)++;
        put_defaults(policy, is_stream ? STREAM : ANALYSIS, n);
    }
    if (at_level == STREAM || at_level == ANALYSIS) return 1;
    count = is_stream ? &policy->streams[n].n_fields : &policy->analyses[n].n_fields;
    if (m > *count || m >= SHOAL_POLICY_FIELDS_MAX) return 0;
    if (m == *count) (*count)++;
    return 1;
}

// Whether the path is the pattern with a digit for N and one for M, and which ones.
static int matches(const char *pattern, const char *path, size_t len, uint32_t index[2])
{
    size_t i = 0;
    for (; i < len && pattern[i] != '\0'; i++) {
        int is_index = pattern[i] == 'N' || pattern[i] == 'M';
        if (is_index ? path[i] < '0' || path[i] > '9' : path[i] != pattern[i]) return 0;
        if (is_index) index[pattern[i] == 'M'] = (uint32_t)(path[i] - '0');
    }
    return i == len && pattern[i] == '\0';
}

// Where a member was found.
typedef struct target {
    const row *f; // NULL: there is none, and `err` says why
    uint8_t *at;
    uint64_t *seen;
    shoal_err err;
} target;

static uint64_t bit_of(const row *f)
{
    return (uint64_t)1 << (f - fields);
}

// The field of a path, marked as seen.
//   is_list: of a list, so that it may come again
static target take_field(shoal_policy *policy, const char *path, size_t len, int is_list)
{
    uint32_t index[2] = {0, 0};
    target t = {NULL, NULL, NULL, SHOAL_OK};
    const row *f = fields;
    while (f < fields + N_FIELDS && !matches(f->path, path, len, index)) f++;
    if (f == fields + N_FIELDS) {
        t.err = refuse(policy, NULL, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of a policy");
        return t;
    }
    if (!reach(policy, f->level, index[0], index[1])) {
        t.err = refuse(policy, f->path, SHOAL_ERR_RANGE, "is of one entry too many, or skips one");
        return t;
    }
    place p = place_of(f->level, index[0], index[1]);
    t.at = (uint8_t *)policy + p.offset;
    t.seen = policy->seen + p.seen;
    if (!is_list && *t.seen & bit_of(f)) {
        t.err = refuse(policy, f->path, SHOAL_ERR_DUPLICATE, "is given twice");
        return t;
    }
    *t.seen |= bit_of(f);
    t.f = f;
    return t;
}

// ---- setting ----

shoal_err shoal_policy_set_number(shoal_policy *policy, const char *path, size_t path_len, int64_t micro)
{
    target t = take_field(policy, path, path_len, 0);
    const row *f = t.f;
    if (f == NULL) return t.err;
    if (f->kind != INTEGER && f->kind != MICRO)
        return refuse(policy, f->path, SHOAL_ERR_TYPE, f->kind >= KEYS ? "must be a list" : "must be a string");
    if (f->kind == INTEGER && micro % 1000000 != 0)
        return refuse(policy, f->path, SHOAL_ERR_TYPE, "must be a whole number");
    int64_t number = f->kind == INTEGER ? micro / 1000000 : micro;
    if (number < (int64_t)f->min || number > (int64_t)f->max)
        return refuse(policy, f->path, SHOAL_ERR_RANGE, "is outside its range");
    put_number(t.at, f, (uint32_t)number);
    return SHOAL_OK;
}

static const choice *find_choice(const row *f, const char *text, size_t len)
{
    const choice *c = f->choices;
    while (c->name != NULL && !shoal_text_equal(c->name, text, len)) c++;
    return c->name != NULL ? c : NULL;
}

static shoal_err set_name(shoal_policy *policy, const row *f, shoal_name *name, const char *text, size_t len)
{
    const char *why;
    shoal_err err = shoal_name_set(name, text, len, &why);
    return err == SHOAL_OK ? SHOAL_OK : refuse(policy, f->path, err, why);
}

static shoal_err set_delta(shoal_policy *policy, const row *f, uint8_t *at, const char *text, size_t len)
{
    uint32_t exponent = 0;
    const char *digits = text + 3;
    if (len < 4 || len > 5 || memcmp(text, "1e-", 3) != 0 || text[3] == '0' ||
        shoal_parse_decimal(&exponent, &digits, (uint32_t)len - 3, 100) != SHOAL_OK)
        return refuse(policy, f->path, SHOAL_ERR_TYPE, "must be written 1e-K");
    if (exponent < 3 || exponent > 15) return refuse(policy, f->path, SHOAL_ERR_RANGE, "must be 1e-3 to 1e-15");
    put_number(at, f, exponent);
    return SHOAL_OK;
}

shoal_err shoal_policy_set_string(shoal_policy *policy, const char *path, size_t path_len, const char *text, size_t len)
{
    target t = take_field(policy, path, path_len, 0);
    const row *f = t.f;
    if (f == NULL) return t.err;
    if (f->kind == NAME) return set_name(policy, f, (shoal_name *)(void *)(t.at + f->offset), text, len);
    if (f->kind == DELTA) return set_delta(policy, f, t.at, text, len);
    if (f->kind != CHOICE)
        return refuse(policy, f->path, SHOAL_ERR_TYPE, f->kind >= KEYS ? "must be a list" : "must be a number");
    const choice *c = find_choice(f, text, len);
    if (c == NULL) return refuse(policy, f->path, SHOAL_ERR_TYPE, "is none of the known names");
    put_number(t.at, f, c->number);
    return SHOAL_OK;
}

static shoal_err add_key(shoal_policy *policy, const row *f, const char *text, size_t len)
{
    uint8_t key[32], any = 0;
    if (policy->n_keys == SHOAL_POLICY_KEYS_MAX) return refuse(policy, f->path, SHOAL_ERR_RANGE, "holds too many");
    if (len != 64 || shoal_parse_hex(key, sizeof key, &text) != SHOAL_OK)
        return refuse(policy, f->path, SHOAL_ERR_TYPE, "must be 64 lower-case hex digits");
    for (size_t i = 0; i < sizeof key; i++) any |= key[i];
    if (any == 0) return refuse(policy, f->path, SHOAL_ERR_RANGE, "must not be all zeros");
    for (uint32_t i = 0; i < policy->n_keys; i++)
        if (memcmp(policy->keys[i], key, sizeof key) == 0)
            return refuse(policy, f->path, SHOAL_ERR_DUPLICATE, "holds one twice");
    memcpy(policy->keys[policy->n_keys++], key, sizeof key);
    return SHOAL_OK;
}

static shoal_err add_mechanism(shoal_policy *policy, const row *f, uint8_t *at, const char *text, size_t len)
{
    const choice *c = find_choice(f, text, len);
    if (c == NULL) return refuse(policy, f->path, SHOAL_ERR_MECHANISM, "holds an unknown one");
    uint32_t mask = get_number(at, f), bit = (uint32_t)1 << c->number;
    if (mask & bit) return refuse(policy, f->path, SHOAL_ERR_DUPLICATE, "holds one twice");
    put_number(at, f, mask | bit);
    return SHOAL_OK;
}

static shoal_err add_split(shoal_policy *policy, const row *f, shoal_policy_analysis *analysis, const char *text,
                           size_t len)
{
    if (analysis->n_splits == SHOAL_SPLIT_MAX) return refuse(policy, f->path, SHOAL_ERR_RANGE, "holds too many");
    shoal_name *name = &analysis->splits[analysis->n_splits];
    shoal_err err = set_name(policy, f, name, text, len);
    if (err != SHOAL_OK) return err;
    if (analysis->n_splits > 0 && shoal_name_equal(&analysis->splits[0], name))
        return refuse(policy, f->path, SHOAL_ERR_DUPLICATE, "holds one twice");
    analysis->n_splits++;
    return SHOAL_OK;
}

shoal_err shoal_policy_add_text(shoal_policy *policy, const char *path, size_t path_len, const char *text, size_t len)
{
    target t = take_field(policy, path, path_len, 1);
    const row *f = t.f;
    if (f == NULL) return t.err;
    if (f->kind == KEYS) return add_key(policy, f, text, len);
    if (f->kind == MECHANISMS) return add_mechanism(policy, f, t.at, text, len);
    if (f->kind == SPLITS) return add_split(policy, f, (shoal_policy_analysis *)(void *)t.at, text, len);
    return refuse(policy, f->path, SHOAL_ERR_TYPE, "is not a list");
}

// ---- checks ----

static shoal_err check_missing(shoal_policy *policy, uint32_t at_level, uint32_t n, uint32_t m)
{
    uint64_t seen = policy->seen[place_of(at_level, n, m).seen];
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level && fields[i].is_always && !(seen & bit_of(&fields[i])))
            return refuse(policy, fields[i].path, SHOAL_ERR_MISSING_FIELD, "is missing");
    return SHOAL_OK;
}

// Names lie at the start of entries of `stride` bytes. Returns: the index of the name among the first n, or UINT32_MAX.
static uint32_t find_name(const void *entries, size_t stride, uint32_t n, const shoal_name *name)
{
    const uint8_t *at = entries;
    for (uint32_t i = 0; i < n; i++, at += stride)
        if (shoal_name_equal((const shoal_name *)(const void *)at, name)) return i;
    return UINT32_MAX;
}
#define FIND(entries, n, name) find_name(entries, sizeof *(entries), n, name)

uint32_t shoal_policy_find_analysis(const shoal_policy *policy, const shoal_name *analysis)
{
    return FIND(policy->analyses, policy->n_analyses, analysis);
}

uint32_t shoal_policy_find_field(const shoal_policy_analysis *analysis, const shoal_name *field)
{
    const shoal_policy_budget *budgets = analysis->fields;
    return FIND(budgets, analysis->n_fields, field);
}

static shoal_err check_stream(shoal_policy *policy, uint32_t n)
{
    const shoal_policy_stream *s = &policy->streams[n];
    shoal_err err = check_missing(policy, STREAM, n, 0);
    if (err != SHOAL_OK) return err;
    if (FIND(policy->streams, n, &s->stream) != UINT32_MAX)
        return refuse(policy, "streams.N.stream", SHOAL_ERR_DUPLICATE, "is given twice");
    if (s->n_fields == 0) return refuse(policy, "streams.N.fields", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t m = 0; m < s->n_fields; m++) {
        err = check_missing(policy, STREAM_FIELD, n, m);
        if (err != SHOAL_OK) return err;
        if (FIND(s->fields, m, &s->fields[m].field) != UINT32_MAX)
            return refuse(policy, "streams.N.fields.M.field", SHOAL_ERR_DUPLICATE, "is given twice");
    }
    return SHOAL_OK;
}

static shoal_err check_budgets(shoal_policy *policy, uint32_t n, const shoal_policy_stream *s)
{
    static const char path[] = "analyses.N.fields.M.field";
    const shoal_policy_analysis *a = &policy->analyses[n];
    if (a->n_fields == 0) return refuse(policy, "analyses.N.fields", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t m = 0; m < a->n_fields; m++) {
        const shoal_name *name = &a->fields[m].field;
        shoal_err err = check_missing(policy, BUDGET, n, m);
        if (err != SHOAL_OK) return err;
        if (FIND(a->fields, m, name) != UINT32_MAX) return refuse(policy, path, SHOAL_ERR_DUPLICATE, "is given twice");
        if (FIND(s->fields, s->n_fields, name) == UINT32_MAX)
            return refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of the stream");
    }
    return SHOAL_OK;
}

static shoal_err check_splits(shoal_policy *policy, const shoal_policy_analysis *a, const shoal_policy_stream *s)
{
    static const char path[] = "analyses.N.split_by";
    for (uint32_t i = 0; i < a->n_splits; i++) {
        uint32_t at = FIND(s->fields, s->n_fields, &a->splits[i]);
        if (at == UINT32_MAX) return refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of the stream");
        if (s->fields[at].scheme != SHOAL_SCHEME_LIST)
            return refuse(policy, path, SHOAL_ERR_RANGE, "must be of type text");
        if (shoal_policy_find_field(a, &a->splits[i]) != UINT32_MAX)
            return refuse(policy, path, SHOAL_ERR_DUPLICATE, "and fields exclude each other");
    }
    return SHOAL_OK;
}

// Slack is a part of delta, and something must be left of it for queries.
static shoal_err check_slack(shoal_policy *policy, const shoal_policy_analysis *a)
{
    static const char path[] = "analyses.N.budget.slack";
    if (a->composition == SHOAL_COMPOSE_BASIC)
        return a->slack_exp == 0 ? SHOAL_OK : refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not for basic");
    if (a->slack_exp == 0) return refuse(policy, path, SHOAL_ERR_MISSING_FIELD, "is missing");
    return a->slack_exp > a->delta_exp ? SHOAL_OK : refuse(policy, path, SHOAL_ERR_RANGE, "must be below delta");
}

static shoal_err check_analysis(shoal_policy *policy, uint32_t n)
{
    shoal_policy_analysis *a = &policy->analyses[n];
    shoal_err err = check_missing(policy, ANALYSIS, n, 0);
    if (err != SHOAL_OK) return err;
    if (FIND(policy->analyses, n, &a->analysis) != UINT32_MAX)
        return refuse(policy, "analyses.N.analysis", SHOAL_ERR_DUPLICATE, "is given twice");
    a->stream_index = FIND(policy->streams, policy->n_streams, &a->stream);
    if (a->stream_index == UINT32_MAX)
        return refuse(policy, "analyses.N.stream", SHOAL_ERR_UNKNOWN_FIELD, "is not a stream of the policy");
    const shoal_policy_stream *s = &policy->streams[a->stream_index];
    err = check_slack(policy, a);
    if (err == SHOAL_OK) err = check_budgets(policy, n, s);
    return err == SHOAL_OK ? check_splits(policy, a, s) : err;
}

static shoal_err check_all(shoal_policy *policy)
{
    shoal_err err = check_missing(policy, TOP, 0, 0);
    if (err == SHOAL_OK && policy->n_streams == 0)
        return refuse(policy, "streams", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t n = 0; err == SHOAL_OK && n < policy->n_streams; n++) err = check_stream(policy, n);
    if (err == SHOAL_OK && policy->n_analyses == 0)
        return refuse(policy, "analyses", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t n = 0; err == SHOAL_OK && n < policy->n_analyses; n++) err = check_analysis(policy, n);
    return err;
}

// ---- canonical bytes ----

static void put_member(shoal_canonical *w, const shoal_policy *policy, const row *f, const uint8_t *at)
{
    uint16_t tag = (uint16_t)(f - fields + 1);
    uint8_t number[4];
    if (f->kind == NAME) {
        const shoal_name *name = (const shoal_name *)(const void *)(at + f->offset);
        shoal_canonical_field(w, tag, name->bytes, name->len);
    } else if (f->kind == KEYS) {
        shoal_canonical_field(w, tag, policy->keys, policy->n_keys * sizeof policy->keys[0]);
    } else if (f->kind == SPLITS) {
        const shoal_policy_analysis *a = (const shoal_policy_analysis *)(const void *)at;
        size_t start = shoal_canonical_open(w, tag);
        for (uint32_t i = 0; i < a->n_splits; i++) shoal_canonical_name(w, &a->splits[i]);
        shoal_canonical_close(w, start);
    } else {
        store32_be(number, get_number(at, f));
        shoal_canonical_field(w, tag, number, sizeof number);
    }
}

// Opens an entry and writes its members. Returns: what closes it.
static size_t put_members(shoal_canonical *w, const shoal_policy *policy, uint32_t at_level, uint32_t n, uint32_t m)
{
    const uint8_t *at = (const uint8_t *)policy + place_of(at_level, n, m).offset;
    size_t start = shoal_canonical_open(w, (uint16_t)(TAG_LEVEL + at_level));
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level) put_member(w, policy, &fields[i], at);
    return start;
}

// The canonical bytes come in pieces, so that hashing needs no room for all: title and top, each stream, each analysis.
static void put_piece(shoal_canonical *w, const shoal_policy *policy, uint32_t piece)
{
    static const char title[] = "shoal policy 1\n";
    uint32_t at_level = TOP, n = piece - 1, inner = 0;
    if (piece == 0) {
        shoal_canonical_put(w, title, sizeof title - 1);
        n = 0;
    } else if (n < policy->n_streams) {
        at_level = STREAM;
        inner = policy->streams[n].n_fields;
    } else {
        at_level = ANALYSIS;
        n -= policy->n_streams;
        inner = policy->analyses[n].n_fields;
    }
    size_t start = put_members(w, policy, at_level, n, 0);
    for (uint32_t m = 0; m < inner; m++) shoal_canonical_close(w, put_members(w, policy, at_level + 1, n, m));
    shoal_canonical_close(w, start);
}
#define PIECE_MAX 2048u // bytes of one

static uint32_t count_pieces(const shoal_policy *policy)
{
    return 1 + policy->n_streams + policy->n_analyses;
}

shoal_err shoal_policy_canonical(uint8_t *out, size_t cap, size_t *len, const shoal_policy *policy)
{
    shoal_canonical w = {out, cap, 0, 0};
    if (!policy->is_finished) return SHOAL_ERR_ARGUMENT;
    for (uint32_t i = 0; i < count_pieces(policy); i++) put_piece(&w, policy, i);
    if (w.is_full) return SHOAL_ERR_SPACE;
    *len = w.len;
    return SHOAL_OK;
}

shoal_err shoal_policy_finish(shoal_policy *policy)
{
    uint8_t bytes[PIECE_MAX];
    shoal_sha256 sha;
    if (policy->error_text != NULL) return SHOAL_ERR_ARGUMENT;
    shoal_err err = check_all(policy);
    if (err != SHOAL_OK) return err;
    shoal_sha256_init(&sha);
    for (uint32_t i = 0; i < count_pieces(policy); i++) {
        shoal_canonical w = {bytes, sizeof bytes, 0, 0};
        put_piece(&w, policy, i);
        if (w.is_full) return SHOAL_ERR_SPACE;
        shoal_sha256_update(&sha, bytes, w.len);
    }
    shoal_sha256_final(policy->policy_hash, &sha);
    policy->is_finished = 1;
    return SHOAL_OK;
}
