// SPDX-License-Identifier: Apache-2.0
// Property: whatever bytes a host brings back, a check reads nothing else, and a debit either is
// refused and changes nothing, or counts exactly one report (a trie's: its contributions, after no
// other), keeps every charge from falling, stays within the policy, and leaves books that open
// again and refuse a replay. Input: policy (1), query (1), day (2), flags (1: what is forged is
// sealed; 2 to 7: room beyond the length), then the books.
#include "accountant.h"
#include "checksum.h"
#include "field_lines.h"
#include "fuzz_recipe.h"

#define HEAD 5u
#define DAY 20690u
#define N_POLICIES 3u
#define N_QUERIES 7u

static const shoal_policy *policy_number(uint32_t i)
{
    static const char more[] =
        "analyses.0.budget.reports:9000000\nanalyses.0.fields.0.reports:9000000\n"
        "analyses.0.budget.epsilon:16000000\nanalyses.0.fields.0.epsilon:16000000\n"
        "streams.1.fields.1.field=word\nstreams.1.fields.1.type=characters\n"
        "analyses.1.mechanisms+grr\nanalyses.1.mechanisms+trie\n"
        "analyses.1.fields.1.field=word\nanalyses.1.fields.1.local_epsilon:2000000\n"
        "analyses.1.fields.1.epsilon:2000000\nanalyses.1.fields.1.reports:100000000\n";
    static shoal_policy made[N_POLICIES];
    char change[1024];
    if (!made[i].is_finished) {
        snprintf(change, sizeof change, "%s%s", i == 0 ? "" : more,
                 i == 2 ? "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-9\n"
                        : "");
        PROPERTY(policy_of(&made[i], keyboard_policy, change) == SHOAL_OK);
    }
    return &made[i];
}

#define PHRASE                                                                                     \
    "encoding.0.field=phrase\nencoding.0.boundaries-\nencoding.0.prefixes+\nencoding.0.tokens+a\n" \
    "encoding.1.field-\nencoding.1.prefixes-\nencoding.1.tokens-\nparameters.epsilon:"             \
    "500000\ncohort.epsilon:100000\n"

static const shoal_recipe *query_number(uint32_t p, uint32_t i)
{
    static const char *const changes[N_QUERIES] = {
        "",
        "recipe=b\nround.index:1000000",
        PHRASE,
        PHRASE "recipe=b\nround.index:2000000\nround.previous=" KEY_A,
        PHRASE "recipe=c\nversion:4000000",
        "analysis=sites\nstream=visits\nencoding.0.field=word\nencoding.0.boundaries-\nencoding.0."
        "starts+ab\n"
        "encoding.0.characters+c\nencoding.1.field-\nencoding.1.prefixes-\nencoding.1.tokens-"
        "\nmechanism=trie\n"
        "parameters.epsilon:1000000\nparameters.contributions:3000000\nparameters.depth:9000000\n"
        "parameters.max_prefixes:9000000\nparameters.sampler=greedy\ncohort.epsilon:"
        "200000\nversion:1000000",
        "analysis=sites\nstream=visits\nencoding.0.field=host\nencoding.0.boundaries-\nencoding.0."
        "values+x\n"
        "encoding.1.field-\nencoding.1.prefixes-\nencoding.1.tokens-\nmechanism=grr\nparameters."
        "epsilon:1000000\n"
        "cohort.epsilon:200000\nversion:1000000"};
    static shoal_recipe made[N_POLICIES][N_QUERIES];
    if (made[p][i].n_parts == 0)
        PROPERTY(recipe_of(&made[p][i], keyboard_query, changes[i], policy_number(p)) == SHOAL_OK);
    return &made[p][i];
}

// Books after the first index queries, or some of them.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    shoal_verdict v;
    size_t len = 0;
    if (index >= 2 * N_QUERIES) return 0;
    uint32_t p = index % 2 == 0 ? 1 : 2, n = (uint32_t)index / 2;
    const uint8_t head[HEAD] = {(uint8_t)p, (uint8_t)n, 20, 0, 0xfe};
    memcpy(out, head, HEAD);
    PROPERTY(shoal_accountant_init(out + HEAD, cap - HEAD, &len, DAY) == SHOAL_OK);
    for (uint32_t i = 0; i < n; i++)
        shoal_query_debit(&v, out + HEAD, &len, cap - HEAD, policy_number(p), query_number(p, i),
                          DAY + 10);
    return HEAD + len;
}

// Memory of exactly that size, so that a sanitizer sees a byte too far.
static uint8_t *exact_copy(const uint8_t *bytes, size_t len, size_t cap)
{
    uint8_t *copy = malloc(cap > 0 ? cap : 1);
    PROPERTY(copy != NULL);
    memcpy(copy, bytes, len);
    return copy;
}

static int charges(shoal_charge *out, const uint8_t *books, size_t len, const shoal_policy *policy)
{
    shoal_err err = SHOAL_OK;
    for (uint32_t a = 0; a < policy->n_analyses; a++)
        for (uint32_t f = 0; f <= policy->analyses[a].n_fields && err == SHOAL_OK; f++)
            err =
                shoal_accountant_charge(out++, books, len, policy, a, f == 0 ? UINT32_MAX : f - 1);
    return err == SHOAL_OK;
}

#define CHARGES (SHOAL_POLICY_ANALYSES_MAX * (1 + SHOAL_POLICY_FIELDS_MAX))

static void compare(const shoal_charge *was, const shoal_charge *is, uint32_t reports)
{
    uint32_t more = 0;
    for (uint32_t i = 0; i < CHARGES; i++) {
        PROPERTY(is[i].eps_micro >= was[i].eps_micro && is[i].delta_e15 >= was[i].delta_e15);
        PROPERTY(is[i].local_eps_micro >= was[i].local_eps_micro &&
                 is[i].reports >= was[i].reports);
        PROPERTY(is[i].reports == was[i].reports || is[i].reports == was[i].reports + reports);
        more += is[i].reports - was[i].reports;
    }
    PROPERTY(more >= 2 * reports &&
             more <= (1 + SHOAL_ENCODED_MAX) * reports); // the analysis and its fields
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < HEAD || len - HEAD > SHOAL_ACCOUNTANT_SIZE_MAX) return 0;
    uint32_t p = data[0] % N_POLICIES, day = DAY + (uint32_t)data[2] + ((uint32_t)data[3] << 8);
    const shoal_policy *policy = policy_number(p);
    const shoal_recipe *recipe = query_number(p, data[1] % N_QUERIES);
    size_t n = len - HEAD, after = n, cap = n + 4 * (size_t)(data[4] >> 1);
    shoal_charge was[CHARGES] = {{0, 0, 0, 0}}, is[CHARGES] = {{0, 0, 0, 0}};
    shoal_verdict seen, verdict;
    uint8_t *before = exact_copy(data + HEAD, n, n), *books;
    if (data[4] & 1 && n >= 8) {
        uint64_t sum = shoal_checksum_of(before, n - 8);
        for (size_t i = 0; i < 8; i++) before[n - 8 + i] = (uint8_t)(sum >> (8 * i));
    }
    books = exact_copy(before, n, cap);
    int is_open = charges(was, before, n, policy);
    shoal_query_check(&seen, before, n, policy, recipe, day);
    PROPERTY(is_open || seen.refusal == SHOAL_REFUSED_STORAGE);
    shoal_query_debit(&verdict, books, &after, cap, policy, recipe, day);
    PROPERTY(verdict.refusal == seen.refusal || verdict.refusal == SHOAL_REFUSED_STORAGE);
    if (verdict.refusal != SHOAL_ACCEPTED) {
        PROPERTY(after == n && memcmp(before, books, n) == 0);
    } else {
        PROPERTY(is_open && after <= cap && charges(is, books, after, policy));
        compare(was, is, recipe->contributions > 0 ? recipe->contributions : 1);
        const shoal_policy_analysis *a = &policy->analyses[verdict.analysis];
        size_t at = verdict.analysis == 0 ? 0 : 1 + policy->analyses[0].n_fields;
        const shoal_charge *own = &is[at];
        PROPERTY(recipe->contributions == 0 || was[at].reports == 0);
        PROPERTY(own->eps_micro <= a->budget.eps_micro && own->reports <= a->budget.reports);
        shoal_query_check(&seen, books, after, policy, recipe, day);
        PROPERTY(seen.refusal == SHOAL_REFUSED_REPLAYED);
    }
    free(before);
    free(books);
    return 0;
}
