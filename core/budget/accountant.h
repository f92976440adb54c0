// SPDX-License-Identifier: Apache-2.0
// The device's accountant of queries: what each analysis and each of its fields was charged, which
// queries were answered, as bytes that the host persists. And the checks that every query must pass
// before a report exists (query_check).
//
// The host loads the bytes, debits, stores them durably, and only then randomizes. A debit is never
// taken back; a charge is kept for ever (a policy's budget is for its analyses' life, whatever
// later policies call themselves); an answered query is remembered until it expires.
//
// Layout, little-endian: magic "shoalacq" (8), version 1 (4), charges (4), answered queries (4),
// created day (4), newest day (4), zero (4); then 80 bytes a charge, of an analysis or of one of
// its fields: key (16, the start of SHA-256 over length-prefixed analysis and field, field empty
// for the analysis itself), reports (4), round (4: index of the last answered), version (4: highest
// answered), zero (4), sum of epsilon (8, micro), sum of local epsilon (8, micro), sum of squares
// of epsilon (8, micro^2), sum of delta (8, units of 1e-15), last answered query hash (16, its
// start); round, version and hash are the analysis's, zero for a field; then 24 bytes an answered
// query: start of its hash (16), expiry day (4), index of its analysis among the charges (4); then
// the checksum (8, checksum.h).
//
// Locally, check 2 bounds the epsilon of one report (item-level) by the most stringent field's
// local_epsilon, and the number of reports by its reports. So all that a person ever sends of a
// field is, without any trust in a server or a crowd, reports x local_epsilon-private (user-level),
// whatever mix of queries is asked; B reports of a trie are B of those.
//
// A trie is answered once: after any charge of the analysis, by whatever query of whatever name,
// version, round or policy, every round of a trie is refused. Nothing that the server writes into a
// query takes part in that but the analysis's name, under which it is charged.
//
// No analysis can fill the answers: each of a policy's n analyses may have an n-th of them that has
// not expired.
//
// Time only goes forward: the day that counts is the later of the host's and the newest ever
// debited, so a clock set back brings nothing back.
//
// Composition, of queries (eps_i, delta_i), i = 1 .. n, each epsilon what the query claims for its
// cohort (check 3 made it true). Queries are chosen after answers are seen, their epsilons as well,
// so that each is a privacy filter: the composed figure before every query.
//     basic      sum eps_i, at delta = sum delta_i (apple-2022 section 4.3)
//     advanced   the smaller of that and rho + sqrt(4 rho ln(1/slack)), rho = sum eps_i^2/2, at
//     delta = slack + sum delta_i
//                (Whitehouse, Ramdas, Rogers, Wu, "Fully adaptive composition in differential
//                privacy", 2023, Theorem 1)
//     renyi      the smaller of both and min over orders a of rho a + ln(1/slack)/(a-1) + ln(1-1/a)
//     - ln(a)/(a-1), at the same delta:
//                each query is delta_i-approximately eps_i^2/2-zCDP (Bun, Steinke 2016), rho a
//                filter (Feldman, Zrnic 2021), converted as Canonne, Kamath, Steinke 2020
// A query of a trie (trie.h) has a device send B = contributions reports, each of a cohort that
// counts reports. eps and delta, which it claims and check 3 proves, are for one of them:
// item-level. A person is charged for all: B reports, and as one release (B eps, delta (1 + e^eps +
// ... + e^((B-1) eps))), which is what (eps, delta) for one report is for B of one cohort,
// together: user-level, by group privacy. (They are not B releases that a tighter composition may
// add up: reports of one sum that say the same shift it B times as far.)
//
// A field composes as its analysis does, with the same slack. All in integers, every rounding
// upwards. One policy selects one; the sums serve all three, so that a later policy may select
// another.
#ifndef SHOAL_ACCOUNTANT_H
#define SHOAL_ACCOUNTANT_H

#include "policy.h"

#define SHOAL_ACCOUNTANT_CHARGES_MAX 256u
#define SHOAL_ACCOUNTANT_ANSWERS_MAX 512u
#define SHOAL_ACCOUNTANT_HEADER 32u
#define SHOAL_ACCOUNTANT_CHARGE 80u
#define SHOAL_ACCOUNTANT_ANSWER 24u
#define SHOAL_ACCOUNTANT_SIZE_MAX                                                                  \
    (SHOAL_ACCOUNTANT_HEADER + SHOAL_ACCOUNTANT_CHARGE * SHOAL_ACCOUNTANT_CHARGES_MAX +            \
     SHOAL_ACCOUNTANT_ANSWER * SHOAL_ACCOUNTANT_ANSWERS_MAX + 8u)

// Why a query is refused. The numbers never change: logs carry them. In the order in which they are
// looked for, but for the last.
typedef enum shoal_refusal {
    SHOAL_ACCEPTED = 0,
    SHOAL_REFUSED_STORAGE =
        1, // the accountant's bytes are damaged (looked for first), or have no room (last)
    SHOAL_REFUSED_NOT_QUERY = 2, // the recipe names no policy
    SHOAL_REFUSED_POLICY = 3,    // it names another policy than this device's
    SHOAL_REFUSED_ANALYSIS = 4,  // the policy has no such analysis
    SHOAL_REFUSED_EXPIRED = 5,
    SHOAL_REFUSED_FRESH = 6,    // storage is younger than the policy's fresh_days
    SHOAL_REFUSED_REPLAYED = 7, // this query was answered already
    SHOAL_REFUSED_DOWNGRADED =
        8, // its version is below the policy's, or below one that was answered
    SHOAL_REFUSED_REORDERED =
        9, // its round is not after the last answered, or follows another than that
    SHOAL_REFUSED_STREAM = 10,        // it reads another stream
    SHOAL_REFUSED_FIELD = 11,         // it reads a field outside the query class
    SHOAL_REFUSED_SCHEME = 12,        // it encodes a field by a scheme that is not its type's
    SHOAL_REFUSED_COMBINATION = 13,   // it joins more fields than allowed
    SHOAL_REFUSED_SIZE = 14,          // its domain is too large
    SHOAL_REFUSED_MECHANISM = 15,     // its mechanism is not allowed
    SHOAL_REFUSED_SPLIT = 16,         // it splits by a field that is not approved
    SHOAL_REFUSED_REPORTS = 17,       // check 1: the analysis's reports are spent
    SHOAL_REFUSED_EPSILON = 18,       // check 1: the analysis's epsilon does not suffice
    SHOAL_REFUSED_DELTA = 19,         // check 1: nor its delta
    SHOAL_REFUSED_LOCAL = 20,         // check 2: one report costs more than a field allows
    SHOAL_REFUSED_FIELD_REPORTS = 21, // check 2
    SHOAL_REFUSED_FIELD_EPSILON = 22, // check 2
    SHOAL_REFUSED_COHORT = 23,        // check 3: the cohort is below the policy's minimum
    SHOAL_REFUSED_AMPLIFICATION = 24, // check 3: that cohort does not give the epsilon claimed
    SHOAL_REFUSED_ANSWERED =
        25,        // a round of a trie, after any answer in its analysis; looked for after REPLAYED
    SHOAL_REFUSALS // how many there are; not a refusal
} shoal_refusal;

// Returns: a short static name in lower case with hyphens ("field-epsilon"), one static sentence.
const char *shoal_refusal_name(shoal_refusal refusal);
const char *shoal_refusal_text(shoal_refusal refusal);

// The answer to "may this device answer that query?"
typedef struct shoal_verdict {
    shoal_refusal refusal;
    uint32_t field;    // index in the recipe's encoding (or split_by, for SPLIT) that it is about;
                       // UINT32_MAX: none
    uint32_t analysis; // index in the policy; UINT32_MAX before it is known
    uint32_t local_eps_micro; // of one report, recomputed from its thresholds
    uint32_t
        central_eps_micro; // what the cohort really gives, at most cohort.epsilon when accepted
} shoal_verdict;

// What was charged, and what the composed figure is under the policy.
typedef struct shoal_charge {
    uint32_t reports;         // of a trie's query as many as it has contributions
    uint64_t eps_micro;       // composed as the policy says: never above the allowance
    uint64_t delta_e15;       // sum of the queries' delta (a trie's for all of its reports) and the
                              // slack, in units of 1e-15
    uint64_t local_eps_micro; // of all reports together: user-level, basic
} shoal_charge;

shoal_err shoal_accountant_init(uint8_t *accountant, size_t cap, size_t *len,
                                uint32_t day) SHOAL_MUST_CHECK;

// Checks everything of the query against the policy and the books: nothing is written. The host has
// verified the signature over the recipe's signed bytes by one of the policy's keys before.
//   recipe: finished; with or without `part`
//   day: days since 1970-01-01 UTC
void shoal_query_check(shoal_verdict *verdict, const uint8_t *accountant, size_t len,
                       const shoal_policy *policy, const shoal_recipe *recipe, uint32_t day);

// The same, and charges what is accepted.
//   accountant: *len bytes in, *len bytes out, room for cap; unchanged unless accepted
void shoal_query_debit(shoal_verdict *verdict, uint8_t *accountant, size_t *len, size_t cap,
                       const shoal_policy *policy, const shoal_recipe *recipe, uint32_t day);

// What an analysis was charged, or (field not UINT32_MAX) one of its fields. Zeros where nothing
// was. Returns: LEDGER where the bytes are damaged.
shoal_err shoal_accountant_charge(shoal_charge *charge, const uint8_t *accountant, size_t len,
                                  const shoal_policy *policy, uint32_t analysis,
                                  uint32_t field) SHOAL_MUST_CHECK;

// What so many queries that claim eps_micro each come to under the analysis's composition: for
// hosts that explain a policy.
//   reports: at most SHOAL_POLICY_REPORTS_MAX; eps_micro: at most SHOAL_EPS_MICRO_MAX
uint64_t shoal_composed_epsilon(const shoal_policy_analysis *analysis, uint32_t reports,
                                uint32_t eps_micro);

#endif
