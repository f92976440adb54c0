// SPDX-License-Identifier: Apache-2.0
// The policy's field table and everything read off it: setting, checking, canonical bytes; see
// policy.h.
#include "policy.h"

#include "canonical.h"
#include "central.h"
#include "field_table.h"
#include "probability.h"
#include "sentence.h"
#include "sha256.h"

// Where a member lives: in the policy, a stream, a field of a stream, an analysis, a budgeted field
// of an analysis. Behind an entry come its fields.
enum level { TOP, STREAM, STREAM_FIELD, ANALYSIS, BUDGET };

static const shoal_choice types[] = {{"number", SHOAL_SCHEME_NUMBER},
                                     {"text", SHOAL_SCHEME_LIST},
                                     {"tokens", SHOAL_SCHEME_TOKENS},
                                     {"characters", SHOAL_SCHEME_CHARACTERS},
                                     {NULL, 0}};
static const shoal_choice compositions[] = {{"basic", SHOAL_COMPOSE_BASIC},
                                            {"advanced", SHOAL_COMPOSE_ADVANCED},
                                            {"renyi", SHOAL_COMPOSE_RENYI},
                                            {NULL, 0}};

// Every mechanism has a name here, carried by this build or not: a policy and its hash are the same
// everywhere.
static const shoal_choice mechanisms[] = {
#define SHOAL_MECHANISM(id, stem, name) {name, id},
#include "mechanisms.def"
#undef SHOAL_MECHANISM
#define SHOAL_COMPOUND(id, stem, name) {name, id},
#include "compounds.def"
#undef SHOAL_COMPOUND
    {NULL, 0}};

enum list { KEYS = 1, MECHANISMS, SPLITS }; // the last two of an analysis

typedef struct row {
    shoal_field f;       // N and M in its path stand for a digit; at: what its level says
    uint8_t level, list; // list: 0 where it is a scalar
} row;

#define IN(type, member) (uint16_t) offsetof(type, member)
#define IN_TOP(member) IN(shoal_policy, member)
#define IN_STREAM(member) IN(shoal_policy_stream, member)
#define IN_ANALYSIS(member) IN(shoal_policy_analysis, member)
#define EPS_MAX SHOAL_EPS_MICRO_MAX
#define REPORTS_MAX SHOAL_POLICY_REPORTS_MAX

// path, choices, min, max, initial, offset, kind, always; level, list. The row's number is the tag
// in the canonical bytes: rows are added at the end and never move.
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
#define TAG_LEVEL 64u // tag of an entry of a list of objects: this and its level

static shoal_err refuse(shoal_policy *policy, const char *path, shoal_err err, const char *text)
{
    policy->error_field = path;
    policy->error_text = SHOAL_SENTENCE(text);
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
    const row *row; // NULL: there is none, and `err` says why
    const shoal_field *f;
    uint8_t *at;
    uint64_t *seen;
    shoal_err err;
} target;

static uint64_t bit_of(const row *r)
{
    return (uint64_t)1 << (r - fields);
}

// The field of a path, marked as seen.
//   is_list: of a list, so that it may come again
static target take_field(shoal_policy *policy, const char *path, size_t len, int is_list)
{
    uint32_t index[2] = {0, 0};
    target t = {NULL, NULL, NULL, NULL, SHOAL_OK};
    const row *r = fields;
    while (r < fields + N_FIELDS && !matches(r->f.path, path, len, index)) r++;
    if (r == fields + N_FIELDS) {
        t.err = refuse(policy, NULL, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of a policy");
        return t;
    }
    t.f = &r->f;
    if (!reach(policy, r->level, index[0], index[1])) {
        t.err =
            refuse(policy, t.f->path, SHOAL_ERR_RANGE, "is of one entry too many, or skips one");
        return t;
    }
    place p = place_of(r->level, index[0], index[1]);
    t.at = (uint8_t *)policy + p.offset;
    t.seen = policy->seen + p.seen;
    if (!is_list && *t.seen & bit_of(r)) {
        t.err = refuse(policy, t.f->path, SHOAL_ERR_DUPLICATE, "is given twice");
        return t;
    }
    *t.seen |= bit_of(r);
    t.row = r;
    return t;
}

// ---- setting ----

static shoal_err answer(shoal_policy *policy, const shoal_field *f, shoal_err err, const char *why)
{
    return err == SHOAL_OK ? SHOAL_OK : refuse(policy, f->path, err, why);
}

shoal_err shoal_policy_set_number(shoal_policy *policy, const char *path, size_t path_len,
                                  int64_t micro)
{
    const char *why;
    target t = take_field(policy, path, path_len, 0);
    if (t.row == NULL) return t.err;
    shoal_err err = shoal_field_set_number(t.f, t.at, micro, &why);
    return answer(policy, t.f, err, why);
}

shoal_err shoal_policy_set_string(shoal_policy *policy, const char *path, size_t path_len,
                                  const char *text, size_t len)
{
    const char *why;
    target t = take_field(policy, path, path_len, 0);
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
    target t = take_field(policy, path, path_len, 1);
    if (t.row == NULL) return t.err;
    shoal_policy_analysis *analysis =
        (shoal_policy_analysis *)(void *)t.at; // of what is a list of one
    shoal_err err = SHOAL_ERR_TYPE;
    if (t.row->list == KEYS) err = add_key(policy, text, len, &why);
    if (t.row->list == MECHANISMS) err = add_mechanism(analysis, text, len, &why);
    if (t.row->list == SPLITS) err = add_split(analysis, text, len, &why);
    return answer(policy, t.f, err, why);
}

// ---- checks ----

static shoal_err check_missing(shoal_policy *policy, uint32_t at_level, uint32_t n, uint32_t m)
{
    uint64_t seen = policy->seen[place_of(at_level, n, m).seen];
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level && fields[i].f.is_always && !(seen & bit_of(&fields[i])))
            return refuse(policy, fields[i].f.path, SHOAL_ERR_MISSING_FIELD, "is missing");
    return SHOAL_OK;
}

// Names lie at the start of entries of `stride` bytes. Returns: the index of the name among the
// first n, or UINT32_MAX.
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
    if (s->n_fields == 0)
        return refuse(policy, "streams.N.fields", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t m = 0; m < s->n_fields; m++) {
        err = check_missing(policy, STREAM_FIELD, n, m);
        if (err != SHOAL_OK) return err;
        if (FIND(s->fields, m, &s->fields[m].field) != UINT32_MAX)
            return refuse(policy, "streams.N.fields.M.field", SHOAL_ERR_DUPLICATE,
                          "is given twice");
    }
    return SHOAL_OK;
}

static shoal_err check_budgets(shoal_policy *policy, uint32_t n, const shoal_policy_stream *s)
{
    static const char path[] = "analyses.N.fields.M.field";
    const shoal_policy_analysis *a = &policy->analyses[n];
    if (a->n_fields == 0)
        return refuse(policy, "analyses.N.fields", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t m = 0; m < a->n_fields; m++) {
        const shoal_name *name = &a->fields[m].field;
        shoal_err err = check_missing(policy, BUDGET, n, m);
        if (err != SHOAL_OK) return err;
        if (FIND(a->fields, m, name) != UINT32_MAX)
            return refuse(policy, path, SHOAL_ERR_DUPLICATE, "is given twice");
        if (FIND(s->fields, s->n_fields, name) == UINT32_MAX)
            return refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of the stream");
    }
    return SHOAL_OK;
}

static shoal_err check_splits(shoal_policy *policy, const shoal_policy_analysis *a,
                              const shoal_policy_stream *s)
{
    static const char path[] = "analyses.N.split_by";
    for (uint32_t i = 0; i < a->n_splits; i++) {
        uint32_t at = FIND(s->fields, s->n_fields, &a->splits[i]);
        if (at == UINT32_MAX)
            return refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not a field of the stream");
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
        return a->slack_exp == 0
                   ? SHOAL_OK
                   : refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not for basic");
    if (a->slack_exp == 0) return refuse(policy, path, SHOAL_ERR_MISSING_FIELD, "is missing");
    return a->slack_exp > a->delta_exp
               ? SHOAL_OK
               : refuse(policy, path, SHOAL_ERR_RANGE, "must be below delta");
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
        return refuse(policy, "analyses.N.stream", SHOAL_ERR_UNKNOWN_FIELD,
                      "is not a stream of the policy");
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
    for (uint32_t n = 0; err == SHOAL_OK && n < policy->n_streams; n++)
        err = check_stream(policy, n);
    if (err == SHOAL_OK && policy->n_analyses == 0)
        return refuse(policy, "analyses", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t n = 0; err == SHOAL_OK && n < policy->n_analyses; n++)
        err = check_analysis(policy, n);
    return err;
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
static size_t put_members(shoal_canonical *w, const shoal_policy *policy, uint32_t at_level,
                          uint32_t n, uint32_t m)
{
    const uint8_t *at = (const uint8_t *)policy + place_of(at_level, n, m).offset;
    size_t start = shoal_canonical_open(w, (uint16_t)(TAG_LEVEL + at_level));
    for (size_t i = 0; i < N_FIELDS; i++)
        if (fields[i].level == at_level) put_member(w, policy, &fields[i], at);
    return start;
}

// The canonical bytes come in pieces, so that hashing needs no room for all: title and top, each
// stream, each analysis.
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
    for (uint32_t m = 0; m < inner; m++)
        shoal_canonical_close(w, put_members(w, policy, at_level + 1, n, m));
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
