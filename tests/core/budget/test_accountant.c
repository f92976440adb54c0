// SPDX-License-Identifier: Apache-2.0
// The accountant: every bound of a policy tried below it, at it and above it, each refusal by its
// own code and in its order; the four risks of apple-2022 section 5; composed figures against long
// double; sequences of queries that stay within what was allowed; clocks, damage, full books. A
// refused query never changes a byte.
#include "accountant.h"

#include <math.h>

#include "central.h"
#include "check.h"
#include "checksum.h"
#include "field_lines.h"

#define TODAY 20700u // 2026-09-04; keyboard_query's last day is 20849
#define LAST 20849u
#define NONE UINT32_MAX

static uint8_t books[SHOAL_ACCOUNTANT_SIZE_MAX + 256],
    before[sizeof books]; // room for books that are too large
static size_t len;
static shoal_policy policy;
static shoal_verdict verdict;

static void new_books(uint32_t day)
{
    CHECK(shoal_accountant_init(books, sizeof books, &len, day) == SHOAL_OK && len == 40);
}

static void use_policy(const char *changes)
{
    if (!CHECK(policy_of(&policy, keyboard_policy, changes) == SHOAL_OK)) printf("  %s\n", changes);
}

static const shoal_recipe *query(const char *changes)
{
    static shoal_recipe recipe;
    if (!CHECK(recipe_of(&recipe, keyboard_query, changes, &policy) == SHOAL_OK))
        printf("  %s: %s %s\n", changes, building.error_field ? building.error_field : "-",
               building.error_text ? building.error_text : "-");
    return &recipe;
}

static shoal_charge charge_of(uint32_t analysis, uint32_t field)
{
    shoal_charge c = {0, 0, 0, 0};
    CHECK(shoal_accountant_charge(&c, books, len, &policy, analysis, field) == SHOAL_OK);
    return c;
}

// Checks, debits, and holds the two and their traces against each other.
static shoal_refusal ask(const shoal_recipe *recipe, uint32_t day)
{
    shoal_verdict debited;
    size_t was = len;
    shoal_charge old = {0, 0, 0, 0}, now = {0, 0, 0, 0};
    memcpy(before, books, len);
    shoal_query_check(&verdict, books, len, &policy, recipe, day);
    CHECK(memcmp(before, books, len) == 0);
    int is_known =
        verdict.analysis != NONE &&
        shoal_accountant_charge(&old, books, len, &policy, verdict.analysis, NONE) == SHOAL_OK;
    shoal_query_debit(&debited, books, &len, sizeof books, &policy, recipe, day);
    CHECK(debited.refusal == verdict.refusal && debited.field == verdict.field &&
          debited.analysis == verdict.analysis &&
          debited.local_eps_micro == verdict.local_eps_micro &&
          debited.central_eps_micro == verdict.central_eps_micro);
    if (verdict.refusal != SHOAL_ACCEPTED) {
        CHECK(len == was && memcmp(before, books, len) == 0);
        return verdict.refusal;
    }
    CHECK(is_known && verdict.field == NONE &&
          verdict.central_eps_micro <= recipe->cohort_eps_micro);
    now = charge_of(verdict.analysis, NONE);
    uint32_t reports = recipe->contributions > 0 ? recipe->contributions : 1;
    CHECK(now.reports == old.reports + reports);
    CHECK(now.local_eps_micro == old.local_eps_micro + reports * verdict.local_eps_micro);
    CHECK(now.eps_micro >= old.eps_micro && now.delta_e15 > old.delta_e15);
    CHECK(now.eps_micro <= policy.analyses[verdict.analysis].budget.eps_micro);
    return SHOAL_ACCEPTED;
}

static shoal_refusal ask_query(const char *changes, uint32_t day)
{
    return ask(query(changes), day);
}

// ---- one bound at a time ----

typedef struct row {
    const char *policy, *recipe;       // changes
    const char *first, *second, *last; // changes of queries answered before; NULL: none
    uint32_t day;                      // 0: today
    shoal_refusal refusal;
    uint32_t field;
} row;

static void try_row(const char *risk, size_t index, const row *r)
{
    const char *const earlier[] = {r->first, r->second, r->last};
    use_policy(r->policy);
    new_books(TODAY - 10);
    for (int i = 0; i < 3; i++)
        if (earlier[i] != NULL) CHECK(ask_query(earlier[i], TODAY) == SHOAL_ACCEPTED);
    shoal_refusal refusal = ask_query(r->recipe, r->day != 0 ? r->day : TODAY);
    if (!CHECK(refusal == r->refusal && (refusal == SHOAL_ACCEPTED || verdict.field == r->field)))
        printf("  %s %zu: %s, field %u\n", risk, index, shoal_refusal_name(refusal),
               (unsigned)verdict.field);
}

static void try_rows(const char *risk, const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) try_row(risk, i, &rows[i]);
}
#define TRY(risk, rows) try_rows(risk, rows, sizeof(rows) / sizeof(rows)[0])

#define ACCEPTED SHOAL_ACCEPTED, NONE
#define SMALL                                                                                      \
    "parameters.epsilon:500000\ncohort.epsilon:100000\n" // a query of which the crowd makes 0.06
#define ROOM                                                                                       \
    "analyses.0.budget.reports:9000000\nanalyses.0.fields.0.reports:9000000\nanalyses.0.fields.1." \
    "reports:9000000\n"
#define NO_AGE                                                                                     \
    "encoding.0.field=phrase\nencoding.0.boundaries-\nencoding.0.prefixes+\nencoding.0.tokens+a\n" \
    "encoding.1.field-\nencoding.1.prefixes-\nencoding.1.tokens-\n"

// What a query is refused for before any budget is looked at.
static void the_query_class(void)
{
    static const row rows[] = {
        {"", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"", "policy-\nversion-", NULL, NULL, NULL, 0, SHOAL_REFUSED_NOT_QUERY, NONE},
        {"", "policy=" KEY_A, NULL, NULL, NULL, 0, SHOAL_REFUSED_POLICY, NONE},
        {"", "analysis=keyboards", NULL, NULL, NULL, 0, SHOAL_REFUSED_ANALYSIS, NONE},
        {"", "analysis=keyboar", NULL, NULL, NULL, 0, SHOAL_REFUSED_ANALYSIS, NONE},
        {"", "", NULL, NULL, NULL, LAST - 1, ACCEPTED},
        {"", "", NULL, NULL, NULL, LAST, ACCEPTED},
        {"", "", NULL, NULL, NULL, LAST + 1, SHOAL_REFUSED_EXPIRED, NONE},
        {"", "", NULL, NULL, NULL, TODAY - 8, ACCEPTED},
        {"", "", NULL, NULL, NULL, TODAY - 9, ACCEPTED},
        {"", "", NULL, NULL, NULL, TODAY - 10, SHOAL_REFUSED_FRESH, NONE},
        {"", "", NULL, NULL, NULL, TODAY - 11, SHOAL_REFUSED_FRESH, NONE},
        {"fresh_days:10000000", "", NULL, NULL, NULL, TODAY, ACCEPTED},
        {"fresh_days:11000000", "", NULL, NULL, NULL, TODAY, SHOAL_REFUSED_FRESH, NONE},
        {ROOM, SMALL, SMALL, NULL, NULL, 0, SHOAL_REFUSED_REPLAYED, NONE},
        {ROOM, SMALL "recipe=other", SMALL, NULL, NULL, 0, ACCEPTED},
        {ROOM, SMALL, SMALL "recipe=other", SMALL, NULL, 0, SHOAL_REFUSED_REPLAYED, NONE},
        {"", "version:2000000", NULL, NULL, NULL, 0, SHOAL_REFUSED_DOWNGRADED, NONE},
        {"", "version:4000000", NULL, NULL, NULL, 0, ACCEPTED},
        {ROOM, SMALL "version:4000000", SMALL "version:5000000", NULL, NULL, 0,
         SHOAL_REFUSED_DOWNGRADED, NONE},
        {ROOM, SMALL "recipe=other\nversion:5000000", SMALL "version:5000000", NULL, NULL, 0,
         ACCEPTED},
        {ROOM, SMALL "version:6000000", SMALL "version:5000000", NULL, NULL, 0, ACCEPTED},
        {"", "stream=visits", NULL, NULL, NULL, 0, SHOAL_REFUSED_STREAM, NONE},
        {"", "encoding.0.field=device", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD, 0},
        {"", "encoding.1.field=locale", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD, 1},
        {"", "encoding.0.field=ag", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD, 0},
        {"", "encoding.0.boundaries-\nencoding.0.values+x", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_SCHEME, 0},
        {"", "encoding.1.prefixes-\nencoding.1.tokens-\nencoding.1.values+x", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_SCHEME, 1},
        {"", "encoding.1.prefixes-\nencoding.1.tokens-\nencoding.1.boundaries#1", NULL, NULL, NULL,
         0, SHOAL_REFUSED_SCHEME, 1},
        {"analyses.0.query.fields:1000000", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_COMBINATION,
         NONE},
        {"analyses.0.query.fields:1000000", NO_AGE, NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.query.fields:3000000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.query.size:43000000", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_SIZE, NONE},
        {"analyses.0.query.size:44000000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.query.size:45000000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"", "mechanism=grr", NULL, NULL, NULL, 0, SHOAL_REFUSED_MECHANISM, NONE},
        {"", "mechanism=onehot-asymmetric", NULL, NULL, NULL, 0, SHOAL_REFUSED_MECHANISM, NONE},
        {"analyses.0.mechanisms+grr", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_MECHANISM, NONE},
        {"analyses.0.mechanisms+grr", "mechanism=grr", NULL, NULL, NULL, 0, ACCEPTED},
        {"", "split_by.0.field=locale\nsplit_by.0.values+de", NULL, NULL, NULL, 0, ACCEPTED},
        {"", "split_by.0.field=locale\nsplit_by.0.values+de\npart+de", NULL, NULL, NULL, 0,
         ACCEPTED},
        {"", "split_by.0.field=device\nsplit_by.0.values+de", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_SPLIT, 0},
        {"", "split_by.0.field=age\nsplit_by.0.values+de", NULL, NULL, NULL, 0, SHOAL_REFUSED_SPLIT,
         0},
        {"",
         "split_by.0.field=locale\nsplit_by.0.values+de\nsplit_by.1.field=device\nsplit_by.1."
         "values+x",
         NULL, NULL, NULL, 0, SHOAL_REFUSED_SPLIT, 1},
        {"analyses.0.split_by+device\nanalyses.0.split_by+locale",
         "split_by.0.field=locale\nsplit_by.0.values+de\nsplit_by.1.field=device\nsplit_by.1."
         "values+x",
         NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.split_by-", "split_by.0.field=locale\nsplit_by.0.values+de", NULL, NULL, NULL,
         0, SHOAL_REFUSED_SPLIT, 0},
        // the parts of one split are one query: who answered in one does not answer in another
        {ROOM, SMALL "split_by.0.field=locale\nsplit_by.0.values+de\npart+other",
         SMALL "split_by.0.field=locale\nsplit_by.0.values+de\npart+de", NULL, NULL, 0,
         SHOAL_REFUSED_REPLAYED, NONE},
    };
    TRY("class", rows);
}

// Check 1: the analysis's epsilon, delta and reports.
static void check_1(void)
{
    static const row rows[] = {
        {"analyses.0.budget.epsilon:499999", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_EPSILON, NONE},
        {"analyses.0.budget.epsilon:500000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.budget.epsilon:500001", "", NULL, NULL, NULL, 0, ACCEPTED},
        {ROOM "analyses.0.budget.epsilon:200000", SMALL "cohort.epsilon:100001", SMALL, NULL, NULL,
         0, SHOAL_REFUSED_EPSILON, NONE},
        {ROOM "analyses.0.budget.epsilon:200000", SMALL "recipe=b", SMALL, NULL, NULL, 0, ACCEPTED},
        {ROOM "analyses.0.budget.epsilon:200000", SMALL "recipe=b\ncohort.epsilon:99999", SMALL,
         NULL, NULL, 0, ACCEPTED},
        {"analyses.0.budget.delta=1e-8", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.budget.delta=1e-9", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.budget.delta=1e-10", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_DELTA, NONE},
        {ROOM "analyses.0.budget.delta=1e-9", SMALL "recipe=b", SMALL, NULL, NULL, 0,
         SHOAL_REFUSED_DELTA, NONE},
        {ROOM "analyses.0.budget.delta=1e-9", SMALL "recipe=b\ncohort.delta=1e-11",
         SMALL "cohort.delta=1e-10\n", NULL, NULL, 0, ACCEPTED},
        // the slack counts from the first query on
        {"analyses.0.budget.delta=1e-9\nanalyses.0.budget.composition=advanced\nanalyses.0.budget."
         "slack=1e-15",
         "", NULL, NULL, NULL, 0, SHOAL_REFUSED_DELTA, NONE},
        {"analyses.0.budget.delta=1e-9\nanalyses.0.budget.composition=renyi\nanalyses.0.budget."
         "slack=1e-15",
         "", NULL, NULL, NULL, 0, SHOAL_REFUSED_DELTA, NONE},
        {"analyses.0.budget.delta=1e-8\nanalyses.0.budget.composition=renyi\nanalyses.0.budget."
         "slack=1e-9",
         "", NULL, NULL, NULL, 0, ACCEPTED},
        {ROOM "analyses.0.budget.reports:2000000", SMALL, SMALL "recipe=b", NULL, NULL, 0,
         ACCEPTED},
        {ROOM "analyses.0.budget.reports:2000000", SMALL, SMALL "recipe=b", SMALL "recipe=c", NULL,
         0, SHOAL_REFUSED_REPORTS, NONE},
        {ROOM "analyses.0.budget.reports:3000000", SMALL, SMALL "recipe=b", SMALL "recipe=c", NULL,
         0, ACCEPTED},
        {ROOM "analyses.0.budget.reports:3000000", SMALL, SMALL "recipe=b", SMALL "recipe=c",
         SMALL "recipe=d", 0, SHOAL_REFUSED_REPORTS, NONE},
        // the queries of one field use up the analysis's reports for the others
        {ROOM "analyses.0.budget.reports:1000000", SMALL, SMALL NO_AGE, NULL, NULL, 0,
         SHOAL_REFUSED_REPORTS, NONE},
    };
    TRY("check 1", rows);
}

// Check 2: each field's epsilon and reports (the local epsilon has a test of its own).
static void check_2(void)
{
    static const row rows[] = {
        {"analyses.0.fields.1.epsilon:499999", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD_EPSILON,
         0},
        {"analyses.0.fields.1.epsilon:500000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.fields.1.epsilon:500001", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.fields.0.epsilon:499999", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD_EPSILON,
         1},
        {"analyses.0.fields.0.epsilon:500000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.fields.0.epsilon:1\nanalyses.0.fields.1.epsilon:1", "", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_EPSILON, 0},
        {ROOM "analyses.0.fields.1.epsilon:200000", SMALL "cohort.epsilon:100001", SMALL, NULL,
         NULL, 0, SHOAL_REFUSED_FIELD_EPSILON, 0},
        {ROOM "analyses.0.fields.1.epsilon:200000", SMALL "recipe=b", SMALL, NULL, NULL, 0,
         ACCEPTED},
        // a query that does not read age leaves its budget alone, and needs none of it
        {ROOM "analyses.0.fields.1.epsilon:100000", SMALL NO_AGE, SMALL, NULL, NULL, 0, ACCEPTED},
        {ROOM "analyses.0.fields.1.epsilon:100000", SMALL, SMALL NO_AGE, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.fields.1.reports:1000000", SMALL, NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.fields.1.reports:1000000", SMALL, SMALL "recipe=b", NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_REPORTS, 0},
        {"analyses.0.fields.1.reports:2000000", SMALL, SMALL "recipe=b", NULL, NULL, 0, ACCEPTED},
        {"analyses.0.fields.1.reports:2000000", SMALL, SMALL "recipe=b", SMALL "recipe=c", NULL, 0,
         SHOAL_REFUSED_FIELD_REPORTS, 0},
        {ROOM "analyses.0.fields.0.reports:1000000", SMALL, SMALL "recipe=b", NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_REPORTS, 1},
        {"", SMALL NO_AGE "recipe=b", SMALL, SMALL NO_AGE, NULL, 0, ACCEPTED},
        {"", SMALL, SMALL NO_AGE "recipe=b", SMALL NO_AGE, NULL, 0, ACCEPTED},
    };
    TRY("check 2", rows);
}

// Section 5: "flexible queries could allow analysts to target small populations". Check 3's cohort.
static void risk_small_populations(void)
{
    static const row rows[] = {
        {"analyses.0.cohort.minimum:99999000000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.cohort.minimum:100000000000", "", NULL, NULL, NULL, 0, ACCEPTED},
        {"analyses.0.cohort.minimum:100001000000", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_COHORT,
         NONE},
        {"", "cohort.minimum:4999000000", NULL, NULL, NULL, 0, SHOAL_REFUSED_COHORT, NONE},
        {"", "cohort.minimum:5000000000", NULL, NULL, NULL, 0, SHOAL_REFUSED_AMPLIFICATION, NONE},
        {"", "cohort.minimum-", NULL, NULL, NULL, 0, SHOAL_REFUSED_COHORT,
         NONE}, // the recipe's default is 1000
        {"analyses.0.cohort.minimum:1000000", "cohort.minimum:1000000", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_AMPLIFICATION, NONE},
        // a cohort of liars protects nobody
        {"analyses.0.cohort.honest:1", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_AMPLIFICATION, NONE},
        {"analyses.0.cohort.honest:100000", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_AMPLIFICATION,
         NONE},
        {"analyses.0.cohort.honest:1000000", "", NULL, NULL, NULL, 0, ACCEPTED},
        // a split makes the cohorts smaller, and each part has to reach the minimum by itself:
        // nothing else changes
        {"", "split_by.0.field=locale\nsplit_by.0.values+is\npart+is\ncohort.minimum:4999000000",
         NULL, NULL, NULL, 0, SHOAL_REFUSED_COHORT, NONE},
    };
    TRY("small populations", rows);
}

// Section 5: "broad query classes could allow for accidental approval of sensitive queries". With
// the broadest class that can be written, the budget of a sensitive field still holds.
static void risk_over_broad_class(void)
{
#define BROAD                                                                                      \
    "analyses.0.query.fields:4000000\nanalyses.0.query.size:16777216000000\nanalyses.0.cohort."    \
    "minimum:1000000\n"                                                                            \
    "analyses.0.budget.epsilon:16000000\nanalyses.0.budget.reports:65535000000\nanalyses.0."       \
    "budget.delta=1e-3\n"                                                                          \
    "analyses.0.fields.0.local_epsilon:16000000\nanalyses.0.fields.0.epsilon:16000000\n"           \
    "analyses.0.fields.0.reports:65535000000\n"
    static const row rows[] = {
        {BROAD, "", NULL, NULL, NULL, 0, ACCEPTED},
        {BROAD, "recipe=b", "", NULL, NULL, 0, SHOAL_REFUSED_FIELD_REPORTS, 0},
        {BROAD "analyses.0.fields.1.local_epsilon:2000000\n", "", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_LOCAL, 0},
        {BROAD "analyses.0.fields.1.epsilon:300000\n", "", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_EPSILON, 0},
        {BROAD, "encoding.0.field=device", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD, 0},
        {BROAD, "cohort.minimum:10000000\n", NULL, NULL, NULL, 0, SHOAL_REFUSED_AMPLIFICATION,
         NONE},
    };
    TRY("broad class", rows);
}

// Section 5: "flexible queries from server may allow an analyst to set their own privacy budget".
static void risk_own_budget(void)
{
    static const row rows[] = {
        {"", "cohort.epsilon:1", NULL, NULL, NULL, 0, SHOAL_REFUSED_AMPLIFICATION,
         NONE}, // claims less than it costs
        {"", "parameters.epsilon:16000000\ncohort.epsilon:1", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_LOCAL, 0},
        {"", "cohort.epsilon:16000000", NULL, NULL, NULL, 0, SHOAL_REFUSED_EPSILON,
         NONE}, // asks for more than there is
        {"", "cohort.delta=1e-3\ncohort.epsilon:450000", NULL, NULL, NULL, 0, SHOAL_REFUSED_DELTA,
         NONE},
        {"", SMALL "limit.per_day:1000000000000", SMALL, NULL, NULL, 0, SHOAL_REFUSED_FIELD_REPORTS,
         0},
        {"", SMALL "version:9000000", SMALL, NULL, NULL, 0, SHOAL_REFUSED_FIELD_REPORTS, 0},
        {"", SMALL "recipe=fresh-start\nround.index:1000000", SMALL, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_REPORTS, 0},
        {"", "policy=" KEY_B, NULL, NULL, NULL, 0, SHOAL_REFUSED_POLICY,
         NONE}, // a policy of its own
        {"", "cohort.minimum:1000000000000000\ncohort.epsilon:1", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_AMPLIFICATION, NONE},
    };
    TRY("own budget", rows);
}

// Section 5: "flexible queries may allow an analyst to ask questions that are not part of the
// approved query class".
static void risk_outside_the_class(void)
{
    static const row rows[] = {
        {"", "analysis=sites", NULL, NULL, NULL, 0, SHOAL_REFUSED_STREAM, NONE},
        {"", "analysis=sites\nstream=visits\nversion:1000000", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD, 0},
        {"", "encoding.0.field=locale", NULL, NULL, NULL, 0, SHOAL_REFUSED_FIELD, 0},
        {"", "encoding.0.boundaries-\nencoding.0.prefixes+\nencoding.0.tokens+34", NULL, NULL, NULL,
         0, SHOAL_REFUSED_SCHEME, 0},
        {"analyses.0.query.fields:1000000", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_COMBINATION,
         NONE},
        {"analyses.0.query.size:40000000", "", NULL, NULL, NULL, 0, SHOAL_REFUSED_SIZE, NONE},
        {"", "mechanism=hadamard", NULL, NULL, NULL, 0, SHOAL_REFUSED_MECHANISM, NONE},
        {"", "split_by.0.field=phrase\nsplit_by.0.values+de", NULL, NULL, NULL, 0,
         SHOAL_REFUSED_SPLIT, 0},
    };
    TRY("outside the class", rows);
}

// The exact figures that checks 2 and 3 compare: at, one micro-unit below, one above.
static void exact_edges(void)
{
    char change[160];
    for (int field = 0; field < 2; field++)
        for (int step = -1; step <= 1; step++) {
            use_policy("analyses.0.fields.0.local_epsilon:16000000\nanalyses.0.fields.1.local_"
                       "epsilon:16000000");
            new_books(TODAY - 10);
            CHECK(ask_query("", TODAY) == SHOAL_ACCEPTED);
            uint32_t local = verdict.local_eps_micro, exact = 0;
            CHECK(shoal_recipe_epsilon(&exact, query("")) == SHOAL_OK && exact == local &&
                  local <= 4000000);
            snprintf(change, sizeof change, "analyses.0.fields.%d.local_epsilon:%d\n", field,
                     (int)local + step);
            use_policy(change);
            new_books(TODAY - 10);
            CHECK(ask_query("", TODAY) == (step < 0 ? SHOAL_REFUSED_LOCAL : SHOAL_ACCEPTED));
            CHECK(step >= 0 || verdict.field == (field == 0 ? 1u : 0u));
        }
    for (int step = -1; step <= 1; step++) {
        use_policy("");
        new_books(TODAY - 10);
        CHECK(ask_query("", TODAY) == SHOAL_ACCEPTED);
        uint32_t central = verdict.central_eps_micro, exact = 0;
        CHECK(shoal_central_epsilon(&exact, verdict.local_eps_micro, 90000, 9) == SHOAL_OK &&
              exact == central);
        snprintf(change, sizeof change, "cohort.epsilon:%d", (int)central + step);
        new_books(TODAY - 10);
        CHECK(ask_query(change, TODAY) ==
              (step < 0 ? SHOAL_REFUSED_AMPLIFICATION : SHOAL_ACCEPTED));
    }
    // where the theorem's condition fails the guarantee is what one report keeps
    static const char alone[] =
        "analyses.0.cohort.minimum:1000000\nanalyses.0.budget.epsilon:5000000\n"
        "analyses.0.fields.0.epsilon:5000000\nanalyses.0.fields.1.epsilon:5000000\n";
    for (int step = -1; step <= 1; step++) {
        use_policy(alone);
        new_books(TODAY - 10);
        snprintf(change, sizeof change, "cohort.minimum:1000000\ncohort.epsilon:%d",
                 4000000 + step);
        shoal_refusal refusal = ask_query(change, TODAY);
        CHECK(verdict.central_eps_micro == verdict.local_eps_micro);
        uint32_t local = verdict.local_eps_micro;
        CHECK(refusal ==
              ((uint32_t)(4000000 + step) < local ? SHOAL_REFUSED_AMPLIFICATION : SHOAL_ACCEPTED));
    }
    // the honest share is rounded down: of 3 people 0.9 are 2
    use_policy("analyses.0.cohort.minimum:1000000\nanalyses.0.cohort.honest:999999");
    new_books(TODAY - 10);
    shoal_refusal refusal = ask_query("cohort.minimum:100000000000", TODAY);
    uint32_t exact = 0;
    CHECK(refusal == SHOAL_ACCEPTED);
    CHECK(shoal_central_epsilon(&exact, verdict.local_eps_micro, 99999, 9) == SHOAL_OK);
    CHECK(exact == verdict.central_eps_micro);
}

// Everything wrong at once: each refusal in the order of its number, as what came before it is put
// right.
static void in_order(void)
{
    static const struct {
        const char *policy, *recipe;
        shoal_refusal refusal;
    } wrong[] = {
        {"", "policy=" KEY_A "\n", SHOAL_REFUSED_POLICY},
        {"", "expires=2026-09-03\n", SHOAL_REFUSED_EXPIRED},
        {"fresh_days:300000000\n", "", SHOAL_REFUSED_FRESH},
        {"", "version:1000000\n", SHOAL_REFUSED_DOWNGRADED},
        {"", "stream=visits\n", SHOAL_REFUSED_STREAM},
        {"analyses.0.fields.1.field=device\nstreams.0.fields.3.type=number\n", "",
         SHOAL_REFUSED_FIELD},
        {"streams.0.fields.0.type=text\n", "", SHOAL_REFUSED_SCHEME},
        {"analyses.0.query.fields:1000000\n", "", SHOAL_REFUSED_COMBINATION},
        {"analyses.0.query.size:2000000\n", "", SHOAL_REFUSED_SIZE},
        {"", "mechanism=grr\n", SHOAL_REFUSED_MECHANISM},
        {"", "split_by.0.field=country\nsplit_by.0.values+de\n", SHOAL_REFUSED_SPLIT},
        {"analyses.0.budget.epsilon:1\n", "", SHOAL_REFUSED_EPSILON},
        {"analyses.0.budget.delta=1e-15\n", "", SHOAL_REFUSED_DELTA},
        {"analyses.0.fields.0.local_epsilon:1\n", "", SHOAL_REFUSED_LOCAL},
        {"analyses.0.fields.0.epsilon:1\n", "", SHOAL_REFUSED_FIELD_EPSILON},
        {"", "cohort.minimum:4999000000\n", SHOAL_REFUSED_COHORT},
        {"", "parameters.epsilon:3999000\ncohort.epsilon:100000\n", SHOAL_REFUSED_AMPLIFICATION},
        {"", "", SHOAL_ACCEPTED},
    };
    enum { N = sizeof wrong / sizeof wrong[0] };
    char policies[1024], recipes[1024];
    for (size_t i = 0; i < N; i++) {
        policies[0] = recipes[0] = '\0';
        for (size_t j = i; j < N; j++) {
            strcat(policies, wrong[j].policy);
            strcat(recipes, wrong[j].recipe);
        }
        use_policy(policies);
        new_books(TODAY - 10);
        shoal_refusal refusal = ask_query(recipes, TODAY);
        if (!CHECK(refusal == wrong[i].refusal))
            printf("  %zu: %s\n", i, shoal_refusal_name(refusal));
    }
    // with a report spent: replayed, downgraded, reports, field reports
    use_policy("analyses.0.budget.reports:1000000");
    new_books(TODAY - 10);
    CHECK(ask_query(SMALL "version:4000000", TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(SMALL "version:4000000", TODAY) == SHOAL_REFUSED_REPLAYED);
    CHECK(ask_query("version:3000000\nround.index:2000000\nround.previous=" KEY_A, TODAY) ==
          SHOAL_REFUSED_DOWNGRADED);
    CHECK(ask_query("version:4000000", TODAY) == SHOAL_REFUSED_REPORTS);
    use_policy("analyses.0.fields.1.epsilon:1\nanalyses.0.version:4000000");
    CHECK(ask_query("version:4000000", TODAY) ==
          SHOAL_REFUSED_FIELD_REPORTS); // an older policy's report counts
}

static void names(void)
{
    for (int i = 0; i < SHOAL_REFUSALS; i++) {
        const char *name = shoal_refusal_name((shoal_refusal)i),
                   *text = shoal_refusal_text((shoal_refusal)i);
        CHECK(name != NULL && text != NULL && name[0] >= 'a' && text[strlen(text) - 1] == '.');
        for (int j = 0; j < i; j++) CHECK(strcmp(name, shoal_refusal_name((shoal_refusal)j)) != 0);
    }
    CHECK(SHOAL_REFUSALS == 26 && SHOAL_REFUSED_AMPLIFICATION == 24 &&
          SHOAL_REFUSED_ANSWERED == 25);
    CHECK(strcmp(shoal_refusal_name(SHOAL_REFUSED_FIELD_EPSILON), "field-epsilon") == 0);
    CHECK(strcmp(shoal_refusal_name(SHOAL_REFUSALS), "storage") == 0);
}

// ---- rounds ----

// A query of a round that follows the one of that hash.
static shoal_refusal ask_round(uint8_t hash[32], const char *name, uint32_t index,
                               const uint8_t *previous)
{
    char change[1024];
    int n = snprintf(change, sizeof change, SMALL NO_AGE "recipe=%s\n", name);
    if (index > 0)
        n += snprintf(change + n, sizeof change - (size_t)n, "round.index:%u000000\n",
                      (unsigned)index);
    if (index > 1) {
        n += snprintf(change + n, sizeof change - (size_t)n, "round.previous=");
        for (int i = 0; i < 32; i++)
            n += snprintf(change + n, sizeof change - (size_t)n, "%02x", previous[i]);
    }
    const shoal_recipe *recipe = query(change);
    memcpy(hash, recipe->query_hash, 32);
    return ask(recipe, TODAY);
}

static void rounds(void)
{
    uint8_t one[32], two[32], other[32], none[32] = {7}, last[32];
    use_policy(ROOM "analyses.0.budget.epsilon:16000000\nanalyses.0.fields.0.epsilon:16000000\n"
                    "analyses.0.budget.reports:90000000\nanalyses.0.fields.0.reports:90000000");
    new_books(TODAY - 10);
    CHECK(ask_round(one, "r1", 1, NULL) == SHOAL_ACCEPTED);
    CHECK(ask_round(two, "r2", 2, none) == SHOAL_REFUSED_REORDERED); // follows something else
    memcpy(other, one, 32);
    other[15] ^= 1;
    CHECK(ask_round(two, "r2", 2, other) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(two, "r2", 2, one) == SHOAL_ACCEPTED);
    CHECK(ask_round(other, "r2b", 2, one) ==
          SHOAL_REFUSED_REORDERED); // the round before the last answered
    CHECK(ask_round(other, "r0", 0, NULL) ==
          SHOAL_ACCEPTED); // without a round: has no place in the chain
    CHECK(ask_round(other, "r2c", 2, one) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(other, "r3", 3, one) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(last, "r3", 3, two) == SHOAL_ACCEPTED);
    CHECK(ask_round(other, "r5", 5, none) == SHOAL_ACCEPTED); // the device was asleep in round 4
    CHECK(ask_round(two, "r4", 4, last) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(two, "r5b", 5, last) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(two, "r6", 6, last) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(two, "r1b", 1, NULL) == SHOAL_ACCEPTED); // a new chain
    CHECK(ask_round(one, "r6", 6, other) ==
          SHOAL_ACCEPTED); // whose rounds this device may have missed
    new_books(TODAY - 10);
    CHECK(ask_round(one, "r3", 3, none) == SHOAL_ACCEPTED); // a device that comes late
    CHECK(ask_round(two, "r2", 2, none) == SHOAL_REFUSED_REORDERED);
    CHECK(ask_round(two, "r1", 1, NULL) == SHOAL_ACCEPTED);
    CHECK(ask_round(one, "r2", 2, two) == SHOAL_ACCEPTED);
}

// ---- tries ----

#define TRIE_POLICY                                                                                \
    "streams.0.fields.0.type=characters\nanalyses.0.mechanisms+trie\nanalyses.0.mechanisms+"       \
    "subset\n"                                                                                     \
    "analyses.0.budget.epsilon:16000000\nanalyses.0.fields.0.epsilon:16000000\n"                   \
    "analyses.0.budget.reports:99000000\nanalyses.0.fields.0.reports:99000000\n"
#define CELLS                                                                                      \
    "encoding.0.field=phrase\nencoding.0.boundaries-\nencoding.0.starts+ab\nencoding.0."           \
    "characters+a\n"                                                                               \
    "encoding.1.field-\nencoding.1.prefixes-\nencoding.1.tokens-\nparameters.epsilon:"             \
    "500000\ncohort.epsilon:100000\n"
#define TRIE                                                                                       \
    CELLS "mechanism=trie\nparameters.contributions:3000000\nparameters.sampler=random\n"          \
          "parameters.depth:15000000\nparameters.max_prefixes:300000000\n"
#define ONE "parameters.contributions:1000000\n"
#define OTHER CELLS "mechanism=subset\nrecipe=other\n" // no trie

#define MANY "parameters.contributions:64000000\ncohort.delta=1e-12\n"
#define RENYI "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-8\n"

// Every bound of checks 1 and 2 counts each contribution: one below, at, one above, for 1 and for 3
// of them.
static void contributions(void)
{
    static const row rows[] = {
        {TRIE_POLICY, TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY, TRIE ONE, NULL, NULL, NULL, 0, ACCEPTED},
        {"streams.0.fields.0.type=characters", TRIE, NULL, NULL, NULL, 0, SHOAL_REFUSED_MECHANISM,
         NONE},
        {TRIE_POLICY "streams.0.fields.0.type=tokens", TRIE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_SCHEME, 0},
        {TRIE_POLICY "analyses.0.budget.reports:2000000", TRIE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_REPORTS, NONE},
        {TRIE_POLICY "analyses.0.budget.reports:3000000", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.reports:4000000", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.reports:1000000", TRIE ONE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.reports:4000000", OTHER, TRIE, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.reports:4000000", OTHER "version:9000000", TRIE, OTHER,
         NULL, 0, SHOAL_REFUSED_REPORTS, NONE},
        {TRIE_POLICY "analyses.0.fields.0.reports:2000000", TRIE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_REPORTS, 0},
        {TRIE_POLICY "analyses.0.fields.0.reports:3000000", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.fields.0.reports:4000000", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.fields.0.reports:3000000", OTHER, TRIE, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_REPORTS, 0},
        {TRIE_POLICY "analyses.0.fields.0.reports:1000000", TRIE ONE, NULL, NULL, NULL, 0,
         ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.epsilon:299999", TRIE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_EPSILON, NONE},
        {TRIE_POLICY "analyses.0.budget.epsilon:300000", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.epsilon:300001", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.epsilon:99999", TRIE ONE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_EPSILON, NONE},
        {TRIE_POLICY "analyses.0.budget.epsilon:100000", TRIE ONE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.fields.0.epsilon:299999", TRIE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_FIELD_EPSILON, 0},
        {TRIE_POLICY "analyses.0.fields.0.epsilon:300000", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.fields.0.epsilon:100000", TRIE ONE, NULL, NULL, NULL, 0, ACCEPTED},
        // a tighter composition is of no help to the reports of one query: as 64 queries they would
        // come to 5.2
        {TRIE_POLICY RENYI "analyses.0.budget.epsilon:6399999\n", TRIE MANY, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_EPSILON, NONE},
        {TRIE_POLICY RENYI "analyses.0.budget.epsilon:6400000\n", TRIE MANY, NULL, NULL, NULL, 0,
         ACCEPTED},
        {TRIE_POLICY RENYI "analyses.0.budget.epsilon:6400000\n", TRIE MANY "cohort.delta=1e-9\n",
         NULL, NULL, NULL, 0, SHOAL_REFUSED_DELTA, NONE},
        // 1 + e^0.1 + e^0.2 times 1e-9
        {TRIE_POLICY "analyses.0.budget.delta=1e-9", TRIE, NULL, NULL, NULL, 0, SHOAL_REFUSED_DELTA,
         NONE},
        {TRIE_POLICY "analyses.0.budget.delta=1e-8", TRIE, NULL, NULL, NULL, 0, ACCEPTED},
        {TRIE_POLICY "analyses.0.budget.delta=1e-9", TRIE ONE, NULL, NULL, NULL, 0, ACCEPTED},
        // the largest there is, in every way
        {TRIE_POLICY, TRIE "parameters.contributions:64000000\ncohort.epsilon:250000", NULL, NULL,
         NULL, 0, SHOAL_REFUSED_DELTA, NONE},
        {TRIE_POLICY,
         TRIE "parameters.contributions:64000000\ncohort.epsilon:16000000\ncohort.delta=1e-3", NULL,
         NULL, NULL, 0, SHOAL_REFUSED_EPSILON, NONE},
        {TRIE_POLICY "analyses.0.budget.delta=1e-3",
         TRIE "parameters.contributions:64000000\ncohort.epsilon:250000\ncohort.delta=1e-15", NULL,
         NULL, NULL, 0, ACCEPTED},
        // one report of them is what check 2's local epsilon bounds
        {TRIE_POLICY "analyses.0.fields.0.local_epsilon:499999", TRIE, NULL, NULL, NULL, 0,
         SHOAL_REFUSED_LOCAL, 0},
        {TRIE_POLICY "analyses.0.fields.0.local_epsilon:500000", TRIE, NULL, NULL, NULL, 0,
         ACCEPTED},
    };
    TRY("contributions", rows);
}

// Every number of contributions and claims of all sizes against long double: rounded up, by a unit
// and a hundred thousandth at most.
static void group_privacy(void)
{
    static const uint32_t claims[] = {70000, 100000, 250000, 1000000, 5000000};
    char change[1024];
    use_policy(TRIE_POLICY
               "analyses.0.budget.delta=1e-3\nanalyses.0.fields.0.local_epsilon:16000000\n");
    for (uint32_t n = 1; n <= 64; n += n < 4 ? 1 : 12)
        for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
            long double eps = claims[i] * 1e-6L, delta = 0;
            for (uint32_t k = 0; k < n; k++) delta += expl(k * eps) * 1000;
            new_books(TODAY - 10);
            snprintf(change, sizeof change,
                     TRIE
                     "parameters.contributions:%u000000\ncohort.epsilon:%u\ncohort.delta=1e-12\n",
                     (unsigned)n, (unsigned)claims[i]);
            shoal_refusal refusal = ask_query(change, TODAY);
            if (n * (uint64_t)claims[i] > 16000000 || delta > 1e12L) {
                CHECK(refusal == (n * (uint64_t)claims[i] > 16000000 ? SHOAL_REFUSED_EPSILON
                                                                     : SHOAL_REFUSED_DELTA));
                continue;
            }
            shoal_charge c = charge_of(0, NONE), f = charge_of(0, 0);
            CHECK(refusal == SHOAL_ACCEPTED && c.reports == n && c.eps_micro == n * claims[i]);
            CHECK((long double)c.delta_e15 >= delta &&
                  (long double)c.delta_e15 <= delta * 1.0001L + 1);
            CHECK(f.reports == n && f.eps_micro == c.eps_micro && charge_of(0, 1).reports == 0);
        }
}

// Whatever the server writes into its queries: one answer to a trie in an analysis, and none after
// any other answer there.
static void answered_once(void)
{
    static const char *const lies[] = {
        "recipe=other",
        "recipe=other\nround.index:1000000",
        "recipe=other\nversion:9000000",
        "recipe=other\nversion:1000000", // below the policy's: it does not get as far
        "recipe=other\nexpires=2030-01-01",
        "recipe=other\nparameters.passes:2000000\nparameters.pass:2000000",
        "parameters.sampler=greedy",
        "parameters.depth:16000000",
        "parameters.known+the",
        "encoding.0.starts+cd",
        "encoding.0.characters+c",
        "encoding.0.field=age\nrecipe=other",
        "stream=visits\nrecipe=other",
        "split_by.0.field=locale\nsplit_by.0.values+de\npart+de",
        "cohort.minimum:200000000000",
        "limit.per_day:2000000",
        "send.sample:1",
    };
    char change[1024], hex[65];
    static uint8_t kept[sizeof books];
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        snprintf(change, sizeof change, TRIE "%s", lies[i]);
        use_policy(TRIE_POLICY);
        new_books(TODAY - 10);
        CHECK(ask_query(TRIE, TODAY) == SHOAL_ACCEPTED);
        if (!CHECK(ask_query(change, TODAY) == SHOAL_REFUSED_ANSWERED)) printf("  %s\n", lies[i]);
        CHECK(ask_query(TRIE, TODAY) == SHOAL_REFUSED_REPLAYED);
        memcpy(kept, books, len); // the page is loaded again, and the day is another
        memset(books, 0, sizeof books);
        memcpy(books, kept, len);
        CHECK(ask_query(change, TODAY + 50) == SHOAL_REFUSED_ANSWERED);
        CHECK(ask_query(change, TODAY - 5) == SHOAL_REFUSED_ANSWERED);
        // another policy, and its analyses in another order
        use_policy(
            TRIE_POLICY
            "policy=keyboard-2027\nanalyses.0.version:1000000\nstreams.0.fields.1.type=characters\n"
            "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-9");
        CHECK(ask_query(change, TODAY) == SHOAL_REFUSED_ANSWERED);
        use_policy("analyses.0.analysis=sites\nanalyses.1.analysis=keyboard\nanalyses.1.stream="
                   "typed-phrases\n"
                   "analyses.1.fields.0.field=phrase\nanalyses.1.mechanisms+trie\n");
        CHECK(ask_query(change, TODAY) == SHOAL_REFUSED_ANSWERED && verdict.analysis == 1);
    }
    // the rounds of one chain, in order
    use_policy(TRIE_POLICY);
    new_books(TODAY - 10);
    const shoal_recipe *first = query(TRIE "round.index:1000000");
    CHECK(ask(first, TODAY) == SHOAL_ACCEPTED);
    for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", first->query_hash[i]);
    snprintf(change, sizeof change, TRIE "recipe=two\nround.index:2000000\nround.previous=%s", hex);
    CHECK(ask_query(change, TODAY) == SHOAL_REFUSED_ANSWERED);
    new_books(TODAY - 10);
    CHECK(ask_query(change, TODAY) == SHOAL_ACCEPTED); // who was not asked before may come late
    CHECK(ask_query(TRIE "round.index:1000000", TODAY) == SHOAL_REFUSED_ANSWERED);
    // the memory of an answer ends with its query, the charge does not
    new_books(TODAY - 10);
    CHECK(ask_query(TRIE "expires=2026-09-06", TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(OTHER, TODAY + 3) == SHOAL_ACCEPTED);
    CHECK(len == 40 + 2 * SHOAL_ACCOUNTANT_CHARGE + SHOAL_ACCOUNTANT_ANSWER);
    CHECK(ask_query(TRIE "recipe=again", TODAY + 3) == SHOAL_REFUSED_ANSWERED);
    // any answer of the analysis counts; another analysis's does not
    new_books(TODAY - 10);
    CHECK(ask_query(OTHER, TODAY) == SHOAL_ACCEPTED &&
          ask_query(TRIE, TODAY) == SHOAL_REFUSED_ANSWERED);
    use_policy("streams.1.fields.0.type=characters\nanalyses.1.mechanisms+trie");
    CHECK(ask_query(TRIE "analysis=sites\nstream=visits\nencoding.0.field=host", TODAY) ==
          SHOAL_ACCEPTED);
    CHECK(ask_query(TRIE "recipe=b\nanalysis=sites\nstream=visits\nencoding.0.field=host", TODAY) ==
          SHOAL_REFUSED_ANSWERED);
    // its place in the order: after what was replayed, before versions and rounds
    use_policy(TRIE_POLICY);
    new_books(TODAY - 10);
    CHECK(ask_query(TRIE "expires=2026-09-06", TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(TRIE "expires=2026-09-06", TODAY + 3) == SHOAL_REFUSED_EXPIRED);
    CHECK(ask_query(TRIE "version:1000000\nround.index:2000000\nround.previous=" KEY_A, TODAY) ==
          SHOAL_REFUSED_ANSWERED);
}

// ---- composition ----

static void put32(size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++) books[at + (size_t)i] = (uint8_t)(value >> (8 * i));
}

static void put64(size_t at, uint64_t value)
{
    put32(at, (uint32_t)value);
    put32(at + 4, (uint32_t)(value >> 32));
}

static void reseal(void)
{
    put64(len - 8, shoal_checksum_of(books, len - 8));
}

// Writes sums into the index-th charge, as the header lays it out.
static void set_sums(uint32_t index, uint32_t reports, uint64_t eps, uint64_t local,
                     uint64_t squares, uint64_t delta)
{
    size_t at = SHOAL_ACCOUNTANT_HEADER + index * SHOAL_ACCOUNTANT_CHARGE;
    put32(at + 16, reports);
    put64(at + 32, eps);
    put64(at + 40, local);
    put64(at + 48, squares);
    put64(at + 56, delta);
    reseal();
}

static const uint32_t orders[] = {2,   3,   4,   5,   6,   7,   8,   9,   10,  12,  14,
                                  17,  20,  24,  28,  34,  40,  48,  57,  68,  81,  96,
                                  114, 136, 162, 193, 256, 340, 450, 600, 800, 1024};

// One order's epsilon in micro-units: rho a + ln(1/slack)/(a-1) + ln(1-1/a) - ln(a)/(a-1).
static long double at_order(long double q, int slack, long double a)
{
    long double rho = q / 2e12L, log = (long double)slack * logl(10);
    long double eps = rho * a + log / (a - 1) + logl(1 - 1 / a) - logl(a) / (a - 1);
    return eps > 0 ? eps * 1e6L : 0;
}

// The figure that the header defines, and for Renyi over all orders, which only a closer table
// would reach.
static long double reference(long double eps, long double q, int slack, uint32_t composition,
                             int is_dense)
{
    long double best = eps, log = (long double)slack * logl(10);
    if (composition == SHOAL_COMPOSE_BASIC) return best;
    best = fminl(best, q / 2e6L + sqrtl(2 * log * q));
    if (composition == SHOAL_COMPOSE_ADVANCED) return best;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        best = fminl(best, at_order(q, slack, (long double)orders[i]));
    for (int i = 0; is_dense && i < 260; i++)
        best = fminl(best, at_order(q, slack, 1 + powl(2, i / 24.0L)));
    return best;
}

static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void select_composition(uint32_t composition, int slack)
{
    static const char *const names_of[] = {"basic", "advanced", "renyi"};
    char change[1024];
    int n = snprintf(
        change, sizeof change,
        ROOM "analyses.0.budget.composition=%s\nanalyses.0.budget.delta=1e-3\n"
             "analyses.0.budget.epsilon:16000000\nanalyses.0.budget.reports:65535000000\n"
             "analyses.0.fields.0.epsilon:16000000\nanalyses.0.fields.0.reports:65535000000\n",
        names_of[composition]);
    if (composition != SHOAL_COMPOSE_BASIC)
        snprintf(change + n, sizeof change - (size_t)n, "analyses.0.budget.slack=1e-%d\n", slack);
    use_policy(change);
}

// Never below the exact figure, never two micro-units above it. What rounds down by so much as a
// sixteenth of a unit is below it in one of sixteen cases at least.
static void figures(void)
{
    for (uint32_t composition = 0; composition < 3; composition++)
        for (int slack = 4; slack <= 15; slack++) {
            select_composition(composition, slack);
            new_books(TODAY - 10);
            CHECK(ask_query(SMALL NO_AGE, TODAY) == SHOAL_ACCEPTED);
            for (int i = 0; i < 400; i++) {
                uint32_t n = 1 + (uint32_t)(draw() % ((uint64_t)1 << draw() % 17)) % 65535;
                uint64_t one = 1 + draw() % ((uint64_t)1 << draw() % 24) % 16000000,
                         q = n * one * one;
                uint64_t sum = n * one + draw() % (n * (16000000 - one) + 1) * (draw() % 2);
                if (sum > n * (uint64_t)16000000) continue;
                set_sums(0, n, sum, 0, q, n);
                shoal_charge c = charge_of(0, NONE);
                uint32_t as = q >> 48 != 0 ? SHOAL_COMPOSE_BASIC : composition;
                long double exact = reference((long double)sum, (long double)q, slack, as, 0);
                if (!CHECK((long double)c.eps_micro >= exact - 1e-9L * (1 + exact * 1e-6L) &&
                           (long double)c.eps_micro < exact + 2))
                    printf("  %u 1e-%d: %u of %u: %u, %.3f\n", (unsigned)composition, slack,
                           (unsigned)n, (unsigned)one, (unsigned)c.eps_micro, (double)exact);
                if (i % 8 == 0 && exact > 1e5L &&
                    exact < 8e6L) // of all orders the table has those that matter
                    CHECK((long double)c.eps_micro <=
                          reference((long double)sum, (long double)q, slack, as, 1) * 1.02L + 2);
                uint64_t slack_e15 = composition == 0 ? 0 : (uint64_t)(powl(10, 15 - slack) + 0.5L);
                CHECK(c.delta_e15 == n + slack_e15 && c.reports == n);
            }
        }
}

// The largest sums that there can be, and the edges of what the integers of the tighter
// compositions hold.
static void extremes(void)
{
    const uint64_t most = 65535, eps = most * 16000000, q = most * 16000000 * 16000000,
                   edge = (uint64_t)1 << 48;
    CHECK(q / 16000000 / 16000000 == most);
    for (uint32_t composition = 0; composition < 3; composition++)
        for (int slack = 4; slack <= 15; slack += 11) {
            select_composition(composition, slack);
            new_books(TODAY - 10);
            CHECK(ask_query(SMALL NO_AGE, TODAY) == SHOAL_ACCEPTED);
            uint64_t slack_e15 = composition == 0 ? 0 : slack == 15 ? 1 : 100000000000;
            set_sums(0, 65535, eps, eps, q, most * 1000000000000);
            shoal_charge c = charge_of(0, NONE);
            CHECK(c.eps_micro == eps && c.local_eps_micro == eps &&
                  c.delta_e15 == most * 1000000000000 + slack_e15);
            CHECK(ask_query(SMALL NO_AGE "recipe=b", TODAY) == SHOAL_REFUSED_REPORTS);
            set_sums(0, 65534, eps - 16000000, 0, q - (uint64_t)16000000 * 16000000, 0);
            CHECK(ask_query(SMALL NO_AGE "recipe=b", TODAY) == SHOAL_REFUSED_EPSILON);
            set_sums(0, 65534, 1, 0, 1, 65534 * (uint64_t)1000000000000);
            CHECK(ask_query(SMALL NO_AGE "recipe=b", TODAY) == SHOAL_REFUSED_DELTA);
            set_sums(0, 65535, eps, 0, edge - 1, 0);
            c = charge_of(0, NONE);
            long double exact =
                reference((long double)eps, (long double)(edge - 1), slack, composition, 0);
            CHECK((long double)c.eps_micro >= exact && (long double)c.eps_micro < exact + 2);
            set_sums(0, 65535, eps, 0, edge, 0);
            CHECK(charge_of(0, NONE).eps_micro == eps);
            CHECK(shoal_composed_epsilon(&policy.analyses[0], 65535, 16000000) == eps);
            CHECK(shoal_composed_epsilon(&policy.analyses[0], 0, 16000000) == 0);
            set_sums(0, 77, 77 * 12345, 0, (uint64_t)77 * 12345 * 12345, 0);
            CHECK(shoal_composed_epsilon(&policy.analyses[0], 77, 12345) ==
                  charge_of(0, NONE).eps_micro);
        }
}

// ---- sequences ----

// "expires=YYYY-MM-DD"
static void put_expiry(char *out, size_t cap, uint32_t day)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint32_t year = 1970, month = 0;
    for (;; year++) {
        uint32_t length = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 366 : 365;
        if (day < length) break;
        day -= length;
    }
    for (;; month++) {
        uint32_t length = days[month] + (uint32_t)(month == 1 && year % 4 == 0 &&
                                                   (year % 100 != 0 || year % 400 == 0));
        if (day < length) break;
        day -= length;
    }
    snprintf(out, cap, "expires=%04u-%02u-%02u\n", (unsigned)year, (unsigned)month + 1,
             (unsigned)day + 1);
}

// Queries of all sizes, chosen at random, one a day: what was accepted never composes to more than
// is allowed, what was refused would have, and the books say what a list of the accepted ones says.
static void random_sequences(void)
{
    uint32_t accepted_by[3] = {0, 0, 0};
    for (uint32_t round = 0; round < 12; round++) {
        uint32_t composition = round % 3; // each of the three is asked the same
        state = 88172645463325252u + round / 3;
        long double sum = 0, squares = 0;
        uint64_t local = 0;
        uint32_t reports = 0;
        char policies[512], change[512];
        int n = snprintf(
            policies, sizeof policies,
            "analyses.0.budget.epsilon:%u\nanalyses.0.budget.delta=1e-5\n"
            "analyses.0.budget.reports:65535000000\nanalyses.0.fields.0.reports:65535000000\n"
            "analyses.0.fields.0.epsilon:16000000\n",
            1000000 + 500000 * (unsigned)(round / 3));
        if (composition != 0)
            snprintf(policies + n, sizeof policies - (size_t)n,
                     "analyses.0.budget.composition=%s\nanalyses.0.budget.slack=1e-6\n",
                     composition == 1 ? "advanced" : "renyi");
        use_policy(policies);
        new_books(TODAY - 10);
        uint32_t allowed = policy.analyses[0].budget.eps_micro;
        for (uint32_t i = 0; i < 200; i++) {
            uint32_t eps = i % 29 == 28 ? 40000 + (uint32_t)(draw() % 200000)
                                        : 10000 + (uint32_t)(draw() % 20000);
            n = snprintf(
                change, sizeof change,
                NO_AGE
                "recipe=q%u\nparameters.epsilon:100000\ncohort.epsilon:%u\ncohort.delta=1e-9\n"
                "cohort.minimum:1000000000000\n",
                (unsigned)i, (unsigned)eps);
            put_expiry(change + n, sizeof change - (size_t)n, TODAY + i + 3);
            shoal_refusal refusal = ask_query(change, TODAY + i);
            long double next =
                reference(sum + eps, squares + (long double)eps * eps, 6, composition, 0);
            if (refusal == SHOAL_ACCEPTED) {
                CHECK(next <= (long double)allowed);
                sum += eps;
                squares += (long double)eps * eps;
                local += verdict.local_eps_micro;
                reports++;
            } else {
                CHECK(refusal == SHOAL_REFUSED_EPSILON && next > (long double)allowed - 2);
            }
            shoal_charge c = charge_of(0, NONE), f = charge_of(0, 0);
            long double exact = reference(sum, squares, 6, composition, 0);
            CHECK((long double)c.eps_micro >= exact - 1e-9L &&
                  (long double)c.eps_micro < exact + 2);
            CHECK(c.eps_micro <= allowed && c.reports == reports && c.local_eps_micro == local);
            CHECK(c.delta_e15 == reports * (uint64_t)1000000 +
                                     (composition != 0 && reports > 0 ? 1000000000u : 0u));
            CHECK(f.reports == c.reports && f.eps_micro == c.eps_micro &&
                  charge_of(0, 1).reports == 0);
        }
        accepted_by[composition] += reports;
        CHECK(len <= 40 + 2 * SHOAL_ACCOUNTANT_CHARGE +
                         5 * SHOAL_ACCOUNTANT_ANSWER); // what expired is forgotten
    }
    if (!CHECK(accepted_by[0] < accepted_by[1] && accepted_by[1] < accepted_by[2]))
        printf("  %u %u %u\n", (unsigned)accepted_by[0], (unsigned)accepted_by[1],
               (unsigned)accepted_by[2]);
}

// A malicious server exhausts its own budget and nothing else.
static void a_thousand_queries(void)
{
    static const char sites[] =
        "analysis=sites\nstream=visits\nencoding.0.field=host\nencoding.0.boundaries-\n"
        "encoding.0.values+example.org\nencoding.1.field-\nencoding.1.prefixes-\n"
        "encoding.1.tokens-\nmechanism=grr\nparameters.epsilon:1000000\ncohort.epsilon:200000\n"
        "version:1000000\n";
    static const struct {
        const char *policy;
        uint32_t accepted;
        shoal_refusal then;
    } cases[] = {
        {ROOM "analyses.0.budget.reports:40000000\nanalyses.0.fields.0.reports:999000000", 40,
         SHOAL_REFUSED_REPORTS},
        {ROOM "analyses.0.budget.reports:999000000\nanalyses.0.fields.0.reports:999000000", 50,
         SHOAL_REFUSED_EPSILON},
        {ROOM "analyses.0.budget.reports:999000000\nanalyses.0.fields.0.reports:30000000", 30,
         SHOAL_REFUSED_FIELD_REPORTS},
        {ROOM "analyses.0.budget.reports:999000000\nanalyses.0.fields.0.reports:999000000\n"
              "analyses.0.budget.delta=1e-8\n",
         10, SHOAL_REFUSED_DELTA},
        // the budget would do, the room to remember them does not: no other analysis is locked out
        // by it
        {ROOM "analyses.0.budget.reports:999000000\nanalyses.0.fields.0.reports:999000000\n"
              "analyses.0.budget.delta=1e-3\nanalyses.0.budget.epsilon:16000000\nanalyses.0.fields."
              "0.epsilon:16000000",
         SHOAL_ACCOUNTANT_ANSWERS_MAX / 2, SHOAL_REFUSED_STORAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t accepted = 0;
        char change[1024];
        use_policy(cases[i].policy);
        new_books(TODAY - 10);
        for (unsigned k = 0; k < (i == 0 ? 1000u : 300u); k++) { // the others stop as soon
            snprintf(
                change, sizeof change,
                SMALL NO_AGE "recipe=q%u\ncohort.minimum:100000000000000\ncohort.epsilon:20000", k);
            shoal_refusal refusal = ask_query(change, TODAY + k / 50);
            accepted += refusal == SHOAL_ACCEPTED;
            CHECK(refusal == SHOAL_ACCEPTED || refusal == cases[i].then);
        }
        if (!CHECK(accepted == cases[i].accepted)) printf("  %zu: %u\n", i, (unsigned)accepted);
        CHECK(charge_of(0, NONE).reports == accepted && charge_of(1, NONE).reports == 0);
        CHECK(len == 40 + 2 * SHOAL_ACCOUNTANT_CHARGE + accepted * SHOAL_ACCOUNTANT_ANSWER);
        CHECK(ask_query(sites, TODAY + 20) == SHOAL_ACCEPTED);
        CHECK(charge_of(1, NONE).reports == 1 && charge_of(1, NONE).eps_micro == 200000);
        CHECK(charge_of(0, NONE).reports == accepted);
    }
}

// ---- time ----

static void clocks(void)
{
    static const char soon[] = SMALL NO_AGE "recipe=soon\nexpires=2026-09-06\n"; // TODAY + 2
    use_policy(ROOM);
    new_books(TODAY - 10);
    CHECK(ask_query(soon, TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(soon, TODAY - 5) == SHOAL_REFUSED_REPLAYED);
    CHECK(ask_query(soon, TODAY + 2) == SHOAL_REFUSED_REPLAYED);
    CHECK(ask_query(SMALL NO_AGE "recipe=b", TODAY + 2) ==
          SHOAL_ACCEPTED); // on its last day it is still remembered
    CHECK(len == 40 + 2 * SHOAL_ACCOUNTANT_CHARGE + 2 * SHOAL_ACCOUNTANT_ANSWER);
    CHECK(ask_query(soon, TODAY + 2) == SHOAL_REFUSED_REPLAYED);
    CHECK(ask_query(SMALL NO_AGE "recipe=c", TODAY + 3) == SHOAL_ACCEPTED); // and now forgotten
    CHECK(len == 40 + 2 * SHOAL_ACCOUNTANT_CHARGE + 2 * SHOAL_ACCOUNTANT_ANSWER);
    CHECK(ask_query(soon, TODAY) == SHOAL_REFUSED_EXPIRED); // which a clock set back does not undo
    CHECK(ask_query(SMALL NO_AGE "recipe=d\nexpires=2026-09-06", TODAY + 1) ==
          SHOAL_REFUSED_EXPIRED);
    CHECK(ask_query(SMALL NO_AGE "recipe=d\nexpires=2026-09-07", TODAY + 1) == SHOAL_ACCEPTED);
    CHECK(ask_query(SMALL NO_AGE "recipe=e", TODAY - 10) ==
          SHOAL_REFUSED_FRESH); // before the books were made
    CHECK(ask_query(SMALL NO_AGE "recipe=e", 0) == SHOAL_REFUSED_FRESH);
    CHECK(charge_of(0, NONE).reports == 4);
    CHECK(ask_query(SMALL NO_AGE "recipe=e", LAST) == SHOAL_ACCEPTED); // a clock set far ahead
    CHECK(ask_query(SMALL NO_AGE "recipe=f", TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(SMALL NO_AGE "recipe=g\nexpires=2027-01-30", TODAY) == SHOAL_REFUSED_EXPIRED);
    CHECK(charge_of(0, NONE).reports == 6 && charge_of(0, NONE).eps_micro == 600000);
    new_books(UINT32_MAX); // no sum of days turns round
    CHECK(ask_query(SMALL NO_AGE "recipe=e\nexpires=9999-12-31", 0) == SHOAL_REFUSED_EXPIRED);
    new_books(2000000);
    CHECK(ask_query(SMALL NO_AGE "recipe=e\nexpires=9999-12-31", UINT32_MAX) ==
          SHOAL_REFUSED_EXPIRED);
}

// A new policy over the same books: no name, version or composition of it gives anything back.
static void no_refill(void)
{
    use_policy(ROOM "analyses.0.budget.reports:2000000");
    new_books(TODAY - 10);
    CHECK(ask_query(SMALL, TODAY) == SHOAL_ACCEPTED &&
          ask_query(SMALL "recipe=b", TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(SMALL "recipe=c", TODAY) == SHOAL_REFUSED_REPORTS);
    use_policy(ROOM "analyses.0.budget.reports:2000000\npolicy=keyboard-2027\nkeys+" KEY_B
                    "\nanalyses.0.version:9000000");
    CHECK(charge_of(0, NONE).reports == 2 && charge_of(0, 1).reports == 2 &&
          charge_of(0, 0).eps_micro == 200000);
    CHECK(ask_query(SMALL "version:9000000", TODAY) == SHOAL_REFUSED_REPORTS);
    use_policy(ROOM "analyses.0.budget.epsilon:299999");
    CHECK(ask_query(SMALL "recipe=c", TODAY) == SHOAL_REFUSED_EPSILON);
    use_policy(ROOM "analyses.0.fields.1.epsilon:299999");
    CHECK(ask_query(SMALL "recipe=c", TODAY) == SHOAL_REFUSED_FIELD_EPSILON && verdict.field == 0);
    use_policy(ROOM "analyses.0.budget.composition=renyi\nanalyses.0.budget.slack=1e-9\nanalyses.0."
                    "budget.epsilon:299999");
    CHECK(ask_query(SMALL "recipe=c", TODAY) == SHOAL_REFUSED_EPSILON);
    use_policy(ROOM "analyses.0.budget.epsilon:300000\npolicy=another");
    CHECK(ask_query(SMALL "recipe=c", TODAY) == SHOAL_ACCEPTED);
    // two names that run together are two keys
    use_policy(
        "streams.0.fields.0.field=d\nanalyses.0.analysis=keyboar\nanalyses.0.fields.0.field=d");
    CHECK(charge_of(0, NONE).reports == 0 && charge_of(0, 0).reports == 0);
}

// ---- the bytes ----

static void damage(void)
{
    const shoal_recipe *recipe;
    shoal_charge c;
    use_policy(ROOM);
    new_books(TODAY - 10);
    CHECK(ask_query(SMALL, TODAY) == SHOAL_ACCEPTED);
    recipe = query(SMALL "recipe=b");
    for (size_t cut = 0; cut < len; cut++) {
        shoal_query_check(&verdict, books, cut, &policy, recipe, TODAY);
        CHECK(verdict.refusal == SHOAL_REFUSED_STORAGE && verdict.analysis == NONE);
    }
    shoal_query_check(&verdict, books, len + 1, &policy, recipe, TODAY);
    CHECK(verdict.refusal == SHOAL_REFUSED_STORAGE);
    for (size_t bit = 0; bit < 8 * len; bit++) {
        books[bit / 8] ^= (uint8_t)(1 << bit % 8);
        shoal_query_check(&verdict, books, len, &policy, recipe, TODAY);
        CHECK(verdict.refusal == SHOAL_REFUSED_STORAGE);
        CHECK(shoal_accountant_charge(&c, books, len, &policy, 0, NONE) == SHOAL_ERR_LEDGER);
        books[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    CHECK(shoal_accountant_init(books, 39, &len, TODAY) == SHOAL_ERR_SPACE);
    CHECK(shoal_accountant_charge(&c, books, len, &policy, 2, NONE) == SHOAL_ERR_ARGUMENT);
    CHECK(shoal_accountant_charge(&c, books, len, &policy, 0, 2) == SHOAL_ERR_ARGUMENT);
}

// What no debit can have written, with a right checksum. Two queries of two fields: charges at 32,
// 112 and 192, answers at 272 and 296.
static void impossible_books(void)
{
    static const struct {
        size_t at;
        uint32_t value;
    } bad[] = {
        {8, 2},
        {12, 257},
        {12, 2},
        {12, UINT32_MAX},
        {16, 513},
        {16, 1},
        {16, UINT32_MAX},
        {24, TODAY - 11}, // newest before created
        {28, 1},
        {32 + 16, 0},          // no report
        {112 + 16, 0},         // of the second
        {192 + 16, 0},         // of the last
        {32 + 16, 65536},      // more than any policy allows
        {32 + 28, 1},          // the zero
        {32 + 32, 32000001},   // epsilon of two reports
        {32 + 40, 32000001},   // their local epsilon
        {32 + 52, 0xffffffff}, // their squares
        {32 + 60, 0xffffffff}, // their delta
        {272 + 20, 3},         // an answer of no analysis
        {272 + 20, UINT32_MAX},
        {296 + 20, 3},
    };
    use_policy(ROOM);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        new_books(TODAY - 10);
        CHECK(ask_query(SMALL, TODAY) == SHOAL_ACCEPTED &&
              ask_query(SMALL "recipe=b", TODAY) == SHOAL_ACCEPTED);
        CHECK(len == 40 + 3 * 80 + 2 * 24);
        put32(bad[i].at, bad[i].value);
        reseal();
        if (!CHECK(ask_query(SMALL "recipe=c", TODAY) == SHOAL_REFUSED_STORAGE))
            printf("  %zu\n", i);
    }
    new_books(TODAY - 10);
    CHECK(ask_query(SMALL, TODAY) == SHOAL_ACCEPTED);
    set_sums(0, 1, 16000000, 16000000, (uint64_t)16000000 * 16000000, 1000000000000);
    CHECK(ask_query(SMALL "recipe=b", TODAY) ==
          SHOAL_REFUSED_EPSILON); // each at its largest: possible
    const uint64_t one[] = {16000000, 16000000, (uint64_t)16000000 * 16000000, 1000000000000};
    for (int over = 0; over < 4; over++) { // one more of any: not
        set_sums(0, 1, one[0] + (over == 0), one[1] + (over == 1), one[2] + (over == 2),
                 one[3] + (over == 3));
        CHECK(ask_query(SMALL "recipe=b", TODAY) == SHOAL_REFUSED_STORAGE);
    }
}

// Charges of others, each with one report.
static void put_charges(uint32_t n)
{
    memset(books + 32, 0, (size_t)n * 80);
    for (uint32_t i = 0; i < n; i++) {
        put32(32 + i * 80, i + 1);
        put32(32 + i * 80 + 16, 1);
    }
    put32(12, n);
    len = 40 + (size_t)n * 80;
    reseal();
}

static void full(void)
{
    shoal_verdict v;
    shoal_charge c;
    use_policy(ROOM);
    new_books(TODAY - 10);
    size_t was = len, need = 40 + 3 * SHOAL_ACCOUNTANT_CHARGE + SHOAL_ACCOUNTANT_ANSWER;
    memcpy(before, books, len);
    shoal_query_debit(&v, books, &len, need - 1, &policy, query(SMALL), TODAY);
    CHECK(v.refusal == SHOAL_REFUSED_STORAGE && len == was && memcmp(before, books, len) == 0);
    shoal_query_debit(&v, books, &len, need, &policy, query(SMALL), TODAY);
    CHECK(v.refusal == SHOAL_ACCEPTED && len == need);
    // room that expired answers leave counts
    CHECK(ask_query(SMALL "recipe=b\nexpires=2026-09-06", TODAY) == SHOAL_ACCEPTED);
    CHECK(ask_query(SMALL "recipe=c\nexpires=2026-09-06", TODAY) == SHOAL_ACCEPTED);
    need += SHOAL_ACCOUNTANT_ANSWER;
    shoal_query_debit(&v, books, &len, need - 1, &policy, query(SMALL "recipe=d"), TODAY + 3);
    CHECK(v.refusal == SHOAL_REFUSED_STORAGE && len == need + SHOAL_ACCOUNTANT_ANSWER);
    shoal_query_debit(&v, books, &len, need, &policy, query(SMALL "recipe=d"), TODAY + 3);
    CHECK(v.refusal == SHOAL_ACCEPTED && len == need);
    // 253 charges of others beside these three: what is there may still be charged, a new field or
    // analysis not
    for (uint32_t others = 253; others >= 251; others--) {
        new_books(TODAY - 10);
        put_charges(others);
        CHECK(ask_query(SMALL, TODAY) == SHOAL_ACCEPTED);
        CHECK(ask_query(SMALL "recipe=b", TODAY) == SHOAL_ACCEPTED);
        // two of them more
        shoal_refusal refusal = ask_query(
            "analysis=sites\nstream=visits\nencoding.0.field=host\nencoding.0.boundaries-\n"
            "encoding.0.values+x\nencoding.1.field-\nencoding.1.prefixes-\n"
            "encoding.1.tokens-\nmechanism=grr\nparameters.epsilon:1000000\n"
            "cohort.epsilon:200000\nversion:1000000",
            TODAY);
        CHECK(refusal == (others == 251 ? SHOAL_ACCEPTED : SHOAL_REFUSED_STORAGE));
        CHECK(others != 251 || len == 40 + 256 * 80 + 3 * 24);
    }
    new_books(TODAY - 10);
    put_charges(256);
    CHECK(shoal_accountant_charge(&c, books, len, &policy, 0, NONE) == SHOAL_OK);
    put_charges(257);
    CHECK(shoal_accountant_charge(&c, books, len, &policy, 0, NONE) == SHOAL_ERR_LEDGER);
    // answers of an analysis that the policy no longer has; they expire on TODAY
    for (uint32_t n = 511; n <= 513; n++) {
        new_books(TODAY - 10);
        CHECK(ask_query(SMALL, TODAY - 1) == SHOAL_ACCEPTED);
        for (uint32_t i = 0; i < n; i++) {
            memset(books + 272 + i * 24, 0, 24);
            put32(272 + i * 24, i);
            put32(272 + i * 24 + 16, TODAY);
            put32(272 + i * 24 + 20, 1);
        }
        put32(16, n);
        len = 40 + 3 * 80 + (size_t)n * 24;
        reseal();
        CHECK(ask_query(SMALL "recipe=b", TODAY) ==
              (n == 511 ? SHOAL_ACCEPTED : SHOAL_REFUSED_STORAGE));
        CHECK(n != 511 || len == 40 + 3 * 80 + 512 * 24);
        CHECK(ask_query(SMALL "recipe=c", TODAY + 1) ==
              (n == 513 ? SHOAL_REFUSED_STORAGE : SHOAL_ACCEPTED));
        CHECK(n == 513 || len == 40 + 3 * 80 + (n == 511 ? 2u : 1u) * 24);
    }
    CHECK(SHOAL_ACCOUNTANT_SIZE_MAX == 40 + 256 * 80 + 512 * 24);
}

// The books of one query, byte by byte from the header's words.
static void layout(void)
{
    static const uint8_t head[] = {'s', 'h', 'o', 'a', 'l', 'a', 'c', 'q', 1, 0,
                                   0,   0,   3,   0,   0,   0,   1,   0,   0, 0};
    uint8_t digest[32];
    shoal_sha256 sha;
    use_policy("");
    new_books(TODAY - 10);
    const shoal_recipe *recipe = query("round.index:1000000");
    CHECK(ask(recipe, TODAY) == SHOAL_ACCEPTED && len == 32 + 3 * 80 + 24 + 8);
    CHECK(memcmp(books, head, sizeof head) == 0 && books[20] == ((TODAY - 10) & 255) &&
          books[24] == (TODAY & 255));
    static const char *const keys[] = {"\010keyboard\000", "\010keyboard\003age",
                                       "\010keyboard\006phrase"};
    static const size_t sizes[] = {10, 13, 16};
    for (size_t i = 0; i < 3; i++) {
        const uint8_t *at = books + 32 + 80 * i;
        shoal_sha256_init(&sha);
        shoal_sha256_update(&sha, (const uint8_t *)keys[i], sizes[i]);
        shoal_sha256_final(digest, &sha);
        CHECK(memcmp(at, digest, 16) == 0 && at[16] == 1 && at[17] == 0);
        CHECK(at[20] == (i == 0) && at[24] == (i == 0 ? 3 : 0));
        CHECK(at[32] == (500000 & 255) && at[33] == (500000 >> 8 & 255) && at[34] == 500000 >> 16);
        CHECK(at[40] == (verdict.local_eps_micro & 255));
        CHECK(at[48] == (250000000000 & 255) && at[52] == 250000000000 >> 32);
        CHECK(at[56] == (1000000 & 255) && at[58] == 1000000 >> 16);
        for (size_t j = 0; j < 16; j++) CHECK(at[64 + j] == (i == 0 ? recipe->query_hash[j] : 0));
    }
    CHECK(memcmp(books + 272, recipe->query_hash, 16) == 0 && books[288] == (LAST & 255) &&
          books[292] == 0);
}

int main(void)
{
    the_query_class();
    check_1();
    check_2();
    risk_small_populations();
    risk_over_broad_class();
    risk_own_budget();
    risk_outside_the_class();
    exact_edges();
    in_order();
    names();
    rounds();
    contributions();
    group_privacy();
    answered_once();
    figures();
    extremes();
    random_sequences();
    a_thousand_queries();
    clocks();
    no_refill();
    damage();
    impossible_books();
    full();
    layout();
    return check_summary();
}
