// SPDX-License-Identifier: Apache-2.0
// A policy is a site's permanent promise about the queries that its pages answer. Devices hold it,
// and no server changes it.
//
// A host passes the JSON like a recipe's (builder.h): every scalar under its dotted path, numbers
// in micro-units, entries of lists by add_text. N and M count from 0, in order. The number before a
// path is its tag in the canonical bytes.
//
//      1 policy                            name
//      2 keys (list)                       Ed25519 public keys that may sign queries, 64 lower-case
//                                          hex digits each; 1 to 4
//      3 fresh_days                        a device with younger storage answers nothing; 1 .. 365,
//                                          default 1
//      4 streams.N.stream                  name; 1 to 4 streams
//      5 streams.N.retention_days          older events are erased; 1 .. 400
//      6 streams.N.fields.M.field          name; 1 to 8 fields
//      7 streams.N.fields.M.type           "number", "text", "tokens" or "characters": it may be
//                                          encoded by boundaries, values, prefixes or starts
//      8 analyses.N.analysis               name; 1 to 8 analyses
//      9 analyses.N.stream                 the one stream that it reads
//     10 analyses.N.version                queries of a lower version are refused; 1 .. 1,000,000,
//                                          default 1
//     11 analyses.N.mechanisms (list)      names of mechanisms.def; 1 or more
//     12 analyses.N.query.fields           largest number of fields of one query; 1 .. 4, default 1
//     13 analyses.N.query.size             largest number of cells; 2 .. 2^24, default 65,536
//     14 analyses.N.budget.epsilon         Table 1a: cohort-aggregate epsilon of all its queries
//                                          together
//     15 analyses.N.budget.delta           "1e-K": their delta
//     16 analyses.N.budget.reports         Table 1a: reports of one device; 1 .. 65,535
//     17 analyses.N.budget.composition     "basic" (default), "advanced", "renyi"; see accountant.h
//     18 analyses.N.budget.slack           "1e-K", delta of the composition itself, part of
//                                          budget.delta and below it; needed by "advanced" and
//                                          "renyi"
//     19 analyses.N.cohort.minimum         smallest cohort that a query may ask for; 1 .. 10^9,
//                                          default 1000
//     20 analyses.N.cohort.honest          share of a cohort that is taken to be honest;
//                                          0.000001 .. 1, default 1
//     21 analyses.N.split_by (list)        fields of the stream, of type "text", approved as not
//                                          sensitive: 0 to 2
//     22 analyses.N.fields.M.field         Table 1b: a field of the stream that queries may read;
//                                          1 to 8
//     23 analyses.N.fields.M.local_epsilon largest epsilon of one report
//     24 analyses.N.fields.M.epsilon       cohort-aggregate epsilon of all queries that read it
//     25 analyses.N.fields.M.reports       reports that read it; 1 .. 65,535
//
// Every epsilon is in 0.000001 .. 16. Every path without a default is required, except slack and
// split_by. Mechanisms are known by name, whether the build carries them or not.
//
// The canonical bytes are "shoal policy 1\n" and then fields of a tag (u16), a length (u32) and a
// value, integers big-endian. They hold every member with its value or default, in the order above.
// An entry of a list of objects is a field around its members, with tag 64 (the policy itself), 65
// (stream), 66 (its field), 67 (analysis) or 68 (its budgeted field). Numbers are 4 bytes
// (micro-units for epsilon and honest, K for 1e-K), mechanisms a mask of bit id, keys their 32
// bytes each, names of split_by prefixed by their length (1 byte). The policy's hash is the SHA-256
// of these bytes, and a query names it in `policy`.
// Source: apple-2022 sections 4 to 4.3, Tables 1a and 1b.
#ifndef SHOAL_POLICY_H
#define SHOAL_POLICY_H

#include <stdbool.h>

#include "name.h"
#include "recipe_ref.h"

#define SHOAL_POLICY_KEYS_MAX 4u
#define SHOAL_POLICY_STREAMS_MAX 4u
#define SHOAL_POLICY_ANALYSES_MAX 8u
#define SHOAL_POLICY_FIELDS_MAX 8u
#define SHOAL_POLICY_CANONICAL_MAX 16384 // bytes
#define SHOAL_POLICY_REPORTS_MAX 65535u

enum shoal_composition {
    SHOAL_COMPOSE_BASIC = 0,
    SHOAL_COMPOSE_ADVANCED = 1,
    SHOAL_COMPOSE_RENYI = 2
};

typedef struct shoal_policy_field {
    shoal_name field;
    uint32_t scheme; // enum shoal_scheme, by its type
} shoal_policy_field;

typedef struct shoal_policy_stream {
    shoal_name stream;
    uint32_t retention_days;
    uint32_t n_fields;
    shoal_policy_field fields[SHOAL_POLICY_FIELDS_MAX];
} shoal_policy_stream;

typedef struct shoal_policy_budget {
    shoal_name field;         // unused in the analysis's own
    uint32_t local_eps_micro; // unused in the analysis's own
    uint32_t eps_micro;
    uint32_t reports;
} shoal_policy_budget;

typedef struct shoal_policy_analysis {
    shoal_name analysis, stream;
    uint32_t stream_index; // written by finish
    uint32_t version;
    uint32_t mechanisms; // mask with bit id of each mechanism
    uint32_t query_fields, query_size;
    shoal_policy_budget budget;
    uint32_t delta_exp, slack_exp; // K of 1e-K; slack 0: no slack
    uint32_t composition;          // enum shoal_composition
    uint32_t cohort_minimum, honest_micro;
    uint32_t n_splits;
    shoal_name splits[SHOAL_SPLIT_MAX];
    uint32_t n_fields;
    shoal_policy_budget fields[SHOAL_POLICY_FIELDS_MAX];
} shoal_policy_analysis;

typedef struct shoal_policy {
    shoal_name policy;
    uint32_t n_keys;
    uint8_t keys[SHOAL_POLICY_KEYS_MAX][32];
    uint32_t fresh_days;
    uint32_t n_streams;
    shoal_policy_stream streams[SHOAL_POLICY_STREAMS_MAX];
    uint32_t n_analyses;
    shoal_policy_analysis analyses[SHOAL_POLICY_ANALYSES_MAX];
    uint8_t policy_hash[32]; // written by shoal_policy_finish
    // The members below are private to the policy's code.
    bool is_finished;
    // the members given so far, to find duplicates and missing members
    uint64_t seen[1 + SHOAL_POLICY_STREAMS_MAX * (1 + SHOAL_POLICY_FIELDS_MAX) +
                  SHOAL_POLICY_ANALYSES_MAX * (1 + SHOAL_POLICY_FIELDS_MAX)];
    const char *error_field; // static path with N and M, or NULL
    const char *error_text;
} shoal_policy;

void shoal_policy_init(shoal_policy *policy);

// These functions work like their namesakes in builder.h.
shoal_err shoal_policy_set_number(shoal_policy *policy, const char *path, size_t path_len,
                                  int64_t micro) SHOAL_MUST_CHECK;
shoal_err shoal_policy_set_string(shoal_policy *policy, const char *path, size_t path_len,
                                  const char *text, size_t len) SHOAL_MUST_CHECK;
shoal_err shoal_policy_add_text(shoal_policy *policy, const char *path, size_t path_len,
                                const char *text, size_t len) SHOAL_MUST_CHECK;

// Checks the complete policy and computes its hash. Names must be distinct, analyses must name
// existing streams and fields, and no split field may be budgeted.
shoal_err shoal_policy_finish(shoal_policy *policy) SHOAL_MUST_CHECK;

// Returns: the index of an analysis or of its budgeted field, or UINT32_MAX.
uint32_t shoal_policy_find_analysis(const shoal_policy *policy, const shoal_name *analysis);
uint32_t shoal_policy_find_field(const shoal_policy_analysis *analysis, const shoal_name *field);

#endif
