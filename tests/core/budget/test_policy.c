// SPDX-License-Identifier: Apache-2.0
// The policy: every field's range, what is missing or doubled, what must fit together, canonical
// bytes and hash.
#include "policy.h"

#include "check.h"
#include "field_lines.h"
#include "policy_canonical.h"

static shoal_policy policy, other;

// One change each: the error and the path that it names.
typedef struct bad {
    const char *change;
    shoal_err err;
    const char *path; // NULL: of no field
} bad;

static void is_refused(const bad *b)
{
    shoal_err err = policy_of(&policy, keyboard_policy, b->change);
    int is_path = b->path == NULL
                      ? policy.error_field == NULL
                      : policy.error_field != NULL && strcmp(policy.error_field, b->path) == 0;
    if (!CHECK(err == b->err && is_path))
        printf("  %s: %d %s %s\n", b->change, (int)err,
               policy.error_field ? policy.error_field : "-",
               policy.error_text ? policy.error_text : "-");
    CHECK(policy.error_text != NULL && !policy.is_finished &&
          shoal_policy_finish(&policy) == SHOAL_ERR_ARGUMENT);
}

static void refused_members(void)
{
    static const bad rows[] = {
        {"policy=Keyboard", SHOAL_ERR_TYPE, "policy"},
        {"policy:1000000", SHOAL_ERR_TYPE, "policy"},
        {"policy=\n", SHOAL_ERR_RANGE, "policy"},
        {"policies=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"polic=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"streams.x.stream=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"streams.0.name=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"analyses.0.fields.0.type=x", SHOAL_ERR_UNKNOWN_FIELD, NULL},
        {"keys=" KEY_A, SHOAL_ERR_TYPE, "keys"},
        {"keys:1000000", SHOAL_ERR_TYPE, "keys"},
        {"keys+00", SHOAL_ERR_TYPE, "keys"},
        {"keys+1" KEY_A, SHOAL_ERR_TYPE, "keys"},
        {"keys+00112233445566778899AABBccddeeff00112233445566778899aabbccddeeff", SHOAL_ERR_TYPE,
         "keys"},
        {"keys+0000000000000000000000000000000000000000000000000000000000000000", SHOAL_ERR_RANGE,
         "keys"},
        {"keys+" KEY_A "\nkeys+" KEY_A, SHOAL_ERR_DUPLICATE, "keys"},
        {"keys+" KEY_A "\nkeys+" KEY_B "\nkeys+" KEY_B, SHOAL_ERR_DUPLICATE, "keys"},
        {"policy+x", SHOAL_ERR_TYPE, "policy"},
        {"fresh_days:0", SHOAL_ERR_RANGE, "fresh_days"},
        {"fresh_days:366000000", SHOAL_ERR_RANGE, "fresh_days"},
        {"fresh_days:1500000", SHOAL_ERR_TYPE, "fresh_days"},
        {"fresh_days:-1000000", SHOAL_ERR_RANGE, "fresh_days"},
        {"fresh_days=1", SHOAL_ERR_TYPE, "fresh_days"},
        {"streams.0.retention_days:0", SHOAL_ERR_RANGE, "streams.N.retention_days"},
        {"streams.0.retention_days:401000000", SHOAL_ERR_RANGE, "streams.N.retention_days"},
        {"streams.0.fields.0.type=list", SHOAL_ERR_TYPE, "streams.N.fields.M.type"},
        {"streams.0.fields.0.type:1000000", SHOAL_ERR_TYPE, "streams.N.fields.M.type"},
        {"streams.3.stream=x", SHOAL_ERR_RANGE, "streams.N.stream"},
        {"streams.9.stream=x", SHOAL_ERR_RANGE, "streams.N.stream"},
        {"streams.0.fields.5.field=x", SHOAL_ERR_RANGE, "streams.N.fields.M.field"},
        {"analyses.3.analysis=x", SHOAL_ERR_RANGE, "analyses.N.analysis"},
        {"analyses.9.analysis=x", SHOAL_ERR_RANGE, "analyses.N.analysis"},
        {"analyses.0.fields.3.field=x", SHOAL_ERR_RANGE, "analyses.N.fields.M.field"},
        {"analyses.0.version:0", SHOAL_ERR_RANGE, "analyses.N.version"},
        {"analyses.0.version:1000001000000", SHOAL_ERR_RANGE, "analyses.N.version"},
        {"analyses.0.mechanisms+onehot", SHOAL_ERR_MECHANISM, "analyses.N.mechanisms"},
        {"analyses.0.mechanisms+grr\nanalyses.0.mechanisms+grr", SHOAL_ERR_DUPLICATE,
         "analyses.N.mechanisms"},
        {"analyses.0.mechanisms=grr", SHOAL_ERR_TYPE, "analyses.N.mechanisms"},
        {"analyses.0.query.fields:0", SHOAL_ERR_RANGE, "analyses.N.query.fields"},
        {"analyses.0.query.fields:5000000", SHOAL_ERR_RANGE, "analyses.N.query.fields"},
        {"analyses.0.query.size:1000000", SHOAL_ERR_RANGE, "analyses.N.query.size"},
        {"analyses.0.query.size:16777217000000", SHOAL_ERR_RANGE, "analyses.N.query.size"},
        {"analyses.0.budget.epsilon:0", SHOAL_ERR_RANGE, "analyses.N.budget.epsilon"},
        {"analyses.0.budget.epsilon:16000001", SHOAL_ERR_RANGE, "analyses.N.budget.epsilon"},
        {"analyses.0.budget.epsilon=1", SHOAL_ERR_TYPE, "analyses.N.budget.epsilon"},
        {"analyses.0.budget.epsilon:9223372036854775807", SHOAL_ERR_RANGE,
         "analyses.N.budget.epsilon"},
        {"analyses.0.budget.epsilon:-9223372036854775808", SHOAL_ERR_RANGE,
         "analyses.N.budget.epsilon"},
        {"analyses.0.budget.delta=1e-2", SHOAL_ERR_RANGE, "analyses.N.budget.delta"},
        {"analyses.0.budget.delta=1e-16", SHOAL_ERR_RANGE, "analyses.N.budget.delta"},
        {"analyses.0.budget.delta=1e-07", SHOAL_ERR_TYPE, "analyses.N.budget.delta"},
        {"analyses.0.budget.delta=1e-7x", SHOAL_ERR_TYPE, "analyses.N.budget.delta"},
        {"analyses.0.budget.delta=1e-", SHOAL_ERR_TYPE, "analyses.N.budget.delta"},
        {"analyses.0.budget.delta=1e+7", SHOAL_ERR_TYPE, "analyses.N.budget.delta"},
        {"analyses.0.budget.delta:7000000", SHOAL_ERR_TYPE, "analyses.N.budget.delta"},
        {"analyses.0.budget.reports:0", SHOAL_ERR_RANGE, "analyses.N.budget.reports"},
        {"analyses.0.budget.reports:65536000000", SHOAL_ERR_RANGE, "analyses.N.budget.reports"},
        {"analyses.0.budget.composition=kairouz", SHOAL_ERR_TYPE, "analyses.N.budget.composition"},
        {"analyses.0.cohort.minimum:0", SHOAL_ERR_RANGE, "analyses.N.cohort.minimum"},
        {"analyses.0.cohort.minimum:1000000001000000", SHOAL_ERR_RANGE,
         "analyses.N.cohort.minimum"},
        {"analyses.0.cohort.honest:0", SHOAL_ERR_RANGE, "analyses.N.cohort.honest"},
        {"analyses.0.cohort.honest:1000001", SHOAL_ERR_RANGE, "analyses.N.cohort.honest"},
        {"analyses.0.split_by+locale\nanalyses.0.split_by+device\nanalyses.0.split_by+age",
         SHOAL_ERR_RANGE, "analyses.N.split_by"},
        {"analyses.0.split_by+locale\nanalyses.0.split_by+locale", SHOAL_ERR_DUPLICATE,
         "analyses.N.split_by"},
        {"analyses.0.split_by+Locale", SHOAL_ERR_TYPE, "analyses.N.split_by"},
        {"analyses.0.fields.0.local_epsilon:0", SHOAL_ERR_RANGE,
         "analyses.N.fields.M.local_epsilon"},
        {"analyses.0.fields.0.local_epsilon:16000001", SHOAL_ERR_RANGE,
         "analyses.N.fields.M.local_epsilon"},
        {"analyses.0.fields.0.epsilon:0", SHOAL_ERR_RANGE, "analyses.N.fields.M.epsilon"},
        {"analyses.0.fields.0.epsilon:16000001", SHOAL_ERR_RANGE, "analyses.N.fields.M.epsilon"},
        {"analyses.0.fields.0.reports:0", SHOAL_ERR_RANGE, "analyses.N.fields.M.reports"},
        {"analyses.0.fields.0.reports:65536000000", SHOAL_ERR_RANGE, "analyses.N.fields.M.reports"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) is_refused(&rows[i]);
    CHECK(policy_of(&policy, keyboard_policy, "keys:1") == SHOAL_ERR_TYPE);
    CHECK(strcmp(policy.error_text, "must be a list") == 0);
    CHECK(policy_of(&policy, keyboard_policy, "keys=1") == SHOAL_ERR_TYPE);
    CHECK(strcmp(policy.error_text, "must be a list") == 0);
    CHECK(policy_of(&policy, "policy=a\npolicy=b\n", "") == SHOAL_ERR_DUPLICATE);
    CHECK(policy_of(&policy, "analyses.0.version:1000000\nanalyses.0.version:1000000\n", "") ==
          SHOAL_ERR_DUPLICATE);
}

// The ends of every range are inside it.
static void ends_of_ranges(void)
{
    static const char *const good[] = {
        "fresh_days:1000000",
        "fresh_days:365000000",
        "streams.0.retention_days:1000000",
        "streams.0.retention_days:400000000",
        "analyses.0.version:1000000",
        "analyses.0.version:1000000000000",
        "analyses.0.query.fields:1000000",
        "analyses.0.query.fields:4000000",
        "analyses.0.query.size:2000000",
        "analyses.0.query.size:16777216000000",
        "analyses.0.budget.epsilon:1",
        "analyses.0.budget.epsilon:16000000",
        "analyses.0.budget.delta=1e-3",
        "analyses.0.budget.delta=1e-15",
        "analyses.0.budget.reports:1000000",
        "analyses.0.budget.reports:65535000000",
        "analyses.0.cohort.minimum:1000000",
        "analyses.0.cohort.minimum:1000000000000000",
        "analyses.0.cohort.honest:1",
        "analyses.0.cohort.honest:1000000",
        "analyses.0.fields.0.local_epsilon:1",
        "analyses.0.fields.0.local_epsilon:16000000",
        "analyses.0.fields.0.epsilon:1",
        "analyses.0.fields.0.epsilon:16000000",
        "analyses.0.fields.0.reports:1000000",
        "analyses.0.fields.0.reports:65535000000",
        "analyses.0.split_by+locale\nanalyses.0.split_by+device",
        "keys+" KEY_A "\nkeys+" KEY_B,
        "analyses.0.budget.composition=advanced\nanalyses.0.budget.slack=1e-8",
        "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-15",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        shoal_err err = policy_of(&policy, keyboard_policy, good[i]);
        if (!CHECK(err == SHOAL_OK)) printf("  %s: %d\n", good[i], (int)err);
    }
}

// Each member that has no default, left out of an otherwise good policy.
static void missing_members(void)
{
    static const bad rows[] = {
        {"policy-", SHOAL_ERR_MISSING_FIELD, "policy"},
        {"keys-", SHOAL_ERR_MISSING_FIELD, "keys"},
        {"streams.0.stream-", SHOAL_ERR_MISSING_FIELD, "streams.N.stream"},
        {"streams.0.retention_days-", SHOAL_ERR_MISSING_FIELD, "streams.N.retention_days"},
        {"streams.0.fields.3.field-", SHOAL_ERR_MISSING_FIELD, "streams.N.fields.M.field"},
        {"streams.0.fields.0.type-", SHOAL_ERR_MISSING_FIELD, "streams.N.fields.M.type"},
        {"streams.1.fields.0.field-\nstreams.1.fields.0.type-", SHOAL_ERR_MISSING_FIELD,
         "streams.N.fields"},
        {"analyses.0.analysis-", SHOAL_ERR_MISSING_FIELD, "analyses.N.analysis"},
        {"analyses.0.stream-", SHOAL_ERR_MISSING_FIELD, "analyses.N.stream"},
        {"analyses.0.mechanisms-", SHOAL_ERR_MISSING_FIELD, "analyses.N.mechanisms"},
        {"analyses.0.budget.epsilon-", SHOAL_ERR_MISSING_FIELD, "analyses.N.budget.epsilon"},
        {"analyses.0.budget.delta-", SHOAL_ERR_MISSING_FIELD, "analyses.N.budget.delta"},
        {"analyses.0.budget.reports-", SHOAL_ERR_MISSING_FIELD, "analyses.N.budget.reports"},
        {"analyses.0.fields.0.field-", SHOAL_ERR_MISSING_FIELD, "analyses.N.fields.M.field"},
        {"analyses.0.fields.0.local_epsilon-", SHOAL_ERR_MISSING_FIELD,
         "analyses.N.fields.M.local_epsilon"},
        {"analyses.0.fields.0.epsilon-", SHOAL_ERR_MISSING_FIELD, "analyses.N.fields.M.epsilon"},
        {"analyses.0.fields.0.reports-", SHOAL_ERR_MISSING_FIELD, "analyses.N.fields.M.reports"},
        {"analyses.1.fields.0.field-\nanalyses.1.fields.0.local_epsilon-\nanalyses.1.fields.0."
         "epsilon-\n"
         "analyses.1.fields.0.reports-",
         SHOAL_ERR_MISSING_FIELD, "analyses.N.fields"},
        {"analyses.0.budget.composition=advanced", SHOAL_ERR_MISSING_FIELD,
         "analyses.N.budget.slack"},
        {"analyses.0.budget.composition=renyi", SHOAL_ERR_MISSING_FIELD, "analyses.N.budget.slack"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) is_refused(&rows[i]);
    CHECK(policy_of(&policy, "policy=a\nkeys+" KEY_A "\n", "") == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(policy.error_field, "streams") == 0);
    CHECK(policy_of(&policy,
                    "policy=a\nkeys+" KEY_A
                    "\nstreams.0.stream=s\nstreams.0.retention_days:1000000\n"
                    "streams.0.fields.0.field=f\nstreams.0.fields.0.type=text\n",
                    "") == SHOAL_ERR_MISSING_FIELD);
    CHECK(strcmp(policy.error_field, "analyses") == 0);
}

// What is good by itself and bad beside the rest.
static void what_must_fit(void)
{
    static const bad rows[] = {
        {"streams.1.stream=typed-phrases", SHOAL_ERR_DUPLICATE, "streams.N.stream"},
        {"streams.0.fields.3.field=phrase", SHOAL_ERR_DUPLICATE, "streams.N.fields.M.field"},
        {"analyses.1.analysis=keyboard", SHOAL_ERR_DUPLICATE, "analyses.N.analysis"},
        {"analyses.1.stream=clicks", SHOAL_ERR_UNKNOWN_FIELD, "analyses.N.stream"},
        {"analyses.0.fields.1.field=phrase", SHOAL_ERR_DUPLICATE, "analyses.N.fields.M.field"},
        {"analyses.0.fields.1.field=host", SHOAL_ERR_UNKNOWN_FIELD, "analyses.N.fields.M.field"},
        {"analyses.0.split_by+host", SHOAL_ERR_UNKNOWN_FIELD, "analyses.N.split_by"},
        {"analyses.0.split_by+age", SHOAL_ERR_RANGE, "analyses.N.split_by"},
        {"analyses.0.split_by+locale\nanalyses.0.split_by+host", SHOAL_ERR_UNKNOWN_FIELD,
         "analyses.N.split_by"},
        {"analyses.0.split_by+locale\nanalyses.0.split_by+age", SHOAL_ERR_RANGE,
         "analyses.N.split_by"},
        {"analyses.0.fields.1.field=locale", SHOAL_ERR_DUPLICATE, "analyses.N.split_by"},
        {"analyses.0.budget.slack=1e-9", SHOAL_ERR_UNKNOWN_FIELD, "analyses.N.budget.slack"},
        {"analyses.0.budget.composition=advanced\nanalyses.0.budget.slack=1e-7", SHOAL_ERR_RANGE,
         "analyses.N.budget.slack"},
        {"analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-6", SHOAL_ERR_RANGE,
         "analyses.N.budget.slack"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) is_refused(&rows[i]);
}

static void read_back(void)
{
    shoal_name name;
    const char *why;
    CHECK(policy_of(&policy, keyboard_policy, "") == SHOAL_OK && policy.is_finished);
    CHECK(policy.fresh_days == 1 && policy.n_keys == 1 && policy.keys[0][1] == 0x11);
    CHECK(policy.n_streams == 2 && policy.streams[0].n_fields == 4 &&
          policy.streams[0].retention_days == 14);
    CHECK(policy.streams[0].fields[1].scheme == SHOAL_SCHEME_NUMBER);
    const shoal_policy_analysis *a = &policy.analyses[0], *b = &policy.analyses[1];
    CHECK(policy.n_analyses == 2 && a->stream_index == 0 && b->stream_index == 1);
    CHECK(a->mechanisms == (1u << shoal_onehot_symmetric_id | 1u << shoal_subset_id));
    CHECK(a->query_fields == 2 && a->query_size == 1000 && a->version == 3);
    CHECK(b->query_fields == 1 && b->query_size == 65536 && b->version == 1); // defaults
    CHECK(a->budget.eps_micro == 1000000 && a->delta_exp == 7 && a->budget.reports == 3 &&
          a->slack_exp == 0);
    CHECK(a->composition == SHOAL_COMPOSE_BASIC && a->cohort_minimum == 5000 &&
          a->honest_micro == 900000);
    CHECK(b->cohort_minimum == 1000 && b->honest_micro == 1000000 && b->n_splits == 0);
    CHECK(a->n_splits == 1 && a->n_fields == 2 && a->fields[1].local_eps_micro == 4000000);
    CHECK(a->fields[1].eps_micro == 500000 && a->fields[1].reports == 1);
    CHECK(shoal_name_set(&name, "sites", 5, &why) == SHOAL_OK &&
          shoal_policy_find_analysis(&policy, &name) == 1);
    CHECK(shoal_policy_find_field(a, &name) == UINT32_MAX);
    CHECK(shoal_name_set(&name, "age", 3, &why) == SHOAL_OK &&
          shoal_policy_find_field(a, &name) == 1);
    CHECK(shoal_policy_find_analysis(&policy, &name) == UINT32_MAX);
}

// Words by their characters, and mechanisms that are made of others: their types and bits, which no
// other has.
static void compounds(void)
{
    CHECK(policy_of(&policy, keyboard_policy,
                    "streams.0.fields.0.type=characters\nanalyses.0.mechanisms+trie\nanalyses.0."
                    "mechanisms+sfp\n"
                    "analyses.0.mechanisms+rappor-ngram") == SHOAL_OK);
    CHECK(policy.streams[0].fields[0].scheme == SHOAL_SCHEME_CHARACTERS &&
          SHOAL_SCHEME_CHARACTERS == 4);
    CHECK(policy.analyses[0].mechanisms == (1u << 11 | 1u << 12 | 1u << 13));
    static const bad rows[] = {
        {"streams.0.fields.0.type=character", SHOAL_ERR_TYPE, "streams.N.fields.M.type"},
        {"analyses.0.mechanisms+tries", SHOAL_ERR_MECHANISM, "analyses.N.mechanisms"},
        {"analyses.0.mechanisms+trie\nanalyses.0.mechanisms+trie", SHOAL_ERR_DUPLICATE,
         "analyses.N.mechanisms"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) is_refused(&rows[i]);
}

// ---- canonical bytes ----

static uint8_t bytes[SHOAL_POLICY_CANONICAL_MAX];

static void hash_of(uint8_t digest[32], size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
}

// Written by hand from the header's words.
static const char small_canonical[] =
    "73686f616c20706f6c69637920310a" // shoal policy 1\n
    "004000000037"                   // the policy
    "00010000000170"                 // policy p
    "00020000002000112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" // keys
    "00030000000400000001"                                                         // fresh_days
    "00410000003f"
    "00040000000173"
    "0005000000040000000e" // stream s, retention
    "004200000011"
    "00060000000166"
    "00070000000400000003" // f, tokens
    "004200000011"
    "0006000000016c"
    "00070000000400000002" // l, text
    "0043000000af"
    "00080000000161"
    "00090000000173"
    "000a0000000400000001" // analysis, stream, version
    "000b0000000400000020"
    "000c0000000400000001"
    "000d0000000400010000" // grr is 5; query
    "000e000000040016e360"
    "000f0000000400000007"
    "00100000000400000003" // budget
    "00110000000400000000"
    "00120000000400000000" // composition, slack
    "001300000004000003e8"
    "001400000004000f4240"
    "001500000002016c" // cohort, split_by
    "004400000025"
    "00160000000166"
    "001700000004003d0900"
    "0018000000040007a120"
    "00190000000400000001";

static void canonical_bytes(void)
{
    uint8_t digest[32];
    size_t len = 0, other_len = 0;
    char hex[2 * sizeof bytes + 1];
    CHECK(policy_of(&policy, small_policy, "") == SHOAL_OK);
    CHECK(policy_canonical(bytes, sizeof bytes, &len, &policy) == SHOAL_OK);
    for (size_t i = 0; i < len; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    if (!CHECK(strcmp(hex, small_canonical) == 0)) printf("  %s\n", hex);
    hash_of(digest, len);
    CHECK(memcmp(digest, policy.policy_hash, 32) == 0);
    for (size_t cap = 0; cap < len; cap++)
        CHECK(policy_canonical(bytes, cap, &other_len, &policy) == SHOAL_ERR_SPACE &&
              other_len == 0);
    CHECK(policy_of(&policy, keyboard_policy, "") == SHOAL_OK);
    CHECK(policy_canonical(bytes, sizeof bytes, &len, &policy) == SHOAL_OK);
    hash_of(digest, len);
    CHECK(memcmp(digest, policy.policy_hash, 32) == 0);
    shoal_policy_init(&policy);
    CHECK(policy_canonical(bytes, sizeof bytes, &len, &policy) == SHOAL_ERR_ARGUMENT);
}

// A default that is written out changes nothing, nor does the order of the members; every other
// change does.
static void hashes(void)
{
    static const char *const changes[] = {
        "policy=keyboard-2027",
        "keys+" KEY_B,
        "keys+" KEY_A "\nkeys+" KEY_B,
        "fresh_days:2000000",
        "streams.1.stream=views\nanalyses.1.stream=views",
        "streams.0.retention_days:15000000",
        "streams.0.fields.3.field=model",
        "streams.0.fields.3.type=number",
        "streams.0.fields.3.type=characters",
        "analyses.1.analysis=hosts",
        "analyses.1.version:2000000",
        "analyses.0.mechanisms+subset",
        "analyses.0.mechanisms+trie",
        "analyses.0.mechanisms+sfp",
        "analyses.0.mechanisms+rappor-ngram",
        "analyses.0.mechanisms+subset\nanalyses.0.mechanisms+trie",
        "analyses.0.query.fields:1000000",
        "analyses.0.query.size:1001000000",
        "analyses.0.budget.epsilon:1000001",
        "analyses.0.budget.delta=1e-8",
        "analyses.0.budget.reports:4000000",
        "analyses.0.budget.composition=advanced\nanalyses.0.budget.slack=1e-9",
        "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-9",
        "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-10",
        "analyses.0.cohort.minimum:5001000000",
        "analyses.0.cohort.honest:900001",
        "analyses.0.split_by-",
        "analyses.0.split_by+device",
        "analyses.0.split_by+locale\nanalyses.0.split_by+device",
        "analyses.0.fields.0.local_epsilon:5000001",
        "analyses.0.fields.0.epsilon:1000001",
        "analyses.0.fields.0.reports:4000000",
        "analyses.0.fields.0.field=device",
    };
    enum { N = sizeof changes / sizeof changes[0] };
    static uint8_t seen[N + 1][32];
    CHECK(policy_of(&policy, keyboard_policy, "") == SHOAL_OK);
    memcpy(seen[N], policy.policy_hash, 32);
    for (size_t i = 0; i < N; i++) {
        if (!CHECK(policy_of(&other, keyboard_policy, changes[i]) == SHOAL_OK))
            printf("  %s\n", changes[i]);
        memcpy(seen[i], other.policy_hash, 32);
        CHECK(memcmp(seen[i], seen[N], 32) != 0);
        for (size_t j = 0; j < i; j++) CHECK(memcmp(seen[i], seen[j], 32) != 0);
    }
    CHECK(policy_of(&other, keyboard_policy,
                    "analyses.1.version:1000000\nanalyses.1.query.fields:1000000\n"
                    "fresh_days:1000000\nanalyses.1.query.size:65536000000\n"
                    "analyses.1.cohort.honest:1000000\nanalyses.0.budget.composition=basic\n"
                    "analyses.1.cohort.minimum:1000000000\npolicy=keyboard-2026\n"
                    "analyses.0.mechanisms+subset\nanalyses.0.mechanisms+onehot-symmetric") ==
          SHOAL_OK);
    CHECK(memcmp(policy.policy_hash, other.policy_hash, 32) == 0);
}

// The largest policy that there can be has room, and a field more has none.
static void largest(void)
{
    static char lines[65536];
    char name[65];
    size_t len = 0, size = 0;
    memset(name, 'n', 64);
    name[64] = '\0';
#define PUT(...) len += (size_t)snprintf(lines + len, sizeof lines - len, __VA_ARGS__)
#define NAMED(i, j) (name[0] = (char)('a' + (i)), name[1] = (char)('a' + (j)), name)
    PUT("policy=%s\n", NAMED(0, 0));
    for (int i = 0; i < 4; i++) PUT("keys+%c%s\n", '1' + i, &KEY_A[1]);
    for (int n = 0; n < 4; n++) {
        PUT("streams.%d.stream=%s\nstreams.%d.retention_days:1000000\n", n, NAMED(n, 0), n);
        for (int m = 0; m < 8; m++) {
            PUT("streams.%d.fields.%d.field=%s\nstreams.%d.fields.%d.type=text\n", n, m,
                NAMED(n, m), n, m);
        }
    }
    for (int n = 0; n < 8; n++) {
        PUT("analyses.%d.analysis=%s\n", n, NAMED(n, 0));
        PUT("analyses.%d.stream=%s\nanalyses.%d.mechanisms+grr\n", n, NAMED(n / 2, 0), n);
        PUT("analyses.%d.budget.epsilon:1\nanalyses.%d.budget.delta=1e-3\nanalyses.%d.budget."
            "reports:1000000\n",
            n, n, n);
        for (int m = 0; m < 6; m++) {
            PUT("analyses.%d.fields.%d.field=%s\nanalyses.%d.fields.%d.local_epsilon:1\n", n, m,
                NAMED(n / 2, m), n, m);
            PUT("analyses.%d.fields.%d.epsilon:1\nanalyses.%d.fields.%d.reports:1000000\n", n, m, n,
                m);
        }
        for (int m = 6; m < 8; m++) PUT("analyses.%d.split_by+%s\n", n, NAMED(n / 2, m));
    }
    CHECK(len < sizeof lines && policy_of(&policy, lines, "") == SHOAL_OK);
    CHECK(policy_canonical(bytes, sizeof bytes, &size, &policy) == SHOAL_OK);
    // a field in place of a split is longer still
    CHECK(size + 8 * 2 * (6 + 70 + 30 - 65) < sizeof bytes);
    CHECK(policy.n_keys == 4);
    strcat(lines, "keys+" KEY_B "\n");
    CHECK(policy_of(&other, lines, "") == SHOAL_ERR_RANGE &&
          strcmp(other.error_field, "keys") == 0);
    lines[len] = '\0';
    CHECK(policy_of(&other, lines, "streams.3.fields.8.field=x") == SHOAL_ERR_RANGE);
    CHECK(policy_of(&other, lines, "analyses.7.fields.8.field=x") == SHOAL_ERR_RANGE);
    CHECK(policy_of(&other, lines, "streams.4.stream=x") == SHOAL_ERR_RANGE);
    CHECK(policy_of(&other, lines, "analyses.8.analysis=x") == SHOAL_ERR_RANGE);
}

int main(void)
{
    refused_members();
    ends_of_ranges();
    missing_members();
    what_must_fit();
    read_back();
    compounds();
    canonical_bytes();
    hashes();
    largest();
    return check_summary();
}
