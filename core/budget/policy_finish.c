// SPDX-License-Identifier: Apache-2.0
// The checks of a whole policy, its canonical bytes and its hash; see policy.h.
#include "canonical.h"
#include "policy_fields.h"
#include "sha256.h"

// ---- checks ----

// Finds a name among n entries of `stride` bytes that begin with their names.
// Returns: its index, or UINT32_MAX.
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
    shoal_err err = shoal_policy_check_missing(policy, STREAM, n, 0);
    if (err != SHOAL_OK) return err;
    if (FIND(policy->streams, n, &s->stream) != UINT32_MAX)
        return shoal_policy_refuse(policy, "streams.N.stream", SHOAL_ERR_DUPLICATE,
                                   "is given twice");
    if (s->n_fields == 0)
        return shoal_policy_refuse(policy, "streams.N.fields", SHOAL_ERR_MISSING_FIELD,
                                   "is missing");
    for (uint32_t m = 0; m < s->n_fields; m++) {
        err = shoal_policy_check_missing(policy, STREAM_FIELD, n, m);
        if (err != SHOAL_OK) return err;
        if (FIND(s->fields, m, &s->fields[m].field) != UINT32_MAX)
            return shoal_policy_refuse(policy, "streams.N.fields.M.field", SHOAL_ERR_DUPLICATE,
                                       "is given twice");
    }
    return SHOAL_OK;
}

static shoal_err check_budgets(shoal_policy *policy, uint32_t n, const shoal_policy_stream *s)
{
    static const char path[] = "analyses.N.fields.M.field";
    const shoal_policy_analysis *a = &policy->analyses[n];
    if (a->n_fields == 0)
        return shoal_policy_refuse(policy, "analyses.N.fields", SHOAL_ERR_MISSING_FIELD,
                                   "is missing");
    for (uint32_t m = 0; m < a->n_fields; m++) {
        const shoal_name *name = &a->fields[m].field;
        shoal_err err = shoal_policy_check_missing(policy, BUDGET, n, m);
        if (err != SHOAL_OK) return err;
        if (FIND(a->fields, m, name) != UINT32_MAX)
            return shoal_policy_refuse(policy, path, SHOAL_ERR_DUPLICATE, "is given twice");
        if (FIND(s->fields, s->n_fields, name) == UINT32_MAX)
            return shoal_policy_refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD,
                                       "is not a field of the stream");
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
            return shoal_policy_refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD,
                                       "is not a field of the stream");
        if (s->fields[at].scheme != SHOAL_SCHEME_LIST)
            return shoal_policy_refuse(policy, path, SHOAL_ERR_RANGE, "must be of type text");
        if (shoal_policy_find_field(a, &a->splits[i]) != UINT32_MAX)
            return shoal_policy_refuse(policy, path, SHOAL_ERR_DUPLICATE,
                                       "and fields exclude each other");
    }
    return SHOAL_OK;
}

// The slack is a part of delta. It must be smaller, so that queries have some of delta left.
static shoal_err check_slack(shoal_policy *policy, const shoal_policy_analysis *a)
{
    static const char path[] = "analyses.N.budget.slack";
    if (a->composition == SHOAL_COMPOSE_BASIC)
        return a->slack_exp == 0
                   ? SHOAL_OK
                   : shoal_policy_refuse(policy, path, SHOAL_ERR_UNKNOWN_FIELD, "is not for basic");
    if (a->slack_exp == 0)
        return shoal_policy_refuse(policy, path, SHOAL_ERR_MISSING_FIELD, "is missing");
    return a->slack_exp > a->delta_exp
               ? SHOAL_OK
               : shoal_policy_refuse(policy, path, SHOAL_ERR_RANGE, "must be below delta");
}

static shoal_err check_analysis(shoal_policy *policy, uint32_t n)
{
    shoal_policy_analysis *a = &policy->analyses[n];
    shoal_err err = shoal_policy_check_missing(policy, ANALYSIS, n, 0);
    if (err != SHOAL_OK) return err;
    if (FIND(policy->analyses, n, &a->analysis) != UINT32_MAX)
        return shoal_policy_refuse(policy, "analyses.N.analysis", SHOAL_ERR_DUPLICATE,
                                   "is given twice");
    a->stream_index = FIND(policy->streams, policy->n_streams, &a->stream);
    if (a->stream_index == UINT32_MAX)
        return shoal_policy_refuse(policy, "analyses.N.stream", SHOAL_ERR_UNKNOWN_FIELD,
                                   "is not a stream of the policy");
    const shoal_policy_stream *s = &policy->streams[a->stream_index];
    err = check_slack(policy, a);
    if (err == SHOAL_OK) err = check_budgets(policy, n, s);
    return err == SHOAL_OK ? check_splits(policy, a, s) : err;
}

static shoal_err check_all(shoal_policy *policy)
{
    shoal_err err = shoal_policy_check_missing(policy, TOP, 0, 0);
    if (err == SHOAL_OK && policy->n_streams == 0)
        return shoal_policy_refuse(policy, "streams", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t n = 0; err == SHOAL_OK && n < policy->n_streams; n++)
        err = check_stream(policy, n);
    if (err == SHOAL_OK && policy->n_analyses == 0)
        return shoal_policy_refuse(policy, "analyses", SHOAL_ERR_MISSING_FIELD, "is missing");
    for (uint32_t n = 0; err == SHOAL_OK && n < policy->n_analyses; n++)
        err = check_analysis(policy, n);
    return err;
}

// ---- canonical bytes ----

void shoal_policy_put_piece(shoal_canonical *w, const shoal_policy *policy, uint32_t piece)
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
    size_t start = shoal_policy_put_members(w, policy, at_level, n, 0);
    for (uint32_t m = 0; m < inner; m++)
        shoal_canonical_close(w, shoal_policy_put_members(w, policy, at_level + 1, n, m));
    shoal_canonical_close(w, start);
}
#define PIECE_MAX 2048u // bytes of the longest piece

uint32_t shoal_policy_count_pieces(const shoal_policy *policy)
{
    return 1 + policy->n_streams + policy->n_analyses;
}

shoal_err shoal_policy_finish(shoal_policy *policy)
{
    uint8_t bytes[PIECE_MAX];
    shoal_sha256 sha;
    if (policy->error_text != NULL) return SHOAL_ERR_ARGUMENT;
    shoal_err err = check_all(policy);
    if (err != SHOAL_OK) return err;
    shoal_sha256_init(&sha);
    for (uint32_t i = 0; i < shoal_policy_count_pieces(policy); i++) {
        shoal_canonical w = {bytes, sizeof bytes, 0, 0};
        shoal_policy_put_piece(&w, policy, i);
        if (w.is_full) return SHOAL_ERR_SPACE;
        shoal_sha256_update(&sha, bytes, w.len);
    }
    shoal_sha256_final(policy->policy_hash, &sha);
    policy->is_finished = true;
    return SHOAL_OK;
}
